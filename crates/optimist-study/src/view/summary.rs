//! A study in a list of studies.

use serde::Serialize;

use crate::definition::Direction;
use crate::log::Storage;
use crate::state::State;
use crate::study::Study;
use crate::trial::{Trial, TrialState};

/// A study in short.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StudySummary {
    /// Its name.
    pub study: String,
    /// Which way is better.
    pub direction: Direction,
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
    /// How many somebody runs.
    pub running: usize,
    /// The best value observed, in the user's direction.
    pub best_value: Option<f64>,
    /// When the study began: milliseconds since 1970.
    pub created_at: u64,
}

/// A study of a storage. One that cannot be opened does not hide the others.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ListedStudy {
    /// It can be looked at.
    Readable(StudySummary),
    /// It cannot.
    Unreadable {
        /// Its name.
        study: String,
        /// Why.
        error: String,
    },
}

impl StudySummary {
    /// The study as it stands.
    pub fn new(state: &State) -> Self {
        Self {
            study: state.definition().name.clone(),
            direction: state.definition().direction,
            trials: state.trials().len(),
            done: state.n_done(),
            planned: state.plan().trials,
            complete: state.count(TrialState::Complete),
            failed: state.count(TrialState::Failed),
            running: state.running().count(),
            best_value: state.best_observed().and_then(Trial::value),
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
