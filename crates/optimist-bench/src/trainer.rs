//! Accuracies of classifiers: trained by processes of their own, each configuration once.
//!
//! Given: the parameters of a training (classifier, data set, fold, hyper-parameters), from any thread.
//! Gives: the accuracy on the held-out fold, from the cache if it has it.
//! Speaks the objective protocol: `{"trial": 7, "params": {…}}` is answered by `{"value": 0.97}` or by
//! `{"error": "why"}`. There are as many processes as threads that train; they stay until the trainer is dropped.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use optimist::space::Assignment;
use serde::Deserialize;
use serde_json::json;

use crate::cache::{Cache, CacheError};
#[cfg(doc)]
use crate::environment::CLASSIFIERS;
use crate::process::{LineProcess, ProcessError};

/// Trains what a [`Task`](crate::task::Task) says and gives its accuracy.
pub type Train<'a> = dyn Fn(&Assignment) -> Result<f64, TrainError> + Sync + 'a;

/// Trains classifiers, in several processes at a time.
pub struct Trainer {
    /// Starts one process.
    command: Box<dyn Fn() -> Command + Send + Sync>,
    idle: Mutex<Vec<LineProcess>>,
    trials: AtomicUsize,
    cache: Cache,
}

/// An accuracy that could not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrainError {
    /// Nobody was there to train.
    #[error("this run has no trainer, which tasks with classifiers need")]
    NoTrainer,
    /// The process does not answer.
    #[error(
        "the classifier's process {0}; if this persists, delete its environment (.venv-real); it will be recreated"
    )]
    Process(#[from] ProcessError),
    /// The classifier could not be trained.
    #[error("the classifier reported `{message}`")]
    Reported {
        /// What the trainer said.
        message: String,
    },
    /// The answer cannot be understood.
    #[error("the classifier answered `{line}`; expected {{\"value\": …}} with a number from 0 to 1")]
    Garbage {
        /// The beginning of its answer.
        line: String,
    },
    /// The accuracy could not be kept.
    #[error("the cache of accuracies: {0}; if this persists, delete it; it will be recreated")]
    Cache(#[from] CacheError),
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Reply {
    Value(f64),
    Error(String),
}

/// One program: the last script answers requests with the functions of all three, so their names must differ.
const SCRIPT: &str = concat!(
    include_str!("../python/lab.py"),
    include_str!("../python/tables.py"),
    include_str!("../python/classifiers.py")
);

/// How long a training may take; the slowest takes seconds on an idle machine.
const PATIENCE: Duration = Duration::from_secs(600);

/// Named for what the values depend on beside their parameters.
pub(crate) const CACHE_FILE: &str = ".optimist-cache/scikit-learn-1.7.2.jsonl";

/// The [`Train`] of a run without classifiers.
///
/// # Errors
/// Always.
pub fn nobody(_: &Assignment) -> Result<f64, TrainError> {
    Err(TrainError::NoTrainer)
}

impl Trainer {
    /// Trains with the interpreter `python` of [`CLASSIFIERS`], and keeps accuracies in a folder beside that environment.
    ///
    /// # Errors
    /// If the cache cannot be opened.
    pub fn open(python: &Path) -> Result<Trainer, TrainError> {
        let home = python.ancestors().nth(3).unwrap_or(Path::new("")); // above FOLDER/bin/python
        let python = python.to_owned();
        let command = move || {
            let mut command = Command::new(&python);
            command.args(["-c", SCRIPT]);
            command
        };
        Ok(Trainer::new(command, Cache::open(&home.join(CACHE_FILE))?))
    }

    /// Trains with any command that speaks the objective protocol.
    pub fn new(command: impl Fn() -> Command + Send + Sync + 'static, cache: Cache) -> Trainer {
        Trainer { command: Box::new(command), idle: Mutex::default(), trials: AtomicUsize::new(0), cache }
    }

    /// The accuracy of a classifier with these parameters.
    ///
    /// # Errors
    /// If it cannot be trained, or the cache not written.
    pub fn accuracy(&self, params: &Assignment) -> Result<f64, TrainError> {
        self.cache.value(params, || self.train(params))
    }

    fn train(&self, params: &Assignment) -> Result<f64, TrainError> {
        let idle = self.idle().pop();
        let mut process = idle.map_or_else(|| LineProcess::start((self.command)(), PATIENCE), Ok)?;
        let trial = self.trials.fetch_add(1, Ordering::Relaxed);
        let line = process.answer(&json!({"trial": trial, "params": params}))?;
        let accuracy = match serde_json::from_str(&line) {
            Ok(Reply::Value(value)) if (0.0..=1.0).contains(&value) => Ok(value),
            Ok(Reply::Error(message)) => Err(TrainError::Reported { message }),
            // A process that talks nonsense is not asked again: its next line may be about this trial still.
            _ => return Err(TrainError::Garbage { line: line.chars().take(200).collect() }),
        };
        self.idle().push(process);
        accuracy
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<LineProcess>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
