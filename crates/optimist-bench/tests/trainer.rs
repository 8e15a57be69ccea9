//! Training: processes that speak the objective protocol, well or badly, and runs whose values they are. The
//! processes here are a few lines of Python's standard library; `classifiers.rs` has the real ones.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

use optimist::space::{Assignment, Value};
use optimist_bench::cache::Cache;
use optimist_bench::run::{Experiment, Grid, run};
use optimist_bench::trainer::{TrainError, Trainer};
use optimist_bench::{optimizers, results, task};

/// Answers with the tenth part of `x`, and writes its process id and each `x` to a file.
const HONEST: &str = r#"
import json, os, sys
for line in sys.stdin:
    x = json.loads(line)["params"]["x"]
    with open(sys.argv[1], "a") as log:
        log.write(f"{os.getpid()} {x}\n")
    if x < 0:
        print(json.dumps({"error": "x is negative"}), flush=True)
    elif x > 10:
        raise SystemExit("no luck")
    else:
        print(json.dumps({"value": x / 10}), flush=True)
"#;

fn trainer(script: &'static str, folder: &Path) -> Trainer {
    let log = folder.join("log");
    let command = move || {
        let mut command = Command::new("python3");
        command.args(["-c", script]).arg(&log);
        command
    };
    Trainer::new(command, Cache::open(&folder.join("cache.jsonl")).unwrap())
}

fn x(x: i64) -> Assignment {
    Assignment::from_iter([("x", x)])
}

/// The process ids and the values of x in the log.
fn log(folder: &Path) -> (BTreeSet<String>, Vec<String>) {
    let log = std::fs::read_to_string(folder.join("log")).unwrap();
    let lines = log.lines().map(|line| line.split_once(' ').unwrap());
    lines.map(|(process, x)| (process.to_owned(), x.to_owned())).unzip()
}

#[test]
fn a_process_is_kept_and_no_configuration_is_trained_twice() {
    let folder = tempfile::tempdir().unwrap();
    let trainer_a = trainer(HONEST, folder.path());
    for (given, expected) in [(3, 0.3), (4, 0.4), (3, 0.3)] {
        assert_eq!(trainer_a.accuracy(&x(given)).unwrap(), expected);
    }
    drop(trainer_a);
    let (processes, trained) = log(folder.path());
    assert_eq!((processes.len(), trained), (1, vec!["3".to_owned(), "4".to_owned()]));

    let trainer_b = trainer("raise SystemExit('nobody may ask')", folder.path());
    assert_eq!(trainer_b.accuracy(&x(3)).unwrap(), 0.3);
}

#[test]
fn there_are_at_most_as_many_processes_as_threads() {
    let folder = tempfile::tempdir().unwrap();
    let trainer = trainer(HONEST, folder.path());
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let trainer = &trainer;
            scope.spawn(move || (0..5).for_each(|i| assert!(trainer.accuracy(&x(2 * i + thread)).is_ok())));
        }
    });
    let (processes, trained) = log(folder.path());
    assert!((1..=2).contains(&processes.len()), "{processes:?}");
    assert_eq!(trained.len(), 10);
}

#[test]
fn what_went_wrong_is_said_and_the_next_training_is_not_harmed() {
    let folder = tempfile::tempdir().unwrap();
    let honest = trainer(HONEST, folder.path());
    let error = |given| honest.accuracy(&x(given)).unwrap_err().to_string();
    assert_eq!(error(-1), "the classifier reported `x is negative`");
    assert!(error(11).starts_with("the classifier's process ended without an answer; last output: no luck"));
    assert_eq!(honest.accuracy(&x(5)).unwrap(), 0.5);

    for answer in ["print('hello')", "print('{}')", "print('{\"value\": 1.5}')", "print('{\"value\": NaN}')"]
    {
        let folder = tempfile::tempdir().unwrap();
        let script = format!("input(); {answer}; import sys; sys.stdout.flush(); input()");
        let garbage = trainer(script.leak(), folder.path()).accuracy(&x(1));
        assert!(matches!(garbage, Err(TrainError::Garbage { .. })), "{answer}: {garbage:?}");
    }
}

/// Its second line would pass for the answer to the next trial.
#[test]
fn a_process_that_talked_nonsense_is_not_asked_again() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"
import json, sys
for line in sys.stdin:
    x = json.loads(line)["params"]["x"]
    if x == 1:
        print("hello")
    print(json.dumps({"value": x / 10}), flush=True)
"#;
    let trainer = trainer(script, folder.path());
    assert!(matches!(trainer.accuracy(&x(1)), Err(TrainError::Garbage { .. })));
    assert_eq!(trainer.accuracy(&x(2)).unwrap(), 0.2);
}

fn random_experiment(tasks: &[&str], reps: usize) -> Experiment {
    let grid = Grid { tasks: task::select(tasks).unwrap(), optimizers: vec!["random".into()], reps };
    Experiment { grids: vec![grid], horizon: None, seed: 0, jobs: 2 }
}

#[test]
fn repetition_k_is_tested_on_fold_k_modulo_5() {
    let folder = tempfile::tempdir().unwrap();
    let folds = Mutex::new(BTreeSet::new());
    let train = |params: &Assignment| {
        let fold = params.get("fold").and_then(Value::as_i64).unwrap();
        folds.lock().unwrap().insert(fold);
        Ok(fold as f64 / 10.0)
    };
    let experiment = random_experiment(&["gb-breast", "mlp-diabetes-typed"], 6);
    let out = folder.path().join("out");
    assert!(run(&experiment, &out, &optimizers::build, &train, &|_| {}).unwrap().is_empty());
    assert_eq!(folds.into_inner().unwrap(), BTreeSet::from([0, 1, 2, 3, 4]));
    for record in results::read(&out).unwrap() {
        assert_eq!(record.values, vec![(record.rep % 5) as f64 / 10.0; 72]);
    }
}

#[test]
fn a_training_that_fails_loses_its_own_cells_only() {
    let folder = tempfile::tempdir().unwrap();
    let train = |params: &Assignment| match params.get("data") {
        Some(Value::Text(data)) if data == "breast" => {
            Err(TrainError::Reported { message: "no luck".into() })
        }
        _ => Ok(0.5),
    };
    let experiment = random_experiment(&["rf-breast", "rf-diabetes"], 1);
    let failures = run(&experiment, &folder.path().join("out"), &optimizers::build, &train, &|_| {}).unwrap();
    let texts: Vec<String> = failures.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        ["random on rf-breast, repetition 0: round 1 has no value: the classifier reported `no luck`"]
    );
}
