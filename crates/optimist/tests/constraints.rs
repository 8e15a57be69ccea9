//! What holds of every constrained space: points satisfy the constraints, and every optimizer searches well among them.

use optimist::encode::{Domain, Encoding};
use optimist::space::{Assignment, Constraint, Kind, Parameter, Relation, Space, Value};
use optimist::{Method, Observation, Outcome, SpaceError, rng};
use proptest::prelude::*;

/// Optimizers with their presets.
const METHODS: [&str; 11] = [
    "go-ucb",
    "go-ucb:paper",
    "go-ucb:theory",
    "gp-ei",
    "gp-pi",
    "gp-ucb",
    "turbo",
    "tpe",
    "cma-es",
    "sobol",
    "random",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_point_of_the_cube_decodes_to_values_that_satisfy_the_constraints((space, x) in (space(), numbers())) {
        let encoding = Encoding::new(space);
        let decoded = encoding.decode(&x[..encoding.domain().dimension()]);
        prop_assert_eq!(encoding.space().check(&decoded), Ok(()));
    }

    #[test]
    fn encoding_what_was_decoded_is_snapping((space, x) in (space(), numbers())) {
        let encoding = Encoding::new(space);
        let domain = encoding.domain();
        let x = &x[..domain.dimension()];
        let mut snapped = x.to_vec();
        domain.snap(&mut snapped);
        let mut twice = snapped.clone();
        domain.snap(&mut twice);
        prop_assert_eq!(&snapped, &twice);
        prop_assert!(domain.contains(&snapped) && domain.check(&snapped).is_ok());
        let encoded = encoding.encode(&encoding.decode(x)).unwrap();
        prop_assert!(distance(&encoded, &snapped) < 1e-9, "{encoded:?} {snapped:?}");
    }

    /// On levels a nearer point may be missed, but not one that is nearer by far.
    #[test]
    fn no_sampled_point_is_nearer_than_the_snapped((space, x, seed) in (space(), numbers(), any::<u64>())) {
        let has_levels = space.parameters().iter().any(|parameter| !is_continuous(&parameter.kind));
        let encoding = Encoding::new(space);
        let domain = encoding.domain();
        let x = &x[..domain.dimension()];
        let mut snapped = x.to_vec();
        domain.snap(&mut snapped);
        let mut rng = rng(seed, 0);
        for _ in 0..20 {
            let other = domain.sample(&mut rng);
            let allowed = if has_levels { 1.0 } else { 1e-9 };
            prop_assert!(distance(x, &snapped) <= distance(x, &other) + allowed, "{x:?} {snapped:?} {other:?}");
        }
    }

    #[test]
    fn placed_and_sampled_points_are_feasible((space, u, seed) in (space(), numbers(), any::<u64>())) {
        let encoding = Encoding::new(space);
        let domain = encoding.domain();
        prop_assert!(domain.contains(&domain.place(&u[..domain.n_free()])));
        prop_assert!(domain.contains(&domain.sample(&mut rng(seed, 0))));
    }
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

fn is_continuous(kind: &Kind) -> bool {
    matches!(kind, Kind::Float { step: None, .. })
}

fn numbers() -> impl Strategy<Value = Vec<f64>> {
    let number = prop_oneof![6 => 0.0..=1.0, 1 => Just(0.0), 1 => Just(1.0)];
    prop::collection::vec(number, 8)
}

/// Two to six numbers, a flag that two others depend on, and constraints with small whole factors that hold at some assignment.
fn space() -> impl Strategy<Value = Space> {
    let constraint = (prop::collection::vec(-2..=3_i32, 6), 0..3_u8, prop_oneof![Just(0.0), 0.0..2.0]);
    let parts = (2..7_usize, prop::collection::vec(constraint, 1..4), prop::collection::vec(0.0..=1.0, 6));
    (parts, prop::collection::vec(kind(), 6)).prop_map(|((n, constraints, t), kinds)| {
        let mut parameters: Vec<Parameter> = kinds[..n]
            .iter()
            .enumerate()
            .map(|(i, kind)| Parameter::new(format!("p{i}"), kind.clone()))
            .collect();
        let inside: Vec<f64> = kinds.iter().zip(&t).map(|(kind, t)| value_of(kind, *t)).collect();
        let constraints = constraints.into_iter().filter_map(|(factors, relation, room)| {
            let terms: Vec<(String, f64)> =
                (0..n).map(|i| (format!("p{i}"), f64::from(factors[i]))).collect();
            let at: f64 = (0..n).map(|i| f64::from(factors[i]) * inside[i]).sum();
            match relation {
                0 => Constraint::new(terms, Relation::Equal, at),
                1 => Constraint::new(terms, Relation::AtMost, at + room),
                _ => Constraint::new(terms, Relation::AtLeast, at - room),
            }
            .ok()
        });
        let constraints: Vec<Constraint> = constraints.collect();
        parameters.push(Parameter::new("flag", Kind::Bool));
        parameters.push(Parameter::new("waiting", Kind::Bool).when("flag", true));
        Space::new(parameters).unwrap().with_constraints(constraints).unwrap()
    })
}

fn kind() -> impl Strategy<Value = Kind> {
    let float = |step| {
        (-5..5_i32, 1..9_i32).prop_map(move |(low, width)| Kind::Float {
            low: f64::from(low),
            high: f64::from(low + width),
            log: false,
            step,
        })
    };
    let int = (-5..5_i64, 0..9_i64).prop_map(|(low, width)| Kind::Int {
        low,
        high: low + width,
        log: false,
        step: None,
    });
    prop_oneof![4 => float(None), 1 => float(Some(0.25)), 2 => int]
}

fn value_of(kind: &Kind, t: f64) -> f64 {
    match *kind {
        Kind::Float { low, high, step: None, .. } => low + t * (high - low),
        Kind::Float { low, high, step: Some(step), .. } => low + (t * (high - low) / step).round() * step,
        Kind::Int { low, high, .. } => low as f64 + (t * (high - low) as f64).round(),
        _ => unreachable!("numbers only"),
    }
}

fn share() -> Kind {
    Kind::Float { low: 0.0, high: 1.0, log: false, step: None }
}

fn encoding(parameters: Vec<Parameter>, constraints: &[&str]) -> Result<Encoding, SpaceError> {
    let constraints = constraints.iter().map(|text| text.parse()).collect::<Result<Vec<_>, _>>()?;
    Ok(Encoding::new(Space::new(parameters)?.with_constraints(constraints)?))
}

fn mixture(n: usize) -> Domain {
    let names: Vec<String> = (0..n).map(|i| format!("x{i}")).collect();
    let parameters = names.iter().map(|name| Parameter::new(name, share())).collect();
    encoding(parameters, &[&format!("{} = 1", names.join(" + "))]).unwrap().domain().clone()
}

/// Nine parts, of which two come in steps and three are limited, with a budget; integers; a category.
fn workshop() -> Domain {
    let mut parameters: Vec<Parameter> = (0..7).map(|i| Parameter::new(format!("x{i}"), share())).collect();
    let stepped = Kind::Float { low: 0.0, high: 0.5, log: false, step: Some(0.05) };
    parameters.push(Parameter::new("x7", stepped.clone()));
    parameters.push(Parameter::new("x8", stepped));
    parameters.push(Parameter::new("lathes", Kind::Int { low: 0, high: 9, log: false, step: None }));
    parameters.push(Parameter::new("mills", Kind::Int { low: 0, high: 9, log: false, step: None }));
    let choices = vec![Value::from("bar"), Value::from("sheet")];
    parameters.push(Parameter::new("form", Kind::Categorical { choices }));
    let constraints = [
        "x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 = 1",
        "x0 + x1 <= 0.3",
        "x2 >= 2*x7",
        "lathes + 2*mills <= 9",
    ];
    encoding(parameters, &constraints).unwrap().domain().clone()
}

/// Values of a run; every point must be feasible.
fn play(name: &str, domain: &Domain, trials: usize, seed: u64, value: &dyn Fn(&[f64]) -> f64) -> Vec<f64> {
    let method: Method = name.parse().unwrap();
    let mut optimizer = method.build(domain, trials, seed).unwrap();
    let round = |trial| {
        let x = optimizer.ask(&mut rng(seed, trial));
        assert!(domain.contains(&x), "{name}, trial {trial}: {x:?}");
        let y = value(&x);
        optimizer.tell(Observation { x, outcome: Outcome::Value { y, noise_std: None } }).unwrap();
        y
    };
    (0..trials as u64).map(round).collect()
}

#[test]
fn every_optimizer_proposes_feasible_points_only() {
    let domain = workshop();
    for name in METHODS {
        play(name, &domain, 20, 0, &|x| -x.iter().map(|x| (x - 0.2).powi(2)).sum::<f64>());
    }
}

/// The best of six parts is half and half of two of them, on the edge of the mixture.
#[test]
fn every_optimizer_that_learns_beats_random_on_a_mixture() {
    let domain = mixture(6);
    let best = [0.5, 0.5, 0.0, 0.0, 0.0, 0.0];
    let value = |x: &[f64]| -x.iter().zip(best).map(|(x, best)| (x - best).powi(2)).sum::<f64>();
    let regret = |name: &str| {
        let run = |seed| play(name, &domain, 60, seed, &value).into_iter().fold(f64::NEG_INFINITY, f64::max);
        -(0..4).map(run).sum::<f64>() / 4.0
    };
    let random = regret("random");
    for name in ["go-ucb", "gp-ei", "gp-pi", "gp-ucb", "turbo", "tpe", "cma-es"] {
        let own = regret(name);
        println!("{name}: {own:.5}, random: {random:.5}");
        assert!(own < 0.5 * random, "{name}: {own}, random: {random}");
    }
}

#[test]
fn twenty_parts_are_not_too_many() {
    let domain = mixture(20);
    let best: Vec<f64> = (0..20).map(|i| if i < 4 { 0.25 } else { 0.0 }).collect();
    let value = |x: &[f64]| -x.iter().zip(&best).map(|(x, best)| (x - best).powi(2)).sum::<f64>();
    let best_of =
        |name: &str| play(name, &domain, 50, 1, &value).into_iter().fold(f64::NEG_INFINITY, f64::max);
    let random = best_of("random");
    for (name, share) in [("go-ucb", 0.05), ("gp-ei", 0.5), ("turbo", 0.75), ("tpe", 0.9), ("cma-es", 0.9)] {
        let own = best_of(name);
        println!("{name}: {own:.5}, random: {random:.5}");
        assert!(own > share * random, "{name}: {own}, random: {random}");
    }
}

#[test]
fn a_sum_of_integers_is_searched_by_exchange() {
    let count = || Kind::Int { low: 0, high: 10, log: false, step: None };
    let parameters = ["a", "b", "c", "d"].map(|name| Parameter::new(name, count())).to_vec();
    let encoding = encoding(parameters, &["a + b + c + d = 10"]).unwrap();
    let value = |x: &[f64]| {
        let target = [0.7, 0.0, 0.3, 0.0];
        -x.iter().zip(target).map(|(x, target)| (x - target).powi(2)).sum::<f64>()
    };
    for name in ["go-ucb", "gp-ei"] {
        let values = play(name, encoding.domain(), 25, 0, &value);
        assert!(values.iter().any(|y| y.abs() < 1e-12), "{name}: {values:?}");
    }
}

#[test]
fn a_sample_of_a_mixture_has_its_centroid_as_its_mean() {
    let domain = mixture(5);
    let mut rng = rng(0, 0);
    let n = 4000;
    let mut mean = [0.0; 5];
    for _ in 0..n {
        domain.sample(&mut rng).iter().zip(&mut mean).for_each(|(x, mean)| *mean += x / n as f64);
    }
    assert!(mean.iter().all(|mean| (mean - 0.2).abs() < 0.01), "{mean:?}"); // four standard errors
}

#[test]
fn values_that_a_constraint_excludes_are_refused() {
    let parameters = ["a", "b"].map(|name| Parameter::new(name, share())).to_vec();
    let encoding = encoding(parameters, &["2*a + b <= 1"]).unwrap();
    let check = |a, b| encoding.space().check(&Assignment::from_iter([("a", a), ("b", b)]));
    assert_eq!(check(0.25, 0.5), Ok(()));
    assert_eq!(check(0.1 + 0.2, 0.4), Ok(()), "rounding is forgiven");
    assert_eq!(
        check(0.5, 0.5).unwrap_err().to_string(),
        "constraint `2*a + b <= 1` does not hold: 2*a + b is 1.5; change one of these values"
    );
    assert!(encoding.encode(&Assignment::from_iter([("a", 1.0), ("b", 1.0)])).is_err());
}

/// Numbers of any size, as long as they add up.
#[test]
fn large_and_small_numbers_are_no_obstacle() {
    let ranges = [("a", 0.0, 1e200), ("b", -1e-200, 1e-200), ("c", 1e9, 1e9 + 1.0)];
    let parameters = ranges
        .map(|(name, low, high)| Parameter::new(name, Kind::Float { low, high, log: false, step: None }));
    let constraints = ["a + 1e200*c <= 1.0000000005e209", "c - 1e200*b = 1e9", "a <= 1e300", "a >= -1e300"];
    let encoding = encoding(parameters.to_vec(), &constraints).unwrap();
    let mut rng = rng(0, 0);
    for _ in 0..100 {
        let x = encoding.domain().sample(&mut rng);
        assert!(encoding.domain().contains(&x));
        assert_eq!(encoding.space().check(&encoding.decode(&x)), Ok(()));
    }
}

#[test]
fn constraints_that_cannot_be_honoured_are_refused() {
    let message = |constraints: &[&str]| {
        let choices = vec![Value::from("x"), Value::from("y")];
        let parameters = vec![
            Parameter::new("a", share()),
            Parameter::new("b", share()),
            Parameter::new("copper-ore", share()),
            Parameter::new("n", Kind::Int { low: 0, high: 4, log: false, step: Some(2) }),
            Parameter::new("rate", Kind::Float { low: 0.1, high: 1.0, log: true, step: None }),
            Parameter::new("flag", Kind::Bool),
            Parameter::new("kind", Kind::Categorical { choices }),
            Parameter::new("late", share()).when("flag", true),
            Parameter::new("only", Kind::Int { low: 3, high: 3, log: false, step: None }),
        ];
        encoding(parameters, constraints).unwrap_err().to_string()
    };
    for (constraints, expected) in [
        (&["coper_ore + a <= 1"][..], "there is no parameter `coper_ore`; did you mean `copper-ore`?"),
        (&["zinc + a <= 1"], "there is no parameter `zinc`; declare it"),
        (&["rate + a <= 1"], "`rate` is on a log scale"),
        (&["flag + a <= 1"], "`flag` is not a number; make it an int from 0 to 1"),
        (&["kind + a <= 1"], "`kind` is not a number"),
        (&["late + a <= 1"], "`late` is not always active"),
        (&["a + b >= 2.5"], "no values satisfy `a + b >= 2.5`; loosen one of them"),
        (
            &["n + a <= 3", "a >= b", "a + b = 1.5", "a <= 0.6"],
            "no values satisfy `a - b >= 0`, `a + b = 1.5` and `a <= 0.6`",
        ),
        (&["n + only = 6"], "no values satisfy `n + only = 6` on the steps of these parameters"),
        (&["2*only <= 5"], "no values satisfy `2*only <= 5`"),
        (
            &["1e308*a + 1e308*b <= 1e308"],
            "constraint `1e308*a + 1e308*b <= 1e308`: `a` makes the sum overflow",
        ),
    ] {
        let message = message(constraints);
        assert!(message.contains(expected), "{constraints:?}: {message}");
    }
}
