//! The rounds of a ball: what Σ_t and ŵ_t are made from, in either form.
//!
//! Given: a family with its prior, the prior's centre ŵ_0, linearised observations. Gives: gradients g_i, residuals r_i and noise
//! s_i² of the rounds, and f_x about any weights. Does not know: Σ_t, ŵ_t.

use std::sync::Arc;

use super::Round;
use crate::linalg::{Matrix, add_scaled, dot};
use crate::model::{Embedded, Family};

/// See the module.
#[derive(Clone)]
pub(super) struct Rounds {
    pub family: Arc<dyn Family>,
    /// P: the prior standard deviation of each weight.
    pub prior_std: Vec<f64>,
    pub w_hat_0: Vec<f64>,
    /// x_i, embedded where f was linearised.
    pub points: Embedded,
    /// r_i: see [`Round::residual`].
    pub residuals: Vec<f64>,
    /// s_i²: see [`Round::noise_var`].
    pub noise_var: Vec<f64>,
    linearized_at: LinearizedAt,
    /// An upper bound on the largest eigenvalue of Σ_t: the prior's largest, and the trace of the rest.
    pub trace_bound: f64,
    /// f_x(ŵ_0) is zero everywhere, as for a linear family with its prior centred at zero.
    pub is_centred: bool,
}

/// The weights at which f was linearised in each round.
#[derive(Clone)]
enum LinearizedAt {
    /// f is linear in w: its gradients are the same everywhere, and no weights are kept.
    Anywhere,
    /// One row per round. (t, d_w)
    Weights(Matrix),
}

impl Rounds {
    /// No rounds, and a prior centred at ŵ_0.
    pub fn new(family: Box<dyn Family>, w_hat_0: Vec<f64>) -> Self {
        let d_w = family.n_weights();
        let mut prior_std = vec![0.0; d_w];
        family.prior_std(&mut prior_std);
        let is_linear = family.is_linear();
        let weights = || LinearizedAt::Weights(Matrix::zeros(0, d_w));
        let (x, e) = (Matrix::zeros(0, family.dimension()), Matrix::zeros(0, family.n_embedded()));
        Self {
            trace_bound: prior_std.iter().map(|p| p.powi(-2)).fold(0.0, f64::max),
            prior_std,
            points: Embedded { x, e },
            residuals: Vec::new(),
            noise_var: Vec::new(),
            linearized_at: if is_linear { LinearizedAt::Anywhere } else { weights() },
            is_centred: is_linear && w_hat_0.iter().all(|&w| w == 0.0),
            w_hat_0,
            family: family.into(),
        }
    }

    /// t, the number of rounds.
    pub fn len(&self) -> usize {
        self.residuals.len()
    }

    /// d_w, the number of weights.
    pub fn d_w(&self) -> usize {
        self.prior_std.len()
    }

    /// Adds a round. False, and nothing changes, if its gradient or its residual is not finite.
    pub fn update(&mut self, round: Round<'_>) -> bool {
        let mut gradient = vec![0.0; self.d_w()];
        self.family.grad_w(round.w, round.x, &mut gradient);
        let growth = dot(&gradient, &gradient) / round.noise_var;
        let mut e = vec![0.0; self.family.n_embedded()];
        self.family.embed(round.w, round.x, &mut e);
        if !(growth.is_finite() && round.residual.is_finite() && e.iter().all(|e| e.is_finite())) {
            return false;
        }
        self.points.x.push_row(round.x);
        self.points.e.push_row(&e);
        self.residuals.push(round.residual);
        self.noise_var.push(round.noise_var);
        if let LinearizedAt::Weights(weights) = &mut self.linearized_at {
            weights.push_row(round.w);
        }
        self.trace_bound += growth;
        true
    }

    /// The weights at which round i was linearised; ŵ_0 if the family is linear in w.
    pub fn linearized_at(&self, i: usize) -> &[f64] {
        match &self.linearized_at {
            LinearizedAt::Anywhere => &self.w_hat_0,
            LinearizedAt::Weights(weights) => weights.row(i),
        }
    }

    /// g_i, the gradient in w of round i.
    pub fn gradient(&self, i: usize) -> Vec<f64> {
        let mut gradient = vec![0.0; self.d_w()];
        self.family.grad_w(self.linearized_at(i), self.points.x.row(i), &mut gradient);
        gradient
    }

    /// P g_i, the gradient of round i scaled by the prior.
    pub fn scaled_gradient(&self, i: usize) -> Vec<f64> {
        self.scaled(self.gradient(i))
    }

    /// Σ_i c_i g_i.
    pub fn weighted_gradients(&self, c: &[f64]) -> Vec<f64> {
        let mut sum = vec![0.0; self.d_w()];
        c.iter().enumerate().for_each(|(i, &c)| add_scaled(c, &self.gradient(i), &mut sum));
        sum
    }

    /// P v, a vector of weights scaled by the prior.
    pub fn scaled(&self, mut v: Vec<f64>) -> Vec<f64> {
        v.iter_mut().zip(&self.prior_std).for_each(|(v, p)| *v *= p);
        v
    }

    /// Whether f equals its linearisation, being linear in w.
    pub fn are_exact(&self) -> bool {
        matches!(self.linearized_at, LinearizedAt::Anywhere)
    }

    /// f_x(w), given its gradient `grad_w`.
    pub fn value(&self, w: &[f64], grad_w: &[f64], x: &[f64]) -> f64 {
        if self.are_exact() { dot(grad_w, w) } else { self.family.value(w, x) }
    }

    /// ∇_x (f_x(w) + v·∇f_x(w)): how the tangent of f at w changes in x, v away from w.
    pub fn grad_x(&self, w: &[f64], mut v: Vec<f64>, x: &[f64], grad_x: &mut [f64]) {
        if self.are_exact() {
            add_scaled(1.0, w, &mut v); // ∇_x f is linear in w: one pass for both
            self.family.grad_x(&v, x, grad_x);
        } else {
            self.family.grad_x_along(w, &v, x, grad_x);
            self.add_grad_x(w, x, grad_x);
        }
    }

    /// Adds ∇_x f_x(w) to `grad_x`.
    pub fn add_grad_x(&self, w: &[f64], x: &[f64], grad_x: &mut [f64]) {
        let mut slope = vec![0.0; x.len()];
        self.family.grad_x(w, x, &mut slope);
        add_scaled(1.0, &slope, grad_x);
    }
}
