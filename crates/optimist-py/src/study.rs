//! Studies, as the package calls them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use optimist::Method;
use optimist::space::Assignment;
use optimist_plot::study::{PlotKind, Plots as Drawn};
use optimist_study::outcomes::Unusable;
use optimist_study::view::{Best, ListedStudy, StudyView, TrialView};
use optimist_study::{
    Amendment, Definition, Evaluation, FailureKind, Front, Import, Job, Kept, Measured, Measurement,
    Outcomes, Storage, StudyError, StudyFile, StudyInsight, Trial, Values,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PySet};
use serde_json::{Value, json};

use crate::call;
use crate::convert::{from_python, json_from_python, to_python};
use crate::error;
use crate::plot::Plots;
use crate::shared::{Problem, Shared, lines, storage_at};

/// If the last suggestion took no longer than this, the next one is made in the caller's thread: another thread, in which it can't
/// delay Ctrl-C, costs 0.06 ms.
const QUICK: Duration = Duration::from_millis(1);

/// A study in its storage. Threads may share it; a forked child opens it again.
#[pyclass(frozen, module = "optimist._native")]
pub struct Study {
    shared: Arc<Shared>,
}

#[pymethods]
impl Study {
    // Opening.

    /// Opens the study with this definition and sets its plan, or creates it.
    #[staticmethod]
    fn resume_or_create(
        py: Python<'_>,
        place: Option<String>,
        definition: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let definition = definition_from(definition)?;
        Self::open_by(py, place, move |storage| {
            let (study, _) = optimist_study::Study::resume_or_create(storage, definition)?;
            Ok(study)
        })
    }

    /// Opens an existing study.
    #[staticmethod]
    fn open(py: Python<'_>, place: Option<String>, name: String) -> PyResult<Self> {
        Self::open_by(py, place, move |storage| optimist_study::Study::open(storage, &name))
    }

    /// Opens or creates the study that a study file describes.
    #[staticmethod]
    fn from_file(py: Python<'_>, place: Option<String>, path: PathBuf) -> PyResult<Self> {
        let definition = StudyFile::read(&path).map_err(|error| error::study_file(py, &error))?.definition;
        Self::open_by(py, place, move |storage| {
            let (study, _) = optimist_study::Study::resume_or_create(storage, definition)?;
            Ok(study)
        })
    }

    /// A study in memory, from the records that `export` returned.
    #[staticmethod]
    fn restore(py: Python<'_>, records: Vec<String>) -> PyResult<Self> {
        Self::open_by(py, None, move |storage| {
            optimist_study::Study::restore(storage, records.iter().map(String::as_str), None)
        })
    }

    /// Every record of the log, as it is stored.
    fn export(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.call(py, lines)
    }

    /// Deletes the study with all its trials.
    fn delete(&self, py: Python<'_>) -> PyResult<()> {
        let place = self.shared.place.clone();
        self.call(py, move |study| match place {
            Some(place) => optimist_study::Study::open(&storage_at(Some(&place))?, study.name())?.delete(),
            None => optimist_study::Study::open(study.storage(), study.name())?.delete(),
        })
    }

    // Changing it.

    /// The next `k` trials, whatever the plan says.
    fn ask<'py>(
        &self,
        py: Python<'py>,
        k: usize,
        worker: Option<String>,
        lease: Option<f64>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let lease = lease.map(Duration::try_from_secs_f64).transpose();
        let lease = lease.map_err(|problem| error::invalid(py, format!("lease: {problem}")))?;
        let jobs = self.take(py, move |study| {
            study.reclaim()?;
            study.ask_many(k, worker.as_deref(), lease)
        })?;
        jobs.iter().map(|job| job_to_python(py, job)).collect()
    }

    /// Claims up to `k` trials under the plan, with leases; also returns the numbers of all running trials. The claimed numbers are
    /// added to `held` here, because in Python Ctrl-C could come in between.
    fn claim<'py>(
        &self,
        py: Python<'py>,
        held: &Bound<'py, PySet>,
        k: usize,
    ) -> PyResult<(Vec<Bound<'py, PyAny>>, Vec<usize>)> {
        let running = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&running);
        let jobs = self.take(py, move |study| {
            study.refresh()?;
            *call::lock(&seen) = study.reclaim()?;
            study.claim_many(k)
        })?;
        for job in &jobs {
            held.add(job.trial)?;
        }
        let running = call::lock(&running).clone();
        let jobs = jobs.iter().map(|job| job_to_python(py, job)).collect::<PyResult<_>>()?;
        Ok((jobs, running))
    }

    /// Renews the leases of trials that were claimed here.
    fn renew(&self, py: Python<'_>, trials: Vec<usize>) -> PyResult<()> {
        self.call(py, move |study| study.renew(&trials))
    }

    /// Tells the value of a trial. Returns whether that was news.
    #[pyo3(signature = (trial, measured, seconds=None, params=None))]
    fn tell(
        &self,
        py: Python<'_>,
        trial: usize,
        measured: Told<'_>,
        seconds: Option<f64>,
        params: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<bool> {
        let (measured, with) = (measurement(measured)?, assignment(params)?);
        self.call(py, move |study| Ok(study.tell_with(trial, measured, seconds, &with)? == Kept::Stored))
    }

    /// Tells what an objective returned; if that can't be told, the trial has failed, and keeps the outcomes that are valid. Returns
    /// whether that was news.
    #[pyo3(signature = (trial, measured, seconds=None))]
    fn report(
        &self,
        py: Python<'_>,
        trial: usize,
        measured: Told<'_>,
        seconds: Option<f64>,
    ) -> PyResult<bool> {
        let measured = measurement(measured)?;
        self.call(py, move |study| {
            let ended = match study.state().outcomes().check(measured) {
                Ok(measured) => Evaluation::Measured(measured),
                Err(Unusable { reason, known }) => Evaluation::Failed {
                    kind: FailureKind::Unreadable,
                    reason,
                    stderr: None,
                    known: known.map(Box::new),
                },
            };
            Ok(study.tell(trial, ended, seconds)? == Kept::Stored)
        })
    }

    /// Corrects a trial that has ended. `outcome` is a measurement, or why it failed; without it, only `params` are corrected, or the
    /// trial is cancelled. Returns whether that was news.
    #[pyo3(signature = (trial, params, reason, outcome=None, is_cancelled=false))]
    fn amend(
        &self,
        py: Python<'_>,
        trial: usize,
        params: Option<&Bound<'_, PyDict>>,
        reason: Option<String>,
        outcome: Option<Outcome<'_>>,
        is_cancelled: bool,
    ) -> PyResult<bool> {
        let with = assignment(params)?;
        let outcome = match outcome {
            Some(Outcome::Measured(measured)) => Some(Amendment::Measured(measurement(measured)?)),
            Some(Outcome::Failed(reason)) => Some(Amendment::Failed { reason, known: None }),
            Some(Outcome::Partly(reason, known)) => {
                Some(Amendment::Failed { reason, known: Some(Box::new(measurement(known)?)) })
            }
            None => is_cancelled.then_some(Amendment::Cancelled),
        };
        self.call(py, move |study| {
            study.refresh()?;
            let outcome = outcome.map(|outcome| match (outcome, study.state().trials().get(trial)) {
                (Amendment::Measured(measured), Some(known)) => {
                    Amendment::Measured(known.corrected(measured))
                }
                (outcome, _) => outcome,
            });
            Ok(study.amend(trial, &with, outcome, reason.as_deref())? == Kept::Stored)
        })
    }

    /// Puts back failed or cancelled trials; returns those that were.
    fn retry(&self, py: Python<'_>, trials: Vec<usize>) -> PyResult<Vec<usize>> {
        self.call(py, move |study| study.retry(&trials))
    }

    /// Marks a trial as failed; `kind` is a word of the log, such as `crashed`.
    #[pyo3(signature = (trial, kind, reason, stderr=None, seconds=None, known=None))]
    #[expect(clippy::too_many_arguments, reason = "Python names most of them")]
    fn fail(
        &self,
        py: Python<'_>,
        trial: usize,
        kind: &Bound<'_, PyAny>,
        reason: String,
        stderr: Option<String>,
        seconds: Option<f64>,
        known: Option<Told<'_>>,
    ) -> PyResult<bool> {
        let kind: FailureKind = from_python(kind)?;
        let known = known.map(measurement).transpose()?.map(Box::new);
        let failed = Evaluation::Failed { kind, reason, stderr, known };
        self.call(py, move |study| Ok(study.tell(trial, failed, seconds)? == Kept::Stored))
    }

    /// Puts a trial back, as if it hadn't been started.
    fn put_back(&self, py: Python<'_>, trial: usize, reason: String) -> PyResult<bool> {
        let stopped = Evaluation::Stopped { reason };
        self.call(py, move |study| Ok(study.tell(trial, stopped, None)? == Kept::Stored))
    }

    /// Cancels a trial.
    fn cancel(&self, py: Python<'_>, trial: usize) -> PyResult<()> {
        self.call(py, move |study| study.cancel(trial))
    }

    /// Adds a point to the queue.
    fn enqueue(&self, py: Python<'_>, params: &Bound<'_, PyDict>) -> PyResult<()> {
        let params: Assignment = from_python(params)?;
        self.call(py, move |study| study.enqueue(&params))
    }

    /// Adds trials made elsewhere, all or none: each has parameters, and a measurement or the reason why there is none. Returns how many
    /// were new.
    fn import_trials(&self, py: Python<'_>, trials: Vec<ImportedTrial<'_>>) -> PyResult<usize> {
        let import = |(params, outcome): ImportedTrial<'_>| -> PyResult<Import> {
            py.check_signals()?; // there may be many
            let (outcome, known) = match outcome {
                Outcome::Measured(measured) => (Ok(measurement(measured)?), None),
                Outcome::Failed(reason) => (Err(reason), None),
                Outcome::Partly(reason, known) => (Err(reason), Some(measurement(known)?)),
            };
            Ok(Import { params: from_python(&params)?, outcome, known })
        };
        let imports = trials.into_iter().map(import).collect::<PyResult<Vec<_>>>()?;
        self.shared.is_slow.store(true, Ordering::Relaxed);
        let shared = Arc::clone(&self.shared);
        let import = move || shared.with(|study| Ok(study.import(&imports)?.n_added));
        call::run(py, import, drop)?.map_err(|problem| problem.raise(py))
    }

    // Reading it.

    /// The study as `optimist show --json` prints it.
    fn view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let view = self.think(py, |study| {
            study.refresh()?;
            let leases = study.leases()?;
            let (best, front) = (study.recommend()?, study.front()?);
            let view = StudyView::new(study, best, &leases).with_front(front);
            Ok(serde_json::to_value(view).unwrap_or_default())
        })?;
        to_python(py, &view)
    }

    /// The storage, without secrets.
    fn place(&self, py: Python<'_>) -> PyResult<String> {
        self.call(py, |study| Ok(study.storage().to_string()))
    }

    /// The definition, with the current plan.
    fn definition<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let definition = self.call(py, |study| {
            let state = study.state();
            Ok(Definition { plan: state.plan().clone(), ..state.definition().clone() })
        })?;
        to_python(py, &definition)
    }

    /// How many trials there are, and how many of those that count for the plan have ended.
    fn counts(&self, py: Python<'_>) -> PyResult<(usize, usize)> {
        self.call(py, |study| {
            study.refresh()?;
            Ok((study.state().trials().len(), study.state().n_done()))
        })
    }

    /// All trials as `optimist trials --json` prints them, with the times when they were asked for and ended.
    fn trials<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let (trials, outcomes) = self.call(py, |study| {
            study.refresh()?;
            Ok((study.state().trials().to_vec(), study.state().outcomes().clone()))
        })?;
        let to_python = |trial| {
            py.check_signals()?; // there may be many
            trial_to_python(py, trial, &outcomes)
        };
        trials.iter().map(to_python).collect()
    }

    /// One trial, in the same form.
    fn trial<'py>(&self, py: Python<'py>, number: usize) -> PyResult<Bound<'py, PyAny>> {
        let (trial, outcomes) = self.call(py, move |study| {
            study.refresh()?;
            let (name, trials) = (study.name().to_owned(), study.state().trials());
            let no_trial = StudyError::NoTrial { study: name, trial: number, n_trials: trials.len() };
            Ok((trials.get(number).cloned().ok_or(no_trial)?, study.state().outcomes().clone()))
        })?;
        trial_to_python(py, &trial, &outcomes)
    }

    /// The trial with the best observed value.
    fn best_observed<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (best, outcomes) = self.call(py, |study| {
            study.refresh()?;
            Ok((study.state().best_observed().cloned(), study.state().outcomes().clone()))
        })?;
        best.map(|trial| trial_to_python(py, &trial, &outcomes)).transpose()
    }

    /// Whether any trial has a value; with several outcomes, values of all of them.
    fn has_values(&self, py: Python<'_>) -> PyResult<bool> {
        self.call(py, |study| {
            study.refresh()?;
            Ok(study.state().has_values())
        })
    }

    /// The best trade-offs between several goals.
    fn front<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let front: Option<Front> = self.think(py, |study| {
            study.refresh()?;
            study.front()
        })?;
        to_python(py, &front)
    }

    /// The best `n` points, starting with the recommended one.
    fn ranking<'py>(&self, py: Python<'py>, n: usize) -> PyResult<Bound<'py, PyAny>> {
        let best: Vec<Best> = self.think(py, move |study| {
            study.refresh()?;
            study.ranking(n)
        })?;
        to_python(py, &best)
    }

    /// By how much the next trial is expected to improve the best value.
    fn expected_gain(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        self.think(py, |study| {
            study.refresh()?;
            study.expected_gain()
        })
    }

    /// Mean and standard deviation of an outcome at each point; `None` before there is a model.
    fn predict(
        &self,
        py: Python<'_>,
        points: Vec<Bound<'_, PyDict>>,
        outcome: usize,
    ) -> PyResult<Option<Vec<(f64, f64)>>> {
        let points = points.iter().map(|point| from_python(point)).collect::<PyResult<Vec<Assignment>>>()?;
        self.think(py, move |study| {
            study.refresh()?;
            let Some(insight) = StudyInsight::of_outcome(study.state(), outcome)? else { return Ok(None) };
            points.iter().map(|point| insight.predict(point)).collect::<Result<_, _>>().map(Some)
        })
    }

    /// Main and total effect of each parameter on an outcome; `None` before there is a model.
    fn importance(&self, py: Python<'_>, outcome: usize) -> PyResult<Option<Vec<(String, f64, f64)>>> {
        self.think(py, move |study| {
            study.refresh()?;
            let Some(insight) = StudyInsight::of_outcome(study.state(), outcome)? else { return Ok(None) };
            let names = study.state().definition().space.parameters().iter().map(|one| one.name.clone());
            let effects = insight.importances().into_iter();
            Ok(Some(names.zip(effects).map(|(name, effect)| (name, effect.main, effect.total)).collect()))
        })
    }

    /// Problems with how points are suggested, one sentence each.
    fn warnings(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.think(py, |study| study.warnings())
    }

    /// Recomputes and compares every suggestion.
    fn verify<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let found = self.think(py, |study| study.verify(|_| ()))?;
        let mismatches: Vec<usize> = found.mismatches.iter().map(|mismatch| mismatch.trial).collect();
        let (records, suggestions) = (found.n_records, found.n_suggestions);
        let others: usize = found.by_other_engines.values().sum();
        to_python(py, &(records, suggestions, mismatches, others))
    }

    /// Plots of these kinds, or of all kinds if none is named.
    fn plot(&self, py: Python<'_>, kinds: Vec<String>) -> PyResult<Plots> {
        let kinds = kinds.iter().map(|word| kind(py, word)).collect::<PyResult<Vec<_>>>()?;
        let drawn = self.think(py, move |study| {
            study.refresh()?;
            let best = study.recommend()?;
            let drawn = Drawn::new(study.state(), if kinds.is_empty() { &PlotKind::ALL } else { &kinds })?;
            let drawn = drawn.with_recommended(best.as_ref());
            let data = serde_json::to_value(drawn.data(study.state())).unwrap_or_default();
            Ok(Plots { drawn: Arc::new(drawn), data })
        })?;
        Ok(drawn)
    }
}

/// A measurement as Python passes it: the value, its noise, a note, metrics.
type Told<'py> = (Numbers, Option<Numbers>, Option<String>, Option<Bound<'py, PyAny>>);

/// Numbers for the only outcome, or for several by name.
#[derive(FromPyObject)]
enum Numbers {
    One(f64),
    Named(BTreeMap<String, f64>),
}

/// The result of a trial.
#[derive(FromPyObject)]
enum Outcome<'py> {
    Failed(String),
    Measured(Told<'py>),
    Partly(String, Told<'py>),
}

type ImportedTrial<'py> = (Bound<'py, PyAny>, Outcome<'py>);

impl Study {
    fn open_by(
        py: Python<'_>,
        place: Option<String>,
        open: impl FnOnce(&Storage) -> Result<optimist_study::Study, StudyError> + Send + 'static,
    ) -> PyResult<Self> {
        let storage = storage_at(place.as_deref()).map_err(|error| error::storage(py, &error))?;
        let study = call::run(py, move || call::in_pool(|| open(&storage)), drop)?;
        let study = study.map_err(|error| error::study(py, error))?;
        Ok(Self { shared: Arc::new(Shared::new(place, study)) })
    }

    /// Does `work` that only has to wait for storage; in memory, that's quick.
    fn call<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut optimist_study::Study) -> Result<T, StudyError> + Send + 'static,
    ) -> PyResult<T> {
        let shared = Arc::clone(&self.shared);
        let done = match self.shared.place {
            Some(_) => call::run(py, move || shared.with(work), drop)?,
            None => call::run_here(py, move || shared.with(work))?,
        };
        done.map_err(|problem| problem.raise(py))
    }

    /// Does `work` that computes with a model, in the thread pool.
    fn think<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut optimist_study::Study) -> Result<T, StudyError> + Send + 'static,
    ) -> PyResult<T> {
        let shared = Arc::clone(&self.shared);
        let work = move || shared.with(|study| call::in_pool(|| work(study)));
        call::run(py, work, drop)?.map_err(|problem| problem.raise(py))
    }

    /// The same for work that hands out trials, which are put back if the caller has stopped waiting.
    fn take(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut optimist_study::Study) -> Result<Vec<Job>, StudyError> + Send + 'static,
    ) -> PyResult<Vec<Job>> {
        let (shared, later) = (Arc::clone(&self.shared), Arc::clone(&self.shared));
        let undo = move |taken: Result<Vec<Job>, Problem>| {
            for Job { trial, .. } in taken.unwrap_or_default() {
                let stopped = Evaluation::Stopped { reason: "interrupted while it was asked for".to_owned() };
                let _ = later.with(|study| study.tell(trial, stopped, None));
            }
        };
        let work = move || {
            let start = Instant::now();
            let taken = shared.with(|study| call::in_pool(|| work(study)));
            shared.is_slow.store(start.elapsed() > QUICK, Ordering::Relaxed);
            taken
        };
        let is_quick = self.shared.place.is_none() && !self.shared.is_slow.load(Ordering::Relaxed);
        let taken = if is_quick { call::run_here(py, work)? } else { call::run(py, work, undo)? };
        taken.map_err(|problem| problem.raise(py))
    }
}

/// The studies in a storage, as `optimist list --json` prints them.
#[pyfunction]
pub fn studies<'py>(py: Python<'py>, place: String) -> PyResult<Bound<'py, PyAny>> {
    let storage = storage_at(Some(&place)).map_err(|error| error::storage(py, &error))?;
    let list = move || -> Result<Vec<ListedStudy>, StudyError> {
        if !storage.exists()? {
            return Ok(Vec::new());
        }
        let entries = optimist_study::log::listed(&mut *storage.connect()?)?;
        Ok(entries.iter().map(|entry| ListedStudy::new(&storage, &entry.name)).collect())
    };
    let listed = call::run(py, list, drop)?.map_err(|error| error::study(py, error))?;
    to_python(py, &listed)
}

fn measurement((value, noise, note, metrics): Told<'_>) -> PyResult<Measurement> {
    let metrics = match metrics.as_ref().map(json_from_python).transpose()? {
        Some(Value::Object(metrics)) => Some(Box::new(metrics)),
        _ => None,
    };
    let noise_of = |name: &str| match &noise {
        None => None,
        Some(Numbers::One(std)) => Some(*std),
        Some(Numbers::Named(named)) => named.get(name).copied(),
    };
    let values = match value {
        Numbers::One(value) => Values::One(Measured { value, noise_std: noise_of("value") }),
        Numbers::Named(named) => {
            let measured = |(name, value): (String, f64)| {
                let noise_std = noise_of(&name);
                (name, Measured { value, noise_std })
            };
            Values::named(named.into_iter().map(measured).collect())
        }
    };
    Ok(Measurement { values, note, metrics })
}

fn assignment(params: Option<&Bound<'_, PyDict>>) -> PyResult<Assignment> {
    params.map_or_else(|| Ok(Assignment::default()), |params| from_python(params))
}

/// Reads a definition from plain Python values. The space and the optimizer come first, because their own errors say more.
fn definition_from(definition: &Bound<'_, PyDict>) -> PyResult<Definition> {
    let py = definition.py();
    let json = json_from_python(definition)?;
    let space = serde_json::from_value(json["space"].clone());
    space.map_err(|problem| error::named(py, "SpaceError", problem)).map(|_: optimist::space::Space| ())?;
    let name = json["optimizer"]["name"].as_str().unwrap_or_default();
    name.parse::<Method>().map_err(|problem| error::invalid(py, problem))?;
    serde_json::from_value(json).map_err(|problem| error::invalid(py, problem))
}

fn kind(py: Python<'_>, word: &str) -> PyResult<PlotKind> {
    let words = || PlotKind::ALL.map(PlotKind::word).join(", ");
    let known = PlotKind::ALL.into_iter().find(|kind| kind.word() == word);
    known.ok_or_else(|| error::invalid(py, format!("there is no plot `{word}`; choose from {}", words())))
}

fn job_to_python<'py>(py: Python<'py>, job: &Job) -> PyResult<Bound<'py, PyAny>> {
    let (params, source, why) = (&job.params, job.source.word(), &job.why);
    to_python(
        py,
        &json!({ "trial": job.trial, "params": params, "state": "running", "source": source, "why": why }),
    )
}

fn trial_to_python<'py>(py: Python<'py>, trial: &Trial, outcomes: &Outcomes) -> PyResult<Bound<'py, PyAny>> {
    let view = to_python(py, &TrialView::new(trial).judged(trial, outcomes))?;
    view.set_item("asked_at", trial.asked_at)?;
    view.set_item("ended_at", trial.ended_at)?;
    Ok(view)
}
