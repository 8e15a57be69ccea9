//! What is sent with a request: not too much of it, and not too slowly. Handlers find it received.

use std::time::Duration;

use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::Request;
use axum::http::StatusCode;

use crate::problem::Problem;

/// The most bytes from somebody unknown: a name and a password.
const UNKNOWN: usize = 1 << 14;

/// The most bytes of a request of the API or of a form.
const KNOWN: usize = 4 << 20;

/// The same of records, of which one may be large.
const RECORDS: usize = 40 << 20;

/// How long it may take to send them.
const TIME: Duration = Duration::from_secs(30);

/// How many bytes may be sent there.
pub fn limit(path: &str, is_known: bool) -> usize {
    match path {
        _ if !is_known => UNKNOWN,
        path if path.starts_with("/api/v1/logs") => RECORDS,
        _ => KNOWN,
    }
}

/// Waits until all of it is there.
pub async fn receive(request: &mut Request, limit: usize) -> Result<(), Problem> {
    let too_large = || {
        Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("at most {limit} bytes can be sent here at once; send less"),
        )
    };
    if request.body().size_hint().lower() > limit as u64 {
        return Err(too_large());
    }
    let body = std::mem::take(request.body_mut());
    let received = tokio::time::timeout(TIME, to_bytes(body, limit)).await;
    let received = received.map_err(|_| {
        Problem::new(
            StatusCode::REQUEST_TIMEOUT,
            format!("what was sent did not arrive within {} s", TIME.as_secs()),
        )
    })?;
    *request.body_mut() = Body::from(received.map_err(|_| too_large())?);
    Ok(())
}
