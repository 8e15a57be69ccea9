//! `/api/v1`: one table of routes, from which the router, the permissions and the OpenAPI document are made.
//!
//! Each route names the types that it takes and returns. They parse the request, write the response and describe both in the document.
//! Every route is in the table, so the tests, which go through the document, can't miss one.

mod analysis;
mod changes;
mod events;
pub mod idempotency;
mod logs;
mod measured;
mod openapi;
mod people;
mod studies;
mod take;
mod trials;
mod work;

use std::convert::Infallible;

use axum::Router;
use axum::extract::{RawPathParams, Request, State};
use axum::handler::Handler;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde_json::Value;

use crate::app::App;
use crate::auth::{Identity, Need, secret};
use crate::problem::Problem;
pub use idempotency::Done;
pub use openapi::document;

/// A route of the API, as the router, the permissions and the document need it.
pub struct Route {
    pub method: Method,
    /// The path below `/api/v1`, with parameters in braces.
    pub path: &'static str,
    /// The operation's id in the document.
    pub id: &'static str,
    pub summary: &'static str,
    pub need: Need,
    pub query: Option<Describe>,
    pub body: Option<Describe>,
    pub gives: Gives,
    handler: MethodRouter<App>,
}

/// Makes the schema of a type, and registers the schemas that it refers to.
pub type Describe = fn(&mut SchemaGenerator) -> Value;

/// What a route returns on success.
#[derive(Clone, Copy)]
pub enum Gives {
    /// JSON with this schema.
    Json(Describe),
    /// Another media type.
    Other(&'static str),
}

/// The prefix of all API paths.
pub const PREFIX: &str = "/api/v1";

impl Route {
    fn new<H: Handler<T, App>, T: 'static>(
        (method, path): (Method, &'static str),
        (id, need, summary): (&'static str, Need, &'static str),
        handler: H,
    ) -> Self {
        let filter = match method {
            Method::GET => MethodFilter::GET,
            Method::DELETE => MethodFilter::DELETE,
            Method::PATCH => MethodFilter::PATCH,
            Method::PUT => MethodFilter::PUT,
            _ => MethodFilter::POST,
        };
        let gives = Gives::Json(describe::<Value>);
        let handler = on(filter, handler);
        Self { method, path, id, summary, need, query: None, body: None, gives, handler }
    }

    fn query<T: JsonSchema>(self) -> Self {
        Self { query: Some(describe::<T>), ..self }
    }

    fn body<T: JsonSchema>(self) -> Self {
        Self { body: Some(describe::<T>), ..self }
    }

    fn gives<T: JsonSchema>(self) -> Self {
        Self { gives: Gives::Json(describe::<T>), ..self }
    }

    fn gives_other(self, media: &'static str) -> Self {
        Self { gives: Gives::Other(media), ..self }
    }
}

fn describe<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    generator.subschema_for::<T>().to_value()
}

/// All routes of the API.
pub fn table() -> Vec<Route> {
    let document =
        Route::new((Method::GET, "/openapi.json"), ("openapi", Need::View, "Get this document"), || async {
            Answer(document())
        });
    let parts = [studies::routes(), trials::routes(), work::routes(), changes::routes(), analysis::routes()];
    let more = [events::routes(), people::routes(), logs::routes()];
    std::iter::once(document).chain(parts.into_iter().chain(more).flatten()).collect()
}

/// The router of all API routes, each behind its permission check.
pub fn routes(app: &App) -> Router<App> {
    let mut router = Router::new();
    for route in table() {
        let handler: MethodRouter<App, Infallible> = route
            .handler
            .layer(from_fn(tagged))
            .layer(from_fn_with_state(app.clone(), idempotency::once))
            .layer(from_fn_with_state(route.need, permitted));
        router = router.route(&format!("{PREFIX}{}", route.path), handler);
    }
    router.method_not_allowed_fallback(|| async {
        Problem::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "method not allowed; /api/v1/openapi.json lists the methods of each address",
        )
    })
}

/// Refuses clients that may not use this route or may not see this study.
async fn permitted(
    State(need): State<Need>,
    who: Identity,
    params: RawPathParams,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    match params.iter().find(|(name, _)| *name == "study") {
        Some((_, study)) => who.require_study(study)?,
        None if need == Need::Administer && who.study.is_some() => {
            return Err(Problem::forbidden("this token is for one study only; use a token for all studies"));
        }
        None => {}
    }
    who.require(need)?;
    Ok(next.run(request).await)
}

/// Adds an `ETag` to JSON responses, and answers 304 if the client already has that version.
async fn tagged(request: Request, next: Next) -> Response {
    let known = request.headers().get(header::IF_NONE_MATCH).cloned();
    let is_look = matches!(*request.method(), Method::GET | Method::HEAD);
    let response = next.run(request).await;
    let Some(tag) = response.extensions().get::<Tag>().cloned().filter(|_| is_look) else { return response };
    let Ok(value) = HeaderValue::from_str(&tag.0) else { return response };
    let is_known = known.and_then(|known| known.to_str().ok().map(str::to_owned)).is_some_and(|known| {
        known.split(',').any(|known| known.trim().trim_start_matches("W/") == tag.0 || known.trim() == "*")
    });
    let mut response = if is_known { StatusCode::NOT_MODIFIED.into_response() } else { response };
    response.headers_mut().insert(header::ETAG, value);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    response
}

/// The `ETag` of a JSON response, passed on in its extensions.
#[derive(Clone)]
struct Tag(String);

/// A response to be written as JSON.
pub struct Answer<T>(pub T);

impl<T: Serialize> IntoResponse for Answer<T> {
    fn into_response(self) -> Response {
        match serde_json::to_string(&self.0) {
            Ok(body) => json(body),
            Err(error) => Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
        }
    }
}

/// A response with a body that is JSON already.
pub fn json(body: String) -> Response {
    let tag = format!("\"{}\"", &secret::hash(&body)[..32]);
    let mut response = ([(header::CONTENT_TYPE, "application/json")], body).into_response();
    response.extensions_mut().insert(Tag(tag));
    response
}
