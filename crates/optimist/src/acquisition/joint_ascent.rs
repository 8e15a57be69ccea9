//! Line 5 as in the paper's experiments: gradient ascent over x and w together (preset `paper`).
//!
//! Given: the ball and its radius. Gives: the x where the ascent ends. Does not know: which points have been tried.

use super::UpperConfidenceBound;
use crate::encode::Domain;
use crate::linalg::add_scaled;
use crate::optimizer::Rng;

/// Gradient ascent over x and w together, with w kept in the ball and x in the domain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointAscent {
    /// Number of steps.
    pub steps: usize,
    /// Length of a step, as a factor on the gradient.
    pub rate: f64,
    /// Whether x starts at the point with the highest value; at a uniform point otherwise.
    pub from_best: bool,
}

impl Default for JointAscent {
    fn default() -> Self {
        Self { steps: 2000, rate: 1e-4, from_best: false }
    }
}

impl JointAscent {
    /// Ascends from ŵ_t and a uniform x, or from `best`.
    pub fn argmax(
        &self,
        ucb: UpperConfidenceBound<'_>,
        domain: &Domain,
        best: Option<&[f64]>,
        rng: &mut Rng,
    ) -> Vec<f64> {
        let UpperConfidenceBound { ball, radius, frame } = ucb;
        let family = ball.family();
        let mut x = match best.filter(|_| self.from_best) {
            Some(best) => best.to_vec(),
            None => domain.sample(rng),
        };
        let mut z = frame.apply(&x);
        let mut w = ball.w_hat().to_vec();
        let (mut grad_x, mut grad_w) = (vec![0.0; z.len()], vec![0.0; w.len()]);
        for _ in 0..self.steps {
            family.grad_x(&w, &z, &mut grad_x);
            family.grad_w(&w, &z, &mut grad_w);
            add_scaled(self.rate, &grad_x, &mut z);
            add_scaled(self.rate, &grad_w, &mut w);
            ball.pull_inside(&mut w, radius);
            for (j, z_j) in z.iter_mut().enumerate() {
                let (low, high) = (frame.low[j], frame.low[j] + frame.width[j]);
                *z_j = z_j.clamp(low.min(high), low.max(high));
            }
            if domain.is_constrained() {
                frame.invert(&z, &mut x);
                domain.relax(&mut x);
                z = frame.apply(&x);
            }
        }
        frame.invert(&z, &mut x);
        domain.snap(&mut x);
        x
    }
}
