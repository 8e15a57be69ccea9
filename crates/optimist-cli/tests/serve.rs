//! `optimist serve`, `user` and `token`, and the commands with a server as their storage.

mod common;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};

use common::{Folder, Output};
use rustix::process::{Pid, Signal, kill_process};

const STUDY: &str = r#"
name = "film"
direction = "maximize"
trials = 6
optimizer = { name = "random" }
objective = { command = ["sh", "-c", "echo {x}"] }
parameters.x = { type = "float", low = 0.0, high = 1.0 }
"#;

/// A server of `lab.db` in the folder.
struct Serving {
    process: Child,
    address: String,
}

impl Serving {
    fn new(folder: &Folder, options: &[&str]) -> Self {
        let args = [&["serve", "--listen", "127.0.0.1:0", "--storage", "lab.db"], options].concat();
        let mut process =
            folder.optimist(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.split_whitespace().find(|word| word.starts_with("http"));
        let address = address.unwrap_or_else(|| panic!("no address in {line:?}"));
        let end = address[8..].find('/').map_or(address.len(), |end| end + 8);
        Self { address: address[..end].to_owned(), process }
    }

    /// Ends it as systemd does: its exit status, and what it said.
    fn stop(self) -> (Option<i32>, String) {
        let pid = Pid::from_raw(i32::try_from(self.process.id()).unwrap()).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
        let output = self.process.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    }
}

fn token(folder: &Folder, words: &[&str]) -> String {
    let args = [&["token", "create", "--storage", "lab.db"], words].concat();
    folder.run(&args).expect_code(0).stdout.trim().to_owned()
}

fn with(folder: &Folder, token: &str, args: &[&str], server: &Serving) -> Output {
    let args = [args, &["--storage", &server.address]].concat();
    Output::of(folder.optimist(&args).env("OPTIMIST_TOKEN", token))
}

#[test]
fn a_study_goes_through_a_server_and_its_command_stays_at_home() {
    let folder = Folder::new();
    folder.write("film.toml", STUDY);
    let admin = token(&folder, &["--role", "admin", "--name", "boss"]);
    let worker = token(&folder, &["--role", "worker", "--study", "film", "--expires", "1h"]);
    let server = Serving::new(&folder, &["--log", "json"]);
    with(&folder, &admin, &["create", "film.toml"], &server).expect_code(0);
    let here = folder.run(&["show", "film", "--json", "--storage", "lab.db"]).expect_code(0).stdout;
    assert!(here.contains(r#""objective":null"#), "{here}");
    let refused = with(&folder, &worker, &["worker", "film"], &server).expect_code(1);
    assert!(refused.stderr.contains("--file study.toml"), "{}", refused.stderr);
    with(&folder, &worker, &["worker", "film", "--file", "film.toml"], &server).expect_code(0);
    let best = with(&folder, &worker, &["best", "film", "--json"], &server).expect_code(0);
    assert!(best.stdout.contains("\"value\""), "{}", best.stdout);
    let refused = with(&folder, &worker, &["delete", "film", "--yes"], &server).expect_code(1);
    assert!(refused.stderr.contains("one study only"), "{}", refused.stderr);
    let unknown = with(&folder, "opt_0", &["list"], &server).expect_code(1);
    assert!(unknown.stderr.contains("OPTIMIST_TOKEN"), "{}", unknown.stderr);
    with(&folder, &admin, &["verify", "film"], &server).expect_code(0);
    let doctor = with(&folder, &admin, &["doctor"], &server).expect_code(0);
    assert!(doctor.stdout.contains("1 study, reachable"), "{}", doctor.stdout);
    let (code, said) = server.stop();
    assert_eq!(code, Some(0), "{said}");
    let lines = said.lines().filter(|line| line.starts_with('{'));
    let requests: Vec<serde_json::Value> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(requests.iter().any(|line| line["by"] == "boss" && line["status"] == 201), "{said}");
    assert!(!said.contains(&admin) && !said.contains(&worker), "no secret is logged");
    let log = folder.run(&["export", "film", "-", "--storage", "lab.db"]).expect_code(0).stdout;
    assert!(log.lines().next().unwrap().contains(r#""by":"boss""#), "{log}");
    assert!(log.lines().skip(1).all(|line| line.contains(r#""by":"token-"#)), "{log}");
}

#[test]
fn a_worker_runs_no_command_of_a_server_that_nobody_here_has_allowed() {
    let folder = Folder::new();
    folder.write("film.toml", &STUDY.replace("echo {x}", "touch owned; echo {x}"));
    folder.run(&["create", "film.toml", "--storage", "lab.db"]).expect_code(0);
    let worker = token(&folder, &["--role", "worker", "--study", "film"]);
    let server = Serving::new(&folder, &[]);
    let refused = with(&folder, &worker, &["worker", "film"], &server).expect_code(1);
    assert!(refused.stderr.contains("touch owned"), "it is shown: {}", refused.stderr);
    assert!(!folder.path().join("owned").exists());
    let other = ["worker", "film", "--allow-command", "sh -c id"];
    with(&folder, &worker, &other, &server).expect_code(1);
    assert!(!folder.path().join("owned").exists());
    let same = ["worker", "film", "--allow-command", r#"["sh", "-c", "touch owned; echo {x}"]"#];
    with(&folder, &worker, &same, &server).expect_code(0);
    assert!(folder.path().join("owned").exists());
    assert_eq!(server.stop().0, Some(0));
}

#[test]
fn a_server_with_a_certificate_of_its_own_is_a_storage_for_those_who_are_told_of_it() {
    let folder = Folder::new();
    folder.write("film.toml", STUDY);
    folder.run(&["create", "film.toml", "--storage", "lab.db"]).expect_code(0);
    let worker = token(&folder, &["--role", "worker", "--study", "film"]);
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../optimist-server/tests/fixtures/tls");
    let (certificate, key) = (format!("{fixtures}.pem"), format!("{fixtures}.key"));
    let server = Serving::new(&folder, &["--tls-cert", &certificate, "--tls-key", &key]);
    let port = server.address.rsplit(':').next().unwrap().to_owned();
    let ask = |address: &str, trusted: Option<&str>| {
        let mut command = folder.optimist(&["ask", "film", "--storage", address]);
        command.env("OPTIMIST_TOKEN", &worker).env_remove("SSL_CERT_FILE");
        if let Some(trusted) = trusted {
            command.env("SSL_CERT_FILE", trusted);
        }
        Output::of(&mut command)
    };
    ask(&format!("https://localhost:{port}"), Some(&certificate)).expect_code(0);
    for (scheme, words) in [("https", "SSL_CERT_FILE"), ("http", "write https://")] {
        let refused = ask(&format!("{scheme}://localhost:{port}"), None).expect_code(1);
        assert!(refused.stderr.contains(words) && !refused.stderr.contains("retrying"), "{}", refused.stderr);
    }
    assert_eq!(server.stop().0, Some(0));
}

#[test]
fn a_host_is_a_name_without_scheme_and_port() {
    let folder = Folder::new();
    for bad in ["lab:8150", "http://lab", "lab/", ""] {
        let refused = folder.run(&["serve", "--storage", "lab.db", "--host", bad]).expect_code(2);
        assert!(refused.stderr.contains("without scheme and port"), "{}", refused.stderr);
    }
}

#[test]
fn users_are_made_where_the_storage_is() {
    let folder = Folder::new();
    let add = |name: &str, password: &str| {
        let args = ["user", "add", name, "--role", "admin", "--storage", "lab.db"];
        let mut command = folder.optimist(&args);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        process.stdin.take().unwrap().write_all(password.as_bytes()).unwrap();
        process.wait_with_output().unwrap()
    };
    assert!(add("anna", "correct horse\n").status.success());
    for (name, password, words) in [
        ("anna", "correct horse\n", "already"),
        ("ben", "short\n", "characters"),
        ("a/b", "correct horse\n", "letters"),
    ] {
        let refused = add(name, password);
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(refused.status.code() == Some(1) && said.contains(words), "{said}");
    }
    let listed = folder.run(&["user", "list", "--json", "--storage", "lab.db"]).expect_code(0).stdout;
    assert_eq!(listed.trim(), r#"{"user":"anna","role":"admin"}"#);
    assert!(!folder.run(&["list", "--storage", "lab.db"]).expect_code(0).stdout.contains("optimist:"));
    let server = Serving::new(&folder, &[]);
    let remote = with(&folder, "opt_0", &["user", "list"], &server).expect_code(1);
    assert!(remote.stderr.contains("where its storage is"), "{}", remote.stderr);
    let served = folder.run(&["serve", "--storage", &server.address]).expect_code(1);
    assert!(served.stderr.contains("is already a server"), "{}", served.stderr);
    assert_eq!(server.stop().0, Some(0));
    let open = folder.run(&["serve", "--listen", "0.0.0.0:0", "--storage", "other.db"]).expect_code(1);
    assert!(open.stderr.contains("--tls-cert"), "{}", open.stderr);
}
