//! The settings of a server.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use optimist_study::Storage;

/// The settings of a server.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where studies and accounts are stored.
    pub storage: Storage,
    /// The address and port to listen on.
    pub listen: SocketAddr,
    /// The certificate chain and the private key of its own TLS, as PEM files.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Allow passwords to cross a network unencrypted.
    pub insecure: bool,
    /// Proxies whose `X-Forwarded-…` headers are trusted.
    pub proxies: Vec<IpAddr>,
    /// Host names that clients may use, without port.
    pub hosts: Vec<String>,
    /// Commands that studies created or changed over HTTP may have: program and arguments.
    pub commands: Vec<Vec<String>>,
    /// A session ends after this long without a request.
    pub session_idle: Duration,
    /// A session ends after this long in any case.
    pub session_lasts: Duration,
    /// How long the body of a request may take to arrive.
    pub body_timeout: Duration,
    /// Log each request on standard error, as a line of JSON.
    pub log_json: bool,
}

impl Settings {
    /// The default settings, for the studies in `storage`.
    pub fn new(storage: Storage) -> Self {
        Self {
            storage,
            listen: SocketAddr::from(([127, 0, 0, 1], 8150)),
            tls: None,
            insecure: false,
            proxies: Vec::new(),
            hosts: Vec::new(),
            commands: Vec::new(),
            session_idle: Duration::from_secs(12 * 3600),
            session_lasts: Duration::from_secs(7 * 86_400),
            body_timeout: Duration::from_secs(30),
            log_json: false,
        }
    }

    /// Whether it listens on loopback only, so that other machines need a proxy to reach it.
    pub fn is_local(&self) -> bool {
        self.listen.ip().is_loopback()
    }
}
