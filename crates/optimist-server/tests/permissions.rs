//! Every route, for every role, for sessions and tokens, and for nobody: a table that is made from the OpenAPI document, so that a new
//! route cannot be forgotten.

mod common;

use common::Running;
use optimist_server::Role;
use serde_json::{Value, json};

/// The operations of the document: method, path, what they need, and whether a body is sent.
fn operations(server: &Running, token: &str) -> Vec<(String, String, Vec<String>, bool)> {
    let document = server.call(token, "GET", "/api/v1/openapi.json", None).json();
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let needs: Vec<String> = serde_json::from_value(operation["x-needs"].clone()).unwrap();
            let has_body = operation.get("requestBody").is_some();
            operations.push((method.to_uppercase(), path.clone(), needs, has_body));
        }
    }
    assert!(operations.len() > 30, "{operations:?}");
    operations
}

/// An address of the route in which nothing is there, so that asking changes nothing; the study is, as permissions are looked at first.
fn address(path: &str, study: &str) -> String {
    let filled = path.replace("{study}", study).replace("{trial}", "99999").replace("{log}", "99999");
    filled.replace("{kind}", "none").replace("{user}", "nobody").replace("{token}", "none")
}

/// A body that no route takes: whoever may send it is told so.
fn nonsense() -> Value {
    json!({ "this is": "nonsense" })
}

#[test]
fn every_route_lets_in_the_roles_that_it_names_and_nobody_else() {
    let server = Running::with_users(|_| ());
    let admin = server.token(Role::Admin, None, None);
    for (method, path, needs, has_body) in operations(&server, &admin) {
        let body = has_body.then(nonsense);
        let address = address(&path, "film");
        let place = format!("{method} {address}");
        if !path.ends_with("/events") {
            for role in Role::ALL {
                let token = server.token(role, None, None);
                let status = server.call(&token, &method, &address, body.as_ref()).status;
                let is_in = needs.iter().any(|need| need == role.word());
                assert_eq!(status != 403, is_in, "{place} as {role:?}: {status}");
                assert!(status != 401 && status < 500, "{place} as {role:?}: {status}");
            }
        }
        for headers in [
            &[][..],
            &[("Authorization", "Bearer opt_0000")],
            &[("Authorization", "Basic YWRtaW46Y29ycmVjdA==")],
            &[("Authorization", "Bearer ")],
            &[("Cookie", "optimist-0=0000; __Host-optimist=0000")],
        ] {
            let answer = server.ask(&method, &address, headers, body.as_ref());
            assert_eq!(answer.status, 401, "{place} with {headers:?}: {answer:?}");
            assert_eq!(answer.headers["www-authenticate"], "Bearer", "{place}");
            assert!(!answer.body.contains("film"), "{answer:?}");
        }
    }
}

#[test]
fn a_token_for_one_study_sees_no_other() {
    let server = Running::with_users(|_| ());
    let admin = server.token(Role::Admin, None, None);
    for role in Role::ALL {
        let token = server.token(role, Some("other"), None);
        for (method, path, _, has_body) in operations(&server, &admin) {
            let answer =
                server.call(&token, &method, &address(&path, "film"), has_body.then(nonsense).as_ref());
            if path.contains("{study}") {
                assert_eq!(answer.status, 404, "{method} {path} as {role:?}: {answer:?}");
            }
        }
        let listed = server.call(&token, "GET", "/api/v1/studies", None);
        assert_eq!(listed.json()["studies"], json!([]));
        assert_eq!(server.call(&token, "GET", "/api/v1/logs", None).json()["logs"], json!([]));
        assert!(!server.call(&token, "GET", "/metrics", None).body.contains("film"));
        let all = server.call(&admin, "GET", "/api/v1/logs", None).json();
        let id = all["logs"][0]["id"].as_i64().unwrap();
        let read = server.call(&token, "GET", &format!("/api/v1/logs/{id}/records"), None);
        assert_eq!(read.json()["records"], json!([]));
        for path in ["/api/v1/users", "/api/v1/tokens"] {
            assert_eq!(server.call(&token, "GET", path, None).status, 403, "{path} as {role:?}");
        }
    }
}

#[test]
fn the_accounts_are_no_study() {
    let server = Running::with_users(|_| ());
    let admin = server.token(Role::Admin, None, None);
    let get = |path: &str| server.call(&admin, "GET", path, None);
    assert!(!get("/api/v1/studies").body.contains("accounts"));
    assert!(!get("/api/v1/logs").body.contains("accounts"));
    assert_eq!(get("/api/v1/studies/optimist%3Aaccounts").status, 404);
    for id in 0..5 {
        let read = get(&format!("/api/v1/logs/{id}/records"));
        assert!(!read.body.contains("argon2"), "{read:?}");
        let body = json!({ "head": 3, "bodies": ["{}"] });
        let append = server.call(&admin, "POST", &format!("/api/v1/logs/{id}/records"), Some(&body));
        assert!(append.status >= 400 || append.json()["outcome"] != "stored", "{append:?}");
    }
    let create =
        server.call(&admin, "POST", "/api/v1/logs", Some(&json!({ "name": "optimist:x", "first": "one" })));
    assert_eq!(create.status, 422, "{create:?}");
}

/// What forms of the pages do.
const ACTIONS: [&str; 13] = [
    "pause",
    "resume",
    "stop",
    "trials",
    "retry",
    "cancel",
    "enqueue",
    "enqueue-again",
    "note",
    "amend",
    "ask",
    "tell",
    "undo",
];

#[test]
fn forms_are_for_those_who_may_operate() {
    let server = Running::with_users(|_| ());
    let origin = server.origin();
    let mut head = None;
    // The admin comes last: what they send is done.
    for (user, is_in) in [("viewer", false), ("admin", true)] {
        let cookie = server.log_in(user);
        let csrf = optimist_server::csrf(cookie.split_once('=').unwrap().1);
        let admin = server.token(Role::Admin, None, None);
        let records =
            || server.call(&admin, "GET", "/api/v1/studies/film/records", None).json()["head"].clone();
        for action in ACTIONS {
            let path = format!("/studies/film/do/{action}");
            let form = format!("csrf={csrf}&trial=99999&trials=7&count=1&text=x");
            let without = server.form(&path, Some(&origin), &[("Cookie", &cookie)], "trial=99999");
            assert_eq!(without.status, 403, "{action} without the token: {without:?}");
            let answer = server.form(&path, Some(&origin), &[("Cookie", &cookie)], &form);
            assert_eq!(answer.status != 403, is_in, "{action} as {user}: {answer:?}");
            assert!(answer.status < 500, "{action} as {user}: {answer:?}");
        }
        if !is_in {
            head = Some(records());
        } else {
            assert_ne!(head, Some(records()), "an operator's forms do something");
        }
    }
    assert_eq!(head, Some(json!(6)), "a viewer has changed nothing");
    let unknown = server.form("/studies/film/do/pause", Some(&origin), &[], "");
    assert_eq!(unknown.status, 401, "{unknown:?}");
}

#[test]
fn pages_of_other_studies_are_not_there_for_a_token_of_one() {
    let server = Running::with_users(|_| ());
    let [own, other] = ["film", "other"].map(|study| server.token(Role::Operator, Some(study), None));
    for page in [
        "",
        "/trials",
        "/trials.csv",
        "/trials/0",
        "/analysis",
        "/plots/history.svg",
        "/laboratory",
        "/laboratory/sheet",
        "/manage",
    ] {
        let path = format!("/studies/film{page}");
        assert_eq!(server.call(&own, "GET", &path, None).status, 200, "{path}");
        let answer = server.call(&other, "GET", &path, None);
        assert!(answer.status == 404 && !answer.body.contains("melted"), "{path}: {answer:?}");
    }
    for action in ACTIONS {
        let headers = [("Authorization", &format!("Bearer {other}")[..])];
        let answer = server.form(&format!("/studies/film/do/{action}"), None, &headers, "trials=7&count=1");
        assert_eq!(answer.status, 404, "{action}: {answer:?}");
    }
    let list = server.call(&other, "GET", "/", None);
    assert!(list.status == 200 && !list.body.contains("film"), "{list:?}");
    let compared = server.call(&other, "GET", "/compare?study=film", None);
    assert!(!compared.body.contains("/studies/film"), "{compared:?}");
}

#[test]
fn pages_and_other_addresses_are_for_those_who_are_known() {
    let server = Running::with_users(|_| ());
    for path in ["/", "/studies/film", "/metrics", "/api", "/api/v1", "/nothing", "/%2e%2e/%2e%2e/etc/passwd"]
    {
        let answer = server.ask("GET", path, &[], None);
        assert_eq!(answer.status, 401, "{path}: {answer:?}");
        let answer = server.ask("GET", path, &[("Accept", "text/html")], None);
        assert!(matches!(answer.status, 303 | 401), "{path}: {answer:?}");
        let live = server.ask("GET", path, &[("Accept", "text/html"), ("X-Live", "1")], None);
        assert_eq!(live.status, 401, "scripts are told: {live:?}");
    }
    let health = server.ask("GET", "/healthz", &[], None);
    assert_eq!((health.status, &health.body[..]), (200, "ok\n"));
    for path in
        ["/assets/../../etc/passwd", "/assets/%2e%2e/%2e%2e/Cargo.toml", "/assets/..%2f..%2fCargo.toml"]
    {
        let answer = server.ask("GET", path, &[], None);
        assert!(answer.status >= 400 && !answer.body.contains("root:"), "{path}: {answer:?}");
    }
}
