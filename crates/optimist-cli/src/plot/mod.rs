//! Pictures of a study: for a file (SVG, PNG), a page (HTML) and the terminal, and the numbers behind them.
//!
//! A plot is a few canvases; `render` makes files of them, and is the one place that knows the plotting crate.

mod canvas;
mod chart;
mod history;
mod importance;
mod page;
mod parallel;
mod render;
mod slices;
mod surrogate;
pub mod terminal;

use std::path::Path;

use anyhow::{Context, bail};
use clap::ValueEnum;
use optimist_study::{State, StudyInsight};
use serde_json::{Map, Value};

use self::canvas::Canvas;
use self::importance::Importances;
use self::surrogate::Fit;
use optimist_study::view::number::significant;

/// What a plot shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// The value of each trial, and the best so far
    History,
    /// Value against each parameter
    Slices,
    /// Each trial as a line through its parameters
    Parallel,
    /// How much each parameter matters, as the model has it
    Importance,
    /// How well the model predicts, and what it says of each parameter
    Surrogate,
    /// All of these
    All,
}

impl Kind {
    const EACH: [Self; 5] = [Self::History, Self::Slices, Self::Parallel, Self::Importance, Self::Surrogate];

    /// These kinds, each once; `All` is all others.
    pub fn chosen(kinds: &[Self]) -> Vec<Self> {
        let wanted = |kind: &Self| kinds.contains(kind) || kinds.contains(&Self::All);
        Self::EACH.into_iter().filter(wanted).collect()
    }

    fn word(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

/// Plots of a study, ready to be written.
pub struct Plots {
    headline: String,
    plots: Vec<Plot>,
}

struct Plot {
    kind: Kind,
    title: &'static str,
    /// What it says and how to read it.
    caption: String,
    panels: Vec<Canvas>,
    data: Value,
}

impl Plots {
    /// Draws these kinds.
    pub fn of(state: &State, kinds: &[Kind]) -> anyhow::Result<Self> {
        let kinds = Kind::chosen(kinds);
        let asks_model = |kind: &Kind| matches!(kind, Kind::Importance | Kind::Surrogate);
        let insight = if kinds.iter().any(asks_model) { StudyInsight::of(state)? } else { None };
        let fit = insight.as_ref().map(|insight| Fit::new(state, insight));
        let plots = kinds.into_iter().map(|kind| Plot::of(kind, state, insight.as_ref(), fit.as_ref()));
        Ok(Self { headline: headline(state), plots: plots.collect() })
    }

    /// The numbers behind the plots.
    pub fn data(&self) -> Value {
        let pairs = self.plots.iter().map(|plot| (plot.kind.word(), plot.data.clone()));
        Value::Object(pairs.collect::<Map<String, Value>>())
    }

    /// Writes them to a file whose name says what it is to be.
    pub fn write(&self, file: &Path) -> anyhow::Result<()> {
        let extension = file.extension().and_then(|extension| extension.to_str()).map(str::to_lowercase);
        let bytes = match extension.as_deref() {
            Some("svg") => render::svg(&self.sheet(), Some("white")).into_bytes(),
            Some("png") => match render::png(&self.sheet()) {
                Ok(bytes) => bytes,
                Err(problem) => {
                    bail!("cannot draw the picture: {problem}; try a file name that ends in .svg")
                }
            },
            Some("html" | "htm") => page::html(&self.headline, &self.plots).into_bytes(),
            _ => bail!(
                "cannot tell what kind of picture {} is to be; end its name in .svg, .png or .html",
                file.display()
            ),
        };
        std::fs::write(file, bytes).with_context(|| format!("cannot write the picture to {}", file.display()))
    }

    /// All plots on one sheet, below each other, their panels side by side.
    fn sheet(&self) -> Canvas {
        const WIDTH: f64 = 1040.0;
        let mut sheet = Canvas::new(640.0, 0.0);
        sheet.bold_text((12.0, 30.0), canvas::cut(&self.headline, 110), 15);
        let mut top = 48.0;
        for plot in &self.plots {
            let (mut left, mut row_height) = (8.0, 0.0_f64);
            for panel in &plot.panels {
                if left > 8.0 && left + panel.width > WIDTH {
                    (left, top, row_height) = (8.0, top + row_height, 0.0);
                }
                sheet.place(panel.clone(), (left, top));
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
    fn of(kind: Kind, state: &State, insight: Option<&StudyInsight>, fit: Option<&Fit>) -> Self {
        let no_model = "There is no value yet that a model could be fitted to.";
        let (title, caption, panels, data) = match (kind, insight, fit) {
            (Kind::History | Kind::All, _, _) => (
                "History",
                "The value of each trial, and the best so far. Values far worse than the rest are drawn at the edge; \
                 a cross is a trial that failed."
                    .to_owned(),
                vec![history::draw(state)],
                history::data(state),
            ),
            (Kind::Slices, _, _) => (
                "Slices",
                "The value against each parameter, the best trial in orange. Choices are columns, whose points are \
                 spread sideways; a cross is a trial that failed."
                    .to_owned(),
                slices::draw(state),
                slices::data(state),
            ),
            (Kind::Parallel, _, _) => (
                "Parallel coordinates",
                "Each line is a trial; where the good ones run together, a parameter matters.".to_owned(),
                vec![parallel::draw(state)],
                parallel::data(state),
            ),
            (Kind::Importance, Some(insight), Some(fit)) => {
                let importances = Importances::new(state, insight.importances());
                let caption = format!(
                    "The part of the variance of the model's prediction, over the whole space, that is due to each \
                     parameter: by itself, and with all its interactions (first-order and total Sobol' indices). {}",
                    fit.trust()
                );
                ("Importance", caption, vec![importances.draw()], importances.data())
            }
            (Kind::Surrogate, _, Some(fit)) => (
                "Model",
                format!(
                    "First: each value as it is predicted from all others, with its 95 % interval; points on the \
                     diagonal are predicted exactly. Then, for each parameter, the prediction on average over all \
                     others, with its 95 % band, and what was observed. {}",
                    fit.trust()
                ),
                fit.draw(state),
                fit.data(state),
            ),
            (Kind::Importance, _, _) => ("Importance", no_model.to_owned(), Vec::new(), Value::Null),
            (Kind::Surrogate, _, _) => ("Model", no_model.to_owned(), Vec::new(), Value::Null),
        };
        Self { kind, title, caption: with_thinning(caption, kind, state), panels, data }
    }
}

fn with_thinning(caption: String, kind: Kind, state: &State) -> String {
    let n_values = state.trials().iter().filter(|trial| trial.value().is_some()).count();
    match kind {
        Kind::Parallel if n_values > parallel::MOST_LINES => format!(
            "{caption} Of {n_values} trials {} are drawn, evenly from the worst to the best.",
            parallel::MOST_LINES
        ),
        Kind::Slices | Kind::Surrogate if n_values > slices::MOST_POINTS => {
            format!("{caption} Of {n_values} trials the best and an even spread of the others are drawn.")
        }
        _ => caption,
    }
}

/// What the study is and how it stands.
fn headline(state: &State) -> String {
    let name = &state.definition().name;
    let n_ended = state.trials().iter().filter(|trial| trial.has_ended()).count();
    let plural = if n_ended == 1 { "" } else { "s" };
    let best = match state.best_observed().and_then(|trial| Some((trial.number, trial.value()?))) {
        Some((trial, value)) => format!("best {} in trial {trial}", significant(value, 6)),
        None => "no value yet".to_owned(),
    };
    format!("{name}: {n_ended} trial{plural}, {best}")
}
