//! Who asks, for handlers: an extractor. The guard has found it out before, and refused those that may not come in.

use axum::extract::{FromRequestParts, OptionalFromRequestParts};
use axum::http::StatusCode;
use axum::http::request::Parts;

use super::role::{Need, Role};
use crate::problem::{Problem, no_study};

/// Who asks.
#[derive(Debug, Clone, PartialEq)]
pub struct Identity {
    /// Of the user or the token: what the log's records have as `by`.
    pub name: String,
    /// What they may do.
    pub role: Role,
    /// The only study that they may see, if they may not see all.
    pub study: Option<String>,
    /// Of a session in a browser: what each form and each change sends as `csrf` or in the header `X-CSRF-Token`. `None` for tokens,
    /// which no browser sends by itself.
    pub csrf: Option<String>,
}

impl Identity {
    /// Whether they may.
    ///
    /// # Errors
    /// If not, says what it takes.
    pub fn require(&self, need: Need) -> Result<(), Problem> {
        if self.role.has(need) {
            return Ok(());
        }
        Err(Problem::forbidden(format!(
            "this needs the role {}, and `{}` has the role {}; an admin can change that with `optimist user` or `optimist token`",
            need.word(),
            self.name,
            self.role.word()
        )))
    }

    /// Whether they may see this study.
    ///
    /// # Errors
    /// If not: as if there were none.
    pub fn require_study(&self, study: &str) -> Result<(), Problem> {
        if self.sees(study) { Ok(()) } else { Err(no_study(study)) }
    }

    /// Whether they may see this study.
    pub fn sees(&self, study: &str) -> bool {
        self.study.as_deref().is_none_or(|only| only == study)
    }
}

/// Nobody is known, and somebody has to be.
pub fn unknown() -> Problem {
    Problem::new(
        StatusCode::UNAUTHORIZED,
        "who are you? Open the link that the server printed, log in at /login, or send a token as `Authorization: Bearer TOKEN`",
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
