//! What a picture is made of, in points from its upper left corner. Knows no axes, no data and no file format.

/// Colours that the colour-blind can tell apart (Okabe and Ito), and greys. The page gives each a darker twin
/// (`study/page.rs`), so a picture uses these and no others.
pub mod colour {
    pub const INK: &str = "#24292f";
    pub const FAINT: &str = "#6e7781";
    pub const GRID: &str = "#e6e8eb";
    pub const POINT: &str = "#0072b2";
    pub const BEST: &str = "#d55e00";
    pub const FAILED: &str = "#8c6d9c";
    pub const BAND: &str = "#d3e5f1";
    /// What is not selected.
    pub const OFF: &str = "#e3e7eb";
    /// Lines of trials from the worst to the best.
    pub const RANKS: [&str; 5] = ["#d5dae0", "#a9c6de", "#5b9dcb", "#0072b2", "#d55e00"];
    /// Studies to compare.
    pub const SERIES: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#24292f"];
    /// Areas from the worst to the best.
    pub const LEVELS: [&str; 9] =
        ["#f7fbfe", "#e6f1f8", "#d2e5f2", "#bad7ea", "#9dc6e1", "#7cb2d6", "#5a9cc9", "#3a85b9", "#1f6ea6"];
}

/// A picture, or a part of one.
#[derive(Debug, Clone, PartialEq)]
pub struct Canvas {
    pub width: f64,
    pub height: f64,
    pub marks: Vec<Mark>,
}

/// Right and down.
pub type Point = (f64, f64);

/// Something drawn. Later marks cover earlier ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    pub shape: Shape,
    pub colour: &'static str,
    /// Shown when a pointer rests on it.
    pub title: Option<String>,
    /// The trial that it stands for.
    pub trial: Option<usize>,
}

/// How it looks.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    Text {
        at: Point,
        text: String,
        size: u32,
        anchor: Anchor,
        is_bold: bool,
        turn: Option<f64>,
    },
    Line {
        points: Vec<Point>,
        width: f64,
        is_dashed: bool,
    },
    Area {
        points: Vec<Point>,
    },
    Dot {
        at: Point,
        radius: f64,
    },
    Cross {
        at: Point,
        radius: f64,
    },
    Rect {
        at: Point,
        width: f64,
        height: f64,
    },
    /// Many small squares, which have no titles.
    Specks {
        at: Vec<Point>,
        size: f64,
    },
}

/// Which end of a text is at its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

impl Canvas {
    pub fn new(width: f64, height: f64) -> Self {
        Self { width, height, marks: Vec::new() }
    }

    pub fn add(&mut self, colour: &'static str, shape: Shape) {
        self.marks.push(Mark { shape, colour, title: None, trial: None });
    }

    pub fn add_titled(&mut self, colour: &'static str, shape: Shape, title: Option<String>) {
        self.marks.push(Mark { shape, colour, title, trial: None });
    }

    /// A mark that stands for a trial.
    pub fn add_trial(&mut self, colour: &'static str, shape: Shape, trial: usize, title: Option<String>) {
        self.marks.push(Mark { shape, colour, title, trial: Some(trial) });
    }

    pub fn text(&mut self, at: Point, text: impl Into<String>, size: u32, anchor: Anchor) {
        self.add(
            colour::INK,
            Shape::Text { at, text: text.into(), size, anchor, is_bold: false, turn: None },
        );
    }

    pub fn faint_text(&mut self, at: Point, text: impl Into<String>, size: u32, anchor: Anchor) {
        self.add(
            colour::FAINT,
            Shape::Text { at, text: text.into(), size, anchor, is_bold: false, turn: None },
        );
    }

    pub fn bold_text(&mut self, at: Point, text: impl Into<String>, size: u32) {
        let (text, anchor) = (text.into(), Anchor::Start);
        self.add(colour::INK, Shape::Text { at, text, size, anchor, is_bold: true, turn: None });
    }

    pub fn line(&mut self, colour: &'static str, points: Vec<Point>, width: f64) {
        self.add(colour, Shape::Line { points, width, is_dashed: false });
    }

    /// Marks of trials that are not selected become pale and lie below those that are.
    pub fn with_selected(mut self, selected: &dyn Fn(usize) -> bool) -> Self {
        let is_off = |mark: &Mark| mark.trial.is_some_and(|trial| !selected(trial));
        let (mut off, on): (Vec<Mark>, Vec<Mark>) = self.marks.drain(..).partition(is_off);
        off.iter_mut().for_each(|mark| mark.colour = colour::OFF);
        // What is no trial stays where it is, below or above; the first of the others is where the pale ones go.
        let place = on.iter().position(|mark| mark.trial.is_some()).unwrap_or(on.len());
        let mut marks = on;
        marks.splice(place..place, off);
        self.marks = marks;
        self
    }

    /// Draws another canvas with its corner at `at`.
    pub fn inset(&mut self, other: Canvas, at: Point) {
        self.marks.extend(other.marks.into_iter().map(|mark| mark.moved(at)));
        self.width = self.width.max(at.0 + other.width);
        self.height = self.height.max(at.1 + other.height);
    }
}

impl Mark {
    fn moved(mut self, by: Point) -> Self {
        let shift = |at: &mut Point| *at = (at.0 + by.0, at.1 + by.1);
        match &mut self.shape {
            Shape::Line { points, .. } | Shape::Area { points } | Shape::Specks { at: points, .. } => {
                points.iter_mut().for_each(shift);
            }
            Shape::Text { at, .. }
            | Shape::Dot { at, .. }
            | Shape::Cross { at, .. }
            | Shape::Rect { at, .. } => shift(at),
        }
        self
    }
}

/// `text` cut to so many characters.
pub fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{kept}…")
}
