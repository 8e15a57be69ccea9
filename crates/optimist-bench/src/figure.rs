//! Figures of a report: which lines they have and how each looks. `optimist-plot` draws them.
//!
//! [`row`] is a picture of its own, for files: up to three tasks and a legend. [`panel`] is one task without legend, for a
//! page that arranges panels to the width of the screen and has colours of its own for day and night.

use optimist_plot::lines::{Axes, LegendEntry, Line, LineChart, Stroke, side_by_side};

use crate::peer;
use crate::report::{Estimate, Measure, REFERENCE, Row, TaskReport};

/// Regret of one kind against rounds, side by side, one line with its error band an optimizer; a legend below.
pub(crate) fn row(parts: &[&TaskReport], measure: Measure) -> String {
    let charts: Vec<LineChart> = parts.iter().map(|part| regret(part, measure)).collect();
    side_by_side(&charts, &legend(parts.iter().flat_map(|part| &part.rows).map(|row| row.optimizer.as_str())))
}

/// Regret of one kind on one task, in the colours of the page that it is part of.
pub(crate) fn panel(part: &TaskReport, measure: Measure) -> String {
    regret(part, measure).panel()
}

/// How something grows, on log axes, one line an optimizer.
pub(crate) struct Growth {
    pub(crate) title: String,
    pub(crate) x_label: String,
    pub(crate) y_label: String,
    /// Optimizers with their points; all numbers are positive.
    pub(crate) curves: Vec<(String, Vec<(f64, f64)>)>,
}

impl Growth {
    /// In the colours of the page that it is part of.
    pub(crate) fn panel(&self) -> String {
        self.chart().panel()
    }

    /// A picture of its own: side by side, with a legend below.
    pub(crate) fn row(growths: &[Growth]) -> String {
        let charts: Vec<LineChart> = growths.iter().map(Growth::chart).collect();
        let names = growths.iter().flat_map(|growth| &growth.curves).map(|(name, _)| name.as_str());
        side_by_side(&charts, &legend(names))
    }

    /// GO-UCB last, so that it is on top.
    fn chart(&self) -> LineChart {
        let mut curves: Vec<_> = self.curves.iter().collect();
        curves.sort_by_key(|(name, _)| name == REFERENCE);
        let line = |(name, points): &(String, Vec<(f64, f64)>)| Line {
            points: points.clone(),
            band: None,
            stroke: stroke(name),
        };
        LineChart {
            title: self.title.clone(),
            x_label: self.x_label.clone(),
            y_label: self.y_label.clone(),
            axes: Axes::Log,
            lines: curves.into_iter().map(line).collect(),
        }
    }
}

/// GO-UCB stands out; other people's programs are dashed, in the colour of ours that does the same. Colours are
/// Okabe and Ito's, which the colour-blind can tell apart, and some that can be told from them.
pub(crate) fn stroke(optimizer: &str) -> Stroke {
    let plain = |colour| Stroke { colour, width: 1.6, dashes: None, band_opacity: 0.10 };
    let peer = |colour| Stroke { dashes: Some("7 3"), band_opacity: 0.06, ..plain(colour) };
    let variant = |colour| Stroke { dashes: Some("2 3"), ..plain(colour) };
    const VERMILION: &str = "#D55E00";
    const BLUE: &str = "#0072B2";
    const SKY: &str = "#56B4E9";
    const PURPLE: &str = "#8767C7";
    const GREEN: &str = "#009E73";
    const ORANGE: &str = "#E69F00";
    const PINK: &str = "#CC79A7";
    const GREY: &str = "#8A8A8A";
    match optimizer {
        REFERENCE => Stroke { colour: VERMILION, width: 3.2, dashes: None, band_opacity: 0.22 },
        "gp-ei" => plain(BLUE),
        "gp-pi" => plain(SKY),
        "gp-ucb" => plain(PURPLE),
        "turbo" => plain(GREEN),
        "tpe" => plain(ORANGE),
        "cma-es" => plain(PINK),
        "random" => plain(GREY),
        "sobol" => variant(GREY),
        "botorch:gp-ei" => peer(BLUE),
        "botorch:gp-pi" => peer(SKY),
        "botorch:gp-ucb" => peer(PURPLE),
        "botorch:turbo" => peer(GREEN),
        "optuna:tpe" => peer(ORANGE),
        "pycma" => peer(PINK),
        "optuna:cma-es" => peer("#9A5B7F"),
        "skopt" => peer("#A0622D"),
        "optuna:gp" => peer("#A8A032"),
        "hebo" => peer("#C2378F"),
        _ if optimizer.starts_with(REFERENCE) => variant(VERMILION),
        // Settings of a baseline have its colour.
        _ => match optimizer.split_once(':') {
            Some((method, _)) => variant(stroke(method).colour),
            None => plain("#4D6A80"),
        },
    }
}

/// Each once, in the order that readers look for them: GO-UCB, its variants, ours, other people's.
pub(crate) fn legend_order<'a>(optimizers: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut order: Vec<&str> = optimizers.into_iter().collect();
    let is_variant = |name: &str| name.starts_with(REFERENCE);
    order.sort_by_key(|name| (peer::NAMES.contains(name), *name != REFERENCE, !is_variant(name), *name));
    order.dedup();
    order
}

fn legend<'a>(optimizers: impl IntoIterator<Item = &'a str>) -> Vec<LegendEntry> {
    let entry =
        |name: &str| LegendEntry { name: name.to_owned(), stroke: stroke(name), is_bold: name == REFERENCE };
    legend_order(optimizers).into_iter().map(entry).collect()
}

/// Of the lines the best last, so that it is on top, and GO-UCB above all.
fn regret(part: &TaskReport, measure: Measure) -> LineChart {
    let task = part.task;
    let mut rows: Vec<&Row> = part.rows.iter().rev().collect();
    rows.sort_by_key(|row| row.optimizer == REFERENCE);
    LineChart {
        title: format!("{} (d = {})", task.name, task.domain.axes().len()),
        x_label: "round (Phase I shaded)".into(),
        y_label: format!("{} regret", measure.name()),
        axes: Axes::FromZero { x_end: (task.n + part.horizon) as f64, shaded_to: task.n as f64 },
        lines: rows.into_iter().map(|row| line(row, measure)).collect(),
    }
}

fn line(row: &Row, measure: Measure) -> Line {
    let curve = &row.regret(measure).curve;
    let rounds = (1..=curve.len()).map(|round| round as f64);
    Line {
        points: rounds.zip(curve.iter().map(|estimate| estimate.mean)).collect(),
        band: curve.iter().map(interval).collect(),
        stroke: stroke(&row.optimizer),
    }
}

/// Not below 0, where no regret is; `None` for a single repetition.
fn interval(estimate: &Estimate) -> Option<(f64, f64)> {
    let Estimate { mean, half_width } = *estimate;
    half_width.map(|half_width| ((mean - half_width).max(0.0), mean + half_width))
}
