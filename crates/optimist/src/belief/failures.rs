//! Whether trials fail because of where they are, or by chance.
//!
//! Given: observations. Gives: yes or no, depending on whether neighbours predict failures.

use crate::linalg::squared_distance;
use crate::optimizer::{Observation, Outcome};

/// Widths of a neighbourhood, in units of the root mean square distance between two points of the cube.
const BANDWIDTHS: [f64; 2] = [0.25, 0.5];

/// Whether trials seem to fail by chance: their neighbours predict which ones fail no better than the overall share of failures
/// does. A single failure can't be predicted and is taken seriously. Requiring a nat more or less made answers in the group
/// `failing` worse.
pub fn are_chance(observations: &[&Observation]) -> bool {
    let has_failed: Vec<bool> = observations.iter().map(|told| told.outcome == Outcome::Failed).collect();
    has_failed.iter().filter(|failed| **failed).count() > 1
        && BANDWIDTHS.iter().all(|bandwidth| log_likelihood_gain(observations, &has_failed, *bandwidth) < 0.0)
}

/// How much likelier the outcomes are given their neighbours than given the overall share of failures, as a difference of logs;
/// each observation is left out in turn.
fn log_likelihood_gain(observations: &[&Observation], has_failed: &[bool], bandwidth: f64) -> f64 {
    let n_failed = has_failed.iter().filter(|failed| **failed).count() as f64;
    let width = bandwidth * bandwidth * observations[0].x.len() as f64 / 6.0;
    let gain = |i: usize| {
        let n_others_failed = n_failed - f64::from(u8::from(has_failed[i]));
        let overall = (n_others_failed + 0.5) / observations.len() as f64;
        let (mut weight, mut failed) = (1.0, overall);
        for (j, other) in observations.iter().enumerate().filter(|(j, _)| *j != i) {
            let near = (-0.5 * squared_distance(&observations[i].x, &other.x) / width).exp();
            weight += near;
            failed += if has_failed[j] { near } else { 0.0 };
        }
        let likelihood = |p: f64| if has_failed[i] { p } else { 1.0 - p };
        (likelihood(failed / weight) / likelihood(overall)).ln()
    };
    (0..observations.len()).map(gain).sum()
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::optimizer::rng;

    /// How often failures are called chance, of 20 times, if `n` random points of the square fail as `fails` says.
    fn n_called_chance(n: usize, fails: impl Fn(&[f64], f64) -> bool) -> usize {
        let is_chance = |seed: &u64| {
            let mut rng = rng(*seed, 0);
            let observation = |_| {
                let x: Vec<f64> = (0..2).map(|_| rng.random_range(0.0..1.0)).collect();
                let value = Outcome::Value { y: 0.0, noise_std: None };
                let outcome = if fails(&x, rng.random_range(0.0..1.0)) { Outcome::Failed } else { value };
                Observation { x, outcome }
            };
            let told: Vec<Observation> = (0..n).map(observation).collect();
            are_chance(&told.iter().collect::<Vec<_>>())
        };
        (0..20).filter(is_chance).count()
    }

    #[test]
    fn a_region_that_fails_is_told_from_failures_at_random() {
        for (n, most) in [(20, 8), (60, 14)] {
            let (region, chance) =
                (n_called_chance(n, |x, _| x[0] > 0.7), n_called_chance(n, |_, luck| luck < 0.3));
            assert!(region <= 2 && chance >= most, "of {n}: {region} and {chance} of 20");
        }
    }

    #[test]
    fn without_failures_there_is_nothing_to_explain() {
        assert_eq!(n_called_chance(10, |_, _| false), 0);
    }
}
