//! What is printed as JSON, key by key: others read it.

use std::time::Duration;

use optimist::space::{Assignment, Value};
use optimist_study::view::{ListedStudy, StudySummary, StudyView};
use optimist_study::{Evaluation, Measurement, Storage, Study, StudyFile};
use serde_json::json;

const STUDY: &str = "
    name = 'film'
    direction = 'minimize'
    seed = 7
    trials = 5
    target = -2.0
    optimizer.name = 'sobol'
    parameters.gas = { type = 'categorical', choices = ['argon', 5] }
    parameters.flow = { type = 'float', low = 0.1, high = 10, log = true, when = { gas = 'argon' } }";

fn point(gas: impl Into<Value>) -> Assignment {
    Assignment::from_iter([("gas", gas.into())])
}

/// Trial 0 complete, 1 failed, 2 cancelled, 3 running on a lease, 4 running, 5 put back; one point in the queue.
fn film(storage: &Storage) -> Study {
    let mut study = Study::create(storage, StudyFile::parse(STUDY).unwrap().definition).unwrap();
    (0..7).for_each(|_| study.enqueue(&point(5)).unwrap());
    (0..3).for_each(|_| drop(study.ask(None).unwrap()));
    study.tell(0, Measurement::new(1.5), None).unwrap();
    let kind = optimist_study::FailureKind::Infeasible;
    let reason = "it peeled off".to_owned();
    study.tell(1, Evaluation::Failed { kind, reason, stderr: None, known: None }, None).unwrap();
    study.cancel(2).unwrap();
    study.ask_within(Some("anna"), Some(Duration::from_secs(86_400))).unwrap();
    (0..2).for_each(|_| drop(study.ask(None).unwrap()));
    study.tell(5, Evaluation::Stopped { reason: "power cut".to_owned() }, None).unwrap();
    study
}

fn shown(study: &mut Study) -> String {
    let (best, leases) = (study.recommend().unwrap(), study.leases().unwrap());
    serde_json::to_string(&StudyView::new(study, best, &leases)).unwrap()
}

#[test]
fn a_study_is_written_as_one_object() {
    let mut study = film(&Storage::memory());
    let written = shown(&mut study);
    let asked_at = |trial: usize| study.state().trials()[trial].asked_at;
    let expected = format!(
        concat!(
            r#"{{"study":"film","storage":"memory","created_at":{},"direction":"minimize","seed":7,"#,
            r#""optimizer":{{"name":"sobol"}},"#,
            r#""space":{{"parameters":[{{"name":"gas","type":"categorical","choices":["argon",5]}},"#,
            r#"{{"name":"flow","type":"float","low":0.1,"high":10.0,"log":true,"#,
            r#""when":[{{"parameter":"gas","value":"argon"}}]}}]}},"#,
            r#""plan":{{"trials":5,"workers":1,"objective":null,"lease":60.0,"max_attempts":3,"max_failures":null,"#,
            r#""replicates":1,"max_time":null,"target":-2.0,"min_gain":null}},"#,
            r#""trials":6,"done":2,"complete":1,"failed":1,"cancelled":1,"over":"all planned trials done","#,
            r#""best":{{"trial":0,"params":{{"gas":5}},"expected":1.5,"std":null,"value":1.5}},"#,
            r#""running":[{{"trial":3,"params":{{"gas":5}},"state":"running","source":"enqueued","worker":"anna","#,
            r#""lease":"held","asked_at":{}}},"#,
            r#"{{"trial":4,"params":{{"gas":5}},"state":"running","source":"enqueued","lease":"none","#,
            r#""asked_at":{}}}],"#,
            r#""waiting":[{{"trial":5,"params":{{"gas":5}},"state":"waiting","source":"enqueued","#,
            r#""reason":"power cut","lease":"none","asked_at":{}}}],"#,
            r#""queue":[{{"gas":5}}],"suggestions":[]}}"#
        ),
        study.state().created_at(),
        asked_at(3),
        asked_at(4),
        asked_at(5)
    );
    assert_eq!(written, expected);
}

#[test]
fn why_a_study_is_over_is_said_in_words() {
    let mut study = film(&Storage::memory());
    study.tell(3, Measurement::new(-2.5), None).unwrap();
    assert!(shown(&mut study).contains(r#""over":"trial 3 reached the target","best":{"trial":0,"#));

    let text = STUDY.replace("target = -2.0", "target = 9.0");
    let mut early = Study::create(&Storage::memory(), StudyFile::parse(&text).unwrap().definition).unwrap();
    assert!(
        shown(&mut early)
            .contains(r#""over":null,"best":null,"running":[],"waiting":[],"queue":[],"suggestions":[]}"#)
    );
}

#[test]
fn a_list_has_a_summary_of_each_study_or_why_there_is_none() {
    let storage = Storage::memory();
    let study = film(&storage);
    let listed = ListedStudy::new(&storage, "film");
    assert_eq!(listed, ListedStudy::Readable(StudySummary::new(study.state())));
    let expected = format!(
        concat!(
            r#"{{"study":"film","direction":"minimize","trials":6,"done":2,"planned":5,"complete":1,"failed":1,"#,
            r#""running":2,"best_value":1.5,"created_at":{}}}"#
        ),
        study.state().created_at()
    );
    assert_eq!(serde_json::to_string(&listed).unwrap(), expected);

    let error = "study `flim` is not in memory; the only study is `film`";
    let missing = serde_json::to_value(ListedStudy::new(&storage, "flim")).unwrap();
    assert_eq!(missing, json!({ "study": "flim", "error": error }));
}
