//! A study for those who ask and tell and do not look around: nothing is loaded that these two don't need.

use std::time::Duration;

use optimist::space::Assignment;

use super::{Job, Kept, Study, find, of_name, snapshot, whole};
use crate::definition::Definition;
use crate::error::StudyError;
use crate::evaluation::Evaluation;
use crate::log::Storage;
use crate::trial::Trial;

/// A study that can be asked and told, as fast with 100,000 trials as with 1,000 where a snapshot is kept beside the log: in
/// SQLite files and PostgreSQL.
pub struct AskTell {
    study: Study,
}

impl AskTell {
    /// Opens a study that is there.
    ///
    /// # Errors
    /// If it is not, or its log cannot be read.
    pub fn open(storage: &Storage, name: &str) -> Result<Self, StudyError> {
        let (mut log, id) = find(storage, name)?;
        let (state, snapshot) = match snapshot::brief(&mut *log, id)? {
            Some(brief) => brief,
            None => (whole(&mut *log, id)?, snapshot::Snapshot::default()),
        };
        let state = of_name(name, storage, state)?;
        let mut study = Study { snapshot, ..Study::with(storage, log, id, state, None) };
        study.refresh()?;
        Ok(Self { study })
    }

    /// What the study is about, with the plan as it is now.
    pub fn definition(&self) -> &Definition {
        self.study.state.definition()
    }

    /// How many trials the plan has paid for.
    pub fn n_counted(&self) -> usize {
        self.study.state.n_counted()
    }

    /// See [`Study::reclaim`].
    ///
    /// # Errors
    /// If storage cannot be used.
    pub fn reclaim(&mut self) -> Result<Vec<usize>, StudyError> {
        self.study.reclaim()
    }

    /// See [`Study::ask_within`].
    ///
    /// # Errors
    /// If storage cannot be used.
    pub fn ask_within(&mut self, worker: Option<&str>, lease: Option<Duration>) -> Result<Job, StudyError> {
        self.study.ask_within(worker, lease)
    }

    /// See [`Study::ask_many`].
    ///
    /// # Errors
    /// If storage cannot be used.
    pub fn ask_many(
        &mut self,
        k: usize,
        worker: Option<&str>,
        lease: Option<Duration>,
    ) -> Result<Vec<Job>, StudyError> {
        self.study.ask_many(k, worker, lease)
    }

    /// See [`Study::tell_with`].
    ///
    /// # Errors
    /// If there is no such trial, what is told cannot be stored, or storage cannot be written.
    pub fn tell_with(
        &mut self,
        trial: usize,
        evaluation: impl Into<Evaluation>,
        seconds: Option<f64>,
        with: &Assignment,
    ) -> Result<Kept, StudyError> {
        self.study.tell_with(trial, evaluation, seconds, with)
    }

    /// See [`Study::cancel`].
    ///
    /// # Errors
    /// If there is no such trial, it has ended, or storage cannot be written.
    pub fn cancel(&mut self, trial: usize) -> Result<(), StudyError> {
        self.study.cancel(trial)
    }

    /// A trial by its number.
    ///
    /// # Errors
    /// If there is none, or storage cannot be read.
    pub fn trial(&mut self, number: usize) -> Result<&Trial, StudyError> {
        self.study.need(number)?;
        self.study.trial(number)
    }

    /// The trial with the best value observed, the first of equals, and its value.
    ///
    /// # Errors
    /// If storage cannot be read.
    pub fn best_observed(&mut self) -> Result<Option<(usize, f64)>, StudyError> {
        if let Some(best) = self.study.state.best_value() {
            return Ok(best);
        }
        self.study.complete()?;
        let best = self.study.state.best_observed();
        Ok(best.and_then(|trial| Some((trial.number, trial.value()?))))
    }
}
