//! Look-ups by content: the observations at a point, and a hash of all observations so far.
//!
//! Given: points and observations. Gives: indices of points, and hashes. Does not know: values, what is pending.

use std::collections::BTreeSet;

use crate::encode::TOLERANCE;
use crate::optimizer::{Observation, Outcome};

/// Finds points without a loop over all of them, by a weighted sum of their coordinates: nearly the same for the same point, and
/// hardly ever for others.
#[derive(Debug, Clone, Default)]
pub(super) struct Index {
    /// The bits of the sums, which are in the order of the sums since none is negative, and the indices of the points.
    by_sum: BTreeSet<(u64, usize)>,
}

impl Index {
    pub(super) fn insert(&mut self, x: &[f64], number: usize) {
        self.by_sum.insert((Self::sum(x).to_bits(), number));
    }

    /// The indices of all points that are the same as `x`, and of few others.
    pub(super) fn near(&self, x: &[f64]) -> impl Iterator<Item = usize> {
        let (sum, width) = (Self::sum(x), 2.0 * TOLERANCE * x.len() as f64);
        let (low, high) = ((sum - width).max(0.0), sum + width);
        self.by_sum.range((low.to_bits(), 0)..=(high.to_bits(), usize::MAX)).map(|(_, number)| *number)
    }

    /// A sum with unrelated weights from 0.5 to 1.
    fn sum(x: &[f64]) -> f64 {
        let weight = |j: u64| {
            let random = split_mix(j.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            0.5 + (random >> 12) as f64 / (1_u64 << 53) as f64
        };
        (0..).zip(x).map(|(j, x)| weight(j) * x.max(0.0)).sum()
    }
}

/// The hash up to this observation, given the hash up to the one before.
pub(super) fn fingerprint(before: u64, observation: &Observation) -> u64 {
    let (kind, y, noise_std) = match observation.outcome {
        Outcome::Value { y, noise_std: None } => (1, y, 0.0),
        Outcome::Value { y, noise_std: Some(noise_std) } => (2, y, noise_std),
        Outcome::Failed => (3, 0.0, 0.0),
    };
    let numbers = observation.x.iter().chain([&y, &noise_std]).map(|number| number.to_bits());
    numbers.chain([kind]).fold(before, |hash, bits| split_mix(hash.rotate_left(5) ^ bits))
}

/// SplitMix64: maps similar numbers to unrelated ones.
fn split_mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
