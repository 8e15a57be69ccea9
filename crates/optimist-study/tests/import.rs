//! What imports make of files, sound and broken.

use std::path::Path;

use optimist::space::{Assignment, Kind, Value};
use optimist_study::import::{self, ImportOptions};
use optimist_study::{Definition, Direction, Storage, Study, StudyFile};
use proptest::prelude::*;

/// The same study by Optuna 5, 4 and 3.
const OPTUNA: [&str; 3] = [
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/optuna.db"),
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/optuna-4.db"),
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/optuna-3.db"),
];

fn options(optuna_study: &str) -> ImportOptions {
    ImportOptions { optuna_study: Some(optuna_study.to_owned()), ..ImportOptions::default() }
}

fn of_optuna(file: &str) -> Definition {
    import::definition_of_optuna("tune", file, &options("tune")).unwrap()
}

fn table() -> Definition {
    let file = StudyFile::parse(
        "name = 'a'
         direction = 'minimize'
         parameters.x = { type = 'float', low = 0.0, high = 1.0 }
         parameters.n = { type = 'int', low = 1, high = 9 }
         parameters.flag = { type = 'bool' }
         parameters.kind = { type = 'categorical', choices = ['a', 1, 0.5] }",
    );
    file.unwrap().definition
}

fn parse(text: &str) -> import::Found {
    import::parse(text.as_bytes(), Path::new("table"), &table(), &ImportOptions::default()).unwrap()
}

#[test]
fn the_space_of_an_optuna_study_is_understood() {
    OPTUNA.into_iter().for_each(check_space);
}

fn check_space(file: &str) {
    let definition = of_optuna(file);
    assert_eq!(definition.outcomes.one_direction(), Some(Direction::Minimize));
    let kind = |name: &str| definition.space.get(name).unwrap().kind.clone();
    assert_eq!(kind("rate"), Kind::Float { low: 1e-5, high: 1.0, log: true, step: None });
    assert_eq!(kind("drop"), Kind::Float { low: 0.0, high: 0.5, log: false, step: Some(0.1) });
    assert_eq!(kind("depth"), Kind::Int { low: 1, high: 9, log: false, step: Some(2) });
    assert_eq!(kind("units"), Kind::Int { low: 4, high: 256, log: true, step: None });
    assert_eq!(kind("nesterov"), Kind::Bool);
    assert_eq!(
        kind("kind"),
        Kind::Categorical { choices: ["relu", "tanh", "None"].map(Value::from).to_vec() }
    );
    let slope = definition.space.get("slope").unwrap();
    assert_eq!((slope.when[0].parameter.as_str(), &slope.when[0].value), ("kind", &Value::from("relu")));
}

#[test]
fn values_of_optuna_are_in_their_units() {
    OPTUNA.into_iter().for_each(check_values);
}

#[test]
fn an_optuna_study_of_several_objectives_does_not_fit_one_goal() {
    for file in OPTUNA {
        let error = import::read(file, &of_optuna(file), &options("two")).unwrap_err().to_string();
        let expected = "the Optuna study `two` has 2 objectives, and `tune` has 1 goal; import it into a study with as many goals, \
                        or create one with --create";
        assert_eq!(error, expected, "{file}");
    }
}

/// How the constraint is called: names came with version 5.
fn heat(file: &str) -> &'static str {
    if file == OPTUNA[0] { "heat" } else { "constraint_0" }
}

#[test]
fn objectives_of_optuna_become_goals_and_its_constraints_outcomes_of_at_most_0() {
    for file in OPTUNA {
        let trade = import::definition_of_optuna("trade", file, &options("trade")).unwrap();
        let wanted: Vec<String> =
            trade.outcomes.all().iter().map(|one| format!("{} {}", one.name, one.aim)).collect();
        assert_eq!(
            wanted,
            ["cost minimize", "gain maximize", &format!("{} at most 0", heat(file))],
            "{file}"
        );
        let found = import::read(file, &trade, &options("trade")).unwrap();
        assert_eq!((found.trials.len(), found.bad.len()), (6, 0));
        let mut study = Study::create(&Storage::memory(), trade).unwrap();
        assert_eq!(study.import(&found.trials).unwrap().n_added, 6);
        for (number, trial) in study.state().trials().iter().enumerate() {
            let x = trial.params.get("x").and_then(Value::as_f64).unwrap();
            let expected = if number == 2 { (None, None) } else { (Some(x), Some(x - x * x)) };
            assert_eq!((trial.value_of("cost"), trial.value_of("gain")), expected, "{file}: {trial:?}");
            if let Some(over) = trial.value_of(heat(file)) {
                assert!((over - (x - 0.75)).abs() < 1e-12);
                assert_eq!(study.state().is_feasible(trial), Some(over <= 0.0));
            }
        }
        assert!(study.state().observed_front().is_some_and(|front| !front.trials.is_empty()));
    }
}

#[test]
fn objectives_of_optuna_go_where_they_are_called_the_same_or_in_order() {
    let text = |outcomes: &str| {
        format!("name = 'mine'\n{outcomes}\nparameters.x = {{ type = 'float', low = 0.0, high = 1.0 }}")
    };
    let mine = |outcomes: &str| StudyFile::parse(&text(outcomes)).unwrap().definition;
    let read = |outcomes: &str, map: &[(&str, &str)]| {
        let map = map.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect();
        import::read(OPTUNA[0], &mine(outcomes), &ImportOptions { map, ..options("trade") })
    };
    let heat = "outcomes.heat = { at_most = 0 }";
    let swapped =
        format!("outcomes.gain = {{ goal = 'maximize' }}\noutcomes.cost = {{ goal = 'minimize' }}\n{heat}");
    let cost =
        |found: import::Found, name: &str| found.trials[0].outcome.clone().unwrap().value(name).unwrap();
    let x = cost(read(&swapped, &[]).unwrap(), "cost");
    let renamed =
        format!("outcomes.money = {{ goal = 'minimize' }}\noutcomes.joy = {{ goal = 'maximize' }}\n{heat}");
    assert_eq!(cost(read(&renamed, &[]).unwrap(), "money"), x, "in order");
    let mixed =
        format!("outcomes.joy = {{ goal = 'maximize' }}\noutcomes.money = {{ goal = 'minimize' }}\n{heat}");
    assert_eq!(cost(read(&mixed, &[("cost", "money"), ("gain", "joy")]).unwrap(), "money"), x);
    for (outcomes, words) in [
        (mixed.as_str(), "has `cost`, which is minimized, and `joy` of `mine` is maximized"),
        (
            "outcomes.a = { goal = 'minimize' }\noutcomes.b = { goal = 'maximize' }",
            "has 1 constraint, and `mine` has 0",
        ),
        (
            "outcomes.a = { goal = 'minimize' }\noutcomes.b = { goal = 'maximize' }\noutcomes.c = { at_most = 3 }",
            "`c` of `mine` is at most 3; give it `at_most = 0`",
        ),
        ("outcomes.a = { goal = 'minimize' }", "has 2 objectives, and `mine` has 1 goal"),
    ] {
        let error = read(outcomes, &[]).unwrap_err().to_string();
        assert!(error.contains(words), "{words}: {error}");
    }
}

fn check_values(file: &str) {
    let found = import::read(file, &of_optuna(file), &options("tune")).unwrap();
    assert_eq!((found.trials.len(), found.bad.len(), found.n_unfinished), (16, 0, 1));
    let expected = Assignment::from_iter([
        ("depth", Value::from(7_i64)),
        ("drop", Value::from(0.4)),
        ("kind", Value::from("None")),
        ("nesterov", Value::from(false)),
        ("rate", Value::from(0.005547119471592123)),
        ("units", Value::from(36_i64)),
    ]);
    assert_eq!(found.trials[0].params, expected);
    let reasons: Vec<&str> =
        found.trials.iter().filter_map(|t| t.outcome.as_ref().err()).map(String::as_str).collect();
    assert_eq!(reasons, ["it was pruned", "it failed", "its value is infinite"]);
}

#[test]
fn cells_are_read_as_the_parameter_wants_them() {
    let csv = parse("x,n,flag,kind,value\n 1 ,3.0,yes,1,-2e3\n0.5,9,FALSE,0.50,nan\n");
    let json = parse("{\"x\": 1, \"n\": 3, \"flag\": true, \"kind\": 1, \"value\": -2000}");
    assert!(csv.bad.is_empty(), "{:?}", csv.bad);
    assert_eq!(csv.trials[0], json.trials[0]);
    assert_eq!(csv.trials[1].params.get("kind"), Some(&Value::Float(0.5)));
    assert!(csv.trials[1].outcome.is_err());
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_no_trouble(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = import::parse(&bytes, Path::new("table"), &table(), &ImportOptions::default());
    }

    #[test]
    fn what_looks_like_a_table_is_no_trouble(
        text in "[\\[{]?(x|n|flag|kind|value|state|params|[0-9.e-]{1,5}|[\",:\\[\\]{}\n]|null|true){0,60}"
    ) {
        let _ = import::parse(text.as_bytes(), Path::new("table"), &table(), &ImportOptions::default());
    }

    #[test]
    fn a_damaged_database_is_no_trouble(
        which in 0..OPTUNA.len(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..200),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = std::fs::read(OPTUNA[which]).unwrap();
        let n = bytes.len();
        damage.into_iter().for_each(|(at, byte)| bytes[16 + at.index(n - 16)] = byte);
        bytes.truncate(cut.map_or(n, |cut| 100 + cut.index(n - 100)));
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let path = file.path().to_str().unwrap();
        let _ = import::read(path, &of_optuna(OPTUNA[which]), &options("tune"));
        let _ = import::definition_of_optuna("tune", path, &options("tune"));
    }
}
