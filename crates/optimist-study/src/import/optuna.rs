//! Optuna's SQLite databases, as its versions 3 to 5 write them.
//!
//! Parameters are stored as numbers with the distribution that they came from; a choice is its index. Trials that are
//! complete have a value, failed and pruned ones are failures; those that run or wait are left out.

use std::collections::BTreeMap;
use std::path::Path;

use optimist::space::{Assignment, Condition, Kind, Parameter, Space, Value};
use rusqlite::{Connection, OpenFlags};
use serde::Deserialize;
use serde_json::Value as Json;

use super::{BadRow, Found, ImportError, ImportOptions, bytes_of, database_path, in_order, is_database};
use crate::definition::{Definition, Direction, OptimizerChoice, Plan};
use crate::evaluation::Measurement;
use crate::study::Import;

/// Reads the trials of a study.
pub fn read(path: &Path, definition: &Definition, options: &ImportOptions) -> Result<Found, ImportError> {
    let study = OptunaStudy::read(path, options)?;
    if study.direction != definition.direction {
        let problem = format!(
            "is {}, and `{}` is {}; import it into a study of the same direction",
            word(study.direction),
            definition.name,
            word(definition.direction)
        );
        return Err(ImportError::Unsuitable { study: study.name, problem });
    }
    let mut found = Found::default();
    for trial in study.trials {
        let place = format!("trial {}", trial.number);
        let params = trial.params.iter().map(|(name, stored)| {
            let mapped = options.map.iter().find(|(column, _)| column == name);
            let value = stored.value().ok_or_else(|| {
                format!("`{name}` is stored as {}, which {} cannot be", stored.number, stored.distribution)
            })?;
            Ok((mapped.map_or(name, |(_, parameter)| parameter).clone(), value))
        });
        match (params.collect::<Result<Assignment, String>>(), trial.outcome) {
            (_, None) => found.n_unfinished += 1,
            (Ok(params), Some(outcome)) => {
                let params = in_order(params, &definition.space);
                found.take(Import { params, outcome }, place, &definition.space);
            }
            (Err(reason), Some(_)) => found.bad.push(BadRow { place, reason }),
        }
    }
    Ok(found)
}

/// A study like Optuna's: its parameters with their widest bounds, and its direction. A parameter that some complete
/// trials lack becomes conditional, if one value of another says exactly when.
///
/// # Errors
/// If there is no such study, or it cannot be one of ours.
pub fn definition(name: &str, path: &str, options: &ImportOptions) -> Result<Definition, ImportError> {
    let path = database_path(path);
    if !is_database(&bytes_of(&path)?) {
        let problem =
            "only an Optuna database says what the parameters are; write a study file for a table".to_owned();
        return Err(ImportError::Malformed { path, format: "SQLite database", problem });
    }
    let study = OptunaStudy::read(&path, options)?;
    let space =
        study.space().map_err(|problem| ImportError::Unsuitable { study: study.name.clone(), problem })?;
    Ok(Definition {
        name: name.to_owned(),
        direction: study.direction,
        seed: 0,
        optimizer: OptimizerChoice::default(),
        space,
        plan: Plan::default(),
    })
}

struct OptunaStudy {
    name: String,
    direction: Direction,
    trials: Vec<OptunaTrial>,
}

struct OptunaTrial {
    number: i64,
    params: BTreeMap<String, Stored>,
    /// `None` if it has not ended.
    outcome: Option<Result<Measurement, String>>,
}

/// A parameter of a trial.
struct Stored {
    number: f64,
    distribution: String,
}

/// As Optuna writes it, old names included.
#[derive(Deserialize)]
#[serde(tag = "name", content = "attributes")]
enum Distribution {
    #[serde(rename = "FloatDistribution")]
    Float {
        low: f64,
        high: f64,
        #[serde(default)]
        log: bool,
        #[serde(default)]
        step: Option<f64>,
    },
    #[serde(rename = "UniformDistribution")]
    Uniform { low: f64, high: f64 },
    #[serde(rename = "LogUniformDistribution")]
    LogUniform { low: f64, high: f64 },
    #[serde(rename = "DiscreteUniformDistribution")]
    DiscreteUniform { low: f64, high: f64, q: f64 },
    #[serde(rename = "IntDistribution")]
    Int {
        low: i64,
        high: i64,
        #[serde(default)]
        log: bool,
        #[serde(default)]
        step: Option<i64>,
    },
    #[serde(rename = "IntUniformDistribution")]
    IntUniform {
        low: i64,
        high: i64,
        #[serde(default)]
        step: Option<i64>,
    },
    #[serde(rename = "IntLogUniformDistribution")]
    IntLogUniform { low: i64, high: i64 },
    #[serde(rename = "CategoricalDistribution")]
    Categorical { choices: Vec<Json> },
}

impl Distribution {
    fn kind(self) -> Kind {
        let float = |low, high, log, step| Kind::Float { low, high, log, step };
        let int = |low, high, log, step: Option<i64>| Kind::Int {
            low,
            high,
            log,
            step: step.filter(|step| *step != 1),
        };
        match self {
            Self::Float { low, high, log, step } => float(low, high, log, step),
            Self::Uniform { low, high } => float(low, high, false, None),
            Self::LogUniform { low, high } => float(low, high, true, None),
            Self::DiscreteUniform { low, high, q } => float(low, high, false, Some(q)),
            Self::Int { low, high, log, step } => int(low, high, log, step),
            Self::IntUniform { low, high, step } => int(low, high, false, step),
            Self::IntLogUniform { low, high } => int(low, high, true, None),
            Self::Categorical { choices } => {
                let is_bool = choices.len() == 2 && choices.iter().all(Json::is_boolean);
                let choices = choices.iter().map(choice).collect();
                if is_bool { Kind::Bool } else { Kind::Categorical { choices } }
            }
        }
    }
}

/// Optuna's choices may be nothing at all, which is a name like any other here.
fn choice(json: &Json) -> Value {
    match json {
        Json::Bool(b) => Value::Bool(*b),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => Value::Int(whole),
            None => Value::Float(number.as_f64().unwrap_or(0.0)),
        },
        Json::String(text) => Value::Text(text.clone()),
        Json::Null => Value::from("None"),
        other => Value::Text(other.to_string()),
    }
}

impl Stored {
    fn kind(&self) -> Option<Kind> {
        serde_json::from_str::<Distribution>(&self.distribution).ok().map(Distribution::kind)
    }

    fn value(&self) -> Option<Value> {
        if let Ok(Distribution::Categorical { choices }) = serde_json::from_str(&self.distribution) {
            let index = Value::Float(self.number).as_i64()?;
            return choices.get(usize::try_from(index).ok()?).map(choice);
        }
        match self.kind()? {
            Kind::Int { .. } => Value::Float(self.number).as_i64().map(Value::Int),
            _ => Some(Value::Float(self.number)),
        }
    }
}

impl OptunaStudy {
    fn read(path: &Path, options: &ImportOptions) -> Result<Self, ImportError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let malformed = |error: rusqlite::Error| ImportError::Malformed {
            path: path.to_owned(),
            format: "Optuna database of version 3 to 5",
            problem: error.to_string(),
        };
        let connection = Connection::open_with_flags(path, flags).map_err(malformed)?;
        let studies = studies(&connection).map_err(malformed)?;
        let (id, name) = choose(studies, options.optuna_study.as_deref())?;
        let directions = directions(&connection, id).map_err(malformed)?;
        let direction = match directions.as_slice() {
            [only] if only == "MINIMIZE" => Direction::Minimize,
            [only] if only == "MAXIMIZE" => Direction::Maximize,
            [only] => {
                return Err(ImportError::Unsuitable {
                    study: name,
                    problem: format!("has the direction {only}; it must be minimized or maximized"),
                });
            }
            several => {
                let problem =
                    format!("has {} objectives; only studies of one can be imported", several.len());
                return Err(ImportError::Unsuitable { study: name, problem });
            }
        };
        let trials = trials(&connection, id).map_err(malformed)?;
        Ok(Self { name, direction, trials })
    }

    /// The space that the complete trials were drawn from.
    fn space(&self) -> Result<Space, String> {
        let complete: Vec<&OptunaTrial> =
            self.trials.iter().filter(|trial| matches!(trial.outcome, Some(Ok(_)))).collect();
        let mut kinds: BTreeMap<&String, Kind> = BTreeMap::new();
        for (name, stored) in complete.iter().flat_map(|trial| &trial.params) {
            let kind = stored
                .kind()
                .ok_or_else(|| format!("has a distribution that is not known: {}", stored.distribution))?;
            let wider = match kinds.remove(name) {
                Some(known) => widest(known, kind)
                    .ok_or_else(|| format!("has different kinds of `{name}`; write a study file for it"))?,
                None => kind,
            };
            kinds.insert(name, wider);
        }
        if kinds.is_empty() {
            return Err("has no complete trial with parameters to learn the space from".to_owned());
        }
        let mut parameters = Vec::new();
        for (name, kind) in &kinds {
            let is_there = |trial: &&OptunaTrial| trial.params.contains_key(*name);
            let when = match complete.iter().all(is_there) {
                true => Vec::new(),
                false => vec![condition(name, &kinds, &complete).ok_or_else(|| {
                    format!("has trials without `{name}`, and no value of another parameter says when; write a study file for it")
                })?],
            };
            parameters.push(Parameter { name: (*name).clone(), kind: kind.clone(), when });
        }
        Space::new(parameters).map_err(|error| format!("has a space that cannot be searched: {error}"))
    }
}

/// The one value of another parameter that is there exactly when `name` is.
fn condition(name: &str, kinds: &BTreeMap<&String, Kind>, trials: &[&OptunaTrial]) -> Option<Condition> {
    let first = trials.iter().find(|trial| trial.params.contains_key(name))?;
    let explains = |other: &String, value: &Value| {
        trials.iter().all(|trial| {
            let equal = trial.params.get(other).and_then(Stored::value).as_ref() == Some(value);
            equal == trial.params.contains_key(name)
        })
    };
    let discrete = kinds.iter().filter(|(_, kind)| !matches!(kind, Kind::Float { .. }));
    discrete.filter(|(other, _)| **other != name).find_map(|(other, _)| {
        let value = first.params.get(*other)?.value()?;
        explains(other, &value).then(|| Condition { parameter: (*other).clone(), value })
    })
}

/// A kind that holds the values of both.
fn widest(a: Kind, b: Kind) -> Option<Kind> {
    match (a, b) {
        (Kind::Float { low, high, log, step }, Kind::Float { low: l, high: h, log: g, step: s }) => {
            (log == g && step == s).then(|| Kind::Float { low: low.min(l), high: high.max(h), log, step })
        }
        (Kind::Int { low, high, log, step }, Kind::Int { low: l, high: h, log: g, step: s }) => {
            (log == g && step == s).then(|| Kind::Int { low: low.min(l), high: high.max(h), log, step })
        }
        (a, b) => (a == b).then_some(a),
    }
}

fn choose(studies: Vec<(i64, String)>, wanted: Option<&str>) -> Result<(i64, String), ImportError> {
    let names: Vec<String> = studies.iter().map(|(_, name)| name.clone()).collect();
    let which = |problem: String| Err(ImportError::WhichStudy { problem, studies: names });
    match wanted {
        Some(name) => match studies.into_iter().find(|(_, known)| known == name) {
            Some(study) => Ok(study),
            None => which(format!("there is no Optuna study `{name}`")),
        },
        None if studies.len() == 1 => Ok(studies.into_iter().next().expect("there is one")),
        None if studies.is_empty() => which("the database has no study".to_owned()),
        None => which("the database has several studies; choose one with --optuna-study".to_owned()),
    }
}

fn studies(connection: &Connection) -> rusqlite::Result<Vec<(i64, String)>> {
    let mut query = connection.prepare("SELECT study_id, study_name FROM studies ORDER BY study_id")?;
    query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

fn directions(connection: &Connection, study: i64) -> rusqlite::Result<Vec<String>> {
    let mut query =
        connection.prepare("SELECT direction FROM study_directions WHERE study_id = ? ORDER BY objective")?;
    query.query_map([study], |row| row.get(0))?.collect()
}

fn trials(connection: &Connection, study: i64) -> rusqlite::Result<Vec<OptunaTrial>> {
    let mut trials: BTreeMap<i64, OptunaTrial> = BTreeMap::new();
    let mut query = connection.prepare(
        "SELECT t.trial_id, t.number, t.state, v.value, v.value_type FROM trials t
         LEFT JOIN trial_values v ON v.trial_id = t.trial_id AND v.objective = 0 WHERE t.study_id = ?",
    )?;
    let mut rows = query.query([study])?;
    while let Some(row) = rows.next()? {
        let (state, value, value_type): (String, Option<f64>, Option<String>) =
            (row.get(2)?, row.get(3)?, row.get(4)?);
        let outcome = outcome(&state, value, value_type.as_deref());
        trials.insert(row.get(0)?, OptunaTrial { number: row.get(1)?, params: BTreeMap::new(), outcome });
    }
    let mut query = connection.prepare(
        "SELECT p.trial_id, p.param_name, p.param_value, p.distribution_json FROM trial_params p
         JOIN trials t ON t.trial_id = p.trial_id WHERE t.study_id = ?",
    )?;
    let mut rows = query.query([study])?;
    while let Some(row) = rows.next()? {
        if let Some(trial) = trials.get_mut(&row.get(0)?) {
            trial.params.insert(row.get(1)?, Stored { number: row.get(2)?, distribution: row.get(3)? });
        }
    }
    let mut trials: Vec<OptunaTrial> = trials.into_values().collect();
    trials.sort_by_key(|trial| trial.number);
    Ok(trials)
}

fn outcome(state: &str, value: Option<f64>, value_type: Option<&str>) -> Option<Result<Measurement, String>> {
    match (state, value_type, value) {
        ("COMPLETE", Some("INF_POS" | "INF_NEG"), _) => Some(Err("its value is infinite".to_owned())),
        ("COMPLETE", _, Some(value)) if value.is_finite() => Some(Ok(Measurement::new(value))),
        ("COMPLETE", _, _) => Some(Err("it has no finite value".to_owned())),
        ("PRUNED", _, _) => Some(Err("it was pruned".to_owned())),
        ("FAIL", _, _) => Some(Err("it failed".to_owned())),
        _ => None,
    }
}

fn word(direction: Direction) -> &'static str {
    match direction {
        Direction::Maximize => "maximized",
        Direction::Minimize => "minimized",
    }
}
