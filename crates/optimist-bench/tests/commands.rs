//! `optimist-bench`, as it is typed.

use std::path::Path;

use assert_cmd::Command;

fn bench(folder: &Path, arguments: &str) -> assert_cmd::assert::Assert {
    let mut command = Command::cargo_bin("optimist-bench").unwrap();
    command.current_dir(folder).args(arguments.split_whitespace()).assert()
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
    assert!(stdout.ends_with("written to report/index.html and report/report.md\n"), "{stdout}");
    for name in ["index.html", "report.md", "results.csv", "figures/synthetic-simple.svg"] {
        assert!(folder.path().join("report").join(name).exists(), "{name}");
    }
}

#[test]
fn answers_of_one_half_of_the_tasks_are_scored() {
    let folder = tempfile::tempdir().unwrap();
    let arguments =
        "run --tasks failing --half choose --optimizers random --reps 2 --horizon 8 --out a.jsonl";
    bench(folder.path(), arguments).success();
    let answers = bench(folder.path(), "answers a.jsonl").success();
    let stdout = text(&answers.get_output().stdout);
    assert!(stdout.starts_with("answers on the tasks to choose by\n"), "{stdout}");
    assert!(stdout.contains(" failing   random ") && !stdout.contains("confirm"), "{stdout}");
    let markdown = bench(folder.path(), "answers --markdown a.jsonl").success();
    assert!(text(&markdown.get_output().stdout).contains("| failing | random |"));

    bench(folder.path(), &arguments.replace("--horizon 8 --out a", "--horizon 9 --out b")).success();
    let mixed = bench(folder.path(), "answers a.jsonl b.jsonl").failure();
    let stderr = text(&mixed.get_output().stderr);
    assert!(stderr.contains("was played with 8 trials and with 9"), "{stderr}");
}

#[test]
fn runs_of_another_engine_are_kept_and_named_and_the_report_says_that_it_mixes_engines() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("results.jsonl");
    bench(folder.path(), "run --tasks f1 --optimizers random --reps 1").success();
    let played = std::fs::read_to_string(&file).unwrap();
    let engine = format!("\"engine\":{}", optimist::ENGINE_VERSION);
    let older = played.replace(&engine, "\"engine\":1");
    std::fs::write(&file, &older).unwrap();

    let again = bench(folder.path(), "run --tasks f1 --optimizers random --reps 2").success();
    let stderr = text(&again.get_output().stderr);
    assert!(stderr.starts_with("some records in the file were not made by engine "), "{stderr}");
    assert!(stderr.contains("(engine 1: `random` (1 record))"), "{stderr}");
    assert!(std::fs::read_to_string(&file).unwrap().starts_with(&older), "what was there is left alone");
    let report = bench(folder.path(), "report results.jsonl").success();
    let stdout = text(&report.get_output().stdout);
    assert!(
        stdout.starts_with("This report mixes engines: engine 1: `random` (1 record); engine "),
        "{stdout}"
    );
}

#[test]
fn the_papers_experiments_are_one_command_that_can_be_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = "paper -o new/report --tasks f1 --reps 1 --seed 4";
    let results = folder.path().join("new/report/results.jsonl");
    let first = bench(folder.path(), arguments).success();
    let stdout = text(&first.get_output().stdout);
    assert!(stdout.contains("mean rank over 1 task") && stdout.contains("go-ucb against"), "{stdout}");
    let whole = std::fs::read_to_string(&results).unwrap();
    assert_eq!(whole.lines().count(), 9);
    let page = std::fs::read_to_string(folder.path().join("new/report/index.html")).unwrap();
    assert!(page.contains("1 task, 9 optimizers, 1 repetition; 9 runs; seed 4."));

    // As if it had been killed while it wrote the last line.
    std::fs::write(&results, &whole[..whole.len() - 10]).unwrap();
    let again = bench(folder.path(), arguments).success();
    let stderr = text(&again.get_output().stderr);
    assert!(stderr.starts_with("9 of 9 runs"), "more than the last was played: {stderr}");
    let kept: Vec<String> =
        std::fs::read_to_string(&results).unwrap().lines().take(8).map(str::to_owned).collect();
    assert!(whole.lines().take(8).eq(kept));
}

#[test]
fn speed_is_measured_in_processes_and_reported_and_what_is_missing_is_made_up() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = "speed -o new/report --quick --limit 100";
    let first = bench(folder.path(), arguments).success();
    let stdout = text(&first.get_output().stdout);
    assert!(stdout.contains("not measured") && stdout.contains("at least 100 times as fast"), "{stdout}");
    let results = folder.path().join("new/report/speed.jsonl");
    let whole = std::fs::read_to_string(&results).unwrap();
    let cells = "three optimizers; n = 10 and 30 at d = 5, d = 2 at n = 10; go-ucb with several outcomes, in two ways";
    assert_eq!(whole.lines().count(), 11, "{cells}");
    assert!(whole.lines().all(|line| line.contains(r#""outcome":{"measured":{"wall_ms":["#)), "{whole}");
    let report = std::fs::read_to_string(folder.path().join("new/report/speed.md")).unwrap();
    for row in ["| go-ucb, one core | 30 | 5 |", "| go-ucb, 3 goals, one core | 10 | 5 |"] {
        assert!(report.contains(row), "{report}");
    }
    assert!(folder.path().join("new/report/speed-one-core.svg").exists());

    // As if it had been killed while it wrote the last line.
    std::fs::write(&results, &whole[..whole.len() - 10]).unwrap();
    let again = bench(folder.path(), arguments).success();
    let stderr = text(&again.get_output().stderr);
    assert_eq!(stderr.lines().count(), 1, "more than the last was measured: {stderr}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_measurement_ends_with_the_command_that_wanted_it() {
    use rustix::process::{Pid, Signal, kill_process};
    // Not SIGINT: a shell has its background jobs ignore it.
    for signal in [Signal::TERM, Signal::KILL] {
        let folder = tempfile::tempdir().unwrap();
        // A peer that answers when it is tried first, and never in a cell.
        let answer = r#"while read -r line; do case $line in *ask*) echo '{"x": [0.5, 0.5]}';; esac; done"#;
        let wait = "echo $$ $PPID > made && mv made processes; exec sleep 1000";
        let peer = format!("if mkdir tried 2>/dev/null; then {answer}; else {wait}; fi");
        fake_python(&folder.path().join(".venv/bin/python"), &peer);
        let mut speed = std::process::Command::new(env!("CARGO_BIN_EXE_optimist-bench"))
            .args(["speed", "--optimizers", "pycma", "--cores", "one", "--limit", "900"])
            .current_dir(folder.path())
            .spawn()
            .unwrap();
        let processes = || std::fs::read_to_string(folder.path().join("processes")).unwrap_or_default();
        assert!(in_time(|| !processes().is_empty()), "nothing was measured");
        kill_process(Pid::from_child(&speed), signal).unwrap();
        assert!(in_time(|| speed.try_wait().unwrap().is_some()), "{signal:?} did not end the command");
        // A zombie is as good as gone, and where nobody reaps orphans it is all that is left.
        let has_ended = |id: &str| match std::fs::read_to_string(format!("/proc/{id}/stat")) {
            Ok(stat) => stat.contains(") Z "),
            Err(_) => true,
        };
        let ended = in_time(|| processes().split_whitespace().all(has_ended));
        assert!(ended, "of the peer and its cell, {}, one outlived {signal:?}", processes());
    }
}

/// Whether something comes to be while somebody would wait for it.
#[cfg(target_os = "linux")]
fn in_time(mut fact: impl FnMut() -> bool) -> bool {
    (0..600).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        fact()
    })
}

#[test]
fn slips_are_found_before_anything_is_run() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, problem) in [
        ("run --tasks f1,rosenbrok --optimizers random", "did you mean `rosenbrock`?"),
        ("run --tasks f1 --optimizers randon", "there is no optimizer `randon`"),
        ("run --tasks f1 --optimizers botorch:gp-e", "did you mean `botorch:gp-ei`?"),
        ("paper --tasks f1,rosenbrok --peers", "did you mean `rosenbrock`?"),
        ("run --tasks f1 --optimizers random --jobs 0", "--jobs"),
        ("report missing.jsonl", "missing.jsonl"),
        ("speed --optimizers go-ubc", "did you mean `go-ucb`?"),
        ("speed --limit 0", "--limit"),
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

/// An environment whose interpreter passes every check and answers 0.5 to every line.
#[cfg(unix)]
fn fake_environment(folder: &Path) {
    let answer = "while read -r line; do echo '{\"value\": 0.5}'; done";
    fake_python(&folder.join(".venv-real/bin/python"), answer);
}

/// A shell script in the place of an interpreter.
#[cfg(unix)]
fn fake_python(python: &Path, script: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::create_dir_all(python.parent().unwrap()).unwrap();
    std::fs::write(python, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(python, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[cfg(unix)]
#[test]
fn classifiers_are_trained_by_the_environment_above_and_their_accuracies_kept_beside_it() {
    let root = tempfile::tempdir().unwrap();
    fake_environment(root.path());
    let folder = root.path().join("below");
    std::fs::create_dir(&folder).unwrap();
    bench(&folder, "run --tasks rf-breast,rf-breast-typed --optimizers random --reps 1 --out results.jsonl")
        .success();
    let results = std::fs::read_to_string(folder.join("results.jsonl")).unwrap();
    assert_eq!(results.matches("0.5,0.5").count(), 2 * 36, "72 rounds of each task");
    let cache = std::fs::read_dir(root.path().join(".optimist-cache")).unwrap().next().unwrap().unwrap();
    let trained = std::fs::read_to_string(cache.path()).unwrap();
    assert!(trained.starts_with(r#"{"params":{"classifier":"rf","data":"breast","fold":0,"#), "{trained}");
    let report = bench(&folder, "report results.jsonl").success();
    assert!(text(&report.get_output().stdout).contains("rf-breast-typed"));
}

#[cfg(unix)]
#[test]
fn an_environment_that_cannot_be_made_says_what_to_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::cargo_bin("optimist-bench").unwrap();
    let arguments = ["run", "--tasks", "rf-breast", "--optimizers", "random"];
    let failed =
        command.current_dir(folder.path()).args(arguments).env("PATH", "/nowhere").assert().failure();
    let stderr = text(&failed.get_output().stderr);
    assert!(stderr.starts_with("making .venv-real"), "{stderr}");
    assert!(stderr.contains("with Python 3.10 or newer and a network, run scripts/real-env"), "{stderr}");
}
