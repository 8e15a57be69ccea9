//! Studies that outlive the program: the real binary is stopped, killed and started again, alone and with others.

mod common;

use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::Folder;
use optimist::ENGINE_VERSION;
use optimist_study::{Source, Storage, Study, Trial, TrialState};
use serde_json::{Value, json};

/// A study of two floats whose objective is the given shell script, with further lines of its file.
fn study(folder: &Folder, script: &str, lines: &str) {
    let text = format!(
        "name = \"roast\"\ndirection = \"maximize\"\nseed = 3\n{lines}
[objective]
command = [\"sh\", \"-c\", '''{script}''']
[parameters.x]
type = \"float\"
low = -1
high = 1
[parameters.y]
type = \"float\"
low = -1
high = 1
"
    );
    folder.write("study.toml", &text);
}

fn opened(folder: &Folder) -> Study {
    Study::open(&Storage::sqlite(folder.path().join("optimist.db")), "roast").unwrap()
}

fn params(study: &Study) -> Vec<String> {
    study.state().trials().iter().map(|trial| format!("{:?}", trial.params)).collect()
}

fn start(folder: &Folder, args: &[&str]) -> Child {
    folder.optimist(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Waits until the study has gone on by `n` records, and a little longer.
fn wait_for(folder: &Folder, n: u64, longer: Duration) {
    let head = || {
        let storage = Storage::sqlite(folder.path().join("optimist.db"));
        Study::open(&storage, "roast").map_or(0, |study| study.state().head())
    };
    let (before, start) = (head(), Instant::now());
    while head() < before + n && start.elapsed() < Duration::from_secs(60) {
        sleep(Duration::from_millis(10));
    }
    sleep(longer);
}

const SLOW: &str = "sleep 0.03; echo $OPTIMIST_X";

#[test]
fn a_run_that_is_killed_again_and_again_ends_as_one_that_was_not() {
    let whole = Folder::new();
    study(&whole, SLOW, "trials = 14");
    whole.run(&["run", "study.toml"]).expect_code(0);

    let killed = Folder::new();
    study(&killed, SLOW, "trials = 14\nmax_attempts = 100");
    for kill in 0..6 {
        let mut child = start(&killed, &["run", "study.toml"]);
        wait_for(&killed, 2, Duration::from_millis(7 * kill));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let output = killed.run(&["run", "study.toml"]).expect_code(0);
    assert!(
        output.stderr.contains("resuming: ") || output.stderr.contains("nothing left"),
        "{}",
        output.stderr
    );

    let (whole, mut killed) = (opened(&whole), opened(&killed));
    assert_eq!(params(&whole), params(&killed));
    assert!(killed.state().trials().iter().all(|trial| trial.state == TrialState::Complete));
    assert!(killed.state().trials().iter().any(|trial| trial.attempts > 1), "no trial was hit");
    assert_eq!(killed.verify(|_| ()).unwrap().mismatches, []);
}

#[test]
fn a_study_that_is_done_is_shown_and_goes_on_when_more_is_wanted() {
    let folder = Folder::new();
    study(&folder, "echo $OPTIMIST_X", "trials = 5");
    let first = folder.run(&["run", "study.toml"]).expect_code(0);
    assert!(first.stdout.starts_with("roast: 5 trials in "), "{}", first.stdout);
    let again = folder.run(&["run", "study.toml"]).expect_code(0);
    assert!(again.stderr.contains("nothing left to do: 5 of 5 trials done"), "{}", again.stderr);
    let body = |text: &str| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(body(&first.stdout), body(&again.stdout));

    let more = folder.run(&["run", "study.toml", "--trials", "8"]).expect_code(0);
    assert!(more.stderr.contains("resuming: 5 of 8 trials done"), "{}", more.stderr);
    assert!(more.stdout.starts_with("roast: 8 trials, 3 of them now in "), "{}", more.stdout);
    folder.run(&["verify", "roast"]).expect_code(0);
}

#[test]
fn a_study_file_that_has_become_another_study_is_refused() {
    let folder = Folder::new();
    study(&folder, "echo 1", "trials = 2");
    folder.run(&["run", "study.toml"]).expect_code(0);
    let changes = [
        ("low = -1", "low = -0.5", "the parameters of study `roast` differ from those in the study file"),
        (
            "maximize",
            "minimize",
            "study `roast` was created with direction maximize; the study file says minimize",
        ),
        ("seed = 3", "seed = 4", "study `roast` was created with seed 3; the study file says 4"),
    ];
    for (from, to, what) in changes {
        folder.write("other.toml", &folder.read("study.toml").replace(from, to));
        let output = folder.run(&["run", "other.toml"]).expect_code(1);
        assert!(output.stderr.starts_with(&format!("error: {what}")), "{}", output.stderr);
    }
    let commented = format!("# the same\n{}", folder.read("study.toml").replace("trials = 2", "trials = 3"));
    folder.write("study.toml", &commented);
    folder.run(&["run", "study.toml"]).expect_code(0);
    assert_eq!(opened(&folder).state().trials().len(), 3);
}

#[test]
fn workers_of_several_processes_share_a_study() {
    let folder = Folder::new();
    study(&folder, SLOW, "trials = 24\nworkers = 2");
    let mut run = start(&folder, &["run", "study.toml"]);
    wait_for(&folder, 1, Duration::ZERO);
    let mut workers: Vec<Child> = (0..2).map(|_| start(&folder, &["worker", "roast"])).collect();
    for child in workers.iter_mut().chain([&mut run]) {
        assert!(child.wait().unwrap().success());
    }
    let mut study = opened(&folder);
    let trials = study.state().trials();
    assert_eq!(trials.len(), 24);
    assert!(trials.iter().all(|trial| trial.state == TrialState::Complete && trial.attempts == 1));
    let mut names: Vec<&str> = trials.iter().filter_map(|trial| trial.worker.as_deref()).collect();
    names.sort_unstable();
    names.dedup();
    assert!(names.len() >= 2, "{names:?}");
    assert_eq!(study.verify(|_| ()).unwrap().mismatches, []);
    let output = folder.run(&["worker", "rost"]).expect_code(1);
    assert!(output.stderr.contains("study `rost` is not in optimist.db"), "{}", output.stderr);
}

#[test]
fn a_trial_that_was_stopped_is_put_back_and_run_first_next_time() {
    let folder = Folder::new();
    study(
        &folder,
        "mkdir at$OPTIMIST_X 2>/dev/null || exec echo 1; kill -TERM $PPID; sleep 100",
        "trials = 2",
    );
    let output = folder.run(&["run", "study.toml"]).expect_code(130);
    assert!(
        output.stderr.contains("stopped after 0 of 2 trials; run it again to resume"),
        "{}",
        output.stderr
    );
    let stopped = opened(&folder);
    let trials: Vec<&Trial> = stopped.state().waiting().collect();
    assert_eq!((trials.len(), trials[0].number, trials[0].attempts), (1, 0, 0));
    folder.run(&["run", "study.toml"]).expect_code(130);
    let trials = opened(&folder);
    assert_eq!(trials.state().trials()[0].state, TrialState::Complete);
    assert_eq!(trials.state().trials()[0].params, stopped.state().trials()[0].params);
}

#[test]
fn runs_stop_by_failures_in_a_row_by_time_and_by_target() {
    let folder = Folder::new();
    study(&folder, "exit 3", "trials = 50\nmax_failures = 4");
    let output = folder.run(&["run", "study.toml"]).expect_code(1);
    let expected =
        "stopped after 4 failed trials in a row (max_failures); the last failure:\nthe command exited";
    assert!(output.stderr.contains(expected), "{}", output.stderr);
    assert_eq!(opened(&folder).state().count(TrialState::Failed), 4);

    let folder = Folder::new();
    study(&folder, "sleep 0.2; echo 1", "trials = 5000\nmax_time = 0.5");
    let output = folder.run(&["run", "study.toml"]).expect_code(0);
    assert!(output.stderr.contains("time is up (max_time)"), "{}", output.stderr);

    let folder = Folder::new();
    study(&folder, "echo $OPTIMIST_X", "trials = 5000\ntarget = 0.2");
    folder.run(&["run", "study.toml"]).expect_code(0);
    let study = opened(&folder);
    let values: Vec<f64> = study.state().trials().iter().filter_map(Trial::value).collect();
    assert!(
        values.iter().rev().skip(1).all(|value| *value < 0.2) && values[values.len() - 1] >= 0.2,
        "{values:?}"
    );
}

#[test]
fn a_command_that_cannot_work_stops_the_run_and_can_be_mended() {
    let folder = Folder::new();
    study(&folder, "exit 3", "trials = 8");
    let output = folder.run(&["run", "study.toml"]).expect_code(1);
    for words in
        ["the first 5 trials all failed in the same way", "optimist retry roast --failed", "max_failures"]
    {
        assert!(output.stderr.contains(words), "{words}: {}", output.stderr);
    }
    assert_eq!(opened(&folder).state().count(TrialState::Failed), 5);
    study(&folder, "echo 1", "trials = 8");
    folder.run(&["retry", "roast", "--failed"]).expect_code(0);
    folder.run(&["run", "study.toml"]).expect_code(0);
    assert_eq!(opened(&folder).state().count(TrialState::Complete), 8);

    let folder = Folder::new();
    study(&folder, "echo '{\"error\": \"bean '$OPTIMIST_X'\"}'", "trials = 8");
    folder.run(&["run", "study.toml"]).expect_code(1);
    assert_eq!(opened(&folder).state().count(TrialState::Failed), 8, "each in a way of its own");
}

#[test]
fn a_worker_ends_as_a_run_does() {
    let cases = [
        ("exit 3", "max_failures = 4", 1, "stopped after 4 failed trials in a row (max_failures)"),
        ("sleep 0.2; echo 1", "max_time = 0.5", 0, "time is up (max_time)"),
        ("kill -TERM $PPID; sleep 100", "", 130, "stopped after 0 of 5000 trials"),
    ];
    for (script, stop, code, expected) in cases {
        let folder = Folder::new();
        study(&folder, script, &format!("trials = 5000\n{stop}"));
        folder.run(&["create", "study.toml"]).expect_code(0);
        let output = folder.run(&["worker", "roast"]).expect_code(code);
        assert!(output.stderr.contains(expected), "{}", output.stderr);
    }
}

#[test]
fn an_objective_may_ask_for_another_attempt() {
    let folder = Folder::new();
    let busy = r#"echo '{"error": "busy", "retry": true}'"#;
    study(&folder, &format!("mkdir at$OPTIMIST_X 2>/dev/null || exec echo 1; {busy}"), "trials = 2");
    folder.run(&["run", "study.toml"]).expect_code(0);
    let study = opened(&folder);
    let attempts: Vec<usize> = study.state().trials().iter().map(|trial| trial.attempts).collect();
    assert_eq!(attempts, [2, 2]);
}

#[test]
fn promising_points_are_measured_again() {
    let folder = Folder::new();
    study(&folder, "echo $OPTIMIST_X", "trials = 12\nreplicates = 2");
    folder.run(&["run", "study.toml"]).expect_code(0);
    let study = opened(&folder);
    let again =
        study.state().trials().iter().filter(|trial| matches!(trial.source, Source::Replicate { .. }));
    assert!(again.count() >= 1);
}

#[test]
fn verify_says_so_in_words_and_in_json() {
    let folder = Folder::new();
    study(&folder, "echo $OPTIMIST_X", "trials = 6\nworkers = 2");
    folder.run(&["run", "study.toml"]).expect_code(0);
    let words = folder.run(&["verify", "roast"]).expect_code(0).stdout;
    assert!(words.contains("6 suggestions recomputed, all identical bit for bit"), "{words}");
    let json: Value =
        serde_json::from_str(&folder.run(&["verify", "roast", "--json"]).expect_code(0).stdout).unwrap();
    assert_eq!((json["suggestions"].as_u64(), &json["mismatches"]), (Some(6), &Value::Array(Vec::new())));
    assert_eq!((&json["engine"], &json["by_other_engines"]), (&json!(ENGINE_VERSION), &json!({})));
    let output = folder.run(&["verify", "roast", "--storage", "elsewhere.db"]).expect_code(1);
    assert!(output.stderr.contains("study `roast` is not in elsewhere.db"), "{}", output.stderr);
    assert!(!folder.path().join("elsewhere.db").exists(), "looking makes nothing");
}

#[test]
fn verify_does_not_compare_what_another_engine_suggested() {
    let folder = Folder::new();
    study(&folder, "echo $OPTIMIST_X", "trials = 4");
    folder.run(&["run", "study.toml"]).expect_code(0);
    folder.run(&["export", "roast", "log.jsonl"]).expect_code(0);
    let log = folder.read("log.jsonl");
    let engine = format!("\"engine\":{ENGINE_VERSION},");
    assert!(log.contains(&engine), "{log}");
    folder.write("log.jsonl", &log.replacen(&engine, "\"engine\":999,", 1));
    folder.run(&["create", "log.jsonl", "--name", "later"]).expect_code(0);
    let output = folder.run(&["verify", "later"]).expect_code(3);
    let expected = format!(
        "9 records intact\n4 suggestions were made by engine 999, which engine \
         {ENGINE_VERSION} of this program cannot recompute; verify with a version of optimist that has engine 999\n"
    );
    assert_eq!(output.stdout, expected);

    folder.run(&["ask", "later"]).expect_code(0);
    let output = folder.run(&["verify", "later", "--json"]).expect_code(3);
    let json: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!((&json["suggestions"], &json["by_other_engines"]), (&json!(1), &json!({ "999": 4 })));
}

#[test]
fn the_end_of_a_line_that_is_too_long_is_not_a_line() {
    let folder = Folder::new();
    study(&folder, "head -c 1048576 /dev/zero | tr '\\0' x; echo 42", "trials = 1");
    let output = folder.run(&["run", "study.toml"]).expect_code(1);
    assert!(output.stderr.contains("expected a number or a JSON object"), "{}", output.stderr);
    let folder = Folder::new();
    study(&folder, "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo 42", "trials = 1");
    folder.run(&["run", "study.toml"]).expect_code(0);
}

#[test]
fn a_reply_that_is_nested_too_deeply_fails_its_trial_and_the_study_stays_readable() {
    let folder = Folder::new();
    let deep = format!("{}1{}", "{\"a\":".repeat(124), "}".repeat(124));
    study(&folder, &format!("echo '{{\"value\": 1, \"metrics\": {deep}}}'"), "trials = 2");
    let output = folder.run(&["run", "study.toml"]).expect_code(1);
    assert!(output.stderr.contains("nested more than 32 levels deep"), "{}", output.stderr);
    assert_eq!(opened(&folder).state().count(TrialState::Failed), 2);
}
