//! Histories that benches share.

use optimist::{Observation, Outcome, rng};
use rand::RngExt;

/// `n` uniform points of the cube with noisy values of a smooth function.
pub fn observations(n: usize, d: usize) -> Vec<Observation> {
    let mut rng = rng(0, 0);
    let observation = |_| {
        let x: Vec<f64> = (0..d).map(|_| rng.random_range(0.0..1.0)).collect();
        let trend: f64 = x.iter().map(|x| (3.0 * x).sin()).sum();
        let y = trend / (d as f64).sqrt() + x[0] * x[d - 1] + rng.random_range(-0.1..0.1);
        Observation { x, outcome: Outcome::Value { y, noise_std: None } }
    };
    (0..n).map(observation).collect()
}
