//! The guides and the tutorial are literally right: every `sh` block is run, in order, in a copy of the example, and the `text` block
//! below one is what it prints. A line `…` stands for any lines, and `…` in a line for any text.

mod common;

use std::path::{Path, PathBuf};

use common::Folder;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Commands, and what they print if the guide says so.
struct Step {
    commands: String,
    printed: Option<String>,
}

/// What stands between "```sh" and "```", with what stands in the "```text" that follows.
fn steps(guide: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for part in guide.split("\n```").skip(1).step_by(2) {
        let (language, text) = part.split_once('\n').unwrap_or((part, ""));
        match (language, steps.last_mut()) {
            ("sh", _) => steps.push(Step { commands: text.to_owned(), printed: None }),
            ("text", Some(Step { printed: printed @ None, .. })) => *printed = Some(text.to_owned()),
            ("text", _) => panic!("nothing prints\n{text}"),
            _ => {}
        }
    }
    steps
}

/// Whether `printed` is what the guide says, line by line.
fn is_as_said(said: &[&str], printed: &[&str]) -> bool {
    match (said, printed) {
        ([], []) => true,
        (["…", rest @ ..], _) => (0..=printed.len()).any(|n| is_as_said(rest, &printed[n..])),
        ([line, rest @ ..], [first, others @ ..]) => is_line_as_said(line, first) && is_as_said(rest, others),
        _ => false,
    }
}

fn is_line_as_said(said: &str, printed: &str) -> bool {
    let Some((before, after)) = said.split_once('…') else { return said.trim_end() == printed.trim_end() };
    let Some(rest) = printed.strip_prefix(before) else { return false };
    rest.char_indices().map(|(i, _)| i).chain([rest.len()]).any(|i| is_line_as_said(after, &rest[i..]))
}

/// Follows a page of `docs` in a copy of a folder of files below `examples`.
fn follow(guide: &str, example: &str) -> Folder {
    let folder = Folder::new();
    for entry in std::fs::read_dir(repository().join("examples").join(example)).unwrap() {
        let file = entry.unwrap();
        if file.file_type().unwrap().is_file() {
            std::fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
        }
    }
    let steps = steps(&std::fs::read_to_string(repository().join("docs").join(guide)).unwrap());
    assert!(steps.len() > 3, "{guide} has hardly any commands");
    let prints = tempfile::tempdir().unwrap();
    let file = |i: usize| prints.path().join(format!("{i}"));
    let script: String = steps
        .iter()
        .enumerate()
        .map(|(i, step)| format!("exec > {} 2>&1\n{}\n", file(i).display(), step.commands))
        .collect();
    let binary = Path::new(env!("CARGO_BIN_EXE_optimist")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    let mut shell = std::process::Command::new("bash");
    shell.args(["-euc", &script]).current_dir(folder.path()).env("PATH", path).env_remove("OPTIMIST_STORAGE");
    let status = shell.status().unwrap();
    let printed = |i: usize| std::fs::read_to_string(file(i)).unwrap_or_default();
    let last = (0..steps.len()).rev().find(|i| file(*i).exists()).unwrap_or(0);
    assert!(status.success(), "{}\nprinted\n{}", steps[last].commands, printed(last));
    for (i, step) in steps.iter().enumerate() {
        let (Some(said), printed) = (&step.printed, printed(i)) else { continue };
        let is_right = is_as_said(
            &said.trim_end().lines().collect::<Vec<_>>(),
            &printed.trim_end().lines().collect::<Vec<_>>(),
        );
        assert!(is_right, "{guide}:\n{}\nprints\n{printed}\nand not\n{said}", step.commands);
    }
    folder
}

fn n_trials(folder: &Folder, study: &str) -> usize {
    folder.run(&["trials", study, "--json"]).expect_code(0).stdout.lines().count()
}

#[test]
fn the_tutorial_can_be_followed() {
    let folder = follow("tutorials/five-minutes.md", "");
    assert_eq!(n_trials(&folder, "coffee-roast"), 40);
    assert!(folder.path().join("coffee.html").exists());
}

#[test]
fn the_guide_to_tuning_a_model_can_be_followed() {
    let folder = follow("guides/tuning-a-model.md", "tuning");
    assert_eq!(n_trials(&folder, "tuning"), 13);
    assert_eq!(folder.read("trials.csv").lines().count(), 13, "a header and twelve trials");
}

#[test]
fn the_guide_for_laboratories_can_be_followed() {
    let folder = follow("guides/laboratory.md", "laboratory");
    assert_eq!(n_trials(&folder, "film"), 13);
    assert!(folder.path().join("film-backup.jsonl").exists());
}

#[test]
fn the_guide_to_several_outcomes_can_be_followed() {
    let folder = follow("guides/several-outcomes.md", "several-outcomes");
    assert_eq!(
        (n_trials(&folder, "net"), n_trials(&folder, "accurate"), n_trials(&folder, "again")),
        (24, 24, 24)
    );
    let front: serde_json::Value = serde_json::from_str(&folder.read("front.json")).unwrap();
    assert!(front["hypervolume"].as_f64().is_some_and(|volume| volume > 7.0), "{front}");
    assert!(front["points"].as_array().is_some_and(|points| points.len() > 4), "{front}");
    for point in front["points"].as_array().unwrap() {
        assert!(point["outcomes"]["memory_gb"]["value"].as_f64().is_some_and(|gb| gb <= 8.0), "{point}");
    }
    let best: serde_json::Value =
        serde_json::from_str(&folder.run(&["best", "accurate", "--json"]).stdout).unwrap();
    assert!(best["value"].as_f64().is_some_and(|accuracy| accuracy > 0.9), "{best}");
    assert!(best["outcomes"]["latency_ms"]["value"].as_f64().is_some_and(|ms| ms <= 20.0), "{best}");
}

#[test]
fn the_guide_for_simulators_can_be_followed() {
    let folder = follow("guides/simulator.md", "simulator");
    assert!(n_trials(&folder, "crane") >= 20);
    let measured = |trial: &serde_json::Value| trial["worker"].as_str().map(str::to_owned);
    let trials = folder.run(&["trials", "crane", "--json"]).expect_code(0).stdout;
    let trials: Vec<serde_json::Value> =
        trials.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let workers: std::collections::BTreeSet<String> = trials[8..40].iter().filter_map(measured).collect();
    assert!(workers.len() >= 2, "the second worker has measured something: {workers:?}");
    assert!(folder.path().join("crane.csv").exists());
}

/// The commands for several machines, on one: with the server of `scripts/postgres-test-server`, and `~/crane` in a home of our own.
#[test]
fn the_commands_for_several_machines_can_be_followed() {
    let Ok(storage) = std::env::var("OPTIMIST_TEST_POSTGRES") else {
        eprintln!("left out: OPTIMIST_TEST_POSTGRES is not set");
        return;
    };
    let home = Folder::new();
    let crane = home.path().join("crane");
    std::fs::create_dir(&crane).unwrap();
    for file in ["crane.py", "study.toml"] {
        std::fs::copy(repository().join("examples/simulator").join(file), crane.join(file)).unwrap();
    }
    let guide = std::fs::read_to_string(repository().join("docs/guides/simulator.md")).unwrap();
    let (_, block) = guide.split_once("```console\n").unwrap();
    let block = block.split("\n```").next().unwrap();
    let commands: Vec<&str> = block.lines().filter_map(|line| line.strip_prefix("$ ")).collect();
    assert!(commands.len() > 3 && commands[0].starts_with("export OPTIMIST_STORAGE="), "{commands:?}");
    let binary = Path::new(env!("CARGO_BIN_EXE_optimist")).parent().unwrap();
    let mut shell = std::process::Command::new("bash");
    shell.args(["-euc", &format!("{}\noptimist trials crane --json > trials", commands[1..].join("\n"))]);
    shell.env("OPTIMIST_STORAGE", storage).env("HOME", home.path()).current_dir(&crane);
    shell.env("PATH", format!("{}:{}", binary.display(), std::env::var("PATH").unwrap()));
    assert!(shell.status().unwrap().success(), "{block}");
    let trials = std::fs::read_to_string(crane.join("trials")).unwrap();
    assert!(trials.lines().count() >= 40 && trials.contains("\"complete\""), "{trials}");
}
