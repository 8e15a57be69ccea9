//! Functions that global optimisation has been tested on for decades, as they were defined, or
//! shifted and rotated where their optimum is otherwise at the centre.

use std::f64::consts::{FRAC_PI_2, PI};

use rand::RngExt;

use super::bbob::Rotation;
use super::{ContinuousTask, Task, formulas};

pub(super) fn tasks() -> Vec<Task> {
    vec![ackley(), griewank(), levy(), schwefel(), michalewicz(), rosenbrock(), powell(), trid(), shekel()]
}

/// A needle in a plain that slopes the less the farther away it is.
fn ackley() -> Task {
    let x_opt = shift(1, 10, 4.0);
    Task::from(ContinuousTask {
        name: "ackley",
        summary: "a rippled plain with a steep funnel, shifted, noisy",
        source: "Ackley 1987; domain of Eriksson et al. 2019 (TuRBO); shifted as in CEC 2005",
        bounds: vec![(-5.0, 10.0); 10],
        noise_std: 0.2,
        optimum: 0.0,
        maximiser: x_opt.clone(),
        value: Box::new(move |x| -formulas::ackley(&offset(x, &x_opt))),
    })
}

/// A bowl that is wide against its ripples.
fn griewank() -> Task {
    let x_opt = shift(2, 10, 400.0);
    let rotation = Rotation::draw(10, &mut optimist::rng(2, 1));
    Task::from(ContinuousTask {
        name: "griewank",
        summary: "a wide bowl with tiny ripples, rotated and shifted",
        source: "Griewank 1981; rotated and shifted as CEC 2005 F7 (Suganthan et al.)",
        bounds: vec![(-600.0, 600.0); 10],
        noise_std: 1.0,
        optimum: 0.0,
        maximiser: x_opt.clone(),
        value: Box::new(move |x| {
            let z = rotation.times(&offset(x, &x_opt));
            -formulas::griewank(&z)
        }),
    })
}

/// Valleys within valleys; coordinates interact through the last one only.
fn levy() -> Task {
    Task::from(ContinuousTask {
        name: "levy",
        summary: "many parallel valleys, nearly additive",
        source: "Levy and Montalvo 1985; Laguna and Martí 2005",
        bounds: vec![(-10.0, 10.0); 10],
        noise_std: 0.3,
        optimum: 0.0,
        maximiser: vec![1.0; 10],
        value: Box::new(|x| -formulas::levy(x)),
    })
}

/// Additive, with the best hill of each coordinate far from the second best.
fn schwefel() -> Task {
    Task::from(ContinuousTask {
        name: "schwefel",
        summary: "additive and deceptive: the best hills are near the border",
        source: "Schwefel 1981",
        bounds: vec![(-500.0, 500.0); 10],
        noise_std: 5.0,
        optimum: 0.0,
        maximiser: vec![420.9687464057923; 10],
        value: Box::new(|x| x.iter().map(|x| x * x.abs().sqrt().sin() - 418.9828872724338).sum()),
    })
}

/// Additive; steep, narrow ridges on a plain.
fn michalewicz() -> Task {
    Task::from(ContinuousTask {
        name: "michalewicz",
        summary: "additive: narrow ridges on a plain",
        source: "Michalewicz 1992, m = 10",
        bounds: vec![(0.0, PI); 10],
        noise_std: 0.01,
        optimum: 9.660151715641344,
        maximiser: vec![
            2.202905523702045,
            FRAC_PI_2,
            1.284991571416969,
            1.9230584673853484,
            1.7204697735164045,
            FRAC_PI_2,
            1.4544139725438479,
            1.7560865207736864,
            1.6557174160701058,
            FRAC_PI_2,
        ],
        value: Box::new(formulas::michalewicz),
    })
}

/// A bent valley along which neighbours must move together.
fn rosenbrock() -> Task {
    Task::from(ContinuousTask {
        name: "rosenbrock",
        summary: "a bent valley: strong interactions between neighbours",
        source: "Rosenbrock 1960",
        bounds: vec![(-5.0, 10.0); 10],
        noise_std: 0.0,
        optimum: 0.0,
        maximiser: vec![1.0; 10],
        value: Box::new(|x| -formulas::rosenbrock(x)),
    })
}

/// Quartic and quadratic interactions within groups of four; its Hessian is singular at the optimum.
fn powell() -> Task {
    Task::from(ContinuousTask {
        name: "powell",
        summary: "five groups of four interacting coordinates, flat at the optimum",
        source: "Powell 1962",
        bounds: vec![(-4.0, 5.0); 20],
        noise_std: 100.0,
        optimum: 0.0,
        maximiser: vec![0.0; 20],
        value: Box::new(|x| {
            let group = |x: &[f64]| {
                (x[0] + 10.0 * x[1]).powi(2)
                    + 5.0 * (x[2] - x[3]).powi(2)
                    + (x[1] - 2.0 * x[2]).powi(4)
                    + 10.0 * (x[0] - x[3]).powi(4)
            };
            -x.chunks_exact(4).map(group).sum::<f64>()
        }),
    })
}

/// A quadratic whose interactions move the optimum far along a chain of coordinates.
fn trid() -> Task {
    let d = 10;
    Task::from(ContinuousTask {
        name: "trid",
        summary: "a quadratic with interactions between neighbours",
        source: "Neumaier, in Hedar 2005",
        bounds: vec![(-100.0, 100.0); d],
        noise_std: 100.0,
        optimum: 210.0, // d (d + 4) (d - 1) / 6
        maximiser: (1..=d).map(|i| (i * (d + 1 - i)) as f64).collect(),
        value: Box::new(|x| {
            let squares: f64 = x.iter().map(|x| (x - 1.0).powi(2)).sum();
            let neighbours: f64 = x.windows(2).map(|x| x[0] * x[1]).sum();
            neighbours - squares
        }),
    })
}

/// Ten narrow peaks on a plain.
fn shekel() -> Task {
    Task::from(ContinuousTask {
        name: "shekel",
        summary: "ten narrow peaks on a plain",
        source: "Shekel 1971, in Dixon and Szegö 1978, m = 10",
        bounds: vec![(0.0, 10.0); 4],
        noise_std: 0.01,
        optimum: formulas::SHEKEL_MAXIMUM,
        maximiser: formulas::SHEKEL_MAXIMISER.to_vec(),
        value: Box::new(formulas::shekel),
    })
}

/// Where the optimum is moved to: within `reach` of the origin in each coordinate.
pub(super) fn shift(seed: u64, d: usize, reach: f64) -> Vec<f64> {
    let mut rng = optimist::rng(seed, 0);
    (0..d).map(|_| rng.random_range(-reach..reach)).collect()
}

pub(super) fn offset(x: &[f64], x_opt: &[f64]) -> Vec<f64> {
    x.iter().zip(x_opt).map(|(x, x_opt)| x - x_opt).collect()
}
