//! Any family under the paper's prior: the same f_w, and w ~ N(0, std² I).
//!
//! With std = 1/√λ the ball of such a family starts at Σ_0 = λI (eq. 3). Nothing is left to learn from the
//! evidence: there are no scales, and inner products go through explicit gradients.

use super::Family;
use crate::optimizer::Rng;

/// A family under an isotropic prior; see the module.
pub struct Isotropic {
    family: Box<dyn Family>,
    std: f64,
}

impl Isotropic {
    /// `family` with the standard deviation `std` for each of its weights.
    pub fn new(family: Box<dyn Family>, std: f64) -> Self {
        Self { family, std }
    }
}

impl Family for Isotropic {
    fn dimension(&self) -> usize {
        self.family.dimension()
    }

    fn n_weights(&self) -> usize {
        self.family.n_weights()
    }

    fn value(&self, w: &[f64], x: &[f64]) -> f64 {
        self.family.value(w, x)
    }

    fn grad_w(&self, w: &[f64], x: &[f64], out: &mut [f64]) {
        self.family.grad_w(w, x, out);
    }

    fn grad_x(&self, w: &[f64], x: &[f64], out: &mut [f64]) {
        self.family.grad_x(w, x, out);
    }

    fn grad_x_along(&self, w: &[f64], v: &[f64], x: &[f64], out: &mut [f64]) {
        self.family.grad_x_along(w, v, x, out);
    }

    fn is_linear(&self) -> bool {
        self.family.is_linear()
    }

    /// The wrapped family's: `std` says how far a fit may be trusted, not where to begin one.
    fn start(&self, rng: &mut Rng) -> Vec<f64> {
        self.family.start(rng)
    }

    fn prior_std(&self, out: &mut [f64]) {
        out.fill(self.std);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Anova;
    use crate::model::checks::check_family;
    use crate::model::{Activation, Mlp};

    #[test]
    fn is_a_family() {
        check_family(&mut Isotropic::new(Box::new(Anova::quadratic(2)), 0.3), 0);
        check_family(&mut Isotropic::new(Box::new(Mlp::new(2, &[3], Activation::Tanh)), 2.0), 1);
    }

    #[test]
    fn every_weight_has_the_same_prior_and_no_scale_changes_it() {
        let family = Isotropic::new(Box::new(Anova::new(3)), 0.25);
        let mut std = vec![0.0; family.n_weights()];
        family.prior_std(&mut std);
        assert!(std.iter().all(|std| *std == 0.25));
        assert!(family.scales().is_empty());
    }
}
