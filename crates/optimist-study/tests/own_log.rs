//! A log of one's own can be handed in: studies run on it as on ours, and the contract is checked from outside the crate.

use std::fmt::{self, Display, Formatter};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use optimist::space::Value;
use optimist_study::log::{Appended, Backend, Entry, Lease, LeaseChange, Log, Notify, StudyId};
use optimist_study::{Interrupt, Job, Storage, StorageError, Study, StudyFile, log_contract, worker};

log_contract!(shelf, |_fact: &str| Storage::new(Shelf::default()));

/// A notebook for each study that there ever was; an id is its place on the shelf.
#[derive(Clone, Default)]
struct Shelf(Arc<Mutex<Vec<Notebook>>>);

#[derive(Default)]
struct Notebook {
    name: String,
    /// None once the study is deleted.
    records: Vec<String>,
    leases: Vec<(usize, String, Instant)>,
}

impl Shelf {
    fn notebooks(&self) -> MutexGuard<'_, Vec<Notebook>> {
        self.0.lock().unwrap()
    }

    fn with<T: Default>(&self, study: StudyId, using: impl FnOnce(&mut Notebook) -> T) -> T {
        let mut notebooks = self.notebooks();
        let notebook = notebooks.get_mut(usize::try_from(study.0).unwrap());
        notebook.filter(|notebook| !notebook.records.is_empty()).map(using).unwrap_or_default()
    }
}

impl Backend for Shelf {
    fn connect(&self, _: &Notify) -> Result<Box<dyn Log>, StorageError> {
        Ok(Box::new(self.clone()))
    }
}

impl Display for Shelf {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("the shelf")
    }
}

impl Log for Shelf {
    fn studies(&mut self) -> Result<Vec<Entry>, StorageError> {
        let notebooks = self.notebooks();
        let there = (0..).zip(notebooks.iter()).filter(|(_, notebook)| !notebook.records.is_empty());
        let mut entries: Vec<Entry> =
            there.map(|(id, notebook)| Entry { name: notebook.name.clone(), id: StudyId(id) }).collect();
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    fn create(&mut self, name: &str, first: &str) -> Result<Option<StudyId>, StorageError> {
        let mut notebooks = self.notebooks();
        if notebooks.iter().any(|notebook| notebook.name == name && !notebook.records.is_empty()) {
            return Ok(None);
        }
        notebooks.push(Notebook { name: name.into(), records: vec![first.into()], leases: Vec::new() });
        Ok(Some(StudyId(notebooks.len() as i64 - 1)))
    }

    fn append(
        &mut self,
        study: StudyId,
        head: u64,
        bodies: &[String],
        changes: &[LeaseChange],
    ) -> Result<Appended, StorageError> {
        let appended = self.with(study, |notebook| {
            if notebook.records.len() as u64 != head {
                return Some(Appended::Moved);
            }
            notebook.records.extend_from_slice(bodies);
            for change in changes {
                let (LeaseChange::Claim { trial, .. } | LeaseChange::Release { trial }) = change;
                notebook.leases.retain(|lease| lease.0 != *trial);
                if let LeaseChange::Claim { trial, owner, lasts } = change {
                    notebook.leases.push((*trial, owner.clone(), Instant::now() + *lasts));
                }
            }
            Some(Appended::Stored)
        });
        Ok(appended.unwrap_or(Appended::Gone))
    }

    fn read(
        &mut self,
        study: StudyId,
        after: u64,
        each: &mut dyn FnMut(u64, &str) -> ControlFlow<()>,
    ) -> Result<(), StorageError> {
        let records = self.with(study, |notebook| notebook.records.clone());
        let _ = (1..).zip(&records).skip(after as usize).try_for_each(|(seq, body)| each(seq, body));
        Ok(())
    }

    fn delete(&mut self, study: StudyId) -> Result<bool, StorageError> {
        Ok(self.with(study, |notebook| {
            *notebook = Notebook::default();
            true
        }))
    }

    fn renew(
        &mut self,
        study: StudyId,
        trials: &[usize],
        owner: &str,
        lasts: Duration,
    ) -> Result<(), StorageError> {
        self.with(study, |notebook| {
            let renewed =
                notebook.leases.iter_mut().filter(|lease| trials.contains(&lease.0) && lease.1 == owner);
            renewed.for_each(|lease| lease.2 = Instant::now() + lasts);
        });
        Ok(())
    }

    fn leases(&mut self, study: StudyId) -> Result<Vec<Lease>, StorageError> {
        let now = Instant::now();
        let lease = |(trial, owner, until): &(usize, String, Instant)| Lease {
            trial: *trial,
            owner: owner.clone(),
            has_expired: *until <= now,
        };
        Ok(self.with(study, |notebook| notebook.leases.iter().map(lease).collect()))
    }
}

#[test]
fn a_study_runs_on_it_and_is_there_when_it_is_opened_again() {
    let storage = Storage::new(Shelf::default());
    let text = "name = 'hill'\ndirection = 'maximize'\ntrials = 12\nparameters.x = { type = 'float', low = 0, high = 1 }";
    let study = Study::create(&storage, StudyFile::parse(text).unwrap().definition).unwrap();
    let height = |job: &Job| job.params.get("x").and_then(Value::as_f64).ok_or("there is no x");
    let (done, _) =
        worker::work(study, height, 3, &Interrupt::default(), |_| ControlFlow::Continue(())).unwrap();

    let mut again = Study::open(&storage, "hill").unwrap();
    assert_eq!(again.state().n_done(), 12);
    assert_eq!(again.state().trials(), done.state().trials());
    assert_eq!(again.verify(|_| ()).unwrap().mismatches, []);
}

#[test]
fn messages_call_it_what_it_calls_itself() {
    let storage = Storage::new(Shelf::default());
    let error = Study::open(&storage, "hill").err().unwrap().to_string();
    assert!(error.starts_with("study `hill` is not in the shelf"), "{error}");
}
