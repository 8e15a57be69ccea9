//! The optimizer of a study, as a fold over its log.
//!
//! A suggestion for trial k is a pure function of the definition, of the log up to the record that was last seen, and of
//! stream k of the seed; in a batch, also of the points of the trials before it. So it can be made again by anybody at any time, which
//! is what [`verify`] does.
//!
//! What is proposed and told is the encoded form of the parameters in the log, never the optimizer's own numbers: decoding
//! and encoding rounds, and the log is all that others have.

use std::collections::{BTreeMap, VecDeque};
use std::ops::{ControlFlow, Range};

use optimist::space::{Assignment, Value};
use optimist::{
    Candidate, ENGINE_VERSION, MethodError, Optimizer, Policy, Recommendation, Suggestion, Why, rng,
};

use crate::definition::Definition;
use crate::error::StudyError;
use crate::event::{Event, Record, Source};
use crate::log::{Log, StudyId};
use crate::state::{State, Update};

/// The most values that a Gaussian process is fitted to: memory grows with their square, and this is 0.8 GB a matrix.
const MOST_FOR_A_PROCESS: usize = 10_000;

/// Whether the optimizer's model can be fitted to what a study has.
///
/// # Errors
/// If there are too many values for it.
pub(crate) fn check_size(state: &State) -> Result<(), StudyError> {
    let optimizer = state.definition().optimizer.name();
    if !optimizer.starts_with("gp-") {
        return Ok(());
    }
    let n_values = state.trials().iter().map(|trial| trial.measurements.len()).sum();
    if n_values > MOST_FOR_A_PROCESS {
        let optimizer = optimizer.to_owned();
        return Err(StudyError::TooManyValues { optimizer, n_values, most: MOST_FOR_A_PROCESS });
    }
    Ok(())
}

/// An optimizer that follows a study.
pub struct Sampler {
    optimizer: Optimizer,
    /// By trial: its encoded point.
    points: Vec<Vec<f64>>,
    /// How many updates of the study it knows.
    n_applied: usize,
    /// And in which revision.
    revision: usize,
}

impl Sampler {
    /// Knows nothing yet.
    ///
    /// # Errors
    /// If the settings of the optimizer do not fit the study.
    pub fn new(state: &State) -> Result<Self, StudyError> {
        Self::with_points(state, Vec::new())
    }

    /// The same with the encoded points of the first trials at hand.
    ///
    /// # Errors
    /// If the settings of the optimizer do not fit the study.
    pub fn with_points(state: &State, points: Vec<Vec<f64>>) -> Result<Self, StudyError> {
        let optimizer = build(state.definition(), state.encoding().domain(), state.plan().trials)?;
        Ok(Self { optimizer, points, n_applied: 0, revision: state.revision() })
    }

    /// Applies what has happened since; from the start if what it knows was amended.
    ///
    /// # Errors
    /// If the study has a point that is not in its space.
    pub fn refresh(&mut self, state: &State) -> Result<(), StudyError> {
        if self.revision != state.revision() {
            *self = Self::new(state)?;
        }
        while let Some(update) = state.updates().get(self.n_applied) {
            if let Update::Planned { trials } = *update {
                self.optimizer = build(state.definition(), state.encoding().domain(), trials)?;
                for update in &state.updates()[..self.n_applied] {
                    self.apply(update, state)?;
                }
            }
            self.apply(update, state)?;
            self.n_applied += 1;
        }
        Ok(())
    }

    fn apply(&mut self, update: &Update, state: &State) -> Result<(), StudyError> {
        let (trial, outcomes) = match update {
            Update::Planned { .. } => return Ok(()),
            Update::Proposed { trial } => {
                let x = self.point(*trial, state)?;
                self.optimizer.propose(x);
                return Ok(());
            }
            Update::Withdrawn { trial } => {
                let x = self.point(*trial, state)?;
                self.optimizer.withdraw(&x);
                return Ok(());
            }
            Update::Told { trial, outcome } => (*trial, outcome.outcomes()),
        };
        let x = self.point(trial, state)?;
        let told = self.optimizer.tell_outcomes(x, outcomes);
        told.map_err(|error| StudyError::broken(state.head(), format!("trial {trial}: {error}")))
    }

    fn point(&mut self, trial: usize, state: &State) -> Result<Vec<f64>, StudyError> {
        for number in self.points.len()..=trial {
            let missing = || StudyError::broken(state.head(), format!("there is no trial {number}"));
            let known = state.trial(number).ok_or_else(missing)?;
            let x = state.encoding().encode(&known.params);
            let broken = |error| StudyError::broken(state.head(), format!("trial {}: {error}", known.number));
            self.points.push(x.map_err(broken)?);
        }
        Ok(self.points[trial].clone())
    }

    /// What to try in these trials at the same time, and why: in each as if all before it had been proposed, `before` first.
    ///
    /// # Errors
    /// If the study has a point that is not in its space.
    pub fn suggest_many(
        &mut self,
        before: &[Assignment],
        trials: Range<usize>,
        state: &State,
    ) -> Result<Vec<(Assignment, Why)>, StudyError> {
        let encoded = |params: &Assignment| {
            let x = state.encoding().encode(params);
            x.map_err(|error| StudyError::broken(state.head(), format!("a point of a batch: {error}")))
        };
        let mut batch = self.optimizer.batch();
        for params in before {
            batch.propose(encoded(params)?);
        }
        let mut suggestions = Vec::new();
        for trial in trials {
            let Suggestion { x, why } = batch.suggest(&mut rng(state.definition().seed, trial as u64));
            let params = state.encoding().decode(&x);
            batch.propose(encoded(&params)?);
            suggestions.push((params, why));
        }
        Ok(suggestions)
    }

    /// By how much the best value is expected to become better.
    pub fn expected_gain(&self) -> Option<f64> {
        self.optimizer.expected_gain()
    }

    /// The point to bet on, and the trial that tried it; values are to be maximised.
    pub fn recommend(&self) -> Option<(Recommendation, Option<usize>)> {
        let recommended = self.optimizer.recommend()?;
        let trial = self.trial_at(&recommended.x);
        Some((recommended, trial))
    }

    /// With several outcomes, the points to choose from in the end, with the trials that tried them: a front, or one point.
    pub fn front(&self) -> Vec<(Candidate, Option<usize>)> {
        let tried = |candidate: Candidate| {
            let trial = self.trial_at(&candidate.x);
            (candidate, trial)
        };
        self.optimizer.front().into_iter().map(tried).collect()
    }

    /// With one goal and constraints, or constraints alone, the best points with what is believed of them; the point to bet on comes
    /// first.
    pub fn feasible_ranking(&self, n: usize) -> Vec<(Candidate, Option<usize>)> {
        let first = self.front().into_iter().next();
        let is_first = |x: &[f64]| first.as_ref().is_some_and(|(first, _)| first.x == x);
        let mut candidates = self.optimizer.policy().candidates(self.optimizer.history());
        candidates.retain(|candidate| !is_first(&candidate.x));
        let others: Vec<Candidate> = if self.optimizer.history().goals().maximized().is_empty() {
            candidates.sort_by(|a, b| b.feasibility.total_cmp(&a.feasibility));
            candidates
        } else {
            let others = self.optimizer.ranking(n).into_iter();
            others.filter_map(|other| candidates.iter().find(|one| one.x == other.x).cloned()).collect()
        };
        let tried = |candidate: Candidate| {
            let trial = self.trial_at(&candidate.x);
            (candidate, trial)
        };
        first.iter().cloned().chain(others.into_iter().map(tried)).take(n).collect()
    }

    fn trial_at(&self, x: &[f64]) -> Option<usize> {
        self.points.iter().position(|point| point == x)
    }

    /// The best points with the trials that tried them, the point to bet on first.
    pub fn ranking(&self, n: usize) -> Vec<(Recommendation, Option<usize>)> {
        let Some(first) = self.recommend().filter(|_| n > 0) else { return Vec::new() };
        let others = self.optimizer.ranking(n).into_iter().filter(|other| other.x != first.0.x);
        let others: Vec<_> = others
            .take(n - 1)
            .map(|other| {
                let trial = self.trial_at(&other.x);
                (other, trial)
            })
            .collect();
        std::iter::once(first).chain(others).collect()
    }

    /// What a user should know about how points were found.
    pub fn warnings(&self) -> Vec<String> {
        self.optimizer.warnings()
    }
}

fn build(
    definition: &Definition,
    domain: &optimist::encode::Domain,
    trials: usize,
) -> Result<Optimizer, MethodError> {
    let goals = definition.outcomes.for_optimizer();
    definition.optimizer.method().build_for(domain, &goals, trials, definition.seed)
}

/// What came of going through a log again.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Verification {
    /// How many records there are.
    pub n_records: u64,
    /// How many suggestions were made again.
    pub n_suggestions: usize,
    /// Those that came out differently.
    pub mismatches: Vec<Mismatch>,
    /// How many were made by other engines (`optimist::ENGINE_VERSION`), which cannot be made again here: by engine.
    pub by_other_engines: BTreeMap<u32, usize>,
}

/// A suggestion that is not what the log says.
#[derive(Debug, Clone, PartialEq)]
pub struct Mismatch {
    /// The number of the trial.
    pub trial: usize,
    /// What the log has.
    pub recorded: Assignment,
    /// What came out now.
    pub suggested: Assignment,
}

/// Makes every suggestion of a log again that this engine made, and compares it, bit for bit. `progress` is told the trial of
/// each.
///
/// # Errors
/// If the log cannot be read, or does not fold.
pub fn verify(
    log: &mut dyn Log,
    study: StudyId,
    mut progress: impl FnMut(usize),
) -> Result<Verification, StudyError> {
    let mut replay = Replay::default();
    let mut failed = None;
    log.read(study, 0, &mut |_, body| match Record::from_json(body)
        .and_then(|record| replay.apply(record, &mut progress))
    {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            failed = Some(error);
            ControlFlow::Break(())
        }
    })?;
    match failed {
        Some(error) => Err(error),
        None => replay.finish(),
    }
}

/// A study and its optimizer as they were when the next suggestion was made.
#[derive(Default)]
struct Replay {
    study: Option<(State, Sampler)>,
    /// Records that the next suggestion may not have seen.
    ahead: VecDeque<Record>,
    verification: Verification,
}

impl Replay {
    fn apply(&mut self, record: Record, progress: &mut impl FnMut(usize)) -> Result<(), StudyError> {
        self.verification.n_records += 1;
        if let Event::Asked { trial, params, source: Source::Suggested { seen, engine, since, .. }, .. } =
            &record.event
        {
            self.apply_until(*seen)?;
            let before = self.batch(since.unwrap_or(*trial)..*trial, record.seq)?;
            let Some((state, sampler)) = &mut self.study else {
                return Err(StudyError::broken(record.seq, "a trial before the study was created"));
            };
            let engine = engine.unwrap_or(state.engine());
            if engine != ENGINE_VERSION {
                *self.verification.by_other_engines.entry(engine).or_default() += 1;
                self.ahead.push_back(record);
                return Ok(());
            }
            sampler.refresh(state)?;
            for (suggested, _) in sampler.suggest_many(&before, *trial..*trial + 1, state)? {
                self.verification.n_suggestions += 1;
                if state.head() != *seen || !is_same(&suggested, params) {
                    let recorded = params.clone();
                    self.verification.mismatches.push(Mismatch { trial: *trial, recorded, suggested });
                }
            }
            progress(*trial);
        }
        self.ahead.push_back(record);
        Ok(())
    }

    /// The points of these trials, which were asked for together with the one of record `seq`.
    fn batch(&self, trials: Range<usize>, seq: u64) -> Result<Vec<Assignment>, StudyError> {
        let asked = |record: &Record| match &record.event {
            Event::Asked { trial, params, .. } if trials.contains(trial) => Some(params.clone()),
            _ => None,
        };
        let before: Vec<Assignment> = self.ahead.iter().filter_map(asked).collect();
        if before.len() == trials.len() {
            return Ok(before);
        }
        Err(StudyError::broken(seq, "it is of a batch whose other trials were not asked for with it"))
    }

    /// Applies the records up to `seen`.
    fn apply_until(&mut self, seen: u64) -> Result<(), StudyError> {
        while self.ahead.front().is_some_and(|record| record.seq <= seen) {
            let Some(record) = self.ahead.pop_front() else { break };
            match &mut self.study {
                Some((state, _)) => state.apply(record)?,
                None => {
                    let state = State::new(record)?;
                    let sampler = Sampler::new(&state)?;
                    self.study = Some((state, sampler));
                }
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Verification, StudyError> {
        self.apply_until(u64::MAX)?;
        if let Some((state, sampler)) = &mut self.study {
            sampler.refresh(state)?;
        }
        Ok(self.verification)
    }
}

/// The same values under the same names, to the last bit.
fn is_same(a: &Assignment, b: &Assignment) -> bool {
    let same_value = |a: &Value, b: &Value| match (a, b) {
        (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
        (a, b) => a == b,
    };
    a.len() == b.len()
        && a.iter().all(|(name, value)| b.get(name).is_some_and(|other| same_value(value, other)))
}
