//! What holds of every space: values survive the way to the unit cube and back, and every point of
//! the cube means a valid assignment.

use optimist::encode::{AxisKind, Encoding};
use optimist::space::{Assignment, Kind, Parameter, Space, Value};
use optimist::{SpaceError, rng};
use proptest::prelude::*;
use proptest::sample::{Index, subsequence};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn decoding_undoes_encoding((space, t) in (space(), numbers())) {
        let assignment = valid_assignment(&space, &t);
        let encoding = Encoding::new(space);
        let x = encoding.encode(&assignment).unwrap();
        let decoded = encoding.decode(&x);
        prop_assert!(encoding.domain().contains(&x));
        prop_assert_eq!(decoded.len(), assignment.len());
        for (name, value) in assignment.iter() {
            let kind = &encoding.space().get(name).unwrap().kind;
            let back = decoded.get(name).unwrap();
            prop_assert!(is_same_value(kind, value, back), "{name}: {value} became {back}");
        }
    }

    #[test]
    fn decoded_stepped_floats_come_back_exactly((kind, t) in (stepped_float(), 0.0..=1.0)) {
        let encoding = Encoding::new(Space::new(vec![Parameter::new("p", kind)]).unwrap());
        let decoded = encoding.decode(&[t]);
        let x = encoding.encode(&decoded).unwrap();
        prop_assert_eq!(encoding.decode(&x), decoded);
    }

    #[test]
    fn every_point_of_the_cube_decodes_to_a_valid_assignment((space, x) in (space(), numbers())) {
        let encoding = Encoding::new(space);
        let decoded = encoding.decode(&resized(&x, encoding.domain().dimension()));
        prop_assert_eq!(encoding.space().check(&decoded), Ok(()));
        let declared = encoding.space().parameters().iter().map(|parameter| parameter.name.as_str());
        let active: Vec<&str> = declared.filter(|name| decoded.get(name).is_some()).collect();
        prop_assert_eq!(decoded.iter().map(|(name, _)| name).collect::<Vec<_>>(), active);
    }

    #[test]
    fn snapping_is_encoding_what_was_decoded((space, x) in (space(), numbers())) {
        let encoding = Encoding::new(space);
        let x = resized(&x, encoding.domain().dimension());
        let mut snapped = x.clone();
        encoding.domain().snap(&mut snapped);
        let encoded = encoding.encode(&encoding.decode(&x)).unwrap();
        for (parameter, axis) in encoding.space().parameters().iter().zip(encoding.domain().axes()) {
            for column in axis.columns.clone() {
                let gap = (snapped[column] - encoded[column]).abs();
                prop_assert!(gap <= rounding_of_coordinate(&parameter.kind), "column {column}: {gap}");
            }
        }
    }

    #[test]
    fn snapping_twice_is_snapping_once((space, x) in (space(), numbers())) {
        let encoding = Encoding::new(space);
        let domain = encoding.domain();
        let mut once = resized(&x, domain.dimension());
        domain.snap(&mut once);
        let mut twice = once.clone();
        domain.snap(&mut twice);
        prop_assert!(domain.contains(&once));
        prop_assert!(domain.check(&once).is_ok());
        for (parameter, axis) in encoding.space().parameters().iter().zip(domain.axes()) {
            for column in axis.columns.clone() {
                let allowed = if is_fine(&parameter.kind) { 1e-12 } else { 0.0 };
                prop_assert!((once[column] - twice[column]).abs() <= allowed);
            }
        }
    }

    #[test]
    fn placed_and_sampled_points_are_feasible((space, u, seed) in (space(), numbers(), any::<u64>())) {
        let encoding = Encoding::new(space);
        let domain = encoding.domain();
        let placed = domain.place(&resized(&u, domain.n_free()));
        prop_assert!(domain.contains(&placed));
        prop_assert!(domain.contains(&domain.sample(&mut rng(seed, 0))));
    }

    #[test]
    fn levels_that_are_set_are_read_back((space, x, t) in (space(), numbers(), 0.0..1.0)) {
        let encoding = Encoding::new(space);
        let domain = encoding.domain();
        for (idx, axis) in domain.axes().iter().enumerate() {
            let n_levels = match &axis.kind {
                AxisKind::Grid(grid) if grid.count() <= MANY => grid.count(),
                AxisKind::OneHot => axis.columns.len(),
                _ => continue,
            };
            let level = (t * n_levels as f64) as usize;
            let mut x = resized(&x, domain.dimension());
            domain.set_level(idx, level, &mut x);
            prop_assert_eq!(domain.level(idx, &x), Some(level));
        }
    }
}

/// With more levels than this, coordinates are exact to 1e-12 only.
const MANY: usize = 1 << 40;

fn is_same_value(kind: &Kind, value: &Value, back: &Value) -> bool {
    let gap = || (value.as_f64().unwrap() - back.as_f64().unwrap()).abs();
    match *kind {
        Kind::Float { low, high, .. } if back.as_f64().is_none_or(|v| !(low..=high).contains(&v)) => false,
        Kind::Float { step: Some(step), .. } => gap() <= 1e-9 * step,
        Kind::Float { log: true, .. } => gap() <= 1e-12 * value.as_f64().unwrap(),
        Kind::Float { low, high, .. } => gap() <= 1e-12 * low.abs().max(high.abs()),
        Kind::Int { low, high, .. } if is_fine(kind) => gap() <= 1e-12 * (high as f64 - low as f64),
        _ => value == back && std::mem::discriminant(value) == std::mem::discriminant(back),
    }
}

/// How far rounding a value to a double can move its coordinate.
fn rounding_of_coordinate(kind: &Kind) -> f64 {
    match *kind {
        Kind::Float { low, high, step: None, .. } if low < high => {
            1e-12 + 4.0 * f64::EPSILON * low.abs().max(high.abs()) / (high - low)
        }
        _ if is_fine(kind) => 1e-12,
        _ => 0.0,
    }
}

fn is_fine(kind: &Kind) -> bool {
    match *kind {
        Kind::Int { low, high, step, .. } => {
            high.abs_diff(low) / step.unwrap_or(1).unsigned_abs() >= MANY as u64
        }
        _ => false,
    }
}

/// A valid assignment made without the encoder: the value of each parameter is picked by its `t`.
fn valid_assignment(space: &Space, t: &[f64]) -> Assignment {
    fn is_active(parameter: &Parameter, space: &Space, t: &[f64]) -> bool {
        parameter.when.iter().all(|condition| {
            let idx = space.parameters().iter().position(|other| other.name == condition.parameter).unwrap();
            let other = &space.parameters()[idx];
            value_of(&other.kind, t[idx]) == condition.value && is_active(other, space, t)
        })
    }
    let active = space.parameters().iter().zip(t).filter(|(parameter, _)| is_active(parameter, space, t));
    active.map(|(parameter, &t)| (parameter.name.as_str(), value_of(&parameter.kind, t))).collect()
}

/// Any value of a parameter, for `t` in [0, 1]; both ends of its range for the ends of `t`.
fn value_of(kind: &Kind, t: f64) -> Value {
    match *kind {
        Kind::Float { low, high, log, step: None } => {
            let between =
                if log { (low.ln() + t * (high.ln() - low.ln())).exp() } else { low + t * (high - low) };
            Value::Float(if t == 1.0 { high } else { between.clamp(low, high) })
        }
        Kind::Float { low, high, step: Some(step), .. } => {
            let last = ((high - low) / step + 1e-9).floor();
            Value::Float((low + (t * (last + 1.0)).floor().min(last) * step).min(high))
        }
        Kind::Int { low, high, step, .. } => {
            let step = step.unwrap_or(1) as i128;
            let last = (high as i128 - low as i128) / step;
            let level = ((t * (last as f64 + 1.0)) as i128).min(last);
            Value::Int((low as i128 + level * step) as i64)
        }
        Kind::Bool => Value::Bool(t > 0.5),
        Kind::Categorical { ref choices } => {
            choices[((t * choices.len() as f64) as usize).min(choices.len() - 1)].clone()
        }
    }
}

/// Enough numbers in [0, 1] for any of the spaces below, often at its ends.
fn numbers() -> impl Strategy<Value = Vec<f64>> {
    let number = prop_oneof![6 => 0.0..=1.0, 1 => Just(0.0), 1 => Just(1.0), 1 => Just(0.5)];
    prop::collection::vec(number, 48)
}

fn resized(numbers: &[f64], n: usize) -> Vec<f64> {
    numbers[..n].to_vec()
}

/// Up to six parameters in any order, each depending on up to two others.
fn space() -> impl Strategy<Value = Space> {
    let waits = prop::collection::vec((any::<Index>(), 0.0..=1.0), 0..3);
    let parameters = prop::collection::vec((kind(), waits), 1..7);
    parameters.prop_perturb(|parts, mut random| {
        let mut parameters: Vec<Parameter> = Vec::new();
        for (idx, (kind, waits)) in parts.into_iter().enumerate() {
            let mut parameter = Parameter::new(format!("p{idx}"), kind);
            for (index, t) in waits.iter().filter(|_| idx > 0) {
                let other = index.get(&parameters);
                if !matches!(other.kind, Kind::Float { .. }) {
                    parameter = parameter.when(other.name.clone(), value_of(&other.kind, *t));
                }
            }
            parameters.push(parameter);
        }
        for idx in (1..parameters.len()).rev() {
            parameters.swap(idx, random.random_range(0..=idx));
        }
        loop {
            match Space::new(parameters.clone()) {
                Err(SpaceError::ConditionContradiction { name, .. }) => {
                    let never = parameters.iter_mut().find(|parameter| parameter.name == name).unwrap();
                    never.when.pop();
                }
                space => break space.unwrap(),
            }
        }
    })
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        2 => continuous_float(),
        2 => stepped_float(),
        3 => int(),
        1 => Just(Kind::Bool),
        2 => categorical(),
    ]
}

fn continuous_float() -> impl Strategy<Value = Kind> {
    let linear = (-300..300_i32, -1.0..1.0, -1.0..1.0).prop_map(|(exponent, a, b): (_, f64, f64)| {
        let size = 10.0_f64.powi(exponent);
        Kind::Float { low: a.min(b) * size, high: a.max(b) * size, log: false, step: None }
    });
    let narrow = (1.0..1e6, 0..10_u32, any::<bool>()).prop_map(|(low, ulps, log): (f64, _, _)| {
        let high = (0..ulps).fold(low, |high, _| high.next_up());
        Kind::Float { low, high, log, step: None }
    });
    let log = (-307.0..308.0, -307.0..308.0).prop_map(|(a, b): (f64, f64)| {
        let [low, high] = [a.min(b), a.max(b)].map(|exponent| 10.0_f64.powf(exponent));
        Kind::Float { low, high, log: true, step: None }
    });
    prop_oneof![3 => linear, 1 => narrow, 3 => log]
}

fn stepped_float() -> impl Strategy<Value = Kind> {
    let decimal = (-1000..1000_i32, 1..500_i32, 0..6_i32).prop_map(|(low, step, places)| {
        let unit = 10.0_f64.powi(places);
        (f64::from(low) / unit, f64::from(step) / unit)
    });
    let binary = (-1e3..1e3, 1e-6..1e2);
    let low_and_step = prop_oneof![decimal, binary];
    let steps = prop_oneof![(0..1000_i32).prop_map(f64::from), 0.0..1000.0];
    (low_and_step, steps, any::<bool>()).prop_map(|((low, step), steps, log)| Kind::Float {
        low,
        high: low + steps * step,
        log: log && low > 0.0,
        step: Some(step),
    })
}

fn int() -> impl Strategy<Value = Kind> {
    let bound = || prop_oneof![4 => -50..50_i64, 1 => any::<i64>(), 1 => Just(i64::MIN), 1 => Just(i64::MAX), 1 => 0..1_i64 << 40];
    let step =
        prop_oneof![2 => Just(None), 1 => (1..9_i64).prop_map(Some), 1 => (1..i64::MAX).prop_map(Some)];
    (bound(), bound(), any::<bool>(), step).prop_map(|(a, b, log, step)| {
        let (low, high) = (a.min(b), a.max(b));
        Kind::Int { low, high, log: log && low > 0, step }
    })
}

fn categorical() -> impl Strategy<Value = Kind> {
    let values: Vec<Value> = vec![
        "a".into(),
        "b".into(),
        "1".into(),
        "".into(),
        1.into(),
        2.into(),
        0.5.into(),
        (-1e9).into(),
        true.into(),
        false.into(),
    ];
    subsequence(values, 1..=6).prop_shuffle().prop_map(|choices| Kind::Categorical { choices })
}
