//! Studies from outside: what ask, tell and all the rest leave in the log, and what follows from it.

use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

use optimist::Why;
use optimist::space::{Assignment, Value};
use optimist_study::state::Over;
use optimist_study::{
    Definition, Evaluation, FailureKind, Import, Job, Kept, Measurement, Source, Storage, Study, StudyError,
    StudyFile, Trial, TrialState,
};

/// A study of a float and a choice, with further lines of its file.
fn definition(lines: &str) -> Definition {
    let text = format!(
        "name = 's'
        direction = 'minimize'
        seed = 5
        {lines}
        parameters.x = {{ type = 'float', low = 1e-3, high = 1.0, log = true }}
        parameters.kind = {{ type = 'categorical', choices = ['a', 'b'] }}"
    );
    StudyFile::parse(&text).unwrap().definition
}

fn create(lines: &str) -> Study {
    Study::create(&Storage::memory(), definition(lines)).unwrap()
}

fn value_of(params: &Assignment) -> f64 {
    let x = params.get("x").and_then(Value::as_f64).unwrap();
    (x.ln() + 3.0).powi(2) + if params.get("kind") == Some(&Value::from("a")) { 0.0 } else { 1.0 }
}

fn tell(study: &mut Study, job: &Job) {
    let measured = Measurement::new(value_of(&job.params));
    assert_eq!(study.tell(job.trial, measured, Some(0.5)).unwrap(), Kept::Stored);
}

fn failure(kind: FailureKind) -> Evaluation {
    Evaluation::Failed {
        kind,
        reason: "no such bean".to_owned(),
        stderr: Some("Traceback".to_owned()),
        known: None,
    }
}

fn stopped() -> Evaluation {
    Evaluation::Stopped { reason: "stopped".to_owned() }
}

fn trial(study: &Study, number: usize) -> &Trial {
    &study.state().trials()[number]
}

fn params(study: &Study) -> Vec<String> {
    study.state().trials().iter().map(|trial| format!("{:?}", trial.params)).collect()
}

fn assert_verified(study: &mut Study) {
    let verification = study.verify(|_| ()).unwrap();
    assert_eq!(verification.mismatches, []);
    let n_suggested = study.state().trials().iter().filter(|t| matches!(t.source, Source::Suggested { .. }));
    assert_eq!(verification.n_suggestions, n_suggested.count());
}

mod telling {
    use super::*;

    #[test]
    fn the_same_value_twice_is_stored_once() {
        let mut study = create("");
        let job = study.ask(None).unwrap();
        tell(&mut study, &job);
        let head = study.state().head();
        let again = Measurement::new(value_of(&job.params));
        assert_eq!(study.tell(job.trial, again, None).unwrap(), Kept::Already);
        assert_eq!(study.state().head(), head);
    }

    #[test]
    fn another_value_is_a_further_measurement() {
        let mut study = create("");
        let job = study.ask(None).unwrap();
        for value in [1.0, 2.0] {
            assert_eq!(study.tell(0, Measurement::new(value), None).unwrap(), Kept::Stored);
        }
        assert_eq!(trial(&study, job.trial).value(), Some(1.5));
        assert_eq!(trial(&study, job.trial).measurements.len(), 2);
    }

    #[test]
    fn a_late_value_completes_a_trial_that_was_put_back_failed_or_cancelled() {
        let mut study = create("");
        (0..3).for_each(|_| drop(study.ask(None).unwrap()));
        study.tell(0, stopped(), None).unwrap();
        study.tell(1, failure(FailureKind::Crashed), None).unwrap();
        study.cancel(2).unwrap();
        let states = [TrialState::Waiting, TrialState::Failed, TrialState::Cancelled];
        for (number, state) in states.into_iter().enumerate() {
            assert_eq!(trial(&study, number).state, state);
            assert_eq!(study.tell(number, Measurement::new(1.0), None).unwrap(), Kept::Stored);
            assert_eq!(trial(&study, number).state, TrialState::Complete);
        }
        assert_eq!(study.state().waiting().count(), 0);
        assert_verified(&mut study);
    }

    #[test]
    fn what_is_no_value_is_refused_and_changes_nothing() {
        let mut study = create("");
        study.ask(None).unwrap();
        let noisy = Measurement::new(1.0).with_noise(-1.0);
        assert!(matches!(study.tell(0, noisy, None), Err(StudyError::BadNoise { .. })));
        let infinite = Measurement::new(f64::INFINITY);
        assert!(matches!(study.tell(0, infinite, None), Err(StudyError::NotFinite { .. })));
        let error = study.tell(7, Measurement::new(1.0), None).unwrap_err().to_string();
        assert_eq!(error, "study `s` has no trial 7; it only has trial 0");
        assert_eq!(study.state().head(), 2);
    }

    #[test]
    fn a_failure_of_a_trial_that_has_ended_is_nothing_new() {
        let mut study = create("");
        let job = study.ask(None).unwrap();
        tell(&mut study, &job);
        assert_eq!(study.tell(0, failure(FailureKind::Crashed), None).unwrap(), Kept::Already);
        assert_eq!(trial(&study, 0).state, TrialState::Complete);
        assert!(matches!(study.cancel(0), Err(StudyError::HasEnded { state: "complete", .. })));
    }
}

mod asking {
    use super::*;

    #[test]
    fn what_was_put_back_comes_first_then_the_queue_then_the_optimizer() {
        let mut study = create("");
        let first = study.ask(None).unwrap();
        let wanted = Assignment::from_iter([("x", Value::from(0.5)), ("kind", Value::from("b"))]);
        study.enqueue(&wanted).unwrap();
        study.tell(0, stopped(), None).unwrap();
        assert_eq!(study.ask(None).unwrap(), first);
        let second = study.ask(None).unwrap();
        assert_eq!((second.trial, second.source, second.params), (1, Source::Enqueued, wanted));
        assert!(matches!(study.ask(None).unwrap().source, Source::Suggested { .. }));
        assert_eq!(study.state().queue().count(), 0);
        assert_verified(&mut study);
    }

    #[test]
    fn a_point_that_is_not_in_the_space_is_not_enqueued() {
        let mut study = create("");
        let outside = Assignment::from_iter([("x", Value::from(2.0)), ("kind", Value::from("b"))]);
        assert!(matches!(study.enqueue(&outside), Err(StudyError::Space(_))));
        assert_eq!(study.state().head(), 1);
    }

    #[test]
    fn the_plan_counts_all_trials_but_imported_and_cancelled_ones() {
        let mut study = create("trials = 3");
        let imported = Import { params: params_at(0.3), outcome: Ok(Measurement::new(1.0)), known: None };
        assert_eq!(study.import(&[imported]).unwrap().first, 0);
        for number in [1, 2, 3] {
            assert_eq!(study.claim().unwrap().unwrap().trial, number);
        }
        assert_eq!(study.claim().unwrap(), None);
        study.cancel(2).unwrap();
        assert_eq!(study.claim().unwrap().unwrap().trial, 4);
        assert_eq!(study.claim().unwrap(), None);
        study.tell(1, stopped(), None).unwrap();
        assert_eq!(study.claim().unwrap().unwrap().trial, 1);
        assert_eq!(study.ask(None).unwrap().trial, 5, "by hand the plan does not matter");
    }

    #[test]
    fn imported_trials_teach_the_optimizer() {
        let mut study = create("optimizer = { name = 'gp-ei', explore_trials = 2 }");
        let import = |x: f64, outcome| Import { params: params_at(x), outcome, known: None };
        let outcomes = [0.002, 0.05, 0.9].map(|x| import(x, Ok(Measurement::new(value_of(&params_at(x))))));
        study.import(&outcomes).unwrap();
        study.import(&[import(0.7, Err("it broke".to_owned()))]).unwrap();
        assert_eq!(trial(&study, 3).state, TrialState::Failed);
        let best = study.recommend().unwrap().unwrap();
        assert_eq!((best.trial, best.params.clone()), (Some(1), params_at(0.05)));
        let outside = import(7.0, Ok(Measurement::new(1.0)));
        assert!(study.import(&[import(0.5, Ok(Measurement::new(1.0))), outside]).is_err());
        assert_eq!(study.state().trials().len(), 4, "all or none");
    }

    fn params_at(x: f64) -> Assignment {
        Assignment::from_iter([("x", Value::from(x)), ("kind", Value::from("a"))])
    }
}

mod failing {
    use super::*;

    #[test]
    fn a_trial_that_wants_another_attempt_gets_it_but_not_for_ever() {
        let mut study = create("max_attempts = 3");
        let first = study.ask(None).unwrap();
        for attempt in 1..=3 {
            assert_eq!(trial(&study, 0).attempts, attempt);
            study.tell(0, failure(FailureKind::Retried), None).unwrap();
            if attempt < 3 {
                assert_eq!(study.ask(None).unwrap(), first);
            }
        }
        assert_eq!(trial(&study, 0).state, TrialState::Failed);
        assert_eq!(study.ask(None).unwrap().trial, 1);
        assert_verified(&mut study);
    }

    #[test]
    fn a_failed_trial_keeps_its_reason_and_is_not_tried_again() {
        let mut study = create("");
        study.ask(None).unwrap();
        study.tell(0, failure(FailureKind::Crashed), Some(2.5)).unwrap();
        let known = trial(&study, 0).failure.clone().unwrap();
        assert_eq!((known.kind, known.reason.as_str()), (Some(FailureKind::Crashed), "no such bean"));
        assert_eq!(known.explanation(), "no such bean\nstandard error ended with:\nTraceback");
        assert_eq!(trial(&study, 0).seconds, Some(2.5));
        assert_eq!(study.ask(None).unwrap().trial, 1);
    }

    #[test]
    fn a_trial_that_was_called_off_has_not_used_up_an_attempt() {
        let mut study = create("max_attempts = 1");
        study.ask(None).unwrap();
        for _ in 0..5 {
            study.tell(0, stopped(), None).unwrap();
            assert_eq!(study.ask(None).unwrap().trial, 0);
        }
        assert_eq!(trial(&study, 0).attempts, 1);
    }
}

mod leases {
    use super::*;

    #[test]
    fn a_trial_whose_worker_is_silent_is_put_back_and_fails_in_the_end() {
        let mut study = create("lease = 0.001\nmax_attempts = 2");
        let first = study.claim().unwrap().unwrap();
        thread::sleep(Duration::from_millis(20));
        study.reclaim().unwrap();
        assert_eq!(trial(&study, 0).state, TrialState::Waiting);
        let reason = &trial(&study, 0).failure.as_ref().unwrap().reason;
        assert!(reason.ends_with("was not heard from before its lease ran out"), "{reason}");

        assert_eq!(study.claim().unwrap().unwrap(), first);
        thread::sleep(Duration::from_millis(20));
        study.reclaim().unwrap();
        let lost = trial(&study, 0);
        assert_eq!(lost.state, TrialState::Failed);
        assert_eq!(lost.failure.as_ref().unwrap().kind, Some(FailureKind::Lost));
        let head = study.state().head();
        study.reclaim().unwrap();
        assert_eq!(study.state().head(), head, "that is said once");
        assert_verified(&mut study);
    }

    #[test]
    fn a_trial_asked_for_by_hand_waits_for_ever() {
        let mut study = create("lease = 0.001");
        study.ask(Some("Ada")).unwrap();
        thread::sleep(Duration::from_millis(20));
        study.reclaim().unwrap();
        assert_eq!(trial(&study, 0).state, TrialState::Running);
        assert_eq!(trial(&study, 0).worker.as_deref(), Some("Ada"));
    }

    #[test]
    fn a_lease_that_still_runs_is_respected() {
        let mut study = create("lease = 600");
        study.claim().unwrap().unwrap();
        study.reclaim().unwrap();
        assert_eq!(trial(&study, 0).state, TrialState::Running);
        assert_eq!(study.claim().unwrap().unwrap().trial, 1);
    }
}

mod resuming {
    use super::*;

    #[test]
    fn a_study_that_was_closed_goes_on_as_if_it_had_not_been() {
        for optimizer in ["go-ucb", "cma-es", "tpe", "sobol", "gp-ei", "turbo"] {
            let lines = format!("optimizer = {{ name = '{optimizer}' }}\ntrials = 14");
            let run = |n_sittings: usize| {
                let storage = Storage::memory();
                drop(Study::create(&storage, definition(&lines)).unwrap());
                for sitting in 0..n_sittings {
                    let mut study = Study::open(&storage, "s").unwrap();
                    while study.state().trials().len() * n_sittings < 14 * (sitting + 1) {
                        let job = study.claim().unwrap().unwrap();
                        tell(&mut study, &job);
                    }
                }
                Study::open(&storage, "s").unwrap()
            };
            let (mut once, mut often) = (run(1), run(7));
            assert_eq!(params(&once), params(&often), "{optimizer}");
            assert_eq!(once.recommend().unwrap(), often.recommend().unwrap(), "{optimizer}");
            assert_verified(&mut often);
        }
    }

    #[test]
    fn how_a_suggestion_was_found_is_stored_and_known_after_a_stop() {
        let storage = Storage::memory();
        let text = "name = 's'\ndirection = 'minimize'\ntrials = 20\n[parameters.x]\ntype = 'int'\nlow = 1\nhigh = 9";
        let mut study = Study::create(&storage, StudyFile::parse(text).unwrap().definition).unwrap();
        for _ in 0..11 {
            let job = study.ask(None).unwrap();
            study.tell(job.trial, Measurement::new(job.params.float("x")), None).unwrap();
        }
        assert_eq!(trial(&study, 0).why, Some(Why::Explore));
        let is_optimistic = |why: &Option<Why>| {
            matches!(why, Some(Why::Optimism { family, radius })
            if !family.is_empty() && radius.is_finite())
        };
        assert!(is_optimistic(&trial(&study, 6).why), "{:?}", trial(&study, 6).why);
        assert!(matches!(trial(&study, 10).why, Some(Why::Random { .. })), "nine points are all there are");

        let mut reopened = Study::open(&storage, "s").unwrap();
        let reasons =
            |study: &Study| study.state().trials().iter().map(|t| t.why.clone()).collect::<Vec<_>>();
        assert_eq!(reasons(&reopened), reasons(&study));
        let warnings = reopened.warnings().unwrap();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        let n_random = reasons(&study).iter().filter(|why| matches!(why, Some(Why::Random { .. }))).count();
        let expected = format!("{n_random} suggestions drawn at random instead of chosen by a model: ");
        assert!(n_random > 1 && warnings[0].starts_with(&expected), "{warnings:?}");
    }

    #[test]
    fn another_plan_is_taken_up_and_suggestions_can_still_be_made_again() {
        let storage = Storage::memory();
        let (mut study, was_there) = Study::resume_or_create(&storage, definition("trials = 9")).unwrap();
        assert!(!was_there);
        for _ in 0..9 {
            let job = study.claim().unwrap().unwrap();
            tell(&mut study, &job);
        }
        assert_eq!(study.state().over(), Some(Over::Trials));
        let (mut study, was_there) =
            Study::resume_or_create(&storage, definition("trials = 200\nworkers = 2")).unwrap();
        assert!(was_there);
        assert_eq!((study.state().plan().trials, study.state().plan().workers), (200, 2));
        for _ in 0..9 {
            let job = study.claim().unwrap().unwrap();
            tell(&mut study, &job);
        }
        let head = study.state().head();
        Study::resume_or_create(&storage, definition("trials = 200\nworkers = 2")).unwrap();
        study.refresh().unwrap();
        assert_eq!(study.state().head(), head, "the same plan is nothing new");
        assert_verified(&mut study);
    }

    #[test]
    fn a_study_does_not_become_another_one() {
        let storage = Storage::memory();
        Study::create(&storage, definition("")).unwrap();
        let changed = |lines: &str, change: fn(&mut Definition)| {
            let mut definition = definition(lines);
            change(&mut definition);
            Study::resume_or_create(&storage, definition).err().unwrap().to_string()
        };
        assert!(changed("", |d| d.seed = 6).contains("seed"));
        assert!(
            changed("", |d| d.outcomes = optimist_study::Outcomes::one(optimist_study::Direction::Maximize))
                .contains("created with direction minimize; the study file says maximize")
        );
        assert!(changed("optimizer = { name = 'tpe' }", |_| ()).contains("created with optimizer"));
        let other = changed("parameters.y = { type = 'bool' }", |_| ());
        assert!(other.contains("the parameters of study") && other.contains("optimist delete s"), "{other}");
    }

    #[test]
    fn a_study_that_is_not_there_is_said_so() {
        let storage = Storage::memory();
        let error = |name| Study::open(&storage, name).err().unwrap().to_string();
        assert!(error("s").contains("there are no studies yet"), "{}", error("s"));
        let study = Study::create(&storage, definition("")).unwrap();
        assert!(error("t").contains("the only study is `s`"), "{}", error("t"));
        assert!(matches!(Study::create(&storage, definition("")), Err(StudyError::Exists { .. })));
        let mut other = Study::open(&storage, "s").unwrap();
        study.delete().unwrap();
        assert!(matches!(other.ask(None), Err(StudyError::Deleted { .. })));
        assert!(Study::create(&storage, definition("")).is_ok());
    }
}

mod mixtures {
    use super::*;

    #[test]
    fn constrained_points_are_stored_and_suggested_again() {
        for optimizer in ["go-ucb", "cma-es", "turbo", "random"] {
            let text = format!(
                "name = 's'
                direction = 'minimize'
                trials = 16
                optimizer.name = '{optimizer}'
                constraints = ['a + b + c = 1', 'a <= 2*b', 'n <= 7*c + 1']
                parameters.a = {{ type = 'float', low = 0, high = 1 }}
                parameters.b = {{ type = 'float', low = 0.1, high = 0.7 }}
                parameters.c = {{ type = 'float', low = 0, high = 1 }}
                parameters.n = {{ type = 'int', low = 1, high = 9 }}"
            );
            let storage = Storage::memory();
            let mut study = Study::create(&storage, StudyFile::parse(&text).unwrap().definition).unwrap();
            while let Some(job) = study.claim().unwrap() {
                let number = |name: &str| job.params.get(name).and_then(Value::as_f64).unwrap();
                let value = (number("a") - 0.5).powi(2) + number("b") - 0.1 * number("n");
                study.tell(job.trial, Measurement::new(value), None).unwrap();
            }
            assert_verified(&mut Study::open(&storage, "s").unwrap());
        }
    }
}

mod together {
    use super::*;

    #[test]
    fn many_workers_never_get_the_same_suggestion_and_each_can_be_made_again() {
        let folder = tempfile::tempdir().unwrap();
        for storage in [Storage::memory(), Storage::sqlite(folder.path().join("a.db"))] {
            drop(Study::create(&storage, definition("trials = 40")).unwrap());
            thread::scope(|scope| {
                for worker in 0..4 {
                    let storage = &storage;
                    scope.spawn(move || {
                        let mut study = Study::open(storage, "s").unwrap();
                        while let Some(job) = study.claim().unwrap() {
                            match (worker + job.trial) % 7 {
                                0 => drop(study.tell(job.trial, failure(FailureKind::Crashed), None)),
                                _ => tell(&mut study, &job),
                            }
                        }
                    });
                }
            });
            let mut study = Study::open(&storage, "s").unwrap();
            assert!(study.state().is_settled());
            let distinct: BTreeSet<String> = params(&study).into_iter().collect();
            assert_eq!((distinct.len(), study.state().trials().len()), (40, 40));
            assert_verified(&mut study);
        }
    }
}

mod noise {
    use super::*;

    #[test]
    fn the_best_point_is_measured_as_often_as_wanted() {
        let mut study = create("replicates = 3\ntrials = 60\noptimizer = { name = 'random' }");
        let mut n_asked = 0;
        while let Some(job) = study.claim().unwrap() {
            let noise = ((job.trial * 7919) % 13) as f64 / 13.0;
            study.tell(job.trial, Measurement::new(value_of(&job.params) + noise), None).unwrap();
            n_asked += 1;
            if let Source::Replicate { of } = job.source {
                assert_eq!(job.params, trial(&study, of).params);
            }
        }
        assert_eq!(n_asked, 60);
        let trials = study.state().trials();
        let at = |point: usize| trials.iter().filter(move |trial| trial.original() == point);
        let mean = |point: usize| at(point).filter_map(Trial::value).sum::<f64>() / at(point).count() as f64;
        let originals = || trials.iter().filter(|trial| trial.original() == trial.number).map(|t| t.number);
        let best = originals().min_by(|a, b| mean(*a).total_cmp(&mean(*b))).unwrap();
        assert_eq!(at(best).count(), 3);
        assert!(originals().all(|point| at(point).count() <= 3));
        assert!(originals().count() > 30, "most points are measured once");
        assert_verified(&mut study);
    }
}

mod stopping {
    use super::*;

    #[test]
    fn a_value_that_is_good_enough_ends_the_study() {
        let mut study = create("target = 0.5");
        (0..2).for_each(|_| drop(study.claim().unwrap().unwrap()));
        study.tell(0, Measurement::new(0.6), None).unwrap();
        assert_eq!(study.state().over(), None);
        study.tell(1, stopped(), None).unwrap();
        study.tell(0, Measurement::new(0.3), None).unwrap(); // 0.45 on average
        assert_eq!(study.state().over(), Some(Over::Target { trial: 0 }));
        assert_eq!(study.claim().unwrap(), None);
        assert!(study.state().is_settled());
    }
}

#[test]
fn what_is_nested_too_deeply_or_too_long_is_refused_and_the_study_stays_readable() {
    let storage = Storage::memory();
    let mut study = Study::create(&storage, definition("")).unwrap();
    let nested = |levels: usize| {
        let metrics = format!("{}{}", "{\"a\":".repeat(levels), "1".to_owned() + &"}".repeat(levels));
        serde_json::from_str::<serde_json::Map<_, _>>(&metrics).ok().map(Box::new)
    };
    for levels in (1..128).step_by(3).chain(120..128) {
        let Some(metrics) = nested(levels) else { continue };
        let job = study.ask(None).unwrap();
        let told =
            study.tell(job.trial, Measurement { metrics: Some(metrics), ..Measurement::new(1.0) }, None);
        assert_eq!(told.is_ok(), levels <= optimist_study::limits::METRICS_DEPTH, "{levels}");
        if let Err(error) = told {
            assert!(error.to_string().contains("nested more than 32 levels deep"), "{error}");
        }
        assert!(Study::open(&storage, study.name()).is_ok(), "{levels}");
    }
    let note = Some("x".repeat(1 << 17));
    let error = study.tell(0, Measurement { note, ..Measurement::new(2.0) }, None).unwrap_err().to_string();
    assert!(error.contains("the note has 131072 bytes"), "{error}");
    let reason = "x".repeat(1 << 20);
    let job = study.ask(None).unwrap();
    study.tell(job.trial, Evaluation::failed(FailureKind::Crashed, reason), None).unwrap();
    let kept = study.state().trials()[job.trial].failure.as_ref().map(|failure| failure.reason.len());
    assert_eq!(kept, Some((1 << 16) + 3));
}

#[test]
fn a_gaussian_process_with_too_many_values_says_so_and_the_best_is_still_shown() {
    let mut study = Study::create(&Storage::memory(), definition("optimizer.name = 'gp-ei'")).unwrap();
    let import = |i: usize| {
        let params =
            Assignment::from_iter([("x", Value::Float(1e-3 + i as f64 * 1e-5)), ("kind", "a".into())]);
        optimist_study::Import { params, outcome: Ok(Measurement::new(i as f64)), known: None }
    };
    let imports: Vec<_> = (0..10_001).map(import).collect();
    study.import(&imports).unwrap();
    let best = study.recommend().unwrap().unwrap();
    assert_eq!((best.trial, best.mean, best.std), (Some(0), 0.0, None));
    for error in [study.ask(None).err(), study.ranking(3).err(), study.expected_gain().err()] {
        let error = error.expect("it is refused").to_string();
        assert!(error.contains("gp-ei can learn from 10000 values at most, not 10001"), "{error}");
    }
    assert_eq!(study.warnings().unwrap().len(), 1);
}
