//! What can be done to a study: ask, tell, cancel, enqueue, change its plan, reclaim.
//!
//! Each of these decides, from the state, what to append; `commit` appends it. So any number of processes may do any of
//! this at the same time.

use std::time::Duration;

use optimist::space::Assignment;
use optimist::{ENGINE_VERSION, Why};

use super::commit::Decision;
use super::{Job, Kept, Study};
use crate::definition::Plan;
use crate::error::StudyError;
use crate::evaluation::{Evaluation, Measurement};
use crate::event::{Cause, Event, FailureKind, Source};
use crate::identity::{Identity, end_orphans, is_gone};
use crate::limits::cut;
use crate::state::{Next, State};
use crate::suggest::check_size;
use crate::trial::{Trial, TrialState};

impl Study {
    /// The next trial, whatever the plan says, for somebody who takes as long as it takes: it has no lease.
    ///
    /// # Errors
    /// If storage cannot be used.
    pub fn ask(&mut self, worker: Option<&str>) -> Result<Job, StudyError> {
        self.ask_within(worker, None)
    }

    /// The same for somebody who must tell before the lease has run out, if there is one. The lease is not bound to this
    /// process, and nothing renews it.
    ///
    /// # Errors
    /// If storage cannot be used.
    pub fn ask_within(&mut self, worker: Option<&str>, lease: Option<Duration>) -> Result<Job, StudyError> {
        let owner = worker.unwrap_or(&self.identity.name).to_owned();
        let lease = lease.map(|lasts| (owner.as_str(), lasts));
        let job = self.take(worker, lease, |state| Some(state.next()))?;
        Ok(job.expect("there is always something to do when the plan is not asked"))
    }

    /// The next trial under the plan, with a lease; `None` if there is nothing to do, though others may still be running
    /// trials.
    ///
    /// # Errors
    /// If storage cannot be used.
    pub fn claim(&mut self) -> Result<Option<Job>, StudyError> {
        let (Identity { name, owner }, lease) = (self.identity.clone(), self.state.plan().lease);
        self.take(Some(&name), Some((&owner, lease)), State::planned)
    }

    fn take(
        &mut self,
        worker: Option<&str>,
        lease: Option<(&str, Duration)>,
        next: impl Fn(&State) -> Option<Next>,
    ) -> Result<Option<Job>, StudyError> {
        let worker = worker.map(str::to_owned);
        let mut suggestion: Option<Job> = None;
        self.refresh()?;
        self.commit(|study| {
            study.need_for_next()?;
            let trial = study.state.n_trials();
            let (source, params, why) = match next(&study.state) {
                None => return Ok(Decision::leave(None)),
                Some(Next::Retry(trial)) => {
                    let known = study.trial(trial)?;
                    let (params, why) = (known.params.clone(), known.why.clone());
                    let job = Job { trial, params, source: known.source, why };
                    let retried = Event::Retried { trial, worker: worker.clone() };
                    return Ok(Decision::append(retried, Some(job)).claim(trial, lease));
                }
                Some(Next::Enqueued(params)) => (Source::Enqueued, params, None),
                Some(Next::Replicate(of)) => {
                    (Source::Replicate { of }, study.trial(of)?.params.clone(), None)
                }
                Some(Next::Suggest) => match suggestion.take().filter(|made| made.trial == trial) {
                    // Others have told, but nobody has asked: it is as good as it was.
                    Some(made) => (made.source, made.params, made.why),
                    None => study.suggest(trial)?,
                },
            };
            let job = Job { trial, params, source, why };
            suggestion = matches!(source, Source::Suggested { .. }).then(|| job.clone());
            let (params, worker, why) = (job.params.clone(), worker.clone(), job.why.clone());
            let asked = Event::Asked { trial, params, source, worker, why };
            Ok(Decision::append(asked, Some(job)).claim(trial, lease))
        })
    }

    fn suggest(&mut self, trial: usize) -> Result<(Source, Assignment, Option<Why>), StudyError> {
        check_size(&self.state)?;
        let (sampler, state) = self.sampler()?;
        let gain = state.plan().min_gain.and_then(|_| sampler.expected_gain());
        let source = Source::Suggested {
            seen: state.head(),
            gain: gain.filter(|gain| gain.is_finite()),
            engine: (state.engine() != ENGINE_VERSION).then_some(ENGINE_VERSION),
        };
        let (params, why) = sampler.suggest(trial, state);
        Ok((source, params, Some(why)))
    }

    /// Stores what came of a trial: a value, a failure, or that it was stopped.
    ///
    /// A value may come late: it completes a trial that has none, and is a further measurement of one that has. The same
    /// value a second time is nothing new. A trial that was stopped is put back, as if it had not been started; so is one that
    /// failed and wants another attempt, if it may have one.
    ///
    /// # Errors
    /// If there is no such trial, the value is not finite, or storage cannot be written.
    pub fn tell(
        &mut self,
        trial: usize,
        evaluation: impl Into<Evaluation>,
        seconds: Option<f64>,
    ) -> Result<Kept, StudyError> {
        self.tell_with(trial, evaluation, seconds, &Assignment::default())
    }

    /// The same for a trial that was run with other values of some parameters, those in `with`, than it was asked for.
    ///
    /// # Errors
    /// Also if the point is not in the space, or the trial has a value that was measured at another point.
    pub fn tell_with(
        &mut self,
        trial: usize,
        evaluation: impl Into<Evaluation>,
        seconds: Option<f64>,
        with: &Assignment,
    ) -> Result<Kept, StudyError> {
        let evaluation = evaluation.into();
        check(trial, &evaluation)?;
        self.refresh()?;
        self.commit(|study| {
            study.need(trial)?;
            let known = study.trial(trial)?;
            let params = if with.is_empty() { None } else { study.really_used(known, with)? };
            if params.is_some() && !known.measurements.is_empty() {
                return Err(StudyError::OtherPoint { trial });
            }
            if is_nothing_new(known, &evaluation) {
                return Ok(Decision::leave(Kept::Already));
            }
            let may_retry = known.attempts < study.state.plan().max_attempts;
            let event = match evaluation.clone() {
                Evaluation::Measured(measured) => Event::Told { trial, measured, seconds },
                Evaluation::Failed { kind: FailureKind::Retried, reason, .. } if may_retry => {
                    Event::Requeued { trial, cause: Cause::Retry, reason: cut(reason) }
                }
                Evaluation::Failed { kind, reason, stderr } => {
                    Event::Failed { trial, kind, reason: cut(reason), stderr: stderr.map(cut), seconds }
                }
                Evaluation::Stopped { reason } => Event::Requeued { trial, cause: Cause::Stopped, reason },
            };
            let amended = params.map(|params| Event::Amended {
                trial,
                params: Some(params),
                outcome: None,
                reason: None,
            });
            let events = amended.into_iter().chain([event]).collect();
            Ok(Decision::append_all(events, Kept::Stored).release(trial))
        })
    }

    /// Gives a trial up: nobody will measure it, and it does not count.
    ///
    /// # Errors
    /// If there is no such trial, it has ended, or storage cannot be written.
    pub fn cancel(&mut self, trial: usize) -> Result<(), StudyError> {
        self.refresh()?;
        self.commit(|study| {
            study.need(trial)?;
            let known = study.trial(trial)?;
            if known.has_ended() {
                let state = known.state.word();
                return Err(StudyError::HasEnded { trial, state, wanted: "cancelled" });
            }
            Ok(Decision::append(Event::Cancelled { trial }, ()).release(trial))
        })
    }

    /// Puts a point in the queue: it is tried before the optimizer is asked again.
    ///
    /// # Errors
    /// If it is not in the space, or storage cannot be written.
    pub fn enqueue(&mut self, params: &Assignment) -> Result<(), StudyError> {
        self.state.encoding().space().check(params)?;
        self.refresh()?;
        self.commit(|_| Ok(Decision::append(Event::Enqueued { params: params.clone() }, ())))
    }

    /// Goes on with another plan; nothing happens if it is the same.
    ///
    /// # Errors
    /// If storage cannot be written.
    pub fn change(&mut self, plan: Plan) -> Result<(), StudyError> {
        self.refresh()?;
        self.commit(|study| {
            if *study.state.plan() == plan {
                return Ok(Decision::leave(()));
            }
            Ok(Decision::append(Event::Changed { plan: Box::new(plan.clone()) }, ()))
        })
    }

    /// Renews the leases of trials that this process has claimed; a lease lasts as long as the plan says, from now on.
    ///
    /// # Errors
    /// If storage cannot be written.
    pub fn renew(&mut self, trials: &[usize]) -> Result<(), StudyError> {
        let lasts = self.state.plan().lease;
        Ok(self.log.renew(self.id, trials, &self.identity.owner, lasts)?)
    }

    /// Puts back the trials of workers that are not heard of any more, or fails those that were started often enough.
    /// Gives the trials whose workers are: these may still be put back one day.
    ///
    /// # Errors
    /// If storage cannot be used.
    pub fn reclaim(&mut self) -> Result<Vec<usize>, StudyError> {
        self.commit(|study| {
            let mut decision = Decision::leave(Vec::new());
            for lease in study.log.leases(study.id)? {
                let trial = lease.trial;
                study.need(trial)?;
                let known = study.state.trial(trial);
                let Some(known) = known.filter(|known| known.state == TrialState::Running) else { continue };
                let is_gone = is_gone(&lease.owner);
                if is_gone {
                    end_orphans(&lease.owner); // before anybody can start the trial again
                }
                if lease.has_expired || is_gone {
                    decision.events.push(study.lost(known, lease.has_expired));
                    decision = decision.release(trial);
                } else {
                    decision.result.push(trial);
                }
            }
            Ok(decision)
        })
    }

    fn lost(&self, trial: &Trial, has_expired: bool) -> Event {
        let worker = trial.worker.as_deref().unwrap_or("its worker");
        let reason = match has_expired {
            true => format!("{worker} was not heard of before its lease ran out"),
            false => format!("{worker} has ended without a word"),
        };
        let number = trial.number;
        if trial.attempts < self.state.plan().max_attempts {
            return Event::Requeued { trial: number, cause: Cause::Lost, reason };
        }
        let reason = format!("{reason}; that was attempt {}", trial.attempts);
        Event::Failed { trial: number, kind: FailureKind::Lost, reason, stderr: None, seconds: None }
    }

    pub(super) fn trial(&self, trial: usize) -> Result<&Trial, StudyError> {
        self.state.trial(trial).ok_or_else(|| StudyError::NoTrial {
            study: self.name().to_owned(),
            trial,
            n_trials: self.state.n_trials(),
        })
    }
}

/// Whether a value is one that can be stored.
pub(super) fn check(trial: usize, evaluation: &Evaluation) -> Result<(), StudyError> {
    let Evaluation::Measured(measured) = evaluation else { return Ok(()) };
    let Measurement { value, noise_std, .. } = *measured;
    match noise_std.filter(|std| !std.is_finite() || *std < 0.0) {
        _ if !value.is_finite() => Err(StudyError::NotFinite { trial, value }),
        Some(noise_std) => Err(StudyError::BadNoise { trial, noise_std }),
        None => match measured.excess() {
            Some(problem) => Err(StudyError::TooLarge { trial, problem }),
            None => Ok(()),
        },
    }
}

fn is_nothing_new(known: &Trial, evaluation: &Evaluation) -> bool {
    match evaluation {
        Evaluation::Measured(measured) => {
            known.measurements.iter().any(|other| other.value.to_bits() == measured.value.to_bits())
        }
        Evaluation::Failed { .. } => known.has_ended(),
        Evaluation::Stopped { .. } => known.state != TrialState::Running,
    }
}
