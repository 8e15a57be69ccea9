//! Tasks with linear constraints between their inputs.

use optimist::space::{Assignment, Constraint, Kind, Parameter, Space, Value};

use super::{MixedTask, Task};

pub(super) fn tasks() -> Vec<Task> {
    vec![water_filling(), g01()]
}

/// How to share a power of 1 among eight channels of unequal noise: a mixture. The best shares fill all channels to
/// the same level, and leave those dry whose noise is above it.
fn water_filling() -> Task {
    const NOISE: [f64; 8] = [0.3, 0.05, 1.0, 0.2, 0.45, 0.1, 0.7, 0.15];
    // Five channels are below the level: it is (1 + the sum of their noise) / 5.
    const LEVEL: f64 = (1.0 + 0.3 + 0.05 + 0.2 + 0.1 + 0.15) / 5.0;
    let best = NOISE.map(|noise| f64::max(LEVEL - noise, 0.0));
    let capacity = |power: [f64; 8]| -> f64 {
        power.iter().zip(NOISE).map(|(power, noise)| 0.5 * (power / noise).ln_1p()).sum()
    };
    let bounds = [(0.0, 1.0); 8];
    let sum = Constraint::sum(names(8), 1.0).expect("a sum of names");
    Task::from(MixedTask {
        name: "water-filling",
        summary: "a mixture of eight, three of them best left out",
        source: "parallel Gaussian channels, Cover and Thomas 2006, section 9.4",
        space: space(&bounds, [sum]),
        noise_std: 0.01,
        optimum: capacity(best),
        maximiser: assignment(&best),
        value: Box::new(move |a| capacity(values(a))),
    })
}

/// A convex function is largest in a corner: here in one of very many, where six of nine constraints meet ten bounds.
fn g01() -> Task {
    const BEST: [f64; 13] = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 1.0];
    let mut bounds = [(0.0, 1.0); 13];
    bounds[9..12].fill((0.0, 100.0));
    let constraints = [
        "2*x1 + 2*x2 + x10 + x11 <= 10",
        "2*x1 + 2*x3 + x10 + x12 <= 10",
        "2*x2 + 2*x3 + x11 + x12 <= 10",
        "x10 <= 8*x1",
        "x11 <= 8*x2",
        "x12 <= 8*x3",
        "x10 <= 2*x4 + x5",
        "x11 <= 2*x6 + x7",
        "x12 <= 2*x8 + x9",
    ];
    let value = |a: &Assignment| {
        let x: [f64; 13] = values(a);
        x[4..].iter().sum::<f64>() - 5.0 * x[..4].iter().map(|x| x - x * x).sum::<f64>()
    };
    Task::from(MixedTask {
        name: "g01",
        summary: "thirteen inputs under nine constraints, the optimum in one of many corners",
        source: "Floudas and Pardalos 1990; g01 of the CEC 2006 competition",
        space: space(&bounds, constraints.map(|text| text.parse().expect("a valid constraint"))),
        noise_std: 0.01,
        optimum: 15.0,
        maximiser: assignment(&BEST),
        value: Box::new(value),
    })
}

/// x1, x2 and so on.
fn names(n: usize) -> impl Iterator<Item = String> {
    (1..=n).map(|i| format!("x{i}"))
}

fn space(bounds: &[(f64, f64)], constraints: impl IntoIterator<Item = Constraint>) -> Space {
    let parameter = |(name, &(low, high)): (String, &(f64, f64))| {
        Parameter::new(name, Kind::Float { low, high, log: false, step: None })
    };
    let space = Space::new(names(bounds.len()).zip(bounds).map(parameter).collect());
    space.and_then(|space| space.with_constraints(constraints)).expect("a task's space is valid")
}

fn assignment(values: &[f64]) -> Assignment {
    names(values.len()).zip(values).map(|(name, value)| (name, Value::from(*value))).collect()
}

fn values<const N: usize>(assignment: &Assignment) -> [f64; N] {
    let value = |i: usize| assignment.get(&format!("x{}", i + 1)).and_then(Value::as_f64);
    std::array::from_fn(|i| value(i).expect("the space has this number"))
}
