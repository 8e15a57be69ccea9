//! Pictures of a study: for a file (SVG, PNG), a page (HTML) and the terminal, and the numbers behind them.
//!
//! Each kind has a file, which says what is drawn, what it means, and which numbers are behind it.
//!
//! ```
//! use optimist_plot::study::{PlotKind, Plots};
//! use optimist_study::{Measurement, Storage, Study, StudyFile};
//!
//! let file = StudyFile::parse(
//!     r#"
//!     name = "parabola"
//!     direction = "minimize"
//!     parameters.x = { type = "float", low = -1.0, high = 1.0 }
//!     "#,
//! )?;
//! let mut study = Study::create(&Storage::memory(), file.definition)?;
//! for _ in 0..5 {
//!     let job = study.ask(None)?;
//!     let x = job.params.get("x").and_then(|x| x.as_f64()).expect("a float");
//!     study.tell(job.trial, Measurement::new((x - 0.3).powi(2)), None)?;
//! }
//! let plots = Plots::new(study.state(), &[PlotKind::History, PlotKind::Slices])?;
//! assert!(plots.svg().starts_with("<svg") && plots.html().starts_with("<!doctype html>"));
//! println!("{}", serde_json::to_string(&plots.data(study.state()))?); // the numbers behind them
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod data;
mod history;
mod importance;
mod page;
mod parallel;
mod slices;
mod surrogate;
pub mod terminal;

use std::path::Path;

use optimist_study::view::number::{count, significant};
use optimist_study::{State, StudyError, Trial};
use serde::Serialize;
use serde_json::Value;

use self::data::Data;
use self::surrogate::Surrogate;
use crate::canvas::{Canvas, cut};
use crate::error::PlotError;
use crate::render;

/// What a plot shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlotKind {
    /// The value of each trial, and the best so far.
    History,
    /// Value against each parameter.
    Slices,
    /// Each trial as a line through its parameters.
    Parallel,
    /// How much each parameter matters, as the model has it.
    Importance,
    /// How well the model predicts, and what it says of each parameter.
    Surrogate,
}

impl PlotKind {
    /// In the order in which they are shown.
    pub const ALL: [Self; 5] =
        [Self::History, Self::Slices, Self::Parallel, Self::Importance, Self::Surrogate];

    /// As users write it.
    pub fn word(self) -> &'static str {
        match self {
            Self::History => "history",
            Self::Slices => "slices",
            Self::Parallel => "parallel",
            Self::Importance => "importance",
            Self::Surrogate => "surrogate",
        }
    }

    fn needs_model(self) -> bool {
        matches!(self, Self::Importance | Self::Surrogate)
    }
}

/// Plots of a study, ready to be written.
pub struct Plots {
    headline: String,
    plots: Vec<Plot>,
}

struct Plot {
    kind: PlotKind,
    title: &'static str,
    /// What it says and how to read it.
    caption: String,
    panels: Vec<Canvas>,
    /// What a model says; all else is in the state.
    data: Value,
}

impl Plots {
    /// Draws these kinds, each once.
    ///
    /// # Errors
    /// If the study has a point that is not in its space.
    pub fn new(state: &State, kinds: &[PlotKind]) -> Result<Self, StudyError> {
        let kinds: Vec<PlotKind> = PlotKind::ALL.into_iter().filter(|kind| kinds.contains(kind)).collect();
        let needs_model = kinds.iter().any(|kind| kind.needs_model());
        let model = if needs_model { Surrogate::fit(state)? } else { None };
        let plots = kinds.into_iter().map(|kind| Plot::new(kind, state, model.as_ref())).collect();
        Ok(Self { headline: headline(state), plots })
    }

    /// The numbers behind the plots, by kind; of the same state.
    pub fn data<'p>(&'p self, state: &'p State) -> impl Serialize + 'p {
        Data { plots: &self.plots, state }
    }

    /// All of them on one sheet, as SVG.
    pub fn svg(&self) -> String {
        render::svg(&self.sheet(), Some("white"))
    }

    /// The same, as a PNG file.
    ///
    /// # Errors
    /// If the plotting crate cannot draw it.
    pub fn png(&self) -> Result<Vec<u8>, PlotError> {
        render::png(&self.sheet())
    }

    /// A page that needs nothing else, with a caption for each plot.
    pub fn html(&self) -> String {
        page::html(&self.headline, &self.plots)
    }

    /// Writes them to a file whose name says what it is to be: `.svg`, `.png` or `.html`.
    ///
    /// # Errors
    /// If the name says something else, or the file cannot be written.
    pub fn write(&self, file: &Path) -> Result<(), PlotError> {
        let extension = file.extension().and_then(|extension| extension.to_str()).map(str::to_lowercase);
        let bytes = match extension.as_deref() {
            Some("svg") => self.svg().into_bytes(),
            Some("png") => self.png()?,
            Some("html" | "htm") => self.html().into_bytes(),
            _ => return Err(PlotError::UnknownFormat { file: file.to_owned() }),
        };
        std::fs::write(file, bytes).map_err(|source| PlotError::Write { file: file.to_owned(), source })
    }

    /// All plots on one sheet, below each other, their panels side by side.
    fn sheet(&self) -> Canvas {
        const WIDTH: f64 = 1040.0;
        let mut sheet = Canvas::new(640.0, 0.0);
        sheet.bold_text((12.0, 30.0), cut(&self.headline, 110), 15);
        let mut top = 48.0;
        for plot in &self.plots {
            let (mut left, mut row_height) = (8.0, 0.0_f64);
            for panel in &plot.panels {
                if left > 8.0 && left + panel.width > WIDTH {
                    (left, top, row_height) = (8.0, top + row_height, 0.0);
                }
                sheet.inset(panel.clone(), (left, top));
                left += panel.width + 8.0;
                row_height = row_height.max(panel.height);
            }
            top += row_height + 12.0;
        }
        sheet.height = top;
        sheet
    }
}

impl Plot {
    fn new(kind: PlotKind, state: &State, model: Option<&Surrogate>) -> Self {
        match (kind, model) {
            (PlotKind::History, _) => history::plot(state),
            (PlotKind::Slices, _) => slices::plot(state),
            (PlotKind::Parallel, _) => parallel::plot(state),
            (PlotKind::Importance, Some(model)) => importance::plot(state, model),
            (PlotKind::Surrogate, Some(model)) => surrogate::plot(state, model),
            (PlotKind::Importance, None) => Self::without_model(kind, importance::TITLE),
            (PlotKind::Surrogate, None) => Self::without_model(kind, surrogate::TITLE),
        }
    }

    fn without_model(kind: PlotKind, title: &'static str) -> Self {
        let caption = "There is no value yet that a model could be fitted to.".to_owned();
        Self { kind, title, caption, panels: Vec::new(), data: Value::Null }
    }
}

/// What the study is and how it stands.
/// How a trial was found, in brackets; nothing where that is not known.
fn how(trial: &Trial) -> String {
    trial.why.as_ref().map_or_else(String::new, |why| format!(" ({why})"))
}

fn headline(state: &State) -> String {
    let name = &state.definition().name;
    let n_ended = state.trials().iter().filter(|trial| trial.has_ended()).count();
    let best = match state.best_observed().and_then(|trial| Some((trial.number, trial.value()?))) {
        Some((trial, value)) => format!("best {} in trial {trial}", significant(value, 6)),
        None => "no value yet".to_owned(),
    };
    format!("{name}: {}, {best}", count(n_ended, "trial"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use optimist_study::{Storage, Study, StudyFile};

    fn empty() -> Study {
        let text = "direction = 'maximize'\nparameters.x = { type = 'bool' }";
        Study::create(&Storage::memory(), StudyFile::parse(text).unwrap().definition).unwrap()
    }

    #[test]
    fn kinds_are_shown_once_and_in_their_order() {
        let kinds = [PlotKind::Surrogate, PlotKind::History, PlotKind::Surrogate];
        let plots = Plots::new(empty().state(), &kinds).unwrap();
        let data = serde_json::to_value(plots.data(empty().state())).unwrap();
        assert_eq!(data.as_object().unwrap().keys().collect::<Vec<_>>(), ["history", "surrogate"]);
        assert!(data["surrogate"].is_null(), "{data}");
    }

    #[test]
    fn a_file_says_by_its_name_what_it_is_to_be() {
        let plots = Plots::new(empty().state(), &[PlotKind::History]).unwrap();
        let error = plots.write("a.pdf".as_ref()).unwrap_err();
        assert!(matches!(error, PlotError::UnknownFormat { .. }), "{error}");
        assert!(error.to_string().contains("a.pdf is to be; end its name in .svg, .png or .html"), "{error}");
        assert!(matches!(plots.write("no/such/a.svg".as_ref()), Err(PlotError::Write { .. })));
    }
}
