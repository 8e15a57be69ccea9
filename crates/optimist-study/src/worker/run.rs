//! What the workers of a run share: the study, its leases, and why to stop.
//!
//! Given: how trials ended, and the wish to stop. Gives: whether the run is over, and why. Does not know: how a trial is
//! claimed, measured or stored.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use super::gathered::Gathered;
use super::leases::Leases;
use super::{Ending, lock};
use crate::evaluation::{Evaluation, StartError};
use crate::interrupt::Interrupt;
use crate::outcomes::Outcomes;
use crate::study::Study;
use crate::trial::{Failure, Trial, TrialState};

/// A command that failed in the same way this often, and never worked, will not work.
const HOPELESS: usize = 5;

/// What the workers of a run share.
pub(super) struct Run<'a> {
    pub interrupt: &'a Interrupt,
    pub outcomes: Outcomes,
    max_failures: Option<usize>,
    deadline: Option<Instant>,
    pub study: Mutex<Study>,
    /// Storage could be used so far.
    pub has_begun: AtomicBool,
    /// In a row.
    n_failures: AtomicUsize,
    /// The failures of this run if all its trials failed alike, none of the study has a value, and the plan sets no limit.
    alike: Mutex<Option<Vec<Failure>>>,
    pub leases: Leases,
    pub gathered: Gathered,
    /// Why to stop, once there is a reason.
    pub ending: Mutex<Option<Ending>>,
}

impl<'a> Run<'a> {
    pub fn new(study: Study, workers: usize, interrupt: &'a Interrupt) -> Self {
        let plan = study.state().plan();
        let is_unproven = plan.max_failures.is_none() && !study.state().has_values();
        Self {
            interrupt,
            outcomes: study.state().outcomes().clone(),
            max_failures: plan.max_failures,
            deadline: plan.max_time.and_then(|time| Instant::now().checked_add(time)),
            leases: Leases::new(&study, workers),
            gathered: Gathered::default(),
            study: Mutex::new(study),
            has_begun: AtomicBool::new(false),
            n_failures: AtomicUsize::new(0),
            alike: Mutex::new(is_unproven.then(Vec::new)),
            ending: Mutex::new(None),
        }
    }

    /// Sets the reason to stop, unless there already is one.
    pub fn end(&self, ending: Ending) {
        lock(&self.ending).get_or_insert(ending);
    }

    pub fn is_over(&self) -> bool {
        if self.interrupt.is_requested() {
            self.end(Ending::Interrupted);
        } else if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.end(Ending::TimeUp);
        }
        lock(&self.ending).is_some()
    }

    /// Stops; what that means for the trial at hand.
    pub fn cannot_start(&self, error: StartError) -> Evaluation {
        let reason = error.to_string();
        self.end(Ending::CannotStart(error));
        Evaluation::Stopped { reason }
    }

    /// Stops after too many failures in a row, or if the first trials all failed in the same way.
    pub fn count(&self, trial: &Trial) {
        match trial.state {
            TrialState::Complete => {
                self.n_failures.store(0, Ordering::Relaxed);
                *lock(&self.alike) = None;
            }
            TrialState::Failed => {
                self.compare(trial);
                let n = self.n_failures.fetch_add(1, Ordering::Relaxed) + 1;
                if self.max_failures.is_some_and(|max| n >= max) {
                    let last =
                        trial.failure.as_ref().map_or_else(String::new, |failure| failure.explanation());
                    self.end(Ending::Failures { n, last });
                }
            }
            TrialState::Running | TrialState::Waiting | TrialState::Cancelled => {}
        }
    }

    /// Stops if this is another failure like all those before it, once there are enough.
    fn compare(&self, trial: &Trial) {
        let mut alike = lock(&self.alike);
        let (Some(failures), Some(failure)) = (&mut *alike, &trial.failure) else { return };
        let is_alike =
            failures.last().is_none_or(|last| (last.kind, &last.reason) == (failure.kind, &failure.reason));
        if !is_alike {
            *alike = None;
            return;
        }
        failures.push(failure.clone());
        if failures.len() == HOPELESS {
            self.end(Ending::Hopeless { n: HOPELESS, last: failure.explanation() });
        }
    }
}

/// A worker leaves when this is dropped. Unless it is done, it leaves by an error or a panic, and the others stop.
pub(super) struct Leaving<'a> {
    pub run: &'a Run<'a>,
    pub is_done: bool,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        if !self.is_done {
            self.run.end(Ending::Interrupted);
        }
        self.run.leases.leave();
    }
}
