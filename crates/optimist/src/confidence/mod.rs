//! The confidence ball over model weights (paper §4.1, eqs. 3-6).
//!
//! Given: a family with its prior, the prior's centre ŵ_0, and one linearised observation a round: where f was
//! linearised, the point, the residual about the centre, the noise. Gives: ŵ_t, Σ_t, u_t, the upper
//! confidence bound and its gradient in x, membership, log det Σ_t / det Σ_0.
//! Does not know: how the centre was fitted, how β_t is chosen, trials.
//!
//! Σ_t = P⁻² + Σ_i g_i g_iᵀ / s_i², with P the prior's standard deviations and s_i the noise. The paper's eq. 3 is
//! P = I/√λ and s_i = 1. While t < d_w everything is done with the t × t matrix of inner products g_iᵀP²g_j + s_i²
//! (`dual`), and later with the d_w × d_w matrix I + Σ P g_i g_iᵀ P / s_i² (`primal`); a round appends a row to the
//! factor of the first, or moves that of the second by rank one.
//!
//! Departures from the paper: none in the updates; P and s_i are free so that a prior fitted to the data can be used.

mod dual;
mod form;
mod primal;
mod rounds;

use crate::linalg::{Matrix, dot};
use crate::model::Family;
use crate::normal::ln_h;
pub(crate) use form::Posterior;
use form::{Factored, Form};
use rounds::Rounds;

/// Rounds between factorisations from scratch, which keep the rounding errors of rank-one updates from adding up.
const REFRESH_ROUNDS: usize = 512;

/// Points with less uncertainty count as known: a gradient would be rounding errors.
pub(crate) const MIN_U: f64 = 1e-9;

/// Most steps of the ascent in w. On four networks of 13 to 251 weights after 20 observations, 200 points each, a single step lost
/// 1 to 5 % of what the mean can be exceeded by in a ball of radius 0.5, ten up to 0.04 %, fifty nothing; at radius 2 it was 15 to
/// 32 %, 0.3 to 1.5 % and at most 0.02 %; at radius 10, 60 to 75 %, 5 to 11 % and up to 0.3 %.
const ASCENT_STEPS: usize = 50;

/// Step lengths that are tried in turn, as shares of the way to the best point of the linearisation. Full steps alone lost up to
/// 0.2 % at radius 0.5 and 5 to 28 % at radius 2; the shortest was taken in at most 6 % of the steps at radius 10, and hardly ever
/// below.
const STEP_LENGTHS: [f64; 5] = [1.0, 0.5, 0.25, 0.125, 0.0625];

/// One observation, linearised: y ≈ f_x(w) + ∇f_x(w)·(w* − w).
#[derive(Debug, Clone, Copy)]
pub struct Round<'a> {
    /// The weights at which f was linearised; any slice if the family is linear in w.
    pub w: &'a [f64],
    /// The point, in model coordinates.
    pub x: &'a [f64],
    /// ∇f_x(w)·(w − ŵ_0) + y − f_x(w): the observation about the prior's centre.
    pub residual: f64,
    /// s², the variance of the noise; 1 in the paper's updates.
    pub noise_var: f64,
}

/// A round as the other rounds predict it, in the units of the model.
#[derive(Debug, Clone, PartialEq)]
pub struct LeftOut {
    /// The point, in model coordinates.
    pub x: Vec<f64>,
    /// What was observed there.
    pub observed: f64,
    /// What the other rounds predict there.
    pub mean: f64,
    /// Standard deviation of that prediction, noise of the observation included.
    pub std: f64,
}

/// Σ_t and ŵ_t, hence Ball_t for every β_t.
#[derive(Clone)]
pub struct Confidence {
    rounds: Rounds,
    factored: Factored,
    w_hat: Vec<f64>,
    since_refresh: usize,
}

impl Confidence {
    /// The prior alone: Σ_0, centred at ŵ_0.
    pub fn new(family: Box<dyn Family>, w_hat_0: Vec<f64>) -> Self {
        let rounds = Rounds::new(family, w_hat_0);
        Self { factored: Factored::new(&rounds), w_hat: rounds.w_hat_0.clone(), since_refresh: 0, rounds }
    }

    /// All rounds at once: one factorisation instead of an update per round.
    pub fn with_rounds<'a>(
        family: Box<dyn Family>,
        w_hat_0: Vec<f64>,
        rounds: impl IntoIterator<Item = Round<'a>>,
    ) -> Self {
        let mut confidence = Self::new(family, w_hat_0);
        for round in rounds {
            confidence.rounds.update(round);
        }
        confidence.refresh();
        confidence
    }

    /// Lines 2 and 3 of Phase II: Σ_t and ŵ_t after one more round. A round that is not finite is ignored.
    pub fn update(&mut self, round: Round<'_>) {
        if !self.rounds.update(round) {
            return;
        }
        self.since_refresh += 1;
        let crossing = self.rounds.family.is_parametric() && self.rounds.len() == self.rounds.d_w();
        if crossing || self.since_refresh >= REFRESH_ROUNDS || !self.update_sigma() {
            self.refresh();
        } else {
            self.solve_w_hat();
        }
    }

    /// Factors Σ_t from scratch, in the form that is cheaper at this t.
    pub fn refresh(&mut self) {
        self.since_refresh = 0;
        self.factored = Factored::new(&self.rounds);
        self.solve_w_hat();
    }

    /// Eq. 3: updates Σ_t with the last round. False if rounding errors prevented it.
    fn update_sigma(&mut self) -> bool {
        self.factored.form_mut().update(&self.rounds)
    }

    /// Eq. 5: sets ŵ_t to the minimum of eq. 4.
    fn solve_w_hat(&mut self) {
        let shift = self.factored.form_mut().solve_shift(&self.rounds);
        self.w_hat = self.rounds.w_hat_0.iter().zip(&shift).map(|(w, s)| w + s).collect();
    }

    /// The size of the matrix that Σ_t is factored as, with whose square the time of a prediction grows.
    pub fn order(&self) -> usize {
        let (t, d_w) = (self.rounds.len(), self.rounds.d_w());
        if self.rounds.family.is_parametric() { t.min(d_w) } else { t }
    }

    /// The family, at the scales of this ball's prior.
    pub fn family(&self) -> &dyn Family {
        &*self.rounds.family
    }

    /// ŵ_t, the centre of the ball.
    pub fn w_hat(&self) -> &[f64] {
        &self.w_hat
    }

    /// Number of rounds so far.
    pub fn rounds(&self) -> usize {
        self.rounds.len()
    }

    /// f_x(ŵ_t), the posterior mean at x.
    pub fn mean(&self, x: &[f64]) -> f64 {
        self.form().mean(&self.rounds, &self.w_hat, x)
    }

    /// u = ‖∇f_x(ŵ_t)‖ in Σ_t⁻¹: one standard deviation of f_x under the linearised posterior.
    pub fn uncertainty(&self, x: &[f64]) -> f64 {
        self.posterior(x).u
    }

    /// f_x(ŵ_t) and u: posterior mean and standard deviation at x.
    pub fn predict(&self, x: &[f64]) -> (f64, f64) {
        let posterior = self.posterior(x);
        (posterior.mean, posterior.u)
    }

    /// `predict` for each row of `x`: one block of matrix products.
    pub fn predict_rows(&self, x: Matrix) -> Vec<(f64, f64)> {
        self.form().posteriors(&self.rounds, &self.w_hat, x)
    }

    /// f_x(ŵ_t) + √β u: the highest value in Ball_t under the linearisation. Writes its gradient in x.
    pub fn upper_confidence_bound(&self, x: &[f64], radius: f64, grad_x: &mut [f64]) -> f64 {
        let posterior = self.posterior(x);
        let bound = posterior.mean + radius * posterior.u;
        self.grad_x(posterior, radius, grad_x);
        bound
    }

    /// Whether f equals its linearisation, so that the upper confidence bound is max over w in Ball_t of f_x(w) itself.
    pub fn linearization_is_exact(&self) -> bool {
        self.rounds.are_exact()
    }

    /// (f_x(ŵ_t) − target) / u: by how many standard deviations the mean is above a target. Below it, this is −√β of the smallest
    /// ball in which some w lifts x to the target. Writes its gradient in x.
    pub fn z_score(&self, x: &[f64], target: f64, grad_x: &mut [f64]) -> f64 {
        let posterior = self.posterior(x);
        let u = posterior.u.max(MIN_U);
        let z_score = (posterior.mean - target) / u;
        // The gradient is that of mean − z_score · u, over u.
        self.grad_x(posterior, -z_score, grad_x);
        grad_x.iter_mut().for_each(|slope| *slope /= u);
        z_score
    }

    /// ln of the expected improvement of f_x over `target`, and its gradient.
    pub fn log_expected_improvement(&self, x: &[f64], target: f64, grad_x: &mut [f64]) -> f64 {
        let posterior = self.posterior(x);
        let u = posterior.u.max(MIN_U);
        let z = (posterior.mean - target) / u;
        let (ln_h, slope) = ln_h(z);
        // Φ/h (∇mean + (φ/Φ) ∇u) / u, and φ/Φ = h/Φ − z.
        self.grad_x(posterior, 1.0 / slope - z, grad_x);
        grad_x.iter_mut().for_each(|g| *g *= slope / u);
        u.ln() + ln_h
    }

    /// The w in Ball_t where f_x is highest, and that value: an ascent that maximises the linearisation at w over the ball
    /// (conditional gradients) until it no longer gains. For a linear family the first step does it.
    pub fn argmax_w(&self, x: &[f64], radius: f64) -> (Vec<f64>, f64) {
        let family = self.family();
        let mut w = self.w_hat.clone();
        let mut value = family.value(&w, x);
        let mut grad_w = vec![0.0; w.len()];
        for _ in 0..ASCENT_STEPS {
            family.grad_w(&w, x, &mut grad_w);
            let direction = self.covariance_times(&grad_w);
            let u = dot(&direction, &grad_w).max(0.0).sqrt();
            if u == 0.0 {
                break;
            }
            let corner: Vec<f64> = (0..w.len()).map(|i| self.w_hat[i] + radius * direction[i] / u).collect();
            let towards_corner = |length: &f64| {
                let moved: Vec<f64> = w.iter().zip(&corner).map(|(w, c)| w + length * (c - w)).collect();
                let value = family.value(&moved, x);
                (moved, value)
            };
            let before = value;
            let higher = STEP_LENGTHS.iter().map(towards_corner).find(|(_, value)| *value > before);
            (w, value) = higher.unwrap_or((w, before));
            if value - before <= 1e-10 * (1.0 + value.abs()) {
                break;
            }
        }
        (w, value)
    }

    /// ‖w − ŵ_t‖² in Σ_t (eq. 6).
    pub fn distance_squared(&self, w: &[f64]) -> f64 {
        let Rounds { prior_std, noise_var, .. } = &self.rounds;
        let delta: Vec<f64> = w.iter().zip(&self.w_hat).map(|(w, c)| w - c).collect();
        let prior: f64 = delta.iter().zip(prior_std).map(|(d, p)| (d / p).powi(2)).sum();
        let data = (0..self.rounds()).map(|i| dot(&self.rounds.gradient(i), &delta).powi(2) / noise_var[i]);
        prior + data.sum::<f64>()
    }

    /// Whether w lies in Ball_t (eq. 6).
    pub fn contains(&self, w: &[f64], beta_t: f64) -> bool {
        self.distance_squared(w) <= beta_t
    }

    /// Moves w straight towards ŵ_t until it lies in the ball of radius √β = `radius`.
    pub fn pull_inside(&self, w: &mut [f64], radius: f64) {
        let plain: f64 = w.iter().zip(&self.w_hat).map(|(w, c)| (w - c).powi(2)).sum();
        // Σ_t is at most its trace, which usually settles it without a loop over the rounds.
        if self.rounds.trace_bound * plain <= radius * radius {
            return;
        }
        let distance = self.distance_squared(w).sqrt();
        if distance > radius {
            w.iter_mut().zip(&self.w_hat).for_each(|(w, c)| *w = c + (*w - c) * radius / distance);
        }
    }

    /// log det Σ_t − log det Σ_0.
    pub fn log_det_ratio(&self) -> f64 {
        self.form().log_det_ratio(&self.rounds)
    }

    /// Σ_t⁻¹ v: the posterior covariance of the weights times a vector.
    pub fn covariance_times(&self, v: &[f64]) -> Vec<f64> {
        self.form().covariance_times(&self.rounds, v)
    }

    /// Standard deviation of Σ_i v_i f_{x_i}, for the rows x_i of `x`. To first order where f is not linear in w.
    pub fn std_of_sum(&self, x: Matrix, v: &[f64]) -> f64 {
        self.form().variance_of_sum(&self.rounds, &self.w_hat, x, v).max(0.0).sqrt()
    }

    /// Each round as the posterior given all other rounds predicts it: exact for a linear family under this prior.
    pub fn leave_one_out(&self) -> Vec<LeftOut> {
        let errors = self.form().left_out_errors(&self.rounds, &self.w_hat);
        errors.into_iter().enumerate().map(|(i, (error, std))| self.left_out(i, error, std)).collect()
    }

    fn left_out(&self, i: usize, error: f64, std: f64) -> LeftOut {
        let Rounds { family, w_hat_0, points, residuals, .. } = &self.rounds;
        let (x, at, grad_w) = (points.x.row(i), self.rounds.linearized_at(i), self.rounds.gradient(i));
        let from_centre: f64 = grad_w.iter().zip(at).zip(w_hat_0).map(|((g, w), w_0)| g * (w - w_0)).sum();
        let observed = residuals[i] - from_centre + family.value(at, x);
        LeftOut { x: x.to_vec(), observed, mean: observed - error, std }
    }

    fn form(&self) -> &dyn Form {
        self.factored.form()
    }

    /// The posterior of f_x, with what its gradient is computed from.
    pub(crate) fn posterior<'a>(&self, x: &'a [f64]) -> Posterior<'a> {
        self.form().posterior(&self.rounds, &self.w_hat, x)
    }

    /// Sets the gradient in x of mean + radius · u.
    pub(crate) fn grad_x(&self, posterior: Posterior<'_>, radius: f64, grad_x: &mut [f64]) {
        self.form().grad_x(&self.rounds, &self.w_hat, posterior, radius, grad_x);
    }
}
