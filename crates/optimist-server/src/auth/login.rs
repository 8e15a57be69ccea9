//! Logging in and out: `/login` and `/logout`.

use axum::Router;
use axum::extract::{Form, Query, Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use serde::Deserialize;

use super::identity::Identity;
use crate::app::App;
use crate::guard::{client, cookie};
use crate::pages;
use crate::pages::address::query;
use crate::problem::Problem;

/// `/login` and `/logout`.
pub fn routes() -> Router<App> {
    Router::new().route("/login", get(enter).post(log_in)).route("/logout", post(log_out))
}

#[derive(Deserialize)]
struct Link {
    token: Option<String>,
    next: Option<String>,
}

#[derive(Deserialize)]
struct Credentials {
    user: String,
    password: String,
    next: Option<String>,
}

/// The login page that leads on to `next`.
pub fn login_address(next: &str) -> String {
    format!("/login{}", query([("next", page_after_login(Some(next)).unwrap_or_default().to_owned())]))
}

/// The page to show after logging in, if it is one of a study or the comparison; never an address on another site.
fn page_after_login(next: Option<&str>) -> Option<&str> {
    let is_page = |next: &&str| {
        (next.starts_with("/studies/") || next.starts_with("/compare?"))
            && next.bytes().all(|byte| byte.is_ascii_graphic())
    };
    next.filter(is_page)
}

/// The login page. The link that a local server prints has a token; it is exchanged for a session here, and leaves the address bar.
async fn enter(
    State(app): State<App>,
    who: Option<Identity>,
    Query(link): Query<Link>,
) -> Result<Response, Problem> {
    let next = page_after_login(link.next.as_deref());
    match link.token {
        Some(token) => come_in(&app, &app.door.open_local(&token)?, next),
        None if who.is_some() => Ok(Redirect::to(next.unwrap_or("/")).into_response()),
        None => Ok(Html(pages::login(app.door.local_token().is_some(), next, None)).into_response()),
    }
}

/// Always opens a new session, so a session id that an attacker planted in the browser is never used (session fixation).
async fn log_in(State(app): State<App>, request: Request) -> Result<Response, Problem> {
    let address = client(&app, &request);
    let form: Result<Form<Credentials>, _> = axum::RequestExt::extract(request).await;
    let Form(Credentials { user, password, next }) =
        form.map_err(|_| Problem::bad_request("the form needs the fields `user` and `password`"))?;
    let door = move |app: &App| app.door.log_in(&app.studies, address, &user, &password);
    let next = page_after_login(next.as_deref());
    match app.blocking(door).await {
        Ok(session) => come_in(&app, &session, next),
        Err(problem) if problem.status() == StatusCode::INTERNAL_SERVER_ERROR => Err(problem),
        Err(problem) => {
            let page = Html(pages::login(false, next, Some(problem.detail())));
            let mut response = (problem.status(), page).into_response();
            if let Some(seconds) = problem.retry_after() {
                response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
            }
            Ok(response)
        }
    }
}

async fn log_out(State(app): State<App>, request: Request) -> Result<Response, Problem> {
    if let Some(session) = cookie::session(&app.settings, request.headers()) {
        app.blocking(move |app| app.door.log_out(&app.studies, &session)).await?;
    }
    answer("/login", &cookie::clear(&app.settings))
}

fn come_in(app: &App, session: &str, next: Option<&str>) -> Result<Response, Problem> {
    answer(next.unwrap_or("/"), &cookie::set(&app.settings, session))
}

fn answer(to: &str, cookie: &str) -> Result<Response, Problem> {
    let cookie = HeaderValue::from_str(cookie).map_err(|error| Problem::bad_request(error.to_string()))?;
    let mut response = Redirect::to(to).into_response();
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    if to == "/login" {
        let all = HeaderValue::from_static("\"cache\", \"storage\"");
        response.headers_mut().insert(HeaderName::from_static("clear-site-data"), all);
    }
    Ok(response)
}
