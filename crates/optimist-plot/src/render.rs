//! Pictures as SVG and PNG. The one file that calls the plotting crate.

use kuva::prelude::{PngBackend, SvgBackend};
use kuva::render::render::{PathData, Primitive, Scene, TextAnchor};

use crate::canvas::{Anchor, Canvas, Mark, Point, Shape};
use crate::error::PlotError;

/// Pixels of a PNG for each point.
const PNG_SCALE: f32 = 2.0;

/// An SVG element. Without a background it takes on that of the page it is in.
pub fn svg(canvas: &Canvas, background: Option<&str>) -> String {
    let svg = SvgBackend::new().render_scene(&scene(canvas, background));
    // Scales with its surroundings.
    let size = format!("viewBox=\"0 0 {} {}\" ", canvas.width, canvas.height);
    svg.replacen("<svg ", &format!("<svg {size}"), 1)
}

/// The bytes of a PNG file.
///
/// # Errors
/// If the plotting crate cannot draw it.
pub fn png(canvas: &Canvas) -> Result<Vec<u8>, PlotError> {
    let png = PngBackend::new().with_scale(PNG_SCALE).render_scene(&scene(canvas, Some("white")));
    png.map_err(|problem| PlotError::Png { problem })
}

fn scene(canvas: &Canvas, background: Option<&str>) -> Scene {
    let mut scene = Scene::new(canvas.width, canvas.height);
    scene.background_color = background.map(str::to_owned);
    scene.font_family = Some("system-ui, DejaVu Sans, sans-serif".to_owned());
    for mark in &canvas.marks {
        let title = mark.title.clone();
        let extra_attrs = mark.trial.map(|trial| format!("data-trial=\"{trial}\""));
        let is_group = title.is_some() || extra_attrs.is_some();
        if is_group {
            scene.elements.push(Primitive::GroupStart { transform: None, title, extra_attrs });
        }
        scene.elements.extend(primitives(mark));
        if is_group {
            scene.elements.push(Primitive::GroupEnd);
        }
    }
    scene
}

fn primitives(mark: &Mark) -> Vec<Primitive> {
    let colour = || mark.colour.into();
    let line = |points: Vec<Point>, stroke_width: f64, is_dashed: bool| Primitive::PolyLine {
        points,
        stroke: colour(),
        stroke_width,
        stroke_dasharray: is_dashed.then(|| "4 3".to_owned()),
    };
    match &mark.shape {
        Shape::Text { at: (x, y), text, size, anchor, is_bold, turn } => vec![Primitive::Text {
            x: *x,
            y: *y,
            content: text.clone(),
            size: *size,
            anchor: match anchor {
                Anchor::Start => TextAnchor::Start,
                Anchor::Middle => TextAnchor::Middle,
                Anchor::End => TextAnchor::End,
            },
            rotate: *turn,
            bold: *is_bold,
            color: Some(colour()),
        }],
        Shape::Line { points, width, is_dashed } => vec![line(points.clone(), *width, *is_dashed)],
        Shape::Area { points } => {
            let corner =
                |(i, (x, y)): (usize, &Point)| format!("{}{x:.2} {y:.2}", if i == 0 { "M" } else { "L" });
            let d = points.iter().enumerate().map(corner).collect::<String>() + "Z";
            let (fill, stroke) = (Some(colour()), colour());
            let path = PathData { d, fill, stroke, stroke_width: 0.0, opacity: None, stroke_dasharray: None };
            vec![Primitive::Path(Box::new(path))]
        }
        Shape::Dot { at: (cx, cy), radius } => vec![Primitive::Circle {
            cx: *cx,
            cy: *cy,
            r: *radius,
            fill: colour(),
            fill_opacity: None,
            stroke: None,
            stroke_width: None,
        }],
        Shape::Cross { at: (x, y), radius: r } => vec![
            line(vec![(x - r, y - r), (x + r, y + r)], 1.5, false),
            line(vec![(x - r, y + r), (x + r, y - r)], 1.5, false),
        ],
        Shape::Specks { at, size } => {
            let square = |(x, y): &Point| format!("M{x:.1} {y:.1}h{size}v{size}h-{size}z");
            let d = at.iter().map(square).collect::<String>();
            let (fill, stroke) = (Some(colour()), colour());
            let path = PathData { d, fill, stroke, stroke_width: 0.0, opacity: None, stroke_dasharray: None };
            vec![Primitive::Path(Box::new(path))]
        }
        Shape::Rect { at: (x, y), width, height } => vec![Primitive::Rect {
            x: *x,
            y: *y,
            width: *width,
            height: *height,
            fill: colour(),
            stroke: None,
            stroke_width: None,
            opacity: None,
        }],
    }
}
