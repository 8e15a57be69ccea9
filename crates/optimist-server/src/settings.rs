//! How a server is run.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use optimist_study::Storage;

/// How a server is run.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where its studies are.
    pub storage: Storage,
    /// Where it listens.
    pub listen: SocketAddr,
    /// The certificate chain and the private key of its own TLS, as PEM files.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Passwords may cross a network readable.
    pub insecure: bool,
    /// Proxies whose `X-Forwarded-…` is believed.
    pub proxies: Vec<IpAddr>,
    /// Names by which it is reached, without port.
    pub hosts: Vec<String>,
    /// Commands that studies may have that come over HTTP: program and arguments.
    pub commands: Vec<Vec<String>>,
    /// A session ends after this long without a request.
    pub session_idle: Duration,
    /// A session ends after this long, whatever happens.
    pub session_lasts: Duration,
    /// Each request is logged as a line of JSON on standard error; otherwise only trouble is, in words.
    pub log_json: bool,
}

impl Settings {
    /// The defaults, for the studies in `storage`.
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
            log_json: false,
        }
    }

    /// Whether nobody on another machine reaches it without a proxy.
    pub fn is_local(&self) -> bool {
        self.listen.ip().is_loopback()
    }
}
