//! Workers with functions: whatever a function returns or does, each trial ends as what it is.

use std::ops::ControlFlow;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

use optimist::space::Value;
use optimist_study::worker::{Ending, work};
use optimist_study::{
    Evaluation, Evaluator, FailureKind, Interrupt, Job, Measurement, StartError, Storage, Study, StudyFile,
    Trial, TrialState,
};

fn create(storage: &Storage, lines: &str) -> Study {
    let text = format!(
        "name = 's'\ndirection = 'minimize'\noptimizer.name = 'random'\n{lines}
        parameters.x = {{ type = 'float', low = 0.0, high = 1.0 }}"
    );
    Study::create(storage, StudyFile::parse(&text).unwrap().definition).unwrap()
}

fn run(lines: &str, evaluator: impl Evaluator + Clone + Send) -> (Study, Ending) {
    run_on(create(&Storage::memory(), lines), evaluator, 1)
}

fn run_on(study: Study, evaluator: impl Evaluator + Clone + Send, workers: usize) -> (Study, Ending) {
    work(study, evaluator, workers, &Interrupt::default(), |_| ControlFlow::Continue(())).unwrap()
}

fn x(job: &Job) -> f64 {
    job.params.get("x").and_then(Value::as_f64).unwrap()
}

/// The kind and the reason of a failure.
fn failure(trial: &Trial) -> (FailureKind, &str) {
    assert_eq!(trial.state, TrialState::Failed);
    let failure = trial.failure.as_ref().unwrap();
    (failure.kind.unwrap(), &failure.reason)
}

#[test]
fn four_workers_measure_with_one_closure_at_the_same_time() {
    let folder = tempfile::tempdir().unwrap();
    for storage in [Storage::memory(), Storage::sqlite(folder.path().join("a.db"))] {
        let all_four = Barrier::new(4);
        let study = create(&storage, "trials = 12");
        let (study, ending) = run_on(
            study,
            |job: &Job| {
                all_four.wait();
                (x(job) - 0.3).powi(2)
            },
            4,
        );
        assert!(matches!(ending, Ending::Over(_)), "{ending:?}");
        assert_eq!(study.state().count(TrialState::Complete), 12);
        let mut study = Study::open(&storage, "s").unwrap();
        assert_eq!(study.verify(|_| ()).unwrap().mismatches, []);
        for trial in study.state().trials() {
            let x = trial.params.get("x").and_then(Value::as_f64).unwrap();
            assert_eq!(trial.value(), Some((x - 0.3).powi(2)));
        }
    }
}

#[test]
fn an_error_fails_its_trial_and_no_other() {
    let objective = |job: &Job| match job.trial {
        1 => Err(format!("no such bean: {}", job.trial)),
        _ => Ok(x(job)),
    };
    let (study, ending) = run("trials = 3", objective);
    assert!(matches!(ending, Ending::Over(_)), "{ending:?}");
    assert_eq!(study.state().count(TrialState::Complete), 2);
    assert_eq!(failure(&study.state().trials()[1]), (FailureKind::Infeasible, "no such bean: 1"));
}

#[test]
fn a_panic_fails_its_trial_and_no_other() {
    let objective = |job: &Job| match job.trial {
        0 => panic!("out of beans"),
        1 => panic!("trial {} has none", job.trial),
        2 => std::panic::panic_any(7),
        _ => x(job),
    };
    let (study, ending) = run("trials = 5", objective);
    assert!(matches!(ending, Ending::Over(_)), "{ending:?}");
    let reasons = ["out of beans", "trial 1 has none", "without a message"];
    for (trial, message) in study.state().trials().iter().zip(reasons) {
        let reason = format!("the objective panicked: {message}");
        assert_eq!(failure(trial), (FailureKind::Crashed, reason.as_str()));
    }
    assert_eq!(study.state().count(TrialState::Complete), 2);
}

#[test]
fn panics_in_a_row_end_a_run_as_other_failures_do() {
    let objective = |_: &Job| -> f64 { panic!("out of beans") };
    let (study, ending) = run("trials = 50\nmax_failures = 3", objective);
    assert!(
        matches!(&ending, Ending::Failures { n: 3, last } if last.contains("out of beans")),
        "{ending:?}"
    );
    assert_eq!(study.state().trials().len(), 3);
}

#[test]
fn after_a_panic_another_clone_takes_over() {
    let mut n_calls = 0;
    let objective = move |_: &Job| {
        n_calls += 1;
        assert!(n_calls < 3, "broken for good");
        f64::from(n_calls)
    };
    let (study, _) = run("trials = 6", objective);
    let values: Vec<Option<f64>> = study.state().trials().iter().map(Trial::value).collect();
    assert_eq!(values, [Some(1.0), Some(2.0), None, Some(1.0), Some(2.0), None]);
}

#[test]
fn a_value_that_is_not_finite_fails_its_trial_and_no_other() {
    let objective = |job: &Job| if job.trial == 0 { f64::NAN } else { x(job) };
    let (study, _) = run("trials = 2", objective);
    let reason = "the value must be a finite number, got NaN";
    assert_eq!(failure(&study.state().trials()[0]), (FailureKind::Unreadable, reason));
    assert_eq!(study.state().count(TrialState::Complete), 1);
}

#[test]
fn what_comes_with_a_value_is_kept() {
    let metrics = serde_json::json!({ "loss": 2.5 });
    let measured = Measurement {
        note: Some("warm".to_owned()),
        metrics: metrics.as_object().cloned().map(Box::new),
        ..Measurement::new(1.5).with_noise(0.1)
    };
    let (study, _) = run("trials = 1", |_: &Job| Ok::<_, String>(measured.clone()));
    assert_eq!(study.state().trials()[0].measurements, [measured]);
}

#[test]
fn a_run_that_is_to_stop_finishes_what_it_has_begun() {
    let (interrupt, n_measured) = (Interrupt::default(), AtomicUsize::new(0));
    let objective = |_: &Job| {
        interrupt.request();
        n_measured.fetch_add(1, Ordering::Relaxed);
        1.0
    };
    let study = create(&Storage::memory(), "trials = 50");
    let (study, ending) = work(study, objective, 2, &interrupt, |_| ControlFlow::Continue(())).unwrap();
    assert!(matches!(ending, Ending::Interrupted), "{ending:?}");
    assert!(study.state().trials().iter().all(|trial| trial.state == TrialState::Complete));
    assert_eq!(study.state().trials().len(), n_measured.into_inner());
}

#[test]
fn a_function_that_stops_now_leaves_its_trial_to_be_measured_again() {
    let interrupt = Interrupt::default();
    let objective = |_: &Job| {
        interrupt.request();
        interrupt.request();
        Evaluation::Stopped { reason: "Ctrl-C".to_owned() }
    };
    let study = create(&Storage::memory(), "trials = 1\nmax_attempts = 1");
    let (study, ending) = work(study, objective, 1, &interrupt, |_| ControlFlow::Continue(())).unwrap();
    assert!(matches!(ending, Ending::Interrupted), "{ending:?}");
    assert_eq!(study.state().trials()[0].state, TrialState::Waiting);
    let (study, _) = run_on(study, x, 1);
    assert_eq!(study.state().count(TrialState::Complete), 1);
}

/// Cannot measure anything.
#[derive(Clone)]
struct NoModel;

impl Evaluator for NoModel {
    fn evaluate(&mut self, _: &Job) -> Result<Evaluation, StartError> {
        Err(StartError { reason: "the model cannot be loaded".to_owned() })
    }
}

#[test]
fn an_evaluator_that_cannot_measure_anything_ends_the_run_and_costs_no_trial() {
    let (study, ending) = run("trials = 5\nmax_attempts = 1", NoModel);
    assert!(
        matches!(&ending, Ending::CannotStart(error) if error.reason == "the model cannot be loaded"),
        "{ending:?}"
    );
    assert_eq!(study.state().count(TrialState::Waiting), 1);
    let (study, _) = run_on(study, x, 1);
    assert_eq!(study.state().count(TrialState::Complete), 5);
}

#[test]
fn each_worker_has_a_clone_of_its_own() {
    let (both, mut n_calls) = (&Barrier::new(2), 0);
    let counting = move |_: &Job| {
        n_calls += 1;
        both.wait();
        f64::from(n_calls)
    };
    let (study, _) = run_on(create(&Storage::memory(), "trials = 6"), counting, 2);
    let mut values: Vec<f64> = study.state().trials().iter().filter_map(Trial::value).collect();
    values.sort_by(f64::total_cmp);
    assert_eq!(values, [1.0, 1.0, 2.0, 2.0, 3.0, 3.0]);
}
