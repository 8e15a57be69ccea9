//! Pause, stop, resume and notes: what people say while a study runs.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use optimist_study::state::Over;
use optimist_study::worker::{Ending, Notice, work};
use optimist_study::{Course, Event, Interrupt, Job, Kept, Record, Storage, Study, StudyError, StudyFile};

fn study(storage: &Storage) -> Study {
    let text = "name = 's'\ndirection = 'minimize'\ntrials = 6\nparameters.x = { type = 'float', low = 0, high = 1 }";
    Study::create(storage, StudyFile::parse(text).unwrap().definition).unwrap()
}

#[test]
fn a_paused_study_gives_workers_nothing_and_people_what_they_ask_for() {
    let storage = Storage::memory();
    let mut study = study(&storage);
    let running = study.claim().unwrap().unwrap();
    assert_eq!(study.steer(Course::Paused).unwrap(), Kept::Stored);
    assert_eq!(study.steer(Course::Paused).unwrap(), Kept::Already);
    assert_eq!(study.claim().unwrap(), None);
    assert!(!study.state().is_settled());
    assert_eq!(study.state().over(), None);
    study.tell(running.trial, 1.0, None).unwrap();
    assert_eq!(study.ask(None).unwrap().trial, 1);
    study.steer(Course::Going).unwrap();
    assert_eq!(study.claim().unwrap().unwrap().trial, 2);
    assert_eq!(Study::open(&storage, "s").unwrap().state().course(), Course::Going);
}

#[test]
fn workers_wait_while_the_study_is_paused_and_go_on_when_it_is_resumed() {
    let storage = Storage::memory();
    let mut paused = study(&storage);
    paused.steer(Course::Paused).unwrap();
    let mut n_paused = 0;
    let (study, ending) = work(
        paused,
        |_: &Job| 1.0,
        1,
        &Interrupt::default(),
        |notice| {
            if matches!(notice, Notice::Paused) {
                n_paused += 1;
                Study::open(&storage, "s").unwrap().steer(Course::Going).unwrap();
            }
            ControlFlow::Continue(())
        },
    )
    .unwrap();
    assert_eq!((n_paused, study.state().n_done()), (1, 6));
    assert!(matches!(ending, Ending::Over(Over::Trials)), "{ending:?}");
}

#[test]
fn a_stopped_run_ends_after_the_trial_that_runs() {
    let storage = Storage::memory();
    let n_measured = AtomicUsize::new(0);
    let objective = |_: &Job| {
        if n_measured.fetch_add(1, Ordering::Relaxed) == 1 {
            Study::open(&storage, "s").unwrap().steer(Course::Stopped).unwrap();
        }
        1.0
    };
    let (mut study, ending) =
        work(study(&storage), objective, 1, &Interrupt::default(), |_| ControlFlow::Continue(())).unwrap();
    assert!(matches!(ending, Ending::Over(Over::Stopped)), "{ending:?}");
    assert_eq!((study.state().n_done(), study.state().is_settled()), (2, true));
    assert_eq!(study.claim().unwrap(), None);
    study.steer(Course::Going).unwrap();
    assert_eq!(study.claim().unwrap().unwrap().trial, 2);
}

#[test]
fn the_last_note_stands_and_an_empty_one_takes_it_away() {
    let storage = Storage::memory();
    let mut study = study(&storage);
    study.ask(None).unwrap();
    study.annotate(None, " *first* ").unwrap();
    study.annotate(Some(0), "about trial 0").unwrap();
    assert_eq!(study.annotate(None, "second").unwrap(), Kept::Stored);
    assert_eq!(study.annotate(None, "second").unwrap(), Kept::Already);
    let text = |study: &Study, trial| study.state().note(trial).map(|note| note.text.clone());
    let mut again = Study::open(&storage, "s").unwrap();
    assert_eq!(text(&again, None).as_deref(), Some("second"));
    assert_eq!(text(&again, Some(0)).as_deref(), Some("about trial 0"));
    again.annotate(None, "").unwrap();
    assert_eq!(text(&again, None), None);
    assert!(matches!(again.annotate(Some(1), "x"), Err(StudyError::NoTrial { trial: 1, .. })));
    let error = again.annotate(None, &"x".repeat(1 << 17)).unwrap_err().to_string();
    assert!(error.contains("131072 bytes, the limit is 65536"), "{error}");
}

#[test]
fn older_programs_are_told_that_a_study_with_notes_is_newer() {
    assert_eq!(Record::new(2, Event::Steered { course: Course::Paused }).v, 4);
    assert_eq!(Record::new(2, Event::Noted { trial: None, text: "x".into() }).v, 4);
}
