//! The log line and the metrics of each request. Never bodies or query strings, which may contain secrets.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use axum::extract::{Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;
use serde_json::json;

use super::client;
use crate::app::App;

/// The name of the user or token, carried in the response's extensions.
#[derive(Clone)]
pub struct By(pub String);

/// Logs and counts a request once it is answered; an event stream, once it starts.
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

/// Unknown methods count as one, or made-up methods would grow the metrics without bound.
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
