//! Tasks over spaces with steps, switches, categories and conditions.

use std::f64::consts::PI;

use optimist::space::{Assignment, Kind, Parameter, Space, Value};

use super::formulas::{self, six_hump_camel};
use super::{MixedTask, Task};

pub(super) fn tasks() -> Vec<Task> {
    vec![pressure_vessel(), func3c(), ackley_binary(), decision_tree()]
}

/// The cheapest vessel of a given volume: two thicknesses in steps of a sixteenth of an inch, a
/// radius and a length. What is too thin or too small is fined in proportion, by so much that the
/// best of all is the best that is allowed; it lies where two of the limits meet.
fn pressure_vessel() -> Task {
    const FINE: f64 = 1e5;
    const VOLUME: f64 = 1_296_000.0;
    let value = |a: &Assignment| {
        let [shell, head, radius, length] = ["shell", "head", "radius", "length"].map(|name| number(a, name));
        let cost = 0.6224 * shell * radius * length
            + 1.7781 * head * radius * radius
            + 3.1661 * shell * shell * length
            + 19.84 * shell * shell * radius;
        let volume = PI * radius * radius * length + 4.0 / 3.0 * PI * radius.powi(3);
        let excess = [0.0193 * radius - shell, 0.00954 * radius - head, 1.0 - volume / VOLUME];
        -cost - FINE * excess.iter().map(|excess| excess.max(0.0)).sum::<f64>()
    };
    let thickness = Kind::Float { low: 0.0625, high: 6.1875, log: false, step: Some(0.0625) };
    let radius = 0.8125 / 0.0193;
    let length = (VOLUME - 4.0 / 3.0 * PI * f64::powi(radius, 3)) / (PI * radius * radius);
    Task::from(MixedTask {
        name: "pressure-vessel",
        summary: "design of a vessel: two stepped inputs, the optimum between steep fines",
        source: "Sandgren 1990; optimum in Yang et al. 2013; fined as by Coello 2000",
        space: space(vec![
            Parameter::new("shell", thickness.clone()),
            Parameter::new("head", thickness),
            Parameter::new("radius", float(10.0, 200.0)),
            Parameter::new("length", float(10.0, 200.0)),
        ]),
        noise_std: 0.0,
        optimum: -6_059.714_335_048_436,
        maximiser: Assignment::from_iter([
            ("shell", 0.8125),
            ("head", 0.4375),
            ("radius", radius),
            ("length", length),
        ]),
        value: Box::new(value),
    })
}

/// Three categories choose which functions of the same two coordinates are added up.
fn func3c() -> Task {
    const FIRST: [&str; 3] = ["rosenbrock", "camel", "beale"];
    const SECOND: [&str; 5] = ["rosenbrock", "camel", "beale", "beale-again", "beale-too"];
    const THIRD: [&str; 4] = ["5-camel", "2-rosenbrock", "2-beale", "3-beale"];
    let value = |a: &Assignment| {
        let (x, y) = (2.0 * number(a, "x"), 2.0 * number(a, "y"));
        let rosenbrock = (100.0 * (y - x * x).powi(2) + (x - 1.0).powi(2)) / 300.0;
        let camel = six_hump_camel(x, y) / 10.0;
        let beale = beale(x, y) / 50.0;
        let one_of_three = |name: &str| match name {
            "rosenbrock" => rosenbrock,
            "camel" => camel,
            _ => beale,
        };
        let third = match choice(a, "third") {
            "5-camel" => 5.0 * camel,
            "2-rosenbrock" => 2.0 * rosenbrock,
            "2-beale" => 2.0 * beale,
            _ => 3.0 * beale,
        };
        -(one_of_three(choice(a, "first")) + one_of_three(choice(a, "second")) + third)
    };
    Task::from(MixedTask {
        name: "func3c",
        summary: "three categories with 60 combinations and two reals",
        source: "Ru et al. 2020 (CoCaBO), Func-3C",
        space: space(vec![
            Parameter::new("first", categorical(&FIRST)),
            Parameter::new("second", categorical(&SECOND)),
            Parameter::new("third", categorical(&THIRD)),
            Parameter::new("x", float(-1.0, 1.0)),
            Parameter::new("y", float(-1.0, 1.0)),
        ]),
        noise_std: 0.01,
        optimum: 0.7 * formulas::SIX_HUMP_CAMEL_MAXIMUM,
        maximiser: Assignment::from_iter([
            ("first", Value::from("camel")),
            ("second", Value::from("camel")),
            ("third", Value::from("5-camel")),
            ("x", Value::from(formulas::SIX_HUMP_CAMEL_MAXIMISER[0] / 2.0)),
            ("y", Value::from(formulas::SIX_HUMP_CAMEL_MAXIMISER[1] / 2.0)),
        ]),
        value: Box::new(value),
    })
}

/// Ackley's function of twenty switches and three reals, with the best of them not all off, nor at
/// the centre.
fn ackley_binary() -> Task {
    // Which switches are on at the optimum.
    const ON: u32 = 0b1011_0001_1101_0010_0110;
    const SHIFT: [f64; 3] = [0.35, -0.62, 0.18];
    let switches: Vec<(String, bool)> = (0..20).map(|i| (format!("s{i}"), ON >> i & 1 == 1)).collect();
    let reals: Vec<(String, f64)> = SHIFT.iter().enumerate().map(|(i, x)| (format!("x{i}"), *x)).collect();
    let mut parameters: Vec<Parameter> =
        switches.iter().map(|(name, _)| Parameter::new(name, Kind::Bool)).collect();
    parameters.extend(reals.iter().map(|(name, _)| Parameter::new(name, float(-1.0, 1.0))));
    let maximiser = switches
        .iter()
        .map(|(name, on)| (name.clone(), Value::from(*on)))
        .chain(reals.iter().map(|(name, x)| (name.clone(), Value::from(*x))))
        .collect();
    Task::from(MixedTask {
        name: "ackley-binary",
        summary: "twenty switches and three reals",
        source: "Ackley-53 of Bliek et al. 2021, with 20 switches, flipped and shifted",
        space: space(parameters),
        noise_std: 0.01,
        optimum: 0.0,
        maximiser,
        value: Box::new(move |a| {
            let wrong =
                switches.iter().map(|(name, on)| f64::from(u8::from(a.get(name) != Some(&Value::Bool(*on)))));
            let off = reals.iter().map(|(name, best)| number(a, name) - best);
            -formulas::ackley(&wrong.chain(off).collect::<Vec<_>>())
        }),
    })
}

/// Three binary decisions lead to one of four leaves; a real belongs to each leaf, another is
/// shared by the two leaves of a branch.
fn decision_tree() -> Task {
    const SIDES: [&str; 2] = ["left", "right"];
    let branch =
        |name: &str, side: &'static str| Parameter::new(name, categorical(&SIDES)).when("root", side);
    let leaf =
        |name: &str, node: &str, side: &'static str| Parameter::new(name, float(-1.0, 1.0)).when(node, side);
    let value = |a: &Assignment| {
        let (node, shared, leaves) = match choice(a, "root") {
            "left" => ("left-node", "left-shared", [("x4", 0.1), ("x5", 0.2)]),
            _ => ("right-node", "right-shared", [("x6", 0.3), ("x7", 0.4)]),
        };
        let (x, floor) = leaves[usize::from(choice(a, node) == "right")];
        -(number(a, x).powi(2) + floor + number(a, shared))
    };
    Task::from(MixedTask {
        name: "decision-tree",
        summary: "three nested decisions, each opening other inputs",
        source: "Jenatton et al. 2017, synthetic tree",
        space: space(vec![
            Parameter::new("root", categorical(&SIDES)),
            branch("left-node", "left"),
            branch("right-node", "right"),
            leaf("x4", "left-node", "left"),
            leaf("x5", "left-node", "right"),
            leaf("x6", "right-node", "left"),
            leaf("x7", "right-node", "right"),
            Parameter::new("left-shared", float(0.0, 1.0)).when("root", "left"),
            Parameter::new("right-shared", float(0.0, 1.0)).when("root", "right"),
        ]),
        noise_std: 0.01,
        optimum: -0.1,
        maximiser: Assignment::from_iter([
            ("root", Value::from("left")),
            ("left-node", Value::from("left")),
            ("x4", Value::from(0.0)),
            ("left-shared", Value::from(0.0)),
        ]),
        value: Box::new(value),
    })
}

fn beale(x: f64, y: f64) -> f64 {
    let term = |target: f64, power: i32| (target - x + x * y.powi(power)).powi(2);
    term(1.5, 1) + term(2.25, 2) + term(2.625, 3)
}

fn space(parameters: Vec<Parameter>) -> Space {
    Space::new(parameters).expect("a task's space is valid")
}

fn float(low: f64, high: f64) -> Kind {
    Kind::Float { low, high, log: false, step: None }
}

fn categorical(choices: &[&str]) -> Kind {
    Kind::Categorical { choices: choices.iter().map(|choice| Value::from(*choice)).collect() }
}

fn number(assignment: &Assignment, name: &str) -> f64 {
    assignment.get(name).and_then(Value::as_f64).expect("the space has this number")
}

fn choice<'a>(assignment: &'a Assignment, name: &str) -> &'a str {
    match assignment.get(name) {
        Some(Value::Text(choice)) => choice,
        other => unreachable!("the space has the category {name}, got {other:?}"),
    }
}
