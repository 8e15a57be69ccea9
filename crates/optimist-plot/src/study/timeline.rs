//! When each trial ran, and on which worker.

use std::collections::BTreeMap;

use optimist_study::view::number::{count, significant};
use optimist_study::{State, Trial, TrialState};
use serde::Serialize;
use serde_json::Value;

use super::{Plot, PlotKind, values};
use crate::canvas::{Anchor, Canvas, Shape, colour, cut};
use crate::chart::Axis;

/// The most trials and workers to show: the latest of each.
const MOST_TRIALS: usize = 1000;
const MOST_WORKERS: usize = 40;

const WIDTH: f64 = 900.0;
const TOP: f64 = 46.0;
const ROW: f64 = 20.0;

pub fn plot(state: &State) -> Plot {
    let timeline = Timeline::of(state);
    let left_out = match (state.n_trials() - timeline.bars.len(), timeline.n_workers - timeline.workers.len())
    {
        (0, 0) => String::new(),
        (trials, workers) => format!(
            " Left out: {} that were imported or came before, {} that nothing was heard of since.",
            count(trials, "trial"),
            count(workers, "worker")
        ),
    };
    Plot {
        kind: PlotKind::Timeline,
        title: "Timeline",
        caption: format!(
            "A bar for each trial, from when it was started to when it ended; gaps are time in which a worker had nothing \
             to do.{left_out}"
        ),
        panels: vec![timeline.draw()],
        data: Value::Null,
    }
}

/// When each trial was asked for and ended, and who ran it.
pub fn data<'s>(state: &'s State) -> impl Serialize + use<'s> {
    #[derive(Serialize)]
    struct Row<'s> {
        trial: usize,
        worker: Option<&'s str>,
        state: &'static str,
        started_at: u64,
        ended_at: Option<u64>,
    }
    let row = |trial: &'s Trial| Row {
        trial: trial.number,
        worker: trial.worker.as_deref(),
        state: trial.state.word(),
        started_at: started_at(trial),
        ended_at: trial.ended_at,
    };
    trials(state).map(row).collect::<Vec<Row>>()
}

struct Timeline<'s> {
    bars: Vec<&'s Trial>,
    /// Each with its row, the first to begin on top.
    workers: BTreeMap<&'s str, usize>,
    n_workers: usize,
    begin: u64,
    end: u64,
}

impl<'s> Timeline<'s> {
    fn of(state: &'s State) -> Self {
        let mut latest: Vec<&Trial> = trials(state).collect();
        latest.sort_by_key(|trial| trial.asked_at);
        let mut bars = latest.split_off(latest.len().saturating_sub(MOST_TRIALS));
        let mut names: Vec<&str> = Vec::new();
        for trial in bars.iter().rev() {
            if !names.contains(&who(trial)) {
                names.push(who(trial));
            }
        }
        let n_workers = names.len();
        names.truncate(MOST_WORKERS);
        names.sort_unstable();
        let workers: BTreeMap<&str, usize> = names.into_iter().zip(0..).collect();
        bars.retain(|trial| workers.contains_key(who(trial)));
        let begin = bars.iter().map(|trial| started_at(trial)).min().unwrap_or(0);
        let last = bars.iter().map(|trial| trial.ended_at.unwrap_or(trial.asked_at)).max();
        let end = last.unwrap_or(0).max(begin + 1);
        Self { bars, workers, n_workers, begin, end }
    }

    fn draw(&self) -> Canvas {
        let longest = self.workers.keys().map(|name| name.chars().count()).max().unwrap_or(0).clamp(4, 24);
        let (left, right) = (16.0 + 6.4 * longest as f64, WIDTH - 16.0);
        let bottom = TOP + ROW * self.workers.len() as f64;
        let mut canvas = Canvas::new(WIDTH, bottom + 44.0);
        canvas.bold_text((8.0, 20.0), "Trials by worker", 13);
        let (unit, milliseconds) = unit(self.end - self.begin);
        let time = |at: u64| at.saturating_sub(self.begin) as f64 / milliseconds;
        let axis = Axis::Linear { low: 0.0, high: time(self.end) };
        let x = |at: u64| left + (right - left) * axis.position(time(at));
        for (position, label) in axis.ticks(8) {
            let x = left + (right - left) * position;
            canvas.line(colour::GRID, vec![(x, TOP), (x, bottom)], 1.0);
            canvas.faint_text((x, bottom + 16.0), label, 12, Anchor::Middle);
        }
        let middle = (left + (right - left) / 2.0, bottom + 36.0);
        canvas.faint_text(middle, format!("{unit} since trial {}", self.first()), 12, Anchor::Middle);
        for (name, row) in &self.workers {
            let at = (left - 8.0, TOP + ROW * *row as f64 + 14.0);
            canvas.text(at, cut(name, 24), 12, Anchor::End);
        }
        for trial in &self.bars {
            let row = self.workers[who(trial)] as f64;
            let from = x(started_at(trial));
            let width = (x(trial.ended_at.unwrap_or(self.end)) - from).max(1.5);
            let at = (from, TOP + ROW * row + 3.0);
            let shape = Shape::Rect { at, width: (width - 0.5).max(1.0), height: ROW - 6.0 };
            canvas.add_trial(shade(trial.state), shape, trial.number, Some(title(trial)));
        }
        legend(&mut canvas);
        canvas
    }

    fn first(&self) -> usize {
        self.bars.first().map_or(0, |trial| trial.number)
    }
}

/// Trials that were run here, rather than imported.
fn trials(state: &State) -> impl Iterator<Item = &Trial> {
    state.trials().iter().filter(|trial| trial.attempts > 0)
}

/// When its last attempt began, if that is known.
fn started_at(trial: &Trial) -> u64 {
    let took = trial.seconds.map(|seconds| (1e3 * seconds) as u64);
    let began = trial.ended_at.zip(took).map(|(ended, took)| ended.saturating_sub(took));
    began.unwrap_or(trial.asked_at).max(trial.asked_at)
}

fn who(trial: &Trial) -> &str {
    trial.worker.as_deref().unwrap_or("by hand")
}

fn title(trial: &Trial) -> String {
    let state = trial.state.word();
    let value = values(trial, 6).map(|values| format!(": {values}")).unwrap_or_default();
    let took = trial.seconds.map(|seconds| format!(", {} s", significant(seconds, 3))).unwrap_or_default();
    format!("trial {} {state}{value}{took}\n{}", trial.number, who(trial))
}

fn shade(state: TrialState) -> &'static str {
    match state {
        TrialState::Complete => colour::POINT,
        TrialState::Failed => colour::FAILED,
        TrialState::Running | TrialState::Waiting => colour::BEST,
        TrialState::Cancelled => colour::RANKS[0],
    }
}

fn legend(canvas: &mut Canvas) {
    let mut left = 150.0;
    for (state, word) in [
        (TrialState::Complete, "complete"),
        (TrialState::Failed, "failed"),
        (TrialState::Running, "running"),
        (TrialState::Cancelled, "cancelled"),
    ] {
        canvas.add(shade(state), Shape::Rect { at: (left, 11.0), width: 14.0, height: 9.0 });
        canvas.faint_text((left + 19.0, 20.0), word, 11, Anchor::Start);
        left += 34.0 + 6.2 * word.len() as f64;
    }
}

/// A unit in which that many milliseconds read well.
fn unit(milliseconds: u64) -> (&'static str, f64) {
    match milliseconds {
        0..180_000 => ("seconds", 1e3),
        180_000..10_800_000 => ("minutes", 6e4),
        10_800_000..259_200_000 => ("hours", 3.6e6),
        _ => ("days", 8.64e7),
    }
}
