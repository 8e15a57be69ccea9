//! The state of each study, kept in memory, and how it follows its log.
//!
//! A request never folds a whole log: it applies the records appended since the last request, then reads the state. Reads don't wait
//! for changes: fitting a model holds the lock of the `Study` that asks and tells, not that of the state. Everything here blocks; call
//! it through [`App::blocking`](crate::App::blocking).

use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use optimist_study::log::{self, Entry, Log, StudyId};
use optimist_study::{Record, State, Storage, StorageError, Study, StudyError};
use tokio::sync::watch;

use crate::problem::{Problem, no_study};

/// How long a cached list of studies may be used to find a study by its name.
const LISTED: Duration = Duration::from_millis(500);

/// Recent records to keep in memory per study, for event streams.
const RECENT: usize = 1024;

/// The most records to read at once for an event stream that is behind.
const PIECE: usize = 512;

/// Idle storage connections to keep open for the next request.
const SPARE: usize = 8;

/// The studies of a storage.
pub struct Studies {
    storage: Storage,
    spare: Mutex<Vec<Box<dyn Log>>>,
    held: Mutex<HashMap<StudyId, Arc<Held>>>,
    listed: Mutex<Option<(Instant, Vec<Entry>)>>,
}

/// A value computed from a state, with the number of the last record it covers.
type Made = (u64, Arc<dyn Any + Send + Sync>);

/// A study in memory.
pub struct Held {
    entry: Entry,
    /// As of the last [`Studies::follow`].
    state: RwLock<State>,
    /// Held while new records are read.
    following: Mutex<()>,
    /// The last records, as they are stored.
    recent: Mutex<VecDeque<(u64, Arc<str>)>>,
    head: watch::Sender<u64>,
    /// The study that asks and tells, opened when it is first needed.
    study: Mutex<Option<Study>>,
    /// Values computed from the state, by name.
    kept: Mutex<HashMap<String, Made>>,
    /// Held while such a value is computed, so that concurrent requests wait for it and don't compute it again.
    making: Mutex<()>,
}

impl Studies {
    /// The studies in `storage`, which is created if it doesn't exist.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn new(storage: Storage) -> Result<Self, StorageError> {
        let spare = Mutex::new(vec![storage.connect()?]);
        Ok(Self { storage, spare, held: Mutex::default(), listed: Mutex::default() })
    }

    /// Where the studies are stored.
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    /// Runs `using` with a storage connection of its own.
    ///
    /// # Errors
    /// If no connection can be opened, and whatever `using` returns.
    pub fn with_log<T, E: From<StorageError>>(
        &self,
        using: impl FnOnce(&mut dyn Log) -> Result<T, E>,
    ) -> Result<T, E> {
        let spare = lock(&self.spare).pop();
        let mut connection = match spare {
            Some(connection) => connection,
            None => self.storage.connect()?,
        };
        let result = using(&mut *connection)?; // a connection that failed is not used again
        let mut spare = lock(&self.spare);
        if spare.len() < SPARE {
            spare.push(connection);
        }
        Ok(result)
    }

    /// All current studies, sorted by name.
    ///
    /// # Errors
    /// If storage cannot be read.
    pub fn entries(&self) -> Result<Vec<Entry>, StorageError> {
        let entries = self.with_log(log::listed)?;
        lock(&self.held).retain(|id, held| {
            let is_there = entries.iter().any(|entry| entry.id == *id);
            if !is_there {
                held.close();
            }
            is_there
        });
        *lock(&self.listed) = Some((Instant::now(), entries.clone()));
        Ok(entries)
    }

    /// The study with this name, up to date.
    ///
    /// # Errors
    /// If there is none, or its log cannot be read.
    pub fn get(&self, name: &str) -> Result<Arc<Held>, Problem> {
        let known = lock(&self.listed).clone().filter(|(at, _)| at.elapsed() < LISTED);
        let find = |entries: &[Entry]| entries.iter().find(|entry| entry.name == name).cloned();
        let entry = match known.and_then(|(_, entries)| find(&entries)) {
            Some(entry) => Some(entry),
            None => find(&self.entries()?),
        };
        let entry = entry.ok_or_else(|| no_study(name))?;
        let held = lock(&self.held).get(&entry.id).cloned();
        match held {
            Some(held) => {
                self.follow(&held)?;
                Ok(held)
            }
            None => self.load(entry),
        }
    }

    /// The study with this id in the storage; `None` if no study has it.
    ///
    /// # Errors
    /// If storage cannot be read.
    pub fn entry(&self, id: StudyId) -> Result<Option<Entry>, StorageError> {
        let known = lock(&self.listed).clone().filter(|(at, _)| at.elapsed() < LISTED);
        let find = |entries: &[Entry]| entries.iter().find(|entry| entry.id == id).cloned();
        match known.and_then(|(_, entries)| find(&entries)) {
            Some(entry) => Ok(Some(entry)),
            None => Ok(find(&self.entries()?)),
        }
    }

    /// Drops the cached list of studies, after one was created or deleted.
    pub fn relist(&self) {
        *lock(&self.listed) = None;
    }

    fn load(&self, entry: Entry) -> Result<Arc<Held>, Problem> {
        let loaded = self.with_log(|log| Held::load(log, entry.clone()))?;
        let held = loaded.ok_or_else(|| no_study(&entry.name))?;
        self.follow(&held)?;
        Ok(lock(&self.held).entry(entry.id).or_insert(Arc::new(held)).clone())
    }

    /// Applies the records appended since the last call.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn follow(&self, held: &Held) -> Result<(), StudyError> {
        self.with_log(|log| held.follow(log))
    }

    /// Follows the studies that have open event streams.
    pub fn follow_watched(&self) {
        let watched: Vec<_> =
            lock(&self.held).values().filter(|held| held.head.receiver_count() > 0).cloned().collect();
        if watched.is_empty() || self.entries().is_err() {
            return; // streams continue once storage can be read again
        }
        for held in watched {
            let _ = self.follow(&held);
        }
    }

    /// Changes a study on behalf of `by`, and then follows its log.
    ///
    /// # Errors
    /// If the change is refused, or storage fails.
    pub fn change<T>(
        &self,
        held: &Held,
        by: &str,
        change: impl FnOnce(&mut Study) -> Result<T, StudyError>,
    ) -> Result<T, Problem> {
        let result = self.with_study(held, |study| {
            study.act_for(Some(by));
            change(study)
        })?;
        self.follow(held)?;
        Ok(result)
    }

    /// Reads what only the optimizer of a study knows.
    ///
    /// # Errors
    /// Whatever `look` returns, or if storage fails.
    pub fn look<T>(
        &self,
        held: &Held,
        look: impl FnOnce(&mut Study) -> Result<T, StudyError>,
    ) -> Result<T, Problem> {
        self.with_study(held, |study| {
            study.refresh()?;
            look(study)
        })
    }

    fn with_study<T>(
        &self,
        held: &Held,
        using: impl FnOnce(&mut Study) -> Result<T, StudyError>,
    ) -> Result<T, Problem> {
        let mut slot = lock(&held.study);
        let mut study = match slot.take() {
            Some(study) => study,
            None => Study::open(&self.storage, &held.entry.name)?,
        };
        if study.id() != held.entry.id {
            self.relist();
            return Err(StudyError::Deleted { name: held.entry.name.clone() }.into());
        }
        let result = using(&mut study);
        if matches!(result, Err(StudyError::Deleted { .. })) {
            self.relist();
        } else if !matches!(result, Err(StudyError::Storage(_))) {
            *slot = Some(study); // otherwise it is opened again next time
        }
        Ok(result?)
    }
}

impl Held {
    /// Folds the log from its first record; `None` if it has none.
    fn load(log: &mut dyn Log, entry: Entry) -> Result<Option<Self>, StudyError> {
        let mut first = None;
        log.read(entry.id, 0, &mut |_, body| {
            first = Some(body.to_owned());
            ControlFlow::Break(())
        })?;
        let Some(first) = first else { return Ok(None) };
        let state = State::new(Record::from_json(&first)?)?;
        Ok(Some(Self {
            entry,
            state: RwLock::new(state),
            following: Mutex::new(()),
            recent: Mutex::new(VecDeque::from([(1, first.into())])),
            head: watch::Sender::new(1),
            study: Mutex::new(None),
            kept: Mutex::default(),
            making: Mutex::new(()),
        }))
    }

    /// The study's name.
    pub fn name(&self) -> &str {
        &self.entry.name
    }

    /// The study's id in its storage.
    pub fn id(&self) -> StudyId {
        self.entry.id
    }

    /// Reads the state as of the last [`Studies::follow`]; [`Studies::get`] has just followed the log.
    pub fn read<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        look(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Receives the number of the last record whenever there is a new one; 0 once the study is deleted.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.head.subscribe()
    }

    /// The next records after `after`, as they are stored; empty if there are none.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn after(&self, studies: &Studies, after: u64) -> Result<Vec<(u64, Arc<str>)>, StorageError> {
        let after = after.min(self.read(State::head));
        let recent = lock(&self.recent);
        let from = recent.front().map_or(0, |(first, _)| *first);
        if after + 1 >= from {
            let skipped = usize::try_from(after + 1 - from).unwrap_or(usize::MAX);
            return Ok(recent.iter().skip(skipped).take(PIECE).cloned().collect());
        }
        drop(recent);
        let mut records = Vec::new();
        studies.with_log(|log| {
            log.read(self.entry.id, after, &mut |seq, body| {
                records.push((seq, body.into()));
                if records.len() < PIECE { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })
        })?;
        Ok(records)
    }

    /// The value cached under `name`, computed by `make` unless it is already there for the current state.
    ///
    /// # Errors
    /// Whatever `make` returns.
    pub fn kept<T: Send + Sync + 'static>(
        &self,
        name: &str,
        make: impl FnOnce() -> Result<T, Problem>,
    ) -> Result<Arc<T>, Problem> {
        let known = |head| {
            let kept = lock(&self.kept).get(name).filter(|(at, _)| *at == head).map(|(_, kept)| kept.clone());
            kept.and_then(|kept| kept.downcast::<T>().ok())
        };
        if let Some(known) = known(self.read(State::head)) {
            return Ok(known);
        }
        let _making = lock(&self.making);
        let head = self.read(State::head);
        if let Some(known) = known(head) {
            return Ok(known);
        }
        let made = Arc::new(make()?);
        lock(&self.kept).insert(name.to_owned(), (head, made.clone()));
        Ok(made)
    }

    fn follow(&self, log: &mut dyn Log) -> Result<(), StudyError> {
        let _following = lock(&self.following);
        let head = self.read(State::head);
        let mut records = Vec::new();
        let mut result = Ok(());
        log.read(self.entry.id, head, &mut |_, body| {
            match Record::from_json(body) {
                Ok(record) => records.push((record, Arc::from(body))),
                Err(error) => result = Err(error),
            }
            if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        if !records.is_empty() {
            self.apply(records)?;
        }
        result
    }

    fn apply(&self, records: Vec<(Record, Arc<str>)>) -> Result<(), StudyError> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let mut recent = lock(&self.recent);
        for (record, body) in records {
            let seq = record.seq;
            state.apply(record)?;
            recent.push_back((seq, body));
            if recent.len() > RECENT {
                recent.pop_front();
            }
        }
        let head = state.head();
        drop((state, recent));
        self.head.send_replace(head);
        Ok(())
    }

    /// Ends event streams: there is never a record 0, so it means that the study was deleted.
    fn close(&self) {
        self.head.send_replace(0);
    }
}

/// Locks a mutex even if a thread panicked while holding it: what our mutexes guard is consistent after each change.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
