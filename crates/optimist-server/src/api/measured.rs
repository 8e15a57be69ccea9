//! Measurements in requests: one number, or one for each of several outcomes.

use std::collections::BTreeMap;

use optimist_study::{Measured, Measurement, Values};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::problem::Problem;

/// The name of the outcome in a study with a single one.
const VALUE: &str = "value";

/// The standard deviation of the measurement noise.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "NoiseStd")] // responses have a `Noise` of their own
pub enum Noise {
    /// The same for all outcomes.
    OfAll(#[schemars(range(min = 0.0))] f64),
    /// By outcome.
    ByOutcome(BTreeMap<String, f64>),
}

/// The measurement in `value` or `values`, with its noise. Doesn't check whether the study has these outcomes; the study does.
pub fn measurement(
    value: Option<f64>,
    values: Option<BTreeMap<String, f64>>,
    noise_std: Option<Noise>,
    note: Option<String>,
    metrics: Option<Map<String, Value>>,
) -> Result<Measurement, Problem> {
    let named: Vec<(String, f64)> = match (value, values) {
        (Some(value), None) => vec![(VALUE.to_owned(), value)],
        (None, Some(values)) => values.into_iter().collect(),
        (Some(_), Some(_)) => {
            return Err(Problem::bad_request("send either `value` or `values`, not both"));
        }
        (None, None) => {
            let problem = "`value` is missing; a study with several outcomes takes `values`, an object";
            return Err(Problem::bad_request(problem));
        }
    };
    if let Some(Noise::ByOutcome(noise)) = &noise_std
        && let Some(name) = noise.keys().find(|name| !named.iter().any(|(known, _)| known == *name))
    {
        return Err(Problem::bad_request(format!("`noise_std` names `{name}`, which has no value")));
    }
    let noise_of = |name: &str| match &noise_std {
        None => None,
        Some(Noise::OfAll(std)) => Some(*std),
        Some(Noise::ByOutcome(noise)) => noise.get(name).copied(),
    };
    let measured = |(name, value): (String, f64)| {
        let noise_std = noise_of(&name);
        (name, Measured { value, noise_std })
    };
    let values = Values::named(named.into_iter().map(measured).collect());
    Ok(Measurement { values, note, metrics: metrics.map(Box::new) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(body: &str) -> Result<Measurement, Problem> {
        #[derive(Deserialize)]
        struct Body {
            value: Option<f64>,
            values: Option<BTreeMap<String, f64>>,
            noise_std: Option<Noise>,
        }
        let Body { value, values, noise_std } = serde_json::from_str(body).unwrap();
        measurement(value, values, noise_std, None, None)
    }

    #[test]
    fn a_value_or_values_are_measured_with_their_noise() {
        assert_eq!(of(r#"{"value": 1.5}"#).unwrap(), Measurement::new(1.5));
        assert_eq!(of(r#"{"value": 1.5, "noise_std": 0.1}"#).unwrap(), Measurement::new(1.5).with_noise(0.1));
        let pair = Measurement::of([("mass", 3.0), ("yield", 0.9)]);
        assert_eq!(of(r#"{"values": {"yield": 0.9, "mass": 3.0}}"#).unwrap(), pair);
        let noisy = of(r#"{"values": {"yield": 0.9, "mass": 3.0}, "noise_std": {"mass": 0.2}}"#).unwrap();
        let noise = |name| noisy.values.get(name).unwrap().noise_std;
        assert_eq!((noise("mass"), noise("yield")), (Some(0.2), None));
    }

    #[test]
    fn invalid_measurements_say_why() {
        let detail = |body| of(body).unwrap_err().detail().to_owned();
        assert!(detail("{}").contains("`value` is missing"));
        assert!(detail(r#"{"value": 1, "values": {}}"#).contains("not both"));
        assert!(detail(r#"{"value": 1, "noise_std": {"mass": 1}}"#).contains("names `mass`"));
    }
}
