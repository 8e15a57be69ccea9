//! Parallel coordinates: a line for each trial through all its parameters, coloured by how good it was.

use optimist_study::view::number::significant;
use optimist_study::{State, Trial};
use serde_json::Value;

use super::history::{Trace, valued};
use super::slices::jitter;
use super::{Plot, PlotKind};
use crate::canvas::{Anchor, Canvas, Point, Shape, colour, cut};
use crate::chart::Axis;

/// Lines at the most: more are a blot.
const MOST_LINES: usize = 200;

const HEIGHT: f64 = 380.0;
const TOP: f64 = 64.0;
const BOTTOM: f64 = 330.0;
/// Where lines go through a parameter that is inactive.
const INACTIVE: f64 = 352.0;

/// What the colours say, from the worst to the best.
const RANKS: [&str; 5] = ["lower half", "best half", "best quarter", "best tenth", "the best"];

pub fn plot(state: &State) -> Plot {
    let caption = "Each line is a trial; where the good ones run together, a parameter matters.";
    let drawn = match valued(state).len() {
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

/// One wide panel.
fn draw(state: &State) -> Canvas {
    let parameters = state.definition().space.parameters();
    let gap = (900.0 / parameters.len() as f64).clamp(46.0, 170.0);
    let left = 60.0;
    let width = (left + gap * parameters.len() as f64 + 70.0).max(520.0);
    let mut canvas = Canvas::new(width, HEIGHT);
    canvas.bold_text((8.0, 20.0), "Each trial through its parameters", 13);
    legend(&mut canvas);
    let direction = state.definition().direction;
    let values = Trace::of(state.trials(), direction).map(|trace| trace.visible_range(direction));
    let value_axis = values.map_or(Axis::around([], 0.0), |(low, high)| Axis::around([low, high], 0.0));
    let mut axes: Vec<(String, Axis)> =
        parameters.iter().map(|parameter| (parameter.name.clone(), Axis::of(&parameter.kind))).collect();
    axes.push(("value".to_owned(), value_axis));

    let x = |i: usize| left + gap * i as f64;
    let y = |position: f64| BOTTOM - position * (BOTTOM - TOP);
    for (trial, rank) in ranked(state) {
        let through = |(i, (name, axis)): (usize, &(String, Axis))| -> Point {
            let value = trial.params.get(name);
            let up = match (value, trial.value()) {
                (_, Some(value)) if i == parameters.len() => y(axis.position(value)),
                (Some(value), _) => y(axis.position_of(value) + jitter(trial, axis)),
                (None, _) => INACTIVE,
            };
            (x(i), up)
        };
        let points = axes.iter().enumerate().map(through).collect();
        let width = if rank + 1 == RANKS.len() { 2.5 } else { 1.0 };
        let title = trial.value().map(|value| format!("trial {}: {}", trial.number, significant(value, 6)));
        canvas.add_titled(colour::RANKS[rank], Shape::Line { points, width, is_dashed: false }, title);
    }
    for (i, (name, axis)) in axes.iter().enumerate() {
        draw_axis(&mut canvas, x(i), gap, name, axis, y);
    }
    if parameters.iter().any(|parameter| !parameter.when.is_empty()) {
        canvas.faint_text((left - 8.0, INACTIVE + 4.0), "inactive", 11, Anchor::End);
    }
    canvas
}

fn legend(canvas: &mut Canvas) {
    let mut left = 12.0;
    for (rank, label) in RANKS.iter().enumerate().rev() {
        canvas.line(colour::RANKS[rank], vec![(left, 34.0), (left + 14.0, 34.0)], 3.0);
        canvas.faint_text((left + 18.0, 38.0), *label, 11, Anchor::Start);
        left += 34.0 + 6.2 * label.len() as f64;
    }
}

fn draw_axis(canvas: &mut Canvas, x: f64, gap: f64, name: &str, axis: &Axis, y: impl Fn(f64) -> f64) {
    canvas.line(colour::FAINT, vec![(x, TOP), (x, BOTTOM)], 1.0);
    let room = (gap / 6.4) as usize;
    canvas.text((x, TOP - 8.0), cut(name, room.max(6)), 11, Anchor::Middle);
    let most = if gap < 70.0 { 2 } else { 5 };
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
    let direction = state.definition().direction;
    let mut valued = valued(state);
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
