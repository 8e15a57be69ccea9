//! What requests for pages of a study have in common, and errors as pages.

use std::collections::HashMap;

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{Html, IntoResponse, Response};
use maud::{Markup, html};
use serde::Deserialize;

use super::actions;
use super::address::Address;
use super::layout::{self, Part, Tab, study_page};
use crate::app::App;
use crate::auth::{Identity, Role};
use crate::problem::Problem;

/// An error, shown as a page.
pub struct Shown(Problem);

impl<P: Into<Problem>> From<P> for Shown {
    fn from(problem: P) -> Self {
        Self(problem.into())
    }
}

/// What happened, for people who don't know HTTP.
fn title(status: StatusCode) -> &'static str {
    match status {
        StatusCode::NOT_FOUND | StatusCode::GONE => "Not found",
        StatusCode::FORBIDDEN => "Not allowed",
        status if status.is_server_error() => "Something went wrong",
        _ => "That didn't work",
    }
}

impl IntoResponse for Shown {
    fn into_response(self) -> Response {
        let status = self.0.status();
        let nobody = Identity { name: String::new(), role: Role::Viewer, study: None, csrf: None };
        let content = html! {
            header.title { h1 { (title(status)) } }
            p.message.warning role="alert" { (self.0.detail()) }
            p { a href="/" { "All studies" } }
        };
        (status, Html(layout::page(&nobody, "Error", content).into_string())).into_response()
    }
}

/// What every request for a page of a study has in common.
pub struct Asked {
    pub who: Identity,
    pub study: Address,
    /// A script wants the live parts only.
    pub is_live: bool,
    /// What a form has just done.
    message: Option<&'static str>,
    /// Path and query.
    pub uri: String,
}

impl Asked {
    /// The whole page, or only its live parts if a script asked for them.
    pub fn answer(&self, tab: Tab, before: Markup, parts: &[Part], after: Markup) -> String {
        let sections = html! { @for part in parts { (part.section()) } };
        if self.is_live {
            return sections.into_string();
        }
        let content = html! { (before) (sections) (after) };
        study_page(&self.who, &self.study, tab, self.message, content).into_string()
    }
}

impl FromRequestParts<App> for Asked {
    type Rejection = Shown;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Shown> {
        #[derive(Deserialize)]
        struct Done {
            done: Option<String>,
        }
        let who = Identity::from_request_parts(parts, app).await?;
        let Path(params) = Path::<HashMap<String, String>>::from_request_parts(parts, app)
            .await
            .map_err(|_| Problem::bad_request("this is not the address of a study"))?;
        let name = params.get("study").map(String::as_str).unwrap_or_default();
        who.require_study(name)?;
        let done = Query::<Done>::try_from_uri(&parts.uri).ok().and_then(|query| query.0.done);
        Ok(Self {
            study: Address::new(name),
            is_live: parts.headers.contains_key("x-live"),
            message: done.and_then(|done| actions::message(&done)),
            uri: parts.uri.to_string(),
            who,
        })
    }
}
