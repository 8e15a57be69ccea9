//! What was told can be taken back: the log keeps it, the optimizer learns the truth, and `verify` understands.

use optimist::space::{Assignment, Value};
use optimist_study::{
    Amendment, Evaluation, Event, FailureKind, Job, Kept, Measurement, Record, Storage, Study, StudyError,
    StudyFile, TrialState,
};

const STUDY: &str = "
    name = 'film'
    direction = 'minimize'
    trials = 30
    parameters.x = { type = 'float', low = 0, high = 1 }
    parameters.gas = { type = 'categorical', choices = ['argon', 'neon'] }
    parameters.flow = { type = 'float', low = 0, high = 1, when = { gas = 'argon' } }";

fn begin(text: &str) -> Study {
    Study::create(&Storage::memory(), StudyFile::parse(text).unwrap().definition).unwrap()
}

fn value(job: &Job) -> f64 {
    let x = job.params.get("x").and_then(Value::as_f64).unwrap();
    (x - 0.3).powi(2)
}

fn with(name: &str, value: impl Into<Value>) -> Assignment {
    Assignment::from_iter([(name, value.into())])
}

fn measured(value: f64) -> Option<Amendment> {
    Some(Amendment::Measured(Measurement::new(value)))
}

#[test]
fn an_optimizer_suggests_after_an_amendment_what_it_would_have_suggested_without_the_mistake() {
    for optimizer in ["go-ucb", "gp-ei", "tpe", "cma-es", "turbo"] {
        let text = format!("{STUDY}\noptimizer.name = '{optimizer}'");
        let (mut wrong, mut right) = (begin(&text), begin(&text));
        for trial in 0..12 {
            let job = right.ask(None).unwrap();
            assert_eq!(wrong.ask(None).unwrap().params, job.params);
            right.tell(job.trial, value(&job), None).unwrap();
            wrong.tell(job.trial, value(&job) + if trial == 11 { 1e3 } else { 0.0 }, None).unwrap();
        }
        let truth = right.state().trials()[11].value().unwrap();
        assert_eq!(
            wrong.amend(11, &Assignment::default(), measured(truth), Some("typo")).unwrap(),
            Kept::Stored
        );
        assert_eq!(wrong.amend(11, &Assignment::default(), measured(truth), None).unwrap(), Kept::Already);
        for _ in 0..3 {
            let (a, b) = (wrong.ask(None).unwrap(), right.ask(None).unwrap());
            assert_eq!(a.params, b.params, "{optimizer}");
            wrong.tell(a.trial, value(&a), None).unwrap();
            right.tell(b.trial, value(&b), None).unwrap();
        }
        assert_eq!(wrong.recommend().unwrap(), right.recommend().unwrap());
        assert_eq!(wrong.verify(|_| ()).unwrap().mismatches, [], "{optimizer}");
        let before = &wrong.state().trials()[11].amendments[0];
        assert_eq!((before.values.as_slice(), before.reason.as_deref()), (&[truth + 1e3][..], Some("typo")));
    }
}

#[test]
fn what_was_really_used_is_what_the_optimizer_learns_from() {
    let mut study = begin(STUDY);
    study
        .enqueue(&Assignment::from_iter([
            ("x", 0.5.into()),
            ("gas", "argon".into()),
            ("flow", Value::Float(0.5)),
        ]))
        .unwrap();
    study.ask(None).unwrap();
    study.tell_with(0, 2.0, None, &with("x", 0.36)).unwrap();
    let params = |study: &Study| study.state().trials()[0].params.clone();
    assert_eq!(params(&study).float("x"), 0.36);
    let best = study.recommend().unwrap().unwrap();
    assert_eq!((best.trial, best.params.float("x")), (Some(0), 0.36));

    let error = study.tell_with(0, 3.0, None, &with("x", 0.4)).unwrap_err();
    assert!(matches!(error, StudyError::OtherPoint { trial: 0 }), "{error}");
    study.amend(0, &with("gas", "neon"), None, None).unwrap();
    assert_eq!(params(&study), Assignment::from_iter([("x", Value::Float(0.36)), ("gas", "neon".into())]));
    for (name, wrong) in [("x", Value::Float(1.5)), ("y", Value::Float(0.5)), ("flow", Value::Float(0.5))] {
        let error = study.amend(0, &with(name, wrong), None, None).unwrap_err();
        assert!(matches!(error, StudyError::Space(_)), "{error}");
    }
    study.ask(None).unwrap();
    assert_eq!(study.verify(|_| ()).unwrap().mismatches, []);
}

#[test]
fn a_told_trial_can_be_failed_or_cancelled_and_failed_ones_are_put_back() {
    let mut study = begin(STUDY);
    (0..4).for_each(|_| drop(study.ask(None).unwrap()));
    for trial in 0..2 {
        study.tell(trial, 1.0, None).unwrap();
    }
    study.tell(2, Evaluation::failed(FailureKind::Crashed, "exit 1"), None).unwrap();
    let nothing = Assignment::default();
    study
        .amend(0, &nothing, Some(Amendment::Failed { reason: "it peeled off".to_owned(), known: None }), None)
        .unwrap();
    study.amend(1, &nothing, Some(Amendment::Cancelled), None).unwrap();
    assert!(study.recommend().unwrap().is_none(), "nothing has a value");
    assert_eq!((study.state().n_counted(), study.state().count(TrialState::Failed)), (3, 2));

    let error = study.amend(3, &nothing, measured(1.0), None).unwrap_err().to_string();
    assert!(error.contains("trial 3 is running: there is nothing to amend yet"), "{error}");
    assert!(matches!(study.retry(&[2, 3]), Err(StudyError::NotFailed { trial: 3, .. })));
    assert_eq!(study.state().waiting().count(), 0, "all or none");
    assert_eq!(study.retry(&[2, 0, 2]).unwrap(), [2, 0]);
    assert_eq!(study.retry(&[2]).unwrap(), [] as [usize; 0], "it waits already");
    let again = study.ask(None).unwrap();
    assert_eq!((again.trial, &again.params), (0, &study.state().trials()[0].params));
    study.tell(0, 0.5, None).unwrap();
    assert_eq!(study.state().trials()[0].value(), Some(0.5));
    study.ask(None).unwrap();
    study.ask(None).unwrap();
    assert_eq!(study.verify(|_| ()).unwrap().mismatches, []);
}

#[test]
fn a_space_becomes_wider_and_old_trials_stay() {
    let storage = Storage::memory();
    let definition = |text: &str| StudyFile::parse(text).unwrap().definition;
    let mut study = Study::create(&storage, definition(STUDY)).unwrap();
    for _ in 0..8 {
        let job = study.ask(None).unwrap();
        study.tell(job.trial, value(&job), None).unwrap();
    }
    let before = study.state().trials().to_vec();
    let wider =
        STUDY.replace("low = 0, high = 1 }", "low = -1, high = 2 }").replace("'neon'", "'neon', 'xenon'");
    let (mut study, _) = Study::resume_or_create(&storage, definition(&wider)).unwrap();
    assert_eq!(study.state().trials(), before);
    let widening = &study.state().widenings()[0];
    assert_eq!(widening.changes, ["x: from -1 to 2 (was 0 to 1)", "gas: also xenon"]);
    for _ in 0..6 {
        let job = study.ask(None).unwrap();
        study.tell(job.trial, value(&job), None).unwrap();
    }
    assert_eq!(study.verify(|_| ()).unwrap().mismatches, []);
    let is_new = |trial: &optimist_study::Trial| {
        !(0.0..=1.0).contains(&trial.params.float("x")) || trial.params.text("gas") == "xenon"
    };
    assert!(study.state().trials()[8..].iter().any(is_new), "the new part is searched");

    for narrower in [
        STUDY.to_owned(),
        wider.replace("'xenon'", "'radon'"),
        wider.replace("type = 'float', low = 0", "type = 'float', log = true, low = 0.1"),
    ] {
        let error = Study::resume_or_create(&storage, definition(&narrower)).err().unwrap().to_string();
        assert!(error.contains("only wider bounds and further choices are possible"), "{error}");
    }
}

#[test]
fn older_programs_are_told_that_the_study_is_newer_only_once_it_is() {
    let version = |event| Record::new(2, event).v;
    assert_eq!(version(Event::Cancelled { trial: 0 }), 1);
    assert_eq!(
        version(Event::Amended { trial: 0, params: None, outcome: Some(Amendment::Waiting), reason: None }),
        2
    );
}
