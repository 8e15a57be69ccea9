//! Passwords are not handed on, files are for their owner, and what others wrote cannot command a terminal.

mod common;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

use common::{Folder, Output};

fn study(folder: &Folder, mode: &str, parameter: &str) {
    let study = format!(
        r#"
        name = "s"
        direction = "maximize"
        trials = 1
        optimizer.name = "random"
        objective.command = ["sh", "-c", "env > seen; echo 1"]
        objective.mode = "{mode}"
        parameters.{parameter} = {{ type = "float", low = 0, high = 1 }}
        "#
    );
    folder.write("study.toml", &study);
}

#[test]
fn an_objective_does_not_get_the_address_of_the_storage() {
    for mode in ["once", "serve"] {
        let folder = Folder::new();
        study(&folder, mode, "x");
        let mut run = folder.optimist(&["run", "study.toml"]);
        Output::of(run.env("OPTIMIST_STORAGE", "secret.db")).expect_code(0);
        assert!(folder.path().join("secret.db").exists());
        let seen = folder.read("seen");
        assert!(!seen.contains("secret") && !seen.contains("OPTIMIST_STORAGE"), "{mode}: {seen}");
    }
}

#[test]
fn a_parameter_cannot_say_where_studies_are_kept() {
    let folder = Folder::new();
    study(&folder, "once", "Storage");
    let output = folder.run(&["run", "study.toml"]).expect_code(2);
    assert!(output.stderr.contains("`Storage` would set OPTIMIST_STORAGE"), "{}", output.stderr);
    study(&folder, "serve", "storage");
    folder.run(&["run", "study.toml"]).expect_code(0);
}

#[test]
fn files_are_made_for_their_owner() {
    let folder = Folder::new();
    study(&folder, "once", "x");
    folder.run(&["run", "study.toml"]).expect_code(0);
    folder.run(&["export", "s", "s.jsonl"]).expect_code(0);
    let mode = |file: &str| folder.path().join(file).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("optimist.db"), mode("s.jsonl")), (0o600, 0o600));
    // Whoever shares a file goes on sharing it, with what SQLite makes beside it.
    let shared = std::fs::Permissions::from_mode(0o660);
    std::fs::set_permissions(folder.path().join("optimist.db"), shared).unwrap();
    let _reader = rusqlite::Connection::open(folder.path().join("optimist.db")).unwrap();
    _reader.query_row("SELECT count(*) FROM linked", [], |_| Ok(())).unwrap();
    folder.run(&["run", "study.toml", "--trials", "2"]).expect_code(0);
    assert_eq!((mode("optimist.db"), mode("optimist.db-wal")), (0o660, 0o660));
}

#[test]
fn escapes_in_what_others_wrote_are_shown_and_not_obeyed() {
    let folder = Folder::new();
    let escape = "\u{1b}]0;owned\u{7}\u{9b}2J";
    let study = r#"
        name = "by-hand"
        direction = "maximize"
        parameters.kind = { type = "categorical", choices = ["a\u001b[31m", "b\u001b[31m"] }
    "#;
    folder.write("study.toml", study);
    folder.run(&["create", "study.toml"]).expect_code(0);
    folder.run(&["ask", "by-hand", "-n", "2"]).expect_code(0);
    folder.run(&["tell", "by-hand", "0", "1", "--note", escape]).expect_code(0);
    folder.run(&["fail", "by-hand", "1", "--reason", escape]).expect_code(0);
    let commands: [&[&str]; 7] = [
        &["show", "by-hand"],
        &["best", "by-hand"],
        &["trials", "by-hand"],
        &["trials", "by-hand", "--json"],
        &["show", "by-hand", "--json"],
        &["ask", "by-hand"],
        &["show", escape],
    ];
    for command in commands {
        let output = folder.run(command);
        let said = output.stdout + &output.stderr;
        let obeyed = said.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t'));
        assert_eq!(obeyed, None, "{command:?}: {said}");
        assert!(command.contains(&"--json") || said.contains("\\x1b"), "{command:?}: {said}");
    }
}

#[test]
fn a_variable_that_is_not_utf_8_is_an_error() {
    let folder = Folder::new();
    let output =
        Output::of(folder.optimist(&["list"]).env("OPTIMIST_STORAGE", OsStr::from_bytes(b"caf\xe9.db")));
    let output = output.expect_code(1);
    assert!(output.stderr.contains("OPTIMIST_STORAGE is not valid UTF-8"), "{}", output.stderr);
}
