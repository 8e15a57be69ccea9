//! What an optimizer is: a rule that turns what has happened into the next point to try.
//!
//! Given: the history and a generator. Gives: a suggestion, and in the end the point to bet on. A policy owns neither: the
//! history belongs to an [`Optimizer`](crate::Optimizer), which folds what happens into it.
//!
//! The contract: a suggestion is a pure function of the history, of what the policy remembers of it, and of the generator. What
//! is remembered is a fold too ([`Policy::remember`]). So a policy that is given the record of a run, and was never asked for
//! anything, suggests what the original does, bit for bit. A cache may save time and must change nothing.

use std::any::Any;

use serde::{Deserialize, Serialize};

use crate::history::History;
use crate::optimizer::{Observation, Recommendation, Rng};
use crate::outcomes::{self, Candidate};

/// A point to try next, and why this one.
#[derive(Debug, Clone, PartialEq)]
pub struct Suggestion {
    /// The encoded point.
    pub x: Vec<f64>,
    /// How it was found.
    pub why: Why,
}

/// How a suggested point was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Why {
    /// No model was asked: a uniform or evenly spread point, as in Phase I of GO-UCB.
    Explore,
    /// Phase II of GO-UCB: the best point under the most optimistic weights of the confidence ball.
    Optimism {
        /// The family of functions that explained the data best.
        family: String,
        /// √β_t: how many standard deviations of optimism it took.
        radius: f64,
    },
    /// The best point once more: two values at one point tell noise from an objective that is rough.
    Repeat,
    /// Another optimizer's model chose it.
    Model {
        /// By what, such as "expected improvement".
        rule: String,
    },
    /// A model should have chosen it and could not: it was drawn at random instead.
    Random {
        /// What went wrong.
        because: String,
    },
    /// A reason that a later version of Optimist has recorded.
    #[serde(other)]
    Unknown,
}

impl Suggestion {
    /// A point that no model has chosen.
    pub fn explore(x: Vec<f64>) -> Self {
        Self { x, why: Why::Explore }
    }

    /// A point that a model has chosen by this rule.
    pub fn by_model(x: Vec<f64>, rule: &str) -> Self {
        Self { x, why: Why::Model { rule: rule.to_owned() } }
    }

    /// A point drawn at random, for want of a better one.
    pub fn random(x: Vec<f64>, because: impl ToString) -> Self {
        Self { x, why: Why::Random { because: because.to_string() } }
    }
}

/// As users read it, in a few words.
impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Explore => f.write_str("exploration"),
            Self::Optimism { family, radius } => write!(f, "optimism under {family}, radius {radius:.2}"),
            Self::Repeat => f.write_str("repeated, to measure the noise"),
            Self::Model { rule } => f.write_str(rule),
            Self::Random { because } => write!(f, "drawn at random: {because}"),
            Self::Unknown => f.write_str("unknown to this version"),
        }
    }
}

/// What has just happened to a history.
#[derive(Debug, Clone, Copy)]
pub enum Change<'a> {
    /// This point is going to be tried.
    Proposed(&'a [f64]),
    /// This is what became of a point.
    Told(&'a Observation),
    /// This point's outcome will never be told.
    Withdrawn(&'a [f64]),
}

/// What a policy remembers beside the history, as it was at some moment; `None` of a policy that remembers nothing.
pub type Memory = Option<Box<dyn Any + Send>>;

/// Suggests points, given what has happened.
pub trait Policy: Send {
    /// A point to try next: never one that is pending while there is anything else to suggest. No later suggestion depends on
    /// whether this one was made.
    fn suggest(&self, history: &History, rng: &mut Rng) -> Suggestion;

    /// Folds a change, which `history` has already, into what is remembered beside the history. Most policies remember nothing.
    fn remember(&mut self, _change: Change<'_>, _history: &History) {}

    /// A copy of what it remembers.
    fn memory(&self) -> Memory {
        None
    }

    /// Remembers what [`Policy::memory`] gave, and nothing that has happened since.
    fn restore(&mut self, _memory: Memory) {}

    /// The point to bet on; `None` before the first value.
    fn recommend(&self, history: &History) -> Option<Recommendation> {
        history.best()
    }

    /// The best points so far, best first, none twice: by what the model expects, where there is one. `n` of them, or fewer
    /// if there are no more.
    fn ranking(&self, history: &History, n: usize) -> Vec<Recommendation> {
        history.ranking(n)
    }

    /// Points that every outcome was measured at, each once, and what is believed of them: those that may be among the best.
    fn candidates(&self, history: &History) -> Vec<Candidate> {
        outcomes::measured(history)
    }

    /// By how much the best value is expected to rise with the next trial, on the scale of the observations; `None` for a policy
    /// that cannot say.
    fn expected_gain(&self, _history: &History) -> Option<f64> {
        None
    }

    /// What a user should know before trusting the suggestions, as whole sentences: an assumption that does not hold. Empty as a
    /// rule.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }
}

impl Policy for Box<dyn Policy> {
    fn suggest(&self, history: &History, rng: &mut Rng) -> Suggestion {
        (**self).suggest(history, rng)
    }

    fn remember(&mut self, change: Change<'_>, history: &History) {
        (**self).remember(change, history);
    }

    fn memory(&self) -> Memory {
        (**self).memory()
    }

    fn restore(&mut self, memory: Memory) {
        (**self).restore(memory);
    }

    fn recommend(&self, history: &History) -> Option<Recommendation> {
        (**self).recommend(history)
    }

    fn ranking(&self, history: &History, n: usize) -> Vec<Recommendation> {
        (**self).ranking(history, n)
    }

    fn candidates(&self, history: &History) -> Vec<Candidate> {
        (**self).candidates(history)
    }

    fn expected_gain(&self, history: &History) -> Option<f64> {
        (**self).expected_gain(history)
    }

    fn warnings(&self) -> Vec<String> {
        (**self).warnings()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_written_as_it_is_read_and_one_of_a_later_version_is_survived() {
        let reasons = [
            (Why::Explore, r#"{"phase":"explore"}"#),
            (
                Why::Optimism { family: "anova".into(), radius: 0.5 },
                r#"{"phase":"optimism","family":"anova","radius":0.5}"#,
            ),
            (Why::Model { rule: "evolution".into() }, r#"{"phase":"model","rule":"evolution"}"#),
            (Why::Random { because: "of rain".into() }, r#"{"phase":"random","because":"of rain"}"#),
        ];
        for (why, json) in reasons {
            assert_eq!(serde_json::to_string(&why).unwrap(), json);
            assert_eq!(serde_json::from_str::<Why>(json).unwrap(), why);
        }
        let later: Why = serde_json::from_str(r#"{"phase":"telepathy","by":"Ada"}"#).unwrap();
        assert_eq!(later, Why::Unknown);
    }
}
