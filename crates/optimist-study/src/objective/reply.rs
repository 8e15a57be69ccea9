//! What a command says about a trial: a number, or a JSON object with a value or an error.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A value and what came with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// In the user's direction; finite.
    pub value: f64,
    /// Standard deviation of this value's noise, where the command knows it; finite, not negative.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_std: Option<f64>,
    /// Anything worth telling the reader of the results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Further numbers, kept beside the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metrics: Option<Box<Map<String, Value>>>,
}

impl Measurement {
    /// A bare value.
    pub fn new(value: f64) -> Self {
        Self { value, noise_std: None, note: None, metrics: None }
    }
}

/// A line that a command wrote in answer to a trial.
#[derive(Debug, PartialEq)]
pub enum Reply {
    /// A usable value.
    Value(Measurement),
    /// The command says why there is no value.
    Error {
        /// In its words.
        reason: String,
        /// Whether it wants to be asked again.
        retry: bool,
    },
    /// A well-formed line with a value that cannot be used, and why.
    Unusable(String),
    /// Something else, described here: who writes that may be out of step.
    Garbage(String),
}

impl Reply {
    /// Reads a number or a JSON object.
    pub fn parse(line: &str) -> Reply {
        let line = line.trim();
        if let Ok(value) = line.parse::<f64>() {
            return Self::value(&Value::from(value), value, &Map::new());
        }
        match serde_json::from_str(line) {
            Ok(Value::Object(reply)) => Self::object(&reply),
            // Many JSON writers put NaN and infinities where JSON has no word for them.
            Err(_) if line.starts_with('{') && (line.contains("NaN") || line.contains("Infinity")) => {
                Self::Unusable(format!("the value is not finite: {}", shortened(line)))
            }
            _ => Self::Garbage(format!(
                "expected a number or a JSON object such as {{\"value\": 0.5}}, got: {}",
                shortened(line)
            )),
        }
    }

    fn object(reply: &Map<String, Value>) -> Reply {
        if let Some(error) = reply.get("error").filter(|error| !error.is_null()) {
            let reason = error.as_str().map_or_else(|| error.to_string(), str::to_owned);
            let retry = reply.get("retry").and_then(Value::as_bool).unwrap_or(false);
            return Self::Error { reason: format!("the command reported: {reason}"), retry };
        }
        match reply.get("value") {
            Some(value) => Self::value(value, value.as_f64().unwrap_or(f64::NAN), reply),
            None => {
                let shown = shortened(&Value::Object(reply.clone()).to_string());
                Self::Garbage(format!("expected \"value\" or \"error\" in the reply, got: {shown}"))
            }
        }
    }

    fn value(written: &Value, value: f64, reply: &Map<String, Value>) -> Reply {
        if !value.is_finite() {
            let shown = if written.is_null() { value.to_string() } else { written.to_string() };
            return Self::Unusable(format!("the value must be a finite number, got {shown}"));
        }
        let noise_std = match reply.get("noise_std") {
            None | Some(Value::Null) => None,
            Some(noise) => match noise.as_f64().filter(|std| std.is_finite() && *std >= 0.0) {
                Some(std) => Some(std),
                None => {
                    return Self::Unusable(format!("\"noise_std\" must be a number, 0 or more, got {noise}"));
                }
            },
        };
        let note = match reply.get("note") {
            None | Some(Value::Null) => None,
            Some(Value::String(note)) => Some(note.clone()),
            Some(other) => Some(other.to_string()),
        };
        let metrics = match reply.get("metrics") {
            None | Some(Value::Null) => None,
            Some(Value::Object(metrics)) => Some(Box::new(metrics.clone())),
            Some(other) => return Self::Unusable(format!("\"metrics\" must be a JSON object, got {other}")),
        };
        Self::Value(Measurement { value, noise_std, note, metrics })
    }
}

fn shortened(line: &str) -> String {
    const LONGEST: usize = 200;
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None if line.is_empty() => "an empty line".to_owned(),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::test_runner::TestCaseError;

    fn failure(line: &str) -> String {
        match Reply::parse(line) {
            Reply::Error { reason, .. } | Reply::Unusable(reason) => reason,
            other => panic!("{line} was read as {other:?}"),
        }
    }

    #[test]
    fn a_number_or_an_object_is_a_value() {
        for (line, value) in [("1.5", 1.5), (" -2e3\r", -2000.0), ("7", 7.0), ("{\"value\": 4}", 4.0)] {
            let Reply::Value(measurement) = Reply::parse(line) else { panic!("{line}") };
            assert_eq!(measurement.value, value);
        }
    }

    #[test]
    fn what_comes_with_a_value_is_kept() {
        let line = r#"{"value": 1, "noise_std": 0.1, "note": "warm", "metrics": {"loss": 2.5}, "other": 1}"#;
        let Reply::Value(measurement) = Reply::parse(line) else { panic!() };
        assert_eq!((measurement.noise_std, measurement.note.as_deref()), (Some(0.1), Some("warm")));
        assert_eq!(measurement.metrics.unwrap()["loss"], 2.5);
    }

    #[test]
    fn values_that_are_not_finite_are_failures_in_every_spelling() {
        for line in
            ["nan", "inf", "-Infinity", "{\"value\": NaN}", "{\"value\": -Infinity}", "{\"value\": null}"]
        {
            assert!(failure(line).contains("finite"), "{line}");
        }
        assert!(failure("{\"value\": \"high\"}").contains("got \"high\""));
    }

    #[test]
    fn errors_and_bad_extras_are_failures_that_say_why() {
        assert_eq!(failure("{\"error\": \"out of beans\"}"), "the command reported: out of beans");
        assert!(failure("{\"value\": 1, \"noise_std\": -1}").contains("got -1"));
        assert!(failure("{\"value\": 1, \"metrics\": 3}").contains("JSON object"));
    }

    #[test]
    fn only_a_plain_true_asks_for_another_attempt() {
        let retries = |line: &str| matches!(Reply::parse(line), Reply::Error { retry: true, .. });
        assert!(retries("{\"error\": \"busy\", \"retry\": true}"));
        for line in
            ["{\"error\": \"busy\"}", "{\"error\": \"busy\", \"retry\": \"yes\"}", "{\"retry\": true}"]
        {
            assert!(!retries(line), "{line}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_written_is_a_usable_value_or_a_reason(line in any::<String>()) {
            check(&line)?;
        }

        #[test]
        fn whatever_json_is_written_is_a_usable_value_or_a_reason(
            keys in prop::collection::vec(
                prop::sample::select(vec!["value", "error", "retry", "noise_std", "note", "metrics", "x"]),
                0..7,
            ),
            values in prop::collection::vec("(-?[0-9]{1,3}(\\.[0-9]{1,2})?(e-?[0-9]{1,4})?|true|null|NaN|\"[a-z]{0,3}\"|\\[1\\]|\\{\"a\": [0-9]\\})", 7),
        ) {
            let pairs: Vec<String> =
                keys.iter().zip(&values).map(|(key, value)| format!("\"{key}\": {value}")).collect();
            check(&format!("{{{}}}", pairs.join(", ")))?;
        }
    }

    fn check(line: &str) -> Result<(), TestCaseError> {
        match Reply::parse(line) {
            Reply::Value(measured) => {
                prop_assert!(measured.value.is_finite());
                prop_assert!(measured.noise_std.is_none_or(|std| std.is_finite() && std >= 0.0));
                let written = serde_json::to_string(&measured).unwrap();
                prop_assert_eq!(serde_json::from_str::<Measurement>(&written).unwrap(), measured);
            }
            Reply::Error { reason, .. } | Reply::Unusable(reason) | Reply::Garbage(reason) => {
                prop_assert!(!reason.is_empty());
            }
        }
        Ok(())
    }

    #[test]
    fn anything_else_is_garbage_and_is_shown_in_short() {
        for line in ["", "done!", "[1]", "{\"valu\": 1}", "true"] {
            assert!(matches!(Reply::parse(line), Reply::Garbage(_)), "{line}");
        }
        let Reply::Garbage(reason) = Reply::parse(&"é".repeat(1000)) else { panic!() };
        assert!(reason.chars().count() < 300);
    }
}
