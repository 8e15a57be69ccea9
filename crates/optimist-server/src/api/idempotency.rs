//! `Idempotency-Key`: a request that a client repeats because the response was lost is performed once.
//!
//! Responses are kept in memory and lost when the server restarts; tell, fail and amend have the same effect when repeated anyway.

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::auth::{Identity, secret};
use crate::problem::Problem;
use crate::studies::lock;

/// How many responses to keep.
const KEPT: usize = 4096;

/// The largest response to keep, in bytes.
const BYTES: usize = 1 << 18;

/// The longest key, in characters.
const KEY: usize = 200;

/// Requests that were performed, with their responses.
#[derive(Default)]
pub struct Done(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    answers: HashMap<String, Known>,
    order: VecDeque<String>,
}

struct Known {
    /// The hash of the request.
    of: String,
    /// `None` while the request is in progress.
    answer: Option<(StatusCode, HeaderMap, Bytes)>,
}

/// Performs a request that has a key only once.
pub async fn once(
    State(app): State<App>,
    who: Identity,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let key = request.headers().get("idempotency-key").cloned();
    let Some(key) = key.filter(|_| request.method() == Method::POST) else {
        return Ok(next.run(request).await);
    };
    let key = key
        .to_str()
        .ok()
        .filter(|key| (1..=KEY).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic()))
        .map(str::to_owned);
    let key = key.ok_or_else(|| {
        Problem::bad_request(format!("an Idempotency-Key must have 1 to {KEY} printable ASCII characters"))
    })?;
    let key = format!("{} {:?} {key}", who.name, who.study);
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await.map_err(|error| Problem::bad_request(error.to_string()))?; // bounded by the guard
    let of = secret::hash(&format!("{} {}", parts.uri, secret::hash(&String::from_utf8_lossy(&body))));
    if let Some(answer) = app.done.begin(&key, &of)? {
        return Ok(answer);
    }
    let under_way = UnderWay { app: &app, key: &key };
    let response = next.run(Request::from_parts(parts, Body::from(body))).await;
    let (parts, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    if !parts.status.is_server_error() && body.len() <= BYTES {
        app.done.end(&key, (parts.status, parts.headers.clone(), body.clone()));
    }
    drop(under_way);
    Ok(Response::from_parts(parts, Body::from(body)))
}

/// A request in progress. When dropped without a stored response, also because the client hung up, the key is free again.
struct UnderWay<'a> {
    app: &'a App,
    key: &'a str,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let mut kept = lock(&self.app.done.0);
        if kept.answers.get(self.key).is_some_and(|known| known.answer.is_none()) {
            kept.answers.remove(self.key);
            kept.order.retain(|key| key != self.key);
        }
    }
}

impl Done {
    /// The stored response; if there is none, marks the request as in progress.
    fn begin(&self, key: &str, of: &str) -> Result<Option<Response>, Problem> {
        let mut kept = lock(&self.0);
        match kept.answers.get(key) {
            Some(known) if known.of != of => Err(Problem::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "this Idempotency-Key was already used for another request; use a new key for each request",
            )),
            Some(Known { answer: None, .. }) => Err(Problem::new(
                StatusCode::CONFLICT,
                "a request with this Idempotency-Key is in progress; wait for its response",
            )),
            Some(Known { answer: Some((status, headers, body)), .. }) => {
                Ok(Some((*status, headers.clone(), body.clone()).into_response()))
            }
            None => {
                if kept.order.len() >= KEPT
                    && let Some(oldest) = kept.order.pop_front()
                {
                    kept.answers.remove(&oldest);
                }
                kept.order.push_back(key.to_owned());
                kept.answers.insert(key.to_owned(), Known { of: of.to_owned(), answer: None });
                Ok(None)
            }
        }
    }

    fn end(&self, key: &str, answer: (StatusCode, HeaderMap, Bytes)) {
        if let Some(known) = lock(&self.0).answers.get_mut(key) {
            known.answer = Some(answer);
        }
    }
}
