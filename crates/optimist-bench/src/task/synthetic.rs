//! The three synthetic functions of the GO-UCB paper (§6.1): 20 dimensions on [-5, 5], noise 0.01.

use std::f64::consts::TAU;

use super::{ContinuousTask, Group, Task, formulas};

pub(super) fn tasks() -> Vec<Task> {
    [f1(), f2(), f3()].map(|task| task.in_group(Group::Synthetic)).into()
}

const D: usize = 20;
const NOISE_STD: f64 = 0.01;

/// The paper's own network with every weight 1: a sigmoid of Σx, flat but for a narrow slope.
/// Its best value, in a corner, is 26 but for 25 e^-101.
fn f1() -> Task {
    Task::from(ContinuousTask {
        name: "f1",
        summary: "one sigmoid of the sum of x; flat on both sides of it",
        source: "Liu and Wang 2023 (GO-UCB), f_1",
        bounds: vec![(-5.0, 5.0); D],
        noise_std: NOISE_STD,
        optimum: 26.0,
        maximiser: vec![5.0; D],
        value: Box::new(|x| {
            let activation = 1.0 / (1.0 + (-x.iter().sum::<f64>() - 1.0).exp());
            25.0 * activation + 1.0
        }),
    })
    .budget(5, 25)
}

/// Styblinski-Tang: a sum of quartics with two hills each.
fn f2() -> Task {
    Task::from(ContinuousTask {
        name: "f2",
        summary: "Styblinski-Tang: additive, two hills in each coordinate",
        source: "Styblinski and Tang 1990; Liu and Wang 2023 (GO-UCB), f_2",
        bounds: vec![(-5.0, 5.0); D],
        noise_std: NOISE_STD,
        optimum: D as f64 * formulas::STYBLINSKI_TANG_MAXIMUM,
        maximiser: vec![formulas::STYBLINSKI_TANG_MAXIMISER; D],
        value: Box::new(formulas::styblinski_tang),
    })
}

/// Rastrigin: a bowl under ripples of wavelength 1.
fn f3() -> Task {
    Task::from(ContinuousTask {
        name: "f3",
        summary: "Rastrigin: a bowl under ripples, its optimum at the centre",
        source: "Rastrigin 1974; Liu and Wang 2023 (GO-UCB), f_3",
        bounds: vec![(-5.0, 5.0); D],
        noise_std: NOISE_STD,
        optimum: 0.0,
        maximiser: vec![0.0; D],
        value: Box::new(|x| {
            let d = x.len() as f64;
            -10.0 * d + x.iter().map(|x| 10.0 * (TAU * x).cos() - x * x).sum::<f64>()
        }),
    })
}

#[cfg(test)]
mod tests {
    use crate::task::find;

    /// Values computed by hand from the paper's formulas.
    #[test]
    fn the_three_functions_are_the_papers() {
        let at = |name, u: f64| find(name).unwrap().formula().unwrap().value(&[u; 20]);
        assert!((at("f1", 0.5) - (25.0 / (1.0 + (-1f64).exp()) + 1.0)).abs() < 1e-12);
        // x_i = 1: -½ (1 - 16 + 5) = 5 each.
        assert!((at("f2", 0.6) - 100.0).abs() < 1e-9);
        // x_i = 1: 10 cos 2π - 1 = 9 each, less 200.
        assert!((at("f3", 0.6) + 20.0).abs() < 1e-9);
        let budget = |name| find(name).map(|task| (task.n, task.horizon)).unwrap();
        assert_eq!([budget("f1"), budget("f2"), budget("f3")], [(5, 25), (8, 64), (8, 64)]);
    }
}
