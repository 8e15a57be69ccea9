//! What requests bring, read strictly: what cannot be meant is a problem that says so.

use axum::body::Bytes;
use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use serde::de::DeserializeOwned;

use crate::problem::Problem;

/// The body, as JSON.
pub struct Json<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let kind =
            request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("");
        if !kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json")) {
            // Forms of other sites cannot send this type.
            let detail = "send a JSON object, with `Content-Type: application/json`";
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail));
        }
        let body = Bytes::from_request(request, state).await;
        let body = body.map_err(|error| Problem::new(error.status(), error.body_text()))?;
        if !body.trim_ascii_start().starts_with(b"{") {
            return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "the body must be a JSON object"));
        }
        let wrong = |error| {
            Problem::new(StatusCode::UNPROCESSABLE_ENTITY, format!("the body cannot be read: {error}"))
        };
        serde_json::from_slice(&body).map(Self).map_err(wrong)
    }
}

/// The part of the address after `?`. Words that are not known are a mistake, and not left out silently.
pub struct Query<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let query = axum::extract::Query::try_from_uri(&parts.uri);
        query.map(|query| Self(query.0)).map_err(|error| {
            Problem::bad_request(format!("the address cannot be read: {}", error.body_text()))
        })
    }
}

/// A number that is in its range.
pub fn within(name: &str, value: usize, range: std::ops::RangeInclusive<usize>) -> Result<usize, Problem> {
    if range.contains(&value) {
        return Ok(value);
    }
    let (low, high) = (range.start(), range.end());
    Err(Problem::bad_request(format!("`{name}` must be {low} to {high}, got {value}")))
}

/// A word that is neither empty nor too long.
pub fn short(name: &str, word: Option<&String>, most: usize) -> Result<(), Problem> {
    match word.map(|word| word.chars().count()).filter(|n| !(1..=most).contains(n)) {
        None => Ok(()),
        Some(n) => Err(Problem::bad_request(format!("`{name}` has 1 to {most} characters, got {n}"))),
    }
}

/// The names in the address.
pub struct Named<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Named<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = Path::from_request_parts(parts, state).await;
        path.map(|Path(named)| Self(named))
            .map_err(|error: PathRejection| Problem::not_found(error.body_text()))
    }
}
