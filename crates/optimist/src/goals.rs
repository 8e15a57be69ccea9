//! Goals: for each outcome of a trial, to be as large as possible, or at least some bound.
//!
//! Given: a goal for each outcome, in a fixed order. Gives: which outcomes are traded off, which are bounded, and whether values
//! meet the bounds. Does not know: names, directions (larger is always better), models.

use serde::{Deserialize, Serialize};

/// The goal for one outcome; larger is better.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "goal", rename_all = "snake_case")]
pub enum Goal {
    /// Maximise the outcome.
    Maximize {
        /// The value from which hypervolumes are measured where several outcomes are traded off: smaller values count nothing.
        /// Inferred if `None`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reference: Option<f64>,
    },
    /// Keep the outcome at or above a bound.
    AtLeast {
        /// The smallest value that meets the goal; larger ones are no better.
        bound: f64,
    },
}

/// Goals for all outcomes of a trial, in the order in which they are told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Goal>", into = "Vec<Goal>")]
pub struct Goals(Vec<Goal>);

/// Goals that can't be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GoalsError {
    /// There are no outcomes.
    #[error("there is no outcome; a trial has from 1 to {} of them", Goals::MAX)]
    Empty,
    /// There are more outcomes than [`Goals::MAX`].
    #[error("there are {n} outcomes; a trial has from 1 to {} of them", Goals::MAX)]
    TooMany {
        /// How many outcomes there are.
        n: usize,
    },
    /// A reference or a bound is NaN or infinite.
    #[error("outcome {index}: {value} is not finite; give a finite reference or bound")]
    NotFinite {
        /// The index of the outcome, from 0.
        index: usize,
        /// The offending value.
        value: f64,
    },
}

impl Goals {
    /// Most outcomes of a trial.
    pub const MAX: usize = 8;

    /// One goal for each outcome.
    ///
    /// # Errors
    /// If there is none or more than [`Goals::MAX`], or a reference or bound is not finite.
    pub fn new(goals: Vec<Goal>) -> Result<Self, GoalsError> {
        match goals.len() {
            0 => return Err(GoalsError::Empty),
            n if n > Self::MAX => return Err(GoalsError::TooMany { n }),
            _ => {}
        }
        for (index, goal) in goals.iter().enumerate() {
            match *goal {
                Goal::Maximize { reference: Some(value) } | Goal::AtLeast { bound: value }
                    if !value.is_finite() =>
                {
                    return Err(GoalsError::NotFinite { index, value });
                }
                Goal::Maximize { .. } | Goal::AtLeast { .. } => {}
            }
        }
        Ok(Self(goals))
    }

    /// One outcome, to be maximised.
    pub fn single() -> Self {
        Self(vec![Goal::Maximize { reference: None }])
    }

    /// Whether there is one outcome, to be maximised: goals that every method supports.
    pub fn is_single(&self) -> bool {
        matches!(self.0.as_slice(), [Goal::Maximize { .. }])
    }

    /// The goals, outcome by outcome.
    pub fn as_slice(&self) -> &[Goal] {
        &self.0
    }

    /// The number of outcomes, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "there is always at least one")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The indices of the outcomes to maximise.
    pub fn maximized(&self) -> Vec<usize> {
        let is_maximized = |k: &usize| matches!(self.0[*k], Goal::Maximize { .. });
        (0..self.0.len()).filter(is_maximized).collect()
    }

    /// The indices of the outcomes with a bound, and these bounds.
    pub fn bounds(&self) -> impl Iterator<Item = (usize, f64)> {
        let bound = |(k, goal): (usize, &Goal)| match *goal {
            Goal::AtLeast { bound } => Some((k, bound)),
            Goal::Maximize { .. } => None,
        };
        self.0.iter().enumerate().filter_map(bound)
    }

    /// The references of the outcomes to maximise, in order.
    pub fn references(&self) -> Vec<Option<f64>> {
        let reference = |goal: &Goal| match *goal {
            Goal::Maximize { reference } => Some(reference),
            Goal::AtLeast { .. } => None,
        };
        self.0.iter().filter_map(reference).collect()
    }

    /// The values of the outcomes to maximise, out of those of all outcomes.
    pub fn traded(&self, values: &[f64]) -> Vec<f64> {
        self.maximized().into_iter().map(|k| values[k]).collect()
    }

    /// By how much values, one for each outcome, miss their bounds, added up; 0 if they are feasible.
    pub fn violation(&self, values: &[f64]) -> f64 {
        self.bounds().map(|(k, bound)| (bound - values[k]).max(0.0)).sum()
    }

    /// Whether values, one for each outcome, meet every bound.
    pub fn are_met_by(&self, values: &[f64]) -> bool {
        self.bounds().all(|(k, bound)| values[k] >= bound)
    }
}

impl Default for Goals {
    fn default() -> Self {
        Self::single()
    }
}

impl TryFrom<Vec<Goal>> for Goals {
    type Error = GoalsError;

    fn try_from(goals: Vec<Goal>) -> Result<Self, GoalsError> {
        Self::new(goals)
    }
}

impl From<Goals> for Vec<Goal> {
    fn from(goals: Goals) -> Self {
        goals.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UP: Goal = Goal::Maximize { reference: None };

    #[test]
    fn from_one_to_eight_outcomes_with_finite_numbers_are_goals() {
        assert_eq!(Goals::new(Vec::new()), Err(GoalsError::Empty));
        assert_eq!(Goals::new(vec![UP; 9]), Err(GoalsError::TooMany { n: 9 }));
        assert!(Goals::new(vec![UP; 8]).is_ok());
        let refused = Goals::new(vec![UP, Goal::AtLeast { bound: f64::NEG_INFINITY }]);
        assert_eq!(refused, Err(GoalsError::NotFinite { index: 1, value: f64::NEG_INFINITY }));
        assert!(Goals::new(vec![Goal::Maximize { reference: Some(f64::NAN) }]).is_err());
        assert_eq!(Goals::new(vec![UP]), Ok(Goals::single()));
    }

    #[test]
    fn bounds_are_met_by_what_reaches_them() {
        let goals =
            Goals::new(vec![Goal::AtLeast { bound: 2.0 }, UP, Goal::AtLeast { bound: -1.0 }]).unwrap();
        assert!(!goals.is_single());
        assert_eq!((goals.maximized(), goals.bounds().collect()), (vec![1], vec![(0, 2.0), (2, -1.0)]));
        assert!(goals.are_met_by(&[2.0, -9.0, -1.0]) && !goals.are_met_by(&[1.9, 9.0, 0.0]));
        assert_eq!(goals.violation(&[1.5, 0.0, -3.0]), 2.5);
        assert_eq!(goals.traded(&[1.0, 2.0, 3.0]), [2.0]);
    }

    #[test]
    fn goals_are_written_as_a_list_and_checked_when_they_are_read() {
        let goals =
            Goals::new(vec![Goal::Maximize { reference: Some(1.0) }, Goal::AtLeast { bound: 2.0 }]).unwrap();
        let text = r#"[{"goal":"maximize","reference":1.0},{"goal":"at_least","bound":2.0}]"#;
        assert_eq!(serde_json::to_string(&goals).unwrap(), text);
        assert_eq!(serde_json::from_str::<Goals>(text).unwrap(), goals);
        assert!(serde_json::from_str::<Goals>("[]").unwrap_err().to_string().contains("from 1 to 8"));
    }
}
