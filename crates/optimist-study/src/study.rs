//! A study in its storage: how it is opened and looked at.
//!
//! What can be done to it is in `change`, and about what it has already in `amend`; how that gets into the log in `commit`, and how
//! whole logs and trials of others come in and out in `transfer`. `ask_tell` is a study of which only that is loaded that these
//! two need, from a `snapshot` beside the log.

mod amend;
mod ask_tell;
mod change;
mod commit;
mod rescue;
mod snapshot;
mod transfer;

use std::ops::ControlFlow;

use optimist::space::Assignment;
use optimist::{ENGINE_VERSION, Why};

use crate::definition::Definition;
use crate::error::StudyError;
use crate::evaluation::Measurement;
use crate::event::{Event, Record, Source};
use crate::identity::Identity;
use crate::log::{self, Log, Storage, StorageError, StudyId};
use crate::outcomes::{Outcomes, Search};
use crate::state::State;
use crate::suggest::{self, Sampler, Verification};
use crate::view::number::count;
use crate::view::{Best, Front};
pub use ask_tell::AskTell;
pub use rescue::{Salvaged, backup};
use snapshot::Snapshot;

/// A study that is open.
pub struct Study {
    storage: Storage,
    log: Box<dyn Log>,
    id: StudyId,
    state: State,
    /// Made when it is first needed.
    sampler: Option<Sampler>,
    identity: Identity,
    /// Who wants what is appended, where that is known.
    by: Option<String>,
    snapshot: Snapshot,
}

/// A trial to be measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// Its number, to be told with its value.
    pub trial: usize,
    /// What to run it with.
    pub params: Assignment,
    /// Who wanted this point.
    pub source: Source,
    /// How the optimizer found it, if it did.
    pub why: Option<Why>,
}

/// What became of what was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// It is stored.
    Stored,
    /// It was known: nothing was stored.
    Already,
}

/// A trial that was made elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub struct Import {
    /// What it was run with.
    pub params: Assignment,
    /// Its value, or why it has none.
    pub outcome: Result<Measurement, String>,
    /// With several outcomes: those that a failed trial was measured for.
    pub known: Option<Measurement>,
}

/// What became of trials that were to be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Imported {
    /// The number of the first.
    pub first: usize,
    /// How many were added; the others were there already.
    pub n_added: usize,
}

/// Creating and opening studies.
impl Study {
    /// Begins a study.
    ///
    /// # Errors
    /// If there is one of that name, its optimizer cannot do it, or storage cannot be written.
    pub fn create(storage: &Storage, definition: Definition) -> Result<Self, StudyError> {
        Self::create_by(storage, definition, None)
    }

    /// The same, with who wants it, for the log.
    ///
    /// # Errors
    /// See [`Study::create`].
    pub fn create_by(
        storage: &Storage,
        definition: Definition,
        by: Option<&str>,
    ) -> Result<Self, StudyError> {
        let name = definition.name.clone();
        if let Some(problem) = definition.misfit() {
            return Err(StudyError::Unsuitable { name, problem });
        }
        if log::is_hidden(&name) {
            return Err(StudyError::ReservedName { name });
        }
        let definition = Box::new(definition);
        let (optimist, engine) = (env!("CARGO_PKG_VERSION").to_owned(), ENGINE_VERSION);
        let created = Event::Created { optimist, engine, definition };
        let record = Record { by: by.map(str::to_owned), ..Record::new(1, created) };
        let body = record.to_json()?;
        let state = State::new(record)?;
        let sampler = Sampler::new(&state)?;
        let mut log = storage.connect()?;
        match log.create(&name, &body)? {
            Some(id) => Ok(Self::with(storage, log, id, state, Some(sampler))),
            None => Err(StudyError::Exists { name, storage: storage.to_string() }),
        }
    }

    /// Opens a study that is there.
    ///
    /// # Errors
    /// If it is not, or its log cannot be read.
    pub fn open(storage: &Storage, name: &str) -> Result<Self, StudyError> {
        let (mut log, id) = find(storage, name)?;
        let state = of_name(name, storage, whole(&mut *log, id)?)?;
        Ok(Self::with(storage, log, id, state, None))
    }

    /// Opens the study of that name and gives it this plan, or creates it; whether it was there. A space with wider
    /// bounds or further choices is taken over as well.
    ///
    /// # Errors
    /// If the study that is there is another one: of a different space, direction (or outcomes), optimizer or seed.
    pub fn resume_or_create(storage: &Storage, definition: Definition) -> Result<(Self, bool), StudyError> {
        match Self::create(storage, definition.clone()) {
            Err(StudyError::Exists { .. }) => {}
            created => return Ok((created?, false)),
        }
        let mut study = Self::open(storage, &definition.name)?;
        let known = study.state.definition();
        let settings = |definition: &Definition| {
            let settings = definition.optimizer.table().iter().filter(|(key, _)| *key != "name");
            let settings = settings.map(|(key, value)| format!(" {key}={value}")).collect::<String>();
            format!("{}{settings}", definition.optimizer.name())
        };
        let words = |definition: &Definition| {
            [
                (outcomes_word(&known.outcomes, &definition.outcomes), definition.outcomes.in_words()),
                ("optimizer", settings(definition)),
                ("seed", definition.seed.to_string()),
            ]
        };
        let differs = [
            known.outcomes != definition.outcomes,
            known.optimizer != definition.optimizer,
            known.seed != definition.seed,
        ];
        if let Some(at) = differs.iter().position(|differs| *differs) {
            let ((what, was), (_, says)) = (words(known)[at].clone(), words(&definition)[at].clone());
            return Err(StudyError::Different { name: definition.name, what, was, says });
        }
        let changes = study.widen(&definition.space)?;
        if !changes.is_empty() {
            let trials = count(study.state.trials().len(), "trial");
            storage.notify(&format!(
                "study `{}` now has a wider space and keeps its {trials}; {}",
                definition.name,
                changes.join("; ")
            ));
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

    /// Removes a study without reading it, because it is damaged.
    ///
    /// # Errors
    /// If it is not there, or storage cannot be written.
    pub fn delete_unread(storage: &Storage, name: &str) -> Result<(), StudyError> {
        let (mut log, id) = find(storage, name)?;
        log.delete(id)?;
        Ok(())
    }

    fn with(
        storage: &Storage,
        log: Box<dyn Log>,
        id: StudyId,
        state: State,
        sampler: Option<Sampler>,
    ) -> Self {
        let (storage, identity) = (storage.clone(), Identity::current());
        Self { storage, log, id, state, sampler, identity, by: None, snapshot: Snapshot::default() }
    }
}

/// Looking at a study.
impl Study {
    /// Says who wants what is done from now on, for the log; `None` if nobody needs to know.
    pub fn act_for(&mut self, by: Option<&str>) {
        self.by = by.map(str::to_owned);
    }

    /// How the study stood when it was last looked at.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Name of the study.
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
        if self.state.is_brief() {
            return self.refresh_brief();
        }
        read_on(&mut *self.log, self.id, &mut self.state)
    }

    /// The point to bet on: that with the best posterior mean, where the optimizer has a model that can be fitted to all values,
    /// or with the best value observed; with constraints, one that is likely to keep them. `None` before the first value, and if
    /// there are several goals: [`Study::front`] has the answer then.
    ///
    /// # Errors
    /// If the study has a point that is not in its space.
    pub fn recommend(&mut self) -> Result<Option<Best>, StudyError> {
        if suggest::check_size(&self.state).is_err() {
            return Ok(self.state.best_observed().map(|best| Best::observed(&self.state, best)));
        }
        match self.state.outcomes().search() {
            Search::Front => return Ok(None),
            Search::Best if !self.state.outcomes().has_constraints() => {}
            Search::Best | Search::Feasible => {
                let (sampler, state) = self.sampler()?;
                let best = sampler.front().into_iter().next();
                return Ok(best.map(|(candidate, trial)| Best::believed(state, &candidate, trial)));
            }
        }
        let recommended = self.sampler()?.0.recommend();
        Ok(recommended.map(|(recommended, trial)| Best::new(&self.state, recommended, trial)))
    }

    /// The best points, the recommended one first, the others by posterior mean where the optimizer has a model and by
    /// observed value where not: `n` of them, or fewer if there are no more.
    ///
    /// # Errors
    /// If the study has a point that is not in its space.
    pub fn ranking(&mut self, n: usize) -> Result<Vec<Best>, StudyError> {
        if n <= 1 && suggest::check_size(&self.state).is_err() {
            return Ok(self.recommend()?.into_iter().collect());
        }
        suggest::check_size(&self.state)?;
        match self.state.outcomes().search() {
            Search::Front => return Ok(Vec::new()),
            Search::Best if !self.state.outcomes().has_constraints() => {}
            Search::Best | Search::Feasible => {
                let (sampler, state) = self.sampler()?;
                let believed = |(candidate, trial)| Best::believed(state, &candidate, trial);
                return Ok(sampler.feasible_ranking(n).into_iter().map(believed).collect());
            }
        }
        let ranking = self.sampler()?.0.ranking(n);
        Ok(ranking
            .into_iter()
            .map(|(recommended, trial)| Best::new(&self.state, recommended, trial))
            .collect())
    }

    /// Where there are several goals, what there is to choose from: points that are likely to be feasible and that no other is
    /// expected to beat in every goal. `None` if there is at most one goal, or before the first trial of which all was measured.
    ///
    /// # Errors
    /// If the study has a point that is not in its space, or too many values for its optimizer.
    pub fn front(&mut self) -> Result<Option<Front>, StudyError> {
        if self.state.outcomes().search() != Search::Front {
            return Ok(None);
        }
        suggest::check_size(&self.state)?;
        let (sampler, state) = self.sampler()?;
        let candidates = sampler.front();
        Ok((!candidates.is_empty()).then(|| Front::new(state, candidates)))
    }

    /// By how much the best value is expected to become better with the next trial; `None` if the optimizer cannot say.
    ///
    /// # Errors
    /// If the study has a point that is not in its space, or too many values for its optimizer.
    pub fn expected_gain(&mut self) -> Result<Option<f64>, StudyError> {
        suggest::check_size(&self.state)?;
        Ok(self.sampler()?.0.expected_gain())
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
        if let Err(error) = suggest::check_size(&self.state) {
            return Ok(vec![error.to_string()]);
        }
        let (sampler, state) = self.sampler()?;
        let mut warnings = sampler.warnings();
        for (because, n) in state.random_draws() {
            let suggestions = count(n, "suggestion");
            warnings.push(format!("{suggestions} drawn at random instead of chosen by a model: {because}"));
        }
        Ok(warnings)
    }

    /// Looks for damage of the storage, and makes every suggestion again and compares it. `progress` is told the trial of
    /// each.
    ///
    /// # Errors
    /// If storage is damaged, or the log does not fold.
    pub fn verify(&mut self, progress: impl FnMut(usize)) -> Result<Verification, StudyError> {
        self.log.check()?;
        suggest::verify(&mut *self.log, self.id, progress)
    }

    /// The optimizer with all that it can know, and the state that it knows.
    fn sampler(&mut self) -> Result<(&mut Sampler, &State), StudyError> {
        let sampler = match self.sampler.take() {
            Some(sampler) => sampler,
            None => {
                let points = self.recall()?;
                Sampler::with_points(&self.state, points)?
            }
        };
        let sampler = self.sampler.insert(sampler);
        sampler.refresh(&self.state)?;
        Ok((sampler, &self.state))
    }
}

/// What differs if outcomes do, as a study file calls it.
fn outcomes_word(a: &Outcomes, b: &Outcomes) -> &'static str {
    if a.is_one() && b.is_one() { "direction" } else { "`outcomes`" }
}

/// A study by its name.
fn find(storage: &Storage, name: &str) -> Result<(Box<dyn Log>, StudyId), StudyError> {
    let not_found = |others| {
        let (name, storage) = (name.to_owned(), storage.to_string());
        Err(StudyError::NotFound { name, storage, others })
    };
    if !storage.exists()? {
        return not_found(Vec::new());
    }
    let mut log = storage.connect()?;
    let entries = log::listed(&mut *log)?;
    match entries.iter().find(|entry| entry.name == name) {
        Some(entry) => Ok((log, entry.id)),
        None => not_found(entries.into_iter().map(|entry| entry.name).collect()),
    }
}

/// The state, if it is that of the study of this name. The list of studies may be damaged, too.
fn of_name(name: &str, storage: &Storage, state: State) -> Result<State, StudyError> {
    match &state.definition().name {
        found if found == name => Ok(state),
        other => {
            let problem = format!("what is listed as study `{name}` is study `{other}`");
            Err(StorageError::Damaged { place: storage.to_string(), problem }.into())
        }
    }
}

/// The state of a study in storage, folded from its first record on.
fn whole(log: &mut dyn Log, id: StudyId) -> Result<State, StudyError> {
    fold(log, id)?.ok_or_else(|| StudyError::broken(1, "the log is empty"))
}

/// The state of a study in storage; `None` if it has no record.
fn fold(log: &mut dyn Log, id: StudyId) -> Result<Option<State>, StudyError> {
    let mut state = None;
    let mut first = Ok(());
    log.read(id, 0, &mut |_, body| {
        first = Record::from_json(body).and_then(State::new).map(|begun| state = Some(begun));
        ControlFlow::Break(())
    })?;
    first?;
    if let Some(state) = &mut state {
        read_on(log, id, state)?;
    }
    Ok(state)
}

/// Applies the records after the head.
fn read_on(log: &mut dyn Log, id: StudyId, state: &mut State) -> Result<(), StudyError> {
    let mut result = Ok(());
    log.read(id, state.head(), &mut |seq, body| {
        result = record(seq, body).and_then(|record| state.apply(record));
        if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    result
}

/// Record `seq` of a log.
fn record(seq: u64, body: &str) -> Result<Record, StudyError> {
    Record::from_json(body).map_err(|error| match error {
        StudyError::Unreadable { problem } => StudyError::broken(seq, problem),
        other => other,
    })
}
