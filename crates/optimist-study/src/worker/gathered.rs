//! Trials for the workers of a process that wait for one: whoever comes to the study first claims for all of them, so that the
//! model is fitted once and one append is waited for.
//!
//! Given: how many wait. Gives: a trial to each. Does not know: how a trial is claimed.

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::lock;
use crate::study::Job;

/// Workers that wait for the study, and trials that were claimed for them.
#[derive(Default)]
pub(super) struct Gathered {
    n_waiting: AtomicUsize,
    jobs: Mutex<VecDeque<Job>>,
}

/// A worker that waits for the study, until it has been served or this is dropped.
pub(super) struct Waiting<'a> {
    gathered: &'a Gathered,
    is_counted: Cell<bool>,
}

impl Gathered {
    /// A worker begins to wait for the study, which others may be using.
    pub fn wait(&self) -> Waiting<'_> {
        self.n_waiting.fetch_add(1, Ordering::SeqCst);
        Waiting { gathered: self, is_counted: Cell::new(true) }
    }
}

impl Waiting<'_> {
    /// A trial for a worker that has the study to itself: one that was claimed for it, or the first of those that `claim` gives
    /// when it is told how many wait. The others are left for these.
    pub fn take<E>(&self, claim: impl FnOnce(usize) -> Result<Vec<Job>, E>) -> Result<Option<Job>, E> {
        let mut jobs = lock(&self.gathered.jobs);
        if jobs.is_empty() {
            jobs.extend(claim(self.gathered.n_waiting.load(Ordering::SeqCst))?);
        }
        self.leave(); // before the next worker counts: a trial that is claimed for nobody would stay behind
        Ok(jobs.pop_front())
    }

    fn leave(&self) {
        if self.is_counted.replace(false) {
            self.gathered.n_waiting.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use optimist::space::Assignment;

    use crate::event::Source;

    fn job(trial: usize) -> Job {
        Job { trial, params: Assignment::default(), source: Source::Enqueued, why: None }
    }

    #[test]
    fn the_first_claims_for_all_that_wait() {
        let gathered = Gathered::default();
        let (first, second, third) = (gathered.wait(), gathered.wait(), gathered.wait());
        let claim = |n| Ok::<_, ()>((0..n).map(job).collect());
        assert_eq!(first.take(claim), Ok(Some(job(0))));
        drop(first);
        let never = |_| Err(());
        assert_eq!(second.take(never), Ok(Some(job(1))));
        assert_eq!(third.take(never), Ok(Some(job(2))));
        drop((second, third));
        assert_eq!(gathered.wait().take(|n| Ok::<_, ()>(vec![job(n)])), Ok(Some(job(1))), "one waits");
    }

    #[test]
    fn who_has_a_trial_is_not_claimed_for_again() {
        let gathered = Gathered::default();
        let claim = |n| Ok::<_, ()>((0..n).map(job).collect());
        let served = gathered.wait();
        assert_eq!(served.take(claim), Ok(Some(job(0))));
        let second = gathered.wait();
        assert_eq!(
            second.take(|n| Ok::<_, ()>(vec![job(n)])),
            Ok(Some(job(1))),
            "the first is served, though it is still there"
        );
        let failing = gathered.wait();
        assert_eq!(failing.take(|_| Err(())), Err(()));
        assert_eq!(
            failing.take(|n| Ok::<_, ()>(vec![job(n)])),
            Ok(Some(job(1))),
            "what failed is tried again"
        );
    }
}
