//! The leases on what workers of this process measure, renewed for as long as they do.

use std::collections::BTreeSet;
use std::sync::mpsc::Sender;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::{Notice, lock};
use crate::identity::Identity;
use crate::log::{Log, Storage, StorageError, StudyId};
use crate::study::Study;

/// Leases on trials of one study.
pub(super) struct Leases {
    storage: Storage,
    study: StudyId,
    owner: String,
    held: Mutex<Held>,
    /// A worker has left.
    left: Condvar,
}

struct Held {
    trials: BTreeSet<usize>,
    lasts: Duration,
    n_workers: usize,
}

impl Leases {
    pub fn new(study: &Study, n_workers: usize) -> Self {
        let lasts = study.state().plan().lease;
        Self {
            storage: study.storage().clone(),
            study: study.id(),
            owner: Identity::current().owner,
            held: Mutex::new(Held { trials: BTreeSet::new(), lasts, n_workers }),
            left: Condvar::new(),
        }
    }

    /// A trial is measured here from now on.
    pub fn hold(&self, trial: usize, lasts: Duration) {
        let mut held = lock(&self.held);
        held.trials.insert(trial);
        held.lasts = lasts;
    }

    /// It no longer is.
    pub fn release(&self, trial: usize) {
        lock(&self.held).trials.remove(&trial);
    }

    /// How many of the trials that are `running` are measured elsewhere, and may one day be left to be done here. What
    /// workers here put back, they take up themselves.
    pub fn n_elsewhere(&self, running: &[usize]) -> usize {
        let held = lock(&self.held);
        running.iter().filter(|trial| !held.trials.contains(trial)).count()
    }

    /// A worker measures no more.
    pub fn leave(&self) {
        lock(&self.held).n_workers -= 1;
        self.left.notify_all();
    }

    /// Renews what is held, three times as often as needed, until all workers have left.
    pub fn renew(&self, notices: &Sender<Notice>) {
        let mut log = None;
        let mut held = lock(&self.held);
        while held.n_workers > 0 {
            let every = held.lasts / 3;
            held = self.left.wait_timeout(held, every).unwrap_or_else(PoisonError::into_inner).0;
            let (trials, lasts): (Vec<usize>, Duration) = (held.trials.iter().copied().collect(), held.lasts);
            if trials.is_empty() || held.n_workers == 0 {
                continue;
            }
            drop(held);
            if let Err(error) = self.renew_once(&mut log, &trials, lasts) {
                let _ = notices.send(Notice::Trouble(format!("could not renew a lease: {error}")));
            }
            held = lock(&self.held);
        }
    }

    /// Over the connection that there is, or else a new one.
    fn renew_once(
        &self,
        log: &mut Option<Box<dyn Log>>,
        trials: &[usize],
        lasts: Duration,
    ) -> Result<(), StorageError> {
        let connection = match log.take() {
            Some(connection) => connection,
            None => self.storage.connect()?,
        };
        log.insert(connection).renew(self.study, trials, &self.owner, lasts)
    }
}
