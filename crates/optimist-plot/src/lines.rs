//! Charts that compare lines, such as the regret of several optimizers.
//!
//! Given: points, and how each line is to look. Gives: SVG, as a file of its own with a legend ([`side_by_side`]) or as part
//! of a page that has the legend and the colours ([`LineChart::panel`]). Does not know: what the lines are about.
//!
//! Frames and ticks are those of the plotting crate. There is no PNG, in which it draws dashes as solid lines.

use kuva::prelude::{
    BandPlot, Figure, Layout, LinePlot, LineStyle, Plot, ShadedRegion, SvgBackend, Theme, TickFormat,
    render_multiple,
};
use kuva::render::render::{Primitive, Scene, TextAnchor};

/// Width and height of a chart, in points.
const SIZE: (f64, f64) = (380.0, 310.0);

/// Lines in one frame.
#[derive(Debug, Clone, PartialEq)]
pub struct LineChart {
    /// Above the frame.
    pub title: String,
    /// Text below the horizontal axis.
    pub x_label: String,
    /// Text beside the vertical axis.
    pub y_label: String,
    /// How far the axes go, and how.
    pub axes: Axes,
    /// Later ones cover earlier ones; all bands lie below all lines.
    pub lines: Vec<Line>,
}

/// Both axes of a chart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Axes {
    /// Logarithmic and as long as the lines need; all coordinates must be positive.
    Log,
    /// Linear, from 0.
    FromZero {
        /// Where the x axis ends; the y axis ends a little above lines and bands.
        x_end: f64,
        /// The frame is shaded from 0 to here.
        shaded_to: f64,
    },
}

/// A line of a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// From left to right.
    pub points: Vec<(f64, f64)>,
    /// The lower and the upper end of an interval around each point.
    pub band: Option<Vec<(f64, f64)>>,
    /// How it looks.
    pub stroke: Stroke,
}

/// How a line looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stroke {
    /// As SVG writes it: `#D55E00`.
    pub colour: &'static str,
    /// Width of the line, in points.
    pub width: f64,
    /// Lengths of dashes and gaps, as SVG writes them; `None` for a solid line.
    pub dashes: Option<&'static str>,
    /// Opacity of the band around the line, from 0 to 1.
    pub band_opacity: f64,
}

/// What a legend says of a line.
#[derive(Debug, Clone, PartialEq)]
pub struct LegendEntry {
    /// Written beside a sample of the line.
    pub name: String,
    /// How the line looks.
    pub stroke: Stroke,
    /// Whether the name stands out.
    pub is_bold: bool,
}

/// A picture of its own, black on white: charts beside each other, and a legend below them. SVG.
pub fn side_by_side(charts: &[LineChart], legend: &[LegendEntry]) -> String {
    let plots: Vec<Vec<Plot>> = charts.iter().map(LineChart::plots).collect();
    let layouts = charts.iter().zip(&plots).map(|(chart, plots)| chart.layout(plots, paper_theme()));
    let figure = Figure::new(1, charts.len())
        .with_cell_size(SIZE.0, SIZE.1)
        .with_spacing(8.0)
        .with_padding(6.0)
        .with_layouts(layouts.collect())
        .with_plots(plots);
    let mut scene = figure.render();
    add_legend(&mut scene, legend);
    svg(&scene)
}

impl LineChart {
    /// Without a legend, for a page: in the colour of its text, with a grid in the colour `--grid` of its style. SVG.
    pub fn panel(&self) -> String {
        let plots = self.plots();
        let layout = self.layout(&plots, page_theme()).with_width(SIZE.0).with_height(SIZE.1);
        svg(&render_multiple(plots, layout))
    }

    fn plots(&self) -> Vec<Plot> {
        let bands = self.lines.iter().filter_map(Line::band_plot).map(Plot::from);
        bands.chain(self.lines.iter().map(Line::line_plot).map(Plot::from)).collect()
    }

    fn layout(&self, plots: &[Plot], theme: Theme) -> Layout {
        let layout = Layout::auto_from_plots(plots)
            .with_title(self.title.clone())
            .with_title_size(14)
            .with_x_label(self.x_label.clone())
            .with_y_label(self.y_label.clone())
            .with_label_size(12)
            .with_theme(theme);
        match self.axes {
            Axes::Log => layout.with_log_scale(),
            Axes::FromZero { x_end, shaded_to } => {
                let top = self.lines.iter().map(Line::top).fold(0.0, f64::max);
                layout
                    .with_x_axis_min(0.0)
                    .with_x_axis_max(x_end)
                    .with_y_axis_min(0.0)
                    .with_y_axis_max(if top > 0.0 { 1.05 * top } else { 1.0 })
                    .with_y_tick_format(if top < 1e5 { TickFormat::Auto } else { TickFormat::Sci })
                    .with_shaded_region(
                        ShadedRegion::vertical(0.0, shaded_to).with_color("#777777").with_opacity(0.12),
                    )
            }
        }
    }
}

impl Line {
    fn line_plot(&self) -> LinePlot {
        let Stroke { colour, width, dashes, .. } = self.stroke;
        let style = dashes.map_or(LineStyle::Solid, |dashes| LineStyle::Custom(dashes.to_owned()));
        let line = LinePlot::new().with_color(colour).with_stroke_width(width).with_line_style(style);
        line.with_data(self.points.iter().copied())
    }

    fn band_plot(&self) -> Option<BandPlot> {
        let (xs, ends) = (self.points.iter().map(|(x, _)| *x), self.band.as_ref()?.iter());
        let band = BandPlot::new(xs, ends.clone().map(|(low, _)| *low), ends.map(|(_, high)| *high));
        Some(band.with_color(self.stroke.colour).with_opacity(self.stroke.band_opacity))
    }

    /// The highest point of it and of its band.
    fn top(&self) -> f64 {
        let points = self.points.iter().chain(self.band.iter().flatten());
        points.map(|(_, y)| *y).fold(f64::MIN, f64::max)
    }
}

/// Adds as many rows of names below the scene as they need. The plotting crate's own legend is one column.
fn add_legend(scene: &mut Scene, entries: &[LegendEntry]) {
    const LINE: f64 = 30.0;
    const ROW: f64 = 19.0;
    const TEXT: u32 = 12;
    let longest = entries.iter().map(|entry| entry.name.chars().count()).max().unwrap_or(0);
    let column = LINE + 20.0 + 0.62 * f64::from(TEXT) * longest as f64;
    let margin = 20.0;
    let n_columns = ((scene.width - 2.0 * margin) / column).floor().max(1.0) as usize;
    for (index, LegendEntry { name, stroke, is_bold }) in entries.iter().enumerate() {
        let x = margin + (index % n_columns) as f64 * column;
        let y = scene.height + ROW * ((index / n_columns) as f64 + 0.5);
        scene.add(Primitive::Line {
            x1: x,
            y1: y,
            x2: x + LINE,
            y2: y,
            stroke: stroke.colour.into(),
            stroke_width: stroke.width,
            stroke_dasharray: stroke.dashes.map(str::to_owned),
        });
        scene.add(Primitive::Text {
            x: x + LINE + 6.0,
            y: y + 0.35 * f64::from(TEXT),
            content: name.clone(),
            size: TEXT,
            anchor: TextAnchor::Start,
            rotate: None,
            bold: *is_bold,
            color: None,
        });
    }
    scene.height += ROW * entries.len().div_ceil(n_columns) as f64 + 6.0;
}

/// The scene, which scales with its surroundings.
fn svg(scene: &Scene) -> String {
    let Scene { width, height, .. } = scene;
    let svg = SvgBackend::new().render_scene(scene);
    svg.replacen("<svg ", &format!("<svg viewBox=\"0 0 {width} {height}\" "), 1)
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

#[cfg(test)]
mod tests {
    use super::*;

    const SOLID: Stroke = Stroke { colour: "#D55E00", width: 3.2, dashes: None, band_opacity: 0.2 };
    const DASHED: Stroke = Stroke { colour: "#0072B2", width: 1.6, dashes: Some("7 3"), band_opacity: 0.1 };

    fn chart(axes: Axes) -> LineChart {
        let line = |stroke, height: f64, band| Line { points: vec![(1.0, height), (2.0, 2.0)], band, stroke };
        LineChart {
            title: "regret".into(),
            x_label: "round".into(),
            y_label: "y".into(),
            axes,
            lines: vec![line(DASHED, 1.0, None), line(SOLID, 3.0, Some(vec![(1.0, 5.0), (1.0, 4.0)]))],
        }
    }

    #[test]
    fn a_line_is_drawn_in_its_colour_and_dashes_with_its_band_below_all_lines() {
        let svg = chart(Axes::FromZero { x_end: 2.0, shaded_to: 1.0 }).panel();
        assert!(svg.contains("currentColor") && svg.contains("var(--grid)"), "{svg}");
        let band = svg.find("fill=\"#d55e00\"").expect("a band");
        let dashed = svg.find("stroke-dasharray=\"7 3\"").expect("a dashed line");
        assert!(band < dashed, "{svg}");
    }

    #[test]
    fn the_y_axis_has_room_for_bands() {
        let chart = chart(Axes::FromZero { x_end: 2.0, shaded_to: 1.0 });
        assert_eq!(chart.lines.iter().map(Line::top).collect::<Vec<_>>(), [2.0, 5.0]);
    }

    #[test]
    fn charts_stand_side_by_side_with_every_name_below() {
        let charts = [chart(Axes::Log), chart(Axes::Log)];
        let entry = |name: &str, stroke| LegendEntry { name: name.into(), stroke, is_bold: true };
        let svg = side_by_side(&charts, &[entry("ours", SOLID), entry("theirs", DASHED)]);
        assert_eq!(svg.matches("regret").count(), 2, "{svg}");
        assert!(svg.starts_with("<svg viewBox=") && svg.contains("ours") && svg.contains("theirs"), "{svg}");
    }
}
