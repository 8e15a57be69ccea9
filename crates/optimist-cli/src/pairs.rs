//! Values of parameters and outcomes as people type them: `name=value` words.

use anyhow::bail;
use optimist::space::{Assignment, Kind, Space, Value};
use optimist_study::{Measured, Measurement, Outcomes, Values};

/// What the words say, not checked: a value that its parameter cannot have stays a word.
pub fn read_pairs(pairs: &[String], space: &Space) -> anyhow::Result<Assignment> {
    let mut given = Assignment::default();
    for pair in pairs {
        let Some((name, word)) = pair.split_once('=') else {
            bail!("expected name=value for each parameter, or one JSON object, got `{pair}`");
        };
        if given.get(name).is_some() {
            bail!("parameter `{name}` is given twice; drop one of the two");
        }
        let kind = space.get(name).map(|parameter| &parameter.kind);
        given.insert(name, kind.and_then(|kind| value(kind, word)).unwrap_or_else(|| word.into()));
    }
    Ok(given)
}

/// A number, of the one outcome or of a named one.
#[derive(Debug, Clone, PartialEq)]
pub enum GivenValue {
    /// `81.5`, without a name.
    Unnamed(f64),
    /// `accuracy=0.93`, for one of several outcomes.
    Named(String, f64),
}

/// Parses one word of the command line.
pub fn told(word: &str) -> Result<GivenValue, String> {
    match word.split_once('=') {
        None => word
            .parse()
            .map(GivenValue::Unnamed)
            .map_err(|error| format!("{error}; expected a number, or NAME=NUMBER")),
        Some((name, number)) => match number.parse() {
            Ok(number) => Ok(GivenValue::Named(name.to_owned(), number)),
            Err(error) => Err(format!("{error}; expected NAME=NUMBER")),
        },
    }
}

/// What was measured: `81.5`, or `accuracy=0.93 latency_ms=12.1`, and how noisy that is. Whether all outcomes are there is not
/// checked.
pub fn measured(
    told: &[GivenValue],
    noise: &[GivenValue],
    outcomes: &Outcomes,
) -> anyhow::Result<Measurement> {
    if outcomes.is_one() {
        let [GivenValue::Unnamed(value)] = told else {
            bail!("the study has one outcome: tell one number, without a name");
        };
        let noise_std = match noise {
            [] => None,
            [GivenValue::Unnamed(noise_std)] => Some(*noise_std),
            _ => bail!("the study has one outcome: give one --noise-std, without a name"),
        };
        let values = Values::One(Measured { value: *value, noise_std });
        return Ok(Measurement { values, ..Measurement::new(*value) });
    }
    let mut values: Vec<(String, Measured)> = Vec::new();
    for told in told {
        let GivenValue::Named(name, value) = told else {
            let names: Vec<String> = outcomes.names().map(|name| format!("{name}=NUMBER")).collect();
            bail!("the study has named outcomes; tell {}", names.join(" "));
        };
        if values.iter().any(|(known, _)| known == name) {
            bail!("outcome `{name}` is given twice; drop one of the two");
        }
        values.push((name.clone(), Measured { value: *value, noise_std: None }));
    }
    for noise in noise {
        match noise {
            GivenValue::Unnamed(std) => values.iter_mut().for_each(|(_, one)| one.noise_std = Some(*std)),
            GivenValue::Named(name, std) => match values.iter_mut().find(|(known, _)| known == name) {
                Some((_, one)) => one.noise_std = Some(*std),
                None => {
                    bail!(
                        "--noise-std {name}=… needs a value of the same outcome; tell {name}=NUMBER as well"
                    )
                }
            },
        }
    }
    Ok(Measurement { values: Values::named(values), ..Measurement::new(0.0) })
}

/// What `word` means for a parameter of this kind; `None` if it means nothing.
fn value(kind: &Kind, word: &str) -> Option<Value> {
    match kind {
        Kind::Float { .. } => word.parse().ok().map(Value::Float),
        Kind::Int { .. } => word.parse().ok().map(Value::Int).or_else(|| word.parse().ok().map(Value::Float)),
        Kind::Bool => word.parse().ok().map(Value::Bool),
        Kind::Categorical { choices } => choices.iter().find(|choice| choice.to_string() == word).cloned(),
    }
}
