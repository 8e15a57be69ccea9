//! Reads request bodies before handlers run, and refuses those that are too large or arrive too slowly.

use std::time::Duration;

use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::Request;
use axum::http::StatusCode;

use crate::problem::Problem;

/// The largest body from a client that is not logged in, in bytes: enough for a name and a password.
const UNKNOWN: usize = 1 << 14;

/// The largest body of an API request or a form, in bytes.
const KNOWN: usize = 4 << 20;

/// The largest body on the routes under `/logs`, in bytes: a single record may be large.
const RECORDS: usize = 40 << 20;

/// The largest body that `path` accepts, in bytes.
pub fn limit(path: &str, is_known: bool) -> usize {
    match path {
        _ if !is_known => UNKNOWN,
        path if path.starts_with("/api/v1/logs") => RECORDS,
        _ => KNOWN,
    }
}

/// Waits until the whole body is there.
pub async fn receive(request: &mut Request, limit: usize, patience: Duration) -> Result<(), Problem> {
    let too_large = || {
        Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!(
                "the request body is larger than {limit} bytes, the limit for this address; send less at a time"
            ),
        )
    };
    if request.body().size_hint().lower() > limit as u64 {
        return Err(too_large());
    }
    let body = std::mem::take(request.body_mut());
    let received = tokio::time::timeout(patience, to_bytes(body, limit)).await;
    let received = received.map_err(|_| {
        Problem::new(
            StatusCode::REQUEST_TIMEOUT,
            format!("the request body did not arrive within {} s", patience.as_secs_f64()),
        )
    })?;
    *request.body_mut() = Body::from(received.map_err(|_| too_large())?);
    Ok(())
}
