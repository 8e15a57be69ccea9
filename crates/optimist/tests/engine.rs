//! Suggestions change only when `ENGINE_VERSION` does: logs record that number, and `optimist verify` trusts it.
//!
//! `fixtures/suggestions.json` has what each optimizer suggests after one small history. On one kind of processor suggestions
//! are the same to the last bit. Another kind may round differently (faer chooses its kernels at run time), and a search
//! amplifies that: so the comparison here allows 1e-6 of the unit cube. That was tried on x86-64 with AVX2 only; a
//! processor on which a search ends at another local maximum would need a fixture of its own.

use std::collections::BTreeMap;

use optimist::encode::Encoding;
use optimist::space::{Kind, Parameter, Space, Value};
use optimist::{ENGINE_VERSION, Goal, Goals, Method, Outcome, rng};
use serde::{Deserialize, Serialize};

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/suggestions.json");

const TOLERANCE: f64 = 1e-6;

#[derive(Serialize, Deserialize)]
struct Golden {
    engine: u32,
    /// An encoded point for each optimizer, by name.
    suggestions: BTreeMap<String, Vec<f64>>,
}

#[test]
fn suggestions_change_only_with_the_engine_version() {
    let golden = golden();
    let how = "raise ENGINE_VERSION, then `cargo test --release -p optimist --test engine -- --ignored`";
    assert_eq!(golden.engine, ENGINE_VERSION, "the fixture is of another version: {how}");
    let now = suggestions();
    assert!(
        golden.suggestions.keys().eq(now.keys()),
        "there are other optimizers than in the fixture: {how}"
    );
    for (name, x) in now {
        let before = &golden.suggestions[&name];
        let is_near = |(a, b): (&f64, &f64)| (a - b).abs() <= TOLERANCE;
        let same = x.len() == before.len() && x.iter().zip(before).all(is_near);
        assert!(same, "`{name}` suggests {x:?}, and suggested {before:?} before; if that is meant, {how}");
    }
}

#[test]
#[ignore = "writes the fixture of a new version"]
fn the_fixture_is_written_again() {
    assert_ne!(golden().engine, ENGINE_VERSION, "raise ENGINE_VERSION first");
    let golden = Golden { engine: ENGINE_VERSION, suggestions: suggestions() };
    let text = serde_json::to_string_pretty(&golden).unwrap();
    std::fs::write(FIXTURE, format!("{text}\n")).unwrap();
}

fn golden() -> Golden {
    serde_json::from_str(&std::fs::read_to_string(FIXTURE).unwrap()).unwrap()
}

/// What each optimizer suggests after 16 observations, one of them a failure, while one point is pending: with one outcome, and with
/// the goals that it supports.
fn suggestions() -> BTreeMap<String, Vec<f64>> {
    let encoding = Encoding::new(space());
    let domain = encoding.domain();
    let suggestion = |name: &str, goals: &Goals| {
        let method: Method = name.parse().expect("a name of the list");
        let mut optimizer = method.build_for(domain, goals, 30, 5).ok()?;
        for i in 0..16 {
            let x = domain.sample(&mut rng(1, i));
            let outcome = |k: usize| match i {
                3 => Outcome::Failed,
                _ => Outcome::Value { y: height(&x, 0.4 + 0.2 * k as f64), noise_std: None },
            };
            let outcomes: Vec<Outcome> = (0..goals.len()).map(outcome).collect();
            optimizer.tell_outcomes(x, &outcomes).expect("it is in the domain");
        }
        optimizer.propose(domain.sample(&mut rng(1, 16)));
        Some(optimizer.suggest(&mut rng(5, 17)).x)
    };
    let names = || Method::NAMES.into_iter().chain(["go-ucb:paper", "go-ucb:theory"]);
    let mut all: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for name in names() {
        all.insert(name.to_owned(), suggestion(name, &Goals::single()).expect("its settings fit"));
    }
    for (label, goals) in several_goals() {
        let supported =
            names().filter_map(|name| Some((format!("{name}, {label}"), suggestion(name, &goals)?)));
        all.extend(supported);
    }
    all
}

fn several_goals() -> Vec<(&'static str, Goals)> {
    let up = Goal::Maximize { reference: None };
    let goals = |goals: &[Goal]| Goals::new(goals.to_vec()).expect("few enough");
    vec![
        ("a goal and a bound", goals(&[up, Goal::AtLeast { bound: -0.9 }])),
        ("two goals", goals(&[up, up])),
        ("two goals above anything seen", goals(&[Goal::Maximize { reference: Some(0.0) }; 2])),
    ]
}

fn space() -> Space {
    let float = |low, high, log| Kind::Float { low, high, log, step: None };
    let kinds = Kind::Categorical { choices: ["relu", "tanh", "gelu"].map(Value::from).to_vec() };
    let parameters = vec![
        Parameter::new("rate", float(1e-5, 1.0, true)),
        Parameter::new("drop", float(0.0, 0.5, false)),
        Parameter::new("depth", Kind::Int { low: 1, high: 8, log: false, step: None }),
        Parameter::new("kind", kinds),
    ];
    Space::new(parameters).expect("a sound space")
}

fn height(x: &[f64], centre: f64) -> f64 {
    x.iter().enumerate().map(|(j, x)| -(1.0 + j as f64) * (x - centre).powi(2)).sum()
}
