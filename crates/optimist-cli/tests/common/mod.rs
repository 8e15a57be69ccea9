//! An empty folder in which the real binary runs.

#![allow(dead_code)] // each test file uses its part

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A folder of its own for each test, removed at its end.
pub struct Folder(TempDir);

/// What a run of the binary left behind.
pub struct Output {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder can be made"))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn write(&self, name: &str, text: &str) -> &Self {
        fs::write(self.path().join(name), text).expect("the folder is ours");
        self
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap_or_default()
    }

    /// The binary, to be run in this folder.
    pub fn optimist(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_optimist"));
        command.args(args).current_dir(self.path()).stdin(Stdio::null());
        command
    }

    pub fn run(&self, args: &[&str]) -> Output {
        Output::of(&mut self.optimist(args))
    }

    /// Runs `study.toml` with `--json`, from the beginning: the trials, by number.
    pub fn trials(&self, args: &[&str]) -> Vec<Value> {
        let output = self.run(&[&["run", "study.toml", "--json", "--storage", "memory"], args].concat());
        let line = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}"));
        let mut trials: Vec<Value> = output.stdout.lines().map(line).collect();
        trials.sort_by_key(|trial| trial["trial"].as_u64());
        trials
    }
}

impl Output {
    pub fn of(command: &mut Command) -> Self {
        let output = command.output().expect("the binary starts");
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("output is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("output is UTF-8"),
        }
    }

    #[track_caller]
    pub fn expect_code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }
}
