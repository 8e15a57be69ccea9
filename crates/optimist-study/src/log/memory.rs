//! Logs in memory: what every other backend must behave like.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{Appended, Backend, Entry, Lease, LeaseChange, Log, Notify, StorageError, StudyId};

/// Logs in memory, shared by clones.
#[derive(Debug, Clone, Default)]
pub struct Memory(Arc<Mutex<Studies>>);

#[derive(Debug, Default)]
struct Studies {
    by_id: BTreeMap<i64, StudyLog>,
    /// Ids are not used twice.
    last_id: i64,
}

#[derive(Debug)]
struct StudyLog {
    name: String,
    bodies: Vec<String>,
    /// By trial: the owner, and when it runs out; `None` is beyond all clocks.
    leases: BTreeMap<usize, (String, Option<Instant>)>,
}

impl Memory {
    fn lock(&self) -> MutexGuard<'_, Studies> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Backend for Memory {
    fn connect(&self, _: &Notify) -> Result<Box<dyn Log>, StorageError> {
        Ok(Box::new(self.clone()))
    }
}

impl Display for Memory {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("memory")
    }
}

impl Log for Memory {
    fn studies(&mut self) -> Result<Vec<Entry>, StorageError> {
        let studies = self.lock();
        let entry = |(&id, kept): (&i64, &StudyLog)| Entry { name: kept.name.clone(), id: StudyId(id) };
        let mut entries: Vec<Entry> = studies.by_id.iter().map(entry).collect();
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    fn create(&mut self, name: &str, first: &str) -> Result<Option<StudyId>, StorageError> {
        let mut studies = self.lock();
        if studies.by_id.values().any(|kept| kept.name == name) {
            return Ok(None);
        }
        studies.last_id += 1;
        let id = studies.last_id;
        let kept =
            StudyLog { name: name.to_owned(), bodies: vec![first.to_owned()], leases: BTreeMap::new() };
        studies.by_id.insert(id, kept);
        Ok(Some(StudyId(id)))
    }

    fn append(
        &mut self,
        study: StudyId,
        head: u64,
        bodies: &[String],
        leases: &[LeaseChange],
    ) -> Result<Appended, StorageError> {
        let mut studies = self.lock();
        let Some(kept) = studies.by_id.get_mut(&study.0) else { return Ok(Appended::Gone) };
        if kept.bodies.len() as u64 != head {
            return Ok(Appended::Moved);
        }
        kept.bodies.extend_from_slice(bodies);
        for change in leases {
            match change {
                LeaseChange::Claim { trial, owner, lasts } => {
                    kept.leases.insert(*trial, (owner.clone(), Instant::now().checked_add(*lasts)));
                }
                LeaseChange::Release { trial } => {
                    kept.leases.remove(trial);
                }
            }
        }
        Ok(Appended::Stored)
    }

    fn read(
        &mut self,
        study: StudyId,
        after: u64,
        each: &mut dyn FnMut(u64, &str) -> ControlFlow<()>,
    ) -> Result<(), StorageError> {
        let studies = self.lock();
        let bodies = studies.by_id.get(&study.0).map_or(&[][..], |kept| &kept.bodies);
        let records = (1..).zip(bodies).skip(usize::try_from(after).unwrap_or(usize::MAX));
        for (seq, body) in records {
            if each(seq, body).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn delete(&mut self, study: StudyId) -> Result<bool, StorageError> {
        Ok(self.lock().by_id.remove(&study.0).is_some())
    }

    fn renew(
        &mut self,
        study: StudyId,
        trials: &[usize],
        owner: &str,
        lasts: Duration,
    ) -> Result<(), StorageError> {
        if let Some(kept) = self.lock().by_id.get_mut(&study.0) {
            for trial in trials {
                if let Some((_, until)) = kept.leases.get_mut(trial).filter(|(holder, _)| holder == owner) {
                    *until = Instant::now().checked_add(lasts);
                }
            }
        }
        Ok(())
    }

    fn leases(&mut self, study: StudyId) -> Result<Vec<Lease>, StorageError> {
        let (studies, now) = (self.lock(), Instant::now());
        let lease = |(&trial, (owner, until)): (&usize, &(String, Option<Instant>))| Lease {
            trial,
            owner: owner.clone(),
            has_expired: until.is_some_and(|until| until <= now),
        };
        Ok(studies.by_id.get(&study.0).map_or_else(Vec::new, |kept| kept.leases.iter().map(lease).collect()))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Storage, log_contract};

    log_contract!(contract, |_: &str| Storage::memory());
}
