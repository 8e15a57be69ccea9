//! Figures of a report: which lines they have and how each looks. `optimist-plot` draws them.
//!
//! [`row`] is a picture of its own, for files: up to three tasks and a legend. [`panel`] is one task without legend, for a
//! page that arranges panels to the width of the screen and has colours of its own for day and night.

use std::collections::BTreeMap;

use optimist_plot::lines::{Axes, LegendEntry, Line, LineChart, Stroke, side_by_side};

use crate::peer;
use crate::report::{Estimate, Measure, REFERENCE, Row, TaskReport};

/// Lines in a panel, unless more are asked for: the eye follows no more.
pub(crate) const MOST_LINES: usize = 8;

/// Regret of one kind against rounds, side by side, one line with its error band for each of these optimizers; a legend below.
pub(crate) fn row(parts: &[&TaskReport], measure: Measure, shown: &[&str]) -> String {
    let charts: Vec<LineChart> = parts.iter().map(|part| regret(part, measure, shown)).collect();
    side_by_side(&charts, &legend(shown.iter().copied()))
}

/// Regret of one kind on one task, in the colours of the page that it is part of.
pub(crate) fn panel(part: &TaskReport, measure: Measure, shown: &[&str]) -> String {
    regret(part, measure, shown).panel()
}

/// The optimizers that figures of these tasks show, `most` of them: GO-UCB, random search to compare with, and those with the
/// best mean ranks.
pub(crate) fn shown<'a>(parts: &[&'a TaskReport], most: usize) -> Vec<&'a str> {
    let mut places: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for part in parts {
        // The rows are in the order of their regrets. Fewer rivals make no better place.
        for (place, row) in part.rows.iter().enumerate() {
            let place = (place + 1) as f64 / part.rows.len() as f64;
            places.entry(&row.optimizer).or_default().push(place);
        }
    }
    // One that has played little is not known to be good elsewhere.
    let mean = |places: &[f64]| {
        let missed = (parts.len() - places.len()) as f64;
        (places.iter().sum::<f64>() + missed) / parts.len() as f64
    };
    let mut ranked: Vec<(&str, f64)> = places.iter().map(|(name, places)| (*name, mean(places))).collect();
    let is_always_shown = |name: &str| name == REFERENCE || name == "random";
    ranked.sort_by(|a, b| is_always_shown(b.0).cmp(&is_always_shown(a.0)).then(a.1.total_cmp(&b.1)));
    ranked.into_iter().map(|(name, _)| name).take(most).collect()
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
fn regret(part: &TaskReport, measure: Measure, shown: &[&str]) -> LineChart {
    let task = part.task;
    let is_shown = |row: &&Row| shown.contains(&row.optimizer.as_str());
    let mut rows: Vec<&Row> = part.rows.iter().rev().filter(is_shown).collect();
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
