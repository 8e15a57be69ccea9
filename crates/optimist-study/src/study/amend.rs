//! What can be done about what a study has already: amend a trial, put it back, widen the space.
//!
//! The log keeps what it said before. Like everything else that can be done to a study, each of these decides from the
//! state what to append.

use optimist::space::{Assignment, Space};

use super::change::check;
use super::commit::Decision;
use super::{Kept, Study};
use crate::error::StudyError;
use crate::event::{Amendment, Event};
use crate::limits::cut;
use crate::trial::{Trial, TrialState};

impl Study {
    /// Corrects a trial that has ended: it was run with other values of some parameters, those in `with`, or something else came
    /// of it. The optimizer learns as if this had been told in the first place. What is so already is not stored again.
    ///
    /// # Errors
    /// If there is no such trial, it has not ended, the point is not in the space, the value is not finite, or storage cannot
    /// be written.
    pub fn amend(
        &mut self,
        trial: usize,
        with: &Assignment,
        outcome: Option<Amendment>,
        reason: Option<&str>,
    ) -> Result<Kept, StudyError> {
        let outcome = match outcome {
            Some(Amendment::Measured(measured)) => {
                Some(Amendment::Measured(check(trial, measured, &self.state)?))
            }
            Some(Amendment::Failed { reason, known }) => {
                let known = known.and_then(|known| self.state.outcomes().known(*known)).map(Box::new);
                Some(Amendment::Failed { reason, known })
            }
            outcome => outcome,
        };
        self.refresh()?;
        self.commit(|study| {
            let known = study.trial(trial)?;
            if !known.has_ended() {
                return Err(StudyError::NotEnded { trial, state: known.state.word() });
            }
            let params = study.really_used(known, with)?;
            let outcome = outcome.clone().filter(|outcome| !is_so(known, outcome));
            if params.is_none() && outcome.is_none() {
                return Ok(Decision::leave(Kept::Already));
            }
            let reason = reason.map(|reason| cut(reason.to_owned()));
            Ok(Decision::append(Event::Amended { trial, params, outcome, reason }, Kept::Stored))
        })
    }

    /// Puts trials back that failed or were cancelled: they are run again, and the optimizer forgets how they ended. Gives
    /// those that were put back; one that waits already is not among them.
    ///
    /// # Errors
    /// If there is no such trial, one runs or has a value, or storage cannot be written. None is put back then.
    pub fn retry(&mut self, trials: &[usize]) -> Result<Vec<usize>, StudyError> {
        self.refresh()?;
        self.commit(|study| {
            let mut back = Vec::new();
            for &trial in trials {
                match study.trial(trial)?.state {
                    TrialState::Failed | TrialState::Cancelled if back.contains(&trial) => {}
                    TrialState::Failed | TrialState::Cancelled => back.push(trial),
                    TrialState::Waiting => {}
                    state @ (TrialState::Running | TrialState::Complete) => {
                        return Err(StudyError::NotFailed { trial, state: state.word() });
                    }
                }
            }
            let outcome = Some(Amendment::Waiting);
            let amended =
                |&trial| Event::Amended { trial, params: None, outcome: outcome.clone(), reason: None };
            Ok(Decision::append_all(back.iter().map(amended).collect(), back))
        })
    }

    /// Goes on in a wider space: bounds that are further out, choices that were added. Nothing happens if it is the same. Gives
    /// what changed, in words.
    ///
    /// # Errors
    /// If it is not a wider space in which every trial has its place, or storage cannot be written.
    pub fn widen(&mut self, space: &Space) -> Result<Vec<String>, StudyError> {
        self.refresh()?;
        self.commit(|study| {
            if study.state.definition().space == *space {
                return Ok(Decision::leave(Vec::new()));
            }
            let name = || study.name().to_owned();
            let changes = study.state.widening(space);
            let changes = changes.map_err(|problem| StudyError::NotWider { name: name(), problem })?;
            Ok(Decision::append(Event::Widened { space: Box::new(space.clone()) }, changes))
        })
    }

    /// The point of a trial with some values replaced; `None` if that is the point that the log has.
    pub(super) fn really_used(
        &self,
        known: &Trial,
        with: &Assignment,
    ) -> Result<Option<Assignment>, StudyError> {
        let space = self.state.encoding().space();
        let params = replaced(space, &known.params, with);
        space.check(&params)?;
        Ok((params != known.params).then_some(params))
    }
}

/// `params` with the values in `with`, in the order of declaration; without those of parameters that are inactive then.
fn replaced(space: &Space, params: &Assignment, with: &Assignment) -> Assignment {
    let value = |name: &str| with.get(name).or_else(|| params.get(name));
    let is_active = |name: &str| {
        space.get(name).is_some_and(|parameter| {
            parameter.when.iter().all(|condition| value(&condition.parameter) == Some(&condition.value))
        })
    };
    let declared = space.parameters().iter().map(|parameter| parameter.name.as_str());
    let kept = declared.filter(|name| with.get(name).is_some() || is_active(name));
    let known = kept.filter_map(|name| Some((name, value(name)?.clone())));
    let unknown = with.iter().filter(|(name, _)| space.get(name).is_none());
    known.chain(unknown.map(|(name, value)| (name, value.clone()))).collect()
}

/// Whether the log says so already.
fn is_so(known: &Trial, outcome: &Amendment) -> bool {
    match outcome {
        Amendment::Measured(measured) => known.measurements == [measured.clone()],
        Amendment::Failed { reason, known: measured } => {
            known.state == TrialState::Failed
                && known
                    .failure
                    .as_ref()
                    .is_some_and(|failure| failure.reason == *reason && failure.known == *measured)
        }
        Amendment::Cancelled => known.state == TrialState::Cancelled,
        Amendment::Waiting => known.state == TrialState::Waiting,
    }
}
