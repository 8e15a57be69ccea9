//! Tasks with structure to be found: irrelevant coordinates, separate groups, one interaction.

use std::f64::consts::PI;

use super::formulas::{HARTMANN6_MAXIMISER, HARTMANN6_MAXIMUM, branin, hartmann6};
use super::{ContinuousTask, Task};

pub(super) fn tasks() -> Vec<Task> {
    vec![hartmann6_in_20(), branin_hartmann6(), friedman()]
}

/// Hartmann-6 on six of twenty coordinates; the other fourteen do nothing.
fn hartmann6_in_20() -> Task {
    const ACTIVE: [usize; 6] = [1, 4, 8, 11, 15, 18];
    let mut maximiser = vec![0.5; 20];
    for (coordinate, best) in ACTIVE.iter().zip(HARTMANN6_MAXIMISER) {
        maximiser[*coordinate] = best;
    }
    Task::from(ContinuousTask {
        name: "hartmann6-in-20",
        summary: "Hartmann-6 among 14 irrelevant coordinates, noisy",
        source: "Hartmann 1973, in Dixon and Szegö 1978; embedded as by Wang et al. 2016 (REMBO)",
        bounds: vec![(0.0, 1.0); 20],
        noise_std: 0.1,
        optimum: HARTMANN6_MAXIMUM,
        maximiser,
        value: Box::new(|x| hartmann6(&ACTIVE.map(|coordinate| x[coordinate]))),
    })
}

/// A sum of a function of two coordinates and one of six: two groups, no interaction between them.
fn branin_hartmann6() -> Task {
    let mut maximiser = vec![PI, 2.275];
    maximiser.extend(HARTMANN6_MAXIMISER);
    let mut bounds = vec![(-5.0, 10.0), (0.0, 15.0)];
    bounds.extend([(0.0, 1.0); 6]);
    Task::from(ContinuousTask {
        name: "branin-hartmann6",
        summary: "a sum of Branin and Hartmann-6: two groups of coordinates",
        source: "Dixon and Szegö 1978; Branin scaled as by Picheny et al. 2013",
        bounds,
        noise_std: 0.01,
        optimum: HARTMANN6_MAXIMUM - branin(PI, 2.275) / BRANIN_STD,
        maximiser,
        value: Box::new(|x| hartmann6(&x[2..]) - branin(x[0], x[1]) / BRANIN_STD),
    })
}

/// Ten coordinates of which five matter, noise of one as in the source. The optimum is a curve:
/// x_1 x_2 = ½, and x_3 at either end.
fn friedman() -> Task {
    Task::from(ContinuousTask {
        name: "friedman",
        summary: "one interaction, a valley, two slopes and 5 irrelevant coordinates, very noisy",
        source: "Friedman 1991 (MARS)",
        bounds: vec![(0.0, 1.0); 10],
        noise_std: 1.0,
        optimum: 30.0,
        maximiser: [vec![0.5, 1.0, 0.0, 1.0, 1.0], vec![0.5; 5]].concat(),
        value: Box::new(|x| {
            10.0 * (PI * x[0] * x[1]).sin() + 20.0 * (x[2] - 0.5).powi(2) + 10.0 * x[3] + 5.0 * x[4]
        }),
    })
}

/// Standard deviation of Branin over its domain.
const BRANIN_STD: f64 = 51.9496;
