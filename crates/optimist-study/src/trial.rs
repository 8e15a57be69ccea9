//! A trial, as the log has it so far.

use optimist::space::Assignment;
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::evaluation::Measurement;
use crate::event::{FailureKind, Source};

/// One point that is or was tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// Counted from 0, in the order of asking.
    pub number: usize,
    /// The active parameters.
    pub params: Assignment,
    /// Why this point.
    pub source: Source,
    /// How it stands.
    pub state: TrialState,
    /// How often it was started; not counting starts that were called off.
    pub attempts: usize,
    /// What was measured, the first first. More than one if somebody told late.
    pub measurements: Vec<Measurement>,
    /// Why it failed, or was last put back.
    pub failure: Option<Failure>,
    /// How long the last attempt took.
    pub seconds: Option<f64>,
    /// Who runs it, or ran it last.
    pub worker: Option<String>,
    /// When it was first asked for: milliseconds since 1970.
    pub asked_at: u64,
    /// When it was completed, failed or was cancelled.
    pub ended_at: Option<u64>,
}

/// How a trial stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrialState {
    /// Somebody runs it.
    Running,
    /// It was put back, and waits for somebody to run it.
    Waiting,
    /// It has a value.
    Complete,
    /// It has none and will have none.
    Failed,
    /// Nobody will measure it.
    Cancelled,
}

/// Why there is no value.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// In which way it failed; `None` if it was only put back.
    pub kind: Option<FailureKind>,
    /// In words.
    pub reason: String,
    /// The end of what it wrote to standard error.
    pub stderr: Option<String>,
}

impl Trial {
    /// The value in the user's direction: of several measurements the mean.
    pub fn value(&self) -> Option<f64> {
        let n = self.measurements.len();
        let sum: f64 = self.measurements.iter().map(|measured| measured.value).sum();
        (n > 0).then(|| sum / n as f64)
    }

    /// The first trial at this point, if it was replicated: itself otherwise.
    pub fn original(&self) -> usize {
        match self.source {
            Source::Replicate { of } => of,
            Source::Suggested { .. } | Source::Enqueued | Source::Imported => self.number,
        }
    }

    /// Whether nobody is going to run it any more.
    pub fn has_ended(&self) -> bool {
        !matches!(self.state, TrialState::Running | TrialState::Waiting)
    }
}

impl TrialState {
    /// As users read it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Complete => "complete",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl Source {
    /// As users read it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Suggested { .. } => "suggested",
            Self::Enqueued => "enqueued",
            Self::Replicate { .. } => "replicate",
            Self::Imported => "imported",
        }
    }
}

impl Failure {
    /// The reason, with the end of standard error below it.
    pub fn explanation(&self) -> String {
        match &self.stderr {
            Some(stderr) => format!("{}\nstandard error ended with:\n{stderr}", self.reason),
            None => self.reason.clone(),
        }
    }
}

/// As `--json` prints it: what there is, and nothing else.
impl Serialize for Trial {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("trial", &self.number)?;
        map.serialize_entry("params", &self.params)?;
        map.serialize_entry("state", self.state.word())?;
        map.serialize_entry("source", self.source.word())?;
        if let Source::Replicate { of } = self.source {
            map.serialize_entry("of", &of)?;
        }
        if let Some(value) = self.value() {
            map.serialize_entry("value", &value)?;
        }
        if self.measurements.len() > 1 {
            let values: Vec<f64> = self.measurements.iter().map(|measured| measured.value).collect();
            map.serialize_entry("values", &values)?;
        }
        if let Some(measured) = self.measurements.first() {
            entry_if(&mut map, "noise_std", measured.noise_std.as_ref())?;
            entry_if(&mut map, "note", measured.note.as_ref())?;
            entry_if(&mut map, "metrics", measured.metrics.as_ref())?;
        }
        if let Some(failure) = self.failure.as_ref().filter(|_| self.measurements.is_empty()) {
            entry_if(&mut map, "failure", failure.kind.as_ref())?;
            map.serialize_entry("reason", &failure.reason)?;
            entry_if(&mut map, "stderr", failure.stderr.as_ref())?;
        }
        if self.attempts > 1 {
            map.serialize_entry("attempts", &self.attempts)?;
        }
        entry_if(&mut map, "seconds", self.seconds.as_ref())?;
        entry_if(&mut map, "worker", self.worker.as_ref())?;
        map.end()
    }
}

fn entry_if<M: SerializeMap>(map: &mut M, key: &str, value: Option<&impl Serialize>) -> Result<(), M::Error> {
    value.map_or(Ok(()), |value| map.serialize_entry(key, value))
}
