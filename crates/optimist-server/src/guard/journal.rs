//! What is logged and counted of each request. Never: what was sent, and what stands behind `?`, which may be secret.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use axum::extract::{Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;
use serde_json::json;

use super::client;
use crate::app::App;

/// Who asked, as an answer carries it to here.
#[derive(Clone)]
pub struct By(pub String);

/// Logs and counts a request when it is answered; a stream of events, when it begins.
pub async fn write(State(app): State<App>, request: Request, next: Next) -> Response {
    let begin = Instant::now();
    let method = word(request.method());
    let line = app.settings.log_json.then(|| (request.uri().path().to_owned(), client(&app, &request)));
    let response = next.run(request).await;
    let (took, status) = (begin.elapsed(), response.status().as_u16());
    app.metrics.count(method, status, took);
    if let Some((path, client)) = line {
        let at = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
        let by = response.extensions().get::<By>().map(|by| by.0.as_str());
        let ms = (took.as_secs_f64() * 1e4).round() / 10.0;
        let line = json!({
            "at": u64::try_from(at).unwrap_or(u64::MAX), "method": method, "path": path, "status": status, "ms": ms,
            "client": client.to_string(), "by": by,
        });
        eprintln!("{line}");
    }
    response
}

/// Methods that nobody knows are one to the counts, which would grow without end.
fn word(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        _ => "other",
    }
}
