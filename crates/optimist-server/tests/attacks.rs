//! What an attacker would try.

mod common;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use common::{PASSWORD, Running};
use optimist_server::{Ledger, Role, ServeError, Server, Settings};
use optimist_study::Storage;
use serde_json::json;

fn pause() -> serde_json::Value {
    json!({ "course": "paused" })
}

const PLAN: &str = "/api/v1/studies/film/plan";

#[test]
fn a_local_server_lets_in_whoever_has_the_link_and_nobody_else() {
    let server = Running::local(|_| ());
    let token = server.local.clone().unwrap();
    assert_eq!(server.ask("GET", "/api/v1/studies", &[], None).status, 401);
    assert_eq!(server.call(&token, "GET", "/api/v1/studies", None).status, 200);
    assert_eq!(server.ask("GET", "/login?token=0000", &[], None).status, 401);
    let entered = server.ask("GET", &format!("/login?token={token}"), &[], None);
    assert_eq!((entered.status, entered.headers["location"].as_str()), (303, "/"));
    let set = &entered.headers["set-cookie"];
    assert!(set.contains("HttpOnly") && set.contains("SameSite=Strict") && !set.contains(&token), "{set}");
    let cookie = entered.cookie();
    assert_eq!(server.ask("GET", "/api/v1/me", &[("Cookie", &cookie)], None).json()["role"], "admin");
    // The first user ends that.
    let (mut ledger, mut log) = Ledger::open(&server.storage).unwrap();
    ledger.add_user(&mut *log, "anna", Role::Admin, PASSWORD, None).unwrap();
    std::thread::sleep(Duration::from_millis(1100)); // accounts are looked for once a second
    assert_eq!(server.call(&token, "GET", "/api/v1/studies", None).status, 401);
    assert_eq!(server.ask("GET", "/api/v1/me", &[("Cookie", &cookie)], None).status, 401);
}

#[test]
fn a_server_that_others_can_reach_needs_users_and_tls() {
    let settings = || Settings { listen: "0.0.0.0:0".parse().unwrap(), ..Settings::new(Storage::memory()) };
    assert!(matches!(Server::bind(settings()), Err(ServeError::NoTls { .. })));
    let insecure = Settings { insecure: true, ..settings() };
    assert!(matches!(Server::bind(insecure), Err(ServeError::NoUsers { .. })));
    let behind = Settings { proxies: vec!["10.0.0.1".parse().unwrap()], ..settings() };
    assert!(matches!(Server::bind(behind), Err(ServeError::NoUsers { .. })));
}

#[test]
fn another_site_cannot_change_anything_with_the_cookie_of_a_visitor() {
    let server = Running::with_users(|_| ());
    let cookie = server.log_in("admin");
    let origin = server.origin();
    let body = pause();
    let csrf = csrf(&cookie);
    let send = |headers: &[(&str, &str)]| {
        let headers: Vec<_> =
            [("Cookie", cookie.as_str())].into_iter().chain(headers.iter().copied()).collect();
        server.ask("PATCH", PLAN, &headers, Some(&body)).status
    };
    let own = ("Origin", origin.as_str());
    let with_token = ("X-CSRF-Token", csrf.as_str());
    assert_eq!(send(&[]), 403);
    assert_eq!(send(&[own]), 403, "without the token");
    assert_eq!(send(&[with_token]), 403, "without an origin");
    assert_eq!(send(&[own, ("X-CSRF-Token", "0000")]), 403);
    for foreign in [
        "http://evil.example",
        "null",
        "https://127.0.0.1",
        "http://127.0.0.1:1",
        "http://127.0.0.1.evil.example",
    ] {
        assert_eq!(send(&[("Origin", foreign), with_token]), 403, "{foreign}");
    }
    assert_eq!(send(&[own, ("Origin", "http://evil.example"), with_token]), 403, "two origins");
    assert_eq!(send(&[own, with_token]), 200);
    let foreign =
        server.form("/login", Some("http://evil.example"), &[], "user=admin&password=correct+horse");
    assert_eq!(foreign.status, 403, "nobody is logged in by another site");
    let out = server.form("/logout", Some(&origin), &[("Cookie", &cookie)], "");
    assert_eq!(out.status, 403, "nor logged out");
}

/// What a page of ours has in its forms.
fn csrf(cookie: &str) -> String {
    let session = cookie.split_once('=').unwrap().1;
    optimist_server::csrf(session)
}

#[test]
fn a_name_that_suddenly_leads_here_is_refused() {
    let server = Running::local(|_| ());
    let token = format!("Bearer {}", server.local.clone().unwrap());
    let status = |host: &str| {
        server.ask("GET", "/api/v1/studies", &[("Host", host), ("Authorization", &token)], None).status
    };
    for host in ["127.0.0.1", "localhost", "localhost:8150", "[::1]:8150", "127.0.0.1:9"] {
        assert_eq!(status(host), 200, "{host}");
    }
    for host in
        ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8150", "10.0.0.1", "", "a b"]
    {
        assert!(matches!(status(host), 400 | 421), "{host}: {}", status(host));
    }
    let twice = format!(
        "GET /api/v1/studies HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\nAuthorization: {token}\r\nConnection: close\r\n\r\n"
    );
    assert_eq!(server.send(&twice).status, 421);
    let named = Running::local(|settings| settings.hosts = vec!["lab.example".to_owned()]);
    let token = format!("Bearer {}", named.local.clone().unwrap());
    let host = [("Host", "LAB.example:8150"), ("Authorization", token.as_str())];
    assert_eq!(named.ask("GET", "/api/v1/studies", &host, None).status, 200);
}

#[test]
fn only_a_named_proxy_is_believed() {
    let attack = |server: &Running| {
        let token = format!("Bearer {}", server.local.clone().unwrap());
        let headers =
            [("Host", "127.0.0.1"), ("X-Forwarded-Host", "lab.example"), ("Authorization", token.as_str())];
        server.ask("GET", "/api/v1/studies", &headers, None).status
    };
    let plain = Running::local(|settings| settings.hosts = vec!["lab.example".to_owned()]);
    assert_eq!(attack(&plain), 200, "the header says nothing here");
    let behind = Running::local(|settings| settings.proxies = vec!["127.0.0.1".parse().unwrap()]);
    assert_eq!(attack(&behind), 421, "the proxy was asked for another host");
}

#[test]
fn a_named_proxy_says_how_and_from_where_it_was_asked() {
    let log_in = |server: &Running, client: &str, password: &str| {
        let headers = [("X-Forwarded-For", client), ("X-Forwarded-Proto", "https")];
        let origin = format!("https://{}", server.address);
        server.form("/login", Some(&origin), &headers, &format!("user=admin&password={password}"))
    };
    let plain = Running::with_users(|_| ());
    assert_eq!(log_in(&plain, "10.0.0.1", "correct+horse").status, 403, "its pages are not https");
    let behind = Running::with_users(|settings| settings.proxies = vec!["127.0.0.1".parse().unwrap()]);
    let entered = log_in(&behind, "10.0.0.1", "correct+horse");
    assert_eq!(entered.status, 303, "{entered:?}");
    let set = &entered.headers["set-cookie"];
    assert!(set.starts_with("__Host-optimist=") && set.contains("; Secure"), "{set}");
    // Pauses are those of the client, whatever it claims itself: the proxy's own word is the last.
    for n in 0..3 {
        assert_eq!(log_in(&behind, &format!("10.9.9.{n}, 10.0.0.2"), "wrong+horse").status, 401);
    }
    assert_eq!(log_in(&behind, "10.9.9.9, 10.0.0.2", "correct+horse").status, 429);
    assert_eq!(log_in(&behind, "10.0.0.3", "correct+horse").status, 303);
}

#[test]
fn too_much_and_too_slow_is_refused() {
    let server = Running::with_users(|_| ());
    let admin = server.token(Role::Admin, None, None);
    let large = format!(
        "POST /api/v1/studies/film/trials/2/tell HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {admin}\r\n\
         Content-Type: application/json\r\nContent-Length: 5000000\r\n\r\n"
    );
    assert_eq!(server.send(&large).status, 413);
    let claims = "POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://127.0.0.1\r\nContent-Length: 99999999999\r\n\r\n";
    assert_eq!(server.send(claims).status, 413);
    let endless = format!("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: {}\r\n\r\n", "y".repeat(1 << 20));
    assert!(matches!(server.send(&endless).status, 0 | 400 | 431));
    let many: String = (0..500).map(|n| format!("X-{n}: y\r\n")).collect();
    assert!(matches!(
        server.send(&format!("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n{many}\r\n")).status,
        0 | 400 | 431
    ));
    // A head that never ends is hung up on, and keeps nobody else from being answered.
    let slow: Vec<TcpStream> = (0..50)
        .map(|_| {
            let mut stream = TcpStream::connect(server.address).unwrap();
            stream.write_all(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ").unwrap();
            stream
        })
        .collect();
    assert_eq!(server.ask("GET", "/healthz", &[], None).status, 200);
    for mut stream in slow {
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut rest = Vec::new();
        assert!(stream.read_to_end(&mut rest).is_ok(), "it was not hung up on");
    }
}

#[test]
fn a_body_that_never_ends_is_given_up() {
    let server = Running::with_users(|settings| settings.body_timeout = Duration::from_millis(300));
    let admin = server.token(Role::Admin, None, None);
    let head = format!(
        "POST /api/v1/studies/film/trials/2/tell HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {admin}\r\n\
         Connection: close\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n{{\"value\""
    );
    let slow = server.send(&head);
    assert!(slow.status == 408 && slow.body.contains("did not arrive within 0.3 s"), "{slow:?}");
    let trial = server.call(&admin, "GET", "/api/v1/studies/film/trials/2", None).json();
    assert_eq!(trial["state"], "running", "nothing of it counts");
}

#[test]
fn nothing_that_was_sent_becomes_a_header() {
    let server = Running::with_users(|_| ());
    let admin = server.token(Role::Admin, None, None);
    for path in [
        "/api/v1/studies/a%0d%0aSet-Cookie:%20x=y",
        "/login?token=a%0d%0aSet-Cookie:%20x=y",
        "/api/v1/studies/film/plots/a%0d%0aX-Evil:%20y",
    ] {
        let answer = server.call(&admin, "GET", path, None);
        assert!(
            !answer.headers.contains_key("x-evil") && !answer.headers.contains_key("set-cookie"),
            "{answer:?}"
        );
    }
    let smuggled = "POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    assert!(matches!(server.send(smuggled).status, 0 | 400 | 403));
}

#[test]
fn every_answer_tells_browsers_to_run_nothing_of_others() {
    let server = Running::with_users(|_| ());
    for path in ["/", "/login", "/healthz", "/api/v1/studies", "/nothing"] {
        let answer = server.ask("GET", path, &[("Origin", "http://evil.example")], None);
        let policy = &answer.headers["content-security-policy"];
        assert!(policy.contains("script-src 'self'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.headers["x-content-type-options"], "nosniff");
        assert_eq!(answer.headers["x-frame-options"], "DENY");
        assert_eq!(answer.headers["cache-control"], "no-store");
        assert!(!answer.headers.keys().any(|name| name.starts_with("access-control")), "{answer:?}");
    }
}

#[test]
fn a_session_that_somebody_planted_is_worth_nothing() {
    let server = Running::with_users(|_| ());
    let port = server.address.port();
    let planted = format!("optimist-{port}={}; optimist-0={}", "a".repeat(64), "a".repeat(64));
    let form = "user=admin&password=correct+horse";
    let entered = server.form("/login", Some(&server.origin()), &[("Cookie", &planted)], form);
    assert!(!entered.cookie().contains("aaaa"), "{entered:?}");
    assert_eq!(server.ask("GET", "/api/v1/me", &[("Cookie", &planted)], None).status, 401);
    assert_ne!(server.log_in("admin"), server.log_in("admin"), "each has its own");
}

#[test]
fn logging_in_leads_to_the_page_that_was_asked_for_and_to_no_other_site() {
    let server = Running::with_users(|_| ());
    let page = "/studies/film/trials?filter=state%3Dfailed";
    let asked = server.ask("GET", page, &[("Accept", "text/html")], None);
    let login = &asked.headers["location"];
    assert_eq!(login, "/login?next=%2Fstudies%2Ffilm%2Ftrials%3Ffilter%3Dstate%253Dfailed");
    let form = server.ask("GET", login, &[], None).body;
    assert!(form.contains(&format!("name=\"next\" value=\"{page}\"")), "{form}");
    let log_in = |next: &str| {
        let form = format!("user=admin&password=correct+horse&next={next}");
        server.form("/login", Some(&server.origin()), &[], &form).headers["location"].clone()
    };
    assert_eq!(log_in("%2Fstudies%2Ffilm%2Ftrials%3Ffilter%3Dstate%253Dfailed"), page);
    for elsewhere in [
        "//evil.example",
        "https://evil.example",
        "/\\evil.example",
        "/logout",
        "javascript:1",
        "/studies/%0d%0aX:y",
    ] {
        assert_eq!(log_in(elsewhere), "/", "{elsewhere}");
        let form = server.ask("GET", &format!("/login?next={elsewhere}"), &[], None).body;
        assert!(!form.contains("name=\"next\"") && !form.contains("Continue"), "{elsewhere}: {form}");
    }
}

#[test]
fn sessions_end_when_they_are_not_used_and_when_they_are_old() {
    let ends = |idle: u64, lasts: u64| {
        let server = Running::with_users(|settings| {
            settings.session_idle = Duration::from_millis(idle);
            settings.session_lasts = Duration::from_millis(lasts);
        });
        let cookie = server.log_in("viewer");
        let me = || server.ask("GET", "/api/v1/me", &[("Cookie", &cookie)], None).status;
        let first = me();
        std::thread::sleep(Duration::from_millis(2500));
        (first, me())
    };
    assert_eq!(ends(2000, 3_600_000), (200, 401));
    assert_eq!(ends(3_600_000, 2000), (200, 401));
    assert_eq!(ends(3_600_000, 3_600_000), (200, 200));
}

#[test]
fn what_has_ended_cannot_be_used_again() {
    let server = Running::with_users(|_| ());
    let cookie = server.log_in("admin");
    let me = |cookie: &str| server.ask("GET", "/api/v1/me", &[("Cookie", cookie)], None).status;
    assert_eq!(me(&cookie), 200);
    let form = format!("csrf={}", csrf(&cookie));
    let out = server.form("/logout", Some(&server.origin()), &[("Cookie", &cookie)], &form);
    assert!(out.status == 303 && out.headers["set-cookie"].contains("Max-Age=0"), "{out:?}");
    assert_eq!(me(&cookie), 401, "a cookie after logging out");

    let other = server.log_in("viewer");
    let (mut ledger, mut log) = Ledger::open(&server.storage).unwrap();
    ledger.change_password(&mut *log, "viewer", "another password", None).unwrap();
    assert_eq!(me(&other), 401, "a session from before the password was changed");
    let third = server.log_in("operator");
    ledger.remove_user(&mut *log, "operator", None).unwrap();
    assert_eq!(me(&third), 401, "a session of somebody who was removed");

    let (id, token) = ledger.create_token(&mut *log, None, (Role::Viewer, None), None, None).unwrap();
    assert_eq!(server.call(&token, "GET", "/api/v1/me", None).status, 200);
    ledger.revoke_token(&mut *log, &id, None).unwrap();
    assert_eq!(server.call(&token, "GET", "/api/v1/me", None).status, 401, "a token that was revoked");
    let short = server.token(Role::Viewer, None, Some(Duration::from_millis(1)));
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(server.call(&short, "GET", "/api/v1/me", None).status, 401, "a token that has ended");
}

#[test]
fn a_thousand_wrong_passwords_find_nothing() {
    let server = Running::with_users(|_| ());
    let try_password = |password: &str| {
        let form = format!("user=admin&password={password}");
        server.form("/login", Some(&server.origin()), &[], &form)
    };
    let mut statuses = std::collections::BTreeMap::new();
    for n in 0..1000 {
        *statuses.entry(try_password(&format!("wrong+password+{n}")).status).or_insert(0) += 1;
    }
    let refused = statuses.remove(&429).unwrap_or(0);
    assert!(refused >= 950 && statuses.keys().all(|status| *status == 401), "{refused} {statuses:?}");
    let right = try_password("correct+horse");
    assert_eq!(right.status, 429, "not even the right one, for now");
    assert!(right.headers["retry-after"].parse::<u64>().unwrap() > 0);
    let elsewhere = server.log_in("viewer");
    assert!(!elsewhere.is_empty(), "others are not locked out");
}

#[test]
fn a_wrong_name_and_a_wrong_password_look_alike() {
    let server = Running::with_users(|_| ());
    let answers = ["user=nobody&password=wrong+password", "user=admin&password=wrong+password"]
        .map(|form| server.form("/login", Some(&server.origin()), &[], form));
    assert_eq!((answers[0].status, &answers[0].body), (answers[1].status, &answers[1].body));
    assert_eq!(answers[0].status, 401);
}

#[test]
fn no_command_comes_over_http() {
    let command = json!({ "command": ["sh", "-c", "touch /tmp/owned"] });
    let table = json!({
        "name": "evil", "direction": "maximize", "objective": command,
        "parameters": { "x": { "type": "float", "low": 0.0, "high": 1.0 } },
    });
    let server = Running::with_users(|settings| {
        settings.commands = vec![vec!["python".to_owned(), "train.py".to_owned()]]
    });
    let admin = server.token(Role::Admin, None, None);
    let create = |body: &serde_json::Value| server.call(&admin, "POST", "/api/v1/studies", Some(body));
    let refused = create(&table);
    assert!(refused.status == 403 && refused.body.contains("--allow-command"), "{refused:?}");
    let toml = "name = 'evil'\ndirection = 'maximize'\nobjective.command = ['sh']\nparameters.x = { type = 'float', low = 0, high = 1 }";
    assert_eq!(create(&json!({ "toml": toml })).status, 403);
    let mut allowed = table.clone();
    allowed["objective"]["command"] = json!(["python", "train.py"]);
    allowed["name"] = json!("trained");
    assert_eq!(create(&allowed).status, 201);
    // Nor as records: neither in the first, nor in a changed plan.
    let exported = server.call(&admin, "GET", "/api/v1/studies/trained/export", None).body;
    let first = exported.lines().next().unwrap();
    let renamed = first.replace("\"trained\"", "\"evil\"");
    let body = json!({ "name": "evil", "first": renamed.replace("train.py", "-c") });
    assert_eq!(server.call(&admin, "POST", "/api/v1/logs", Some(&body)).status, 403);
    let logs = server.call(&admin, "GET", "/api/v1/logs", None).json();
    let id = logs["logs"].as_array().unwrap().iter().find(|log| log["name"] == "film").unwrap()["id"].clone();
    let plan = |command: &[&str]| {
        let objective = json!({ "command": command, "mode": "once", "timeout": null, "folder": "/tmp" });
        let event = json!({ "changed": { "plan": { "trials": 5, "objective": objective } } });
        let record = json!({ "v": 1, "seq": 7, "at": 0, "event": event }).to_string();
        let body = json!({ "head": 6, "bodies": [record] });
        server.call(&admin, "POST", &format!("/api/v1/logs/{id}/records"), Some(&body))
    };
    let refused = plan(&["sh", "-c", "id"]);
    assert!(refused.status == 403 && refused.body.contains("command"), "{refused:?}");
    assert_eq!(plan(&["python", "train.py"]).json()["outcome"], "stored");
    let twice = r#"{"v":1,"seq":8,"at":0,"event":{"changed":{"plan":{"trials":5}}},"event":{"changed":{"plan":{"trials":5}}}}"#;
    let body = json!({ "head": 7, "bodies": [twice] });
    let answer = server.call(&admin, "POST", &format!("/api/v1/logs/{id}/records"), Some(&body));
    assert!(answer.status >= 400, "a record that says something twice: {answer:?}");
}

#[test]
fn a_worker_appends_what_workers_do_and_nothing_else() {
    let server = Running::with_users(|_| ());
    let (worker, viewer) =
        (server.token(Role::Worker, Some("film"), None), server.token(Role::Viewer, None, None));
    let logs = server.call(&worker, "GET", "/api/v1/logs", None).json();
    let path = format!("/api/v1/logs/{}/records", logs["logs"][0]["id"]);
    let send = |token: &str, event: serde_json::Value| {
        let record = json!({ "v": 2, "seq": 7, "at": 0, "by": "admin", "event": event }).to_string();
        server.call(token, "POST", &path, Some(&json!({ "head": 6, "bodies": [record] })))
    };
    let told = json!({ "told": { "trial": 2, "measured": { "value": 2.0 } } });
    assert_eq!(send(&viewer, told.clone()).status, 403);
    for forbidden in [
        json!({ "cancelled": { "trial": 2 } }),
        json!({ "changed": { "plan": { "trials": 7 } } }),
        json!({ "enqueued": { "params": { "x": 0.5, "k": "a" } } }),
        json!({ "amended": { "trial": 0, "outcome": { "measured": { "value": 9.0 } } } }),
    ] {
        assert_eq!(send(&worker, forbidden.clone()).status, 403, "{forbidden}");
    }
    for broken in [
        json!({ "told": { "trial": 99, "measured": { "value": 2.0 } } }),
        json!({ "asked": { "trial": 77, "params": { "x": 0.5, "k": "a" }, "source": "enqueued" } }),
        json!({ "teleported": {} }),
    ] {
        let answer = send(&worker, broken.clone());
        assert!(matches!(answer.status, 422), "{broken}: {answer:?}");
    }
    let text = server.call(&worker, "POST", &path, Some(&json!({ "head": 6, "bodies": ["no record"] })));
    assert_eq!(text.status, 422, "{text:?}");
    assert_eq!(send(&worker, told).json()["outcome"], "stored");
    let records = server.call(&worker, "GET", "/api/v1/studies/film/records?after=6", None).json();
    assert_eq!(records["records"][0]["by"], "worker", "who wanted it cannot be made up");
}
