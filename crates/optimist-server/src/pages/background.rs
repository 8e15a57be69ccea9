//! Answers that take too long for a page to wait for: computed in the background, one at a time for each question, and cached.
//!
//! A page waits only a moment, and otherwise shows the last answer with the number of the record it is based on. When there are too many
//! answers, the one that nobody has asked for the longest is dropped.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::studies::lock;

/// An answer that took time t to compute is computed again after `REST` times t at the earliest, and at least `SHORTEST`.
const REST: u32 = 3;
/// The shortest pause between two computations of an answer.
const SHORTEST: Duration = Duration::from_millis(400);

/// The most answers to keep.
const MOST_KEPT: usize = 64;

/// An answer, as far as it has been computed.
#[derive(Debug)]
pub enum Found<A> {
    /// Computed from the log up to record `head`.
    Ready { answer: Arc<A>, head: u64 },
    /// Being computed.
    Pending,
    /// It could not be computed; the message is for users.
    Failed(String),
}

impl<A> Found<A> {
    /// The record that the answer is based on; 0 without one.
    pub fn head(&self) -> u64 {
        match self {
            Self::Ready { head, .. } => *head,
            Self::Pending | Self::Failed(_) => 0,
        }
    }
}

/// Answers by question.
pub struct Background<Q, A> {
    slots: Mutex<HashMap<Q, Slot<A>>>,
    changed: Condvar,
}

struct Slot<A> {
    found: Option<(u64, Result<Arc<A>, String>)>,
    is_running: bool,
    not_before: Instant,
    asked: Instant,
}

impl<Q, A> Default for Background<Q, A> {
    fn default() -> Self {
        Self { slots: Mutex::default(), changed: Condvar::new() }
    }
}

impl<Q, A> Background<Q, A>
where
    Q: Eq + Hash + Clone + Send + 'static,
    A: Send + Sync + 'static,
{
    /// The answer as of record `head`, or the latest older one. `find_out` computes it and returns it with the record it is based on.
    /// Blocks for up to `patience`; call it inside the runtime, on a thread that may block.
    pub fn of(
        self: &Arc<Self>,
        question: Q,
        head: u64,
        patience: Duration,
        find_out: impl FnOnce() -> Result<(u64, A), String> + Send + 'static,
    ) -> Found<A> {
        let now = Instant::now();
        let mut slots = lock(&self.slots);
        forget(&mut slots);
        let slot = slots.entry(question.clone()).or_insert(Slot {
            found: None,
            is_running: false,
            not_before: now,
            asked: now,
        });
        slot.asked = now;
        let is_current = slot.found.as_ref().is_some_and(|(known, _)| *known >= head);
        if !is_current && !slot.is_running && now >= slot.not_before {
            slot.is_running = true;
            let (background, question) = (self.clone(), question.clone());
            tokio::runtime::Handle::current().spawn_blocking(move || background.keep(&question, find_out));
        }
        let is_worth_waiting = |slots: &mut HashMap<Q, Slot<A>>| {
            let is_due = |slot: &Slot<A>| slot.found.as_ref().is_none_or(|(known, _)| *known < head);
            slots.get(&question).is_some_and(|slot| slot.is_running && is_due(slot))
        };
        let waited = self.changed.wait_timeout_while(slots, patience, is_worth_waiting);
        let (slots, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match slots.get(&question).and_then(|slot| slot.found.as_ref()) {
            Some((head, Ok(answer))) => Found::Ready { answer: answer.clone(), head: *head },
            Some((_, Err(problem))) => Found::Failed(problem.clone()),
            None => Found::Pending,
        }
    }

    /// Whether an answer as of record `head` is there, or being computed, or too early to compute again.
    pub fn knows(&self, question: &Q, head: u64) -> bool {
        lock(&self.slots).get(question).is_some_and(|slot| {
            slot.is_running
                || Instant::now() < slot.not_before
                || slot.found.as_ref().is_some_and(|(known, _)| *known >= head)
        })
    }

    fn keep(&self, question: &Q, find_out: impl FnOnce() -> Result<(u64, A), String>) {
        let start = Instant::now();
        // After a panic, nobody should wait for ever.
        let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(find_out));
        let found = found.unwrap_or_else(|_| {
            Err("internal error; the server's log has the details, please report it as a bug".to_owned())
        });
        if let Some(slot) = lock(&self.slots).get_mut(question) {
            slot.is_running = false;
            slot.not_before = Instant::now() + (start.elapsed() * REST).max(SHORTEST);
            slot.found = Some(match found {
                Ok((head, answer)) => (head, Ok(Arc::new(answer))),
                Err(problem) => (0, Err(problem)),
            });
        }
        self.changed.notify_all();
    }
}

fn forget<Q: Eq + Hash + Clone, A>(slots: &mut HashMap<Q, Slot<A>>) {
    while slots.len() >= MOST_KEPT {
        let idle = slots.iter().filter(|(_, slot)| !slot.is_running);
        let Some(oldest) = idle.min_by_key(|(_, slot)| slot.asked).map(|(question, _)| question.clone())
        else {
            return;
        };
        slots.remove(&oldest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn an_answer_is_found_once_and_an_old_one_is_shown_meanwhile() {
        let background = Arc::new(Background::<u8, u64>::default());
        let ask = |head, pause: u64, patience: u64| {
            let background = background.clone();
            tokio::task::spawn_blocking(move || {
                background.of(1, head, Duration::from_millis(patience), move || {
                    std::thread::sleep(Duration::from_millis(pause));
                    Ok((head, 10 * head))
                })
            })
        };
        assert!(matches!(ask(7, 300, 0).await.unwrap(), Found::Pending));
        let Found::Ready { answer, head: 7 } = ask(7, 0, 60_000).await.unwrap() else { panic!() };
        assert_eq!(*answer, 70);
        // At rest: the old answer is shown, with its record.
        let Found::Ready { head: 7, .. } = ask(8, 0, 0).await.unwrap() else { panic!() };
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_panic_is_an_answer() {
        let background = Arc::new(Background::<u8, u64>::default());
        let found = tokio::task::spawn_blocking(move || {
            background.of(1, 1, Duration::from_secs(60), || panic!("on purpose"))
        });
        assert!(matches!(found.await.unwrap(), Found::Failed(_)));
    }
}
