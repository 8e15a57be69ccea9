//! The cookie that carries a session.

use axum::http::{HeaderMap, header};

use crate::settings::Settings;

/// The cookie's name. Cookies ignore ports, so without the port in it, two servers on one machine would overwrite each other's.
fn name(settings: &Settings) -> String {
    if is_secure(settings) {
        "__Host-optimist".to_owned()
    } else {
        format!("optimist-{}", settings.listen.port())
    }
}

/// Whether a browser may send it over TLS only.
fn is_secure(settings: &Settings) -> bool {
    settings.tls.is_some() || !(settings.insecure || settings.is_local() && settings.proxies.is_empty())
}

/// The header that gives a browser a session.
pub fn set(settings: &Settings, session: &str) -> String {
    let secure = if is_secure(settings) { "; Secure" } else { "" };
    format!("{}={session}; Path=/; HttpOnly; SameSite=Strict{secure}", name(settings))
}

/// The header that removes the session cookie.
pub fn clear(settings: &Settings) -> String {
    format!("{}; Max-Age=0", set(settings, ""))
}

/// The session that a browser sent.
pub fn session(settings: &Settings, headers: &HeaderMap) -> Option<String> {
    let name = name(settings);
    let sent = headers.get_all(header::COOKIE).iter().filter_map(|sent| sent.to_str().ok());
    let mut pairs = sent.flat_map(|sent| sent.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value.to_owned())
}
