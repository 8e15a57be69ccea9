//! What a study is about and how it is run: the study file, in the form that the log keeps.
//!
//! It is complete: whoever can read the log can run the study, on another machine too. What must not change once there
//! are trials (space, outcomes, optimizer, seed) is apart from the plan, which may.

use std::cmp::Ordering;
use std::time::Duration;

use optimist::Method;
use optimist::space::Space;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::objective::Objective;
use crate::outcomes::Outcomes;

/// A study, before any trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// Unique in its storage.
    pub name: String,
    /// What is measured, and what is wanted of it: `direction`, or `outcomes`.
    #[serde(flatten)]
    pub outcomes: Outcomes,
    /// Same seed, same suggestions.
    pub seed: u64,
    /// What suggests trials.
    pub optimizer: OptimizerChoice,
    /// What may be varied.
    pub space: Space,
    /// How it is run.
    pub plan: Plan,
}

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Direction {
    /// Larger is better.
    Maximize,
    /// Smaller is better.
    Minimize,
}

/// What can be changed while a study is running.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plan {
    /// How many trials in all; imported ones do not count. Default: 50.
    pub trials: usize,
    /// How many at the same time, in one `optimist run`. Default: 1.
    pub workers: usize,
    /// How a trial is measured; `None` if that is done through ask and tell.
    #[cfg_attr(feature = "schema", schemars(with = "Option<serde_json::Map<String, serde_json::Value>>"))]
    pub objective: Option<Objective>,
    /// How long a worker may be silent before its trial is put back. Default: 60 s.
    #[serde(with = "seconds")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub lease: Duration,
    /// How often a trial is started before it counts as failed. Default: 3.
    pub max_attempts: usize,
    /// A run stops after this many failed trials in a row; if `None`, only if its first 5 all fail in the same way and no
    /// trial has a value.
    pub max_failures: Option<usize>,
    /// How often the best point is measured, to average the noise. Default: 1.
    pub replicates: usize,
    /// A run stops asking after this long.
    #[serde(with = "optional_seconds")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub max_time: Option<Duration>,
    /// The study is over when a value is this good.
    pub target: Option<f64>,
    /// The study is over when several suggestions in a row are expected to gain less.
    pub min_gain: Option<f64>,
}

/// An optimizer by name with its settings, as the study file has them. What is left out is left to the version of
/// Optimist that suggests.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Map<String, Value>", into = "Map<String, Value>")]
pub struct OptimizerChoice {
    table: Map<String, Value>,
    method: Method,
}

impl Direction {
    /// The user's value as one to maximise.
    pub(crate) fn flip(self, value: f64) -> f64 {
        match self {
            Direction::Maximize => value,
            Direction::Minimize => -value,
        }
    }

    /// A value to maximise as the user's; never -0, which is 0 to a user.
    pub(crate) fn flip_back(self, value: f64) -> f64 {
        self.flip(value) + 0.0
    }

    /// As users write it.
    pub fn word(self) -> &'static str {
        match self {
            Direction::Maximize => "maximize",
            Direction::Minimize => "minimize",
        }
    }

    /// Whether `value` is better than `other`.
    pub fn is_better(self, value: f64, other: f64) -> bool {
        match self {
            Direction::Maximize => value > other,
            Direction::Minimize => value < other,
        }
    }

    /// Orders values from the worst to the best.
    pub fn compare(self, value: &f64, other: &f64) -> Ordering {
        match self {
            Direction::Maximize => value.total_cmp(other),
            Direction::Minimize => other.total_cmp(value),
        }
    }
}

impl Definition {
    /// What no study file could say, if it says so.
    pub(crate) fn problem(&self) -> Option<String> {
        self.plan.problem().or_else(|| self.misfit())
    }

    /// What does not go with its outcomes, if anything does not.
    pub(crate) fn misfit(&self) -> Option<String> {
        let parameter = |name: &str| self.space.get(name).is_some() && !self.outcomes.is_one();
        if let Some(name) = self.outcomes.names().find(|name| parameter(name)) {
            return Some(format!("`{name}` is both a parameter and an outcome; rename one of them"));
        }
        Some(self.outcomes.misfits(&self.plan).into_iter().next()?.1)
    }
}

impl Plan {
    /// What no study file could say, if it says so.
    pub(crate) fn problem(&self) -> Option<String> {
        let counts = [
            ("trials", self.trials),
            ("workers", self.workers),
            ("max_attempts", self.max_attempts),
            ("replicates", self.replicates),
            ("max_failures", self.max_failures.unwrap_or(1)),
        ];
        if let Some((name, _)) = counts.into_iter().find(|(_, n)| *n == 0) {
            return Some(format!("`{name}` must be 1 or more, got 0"));
        }
        if self.lease.is_zero() {
            return Some("`lease` must be above 0".to_owned());
        }
        let command = self.objective.as_ref().map(|objective| &objective.command);
        let is_empty = command.is_some_and(|command| command.first().is_none_or(String::is_empty));
        is_empty.then(|| "the objective has an empty command".to_owned())
    }
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            trials: 50,
            workers: 1,
            objective: None,
            lease: Duration::from_secs(60),
            max_attempts: 3,
            max_failures: None,
            replicates: 1,
            max_time: None,
            target: None,
            min_gain: None,
        }
    }
}

impl OptimizerChoice {
    /// The table that was written, `name` included.
    pub fn table(&self) -> &Map<String, Value> {
        &self.table
    }

    /// What it means.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// Its name, such as `go-ucb`.
    pub fn name(&self) -> &str {
        self.table.get("name").and_then(Value::as_str).unwrap_or("go-ucb")
    }
}

impl Default for OptimizerChoice {
    fn default() -> Self {
        let Value::Object(table) = json!({ "name": "go-ucb" }) else { unreachable!("it is an object") };
        Self { table, method: Method::default() }
    }
}

/// Two spellings of the same settings are the same choice.
impl PartialEq for OptimizerChoice {
    fn eq(&self, other: &Self) -> bool {
        self.method == other.method
    }
}

impl TryFrom<Map<String, Value>> for OptimizerChoice {
    type Error = serde_json::Error;

    fn try_from(table: Map<String, Value>) -> Result<Self, serde_json::Error> {
        let method = Method::deserialize(Value::Object(table.clone()))?;
        Ok(Self { table, method })
    }
}

impl From<OptimizerChoice> for Map<String, Value> {
    fn from(choice: OptimizerChoice) -> Self {
        choice.table
    }
}

/// A duration as a number of seconds.
pub(crate) mod seconds {
    use std::time::Duration;

    use serde::de::{Deserialize, Deserializer, Error};
    use serde::{Serialize, Serializer};

    pub fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        duration.as_secs_f64().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        Duration::try_from_secs_f64(f64::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// An optional duration, as a number of seconds.
pub(crate) mod optional_seconds {
    use std::time::Duration;

    use serde::de::{Deserialize, Deserializer, Error};
    use serde::{Serialize, Serializer};

    pub fn serialize<S: Serializer>(duration: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
        duration.map(|duration| duration.as_secs_f64()).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
        let seconds = Option::<f64>::deserialize(deserializer)?;
        seconds.map(|seconds| Duration::try_from_secs_f64(seconds).map_err(D::Error::custom)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StudyFile;

    #[test]
    fn a_definition_is_read_as_it_was_written() {
        let text = r#"
            name = "all"
            direction = "minimize"
            seed = 9223372036854775807
            trials = 7
            workers = 2
            lease = 0.1
            max_attempts = 5
            max_failures = 4
            replicates = 3
            max_time = 12.5
            target = 0.30000000000000004
            min_gain = 1e-9
            constraints = ["y + 0.3*z <= 0.1"]
            optimizer = { name = "go-ucb", preset = "theory", constants = { curvature = 0.1 } }
            objective = { command = ["true"], mode = "serve", timeout = 1.5 }
            parameters.x = { type = "float", low = 1e-300, high = 0.7, log = true }
            parameters.k = { type = "categorical", choices = ["a", 2, 0.5, true] }
            parameters.n = { type = "int", low = 1, high = 9, step = 2, when = { k = "a" } }
            parameters.y = { type = "float", low = 0, high = 0.7 }
            parameters.z = { type = "float", low = 0, high = 0.7 }
        "#;
        let definition = StudyFile::parse(text).unwrap().definition;
        let written = serde_json::to_string(&definition).unwrap();
        assert_eq!(serde_json::from_str::<Definition>(&written).unwrap(), definition, "{written}");
    }

    #[test]
    fn better_values_come_later() {
        for (direction, ordered) in
            [(Direction::Maximize, [-1.0, 0.0, 2.0]), (Direction::Minimize, [2.0, 0.0, -1.0])]
        {
            let mut values = [0.0, 2.0, -1.0];
            values.sort_by(|a, b| direction.compare(a, b));
            assert_eq!(values, ordered);
            assert!(direction.is_better(ordered[2], ordered[1]) && !direction.is_better(0.0, 0.0));
        }
    }

    #[test]
    fn a_value_flipped_and_back_is_the_same_and_zero_has_no_sign() {
        for direction in [Direction::Maximize, Direction::Minimize] {
            assert_eq!(direction.flip_back(direction.flip(2.5)), 2.5);
            assert!([0.0, -0.0].iter().all(|zero| direction.flip_back(*zero).is_sign_positive()));
        }
    }

    #[test]
    fn settings_left_out_are_the_same_choice_as_the_defaults() {
        let written = json!({ "name": "go-ucb", "preset": "default" });
        let choice: OptimizerChoice = serde_json::from_value(written).unwrap();
        assert_eq!(choice, OptimizerChoice::default());
        let other: OptimizerChoice = serde_json::from_value(json!({ "name": "random" })).unwrap();
        assert_ne!(other, OptimizerChoice::default());
    }
}
