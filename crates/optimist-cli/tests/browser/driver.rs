//! A real Chromium, driven over the WebDriver protocol, which is JSON over HTTP.
//!
//! Given: `chromium` and `chromedriver` on the path (`scripts/browser` installs them). Each browser has a folder of its own for all that it
//! keeps, reaches no other machine, and ends with its value.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// How long anything may take before a test fails: machines that test are busy.
const PATIENCE: Duration = Duration::from_secs(90);

/// The key of an element in WebDriver's JSON.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _profile: TempDir,
}

impl Browser {
    pub fn start() -> Self {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver is there (scripts/browser installs it)");
        let mut lines = BufReader::new(driver.stdout.take().expect("it is piped"));
        let port = port(&mut lines);
        std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink())); // or it would wait for a reader
        let profile = tempfile::tempdir().expect("a temporary folder can be made");
        let args = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--no-first-run",
            "--no-default-browser-check",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            "--hide-scrollbars",
            &format!("--user-data-dir={}", profile.path().display()),
        ];
        let capabilities = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": { "args": args },
            "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
        } } });
        let mut browser = Self { driver, port, session: String::new(), _profile: profile };
        let answer = browser.ask("POST", "/session", Some(&capabilities));
        browser.session = answer["sessionId"].as_str().expect("a session begins").to_owned();
        browser.size(1280, 900);
        browser
    }

    pub fn open(&self, url: &str) {
        self.post("/url", &json!({ "url": url }));
    }

    pub fn url(&self) -> String {
        self.get("/url").as_str().unwrap_or_default().to_owned()
    }

    pub fn source(&self) -> String {
        self.get("/source").as_str().unwrap_or_default().to_owned()
    }

    pub fn size(&self, width: u32, height: u32) {
        let metrics =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.devtools("Emulation.setDeviceMetricsOverride", &metrics);
    }

    /// What people who like it dark, or print, see.
    pub fn media(&self, scheme: &str, kind: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.devtools("Emulation.setEmulatedMedia", &json!({ "media": kind, "features": features }));
    }

    /// Whether scripts of pages run.
    pub fn scripts(&self, run: bool) {
        self.devtools("Emulation.setScriptExecutionDisabled", &json!({ "value": !run }));
    }

    /// Whether there is a connection.
    pub fn connection(&self, is_there: bool) {
        self.devtools("Network.enable", &json!({}));
        let conditions =
            json!({ "offline": !is_there, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1 });
        self.devtools("Network.emulateNetworkConditions", &conditions);
    }

    pub fn devtools(&self, command: &str, params: &Value) -> Value {
        self.post("/goog/cdp/execute", &json!({ "cmd": command, "params": params }))
    }

    /// The body of a function, with `arguments`; gives what it returns.
    pub fn script(&self, body: &str, arguments: &[Value]) -> Value {
        self.post("/execute/sync", &json!({ "script": body, "args": arguments }))
    }

    /// The same for a function whose last argument is to be called with the result.
    pub fn waiting_script(&self, body: &str, arguments: &[Value]) -> Value {
        self.post("/execute/async", &json!({ "script": body, "args": arguments }))
    }

    pub fn count(&self, selector: &str) -> usize {
        let found = self.post("/elements", &json!({ "using": "css selector", "value": selector }));
        found.as_array().map_or(0, Vec::len)
    }

    pub fn text(&self, selector: &str) -> String {
        // In one step: parts of pages are replaced while they are looked at.
        let text = self.script("return document.querySelector(arguments[0])?.innerText", &[json!(selector)]);
        text.as_str().unwrap_or_default().to_owned()
    }

    pub fn click(&self, selector: &str) {
        let element = self.element(selector);
        self.post(&format!("/element/{element}/click"), &json!({}));
    }

    /// Types into a field, after what is there.
    pub fn type_into(&self, selector: &str, text: &str) {
        let element = self.element(selector);
        self.post(&format!("/element/{element}/value"), &json!({ "text": text }));
    }

    pub fn clear(&self, selector: &str) {
        let element = self.element(selector);
        self.post(&format!("/element/{element}/clear"), &json!({}));
    }

    /// Presses the button of the mouse at one point of the window, moves, and lets go at another.
    pub fn drag(&self, from: (f64, f64), to: (f64, f64)) {
        let moved = |(x, y): (f64, f64)| json!({ "type": "pointerMove", "x": x.round(), "y": y.round(), "duration": 50, "origin": "viewport" });
        let (down, up) =
            (json!({ "type": "pointerDown", "button": 0 }), json!({ "type": "pointerUp", "button": 0 }));
        let actions =
            json!([moved(from), down, moved(((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0)), moved(to), up]);
        let mouse = json!({ "type": "pointer", "id": "mouse", "parameters": { "pointerType": "mouse" }, "actions": actions });
        self.post("/actions", &json!({ "actions": [mouse] }));
    }

    #[track_caller]
    pub fn wait(&self, what: &str, is_there: impl Fn(&Self) -> bool) {
        let start = Instant::now();
        while !is_there(self) {
            assert!(
                start.elapsed() < PATIENCE,
                "{what} did not happen; the page {} is\n{}",
                self.url(),
                self.text("body")
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    #[track_caller]
    pub fn wait_for(&self, selector: &str) {
        self.wait(&format!("an element `{selector}`"), |browser| browser.count(selector) > 0);
    }

    #[track_caller]
    pub fn wait_for_text(&self, selector: &str, text: &str) {
        self.wait(&format!("`{text}` in `{selector}`"), |browser| {
            browser.count(selector) > 0 && browser.text(selector).contains(text)
        });
    }

    /// Messages of the console, mistakes of scripts and breaches of the content security policy among them.
    pub fn console(&self) -> Vec<String> {
        let entries = self.post("/se/log", &json!({ "type": "browser" }));
        let entries = entries.as_array().cloned().unwrap_or_default();
        entries.iter().map(|entry| entry["message"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Addresses that were asked for since this was last called.
    pub fn requests(&self) -> Vec<String> {
        let entries = self.post("/se/log", &json!({ "type": "performance" }));
        let url = |entry: &Value| {
            let message: Value = serde_json::from_str(entry["message"].as_str()?).ok()?;
            let message = &message["message"];
            let is_request = message["method"] == "Network.requestWillBeSent";
            is_request.then(|| message["params"]["request"]["url"].as_str().unwrap_or_default().to_owned())
        };
        entries.as_array().cloned().unwrap_or_default().iter().filter_map(url).collect()
    }

    /// A picture of the window, or of the whole page.
    pub fn screenshot(&self, file: &Path, is_whole: bool) {
        let params = json!({ "format": "png", "captureBeyondViewport": is_whole, "optimizeForSpeed": false });
        let params = if is_whole { self.whole(params) } else { params };
        let picture = self.devtools("Page.captureScreenshot", &params);
        let bytes = decoded(picture["data"].as_str().expect("a picture comes as base64"));
        std::fs::write(file, bytes).expect("the picture can be written");
    }

    fn whole(&self, mut params: Value) -> Value {
        let size = self.devtools("Page.getLayoutMetrics", &json!({}));
        let size = &size["cssContentSize"];
        params["clip"] =
            json!({ "x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1 });
        params
    }

    #[track_caller]
    fn element(&self, selector: &str) -> String {
        let start = Instant::now();
        loop {
            let found = self.post("/elements", &json!({ "using": "css selector", "value": selector }));
            if let Some(element) = found[0][ELEMENT].as_str() {
                return element.to_owned();
            }
            assert!(
                start.elapsed() < PATIENCE,
                "no element `{selector}` at {}:\n{}",
                self.url(),
                self.source()
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn get(&self, path: &str) -> Value {
        self.ask("GET", &format!("/session/{}{path}", self.session), None)
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        self.ask("POST", &format!("/session/{}{path}", self.session), Some(body))
    }

    /// A command of the protocol; its value.
    fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let body = body.map(Value::to_string).unwrap_or_default();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("chromedriver listens");
        stream.set_read_timeout(Some(4 * PATIENCE)).expect("it is not zero");
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all((head + &body).as_bytes()).expect("chromedriver listens");
        let body = answer(&mut BufReader::new(stream));
        let answer: Value = serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error} in {body}"));
        let value = answer["value"].clone();
        assert!(value["error"].is_null(), "{method} {path}: {}: {}", value["error"], value["message"]);
        value
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() && !std::thread::panicking() {
            self.ask("DELETE", &format!("/session/{}", self.session), None);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// The body of an answer; the connection may stay open.
fn answer(stream: &mut impl BufRead) -> String {
    let mut length = 0;
    let mut line = String::new();
    while stream.read_line(&mut line).is_ok_and(|n| n > 2) {
        if let Some(("content-length", n)) = line.to_lowercase().split_once(':') {
            length = n.trim().parse().expect("a length is a number");
        }
        line.clear();
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).expect("chromedriver says all that it wants to");
    String::from_utf8_lossy(&body).into_owned()
}

/// What chromedriver says once it listens.
fn port(lines: &mut impl BufRead) -> u16 {
    let mut line = String::new();
    while lines.read_line(&mut line).is_ok_and(|n| n > 0) {
        if let Some((_, port)) = line.split_once("started successfully on port ") {
            return port.trim().trim_end_matches('.').parse().expect("it says its port");
        }
        line.clear();
    }
    panic!("chromedriver did not start")
}

/// Decodes Base64.
fn decoded(text: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => Some(u32::from(c - b'A')),
        b'a'..=b'z' => Some(u32::from(c - b'a') + 26),
        b'0'..=b'9' => Some(u32::from(c - b'0') + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let digits: Vec<u32> = text.bytes().filter_map(value).collect();
    let bytes = digits.chunks(4).flat_map(|four| {
        let word = four.iter().fold(0, |word, digit| word << 6 | digit) << (6 * (4 - four.len()));
        let bytes = word.to_be_bytes();
        bytes[1..four.len()].to_vec()
    });
    bytes.collect()
}
