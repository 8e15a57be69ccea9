//! The belief with pending points counted as observed at their posterior means (fantasies, as BoTorch calls them).
//!
//! Given: a belief and the pending points. Gives: the belief after fantasies at all of them. Each suggestion of a batch takes the
//! fantasies of the one before and adds a point: with hundreds of points pending, that saves most of the work. Caching changes
//! nothing else.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::Belief;

/// Caches the last belief with fantasies, and what it was made from.
#[derive(Default)]
pub struct Fantasies(Mutex<Option<Kept>>);

struct Kept {
    /// The belief it was made from. A weak reference, so that the owner can still update that belief in place; it is then another
    /// one.
    base: Weak<Belief>,
    /// ŵ_t of `base`: where families that are not linear in w are linearised.
    w_hat: Vec<f64>,
    pending: Vec<Vec<f64>>,
    belief: Arc<Belief>,
}

impl Fantasies {
    /// `base` after fantasies at all of these points, in model coordinates.
    pub fn belief(&self, base: &Arc<Belief>, pending: &[Vec<f64>]) -> Arc<Belief> {
        if pending.is_empty() {
            return Arc::clone(base);
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_prefix =
            |kept: &Kept| kept.base.ptr_eq(&Arc::downgrade(base)) && pending.starts_with(&kept.pending);
        let mut known = kept.take().filter(is_prefix).unwrap_or_else(|| Kept {
            base: Arc::downgrade(base),
            w_hat: base.ball.w_hat().to_vec(),
            pending: Vec::new(),
            belief: Arc::clone(base),
        });
        let new = &pending[known.pending.len()..];
        Arc::make_mut(&mut known.belief).fantasize(&known.w_hat, new);
        known.pending.extend_from_slice(new);
        Arc::clone(&kept.insert(known).belief)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::belief::refit::Refit;
    use crate::belief::{Preparation, TrainingData};
    use crate::evidence::NOISE;
    use crate::frame::Frame;
    use crate::model::{Anova, Family};
    use crate::optimizer::{Observation, Outcome, rng};

    /// What is believed of a wave after `t` trials on a line.
    fn belief(t: usize) -> Arc<Belief> {
        let observation = |i: usize| {
            let x = i as f64 / t as f64;
            let outcome = Outcome::Value { y: (4.0 * x).sin(), noise_std: None };
            Observation { x: vec![x, 1.0 - x], outcome }
        };
        let observations: Vec<Observation> = (0..t).map(observation).collect();
        let preparation = Preparation::of(&observations.iter().collect::<Vec<_>>(), true).unwrap();
        let told = TrainingData::new(&observations, preparation, &Frame::symmetric(2));
        let families: Vec<Box<dyn Family>> = vec![Box::new(Anova::new(2))];
        let refit = Refit { scaled: true, warp: true, limited: true, noise: NOISE, restarts: 1 };
        Arc::new(refit.fit(families, &told, &[], &mut rng(1, 0)).into_belief(&told).unwrap())
    }

    #[test]
    fn caching_changes_nothing() {
        let (base, other) = (belief(12), belief(14));
        let points = [vec![0.2, -0.4], vec![-0.9, 0.1], vec![0.5, 0.5], vec![0.0, 0.3]];
        let reversed: Vec<Vec<f64>> = points.iter().rev().cloned().collect();
        let bits = |belief: &Belief| {
            let (mean, std) = belief.predict(&[0.1, 0.1]);
            (mean.to_bits(), std.to_bits())
        };
        let fantasies = Fantasies::default();
        let all = [&points[..1], &points[..3], &points, &points[..2], &reversed[..2], &[]];
        for base in [&base, &other, &base] {
            for pending in all {
                let fresh = Fantasies::default().belief(base, pending);
                assert_eq!(bits(&fantasies.belief(base, pending)), bits(&fresh), "{pending:?}");
            }
        }
    }
}
