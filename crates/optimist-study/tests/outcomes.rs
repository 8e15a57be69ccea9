//! Studies of several outcomes: goals and constraints, from the study file to the answer.

use std::ops::ControlFlow;

use optimist::space::{Assignment, Value};
use optimist_study::import::{self, ImportOptions};
use optimist_study::state::Update;
use optimist_study::view::{StudySummary, TrialView};
use optimist_study::{
    Aim, Amendment, AskTell, Definition, Direction, Evaluation, FailureKind, Import, Interrupt, Job, Kept,
    Measurement, NamedOutcome, Outcomes, Record, Search, Storage, Study, StudyFile, TrialState, backup,
    worker,
};

const NET: &str = "
    name = 'net'
    trials = 9
    optimizer.name = 'sobol'
    outcomes.accuracy = { goal = 'maximize', reference = 0.0 }
    outcomes.latency = { goal = 'minimize', reference = 10.0 }
    outcomes.memory = { at_most = 8.0 }
    parameters.x = { type = 'float', low = 0, high = 1 }";

const ONE_GOAL: &str = "
    name = 'yield'
    optimizer.name = 'sobol'
    outcomes.yield = { goal = 'maximize' }
    outcomes.impurity = { at_most = 0.02 }
    parameters.x = { type = 'float', low = 0, high = 1 }";

fn definition(text: &str) -> Definition {
    StudyFile::parse(text).unwrap_or_else(|error| panic!("{error}")).definition
}

fn study(text: &str) -> Study {
    Study::create(&Storage::memory(), definition(text)).unwrap()
}

/// Asks for a trial for each, and tells it.
fn told(text: &str, values: &[&[f64]]) -> Study {
    let mut study = study(text);
    let names: Vec<String> = study.state().outcomes().names().map(str::to_owned).collect();
    for values in values {
        let trial = study.ask(None).unwrap().trial;
        study.tell(trial, Measurement::of(names.iter().cloned().zip(values.iter().copied())), None).unwrap();
    }
    study
}

fn lines(study: &mut Study) -> Vec<String> {
    let mut lines = Vec::new();
    study
        .export(|line| {
            lines.push(line.to_owned());
            ControlFlow::Continue(())
        })
        .unwrap();
    lines
}

#[test]
fn outcomes_are_read_in_their_order_with_what_is_wanted() {
    let outcomes = definition(NET).outcomes;
    let wanted: Vec<String> =
        outcomes.all().iter().map(|outcome| format!("{} {}", outcome.name, outcome.aim)).collect();
    assert_eq!(
        wanted,
        ["accuracy maximize, reference 0", "latency minimize, reference 10", "memory at most 8"]
    );
    assert_eq!(outcomes.search(), Search::Front);
    assert_eq!(definition(ONE_GOAL).outcomes.search(), Search::Best);
    let written = serde_json::to_string(&definition(NET)).unwrap();
    assert!(
        written.starts_with(
            r#"{"name":"net","outcomes":[{"name":"accuracy","goal":"maximize","reference":0.0},{"name":"latency","goal":"minimize","reference":10.0},{"name":"memory","at_most":8.0}],"seed":0"#
        ),
        "{written}"
    );
    assert_eq!(serde_json::from_str::<Definition>(&written).unwrap(), definition(NET));
}

#[test]
fn a_direction_alone_is_one_outcome_and_is_written_as_it_was() {
    let text = "direction = 'minimize'\nparameters.x = { type = 'bool' }";
    let one = definition(text);
    assert_eq!((one.outcomes.one_direction(), one.outcomes.is_one()), (Some(Direction::Minimize), true));
    let written = serde_json::to_string(&one).unwrap();
    assert!(written.starts_with(r#"{"name":"study","direction":"minimize","seed":0"#), "{written}");
    let mut study = told(text, &[&[1.5]]);
    for line in lines(&mut study) {
        assert!(line.starts_with(r#"{"v":1,"#) && !line.contains("values"), "{line}");
    }
}

#[test]
fn mistakes_in_outcomes_are_reported_all_at_once() {
    let text = "
        target = 3.0
        direction = 'minimize'
        outcomes.a = { gaol = 'maximize' }
        outcomes.b = { goal = 'maximise' }
        outcomes.c = { }
        outcomes.d = { at_most = 1.0, at_least = 0.0 }
        outcomes.e = { at_most = inf }
        outcomes.f = { at_least = 1.0, reference = 2.0 }
        outcomes.x = { goal = 'minimize' }
        outcomes.'g=h' = { at_most = 1.0 }
        parameters.x = { type = 'bool' }";
    let error = StudyFile::parse(text).unwrap_err().to_string();
    for words in [
        "the study has both `direction` and `outcomes`",
        "unknown key `gaol` in outcome `a`",
        "did you mean `goal`?",
        "`goal` of outcome `b` cannot be `maximise`",
        "did you mean `maximize`?",
        "outcome `c` has neither a goal nor a bound",
        "outcome `d` has more than one of `goal`, `at_most` and `at_least`",
        "`at_most` of outcome `e` cannot be the number inf",
        "outcome `f` has a `reference` and no `goal`",
        "`x` is both a parameter and an outcome",
        "outcome `g=h` needs another name",
        "9 mistakes in study.toml",
    ] {
        assert!(error.contains(words), "{words}\n{error}");
    }
    let nine: String = (0..9).map(|i| format!("outcomes.o{i} = {{ goal = 'minimize' }}\n")).collect();
    let error =
        StudyFile::parse(&format!("{nine}parameters.x = {{ type = 'bool' }}")).unwrap_err().to_string();
    assert!(error.contains("the study has 9 outcomes") && error.contains("at most 8"), "{error}");
}

#[test]
fn settings_that_mean_nothing_are_refused_with_a_sentence() {
    let feasible = "outcomes.memory = { at_most = 8.0 }\nparameters.x = { type = 'bool' }";
    for (text, setting, words) in [
        (NET, "target = 1.0", "`target` needs a single goal: no single value is good enough"),
        (NET, "min_gain = 1.0", "`min_gain` needs a single goal"),
        (NET, "replicates = 2", "`replicates` needs a single goal: there is no single best point"),
        (feasible, "target = 1.0", "`target` needs a goal: a point is good enough if it is feasible"),
        (feasible, "replicates = 3", "`replicates` needs a goal"),
        (ONE_GOAL, "outcomes.yield.reference = 1.0", "`reference` of outcome `yield` has no effect"),
    ] {
        let text = match setting.strip_prefix("outcomes.yield.reference") {
            Some(_) => text.replace("goal = 'maximize'", "goal = 'maximize', reference = 1.0"),
            None => format!("{setting}\n{text}"),
        };
        let error = StudyFile::parse(&text).unwrap_err().to_string();
        assert!(error.contains(words), "{words}\n{error}");
    }
    for setting in ["target = 1.0", "min_gain = 1.0", "replicates = 2"] {
        definition(&format!("{setting}\n{ONE_GOAL}"));
    }
    let mut wrong = definition(NET);
    wrong.plan.target = Some(1.0);
    let error = Study::create(&Storage::memory(), wrong).err().unwrap().to_string();
    assert!(error.contains("study `net` is not valid: `target` needs a single goal"), "{error}");
}

#[test]
fn every_outcome_must_be_told_and_errors_name_it() {
    let mut study = study(NET);
    study.ask(None).unwrap();
    let cases = [
        (Measurement::of([("accuracy", 0.5), ("latency", 1.0)]), "trial 0: outcome `memory` is missing"),
        (
            Measurement::of([("accuracy", 0.5), ("latency", 1.0), ("memroy", 1.0)]),
            "there is no outcome `memroy`; did you mean `memory`?",
        ),
        (
            Measurement::of([("accuracy", f64::NAN), ("latency", 1.0), ("memory", 1.0)]),
            "outcome `accuracy` must be a finite number, got NaN",
        ),
        (
            Measurement::new(1.0),
            "the study has named outcomes: give `accuracy` and so on, not a single value",
        ),
        (
            Measurement::of([("accuracy", 0.5), ("latency", 1.0), ("memory", 1.0)]).with_noise(-1.0),
            "\"noise_std\" of outcome `accuracy` must be a number, 0 or more",
        ),
    ];
    for (measured, words) in cases {
        let error = study.tell(0, measured, None).unwrap_err().to_string();
        assert!(error.contains(words), "{words}\n{error}");
    }
    let whole = Measurement::of([("memory", 7.0), ("latency", 1.0), ("accuracy", 0.5)]);
    assert_eq!(study.tell(0, whole.clone(), None).unwrap(), Kept::Stored);
    assert_eq!(study.tell(0, whole, None).unwrap(), Kept::Already, "in whatever order");
    let mut one = self::study("direction = 'minimize'\nparameters.x = { type = 'bool' }");
    one.ask(None).unwrap();
    let error = one.tell(0, Measurement::of([("loss", 1.0)]), None).unwrap_err().to_string();
    assert!(error.contains("there is no outcome `loss`: the study has a single value"), "{error}");
}

#[test]
fn an_objective_that_leaves_something_out_fails_with_a_reason_and_teaches_the_rest() {
    let objective = |job: &Job| match job.trial {
        0 => Measurement::of([("accuracy", 0.9), ("latency", 3.0)]),
        1 => Measurement::of([("accuracy", 0.9), ("latency", 3.0), ("memory", f64::INFINITY)]),
        2 => Measurement::of([("acuracy", 0.9), ("latency", 3.0), ("memory", 4.0)]),
        _ => Measurement::of([("accuracy", 0.9), ("latency", 3.0), ("memory", 4.0)]).with_noise(0.1),
    };
    let run = |_: &worker::Notice| ControlFlow::Continue(());
    let (mut study, _) = worker::work(study(NET), objective, 1, &Interrupt::default(), run).unwrap();
    let reason = |trial: usize| study.state().trials()[trial].failure.as_ref().unwrap().reason.clone();
    assert_eq!(reason(0), "outcome `memory` is missing; the outcomes are `accuracy`, `latency`, `memory`");
    assert_eq!(reason(1), "outcome `memory` must be a finite number, got inf");
    assert_eq!(reason(2), "there is no outcome `acuracy`; did you mean `accuracy`?");
    let trials = study.state().trials();
    assert_eq!(trials[0].state, TrialState::Failed);
    assert_eq!((trials[0].value_of("latency"), trials[0].value_of("memory")), (Some(3.0), None));
    assert_eq!((trials[2].value_of("accuracy"), trials[2].value_of("memory")), (None, Some(4.0)));
    assert_eq!((study.state().count(TrialState::Complete), study.state().n_done()), (6, 9));
    assert!(study.state().observed_front().unwrap().trials.iter().all(|&trial| trial > 2));
    assert_eq!(study.verify(|_| ()).unwrap().mismatches, []);
}

#[test]
fn the_optimizer_learns_larger_is_better_of_each_outcome_and_what_is_known_of_failed_trials() {
    let mut study = told(NET, &[&[0.9, 3.0, 4.0]]);
    study.ask(None).unwrap();
    let known = Some(Box::new(Measurement::of([("memory", 14.0)])));
    let failed = Evaluation::Failed {
        kind: FailureKind::Crashed,
        reason: "out of memory".to_owned(),
        stderr: None,
        known,
    };
    study.tell(1, failed, None).unwrap();
    let learnt: Vec<Vec<Option<f64>>> = study
        .state()
        .updates()
        .iter()
        .filter_map(|update| match update {
            Update::Told { outcome, .. } => Some(outcome.outcomes()),
            _ => None,
        })
        .map(|outcomes| {
            let value = |outcome: &optimist::Outcome| match *outcome {
                optimist::Outcome::Value { y, .. } => Some(y),
                optimist::Outcome::Failed => None,
            };
            outcomes.iter().map(value).collect()
        })
        .collect();
    assert_eq!(learnt, [vec![Some(0.9), Some(-3.0), Some(-4.0)], vec![None, None, Some(-14.0)]]);
    let trial = &study.state().trials()[1];
    assert_eq!(study.state().is_feasible(trial), Some(false), "that much is known");
    let view = serde_json::to_value(TrialView::new(trial).judged(trial, study.state().outcomes())).unwrap();
    assert_eq!(view["values"], serde_json::json!({ "memory": 14.0 }));
    assert_eq!((&view["feasible"], &view["state"]), (&false.into(), &"failed".into()));
}

#[test]
fn the_best_point_is_feasible_and_the_target_counts_only_then() {
    let text = format!("target = 0.85\n{ONE_GOAL}");
    let mut study = told(&text, &[&[0.7, 0.01], &[0.9, 0.05], &[0.8, 0.02]]);
    assert_eq!(study.state().best_observed().map(|best| best.number), Some(2), "the bound itself is allowed");
    assert_eq!(study.state().over(), None, "0.9 is not feasible");
    let best = study.recommend().unwrap().unwrap();
    assert_eq!((best.trial, best.value, best.feasible), (Some(2), Some(0.8), Some(1.0)));
    assert_eq!(best.outcomes.get("impurity").and_then(|one| one.value), Some(0.02));
    let ranking = study.ranking(3).unwrap();
    assert_eq!(ranking.iter().map(|one| one.trial.unwrap()).collect::<Vec<_>>(), [2, 0, 1]);
    assert!(study.front().unwrap().is_none());
    let trial = study.ask(None).unwrap().trial;
    study.tell(trial, Measurement::of([("yield", 0.86), ("impurity", 0.0)]), None).unwrap();
    assert!(study.state().over().is_some());
}

#[test]
fn the_best_feasible_point_is_measured_again() {
    let text = format!("replicates = 2\n{ONE_GOAL}");
    let values: [&[f64]; 5] = [&[0.7, 0.01], &[0.9, 0.05], &[0.8, 0.02], &[0.1, 0.0], &[0.2, 0.0]];
    let mut study = told(&text, &values);
    let job = study.ask(None).unwrap();
    assert_eq!(job.params, study.state().trials()[2].params);
    study.tell(job.trial, Measurement::of([("yield", 0.8), ("impurity", 0.06)]), None).unwrap();
    let job = study.ask(None).unwrap();
    assert_eq!(job.params, study.state().trials()[0].params, "trial 2 is not feasible on average");
}

#[test]
fn constraints_alone_look_for_anything_feasible() {
    let text = "
        optimizer.name = 'sobol'
        outcomes.memory = { at_most = 8.0 }
        outcomes.accuracy = { at_least = 0.5 }
        parameters.x = { type = 'float', low = 0, high = 1 }";
    let mut study = told(text, &[&[9.0, 0.9], &[7.0, 0.4]]);
    assert!(study.state().best_observed().is_none());
    assert_eq!(study.recommend().unwrap().unwrap().feasible, Some(0.0), "the most hopeful one");
    let trial = study.ask(None).unwrap().trial;
    study.tell(trial, Measurement::of([("memory", 8.0), ("accuracy", 0.5)]), None).unwrap();
    assert_eq!(study.state().best_observed().map(|best| best.number), Some(2));
    let best = study.recommend().unwrap().unwrap();
    assert_eq!((best.trial, best.feasible), (Some(2), Some(1.0)));
    assert!(serde_json::to_value(&best).unwrap()["expected"].is_null());
    let summary = StudySummary::new(study.state());
    assert_eq!((summary.best_value, summary.feasible, summary.direction), (None, Some(true), None));
}

#[test]
fn constraints_alone_are_ranked_by_how_likely_they_hold() {
    let text = "
        optimizer.name = 'sobol'
        outcomes.memory = { at_most = 8.0 }
        parameters.x = { type = 'float', low = 0, high = 1 }";
    let mut study = told(text, &[&[9.0], &[7.0], &[10.0]]);
    let ranking = study.ranking(3).unwrap();
    let ranked: Vec<_> = ranking.iter().map(|one| (one.trial.unwrap(), one.feasible.unwrap())).collect();
    assert_eq!(ranked, [(1, 1.0), (0, 0.0), (2, 0.0)]);
    assert_eq!(study.ranking(9).unwrap().len(), 3, "each point once");
}

#[test]
fn a_single_named_goal_is_answered_like_one_without_a_name() {
    let parameters = "trials = 9\nparameters.x = { type = 'float', low = 0, high = 1 }";
    let values: Vec<[f64; 1]> = [0.5, 0.2, 0.1, 0.7, 0.3, 0.25, 0.12, 0.4].map(|value| [value]).to_vec();
    let values: Vec<&[f64]> = values.iter().map(|value| &value[..]).collect();
    let mut named = told(&format!("{parameters}\noutcomes.loss = {{ goal = 'minimize' }}"), &values);
    let mut one = told(&format!("direction = 'minimize'\n{parameters}"), &values);
    let (named, one) = (named.ranking(3).unwrap(), one.ranking(3).unwrap());
    for (named, one) in named.iter().zip(&one) {
        assert!(one.std.is_some(), "there is a model");
        assert_eq!(
            (named.trial, named.mean, named.std, named.value, named.feasible),
            (one.trial, one.mean, one.std, one.value, None)
        );
        let view = named.outcomes.get("loss").unwrap();
        assert_eq!((view.expected, view.std, view.value), (one.mean, one.std, one.value));
    }
    assert_eq!((named.len(), one.len()), (3, 3));
}

#[test]
fn a_trial_that_failed_after_everything_was_measured_is_never_the_answer() {
    let feasible = "
        optimizer.name = 'sobol'
        outcomes.memory = { at_most = 8.0 }
        parameters.x = { type = 'float', low = 0, high = 1 }";
    let one_goal = format!("target = 0.95\n{ONE_GOAL}");
    for (text, better, worse) in [
        (NET, &[1.0, 0.0, 1.0][..], &[0.5, 5.0, 1.0][..]),
        (one_goal.as_str(), &[0.99, 0.0][..], &[0.5, 0.0][..]),
        (feasible, &[1.0][..], &[2.0][..]),
    ] {
        let mut study = told(text, &[]);
        let names: Vec<String> = study.state().outcomes().names().map(str::to_owned).collect();
        let measured = |values: &[f64]| Measurement::of(names.iter().cloned().zip(values.iter().copied()));
        let trial = study.ask(None).unwrap().trial;
        let (kind, reason) = (FailureKind::Infeasible, "it burnt afterwards".to_owned());
        let known = Some(Box::new(measured(better)));
        study
            .tell(trial, Evaluation::Failed { kind, reason: reason.clone(), stderr: None, known }, None)
            .unwrap();
        assert_eq!(study.state().trials()[0].value_of(&names[0]), Some(better[0]), "the log keeps it");
        let is_answered = |study: &mut Study| {
            let of_model = study.recommend().unwrap().is_some() || study.front().unwrap().is_some();
            of_model || study.state().best_observed().is_some() || study.state().observed_front().is_some()
        };
        assert!(!is_answered(&mut study), "{text}");
        let import = Import {
            params: Assignment::from_iter([("x", Value::Float(0.25))]),
            outcome: Err(reason),
            known: Some(measured(better)),
        };
        study.import(&[import]).unwrap();
        assert_eq!(study.state().trials()[1].state, TrialState::Failed);
        assert!(!is_answered(&mut study) && study.state().over().is_none(), "{text}");
        let trial = study.ask(None).unwrap().trial;
        study.tell(trial, measured(worse), None).unwrap();
        match study.recommend().unwrap() {
            Some(best) => assert_eq!((best.trial, study.ranking(9).unwrap().len()), (Some(2), 1)),
            None => {
                assert_eq!(study.state().observed_front().unwrap().trials, [2]);
                let points = study.front().unwrap().unwrap().points;
                assert_eq!(points.iter().map(|point| point.trial).collect::<Vec<_>>(), [Some(2)]);
            }
        }
        assert_eq!(study.verify(|_| ()).unwrap().mismatches, []);
        let table = format!(
            "x,state,reason,{}\n0.5,failed,it burnt,{}",
            names.join(","),
            vec!["1"; names.len()].join(",")
        );
        let table =
            import::parse(table.as_bytes(), "t.csv".as_ref(), &definition(text), &ImportOptions::default());
        let [row] = &table.unwrap().trials[..] else { panic!("{text}") };
        assert_eq!((&row.outcome, row.known.is_some()), (&Err("it burnt".to_owned()), true), "{text}");
    }
}

#[test]
fn a_failed_trial_says_which_of_its_outcomes_there_is_not() {
    let mut study = study(NET);
    study.ask(None).unwrap();
    let known = Some(Box::new(Measurement::of([("memroy", 14.0), ("latency", 3.0)])));
    let (kind, reason) = (FailureKind::Crashed, "out of memory".to_owned());
    study.tell(0, Evaluation::Failed { kind, reason, stderr: None, known }, None).unwrap();
    let trial = &study.state().trials()[0];
    assert_eq!(
        trial.failure.as_ref().unwrap().reason,
        "out of memory; there is no outcome `memroy`; did you mean `memory`?"
    );
    assert_eq!((trial.value_of("latency"), trial.value_of("memory")), (Some(3.0), None));
}

#[test]
fn several_goals_have_a_front_with_its_hypervolume_and_knee() {
    let values: [&[f64]; 6] = [
        &[0.5, 5.0, 1.0], // beaten by the next
        &[0.6, 4.0, 1.0],
        &[0.9, 9.0, 1.0],
        &[0.2, 1.0, 1.0],
        &[1.0, 0.0, 9.0], // not feasible
        &[0.9, 9.5, 8.0],
    ];
    let mut study = told(NET, &values);
    assert!(study.recommend().unwrap().is_none() && study.state().best_observed().is_none());
    let observed = study.state().observed_front().unwrap();
    assert_eq!((&observed.trials[..], &observed.reference[..]), (&[1, 2, 3][..], &[0.0, 10.0][..]));
    // By hand: 0.2·9 + (0.6 − 0.2)·6 + (0.9 − 0.6)·1.
    let expected = 1.8 + 2.4 + 0.3;
    assert!((observed.hypervolume.unwrap() - expected).abs() < 1e-12, "{observed:?}");
    let front = study.front().unwrap().unwrap();
    assert_eq!(front.points.iter().map(|point| point.trial.unwrap()).collect::<Vec<_>>(), [2, 1, 3]);
    assert_eq!(front.hypervolume, observed.hypervolume);
    assert_eq!(front.knee().and_then(|knee| knee.trial), Some(1));
    assert_eq!(
        front.points[1].outcomes.get("latency").map(|one| one.expected),
        Some(4.0),
        "as users have it"
    );
    let grown: Vec<usize> = study.state().hypervolumes().iter().map(|covered| covered.trial).collect();
    assert_eq!(grown, [0, 1, 2, 3]);
    assert!((study.state().hypervolumes().last().unwrap().hypervolume - expected).abs() < 1e-12);
}

#[test]
fn records_of_several_outcomes_have_version_3_and_older_programs_are_told_so() {
    let mut study = told(NET, &[&[0.9, 3.0, 4.0]]);
    let lines = lines(&mut study);
    let versions: Vec<u32> = lines.iter().map(|line| Record::from_json(line).unwrap().v).collect();
    assert_eq!(versions, [3, 1, 3]);
    assert!(
        lines[2].contains(r#""measured":{"values":{"accuracy":0.9,"latency":3.0,"memory":4.0}}"#),
        "{}",
        lines[2]
    );
}

#[test]
fn a_log_of_several_outcomes_survives_export_backup_and_amendments() {
    let mut study = told(NET, &[&[0.9, 3.0, 4.0], &[0.8, 2.0, 5.0]]);
    let nothing = Assignment::default();
    let known = study.state().trials()[0].clone();
    let corrected = known.corrected(Measurement::of([("accuracy", 0.7)]).with_noise(0.1));
    assert_eq!(corrected.value("latency"), Some(3.0), "what is not given stays");
    study.amend(0, &nothing, Some(Amendment::Measured(corrected.clone())), Some("a slip")).unwrap();
    assert_eq!(study.amend(0, &nothing, Some(Amendment::Measured(corrected)), None).unwrap(), Kept::Already);
    let part = Some(Box::new(Measurement::of([("memory", 11.0)])));
    let failed = Amendment::Failed { reason: "it crashed".to_owned(), known: part };
    study.amend(1, &nothing, Some(failed), None).unwrap();
    let trials = study.state().trials().to_vec();
    assert_eq!(
        (trials[0].value_of("accuracy"), trials[0].measurements[0].values.get("accuracy").unwrap().noise_std),
        (Some(0.7), Some(0.1))
    );
    assert_eq!(trials[0].amendments[0].measurements[0].value("accuracy"), Some(0.9));
    assert_eq!((trials[1].state, trials[1].value_of("memory")), (TrialState::Failed, Some(11.0)));
    let exported = lines(&mut study);
    let storage = Storage::memory();
    let mut restored = Study::restore(&storage, exported.iter().map(String::as_str), None).unwrap();
    assert_eq!(restored.state().trials(), trials);
    assert_eq!(lines(&mut restored), exported);
    assert_eq!(restored.ask(None).unwrap(), study.ask(None).unwrap());
    assert_eq!(restored.verify(|_| ()).unwrap().mismatches, []);
    assert_eq!(backup(&storage, &Storage::memory()).unwrap().len(), 1);
    for (from, to, words) in [
        (r#""latency":2.0"#, r#""latncy":2.0"#, "did you mean `latency`?"),
        (
            r#""known":{"values":{"memory":11.0}}"#,
            r#""known":{"values":{"moemory":11.0}}"#,
            "did you mean `memory`?",
        ),
        (r#""at_most":8.0"#, r#""at_most":8.0,"at_least":1.0"#, "needs either"),
        (r#""target":null"#, r#""target":1.0"#, "`target` needs a single goal"),
        (r#""name":"x""#, r#""name":"memory""#, "both a parameter and an outcome"),
    ] {
        let text = exported.join("\n");
        assert!(text.contains(from), "{from} in {text}");
        let error = Study::restore(&Storage::memory(), text.replace(from, to).lines(), None).err();
        let error = error.unwrap_or_else(|| panic!("{to} is taken")).to_string();
        assert!(error.contains(words), "{words}: {error}");
    }
}

#[test]
fn asking_and_telling_from_a_snapshot_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let storage: Storage = folder.path().join("a.db").to_str().unwrap().parse().unwrap();
    let mut whole = Study::create(&storage, definition(NET)).unwrap();
    for i in 0..600 {
        let trial = whole.ask(None).unwrap().trial;
        if i % 5 == 4 {
            let known = Some(Box::new(Measurement::of([("memory", f64::from(i))])));
            let (kind, reason) = (FailureKind::Crashed, "it crashed".to_owned());
            whole.tell(trial, Evaluation::Failed { kind, reason, stderr: None, known }, None).unwrap();
        } else {
            let i = f64::from(i);
            let measured = Measurement::of([("accuracy", i), ("latency", -i), ("memory", i / 60.0)]);
            whole.tell(trial, if i > 300.0 { measured.with_noise(0.5) } else { measured }, None).unwrap();
        }
    }
    let mut brief = AskTell::open(&storage, "net").unwrap();
    assert_eq!(brief.trial(4).unwrap().value_of("memory"), Some(4.0));
    let job = brief.ask_within(None, None).unwrap();
    brief
        .tell_with(
            job.trial,
            Measurement::of([("accuracy", 1.0), ("latency", 2.0), ("memory", 3.0)]),
            None,
            &Assignment::default(),
        )
        .unwrap();
    assert_eq!(brief.best_observed().unwrap(), None);
    whole.refresh().unwrap();
    assert_eq!(whole.state().trials()[600].params, job.params);
    assert_eq!(whole.verify(|_| ()).unwrap().mismatches, []);
}

#[test]
fn tables_have_a_column_for_each_outcome_and_failed_rows_keep_what_they_have() {
    let table = "x,accuracy,lat,memory,noise_std.accuracy,state,reason
                 0.1,0.9,3.0,4.0,0.05,,
                 0.2,,,14.0,,failed,out of memory
                 0.3,0.8,nan,2.0,,,
                 0.4,,,,,running,
                 0.5,0.1,0.2,,,,";
    let options =
        ImportOptions { map: vec![("lat".to_owned(), "latency".to_owned())], ..ImportOptions::default() };
    let found = import::parse(table.as_bytes(), "t.csv".as_ref(), &definition(NET), &options).unwrap();
    let [first, second, third] = &found.trials[..] else { panic!("{found:?}") };
    assert_eq!((found.n_unfinished, found.bad.len()), (1, 1));
    assert_eq!(found.bad[0].reason, "`memory` is empty; write `failed` where a trial gave no value");
    let measured = first.outcome.as_ref().unwrap();
    assert_eq!(measured.value("latency"), Some(3.0));
    assert_eq!(measured.values.get("accuracy").unwrap().noise_std, Some(0.05));
    assert_eq!(second.outcome, Err("out of memory".to_owned()));
    assert_eq!(second.known.as_ref().unwrap().value("memory"), Some(14.0));
    assert_eq!(third.known.as_ref().unwrap().value("accuracy"), Some(0.8));
    let mut study = study(NET);
    assert_eq!(study.import(&found.trials).unwrap().n_added, 3);
    assert_eq!(study.import(&found.trials).unwrap().n_added, 0, "they are known");
    assert_eq!(study.state().trials()[1].value_of("memory"), Some(14.0));
    assert_eq!(study.state().count(TrialState::Failed), 2);
    let trials: Vec<String> = study
        .state()
        .trials()
        .iter()
        .map(|trial| {
            serde_json::to_string(&TrialView::new(trial).judged(trial, study.state().outcomes())).unwrap()
        })
        .collect();
    let again = import::parse(
        trials.join("\n").as_bytes(),
        "t.jsonl".as_ref(),
        &definition(NET),
        &ImportOptions::default(),
    );
    let outcomes = |imports: &[Import]| {
        imports.iter().map(|one| (one.outcome.clone().ok(), one.known.clone())).collect::<Vec<_>>()
    };
    assert_eq!(outcomes(&again.unwrap().trials), outcomes(&found.trials), "what `trials --json` prints");
    let wrong = ImportOptions { value: Some("lat".to_owned()), ..ImportOptions::default() };
    let error = import::parse(table.as_bytes(), "t.csv".as_ref(), &definition(NET), &wrong).unwrap_err();
    assert!(error.to_string().contains("--map lat=OUTCOME"), "{error}");
    let error =
        import::parse(b"x,accuracy\n0.1,1", "t.csv".as_ref(), &definition(NET), &ImportOptions::default());
    assert!(error.unwrap_err().to_string().contains("there is no column `latency`"));
}

#[test]
fn damage_after_a_partly_measured_trial_loses_nothing_of_it() {
    let mut study = study(NET);
    (0..2).for_each(|_| drop(study.ask(None).unwrap()));
    let known = Some(Box::new(Measurement::of([("memory", 14.0)])));
    let (kind, reason) = (FailureKind::Crashed, "it crashed".to_owned());
    study.tell(1, Evaluation::Failed { kind, reason, stderr: None, known }, None).unwrap();
    let added: Vec<Import> = vec![Import {
        params: Assignment::from_iter([("x", Value::Float(0.5))]),
        outcome: Err("it crashed".to_owned()),
        known: Some(Measurement::of([("memory", 14.0)])),
    }];
    study.import(&added).unwrap();
    let trials = study.state().trials();
    assert_eq!(trials[1].value_of("memory"), trials[2].value_of("memory"));
    assert_eq!(trials[2].failure.as_ref().unwrap().reason, "it crashed");
    let written = serde_json::to_string(&trials[1]).unwrap();
    let read: optimist_study::Trial = serde_json::from_str(&written).unwrap();
    assert_eq!(&read, &trials[1], "as a page of a snapshot has it");
}

#[test]
fn outcomes_made_by_hand_are_checked() {
    let goal =
        |name: &str| NamedOutcome::new(name, Aim::Goal { direction: Direction::Maximize, reference: None });
    assert!(Outcomes::new(vec![]).is_err());
    assert!(Outcomes::new(vec![goal("a"), goal("a")]).unwrap_err().contains("two outcomes `a`"));
    assert!(Outcomes::new(vec![NamedOutcome::new("a", Aim::AtMost(f64::NAN))]).is_err());
    assert!(
        Outcomes::new(vec![goal("value")]).unwrap().is_one(),
        "that is what one without a name is called"
    );
    let outcomes = Outcomes::new(vec![goal("a"), NamedOutcome::new("b", Aim::AtLeast(1.0))]).unwrap();
    let at = |b: Option<f64>| move |name: &str| if name == "b" { b } else { Some(5.0) };
    assert_eq!(outcomes.is_feasible(at(Some(1.0))), Some(true));
    assert_eq!(outcomes.is_feasible(at(Some(0.9))), Some(false));
    assert_eq!(outcomes.is_feasible(at(None)), None);
    assert_eq!((outcomes.merit(at(Some(2.0))), outcomes.merit(at(Some(0.0)))), (Some(5.0), None));
}
