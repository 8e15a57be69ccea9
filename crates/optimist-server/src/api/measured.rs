//! What a request says was measured: one number, or one for each of several outcomes.

use std::collections::BTreeMap;

use optimist_study::{Measured, Measurement, Values};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::problem::Problem;

/// The name of the one outcome of most studies.
const VALUE: &str = "value";

/// The standard deviation of the noise of what was measured.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Noise {
    /// Of every value.
    OfAll(#[schemars(range(min = 0.0))] f64),
    /// Of the outcomes that are named.
    ByOutcome(BTreeMap<String, f64>),
}

/// `value` or `values`, with the noise of each. Whether the study has these outcomes is the study's to say.
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
            return Err(Problem::bad_request("there are `value` and `values`; leave out one of them"));
        }
        (None, None) => {
            let problem = "there is no `value`; a study of several outcomes takes `values`, an object";
            return Err(Problem::bad_request(problem));
        }
    };
    if let Some(Noise::ByOutcome(noise)) = &noise_std
        && let Some(name) = noise.keys().find(|name| !named.iter().any(|(known, _)| known == *name))
    {
        return Err(Problem::bad_request(format!("`noise_std` names `{name}`, of which there is no value")));
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
    fn what_cannot_be_meant_says_why() {
        let detail = |body| of(body).unwrap_err().detail().to_owned();
        assert!(detail("{}").contains("no `value`"));
        assert!(detail(r#"{"value": 1, "values": {}}"#).contains("leave out one"));
        assert!(detail(r#"{"value": 1, "noise_std": {"mass": 1}}"#).contains("names `mass`"));
    }
}
