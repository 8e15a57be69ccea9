//! Routes for workers: ask, tell, fail, release, renew.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::extract::State;
use axum::http::Method;
use optimist::Why;
use optimist::space::Assignment;
use optimist_study::view::TrialView;
use optimist_study::{Evaluation, FailureKind, Job, Kept};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::measured::{Noise, measurement};
use super::take::{Json, Named, short, within};
use super::trials::shown;
use super::{Answer, Route};
use crate::app::App;
use crate::auth::{Identity, Need};
use crate::problem::Problem;

/// The shortest lease, in seconds.
const SHORTEST: f64 = 0.001;

/// The longest lease, in seconds: a century.
const LONGEST: f64 = 3e9;

pub fn routes() -> Vec<Route> {
    let work = |path, id, summary| ((Method::POST, path), (id, Need::Work, summary));
    let (at, what) = work("/studies/{study}/ask", "ask", "Ask for the next trials");
    let ask = Route::new(at, what, ask).body::<Ask>().gives::<Asked>();
    let (at, what) = work("/studies/{study}/trials/{trial}/tell", "tell", "Report what a trial measured");
    let tell = Route::new(at, what, tell).body::<Tell>().gives::<Told>();
    let (at, what) = work("/studies/{study}/trials/{trial}/fail", "fail", "Report that a trial failed");
    let fail = Route::new(at, what, fail).body::<Fail>().gives::<Told>();
    let (at, what) = work(
        "/studies/{study}/trials/{trial}/release",
        "release",
        "Hand a trial back, so that somebody else can run it",
    );
    let release = Route::new(at, what, release).body::<Release>().gives::<Told>();
    let (at, what) = work("/studies/{study}/renew", "renew", "Renew the leases of a worker");
    let renew = Route::new(at, what, renew).body::<Renew>().gives::<Renewed>();
    vec![ask, tell, fail, release, renew]
}

/// A request for trials to run.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Ask {
    /// How many trials. Default: 1.
    #[serde(default = "once")]
    #[schemars(range(min = 1, max = 100))]
    n: usize,
    /// The worker that will run them. Default: the name of the user or token.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200))]
    worker: Option<String>,
    /// The lease: tell or renew within this many seconds. Without one, a trial stays with its worker until it is told, unless `planned`.
    #[serde(default)]
    #[schemars(range(min = 0.001, max = 3e9))]
    lease: Option<f64>,
    /// Follow the plan, with a lease: no trials are given when the study is over or paused. Default: false.
    #[serde(default)]
    planned: bool,
}

fn once() -> usize {
    1
}

/// The trials to run.
#[derive(Serialize, JsonSchema)]
struct Asked {
    trials: Vec<ToMeasure>,
    /// Whether the study is over: no more trials will come, and none is running.
    settled: bool,
}

/// A trial to run.
#[derive(Serialize, JsonSchema)]
struct ToMeasure {
    /// Its number, needed to tell its value.
    trial: usize,
    /// The parameters to run it with.
    #[schemars(with = "Map<String, Value>")]
    params: Assignment,
    /// Where the point comes from: `suggested`, `enqueued` or `replicate`.
    source: &'static str,
    /// Why the optimizer suggested it, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    why: Option<Why>,
}

impl From<Job> for ToMeasure {
    fn from(job: Job) -> Self {
        Self { trial: job.trial, params: job.params, source: job.source.word(), why: job.why }
    }
}

async fn ask(
    State(app): State<App>,
    who: Identity,
    Named(study): Named<String>,
    Json(ask): Json<Ask>,
) -> Result<Answer<Asked>, Problem> {
    within("n", ask.n, 1..=100)?;
    short("worker", ask.worker.as_ref(), 200)?;
    let lease = ask.lease.map(seconds).transpose()?;
    app.look(&study, move |app, held| {
        let worker = ask.worker.unwrap_or_else(|| who.name.clone());
        app.studies.change(held, &who.name, |study| {
            study.reclaim()?;
            let mut trials = Vec::new();
            while trials.len() < ask.n {
                let job = match ask.planned {
                    true => study.claim_for(&worker, lease)?,
                    false => Some(study.ask_within(Some(&worker), lease)?),
                };
                let Some(job) = job else { break };
                trials.push(job.into());
            }
            Ok(Answer(Asked { trials, settled: study.state().is_settled() }))
        })
    })
    .await
}

/// Checks the length of a lease.
pub fn seconds(lease: f64) -> Result<Duration, Problem> {
    let lasts = Duration::try_from_secs_f64(lease).ok().filter(|_| (SHORTEST..=LONGEST).contains(&lease));
    lasts.ok_or_else(|| {
        Problem::bad_request(format!("`lease` must be {SHORTEST} to {LONGEST} seconds, got {lease}"))
    })
}

/// The measurement of a trial.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Tell {
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
    /// How long the trial took, in seconds.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    seconds: Option<f64>,
    /// The parameters it was actually run with, if they differ from the suggested ones.
    #[serde(default)]
    params: Option<Map<String, Value>>,
}

/// The result of a report.
#[derive(Serialize, JsonSchema)]
pub struct Told {
    /// Whether it changed anything: false if the same result was already there.
    pub stored: bool,
    /// The trial as it is now.
    #[schemars(with = "TrialView<'static>")]
    pub trial: Value,
}

async fn tell(
    State(app): State<App>,
    who: Identity,
    Named((study, trial)): Named<(String, usize)>,
    Json(tell): Json<Tell>,
) -> Result<Answer<Told>, Problem> {
    let Tell { value, values, noise_std, note, metrics, seconds, params } = tell;
    let measured = measurement(value, values, noise_std, note, metrics)?;
    stored(&app, &who, study, trial, (measured.into(), seconds, assignment(params)?)).await
}

/// Why a trial failed.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Fail {
    /// The reason, in words.
    reason: String,
    /// The kind of failure; `retried` asks for another attempt. Default: `infeasible`, there is no value at this point.
    #[serde(default = "infeasible")]
    kind: FailureKind,
    /// The end of its standard error.
    #[serde(default)]
    stderr: Option<String>,
    /// The outcomes that were measured before it failed, by name.
    #[serde(default)]
    values: Option<BTreeMap<String, f64>>,
    /// How long the trial took, in seconds.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    seconds: Option<f64>,
}

fn infeasible() -> FailureKind {
    FailureKind::Infeasible
}

async fn fail(
    State(app): State<App>,
    who: Identity,
    Named((study, trial)): Named<(String, usize)>,
    Json(Fail { reason, kind, stderr, values, seconds }): Json<Fail>,
) -> Result<Answer<Told>, Problem> {
    let known = values.map(|values| measurement(None, Some(values), None, None, None)).transpose()?;
    let failed = Evaluation::Failed { kind, reason, stderr, known: known.map(Box::new) };
    stored(&app, &who, study, trial, (failed, seconds, Assignment::default())).await
}

/// Why a trial is handed back.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Release {
    /// The reason, in words.
    reason: String,
}

async fn release(
    State(app): State<App>,
    who: Identity,
    Named((study, trial)): Named<(String, usize)>,
    Json(Release { reason }): Json<Release>,
) -> Result<Answer<Told>, Problem> {
    let stopped = Evaluation::Stopped { reason };
    stored(&app, &who, study, trial, (stopped, None, Assignment::default())).await
}

/// Stores the result of a trial.
async fn stored(
    app: &App,
    who: &Identity,
    study: String,
    trial: usize,
    (evaluation, seconds, with): (Evaluation, Option<f64>, Assignment),
) -> Result<Answer<Told>, Problem> {
    if let Some(bad) = seconds.filter(|seconds| *seconds < 0.0) {
        return Err(Problem::bad_request(format!("`seconds` must be 0 or more, got {bad}")));
    }
    let by = who.name.clone();
    app.look(&study, move |app, held| {
        let tell = |study: &mut optimist_study::Study| study.tell_with(trial, evaluation, seconds, &with);
        let kept = app.studies.change(held, &by, tell)?;
        Ok::<_, Problem>(Answer(Told { stored: kept == Kept::Stored, trial: shown(held, trial)? }))
    })
    .await
}

/// The leases to renew.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Renew {
    /// The worker given when asking. Default: the name of the user or token.
    #[serde(default)]
    worker: Option<String>,
    /// The numbers of the trials.
    trials: Vec<usize>,
    /// The new lease in seconds, starting now. Default: the plan's lease.
    #[serde(default)]
    #[schemars(range(min = 0.001, max = 3e9))]
    lease: Option<f64>,
}

/// The trials that the worker still holds.
#[derive(Serialize, JsonSchema)]
struct Renewed {
    /// Numbers of trials. A trial that is missing was given to another worker: stop working on it.
    held: Vec<usize>,
}

async fn renew(
    State(app): State<App>,
    who: Identity,
    Named(study): Named<String>,
    Json(renew): Json<Renew>,
) -> Result<Answer<Renewed>, Problem> {
    let lease = renew.lease.map(seconds).transpose()?;
    app.look(&study, move |app, held| {
        let worker = renew.worker.unwrap_or_else(|| who.name.clone());
        let lasts = lease.unwrap_or_else(|| held.read(|state| state.plan().lease));
        let leases = app.studies.with_log(|log| {
            log.renew(held.id(), &renew.trials, &worker, lasts)?;
            log.leases(held.id())
        })?;
        let own = leases.into_iter().filter(|lease| lease.owner == worker && !lease.has_expired);
        Ok::<_, Problem>(Answer(Renewed { held: own.map(|lease| lease.trial).collect() }))
    })
    .await
}

/// Parameters with their values; none if they are left out.
pub fn assignment(params: Option<Map<String, Value>>) -> Result<Assignment, Problem> {
    let params = params.map(|params| serde_json::from_value(Value::Object(params))).transpose();
    let wrong = |error| {
        Problem::bad_request(format!(
            "`params` must be an object whose values are numbers, strings or booleans: {error}"
        ))
    };
    Ok(params.map_err(wrong)?.unwrap_or_default())
}
