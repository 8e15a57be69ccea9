//! Axes, their ticks, and the frame of a chart.

use std::cmp::Ordering;

use optimist::space::{Kind, Value};
use optimist_study::view::number::significant;

use crate::canvas::{Anchor, Canvas, Point, Shape, colour, cut};

const TEXT: u32 = 12;
const TITLE: u32 = 13;
/// How wide a character of the text is, more or less.
const CHARACTER: f64 = 6.6;

/// Where values lie between 0 and 1.
#[derive(Debug, Clone, PartialEq)]
pub enum Axis {
    Linear {
        low: f64,
        high: f64,
    },
    /// Linear, with ticks at whole numbers only: trials, and parameters that are whole numbers.
    Whole {
        low: f64,
        high: f64,
    },
    Log {
        low: f64,
        high: f64,
    },
    Choices(Vec<String>),
}

impl Axis {
    /// The axis of a parameter.
    pub fn of(kind: &Kind) -> Self {
        let number = |low: f64, high: f64, log: bool| {
            if log && low < high { Self::Log { low, high } } else { Self::around([low, high], 0.02) }
        };
        match kind {
            Kind::Float { low, high, log, .. } => number(*low, *high, *log),
            Kind::Int { low, high, log, .. } => match number(*low as f64, *high as f64, *log) {
                Self::Linear { low, high } => Self::Whole { low, high },
                other => other,
            },
            Kind::Bool => Self::Choices(vec!["false".to_owned(), "true".to_owned()]),
            Kind::Categorical { choices } => Self::Choices(choices.iter().map(Value::to_string).collect()),
        }
    }

    /// A linear axis that shows all these values, with some room beyond them.
    pub fn around(values: impl IntoIterator<Item = f64>, room: f64) -> Self {
        let finite = values.into_iter().filter(|value| value.is_finite());
        let (low, high) = finite.fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(v), high.max(v)));
        let (low, high) = if low > high { (0.0, 1.0) } else { (low, high) };
        let width = high - low;
        if width <= 1e-12 * low.abs().max(high.abs()) {
            let half = if low == 0.0 { 1.0 } else { 0.1 * low.abs() };
            return Self::Linear { low: low - half, high: high + half };
        }
        // The width of the widest range is infinite, its half is not.
        let margin = room * (high / 2.0 - low / 2.0);
        Self::Linear {
            low: (low - margin - margin).max(f64::MIN),
            high: (high + margin + margin).min(f64::MAX),
        }
    }

    /// 0 at the beginning, 1 at the end, and no further.
    pub fn position(&self, value: f64) -> f64 {
        let position = match self {
            Self::Linear { low, high } | Self::Whole { low, high } => {
                (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0)
            }
            Self::Log { low, high } => (value.ln() - low.ln()) / (high.ln() - low.ln()),
            Self::Choices(choices) => (value + 0.5) / choices.len() as f64,
        };
        if position.is_nan() { 0.0 } else { position.clamp(0.0, 1.0) }
    }

    /// The position of a value of a parameter; a choice is in the middle of its column.
    pub fn position_of(&self, value: &Value) -> f64 {
        match self {
            Self::Choices(choices) => {
                let text = value.to_string();
                self.position(choices.iter().position(|choice| *choice == text).unwrap_or(0) as f64)
            }
            _ => self.position(value.as_f64().unwrap_or(0.0)),
        }
    }

    /// The end that a value lies beyond, if it does: it is drawn there.
    pub fn beyond(&self, value: f64) -> Option<Ordering> {
        match self {
            Self::Linear { low, .. } if value < *low => Some(Ordering::Less),
            Self::Linear { high, .. } if value > *high => Some(Ordering::Greater),
            _ => None,
        }
    }

    /// How wide the column of a choice is.
    pub fn column(&self) -> Option<f64> {
        match self {
            Self::Choices(choices) => Some(1.0 / choices.len() as f64),
            _ => None,
        }
    }

    /// Round values along the axis, about as many as `most`, with their positions.
    pub fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        match self {
            Self::Linear { low, high } => linear_ticks(*low, *high, most, 0.0),
            Self::Whole { low, high } => linear_ticks(*low, *high, most, 1.0),
            Self::Log { low, high } => log_ticks(*low, *high, most),
            Self::Choices(choices) => {
                let stride = choices.len().div_ceil(most.max(1)).max(1);
                choices.iter().enumerate().step_by(stride).map(|(i, name)| (i as f64, name.clone())).collect()
            }
        }
        .into_iter()
        .map(|(value, label)| (self.position(value), label))
        .collect()
    }
}

/// Ticks that are at least `least` apart.
fn linear_ticks(low: f64, high: f64, most: usize, least: f64) -> Vec<(f64, String)> {
    let rough = (high / most as f64 - low / most as f64).abs().max(least);
    let size = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|part| part * size).into_iter().find(|step| *step >= rough);
    let Some(step) = step.filter(|step| step.is_normal()) else { return vec![(low, significant(low, 4))] };
    // At least five, so that thousands are written out.
    let digits = ((low.abs().max(high.abs()) / step).log10().ceil() as usize + 1).clamp(5, 16);
    let first = (low / step).ceil();
    (0..=most + 1)
        .map(|i| (first + i as f64) * step)
        .take_while(|value| *value <= high + 1e-9 * step)
        .map(|value| if value.abs() < 1e-9 * step { 0.0 } else { value })
        .map(|value| (value, significant(value, digits)))
        .collect()
}

fn log_ticks(low: f64, high: f64, most: usize) -> Vec<(f64, String)> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let stride = ((last - first) as usize).div_ceil(most.max(1)).max(1);
    let parts: &[f64] = if last - first <= 2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let inside = |value: &f64| (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(value);
    let ticks: Vec<f64> = (first..=last)
        .step_by(stride)
        .flat_map(|power| parts.iter().map(move |part| part * 10_f64.powi(power)))
        .filter(inside)
        .collect();
    let ticks = if ticks.len() < 2 { vec![low, high] } else { ticks };
    ticks.into_iter().map(|value| (value, significant(value, 3))).collect()
}

/// A frame with axes, in which things are drawn by their positions between 0 and 1.
pub struct Chart {
    pub canvas: Canvas,
    corner: Point,
    size: Point,
}

impl Chart {
    /// With ticks and a title above.
    pub fn new(width: f64, height: f64, title: &str, x: &Axis, x_label: &str, y: &Axis) -> Self {
        let mut canvas = Canvas::new(width, height);
        let y_ticks = y.ticks((height / 48.0) as usize);
        let widest = y_ticks.iter().map(|(_, label)| label.chars().count()).max().unwrap_or(0).min(14);
        let left = 14.0 + CHARACTER * widest as f64;
        let (top, bottom, right) = (34.0, if x_label.is_empty() { 30.0 } else { 46.0 }, 16.0);
        let chart_size = (width - left - right, height - top - bottom);
        canvas.bold_text((8.0, 20.0), cut(title, (width / 8.0) as usize), TITLE);
        let mut chart = Self { canvas, corner: (left, top), size: chart_size };
        for (position, label) in y_ticks {
            let (from, to) = (chart.at(0.0, position), chart.at(1.0, position));
            chart.canvas.line(colour::GRID, vec![from, to], 1.0);
            chart.canvas.faint_text((left - 6.0, from.1 + 4.0), cut(&label, 14), TEXT, Anchor::End);
        }
        chart.draw_x_ticks(x);
        let frame = [(0.0, 1.0), (0.0, 0.0), (1.0, 0.0)].map(|(x, y)| chart.at(x, y)).to_vec();
        chart.canvas.line(colour::FAINT, frame, 1.0);
        let middle = (left + chart.size.0 / 2.0, height - 8.0);
        chart.canvas.faint_text(middle, cut(x_label, (width / 8.0) as usize), TEXT, Anchor::Middle);
        chart
    }

    fn draw_x_ticks(&mut self, x: &Axis) {
        let ticks = x.ticks(match x {
            Axis::Choices(_) => (self.size.0 / 22.0) as usize,
            _ => (self.size.0 / 64.0) as usize,
        });
        let room = (x.column().unwrap_or(0.2) * self.size.0 / CHARACTER).max(3.0) as usize;
        let mut end = f64::MIN;
        for (position, label) in ticks {
            let foot = self.at(position, 0.0);
            let label = if x.column().is_some() { cut(&label, room) } else { label };
            let half = CHARACTER * label.chars().count() as f64 / 2.0;
            if x.column().is_none() {
                let head = self.at(position, 1.0);
                self.canvas.line(colour::GRID, vec![foot, head], 1.0);
            }
            // A label that would run into its neighbour is left out.
            if foot.0 - half >= end {
                let at = (foot.0.min(self.canvas.width - half), foot.1 + 16.0);
                self.canvas.faint_text(at, label, TEXT, Anchor::Middle);
                end = foot.0 + half + 4.0;
            }
        }
    }

    /// The point on the canvas of positions along the axes.
    pub fn at(&self, x: f64, y: f64) -> Point {
        (self.corner.0 + x * self.size.0, self.corner.1 + (1.0 - y) * self.size.1)
    }

    /// A note in the upper right corner: each mark as it is drawn, with what it means.
    pub fn legend(&mut self, entries: &[(&'static str, Sample, &str)]) {
        let mut right = self.canvas.width - 12.0;
        for (colour, sample, label) in entries.iter().rev() {
            let width = 6.2 * label.chars().count() as f64;
            let shape = Shape::Text {
                at: (right, 20.0),
                text: (*label).to_owned(),
                size: 11,
                anchor: Anchor::End,
                is_bold: false,
                turn: None,
            };
            self.canvas.add(colour, shape);
            self.canvas.add(colour, sample.shape((right - width - 9.0, 16.0)));
            right -= width + 28.0;
        }
    }
}

/// A dot, or, where the point lies beyond the end of an axis, a triangle that points there.
pub fn mark(at: Point, across: Option<Ordering>, up: Option<Ordering>, radius: f64) -> Shape {
    let (x, y) = at;
    let side = |end: Ordering| if end == Ordering::Less { -1.0 } else { 1.0 };
    match (across.map(side), up.map(side)) {
        (_, Some(up)) => {
            let base = y + 9.0 * up;
            Shape::Area { points: vec![(x, y + up), (x - 4.5, base), (x + 4.5, base)] }
        }
        (Some(across), None) => {
            let base = x - 9.0 * across;
            Shape::Area { points: vec![(x - across, y), (base, y - 4.5), (base, y + 4.5)] }
        }
        (None, None) => Shape::Dot { at, radius },
    }
}

/// A mark in a legend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sample {
    Dot,
    Cross,
    Line,
    /// A value beyond the edge that it points at.
    Triangle {
        is_up: bool,
    },
}

impl Sample {
    /// The mark, drawn at a point.
    pub fn shape(self, (x, y): Point) -> Shape {
        match self {
            Self::Dot => Shape::Dot { at: (x, y), radius: 3.5 },
            Self::Cross => Shape::Cross { at: (x, y), radius: 3.0 },
            Self::Line => {
                Shape::Line { points: vec![(x - 6.0, y), (x + 6.0, y)], width: 2.0, is_dashed: false }
            }
            Self::Triangle { is_up } => {
                let (tip, base) = if is_up { (y - 4.0, y + 4.0) } else { (y + 4.0, y - 4.0) };
                Shape::Area { points: vec![(x, tip), (x - 4.5, base), (x + 4.5, base)] }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<String> {
        axis.ticks(6).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(labels(&Axis::Linear { low: -0.1, high: 1.05 }), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(labels(&Axis::Log { low: 1e-5, high: 1.0 }).first().unwrap(), "1e-5");
        assert_eq!(labels(&Axis::Log { low: 1.0, high: 100.0 }), ["1", "2", "5", "10", "20", "50", "100"]);
        assert_eq!(labels(&Axis::Log { low: 0.3, high: 0.4 }), ["0.3", "0.4"]);
        for axis in [Axis::around([1e9, 1e9 + 1.0], 0.1), Axis::around([-1e-300, 1e-300], 0.0)] {
            let mut all = labels(&axis);
            let n = all.len();
            all.dedup();
            assert!(n >= 2 && all.len() == n, "{all:?}");
        }
    }

    #[test]
    fn thousands_are_written_out() {
        assert_eq!(
            labels(&Axis::Linear { low: -500.0, high: 2500.0 }),
            ["-500", "0", "500", "1000", "1500", "2000", "2500"]
        );
        assert_eq!(labels(&Axis::Linear { low: 0.0, high: 2e6 }).last().unwrap(), "2e6");
    }

    #[test]
    fn a_value_off_the_scale_is_a_triangle_and_no_dot() {
        let y = Axis::Linear { low: 0.0, high: 1.0 };
        let is_dot = |value| matches!(mark((5.0, 50.0), None, y.beyond(value), 3.0), Shape::Dot { .. });
        assert_eq!([-1.0, 0.0, 0.5, 1.0, 2.0].map(is_dot), [false, true, true, true, false]);
        let tip = |across: f64, up: f64| match mark((5.0, 50.0), y.beyond(across), y.beyond(up), 3.0) {
            Shape::Area { points } => (points[0].0 - points[1].0, points[0].1 - points[1].1),
            other => panic!("{other:?} is not a triangle"),
        };
        assert!(tip(0.5, -1.0).1 > 0.0 && tip(0.5, 2.0).1 < 0.0, "down and up");
        assert!(tip(-1.0, 0.5).0 < 0.0 && tip(2.0, 0.5).0 > 0.0, "left and right");
    }

    #[test]
    fn whole_numbers_have_no_ticks_between_them() {
        assert_eq!(labels(&Axis::Whole { low: -0.04, high: 2.04 }), ["0", "1", "2"]);
        assert_eq!(labels(&Axis::Whole { low: 0.0, high: 1.0 }), ["0", "1"]);
        let three = Kind::Int { low: 1, high: 3, log: false, step: None };
        assert_eq!(labels(&Axis::of(&three)), ["1", "2", "3"]);
        assert_eq!(labels(&Axis::Whole { low: -1.0, high: 51.0 }), ["0", "10", "20", "30", "40", "50"]);
    }

    #[test]
    fn the_widest_axis_is_finite() {
        for room in [0.0, 0.06] {
            let Axis::Linear { low, high } = Axis::around([-1e308, 1e308], room) else {
                panic!("it is linear")
            };
            assert!(low.is_finite() && high.is_finite() && low <= -1e308 && high >= 1e308, "{low} {high}");
            let axis = Axis::Linear { low, high };
            assert!((axis.position(0.0) - 0.5).abs() < 1e-9);
            let labels = labels(&axis);
            assert!(labels.len() >= 2 && labels.iter().all(|label| label.len() < 8), "{labels:?}");
        }
    }

    #[test]
    fn every_axis_has_a_position_for_every_number() {
        let axes = [
            Axis::around([], 0.1),
            Axis::around([7.0], 0.1),
            Axis::around([0.0, 0.0], 0.1),
            Axis::around([f64::MIN, f64::MAX], 0.0),
            Axis::of(&Kind::Float { low: 2.0, high: 2.0, log: true, step: None }),
            Axis::of(&Kind::Bool),
        ];
        for axis in axes {
            for value in [f64::MIN, -1.0, 0.0, 1e-300, 7.0, f64::MAX] {
                assert!((0.0..=1.0).contains(&axis.position(value)), "{value} on {axis:?}");
            }
            assert!(axis.ticks(5).len() < 20);
        }
    }
}
