//! The guides do what they say: every `sh` block of a guide is run, in order, in a copy of its example.

mod common;

use std::path::{Path, PathBuf};

use common::Folder;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What stands between "```sh" and "```".
fn script(guide: &str) -> String {
    let mut lines = Vec::new();
    let mut is_script = false;
    for line in guide.lines() {
        match line {
            "```sh" => is_script = true,
            "```" => is_script = false,
            line if is_script => lines.push(line),
            _ => {}
        }
    }
    lines.join("\n")
}

fn follow(guide: &str, example: &str) -> Folder {
    let folder = Folder::new();
    for entry in std::fs::read_dir(repository().join("examples").join(example)).unwrap() {
        let file = entry.unwrap();
        std::fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
    }
    let script = script(&std::fs::read_to_string(repository().join("docs/guides").join(guide)).unwrap());
    assert!(script.lines().count() > 5, "{guide} has hardly any commands");
    let binary = Path::new(env!("CARGO_BIN_EXE_optimist")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    let mut shell = std::process::Command::new("bash");
    shell.args(["-euc", &script]).current_dir(folder.path()).env("PATH", path).env_remove("OPTIMIST_STORAGE");
    let output = shell.output().unwrap();
    assert!(
        output.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    folder
}

fn n_trials(folder: &Folder, study: &str) -> usize {
    folder.run(&["trials", study, "--json"]).expect_code(0).stdout.lines().count()
}

#[test]
fn the_guide_to_tuning_a_model_can_be_followed() {
    let folder = follow("tuning-a-model.md", "tuning");
    assert_eq!(n_trials(&folder, "tuning"), 13);
    assert_eq!(folder.read("trials.csv").lines().count(), 13, "a header and twelve trials");
}

#[test]
fn the_guide_for_laboratories_can_be_followed() {
    let folder = follow("laboratory.md", "laboratory");
    assert!(n_trials(&folder, "film") >= 6);
    assert!(folder.path().join("film-backup.jsonl").exists());
}

#[test]
fn the_guide_for_simulators_can_be_followed() {
    let folder = follow("simulator.md", "simulator");
    assert!(n_trials(&folder, "crane") >= 20);
    assert!(folder.path().join("crane.csv").exists());
}
