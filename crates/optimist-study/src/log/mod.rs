//! Where logs are kept.
//!
//! A backend does little: *append these records if the head is still at N*, *read after N*, list and delete. Beside the log
//! it keeps leases: who runs which trial, and until when to believe so. Meaning is none of its business: to a backend
//! a record is a text with a number.
//!
//! Backends: `memory` for tests and try-outs, `sqlite` for one machine, `postgres` for many, `http` for a server that has one of these. Any other [`Log`] can be
//! handed in as a [`Backend`]; [`contract`] says what it must do, and checks it.

#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod chain;
pub mod contract;
mod error;
#[cfg(feature = "http")]
mod http;
mod memory;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;
mod storage;

use std::ops::ControlFlow;
use std::time::Duration;

pub use error::StorageError;
pub use storage::{Backend, Notify, Storage};

/// A connection to storage. Several may be open at the same time, in one process or in many.
pub trait Log: Send {
    /// The studies there are, by name.
    ///
    /// # Errors
    /// If storage cannot be read.
    fn studies(&mut self) -> Result<Vec<Entry>, StorageError>;

    /// Begins a study with its first record; `None` if there is one of that name.
    ///
    /// # Errors
    /// If storage cannot be written.
    fn create(&mut self, name: &str, first: &str) -> Result<Option<StudyId>, StorageError>;

    /// Appends `bodies` as records head + 1, head + 2, … and makes the changes to leases with them: all or nothing.
    ///
    /// # Errors
    /// If storage cannot be written.
    fn append(
        &mut self,
        study: StudyId,
        head: u64,
        bodies: &[String],
        leases: &[LeaseChange],
    ) -> Result<Appended, StorageError>;

    /// Gives the records after `after` to `each`, in order, with their numbers, until that says stop.
    ///
    /// # Errors
    /// If storage cannot be read, or what is there is not what was written: a record was changed, is missing, or is of another
    /// study.
    fn read(
        &mut self,
        study: StudyId,
        after: u64,
        each: &mut dyn FnMut(u64, &str) -> ControlFlow<()>,
    ) -> Result<(), StorageError>;

    /// The studies that have records, whatever is left of the list that [`Log::studies`] reads.
    ///
    /// # Errors
    /// If storage cannot be read.
    fn traces(&mut self) -> Result<Vec<StudyId>, StorageError> {
        Ok(self.studies()?.into_iter().map(|entry| entry.id).collect())
    }

    /// Gives every record to `each` that can still be read and is what was written, as far as that can be told, in order: damage
    /// is left out, and not an error.
    ///
    /// # Errors
    /// If storage cannot be read for another reason.
    fn salvage(&mut self, study: StudyId, each: &mut dyn FnMut(u64, &str)) -> Result<(), StorageError> {
        let all = &mut |seq, body: &str| {
            each(seq, body);
            ControlFlow::Continue(())
        };
        match self.read(study, 0, all) {
            Err(StorageError::Damaged { .. }) => Ok(()),
            result => result,
        }
    }

    /// Looks for damage that reading alone may not notice. Only SQLite can say more than its records' checksums do.
    ///
    /// # Errors
    /// If there is any.
    fn check(&mut self) -> Result<(), StorageError> {
        Ok(())
    }

    /// A page that was kept last beside the log of a study, and the record that it was made after. `None` if there is none, or that
    /// record is not what it was when the page was made.
    ///
    /// # Errors
    /// If storage cannot be read.
    fn page(&mut self, study: StudyId, page: u64) -> Result<Option<(u64, Vec<u8>)>, StorageError> {
        let _ = (study, page);
        Ok(None)
    }

    /// Keeps pages that were made after record `head`, in the place of those with the same numbers, if page 0 is still the one that was
    /// made after record `before`; whether it was. Pages are a cache: a storage that keeps none is as good.
    ///
    /// # Errors
    /// If storage cannot be written.
    fn keep(
        &mut self,
        study: StudyId,
        head: u64,
        before: Option<u64>,
        pages: &[(u64, Vec<u8>)],
    ) -> Result<bool, StorageError> {
        let _ = (study, head, before, pages);
        Ok(false)
    }

    /// Removes a study with all its records; whether it was there.
    ///
    /// # Errors
    /// If storage cannot be written.
    fn delete(&mut self, study: StudyId) -> Result<bool, StorageError>;

    /// Extends the leases that `owner` holds on these trials.
    ///
    /// # Errors
    /// If storage cannot be written.
    fn renew(
        &mut self,
        study: StudyId,
        trials: &[usize],
        owner: &str,
        lasts: Duration,
    ) -> Result<(), StorageError>;

    /// All leases on trials of a study.
    ///
    /// # Errors
    /// If storage cannot be read.
    fn leases(&mut self, study: StudyId) -> Result<Vec<Lease>, StorageError>;
}

/// What a server keeps beside the studies in the same storage has names that begin so: they are not studies.
pub const HIDDEN: &str = "optimist:";

/// Whether a log of this name is not a study.
pub fn is_hidden(name: &str) -> bool {
    name.starts_with(HIDDEN)
}

/// The logs of a storage that are studies, by name.
///
/// # Errors
/// If storage cannot be read.
pub fn listed(log: &mut dyn Log) -> Result<Vec<Entry>, StorageError> {
    let mut entries = log.studies()?;
    entries.retain(|entry| !is_hidden(&entry.name));
    Ok(entries)
}

/// A study in its storage. Never used again once the study is deleted, so that nobody appends to another by mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StudyId(pub i64);

/// A study that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Name of the study.
    pub name: String,
    /// What to call it by.
    pub id: StudyId,
}

/// What became of an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    /// The records are stored for good.
    Stored,
    /// Somebody else has appended in the meantime, and nothing was stored: read on.
    Moved,
    /// There is no such study any more.
    Gone,
}

/// Who runs a trial, and whether that is still to be believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The number of the trial.
    pub trial: usize,
    /// Whose it is (`identity`).
    pub owner: String,
    /// Whether it ran out, by the clock of the storage.
    pub has_expired: bool,
}

/// A change to leases that goes with records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeaseChange {
    /// `owner` runs the trial; in place of the lease that there is.
    Claim {
        /// The number of the trial.
        trial: usize,
        /// Whose it is.
        owner: String,
        /// For how long, unless it is renewed.
        lasts: Duration,
    },
    /// Nobody runs it any more.
    Release {
        /// The number of the trial.
        trial: usize,
    },
}
