//! Whether a request is meant for this server. In DNS rebinding, a foreign site points its own name at our address; its requests
//! then carry that name as their host.

use std::net::IpAddr;

use axum::extract::Request;
use axum::http::{StatusCode, header};

use super::forwarded;
use crate::app::App;
use crate::problem::Problem;

/// Refuses a request for another host.
pub fn check(app: &App, request: &Request) -> Result<(), Problem> {
    let host = asked(app, request).unwrap_or_default();
    let name = without_port(&host);
    if is_ours(app, name) {
        return Ok(());
    }
    Err(Problem::new(
        StatusCode::MISDIRECTED_REQUEST,
        "unknown host name; to allow it, start the server with `--host NAME`",
    ))
}

/// The host of the request, with its port; behind a trusted proxy, the host that the client asked the proxy for.
pub fn asked(app: &App, request: &Request) -> Option<String> {
    let mut sent = request.headers().get_all(header::HOST).iter();
    let only = sent.next().filter(|_| sent.next().is_none()).and_then(|host| host.to_str().ok());
    let host = only.or_else(|| request.uri().authority().map(|authority| authority.as_str()));
    forwarded(app, request, "x-forwarded-host").or_else(|| host.map(str::to_owned))
}

fn is_ours(app: &App, name: &str) -> bool {
    let settings = &app.settings;
    if settings.hosts.iter().any(|host| host.eq_ignore_ascii_case(name)) {
        return true;
    }
    match name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
        Ok(address) if settings.is_local() => address.is_loopback(),
        Ok(_) => true, // rebinding needs a name
        Err(_) => settings.is_local() && name.eq_ignore_ascii_case("localhost"),
    }
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.ends_with(':') => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_no_part_of_a_name() {
        for (host, name) in [
            ("localhost:8150", "localhost"),
            ("localhost", "localhost"),
            ("[::1]:8150", "[::1]"),
            ("[::1]", "[::1]"),
            ("127.0.0.1:1", "127.0.0.1"),
        ] {
            assert_eq!(without_port(host), name);
        }
    }
}
