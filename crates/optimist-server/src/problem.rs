//! Errors as `application/problem+json` (RFC 9457), with the library's own messages.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use optimist_study::{StorageError, StudyError, StudyFileError};
use serde::Serialize;

use crate::auth::ledger::AccountError;

/// An error, as clients receive it.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Problem {
    /// The kind of problem; `about:blank` means that the status says it all.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The HTTP status in words.
    title: String,
    /// The HTTP status.
    status: u16,
    /// What was wrong, what was expected, what to do.
    detail: String,
    /// When to try again, in seconds from now; sent as the header `Retry-After`.
    #[serde(skip)]
    retry_after: Option<u64>,
}

impl Problem {
    /// An error with this status. `detail` says what was wrong, what was expected and what to do.
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        let title = status.canonical_reason().unwrap_or("Error").to_owned();
        Self { kind: "about:blank", title, status: status.as_u16(), detail: detail.into(), retry_after: None }
    }

    /// Status 400: the request is invalid.
    pub fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    /// Status 404: it doesn't exist, or the client may not see it.
    pub fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, detail)
    }

    /// Status 403: the client is authenticated, but not allowed to do this.
    pub fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, detail)
    }

    /// Status 429: too many tries; the next one is allowed after so many seconds.
    pub fn too_often(seconds: u64, detail: impl Into<String>) -> Self {
        Self { retry_after: Some(seconds), ..Self::new(StatusCode::TOO_MANY_REQUESTS, detail) }
    }

    /// The HTTP status.
    pub fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// When to try again, in seconds from now; `None` if waiting doesn't help.
    pub fn retry_after(&self) -> Option<u64> {
        self.retry_after
    }

    /// What was wrong, what was expected, what to do.
    pub fn detail(&self) -> &str {
        &self.detail
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = serde_json::to_string(&self).unwrap_or_default();
        let mut response = (self.status(), body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if self.status() == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl From<StudyError> for Problem {
    fn from(error: StudyError) -> Self {
        let status = match &error {
            StudyError::Storage(error) => return Self::from(error.clone()),
            // The library's message lists other studies, which this client may not be allowed to see.
            StudyError::NotFound { name, .. } => return no_study(name),
            StudyError::NoTrial { .. } => StatusCode::NOT_FOUND,
            StudyError::Deleted { .. } => StatusCode::GONE,
            StudyError::Exists { .. }
            | StudyError::Different { .. }
            | StudyError::HasEnded { .. }
            | StudyError::NotEnded { .. }
            | StudyError::NotFailed { .. }
            | StudyError::OtherPoint { .. }
            | StudyError::NotWider { .. } => StatusCode::CONFLICT,
            StudyError::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            StudyError::Newer { .. }
            | StudyError::Lost { .. }
            | StudyError::BadCopy { .. }
            | StudyError::Broken { .. } => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        };
        let detail = match &error {
            StudyError::Exists { name, .. } => {
                format!("study `{name}` already exists; choose another name, or delete it first")
            }
            error => error.to_string(),
        };
        Self::new(status, detail)
    }
}

/// The error for a study that doesn't exist or that the client may not see: both look the same.
pub fn no_study(name: &str) -> Problem {
    Problem::not_found(format!("study `{name}` doesn't exist, or you don't have access to it"))
}

impl From<StorageError> for Problem {
    fn from(error: StorageError) -> Self {
        let status = if error.may_pass() {
            StatusCode::SERVICE_UNAVAILABLE
        } else {
            StatusCode::INTERNAL_SERVER_ERROR
        };
        Self { retry_after: error.may_pass().then_some(1), ..Self::new(status, error.to_string()) }
    }
}

impl From<StudyFileError> for Problem {
    fn from(error: StudyFileError) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, error.to_string())
    }
}

impl From<AccountError> for Problem {
    fn from(error: AccountError) -> Self {
        let status = match &error {
            AccountError::Storage(error) => return Self::from(error.clone()),
            AccountError::NoUser { .. } | AccountError::NoToken { .. } => StatusCode::NOT_FOUND,
            AccountError::UserExists { .. } | AccountError::LastAdmin { .. } => StatusCode::CONFLICT,
            AccountError::Newer | AccountError::NoSecret { .. } => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        };
        Self::new(status, error.to_string())
    }
}
