//! Routes for results: the best points, the front, importances, plots and their data. Each result is computed once and cached until
//! the log has a new record.

use axum::extract::State;
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use optimist_plot::study::{PlotKind, Plots, is_drawable};
use optimist_study::view::{self, Best};
use optimist_study::{State as StudyState, StudyInsight, Trial};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::take::{Named, Query, within};
use super::{Answer, Route, json};
use crate::app::App;
use crate::auth::Need;
use crate::problem::Problem;
use crate::studies::Held;

/// How many of the best points to compute and cache.
const BEST: usize = 100;

pub fn routes() -> Vec<Route> {
    let look = |path, id, summary| ((Method::GET, path), (id, Need::View, summary));
    let (at, what) = look("/studies/{study}/best", "best", "Get the best points, the recommended one first");
    let best = Route::new(at, what, best).query::<HowMany>().gives::<BestPoints>();
    let (at, what) = look("/studies/{study}/front", "front", "Get the Pareto front of the observed trials");
    let front = Route::new(at, what, front).gives::<ObservedFront>();
    let (at, what) = look(
        "/studies/{study}/importance",
        "importance",
        "Get the importance of each parameter, according to the model",
    );
    let importance = Route::new(at, what, importance).gives::<Importances>();
    let (at, what) = look("/studies/{study}/plots/{kind}", "plot", "Get a plot, or the data behind it");
    let plot = Route::new(at, what, plot).query::<Format>().gives_other("application/json");
    vec![best, front, importance, plot]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct HowMany {
    /// At most this many points. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 100))]
    n: usize,
}

fn one() -> usize {
    1
}

/// The best points.
#[derive(Serialize, JsonSchema)]
struct BestPoints {
    /// The recommended one first; empty before the first value.
    best: Vec<Best>,
}

async fn best(
    State(app): State<App>,
    Named(study): Named<String>,
    Query(HowMany { n }): Query<HowMany>,
) -> Result<Answer<BestPoints>, Problem> {
    let n = within("n", n, 1..=BEST)?;
    app.look(&study, move |app, held| {
        let best = app.best(held)?.iter().take(n).cloned().collect();
        Ok::<_, Problem>(Answer(BestPoints { best }))
    })
    .await
}

impl App {
    /// The best points, the recommended one first; empty before the first value.
    pub(crate) fn best(&self, held: &Held) -> Result<std::sync::Arc<Vec<Best>>, Problem> {
        held.kept("best", || {
            if held.read(|state| state.best_observed().is_none()) {
                return Ok(Vec::new());
            }
            self.studies.look(held, |study| {
                let recommended = study.recommend()?;
                let others = study.ranking(BEST).unwrap_or_default().into_iter();
                let others: Vec<Best> = others.filter(|other| Some(other) != recommended.as_ref()).collect();
                Ok(recommended.into_iter().chain(others).collect())
            })
        })
    }
}

impl App {
    /// With several goals, the points to choose from; `None` before a trial has all outcomes.
    pub(crate) fn front(&self, held: &Held) -> Result<std::sync::Arc<Option<view::Front>>, Problem> {
        held.kept("front", || {
            let has_front = held.read(|state| state.observed_front().is_some());
            if !has_front {
                return Ok(None);
            }
            // Too many trials for a model are no reason to refuse the rest.
            self.studies.look(held, |study| Ok(study.front().unwrap_or_default()))
        })
    }
}

/// The Pareto front: trials that no other trial beats in every goal.
#[derive(Serialize, JsonSchema)]
struct ObservedFront {
    /// The numbers of the trials. With one goal: those with the best value.
    trials: Vec<usize>,
    /// The hypervolume beyond the reference point; null with one goal, or if computing it would take too long.
    hypervolume: Option<f64>,
    /// With several goals, the points that the model recommends: what it expects there, with its uncertainty, and which is the knee.
    /// Null with one goal, and before a trial has all outcomes.
    expected: Option<view::Front>,
}

async fn front(
    State(app): State<App>,
    Named(study): Named<String>,
) -> Result<Answer<ObservedFront>, Problem> {
    app.look(&study, |app, held| {
        let expected = app.front(held)?.as_ref().clone();
        let front = held.read(|state| match state.observed_front() {
            Some(front) => ObservedFront { trials: front.trials, hypervolume: front.hypervolume, expected },
            None => {
                let outcomes = state.outcomes();
                let merit = |trial: &Trial| outcomes.merit(|name| trial.measured_value_of(name));
                let best = state.best_observed().and_then(merit);
                let is_best = |trial: &&Trial| best.is_some() && merit(trial) == best;
                let trials = state.trials().iter().filter(is_best).map(|trial| trial.number).collect();
                ObservedFront { trials, hypervolume: None, expected: None }
            }
        });
        Ok::<_, Problem>(Answer(front))
    })
    .await
}

/// The importance of each parameter.
#[derive(Serialize, JsonSchema)]
struct Importances {
    /// In the order of declaration; empty before there is a model.
    importance: Vec<OfParameter>,
}

/// The importance of a parameter, as fractions of the model's variance.
#[derive(Serialize, JsonSchema)]
struct OfParameter {
    parameter: String,
    /// By the parameter alone, 0 to 1.
    main: f64,
    /// Including interactions with other parameters, 0 to 1.
    total: f64,
}

async fn importance(State(app): State<App>, Named(study): Named<String>) -> Result<Response, Problem> {
    let written = app
        .look(&study, |_, held| {
            held.kept("importance", || {
                let state = held.read(Clone::clone); // fitting takes long: don't hold the lock
                let model = StudyInsight::of(&state)?;
                let names =
                    state.definition().space.parameters().iter().map(|parameter| parameter.name.clone());
                let of = |(parameter, importance): (String, optimist::insight::Importance)| OfParameter {
                    parameter,
                    main: importance.main,
                    total: importance.total,
                };
                let importances = model.map(|model| model.importances()).unwrap_or_default();
                let importance = Importances { importance: names.zip(importances).map(of).collect() };
                serde_json::to_string(&importance).map_err(unwritten)
            })
        })
        .await?;
    Ok(json(written.to_string()))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Format {
    /// The format. Default: `json`, the data behind the plot.
    #[serde(default)]
    format: Kind,
    /// For a contour: the horizontal parameter. Default: the most important ones.
    #[serde(default)]
    x: Option<String>,
    /// For a contour: the vertical parameter.
    #[serde(default)]
    y: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Kind {
    #[default]
    Json,
    Svg,
    Png,
}

async fn plot(
    State(app): State<App>,
    Named((study, kind)): Named<(String, String)>,
    Query(Format { format, x, y }): Query<Format>,
) -> Result<Response, Problem> {
    let known = PlotKind::ALL.into_iter().find(|known| known.word() == kind);
    let words = PlotKind::ALL.map(PlotKind::word).join(", ");
    let kind =
        known.ok_or_else(|| Problem::not_found(format!("unknown plot `{kind}`; use one of {words}")))?;
    let file = app
        .look(&study, move |_, held| {
            match held.read(|state| pair(state, x.as_deref(), y.as_deref()))? {
                None => {
                    held.kept(&format!("{}.{}", kind.word(), format as u8), || draw(held, kind, None, format))
                }
                // There are too many pairs to keep.
                pair => draw(held, kind, pair, format).map(std::sync::Arc::new),
            }
        })
        .await?;
    let media = match format {
        Kind::Json => return Ok(json(String::from_utf8_lossy(&file).into_owned())),
        Kind::Svg => "image/svg+xml",
        Kind::Png => "image/png",
    };
    Ok(([(header::CONTENT_TYPE, media)], file.to_vec()).into_response())
}

/// The two parameters of a contour, if any are named.
fn pair(state: &StudyState, x: Option<&str>, y: Option<&str>) -> Result<Option<(usize, usize)>, Problem> {
    if x.is_none() && y.is_none() {
        return Ok(None);
    }
    let parameters = state.definition().space.parameters();
    let place = |name: &str| parameters.iter().position(|parameter| parameter.name == name);
    let pair = x.and_then(place).zip(y.and_then(place)).filter(|&(x, y)| is_drawable(parameters, x, y));
    let wrong = || {
        Problem::bad_request(
            "a contour needs `x` and `y`: two different parameters, neither of which depends on the other",
        )
    };
    pair.ok_or_else(wrong).map(Some)
}

fn draw(held: &Held, kind: PlotKind, pair: Option<(usize, usize)>, format: Kind) -> Result<Vec<u8>, Problem> {
    let state = held.read(Clone::clone);
    let plots = Plots::of_pair(&state, &[kind], pair)?;
    match format {
        Kind::Svg => Ok(plots.svg().into_bytes()),
        Kind::Png => {
            plots.png().map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
        }
        Kind::Json => {
            let data: Value = serde_json::to_value(plots.data(&state)).map_err(unwritten)?;
            serde_json::to_vec(&data).map_err(unwritten)
        }
    }
}

fn unwritten(error: serde_json::Error) -> Problem {
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
}
