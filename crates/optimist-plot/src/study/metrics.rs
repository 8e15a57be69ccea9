//! Further results beside the value: each metric against it.

use std::collections::BTreeMap;

use optimist_study::view::number::significant;
use optimist_study::{Direction, State, Trial};
use serde_json::{Value, json};

use super::history::{MOST_TITLED, visible_range};
use super::series::Series;
use super::slices::MOST_POINTS;
use super::{NARROW, Plot, PlotKind};
use crate::canvas::{Canvas, colour};
use crate::chart::{Axis, Chart, mark};

/// The most panels: the metrics that most trials have.
const MOST_PANELS: usize = 24;

/// A metric: where it is a number, with the value of the trial.
type Points<'s> = Vec<(&'s Trial, f64, f64)>;

pub fn plot(state: &State) -> Plot {
    let mut metrics: Vec<(&str, Points)> = metrics(state).into_iter().collect();
    let n_metrics = metrics.len();
    metrics.sort_by_key(|(_, points)| std::cmp::Reverse(points.len()));
    metrics.truncate(MOST_PANELS);
    let caption = match n_metrics {
        0 => "No trial came with metrics that are numbers.".to_owned(),
        n if n > MOST_PANELS => {
            format!(
                "Each metric against the value, the best trial in orange, a triangle where a trial is off the scale: the \
                 {MOST_PANELS} of {n} that most trials have."
            )
        }
        _ => "Each metric against the value, the best trial in orange, a triangle where a trial is off the scale.".to_owned(),
    };
    Plot {
        kind: PlotKind::Metrics,
        title: "Metrics",
        caption,
        panels: metrics.iter().map(|(name, points)| panel(state, name, points)).collect(),
        data: metrics.iter().map(|(name, points)| data(name, points)).collect(),
    }
}

/// What metrics are drawn against: the first goal.
fn main(state: &State) -> Option<Series<'_>> {
    Series::all(state).into_iter().find(|series| series.bound().is_none())
}

/// By name: numbers of complete trials. A trial that was told more than once counts with what it was told first.
fn metrics(state: &State) -> BTreeMap<&str, Points<'_>> {
    let mut metrics: BTreeMap<&str, Points> = BTreeMap::new();
    let Some(main) = main(state) else { return metrics };
    for (value, trial) in main.valued(state) {
        let told = trial.measurements.first().and_then(|measured| measured.metrics.as_ref());
        for (name, metric) in told.into_iter().flat_map(|told| told.iter()) {
            if let Some(number) = metric.as_f64() {
                metrics.entry(name).or_default().push((trial, value, number));
            }
        }
    }
    metrics
}

fn panel(state: &State, name: &str, points: &Points) -> Canvas {
    let direction = main(state).map_or(Direction::Minimize, |series| series.direction());
    let (left, right) = visible_range(points.iter().map(|(_, value, _)| *value), direction);
    let x = Axis::around([left, right], 0.06);
    let y = metric_axis(points.iter().map(|(_, _, metric)| *metric));
    let mut chart = Chart::new(NARROW, 250.0, name, &x, "value", &y);
    let best = state.best_observed().map(|trial| trial.number);
    let stride = points.len().div_ceil(MOST_POINTS).max(1);
    let (of_best, others): (Points, Points) =
        points.iter().copied().partition(|(trial, ..)| Some(trial.number) == best);
    for (trial, value, metric) in others.iter().step_by(stride).chain(&of_best) {
        let at = chart.at(x.position(*value), y.position(*metric));
        let title = format!(
            "trial {}: {}\n{name} = {}",
            trial.number,
            significant(*value, 6),
            significant(*metric, 6)
        );
        let (colour, radius) =
            if Some(trial.number) == best { (colour::BEST, 5.0) } else { (colour::POINT, 2.5) };
        let title = Some(title).filter(|_| points.len() <= MOST_TITLED);
        chart.canvas.add_titled(colour, mark(at, x.beyond(*value), y.beyond(*metric), radius), title);
    }
    chart.canvas
}

/// Without outliers on either side, unless all others are the same.
fn metric_axis(metrics: impl Iterator<Item = f64> + Clone) -> Axis {
    let low = visible_range(metrics.clone(), Direction::Maximize).0;
    let high = visible_range(metrics.clone(), Direction::Minimize).1;
    let seen = metrics.filter(|metric| low >= high || (low..=high).contains(metric));
    Axis::around(seen, 0.06)
}

/// The data behind a panel.
fn data(name: &str, points: &Points) -> Value {
    let point = |(trial, value, metric): &(&Trial, f64, f64)| json!({ "trial": trial.number, "value": value, "metric": metric });
    json!({ "metric": name, "points": points.iter().map(point).collect::<Vec<Value>>() })
}
