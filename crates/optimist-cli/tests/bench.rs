//! `optimist bench`, as it is typed.

use std::path::Path;

use assert_cmd::Command;

fn bench(folder: &Path, arguments: &str) -> assert_cmd::assert::Assert {
    let mut command = Command::cargo_bin("optimist").unwrap();
    command.current_dir(folder).arg("bench").args(arguments.split_whitespace()).assert()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_run_is_resumed_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let arguments =
        "run --tasks f1,func3c --optimizers random --reps 2 --seed 3 --out results.jsonl --jobs 1";
    let first = bench(folder.path(), arguments).success();
    assert!(text(&first.get_output().stdout).starts_with("4 of 4 runs are in results.jsonl\n"));
    let file = folder.path().join("results.jsonl");
    let whole = std::fs::read_to_string(&file).unwrap();
    assert_eq!(whole.lines().count(), 4);

    let again = bench(folder.path(), arguments).success();
    assert!(text(&again.get_output().stdout).starts_with("4 of 4 runs are in results.jsonl\n"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), whole, "what was there is left alone");

    let report = bench(folder.path(), "report results.jsonl -o report/").success();
    let stdout = text(&report.get_output().stdout);
    assert!(stdout.contains("cumulative regret") && stdout.contains("func3c"), "{stdout}");
    for name in ["report.md", "results.csv", "f1.svg", "f1.png", "func3c.svg", "func3c.png"] {
        assert!(folder.path().join("report").join(name).exists(), "{name}");
    }
}

#[test]
fn slips_are_found_before_anything_is_run() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, problem) in [
        ("run --tasks f1,rosenbrok --optimizers random", "did you mean `rosenbrock`?"),
        ("run --tasks f1 --optimizers randon", "there is no optimizer `randon`"),
        ("run --tasks f1 --optimizers random --jobs 0", "--jobs"),
        ("report missing.jsonl", "missing.jsonl"),
    ] {
        let failed = bench(folder.path(), arguments).failure();
        let stderr = text(&failed.get_output().stderr);
        assert!(stderr.contains(problem), "{arguments}: {stderr}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was written");
}

#[test]
fn tasks_are_listed_with_what_is_varied() {
    let folder = tempfile::tempdir().unwrap();
    let listed = bench(folder.path(), "tasks").success();
    let stdout = text(&listed.get_output().stdout);
    assert!(stdout.lines().any(|line| line.contains("pressure-vessel") && line.contains("2 real, 2 grid")));
    assert!(stdout.lines().all(|line| line.chars().count() <= 120), "{stdout}");
}
