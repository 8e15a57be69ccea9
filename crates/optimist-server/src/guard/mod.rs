//! Checks that every request passes before its handler runs.
//!
//! In this order: logging and metrics; response headers; the host name; authentication; the size and speed of the body; CSRF
//! protection for browsers. It applies to all routes, so none can forget it.

mod body;
pub mod cookie;
pub mod headers;
mod host;
mod journal;
mod origin;

use std::net::{IpAddr, Ipv4Addr};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Redirect, Response};

use crate::app::App;
use crate::auth::{Identity, Need, login_address, unknown};
use crate::problem::Problem;

/// These routes, behind the guard.
pub fn guarded(app: &App, routes: Router<App>) -> Router<App> {
    routes
        .layer(from_fn_with_state(app.clone(), admit))
        .layer(from_fn_with_state(app.clone(), headers::secure))
        .layer(from_fn_with_state(app.clone(), journal::write))
}

/// Whether a path needs no login: the login page, its assets and the health check.
fn is_public(path: &str) -> bool {
    matches!(path, "/healthz" | "/login") || path.starts_with("/assets/")
}

/// Whether a method changes nothing.
fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// Whether a browser asks for something to show.
pub fn wants_page(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/html"))
}

async fn admit(State(app): State<App>, mut request: Request, next: Next) -> Response {
    match check(&app, &mut request).await {
        Ok(()) => {
            let who = request.extensions().get::<Identity>().map(|who| journal::By(who.name.clone()));
            let mut response = next.run(request).await;
            if let Some(who) = who {
                response.extensions_mut().insert(who);
            }
            response
        }
        Err(refusal) => refusal.into_response(),
    }
}

async fn check(app: &App, request: &mut Request) -> Result<(), Refusal> {
    host::check(app, request)?;
    let credentials = Credentials::of(app, request)?;
    let is_browser = matches!(credentials, Credentials::Session(_));
    let who = identify(app, credentials).await?;
    let (path, is_change) = (request.uri().path().to_owned(), !is_safe(request.method()));
    if who.is_none() && !is_public(&path) {
        return Err(Refusal::unknown(request));
    }
    if is_change && (is_browser || path == "/login") {
        origin::check_origin(app, request)?;
    }
    body::receive(request, body::limit(&path, who.is_some()), app.settings.body_timeout).await?;
    if let (true, true, Some(csrf)) = (is_change, is_browser, who.as_ref().and_then(|who| who.csrf.clone())) {
        origin::check_csrf(request, &csrf).await?;
    }
    if let Some(who) = who {
        // Routes of the API say what they need in their table; whatever else changes something needs this at least.
        if is_change && !path.starts_with("/api/") && !matches!(&path[..], "/login" | "/logout") {
            who.require(Need::Operate)?;
        }
        request.extensions_mut().insert(who);
    }
    Ok(())
}

/// What a request authenticates with.
enum Credentials {
    Token(String),
    Session(String),
    Nothing,
}

impl Credentials {
    fn of(app: &App, request: &Request) -> Result<Self, Problem> {
        let Some(sent) = request.headers().get(header::AUTHORIZATION) else {
            let session = cookie::session(&app.settings, request.headers());
            return Ok(session.map_or(Self::Nothing, Self::Session));
        };
        let pair = sent.to_str().ok().and_then(|sent| sent.split_once(' '));
        let token = pair.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        token.map(|(_, token)| Self::Token(token.trim().to_owned())).ok_or_else(unknown)
    }
}

/// Who sent the request. An unknown token is an error; an unknown session counts as nobody, since it may just have ended.
async fn identify(app: &App, credentials: Credentials) -> Result<Option<Identity>, Problem> {
    app.blocking(move |app| match credentials {
        Credentials::Token(token) => app.door.by_token(&app.studies, &token)?.map(Some).ok_or_else(unknown),
        Credentials::Session(session) => Ok(app.door.by_session(&app.studies, &session)?),
        Credentials::Nothing => Ok(None),
    })
    .await
}

/// Why a request is refused: an error for programs, or a redirect to the login page for browsers.
enum Refusal {
    Problem(Problem),
    /// With the address to return to afterwards.
    LogIn(String),
}

impl Refusal {
    fn unknown(request: &Request) -> Self {
        let is_page = is_safe(request.method()) && wants_page(request.headers());
        // A script that updates a page is told the status: it could not show the login page.
        let is_script = request.headers().contains_key("x-live");
        if is_page && !is_script && !request.uri().path().starts_with("/api/") {
            Self::LogIn(request.uri().path_and_query().map_or("/", |address| address.as_str()).to_owned())
        } else {
            Self::Problem(unknown())
        }
    }
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        match self {
            Self::Problem(problem) => problem.into_response(),
            Self::LogIn(next) => Redirect::to(&login_address(&next)).into_response(),
        }
    }
}

/// A header set by a trusted proxy (`--proxy`). Of several values the last, which the proxy added itself.
fn forwarded(app: &App, request: &Request, name: &str) -> Option<String> {
    let peer = request.extensions().get::<Peer>()?;
    if !app.settings.proxies.contains(&peer.0.to_canonical()) {
        return None;
    }
    let value = request.headers().get_all(name).iter().next_back()?.to_str().ok()?;
    value.rsplit(',').next().map(|value| value.trim().to_owned())
}

/// The client's address; behind a trusted proxy, the one that the proxy reports.
pub fn client(app: &App, request: &Request) -> IpAddr {
    let forwarded = forwarded(app, request, "x-forwarded-for").and_then(|address| address.parse().ok());
    let peer = request.extensions().get::<Peer>().map(|peer| peer.0.to_canonical());
    forwarded.or(peer).unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED))
}

/// The address at the other end of the connection.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub IpAddr);
