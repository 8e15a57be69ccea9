//! What a command says about a trial: a number, or a JSON object with a value, values of several outcomes, or an error. Whether the
//! outcomes are those of the study is for others to check.

use serde_json::{Map, Value};

use crate::evaluation::{Evaluation, Measured, Measurement, Values};
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

/// What a line says of outcomes, if it says anything: a command may write what it knows before it fails.
pub fn known(line: &str) -> Option<Box<Measurement>> {
    match parse(line).ok()? {
        Evaluation::Measured(measured) => Some(Box::new(measured)),
        Evaluation::Failed { known, .. } => known,
        Evaluation::Stopped { .. } => None,
    }
}

fn object(reply: &Map<String, Value>) -> Result<Evaluation, String> {
    if let Some(error) = reply.get("error").filter(|error| !error.is_null()) {
        let reason = error.as_str().map_or_else(|| error.to_string(), str::to_owned);
        let retry = reply.get("retry").and_then(Value::as_bool).unwrap_or(false);
        let kind = if retry { FailureKind::Retried } else { FailureKind::Infeasible };
        let known = reply.get("values").and_then(|written| values(written, reply)).map(Box::new);
        let reason = format!("the command reported: {reason}");
        return Ok(Evaluation::Failed { kind, reason, stderr: None, known });
    }
    let one = reply.get("value");
    if let Some(written) = reply.get("values").filter(|written| !written.is_null())
        && one.is_none_or(Value::is_null)
    {
        return Ok(several(written, reply));
    }
    match one {
        Some(written) => Ok(value(written, written.as_f64().unwrap_or(f64::NAN), reply)),
        None => {
            let shown = shortened(&Value::Object(reply.clone()).to_string());
            Err(format!("expected \"value\", \"values\" or \"error\" in the reply, got: {shown}"))
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
        Some(noise) => match standard_deviation(noise) {
            Some(std) => Some(std),
            None => return unusable(format!("\"noise_std\" must be a number, 0 or more, got {noise}")),
        },
    };
    match metrics(reply) {
        Ok(metrics) => {
            let values = Values::One(Measured { value, noise_std });
            Evaluation::Measured(Measurement { values, note: note(reply), metrics })
        }
        Err(problem) => unusable(problem),
    }
}

/// The values of several outcomes. One that is no number, or no noise, makes a failure of the trial; the others are known.
fn several(written: &Value, reply: &Map<String, Value>) -> Evaluation {
    let Value::Object(named) = written else {
        let expected = "such as {\"accuracy\": 0.93, \"latency_ms\": 12.1}";
        return unusable(format!("\"values\" must be a JSON object {expected}, got {written}"));
    };
    let not_finite = named.iter().find(|(_, value)| finite(value).is_none());
    let wrong_noise = || match reply.get("noise_std") {
        Some(Value::Object(noise)) => noise.iter().find_map(|(name, noise)| match named.get(name) {
            None => Some(format!("\"noise_std\" of `{name}`, which \"values\" does not have")),
            Some(_) if noise.is_null() || standard_deviation(noise).is_some() => None,
            Some(_) => {
                Some(format!("\"noise_std\" of outcome `{name}` must be a number, 0 or more, got {noise}"))
            }
        }),
        Some(noise) if !noise.is_null() && standard_deviation(noise).is_none() => Some(format!(
            "\"noise_std\" must be a number, 0 or more, or an object with one for each outcome, got {noise}"
        )),
        _ => None,
    };
    let problem = match not_finite {
        Some((name, value)) => {
            let shown =
                if value.is_null() { "NaN, an infinity or nothing".to_owned() } else { value.to_string() };
            Some(format!("outcome `{name}` must be a finite number, got {shown}"))
        }
        None => wrong_noise().or_else(|| metrics(reply).err()),
    };
    let measured = values(written, reply);
    match (problem, measured) {
        (None, Some(measured)) => Evaluation::Measured(measured),
        (problem, known) => Evaluation::Failed {
            kind: FailureKind::Unreadable,
            reason: problem.unwrap_or_else(|| "\"values\" has no outcome".to_owned()),
            stderr: None,
            known: known.map(Box::new),
        },
    }
}

/// The outcomes whose values can be used; `None` if none can.
fn values(written: &Value, reply: &Map<String, Value>) -> Option<Measurement> {
    let measured = |(name, value): (&String, &Value)| {
        let noise_std = match reply.get("noise_std") {
            Some(Value::Object(noise)) => noise.get(name).and_then(standard_deviation),
            noise => noise.and_then(standard_deviation),
        };
        Some((name.clone(), Measured { value: finite(value)?, noise_std }))
    };
    let values: Vec<(String, Measured)> = written.as_object()?.iter().filter_map(measured).collect();
    let metrics = metrics(reply).unwrap_or_default();
    (!values.is_empty()).then(|| Measurement { values: Values::named(values), note: note(reply), metrics })
}

fn finite(value: &Value) -> Option<f64> {
    value.as_f64().filter(|value| value.is_finite())
}

fn standard_deviation(noise: &Value) -> Option<f64> {
    finite(noise).filter(|std| *std >= 0.0)
}

fn note(reply: &Map<String, Value>) -> Option<String> {
    match reply.get("note") {
        None | Some(Value::Null) => None,
        Some(Value::String(note)) => Some(note.clone()),
        Some(other) => Some(other.to_string()),
    }
}

fn metrics(reply: &Map<String, Value>) -> Result<Option<Box<Map<String, Value>>>, String> {
    match reply.get("metrics") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(metrics)) => Ok(Some(Box::new(metrics.clone()))),
        Some(other) => Err(format!("\"metrics\" must be a JSON object, got {other}")),
    }
}

/// A well-formed line with a value that cannot be used.
fn unusable(reason: String) -> Evaluation {
    Evaluation::failed(FailureKind::Unreadable, reason)
}

/// The line with `null` for NaN, infinities and numbers beyond them, such as 1e309: JSON has no word for those, and many writers
/// write them all the same.
fn with_nulls(line: &str) -> String {
    // Every other part is inside quotes: a quote that is escaped is none.
    let unescaped = line.replace("\\\\", "\u{1}").replace("\\\"", "\u{2}");
    let parts = unescaped.split('"').enumerate().map(|(i, part)| match i % 2 {
        0 => part.split_inclusive(is_separator).map(null_for_infinite).collect(),
        _ => part.to_owned(),
    });
    let line = parts.collect::<Vec<_>>().join("\"");
    line.replace('\u{2}', "\\\"").replace('\u{1}', "\\\\")
}

fn is_separator(c: char) -> bool {
    c.is_whitespace() || matches!(c, ',' | ':' | '[' | ']' | '{' | '}')
}

fn null_for_infinite(word: &str) -> String {
    let number = word.trim_end_matches(is_separator);
    match number.parse::<f64>() {
        Ok(value) if !value.is_finite() => word.replacen(number, "null", 1),
        _ => word.to_owned(),
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
        match parse(line) {
            Ok(Evaluation::Failed { reason, .. }) => reason,
            other => panic!("{line} was read as {other:?}"),
        }
    }

    #[test]
    fn a_number_or_an_object_is_a_value() {
        for (line, value) in [("1.5", 1.5), (" -2e3\r", -2000.0), ("7", 7.0), ("{\"value\": 4}", 4.0)] {
            let Ok(Evaluation::Measured(measurement)) = parse(line) else { panic!("{line}") };
            assert_eq!(measurement.value("value"), Some(value));
        }
    }

    #[test]
    fn what_comes_with_a_value_is_kept() {
        let line = r#"{"value": 1, "noise_std": 0.1, "note": "warm", "metrics": {"loss": 2.5}, "other": 1}"#;
        let Ok(Evaluation::Measured(measurement)) = parse(line) else { panic!() };
        assert_eq!(measurement.values, Values::One(Measured { value: 1.0, noise_std: Some(0.1) }));
        assert_eq!(measurement.note.as_deref(), Some("warm"));
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
        assert_eq!(
            (measurement.value("value"), measurement.note.as_deref()),
            (Some(1.0), Some("NaN \\\" NaN"))
        );
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

    #[test]
    fn values_of_several_outcomes_come_by_name_with_their_noise() {
        let measured = |line: &str| match parse(line) {
            Ok(Evaluation::Measured(measured)) => measured,
            other => panic!("{line} was read as {other:?}"),
        };
        let both = measured(
            r#"{"values": {"a": 1, "b": -2.5}, "noise_std": 0.1, "note": "warm", "metrics": {"c": 1}}"#,
        );
        let one = |value| Measured { value, noise_std: Some(0.1) };
        assert_eq!(both.values, Values::Named(vec![("a".to_owned(), one(1.0)), ("b".to_owned(), one(-2.5))]));
        assert_eq!((both.note.as_deref(), both.metrics.is_some()), (Some("warm"), true));
        let some = measured(r#"{"values": {"a": 1, "b": 2}, "noise_std": {"b": 0.5}}"#);
        assert_eq!(some.values.get("a").unwrap().noise_std, None);
        assert_eq!(some.values.get("b").unwrap().noise_std, Some(0.5));
        assert_eq!(measured(r#"{"value": 1, "values": [1, 2]}"#), Measurement::new(1.0), "as ever");
    }

    #[test]
    fn an_outcome_that_is_no_number_fails_the_trial_and_the_others_are_known() {
        for (line, words) in [
            (
                r#"{"values": {"a": NaN, "b": 2}}"#,
                "outcome `a` must be a finite number, got NaN, an infinity or nothing",
            ),
            (
                r#"{"values": {"a": 1e309, "b": 2}}"#,
                "outcome `a` must be a finite number, got NaN, an infinity or nothing",
            ),
            (
                r#"{"values": {"a": -inf, "b": 2}}"#,
                "outcome `a` must be a finite number, got NaN, an infinity or nothing",
            ),
            (r#"{"values": {"a": "high", "b": 2}}"#, "outcome `a` must be a finite number, got \"high\""),
            (
                r#"{"values": {"b": 2}, "noise_std": {"a": 1}}"#,
                "\"noise_std\" of `a`, which \"values\" does not have",
            ),
            (
                r#"{"values": {"b": 2}, "noise_std": {"b": -1}}"#,
                "\"noise_std\" of outcome `b` must be a number, 0 or more",
            ),
            (r#"{"values": {"b": 2}, "noise_std": "low"}"#, "or an object with one for each outcome"),
            (r#"{"values": {"b": 2}, "error": "it burnt"}"#, "the command reported: it burnt"),
        ] {
            let Ok(Evaluation::Failed { reason, known, .. }) = parse(line) else { panic!("{line}") };
            assert!(reason.contains(words), "{words}: {reason}");
            assert_eq!(known.unwrap().value("b"), Some(2.0), "{line}");
        }
        assert!(failure(r#"{"values": 3}"#).contains("must be a JSON object"));
        assert!(failure(r#"{"values": {}}"#).contains("has no outcome"));
    }

    proptest! {
        #[test]
        fn whatever_is_written_is_a_usable_value_or_a_reason(line in any::<String>()) {
            check(&line)?;
        }

        #[test]
        fn whatever_json_is_written_is_a_usable_value_or_a_reason(
            keys in prop::collection::vec(
                prop::sample::select(vec!["value", "values", "error", "retry", "noise_std", "note", "metrics", "x"]),
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
                for (_, one) in measured.values.iter() {
                    prop_assert!(one.value.is_finite());
                    prop_assert!(one.noise_std.is_none_or(|std| std.is_finite() && std >= 0.0));
                }
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
