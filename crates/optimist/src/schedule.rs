//! n, λ and β_t: how long Phase I lasts, how strongly weights are held to ŵ_0, how wide Ball_t is.
//!
//! Given: the horizon T of Phase II, the number of weights d_w, what is assumed of the objective. Gives: λ, and β_t for
//! rounds t = 1..T. Does not know: data, families, points.
//!
//! The paper has two schedules: the one its experiments used (appendix, "Implementation of GO-UCB") and the one its proofs are
//! about ([`proof`]). The default preset has neither: its prior is learnt from the data, and its ball is as small as possible.

pub mod proof;

pub use proof::{Constants, Proof, Warning};

/// The length n of Phase I out of `trials`: the shortest with n ≥ √T for the remaining T = `trials` − n.
pub fn explore_trials(trials: usize) -> usize {
    let n = trials.isqrt();
    if n * n + n >= trials { n } else { n + 1 }
}

/// λ and β_t for a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Schedule {
    /// The paper's experiments: λ = √T log² T, β_t = d_w³ F⁴ t/T.
    Paper {
        /// F: |f| is at most this.
        range: f64,
        /// T, the number of rounds of Phase II.
        horizon: usize,
        /// d_w, the number of weights.
        n_weights: usize,
    },
    /// The paper's theorem.
    Theory(Proof),
}

impl Schedule {
    /// λ, the weight of ‖w − ŵ_0‖² (eq. 4).
    pub fn lambda(&self) -> f64 {
        match self {
            Self::Paper { horizon, .. } => {
                let horizon = (*horizon).max(2) as f64; // log 1 is no regularization at all
                horizon.sqrt() * horizon.ln().powi(2)
            }
            Self::Theory(proof) => proof.lambda(),
        }
    }

    /// β_t, the squared radius of the ball of round t = 1..T, not decreasing in t.
    pub fn beta_t(&self, t: usize) -> f64 {
        match self {
            Self::Paper { range, horizon, n_weights } => {
                (*n_weights as f64).powi(3) * range.powi(4) * t as f64 / (*horizon).max(1) as f64
            }
            Self::Theory(proof) => proof.beta_t(t),
        }
    }
}

/// Checks F of the paper's experiments.
///
/// # Errors
/// If it is not finite or not above 0.
pub fn check_range(range: f64) -> Result<(), ScheduleError> {
    check("range", range, range > 0.0, ABOVE_ZERO)
}

/// A schedule that cannot be computed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// A setting out of its range.
    #[error("schedule setting `{name}` is {value}; {expected}")]
    OutOfRange {
        /// The name of the setting.
        name: &'static str,
        /// The value it was given.
        value: f64,
        /// What it must be.
        expected: &'static str,
    },
}

const ABOVE_ZERO: &str = "it must be finite and above 0";

fn check(name: &'static str, value: f64, holds: bool, expected: &'static str) -> Result<(), ScheduleError> {
    if value.is_finite() && holds { Ok(()) } else { Err(ScheduleError::OutOfRange { name, value, expected }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_experiments_have_the_appendix_s_numbers() {
        let assert_close = |got: f64, expected: f64| {
            assert!((got / expected - 1.0).abs() < 1e-12, "got {got}, expected {expected}");
        };
        let paper = |range| Schedule::Paper { range, horizon: 25, n_weights: 551 };
        assert_close(paper(1.0).lambda(), 5.0 * 25f64.ln().powi(2));
        let betas = [paper(1.0).beta_t(25), paper(1.0).beta_t(1), paper(2.0).beta_t(25)];
        let expected = [1.0, 0.04, 16.0].map(|factor| factor * 551f64.powi(3));
        betas.iter().zip(expected).for_each(|(beta, expected)| assert_close(*beta, expected));
    }

    #[test]
    fn phase_one_is_the_shortest_that_covers_the_root_of_the_rest() {
        assert_eq!([0, 1, 2, 3, 6, 7, 30, 110].map(explore_trials), [0, 1, 1, 2, 2, 3, 5, 10]);
        for trials in 0..500 {
            let n = explore_trials(trials);
            assert!(n * n >= trials - n && (n == 0 || (n - 1) * (n - 1) < trials - (n - 1)));
        }
    }
}
