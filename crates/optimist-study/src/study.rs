//! A study in its storage: ask, tell and all that can be done to it.
//!
//! Each of these decides, from the state, what to append, and appends it if nobody came in between; otherwise it reads on
//! and decides again. So any number of processes may do any of this at the same time.

mod transfer;

use std::time::Duration;

use optimist::space::Assignment;

use crate::definition::{Definition, Plan};
use crate::error::StudyError;
use crate::event::{Cause, Event, FailureKind, Record, Source};
use crate::identity::{Identity, is_gone};
use crate::import;
use crate::log::{self, Appended, LeaseChange, Log, Reading, Storage, StudyId};
use crate::objective::{Measurement, NoValue};
use crate::state::{Next, State};
use crate::suggest::{self, Adviser, Verification};
use crate::trial::{Trial, TrialState};

/// A study that is open.
pub struct Study {
    storage: Storage,
    log: Box<dyn Log>,
    id: StudyId,
    state: State,
    /// Made when it is first needed.
    adviser: Option<Adviser>,
    identity: Identity,
}

/// A trial to be measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// Its number, to be told with its value.
    pub trial: usize,
    /// What to run it with.
    pub params: Assignment,
    /// Why this point.
    pub source: Source,
}

/// What became of what was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// It is stored.
    Stored,
    /// It was known: nothing was stored.
    Already,
}

/// The point to bet on.
#[derive(Debug, Clone, PartialEq)]
pub struct Best {
    /// Where.
    pub params: Assignment,
    /// What is expected there, in the user's direction.
    pub mean: f64,
    /// How unsure that is, one standard deviation; `None` if the optimizer has no model.
    pub std: Option<f64>,
    /// The first trial that tried it.
    pub trial: Option<usize>,
}

/// A trial that was made elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub struct Import {
    /// What it was run with.
    pub params: Assignment,
    /// Its value, or why it has none.
    pub outcome: Result<Measurement, String>,
}

/// What became of trials that were to be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Imported {
    /// The number of the first.
    pub first: usize,
    /// How many were added; the others were there already.
    pub n_added: usize,
}

/// Opening.
impl Study {
    /// Begins a study.
    ///
    /// # Errors
    /// If there is one of that name, its optimizer cannot do it, or storage cannot be written.
    pub fn create(storage: &Storage, definition: Definition) -> Result<Self, StudyError> {
        let name = definition.name.clone();
        let definition = Box::new(definition);
        let created = Event::Created { optimist: env!("CARGO_PKG_VERSION").to_owned(), definition };
        let record = Record::new(1, created);
        let body = record.to_json();
        let state = State::new(record)?;
        let adviser = Adviser::new(&state)?;
        let mut log = storage.connect()?;
        match log.create(&name, &body)? {
            Some(id) => Ok(Self::with(storage, log, id, state, Some(adviser))),
            None => Err(StudyError::Exists { name, storage: storage.to_string() }),
        }
    }

    /// Opens a study that is there.
    ///
    /// # Errors
    /// If it is not, or its log cannot be read.
    pub fn open(storage: &Storage, name: &str) -> Result<Self, StudyError> {
        let not_found = |others| {
            let (name, storage) = (name.to_owned(), storage.to_string());
            Err(StudyError::NotFound { name, storage, others })
        };
        if !storage.exists() {
            return not_found(Vec::new());
        }
        let mut log = storage.connect()?;
        let entries = log.studies()?;
        match entries.iter().find(|entry| entry.name == name) {
            Some(entry) => {
                let state = fold(&mut *log, entry.id)?;
                let state = state.ok_or_else(|| StudyError::broken(1, "the log is empty"))?;
                Ok(Self::with(storage, log, entry.id, state, None))
            }
            None => not_found(entries.into_iter().map(|entry| entry.name).collect()),
        }
    }

    /// Opens the study of that name, with the plan as it is now wanted, or begins it; whether it was there.
    ///
    /// # Errors
    /// If the study that is there is another one: of a different space, direction, optimizer or seed.
    pub fn resume_or_create(storage: &Storage, definition: Definition) -> Result<(Self, bool), StudyError> {
        match Self::create(storage, definition.clone()) {
            Err(StudyError::Exists { .. }) => {}
            created => return Ok((created?, false)),
        }
        let mut study = Self::open(storage, &definition.name)?;
        let known = study.state.definition();
        let different = [
            (known.space != definition.space, "space (parameters or constraints)"),
            (known.direction != definition.direction, "direction"),
            (known.optimizer != definition.optimizer, "optimizer"),
            (known.seed != definition.seed, "seed"),
        ];
        if let Some((_, what)) = different.into_iter().find(|(differs, _)| *differs) {
            return Err(StudyError::Different { name: definition.name, what });
        }
        study.change(definition.plan)?;
        Ok((study, true))
    }

    /// Removes a study with all its trials.
    ///
    /// # Errors
    /// If it is not there, or storage cannot be written.
    pub fn delete(mut self) -> Result<(), StudyError> {
        self.log.delete(self.id)?;
        Ok(())
    }

    fn with(
        storage: &Storage,
        log: Box<dyn Log>,
        id: StudyId,
        state: State,
        adviser: Option<Adviser>,
    ) -> Self {
        Self { storage: storage.clone(), log, id, state, adviser, identity: Identity::current() }
    }
}

/// Looking.
impl Study {
    /// How the study stood when it was last looked at.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.state.definition().name
    }

    /// Where it is kept.
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    /// What it is called there.
    pub fn id(&self) -> StudyId {
        self.id
    }

    /// Reads what others have appended.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn refresh(&mut self) -> Result<(), StudyError> {
        read_on(&mut *self.log, self.id, &mut self.state)
    }

    /// The point to bet on: that with the best posterior mean, where the optimizer has a model; `None` before the first
    /// value.
    ///
    /// # Errors
    /// If the study has a point that is not in its space.
    pub fn recommend(&mut self) -> Result<Option<Best>, StudyError> {
        let recommended = self.adviser()?.0.recommend();
        Ok(recommended.map(|(recommended, trial)| Best {
            params: match trial {
                Some(trial) => self.state.trials()[trial].params.clone(),
                None => self.state.encoding().decode(&recommended.x),
            },
            mean: self.state.definition().direction.flip(recommended.mean),
            std: recommended.std,
            trial,
        }))
    }

    /// Who holds which trials; a trial that was asked for without a lease has none.
    ///
    /// # Errors
    /// If storage cannot be read.
    pub fn leases(&mut self) -> Result<Vec<log::Lease>, StudyError> {
        Ok(self.log.leases(self.id)?)
    }

    /// What a user should know about how points were found.
    ///
    /// # Errors
    /// If the study has a point that is not in its space.
    pub fn warnings(&mut self) -> Result<Vec<String>, StudyError> {
        Ok(self.adviser()?.0.warnings())
    }

    /// Makes every suggestion again and compares it. `progress` is told the trial of each.
    ///
    /// # Errors
    /// If the log cannot be read, or does not fold.
    pub fn verify(&mut self, progress: impl FnMut(usize)) -> Result<Verification, StudyError> {
        suggest::verify(&mut *self.log, self.id, progress)
    }

    /// The optimizer with all that it can know, and the state that it knows.
    fn adviser(&mut self) -> Result<(&Adviser, &State), StudyError> {
        let adviser = match self.adviser.take() {
            Some(adviser) => adviser,
            None => Adviser::new(&self.state)?,
        };
        let adviser = self.adviser.insert(adviser);
        adviser.catch_up(&self.state)?;
        Ok((adviser, &self.state))
    }
}

/// Changing.
impl Study {
    /// The next trial, whatever the plan says, for somebody who takes as long as it takes: it has no lease.
    ///
    /// # Errors
    /// If storage cannot be used.
    pub fn ask(&mut self, worker: Option<&str>) -> Result<Job, StudyError> {
        self.ask_within(worker, None)
    }

    /// The same for somebody who must tell before the lease has run out, if there is one. The lease is not bound to this
    /// process, and nothing renews it.
    ///
    /// # Errors
    /// If storage cannot be used.
    pub fn ask_within(&mut self, worker: Option<&str>, lease: Option<Duration>) -> Result<Job, StudyError> {
        let owner = worker.unwrap_or(&self.identity.name).to_owned();
        let lease = lease.map(|lasts| (owner.as_str(), lasts));
        let job = self.take(worker, lease, |state| Some(state.next()))?;
        Ok(job.expect("there is always something to do when the plan is not asked"))
    }

    /// The next trial under the plan, with a lease; `None` if there is nothing to do, though others may still be running
    /// trials.
    ///
    /// # Errors
    /// If storage cannot be used.
    pub fn claim(&mut self) -> Result<Option<Job>, StudyError> {
        let (Identity { name, owner }, lease) = (self.identity.clone(), self.state.plan().lease);
        self.take(Some(&name), Some((&owner, lease)), State::planned)
    }

    fn take(
        &mut self,
        worker: Option<&str>,
        lease: Option<(&str, Duration)>,
        next: impl Fn(&State) -> Option<Next>,
    ) -> Result<Option<Job>, StudyError> {
        let worker = worker.map(str::to_owned);
        let mut suggestion: Option<Job> = None;
        self.refresh()?;
        self.commit(|study| {
            let trial = study.state.trials().len();
            let (source, params) = match next(&study.state) {
                None => return Ok(Decision::leave(None)),
                Some(Next::Retry(trial)) => {
                    let known = &study.state.trials()[trial];
                    let job = Job { trial, params: known.params.clone(), source: known.source };
                    let retried = Event::Retried { trial, worker: worker.clone() };
                    return Ok(Decision::append(retried, Some(job)).claim(trial, lease));
                }
                Some(Next::Enqueued(params)) => (Source::Enqueued, params),
                Some(Next::Replicate(of)) => {
                    (Source::Replicate { of }, study.state.trials()[of].params.clone())
                }
                Some(Next::Suggest) => match suggestion.take().filter(|made| made.trial == trial) {
                    // Others have told, but nobody has asked: it is as good as it was.
                    Some(made) => (made.source, made.params),
                    None => study.suggest(trial)?,
                },
            };
            let job = Job { trial, params, source };
            suggestion = matches!(source, Source::Suggested { .. }).then(|| job.clone());
            let (params, worker) = (job.params.clone(), worker.clone());
            let asked = Event::Asked { trial, params, source, worker };
            Ok(Decision::append(asked, Some(job)).claim(trial, lease))
        })
    }

    fn suggest(&mut self, trial: usize) -> Result<(Source, Assignment), StudyError> {
        let (adviser, state) = self.adviser()?;
        let gain = state.plan().min_gain.and_then(|_| adviser.expected_gain());
        let source = Source::Suggested { seen: state.head(), gain: gain.filter(|gain| gain.is_finite()) };
        Ok((source, adviser.suggest(trial, state)))
    }

    /// Stores a value. It may come late: it completes a trial that has none, and is a further measurement of one that has.
    /// The same value a second time is nothing new.
    ///
    /// # Errors
    /// If there is no such trial, the value is not finite, or storage cannot be written.
    pub fn tell(
        &mut self,
        trial: usize,
        measured: Measurement,
        seconds: Option<f64>,
    ) -> Result<Kept, StudyError> {
        if !measured.value.is_finite() {
            return Err(StudyError::NotFinite { trial, value: measured.value });
        }
        if let Some(noise_std) = measured.noise_std.filter(|std| !std.is_finite() || *std < 0.0) {
            return Err(StudyError::BadNoise { trial, noise_std });
        }
        self.refresh()?;
        self.commit(|study| {
            let known = study.trial(trial)?;
            if known.measurements.iter().any(|other| other.value.to_bits() == measured.value.to_bits()) {
                return Ok(Decision::leave(Kept::Already));
            }
            let told = Event::Told { trial, measured: measured.clone(), seconds };
            Ok(Decision::append(told, Kept::Stored).release(trial))
        })
    }

    /// Stores that a trial gave no value. If it may be tried again, it is put back.
    ///
    /// # Errors
    /// If there is no such trial, or storage cannot be written.
    pub fn fail(
        &mut self,
        trial: usize,
        failure: &NoValue,
        seconds: Option<f64>,
    ) -> Result<Kept, StudyError> {
        self.refresh()?;
        self.commit(|study| {
            let known = study.trial(trial)?;
            if known.has_ended() {
                return Ok(Decision::leave(Kept::Already));
            }
            let NoValue { kind, reason, stderr } = failure.clone();
            let may_retry = known.attempts < study.state.plan().max_attempts;
            let event = if kind == FailureKind::Retried && may_retry {
                Event::Requeued { trial, cause: Cause::Retry, reason }
            } else {
                Event::Failed { trial, kind, reason, stderr, seconds }
            };
            Ok(Decision::append(event, Kept::Stored).release(trial))
        })
    }

    /// Puts a running trial back, as if it had not been started.
    ///
    /// # Errors
    /// If there is no such trial, or storage cannot be written.
    pub fn put_back(&mut self, trial: usize, reason: &str) -> Result<Kept, StudyError> {
        self.refresh()?;
        self.commit(|study| {
            if study.trial(trial)?.state != TrialState::Running {
                return Ok(Decision::leave(Kept::Already));
            }
            let requeued = Event::Requeued { trial, cause: Cause::Stopped, reason: reason.to_owned() };
            Ok(Decision::append(requeued, Kept::Stored).release(trial))
        })
    }

    /// Gives a trial up: nobody will measure it, and it does not count.
    ///
    /// # Errors
    /// If there is no such trial, it has ended, or storage cannot be written.
    pub fn cancel(&mut self, trial: usize) -> Result<(), StudyError> {
        self.refresh()?;
        self.commit(|study| {
            let known = study.trial(trial)?;
            if known.has_ended() {
                let state = known.state.word();
                return Err(StudyError::HasEnded { trial, state, wanted: "cancelled" });
            }
            Ok(Decision::append(Event::Cancelled { trial }, ()).release(trial))
        })
    }

    /// Puts a point in the queue: it is tried before the optimizer is asked again.
    ///
    /// # Errors
    /// If it is not in the space, or storage cannot be written.
    pub fn enqueue(&mut self, params: &Assignment) -> Result<(), StudyError> {
        self.state.encoding().space().check(params)?;
        self.refresh()?;
        self.commit(|_| Ok(Decision::append(Event::Enqueued { params: params.clone() }, ())))
    }

    /// Adds trials that were made elsewhere, all or none. Those that were imported before, with the same parameters and
    /// the same outcome, are not added again: a file may be imported twice, or once more after it has grown.
    ///
    /// # Errors
    /// If a point is not in the space, a value is not finite, or storage cannot be written.
    pub fn import(&mut self, imports: &[Import]) -> Result<Imported, StudyError> {
        for (trial, import) in imports.iter().enumerate() {
            self.state.encoding().space().check(&import.params)?;
            if let Ok(Measurement { value, .. }) = import.outcome
                && !value.is_finite()
            {
                return Err(StudyError::NotFinite { trial, value });
            }
        }
        self.refresh()?;
        self.commit(|study| {
            let first = study.state.trials().len();
            let added = |(trial, import): (usize, &Import)| {
                let params = import.params.clone();
                let (measured, reason) = match &import.outcome {
                    Ok(measured) => (Some(measured.clone()), None),
                    Err(reason) => (None, Some(reason.clone())),
                };
                Event::Added { trial, params, measured, reason }
            };
            let events: Vec<Event> = (first..).zip(study.not_yet_there(imports)).map(added).collect();
            let result = Imported { first, n_added: events.len() };
            Ok(Decision { events, leases: Vec::new(), result })
        })
    }

    /// Of these, the ones that [`Study::import`] would add.
    pub fn not_yet_there<'a>(&self, imports: &'a [Import]) -> Vec<&'a Import> {
        let known = self.state.trials().iter().filter(|trial| trial.source == Source::Imported);
        let known = known.map(|trial| Import {
            params: trial.params.clone(),
            outcome: match (trial.measurements.first(), &trial.failure) {
                (Some(measured), _) => Ok(measured.clone()),
                (None, failure) => Err(failure.as_ref().map(|f| f.reason.clone()).unwrap_or_default()),
            },
        });
        import::new_ones(imports, known)
    }

    /// Goes on with another plan; nothing happens if it is the same.
    ///
    /// # Errors
    /// If storage cannot be written.
    pub fn change(&mut self, plan: Plan) -> Result<(), StudyError> {
        self.refresh()?;
        self.commit(|study| {
            if *study.state.plan() == plan {
                return Ok(Decision::leave(()));
            }
            Ok(Decision::append(Event::Changed { plan: Box::new(plan.clone()) }, ()))
        })
    }

    /// Puts back the trials of workers that are not heard of any more, or fails those that were started often enough.
    /// Gives the trials whose workers are: these may still be put back one day.
    ///
    /// # Errors
    /// If storage cannot be used.
    pub fn reclaim(&mut self) -> Result<Vec<usize>, StudyError> {
        self.commit(|study| {
            let mut decision = Decision::leave(Vec::new());
            for lease in study.log.leases(study.id)? {
                let trial = lease.trial;
                let known = study.state.trials().get(trial);
                let Some(known) = known.filter(|known| known.state == TrialState::Running) else { continue };
                if lease.has_expired || is_gone(&lease.owner) {
                    decision.events.push(study.lost(known, lease.has_expired));
                    decision = decision.release(trial);
                } else {
                    decision.result.push(trial);
                }
            }
            Ok(decision)
        })
    }

    fn lost(&self, trial: &Trial, has_expired: bool) -> Event {
        let worker = trial.worker.as_deref().unwrap_or("its worker");
        let reason = match has_expired {
            true => format!("{worker} was not heard of before its lease ran out"),
            false => format!("{worker} has ended without a word"),
        };
        let number = trial.number;
        if trial.attempts < self.state.plan().max_attempts {
            return Event::Requeued { trial: number, cause: Cause::Lost, reason };
        }
        let reason = format!("{reason}; that was attempt {}", trial.attempts);
        Event::Failed { trial: number, kind: FailureKind::Lost, reason, stderr: None, seconds: None }
    }

    fn trial(&self, trial: usize) -> Result<&Trial, StudyError> {
        self.state.trials().get(trial).ok_or_else(|| StudyError::NoTrial {
            study: self.name().to_owned(),
            trial,
            n_trials: self.state.trials().len(),
        })
    }

    /// Appends what `decide` wants, and has it decide again whenever somebody else has appended in the meantime.
    fn commit<T>(
        &mut self,
        mut decide: impl FnMut(&mut Self) -> Result<Decision<T>, StudyError>,
    ) -> Result<T, StudyError> {
        loop {
            let Decision { events, leases, result } = decide(self)?;
            if events.is_empty() {
                return Ok(result);
            }
            let head = self.state.head();
            let records: Vec<Record> =
                (head + 1..).zip(events).map(|(seq, event)| Record::new(seq, event)).collect();
            let bodies: Vec<String> = records.iter().map(Record::to_json).collect();
            let leases: Vec<LeaseChange<'_>> = leases.iter().map(Lease::change).collect();
            match self.log.append(self.id, head, &bodies, &leases)? {
                Appended::Stored => {
                    for record in records {
                        self.state.apply(record)?;
                    }
                    return Ok(result);
                }
                Appended::Moved => self.refresh()?,
                Appended::Gone => return Err(StudyError::Deleted { name: self.name().to_owned() }),
            }
        }
    }
}

/// What to append, and what to answer when that is done.
struct Decision<T> {
    events: Vec<Event>,
    leases: Vec<Lease>,
    result: T,
}

/// A change to a lease.
enum Lease {
    Claim { trial: usize, owner: String, lasts: Duration },
    Release { trial: usize },
}

impl<T> Decision<T> {
    fn leave(result: T) -> Self {
        Self { events: Vec::new(), leases: Vec::new(), result }
    }

    fn append(event: Event, result: T) -> Self {
        Self { events: vec![event], leases: Vec::new(), result }
    }

    fn claim(mut self, trial: usize, lease: Option<(&str, Duration)>) -> Self {
        let claimed = lease.map(|(owner, lasts)| Lease::Claim { trial, owner: owner.to_owned(), lasts });
        self.leases.extend(claimed);
        self
    }

    fn release(mut self, trial: usize) -> Self {
        self.leases.push(Lease::Release { trial });
        self
    }
}

impl Lease {
    fn change(&self) -> LeaseChange<'_> {
        match self {
            Self::Claim { trial, owner, lasts } => LeaseChange::Claim { trial: *trial, owner, lasts: *lasts },
            Self::Release { trial } => LeaseChange::Release { trial: *trial },
        }
    }
}

/// The state of a study in storage; `None` if it has no record.
fn fold(log: &mut dyn Log, id: StudyId) -> Result<Option<State>, StudyError> {
    let mut state = None;
    let mut first = Ok(());
    log.read(id, 0, &mut |_, body| {
        first = Record::from_json(body).and_then(State::new).map(|begun| state = Some(begun));
        Reading::Stop
    })?;
    first?;
    if let Some(state) = &mut state {
        read_on(log, id, state)?;
    }
    Ok(state)
}

/// Takes in the records after the head.
fn read_on(log: &mut dyn Log, id: StudyId, state: &mut State) -> Result<(), StudyError> {
    let mut result = Ok(());
    log.read(id, state.head(), &mut |seq, body| {
        let unreadable = |error| match error {
            StudyError::Unreadable { problem } => StudyError::broken(seq, problem),
            other => other,
        };
        result = Record::from_json(body).map_err(unreadable).and_then(|record| state.apply(record));
        if result.is_ok() { Reading::GoOn } else { Reading::Stop }
    })?;
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StudyFile;
    use crate::log::{Entry, Lease, StorageError};

    /// A log in which somebody else does something just before every append, as long as there is something to do.
    struct Meddled {
        log: Box<dyn Log>,
        meddling: Vec<Box<dyn FnOnce() + Send>>,
    }

    impl Log for Meddled {
        fn studies(&mut self) -> Result<Vec<Entry>, StorageError> {
            self.log.studies()
        }

        fn create(&mut self, name: &str, first: &str) -> Result<Option<StudyId>, StorageError> {
            self.log.create(name, first)
        }

        fn append(
            &mut self,
            study: StudyId,
            head: u64,
            bodies: &[String],
            leases: &[LeaseChange<'_>],
        ) -> Result<Appended, StorageError> {
            if let Some(meddle) = self.meddling.pop() {
                meddle();
            }
            self.log.append(study, head, bodies, leases)
        }

        fn read(
            &mut self,
            study: StudyId,
            after: u64,
            each: &mut dyn FnMut(u64, &str) -> Reading,
        ) -> Result<(), StorageError> {
            self.log.read(study, after, each)
        }

        fn delete(&mut self, study: StudyId) -> Result<bool, StorageError> {
            self.log.delete(study)
        }

        fn renew(
            &mut self,
            study: StudyId,
            trials: &[usize],
            owner: &str,
            lasts: Duration,
        ) -> Result<(), StorageError> {
            self.log.renew(study, trials, owner, lasts)
        }

        fn leases(&mut self, study: StudyId) -> Result<Vec<Lease>, StorageError> {
            self.log.leases(study)
        }
    }

    /// Two handles on a study of which the first has two running trials; the second is meddled with by the first.
    fn meddled(meddle: impl Fn(&mut Study) + Send + Sync + Clone + 'static, times: usize) -> Study {
        let text = "direction = 'maximize'\nparameters.x = { type = 'float', low = 0, high = 1 }";
        let storage = Storage::memory();
        let mut study = Study::create(&storage, StudyFile::parse(text).unwrap().definition).unwrap();
        (0..2).for_each(|_| drop(study.ask(None).unwrap()));
        let meddling = (0..times).map(|_| {
            let (storage, meddle) = (storage.clone(), meddle.clone());
            Box::new(move || meddle(&mut Study::open(&storage, "study").unwrap())) as Box<dyn FnOnce() + Send>
        });
        study.log = Box::new(Meddled { log: storage.connect().unwrap(), meddling: meddling.collect() });
        study
    }

    #[test]
    fn a_suggestion_survives_that_others_tell() {
        let mut study = meddled(|other| assert!(other.tell(0, Measurement::new(1.0), None).is_ok()), 1);
        let job = study.ask(None).unwrap();
        assert_eq!((job.trial, job.source), (2, Source::Suggested { seen: 3, gain: None }));
        assert_eq!(study.state().head(), 5);
        assert_eq!(study.verify(|_| ()).unwrap().mismatches, []);
    }

    #[test]
    fn a_suggestion_is_made_anew_when_others_have_asked() {
        let mut study = meddled(|other| drop(other.ask(None).unwrap()), 2);
        let job = study.ask(None).unwrap();
        assert_eq!((job.trial, job.source), (4, Source::Suggested { seen: 5, gain: None }));
        let points: Vec<&Assignment> = study.state().trials().iter().map(|trial| &trial.params).collect();
        assert!((0..points.len()).all(|i| !points[..i].contains(&points[i])), "{points:?}");
        assert_eq!(study.verify(|_| ()).unwrap().mismatches, []);
    }

    #[test]
    fn a_suggestion_that_is_not_what_the_log_says_is_found() {
        let mut study = meddled(|_| (), 0);
        let params = Assignment::from_iter([("x", 0.25)]);
        let asked = Event::Asked {
            trial: 2,
            params,
            source: Source::Suggested { seen: 3, gain: None },
            worker: None,
        };
        study.commit(|_| Ok(Decision::append(asked.clone(), ()))).unwrap();
        let verification = study.verify(|_| ()).unwrap();
        let wrong: Vec<usize> = verification.mismatches.iter().map(|mismatch| mismatch.trial).collect();
        assert_eq!((verification.n_suggestions, wrong), (3, vec![2]));
    }

    #[test]
    fn what_was_told_in_the_meantime_is_not_told_twice() {
        let mut study = meddled(|other| assert!(other.tell(0, Measurement::new(1.0), None).is_ok()), 1);
        assert_eq!(study.tell(0, Measurement::new(1.0), None).unwrap(), Kept::Already);
        assert_eq!(study.state().trials()[0].measurements.len(), 1);
    }
}
