//! Functions of 50 to 200 dimensions over reals, integers and switches, with optima that are neither central nor at an edge.

use optimist::space::{Assignment, Kind, Parameter, Space, Value};
use rand::RngExt;

use super::classic::{offset, shift};
use super::{ContinuousTask, Group, MixedTask, Task, formulas};

/// Trials, none of them given.
const TRIALS: usize = 100;

pub(super) fn tasks() -> Vec<Task> {
    let real = [
        real("bowl80", "a bowl", "sphere of De Jong 1975", 80, bowl),
        real("bowl200", "a bowl", "sphere of De Jong 1975", 200, bowl),
        real("ackley50", "a rippled plain with a funnel", "Ackley 1987", 50, formulas::ackley),
        real("rastrigin100", "a bowl under ripples", "Rastrigin 1974", 100, formulas::rastrigin),
        real("rosenbrock60", "a bent valley", "Rosenbrock 1960", 60, |z| {
            formulas::rosenbrock(&z.iter().map(|z| z + 1.0).collect::<Vec<_>>())
        }),
    ];
    let integer = [
        integer("bowl-int80", "a bowl", "sphere of De Jong 1975", 80, bowl),
        integer("ackley-int50", "a rippled plain with a funnel", "Ackley 1987", 50, formulas::ackley),
        integer("griewank-int120", "a wide bowl", "Griewank 1981", 120, formulas::griewank),
    ];
    let binary = [
        binary("one-max100", "each switch counts alike", "Ackley 1987 (One-Max)", 100, |wrong| {
            -wrong.iter().sum::<f64>()
        }),
        binary(
            "weighted-max60",
            "switches of unequal weight",
            "linear functions of Droste et al. 2002",
            60,
            |wrong| -wrong.iter().enumerate().map(|(i, wrong)| wrong / (1.0 + i as f64)).sum::<f64>(),
        ),
        binary("pairs150", "neighbours count together", "Ising chain with a planted optimum", 150, |wrong| {
            -wrong.windows(2).map(|pair| pair[0] + pair[1] - pair[0] * pair[1]).sum::<f64>()
        }),
    ];
    let all = real.into_iter().chain(integer).chain(binary);
    all.map(|task| task.in_group(Group::Large).budget(0, TRIALS)).collect()
}

/// On [-5, 5]^d, to be minimised, with its optimum moved from the origin.
fn real(name: &'static str, shape: &str, source: &str, d: usize, value: fn(&[f64]) -> f64) -> Task {
    let x_opt = shift(d as u64, d, 3.0);
    Task::from(ContinuousTask {
        name,
        summary: format!("{shape} in {d} dimensions, shifted").leak(),
        source: format!("{source}; shifted as in CEC 2005").leak(),
        bounds: vec![(-5.0, 5.0); d],
        noise_std: 0.0,
        optimum: 0.0,
        maximiser: x_opt.clone(),
        value: Box::new(move |x| -value(&offset(x, &x_opt))),
    })
}

/// On {-5, …, 5}^d, to be minimised, with its optimum moved from the origin.
fn integer(name: &'static str, shape: &str, source: &str, d: usize, value: fn(&[f64]) -> f64) -> Task {
    let best: Vec<f64> = shift(d as u64, d, 3.0).iter().map(|x| x.round()).collect();
    let kind = Kind::Int { low: -5, high: 5, log: false, step: None };
    let maximiser = best.iter().map(|x| Value::from(*x as i64)).collect();
    mixed(name, format!("{shape} over {d} integers, shifted"), source, kind, maximiser, move |a| {
        let off: Vec<f64> = best.iter().enumerate().map(|(i, best)| number(a, i) - best).collect();
        -value(&off)
    })
}

/// On {off, on}^d: a function of which switches are wrong (1) and right (0), 0 if all are right.
fn binary(name: &'static str, shape: &str, source: &str, d: usize, value: fn(&[f64]) -> f64) -> Task {
    let mut rng = optimist::rng(d as u64, 0);
    let best: Vec<Value> = (0..d).map(|_| Value::from(rng.random::<bool>())).collect();
    mixed(name, format!("{shape}, {d} switches"), source, Kind::Bool, best.clone(), move |a| {
        let is_wrong = |(i, best): (usize, &Value)| f64::from(u8::from(a.get(&label(i)) != Some(best)));
        value(&best.iter().enumerate().map(is_wrong).collect::<Vec<_>>())
    })
}

/// As many parameters of one kind as the best point has, where the value is 0.
fn mixed(
    name: &'static str,
    summary: String,
    source: &str,
    kind: Kind,
    best: Vec<Value>,
    value: impl Fn(&Assignment) -> f64 + Send + Sync + 'static,
) -> Task {
    let parameters = (0..best.len()).map(|i| Parameter::new(label(i), kind.clone())).collect();
    Task::from(MixedTask {
        name,
        summary: summary.leak(),
        source: source.to_owned().leak(),
        space: Space::new(parameters).expect("a task's space is valid"),
        noise_std: 0.0,
        optimum: 0.0,
        maximiser: best.into_iter().enumerate().map(|(i, value)| (label(i), value)).collect(),
        value: Box::new(value),
    })
}

fn bowl(z: &[f64]) -> f64 {
    z.iter().map(|z| z * z).sum()
}

fn label(i: usize) -> String {
    format!("x{i}")
}

fn number(assignment: &Assignment, i: usize) -> f64 {
    assignment.get(&label(i)).and_then(Value::as_f64).expect("the space has this number")
}
