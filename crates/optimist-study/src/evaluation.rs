//! How a trial is measured, and what comes of it.
//!
//! Given: a trial. Gives: an [`Evaluation`], which is a value or why there is none; the log keeps it as it is. Does not
//! know: how trials are claimed and stored (`worker`), nor what measures them: the user's command, a function, anything
//! that implements [`Evaluator`].

use std::fmt::Display;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::event::FailureKind;
use crate::limits::{METRICS_BYTES, METRICS_DEPTH, TEXT_BYTES, is_deeper};
use crate::outcomes::{Outcomes, Unusable, VALUE};
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
        /// Why there is no value, for people to read.
        reason: String,
        /// The end of what the command wrote to standard error.
        stderr: Option<String>,
        /// What was measured before it failed, in a study of several outcomes.
        known: Option<Box<Measurement>>,
    },
    /// The trial was stopped before there was a value. It is put back as if it had never started.
    Stopped {
        /// Why there is no value, for people to read.
        reason: String,
    },
}

/// What was measured and what came with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "Written", into = "Written")]
pub struct Measurement {
    /// In the user's direction.
    pub values: Values,
    /// Anything worth telling the reader of the results.
    pub note: Option<String>,
    /// Further numbers, kept beside the values.
    pub metrics: Option<Box<Map<String, Value>>>,
}

/// The values of outcomes.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// The value of a study with a single, unnamed outcome.
    One(Measured),
    /// By name; each is there once.
    Named(Vec<(String, Measured)>),
}

/// The value of an outcome.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// A finite number, in the user's direction.
    pub value: f64,
    /// Standard deviation of this value's noise, where it is known; finite, not negative.
    pub noise_std: Option<f64>,
}

/// No trial can be measured at all: a command that is not there, a model that cannot be loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct StartError {
    /// What is wrong, and what to do about it.
    pub reason: String,
}

impl Measured {
    /// Why no optimizer can learn from it, if so.
    pub(crate) fn problem(self, name: &str) -> Option<String> {
        if !self.value.is_finite() {
            let what = if name == VALUE { "the value".to_owned() } else { format!("outcome `{name}`") };
            return Some(format!("{what} must be a finite number, got {}", self.value));
        }
        let bad = self.noise_std.filter(|std| !std.is_finite() || *std < 0.0)?;
        let of = if name == VALUE { String::new() } else { format!(" of outcome `{name}`") };
        Some(format!("\"noise_std\"{of} must be a number, 0 or more, got {bad}"))
    }
}

/// As `optimist tell` takes them: `0.93`, or `accuracy=0.93 latency_ms=12.1`.
impl std::fmt::Display for Values {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::One(one) => write!(f, "{}", one.value),
            Self::Named(named) => {
                let pairs: Vec<String> =
                    named.iter().map(|(name, one)| format!("{name}={}", one.value)).collect();
                f.write_str(&pairs.join(" "))
            }
        }
    }
}

impl Values {
    /// The values of named outcomes.
    pub fn named(values: Vec<(String, Measured)>) -> Self {
        match &values[..] {
            [(name, one)] if name == VALUE => Self::One(*one),
            _ => Self::Named(values),
        }
    }

    /// The value of an outcome, and its noise.
    pub fn get(&self, name: &str) -> Option<Measured> {
        self.iter().find(|(known, _)| *known == name).map(|(_, one)| one)
    }

    /// All of them, with their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Measured)> {
        let (one, named) = match self {
            Self::One(one) => (Some((VALUE, *one)), &[][..]),
            Self::Named(named) => (None, &named[..]),
        };
        one.into_iter().chain(named.iter().map(|(name, one)| (name.as_str(), *one)))
    }

    /// Whether the same was measured, to the last bit.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let bits = |values: &Self| -> Vec<(String, u64)> {
            values.iter().map(|(name, one)| (name.to_owned(), one.value.to_bits())).collect()
        };
        bits(self) == bits(other)
    }
}

impl Measurement {
    /// A bare value of the one outcome that there is.
    pub fn new(value: f64) -> Self {
        Self { values: Values::One(Measured { value, noise_std: None }), note: None, metrics: None }
    }

    /// Bare values of named outcomes.
    ///
    /// ```
    /// use optimist_study::Measurement;
    ///
    /// let measured = Measurement::of([("accuracy", 0.93), ("latency_ms", 12.1)]);
    /// assert_eq!(measured.value("latency_ms"), Some(12.1));
    /// ```
    pub fn of<S: Into<String>>(values: impl IntoIterator<Item = (S, f64)>) -> Self {
        let measured = |(name, value): (S, f64)| (name.into(), Measured { value, noise_std: None });
        let values = Values::named(values.into_iter().map(measured).collect());
        Self { values, note: None, metrics: None }
    }

    /// The same with the standard deviation of the noise of every value.
    #[must_use]
    pub fn with_noise(mut self, noise_std: f64) -> Self {
        match &mut self.values {
            Values::One(one) => one.noise_std = Some(noise_std),
            Values::Named(named) => named.iter_mut().for_each(|(_, one)| one.noise_std = Some(noise_std)),
        }
        self
    }

    /// The value of an outcome; [`VALUE`] is the one without a name.
    pub fn value(&self, outcome: &str) -> Option<f64> {
        self.values.get(outcome).map(|one| one.value)
    }

    /// What comes with the value and is too much to be stored, if so.
    pub(crate) fn excess(&self) -> Option<String> {
        if let Some(note) = self.note.as_ref().filter(|note| note.len() > TEXT_BYTES) {
            return Some(format!("the note has {} bytes, the limit is {TEXT_BYTES}; shorten it", note.len()));
        }
        let metrics = self.metrics.as_ref()?;
        if metrics.values().any(|value| is_deeper(value, METRICS_DEPTH - 1)) {
            return Some(format!(
                "the metrics are nested more than {METRICS_DEPTH} levels deep; flatten them"
            ));
        }
        let n = serde_json::to_string(metrics).map_or(0, |written| written.len());
        (n > METRICS_BYTES).then(|| {
            format!("the metrics have {n} bytes, the limit is {METRICS_BYTES}; write them to a file, and give its name instead")
        })
    }
}

impl Evaluation {
    /// There is no value, for a reason that nobody wrote to standard error.
    pub fn failed(kind: FailureKind, reason: impl Into<String>) -> Self {
        Self::Failed { kind, reason: reason.into(), stderr: None, known: None }
    }

    /// The same, but for values that cannot be used: that is a failure, with what of them can.
    pub(crate) fn usable(self, outcomes: &Outcomes) -> Self {
        match self {
            Self::Measured(measured) => match outcomes.check(measured) {
                Ok(measured) => Self::Measured(measured),
                Err(Unusable { reason, known }) => Self::Failed {
                    kind: FailureKind::Unreadable,
                    reason,
                    stderr: None,
                    known: known.map(Box::new),
                },
            },
            Self::Failed { kind, reason, stderr, known: Some(known) } if !outcomes.is_one() => {
                let reason = match outcomes.check_partly((*known).clone()) {
                    Ok(_) => reason,
                    Err(problem) if reason.contains(&problem) => reason,
                    Err(problem) => format!("{reason}; {problem}"),
                };
                Self::Failed { kind, reason, stderr, known: outcomes.known(*known).map(Box::new) }
            }
            Self::Failed { kind, reason, stderr, .. } => Self::Failed { kind, reason, stderr, known: None },
            Self::Stopped { .. } => self,
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

/// As records have it: bare numbers of the one outcome, objects of several.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Written {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    value: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    values: Option<ByName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    noise_std: Option<Noise>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    metrics: Option<Box<Map<String, Value>>>,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
enum Noise {
    Of(f64),
    ByName(ByName),
}

impl From<Measurement> for Written {
    fn from(Measurement { values, note, metrics }: Measurement) -> Self {
        let (value, values, noise_std) = match values {
            Values::One(one) => (Some(one.value), None, one.noise_std.map(Noise::Of)),
            Values::Named(named) => {
                let noise = named.iter().filter_map(|(name, one)| Some((name.clone(), one.noise_std?)));
                let noise: Vec<(String, f64)> = noise.collect();
                let noise = (!noise.is_empty()).then_some(Noise::ByName(ByName(noise)));
                (None, Some(ByName(named.into_iter().map(|(name, one)| (name, one.value)).collect())), noise)
            }
        };
        Self { value, values, noise_std, note, metrics }
    }
}

impl TryFrom<Written> for Measurement {
    type Error = String;

    fn try_from(Written { value, values, noise_std, note, metrics }: Written) -> Result<Self, String> {
        let values = match (value, values, noise_std) {
            (Some(value), None, None) => Values::One(Measured { value, noise_std: None }),
            (Some(value), None, Some(Noise::Of(std))) => {
                Values::One(Measured { value, noise_std: Some(std) })
            }
            (None, Some(ByName(values)), noise) => Values::named(with_noise(values, noise)?),
            (None, None, _) => return Err("missing field `value`".to_owned()),
            _ => return Err("give either `value`, or `values` with noise by name".to_owned()),
        };
        Ok(Self { values, note, metrics })
    }
}

/// Numbers by name, in their order.
#[derive(Debug, Clone, PartialEq)]
struct ByName(Vec<(String, f64)>);

#[cfg(feature = "schema")]
impl schemars::JsonSchema for ByName {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "NumberByOutcome".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        std::collections::BTreeMap::<String, f64>::json_schema(generator)
    }
}

impl Serialize for ByName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, number)| (name, number)))
    }
}

impl<'de> Deserialize<'de> for ByName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let numbers = Map::deserialize(deserializer)?;
        let number = |(name, number): (String, Value)| match number.as_f64() {
            Some(number) => Ok((name, number)),
            None => Err(D::Error::custom(format!("`{name}` must be a number, got {number}"))),
        };
        Ok(Self(numbers.into_iter().map(number).collect::<Result<_, _>>()?))
    }
}

fn with_noise(values: Vec<(String, f64)>, noise: Option<Noise>) -> Result<Vec<(String, Measured)>, String> {
    let mut noise = match noise {
        None => Vec::new(),
        Some(Noise::Of(std)) => values.iter().map(|(name, _)| (name.clone(), std)).collect(),
        Some(Noise::ByName(ByName(noise))) => noise,
    };
    let measured = values.into_iter().map(|(name, value)| {
        let place = noise.iter().position(|(of, _)| *of == name);
        let noise_std = place.map(|place| noise.swap_remove(place).1);
        (name, Measured { value, noise_std })
    });
    let measured = measured.collect();
    match noise.first() {
        Some((name, _)) => Err(format!("`noise_std` of `{name}`, which has no value")),
        None => Ok(measured),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::Direction;

    #[test]
    fn a_value_that_cannot_be_used_is_a_failure_that_says_why() {
        let one = Outcomes::one(Direction::Maximize);
        let unusable = [
            (Evaluation::from(f64::NAN), "the value must be a finite number, got NaN"),
            (Ok::<f64, String>(f64::INFINITY).into(), "the value must be a finite number, got inf"),
            (
                Measurement::new(1.0).with_noise(-1.0).into(),
                "\"noise_std\" must be a number, 0 or more, got -1",
            ),
        ];
        for (evaluation, reason) in unusable {
            assert_eq!(evaluation.usable(&one), Evaluation::failed(FailureKind::Unreadable, reason));
        }
        let usable = Evaluation::from(Measurement::new(-1.5).with_noise(0.0));
        assert_eq!(usable.clone().usable(&one), usable);
    }

    #[test]
    fn an_error_is_the_reason_why_there_is_no_value() {
        let failed = Evaluation::from(Err::<f64, _>("no such bean"));
        assert_eq!(failed, Evaluation::failed(FailureKind::Infeasible, "no such bean"));
    }
}
