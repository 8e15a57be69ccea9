//! Routes that show trials: list, get.

use axum::extract::State;
use axum::http::Method;
use optimist_study::view::TrialView;
use optimist_study::view::number::count;
use optimist_study::{Trial, TrialState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::take::{Named, Query, within};
use super::{Answer, Route};
use crate::app::App;
use crate::auth::Need;
use crate::problem::Problem;
use crate::studies::Held;

pub fn routes() -> Vec<Route> {
    let looks = [
        Route::new(
            (Method::GET, "/studies/{study}/trials"),
            ("trials", Need::View, "List trials, one page at a time"),
            page,
        )
        .query::<Which>(),
        Route::new(
            (Method::GET, "/studies/{study}/trials/{trial}"),
            ("trial", Need::View, "Get a trial"),
            one,
        )
        .gives::<TrialView<'static>>(),
    ];
    let [trials, trial] = looks;
    vec![trials.gives::<Page>(), trial]
}

/// Which trials to list, and in which order.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Which {
    /// Only trials with a higher number.
    after: Option<usize>,
    /// Only trials in these states: `running`, `waiting`, `complete`, `failed` or `cancelled`, separated by commas.
    state: Option<String>,
    /// Only trials of this worker.
    worker: Option<String>,
    /// The order. Default: `number`.
    #[serde(default)]
    sort: Sort,
    /// Skip this many. Default: 0.
    #[serde(default)]
    offset: usize,
    /// At most this many trials. Default: 100.
    #[serde(default = "hundred")]
    #[schemars(range(min = 1, max = 1000))]
    limit: usize,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Sort {
    /// Oldest first.
    #[default]
    Number,
    /// Newest first.
    Latest,
    /// Best value first, with several goals the front first; trials without a value come last.
    Best,
}

fn hundred() -> usize {
    100
}

/// A page of trials.
#[derive(Serialize, JsonSchema)]
struct Page {
    #[schemars(with = "Vec<TrialView<'static>>")]
    trials: Vec<Value>,
    /// How many trials match.
    total: usize,
    /// How many trials the study has in all.
    of: usize,
    /// The number of the last log record that this includes.
    head: u64,
}

async fn page(
    State(app): State<App>,
    Named(study): Named<String>,
    Query(which): Query<Which>,
) -> Result<Answer<Page>, Problem> {
    let limit = within("limit", which.limit, 1..=1000)?;
    let states = which.state.as_deref().map(states).transpose()?;
    app.look(&study, move |_, held| {
        let page = held.read(|state| {
            let is_wanted = |trial: &&Trial| {
                states.as_ref().is_none_or(|states| states.contains(&trial.state))
                    && which.worker.as_ref().is_none_or(|worker| trial.worker.as_ref() == Some(worker))
            };
            let from = which.after.map_or(0, |after| after.saturating_add(1)).min(state.trials().len());
            let mut trials: Vec<&Trial> = state.trials()[from..].iter().filter(is_wanted).collect();
            match which.sort {
                Sort::Number => {}
                Sort::Latest => trials.reverse(),
                Sort::Best => {
                    let goal = state.outcomes().goal().map(|goal| goal.aim.direction());
                    let layers = state.layers();
                    let layer = |trial: &Trial| layers.get(&trial.number).copied().unwrap_or(usize::MAX);
                    trials.sort_by(|a, b| match (goal, state.merit(a), state.merit(b)) {
                        (Some(direction), Some(a), Some(b)) => direction.compare(&b, &a),
                        (_, None, None) => layer(a).cmp(&layer(b)),
                        (_, a, b) => b.is_some().cmp(&a.is_some()),
                    });
                }
            }
            let total = trials.len();
            let shown = trials.into_iter().skip(which.offset).take(limit);
            let view = |trial| serde_json::to_value(TrialView::new(trial).judged(trial, state.outcomes()));
            let trials = shown.map(view).collect::<Result<_, _>>();
            trials.map(|trials| Page { trials, total, of: state.trials().len(), head: state.head() })
        });
        page.map(Answer).map_err(unwritten)
    })
    .await
}

fn states(words: &str) -> Result<Vec<TrialState>, Problem> {
    let all = [
        TrialState::Running,
        TrialState::Waiting,
        TrialState::Complete,
        TrialState::Failed,
        TrialState::Cancelled,
    ];
    let state = |word: &str| {
        let known = all.into_iter().find(|state| state.word() == word.trim());
        known.ok_or_else(|| {
            Problem::bad_request(format!(
                "unknown state `{word}`; use running, waiting, complete, failed or cancelled"
            ))
        })
    };
    words.split(',').map(state).collect()
}

async fn one(
    State(app): State<App>,
    Named((study, trial)): Named<(String, usize)>,
) -> Result<Answer<Value>, Problem> {
    app.look(&study, move |_, held| shown(held, trial).map(Answer)).await
}

/// The trial as JSON.
///
/// # Errors
/// If the study has no trial of this number.
pub fn shown(held: &Held, trial: usize) -> Result<Value, Problem> {
    held.read(|state| match state.trial(trial) {
        Some(known) => {
            let view = TrialView::new(known).judged(known, state.outcomes());
            serde_json::to_value(view).map_err(unwritten)
        }
        None => {
            let n = state.trials().len();
            Err(Problem::not_found(format!(
                "study `{}` has no trial {trial}; it has {}, numbered from 0",
                held.name(),
                count(n, "trial")
            )))
        }
    })
}

fn unwritten(error: serde_json::Error) -> Problem {
    Problem::new(axum::http::StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
}
