//! Classical functions of 2 to 6 dimensions, each without noise and with noise of five kinds: what laboratories have.
//!
//! There is no Phase I: every optimizer begins as its authors mean it to. Optima at the centre are shifted.

use std::f64::consts::{FRAC_PI_2, PI};

use super::classic::{offset, shift};
use super::{ContinuousTask, Group, Noise, Task, formulas};

/// Trials, none of them given.
const TRIALS: usize = 50;

pub(super) fn tasks() -> Vec<Task> {
    FUNCTIONS.iter().flat_map(variants).collect()
}

/// A task without noise.
pub(super) type Function = fn() -> ContinuousTask;

/// Each without noise.
pub(super) const FUNCTIONS: [Function; 13] = [
    branin,
    six_hump_camel,
    goldstein_price,
    hartmann3,
    shekel,
    levy,
    rosenbrock,
    griewank,
    ackley,
    michalewicz,
    styblinski_tang,
    rastrigin,
    hartmann6,
];

/// The function without noise, then with noise of 5, 10 and 20 % of its standard deviation over the space, with outliers, and in
/// proportion to the value.
fn variants(function: &Function) -> Vec<Task> {
    let plain = small(function());
    let std = plain.formula().expect("it is one").std();
    let share_of_std = |share: f64| rounded(share * std);
    let noisy = |suffix: &str, summary: &str, noise: Noise| {
        let task = small(function());
        Task {
            name: format!("{}-{suffix}", task.name).leak(),
            summary: format!("{}; {summary}", task.summary).leak(),
            noise,
            ..task
        }
    };
    let mut tasks: Vec<Task> = [5, 10, 20]
        .map(|percent| {
            let noise = Noise::Gaussian { std: share_of_std(f64::from(percent) / 100.0) };
            noisy(&format!("noise{percent}"), &format!("noise of {percent} % of its spread"), noise)
        })
        .into();
    tasks.insert(0, plain);
    tasks.push(noisy("heavy", "heavy-tailed noise", Noise::HeavyTailed { scale: share_of_std(0.1) }));
    tasks.push(noisy("multiplicative", "noise of 20 % of the value", Noise::Multiplicative { share: 0.2 }));
    tasks
}

pub(super) fn small(task: ContinuousTask) -> Task {
    Task::from(task).in_group(Group::Small).budget(0, TRIALS)
}

/// To three digits, so that it can be read.
pub(super) fn rounded(value: f64) -> f64 {
    format!("{value:.2e}").parse().expect("it was just written")
}

pub(super) fn branin() -> ContinuousTask {
    ContinuousTask {
        name: "branin",
        summary: "three equal valleys in two dimensions",
        source: "Branin 1972, in Dixon and Szegö 1978",
        bounds: vec![(-5.0, 10.0), (0.0, 15.0)],
        noise_std: 0.0,
        optimum: -formulas::branin(PI, 2.275),
        maximiser: vec![PI, 2.275],
        value: Box::new(|x| -formulas::branin(x[0], x[1])),
    }
}

fn six_hump_camel() -> ContinuousTask {
    ContinuousTask {
        name: "six-hump-camel",
        summary: "six valleys in two dimensions, two of them the deepest",
        source: "Branin 1972, in Dixon and Szegö 1978",
        bounds: vec![(-3.0, 3.0), (-2.0, 2.0)],
        noise_std: 0.0,
        optimum: formulas::SIX_HUMP_CAMEL_MAXIMUM,
        maximiser: formulas::SIX_HUMP_CAMEL_MAXIMISER.to_vec(),
        value: Box::new(|x| -formulas::six_hump_camel(x[0], x[1])),
    }
}

fn goldstein_price() -> ContinuousTask {
    ContinuousTask {
        name: "goldstein-price",
        summary: "its logarithm: crossing valleys in two dimensions",
        source: "Goldstein and Price 1971; logarithm as by Picheny et al. 2013",
        bounds: vec![(-2.0, 2.0); 2],
        noise_std: 0.0,
        optimum: -3f64.ln(),
        maximiser: vec![0.0, -1.0],
        value: Box::new(|x| -formulas::goldstein_price(x[0], x[1]).ln()),
    }
}

pub(super) fn hartmann3() -> ContinuousTask {
    ContinuousTask {
        name: "hartmann3",
        summary: "four hills in three dimensions",
        source: "Hartmann 1973, in Dixon and Szegö 1978",
        bounds: vec![(0.0, 1.0); 3],
        noise_std: 0.0,
        optimum: formulas::HARTMANN3_MAXIMUM,
        maximiser: formulas::HARTMANN3_MAXIMISER.to_vec(),
        value: Box::new(formulas::hartmann3),
    }
}

fn shekel() -> ContinuousTask {
    ContinuousTask {
        name: "shekel4",
        summary: "ten narrow peaks on a plain in four dimensions",
        source: "Shekel 1971, in Dixon and Szegö 1978, m = 10",
        bounds: vec![(0.0, 10.0); 4],
        noise_std: 0.0,
        optimum: formulas::SHEKEL_MAXIMUM,
        maximiser: formulas::SHEKEL_MAXIMISER.to_vec(),
        value: Box::new(formulas::shekel),
    }
}

pub(super) fn levy() -> ContinuousTask {
    ContinuousTask {
        name: "levy4",
        summary: "many parallel valleys in four dimensions, nearly additive",
        source: "Levy and Montalvo 1985; Laguna and Martí 2005",
        bounds: vec![(-10.0, 10.0); 4],
        noise_std: 0.0,
        optimum: 0.0,
        maximiser: vec![1.0; 4],
        value: Box::new(|x| -formulas::levy(x)),
    }
}

pub(super) fn rosenbrock() -> ContinuousTask {
    ContinuousTask {
        name: "rosenbrock4",
        summary: "a bent valley in four dimensions",
        source: "Rosenbrock 1960; domain of Picheny et al. 2013",
        bounds: vec![(-5.0, 10.0); 4],
        noise_std: 0.0,
        optimum: 0.0,
        maximiser: vec![1.0; 4],
        value: Box::new(|x| -formulas::rosenbrock(x)),
    }
}

fn griewank() -> ContinuousTask {
    let x_opt = shift(11, 4, 3.0);
    ContinuousTask {
        name: "griewank4",
        summary: "a bowl with ripples of its own size in four dimensions, shifted",
        source: "Griewank 1981, on [-5, 5]; shifted as in CEC 2005",
        bounds: vec![(-5.0, 5.0); 4],
        noise_std: 0.0,
        optimum: 0.0,
        maximiser: x_opt.clone(),
        value: Box::new(move |x| -formulas::griewank(&offset(x, &x_opt))),
    }
}

pub(super) fn ackley() -> ContinuousTask {
    let x_opt = shift(12, 5, 4.0);
    ContinuousTask {
        name: "ackley5",
        summary: "a rippled plain with a steep funnel in five dimensions, shifted",
        source: "Ackley 1987; domain of Eriksson et al. 2019 (TuRBO); shifted as in CEC 2005",
        bounds: vec![(-5.0, 10.0); 5],
        noise_std: 0.0,
        optimum: 0.0,
        maximiser: x_opt.clone(),
        value: Box::new(move |x| -formulas::ackley(&offset(x, &x_opt))),
    }
}

fn michalewicz() -> ContinuousTask {
    let maximiser =
        vec![2.202905523702045, FRAC_PI_2, 1.284991571416969, 1.9230584673853484, 1.7204697735164045];
    ContinuousTask {
        name: "michalewicz5",
        summary: "narrow ridges on a plain in five dimensions",
        source: "Michalewicz 1992, m = 10",
        bounds: vec![(0.0, PI); 5],
        noise_std: 0.0,
        optimum: formulas::michalewicz(&maximiser),
        maximiser,
        value: Box::new(formulas::michalewicz),
    }
}

fn styblinski_tang() -> ContinuousTask {
    ContinuousTask {
        name: "styblinski-tang5",
        summary: "two hills in each of five coordinates, additive",
        source: "Styblinski and Tang 1990",
        bounds: vec![(-5.0, 5.0); 5],
        noise_std: 0.0,
        optimum: 5.0 * formulas::STYBLINSKI_TANG_MAXIMUM,
        maximiser: vec![formulas::STYBLINSKI_TANG_MAXIMISER; 5],
        value: Box::new(formulas::styblinski_tang),
    }
}

fn rastrigin() -> ContinuousTask {
    let x_opt = shift(13, 3, 3.0);
    ContinuousTask {
        name: "rastrigin3",
        summary: "a bowl under ripples in three dimensions, shifted",
        source: "Rastrigin 1974; shifted as in CEC 2005",
        bounds: vec![(-5.12, 5.12); 3],
        noise_std: 0.0,
        optimum: 0.0,
        maximiser: x_opt.clone(),
        value: Box::new(move |x| -formulas::rastrigin(&offset(x, &x_opt))),
    }
}

pub(super) fn hartmann6() -> ContinuousTask {
    ContinuousTask {
        name: "hartmann6",
        summary: "four hills in six dimensions",
        source: "Hartmann 1973, in Dixon and Szegö 1978",
        bounds: vec![(0.0, 1.0); 6],
        noise_std: 0.0,
        optimum: formulas::HARTMANN6_MAXIMUM,
        maximiser: formulas::HARTMANN6_MAXIMISER.to_vec(),
        value: Box::new(formulas::hartmann6),
    }
}
