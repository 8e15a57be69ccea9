//! Routes for studies: list, get, create, delete, export.

use std::convert::Infallible;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use optimist_study::view::{StudySummary, StudyView};
use optimist_study::{Definition, Study, StudyFile};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::take::{Json, Named, Query, within};
use super::{Answer, Route, json};
use crate::app::App;
use crate::auth::{Identity, Need};
use crate::problem::Problem;
use crate::studies::Held;

pub fn routes() -> Vec<Route> {
    vec![
        Route::new((Method::GET, "/studies"), ("list", Need::View, "List the studies you can see"), list)
            .gives::<List>(),
        Route::new((Method::POST, "/studies"), ("create", Need::Administer, "Create a study"), create)
            .body::<Create>()
            .gives::<StudyView<'static>>(),
        Route::new((Method::GET, "/studies/{study}"), ("show", Need::View, "Get a study"), show)
            .gives::<StudyView<'static>>(),
        Route::new(
            (Method::DELETE, "/studies/{study}"),
            ("delete", Need::Administer, "Delete a study and all its trials, irreversibly"),
            delete,
        )
        .gives::<Deleted>(),
        Route::new(
            (Method::GET, "/studies/{study}/export"),
            (
                "export",
                Need::View,
                "Export the log of a study, one record per line, as `optimist export` does",
            ),
            export,
        )
        .gives_other("application/x-ndjson"),
        Route::new(
            (Method::GET, "/studies/{study}/records"),
            ("records", Need::View, "Get records of the log: what happened, when, and who did it"),
            records,
        )
        .query::<After>()
        .gives::<Records>(),
    ]
}

/// The studies the client can see.
#[derive(Serialize, JsonSchema)]
struct List {
    studies: Vec<Listed>,
}

/// A summary of a study, or why it can't be read.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum Listed {
    Readable(StudySummary),
    Unreadable { study: String, error: String },
}

async fn list(State(app): State<App>, who: Identity) -> Result<Answer<List>, Problem> {
    app.blocking(move |app| {
        let entries = app.studies.entries()?.into_iter().filter(|entry| who.sees(&entry.name));
        let listed = entries.map(|entry| match app.studies.get(&entry.name) {
            Ok(held) => Listed::Readable(held.read(StudySummary::new)),
            Err(problem) => Listed::Unreadable { study: entry.name, error: problem.detail().to_owned() },
        });
        Ok::<_, Problem>(Answer(List { studies: listed.collect() }))
    })
    .await
}

/// A study to create: a study file, as text or as a JSON object with the same keys.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Create {
    /// The text of a study file.
    Text {
        /// The study file, in TOML.
        toml: String,
    },
    /// The study file, as JSON.
    Table(#[schemars(with = "StudyTable")] Map<String, Value>),
}

/// The required keys of a study file; docs/study-file.md has all keys.
#[derive(JsonSchema)]
#[allow(dead_code)] // only its schema is used
struct StudyTable {
    /// The study's name, unique on this server.
    name: String,
    /// `maximize` or `minimize`.
    direction: optimist_study::Direction,
    /// The parameters to search over, by name.
    parameters: Map<String, Value>,
}

async fn create(
    State(app): State<App>,
    who: Identity,
    Json(create): Json<Create>,
) -> Result<impl IntoResponse, Problem> {
    let definition = definition(create)?;
    app.allow_command(definition.plan.objective.as_ref(), None)?;
    let name = definition.name.clone();
    let view = app
        .blocking(move |app| {
            Study::create_by(app.studies.storage(), definition, Some(&who.name)).map_err(Problem::from)?;
            app.studies.relist();
            let held = app.studies.get(&name)?;
            view(app, &held)
        })
        .await?;
    Ok((StatusCode::CREATED, json(view)))
}

/// Reads the definition from the request.
fn definition(create: Create) -> Result<Definition, Problem> {
    let text = match create {
        Create::Text { toml } => toml,
        Create::Table(table) if !table.contains_key("name") => {
            return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "the study has no name; set `name`"));
        }
        Create::Table(table) => toml::to_string(&table).map_err(|error| {
            Problem::new(StatusCode::UNPROCESSABLE_ENTITY, format!("this is not a valid study file: {error}"))
        })?,
    };
    let definition = StudyFile::parse(&text)?.definition;
    if definition.name.is_empty() {
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "the study has no name; set `name`"));
    }
    Ok(definition)
}

async fn show(State(app): State<App>, Named(study): Named<String>) -> Result<Response, Problem> {
    Ok(json(app.look(&study, view).await?))
}

/// The current study as JSON, with the point or the front that its model recommends.
pub fn view(app: &App, held: &Held) -> Result<String, Problem> {
    let (best, front) = (app.best(held)?, app.front(held)?);
    let leases = app.studies.with_log(|log| log.leases(held.id()))?;
    let written = held.read(|state| {
        let view = StudyView::of(state, "this server".to_owned(), best.first().cloned(), &leases);
        serde_json::to_string(&view.with_front(front.as_ref().clone()))
    });
    written.map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
}

/// A deleted study.
#[derive(Serialize, JsonSchema)]
struct Deleted {
    /// Its name.
    study: String,
    deleted: bool,
}

async fn delete(State(app): State<App>, Named(study): Named<String>) -> Result<Answer<Deleted>, Problem> {
    app.look(&study, |app, held| {
        let deleted = app.studies.with_log(|log| log.delete(held.id()))?;
        app.studies.relist();
        app.studies.entries()?;
        Ok::<_, Problem>(Answer(Deleted { study: held.name().to_owned(), deleted }))
    })
    .await
}

async fn export(State(app): State<App>, Named(study): Named<String>) -> Result<Response, Problem> {
    let held = app.blocking(move |app| app.studies.get(&study)).await?;
    let until = held.read(optimist_study::State::head);
    let lines = stream::unfold((app, held, 0, until), |(app, held, after, until)| async move {
        if after >= until {
            return None;
        }
        let from = held.clone();
        let piece = app.blocking(move |app| from.after(&app.studies, after)).await.ok()?;
        let last = piece.last()?.0;
        let text: String =
            piece.iter().filter(|(seq, _)| *seq <= until).flat_map(|(_, body)| [body, "\n"]).collect();
        Some((Ok::<_, Infallible>(text), (app, held, last, until)))
    });
    let mut response = Body::from_stream(lines).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"));
    Ok(response)
}

/// The range of records to get.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct After {
    /// Only records after this one. Default: 0, from the first.
    #[serde(default)]
    after: u64,
    /// At most this many records. Default: 100.
    #[serde(default = "hundred")]
    #[schemars(range(min = 1, max = 500))]
    limit: usize,
}

fn hundred() -> usize {
    100
}

/// Some records of a log, in order.
#[derive(Serialize, JsonSchema)]
struct Records {
    /// Each has `seq`, `at` (milliseconds since 1970), `event` and, if known, `by`.
    #[schemars(with = "Vec<Map<String, Value>>")]
    records: Vec<Value>,
    /// The number of the last record in the log.
    head: u64,
}

async fn records(
    State(app): State<App>,
    Named(study): Named<String>,
    Query(After { after, limit }): Query<After>,
) -> Result<Answer<Records>, Problem> {
    let limit = within("limit", limit, 1..=500)?;
    app.look(&study, move |app, held| {
        let head = held.read(optimist_study::State::head);
        let piece = held.after(&app.studies, after)?;
        let records =
            piece.iter().take(limit).map(|(_, body)| serde_json::from_str(body)).collect::<Result<_, _>>();
        let records =
            records.map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
        Ok::<_, Problem>(Answer(Records { records, head }))
    })
    .await
}
