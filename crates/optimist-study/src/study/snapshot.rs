//! A snapshot of a study beside its log, so that asking and telling take as long however many trials there are.
//!
//! It is a cache: made by whoever appends once the last one is [`EVERY`] records old, used by [`AskTell`](super::AskTell) alone,
//! and never believed against the log. The storage gives a page only if its checksum fits the record that it was made after, as
//! that is in the log now; whoever misses a page folds the log instead.

use super::{Study, whole};
use crate::error::StudyError;
use crate::event::{Event, Record, Source};
use crate::log::{Log, StudyId};
use crate::state::State;
use crate::state::brief::{Extent, FRAME};

/// Records from one snapshot to the next, of the same process; others wait twice as long for it.
const EVERY: u64 = 1000;

/// What a process knows of the snapshot.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    /// What it kept or read last.
    extent: Option<Extent>,
    /// The record at which it looks again.
    due: u64,
}

/// The state and what is known of the snapshot that it is from; `None` if there is none.
pub(super) fn brief(log: &mut dyn Log, id: StudyId) -> Result<Option<(State, Snapshot)>, StudyError> {
    let Some((head, frame)) = log.page(id, FRAME)? else { return Ok(None) };
    let state = State::brief(head, &frame);
    Ok(state.map(|state| {
        let snapshot = Snapshot { extent: Some(state.extent()), due: head + EVERY };
        (state, snapshot)
    }))
}

impl Study {
    /// Loads a trial, if it is left out.
    pub(super) fn need(&mut self, trial: usize) -> Result<(), StudyError> {
        let Some(page) = self.state.page_of(trial) else { return Ok(()) };
        match page_until(&mut *self.log, self.id, page, self.state.head()) {
            Some(bytes) if self.state.fetch(&bytes) && self.state.page_of(trial).is_none() => Ok(()),
            _ => self.complete(),
        }
    }

    /// Loads what [`State::next_many`] looks at for `k` workers.
    pub(super) fn need_for_next(&mut self, k: usize) -> Result<(), StudyError> {
        if !self.state.is_brief() {
            return Ok(());
        }
        let definition = self.state.definition();
        if definition.plan.replicates > 1 || definition.optimizer.name().starts_with("gp-") {
            return self.complete(); // these look at all trials
        }
        self.state.first_waiting(k).into_iter().try_for_each(|trial| self.need(trial))
    }

    /// Folds the whole log, unless all of it is there.
    pub(super) fn complete(&mut self) -> Result<(), StudyError> {
        if self.state.is_brief() {
            self.state = whole(&mut *self.log, self.id)?;
            self.snapshot.extent = None;
        }
        Ok(())
    }

    /// Reads what others have appended, with the trials that it is about.
    pub(super) fn refresh_brief(&mut self) -> Result<(), StudyError> {
        let mut records = Vec::new();
        let mut result = Ok(());
        self.log.read(self.id, self.state.head(), &mut |seq, body| {
            result = super::record(seq, body).map(|record| records.push(record));
            if result.is_ok() {
                std::ops::ControlFlow::Continue(())
            } else {
                std::ops::ControlFlow::Break(())
            }
        })?;
        result?;
        for record in records {
            match about(&record) {
                About::ThePast => return self.complete(),
                About::Trial(trial) => self.need(trial)?,
                About::Nothing => {}
            }
            if !self.state.is_brief() {
                return Ok(()); // everything was read
            }
            self.state.apply(record)?;
        }
        Ok(())
    }

    /// The encoded points of the first trials, and the updates of the optimizer that were left out; no points if nothing was.
    pub(super) fn recall(&mut self) -> Result<Vec<Vec<f64>>, StudyError> {
        if !self.state.is_brief() {
            return Ok(Vec::new());
        }
        let (log, id, head) = (&mut *self.log, self.id, self.state.head());
        match self.state.recall(|page| page_until(log, id, page, head)) {
            Some(points) => Ok(points),
            None => self.complete().map(|()| Vec::new()),
        }
    }

    /// Keeps a snapshot if the last one is old. What goes wrong with it is no trouble: the log has everything.
    pub(super) fn keep_snapshot(&mut self) {
        if self.state.head() >= self.snapshot.due {
            self.snapshot.due = self.state.head() + EVERY;
            let _ = self.try_to_keep();
        }
    }

    fn try_to_keep(&mut self) -> Result<(), StudyError> {
        let head = self.state.head();
        let there = self.log.page(self.id, FRAME)?.map(|(head, _)| head);
        let ours = self.snapshot.extent.filter(|extent| Some(extent.head) == there);
        if let (None, Some(there)) = (ours, there)
            && there + 2 * EVERY > head
        {
            self.snapshot.due = there + 2 * EVERY; // another process takes care of it
            return Ok(());
        }
        if head < EVERY {
            self.snapshot.due = EVERY;
            return Ok(());
        }
        self.state.changed_pages().into_iter().try_for_each(|trial| self.need(trial))?;
        let (log, id) = (&mut *self.log, self.id);
        let pages = self.state.pages(ours, |page| page_until(log, id, page, head));
        if let Some(pages) = pages
            && log.keep(id, head, there, &pages)?
        {
            self.snapshot.extent = Some(self.state.extent());
            self.state.forget_changes();
        }
        Ok(())
    }
}

/// A page, unless it knows more than the records up to `head`.
fn page_until(log: &mut dyn Log, id: StudyId, page: u64, head: u64) -> Option<Vec<u8>> {
    let (made_after, bytes) = log.page(id, page).ok()??;
    (made_after <= head).then_some(bytes)
}

/// What a record needs to be applied.
enum About {
    Nothing,
    Trial(usize),
    ThePast,
}

fn about(record: &Record) -> About {
    match record.event {
        Event::Created { .. }
        | Event::Changed { .. }
        | Event::Enqueued { .. }
        | Event::Added { .. }
        | Event::Steered { .. }
        | Event::Noted { .. } => About::Nothing,
        Event::Asked { source: Source::Replicate { of }, .. } => About::Trial(of),
        Event::Asked { .. } => About::Nothing,
        Event::Retried { trial, .. }
        | Event::Told { trial, .. }
        | Event::Failed { trial, .. }
        | Event::Requeued { trial, .. }
        | Event::Cancelled { trial } => About::Trial(trial),
        Event::Amended { .. } | Event::Widened { .. } => About::ThePast,
    }
}
