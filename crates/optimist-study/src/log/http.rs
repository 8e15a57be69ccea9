//! Logs behind a server, `optimist serve`: the same operations as HTTP requests (docs/api.md).
//!
//! Each request stands for itself. One that got no answer is sent again for a few seconds: a server that is restarted is back by
//! then, and a longer absence is an error that may pass. An append says with a key which append it is, so that the server does
//! it once; if the server has forgotten that because it was restarted in between, the records tell.
//!
//! `OPTIMIST_TOKEN` is read when the storage is named. It is sent to that server only, and never shown.

use std::fmt::{self, Display, Formatter};
use std::io;
use std::net::IpAddr;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use ureq::http::{Method, Request, StatusCode};
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};
use ureq::{Agent, Proxy};

use super::{Appended, Backend, Entry, Lease, LeaseChange, Log, Notify, StorageError, StudyId};

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);

/// How long an answer may take. Appending a large study takes long.
const ANSWER: Duration = Duration::from_secs(60);

/// For how long a request that got no answer is sent again.
const PATIENCE: Duration = Duration::from_secs(6);

/// Pauses between these tries, from the first to the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(1));

/// The largest answer: some records of the largest size.
const BYTES: u64 = 64 << 20;

/// How many records to ask for: few at first, as many readers stop after one.
const PIECES: (usize, usize) = (16, 1000);

/// A server, addressed by its URL, with the token that it wants.
pub struct HttpServer {
    /// Without a slash at its end.
    url: String,
    agent: Agent,
    authorization: Option<String>,
}

impl HttpServer {
    /// The server at `address`, `http://host:port` or `https://…`, where a proxy may have put it below a path.
    ///
    /// # Errors
    /// If the address cannot be meant.
    pub fn new(address: &str, token: Option<String>) -> Result<Self, StorageError> {
        let bad = |reason: &str| StorageError::BadServer { reason: reason.to_owned() };
        let (scheme, rest) = address.split_once("://").ok_or_else(|| bad("it has no scheme"))?;
        let authority = rest.split('/').next().unwrap_or_default();
        // A raw `/` in a password ends what looks like the authority.
        if rest.contains('@') {
            return Err(bad(
                "it contains a user or password, which would be shown; put a token in OPTIMIST_TOKEN instead",
            ));
        }
        if authority.is_empty() || rest.contains(['?', '#']) || rest.contains(char::is_whitespace) {
            return Err(bad("it is not a host with a port"));
        }
        let token = token.filter(|token| !token.is_empty());
        if token.as_ref().is_some_and(|token| !token.bytes().all(|byte| byte.is_ascii_graphic())) {
            return Err(bad("the token in OPTIMIST_TOKEN has invalid characters"));
        }
        Ok(Self {
            url: format!("{scheme}://{}", rest.trim_end_matches('/')),
            agent: agent(scheme == "https"),
            authorization: token.map(|token| format!("Bearer {token}")),
        })
    }

    /// Whether a token would cross a network readable.
    fn is_readable(&self) -> bool {
        let Some(rest) = self.url.strip_prefix("http://") else { return false };
        let host = rest.split('/').next().unwrap_or_default();
        let host =
            host.rsplit_once(':').filter(|(_, port)| !port.ends_with(']')).map_or(host, |(host, _)| host);
        let address: Result<IpAddr, _> = host.trim_matches(['[', ']']).parse();
        let is_here = address.map_or_else(|_| host.eq_ignore_ascii_case("localhost"), |ip| ip.is_loopback());
        self.authorization.is_some() && !is_here
    }
}

fn agent(has_tls: bool) -> Agent {
    let builder = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0) // a token is for one server only
        .timeout_connect(Some(CONNECT))
        .timeout_global(Some(ANSWER))
        .user_agent(concat!("optimist/", env!("CARGO_PKG_VERSION")));
    if !has_tls {
        return builder.proxy(None).build().into();
    }
    let certificates = rustls_native_certs::load_native_certs().certs; // or those of SSL_CERT_FILE
    let certificates: Vec<_> = certificates.iter().map(|der| Certificate::from_der(der).to_owned()).collect();
    let tls = TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .root_certs(RootCerts::new_with_certs(&certificates))
        .build();
    builder.proxy(Proxy::try_from_env()).tls_config(tls).build().into()
}

impl Display for HttpServer {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.url)
    }
}

impl Backend for HttpServer {
    fn connect(&self, notify: &Notify) -> Result<Box<dyn Log>, StorageError> {
        if self.is_readable() {
            notify(&format!("the token is sent to {self} unencrypted; use https://, or a tunnel"));
        }
        Ok(Box::new(Connection {
            url: self.url.clone(),
            agent: self.agent.clone(),
            authorization: self.authorization.clone(),
            notify: notify.clone(),
        }))
    }

    fn is_remote(&self) -> bool {
        true
    }
}

/// Requests to one server.
struct Connection {
    url: String,
    agent: Agent,
    authorization: Option<String>,
    notify: Notify,
}

#[derive(Deserialize)]
struct Logs {
    logs: Vec<Named>,
}

#[derive(Deserialize)]
struct Named {
    id: i64,
    name: String,
}

#[derive(Deserialize)]
struct Created {
    id: Option<i64>,
}

#[derive(Deserialize)]
struct Deleted {
    deleted: bool,
}

#[derive(Deserialize)]
struct Texts {
    records: Vec<Text>,
    more: bool,
}

#[derive(Deserialize)]
struct Text {
    seq: u64,
    body: String,
}

#[derive(Deserialize)]
struct Outcome {
    outcome: String,
}

#[derive(Deserialize)]
struct Leases {
    leases: Vec<Holds>,
}

#[derive(Deserialize)]
struct Holds {
    trial: usize,
    owner: String,
    has_expired: bool,
}

#[derive(Deserialize)]
struct Problem {
    detail: String,
}

/// A change to leases as it is sent.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Sent<'l> {
    Claim { trial: usize, owner: &'l str, lasts: f64 },
    Release { trial: usize },
}

impl<'l> From<&'l LeaseChange> for Sent<'l> {
    fn from(change: &'l LeaseChange) -> Self {
        match change {
            LeaseChange::Claim { trial, owner, lasts } => {
                Self::Claim { trial: *trial, owner, lasts: seconds(*lasts) }
            }
            LeaseChange::Release { trial } => Self::Release { trial: *trial },
        }
    }
}

/// A lease in seconds; the longest that a server counts is a century.
fn seconds(lasts: Duration) -> f64 {
    lasts.as_secs_f64().min(3e9)
}

impl Log for Connection {
    fn studies(&mut self) -> Result<Vec<Entry>, StorageError> {
        let Logs { logs } = self.ask(&Method::GET, "/logs", None)?;
        Ok(logs.into_iter().map(|log| Entry { name: log.name, id: StudyId(log.id) }).collect())
    }

    fn create(&mut self, name: &str, first: &str) -> Result<Option<StudyId>, StorageError> {
        let body = json!({ "name": name, "first": first });
        let Created { id } = self.ask(&Method::POST, "/logs", Some(&body))?;
        Ok(id.map(StudyId))
    }

    fn append(
        &mut self,
        study: StudyId,
        head: u64,
        bodies: &[String],
        leases: &[LeaseChange],
    ) -> Result<Appended, StorageError> {
        let leases: Vec<Sent<'_>> = leases.iter().map(Sent::from).collect();
        let body = json!({ "head": head, "bodies": bodies, "leases": leases });
        let path = format!("/logs/{}/records", study.0);
        let (Outcome { outcome }, is_certain) = self.ask_once(&Method::POST, &path, Some(&body))?;
        match &outcome[..] {
            "stored" => Ok(Appended::Stored),
            "gone" => Ok(Appended::Gone),
            _ if !is_certain && self.is_there(study, head, bodies)? => Ok(Appended::Stored),
            _ => Ok(Appended::Moved),
        }
    }

    fn read(
        &mut self,
        study: StudyId,
        mut after: u64,
        each: &mut dyn FnMut(u64, &str) -> ControlFlow<()>,
    ) -> Result<(), StorageError> {
        let (mut piece, most) = PIECES;
        loop {
            let path = format!("/logs/{}/records?after={after}&limit={piece}", study.0);
            let Texts { records, more } = self.ask(&Method::GET, &path, None)?;
            for Text { seq, body } in &records {
                if each(*seq, body).is_break() {
                    return Ok(());
                }
                after = *seq;
            }
            if !more || records.is_empty() {
                return Ok(());
            }
            piece = most;
        }
    }

    fn delete(&mut self, study: StudyId) -> Result<bool, StorageError> {
        let Deleted { deleted } = self.ask(&Method::DELETE, &format!("/logs/{}", study.0), None)?;
        Ok(deleted)
    }

    fn renew(
        &mut self,
        study: StudyId,
        trials: &[usize],
        owner: &str,
        lasts: Duration,
    ) -> Result<(), StorageError> {
        let body = json!({ "trials": trials, "owner": owner, "lasts": seconds(lasts) });
        let _: Value = self.ask(&Method::POST, &format!("/logs/{}/renew", study.0), Some(&body))?;
        Ok(())
    }

    fn leases(&mut self, study: StudyId) -> Result<Vec<Lease>, StorageError> {
        let Leases { leases } = self.ask(&Method::GET, &format!("/logs/{}/leases", study.0), None)?;
        let lease = |Holds { trial, owner, has_expired }| Lease { trial, owner, has_expired };
        Ok(leases.into_iter().map(lease).collect())
    }
}

impl Connection {
    fn ask<T: DeserializeOwned>(
        &self,
        method: &Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<T, StorageError> {
        self.ask_once(method, path, body).map(|(answer, _)| answer)
    }

    /// Sends a request until it is answered, and has it done once; whether it is certain that no earlier try was done.
    fn ask_once<T: DeserializeOwned>(
        &self,
        method: &Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(T, bool), StorageError> {
        let (key, begin, mut pause) = (key(), Instant::now(), PAUSES.0);
        let mut is_certain = true;
        loop {
            let error = match self.try_to_ask(method, path, body, &key) {
                Ok(answer) if is_certain => return Ok((answer, true)),
                Ok(answer) => {
                    (self.notify)(&format!("connected to {} again", self.url));
                    return Ok((answer, false));
                }
                Err(error) => error,
            };
            if !matches!(error, StorageError::Unreachable { .. }) || begin.elapsed() > PATIENCE {
                return Err(error);
            }
            if is_certain {
                (self.notify)(&format!("{error}; retrying"));
            }
            is_certain = false;
            thread::sleep(pause);
            pause = (pause * 2).min(PAUSES.1);
        }
    }

    fn try_to_ask<T: DeserializeOwned>(
        &self,
        method: &Method,
        path: &str,
        body: Option<&Value>,
        key: &str,
    ) -> Result<T, StorageError> {
        let mut request = Request::builder().method(method).uri(format!("{}/api/v1{path}", self.url));
        if let Some(authorization) = &self.authorization {
            request = request.header("Authorization", authorization);
        }
        if method == Method::POST {
            request = request.header("Idempotency-Key", key).header("Content-Type", "application/json");
        }
        let text = body.map(Value::to_string).unwrap_or_default();
        let bad = |error: ureq::http::Error| StorageError::BadServer { reason: error.to_string() };
        let answered = match method == Method::POST {
            true => self.agent.run(request.body(text).map_err(bad)?),
            false => self.agent.run(request.body(()).map_err(bad)?),
        };
        let mut answer = answered.map_err(|error| self.unreachable(&error))?;
        let text = answer.body_mut().with_config().limit(BYTES).read_to_string();
        let text = text.map_err(|error| self.unreachable(&error))?;
        if !answer.status().is_success() {
            return Err(self.refused(answer.status(), &text));
        }
        let not_ours = |error: serde_json::Error| StorageError::Other {
            place: self.url.clone(),
            reason: format!("this is not an optimist server, or one of another version: {error}"),
        };
        serde_json::from_str(&text).map_err(not_ours)
    }

    /// Whether exactly these records are behind `head`: an earlier try has stored them, and its answer was lost.
    fn is_there(&mut self, study: StudyId, head: u64, bodies: &[String]) -> Result<bool, StorageError> {
        let mut n_same = 0;
        self.read(study, head, &mut |_, body| match bodies.get(n_same) {
            Some(sent) if is_same(sent, body) => {
                n_same += 1;
                ControlFlow::Continue(())
            }
            _ => ControlFlow::Break(()),
        })?;
        Ok(n_same == bodies.len())
    }

    fn unreachable(&self, error: &ureq::Error) -> StorageError {
        let place = self.url.clone();
        if let Some(error) = certificate_error(error) {
            return StorageError::Refused { place, reason: certificate_advice(error) }; // waiting doesn't help
        }
        let reason = match error {
            ureq::Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                "nothing is listening there".to_owned()
            }
            ureq::Error::Timeout(_) => format!("no answer for {} s", ANSWER.as_secs()),
            error => error.to_string(),
        };
        match error {
            ureq::Error::Tls(_) | ureq::Error::Pem(_) | ureq::Error::Rustls(_) => {
                StorageError::Refused { place, reason }
            }
            // Other breaches of the protocol come from servers that end in the middle of an answer.
            ureq::Error::Protocol(_) if reason.contains("invalid HTTP version") => {
                let hint = if self.url.starts_with("http:") { "; if it has TLS, write https://" } else { "" };
                StorageError::Other { place, reason: format!("it doesn't speak HTTP ({reason}){hint}") }
            }
            ureq::Error::BodyExceedsLimit(_) | ureq::Error::BadUri(_) | ureq::Error::Http(_) => {
                StorageError::Other { place, reason }
            }
            _ => StorageError::Unreachable { place, reason },
        }
    }

    fn refused(&self, status: StatusCode, text: &str) -> StorageError {
        let place = self.url.clone();
        let problem = serde_json::from_str::<Problem>(text).map(|problem| problem.detail);
        let reason = problem.unwrap_or_else(|_| format!("status {status}"));
        match status.as_u16() {
            401 => {
                let hint = "set OPTIMIST_TOKEN to one that `optimist token create` made on the server, or to the one in its link";
                StorageError::Refused { place, reason: format!("it doesn't accept your token; {hint}") }
            }
            403 => StorageError::Refused { place, reason },
            429 | 502..=504 => StorageError::Unreachable { place, reason },
            _ => StorageError::Other { place, reason },
        }
    }
}

/// What is wrong with the server's certificate; `None` if that is not the problem. The HTTP client wraps it in an I/O error.
fn certificate_error(error: &ureq::Error) -> Option<&rustls::Error> {
    let error = match error {
        ureq::Error::Rustls(error) => error,
        ureq::Error::Io(error) => error.get_ref()?.downcast_ref()?,
        _ => return None,
    };
    matches!(error, rustls::Error::InvalidCertificate(_)).then_some(error)
}

/// What to do about a certificate that can't be trusted.
fn certificate_advice(error: &rustls::Error) -> String {
    use rustls::CertificateError::{
        Expired, ExpiredContext, NotValidForName, NotValidForNameContext, UnknownIssuer,
    };
    match error {
        rustls::Error::InvalidCertificate(UnknownIssuer) => {
            "nobody whom this machine trusts has signed its certificate; if it is your own, name it in SSL_CERT_FILE".to_owned()
        }
        rustls::Error::InvalidCertificate(NotValidForName | NotValidForNameContext { .. }) => {
            "its certificate is for another host name; use the name in the certificate".to_owned()
        }
        rustls::Error::InvalidCertificate(Expired | ExpiredContext { .. }) => {
            "its certificate has expired; renew it on the server".to_owned()
        }
        error if error.to_string().contains("CaUsedAsEndEntity") => {
            "its certificate is that of an authority, which a server can't use; make one with `openssl req -x509 … -addext basicConstraints=CA:FALSE`"
                .to_owned()
        }
        error => format!("{error}; if it has a certificate of your own, name that in SSL_CERT_FILE"),
    }
}

/// Whether a stored record is the one that was sent, with who wanted it.
fn is_same(sent: &str, stored: &str) -> bool {
    let without = |text: &str| {
        let mut value = serde_json::from_str::<Value>(text).ok()?;
        value.as_object_mut()?.remove("by");
        Some(value)
    };
    sent == stored || without(sent).is_some_and(|sent| without(stored) == Some(sent))
}

/// A word that no other request has: by clock, process and count. It is no secret.
fn key() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    format!("{now:x}-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_host_and_secrets_are_not_part_of_it() {
        let shown = |address: &str| HttpServer::new(address, None).map(|server| server.to_string());
        assert_eq!(shown("http://lab:8150/"), Ok("http://lab:8150".to_owned()));
        assert_eq!(shown("https://lab/optimist/"), Ok("https://lab/optimist".to_owned()));
        for bad in [
            "http://",
            "http://me:secret@lab",
            "http://me:a/secret@lab",
            "http://lab?token=secret",
            "http://a b",
        ] {
            let error = shown(bad).unwrap_err().to_string();
            assert!(!error.contains("secret") && error.contains("https://host:8150"), "{error}");
        }
        let token = |token: &str| HttpServer::new("http://lab", Some(token.to_owned()));
        assert!(token("a\r\nHost: b").is_err());
        let is_readable =
            |address: &str| HttpServer::new(address, Some("a".to_owned())).unwrap().is_readable();
        for here in [
            "http://127.0.0.1:1",
            "http://localhost",
            "http://LOCALHOST:1/x",
            "http://[::1]:1",
            "https://lab",
        ] {
            assert!(!is_readable(here), "{here}");
        }
        for away in [
            "http://lab",
            "http://127.0.0.1.lab:1",
            "http://localhost.lab",
            "http://10.0.0.1",
            "http://[::2]",
        ] {
            assert!(is_readable(away), "{away}");
        }
    }

    #[test]
    fn a_certificate_that_cannot_be_trusted_says_what_to_do() {
        use rustls::{CertificateError, OtherError};

        #[derive(Debug, thiserror::Error)]
        #[error("")]
        struct CaUsedAsEndEntity; // what webpki says
        let other = CertificateError::Other(OtherError(Arc::new(CaUsedAsEndEntity)));
        for (error, words) in [
            (CertificateError::UnknownIssuer, "SSL_CERT_FILE"),
            (CertificateError::NotValidForName, "another host name"),
            (CertificateError::Expired, "expired"),
            (other, "basicConstraints=CA:FALSE"),
        ] {
            let wrapped =
                io::Error::new(io::ErrorKind::InvalidData, rustls::Error::InvalidCertificate(error));
            let wrapped = ureq::Error::Io(wrapped);
            let advice = certificate_advice(certificate_error(&wrapped).unwrap());
            assert!(advice.contains(words), "{advice}");
        }
        let broken = ureq::Error::Io(io::Error::from(io::ErrorKind::ConnectionReset));
        assert!(certificate_error(&broken).is_none());
    }

    #[test]
    fn a_record_is_known_again_with_who_wanted_it() {
        assert!(is_same(r#"{"seq":2,"at":7}"#, r#"{"seq":2,"at":7,"by":"anna"}"#));
        assert!(!is_same(r#"{"seq":2,"at":7}"#, r#"{"seq":2,"at":8,"by":"anna"}"#));
        assert!(is_same("one", "one") && !is_same("one", "two"));
    }

    #[test]
    fn a_server_that_is_not_there_is_an_error_that_may_pass() {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let server = HttpServer::new(&format!("http://{free}"), None).unwrap();
        let error = server.connect(&(Arc::new(|_: &str| ()) as Notify)).unwrap().studies().unwrap_err();
        assert!(error.may_pass() && error.to_string().contains("nothing is listening there"), "{error}");
    }
}
