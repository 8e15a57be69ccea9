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
use crate::problem::Problem;

/// `/login` and `/logout`.
pub fn routes() -> Router<App> {
    Router::new().route("/login", get(enter).post(log_in)).route("/logout", post(log_out))
}

#[derive(Deserialize)]
struct Link {
    token: Option<String>,
}

#[derive(Deserialize)]
struct Credentials {
    user: String,
    password: String,
}

/// The login page. The link that a local server prints has a token; it is exchanged for a session here, and leaves the address bar.
async fn enter(
    State(app): State<App>,
    who: Option<Identity>,
    Query(link): Query<Link>,
) -> Result<Response, Problem> {
    match link.token {
        Some(token) => come_in(&app, &app.door.open_local(&token)?),
        None if who.is_some() => Ok(Redirect::to("/").into_response()),
        None => Ok(Html(pages::login(app.door.local_token().is_some(), None)).into_response()),
    }
}

/// Always opens a new session, so a session id that an attacker planted in the browser is never used (session fixation).
async fn log_in(State(app): State<App>, request: Request) -> Result<Response, Problem> {
    let address = client(&app, &request);
    let form: Result<Form<Credentials>, _> = axum::RequestExt::extract(request).await;
    let Form(Credentials { user, password }) =
        form.map_err(|_| Problem::bad_request("the form needs the fields `user` and `password`"))?;
    let door = move |app: &App| app.door.log_in(&app.studies, address, &user, &password);
    match app.blocking(door).await {
        Ok(session) => come_in(&app, &session),
        Err(problem) if problem.status() == StatusCode::INTERNAL_SERVER_ERROR => Err(problem),
        Err(problem) => {
            let page = Html(pages::login(false, Some(problem.detail())));
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

fn come_in(app: &App, session: &str) -> Result<Response, Problem> {
    answer("/", &cookie::set(&app.settings, session))
}

fn answer(to: &'static str, cookie: &str) -> Result<Response, Problem> {
    let cookie = HeaderValue::from_str(cookie).map_err(|error| Problem::bad_request(error.to_string()))?;
    let mut response = Redirect::to(to).into_response();
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    if to == "/login" {
        let all = HeaderValue::from_static("\"cache\", \"storage\"");
        response.headers_mut().insert(HeaderName::from_static("clear-site-data"), all);
    }
    Ok(response)
}
