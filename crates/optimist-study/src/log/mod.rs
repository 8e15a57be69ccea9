//! Where logs are kept.
//!
//! A backend does little: *append these records if the head is still at N*, *read after N*, list and delete. Beside the log
//! it keeps leases: who runs which trial, and until when to believe so. Meaning is none of its business: to a backend
//! a record is a text with a number.
//!
//! Backends: [`Memory`] for tests and try-outs, [`Sqlite`] for one machine, [`Postgres`] for many.

#[cfg(test)]
mod contract;
mod error;
mod memory;
mod postgres;
mod sqlite;

use std::fmt::{self, Display, Formatter};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

pub use error::StorageError;
pub use memory::Memory;
pub use postgres::Postgres;
pub use sqlite::Sqlite;

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
    /// If storage cannot be read, or a record is not what was written.
    fn read(
        &mut self,
        study: StudyId,
        after: u64,
        each: &mut dyn FnMut(u64, &str) -> ControlFlow<()>,
    ) -> Result<(), StorageError>;

    /// Looks for damage that reading alone may not notice. Only SQLite can say more than its records' checksums do.
    ///
    /// # Errors
    /// If there is any.
    fn check(&mut self) -> Result<(), StorageError> {
        Ok(())
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

/// A study in its storage. Never used again once the study is deleted, so that nobody appends to another by mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StudyId(pub i64);

/// A study that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
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

/// Where studies are kept, by name: `optimist.db`, `postgres://user@host/database`, or `memory`.
#[derive(Clone)]
pub struct Storage {
    place: Place,
    notify: Notify,
}

#[derive(Clone)]
enum Place {
    Memory(Memory),
    Sqlite(PathBuf),
    Postgres(String),
}

/// Told, in a sentence, of trouble that is being dealt with, such as a server that has gone away.
pub type Notify = Arc<dyn Fn(&str) + Send + Sync>;

impl Storage {
    /// In memory: gone with the program, shared by its clones.
    pub fn memory() -> Self {
        Self { place: Place::Memory(Memory::default()), notify: Arc::new(|_| ()) }
    }

    /// A SQLite file, made if it is not there.
    pub fn sqlite(path: impl Into<PathBuf>) -> Self {
        Self { place: Place::Sqlite(path.into()), notify: Arc::new(|_| ()) }
    }

    /// A PostgreSQL database, as `postgres://user:password@host:port/database`.
    pub fn postgres(url: impl Into<String>) -> Self {
        Self { place: Place::Postgres(url.into()), notify: Arc::new(|_| ()) }
    }

    /// The same, with somebody to tell of trouble.
    #[must_use]
    pub fn with_notify(self, notify: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { notify: Arc::new(notify), ..self }
    }

    /// Opens a connection.
    ///
    /// # Errors
    /// If there is no storage there and none can be made, or it is not ours.
    pub fn connect(&self) -> Result<Box<dyn Log>, StorageError> {
        if let Err(error @ StorageError::Empty { .. }) = self.exists() {
            (self.notify)(&format!("a new database is begun: {error}"));
        }
        Ok(match &self.place {
            Place::Memory(memory) => Box::new(memory.clone()),
            Place::Sqlite(path) => Box::new(Sqlite::open(path)?),
            Place::Postgres(url) => Box::new(Postgres::connect(url, Arc::clone(&self.notify))?),
        })
    }

    /// Whether anything is there to read. Only a file can be missing.
    ///
    /// # Errors
    /// If there is a file with nothing in it: there may have been studies.
    pub fn exists(&self) -> Result<bool, StorageError> {
        match &self.place {
            Place::Sqlite(path) => match path.metadata() {
                Ok(file) if file.is_file() && file.len() == 0 => {
                    Err(StorageError::Empty { place: self.to_string() })
                }
                found => Ok(found.is_ok()),
            },
            Place::Memory(_) | Place::Postgres(_) => Ok(true),
        }
    }
}

impl FromStr for Storage {
    type Err = StorageError;

    fn from_str(word: &str) -> Result<Self, StorageError> {
        match word.split_once("://") {
            _ if word == "memory" => Ok(Self::memory()),
            Some(("postgres" | "postgresql", _)) => Ok(Self::postgres(word)),
            Some((scheme, _)) => Err(StorageError::UnknownScheme { scheme: scheme.to_owned() }),
            None if word.is_empty() => Err(StorageError::NoPlace),
            None => Ok(Self::sqlite(word)),
        }
    }
}

/// Without the password.
impl Display for Storage {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::Memory(_) => f.write_str("memory"),
            Place::Sqlite(path) => write!(f, "{}", path.display()),
            Place::Postgres(url) => f.write_str(&postgres::without_password(url)),
        }
    }
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "Storage({self})")
    }
}

/// What is stored beside a record, so that a change of a single bit is noticed (FNV-1a).
fn checksum(body: &str) -> i64 {
    let hash = body.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash.cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_known_by_how_it_looks() {
        let shown = |word: &str| word.parse::<Storage>().unwrap().to_string();
        assert_eq!(shown("memory"), "memory");
        assert_eq!(shown("runs/optimist.db"), "runs/optimist.db");
        assert_eq!(shown("postgres://me:secret@host:5433/lab"), "postgres://me@host:5433/lab");
        assert_eq!(shown("postgresql://host/lab"), "postgresql://host/lab");
        let error = "mysql://host/lab".parse::<Storage>().unwrap_err().to_string();
        assert!(error.contains("`mysql://`") && error.contains("postgres://"), "{error}");
        assert!("".parse::<Storage>().is_err());
    }
}
