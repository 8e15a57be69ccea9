//! Policies: rules that turn what has happened into the next point to try.
//!
//! Given: the history and a generator. Gives: a suggestion, and in the end the recommended point. A policy owns neither: the
//! history belongs to an [`Optimizer`](crate::Optimizer), which updates it.
//!
//! The contract: a suggestion is a pure function of the history, of the policy's memory, and of the generator. What it
//! remembers is a fold over the history too ([`Policy::remember`]). So a policy that is given the record of a run, and was never
//! asked for anything, suggests what the original does, bit for bit. A cache may save time and must not change anything.

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
    /// Without a model: a uniform or evenly spread point, as in Phase I of GO-UCB.
    Explore,
    /// Phase II of GO-UCB: the best point under the most optimistic weights of the confidence ball.
    Optimism {
        /// The family of functions that explained the data best.
        family: String,
        /// √β_t: how many standard deviations of optimism it took to choose this point.
        radius: f64,
    },
    /// The best point once more: two values at one point distinguish noise from an objective that is rough.
    Repeat,
    /// The model of another optimizer chose it.
    Model {
        /// The criterion, such as "expected improvement".
        rule: String,
    },
    /// Drawn at random, because the model could not choose a point.
    Random {
        /// Why it could not.
        because: String,
    },
    /// A reason that only a later version of Optimist knows.
    #[serde(other)]
    Unknown,
}

impl Suggestion {
    /// A point chosen without a model.
    pub fn explore(x: Vec<f64>) -> Self {
        Self { x, why: Why::Explore }
    }

    /// A point that a model chose by this criterion.
    pub fn by_model(x: Vec<f64>, rule: &str) -> Self {
        Self { x, why: Why::Model { rule: rule.to_owned() } }
    }

    /// A point that was tried before, to measure the noise there.
    pub(crate) fn repeat(x: Vec<f64>) -> Self {
        Self { x, why: Why::Repeat }
    }

    /// A point drawn at random because no model could choose one.
    pub fn random(x: Vec<f64>, because: impl ToString) -> Self {
        Self { x, why: Why::Random { because: because.to_string() } }
    }

    /// What a search found; a random point if everything it found has been tried, or if it failed.
    pub(crate) fn or_random(
        found: Result<Option<Self>, impl ToString>,
        history: &History,
        rng: &mut Rng,
    ) -> Self {
        match found {
            Ok(Some(suggestion)) => suggestion,
            Ok(None) => Self::random(history.fresh_uniform(rng), "every point that was found has been tried"),
            Err(failure) => Self::random(history.fresh_uniform(rng), failure),
        }
    }
}

/// A few words for users.
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

/// A change of a history.
#[derive(Debug, Clone, Copy)]
pub enum Change<'a> {
    /// This point was proposed.
    Proposed(&'a [f64]),
    /// This observation was told.
    Told(&'a Observation),
    /// This point was withdrawn.
    Withdrawn(&'a [f64]),
}

/// A copy of what a policy remembers in addition to the history; `None` if it remembers nothing.
pub type Memory = Option<Box<dyn Any + Send>>;

/// Suggests points, given what has happened.
pub trait Policy: Send {
    /// A point to try next. Never one that is pending, unless there is nothing else to suggest. Later suggestions must not depend
    /// on whether this one was made.
    fn suggest(&self, history: &History, rng: &mut Rng) -> Suggestion;

    /// Updates what the policy remembers after a change, which `history` has already. Most policies remember nothing.
    fn remember(&mut self, _change: Change<'_>, _history: &History) {}

    /// A copy of what the policy remembers.
    fn memory(&self) -> Memory {
        None
    }

    /// Restores what [`Policy::memory`] returned, forgetting what has happened since.
    fn restore(&mut self, _memory: Memory) {}

    /// The recommended point; `None` before the first value.
    fn recommend(&self, history: &History) -> Option<Recommendation> {
        history.best()
    }

    /// The best `n` points so far, best first, without repeats; fewer if there are no more. Ranked by what the model expects, if
    /// there is one.
    fn ranking(&self, history: &History, n: usize) -> Vec<Recommendation> {
        history.ranking(n)
    }

    /// The points that may be among the best, out of those where every outcome was measured, without repeats; with the expected
    /// values of all outcomes.
    fn candidates(&self, history: &History) -> Vec<Candidate> {
        outcomes::measured(history)
    }

    /// The expected improvement of the best value with the next trial, on the scale of the observations; `None` if the policy
    /// doesn't know.
    fn expected_gain(&self, _history: &History) -> Option<f64> {
        None
    }

    /// What a user should know before trusting the suggestions, as complete sentences: assumptions that don't hold. Usually empty.
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
