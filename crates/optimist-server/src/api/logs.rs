//! Routes for logs: the storage interface behind `--storage http://…`.
//!
//! As with every storage, clients decide what to append from their own copy of the state, so the server checks each record before storing
//! it. The record must be valid for the study's current state, its event must be allowed for the role, and it must not bring a command
//! that the server wasn't started with. The server writes into each record who sent it. Only admins can append text that isn't JSON,
//! which no program reads as a record.

use std::ops::ControlFlow;
use std::time::Duration;

use axum::extract::State;
use axum::http::{Method, StatusCode};
use axum::response::IntoResponse;
use optimist_study::log::{Appended, LeaseChange, StudyId, is_hidden};
use optimist_study::{Event, Record};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::take::{Json, Named, Query, within};
use super::{Answer, Route};
use crate::app::App;
use crate::auth::{Identity, Need, Role};
use crate::problem::Problem;

/// The size of a response with records, in bytes, roughly.
const BYTES: usize = 4 << 20;

pub fn routes() -> Vec<Route> {
    let at = |method, path, id, need, summary| ((method, path), (id, need, summary));
    let (path, what) = at(Method::GET, "/logs", "logs", Need::View, "List the logs you can see");
    let list = Route::new(path, what, list).gives::<Logs>();
    let (path, what) =
        at(Method::POST, "/logs", "create_log", Need::Administer, "Create a log with its first record");
    let create = Route::new(path, what, create).body::<NewLog>().gives::<CreatedLog>();
    let (path, what) = at(Method::DELETE, "/logs/{log}", "delete_log", Need::Administer, "Delete a log");
    let delete = Route::new(path, what, delete).gives::<DeletedLog>();
    let (path, what) =
        at(Method::GET, "/logs/{log}/records", "read_log", Need::View, "Read records as they are stored");
    let read = Route::new(path, what, read).query::<After>().gives::<Texts>();
    let (path, what) = at(
        Method::POST,
        "/logs/{log}/records",
        "append",
        Need::Work,
        "Append records, if the head is still where you saw it",
    );
    let append = Route::new(path, what, append).body::<Append>().gives::<Appending>();
    let (path, what) =
        at(Method::GET, "/logs/{log}/leases", "leases", Need::View, "List leases: who holds which trials");
    let leases = Route::new(path, what, leases).gives::<Leases>();
    let (path, what) =
        at(Method::POST, "/logs/{log}/renew", "renew_log", Need::Work, "Renew leases of an owner");
    let renew = Route::new(path, what, renew).body::<Renew>().gives::<Renewed>();
    vec![list, create, delete, read, append, leases, renew]
}

/// The logs the client can see.
#[derive(Serialize, JsonSchema)]
struct Logs {
    logs: Vec<Log>,
}

#[derive(Serialize, JsonSchema)]
struct Log {
    id: i64,
    name: String,
}

async fn list(State(app): State<App>, who: Identity) -> Result<Answer<Logs>, Problem> {
    app.blocking(move |app| {
        let entries = app.studies.entries()?.into_iter().filter(|entry| who.sees(&entry.name));
        let logs = entries.map(|entry| Log { id: entry.id.0, name: entry.name }).collect();
        Ok::<_, Problem>(Answer(Logs { logs }))
    })
    .await
}

/// The name of a log, if the client may see it. Deleted, hidden and forbidden logs all look the same.
fn name(app: &App, who: &Identity, id: StudyId) -> Result<Option<String>, Problem> {
    Ok(app.studies.entry(id)?.map(|entry| entry.name).filter(|name| who.sees(name)))
}

/// A log to create.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewLog {
    /// The name of the log, which is unique.
    #[schemars(length(min = 1))]
    name: String,
    /// The first record, as text.
    first: String,
}

#[derive(Serialize, JsonSchema)]
struct CreatedLog {
    /// The id of the log; null if the name is taken.
    id: Option<i64>,
}

async fn create(
    State(app): State<App>,
    who: Identity,
    Json(NewLog { name, first }): Json<NewLog>,
) -> Result<impl IntoResponse, Problem> {
    if is_hidden(&name) || name.is_empty() {
        return Err(unusable(format!("`{name}` is not a valid log name")));
    }
    let id = app
        .blocking(move |app| {
            let record = checked(&who, 1, &first)?;
            let body = match record {
                None => first,
                Some((Record { event: Event::Created { definition, .. }, .. }, body)) => {
                    if definition.name != name {
                        return Err(unusable(format!(
                            "the first record creates study `{}`, but the log is named `{name}`",
                            definition.name
                        )));
                    }
                    app.allow_command(definition.plan.objective.as_ref(), None)?;
                    body
                }
                Some(_) => return Err(unusable("the first record of a log must be `created`")),
            };
            let id = app.studies.with_log(|log| log.create(&name, &body))?;
            app.studies.relist();
            Ok(id)
        })
        .await?;
    Ok((StatusCode::CREATED, Answer(CreatedLog { id: id.map(|id| id.0) })))
}

#[derive(Serialize, JsonSchema)]
struct DeletedLog {
    /// Whether there was such a log.
    deleted: bool,
}

async fn delete(
    State(app): State<App>,
    who: Identity,
    Named(id): Named<i64>,
) -> Result<Answer<DeletedLog>, Problem> {
    app.blocking(move |app| {
        let id = StudyId(id);
        let deleted = name(app, &who, id)?.is_some() && app.studies.with_log(|log| log.delete(id))?;
        app.studies.relist();
        app.studies.entries()?;
        Ok::<_, Problem>(Answer(DeletedLog { deleted }))
    })
    .await
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct After {
    /// Only records after this one. Default: 0, from the first.
    #[serde(default)]
    after: u64,
    /// At most this many records. Default: 1000.
    #[serde(default = "thousand")]
    #[schemars(range(min = 1, max = 1000))]
    limit: usize,
}

fn thousand() -> usize {
    1000
}

#[derive(Serialize, JsonSchema)]
struct Texts {
    records: Vec<Text>,
    /// Whether more records follow.
    more: bool,
}

#[derive(Serialize, JsonSchema)]
struct Text {
    seq: u64,
    body: String,
}

async fn read(
    State(app): State<App>,
    who: Identity,
    Named(id): Named<i64>,
    Query(After { after, limit }): Query<After>,
) -> Result<Answer<Texts>, Problem> {
    let limit = within("limit", limit, 1..=1000)?;
    let after = after.min(u64::MAX >> 1); // the largest number that every storage counts
    app.blocking(move |app| {
        let (mut texts, mut bytes) = (Texts { records: Vec::new(), more: false }, 0);
        let there = name(app, &who, StudyId(id))?;
        // A storage treats reading past its last record as damage; over HTTP it may just be a made-up number. If this log isn't a
        // study, there is no state that knows the last record, so records are read from the first.
        let held = there.as_ref().filter(|_| after > 0).and_then(|name| app.studies.get(name).ok());
        let head = held.map(|held| held.read(optimist_study::State::head));
        if there.is_some() && head.is_none_or(|head| after < head) {
            let from = if head.is_some() { after } else { 0 };
            app.studies.with_log(|log| {
                log.read(StudyId(id), from, &mut |seq, body| {
                    if seq <= after {
                        return ControlFlow::Continue(());
                    }
                    if texts.records.len() >= limit || bytes > BYTES {
                        texts.more = true;
                        return ControlFlow::Break(());
                    }
                    bytes += body.len();
                    texts.records.push(Text { seq, body: body.to_owned() });
                    ControlFlow::Continue(())
                })
            })?;
        }
        Ok::<_, Problem>(Answer(texts))
    })
    .await
}

/// Records to append.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Append {
    /// The number of the last record the client has seen.
    head: u64,
    /// The records to append after it, as text.
    bodies: Vec<String>,
    /// Leases to claim and release together with them.
    #[serde(default)]
    leases: Vec<Lease>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Lease {
    /// An owner starts to run a trial.
    Claim {
        trial: usize,
        owner: String,
        /// How long the lease lasts, in seconds.
        #[schemars(range(min = 0.0, max = 3e9))]
        lasts: f64,
    },
    /// The trial is no longer being run.
    Release { trial: usize },
}

impl Lease {
    fn change(self) -> Result<LeaseChange, Problem> {
        Ok(match self {
            Self::Release { trial } => LeaseChange::Release { trial },
            Self::Claim { trial, owner, lasts } => LeaseChange::Claim { trial, owner, lasts: lease(lasts)? },
        })
    }
}

fn lease(seconds: f64) -> Result<Duration, Problem> {
    let lasts = Duration::try_from_secs_f64(seconds).ok().filter(|_| seconds <= 3e9);
    lasts.ok_or_else(|| Problem::bad_request(format!("`lasts` must be 0 to 3e9 seconds, got {seconds}")))
}

/// What happened to the records: `stored`, `moved` (somebody else appended first) or `gone` (the log doesn't exist).
#[derive(Serialize, JsonSchema)]
struct Appending {
    outcome: Became,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Became {
    Stored,
    Moved,
    Gone,
}

async fn append(
    State(app): State<App>,
    who: Identity,
    Named(id): Named<i64>,
    Json(Append { head, bodies, leases }): Json<Append>,
) -> Result<Answer<Appending>, Problem> {
    app.blocking(move |app| {
        let id = StudyId(id);
        let Some(name) = name(app, &who, id)? else { return Ok(Answer(Appending { outcome: Became::Gone })) };
        let records = (head.saturating_add(1)..).zip(&bodies).map(|(seq, body)| checked(&who, seq, body));
        let records = records.collect::<Result<Vec<_>, _>>()?;
        let (events, bodies) = match records.iter().all(Option::is_none) {
            true => (Vec::new(), bodies),
            false => {
                let records = records.into_iter().collect::<Option<Vec<_>>>();
                let records = records.ok_or_else(|| {
                    unusable("some of these bodies are records and others are not; send them separately")
                })?;
                records.into_iter().map(|(record, body)| (record.event, body)).unzip()
            }
        };
        let leases = leases.into_iter().map(Lease::change).collect::<Result<Vec<_>, _>>()?;
        if !events.is_empty() {
            allow(&who, &events)?;
            let held = app.studies.get(&name)?;
            let is_there = held.id() == id
                && held.read(|state| {
                    if state.head() != head {
                        return Ok(false);
                    }
                    let mut known = state.plan().objective.as_ref();
                    for event in &events {
                        if let Event::Changed { plan } = event {
                            app.allow_command(plan.objective.as_ref(), known)?;
                            known = plan.objective.as_ref();
                        }
                    }
                    state.check(&events).map_err(unusable)?;
                    Ok::<_, Problem>(true)
                })?;
            if !is_there {
                return Ok(Answer(Appending { outcome: Became::Moved }));
            }
        }
        let appended = app.studies.with_log(|log| log.append(id, head, &bodies, &leases))?;
        let outcome = match appended {
            Appended::Stored => Became::Stored,
            Appended::Moved => Became::Moved,
            Appended::Gone => Became::Gone,
        };
        Ok::<_, Problem>(Answer(Appending { outcome }))
    })
    .await
}

/// Parses a record and adds who sent it; returns it with the text to store. `None` for text that isn't a record, from an admin.
fn checked(who: &Identity, seq: u64, body: &str) -> Result<Option<(Record, String)>, Problem> {
    let Ok(mut value) = serde_json::from_str::<Value>(body) else {
        who.require(Need::Administer).map_err(|_| unusable("the body is not a record"))?;
        return Ok(None);
    };
    let read = |body: &str| Record::from_json(body).map_err(Problem::from);
    let sent = read(body)?;
    if sent.seq != seq {
        return Err(unusable(format!("expected record {seq}, got record {}", sent.seq)));
    }
    let Value::Object(fields) = &mut value else { return Err(unusable("a record must be a JSON object")) };
    let is_kept = who.role == Role::Admin && sent.by.is_some(); // an exported log that is being restored
    let by = if is_kept { sent.by.clone() } else { Some(who.name.clone()) };
    fields.insert("by".to_owned(), by.clone().into());
    let body = value.to_string();
    let record = read(&body)?;
    if record != (Record { by, ..sent }) {
        return Err(unusable("the record has a duplicate key"));
    }
    Ok(Some((record, body)))
}

/// Refuses events that the role doesn't allow.
fn allow(who: &Identity, events: &[Event]) -> Result<(), Problem> {
    for (i, event) in events.iter().enumerate() {
        let need = match event {
            Event::Asked { .. }
            | Event::Retried { .. }
            | Event::Told { .. }
            | Event::Failed { .. }
            | Event::Requeued { .. } => Need::Work,
            // Part of a tell with the parameters that the trial was actually run with.
            Event::Amended { trial, outcome: None, .. } if matches!(events.get(i + 1), Some(Event::Told { trial: told, .. }) if told == trial) => {
                Need::Work
            }
            Event::Enqueued { .. }
            | Event::Cancelled { .. }
            | Event::Changed { .. }
            | Event::Added { .. }
            | Event::Amended { .. }
            | Event::Steered { .. }
            | Event::Noted { .. } => Need::Operate,
            _ => Need::Administer,
        };
        who.require(need)?;
    }
    Ok(())
}

/// The error for records that can't be stored.
fn unusable(detail: impl Into<String>) -> Problem {
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, detail)
}

#[derive(Serialize, JsonSchema)]
struct Leases {
    leases: Vec<Holds>,
}

#[derive(Serialize, JsonSchema)]
struct Holds {
    trial: usize,
    owner: String,
    has_expired: bool,
}

async fn leases(
    State(app): State<App>,
    who: Identity,
    Named(id): Named<i64>,
) -> Result<Answer<Leases>, Problem> {
    app.blocking(move |app| {
        let there = name(app, &who, StudyId(id))?;
        let leases = there.map(|_| app.studies.with_log(|log| log.leases(StudyId(id)))).transpose()?;
        let holds = |lease: optimist_study::log::Lease| Holds {
            trial: lease.trial,
            owner: lease.owner,
            has_expired: lease.has_expired,
        };
        Ok::<_, Problem>(Answer(Leases {
            leases: leases.unwrap_or_default().into_iter().map(holds).collect(),
        }))
    })
    .await
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Renew {
    trials: Vec<usize>,
    owner: String,
    /// The new lease in seconds, starting now.
    #[schemars(range(min = 0.0, max = 3e9))]
    lasts: f64,
}

#[derive(Serialize, JsonSchema)]
struct Renewed {
    renewed: bool,
}

async fn renew(
    State(app): State<App>,
    who: Identity,
    Named(id): Named<i64>,
    Json(Renew { trials, owner, lasts }): Json<Renew>,
) -> Result<Answer<Renewed>, Problem> {
    let lasts = lease(lasts)?;
    app.blocking(move |app| {
        let renewed = name(app, &who, StudyId(id))?.is_some();
        if renewed {
            app.studies.with_log(|log| log.renew(StudyId(id), &trials, &owner, lasts))?;
        }
        Ok::<_, Problem>(Answer(Renewed { renewed }))
    })
    .await
}
