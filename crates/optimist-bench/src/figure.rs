//! Figures of a report. The one file that calls the plotting crate.

use kuva::prelude::{
    Layout, LegendPosition, LinePlot, Plot, PngBackend, ShadedRegion, SvgBackend, Theme, TickFormat,
    render_multiple,
};
use kuva::render::render::Scene;

use crate::estimate::Estimate;
use crate::report::{Row, TaskReport};

/// A figure, ready to be saved.
pub(crate) struct Figure(Scene);

impl Figure {
    pub(crate) fn svg(&self) -> String {
        SvgBackend::new().render_scene(&self.0)
    }

    pub(crate) fn png(&self) -> Result<Vec<u8>, String> {
        PngBackend::new().with_scale(2.0).render_scene(&self.0)
    }
}

/// Cumulative regret against rounds, one line with its error band an optimizer. An optimizer's
/// place in `optimizers` decides its colour, so that it is the same in every figure.
pub(crate) fn draw(part: &TaskReport, optimizers: &[&str]) -> Figure {
    let task = part.task;
    // Best last, so that it is drawn on top and its line is never hidden.
    let plots: Vec<Plot> =
        part.rows.iter().rev().map(|row| line(row, colour(row, optimizers)).into()).collect();
    let top = part.rows.iter().flat_map(|row| &row.curve).map(upper).fold(0.0, f64::max);
    let layout = Layout::auto_from_plots(&plots)
        .with_title(format!("{}: cumulative regret", task.name))
        .with_subtitle(task.summary)
        .with_x_label("round (Phase I shaded)")
        .with_y_label("cumulative regret ± 1.96 sd/√reps")
        .with_x_axis_min(0.0)
        .with_x_axis_max(task.rounds() as f64)
        .with_y_axis_min(0.0)
        .with_y_axis_max(if top > 0.0 { 1.05 * top } else { 1.0 })
        .with_y_tick_format(if top < 1e6 { TickFormat::Auto } else { TickFormat::Sci })
        .with_legend_position(LegendPosition::InsideTopLeft)
        .with_shaded_region(
            ShadedRegion::vertical(0.0, task.n as f64).with_color("#777777").with_opacity(0.1),
        )
        .with_theme(theme())
        .with_width(720.0)
        .with_height(460.0);
    Figure(render_multiple(plots, layout))
}

/// Light, with a grid and frame that stay behind the lines.
fn theme() -> Theme {
    Theme { grid_color: "#e4e4e4".into(), legend_border: "#bbbbbb".into(), ..Theme::light() }
}

fn line(row: &Row, colour: &str) -> LinePlot {
    let rounds = (1..=row.curve.len()).map(|round| round as f64);
    let line = LinePlot::new()
        .with_data(rounds.zip(row.curve.iter().map(|estimate| estimate.mean)))
        .with_color(colour)
        .with_stroke_width(2.0)
        .with_legend(row.optimizer.clone());
    if row.reps == 1 {
        return line;
    }
    line.with_band(row.curve.iter().map(lower), row.curve.iter().map(upper))
}

fn lower(estimate: &Estimate) -> f64 {
    estimate.mean - estimate.half_width.unwrap_or(0.0)
}

fn upper(estimate: &Estimate) -> f64 {
    estimate.mean + estimate.half_width.unwrap_or(0.0)
}

/// Okabe and Ito's colours, which the colour-blind can tell apart too; yellow is too pale for lines.
fn colour(row: &Row, optimizers: &[&str]) -> &'static str {
    const COLOURS: [&str; 7] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"];
    let place = optimizers.iter().position(|name| *name == row.optimizer).unwrap_or(0);
    COLOURS[place % COLOURS.len()]
}
