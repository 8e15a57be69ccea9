//! Protection against cross-site request forgery: a change that a browser sends must have our own origin, and a token that only our
//! pages have.

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::header;

use super::{forwarded, host};
use crate::app::App;
use crate::auth::secret;
use crate::problem::Problem;

/// Refuses what another site had a browser send.
pub fn check_origin(app: &App, request: &Request) -> Result<(), Problem> {
    let foreign = || {
        Problem::forbidden(
            "this request didn't come from a page of this server; open the dashboard at the server's own address and try again",
        )
    };
    let mut sent = request.headers().get_all(header::ORIGIN).iter();
    let only = sent.next().filter(|_| sent.next().is_none()).and_then(|origin| origin.to_str().ok());
    let (scheme, origin) = only.and_then(|origin| origin.split_once("://")).ok_or_else(foreign)?;
    let host = host::asked(app, request).ok_or_else(foreign)?;
    let is_scheme = match forwarded(app, request, "x-forwarded-proto") {
        Some(proto) => scheme == proto,
        None => scheme == if app.settings.tls.is_some() { "https" } else { "http" },
    };
    if is_scheme && origin.eq_ignore_ascii_case(&host) { Ok(()) } else { Err(foreign()) }
}

/// Refuses a change without the session's token, which is a header or a field of a form. The form can be read again.
pub async fn check_csrf(request: &mut Request, csrf: &str) -> Result<(), Problem> {
    let missing = || {
        Problem::forbidden(
            "the session's CSRF token is missing or wrong (form field `csrf`, or header X-CSRF-Token); reload the page and try again",
        )
    };
    if let Some(sent) = request.headers().get("x-csrf-token") {
        let is_right = secret::is_same(sent.to_str().unwrap_or_default(), csrf);
        return if is_right { Ok(()) } else { Err(missing()) };
    }
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if !kind.is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded")) {
        return Err(missing());
    }
    let body = std::mem::take(request.body_mut());
    let body = to_bytes(body, usize::MAX).await.map_err(|_| missing())?; // it has been received
    let mut fields = form_urlencoded::parse(&body);
    let is_right = fields.any(|(key, value)| key == "csrf" && secret::is_same(&value, csrf));
    *request.body_mut() = Body::from(body);
    if is_right { Ok(()) } else { Err(missing()) }
}
