//! What the paper's proofs say about each round, next to what happened (preset `theory`).
//!
//! Given: a [`Proof`], the ball of each round and the point chosen in it; w* and the optimum, if they are known. Gives: a report
//! per round, with the quantities of the lemmas and their bounds. Does not know: how points are chosen.
//!
//! The ball is the paper's: prior N(0, I/λ) (`model::isotropic`) and noise 1.

use serde::Serialize;

use crate::confidence::Confidence;
use crate::model::Family;
use crate::schedule::Proof;

/// The true weights and optimum, known if the objective was made for a test.
#[derive(Debug, Clone, PartialEq)]
pub struct Truth {
    /// w*: the weights at which the family is the objective.
    pub w_star: Vec<f64>,
    /// f*: the highest value of the objective.
    pub optimum: f64,
}

/// The quantities of the proofs in round t, each with its bound. Bounds are those of the paper, at the constants given.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RoundReport {
    /// The round of Phase II, from 1. Its ball holds t − 1 observations.
    pub t: usize,
    /// u_t = ‖∇f_{x_t}(ŵ_t)‖ in Σ_t⁻¹.
    pub u_t: f64,
    /// β_t, the squared radius of Ball_t.
    pub beta_t: f64,
    /// log det Σ_t − log det Σ_0, computed from the factor of Σ_t.
    pub log_det_ratio: f64,
    /// The same, computed by the determinant lemma: Σ_{i<t} log(1 + u_i²).
    pub log_det_product: f64,
    /// The log-determinant lemma: `log_det_ratio` is at most this.
    pub log_det_bound: f64,
    /// Σ_{i<t} ∇f_{x_i}(ŵ_i)ᵀ Σ_t⁻¹ ∇f_{x_i}(ŵ_i).
    pub sum_of_squares: f64,
    /// The sum-of-squares lemma: `sum_of_squares` is at most this.
    pub sum_of_squares_bound: f64,
    /// Whether w* is in Ball_t, if w* is known.
    pub contains_w_star: Option<bool>,
    /// r_t = f* − f(x_t), if the truth is known.
    pub regret: Option<f64>,
    /// The instantaneous regret lemma: `regret` is at most this.
    pub regret_bound: f64,
    /// The regret of Phase I and of rounds 1 to t, if the truth is known.
    pub cumulative_regret: Option<f64>,
    /// The theorem: `cumulative_regret` is at most this.
    pub cumulative_regret_bound: f64,
}

impl RoundReport {
    /// The lemmas that this round violates, in words. None, with probability 1 − δ, if the constants are right.
    pub fn violations(&self) -> Vec<String> {
        let mut violations = Vec::new();
        let mut at_most = |what: &str, value: Option<f64>, bound: f64| {
            // Lemmas that are tight at t = 1 must not fail because of rounding.
            if let Some(value) = value.filter(|value| *value > bound + 1e-9 * (1.0 + bound.abs())) {
                violations.push(format!("round {}: {what} is {value}, above its bound {bound}", self.t));
            }
        };
        at_most("log det Σ_t / det Σ_0", Some(self.log_det_ratio), self.log_det_bound);
        at_most("the sum of squares", Some(self.sum_of_squares), self.sum_of_squares_bound);
        at_most("the regret", self.regret, self.regret_bound);
        at_most("the cumulative regret", self.cumulative_regret, self.cumulative_regret_bound);
        if (self.log_det_ratio - self.log_det_product).abs() > 1e-9 * (1.0 + self.log_det_ratio) {
            let (ratio, product) = (self.log_det_ratio, self.log_det_product);
            violations.push(format!("round {}: log det is {ratio}, by its rounds {product}", self.t));
        }
        if self.contains_w_star == Some(false) {
            violations.push(format!("round {}: w* is outside the ball", self.t));
        }
        violations
    }
}

/// Writes a report after each round.
#[derive(Debug, Clone)]
pub struct Ledger {
    proof: Proof,
    truth: Option<Truth>,
    explored: usize,
    cumulative_regret: f64,
    log_det_product: f64,
    rounds: Vec<RoundReport>,
}

impl Ledger {
    /// A ledger before the first trial.
    pub fn new(proof: Proof, truth: Option<Truth>) -> Self {
        Self { proof, truth, explored: 0, cumulative_regret: 0.0, log_det_product: 0.0, rounds: Vec::new() }
    }

    /// Counts a point of Phase I, in model coordinates.
    pub fn explored(&mut self, family: &dyn Family, x: &[f64]) {
        self.explored += 1;
        self.cumulative_regret += self.regret(family, x).unwrap_or(0.0);
    }

    /// Reports a round of Phase II: the point chosen in `ball`, before its value is in it.
    pub fn round(&mut self, ball: &Confidence, x_t: &[f64]) -> &RoundReport {
        let t = self.rounds.len() + 1;
        let (u_t, beta_t) = (ball.uncertainty(x_t), self.proof.beta_t(t));
        let regret = self.regret(ball.family(), x_t);
        self.cumulative_regret += regret.unwrap_or(0.0);
        self.rounds.push(RoundReport {
            t,
            u_t,
            beta_t,
            log_det_ratio: ball.log_det_ratio(),
            log_det_product: self.log_det_product,
            log_det_bound: self.proof.log_det_bound(t),
            sum_of_squares: sum_of_squares(ball, self.proof.lambda()),
            sum_of_squares_bound: self.proof.sum_of_squares_bound(t),
            contains_w_star: self.truth.as_ref().map(|truth| ball.contains(&truth.w_star, beta_t)),
            regret,
            regret_bound: self.proof.regret_bound(t, u_t),
            cumulative_regret: regret.map(|_| self.cumulative_regret),
            cumulative_regret_bound: self.proof.cumulative_regret_bound(self.explored, t),
        });
        self.log_det_product += (u_t * u_t).ln_1p();
        &self.rounds[t - 1]
    }

    /// The proof whose bounds are reported.
    pub fn proof(&self) -> &Proof {
        &self.proof
    }

    /// The reports so far, in order.
    pub fn rounds(&self) -> &[RoundReport] {
        &self.rounds
    }

    /// The reports of all rounds, in order.
    pub fn into_rounds(self) -> Vec<RoundReport> {
        self.rounds
    }

    fn regret(&self, family: &dyn Family, x: &[f64]) -> Option<f64> {
        self.truth.as_ref().map(|truth| truth.optimum - family.value(&truth.w_star, x))
    }
}

/// Σ_i g_iᵀ Σ_t⁻¹ g_i = tr(Σ_t⁻¹ (Σ_t − λI)) = d_w − λ tr Σ_t⁻¹.
fn sum_of_squares(ball: &Confidence, lambda: f64) -> f64 {
    let d_w = ball.w_hat().len();
    let mut unit = vec![0.0; d_w];
    let mut sum = 0.0;
    for k in 0..d_w {
        unit[k] = 1.0;
        sum += 1.0 - lambda * ball.covariance_times(&unit)[k];
        unit[k] = 0.0;
    }
    sum.max(0.0)
}
