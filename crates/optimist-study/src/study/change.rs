//! What can be done to a study: ask, tell, cancel, enqueue, change its plan, reclaim.
//!
//! Each of these decides, from the state, what to append; `commit` appends it. So any number of processes may do any of
//! this at the same time.

use std::time::Duration;

use optimist::ENGINE_VERSION;
use optimist::space::Assignment;

use super::commit::Decision;
use super::{Job, Kept, Study};
use crate::definition::Plan;
use crate::error::StudyError;
use crate::evaluation::{Evaluation, Measured, Measurement, Values};
use crate::event::{Cause, Course, Event, FailureKind, Source};
use crate::identity::{Identity, end_orphans, is_gone};
use crate::limits::{TEXT_BYTES, cut};
use crate::outcomes::Unusable;
use crate::state::{Next, State};
use crate::suggest::check_size;
use crate::trial::{Trial, TrialState};

impl Study {
    /// The next trial, regardless of the plan and without a time limit: it has no lease.
    ///
    /// # Errors
    /// If storage cannot be used.
    pub fn ask(&mut self, worker: Option<&str>) -> Result<Job, StudyError> {
        self.ask_within(worker, None)
    }

    /// The same for a caller that must tell before the lease runs out, if there is one. The lease is not bound to this
    /// process, and nothing renews it.
    ///
    /// # Errors
    /// If storage cannot be used.
    pub fn ask_within(&mut self, worker: Option<&str>, lease: Option<Duration>) -> Result<Job, StudyError> {
        let job = self.ask_many(1, worker, lease)?.pop();
        Ok(job.expect("there is always something to do when the plan is not asked"))
    }

    /// The next `k` trials, to be measured at the same time: the model is fitted once for all of them.
    ///
    /// # Errors
    /// If storage cannot be used.
    pub fn ask_many(
        &mut self,
        k: usize,
        worker: Option<&str>,
        lease: Option<Duration>,
    ) -> Result<Vec<Job>, StudyError> {
        let owner = worker.unwrap_or(&self.identity.name).to_owned();
        let lease = lease.map(|lasts| (owner.as_str(), lasts));
        let mut jobs = Vec::new();
        while jobs.len() < k {
            let left = k - jobs.len();
            jobs.extend(self.take(worker, lease, |state| state.next_many(left))?);
        }
        Ok(jobs)
    }

    /// The next trial under the plan, with a lease; `None` if there is nothing to do, though others may still be running
    /// trials.
    ///
    /// # Errors
    /// If storage cannot be used.
    pub fn claim(&mut self) -> Result<Option<Job>, StudyError> {
        Ok(self.claim_many(1)?.pop())
    }

    /// The same for a worker elsewhere, which renews its lease by name ([`Study::renew_for`]): as long as the plan says, unless
    /// something else is said.
    ///
    /// # Errors
    /// If storage cannot be used.
    pub fn claim_for(&mut self, worker: &str, lease: Option<Duration>) -> Result<Option<Job>, StudyError> {
        let lease = lease.unwrap_or(self.state.plan().lease);
        Ok(self.take(Some(worker), Some((worker, lease)), |state| state.planned_many(1))?.pop())
    }

    /// The next trials under the plan, with leases, for `k` who wait for one: fewer, or none, if there is less to do. The model
    /// is fitted once for all of them.
    ///
    /// # Errors
    /// If storage cannot be used.
    pub fn claim_many(&mut self, k: usize) -> Result<Vec<Job>, StudyError> {
        let (Identity { name, owner }, lease) = (self.identity.clone(), self.state.plan().lease);
        self.take(Some(&name), Some((&owner, lease)), |state| state.planned_many(k))
    }

    /// Appends at once what `wanted` asks for.
    fn take(
        &mut self,
        worker: Option<&str>,
        lease: Option<(&str, Duration)>,
        wanted: impl Fn(&State) -> Vec<Next>,
    ) -> Result<Vec<Job>, StudyError> {
        let mut made: Option<Batch> = None;
        self.refresh()?;
        self.commit(|study| {
            study.need_for(&wanted)?;
            let jobs = study.jobs(wanted(&study.state), &mut made)?;
            let events = jobs.iter().map(|(job, is_new)| job.event(*is_new, worker)).collect();
            let jobs: Vec<Job> = jobs.into_iter().map(|(job, _)| job).collect();
            let trials: Vec<usize> = jobs.iter().map(|job| job.trial).collect();
            let decision = Decision::append_all(events, jobs);
            Ok(trials.into_iter().fold(decision, |decision, trial| decision.claim(trial, lease)))
        })
    }

    /// Loads what is needed to do what is wanted, which may read all of the log.
    fn need_for(&mut self, wanted: impl Fn(&State) -> Vec<Next>) -> Result<(), StudyError> {
        self.need_for_next(wanted(&self.state).len())?;
        if wanted(&self.state).contains(&Next::Suggest) {
            check_size(&self.state)?;
            self.sampler()?;
        }
        Ok(())
    }

    /// The trials to be run, and whether each is new. A batch of suggestions that was `made` before is taken if it is as good as
    /// it was: others may have told, but nobody has asked.
    fn jobs(&mut self, wanted: Vec<Next>, made: &mut Option<Batch>) -> Result<Vec<(Job, bool)>, StudyError> {
        let first = self.state.n_trials();
        let (mut jobs, mut before, mut n_suggested) = (Vec::new(), Vec::new(), 0);
        for next in wanted {
            let (source, params) = match next {
                Next::Retry(trial) => {
                    let Trial { params, source, why, .. } = self.trial(trial)?.clone();
                    jobs.push((Job { trial, params, source, why }, false));
                    continue;
                }
                Next::Enqueued(params) => (Source::Enqueued, params),
                Next::Replicate(of) => (Source::Replicate { of }, self.trial(of)?.params.clone()),
                Next::Suggest => {
                    n_suggested += 1;
                    continue;
                }
            };
            jobs.push((Job { trial: first + before.len(), params: params.clone(), source, why: None }, true));
            before.push(params);
        }
        if n_suggested == 0 {
            return Ok(jobs);
        }
        let is_as_good = |made: &Batch| made.first == first && made.before == before;
        let batch = match made.take().filter(|made| is_as_good(made) && made.jobs.len() >= n_suggested) {
            Some(made) => made,
            None => self.suggest(first, before, n_suggested)?,
        };
        jobs.extend(batch.jobs.iter().take(n_suggested).map(|job| (job.clone(), true)));
        *made = Some(batch);
        Ok(jobs)
    }

    /// Suggestions for `n` trials that are proposed together with those from `first` on, whose parameters are `before`.
    fn suggest(&mut self, first: usize, before: Vec<Assignment>, n: usize) -> Result<Batch, StudyError> {
        let (sampler, state) = self.sampler()?;
        let gain = state.plan().min_gain.and_then(|_| sampler.expected_gain());
        let source = |trial: usize| Source::Suggested {
            seen: state.head(),
            gain: gain.filter(|gain| gain.is_finite()),
            engine: (state.engine() != ENGINE_VERSION).then_some(ENGINE_VERSION),
            since: (trial > first).then_some(first),
        };
        let trials = first + before.len()..first + before.len() + n;
        let suggested = sampler.suggest_many(&before, trials.clone(), state)?;
        let job = |(trial, (params, why))| Job { trial, params, source: source(trial), why: Some(why) };
        Ok(Batch { first, before, jobs: trials.zip(suggested).map(job).collect() })
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
        let evaluation = match evaluation.into() {
            Evaluation::Measured(measured) => Evaluation::Measured(check(trial, measured, &self.state)?),
            other => other.usable(self.state.outcomes()),
        };
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
                Evaluation::Failed { kind, reason, stderr, known } => {
                    let (reason, stderr) = (cut(reason), stderr.map(cut));
                    Event::Failed { trial, kind, reason, stderr, known, seconds }
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
        if let Some((_, problem)) = self.state.outcomes().misfits(&plan).into_iter().next() {
            return Err(StudyError::Unsuitable { name: self.name().to_owned(), problem });
        }
        self.commit(|study| {
            if *study.state.plan() == plan {
                return Ok(Decision::leave(()));
            }
            Ok(Decision::append(Event::Changed { plan: Box::new(plan.clone()) }, ()))
        })
    }

    /// Has runs pause, stop or resume; whether that is new. Whoever asks by hand is not held up.
    ///
    /// # Errors
    /// If storage cannot be written.
    pub fn steer(&mut self, course: Course) -> Result<Kept, StudyError> {
        self.refresh()?;
        self.commit(|study| {
            if study.state.course() == course {
                return Ok(Decision::leave(Kept::Already));
            }
            Ok(Decision::append(Event::Steered { course }, Kept::Stored))
        })
    }

    /// Writes something about a trial, or about the whole study, in place of what was written there before; nothing if the text
    /// is empty. Markdown.
    ///
    /// # Errors
    /// If there is no such trial, the text is too long, or storage cannot be written.
    pub fn annotate(&mut self, trial: Option<usize>, text: &str) -> Result<Kept, StudyError> {
        let text = text.trim();
        if text.len() > TEXT_BYTES {
            return Err(StudyError::LongNote { bytes: text.len(), most: TEXT_BYTES });
        }
        self.refresh()?;
        self.commit(|study| {
            if let Some(number) = trial.filter(|&number| number >= study.state.n_trials()) {
                study.trial(number)?;
            }
            if study.state.note(trial).map_or("", |note| note.text.as_str()) == text {
                return Ok(Decision::leave(Kept::Already));
            }
            Ok(Decision::append(Event::Noted { trial, text: text.to_owned() }, Kept::Stored))
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

    /// Renews the leases that a worker elsewhere holds on these trials.
    ///
    /// # Errors
    /// If storage cannot be written.
    pub fn renew_for(
        &mut self,
        worker: &str,
        trials: &[usize],
        lease: Option<Duration>,
    ) -> Result<(), StudyError> {
        let lasts = lease.unwrap_or(self.state.plan().lease);
        Ok(self.log.renew(self.id, trials, worker, lasts)?)
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
            true => format!("{worker} was not heard from before its lease ran out"),
            false => format!("{worker} ended without reporting"),
        };
        let number = trial.number;
        if trial.attempts < self.state.plan().max_attempts {
            return Event::Requeued { trial: number, cause: Cause::Lost, reason };
        }
        let reason = format!("{reason}; that was attempt {}", trial.attempts);
        let kind = FailureKind::Lost;
        Event::Failed { trial: number, kind, reason, stderr: None, known: None, seconds: None }
    }

    pub(super) fn trial(&self, trial: usize) -> Result<&Trial, StudyError> {
        self.state.trial(trial).ok_or_else(|| StudyError::NoTrial {
            study: self.name().to_owned(),
            trial,
            n_trials: self.state.n_trials(),
        })
    }
}

/// Suggestions for trials that are proposed at the same time.
struct Batch {
    /// The first of these trials.
    first: usize,
    /// Enqueued points, which come first.
    before: Vec<Assignment>,
    jobs: Vec<Job>,
}

impl Job {
    /// What the log says of it.
    fn event(&self, is_new: bool, worker: Option<&str>) -> Event {
        let (trial, worker) = (self.trial, worker.map(str::to_owned));
        if !is_new {
            return Event::Retried { trial, worker };
        }
        let (params, source, why) = (self.params.clone(), self.source, self.why.clone());
        Event::Asked { trial, params, source, worker, why }
    }
}

/// What was measured as it is stored, if it can be.
pub(super) fn check(trial: usize, measured: Measurement, state: &State) -> Result<Measurement, StudyError> {
    if let Values::One(Measured { value, noise_std }) = measured.values
        && state.outcomes().is_one()
    {
        match noise_std.filter(|std| !std.is_finite() || *std < 0.0) {
            _ if !value.is_finite() => return Err(StudyError::NotFinite { trial, value }),
            Some(noise_std) => return Err(StudyError::BadNoise { trial, noise_std }),
            None => {}
        }
        return match measured.excess() {
            Some(problem) => Err(StudyError::TooLarge { trial, problem }),
            None => Ok(measured),
        };
    }
    let checked = state.outcomes().check(measured);
    checked.map_err(|Unusable { reason, .. }| StudyError::BadOutcome { trial, problem: reason })
}

fn is_nothing_new(known: &Trial, evaluation: &Evaluation) -> bool {
    match evaluation {
        Evaluation::Measured(measured) => {
            known.measurements.iter().any(|other| other.values.is_same(&measured.values))
        }
        Evaluation::Failed { .. } => known.has_ended(),
        Evaluation::Stopped { .. } => known.state != TrialState::Running,
    }
}
