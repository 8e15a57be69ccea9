//! The real tasks with the real scikit-learn. Ignored unless asked for, since they need an environment:
//! `scripts/real-env && cargo test --release -p optimist-bench --test classifiers -- --ignored`.

use std::path::Path;
use std::process::Command;

use optimist::space::{Assignment, Value};
use optimist_bench::cache::Cache;
use optimist_bench::environment;
use optimist_bench::task::{self, Group, Objective};
use optimist_bench::trainer::Trainer;

/// With a cache of its own, so that everything is trained here and now.
fn trainer(folder: &Path) -> Trainer {
    let here = std::env::current_dir().unwrap();
    let python = environment::CLASSIFIERS.find(&here).expect("scripts/real-env has been run");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/python/classifiers.py");
    let command = move || {
        let mut command = Command::new(&python);
        command.arg(script);
        command
    };
    Trainer::new(command, Cache::open(&folder.join("cache.jsonl")).unwrap())
}

#[test]
#[ignore = "needs scripts/real-env"]
fn every_task_can_be_trained_at_the_ends_of_its_ranges() {
    let folder = tempfile::tempdir().unwrap();
    let trainer = trainer(folder.path());
    let train = |params: &Assignment| trainer.accuracy(params);
    for task in task::all().iter().filter(|task| task.group == Group::Real) {
        for end in [0.0, 1.0] {
            let x = vec![end; task.domain.dimension()];
            let value =
                task.value(&x, 0, &train).unwrap_or_else(|error| panic!("{} at {end}: {error}", task.name));
            assert!(value > 0.3, "{} at {end}: {value}", task.name);
        }
    }
}

/// Boosting that learns next to nothing answers with the more frequent class. Its share of each fold tells that the
/// data are whole and the folds stratified: 444 of 683, 383 of 690, 500 of 768.
/// In one program with the classifiers, as a run starts it.
#[test]
#[ignore = "needs scripts/real-env"]
fn laboratories_and_tables_answer_between_0_and_1() {
    let here = std::env::current_dir().unwrap();
    let trainer =
        Trainer::open(&environment::CLASSIFIERS.find(&here).expect("scripts/real-env has been run"));
    let trainer = trainer.unwrap();
    let train = |params: &Assignment| trainer.accuracy(params);
    let mut rng = optimist::rng(0, 0);
    for task in task::all().iter().filter(|task| [Group::Lab, Group::Tables].contains(&task.group)) {
        let values: Vec<f64> =
            (0..5).map(|_| task.value(&task.domain.sample(&mut rng), 0, &train).unwrap()).collect();
        assert!(values.iter().all(|value| (0.0..=1.0).contains(value)), "{}: {values:?}", task.name);
        assert!(values.iter().any(|value| *value != values[0]), "{}: {values:?}", task.name);
    }
}

#[test]
#[ignore = "needs scripts/real-env"]
fn the_folds_are_fifths_of_the_whole_data_with_the_same_share_of_each_class() {
    let folder = tempfile::tempdir().unwrap();
    let trainer = trainer(folder.path());
    for (data, majority, cases) in [("breast", 444, 683), ("australian", 383, 690), ("diabetes", 500, 768)] {
        for fold in 0..5_i64 {
            let params = [
                ("classifier", Value::from("gb")),
                ("data", data.into()),
                ("fold", fold.into()),
                ("n_estimators", 1.into()),
                ("learning_rate", 1e-6.into()),
            ];
            let share = trainer.accuracy(&params.into_iter().collect()).unwrap();
            let tested = (cases + 4 - fold) / 5; // the first folds have one more
            let hits = share * tested as f64;
            assert!((hits - hits.round()).abs() < 1e-9, "{data}, fold {fold}: {share} of {tested}");
            let expected = majority as f64 / cases as f64;
            assert!((share - expected).abs() < 1.0 / tested as f64, "{data}, fold {fold}: {share}");
        }
    }
}

#[test]
#[ignore = "needs scripts/real-env"]
fn a_configuration_has_one_value() {
    for task in ["rf-breast", "mlp-breast", "gb-breast"].map(|name| task::find(name).unwrap()) {
        let Objective::Accuracy(learner) = &task.objective else { panic!("{} is a formula", task.name) };
        let params = learner.params(&vec![0.3; task.domain.dimension()], 2);
        let values = [0, 1].map(|_| {
            let folder = tempfile::tempdir().unwrap();
            trainer(folder.path()).accuracy(&params).unwrap()
        });
        assert_eq!(values[0], values[1], "{}", task.name);
    }
}
