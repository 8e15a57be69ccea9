//! What every baseline must do: checks that each one runs on itself in a line.

use super::Random;
use crate::encode::{Domain, Encoding};
use crate::optimizer::{Observation, Optimizer, Outcome, Rng, rng};
use crate::policy::Policy;
use crate::space::{Kind, Parameter, Space, Value};

/// What is maximised.
type Function<'a> = &'a dyn Fn(&[f64]) -> f64;

/// Makes the policy to check, with a seed.
pub(super) type Build<'a> = &'a dyn Fn(&Domain, u64) -> Box<dyn Policy>;

fn start(build: Build, domain: &Domain, seed: u64) -> Optimizer {
    Optimizer::new(domain.clone(), build(domain, seed))
}

/// All checks of the contract; none of them is about how good the optimizer is.
pub(super) fn all(build: Build) {
    conduct(build, 5);
}

/// All checks of the contract with fewer seeds, for slow optimizers.
pub(super) fn all_once(build: Build) {
    conduct(build, 1);
}

fn conduct(build: Build, n_seeds: u64) {
    for domain in [Domain::cube(3), conditional(), constrained(), three_points(), one_point()] {
        points_are_feasible_whatever_happens(build, &domain, n_seeds);
        same_calls_give_the_same_points(build, &domain);
    }
    nothing_is_proposed_twice_while_there_is_anything_else(build, 2 * n_seeds);
    a_refused_observation_changes_nothing(build);
    hostile_values_are_survived(build);
}

/// A choice of methods, one of which has a choice of variants, one of which has a depth.
pub(super) fn conditional() -> Domain {
    let choices = |names: &[&str]| Kind::Categorical { choices: names.iter().map(|&n| n.into()).collect() };
    let parameters = vec![
        Parameter::new("depth", Kind::Int { low: 1, high: 9, log: false, step: None })
            .when("method", "tree")
            .when("variant", "deep"),
        Parameter::new("method", choices(&["line", "tree", "net"])),
        Parameter::new("variant", choices(&["shallow", "deep"])).when("method", "tree"),
        Parameter::new("rate", Kind::Float { low: 1e-4, high: 1.0, log: true, step: None }),
        Parameter::new("size", Kind::Int { low: 1, high: 512, log: true, step: None }),
        Parameter::new("only", Kind::Int { low: 3, high: 3, log: false, step: None }),
        Parameter::new("flag", Kind::Bool),
    ];
    Encoding::new(Space::new(parameters).expect("a valid space")).domain().clone()
}

/// A mixture with one part in steps, integers that share a budget with a real, a category, and a parameter that depends on one of
/// the integers.
pub(super) fn constrained() -> Domain {
    let share = |step| Kind::Float { low: 0.0, high: 1.0, log: false, step };
    let count = || Kind::Int { low: 0, high: 6, log: false, step: None };
    let parameters = vec![
        Parameter::new("copper", share(None)),
        Parameter::new("lathes", count()),
        Parameter::new("zinc", share(None)),
        Parameter::new("form", Kind::Categorical { choices: vec!["bar".into(), "sheet".into()] }),
        Parameter::new("tin", share(Some(0.05))),
        Parameter::new("mills", count()),
        Parameter::new("hours", Kind::Float { low: 0.0, high: 40.0, log: false, step: None }),
        Parameter::new("feed", share(None)).when("mills", 1_i64),
    ];
    constrained_by(
        parameters,
        &["copper + zinc + tin = 1", "tin <= 0.3*copper", "5*lathes + 8*mills + hours <= 45"],
    )
}

/// Shares of `n` parts that add up to 1.
pub(super) fn mixture(n: usize) -> Domain {
    let share = || Kind::Float { low: 0.0, high: 1.0, log: false, step: None };
    let names: Vec<String> = (0..n).map(|i| format!("part{i}")).collect();
    let parameters = names.iter().map(|name| Parameter::new(name, share())).collect();
    constrained_by(parameters, &[&format!("{} = 1", names.join(" + "))])
}

fn constrained_by(parameters: Vec<Parameter>, constraints: &[&str]) -> Domain {
    let space = Space::new(parameters).expect("a valid space");
    let constraints = constraints.iter().map(|text| text.parse().expect("a valid constraint"));
    let space = space.with_constraints(constraints).expect("constraints that leave something");
    Encoding::new(space).domain().clone()
}

/// Lower mean regret than uniform search over 5 runs of 100 trials, in the cube, with conditions and in a mixture.
pub(super) fn beats_random(build: Build) {
    let hill = |x: &[f64]| -x.iter().map(|x| (x - 0.3).powi(2)).sum::<f64>();
    // Deep trees of depth 9 are best; rate and flag matter everywhere.
    let tree = |x: &[f64]| {
        let target = [1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.2, 0.5, 0.5, 1.0];
        -x.iter().zip(target).map(|(x, target)| (x - target).powi(2)).sum::<f64>()
    };
    // Half and half of two parts of six.
    let blend = |x: &[f64]| {
        -x.iter().zip([0.5, 0.5, 0.0, 0.0, 0.0, 0.0]).map(|(x, best)| (x - best).powi(2)).sum::<f64>()
    };
    let mean = |build: Build, domain: &Domain, value: Function| {
        let run = |seed| play(&mut start(build, domain, seed), 100, value, &mut rng(seed, 0));
        (0..5).map(|seed| run(seed).iter().sum::<f64>()).sum::<f64>() / 500.0
    };
    let random: Build = &|_, _| Box::new(Random);
    let tasks =
        [(Domain::cube(5), &hill as Function, 0.5), (conditional(), &tree, 0.75), (mixture(6), &blend, 0.5)];
    for (domain, value, share) in tasks {
        let (own, random) = (mean(build, &domain, value), mean(random, &domain, value));
        assert!(own > share * random, "{own}, and uniform search {random}");
    }
}

/// Asks for and tells `n` points; the values told.
pub(super) fn play<P: Policy>(
    optimizer: &mut Optimizer<P>,
    n: usize,
    value: Function,
    rng: &mut Rng,
) -> Vec<f64> {
    let mut round = || {
        let x = optimizer.ask(rng);
        let y = value(&x);
        optimizer.tell(Observation { x, outcome: known(y) }).expect("a proposed point can be told");
        y
    };
    (0..n).map(|_| round()).collect()
}

fn known(y: f64) -> Outcome {
    Outcome::Value { y, noise_std: None }
}

/// Two flags, the second of which depends on the first.
fn three_points() -> Domain {
    let flags = vec![Parameter::new("a", Kind::Bool), Parameter::new("b", Kind::Bool).when("a", true)];
    Encoding::new(Space::new(flags).expect("a valid space")).domain().clone()
}

fn one_point() -> Domain {
    let only = Parameter::new("only", Kind::Int { low: 3, high: 3, log: false, step: None });
    Encoding::new(Space::new(vec![only]).expect("a valid space")).domain().clone()
}

/// Batches told out of order, failures, withdrawals, and points that were never proposed.
fn points_are_feasible_whatever_happens(build: Build, domain: &Domain, n_seeds: u64) {
    for seed in 0..n_seeds {
        let mut optimizer = start(build, domain, seed);
        let mut rng = rng(seed, 0);
        assert_eq!(optimizer.recommend(), None);
        for round in 0..30 {
            let mut batch = optimizer.ask_batch(1 + round % 4, &mut rng);
            assert!(batch.iter().all(|x| domain.contains(x)), "{batch:?}");
            batch.reverse();
            for (idx, x) in batch.into_iter().enumerate() {
                match (round + idx) % 5 {
                    0 => optimizer.withdraw(&x),
                    1 => optimizer.tell(Observation { x, outcome: Outcome::Failed }).unwrap(),
                    _ => {
                        let outcome = known(x.iter().sum());
                        optimizer.tell(Observation { x, outcome }).unwrap();
                    }
                }
            }
            let x = domain.sample(&mut rng);
            optimizer.tell(Observation { x, outcome: known(round as f64) }).unwrap();
        }
        assert!(optimizer.recommend().is_some());
    }
}

fn same_calls_give_the_same_points(build: Build, domain: &Domain) {
    let points = |seed| {
        let mut optimizer = start(build, domain, seed);
        let mut rng = rng(seed, 0);
        let values = play(&mut optimizer, 30, &|x| x.iter().sum(), &mut rng);
        (values, optimizer.ask_batch(3, &mut rng))
    };
    assert_eq!(points(1), points(1));
    assert!(domain.n_free() < 3 || points(1) != points(2));
}

fn nothing_is_proposed_twice_while_there_is_anything_else(build: Build, n_seeds: u64) {
    let kind = Kind::Categorical { choices: (0..5).map(Value::Int).collect() };
    let parameters = vec![Parameter::new("a", kind), Parameter::new("b", Kind::Bool)];
    let domain = Encoding::new(Space::new(parameters).expect("a valid space")).domain().clone();
    for seed in 0..n_seeds {
        let mut optimizer = start(build, &domain, seed);
        let mut rng = rng(seed, 0);
        let mut seen: Vec<Vec<f64>> = Vec::new();
        for round in 0..10 {
            let x = optimizer.ask(&mut rng);
            assert!(!seen.contains(&x), "round {round} of 10 points, seed {seed}");
            if round % 2 == 0 {
                optimizer.tell(Observation { x: x.clone(), outcome: known(x[0]) }).unwrap();
            }
            seen.push(x);
        }
        assert!(seen.contains(&optimizer.ask(&mut rng)), "there is nothing else");
    }
}

fn a_refused_observation_changes_nothing(build: Build) {
    let mut optimizer = start(build, &Domain::cube(2), 0);
    for (x, y) in [(vec![0.5], 1.0), (vec![0.5, 1.5], 1.0), (vec![0.5, 0.5], f64::NAN)] {
        assert!(optimizer.tell(Observation { x, outcome: known(y) }).is_err());
    }
    assert_eq!(optimizer.recommend(), None);
}

/// Constant values, values too large to be added, and nothing but failures.
fn hostile_values_are_survived(build: Build) {
    let values: [Function; 3] =
        [&|_| 7.0, &|x| if x[0] > 0.5 { f64::MAX } else { f64::MIN }, &|x| 1e-300 * x[0]];
    for value in values {
        let mut optimizer = start(build, &Domain::cube(2), 0);
        play(&mut optimizer, 120, value, &mut rng(0, 0));
    }
    let mut optimizer = start(build, &Domain::cube(2), 0);
    let mut rng = rng(0, 0);
    for _ in 0..60 {
        let x = optimizer.ask(&mut rng);
        optimizer.tell(Observation { x, outcome: Outcome::Failed }).unwrap();
    }
    assert_eq!(optimizer.recommend(), None);
}
