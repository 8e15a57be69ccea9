//! How a study stands: a pure fold over the records of its log.
//!
//! Given: records, one after the other. Gives: trials, what its optimizer is told, in order, and by `agenda` what is
//! to be done next and when the study is over. Does not know: storage, clocks, leases, optimizers. Each record costs the
//! same, however long the log is.

mod agenda;
mod amend;
pub(crate) mod brief;
mod check;
mod trials;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use optimist::encode::Encoding;
use optimist::space::Assignment;
use optimist::{Outcome, Why};
use serde::Serialize;

use crate::definition::{Definition, Plan};
use crate::error::StudyError;
use crate::evaluation::{Measured, Measurement};
use crate::event::{Cause, Course, Event, Record, Source};
use crate::outcomes::{NamedOutcome, Outcomes};
use crate::trial::{Failure, Trial, TrialState};
pub use agenda::{Next, Over};
use brief::LeftOut;
pub(crate) use check::check_event;
use trials::Trials;

/// How a study stands after its log so far.
#[derive(Debug, Clone)]
pub struct State {
    definition: Definition,
    encoding: Encoding,
    engine: u32,
    head: u64,
    created_at: u64,
    trials: Trials,
    /// Enqueued points, the oldest first.
    queue: VecDeque<Assignment>,
    running: BTreeSet<usize>,
    waiting: BTreeSet<usize>,
    /// Trials that the plan has to pay for.
    n_counted: usize,
    /// The expected gains of the last suggestions, where they are known.
    gains: VecDeque<Option<f64>>,
    updates: Vec<Update>,
    /// What is left out of it, if anything is.
    left_out: Option<LeftOut>,
    /// How often updates that were there before have changed.
    revision: usize,
    widenings: Vec<Widening>,
    course: Course,
    /// Notes on the study (`None`) and on trials.
    notes: BTreeMap<Option<usize>, Note>,
}

/// A note on a study or a trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// When: milliseconds since 1970.
    pub at: u64,
    /// The text, as Markdown.
    pub text: String,
}

/// The space became wider.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Widening {
    /// When: milliseconds since 1970.
    pub at: u64,
    /// How many trials there were.
    pub trials: usize,
    /// What changed, in words, a parameter each.
    pub changes: Vec<String>,
}

/// What the optimizer is told of a trial, or of the plan.
#[derive(Debug, Clone, PartialEq)]
pub enum Update {
    /// A trial is going to be measured.
    Proposed {
        /// Number of the trial, from 0.
        trial: usize,
    },
    /// It was measured, or failed.
    Told {
        /// Number of the trial, from 0.
        trial: usize,
        /// In the optimizer's terms: to be maximised.
        outcome: Told,
    },
    /// Nobody will measure it.
    Withdrawn {
        /// Number of the trial, from 0.
        trial: usize,
    },
    /// How many trials are planned from now on.
    Planned {
        /// Number of trials planned in all.
        trials: usize,
    },
}

/// What came of a trial, as the optimizer is told.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    /// In a study with a single outcome.
    One(Outcome),
    /// One for each outcome, in the order of declaration.
    Several(Box<[Outcome]>),
}

impl Told {
    /// One for each outcome, in the order of declaration.
    pub fn outcomes(&self) -> &[Outcome] {
        match self {
            Self::One(outcome) => std::slice::from_ref(outcome),
            Self::Several(outcomes) => outcomes,
        }
    }
}

impl State {
    /// The state after the first record.
    ///
    /// # Errors
    /// If that is not the beginning of a study.
    pub fn new(record: Record) -> Result<Self, StudyError> {
        let Record { seq: 1, at, event: Event::Created { definition, engine, .. }, .. } = record else {
            return Err(StudyError::broken(
                record.seq,
                "the log of a study starts with `created`, as record 1",
            ));
        };
        let updates = vec![Update::Planned { trials: definition.plan.trials }];
        Ok(Self {
            encoding: Encoding::new(definition.space.clone()),
            definition: *definition,
            engine,
            head: 1,
            created_at: at,
            trials: Trials::default(),
            queue: VecDeque::new(),
            running: BTreeSet::new(),
            waiting: BTreeSet::new(),
            n_counted: 0,
            gains: VecDeque::new(),
            updates,
            left_out: None,
            revision: 0,
            widenings: Vec::new(),
            course: Course::Going,
            notes: BTreeMap::new(),
        })
    }

    /// Applies the next record.
    ///
    /// # Errors
    /// If it does not follow from those before it. Nothing is changed then.
    pub fn apply(&mut self, record: Record) -> Result<(), StudyError> {
        let Record { seq, at, event, .. } = record;
        if seq != self.head + 1 {
            let problem = format!("record {} is followed by record {seq}: some are missing", self.head);
            return Err(StudyError::broken(seq, problem));
        }
        self.apply_event(at, event).map_err(|problem| StudyError::broken(seq, problem))?;
        self.head = seq;
        Ok(())
    }

    fn apply_event(&mut self, at: u64, event: Event) -> Result<(), String> {
        match event {
            Event::Created { .. } => return Err("a study can only be created once".into()),
            Event::Changed { plan } => self.change(*plan),
            Event::Enqueued { params } => self.queue.push_back(params),
            Event::Asked { trial, params, source, worker, why } => {
                self.check_new(trial)?;
                self.asked(&params, source)?;
                self.trials.push(Trial { why, ..Trial::asked(trial, params, source, worker, at) });
                self.running.insert(trial);
                self.n_counted += 1;
                self.updates.push(Update::Proposed { trial });
            }
            Event::Retried { trial, worker } => {
                let known = self.known(trial)?;
                known.attempts += 1;
                known.worker = worker;
                self.set_state(trial, TrialState::Running, at);
            }
            Event::Told { trial, measured, seconds } => {
                let update = self.told_measured(trial, &measured);
                let known = self.known(trial)?;
                known.measurements.push(measured);
                known.seconds = seconds.or(known.seconds);
                self.set_state(trial, TrialState::Complete, at);
                self.updates.push(update);
            }
            Event::Failed { trial, kind, reason, stderr, known: measured, seconds } => {
                let update = self.told_failed(trial, measured.as_deref());
                let known = self.known(trial)?;
                known.failure = Some(Failure { kind: Some(kind), reason, stderr, known: measured });
                known.seconds = seconds.or(known.seconds);
                self.set_state(trial, TrialState::Failed, at);
                self.updates.push(update);
            }
            Event::Requeued { trial, cause, reason } => {
                let known = self.known(trial)?;
                if cause == Cause::Stopped {
                    known.attempts = known.attempts.saturating_sub(1);
                }
                known.failure = Some(Failure { kind: None, reason, stderr: None, known: None });
                self.set_state(trial, TrialState::Waiting, at);
            }
            Event::Cancelled { trial } => {
                self.known(trial)?;
                self.set_state(trial, TrialState::Cancelled, at);
                self.updates.push(Update::Withdrawn { trial });
            }
            Event::Added { trial, params, measured, reason } => {
                self.check_new(trial)?;
                let is_whole = |measured: &Measurement| self.outcomes().is_whole(measured);
                let (measured, known) = match measured {
                    Some(measured) if reason.is_none() && is_whole(&measured) => (Some(measured), None),
                    measured => (None, measured),
                };
                let update = match &measured {
                    Some(measured) => self.told_measured(trial, measured),
                    None => self.told_failed(trial, known.as_ref()),
                };
                self.trials.push(Trial::added(trial, params, measured, known, reason, at));
                self.updates.push(update);
            }
            Event::Amended { trial, params, outcome, reason } => {
                self.amend(trial, params, outcome, reason, at)?;
            }
            Event::Widened { space } => self.widen(*space, at)?,
            Event::Steered { course } => self.course = course,
            Event::Noted { trial, text } => self.take_note(trial, text, at)?,
        }
        Ok(())
    }

    fn take_note(&mut self, trial: Option<usize>, text: String, at: u64) -> Result<(), String> {
        if let Some(trial) = trial.filter(|&trial| trial >= self.n_trials()) {
            return Err(format!("there is no trial {trial}"));
        }
        if text.is_empty() {
            self.notes.remove(&trial);
        } else {
            self.notes.insert(trial, Note { at, text });
        }
        Ok(())
    }

    fn change(&mut self, plan: Plan) {
        if plan.trials != self.definition.plan.trials {
            self.updates.push(Update::Planned { trials: plan.trials });
        }
        self.definition.plan = plan;
    }

    /// What a new trial takes from the queue, or says about the gain.
    fn asked(&mut self, params: &Assignment, source: Source) -> Result<(), String> {
        match source {
            Source::Enqueued => {
                let place = self.queue.iter().position(|queued| queued == params);
                let place = place.ok_or("the trial uses an enqueued point that isn't in the queue")?;
                self.queue.remove(place);
            }
            Source::Suggested { gain, .. } => {
                self.gains.push_back(gain);
                if self.gains.len() > agenda::LOW_GAINS {
                    self.gains.pop_front();
                }
            }
            Source::Replicate { of } => {
                self.known(of)?;
            }
            Source::Imported => {}
        }
        Ok(())
    }

    /// What the optimizer learns from a trial that was measured.
    fn told_measured(&self, trial: usize, measured: &Measurement) -> Update {
        self.told(trial, |outcome| measured.values.get(&outcome.name))
    }

    /// What it learns from one that failed, of which some outcomes may be known. If all are, it isn't told the goals (without a goal,
    /// nothing): a point where a trial failed must not be the answer.
    fn told_failed(&self, trial: usize, known: Option<&Measurement>) -> Update {
        let is_whole = known.is_some_and(|known| self.outcomes().is_whole(known));
        let has_goals = self.outcomes().goals().next().is_some();
        let is_told = |outcome: &NamedOutcome| !is_whole || (has_goals && !outcome.is_goal());
        self.told(trial, |outcome| known.filter(|_| is_told(outcome))?.values.get(&outcome.name))
    }

    /// What was measured of each outcome. The one place where a sign is flipped on the way in.
    fn told(&self, trial: usize, measured: impl Fn(&NamedOutcome) -> Option<Measured>) -> Update {
        let outcome = |outcome: &NamedOutcome| match measured(outcome) {
            Some(Measured { value, noise_std }) => {
                Outcome::Value { y: outcome.aim.direction().flip(value), noise_std }
            }
            None => Outcome::Failed,
        };
        let outcome = match self.outcomes().all() {
            [only] => Told::One(outcome(only)),
            all => Told::Several(all.iter().map(outcome).collect()),
        };
        Update::Told { trial, outcome }
    }

    /// A value of an outcome that the core maximises, as users read it: what [`State::told`] does, undone. Outcomes are counted in
    /// the order of declaration.
    pub(crate) fn in_user_direction(&self, outcome: usize, y: f64) -> f64 {
        self.outcomes().all()[outcome].aim.direction().flip_back(y)
    }

    fn check_new(&self, trial: usize) -> Result<(), String> {
        let next = self.trials.len();
        if trial == next { Ok(()) } else { Err(format!("the next trial is {next}, not {trial}")) }
    }

    fn known(&mut self, trial: usize) -> Result<&mut Trial, String> {
        self.trials.get_mut(trial).ok_or_else(|| format!("there is no trial {trial}"))
    }

    fn set_state(&mut self, trial: usize, state: TrialState, at: u64) {
        let Some(known) = self.trials.get_mut(trial) else { return };
        let counts = |state| state != TrialState::Cancelled && known.source != Source::Imported;
        self.n_counted = self.n_counted + usize::from(counts(state)) - usize::from(counts(known.state));
        known.state = state;
        known.ended_at = known.has_ended().then_some(at);
        for (set, member) in
            [(&mut self.running, TrialState::Running), (&mut self.waiting, TrialState::Waiting)]
        {
            if state == member {
                set.insert(trial);
            } else {
                set.remove(&trial);
            }
        }
    }
}

/// What follows from it.
impl State {
    /// What the study is about, with the plan as it is now.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// How it is run.
    pub fn plan(&self) -> &Plan {
        &self.definition.plan
    }

    /// The space and its place in the unit cube.
    pub fn encoding(&self) -> &Encoding {
        &self.encoding
    }

    /// The engine that the study was created with (`optimist::ENGINE_VERSION`); 0 before these were counted.
    pub fn engine(&self) -> u32 {
        self.engine
    }

    /// The number of the last record.
    pub fn head(&self) -> u64 {
        self.head
    }

    /// When the study began: milliseconds since 1970.
    pub fn created_at(&self) -> u64 {
        self.created_at
    }

    /// All trials, by number.
    pub fn trials(&self) -> &[Trial] {
        self.trials.all()
    }

    /// A trial by its number.
    pub fn trial(&self, number: usize) -> Option<&Trial> {
        self.trials.get(number)
    }

    /// How many trials there are.
    pub fn n_trials(&self) -> usize {
        self.trials.len()
    }

    /// Trials that are running.
    pub fn running(&self) -> impl Iterator<Item = &Trial> {
        self.running.iter().filter_map(|&trial| self.trials.get(trial))
    }

    /// Trials that were put back and wait for a worker.
    pub fn waiting(&self) -> impl Iterator<Item = &Trial> {
        self.waiting.iter().filter_map(|&trial| self.trials.get(trial))
    }

    /// Enqueued points, the oldest first.
    pub fn queue(&self) -> impl Iterator<Item = &Assignment> {
        self.queue.iter()
    }

    /// How many trials the plan has paid for: all but imported and cancelled ones.
    pub fn n_counted(&self) -> usize {
        self.n_counted
    }

    /// How many of those have ended.
    pub fn n_done(&self) -> usize {
        self.n_counted - self.running.len() - self.waiting.len()
    }

    /// How many trials are in this state.
    pub fn count(&self, state: TrialState) -> usize {
        self.trials().iter().filter(|trial| trial.state == state).count()
    }

    /// What the optimizer is told, in order. Those that were there before stay as they are until [`State::revision`] rises.
    pub fn updates(&self) -> &[Update] {
        &self.updates
    }

    /// How often trials that the optimizer knew, or its domain, have changed; it then starts over.
    pub fn revision(&self) -> usize {
        self.revision
    }

    /// How the space became what it is, the first change first.
    pub fn widenings(&self) -> &[Widening] {
        &self.widenings
    }

    /// Whether runs continue, pause or stop.
    pub fn course(&self) -> Course {
        self.course
    }

    /// The note on a trial, or on the whole study if `trial` is `None`.
    pub fn note(&self, trial: Option<usize>) -> Option<&Note> {
        self.notes.get(&trial)
    }

    /// Why points were drawn at random that a model should have chosen, and how many.
    pub fn random_draws(&self) -> BTreeMap<&str, usize> {
        let mut draws = BTreeMap::new();
        for trial in self.trials() {
            if let Some(Why::Random { because }) = &trial.why {
                *draws.entry(because.as_str()).or_default() += 1;
            }
        }
        draws
    }

    /// What is measured in a trial.
    pub fn outcomes(&self) -> &Outcomes {
        &self.definition.outcomes
    }

    /// Whether any trial has a value, of all outcomes if there are several.
    pub fn has_values(&self) -> bool {
        self.trials().iter().any(|trial| !trial.measurements.is_empty())
    }

    /// Whether a trial keeps all constraints, by the means of what was measured; `None` if too little was.
    pub fn is_feasible(&self, trial: &Trial) -> Option<bool> {
        self.outcomes().is_feasible(|name| trial.value_of(name))
    }

    /// The trial with the best value observed among those that are feasible, the first of equals; without a goal, the first that
    /// is feasible. `None` also if there are several goals: then there is a front.
    pub fn best_observed(&self) -> Option<&Trial> {
        let best = self.trials().iter().filter_map(|trial| Some((self.merit(trial)?, trial)));
        let best = best.reduce(|best, next| if self.is_better(next.0, best.0) { next } else { best });
        best.map(|(_, trial)| trial)
    }

    /// By what the best trial is chosen: see [`Outcomes::merit`]. `None` of one that failed, whatever is known of it.
    pub fn merit(&self, trial: &Trial) -> Option<f64> {
        self.outcomes().merit(|name| trial.measured_value_of(name))
    }

    /// What is traded off where there are several goals: see [`Outcomes::traded`]. `None` of one that failed, whatever is known of it.
    pub fn traded(&self, trial: &Trial) -> Option<Vec<f64>> {
        self.outcomes().traded(|name| trial.measured_value_of(name))
    }

    /// Whether one merit is better than another.
    pub(crate) fn is_better(&self, merit: f64, other: f64) -> bool {
        self.outcomes().is_better(merit, other)
    }
}

impl Trial {
    pub(crate) fn asked(
        number: usize,
        params: Assignment,
        source: Source,
        worker: Option<String>,
        at: u64,
    ) -> Self {
        Self {
            number,
            params,
            source,
            why: None,
            state: TrialState::Running,
            attempts: 1,
            measurements: Vec::new(),
            failure: None,
            seconds: None,
            worker,
            asked_at: at,
            ended_at: None,
            amendments: Vec::new(),
        }
    }

    fn added(
        number: usize,
        params: Assignment,
        measured: Option<Measurement>,
        known: Option<Measurement>,
        reason: Option<String>,
        at: u64,
    ) -> Self {
        let state = if measured.is_some() { TrialState::Complete } else { TrialState::Failed };
        let reason = reason.unwrap_or_else(|| "it failed where it was run".to_owned());
        let failure = Failure { kind: None, reason, stderr: None, known: known.map(Box::new) };
        let failure = measured.is_none().then_some(failure);
        Self {
            state,
            attempts: 0,
            measurements: measured.into_iter().collect(),
            failure,
            ended_at: Some(at),
            ..Self::asked(number, params, Source::Imported, None, at)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StudyFile;
    use crate::event::Amendment;

    fn begun(lines: &str) -> State {
        let text = format!("direction = 'maximize'\n{lines}\nparameters.x = {{ type = 'bool' }}");
        let definition = Box::new(StudyFile::parse(&text).unwrap().definition);
        State::new(Record::new(1, Event::Created { optimist: "0".into(), engine: 0, definition })).unwrap()
    }

    pub(super) fn asked(trial: usize, gain: Option<f64>) -> Event {
        let params = Assignment::from_iter([("x", trial.is_multiple_of(2))]);
        Event::Asked {
            trial,
            params,
            source: Source::Suggested { seen: 1, gain, engine: None, since: None },
            worker: None,
            why: None,
        }
    }

    pub(super) fn after(lines: &str, events: impl IntoIterator<Item = Event>) -> State {
        let mut state = begun(lines);
        for event in events {
            state.apply(Record::new(state.head() + 1, event)).unwrap();
        }
        state
    }

    #[test]
    fn a_log_begins_with_created_and_has_no_gaps() {
        assert!(State::new(Record::new(1, asked(0, None))).is_err());
        let mut state = begun("");
        let error = state.apply(Record::new(3, asked(0, None))).unwrap_err().to_string();
        assert!(error.contains("record 1 is followed by record 3: some are missing"), "{error}");
        let definition = Box::new(state.definition().clone());
        let created = Event::Created { optimist: "0".into(), engine: 0, definition };
        assert!(state.apply(Record::new(2, created)).is_err());
        assert_eq!((state.head(), state.trials().len()), (1, 0));
    }

    #[test]
    fn a_record_that_does_not_follow_is_refused_and_changes_nothing() {
        let told = |trial| Event::Told { trial, measured: Measurement::new(1.0), seconds: None };
        let params = Assignment::from_iter([("x", true)]);
        let refused = [
            asked(2, None),
            told(1),
            Event::Cancelled { trial: 1 },
            Event::Retried { trial: 9, worker: None },
            Event::Added { trial: 0, params: params.clone(), measured: None, reason: None },
            Event::Amended { trial: 1, params: None, outcome: Some(Amendment::Cancelled), reason: None },
            Event::Asked {
                trial: 1,
                params: params.clone(),
                source: Source::Enqueued,
                worker: None,
                why: None,
            },
            Event::Asked { trial: 1, params, source: Source::Replicate { of: 1 }, worker: None, why: None },
        ];
        for event in refused {
            let mut state = after("", [asked(0, None)]);
            let before = format!("{state:?}");
            let error = state.apply(Record::new(3, event.clone())).unwrap_err();
            assert!(matches!(error, StudyError::Broken { seq: 3, .. }), "{event:?}: {error}");
            assert_eq!(format!("{state:?}"), before, "{event:?}");
        }
    }

    #[test]
    fn updates_are_what_happened_with_the_sign_to_be_maximised() {
        let told = Event::Told { trial: 0, measured: Measurement::new(2.0), seconds: None };
        let events = [asked(0, None), asked(1, None), told, Event::Cancelled { trial: 1 }];
        let state = after("trials = 7", events);
        let expected = [
            Update::Planned { trials: 7 },
            Update::Proposed { trial: 0 },
            Update::Proposed { trial: 1 },
            Update::Told { trial: 0, outcome: Told::One(Outcome::Value { y: 2.0, noise_std: None }) },
            Update::Withdrawn { trial: 1 },
        ];
        assert_eq!(state.updates(), expected);
    }
}
