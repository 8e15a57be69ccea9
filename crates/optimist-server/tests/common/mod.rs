//! A server in this process, and a client that sends whatever it is told to.

#![allow(dead_code)] // each test uses some of it

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use optimist_server::{Ledger, Role, Server, Settings, Stop};
use optimist_study::{Storage, Study, StudyFile};
use serde_json::Value;

pub const PASSWORD: &str = "correct horse";

pub const STUDY: &str = r#"
name = "film"
direction = "maximize"
trials = 100
seed = 1
optimizer = { name = "random" }
parameters.x = { type = "float", low = 0.0, high = 1.0 }
parameters.k = { type = "categorical", choices = ["a", "b"] }
"#;

/// A server with a study `film` of three trials, of which the first is complete, the second has failed and the third runs.
pub struct Running {
    pub address: SocketAddr,
    pub storage: Storage,
    /// The token of a local server.
    pub local: Option<String>,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The cookie that it sets, as it is to be sent.
    pub fn cookie(&self) -> String {
        let set = self.headers.get("set-cookie").unwrap_or_else(|| panic!("no cookie: {self:?}"));
        set.split(';').next().unwrap().to_owned()
    }
}

impl Running {
    /// With these changes to the defaults, and nobody who may log in.
    pub fn local(change: impl FnOnce(&mut Settings)) -> Self {
        Self::start(Storage::memory(), change)
    }

    /// With users `admin`, `operator` and `viewer`, whose password is [`PASSWORD`].
    pub fn with_users(change: impl FnOnce(&mut Settings)) -> Self {
        let storage = Storage::memory();
        let (mut ledger, mut log) = Ledger::open(&storage).unwrap();
        for role in [Role::Admin, Role::Operator, Role::Viewer] {
            ledger.add_user(&mut *log, role.word(), role, PASSWORD, None).unwrap();
        }
        Self::start(storage, change)
    }

    pub fn start(storage: Storage, change: impl FnOnce(&mut Settings)) -> Self {
        let mut study = Study::create(&storage, StudyFile::parse(STUDY).unwrap().definition).unwrap();
        (0..3).for_each(|_| drop(study.ask(Some("anna")).unwrap()));
        study.tell(0, 1.5, None).unwrap();
        study.tell(1, Err::<f64, _>("it melted"), None).unwrap();
        let mut settings =
            Settings { listen: SocketAddr::from(([127, 0, 0, 1], 0)), ..Settings::new(storage.clone()) };
        change(&mut settings);
        let server = Server::bind(settings).unwrap();
        let (address, stop) = (server.address().unwrap(), server.stop());
        let local = server.app().door().local_token().map(str::to_owned);
        let thread = Some(std::thread::spawn(move || server.run().unwrap()));
        Self { address, storage, local, stop, thread }
    }

    /// A token that may do this.
    pub fn token(&self, role: Role, study: Option<&str>, lasts: Option<Duration>) -> String {
        let (mut ledger, mut log) = Ledger::open(&self.storage).unwrap();
        ledger.create_token(&mut *log, Some(role.word()), (role, study), lasts, None).unwrap().1
    }

    /// As a program with this token.
    pub fn call(&self, token: &str, method: &str, path: &str, body: Option<&Value>) -> Answer {
        self.ask(method, path, &[("Authorization", &format!("Bearer {token}"))], body)
    }

    /// With these headers.
    pub fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Option<&Value>) -> Answer {
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            head += &format!("Host: {}\r\n", self.address);
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        let body = body.map(Value::to_string);
        if let Some(body) = &body {
            head += &format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
        }
        self.send(&format!("{head}\r\n{}", body.unwrap_or_default()))
    }

    /// A form, as a page of `origin` sends it.
    pub fn form(&self, path: &str, origin: Option<&str>, headers: &[(&str, &str)], form: &str) -> Answer {
        let mut head = format!("POST {path} HTTP/1.1\r\nConnection: close\r\nHost: {}\r\n", self.address);
        if let Some(origin) = origin {
            head += &format!("Origin: {origin}\r\n");
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        let kind = "Content-Type: application/x-www-form-urlencoded";
        self.send(&format!("{head}{kind}\r\nContent-Length: {}\r\n\r\n{form}", form.len()))
    }

    /// Where our own pages come from.
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// A session in a browser: its cookie.
    pub fn log_in(&self, user: &str) -> String {
        let form = format!("user={user}&password={}", PASSWORD.replace(' ', "+"));
        let answer = self.form("/login", Some(&self.origin()), &[], &form);
        assert_eq!(answer.status, 303, "{answer:?}");
        answer.cookie()
    }

    /// Sends these bytes, and reads until the server hangs up.
    pub fn send(&self, text: &str) -> Answer {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let _ = stream.write_all(text.as_bytes()); // a server that has seen enough hangs up
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        parse(&String::from_utf8_lossy(&bytes))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn parse(text: &str) -> Answer {
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).unwrap_or(0);
    let header =
        |line: &str| line.split_once(": ").map(|(name, value)| (name.to_lowercase(), value.to_owned()));
    let headers: BTreeMap<String, String> = lines.filter_map(header).collect();
    let is_chunked = headers.get("transfer-encoding").is_some_and(|how| how == "chunked");
    let body = if is_chunked { unchunked(body) } else { body.to_owned() };
    Answer { status, headers, body }
}

fn unchunked(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        if size == 0 || rest.len() < size {
            break;
        }
        whole += &rest[..size];
        body = rest[size..].trim_start_matches("\r\n");
    }
    whole
}
