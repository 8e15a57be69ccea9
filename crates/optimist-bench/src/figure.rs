//! Figures of a report. The one file that calls the plotting crate.
//!
//! [`row`] is a picture of its own, for files: up to three tasks and a legend. [`panel`] is one task without
//! legend, for a page that arranges panels to the width of the screen and has colours of its own for day and
//! night. Both are SVG: the crate's PNG has no dashes to tell other people's programs by.

use kuva::prelude::{
    BandPlot, Layout, LinePlot, LineStyle, Plot, ShadedRegion, SvgBackend, Theme, TickFormat, render_multiple,
};
use kuva::render::render::{Primitive, Scene, TextAnchor};

use crate::peer;
use crate::report::{Estimate, Measure, REFERENCE, Row, TaskReport};

/// Regret of one kind against rounds, side by side, one line with its error band an optimizer; a legend below.
pub(crate) fn row(parts: &[&TaskReport], measure: Measure) -> String {
    let plots: Vec<Vec<Plot>> = parts.iter().map(|part| lines(part, measure)).collect();
    let layouts = parts.iter().zip(&plots).map(|(part, plots)| layout(part, measure, plots, paper_theme()));
    let names = parts.iter().flat_map(|part| &part.rows).map(|row| row.optimizer.as_str());
    side_by_side(layouts.collect(), plots, names)
}

/// Regret of one kind on one task, in the colours of the page that it is part of: its text, and `--grid`.
pub(crate) fn panel(part: &TaskReport, measure: Measure) -> String {
    let plots = lines(part, measure);
    let layout = layout(part, measure, &plots, page_theme()).with_width(PANEL.0).with_height(PANEL.1);
    svg(&render_multiple(plots, layout))
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
        let plots = self.lines();
        let layout = self.layout(&plots, page_theme()).with_width(PANEL.0).with_height(PANEL.1);
        svg(&render_multiple(plots, layout))
    }

    /// A picture of its own: side by side, with a legend below.
    pub(crate) fn row(charts: &[Growth]) -> String {
        let plots: Vec<Vec<Plot>> = charts.iter().map(Growth::lines).collect();
        let layouts = charts.iter().zip(&plots).map(|(chart, plots)| chart.layout(plots, paper_theme()));
        let names = charts.iter().flat_map(|chart| &chart.curves).map(|(name, _)| name.as_str());
        side_by_side(layouts.collect(), plots, names)
    }

    /// GO-UCB last, so that it is on top.
    fn lines(&self) -> Vec<Plot> {
        let mut curves: Vec<_> = self.curves.iter().collect();
        curves.sort_by_key(|(name, _)| name == REFERENCE);
        curves
            .into_iter()
            .map(|(name, points)| stroked(name).with_data(points.iter().copied()).into())
            .collect()
    }

    fn layout(&self, plots: &[Plot], theme: Theme) -> Layout {
        Layout::auto_from_plots(plots)
            .with_log_scale()
            .with_title(self.title.clone())
            .with_title_size(14)
            .with_x_label(self.x_label.clone())
            .with_y_label(self.y_label.clone())
            .with_label_size(12)
            .with_theme(theme)
    }
}

/// Charts beside each other, and a legend below them.
fn side_by_side<'a>(
    layouts: Vec<Layout>,
    plots: Vec<Vec<Plot>>,
    names: impl IntoIterator<Item = &'a str>,
) -> String {
    let figure = kuva::prelude::Figure::new(1, plots.len())
        .with_cell_size(PANEL.0, PANEL.1)
        .with_spacing(8.0)
        .with_padding(6.0)
        .with_layouts(layouts)
        .with_plots(plots);
    let mut scene = figure.render();
    add_legend(&mut scene, &legend_order(names));
    svg(&scene)
}

/// Width and height of one task's part of a figure.
const PANEL: (f64, f64) = (380.0, 310.0);

/// The scene, which scales with its surroundings.
fn svg(scene: &Scene) -> String {
    let Scene { width, height, .. } = scene;
    let svg = SvgBackend::new().render_scene(scene);
    svg.replacen("<svg ", &format!("<svg viewBox=\"0 0 {width} {height}\" "), 1)
}

/// How an optimizer's line looks, the same in every figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stroke {
    pub(crate) colour: &'static str,
    pub(crate) width: f64,
    /// Lengths of dashes and gaps; `None` for a solid line.
    pub(crate) dashes: Option<&'static str>,
    band_opacity: f64,
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

/// Adds as many rows of names below the scene as they need. The plotting crate's own legend is one column.
fn add_legend(scene: &mut Scene, names: &[&str]) {
    const LINE: f64 = 30.0;
    const ROW: f64 = 19.0;
    const TEXT: u32 = 12;
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let column = LINE + 20.0 + 0.62 * f64::from(TEXT) * longest as f64;
    let margin = 20.0;
    let n_columns = ((scene.width - 2.0 * margin) / column).floor().max(1.0) as usize;
    for (index, name) in names.iter().enumerate() {
        let Stroke { colour, width, dashes, .. } = stroke(name);
        let x = margin + (index % n_columns) as f64 * column;
        let y = scene.height + ROW * ((index / n_columns) as f64 + 0.5);
        scene.add(Primitive::Line {
            x1: x,
            y1: y,
            x2: x + LINE,
            y2: y,
            stroke: colour.into(),
            stroke_width: width,
            stroke_dasharray: dashes.map(str::to_owned),
        });
        scene.add(Primitive::Text {
            x: x + LINE + 6.0,
            y: y + 0.35 * f64::from(TEXT),
            content: (*name).to_owned(),
            size: TEXT,
            anchor: TextAnchor::Start,
            rotate: None,
            bold: *name == REFERENCE,
            color: None,
        });
    }
    scene.height += ROW * names.len().div_ceil(n_columns) as f64 + 6.0;
}

fn layout(part: &TaskReport, measure: Measure, plots: &[Plot], theme: Theme) -> Layout {
    let task = part.task;
    let top = part.rows.iter().flat_map(|row| &row.regret(measure).curve).map(upper).fold(0.0, f64::max);
    Layout::auto_from_plots(plots)
        .with_title(format!("{} (d = {})", task.name, task.domain.axes().len()))
        .with_title_size(14)
        .with_x_label("round (Phase I shaded)")
        .with_y_label(format!("{} regret", measure.name()))
        .with_label_size(12)
        .with_x_axis_min(0.0)
        .with_x_axis_max((task.n + part.horizon) as f64)
        .with_y_axis_min(0.0)
        .with_y_axis_max(if top > 0.0 { 1.05 * top } else { 1.0 })
        .with_y_tick_format(if top < 1e5 { TickFormat::Auto } else { TickFormat::Sci })
        .with_shaded_region(
            ShadedRegion::vertical(0.0, task.n as f64).with_color("#777777").with_opacity(0.12),
        )
        .with_theme(theme)
}

/// Black on white, with a grid that stays behind the lines.
fn paper_theme() -> Theme {
    Theme { grid_color: "#e4e4e4".into(), legend_border: "none".into(), ..Theme::light() }
}

fn page_theme() -> Theme {
    let text = || "currentColor".to_owned();
    Theme {
        background: "none".into(),
        axis_color: text(),
        tick_color: text(),
        text_color: text(),
        grid_color: "var(--grid)".into(),
        ..Theme::light()
    }
}

/// Bands below, then lines; of each the best last, so that it is on top, and GO-UCB above all.
fn lines(part: &TaskReport, measure: Measure) -> Vec<Plot> {
    let mut rows: Vec<&Row> = part.rows.iter().rev().collect();
    rows.sort_by_key(|row| row.optimizer == REFERENCE);
    let bands = rows.iter().filter(|row| row.reps > 1).map(|row| band(row, measure).into());
    bands.chain(rows.iter().map(|row| line(row, measure).into())).collect()
}

fn line(row: &Row, measure: Measure) -> LinePlot {
    let curve = &row.regret(measure).curve;
    stroked(&row.optimizer).with_data(rounds(curve).zip(curve.iter().map(|estimate| estimate.mean)))
}

/// A line that looks as its optimizer's, without data.
fn stroked(optimizer: &str) -> LinePlot {
    let Stroke { colour, width, dashes, .. } = stroke(optimizer);
    let style = dashes.map_or(LineStyle::Solid, |dashes| LineStyle::Custom(dashes.to_owned()));
    LinePlot::new().with_color(colour).with_stroke_width(width).with_line_style(style)
}

fn band(row: &Row, measure: Measure) -> BandPlot {
    let Stroke { colour, band_opacity, .. } = stroke(&row.optimizer);
    let curve = &row.regret(measure).curve;
    BandPlot::new(rounds(curve), curve.iter().map(lower), curve.iter().map(upper))
        .with_color(colour)
        .with_opacity(band_opacity)
}

fn rounds(curve: &[Estimate]) -> impl Iterator<Item = f64> {
    (1..=curve.len()).map(|round| round as f64)
}

/// Not below 0, where no regret is.
fn lower(estimate: &Estimate) -> f64 {
    (estimate.mean - estimate.half_width.unwrap_or(0.0)).max(0.0)
}

fn upper(estimate: &Estimate) -> f64 {
    estimate.mean + estimate.half_width.unwrap_or(0.0)
}
