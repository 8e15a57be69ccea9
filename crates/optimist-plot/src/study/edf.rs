//! Which part of the trials was at least this good: the empirical distribution of values.

use std::collections::BTreeMap;

use optimist_study::State;
use optimist_study::view::number::significant;
use serde::Serialize;
use serde_json::Value;

use super::history::Trace;
use super::series::Series;
use super::{NARROW, Plot, PlotKind, WIDE};
use crate::canvas::{Canvas, Shape, colour};
use crate::chart::{Axis, Chart};

/// The most steps to draw; of more trials, an even selection.
const MOST_STEPS: usize = 400;

pub fn plot(state: &State) -> Plot {
    Plot {
        kind: PlotKind::Edf,
        title: "Distribution",
        caption: "The part of the trials with a value that are this good or worse; it is 1 at the best value. The longer \
                  the curve stays low on its way there from the worst values, the more trials were good."
            .to_owned(),
        panels: Series::all(state).iter().map(|series| draw(state, series)).collect(),
        data: Value::Null,
    }
}

/// A value, with the part of all trials that are this good or worse.
#[derive(Serialize)]
pub struct Step {
    value: f64,
    part: f64,
}

/// The values from the worst to the best, of each outcome by name.
pub fn data(state: &State) -> BTreeMap<&str, Vec<Step>> {
    let of_outcome = |series: Series<'_>| {
        let steps = steps(state, &series);
        let n = steps.len() as f64;
        let step = move |(i, value): (usize, f64)| Step { value, part: (i + 1) as f64 / n };
        steps.into_iter().enumerate().map(step).collect()
    };
    Series::all(state).into_iter().map(|series| (series.name(), of_outcome(series))).collect()
}

fn steps(state: &State, series: &Series<'_>) -> Vec<f64> {
    let direction = series.direction();
    let mut values: Vec<f64> = state.trials().iter().filter_map(|trial| series.value(trial)).collect();
    values.sort_by(|a, b| direction.compare(a, b));
    values
}

fn draw(state: &State, series: &Series<'_>) -> Canvas {
    let range = Trace::of(state, series).map(|trace| trace.visible_range());
    let x = range.map_or(Axis::around([], 0.0), |(low, high)| Axis::around([low, high], 0.04));
    let y = Axis::Linear { low: 0.0, high: 1.0 };
    let label = format!("{} ({})", series.name(), series.direction().word());
    let title = series.heading("part of trials this good or worse");
    let width = if series.is_one { WIDE } else { NARROW };
    let mut chart = Chart::new(width, 300.0, &title, &x, &label, &y);
    let values = steps(state, series);
    let n = values.len();
    let drawn = n.min(MOST_STEPS);
    let mut before = 0.0;
    let mut stairs = Vec::with_capacity(2 * drawn);
    for i in 1..=drawn {
        let place = i * n / drawn;
        let (value, part) = (values[place - 1], place as f64 / n as f64);
        stairs.push(chart.at(x.position(value), before));
        stairs.push(chart.at(x.position(value), part));
        before = part;
    }
    if stairs.is_empty() {
        return chart.canvas;
    }
    chart.canvas.line(colour::POINT, stairs, 2.0);
    for quarter in [0.25, 0.5, 0.75] {
        let value = values[((n as f64 * quarter).ceil() as usize).clamp(1, n) - 1];
        let at = chart.at(x.position(value), quarter);
        let title = format!("{:.0} % of {n} trials are {} or worse", 100.0 * quarter, significant(value, 5));
        chart.canvas.add_titled(colour::POINT, Shape::Dot { at, radius: 3.5 }, Some(title));
    }
    chart.canvas
}
