//! Values over trials, and the best so far: the value of the goal, the hypervolume of several goals, or how many trials are feasible.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use optimist_study::{Direction, Search, State, Trial, TrialState};
use serde_json::Value;

use super::series::{Series, Standing};
use super::{NARROW, Plot, PlotKind, WIDE, describe};
use crate::canvas::{Canvas, Point, Shape, colour};
use crate::chart::{Axis, Chart, Sample, mark};

/// The size of the chart that says how the study stands; the others are smaller.
const MAIN: (f64, f64) = (WIDE, 340.0);

/// Beyond this many marks there are no titles to point at, which would make the file large.
pub const MOST_TITLED: usize = 1000;

/// Beyond this many, trials on the same spot share a mark.
const MOST_MARKS: usize = 4000;

pub fn plot(state: &State) -> Plot {
    let caption = match state.outcomes().search() {
        Search::Best if state.outcomes().is_one() => "The value of each trial, and the best so far.",
        Search::Best => {
            "The goal in each trial, and the best so far of those that are feasible; those in grey are not. Then the constraints, \
             whose bounds are dashed."
        }
        Search::Front => {
            "How much of the goals is covered: the hypervolume beyond the reference. Then each outcome; trials in grey are not \
             feasible, bounds are dashed."
        }
        Search::Feasible => {
            "How many trials were feasible so far. Then each constraint, its bound dashed; trials in grey break one of them."
        }
    };
    Plot {
        kind: PlotKind::History,
        title: "History",
        caption: format!(
            "{caption} Values far worse than the rest are drawn at the edge; a cross is a trial that failed."
        ),
        panels: draw(state),
        data: Value::Null,
    }
}

/// The main chart, and one for each outcome that it does not show.
fn draw(state: &State) -> Vec<Canvas> {
    let goal = state.outcomes().goal().map(|goal| goal.name.as_str());
    let main = match (state.outcomes().search(), goal) {
        (Search::Front | Search::Feasible, _) => Some(chart(state, None, Trace::main(state), MAIN)),
        _ => None,
    };
    let of_outcome = |series: Series<'_>| {
        let is_main = Some(series.name()) == goal;
        let trace = if is_main { Trace::main(state) } else { Trace::of(state, &series) };
        chart(state, Some(&series), trace, if is_main { MAIN } else { (NARROW, 250.0) })
    };
    let mut series = Series::all(state);
    series.sort_by_key(|series| Some(series.name()) != goal); // the goal first
    main.into_iter().chain(series.into_iter().map(of_outcome)).collect()
}

/// Without a value an empty one. Without a series, the trace is all that is drawn.
fn chart(state: &State, series: Option<&Series<'_>>, trace: Option<Trace>, size: (f64, f64)) -> Canvas {
    let trials = state.trials();
    let last = trials.len().saturating_sub(1);
    let y = match &trace {
        Some(trace) => {
            let (low, high) = trace.visible_range();
            let bound = series.and_then(Series::bound);
            Axis::around([low, high].into_iter().chain(bound), 0.06)
        }
        None => Axis::around([], 0.0),
    };
    let x = Axis::Whole { low: -0.02 * last as f64, high: (last as f64 * 1.02).max(1.0) };
    let title = match series {
        Some(series) => series.heading("value of each trial"),
        None if state.outcomes().search() == Search::Feasible => "Feasible trials".to_owned(),
        None => "Hypervolume".to_owned(),
    };
    let standings = if state.outcomes().has_constraints() { Standing::of_all(state) } else { Vec::new() };
    let mut chart = Chart::new(size.0, size.1, &title, &x, "trial", &y);
    if size == MAIN && series.is_some() {
        chart.legend(&legend(state, trace.as_ref(), &standings, &y));
    }
    if let Some(bound) = series.and_then(Series::bound) {
        let points = vec![chart.at(0.0, y.position(bound)), chart.at(1.0, y.position(bound))];
        chart.canvas.add(colour::INK, Shape::Line { points, width: 1.0, is_dashed: true });
    }
    let is_titled = trials.len() <= MOST_TITLED;
    let failed = trials.iter().filter(|trial| trial.state == TrialState::Failed);
    let stride = failed.clone().count().div_ceil(MOST_TITLED).max(1);
    for trial in failed.step_by(stride) {
        let at = chart.at(x.position(trial.number as f64), 0.0);
        let shape = Shape::Cross { at: (at.0, at.1 - 6.0), radius: 3.0 };
        let title = is_titled.then(|| describe(trial));
        chart.canvas.add_trial(colour::FAILED, shape, trial.number, title);
    }
    let Some(trace) = trace else { return chart.canvas };
    let is_crowded = trace.values.len() > MOST_MARKS;
    let shade = |number: usize| match standings.get(number) {
        Some(Standing::Infeasible) => colour::FAINT,
        _ => colour::POINT,
    };
    // Of several goals together, or constraints alone, the line is all there is.
    let values = series.map_or(&[][..], |_| &trace.values);
    if is_crowded {
        for colour in [colour::FAINT, colour::POINT] {
            let of_colour = values.iter().filter(|(number, _)| shade(*number) == colour);
            let at = spots(of_colour, |number, value| chart.at(x.position(number), y.position(value)));
            if !at.is_empty() {
                chart.canvas.add(colour, Shape::Specks { at, size: SPECK });
            }
        }
    } else {
        let radius = if trace.values.len() > 400 { 2.0 } else { 3.0 };
        for &(number, value) in values {
            let at = chart.at(x.position(number as f64), y.position(value));
            let title = is_titled.then(|| describe(&trials[number]));
            chart.canvas.add_trial(shade(number), mark(at, None, y.beyond(value), radius), number, title);
        }
    }
    let at = |(number, best): (usize, f64)| chart.at(x.position(number as f64), y.position(best));
    let stairs: Vec<_> = trace.visible_stairs(last, trace.visible_range()).into_iter().map(at).collect();
    if !stairs.is_empty() {
        chart.canvas.line(colour::BEST, stairs, 2.0);
    }
    chart.canvas
}

/// What is drawn, and nothing else.
fn legend(
    state: &State,
    trace: Option<&Trace>,
    standings: &[Standing],
    y: &Axis,
) -> Vec<(&'static str, Sample, &'static str)> {
    let mut legend = Vec::new();
    if let Some(trace) = trace {
        let is_infeasible =
            |&(number, _): &(usize, f64)| standings.get(number) == Some(&Standing::Infeasible);
        if !trace.values.iter().all(is_infeasible) {
            legend.push((colour::POINT, Sample::Dot, "trial"));
        }
        if trace.values.iter().any(is_infeasible) {
            legend.push((colour::FAINT, Sample::Dot, "not feasible"));
        }
        if let Some(end) = trace.values.iter().find_map(|&(_, value)| y.beyond(value)) {
            legend.push((
                colour::POINT,
                Sample::Triangle { is_up: end == Ordering::Greater },
                "off the scale",
            ));
        }
        if !trace.best.is_empty() {
            legend.push((colour::BEST, Sample::Line, "best so far"));
        }
    }
    if state.trials().iter().any(|trial| trial.state == TrialState::Failed) {
        legend.push((colour::FAILED, Sample::Cross, "failed"));
    }
    legend
}

/// How large a mark is where there are very many, in points.
const SPECK: f64 = 1.5;

/// Where there is a trial, each spot once.
fn spots<'t>(values: impl Iterator<Item = &'t (usize, f64)>, at: impl Fn(f64, f64) -> Point) -> Vec<Point> {
    let spot = |&(number, value): &(usize, f64)| {
        let (x, y) = at(number as f64, value);
        ((x / SPECK) as i32, (y / SPECK) as i32)
    };
    let spots: BTreeSet<(i32, i32)> = values.map(spot).collect();
    spots.into_iter().map(|(x, y)| (f64::from(x) * SPECK, f64::from(y) * SPECK)).collect()
}

/// The values to draw, by number of trial.
pub struct Trace {
    pub values: Vec<(usize, f64)>,
    /// The trials that were better than all before them.
    pub best: Vec<(usize, f64)>,
    direction: Direction,
}

impl Trace {
    /// What a study is judged by: the goal, of which only feasible trials can be the best; the hypervolume of several goals; how many
    /// trials are feasible if there are only constraints. `None` if there is nothing to draw.
    pub fn main(state: &State) -> Option<Self> {
        match state.outcomes().goal() {
            Some(goal) => {
                let series = Series::all(state).into_iter().find(|series| series.name() == goal.name)?;
                let of_goal = Self::of(state, &series)?;
                let feasible = |number: usize| state.is_feasible(&state.trials()[number]) == Some(true);
                Some(Self { best: of_goal.best_of(feasible), ..of_goal })
            }
            None => {
                let best: Vec<(usize, f64)> = match state.outcomes().search() {
                    Search::Front => state
                        .hypervolumes()
                        .iter()
                        .map(|covered| (covered.trial, covered.hypervolume))
                        .collect(),
                    Search::Best | Search::Feasible => {
                        let complete = |trial: &&Trial| trial.state == TrialState::Complete;
                        let feasible = state.trials().iter().filter(complete);
                        let feasible = feasible.filter(|trial| state.is_feasible(trial) == Some(true));
                        feasible.enumerate().map(|(i, trial)| (trial.number, (i + 1) as f64)).collect()
                    }
                };
                let start = best.first().map(|_| (0, 0.0)).filter(|_| best[0].0 > 0);
                let best: Vec<(usize, f64)> = start.into_iter().chain(best).collect();
                (!best.is_empty()).then(|| Self {
                    values: best.clone(),
                    best,
                    direction: Direction::Maximize,
                })
            }
        }
    }

    /// The values of an outcome, none of which is the best if it is a constraint, or one of several goals.
    pub fn of(state: &State, series: &Series<'_>) -> Option<Self> {
        let valued = state.trials().iter().filter_map(|trial| Some((trial.number, series.value(trial)?)));
        let values: Vec<(usize, f64)> = valued.collect();
        let direction = series.direction();
        (!values.is_empty()).then_some(Self { values, best: Vec::new(), direction })
    }

    fn best_of(&self, is_candidate: impl Fn(usize) -> bool) -> Vec<(usize, f64)> {
        let mut best: Vec<(usize, f64)> = Vec::new();
        for &(number, value) in self.values.iter().filter(|(number, _)| is_candidate(*number)) {
            if best.last().is_none_or(|&(_, best)| self.direction.is_better(value, best)) {
                best.push((number, value));
            }
        }
        best
    }

    /// The best so far as a line: level, and up or down at once where a trial is better; as far as trial `last`.
    pub fn stairs(&self, last: usize) -> Vec<(usize, f64)> {
        let mut stairs: Vec<(usize, f64)> = Vec::new();
        for &(number, best) in &self.best {
            stairs.extend(stairs.last().map(|&(_, before)| (number, before)));
            stairs.push((number, best));
        }
        stairs.extend(stairs.last().map(|&(_, best)| (last, best)));
        stairs
    }

    /// The same without what lies beyond the visible range: where the line comes into sight, it comes from the edge.
    fn visible_stairs(&self, last: usize, (low, high): (f64, f64)) -> Vec<(usize, f64)> {
        let all = self.stairs(last);
        let is_visible = |value: f64| (low..=high).contains(&value);
        let first = all.iter().position(|&(_, best)| is_visible(best)).unwrap_or(all.len());
        let entry =
            first.checked_sub(1).zip(all.get(first)).map(|(before, &(number, _))| (number, all[before].1));
        entry.into_iter().chain(all[first..].iter().copied()).collect()
    }

    /// See [`visible_range`].
    pub fn visible_range(&self) -> (f64, f64) {
        visible_range(self.values.iter().map(|&(_, value)| value), self.direction)
    }
}

/// From the best value to the worst, but for outliers on the bad side: they would flatten the rest.
pub fn visible_range(values: impl Iterator<Item = f64>, direction: Direction) -> (f64, f64) {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(|a, b| direction.compare(a, b));
    let Some(last) = sorted.len().checked_sub(1) else { return (0.0, 1.0) };
    let at = |part: f64| sorted[(last as f64 * part).round() as usize];
    let (worst, limit) = (at(0.0), at(0.25) - 3.0 * (at(0.75) - at(0.25)));
    let worst = if direction.is_better(limit, worst) { limit } else { worst };
    match (worst.min(at(1.0)), worst.max(at(1.0))) {
        (low, high) if low < high => (low, high),
        (low, high) => (low - 0.5 * low.abs().max(1.0), high + 0.5 * high.abs().max(1.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_so_far_comes_into_sight_from_the_edge() {
        let best = vec![(0, -1e9), (3, 1.0), (5, 2.0)];
        let trace = Trace { values: best.clone(), best, direction: Direction::Maximize };
        let stairs = trace.visible_stairs(7, (0.0, 2.0));
        assert_eq!(stairs, [(3, -1e9), (3, 1.0), (5, 1.0), (5, 2.0), (7, 2.0)]);
        assert_eq!(trace.visible_stairs(7, (-1e9, 2.0)), trace.stairs(7));
    }
}
