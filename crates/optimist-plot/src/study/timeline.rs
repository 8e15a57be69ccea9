//! When each trial ran, and on which worker.

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

/// A worker has a row for each trial that it runs at the same time, as long as there are no more rows than this.
const MOST_ROWS: usize = 40;

const WIDTH: f64 = 900.0;
const TOP: f64 = 46.0;
const ROW: f64 = 20.0;

pub fn plot(state: &State) -> Plot {
    let timeline = Timeline::of(state);
    let n_drawn = (timeline.bars.len(), timeline.workers.len());
    let left_out = match (state.n_trials() - n_drawn.0, timeline.n_workers - n_drawn.1) {
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
    /// Trials with their rows, the first to start first.
    bars: Vec<(&'s Trial, usize)>,
    /// Each with its first row.
    workers: Vec<(&'s str, usize)>,
    n_rows: usize,
    n_workers: usize,
    begin: u64,
    end: u64,
}

impl<'s> Timeline<'s> {
    fn of(state: &'s State) -> Self {
        let mut latest: Vec<&Trial> = trials(state).collect();
        latest.sort_by_key(|trial| trial.asked_at);
        let latest = latest.split_off(latest.len().saturating_sub(MOST_TRIALS));
        let mut names: Vec<&str> = Vec::new();
        for trial in latest.iter().rev() {
            if !names.contains(&who(trial)) {
                names.push(who(trial));
            }
        }
        let n_workers = names.len();
        names.truncate(MOST_WORKERS);
        names.sort_unstable();
        let (mut bars, mut workers, mut n_rows) = (Vec::new(), Vec::new(), 0);
        for name in &names {
            let of_worker = latest.iter().copied().filter(|trial| who(trial) == *name).collect();
            let (rows, placed) = in_rows(of_worker, MOST_ROWS / names.len());
            workers.push((*name, n_rows));
            bars.extend(placed.into_iter().map(|(trial, row)| (trial, n_rows + row)));
            n_rows += rows;
        }
        bars.sort_by_key(|(trial, _)| trial.asked_at);
        let begin = bars.iter().map(|(trial, _)| started_at(trial)).min().unwrap_or(0);
        let last = bars.iter().map(|(trial, _)| trial.ended_at.unwrap_or(trial.asked_at)).max();
        let end = last.unwrap_or(0).max(begin + 1);
        Self { bars, workers, n_rows, n_workers, begin, end }
    }

    fn draw(&self) -> Canvas {
        let longest =
            self.workers.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).clamp(4, 24);
        let (left, right) = (16.0 + 6.4 * longest as f64, WIDTH - 16.0);
        let bottom = TOP + ROW * self.n_rows as f64;
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
        for (trial, row) in &self.bars {
            let from = x(started_at(trial));
            let width = (x(trial.ended_at.unwrap_or(self.end)) - from).max(1.5);
            let at = (from, TOP + ROW * *row as f64 + 3.0);
            let shape = Shape::Rect { at, width: (width - 0.5).max(1.0), height: ROW - 6.0 };
            canvas.add_trial(shade(trial.state), shape, trial.number, Some(title(trial)));
        }
        legend(&mut canvas, |colour| self.bars.iter().any(|(trial, _)| shade(trial.state) == colour));
        canvas
    }

    fn first(&self) -> usize {
        self.bars.first().map_or(0, |(trial, _)| trial.number)
    }
}

/// A row for each trial of a worker such that no two overlap, and how many rows that takes; with more than `most`, some do.
fn in_rows(mut trials: Vec<&Trial>, most: usize) -> (usize, Vec<(&Trial, usize)>) {
    trials.sort_by_key(|trial| started_at(trial));
    // When each row is free again.
    let mut free: Vec<u64> = Vec::new();
    let mut place = |trial| {
        let (start, end) = (started_at(trial), trial.ended_at.unwrap_or(u64::MAX));
        let first_free = free.iter().position(|at| *at <= start);
        let row = match first_free {
            Some(row) => row,
            None if free.len() < most.max(1) => {
                free.push(0);
                free.len() - 1
            }
            None => (0..free.len()).min_by_key(|row| free[*row]).unwrap_or(0),
        };
        free[row] = free[row].max(end);
        (trial, row)
    };
    let placed: Vec<(&Trial, usize)> = trials.into_iter().map(&mut place).collect();
    (free.len(), placed)
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

/// The colours that are drawn.
fn legend(canvas: &mut Canvas, is_drawn: impl Fn(&str) -> bool) {
    let words = [
        (TrialState::Complete, "complete"),
        (TrialState::Failed, "failed"),
        (TrialState::Running, "running"),
        (TrialState::Cancelled, "cancelled"),
    ];
    let mut left = 150.0;
    for (state, word) in words.into_iter().filter(|(state, _)| is_drawn(shade(*state))) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use optimist_study::{Measurement, Storage, Study, StudyFile};

    fn asked(n: usize) -> Study {
        let text = "direction = 'minimize'\nparameters.x = { type = 'bool' }\noptimizer.name = 'random'";
        let mut study =
            Study::create(&Storage::memory(), StudyFile::parse(text).unwrap().definition).unwrap();
        for _ in 0..n {
            study.ask(None).unwrap();
        }
        study
    }

    #[test]
    fn trials_at_the_same_time_have_rows_of_their_own() {
        let study = asked(3);
        let timeline = Timeline::of(study.state());
        assert_eq!((timeline.workers.len(), timeline.n_rows), (1, 3));
        let mut rows: Vec<usize> = timeline.bars.iter().map(|(_, row)| *row).collect();
        rows.sort_unstable();
        assert_eq!(rows, [0, 1, 2]);
        assert_eq!(Timeline::of(asked(MOST_ROWS + 9).state()).n_rows, MOST_ROWS);
    }

    #[test]
    fn the_legend_has_what_is_drawn_and_nothing_else() {
        let mut study = asked(1);
        let words = |study: &Study| -> Vec<String> {
            let marks = Timeline::of(study.state()).draw().marks;
            let text = |shape| match shape {
                Shape::Text { at, text, .. } if at.1 == 20.0 && at.0 > 100.0 => Some(text),
                _ => None,
            };
            marks.into_iter().filter_map(|mark| text(mark.shape)).collect()
        };
        assert_eq!(words(&study), ["running"]);
        study.tell(0, Measurement::new(1.0), None).unwrap();
        assert_eq!(words(&study), ["complete"]);
    }
}
