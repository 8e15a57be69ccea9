//! The operations on Σ_t, and which of its two forms they use.
//!
//! Given: the rounds, and ŵ_t where it matters. Gives: updates and solves with the smaller of two matrices, `dual` while t < d_w
//! and `primal` after. Both give the same numbers up to rounding.

use super::dual::Dual;
use super::primal::Primal;
use super::rounds::Rounds;
use crate::linalg::Matrix;

/// Σ_t, factored in one of its forms.
#[derive(Clone)]
pub(super) enum Factored {
    Dual(Dual),
    Primal(Primal),
}

impl Factored {
    /// Factors Σ_t in the form whose matrix is smaller.
    pub fn new(rounds: &Rounds) -> Self {
        if rounds.len() < rounds.d_w() || !rounds.family.is_parametric() {
            Self::Dual(Dual::new(rounds))
        } else {
            Self::Primal(Primal::new(rounds))
        }
    }

    pub fn form(&self) -> &dyn Form {
        match self {
            Self::Dual(dual) => dual,
            Self::Primal(primal) => primal,
        }
    }

    pub fn form_mut(&mut self) -> &mut dyn Form {
        match self {
            Self::Dual(dual) => dual,
            Self::Primal(primal) => primal,
        }
    }
}

/// What each form of Σ_t can do.
pub(super) trait Form {
    /// Eq. 3: updates the factor with the last round. False if rounding errors prevented it.
    fn update(&mut self, rounds: &Rounds) -> bool;

    /// Eq. 5: ŵ_t − ŵ_0.
    fn solve_shift(&mut self, rounds: &Rounds) -> Vec<f64>;

    /// The posterior at one point.
    fn posterior<'a>(&self, rounds: &Rounds, w_hat: &[f64], x: &'a [f64]) -> Posterior<'a>;

    /// Sets the gradient in x of mean + radius · u at the point of `posterior`.
    fn grad_x(
        &self,
        rounds: &Rounds,
        w_hat: &[f64],
        posterior: Posterior<'_>,
        radius: f64,
        grad_x: &mut [f64],
    );

    /// f_x(ŵ_t), the posterior mean at x.
    fn mean(&self, rounds: &Rounds, w_hat: &[f64], x: &[f64]) -> f64 {
        rounds.family.value(w_hat, x)
    }

    /// Variance of Σ_i v_i f_{x_i}, for the rows x_i of `x`.
    fn variance_of_sum(&self, rounds: &Rounds, w_hat: &[f64], x: Matrix, v: &[f64]) -> f64;

    /// For each round, the difference between its residual and what all others predict, and the standard deviation of that, noise
    /// included.
    fn left_out_errors(&self, rounds: &Rounds, w_hat: &[f64]) -> Vec<(f64, f64)>;

    /// Mean and u at each row of `x`.
    fn posteriors(&self, rounds: &Rounds, w_hat: &[f64], x: Matrix) -> Vec<(f64, f64)>;

    /// Σ_t⁻¹ v: the posterior covariance of the weights times a vector.
    fn covariance_times(&self, rounds: &Rounds, v: &[f64]) -> Vec<f64>;

    /// log det Σ_t − log det Σ_0.
    fn log_det_ratio(&self, rounds: &Rounds) -> f64;
}

/// The posterior of f_x at one point, under the linearisation.
pub(crate) struct Posterior<'a> {
    pub x: &'a [f64],
    /// The mean, f_x(ŵ_t).
    pub mean: f64,
    /// The standard deviation, ‖∇f_x(ŵ_t)‖ in Σ_t⁻¹.
    pub u: f64,
    /// What u was computed from and its gradient will be: the embedded point (dual form only), and the first half of a solve.
    pub(super) embedded: Vec<f64>,
    pub(super) half_solved: Vec<f64>,
}
