//! What a command says about a trial: a number, or a JSON object with a value or an error.

use serde_json::{Map, Value};

use crate::evaluation::{Evaluation, Measurement};
use crate::event::FailureKind;

/// Reads a number or a JSON object.
///
/// # Errors
/// What was written instead, if it is neither: who writes that may be out of step.
pub fn parse(line: &str) -> Result<Evaluation, String> {
    let line = line.trim();
    if let Ok(number) = line.parse::<f64>() {
        return Ok(value(&Value::from(number), number, &Map::new()));
    }
    match serde_json::from_str(line).or_else(|_| serde_json::from_str(&with_nulls(line))) {
        Ok(Value::Object(reply)) => object(&reply),
        _ => Err(format!(
            "expected a number or a JSON object such as {{\"value\": 0.5}}, got: {}",
            shortened(line)
        )),
    }
}

fn object(reply: &Map<String, Value>) -> Result<Evaluation, String> {
    if let Some(error) = reply.get("error").filter(|error| !error.is_null()) {
        let reason = error.as_str().map_or_else(|| error.to_string(), str::to_owned);
        let retry = reply.get("retry").and_then(Value::as_bool).unwrap_or(false);
        let kind = if retry { FailureKind::Retried } else { FailureKind::Infeasible };
        return Ok(Evaluation::failed(kind, format!("the command reported: {reason}")));
    }
    match reply.get("value") {
        Some(written) => Ok(value(written, written.as_f64().unwrap_or(f64::NAN), reply)),
        None => {
            let shown = shortened(&Value::Object(reply.clone()).to_string());
            Err(format!("expected \"value\" or \"error\" in the reply, got: {shown}"))
        }
    }
}

fn value(written: &Value, value: f64, reply: &Map<String, Value>) -> Evaluation {
    if !value.is_finite() {
        let shown = if written.is_null() { value.to_string() } else { written.to_string() };
        return unusable(format!("the value must be a finite number, got {shown}"));
    }
    let noise_std = match reply.get("noise_std") {
        None | Some(Value::Null) => None,
        Some(noise) => match noise.as_f64().filter(|std| std.is_finite() && *std >= 0.0) {
            Some(std) => Some(std),
            None => return unusable(format!("\"noise_std\" must be a number, 0 or more, got {noise}")),
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
        Some(other) => return unusable(format!("\"metrics\" must be a JSON object, got {other}")),
    };
    Evaluation::Measured(Measurement { value, noise_std, note, metrics })
}

/// A well-formed line with a value that cannot be used.
fn unusable(reason: String) -> Evaluation {
    Evaluation::failed(FailureKind::Unreadable, reason)
}

/// The line with `null` for NaN and infinities, which many JSON writers put where JSON has no word for them.
fn with_nulls(line: &str) -> String {
    // Every other part is inside quotes: a quote that is escaped is none.
    let unescaped = line.replace("\\\\", "\u{1}").replace("\\\"", "\u{2}");
    let parts = unescaped.split('"').enumerate().map(|(i, part)| match i % 2 {
        0 => part.replace("-Infinity", "null").replace("Infinity", "null").replace("NaN", "null"),
        _ => part.to_owned(),
    });
    let line = parts.collect::<Vec<_>>().join("\"");
    line.replace('\u{2}', "\\\"").replace('\u{1}', "\\\\")
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
        match parse(line) {
            Ok(Evaluation::Failed { reason, .. }) => reason,
            other => panic!("{line} was read as {other:?}"),
        }
    }

    #[test]
    fn a_number_or_an_object_is_a_value() {
        for (line, value) in [("1.5", 1.5), (" -2e3\r", -2000.0), ("7", 7.0), ("{\"value\": 4}", 4.0)] {
            let Ok(Evaluation::Measured(measurement)) = parse(line) else { panic!("{line}") };
            assert_eq!(measurement.value, value);
        }
    }

    #[test]
    fn what_comes_with_a_value_is_kept() {
        let line = r#"{"value": 1, "noise_std": 0.1, "note": "warm", "metrics": {"loss": 2.5}, "other": 1}"#;
        let Ok(Evaluation::Measured(measurement)) = parse(line) else { panic!() };
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
    fn metrics_that_are_not_finite_are_null_and_the_value_counts() {
        let line =
            r#"{"value": 1, "note": "NaN \\\" NaN", "metrics": {"loss": NaN, "low": [-Infinity, Infinity]}}"#;
        let Ok(Evaluation::Measured(measurement)) = parse(line) else { panic!() };
        assert_eq!((measurement.value, measurement.note.as_deref()), (1.0, Some("NaN \\\" NaN")));
        let metrics = Value::Object(*measurement.metrics.unwrap());
        assert_eq!(metrics, serde_json::json!({ "loss": null, "low": [null, null] }));
    }

    #[test]
    fn errors_and_bad_extras_are_failures_that_say_why() {
        assert_eq!(failure("{\"error\": \"out of beans\"}"), "the command reported: out of beans");
        assert!(failure("{\"value\": 1, \"noise_std\": -1}").contains("got -1"));
        assert!(failure("{\"value\": 1, \"metrics\": 3}").contains("JSON object"));
    }

    #[test]
    fn only_a_plain_true_asks_for_another_attempt() {
        let retries =
            |line: &str| matches!(parse(line), Ok(Evaluation::Failed { kind: FailureKind::Retried, .. }));
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
        match parse(line) {
            Ok(Evaluation::Measured(measured)) => {
                prop_assert!(measured.value.is_finite());
                prop_assert!(measured.noise_std.is_none_or(|std| std.is_finite() && std >= 0.0));
                let written = serde_json::to_string(&measured).unwrap();
                prop_assert_eq!(serde_json::from_str::<Measurement>(&written).unwrap(), measured);
            }
            Ok(Evaluation::Failed { reason, .. }) | Err(reason) => prop_assert!(!reason.is_empty()),
            Ok(Evaluation::Stopped { .. }) => prop_assert!(false, "nobody stops it"),
        }
        Ok(())
    }

    #[test]
    fn anything_else_is_garbage_and_is_shown_in_short() {
        for line in ["", "done!", "[1]", "{\"valu\": 1}", "true"] {
            assert!(parse(line).is_err(), "{line}");
        }
        let reason = parse(&"é".repeat(1000)).unwrap_err();
        assert!(reason.chars().count() < 300);
    }
}
