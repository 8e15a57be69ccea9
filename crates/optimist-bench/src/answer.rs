//! The answer of an optimizer: how good is the point that it would bet on, after a quarter, half and all of its trials?
//!
//! Given: what was recommended and observed so far, and the true values there. Gives: facts for the record of a run; `report`
//! judges them.

use serde::{Deserialize, Serialize};

/// What an optimizer recommended after some of its trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Trials told until then.
    pub trials: usize,
    /// The value at the recommended point, without noise. The task's worst if it fails there, or nothing is recommended.
    pub value: f64,
    /// The value, without noise, at the point with the best observation. The task's worst if every trial has failed.
    pub best_observed: f64,
    /// What the optimizer expects at the recommended point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// Standard deviation of that expectation, if the optimizer has a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub std: Option<f64>,
}

impl Answer {
    /// Whether the 95 % interval around the expected value holds the true one; `None` without an interval.
    pub fn is_covered(&self) -> Option<bool> {
        let (mean, std) = (self.mean?, self.std?);
        // Rounding is no error of judgement, where there is no noise and the point was measured.
        let rounding = 1e-9 * (mean.abs() + self.value.abs());
        Some((self.value - mean).abs() <= 1.96 * std + rounding)
    }
}

/// After how many of `rounds` trials answers are taken: a quarter, half and all, rounded up.
pub fn checkpoints(rounds: usize) -> [usize; 3] {
    [rounds.div_ceil(4), rounds.div_ceil(2), rounds]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_holds_the_truth_within_two_standard_deviations() {
        let answer =
            |value, std| Answer { trials: 9, value, best_observed: 0.0, mean: Some(1.0), std }.is_covered();
        assert_eq!(answer(1.19, Some(0.1)), Some(true));
        assert_eq!(answer(0.80, Some(0.1)), Some(false));
        assert_eq!(answer(1.0 + 1e-12, Some(0.0)), Some(true));
        assert_eq!(answer(1.0, None), None);
    }

    #[test]
    fn answers_are_taken_after_a_quarter_half_and_all() {
        assert_eq!(checkpoints(30), [8, 15, 30]);
        assert_eq!(checkpoints(1), [1, 1, 1]);
    }
}
