//! How a trial is measured, and what comes of it.
//!
//! Given: a trial. Gives: an [`Evaluation`], which is a value or why there is none; the log keeps it as it is. Does not
//! know: how trials are claimed and stored (`worker`), nor what measures them: the user's command, a function, anything
//! that implements [`Evaluator`].

use std::fmt::Display;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::event::FailureKind;
use crate::limits::{METRICS_BYTES, METRICS_DEPTH, TEXT_BYTES, is_deeper};
use crate::study::Job;

/// Measures trials, one after the other. Each worker has a clone of its own.
///
/// A function of a [`Job`] is an evaluator if what it returns can be told: a number, a [`Measurement`], an
/// [`Evaluation`], or a `Result` of one of these whose error says why there is no value.
///
/// ```
/// use optimist::space::Value;
/// use optimist_study::{Evaluator, Job};
///
/// fn root(job: &Job) -> Result<f64, String> {
///     let x = job.params.get("x").and_then(Value::as_f64).ok_or("there is no x")?;
///     if x < 0.0 { Err(format!("{x} has no real root")) } else { Ok(x.sqrt()) }
/// }
/// fn is_evaluator(_: impl Evaluator + Clone + Send) {}
/// is_evaluator(root);
/// is_evaluator(|job: &Job| job.trial as f64); // a closure says what it takes
/// ```
pub trait Evaluator {
    /// Measures one trial. A panic counts as a failure of that trial only.
    ///
    /// # Errors
    /// If no trial can be measured, whatever its parameters: the workers stop.
    fn evaluate(&mut self, job: &Job) -> Result<Evaluation, StartError>;
}

impl<F, T> Evaluator for F
where
    F: FnMut(&Job) -> T,
    T: Into<Evaluation>,
{
    fn evaluate(&mut self, job: &Job) -> Result<Evaluation, StartError> {
        Ok(self(job).into())
    }
}

/// What came of measuring a trial.
#[derive(Debug, Clone, PartialEq)]
pub enum Evaluation {
    /// There is a value.
    Measured(Measurement),
    /// There is none.
    Failed {
        /// In which way it failed.
        kind: FailureKind,
        /// In words.
        reason: String,
        /// The end of what the command wrote to standard error.
        stderr: Option<String>,
    },
    /// The trial was called off before there was one, and is to be measured again as if it had not been started.
    Stopped {
        /// In words.
        reason: String,
    },
}

/// A value and what came with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// In the user's direction; finite.
    pub value: f64,
    /// Standard deviation of this value's noise, where it is known; finite, not negative.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_std: Option<f64>,
    /// Anything worth telling the reader of the results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Further numbers, kept beside the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metrics: Option<Box<Map<String, Value>>>,
}

/// No trial can be measured at all: a command that is not there, a model that cannot be loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct StartError {
    /// What is wrong, and what to do about it.
    pub reason: String,
}

impl Measurement {
    /// A bare value.
    pub fn new(value: f64) -> Self {
        Self { value, noise_std: None, note: None, metrics: None }
    }

    /// Why no optimizer can learn from it, if so.
    pub(crate) fn problem(&self) -> Option<String> {
        if !self.value.is_finite() {
            return Some(format!("the value must be a finite number, got {}", self.value));
        }
        let bad = self.noise_std.filter(|std| !std.is_finite() || *std < 0.0);
        bad.map(|bad| format!("\"noise_std\" must be a number, 0 or more, got {bad}"))
    }

    /// What comes with the value and is too much to be stored, if so.
    pub(crate) fn excess(&self) -> Option<String> {
        if let Some(note) = self.note.as_ref().filter(|note| note.len() > TEXT_BYTES) {
            return Some(format!(
                "the note has {} bytes, at most {TEXT_BYTES} are kept; shorten it",
                note.len()
            ));
        }
        let metrics = self.metrics.as_ref()?;
        if metrics.values().any(|value| is_deeper(value, METRICS_DEPTH - 1)) {
            return Some(format!(
                "the metrics are nested more than {METRICS_DEPTH} levels deep; flatten them"
            ));
        }
        let n = serde_json::to_string(metrics).map_or(0, |written| written.len());
        (n > METRICS_BYTES).then(|| {
            format!("the metrics have {n} bytes, at most {METRICS_BYTES} are kept; write them to a file, and its name here")
        })
    }
}

impl Evaluation {
    /// There is no value, for a reason that nobody wrote to standard error.
    pub fn failed(kind: FailureKind, reason: impl Into<String>) -> Self {
        Self::Failed { kind, reason: reason.into(), stderr: None }
    }

    /// The same, but for a value that cannot be used: that is a failure.
    pub(crate) fn usable(self) -> Self {
        match &self {
            Self::Measured(measured) => match measured.problem().or_else(|| measured.excess()) {
                Some(problem) => Self::failed(FailureKind::Unreadable, problem),
                None => self,
            },
            Self::Failed { .. } | Self::Stopped { .. } => self,
        }
    }
}

impl From<f64> for Evaluation {
    fn from(value: f64) -> Self {
        Self::Measured(Measurement::new(value))
    }
}

impl From<Measurement> for Evaluation {
    fn from(measured: Measurement) -> Self {
        Self::Measured(measured)
    }
}

/// An error is the objective's word that there is no value at this point.
impl<T: Into<Evaluation>, E: Display> From<Result<T, E>> for Evaluation {
    fn from(result: Result<T, E>) -> Self {
        match result {
            Ok(value) => value.into(),
            // `{:#}`: with its causes, where an error can show them.
            Err(error) => Self::failed(FailureKind::Infeasible, format!("{error:#}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_cannot_be_used_is_a_failure_that_says_why() {
        let unusable = [
            (Evaluation::from(f64::NAN), "the value must be a finite number, got NaN"),
            (Ok::<f64, String>(f64::INFINITY).into(), "the value must be a finite number, got inf"),
            (
                Measurement { noise_std: Some(-1.0), ..Measurement::new(1.0) }.into(),
                "\"noise_std\" must be a number, 0 or more, got -1",
            ),
        ];
        for (evaluation, reason) in unusable {
            assert_eq!(evaluation.usable(), Evaluation::failed(FailureKind::Unreadable, reason));
        }
        let usable = Evaluation::from(Measurement { noise_std: Some(0.0), ..Measurement::new(-1.5) });
        assert_eq!(usable.clone().usable(), usable);
    }

    #[test]
    fn an_error_is_the_reason_why_there_is_no_value() {
        let failed = Evaluation::from(Err::<f64, _>("no such bean"));
        assert_eq!(failed, Evaluation::failed(FailureKind::Infeasible, "no such bean"));
    }
}
