//! The regression oracle (paper eq. 2): weights that explain the data.
//!
//! Given: a family, points, values and the noise of each. Gives: weights, and whether the search for them converged. Does not know:
//! trials, confidence, where the points came from.
//!
//! Departure from the paper: the objective may carry the family's Gaussian prior,
//! Σ_i ((y_i − f_w(x_i))/s_i)² + prior_weight Σ_k ((w_k − m_k)/p_k)², whose minimum is the most probable w (MAP) at
//! prior_weight 1. At 0, with equal noise, it is eq. 2.

pub mod levenberg_marquardt;
pub mod sgd;

use rayon::prelude::*;

use crate::linalg::{Matrix, dot};
use crate::model::Family;
use crate::optimizer::Rng;

/// The data to fit, and the family to fit to them.
#[derive(Clone, Copy)]
pub struct Problem<'a> {
    /// The family whose weights are sought.
    pub family: &'a dyn Family,
    /// The points, one per row, in model coordinates. (n, d_x)
    pub x: &'a Matrix,
    /// The observed values. (n)
    pub y: &'a [f64],
    /// Standard deviation of each observation's noise, above 0. (n)
    pub noise_std: &'a [f64],
    /// The weight of the prior: 1 for the most probable weights, 0 for least squares (eq. 2).
    pub prior_weight: f64,
}

/// What an oracle found.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The weights; always finite.
    pub w: Vec<f64>,
    /// The problem's objective at `w`; see the module.
    pub loss: f64,
    /// How many steps were taken.
    pub steps: usize,
    /// Whether `w` is a minimum to within the oracle's tolerance, not just where it ran out of steps.
    pub converged: bool,
}

/// A problem without a fit.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OracleError {
    /// There is no family, or the evidence of none is finite anywhere near its hyper-priors.
    #[error(
        "no family could be fitted; check that the values are of a sensible size, or name another `family`"
    )]
    NothingToFit,
    /// The parts of the problem differ in length.
    #[error("{points} points, {values} values and {noises} noise levels; each point needs one of each")]
    Mismatch {
        /// Rows of `x`.
        points: usize,
        /// Entries of `y`.
        values: usize,
        /// Entries of `noise_std`.
        noises: usize,
    },
    /// A weight vector that doesn't belong to the family.
    #[error(
        "w_star is of length {got}, and the family has {wanted} weights; give one number for each weight"
    )]
    WrongWeights {
        /// How many there are.
        got: usize,
        /// How many the family has.
        wanted: usize,
    },
    /// An observation that no weights can explain.
    #[error(
        "observation {index}: y = {y} with noise_std = {noise_std}; y must be finite, noise_std finite and above 0"
    )]
    BadObservation {
        /// The index of the observation.
        index: usize,
        /// The value observed.
        y: f64,
        /// The standard deviation of its noise.
        noise_std: f64,
    },
    /// The weights to start from give no finite loss.
    #[error(
        "oracle cannot start: loss is {loss}; start from weights at which the family is finite at every point"
    )]
    BadStart {
        /// The loss at that point.
        loss: f64,
    },
    /// The loss became infinite or NaN.
    #[error("oracle stopped at step {step}: loss is {loss}; lower the rate")]
    Diverged {
        /// The step at which that happened.
        step: usize,
        /// The loss at that point.
        loss: f64,
    },
}

/// The weights that a fit starts from.
#[derive(Debug, Clone, PartialEq)]
pub enum Starts {
    /// The loss has one minimum, because f is linear in w: one solve finds it from anywhere.
    Anywhere,
    /// The loss may have several minima: the best one downhill from these weights is kept.
    At(Vec<Vec<f64>>),
}

impl Starts {
    /// `n_restarts` draws of `Family::start`, at least one, or none if f is linear in w.
    pub fn draw(family: &dyn Family, n_restarts: usize, rng: &mut Rng) -> Self {
        if family.is_linear() {
            return Self::Anywhere;
        }
        Self::At((0..n_restarts.max(1)).map(|_| family.start(rng)).collect())
    }
}

/// The best fit by Levenberg-Marquardt, over all starts in parallel.
///
/// # Errors
/// If the data are not finite, or if none of the starts is.
pub fn fit(problem: &Problem<'_>, starts: &Starts) -> Result<Fit, OracleError> {
    match starts {
        Starts::Anywhere => {
            let centre = Prior::new(problem.family).mean;
            levenberg_marquardt::fit(problem, &centre, &levenberg_marquardt::Settings::undamped())
        }
        Starts::At(starts) => best_fit(problem, starts),
    }
}

fn best_fit(problem: &Problem<'_>, starts: &[Vec<f64>]) -> Result<Fit, OracleError> {
    let settings = levenberg_marquardt::Settings::default();
    let fits: Vec<Result<Fit, OracleError>> =
        starts.par_iter().map(|start| levenberg_marquardt::fit(problem, start, &settings)).collect();
    let better = |best: Result<Fit, OracleError>, other: Result<Fit, OracleError>| match (&best, &other) {
        (Ok(a), Ok(b)) if b.loss < a.loss => other,
        (Err(_), Ok(_)) => other,
        _ => best,
    };
    fits.into_iter().reduce(better).unwrap_or(Err(OracleError::NothingToFit))
}

impl Problem<'_> {
    /// The objective at `w`; see the module.
    pub fn loss(&self, w: &[f64]) -> f64 {
        self.loss_from(&self.residuals(w), &Prior::new(self.family).whitened(w))
    }

    fn loss_from(&self, residuals: &[f64], u: &[f64]) -> f64 {
        dot(residuals, residuals) + self.prior_weight * dot(u, u)
    }

    fn check(&self) -> Result<(), OracleError> {
        let (points, values, noises) = (self.x.rows(), self.y.len(), self.noise_std.len());
        if points != values || points != noises {
            return Err(OracleError::Mismatch { points, values, noises });
        }
        let observations = self.y.iter().zip(self.noise_std).enumerate();
        for (index, (&y, &noise_std)) in observations {
            if !(y.is_finite() && noise_std.is_finite() && noise_std > 0.0) {
                return Err(OracleError::BadObservation { index, y, noise_std });
            }
        }
        Ok(())
    }

    /// (f_w(x_i) − y_i)/s_i for each observation.
    fn residuals(&self, w: &[f64]) -> Vec<f64> {
        let observations = self.x.iter_rows().zip(self.y).zip(self.noise_std);
        observations.map(|((x, y), noise_std)| (self.family.value(w, x) - y) / noise_std).collect()
    }
}

/// The family's prior: m and p in the module's documentation.
struct Prior {
    mean: Vec<f64>,
    std: Vec<f64>,
}

impl Prior {
    fn new(family: &dyn Family) -> Self {
        let mut mean = vec![0.0; family.n_weights()];
        let mut std = mean.clone();
        family.prior_mean(&mut mean);
        family.prior_std(&mut std);
        Self { mean, std }
    }

    /// Whitened weights u = (w − m)/p.
    fn whitened(&self, w: &[f64]) -> Vec<f64> {
        let prior = self.mean.iter().zip(&self.std);
        w.iter().zip(prior).map(|(w, (mean, std))| (w - mean) / std).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Activation, Fourier, Mlp};
    use crate::optimizer::rng;

    fn grid(n: usize) -> Matrix {
        Matrix::from_fn(n, 1, |i, _| 2.0 * i as f64 / (n - 1) as f64 - 1.0)
    }

    #[test]
    fn restarts_keep_the_best_fit() {
        let family = Mlp::new(1, &[3], Activation::Tanh);
        let x = grid(12);
        let y: Vec<f64> = x.data().iter().map(|x| (9.0 * x).sin()).collect();
        let problem = Problem { family: &family, x: &x, y: &y, noise_std: &[0.02; 12], prior_weight: 1.0 };
        let starts: Vec<Vec<f64>> = {
            let mut rng = rng(1, 0);
            (0..6).map(|_| family.start(&mut rng)).collect()
        };
        let settings = levenberg_marquardt::Settings::default();
        let losses: Vec<f64> = starts
            .iter()
            .map(|start| levenberg_marquardt::fit(&problem, start, &settings).unwrap().loss)
            .collect();
        let best = losses.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(losses.iter().any(|loss| *loss > best + 0.1), "the starts do not differ: {losses:?}");
        assert_eq!(fit(&problem, &Starts::draw(&family, 6, &mut rng(1, 0))).unwrap().loss, best);
        let from_one = |start: Vec<f64>| fit(&problem, &Starts::At(vec![start]));
        assert_eq!(from_one(starts[0].clone()).unwrap().loss, losses[0]);
        let bad = vec![f64::NAN; family.n_weights()];
        assert!(fit(&problem, &Starts::At(vec![bad.clone(), starts[0].clone()])).is_ok());
        assert!(matches!(from_one(bad), Err(OracleError::BadStart { .. })));
    }

    #[test]
    fn bad_observations_are_named() {
        let family = Fourier::new(1, 8, 0);
        let x = grid(3);
        let problem = Problem {
            family: &family,
            x: &x,
            y: &[0.0, f64::INFINITY, 1.0],
            noise_std: &[0.1; 3],
            prior_weight: 1.0,
        };
        let said = |problem: Problem<'_>| {
            fit(&problem, &Starts::draw(problem.family, 1, &mut rng(0, 0))).unwrap_err().to_string()
        };
        assert_eq!(
            said(problem),
            "observation 1: y = inf with noise_std = 0.1; y must be finite, noise_std finite and above 0"
        );
        let no_noise = Problem { y: &[0.0; 3], noise_std: &[0.1, 0.1, 0.0], ..problem };
        assert!(said(no_noise).starts_with("observation 2: y = 0 with noise_std = 0;"));
        let too_few = Problem { y: &[0.0; 2], ..problem };
        assert_eq!(said(too_few), "3 points, 2 values and 3 noise levels; each point needs one of each");
    }
}
