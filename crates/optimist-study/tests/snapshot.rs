//! A snapshot beside the log saves time and changes nothing: whoever asks and tells with its help does what the whole log would have
//! them do, and where it does not fit the log it is not used.

use std::path::Path;

use optimist::rng;
use optimist::space::{Assignment, Value};
use optimist_study::{
    Amendment, AskTell, Evaluation, FailureKind, Measurement, Storage, Study, StudyFile, TrialState,
};
use proptest::prelude::RngExt;
use rusqlite::Connection;

const STUDY: &str = "
    name = 's'
    direction = 'minimize'
    trials = 5000
    parameters.x = { type = 'float', low = 0, high = 1 }
    parameters.gas = { type = 'categorical', choices = ['argon', 'neon'] }
    parameters.flow = { type = 'float', low = 0, high = 1, when = { gas = 'argon' } }";

/// A study of `n` trials and one that runs, with a snapshot.
fn large(storage: &Storage, optimizer: &str, n: usize) {
    let text = format!("{STUDY}\noptimizer.name = '{optimizer}'");
    let memory = Storage::memory();
    let mut study = Study::create(&memory, StudyFile::parse(&text).unwrap().definition).unwrap();
    let jobs: Vec<_> = (0..n).map(|_| study.ask(None).unwrap()).collect();
    for job in jobs {
        let x = job.params.get("x").and_then(Value::as_f64).unwrap();
        study.tell(job.trial, (x - 0.3).powi(2), None).unwrap();
    }
    copy(&memory, storage).ask(None).unwrap();
}

fn n_pages(path: &Path) -> i64 {
    Connection::open(path).unwrap().query_row("SELECT count(*) FROM pages", [], |row| row.get(0)).unwrap()
}

/// The same log in another storage.
fn copy(from: &Storage, to: &Storage) -> Study {
    let mut lines = Vec::new();
    let mut study = Study::open(from, "s").unwrap();
    study
        .export(|line| {
            lines.push(line.to_owned());
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
    Study::restore(to, lines.iter().map(String::as_str), None).unwrap()
}

#[test]
fn an_ask_suggests_what_the_whole_log_suggests() {
    for optimizer in ["random", "tpe", "cma-es", "go-ucb"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let storage = Storage::sqlite(&path);
        large(&storage, optimizer, if optimizer == "go-ucb" { 501 } else { 700 });
        assert!(n_pages(&path) > 10, "there is a snapshot");
        for round in 0..3 {
            let expected = copy(&storage, &Storage::memory()).ask(None).unwrap();
            let job = AskTell::open(&storage, "s").unwrap().ask_within(None, None).unwrap();
            assert_eq!((&job.params, job.trial), (&expected.params, expected.trial), "{optimizer} {round}");
            let mut teller = AskTell::open(&storage, "s").unwrap();
            teller.tell_with(job.trial, f64::from(round), None, &Assignment::default()).unwrap();
        }
    }
}

#[test]
fn whatever_is_done_with_a_snapshot_leaves_the_same_study() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let storage = Storage::sqlite(&path);
    large(&storage, "random", 600);
    let mut luck = rng(0, 0);
    let none = Assignment::default();
    for step in 0..150 {
        let n = Study::open(&storage, "s").unwrap().state().n_trials();
        // A few hands, each of whom does several things before the next comes.
        let mut hand = AskTell::open(&storage, "s").unwrap();
        for _ in 0..luck.random_range(1..20) {
            let trial = luck.random_range(0..n);
            match luck.random_range(0..8) {
                0 | 1 => drop(hand.ask_within(Some("me"), None).unwrap()),
                2 => {
                    hand.tell_with(trial, f64::from(step) - 50.0, None, &none).unwrap();
                }
                3 => {
                    let failed = Evaluation::failed(FailureKind::Retried, "again");
                    hand.tell_with(trial, failed, None, &none).unwrap();
                }
                4 => drop(hand.cancel(trial)),
                5 if luck.random_range(0..20) == 0 => {
                    let outcome = Some(Amendment::Measured(Measurement::new(-1e3 + f64::from(step))));
                    let _ = Study::open(&storage, "s").unwrap().amend(trial, &none, outcome, None); // if it has ended
                }
                _ => {
                    let mut hand = AskTell::open(&storage, "s").unwrap();
                    let whole = Study::open(&storage, "s").unwrap();
                    assert_eq!(hand.trial(trial).unwrap(), &whole.state().trials()[trial]);
                    let best = whole.state().best_observed().map(|best| (best.number, best.value().unwrap()));
                    assert_eq!(hand.best_observed().unwrap(), best);
                    assert_eq!(hand.n_counted(), whole.state().n_counted());
                }
            }
        }
    }
    let mut study = Study::open(&storage, "s").unwrap();
    assert!(study.state().count(TrialState::Waiting) + study.state().count(TrialState::Cancelled) > 0);
    assert_eq!(study.verify(|_| ()).unwrap().mismatches, []);
}

#[test]
fn a_snapshot_that_does_not_fit_the_log_is_not_used() {
    for damage in [
        "UPDATE pages SET body = x'7b7d' WHERE page = 0",
        "UPDATE pages SET seq = seq - 1",
        "UPDATE pages SET body = zeroblob(length(body)) WHERE page > 0",
        "UPDATE pages SET page = page + 3000 WHERE page > 0",
        "UPDATE pages SET study = 7",
        "DELETE FROM pages WHERE page > 0",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let storage = Storage::sqlite(&path);
        large(&storage, "random", 600);
        let expected = copy(&storage, &Storage::memory()).ask(None).unwrap();
        Connection::open(&path).unwrap().execute_batch(damage).unwrap();
        let mut hand = AskTell::open(&storage, "s").unwrap();
        let whole = Study::open(&storage, "s").unwrap();
        assert_eq!(hand.trial(3).unwrap(), &whole.state().trials()[3], "{damage}");
        assert_eq!(hand.ask_within(None, None).unwrap().params, expected.params, "{damage}");
    }
}
