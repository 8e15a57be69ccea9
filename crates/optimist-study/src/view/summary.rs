//! A study in a list of studies.

use serde::Serialize;

use crate::definition::Direction;
use crate::log::Storage;
use crate::outcomes::NamedOutcome;
use crate::state::State;
use crate::study::Study;
use crate::trial::{Trial, TrialState};

/// A study in short.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StudySummary {
    /// Name of the study.
    pub study: String,
    /// Which way is better; `None` if the outcomes have names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// What is measured and what is wanted of it, if the outcomes have names.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub outcomes: Vec<NamedOutcome>,
    /// How many trials there are, imported and cancelled ones included.
    pub trials: usize,
    /// How many of those that the plan pays for have ended.
    pub done: usize,
    /// How many trials are planned.
    pub planned: usize,
    /// How many have a value.
    pub complete: usize,
    /// How many have none and will have none.
    pub failed: usize,
    /// Number of running trials.
    pub running: usize,
    /// The best value observed, in the user's direction: of several outcomes the goal's, in a feasible trial.
    pub best_value: Option<f64>,
    /// How many trials are on the front of what was observed, if there are several goals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub front: Option<usize>,
    /// Whether any trial keeps all constraints, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feasible: Option<bool>,
    /// When the study began: milliseconds since 1970.
    pub created_at: u64,
}

/// A study of a storage. One that cannot be opened does not hide the others.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ListedStudy {
    /// It can be looked at.
    Readable(StudySummary),
    /// It cannot be opened.
    Unreadable {
        /// Name of the study.
        study: String,
        /// Why it cannot be opened.
        error: String,
    },
}

impl StudySummary {
    /// The current status of the study.
    pub fn new(state: &State) -> Self {
        let outcomes = state.outcomes();
        let goal = outcomes.goal().map(|goal| goal.name.as_str());
        let is_feasible = |trial: &Trial| state.is_feasible(trial) == Some(true);
        let any_feasible =
            || state.trials().iter().any(|one| !one.measurements.is_empty() && is_feasible(one));
        Self {
            study: state.definition().name.clone(),
            direction: outcomes.one_direction(),
            outcomes: if outcomes.is_one() { Vec::new() } else { outcomes.all().to_vec() },
            trials: state.trials().len(),
            done: state.n_done(),
            planned: state.plan().trials,
            complete: state.count(TrialState::Complete),
            failed: state.count(TrialState::Failed),
            running: state.running().count(),
            best_value: state.best_observed().and_then(|best| best.value_of(goal?)),
            front: state.observed_front().map(|front| front.trials.len()),
            feasible: outcomes.has_constraints().then(any_feasible),
            created_at: state.created_at(),
        }
    }
}

impl ListedStudy {
    /// Looks at the study of that name.
    pub fn new(storage: &Storage, name: &str) -> Self {
        match Study::open(storage, name) {
            Ok(study) => Self::Readable(StudySummary::new(study.state())),
            Err(error) => Self::Unreadable { study: name.to_owned(), error: error.to_string() },
        }
    }
}
