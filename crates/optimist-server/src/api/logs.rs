//! Logs, as a storage has them: what `--storage http://…` talks to.
//!
//! Whoever appends decides on a copy of the state, as with every storage; so what is appended is looked at before it is stored. It must
//! follow from the study as it is, be of a kind that the role may do, and bring no command that this server was not started with. Who
//! wanted it is written into each record. Texts that are not JSON can only be appended by admins: no program reads them as records.

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

/// An answer has about this many bytes of records.
const BYTES: usize = 4 << 20;

pub fn routes() -> Vec<Route> {
    let at = |method, path, id, need, summary| ((method, path), (id, need, summary));
    let (path, what) =
        at(Method::GET, "/logs", "logs", Need::View, "The logs that you may see, as a storage has them");
    let list = Route::new(path, what, list).gives::<Logs>();
    let (path, what) =
        at(Method::POST, "/logs", "create_log", Need::Administer, "Begins a log with its first record");
    let create = Route::new(path, what, create).body::<NewLog>().gives::<CreatedLog>();
    let (path, what) = at(Method::DELETE, "/logs/{log}", "delete_log", Need::Administer, "Removes a log");
    let delete = Route::new(path, what, delete).gives::<DeletedLog>();
    let (path, what) =
        at(Method::GET, "/logs/{log}/records", "read_log", Need::View, "Records as they are stored");
    let read = Route::new(path, what, read).query::<After>().gives::<Texts>();
    let (path, what) = at(
        Method::POST,
        "/logs/{log}/records",
        "append",
        Need::Work,
        "Appends records if the head is where you saw it",
    );
    let append = Route::new(path, what, append).body::<Append>().gives::<Outcome>();
    let (path, what) = at(Method::GET, "/logs/{log}/leases", "leases", Need::View, "Who holds which trials");
    let leases = Route::new(path, what, leases).gives::<Leases>();
    let (path, what) =
        at(Method::POST, "/logs/{log}/renew", "renew_log", Need::Work, "Extends leases of an owner");
    let renew = Route::new(path, what, renew).body::<Renew>().gives::<Renewed>();
    vec![list, create, delete, read, append, leases, renew]
}

/// The logs that you may see.
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

/// The name of a log that they may see. One that is gone, or hidden, or of others, looks like none.
fn name(app: &App, who: &Identity, id: StudyId) -> Result<Option<String>, Problem> {
    Ok(app.studies.entry(id)?.map(|entry| entry.name).filter(|name| who.sees(name)))
}

/// A log to begin.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewLog {
    /// Unique.
    #[schemars(length(min = 1))]
    name: String,
    /// Its first record.
    first: String,
}

#[derive(Serialize, JsonSchema)]
struct CreatedLog {
    /// Null if there is a log of that name.
    id: Option<i64>,
}

async fn create(
    State(app): State<App>,
    who: Identity,
    Json(NewLog { name, first }): Json<NewLog>,
) -> Result<impl IntoResponse, Problem> {
    if is_hidden(&name) || name.is_empty() {
        return Err(unusable(format!("a log cannot be called `{name}`")));
    }
    let id = app
        .blocking(move |app| {
            let record = checked(&who, 1, &first)?;
            let body = match record {
                None => first,
                Some((Record { event: Event::Created { definition, .. }, .. }, body)) => {
                    if definition.name != name {
                        return Err(unusable(format!(
                            "the first record is of a study `{}`",
                            definition.name
                        )));
                    }
                    app.allow_command(definition.plan.objective.as_ref(), None)?;
                    body
                }
                Some(_) => return Err(unusable("a log begins with `created`")),
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
    /// Whether it was there.
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
    /// Those after this one. Default: 0, all.
    #[serde(default)]
    after: u64,
    /// At most this many. Default: 1000.
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
    /// Whether there are more.
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
        // To a storage, a record that somebody has seen and that is not there is damage; here it is what somebody made up. Where the
        // state does not say which records there are, because this is no study, they are read from the first.
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
    /// The number of the last record that you saw.
    head: u64,
    /// What comes after it.
    bodies: Vec<String>,
    /// Leases that are claimed and released with them.
    #[serde(default)]
    leases: Vec<Lease>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Lease {
    /// An owner runs a trial.
    Claim {
        trial: usize,
        owner: String,
        /// In seconds.
        #[schemars(range(min = 0.0, max = 3e9))]
        lasts: f64,
    },
    /// Nobody runs it any more.
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
    lasts.ok_or_else(|| Problem::bad_request(format!("`lasts` must be a number of seconds, got {seconds}")))
}

/// What became of records: `stored`, `moved` (somebody else has appended in the meantime) or `gone` (there is no such log).
#[derive(Serialize, JsonSchema)]
struct Outcome {
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
) -> Result<Answer<Outcome>, Problem> {
    app.blocking(move |app| {
        let id = StudyId(id);
        let Some(name) = name(app, &who, id)? else { return Ok(Answer(Outcome { outcome: Became::Gone })) };
        let records = (head.saturating_add(1)..).zip(&bodies).map(|(seq, body)| checked(&who, seq, body));
        let records = records.collect::<Result<Vec<_>, _>>()?;
        let (events, bodies) = match records.iter().all(Option::is_none) {
            true => (Vec::new(), bodies),
            false => {
                let records = records.into_iter().collect::<Option<Vec<_>>>();
                let records =
                    records.ok_or_else(|| unusable("some of these are records, and others are not"))?;
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
                return Ok(Answer(Outcome { outcome: Became::Moved }));
            }
        }
        let appended = app.studies.with_log(|log| log.append(id, head, &bodies, &leases))?;
        let outcome = match appended {
            Appended::Stored => Became::Stored,
            Appended::Moved => Became::Moved,
            Appended::Gone => Became::Gone,
        };
        Ok::<_, Problem>(Answer(Outcome { outcome }))
    })
    .await
}

/// A text as the record that it is, with who wanted it, and the text to store; `None` if it is none and an admin may append it.
fn checked(who: &Identity, seq: u64, body: &str) -> Result<Option<(Record, String)>, Problem> {
    let Ok(mut value) = serde_json::from_str::<Value>(body) else {
        who.require(Need::Administer).map_err(|_| unusable("this is not a record"))?;
        return Ok(None);
    };
    let read = |body: &str| Record::from_json(body).map_err(Problem::from);
    let sent = read(body)?;
    if sent.seq != seq {
        return Err(unusable(format!("record {} is sent in the place of record {seq}", sent.seq)));
    }
    let Value::Object(fields) = &mut value else { return Err(unusable("a record is a JSON object")) };
    let is_kept = who.role == Role::Admin && sent.by.is_some(); // of a log that comes back from an export
    let by = if is_kept { sent.by.clone() } else { Some(who.name.clone()) };
    fields.insert("by".to_owned(), by.clone().into());
    let body = value.to_string();
    let record = read(&body)?;
    if record != (Record { by, ..sent }) {
        return Err(unusable("a record says something twice"));
    }
    Ok(Some((record, body)))
}

/// Refuses events that this role may not bring about.
fn allow(who: &Identity, events: &[Event]) -> Result<(), Problem> {
    for (i, event) in events.iter().enumerate() {
        let need = match event {
            Event::Asked { .. }
            | Event::Retried { .. }
            | Event::Told { .. }
            | Event::Failed { .. }
            | Event::Requeued { .. } => Need::Work,
            // Told with the parameters that it was really run with.
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

/// What cannot be stored.
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
    /// From now on, in seconds.
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
