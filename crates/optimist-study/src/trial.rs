//! A trial, as the log has it so far.

use optimist::Why;
use optimist::space::Assignment;
use serde::{Deserialize, Serialize};

use crate::evaluation::{Measured, Measurement, Values};
use crate::event::{FailureKind, Source};
use crate::outcomes::VALUE;

/// One point that is or was tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Counted from 0, in the order of asking.
    pub number: usize,
    /// The active parameters.
    pub params: Assignment,
    /// Who wanted this point.
    pub source: Source,
    /// How the optimizer found it, if it did and the record says so.
    pub why: Option<Why>,
    /// How it stands.
    pub state: TrialState,
    /// How often it was started; not counting starts that were called off.
    pub attempts: usize,
    /// What was measured, the oldest first. More than one if values were told more than once.
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
    /// What the log said before it was amended, the first first.
    pub amendments: Vec<Amended>,
}

/// What the log said of a trial until it was amended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Amended {
    /// When: milliseconds since 1970.
    pub at: u64,
    /// Why, if a reason was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How the trial stood.
    pub state: TrialState,
    /// Why it had failed, if it had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// What had been measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<f64>,
    /// With several outcomes: the measurements before the amendment, and those outcomes that a failed trial was measured for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measurements: Vec<Measurement>,
    /// What it was thought to be run with, if that is another point.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<serde_json::Map<String, serde_json::Value>>"))]
    pub params: Option<Assignment>,
}

/// How a trial stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TrialState {
    /// Somebody runs it.
    Running,
    /// It was put back, and waits for a worker.
    Waiting,
    /// It has a value, of each outcome if there are several.
    Complete,
    /// It has none and will have none.
    Failed,
    /// Nobody will measure it.
    Cancelled,
}

/// Why there is no value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// In which way it failed; `None` if it was only put back.
    pub kind: Option<FailureKind>,
    /// Why there is no value, for people to read.
    pub reason: String,
    /// The end of what it wrote to standard error.
    pub stderr: Option<String>,
    /// What was measured before it failed, of several outcomes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<Box<Measurement>>,
}

impl Trial {
    /// The value in the user's direction: of several measurements the mean. `None` also if there are several outcomes, of
    /// which [`Trial::value_of`] gives each.
    pub fn value(&self) -> Option<f64> {
        self.measured_value_of(VALUE)
    }

    /// The value of an outcome: of several measurements the mean. If the trial failed, what was known of it by then.
    pub fn value_of(&self, outcome: &str) -> Option<f64> {
        self.measured_value_of(outcome).or_else(|| self.known()?.value(outcome))
    }

    /// What was measured of a trial that failed.
    pub fn known(&self) -> Option<&Measurement> {
        self.failure.as_ref()?.known.as_deref().filter(|_| self.measurements.is_empty())
    }

    /// The same, but `None` if the trial failed.
    pub fn measured_value_of(&self, outcome: &str) -> Option<f64> {
        let values = || self.measurements.iter().filter_map(|measured| measured.value(outcome));
        let n = values().count();
        let mean = values().sum::<f64>() / n as f64;
        // A sum of finite values may be too large where their mean is not.
        let mean = if mean.is_finite() { mean } else { values().map(|value| value / n as f64).sum() };
        (n > 0).then_some(mean)
    }

    /// What to amend it with if `measured` is right: noise, note, metrics and further outcomes stay as they were told unless they
    /// are given.
    pub fn corrected(&self, measured: Measurement) -> Measurement {
        let told = self.measurements.first().or_else(|| self.known());
        let noise_of = |name: &str| told?.values.get(name)?.noise_std;
        let values = match measured.values {
            Values::One(one) => Values::One(Measured { noise_std: one.noise_std.or(noise_of(VALUE)), ..one }),
            Values::Named(mut named) => {
                for (name, one) in &mut named {
                    one.noise_std = one.noise_std.or(noise_of(name));
                }
                let others = told.into_iter().flat_map(|told| told.values.iter());
                let others = others.filter_map(|(name, one)| {
                    let is_given = named.iter().any(|(given, _)| given == name);
                    let value = self.value_of(name).filter(|_| !is_given)?;
                    Some((name.to_owned(), Measured { value, ..one }))
                });
                let others: Vec<(String, Measured)> = others.collect();
                Values::named(named.into_iter().chain(others).collect())
            }
        };
        let note = measured.note.or_else(|| told?.note.clone());
        let metrics = measured.metrics.or_else(|| told?.metrics.clone());
        Measurement { values, note, metrics }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_finite_values_is_finite() {
        let measurements = [1.7e308, 1.6e308].map(Measurement::new).to_vec();
        let params = Assignment::default();
        let trial = Trial { measurements, ..Trial::asked(0, params, Source::Enqueued, None, 0) };
        assert!(
            trial.value().is_some_and(|mean| (1.64e308..1.66e308).contains(&mean)),
            "{:?}",
            trial.value()
        );
    }
}
