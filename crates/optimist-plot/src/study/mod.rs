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

mod card;
mod compare;
mod contour;
mod data;
mod edf;
mod front;
mod history;
mod importance;
mod metrics;
mod page;
mod parallel;
mod series;
mod slices;
mod surrogate;
pub mod terminal;
mod timeline;
mod trials;

pub use compare::{MOST_STUDIES, best_so_far, sparkline};
pub use contour::is_drawable;
pub use page::dark_rules;
pub use parallel::{AxisPlace, parallel_axes};

use std::path::Path;

use optimist_study::view::number::{count, shown, significant};
use optimist_study::{Best, Search, State, StudyError, Trial};
use serde::Serialize;
use serde_json::Value;

use self::card::Card;
use self::data::Data;
use self::surrogate::Surrogate;
use crate::canvas::{Canvas, cut};
use crate::error::PlotError;
use crate::render;

/// How wide a panel is that has a row for itself, and one of three in a row.
const WIDE: f64 = 1040.0;
const NARROW: f64 = 341.0;

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
    /// Several goals against each other. Left out of several kinds if there is at most one goal.
    Front,
    /// Further results of the trials.
    Metrics,
    /// What the model says of two parameters together.
    Contour,
    /// Which part of the trials was at least this good.
    Edf,
    /// When each trial ran, and on which worker.
    Timeline,
}

impl PlotKind {
    /// In the order in which they are shown.
    pub const ALL: [Self; 10] = [
        Self::History,
        Self::Front,
        Self::Slices,
        Self::Parallel,
        Self::Importance,
        Self::Surrogate,
        Self::Contour,
        Self::Edf,
        Self::Timeline,
        Self::Metrics,
    ];

    /// As users write it.
    pub fn word(self) -> &'static str {
        match self {
            Self::History => "history",
            Self::Slices => "slices",
            Self::Parallel => "parallel",
            Self::Importance => "importance",
            Self::Surrogate => "surrogate",
            Self::Front => "front",
            Self::Metrics => "metrics",
            Self::Contour => "contour",
            Self::Edf => "edf",
            Self::Timeline => "timeline",
        }
    }

    /// The kind of that name.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// Whether a model is fitted for it, which takes its time.
    pub fn needs_model(self) -> bool {
        matches!(self, Self::Importance | Self::Surrogate | Self::Contour)
    }
}

/// Plots of a study, ready to be written.
pub struct Plots {
    headline: String,
    card: Card,
    plots: Vec<Plot>,
    /// The trials, as a section of a page.
    trials: String,
}

/// A plot as a part of a page.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// What it shows.
    pub kind: PlotKind,
    /// In a word.
    pub title: &'static str,
    /// What it says and how to read it.
    pub caption: String,
    /// SVG elements without a background.
    pub panels: Vec<String>,
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
        Self::of_pair(state, kinds, None)
    }

    /// The same with a contour of two parameters, by their places in the space; of those that matter most if they are `None` or
    /// one depends on the other.
    ///
    /// # Errors
    /// If the study has a point that is not in its space.
    pub fn of_pair(
        state: &State,
        kinds: &[PlotKind],
        pair: Option<(usize, usize)>,
    ) -> Result<Self, StudyError> {
        let has_front = state.outcomes().search() == Search::Front || kinds == [PlotKind::Front];
        let is_wanted = |kind: &PlotKind| kinds.contains(kind) && (has_front || *kind != PlotKind::Front);
        let kinds: Vec<PlotKind> = PlotKind::ALL.into_iter().filter(is_wanted).collect();
        let needs_model = kinds.iter().any(|kind| kind.needs_model());
        let models = if needs_model { Surrogate::fit_all(state)? } else { Vec::new() };
        let card = Card::new(state, &models);
        let plots = kinds.into_iter().map(|kind| Plot::new(kind, state, &models, pair)).collect();
        Ok(Self { headline: headline(state), card, plots, trials: trials::html(state) })
    }

    /// The same with the point that the optimizer recommends, which the page then opens with.
    #[must_use]
    pub fn with_recommended(mut self, best: Option<&Best>) -> Self {
        if let Some(best) = best {
            self.card.recommend(best);
        }
        self
    }

    /// The numbers behind the plots, by kind; of the same state.
    pub fn data<'p>(&'p self, state: &'p State) -> impl Serialize + 'p {
        Data { plots: &self.plots, state }
    }

    /// The plots one by one, to be put on a page. Marks of trials that are not `selected` are pale and lie below the others.
    pub fn sections(&self, selected: Option<&dyn Fn(usize) -> bool>) -> Vec<Section> {
        let panel = |panel: &Canvas| match selected {
            Some(selected) => render::svg(&panel.clone().with_selected(selected), None),
            None => render::svg(panel, None),
        };
        let section = |plot: &Plot| Section {
            kind: plot.kind,
            title: plot.title,
            caption: plot.caption.clone(),
            panels: plot.panels.iter().map(panel).collect(),
        };
        self.plots.iter().map(section).collect()
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

    /// A page that needs nothing else: what to take home, the plots with their captions, all trials.
    pub fn html(&self) -> String {
        page::html(&self.headline, &self.card, &self.plots, &self.trials)
    }

    /// Writes them to a file whose name gives the format: `.svg`, `.png` or `.html`.
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
        const WIDTH: f64 = WIDE + 16.0;
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
    fn new(kind: PlotKind, state: &State, models: &[Surrogate], pair: Option<(usize, usize)>) -> Self {
        match (kind, models) {
            (PlotKind::History, _) => history::plot(state),
            (PlotKind::Front, _) => front::plot(state),
            (PlotKind::Slices, _) => slices::plot(state),
            (PlotKind::Parallel, _) => parallel::plot(state),
            (PlotKind::Edf, _) => edf::plot(state),
            (PlotKind::Timeline, _) => timeline::plot(state),
            (PlotKind::Importance, []) => Self::without_model(kind, importance::TITLE),
            (PlotKind::Surrogate, []) => Self::without_model(kind, surrogate::TITLE),
            (PlotKind::Contour, []) => Self::without_model(kind, contour::TITLE),
            (PlotKind::Importance, models) => importance::plot(state, models),
            (PlotKind::Surrogate, models) => surrogate::plot(state, models),
            (PlotKind::Contour, models) => contour::plot(state, models, pair),
            (PlotKind::Metrics, _) => metrics::plot(state),
        }
    }

    fn without_model(kind: PlotKind, title: &'static str) -> Self {
        let caption = "There are no values yet to fit a model to.".to_owned();
        Self { kind, title, caption, panels: Vec::new(), data: Value::Null }
    }
}

/// What a trial came to, with this many digits: its value, or the values of all outcomes with their names; `None` if there is none.
pub fn values(trial: &Trial, digits: usize) -> Option<String> {
    if let Some(value) = trial.value() {
        return Some(significant(value, digits));
    }
    let names = trial.measurements.first().or_else(|| trial.known())?.values.iter().map(|(name, _)| name);
    let pair = |name: &str| Some(format!("{name} {}", significant(trial.value_of(name)?, digits)));
    Some(names.filter_map(pair).collect::<Vec<_>>().join(", "))
}

/// A trial in words, a line for each parameter.
fn describe(trial: &Trial) -> String {
    const MOST_PARAMETERS: usize = 12;
    let outcome = match values(trial, 6) {
        Some(values) => format!(": {values}"),
        None => format!(" {}", trial.state.word()),
    };
    let mut text = format!("trial {}{outcome}{}", trial.number, how(trial));
    for (name, value) in trial.params.iter().take(MOST_PARAMETERS) {
        text.push_str(&format!("\n{name} = {}", cut(&shown(value), 40)));
    }
    if trial.params.len() > MOST_PARAMETERS {
        text.push_str("\n…");
    }
    text
}

/// How a trial was found, in brackets; nothing where that is not known.
fn how(trial: &Trial) -> String {
    trial.why.as_ref().map_or_else(String::new, |why| format!(" ({why})"))
}

/// What the study is and how it stands.
fn headline(state: &State) -> String {
    let name = &state.definition().name;
    let n_ended = state.trials().iter().filter(|trial| trial.has_ended()).count();
    let goal = state.outcomes().goal().map(|goal| goal.name.as_str());
    let best = match (state.best_observed(), state.observed_front()) {
        (Some(best), _) => match goal.and_then(|goal| best.value_of(goal)) {
            Some(value) => format!("best {} in trial {}", significant(value, 6), best.number),
            None => format!("trial {} is feasible", best.number),
        },
        (None, Some(front)) => format!("{} on the front", count(front.trials.len(), "trial")),
        (None, None) if state.has_values() => "nothing feasible yet".to_owned(),
        (None, None) => "no value yet".to_owned(),
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
        assert!(error.to_string().contains("a.pdf; use a name that ends in .svg, .png or .html"), "{error}");
        assert!(matches!(plots.write("no/such/a.svg".as_ref()), Err(PlotError::Write { .. })));
    }
}
