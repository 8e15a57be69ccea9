//! Extractors that read requests strictly: unknown fields and wrong types are errors, with a message.

use axum::body::Bytes;
use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use serde::de::DeserializeOwned;

use crate::problem::Problem;

/// A request body in JSON.
pub struct Json<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let kind =
            request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("");
        if !kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json")) {
            // Forms on other sites can't send this content type.
            let detail = "send a JSON object, with `Content-Type: application/json`";
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail));
        }
        let body = Bytes::from_request(request, state).await;
        let body = body.map_err(|error| Problem::new(error.status(), error.body_text()))?;
        if !body.trim_ascii_start().starts_with(b"{") {
            return Err(Problem::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "the request body must be a JSON object",
            ));
        }
        let wrong =
            |error| Problem::new(StatusCode::UNPROCESSABLE_ENTITY, format!("invalid request body: {error}"));
        serde_json::from_slice(&body).map(Self).map_err(wrong)
    }
}

/// The query string. Unknown keys are errors, and not silently ignored.
pub struct Query<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let query = axum::extract::Query::try_from_uri(&parts.uri);
        query
            .map(|query| Self(query.0))
            .map_err(|error| Problem::bad_request(format!("invalid query: {}", error.body_text())))
    }
}

/// Checks that a number is in its range.
pub fn within(name: &str, value: usize, range: std::ops::RangeInclusive<usize>) -> Result<usize, Problem> {
    if range.contains(&value) {
        return Ok(value);
    }
    let (low, high) = (range.start(), range.end());
    Err(Problem::bad_request(format!("`{name}` must be {low} to {high}, got {value}")))
}

/// Checks that a string, if given, is neither empty nor too long.
pub fn short(name: &str, word: Option<&String>, most: usize) -> Result<(), Problem> {
    match word.map(|word| word.chars().count()).filter(|n| !(1..=most).contains(n)) {
        None => Ok(()),
        Some(n) => Err(Problem::bad_request(format!("`{name}` must have 1 to {most} characters, got {n}"))),
    }
}

/// The parameters of the path.
pub struct Named<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Named<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = Path::from_request_parts(parts, state).await;
        path.map(|Path(named)| Self(named)).map_err(|error: PathRejection| {
            Problem::not_found(format!("invalid address: {}", error.body_text()))
        })
    }
}
