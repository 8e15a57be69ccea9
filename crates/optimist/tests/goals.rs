//! Several outcomes, method by method: what every optimizer that supports them must do, and what the others say.

use optimist::encode::{Domain, Encoding};
use optimist::space::{Kind, Parameter, Space, Value};
use optimist::{
    Candidate, Goal, Goals, Method, MethodError, Optimizer, Outcome, TellError, Why, pareto, rng,
};

const UP: Goal = Goal::Maximize { reference: None };

/// Methods that support several goals, and those that support one with constraints.
const SEVERAL: [&str; 6] = ["go-ucb", "gp-ei", "tpe", "nsga-ii", "sobol", "random"];
const CONSTRAINED: [&str; 7] = ["go-ucb", "gp-ei", "tpe", "cma-es", "nsga-ii", "sobol", "random"];

fn at_least(bound: f64) -> Goal {
    Goal::AtLeast { bound }
}

fn goals(goals: &[Goal]) -> Goals {
    Goals::new(goals.to_vec()).unwrap()
}

/// Goals, with the methods that support them.
fn cases() -> Vec<(Goals, &'static [&'static str])> {
    vec![
        (goals(&[UP, at_least(-0.3)]), &CONSTRAINED),
        (goals(&[at_least(-0.3), at_least(-0.5)]), &CONSTRAINED),
        (goals(&[UP, Goal::Maximize { reference: Some(-1.0) }]), &SEVERAL),
        (goals(&[UP, at_least(-0.3), UP]), &SEVERAL),
    ]
}

fn mixed() -> Domain {
    let choices = ["line", "tree"].map(Value::from).to_vec();
    let parameters = vec![
        Parameter::new("method", Kind::Categorical { choices }),
        Parameter::new("depth", Kind::Int { low: 1, high: 9, log: false, step: None }).when("method", "tree"),
        Parameter::new("rate", Kind::Float { low: 1e-4, high: 1.0, log: true, step: None }),
    ];
    Encoding::new(Space::new(parameters).unwrap()).domain().clone()
}

/// Hills around points that differ from outcome to outcome.
fn heights(x: &[f64], n: usize) -> Vec<f64> {
    let hill = |k: usize| {
        let centre = 0.2 + 0.5 * k as f64 / n as f64;
        -x.iter().map(|x| (x - centre).powi(2)).sum::<f64>()
    };
    (0..n).map(hill).collect()
}

fn known(values: &[f64]) -> Vec<Outcome> {
    values.iter().map(|&y| Outcome::Value { y, noise_std: None }).collect()
}

/// A step of a run.
#[derive(Clone)]
enum Call {
    Propose(Vec<f64>),
    Tell(Vec<f64>, Vec<Outcome>),
    Withdraw(Vec<f64>),
}

fn repeat(optimizer: &mut Optimizer, call: Call) {
    match call {
        Call::Propose(x) => optimizer.propose(x),
        Call::Tell(x, outcomes) => optimizer.tell_outcomes(x, &outcomes).unwrap(),
        Call::Withdraw(x) => optimizer.withdraw(&x),
    }
}

/// Batches of two, told late and out of order; some trials fail, some in part, some are withdrawn, some were never proposed.
fn run(optimizer: &mut Optimizer, domain: &Domain, steps: u64) -> Vec<Call> {
    let n = optimizer.history().goals().len();
    let mut record = Vec::new();
    for step in 0..steps {
        let luck = &mut rng(3, step);
        let x = optimizer.suggest(luck).x;
        assert!(domain.contains(&x), "{x:?}");
        let mut outcomes = known(&heights(&x, n));
        match step % 7 {
            3 => outcomes[0] = Outcome::Failed,
            5 => outcomes.fill(Outcome::Failed),
            _ => {}
        }
        let unasked = domain.sample(luck);
        let told = Call::Tell(x.clone(), outcomes);
        let calls = match step % 5 {
            4 => vec![Call::Propose(x.clone()), Call::Withdraw(x)],
            2 => vec![Call::Propose(x), told, Call::Tell(unasked.clone(), known(&heights(&unasked, n)))],
            1 => vec![Call::Propose(unasked), Call::Propose(x), told],
            _ => vec![Call::Propose(x), told],
        };
        for call in calls {
            repeat(optimizer, call.clone());
            record.push(call);
        }
    }
    record
}

#[test]
fn every_method_that_knows_them_pursues_every_kind_of_goals() {
    for (goals, methods) in cases() {
        for name in methods {
            for domain in [Domain::cube(2), mixed()] {
                let build = || name.parse::<Method>().unwrap().build_for(&domain, &goals, 30, 3).unwrap();
                let mut optimizer = build();
                assert!(optimizer.front().is_empty() && optimizer.recommend().is_none(), "{name}");
                let record = run(&mut optimizer, &domain, 18);
                check_answer(&optimizer, name);

                let mut rebuilt = build();
                record.into_iter().for_each(|call| repeat(&mut rebuilt, call));
                let next = |optimizer: &Optimizer| {
                    let x = optimizer.suggest(&mut rng(3, 1000)).x;
                    x.into_iter().map(f64::to_bits).collect::<Vec<_>>()
                };
                assert_eq!(next(&rebuilt), next(&optimizer), "{name} with {goals:?}");
                assert_eq!(rebuilt.front(), optimizer.front(), "{name} with {goals:?}");
            }
        }
    }
}

fn check_answer(optimizer: &Optimizer, name: &str) {
    let goals = optimizer.history().goals();
    let front = optimizer.front();
    assert!(!front.is_empty(), "{name}");
    let traded: Vec<Vec<f64>> = front
        .iter()
        .map(|Candidate { expected, .. }| goals.maximized().into_iter().map(|k| expected[k].mean).collect())
        .collect();
    if goals.maximized().len() > 1 {
        assert_eq!(pareto::front(&traded).len(), front.len(), "{name}: {front:?}");
        assert_eq!(optimizer.recommend(), None, "{name}");
    } else {
        assert_eq!(front.len(), 1, "{name}");
        let recommended = optimizer.recommend().map(|recommended| recommended.x);
        assert_eq!(recommended, goals.maximized().first().map(|_| front[0].x.clone()), "{name}");
    }
    for Candidate { x, expected, feasibility } in &front {
        assert!((0.0..=1.0).contains(feasibility), "{name}: {feasibility}");
        assert_eq!(expected.len(), goals.len(), "{name}");
        assert!(optimizer.history().told_at(x).next().is_some(), "{name}: an answer was measured");
    }
}

#[test]
fn methods_that_cannot_pursue_goals_say_so() {
    let problem = |name: &str, goals: &Goals| {
        let error = name.parse::<Method>().unwrap().build_for(&Domain::cube(1), goals, 30, 0).err();
        assert!(matches!(error, Some(MethodError::Unable { .. })), "{name}: {error:?}");
        error.unwrap().to_string()
    };
    let (constrained, several) = (goals(&[UP, at_least(0.0)]), goals(&[UP, UP]));
    for name in ["gp-pi", "gp-ucb", "turbo"] {
        assert!(problem(name, &constrained).contains(&format!("optimizer `{name}` supports one outcome")));
        problem(name, &several);
    }
    assert!(problem("cma-es", &several).contains("supports one goal"));
    assert!(problem("go-ucb:paper", &several).contains("preset `default`"));
    assert!(problem("go-ucb:aim=regret", &several).contains("one goal"));
}

#[test]
fn one_goal_is_what_it_always_was() {
    for name in Method::NAMES {
        let method: Method = name.parse().unwrap();
        let domain = Domain::cube(2);
        let play = |mut optimizer: Optimizer| {
            for i in 0..12 {
                let x = optimizer.ask(&mut rng(1, i));
                optimizer.tell_outcomes(x.clone(), &known(&heights(&x, 1))).unwrap();
            }
            optimizer.suggest(&mut rng(1, 99)).x
        };
        let reference = goals(&[Goal::Maximize { reference: Some(-9.0) }]);
        let one = play(method.build(&domain, 20, 4).unwrap());
        assert_eq!(one, play(method.build_for(&domain, &Goals::single(), 20, 4).unwrap()), "{name}");
        assert_eq!(one, play(method.build_for(&domain, &reference, 20, 4).unwrap()), "{name}");
    }
}

#[test]
fn too_few_outcomes_are_refused_and_nothing_is_learnt() {
    let mut optimizer = Method::Random.build_for(&Domain::cube(1), &goals(&[UP, UP]), 9, 0).unwrap();
    let refused = optimizer.tell_outcomes(vec![0.5], &known(&[1.0]));
    assert_eq!(refused, Err(TellError::WrongOutcomes { expected: 2, got: 1 }));
    assert!(optimizer.history().observations().is_empty());
}

/// The best value that meets the bound, for one goal that rises towards where the bound is violated.
fn best_feasible(name: &str, seed: u64) -> f64 {
    let goals = goals(&[UP, at_least(0.0)]);
    let mut optimizer =
        name.parse::<Method>().unwrap().build_for(&Domain::cube(3), &goals, 30, seed).unwrap();
    let mut best = f64::NEG_INFINITY;
    for i in 0..30 {
        let x = optimizer.ask(&mut rng(seed, i));
        let values = [x.iter().sum::<f64>(), 0.25 - x.iter().map(|x| x * x).sum::<f64>()];
        if values[1] >= 0.0 {
            best = best.max(values[0]);
        }
        optimizer.tell_outcomes(x, &known(&values)).unwrap();
    }
    best
}

#[test]
fn models_find_the_best_point_on_a_boundary() {
    // The best is √3 / 2, on the sphere of radius one half.
    for seed in 0..2 {
        assert!(best_feasible("go-ucb", seed) > 0.84, "go-ucb: {}", best_feasible("go-ucb", seed));
        assert!(best_feasible("gp-ei", seed) > 0.84, "gp-ei: {}", best_feasible("gp-ei", seed));
    }
}

#[test]
fn before_anything_is_feasible_the_search_goes_where_that_is_likely() {
    for name in ["go-ucb", "gp-ei"] {
        let goals = goals(&[UP, at_least(-0.001)]);
        let mut optimizer =
            name.parse::<Method>().unwrap().build_for(&Domain::cube(4), &goals, 30, 1).unwrap();
        let mut first = None;
        for i in 0..30 {
            let x = optimizer.ask(&mut rng(1, i));
            let values = [x[0], -x.iter().map(|x| (x - 0.6).powi(2)).sum::<f64>()];
            if values[1] >= -0.001 && first.is_none() {
                first = Some(i);
            }
            optimizer.tell_outcomes(x, &known(&values)).unwrap();
        }
        assert!(first.is_some(), "{name} never found 1 point of 25,000");
        assert!(optimizer.front()[0].feasibility > 0.5, "{name}");
    }
}

#[test]
fn models_cover_more_of_a_front_than_chance() {
    let goals = goals(&[Goal::Maximize { reference: Some(-1.0) }, Goal::Maximize { reference: Some(-1.0) }]);
    let covered = |name: &str| {
        let mut optimizer =
            name.parse::<Method>().unwrap().build_for(&Domain::cube(3), &goals, 30, 2).unwrap();
        let mut told = Vec::new();
        for i in 0..30 {
            let x = optimizer.ask(&mut rng(2, i));
            let values = heights(&x, 2);
            optimizer.tell_outcomes(x, &known(&values)).unwrap();
            told.push(values);
        }
        pareto::hypervolume(&told, &[-1.0, -1.0])
    };
    let chance = covered("random");
    for name in ["go-ucb", "gp-ei"] {
        let model = covered(name);
        assert!(model > chance + 0.02, "{name} {model} and chance {chance}");
    }
}

#[test]
fn pending_points_are_not_suggested_again_and_neither_is_what_is_next_to_them() {
    for (goals, methods) in cases() {
        for name in methods.iter().filter(|name| ["go-ucb", "gp-ei"].contains(name)) {
            let mut optimizer =
                name.parse::<Method>().unwrap().build_for(&Domain::cube(2), &goals, 30, 3).unwrap();
            for i in 0..12 {
                let x = optimizer.ask(&mut rng(5, i));
                optimizer.tell_outcomes(x.clone(), &known(&heights(&x, goals.len()))).unwrap();
            }
            let batch = optimizer.ask_batch(3, &mut rng(5, 99));
            let apart =
                |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            for i in 0..3 {
                assert!((0..i).all(|j| apart(&batch[i], &batch[j]) > 1e-6), "{name} {goals:?}: {batch:?}");
            }
        }
    }
}

#[test]
fn an_expected_gain_is_of_what_meets_the_bounds_and_several_goals_have_none() {
    let told = |goals: &Goals| {
        let mut optimizer = Method::default().build_for(&Domain::cube(2), goals, 30, 3).unwrap();
        for i in 0..12 {
            let x = optimizer.ask(&mut rng(5, i));
            optimizer.tell_outcomes(x.clone(), &known(&heights(&x, goals.len()))).unwrap();
        }
        optimizer.expected_gain()
    };
    let gain = told(&goals(&[UP, at_least(-0.3)])).unwrap();
    assert!((0.0..1.0).contains(&gain), "{gain}");
    assert_eq!(told(&goals(&[UP, UP])), None);
    assert_eq!(told(&goals(&[at_least(-0.3)])), None);
}

#[test]
fn suggestions_say_by_which_families_and_how_much_optimism() {
    let goals = goals(&[UP, UP]);
    let mut optimizer = Method::default().build_for(&Domain::cube(2), &goals, 30, 3).unwrap();
    for i in 0..12 {
        let x = optimizer.ask(&mut rng(5, i));
        optimizer.tell_outcomes(x.clone(), &known(&heights(&x, 2))).unwrap();
    }
    let Why::Optimism { family, radius } = optimizer.suggest(&mut rng(5, 99)).why else { panic!() };
    assert_eq!(family.split(", ").count(), 2, "{family}");
    assert!((0.0..10.0).contains(&radius), "{radius}");
}
