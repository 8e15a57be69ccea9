//! What programs rely on: the document, `ETag`s, idempotency keys, events that resume, errors of one form.

mod common;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use common::{Answer, Running};
use optimist_server::Role;
use serde_json::{Value, json};

/// Validates a value against a schema of the OpenAPI document.
#[track_caller]
fn expect_schema(document: &Value, schema: &Value, value: &Value, what: &str) {
    let mut schema = schema.clone();
    schema["components"] = document["components"].clone();
    let validator = jsonschema::validator_for(&schema).unwrap_or_else(|error| panic!("{what}: {error}"));
    let errors: Vec<String> = validator.iter_errors(value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{what}: {errors:?} in {value}");
}

#[test]
fn responses_are_as_the_document_says() {
    let server = Running::with_users(|_| ());
    let admin = server.token(Role::Admin, None, None);
    let document = server.call(&admin, "GET", "/api/v1/openapi.json", None).json();
    assert_eq!(document["openapi"], "3.1.0");
    let point = json!({ "params": { "x": 0.5, "k": "a" } });
    let requests = [
        ("get", "/studies", "/studies", None),
        ("get", "/studies/{study}", "/studies/film", None),
        ("get", "/studies/{study}/records", "/studies/film/records?limit=3", None),
        ("get", "/studies/{study}/trials", "/studies/film/trials?sort=best", None),
        ("get", "/studies/{study}/trials/{trial}", "/studies/film/trials/1", None),
        ("get", "/studies/{study}/best", "/studies/film/best?n=5", None),
        ("get", "/studies/{study}/front", "/studies/film/front", None),
        ("get", "/studies/{study}/importance", "/studies/film/importance", None),
        ("post", "/studies/{study}/ask", "/studies/film/ask", Some(json!({ "n": 2, "lease": 60 }))),
        ("post", "/studies/{study}/renew", "/studies/film/renew", Some(json!({ "trials": [3, 4] }))),
        (
            "post",
            "/studies/{study}/trials/{trial}/tell",
            "/studies/film/trials/2/tell",
            Some(
                json!({ "value": 0.5, "noise_std": 0.1, "note": "cold", "metrics": { "rpm": 3 }, "seconds": 2 }),
            ),
        ),
        (
            "post",
            "/studies/{study}/trials/{trial}/fail",
            "/studies/film/trials/3/fail",
            Some(json!({ "reason": "it tore" })),
        ),
        (
            "post",
            "/studies/{study}/trials/{trial}/release",
            "/studies/film/trials/4/release",
            Some(json!({ "reason": "end of shift" })),
        ),
        ("post", "/studies/{study}/trials/{trial}/cancel", "/studies/film/trials/4/cancel", None),
        (
            "post",
            "/studies/{study}/trials/{trial}/amend",
            "/studies/film/trials/0/amend",
            Some(json!({ "outcome": { "measured": { "value": 1.25 } }, "reason": "a slip" })),
        ),
        ("post", "/studies/{study}/retry", "/studies/film/retry", Some(json!({ "trials": [1] }))),
        ("post", "/studies/{study}/queue", "/studies/film/queue", Some(point)),
        (
            "post",
            "/studies/{study}/note",
            "/studies/film/note",
            Some(json!({ "text": "**cold** room", "trial": 0 })),
        ),
        ("patch", "/studies/{study}/plan", "/studies/film/plan", Some(json!({ "trials": 50 }))),
        ("get", "/me", "/me", None),
        ("get", "/users", "/users", None),
        (
            "post",
            "/users",
            "/users",
            Some(json!({ "name": "ben", "role": "viewer", "password": "correct horse" })),
        ),
        ("patch", "/users/{user}", "/users/ben", Some(json!({ "role": "operator" }))),
        ("delete", "/users/{user}", "/users/ben", None),
        ("get", "/tokens", "/tokens", None),
        ("post", "/tokens", "/tokens", Some(json!({ "role": "worker", "study": "film", "expires": 60 }))),
        ("get", "/logs", "/logs", None),
        ("get", "/logs/{log}/records", "/logs/LOG/records?limit=2", None),
        ("get", "/logs/{log}/leases", "/logs/LOG/leases", None),
        (
            "post",
            "/studies",
            "/studies",
            Some(json!({ "toml": "name = 'b'\ndirection = 'minimize'\nparameters.x = { type = 'bool' }" })),
        ),
        ("delete", "/studies/{study}", "/studies/b", None),
    ];
    let logs = server.call(&admin, "GET", "/api/v1/logs", None).json();
    let log = logs["logs"][0]["id"].to_string();
    for (method, route, path, body) in requests {
        let what = format!("{method} {path}");
        let operation = &document["paths"][format!("/api/v1{route}")][method];
        let answer = server.call(
            &admin,
            &method.to_uppercase(),
            &format!("/api/v1{}", path.replace("LOG", &log)),
            body.as_ref(),
        );
        let described = &operation["responses"][answer.status.to_string()];
        assert!(described.is_object(), "{what} is not described so: {answer:?}");
        expect_schema(&document, &described["content"]["application/json"]["schema"], &answer.json(), &what);
        if let Some(body) = &body {
            let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
            expect_schema(&document, schema, body, &format!("the body of {what}"));
        }
    }
}

#[test]
fn every_error_is_problem_json_and_says_what_to_do() {
    let server = Running::with_users(|_| ());
    let admin = server.token(Role::Admin, None, None);
    let viewer = server.token(Role::Viewer, None, None);
    let document = server.call(&admin, "GET", "/api/v1/openapi.json", None).json();
    let schema = json!({ "$ref": "#/components/schemas/Problem" });
    let tell = |value: Value| Some(json!({ "value": value }));
    let trial = "/api/v1/studies/film/trials";
    let wrong = [
        ("GET", "/api/v1/studies/none", &admin, None, 404, "doesn't exist, or you don't have access"),
        ("GET", &format!("{trial}/99")[..], &admin, None, 404, "it has 3 trials"),
        ("GET", &format!("{trial}?limit=0"), &admin, None, 400, "1 to 1000"),
        ("GET", &format!("{trial}?state=dead"), &admin, None, 400, "unknown state `dead`"),
        ("GET", &format!("{trial}?colour=red"), &admin, None, 400, "colour"),
        ("GET", "/api/v1/studies/film/plots/none", &admin, None, 404, "history"),
        ("GET", "/api/v1/studies/film/plots/contour?x=x", &admin, None, 400, "two different parameters"),
        ("GET", "/api/v1/studies/film/plots/contour?x=x&y=x", &admin, None, 400, "two different parameters"),
        ("GET", "/api/v1/nothing", &admin, None, 404, "openapi.json"),
        ("PUT", "/api/v1/studies", &admin, None, 405, "openapi.json"),
        ("POST", &format!("{trial}/2/tell"), &viewer, tell(json!(1.0)), 403, "worker or operator"),
        ("POST", &format!("{trial}/2/tell"), &admin, tell(json!("high")), 422, "invalid request body"),
        ("POST", &format!("{trial}/2/tell"), &admin, Some(json!({})), 400, "`value` is missing"),
        ("POST", &format!("{trial}/2/tell"), &admin, Some(json!([1])), 422, "JSON object"),
        ("POST", &format!("{trial}/0/cancel"), &admin, None, 409, "trial 0"),
        ("POST", "/api/v1/studies", &admin, Some(json!({ "toml": "direction = 3" })), 422, "direction"),
        ("PATCH", "/api/v1/studies/film/plan", &admin, Some(json!({ "trials": 0 })), 400, "above 0"),
    ];
    for (method, path, token, body, status, words) in wrong {
        let answer = server.call(token, method, path, body.as_ref());
        assert_eq!(answer.status, status, "{method} {path}: {answer:?}");
        assert_eq!(answer.headers["content-type"], "application/problem+json", "{method} {path}");
        let problem = answer.json();
        expect_schema(&document, &schema, &problem, path);
        assert_eq!(problem["status"], status);
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains(words), "{method} {path}: {detail}");
    }
    let text = server.ask(
        "POST",
        &format!("{trial}/2/tell"),
        &[("Authorization", &format!("Bearer {admin}")), ("Content-Length", "0")],
        None,
    );
    assert_eq!((text.status, &text.headers["content-type"][..]), (415, "application/problem+json"));
}

#[test]
fn what_a_client_has_already_is_not_sent_again() {
    let server = Running::with_users(|_| ());
    let viewer = format!("Bearer {}", server.token(Role::Viewer, None, None));
    let get = |path: &str, tag: &str| {
        let headers = [("Authorization", viewer.as_str()), ("If-None-Match", tag)];
        server.ask("GET", path, &headers, None)
    };
    for path in ["/api/v1/studies", "/api/v1/studies/film", "/api/v1/studies/film/trials"] {
        let tag = get(path, "\"other\"").headers["etag"].clone();
        for known in [tag.clone(), format!("W/{tag}"), format!("\"a\", {tag}"), "*".to_owned()] {
            let answer = get(path, &known);
            assert_eq!((answer.status, &answer.body[..]), (304, ""), "{path} with {known}");
            assert_eq!(answer.headers["etag"], tag, "{path}");
        }
        let operator = server.token(Role::Operator, None, None);
        let ask = server.call(&operator, "POST", "/api/v1/studies/film/ask", Some(&json!({})));
        assert_eq!(ask.status, 200, "{ask:?}");
        let answer = get(path, &tag);
        assert!(answer.status == 200 && answer.headers["etag"] != tag, "{path} has changed: {answer:?}");
    }
}

#[test]
fn a_request_with_the_same_key_is_performed_once() {
    let server = Running::with_users(|_| ());
    let [one, other] = ["one", "other"].map(|name| {
        let (mut ledger, mut log) = optimist_server::Ledger::open(&server.storage).unwrap();
        ledger.create_token(&mut *log, Some(name), (Role::Operator, None), None, None).unwrap().1
    });
    let ask = |token: &str, key: &str, body: Value| {
        let bearer = format!("Bearer {token}");
        let headers = [("Authorization", bearer.as_str()), ("Idempotency-Key", key)];
        server.ask("POST", "/api/v1/studies/film/ask", &headers, Some(&body))
    };
    let trial = |answer: &Answer| answer.json()["trials"][0]["trial"].clone();
    let first = ask(&one, "k-1", json!({}));
    assert_eq!(trial(&first), 3);
    assert_eq!(ask(&one, "k-1", json!({})).body, first.body, "again");
    assert_eq!(ask(&one, "k-1", json!({ "n": 2 })).status, 422, "the key of another request");
    assert_eq!(trial(&ask(&one, "k-2", json!({}))), 4, "another key");
    assert_eq!(trial(&ask(&other, "k-1", json!({}))), 5, "the same word of somebody else");
    for bad in ["", "a b", &"k".repeat(201)] {
        assert_eq!(ask(&one, bad, json!({})).status, 400, "{bad:?}");
    }
    let trials = server.call(&one, "GET", "/api/v1/studies/film/trials", None).json();
    assert_eq!(trials["of"], 6);
}

/// A stream of events.
struct Events {
    stream: TcpStream,
    text: String,
}

impl Events {
    fn open(server: &Running, token: &str, query: &str, headers: &str) -> Self {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let head = format!(
            "GET /api/v1/studies/film/events{query} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n{headers}\r\n",
            server.address
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut events = Self { stream, text: String::new() };
        events.read_until(|text| text.contains("\r\n\r\n"));
        events
    }

    fn read_until(&mut self, is_enough: impl Fn(&str) -> bool) {
        let mut piece = [0; 4096];
        while !is_enough(&self.text) {
            let n = self.stream.read(&mut piece).expect("an event comes");
            assert!(n > 0, "the stream ended: {}", self.text);
            self.text.push_str(&String::from_utf8_lossy(&piece[..n]));
        }
    }

    /// The ids of the first events.
    fn ids(&mut self, n: usize) -> Vec<u64> {
        let ids = |text: &str| -> Vec<u64> {
            text.lines().filter_map(|line| line.strip_prefix("id:")?.trim().parse().ok()).collect()
        };
        self.read_until(|text| ids(text).len() >= n && text.ends_with("\r\n"));
        ids(&self.text)
    }
}

#[test]
fn events_resume_after_the_record_that_a_client_saw_last() {
    let server = Running::with_users(|_| ());
    let worker = server.token(Role::Worker, Some("film"), None);
    let mut resumed = Events::open(&server, &worker, "", "Last-Event-ID: 2\r\n");
    assert!(resumed.text.contains("text/event-stream"), "{}", resumed.text);
    assert_eq!(resumed.ids(4), [3, 4, 5, 6]);
    let mut both = Events::open(&server, &worker, "?after=1", "Last-Event-ID: 5\r\n");
    assert_eq!(both.ids(1), [6], "browsers reconnect with the address they had");
    let mut after = Events::open(&server, &worker, "?after=4", "");
    assert_eq!(after.ids(2), [5, 6]);
    let mut new = Events::open(&server, &worker, "", "");
    let path = "/api/v1/studies/film/trials/2/tell";
    assert_eq!(server.call(&worker, "POST", path, Some(&json!({ "value": 2.5 }))).status, 200);
    assert_eq!(new.ids(1), [7], "only what is new");
    assert!(new.text.contains("event: record") && new.text.contains("\"told\""), "{}", new.text);
    assert_eq!(resumed.ids(5), [3, 4, 5, 6, 7]);
    // Whoever stops the server does not wait for those who listen.
    drop(server);
    let mut rest = Vec::new();
    assert!(new.stream.read_to_end(&mut rest).is_ok(), "the stream is closed");
}

#[test]
fn metrics_count_requests_and_trials() {
    let server = Running::with_users(|_| ());
    let viewer = server.token(Role::Viewer, None, None);
    (0..3).for_each(|_| drop(server.call(&viewer, "GET", "/api/v1/studies/none", None)));
    let page = server.call(&viewer, "GET", "/metrics", None);
    assert!(page.headers["content-type"].starts_with("text/plain; version=0.0.4"), "{page:?}");
    for line in [
        "optimist_requests_total{method=\"GET\",status=\"404\"} 3",
        "optimist_trials{study=\"film\",state=\"complete\"} 1",
        "optimist_trials{study=\"film\",state=\"failed\"} 1",
        "optimist_trials{study=\"film\",state=\"running\"} 1",
    ] {
        assert!(page.body.lines().any(|known| known == line), "{line} in\n{}", page.body);
    }
}
