//! The authenticated user or token, as an extractor for handlers. The guard has put it there.

use axum::extract::{FromRequestParts, OptionalFromRequestParts};
use axum::http::StatusCode;
use axum::http::request::Parts;

use super::role::{Need, Role};
use crate::problem::{Problem, no_study};

/// The user or token that sent a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Identity {
    /// The name of the user or token, which log records carry as `by`.
    pub name: String,
    /// Decides what they may do.
    pub role: Role,
    /// The only study they may see; `None` for all studies.
    pub study: Option<String>,
    /// The CSRF token of a browser session, which every change sends as the form field `csrf` or the header `X-CSRF-Token`. `None`
    /// for API tokens, which browsers don't send on their own.
    pub csrf: Option<String>,
}

impl Identity {
    /// Checks that the role covers `need`.
    ///
    /// # Errors
    /// If it doesn't: status 403, naming the role that does.
    pub fn require(&self, need: Need) -> Result<(), Problem> {
        if self.role.has(need) {
            return Ok(());
        }
        Err(Problem::forbidden(format!(
            "this requires the {} role, but `{}` has the {} role; an admin can change that with `optimist user` or `optimist token`",
            need.word(),
            self.name,
            self.role.word()
        )))
    }

    /// Checks that they may see this study.
    ///
    /// # Errors
    /// If not: the same error as for a study that doesn't exist.
    pub fn require_study(&self, study: &str) -> Result<(), Problem> {
        if self.sees(study) { Ok(()) } else { Err(no_study(study)) }
    }

    /// Whether they may see this study.
    pub fn sees(&self, study: &str) -> bool {
        self.study.as_deref().is_none_or(|only| only == study)
    }
}

/// The error for requests without valid credentials.
pub fn unknown() -> Problem {
    Problem::new(
        StatusCode::UNAUTHORIZED,
        "not authenticated; open the link that the server printed at startup, log in at /login, or send a token as \
         `Authorization: Bearer TOKEN`",
    )
}

impl<S: Send + Sync> FromRequestParts<S> for Identity {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        parts.extensions.get::<Self>().cloned().ok_or_else(unknown)
    }
}

impl<S: Send + Sync> OptionalFromRequestParts<S> for Identity {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Option<Self>, Problem> {
        Ok(parts.extensions.get::<Self>().cloned())
    }
}
