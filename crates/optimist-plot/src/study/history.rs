//! Values over trials, and the best so far.

use optimist_study::view::number::significant;
use optimist_study::{Direction, State, Trial, TrialState};
use serde_json::Value;

use super::{Plot, PlotKind, how};
use crate::canvas::{Canvas, Shape, colour};
use crate::chart::{Axis, Chart};

/// Beyond this many marks there are no titles to point at, which would make the file large.
pub const MOST_TITLED: usize = 1000;

pub fn plot(state: &State) -> Plot {
    Plot {
        kind: PlotKind::History,
        title: "History",
        caption: "The value of each trial, and the best so far. Values far worse than the rest are drawn at the edge; \
                  a cross is a trial that failed."
            .to_owned(),
        panels: vec![draw(state)],
        data: Value::Null,
    }
}

/// The chart; without a value an empty one.
fn draw(state: &State) -> Canvas {
    let (trials, direction) = (state.trials(), state.definition().direction);
    let last = trials.len().saturating_sub(1);
    let trace = Trace::of(trials, direction);
    let y = match &trace {
        Some(trace) => {
            let (low, high) = trace.visible_range(direction);
            Axis::around([low, high], 0.06)
        }
        None => Axis::around([], 0.0),
    };
    let x = Axis::Linear { low: -0.02 * last as f64, high: (last as f64 * 1.02).max(1.0) };
    let mut chart = Chart::new(640.0, 340.0, "Value of each trial", &x, "trial", &y);
    chart.legend(&[(colour::POINT, "trial"), (colour::BEST, "best so far"), (colour::FAILED, "failed")]);
    let is_titled = trials.len() <= MOST_TITLED;
    for trial in trials.iter().filter(|trial| trial.state == TrialState::Failed) {
        let at = chart.at(x.position(trial.number as f64), 0.0);
        let title = is_titled.then(|| format!("trial {} failed{}", trial.number, how(trial)));
        chart.canvas.add_titled(colour::FAILED, Shape::Cross { at: (at.0, at.1 - 6.0), radius: 3.0 }, title);
    }
    let Some(trace) = trace else { return chart.canvas };
    let radius = if trace.values.len() > 400 { 2.0 } else { 3.0 };
    for &(number, value) in &trace.values {
        let at = chart.at(x.position(number as f64), y.position(value));
        let title =
            is_titled.then(|| format!("trial {number}: {}{}", significant(value, 6), how(&trials[number])));
        chart.canvas.add_titled(colour::POINT, Shape::Dot { at, radius }, title);
    }
    let at = |(number, best): (usize, f64)| chart.at(x.position(number as f64), y.position(best));
    let stairs = trace.stairs(last).into_iter().map(at).collect();
    chart.canvas.line(colour::BEST, stairs, 2.0);
    chart.canvas
}

/// The trials that have a value, with it, by number.
pub fn valued(state: &State) -> Vec<(f64, &Trial)> {
    state.trials().iter().filter_map(|trial| Some((trial.value()?, trial))).collect()
}

/// The values to draw, by number of trial.
pub struct Trace {
    pub values: Vec<(usize, f64)>,
    /// The trials that were better than all before them.
    pub best: Vec<(usize, f64)>,
}

impl Trace {
    pub fn of(trials: &[Trial], direction: Direction) -> Option<Self> {
        let mut values: Vec<(usize, f64)> =
            trials.iter().filter_map(|trial| Some((trial.number, trial.value()?))).collect();
        values.sort_by_key(|(number, _)| *number);
        let mut best: Vec<(usize, f64)> = Vec::new();
        for &(number, value) in &values {
            if best.last().is_none_or(|&(_, best)| direction.is_better(value, best)) {
                best.push((number, value));
            }
        }
        (!values.is_empty()).then_some(Self { values, best })
    }

    /// The best so far as a line: level, and up or down at once where a trial is better; as far as trial `last`.
    fn stairs(&self, last: usize) -> Vec<(usize, f64)> {
        let mut stairs: Vec<(usize, f64)> = Vec::new();
        for &(number, best) in &self.best {
            stairs.extend(stairs.last().map(|&(_, before)| (number, before)));
            stairs.push((number, best));
        }
        stairs.extend(stairs.last().map(|&(_, best)| (last, best)));
        stairs
    }

    /// From the best value to the worst, but for outliers on the bad side: they would flatten the rest.
    pub fn visible_range(&self, direction: Direction) -> (f64, f64) {
        let mut sorted: Vec<f64> = self.values.iter().map(|&(_, value)| value).collect();
        sorted.sort_by(|a, b| direction.compare(a, b));
        let at = |part: f64| sorted[((sorted.len() - 1) as f64 * part).round() as usize];
        let (worst, limit) = (at(0.0), at(0.25) - 3.0 * (at(0.75) - at(0.25)));
        let worst = if direction.is_better(limit, worst) { limit } else { worst };
        match (worst.min(at(1.0)), worst.max(at(1.0))) {
            (low, high) if low < high => (low, high),
            (low, high) => (low - 0.5 * low.abs().max(1.0), high + 0.5 * high.abs().max(1.0)),
        }
    }
}
