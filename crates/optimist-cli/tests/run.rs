//! `optimist run` from outside: the real binary, real objectives, an empty folder.

mod common;

use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use common::Folder;
use serde_json::Value;

/// A study of one float whose objective is the given shell script, run anew for each trial.
fn shell_study(folder: &Folder, script: &str, top: &str) {
    let study = format!(
        "direction = \"maximize\"\nseed = 3\ntrials = 3\n{top}
[objective]
command = [\"sh\", \"-c\", '''{script}''']
timeout = 30
[parameters.x]
type = \"float\"
low = -1
high = 1
"
    );
    folder.write("study.toml", &study);
}

/// The same with a Python server; `reply` is the body of a function of `trial` and `params`.
fn serve_study(folder: &Folder, reply: &str, timeout: f64) {
    let study = format!(
        "direction = \"maximize\"\nseed = 3\ntrials = 4
[objective]
command = [\"python3\", \"-u\", \"serve.py\"]
mode = \"serve\"
timeout = {timeout}
[parameters.x]
type = \"float\"
low = -1
high = 1
"
    );
    let body = reply.replace('\n', "\n    ");
    let script = format!(
        "import json, os, sys, time
def reply(trial, params):
    {body}
for line in sys.stdin:
    request = json.loads(line)
    print(reply(request['trial'], request['params']))
"
    );
    folder.write("study.toml", &study).write("serve.py", &script);
}

fn states(trials: &[Value]) -> Vec<&str> {
    trials.iter().map(|trial| trial["state"].as_str().unwrap()).collect()
}

/// But for what differs from run to run.
fn comparable(mut trials: Vec<Value>) -> Vec<Value> {
    for trial in &mut trials {
        let trial = trial.as_object_mut().unwrap();
        trial.remove("seconds");
        trial.remove("worker");
    }
    trials
}

/// The reason of a failed trial, with the end of standard error below it.
fn explanation(trial: &Value) -> String {
    let reason = trial["reason"].as_str().unwrap();
    trial["stderr"].as_str().map_or_else(|| reason.to_owned(), |stderr| format!("{reason}\n{stderr}"))
}

#[test]
fn the_quickstart_finds_a_good_roast_and_shows_it() {
    let folder = Folder::new();
    folder.write("quickstart.toml", include_str!("../../../examples/quickstart.toml"));
    folder.write("quickstart.py", include_str!("../../../examples/quickstart.py"));
    let output = folder.run(&["run", "quickstart.toml", "--svg", "run.svg"]).expect_code(0);
    for part in ["coffee-roast: 40 trials", "recommended", "charge_temperature", "drum", "best so far", "●"]
    {
        assert!(output.stdout.contains(part), "no `{part}` in:\n{}", output.stdout);
    }
    assert!(output.stdout.lines().all(|line| line.chars().count() <= 80), "{}", output.stdout);
    assert!(output.stderr.lines().all(|line| line.starts_with("best ") || line.starts_with("trial ")));
    let score = folder.run(&["run", "quickstart.toml", "--json", "--storage", "memory"]).stdout;
    let best = score.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()?["value"].as_f64());
    assert!(best.fold(0.0, f64::max) > 80.0, "{score}");
    assert!(folder.read("run.svg").starts_with("<svg"));
}

#[test]
fn a_command_gets_its_parameters_on_input_in_variables_and_in_placeholders() {
    let folder = Folder::new();
    let study = r#"
        direction = "minimize"
        trials = 6
        [objective]
        command = ["sh", "objective.sh", "--rate={rate}", "{depth}"]
        [parameters.rate]
        type = "float"
        low = 0.5
        high = 1.5
        [parameters."the-kind"]
        type = "categorical"
        choices = ["deep", "flat"]
        [parameters.depth]
        type = "int"
        low = 1
        high = 9
        when = { the-kind = "deep" }
    "#;
    let script = r#"
        printf '%s|%s|%s|%s|%s|' "$1" "$2" "$OPTIMIST_RATE" "$OPTIMIST_THE_KIND" "${OPTIMIST_DEPTH-unset}" >> seen
        cat >> seen
        echo "some chatter"
        echo 2.5
        echo
    "#;
    folder.write("study.toml", study).write("objective.sh", script);
    let trials = folder.trials(&[]);
    assert_eq!(trials.len(), 6);
    for (seen, trial) in folder.read("seen").lines().zip(&trials) {
        assert_eq!(trial["value"], 2.5);
        let fields: Vec<&str> = seen.splitn(6, '|').collect();
        let input: Value = serde_json::from_str(fields[5]).unwrap();
        assert_eq!(input, trial["params"]);
        let rate = fields[2].parse::<f64>().unwrap();
        assert_eq!(
            (fields[0], rate),
            (format!("--rate={}", fields[2]).as_str(), input["rate"].as_f64().unwrap())
        );
        assert_eq!(fields[3], input["the-kind"]);
        if fields[3] == "deep" {
            assert_eq!((fields[1], fields[4]), (fields[4], input["depth"].to_string().as_str()));
        } else {
            assert_eq!((fields[1], fields[4], input.get("depth")), ("", "unset", None));
        }
    }
    let kinds: BTreeSet<&str> =
        trials.iter().filter_map(|trial| trial["params"]["the-kind"].as_str()).collect();
    assert_eq!(kinds.len(), 2, "both branches of the condition were tried");
}

#[test]
fn each_way_to_fail_once_is_a_failed_trial_with_its_reason() {
    let cases = [
        ("echo 1; echo 'no such bean' >&2; exit 3", "exited with status 3\nno such bean"),
        ("kill -9 $$", "killed by signal 9"),
        ("echo done", "expected a number or a JSON object such as {\"value\": 0.5}, got: done"),
        ("true", "wrote no value"),
        ("head -c 786432 /dev/zero | base64 -w 0; echo 42", "got: AAAAAAAA"), // 1 MiB, and then 42
        ("echo nan", "must be a finite number, got"),
        ("echo '{\"value\": NaN}'", "must be a finite number, got NaN"),
        ("echo '{\"error\": \"out of beans\"}'", "the command reported: out of beans"),
        ("echo '{\"value\": 1, \"noise_std\": -2}'", "\"noise_std\" must be a number, 0 or more, got -2"),
    ];
    for (script, reason) in cases {
        let folder = Folder::new();
        shell_study(&folder, &format!("mkdir first 2>/dev/null || {{ echo 1; exit; }}; {script}"), "");
        let trials = folder.trials(&[]);
        assert_eq!(states(&trials), ["failed", "complete", "complete"], "{script}");
        let shown = explanation(&trials[0]);
        assert!(shown.contains(reason), "{script}: {shown}");
        assert_eq!(trials[0].get("value"), None);
    }
}

#[test]
fn each_way_to_fail_while_serving_is_a_failed_trial_and_the_next_one_succeeds() {
    let cases = [
        ("sys.exit('no such bean')", "exited with status 1 before it answered\nno such bean", true),
        ("time.sleep(1000)", "no value within the timeout of 5 s", true),
        ("return 'done'", "got: done", true),
        ("os.close(1); time.sleep(1000)", "before it answered", true),
        ("return '{\"value\": NaN}'", "must be a finite number, got NaN", false),
        ("return json.dumps({'error': 'out of beans'})", "the command reported: out of beans", false),
    ];
    for (failure, reason, restarts) in cases {
        let folder = Folder::new();
        let timeout = if failure.starts_with("time") { 5.0 } else { 30.0 };
        let reply = format!(
            "if trial == 1: {failure}\nreturn json.dumps({{'value': trial, 'note': str(os.getpid())}})"
        );
        serve_study(&folder, &reply, timeout);
        let trials = folder.trials(&[]);
        assert_eq!(states(&trials), ["complete", "failed", "complete", "complete"], "{failure}");
        let shown = explanation(&trials[1]);
        assert!(shown.contains(reason), "{failure}: {shown}");
        assert_eq!(trials[0]["note"] != trials[2]["note"], restarts, "{failure}");
        assert_eq!(trials[2]["note"], trials[3]["note"], "{failure}");
        assert_eq!(trials[3]["value"], 3.0);
    }
}

#[test]
fn a_timeout_kills_what_the_command_started_too() {
    let folder = Folder::new();
    shell_study(&folder, "sleep 1000 & echo $! > pid; wait", "");
    folder.write("study.toml", &folder.read("study.toml").replace("timeout = 30", "timeout = 2"));
    let output = folder.run(&["run", "study.toml", "--trials", "1"]).expect_code(1);
    assert!(output.stderr.contains("no value within the timeout of 2 s"), "{}", output.stderr);
    let pid = folder.read("pid");
    assert!(!pid.is_empty());
    // A zombie is as good as gone, and where nobody reaps orphans it is all that is left.
    let is_gone = || match std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())) {
        Ok(stat) => stat.contains(") Z "),
        Err(_) => !Command::new("sh")
            .args(["-c", &format!("kill -0 {pid} 2>/dev/null")])
            .status()
            .unwrap()
            .success(),
    };
    let gone = (0..100).any(|_| {
        sleep(Duration::from_millis(50));
        is_gone()
    });
    assert!(gone, "process {pid} still runs");
}

#[test]
fn a_child_left_behind_does_not_hold_up_the_trial() {
    let folder = Folder::new();
    shell_study(&folder, "sleep 1000 & echo 5", "");
    assert_eq!(states(&folder.trials(&[])), ["complete"; 3]);
}

#[test]
fn floods_on_either_pipe_do_not_block_a_trial() {
    let folder = Folder::new();
    let flood = "head -c 3000000 /dev/zero | tr '\\0' 'x'";
    shell_study(&folder, &format!("{flood} >&2; {flood}; yes | head -n 100000; echo; echo 7"), "");
    let trials = folder.trials(&[]);
    assert_eq!((states(&trials), &trials[0]["value"]), (vec!["complete"; 3], &Value::from(7.0)));
    serve_study(&folder, "sys.stderr.write('x' * 3000000); sys.stderr.flush(); return 1.5", 30.0);
    assert_eq!(states(&folder.trials(&[])), ["complete"; 4]);
}

#[test]
fn the_best_is_the_largest_or_the_smallest_as_the_study_says() {
    for (direction, sign) in [("maximize", 1.0), ("minimize", -1.0)] {
        let folder = Folder::new();
        shell_study(&folder, "echo $OPTIMIST_X", "");
        folder.write("study.toml", &folder.read("study.toml").replace("maximize", direction));
        let values: Vec<f64> =
            folder.trials(&["--trials", "8"]).iter().map(|trial| trial["value"].as_f64().unwrap()).collect();
        let best = (0..8).max_by(|&a, &b| (sign * values[a]).total_cmp(&(sign * values[b]))).unwrap();
        let output = folder.run(&["run", "study.toml", "--trials", "8"]).expect_code(0);
        let last_best = output.stderr.lines().last().unwrap().to_owned();
        assert!(last_best.contains(&format!("at trial {best}:")), "{direction}: {values:?}\n{last_best}");
    }
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_seed_another() {
    let folder = Folder::new();
    shell_study(&folder, "echo $OPTIMIST_X", "");
    let first = comparable(folder.trials(&[]));
    assert_eq!(first, comparable(folder.trials(&["--seed", "3"])));
    assert_ne!(first, comparable(folder.trials(&["--seed", "4"])));
}

#[test]
fn two_workers_measure_two_trials_at_the_same_time() {
    let folder = Folder::new();
    // Each trial waits for the other to have started.
    let script =
        "mkdir one 2>/dev/null || mkdir two; until [ -d one ] && [ -d two ]; do sleep 0.02; done; echo 1";
    shell_study(&folder, script, "workers = 2");
    let trials = folder.trials(&["--trials", "2"]);
    assert_eq!(states(&trials), ["complete"; 2]);
    assert_ne!(trials[0]["params"], trials[1]["params"]);

    serve_study(&folder, "time.sleep(0.05); return json.dumps({'value': 1, 'note': str(os.getpid())})", 30.0);
    let trials = folder.trials(&["--workers", "2", "--trials", "9"]);
    let numbers: Vec<u64> = trials.iter().filter_map(|trial| trial["trial"].as_u64()).collect();
    assert_eq!(numbers, (0..9).collect::<Vec<u64>>());
    let servers: BTreeSet<&str> = trials.iter().filter_map(|trial| trial["note"].as_str()).collect();
    assert_eq!(servers.len(), 2, "one process for each worker");
}

#[test]
fn json_lines_carry_all_that_the_command_said() {
    let folder = Folder::new();
    let reply =
        r#"{"value": 1.5, "noise_std": 0.25, "note": "warm", "metrics": {"loss": 3, "by_fold": [1, 2]}}"#;
    shell_study(&folder, &format!("echo '{reply}'"), "");
    let trial = folder.trials(&["--trials", "1"]).remove(0);
    let mut expected: Value = serde_json::from_str(reply).unwrap();
    for key in ["params", "seconds", "worker"] {
        expected[key] = trial[key].clone();
    }
    expected["trial"] = 0.into();
    expected["state"] = "complete".into();
    expected["source"] = "suggested".into();
    expected["why"] = serde_json::json!({ "phase": "explore" });
    assert_eq!(trial, expected);
    assert!(trial["seconds"].is_number() && trial["params"]["x"].is_number());
}

#[test]
fn a_run_without_any_value_fails_and_says_why() {
    let folder = Folder::new();
    shell_study(&folder, "echo 'no such bean' >&2; exit 3", "");
    let output = folder.run(&["run", "study.toml"]).expect_code(1);
    assert_eq!(output.stdout, "");
    for part in ["error: all 3 trials failed", "exited with status 3", "no such bean"] {
        assert!(output.stderr.contains(part), "no `{part}` in:\n{}", output.stderr);
    }
}

#[test]
fn a_command_that_cannot_be_started_ends_the_run_at_once() {
    let folder = Folder::new();
    shell_study(&folder, "", "");
    folder.write("study.toml", &folder.read("study.toml").replace("\"sh\"", "\"no-such-program\""));
    let output = folder.run(&["run", "study.toml"]).expect_code(1);
    assert!(output.stderr.starts_with("error: cannot start `no-such-program`"), "{}", output.stderr);
    assert!(output.stderr.contains("check `command` in [objective]"), "{}", output.stderr);
}

#[test]
fn commands_run_in_the_folder_of_the_study_file() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("inner")).unwrap();
    shell_study(&folder, ". ./value.sh", "");
    let study = folder.read("study.toml").replace("\"sh\", \"-c\"", "\"./objective\"");
    folder.write("inner/study.toml", &study).write("inner/objective", "#!/bin/sh\necho 4\n");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path().join("inner/objective"), executable).unwrap();
    folder.run(&["run", "inner/study.toml"]).expect_code(0);
}

#[test]
fn interrupting_a_run_shows_what_was_found_so_far() {
    let folder = Folder::new();
    // The second trial interrupts the run, then ends as if nothing had happened.
    let script = "if mkdir first 2>/dev/null; then echo 1; else kill -INT $PPID; sleep 0.3; echo 2; fi";
    shell_study(&folder, script, "");
    let output = folder.run(&["run", "study.toml", "--trials", "50"]).expect_code(130);
    assert!(output.stdout.contains(": 2 trials in"), "{}", output.stdout);
    assert!(output.stderr.contains("stopped after 2 of 50 trials"), "{}", output.stderr);

    shell_study(&folder, "kill -TERM $PPID; sleep 1000; echo 2", "");
    let output = folder.run(&["run", "study.toml"]).expect_code(130);
    assert!(output.stderr.contains("stopped after 2 of 3 trials"), "{}", output.stderr);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let folder = Folder::new();
    shell_study(&folder, "echo 1", "");
    let mut child = folder
        .optimist(&["run", "study.toml", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !stderr.contains("error"), "{stderr}");
}

#[test]
fn help_and_version_are_there() {
    let folder = Folder::new();
    for (args, part) in [
        (&["--help"][..], "Run a study file, or resume its study"),
        (&["run", "--help"], "optimist run study.toml --json > trials.jsonl"),
        (&["--version"], concat!("optimist ", env!("CARGO_PKG_VERSION"))),
    ] {
        let output = folder.run(args).expect_code(0);
        assert!(output.stdout.contains(part), "no `{part}` in:\n{}", output.stdout);
    }
    folder.run(&["run", "study.toml", "--trials", "0"]).expect_code(2);
}

#[test]
fn a_mixture_adds_up_in_every_trial() {
    let folder = Folder::new();
    let part = |name: &str, step: &str| {
        format!("[parameters.{name}]\ntype = \"float\"\nlow = 0\nhigh = 1\n{step}\n")
    };
    let study = format!(
        "direction = \"maximize\"\ntrials = 12
constraints = [\"copper + zinc + tin = 1\", \"tin <= 0.5*copper\"]
[objective]
command = [\"sh\", \"-c\", 'echo \"$OPTIMIST_ZINC\"']
{}{}{}",
        part("copper", ""),
        part("zinc", ""),
        part("tin", "step = 0.05")
    );
    folder.write("study.toml", &study);
    let trials = folder.trials(&[]);
    assert_eq!(trials.len(), 12);
    for trial in &trials {
        let [copper, zinc, tin] =
            ["copper", "zinc", "tin"].map(|name| trial["params"][name].as_f64().unwrap());
        assert!((copper + zinc + tin - 1.0).abs() < 1e-9, "{trial}");
        assert!(tin <= 0.5 * copper + 1e-9, "{trial}");
    }
    let best = trials.iter().filter_map(|trial| trial["value"].as_f64()).fold(0.0, f64::max);
    assert!(best > 0.99, "zinc alone is best, {best} was found");
}
