//! Families of functions f_w(x): the models that GO-UCB can fit to an objective.
//!
//! Given: weights w and a point x in model coordinates ([-1, 1]^d_x unless a preset says otherwise).
//! Gives: f_w(x), its gradients, a Gaussian prior over w, and inner products of gradients under it.
//! Does not know: data, trials, confidence.
//!
//! To write a family of your own, only `dimension`, `n_weights` and `value` are needed: the gradients then come from finite
//! differences, the prior is N(0, 1) for each weight, and inner products use explicit gradients. Every family of this crate has
//! exact gradients, and the large ones structured inner products: O(d_x), not O(d_w).

mod anova;
#[cfg(test)]
pub(crate) mod checks;
pub(crate) mod embedded;
mod fourier;
pub(crate) mod isotropic;
pub(crate) mod kind;
mod matern;
mod mlp;
mod sum;

pub use self::anova::Anova;
pub(crate) use self::embedded::Embedded;
pub use self::embedded::{Point, Points};
pub use self::fourier::{Fourier, Kernel};
pub(crate) use self::kind::FamilyMaker;
pub use self::matern::Matern;
pub use self::mlp::{Activation, Mlp};
pub use self::sum::Sum;
pub use crate::linalg::{Matrix, View};
use crate::linalg::{add_scaled, dot};
use crate::optimizer::Rng;

/// A scale that is fitted by evidence, on the log scale, with its normal hyper-prior.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// Mean of the hyper-prior of log scale, where the fit starts.
    pub mean: f64,
    /// Standard deviation of that hyper-prior.
    pub std: f64,
}

impl Scale {
    /// By how many standard deviations a log scale is above the mean; 0 if the scale is fixed.
    pub fn standard(&self, log_scale: f64) -> f64 {
        if self.std > 0.0 { (log_scale - self.mean) / self.std } else { 0.0 }
    }
}

/// A parametric family f_w(x) with a Gaussian prior over its weights.
pub trait Family: Send + Sync {
    /// d_x, the number of coordinates of a point.
    fn dimension(&self) -> usize;

    /// d_w, the number of weights.
    fn n_weights(&self) -> usize;

    /// f_w(x), the value at x under the weights w.
    fn value(&self, w: &[f64], x: &[f64]) -> f64;

    /// ∇_w f_w(x), written to `out`. By default by finite differences.
    fn grad_w(&self, w: &[f64], x: &[f64], out: &mut [f64]) {
        central_differences(w, out, |w| self.value(w, x));
    }

    /// ∇_x f_w(x), written to `out`. By default by finite differences.
    fn grad_x(&self, w: &[f64], x: &[f64], out: &mut [f64]) {
        central_differences(x, out, |x| self.value(w, x));
    }

    /// ∇_x (v·∇_w f_w(x)): how ∇_x f changes as w moves along v. By default by finite differences.
    fn grad_x_along(&self, w: &[f64], v: &[f64], x: &[f64], out: &mut [f64]) {
        let length = dot(v, v).sqrt();
        if length == 0.0 {
            return out.fill(0.0);
        }
        let step = 1e-4 / length;
        let moved = |sign: f64| -> Vec<f64> { w.iter().zip(v).map(|(w, v)| w + sign * step * v).collect() };
        let mut below = vec![0.0; x.len()];
        self.grad_x(&moved(-1.0), x, &mut below);
        self.grad_x(&moved(1.0), x, out);
        out.iter_mut().zip(below).for_each(|(up, down)| *up = (*up - down) / (2.0 * step));
    }

    /// Whether f_w(x) is linear in w, so that its linearisation is exact.
    fn is_linear(&self) -> bool {
        false
    }

    /// Whether its functions are given by weights. A Gaussian process has none (`n_weights` is 0): it is defined by its inner
    /// products, and `value` is its prior mean.
    fn is_parametric(&self) -> bool {
        true
    }

    /// Weights to start a fit from: a draw from the prior. Linear families don't use it.
    fn start(&self, rng: &mut Rng) -> Vec<f64> {
        use rand_distr::{Distribution, StandardNormal};
        let mut w = vec![0.0; self.n_weights()];
        self.prior_std(&mut w);
        w.iter_mut().for_each(|w| *w *= Distribution::<f64>::sample(&StandardNormal, rng));
        w
    }

    /// The hyper-priors of the scales that are fitted by evidence. None by default, which keeps the prior as it is.
    fn scales(&self) -> Vec<Scale> {
        Vec::new()
    }

    /// Sets the scales: one log scale per entry of `scales()`.
    fn set_scales(&mut self, _log_scales: &[f64]) {}

    /// Prior mean of each weight.
    fn prior_mean(&self, out: &mut [f64]) {
        out.fill(0.0);
    }

    /// Prior standard deviation of each weight, at the current scales.
    fn prior_std(&self, out: &mut [f64]) {
        out.fill(1.0);
    }

    /// Length of an embedded point.
    fn n_embedded(&self) -> usize {
        self.n_weights()
    }

    /// What inner products are computed from: by default ∇_w f_w(x) scaled by the prior, so that ⟨∇f_x, ∇f_x'⟩ under the prior is a
    /// plain dot product.
    fn embed(&self, w: &[f64], x: &[f64], out: &mut [f64]) {
        let mut std = vec![0.0; self.n_weights()];
        self.prior_std(&mut std);
        self.grad_w(w, x, out);
        out.iter_mut().zip(std).for_each(|(g, s)| *g *= s);
    }

    /// Updates an embedding that was made at other scales. Nothing to do for a family whose embeddings don't depend on them.
    fn embed_again(&self, w: &[f64], x: &[f64], e: &mut [f64]) {
        self.embed(w, x, e);
    }

    /// Inner products ⟨∇f_{x_i}, ∇f_{z_j}⟩ under the prior, of all rows of `a` with all rows of `b`.
    fn gram(&self, a: Points<'_>, b: Points<'_>) -> Matrix {
        a.e.product_transposed(b.e)
    }

    /// `gram` of points with themselves. It is symmetric, and only the lower triangle with the diagonal has to be right.
    fn gram_within(&self, points: Points<'_>) -> Matrix {
        self.gram(points, points)
    }

    /// ⟨∇f_x, ∇f_{x_i}⟩ for one point and all rows of `points`: one row of `gram`.
    fn gram_row(&self, x: Point<'_>, points: Points<'_>, out: &mut [f64]) {
        points.e.times_into(x.e, out);
    }

    /// ‖∇f_x‖² under the prior.
    fn gram_self(&self, x: Point<'_>) -> f64 {
        dot(x.e, x.e)
    }

    /// Σ_ij m_ij ∂gram_ij/∂(log scale), for each scale and a symmetric `m`. (n, n)
    fn gram_grad_scales(&self, _points: Points<'_>, _m: &Matrix, out: &mut [f64]) {
        debug_assert!(out.is_empty(), "a family with scales writes their gradient");
    }

    /// ∇_x Σ_i v_i ⟨∇f_x, ∇f_{x_i}⟩ + v_self ½ ∇_x ‖∇f_x‖², both under the prior: all that the gradient of a mean or an uncertainty
    /// in x needs.
    fn gram_grad_x(
        &self,
        w: &[f64],
        x: Point<'_>,
        points: Points<'_>,
        v: &[f64],
        v_self: f64,
        out: &mut [f64],
    ) {
        let mut along = points.e.transposed_times(v);
        add_scaled(v_self, x.e, &mut along);
        let mut std = vec![0.0; self.n_weights()];
        self.prior_std(&mut std);
        along.iter_mut().zip(std).for_each(|(a, s)| *a *= s);
        self.grad_x_along(w, &along, x.x, out);
    }
}

/// The slope of `f` along each coordinate, by central differences.
pub fn central_differences(at: &[f64], out: &mut [f64], f: impl Fn(&[f64]) -> f64) {
    let mut moved = at.to_vec();
    for (i, slope) in out.iter_mut().enumerate() {
        let step = 6e-6 * at[i].abs().max(1.0);
        moved[i] = at[i] + step;
        let up = f(&moved);
        moved[i] = at[i] - step;
        *slope = (up - f(&moved)) / (2.0 * step);
        moved[i] = at[i];
    }
}
