//! A study behind a lock, in this process or in a child of it.
//!
//! Given: work to do with a study. Gives: its result; one thread works at a time, over a connection of this process. Does not know:
//! Python objects.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use optimist_study::{Storage, StorageError, StudyError};
use pyo3::prelude::*;

use crate::call;
use crate::error;

/// How long to wait for the lock before checking whether a fork has left its holder behind.
const PATIENCE: Duration = Duration::from_secs(1);

/// A study in its storage, opened by this process.
pub struct Shared {
    /// The storage; `None` for memory.
    pub place: Option<String>,
    /// Whether the next suggestion may take so long that Ctrl-C shouldn't have to wait for it.
    pub is_slow: AtomicBool,
    /// The process that used it last, readable without the lock.
    process: AtomicU32,
    open: Mutex<Open>,
}

struct Open {
    /// The process that opened it; 0 if its state is unknown.
    owner: u32,
    study: optimist_study::Study,
}

/// Why a study can't be used in this process.
pub enum Problem {
    Study(StudyError),
    /// Another thread was using it when the process was forked.
    Forked,
}

impl From<StudyError> for Problem {
    fn from(error: StudyError) -> Self {
        Self::Study(error)
    }
}

impl Problem {
    /// The problem as an exception.
    pub fn raise(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Study(error) => error::study(py, error),
            Self::Forked => error::invalid(
                py,
                "another thread was using this study when the process was forked; open it again in the child",
            ),
        }
    }
}

impl Shared {
    /// Shares a study that this process has opened.
    pub fn new(place: Option<String>, study: optimist_study::Study) -> Self {
        let owner = std::process::id();
        let (process, open) = (AtomicU32::new(owner), Mutex::new(Open { owner, study }));
        Self { place, is_slow: AtomicBool::new(true), process, open }
    }

    /// Does `work` with the study, which a forked child opens again first.
    pub fn with<T: Send>(
        &self,
        work: impl FnOnce(&mut optimist_study::Study) -> Result<T, StudyError> + Send,
    ) -> Result<T, Problem> {
        let pid = std::process::id();
        let mut open = match call::try_lock(&self.open, PATIENCE) {
            Some(open) => open,
            None if self.process.load(Ordering::Relaxed) != pid => return Err(Problem::Forked),
            None => call::lock(&self.open),
        };
        if open.owner != pid {
            let study = self.again(&mut open.study)?;
            // Not dropped, because its connection belongs to the parent, and would be closed for both.
            std::mem::forget(std::mem::replace(&mut *open, Open { owner: pid, study }));
            self.process.store(pid, Ordering::Relaxed);
        }
        open.owner = 0; // so that the study is opened again if `work` panics
        let study = &mut open.study;
        let result = work(study);
        open.owner = pid;
        Ok(result?)
    }

    /// The same study over a connection of this process, or a copy if it's in memory.
    fn again(&self, study: &mut optimist_study::Study) -> Result<optimist_study::Study, StudyError> {
        match &self.place {
            Some(place) => optimist_study::Study::open(&storage_at(Some(place))?, study.name()),
            None => optimist_study::Study::restore(
                &Storage::memory(),
                lines(study)?.iter().map(String::as_str),
                None,
            ),
        }
    }
}

/// The storage at a place, or memory. Problems that it recovers from are logged.
pub fn storage_at(place: Option<&str>) -> Result<Storage, StorageError> {
    let storage = place.map_or_else(|| Ok(Storage::memory()), str::parse)?;
    Ok(storage.with_notify(|sentence| {
        Python::try_attach(|py| {
            let logger = || py.import("logging")?.call_method1("getLogger", ("optimist",));
            let logged = logger().and_then(|logger| logger.call_method1("warning", ("%s", sentence)));
            if let Err(error) = logged {
                error.write_unraisable(py, None);
            }
        });
    }))
}

/// Every record of a study's log.
pub fn lines(study: &mut optimist_study::Study) -> Result<Vec<String>, StudyError> {
    let mut lines = Vec::new();
    study.export(|line| {
        lines.push(line.to_owned());
        ControlFlow::Continue(())
    })?;
    Ok(lines)
}
