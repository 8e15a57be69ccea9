//! Routes for operators: amend, cancel, retry, enqueue, change the plan.

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
use super::work::assignment;
use super::{Answer, Route};
use crate::app::App;
use crate::auth::{Identity, Need};
use crate::problem::Problem;

pub fn routes() -> Vec<Route> {
    let at = |path, id, summary| ((Method::POST, path), (id, Need::Operate, summary));
    let (amended, what) =
        at("/studies/{study}/trials/{trial}/amend", "amend", "Correct a trial that has ended");
    let amend = Route::new(amended, what, amend).body::<Amend>().gives::<Done>();
    let (cancelled, what) = at("/studies/{study}/trials/{trial}/cancel", "cancel", "Cancel a trial");
    let cancel = Route::new(cancelled, what, cancel).gives::<Done>();
    let (retried, what) = at("/studies/{study}/retry", "retry", "Retry trials that failed or were cancelled");
    let retry = Route::new(retried, what, retry).body::<Retry>().gives::<Retried>();
    let (queue, what) = at("/studies/{study}/queue", "enqueue", "Queue a point to be tried next");
    let enqueue = Route::new(queue, what, enqueue).body::<Enqueue>().gives::<Done>();
    let (noted, what) =
        at("/studies/{study}/note", "note", "Write the note of a study or of a trial, in Markdown");
    let note = Route::new(noted, what, note).body::<NewNote>().gives::<Done>();
    let plan = Route::new(
        (Method::PATCH, "/studies/{study}/plan"),
        ("plan", Need::Operate, "Change the plan of a study, or pause, resume or stop it"),
        plan,
    );
    vec![amend, cancel, retry, enqueue, note, plan.body::<PlanChange>().gives::<Plan>()]
}

/// The result of a change.
#[derive(Serialize, JsonSchema)]
struct Done {
    /// Whether it changed anything.
    stored: bool,
}

/// A correction of a trial.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Amend {
    /// The parameters it was actually run with, if they differ.
    #[serde(default)]
    params: Option<Map<String, Value>>,
    /// The correct outcome, if it differs.
    #[serde(default)]
    outcome: Option<Outcome>,
    /// The reason for the correction.
    #[serde(default)]
    reason: Option<String>,
}

/// The correct outcome of a trial.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Outcome {
    /// It was measured.
    Measured {
        /// The measured value, a finite number.
        #[serde(default)]
        value: Option<f64>,
        /// The measured values by outcome, in a study with several outcomes.
        #[serde(default)]
        values: Option<BTreeMap<String, f64>>,
        /// The standard deviation of the measurement noise, if known: one number, or one for each outcome.
        #[serde(default)]
        noise_std: Option<Noise>,
        /// A note for readers of the results.
        #[serde(default)]
        note: Option<String>,
        /// Other measured quantities.
        #[serde(default)]
        metrics: Option<Map<String, Value>>,
    },
    /// It failed.
    Failed {
        /// Why it failed.
        reason: String,
    },
    /// It was cancelled.
    Cancelled,
    /// It should be run again.
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

/// Changes a study on behalf of the client.
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

/// The trials to retry.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Retry {
    /// The numbers of the trials.
    trials: Vec<usize>,
}

/// The trials that will be retried.
#[derive(Serialize, JsonSchema)]
struct Retried {
    /// The numbers of the trials, without those that were already waiting.
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
    /// A value for each active parameter.
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

/// A note, which replaces the previous one.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewNote {
    /// The text, in Markdown; an empty one removes the note.
    text: String,
    /// The number of the trial. Default: the note is about the study.
    #[serde(default)]
    trial: Option<usize>,
}

async fn note(
    State(app): State<App>,
    who: Identity,
    Named(study): Named<String>,
    Json(NewNote { text, trial }): Json<NewNote>,
) -> Result<Answer<Done>, Problem> {
    let kept = change(&app, &who, study, move |study| study.annotate(trial, &text)).await?;
    Ok(Answer(Done { stored: kept == Kept::Stored }))
}

/// Changes to the plan. Fields that are left out stay as they are.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PlanChange {
    /// The total number of trials.
    #[serde(default)]
    #[schemars(range(min = 1))]
    trials: Option<usize>,
    /// What workers do: `going`, `paused` (finish their trials, then wait) or `stopped` (finish their trials, then exit).
    #[serde(default)]
    course: Option<Course>,
    /// How long a worker may be silent before its trial is requeued, in seconds.
    #[serde(default)]
    #[schemars(range(min = 0.001, max = 3e9))]
    lease: Option<f64>,
    /// How many times a trial is attempted before it counts as failed.
    #[serde(default)]
    #[schemars(range(min = 1))]
    max_attempts: Option<usize>,
    /// How many times the best point is measured.
    #[serde(default)]
    #[schemars(range(min = 1))]
    replicates: Option<usize>,
    /// The study ends when a value is this good; `null` removes the target.
    #[serde(default, deserialize_with = "given")]
    target: Option<Option<f64>>,
    /// The study ends when several suggestions in a row are expected to gain less than this; `null` removes the rule.
    #[serde(default, deserialize_with = "given")]
    min_gain: Option<Option<f64>>,
}

/// Tells `null` apart from a missing field.
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
        let lease = self.lease.map(super::work::seconds).transpose()?;
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
