//! Asks for many workers at once: what one after the other would be given, in one append, and suggested again by `verify`.

use optimist::space::{Assignment, Value};
use optimist_study::{
    Evaluation, Event, FailureKind, Job, Measurement, Record, Source, Storage, Study, StudyError, StudyFile,
    TrialState, log::Log,
};
use std::ops::ControlFlow;

const STUDY: &str = "
    name = 'oven'
    direction = 'minimize'
    trials = 30
    parameters.x = { type = 'float', low = 0, high = 1 }
    parameters.gas = { type = 'categorical', choices = ['argon', 'neon'] }
    parameters.flow = { type = 'float', low = 0, high = 1, when = { gas = 'argon' } }";

const OPTIMIZERS: [&str; 6] = ["go-ucb", "gp-ei", "tpe", "cma-es", "turbo", "random"];

fn begin(storage: &Storage, text: &str) -> Study {
    Study::create(storage, StudyFile::parse(text).unwrap().definition).unwrap()
}

fn value(job: &Job) -> f64 {
    (job.params.get("x").and_then(Value::as_f64).unwrap() - 0.3).powi(2)
}

fn tell(study: &mut Study, job: &Job) {
    study.tell(job.trial, value(job), None).unwrap();
}

fn point(x: f64) -> Assignment {
    Assignment::from_iter([("x", Value::from(x)), ("gas", Value::from("neon"))])
}

fn n_in_batches(study: &Study) -> usize {
    let is_in_one = |source| matches!(source, Source::Suggested { since: Some(_), .. });
    study.state().trials().iter().filter(|trial| is_in_one(trial.source)).count()
}

#[test]
fn a_batch_is_what_one_after_the_other_would_be_given() {
    for optimizer in OPTIMIZERS {
        let text = format!("{STUDY}\noptimizer.name = '{optimizer}'");
        let (mut many, mut one) = (begin(&Storage::memory(), &text), begin(&Storage::memory(), &text));
        for k in [1, 4, 2, 5, 3] {
            let batch = many.ask_many(k, None, None).unwrap();
            let single: Vec<Job> = (0..k).map(|_| one.ask(None).unwrap()).collect();
            assert_eq!(batch.len(), k);
            for (a, b) in batch.iter().zip(&single) {
                assert_eq!((a.trial, &a.params, &a.why), (b.trial, &b.params, &b.why), "{optimizer}");
            }
            for job in &batch {
                tell(&mut many, job);
                tell(&mut one, job);
            }
        }
        assert_eq!(n_in_batches(&many), 10);
        for study in [&mut many, &mut one] {
            let verification = study.verify(|_| ()).unwrap();
            assert_eq!((verification.n_suggestions, verification.mismatches), (15, vec![]), "{optimizer}");
        }
    }
}

#[test]
fn a_batch_has_what_waits_first_then_the_queue_then_suggestions() {
    let storage = Storage::memory();
    let mut study = begin(&storage, STUDY);
    let jobs = study.ask_many(3, None, None).unwrap();
    study.tell(0, Evaluation::Stopped { reason: "a break".to_owned() }, None).unwrap();
    tell(&mut study, &jobs[1]);
    study.enqueue(&point(0.5)).unwrap();
    let batch = study.claim_many(4).unwrap();
    let trials: Vec<usize> = batch.iter().map(|job| job.trial).collect();
    assert_eq!(trials, [0, 3, 4, 5]);
    assert_eq!((batch[1].source, &batch[1].params), (Source::Enqueued, &point(0.5)));
    let since = |job: &Job| match job.source {
        Source::Suggested { since, .. } => since,
        _ => None,
    };
    assert_eq!([since(&batch[2]), since(&batch[3])], [Some(3); 2], "they know of the queued point");
    assert_eq!(study.leases().unwrap().len(), 4);
    assert_eq!(study.verify(|_| ()).unwrap().mismatches, []);
}

#[test]
fn a_batch_under_the_plan_ends_with_it() {
    let mut study = begin(&Storage::memory(), &STUDY.replace("30", "5"));
    assert_eq!(study.claim_many(3).unwrap().len(), 3);
    assert_eq!(study.claim_many(3).unwrap().len(), 2);
    assert_eq!(study.claim_many(3).unwrap(), []);
    let stopped = Evaluation::Stopped { reason: "a break".to_owned() };
    study.tell(1, stopped, None).unwrap();
    let again: Vec<usize> = study.claim_many(3).unwrap().iter().map(|job| job.trial).collect();
    assert_eq!(again, [1]);
}

#[test]
fn as_many_are_asked_for_as_wanted_when_points_are_measured_again() {
    let mut study = begin(&Storage::memory(), &format!("{STUDY}\nreplicates = 3"));
    let first = study.ask_many(6, None, None).unwrap();
    first.iter().for_each(|job| tell(&mut study, job));
    let batch = study.ask_many(5, None, None).unwrap();
    let n_repeated = batch.iter().filter(|job| matches!(job.source, Source::Replicate { .. })).count();
    assert_eq!((batch.len(), n_repeated), (5, 2));
    assert_eq!(study.verify(|_| ()).unwrap().mismatches, []);
}

#[test]
fn verify_makes_batches_again_whatever_happens_around_them() {
    for optimizer in OPTIMIZERS {
        let storage = Storage::memory();
        let text = format!("{STUDY}\noptimizer.name = '{optimizer}'");
        let mut study = begin(&storage, &text);
        let mut other = Study::open(&storage, "oven").unwrap();
        let mut running: Vec<Job> = Vec::new();
        for round in 0..6 {
            running.extend(study.ask_many(1 + round % 4, None, None).unwrap());
            running.extend(other.ask_many(3, Some("another"), None).unwrap());
            for job in running.split_off(running.len() / 2) {
                match job.trial % 5 {
                    0 => {
                        let failed = Evaluation::failed(FailureKind::Crashed, "smoke");
                        other.tell(job.trial, failed, None).unwrap();
                    }
                    1 => drop(other.cancel(job.trial)),
                    _ => tell(&mut study, &job),
                }
            }
        }
        let verification = Study::open(&storage, "oven").unwrap().verify(|_| ()).unwrap();
        assert_eq!(verification.mismatches, [], "{optimizer}");
        assert!(verification.n_suggestions > 20 && n_in_batches(&study) > 10);
    }
}

#[test]
fn only_records_of_a_batch_need_a_newer_program() {
    let storage = Storage::memory();
    let mut study = begin(&storage, STUDY);
    study.ask_many(2, None, None).unwrap();
    let mut versions = Vec::new();
    let mut log: Box<dyn Log> = storage.connect().unwrap();
    log.read(study.id(), 0, &mut |_, body| {
        versions.push(Record::from_json(body).unwrap().v);
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(versions, [1, 1, 5]);
}

#[test]
fn a_batch_whose_other_trials_are_missing_is_an_error_and_no_other_suggestion() {
    let storage = Storage::memory();
    let mut study = begin(&storage, STUDY);
    let job = study.ask(None).unwrap();
    let source = Source::Suggested { seen: 2, gain: None, engine: None, since: Some(0) };
    let event = Event::Asked { trial: 1, params: job.params, source, worker: None, why: None };
    let body = Record::new(3, event).to_json().unwrap();
    storage.connect().unwrap().append(study.id(), 2, &[body], &[]).unwrap();
    let error = Study::open(&storage, "oven").unwrap().verify(|_| ()).unwrap_err();
    assert!(matches!(error, StudyError::Broken { seq: 3, .. }), "{error}");
    assert!(error.to_string().contains("whose other trials were not asked for with it"), "{error}");
}

#[test]
fn a_study_of_which_little_is_loaded_gives_batches_too() {
    let folder = tempfile::tempdir().unwrap();
    let storage = Storage::sqlite(folder.path().join("a.db"));
    let mut study = begin(&storage, &format!("{STUDY}\noptimizer.name = 'random'"));
    for _ in 0..60 {
        let jobs = study.ask_many(10, None, None).unwrap();
        jobs.iter()
            .for_each(|job| study.tell(job.trial, Measurement::new(value(job)), None).map(drop).unwrap());
    }
    let mut brief = optimist_study::AskTell::open(&storage, "oven").unwrap();
    let jobs = brief.ask_many(4, None, None).unwrap();
    assert_eq!(jobs.iter().map(|job| job.trial).collect::<Vec<_>>(), [600, 601, 602, 603]);
    study.refresh().unwrap();
    assert!(study.state().trials()[600..].iter().all(|trial| trial.state == TrialState::Running));
    assert_eq!(study.verify(|_| ()).unwrap().mismatches, []);
}
