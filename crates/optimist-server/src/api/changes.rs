//! What operators do about a study: amend, cancel, retry, enqueue, change its plan.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::http::Method;
use optimist_study::definition::Plan;
use optimist_study::{Amendment, Course, Kept, Study, StudyError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::measured::{Noise, measurement};
use super::take::{Json, Named};
use super::trials::assignment;
use super::{Answer, Route};
use crate::app::App;
use crate::auth::{Identity, Need};
use crate::problem::Problem;

pub fn routes() -> Vec<Route> {
    let at = |path, id, summary| ((Method::POST, path), (id, Need::Operate, summary));
    let (amended, what) =
        at("/studies/{study}/trials/{trial}/amend", "amend", "Corrects a trial that has ended");
    let amend = Route::new(amended, what, amend).body::<Amend>().gives::<Done>();
    let (cancelled, what) =
        at("/studies/{study}/trials/{trial}/cancel", "cancel", "Gives up a trial: nobody will measure it");
    let cancel = Route::new(cancelled, what, cancel).gives::<Done>();
    let (retried, what) =
        at("/studies/{study}/retry", "retry", "Puts back trials that failed or were cancelled");
    let retry = Route::new(retried, what, retry).body::<Retry>().gives::<Retried>();
    let (queue, what) = at("/studies/{study}/queue", "enqueue", "Has a point tried next");
    let enqueue = Route::new(queue, what, enqueue).body::<Enqueue>().gives::<Done>();
    let plan = Route::new(
        (Method::PATCH, "/studies/{study}/plan"),
        (
            "plan",
            Need::Operate,
            "Changes how a study is run: how many trials, when it is over; pauses and resumes it",
        ),
        plan,
    );
    vec![amend, cancel, retry, enqueue, plan.body::<PlanChange>().gives::<Plan>()]
}

/// What became of it.
#[derive(Serialize, JsonSchema)]
struct Done {
    /// Whether it was news.
    stored: bool,
}

/// What is wrong with a trial.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Amend {
    /// Parameters that it was really run with.
    #[serde(default)]
    params: Option<Map<String, Value>>,
    /// What really came of it.
    #[serde(default)]
    outcome: Option<Outcome>,
    /// Why it is corrected.
    #[serde(default)]
    reason: Option<String>,
}

/// What really came of a trial.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Outcome {
    /// This was measured.
    Measured {
        /// In the direction of the study; finite.
        #[serde(default)]
        value: Option<f64>,
        /// Of a study of several outcomes, in place of `value`: each by its name.
        #[serde(default)]
        values: Option<BTreeMap<String, f64>>,
        /// The standard deviation of the noise, where it is known: of all values, or by the names of outcomes.
        #[serde(default)]
        noise_std: Option<Noise>,
        /// Anything worth telling the reader of the results.
        #[serde(default)]
        note: Option<String>,
        /// Further results.
        #[serde(default)]
        metrics: Option<Map<String, Value>>,
    },
    /// There is no value at this point.
    Failed {
        /// In words.
        reason: String,
    },
    /// Nobody measured it.
    Cancelled,
    /// It is to be run again.
    Waiting,
}

impl TryFrom<Outcome> for Amendment {
    type Error = Problem;

    fn try_from(outcome: Outcome) -> Result<Self, Problem> {
        Ok(match outcome {
            Outcome::Measured { value, values, noise_std, note, metrics } => {
                Self::Measured(measurement(value, values, noise_std, note, metrics)?)
            }
            Outcome::Failed { reason } => Self::Failed { reason, known: None },
            Outcome::Cancelled => Self::Cancelled,
            Outcome::Waiting => Self::Waiting,
        })
    }
}

/// Changes a study for whoever asks.
async fn change<T: Send + 'static>(
    app: &App,
    who: &Identity,
    study: String,
    change: impl FnOnce(&mut Study) -> Result<T, StudyError> + Send + 'static,
) -> Result<T, Problem> {
    let by = who.name.clone();
    app.look(&study, move |app, held| app.studies.change(held, &by, change)).await
}

async fn amend(
    State(app): State<App>,
    who: Identity,
    Named((study, trial)): Named<(String, usize)>,
    Json(Amend { params, outcome, reason }): Json<Amend>,
) -> Result<Answer<Done>, Problem> {
    let with = assignment(params)?;
    let outcome = outcome.map(Amendment::try_from).transpose()?;
    let amend = move |study: &mut Study| study.amend(trial, &with, outcome, reason.as_deref());
    let kept = change(&app, &who, study, amend).await?;
    Ok(Answer(Done { stored: kept == Kept::Stored }))
}

async fn cancel(
    State(app): State<App>,
    who: Identity,
    Named((study, trial)): Named<(String, usize)>,
) -> Result<Answer<Done>, Problem> {
    change(&app, &who, study, move |study| study.cancel(trial)).await?;
    Ok(Answer(Done { stored: true }))
}

/// Which trials to put back.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Retry {
    /// Their numbers.
    trials: Vec<usize>,
}

/// Which trials were put back.
#[derive(Serialize, JsonSchema)]
struct Retried {
    /// Their numbers; those that waited already are not among them.
    trials: Vec<usize>,
}

async fn retry(
    State(app): State<App>,
    who: Identity,
    Named(study): Named<String>,
    Json(Retry { trials }): Json<Retry>,
) -> Result<Answer<Retried>, Problem> {
    let trials = change(&app, &who, study, move |study| study.retry(&trials)).await?;
    Ok(Answer(Retried { trials }))
}

/// A point to try next.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Enqueue {
    /// All its active parameters.
    params: Map<String, Value>,
}

async fn enqueue(
    State(app): State<App>,
    who: Identity,
    Named(study): Named<String>,
    Json(Enqueue { params }): Json<Enqueue>,
) -> Result<Answer<Done>, Problem> {
    let params = assignment(Some(params))?;
    change(&app, &who, study, move |study| study.enqueue(&params)).await?;
    Ok(Answer(Done { stored: true }))
}

/// What to change about the plan; what is left out stays as it is.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PlanChange {
    /// How many trials in all.
    #[serde(default)]
    #[schemars(range(min = 1))]
    trials: Option<usize>,
    /// What runs are to do: `going`, `paused` (wait) or `stopped` (end, once the trials that run have ended).
    #[serde(default)]
    course: Option<Course>,
    /// How long a worker may be silent before its trial is put back, in seconds.
    #[serde(default)]
    #[schemars(range(min = 0.001, max = 3e9))]
    lease: Option<f64>,
    /// How often a trial is started before it counts as failed.
    #[serde(default)]
    #[schemars(range(min = 1))]
    max_attempts: Option<usize>,
    /// How often the best point is measured.
    #[serde(default)]
    #[schemars(range(min = 1))]
    replicates: Option<usize>,
    /// The study is over when a value is this good; `null` takes it back.
    #[serde(default, deserialize_with = "given")]
    target: Option<Option<f64>>,
    /// The study is over when several suggestions in a row are expected to gain less; `null` takes it back.
    #[serde(default, deserialize_with = "given")]
    min_gain: Option<Option<f64>>,
}

/// Tells `null` from what is left out.
fn given<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Option<f64>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

impl PlanChange {
    fn of(self, plan: &Plan) -> Result<Plan, Problem> {
        let bad = |what: &str, got: f64| Problem::bad_request(format!("`{what}` must be above 0, got {got}"));
        let counts =
            [("trials", self.trials), ("max_attempts", self.max_attempts), ("replicates", self.replicates)];
        if let Some((name, _)) = counts.into_iter().find(|(_, n)| *n == Some(0)) {
            return Err(bad(name, 0.0));
        }
        if let Some(gain) = self.min_gain.flatten().filter(|gain| *gain <= 0.0) {
            return Err(bad("min_gain", gain));
        }
        let lease = self.lease.map(super::trials::seconds).transpose()?;
        Ok(Plan {
            trials: self.trials.unwrap_or(plan.trials),
            lease: lease.unwrap_or(plan.lease),
            max_attempts: self.max_attempts.unwrap_or(plan.max_attempts),
            replicates: self.replicates.unwrap_or(plan.replicates),
            target: self.target.unwrap_or(plan.target),
            min_gain: self.min_gain.unwrap_or(plan.min_gain),
            ..plan.clone()
        })
    }
}

async fn plan(
    State(app): State<App>,
    who: Identity,
    Named(study): Named<String>,
    Json(wanted): Json<PlanChange>,
) -> Result<Answer<Plan>, Problem> {
    app.look(&study, move |app, held| {
        let course = wanted.course;
        let plan = held.read(|state| wanted.of(state.plan()))?;
        app.studies.change(held, &who.name, |study| {
            study.change(plan)?;
            course.map_or(Ok(()), |course| study.steer(course).map(drop))
        })?;
        Ok::<_, Problem>(Answer(held.read(|state| state.plan().clone())))
    })
    .await
}
