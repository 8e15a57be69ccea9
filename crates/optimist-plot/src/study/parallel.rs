//! Parallel coordinates: a line for each trial through all its parameters, coloured by how good it was.

use optimist_study::{Search, State, Trial};
use serde::Serialize;
use serde_json::Value;

use super::history::Trace;
use super::series::{Series, Standing};
use super::slices::jitter;
use super::{Plot, PlotKind, WIDE, describe};
use crate::canvas::{Anchor, Canvas, Point, Shape, colour, cut};
use crate::chart::Axis;

/// The most lines: more can't be told apart.
const MOST_LINES: usize = 200;

const HEIGHT: f64 = 380.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 70.0;
const TOP: f64 = 64.0;
const BOTTOM: f64 = 330.0;
/// Where lines go through a parameter that is inactive.
const INACTIVE: f64 = 352.0;

/// What the colours say, from the worst to the best.
const RANKS: [&str; 5] = ["worse half", "best half", "best quarter", "best tenth", "the best"];

pub fn plot(state: &State) -> Plot {
    let caption = "Each line is a trial; where the good ones run together, a parameter matters.";
    let drawn = match state.trials().iter().filter(|trial| !trial.measurements.is_empty()).count() {
        n if n > MOST_LINES => {
            format!(" Of {n} trials {MOST_LINES} are drawn, evenly from the worst to the best.")
        }
        _ => String::new(),
    };
    Plot {
        kind: PlotKind::Parallel,
        title: "Parallel coordinates",
        caption: format!("{caption}{drawn}"),
        panels: vec![draw(state)],
        data: Value::Null,
    }
}

/// Where an axis lies in the picture, and what its positions mean: for those who choose trials by dragging along it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AxisPlace {
    /// The parameter, or the outcome.
    pub name: String,
    x: f64,
    top: f64,
    bottom: f64,
    /// The value at the bottom of a numeric axis.
    low: Option<f64>,
    /// The value at the top of a numeric axis.
    high: Option<f64>,
    /// Whether a numeric axis is logarithmic.
    log: bool,
    /// The choices of a categorical axis, from the bottom.
    choices: Option<Vec<String>>,
}

/// The axes of the picture, from the left.
pub fn parallel_axes(state: &State) -> Vec<AxisPlace> {
    let place = |(i, (name, axis)): (usize, (String, Axis))| {
        let (low, high, log, choices) = match axis {
            Axis::Linear { low, high } | Axis::Whole { low, high } => (Some(low), Some(high), false, None),
            Axis::Log { low, high } => (Some(low), Some(high), true, None),
            Axis::Choices(choices) => (None, None, false, Some(choices)),
        };
        AxisPlace { name, x: LEFT + gap(state) * i as f64, top: TOP, bottom: BOTTOM, low, high, log, choices }
    };
    axes(state).into_iter().enumerate().map(place).collect()
}

/// Every parameter, then every outcome.
fn axes(state: &State) -> Vec<(String, Axis)> {
    let of_outcome = |series: Series<'_>| {
        let values = Trace::of(state, &series).map(|trace| trace.visible_range());
        let axis = values.map_or(Axis::around([], 0.0), |(low, high)| Axis::around([low, high], 0.0));
        (series.name().to_owned(), axis)
    };
    let parameters = state.definition().space.parameters().iter();
    let axes = parameters.map(|parameter| (parameter.name.clone(), Axis::of(&parameter.kind)));
    axes.chain(Series::all(state).into_iter().map(of_outcome)).collect()
}

/// From one axis to the next.
fn gap(state: &State) -> f64 {
    let n_axes = state.definition().space.parameters().len() + state.outcomes().all().len();
    ((WIDE - LEFT - RIGHT) / (n_axes - 1) as f64).max(46.0)
}

/// One wide panel.
fn draw(state: &State) -> Canvas {
    let parameters = state.definition().space.parameters();
    let (gap, left) = (gap(state), LEFT);
    let n_axes = parameters.len() + state.outcomes().all().len();
    let width = left + gap * (n_axes - 1) as f64 + RIGHT;
    let mut canvas = Canvas::new(width, HEIGHT);
    canvas.bold_text((8.0, 20.0), "Each trial through its parameters", 13);
    let ranked = ranked(state);
    legend(&mut canvas, state, |rank| ranked.iter().any(|(_, drawn)| *drawn == rank));
    let all_series = Series::all(state);
    let axes = axes(state);
    let x = |i: usize| left + gap * i as f64;
    let y = |position: f64| BOTTOM - position * (BOTTOM - TOP);
    for (trial, rank) in ranked.iter().copied() {
        let through = |(i, (name, axis)): (usize, &(String, Axis))| -> Point {
            let series = i.checked_sub(parameters.len()).map(|number| &all_series[number]);
            let up = match (trial.params.get(name), series) {
                (_, Some(series)) => series.value(trial).map_or(INACTIVE, |value| y(axis.position(value))),
                (Some(value), None) => y(axis.position_of(value) + jitter(trial, axis)),
                (None, None) => INACTIVE,
            };
            (x(i), up)
        };
        let points = axes.iter().enumerate().map(through).collect();
        let width = if rank + 1 == RANKS.len() { 2.5 } else { 1.0 };
        let shape = Shape::Line { points, width, is_dashed: false };
        canvas.add_trial(colour::RANKS[rank], shape, trial.number, Some(describe(trial)));
    }
    for (i, (name, axis)) in axes.iter().enumerate() {
        draw_axis(&mut canvas, x(i), gap, name, axis, y);
    }
    if parameters.iter().any(|parameter| !parameter.when.is_empty()) {
        canvas.faint_text((left - 8.0, INACTIVE + 4.0), "inactive", 11, Anchor::End);
    }
    canvas
}

/// The ranks that are drawn.
fn legend(canvas: &mut Canvas, state: &State, is_drawn: impl Fn(usize) -> bool) {
    let entries: Vec<(usize, &str)> = match state.outcomes().is_one() {
        true => RANKS.into_iter().enumerate().rev().collect(),
        false => {
            let best = if state.outcomes().search() == Search::Front { "front" } else { "the best" };
            let infeasible = state.outcomes().has_constraints().then_some((0, "not feasible"));
            [(4, best), (2, "others")].into_iter().chain(infeasible).collect()
        }
    };
    let mut left = 12.0;
    for (rank, label) in entries.into_iter().filter(|(rank, _)| is_drawn(*rank)) {
        canvas.line(colour::RANKS[rank], vec![(left, 34.0), (left + 14.0, 34.0)], 3.0);
        canvas.faint_text((left + 18.0, 38.0), label, 11, Anchor::Start);
        left += 34.0 + 6.2 * label.len() as f64;
    }
}

fn draw_axis(canvas: &mut Canvas, x: f64, gap: f64, name: &str, axis: &Axis, y: impl Fn(f64) -> f64) {
    canvas.line(colour::FAINT, vec![(x, TOP), (x, BOTTOM)], 1.0);
    let room = (gap / 6.4) as usize;
    canvas.text((x, TOP - 8.0), cut(name, room.max(6)), 11, Anchor::Middle);
    // A choice without its name says nothing.
    let most = match axis {
        Axis::Choices(_) => ((BOTTOM - TOP) / 12.0) as usize,
        _ if gap < 70.0 => 2,
        _ => 5,
    };
    for (position, label) in axis.ticks(most) {
        canvas.line(colour::FAINT, vec![(x - 3.0, y(position)), (x + 3.0, y(position))], 1.0);
        canvas.faint_text(
            (x + 5.0, y(position) + 4.0),
            cut(&label, room.saturating_sub(1).max(4)),
            10,
            Anchor::Start,
        );
    }
}

/// The trials that are drawn, the worst first, with the rank of their colour.
fn ranked(state: &State) -> Vec<(&Trial, usize)> {
    let Some(direction) = state.outcomes().one_direction() else { return by_standing(state) };
    let Some(series) = Series::all(state).into_iter().next() else { return Vec::new() };
    let mut valued = series.valued(state);
    valued.sort_by(|(a, first), (b, second)| direction.compare(a, b).then(second.number.cmp(&first.number)));
    let best = state.best_observed().map(|trial| trial.number);
    let rank = |value: f64, trial: &Trial| {
        let not_better = valued.partition_point(|(other, _)| !direction.is_better(*other, value));
        match (valued.len() - not_better) as f64 / valued.len() as f64 {
            _ if Some(trial.number) == best => 4,
            better if better < 0.1 => 3,
            better if better < 0.25 => 2,
            better if better < 0.5 => 1,
            _ => 0,
        }
    };
    let n_drawn = valued.len().min(MOST_LINES);
    // Evenly from the worst to the best, which is the last.
    let drawn = (1..=n_drawn).map(|i| valued[i * valued.len() / n_drawn - 1]);
    drawn.map(|(value, trial)| (trial, rank(value, trial))).collect()
}

/// The same of several outcomes: those that are not feasible, the others, and the best or the front.
fn by_standing(state: &State) -> Vec<(&Trial, usize)> {
    let mut measured: Vec<(&Trial, Standing)> = (state.trials().iter().zip(Standing::of_all(state)))
        .filter(|(trial, _)| !trial.measurements.is_empty())
        .collect();
    measured.sort_by_key(|(trial, standing)| (*standing, trial.number));
    let n_drawn = measured.len().min(MOST_LINES);
    let rank = |standing| match standing {
        Standing::Infeasible => 0,
        Standing::Beaten => 2,
        Standing::Best => 4,
    };
    let drawn = (1..=n_drawn).map(|i| measured[i * measured.len() / n_drawn - 1]);
    drawn.map(|(trial, standing)| (trial, rank(standing))).collect()
}
