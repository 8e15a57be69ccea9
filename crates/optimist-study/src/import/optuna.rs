//! Optuna's SQLite databases, as its versions 3 to 5 write them.
//!
//! Parameters are stored as numbers with the distribution that they came from; a choice is its index. Trials that are
//! complete have a value, failed and pruned ones are failures; those that run or wait are left out. Several objectives become several
//! goals, and constraints, which Optuna's samplers keep as attributes of trials, outcomes that must be at most 0.

use std::collections::BTreeMap;
use std::path::Path;

use optimist::space::{Assignment, Condition, Kind, Parameter, Space, Value};
use rusqlite::{Connection, OpenFlags};
use serde::Deserialize;
use serde_json::Value as Json;

use super::{BadRow, Found, ImportError, ImportOptions, bytes_of, database_path, in_order, is_database};
use crate::definition::{Definition, Direction, OptimizerChoice, Plan};
use crate::evaluation::Measurement;
use crate::outcomes::{Aim, NamedOutcome, Outcomes, VALUE};
use crate::study::Import;
use crate::view::number::count;

/// Reads the trials of a study.
pub fn read(path: &Path, definition: &Definition, options: &ImportOptions) -> Result<Found, ImportError> {
    let study = OptunaStudy::read(path, options)?;
    let unsuitable = |problem| ImportError::Unsuitable { study: study.name.clone(), problem };
    let targets = study.targets(definition, options).map_err(unsuitable)?;
    let mut found = Found::default();
    for trial in study.trials {
        let place = format!("trial {}", trial.number);
        let params = trial.params.iter().map(|(name, stored)| {
            let mapped = options.map.iter().find(|(column, _)| column == name);
            let value = stored.value().ok_or_else(|| {
                format!("`{name}` is stored as {}, which does not fit {}", stored.number, stored.distribution)
            })?;
            Ok((mapped.map_or(name, |(_, parameter)| parameter).clone(), value))
        });
        match (params.collect::<Result<Assignment, String>>(), trial.outcome(&targets, &definition.outcomes))
        {
            (_, None) => found.n_unfinished += 1,
            (Ok(params), Some((outcome, known))) => {
                let params = in_order(params, &definition.space);
                found.take(Import { params, outcome, known }, place, &definition.space);
            }
            (Err(reason), Some(_)) => found.bad.push(BadRow { place, reason }),
        }
    }
    Ok(found)
}

/// A study like Optuna's: its parameters with their widest bounds, and its directions and constraints. A parameter that some
/// complete trials lack becomes conditional, if one value of another says exactly when.
///
/// # Errors
/// If there is no such study, or it cannot be one of ours.
pub fn definition(name: &str, path: &str, options: &ImportOptions) -> Result<Definition, ImportError> {
    let path = database_path(path);
    if !is_database(&bytes_of(&path)?) {
        let problem =
            "only an Optuna database describes its parameters; write a study file for a table".to_owned();
        return Err(ImportError::Malformed { path, format: "an Optuna database", problem });
    }
    let study = OptunaStudy::read(&path, options)?;
    let unsuitable = |problem| ImportError::Unsuitable { study: study.name.clone(), problem };
    let definition = Definition {
        name: name.to_owned(),
        outcomes: study.outcomes().map_err(unsuitable)?,
        seed: 0,
        optimizer: OptimizerChoice::default(),
        space: study.space().map_err(unsuitable)?,
        plan: Plan::default(),
    };
    match definition.misfit() {
        Some(problem) => Err(unsuitable(format!("can't be represented in Optimist: {problem}"))),
        None => Ok(definition),
    }
}

struct OptunaStudy {
    name: String,
    directions: Vec<Direction>,
    /// What its objectives are called, if anybody said so.
    metrics: Vec<String>,
    trials: Vec<OptunaTrial>,
}

struct OptunaTrial {
    number: i64,
    state: String,
    params: BTreeMap<String, Stored>,
    /// By objective; `None` if it is infinite.
    values: BTreeMap<usize, Option<f64>>,
    /// Each is feasible if it is at most 0.
    constraints: Vec<(String, f64)>,
}

/// Where an outcome of Optuna's goes: its name there, and that of ours.
struct Target {
    source: Origin,
    name: String,
}

enum Origin {
    Objective(usize),
    Constraint(String),
}

impl OptunaTrial {
    /// Whether it ended with finite values.
    fn is_complete(&self) -> bool {
        let is_finite = |value: &Option<f64>| value.is_some_and(f64::is_finite);
        self.state == "COMPLETE" && !self.values.is_empty() && self.values.values().all(is_finite)
    }

    /// What came of it, and of one that failed what is known; `None` if it has not ended.
    fn outcome(
        &self,
        targets: &[Target],
        outcomes: &Outcomes,
    ) -> Option<(Result<Measurement, String>, Option<Measurement>)> {
        let failed = match self.state.as_str() {
            "COMPLETE" => None,
            "PRUNED" => Some("it was pruned".to_owned()),
            "FAIL" => Some("it failed".to_owned()),
            _ => return None,
        };
        let measured = targets.iter().filter_map(|target| Some((target.name.clone(), self.value(target)?)));
        let known = Measurement::of(measured);
        let missing = || {
            let target = targets.iter().find(|target| self.value(target).is_none())?;
            Some(match (&target.source, outcomes.is_one()) {
                (Origin::Objective(i), true) if self.values.get(i) == Some(&None) => {
                    "its value is infinite".to_owned()
                }
                (_, true) => "it has no finite value".to_owned(),
                (_, false) => format!("it has no finite value of `{}`", target.name),
            })
        };
        Some(match failed.or_else(missing) {
            Some(reason) => (Err(reason), outcomes.known(known)),
            None => (Ok(known), None),
        })
    }

    fn value(&self, target: &Target) -> Option<f64> {
        let value = match &target.source {
            Origin::Objective(i) => self.values.get(i).copied().flatten(),
            Origin::Constraint(name) => {
                self.constraints.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
            }
        };
        value.filter(|value| value.is_finite())
    }
}

impl OptunaStudy {
    /// Names of its objectives: those given in Optuna, or their numbers.
    fn objectives(&self) -> Vec<String> {
        match self.directions.len() {
            1 if self.metrics.is_empty() => vec![VALUE.to_owned()],
            n if self.metrics.len() == n => self.metrics.clone(),
            n => (0..n).map(|i| format!("value_{i}")).collect(),
        }
    }

    /// The constraints of all its trials.
    fn constraints(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for (name, _) in self.trials.iter().flat_map(|trial| &trial.constraints) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    }

    /// Outcomes like its objectives and constraints.
    fn outcomes(&self) -> Result<Outcomes, String> {
        let constraints = self.constraints();
        if let ([direction], true) = (&self.directions[..], constraints.is_empty()) {
            return Ok(Outcomes::one(*direction));
        }
        let goals = self.objectives().into_iter().zip(&self.directions);
        let goals =
            goals.map(|(name, &direction)| NamedOutcome::new(name, Aim::Goal { direction, reference: None }));
        let constraints = constraints.into_iter().map(|name| NamedOutcome::new(name, Aim::AtMost(0.0)));
        let outcomes = Outcomes::new(goals.chain(constraints).collect());
        outcomes.map_err(|problem| format!("has unsupported outcomes: {problem}"))
    }

    /// Which of its outcomes is which of ours: by name, or, if no name is known here, by order.
    fn targets(&self, definition: &Definition, options: &ImportOptions) -> Result<Vec<Target>, String> {
        let outcomes = &definition.outcomes;
        let (objectives, constraints) = (self.objectives(), self.constraints());
        let goals: Vec<&NamedOutcome> = outcomes.goals().collect();
        if objectives.len() != goals.len() {
            let (n, ours) = (objectives.len(), goals.len());
            return Err(format!(
                "has {}, and `{}` has {}; import it into a study with as many goals, or create one with --create",
                count(n, "objective"),
                definition.name,
                count(ours, "goal")
            ));
        }
        let of_goals = matched(&objectives, &goals, options)?;
        for ((theirs, direction), goal) in objectives.iter().zip(&self.directions).zip(&of_goals) {
            let ours = goal.aim.direction();
            if ours != *direction {
                let (theirs, goal) = match outcomes.is_one() {
                    true => (String::new(), format!("`{}`", definition.name)),
                    false => (
                        format!("has `{theirs}`, which "),
                        format!("`{}` of `{}`", goal.name, definition.name),
                    ),
                };
                let (is, ours) = (word(*direction), word(ours));
                return Err(format!(
                    "{theirs}is {is}, and {goal} is {ours}; import it into a study with the same direction"
                ));
            }
        }
        let goals = of_goals.iter().enumerate();
        let goals = goals.map(|(i, goal)| Target { source: Origin::Objective(i), name: goal.name.clone() });
        let limits: Vec<&NamedOutcome> = outcomes.constraints().collect();
        if outcomes.is_one() {
            return Ok(goals.collect());
        }
        if limits.len() != constraints.len() {
            return Err(format!(
                "has {}, and `{}` has {}; import it into a study with as many, or create one with --create",
                count(constraints.len(), "constraint"),
                definition.name,
                limits.len()
            ));
        }
        if let Some(limit) = limits.iter().find(|limit| limit.aim != Aim::AtMost(0.0)) {
            return Err(format!(
                "has constraints that hold at 0 and below, but `{}` of `{}` is {}; give it `at_most = 0`",
                limit.name, definition.name, limit.aim
            ));
        }
        let of_limits = matched(&constraints, &limits, options)?;
        let limits = constraints.iter().zip(of_limits);
        let limits = limits.map(|(theirs, limit)| Target {
            source: Origin::Constraint(theirs.clone()),
            name: limit.name.clone(),
        });
        Ok(goals.chain(limits).collect())
    }
}

/// Ours for each of theirs.
fn matched<'o>(
    theirs: &[String],
    ours: &[&'o NamedOutcome],
    options: &ImportOptions,
) -> Result<Vec<&'o NamedOutcome>, String> {
    let called = |name: &String| -> String {
        let mapped = options.map.iter().find(|(column, _)| column == name);
        mapped.map_or(name, |(_, outcome)| outcome).clone()
    };
    let known = |name: &String| ours.iter().find(|one| one.name == called(name)).copied();
    if theirs.iter().all(|name| known(name).is_none()) {
        return Ok(ours.to_vec());
    }
    let found = theirs.iter().map(|name| {
        known(name).ok_or_else(|| {
            format!("has `{name}`, which is not an outcome of the study; use `--map {name}=OUTCOME`")
        })
    });
    let found = found.collect::<Result<Vec<_>, _>>()?;
    match (0..found.len()).find(|&i| found[..i].iter().any(|other| other.name == found[i].name)) {
        Some(i) => {
            Err(format!("has two outcomes that would both become `{}`; choose with --map", found[i].name))
        }
        None => Ok(found),
    }
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
            format: "an Optuna database of version 3 to 5",
            problem: error.to_string(),
        };
        let connection = Connection::open_with_flags(path, flags).map_err(malformed)?;
        let studies = studies(&connection).map_err(malformed)?;
        let (id, name) = choose(studies, options.optuna_study.as_deref())?;
        let stored = directions(&connection, id).map_err(malformed)?;
        let directions = stored.iter().map(|direction| match direction.as_str() {
            "MINIMIZE" => Ok(Direction::Minimize),
            "MAXIMIZE" => Ok(Direction::Maximize),
            other => Err(ImportError::Unsuitable {
                study: name.clone(),
                problem: format!("has the direction {other}; it must be minimized or maximized"),
            }),
        });
        let directions = directions.collect::<Result<Vec<_>, _>>()?;
        let metrics = metric_names(&connection, id).map_err(malformed)?;
        let trials = trials(&connection, id).map_err(malformed)?;
        Ok(Self { name, directions, metrics, trials })
    }

    /// The space that the complete trials were drawn from.
    fn space(&self) -> Result<Space, String> {
        let complete: Vec<&OptunaTrial> = self.trials.iter().filter(|trial| trial.is_complete()).collect();
        let mut kinds: BTreeMap<&String, Kind> = BTreeMap::new();
        for (name, stored) in complete.iter().flat_map(|trial| &trial.params) {
            let kind = stored
                .kind()
                .ok_or_else(|| format!("has an unknown distribution: {}", stored.distribution))?;
            let wider = match kinds.remove(name) {
                Some(known) => widest(known, kind)
                    .ok_or_else(|| format!("has `{name}` with different types; write a study file for it"))?,
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
        Space::new(parameters).map_err(|error| format!("has an unsupported search space: {error}"))
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

/// The names of the objectives, if they were given any.
fn metric_names(connection: &Connection, study: i64) -> rusqlite::Result<Vec<String>> {
    let mut query = connection.prepare(
        "SELECT value_json FROM study_system_attributes WHERE study_id = ? AND key = 'study:metric_names'",
    )?;
    let written: Vec<String> = query.query_map([study], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(written.first().and_then(|names| serde_json::from_str(names).ok()).unwrap_or_default())
}

fn trials(connection: &Connection, study: i64) -> rusqlite::Result<Vec<OptunaTrial>> {
    let mut trials: BTreeMap<i64, OptunaTrial> = BTreeMap::new();
    let mut query = connection.prepare("SELECT trial_id, number, state FROM trials WHERE study_id = ?")?;
    let mut rows = query.query([study])?;
    while let Some(row) = rows.next()? {
        let trial = OptunaTrial {
            number: row.get(1)?,
            state: row.get(2)?,
            params: BTreeMap::new(),
            values: BTreeMap::new(),
            constraints: Vec::new(),
        };
        trials.insert(row.get(0)?, trial);
    }
    let mut query = connection.prepare(
        "SELECT v.trial_id, v.objective, v.value, v.value_type FROM trial_values v
         JOIN trials t ON t.trial_id = v.trial_id WHERE t.study_id = ?",
    )?;
    let mut rows = query.query([study])?;
    while let Some(row) = rows.next()? {
        let (objective, value, value_type): (i64, Option<f64>, String) =
            (row.get(1)?, row.get(2)?, row.get(3)?);
        let value = value.filter(|_| !value_type.starts_with("INF"));
        if let (Some(trial), Ok(objective)) = (trials.get_mut(&row.get(0)?), usize::try_from(objective)) {
            trial.values.insert(objective, value);
        }
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
    let mut query = connection.prepare(
        "SELECT a.trial_id, a.key, a.value_json FROM trial_system_attributes a
         JOIN trials t ON t.trial_id = a.trial_id
         WHERE t.study_id = ? AND (a.key = 'constraints' OR a.key LIKE 'constraints:%') ORDER BY a.key, a.trial_id",
    )?;
    let mut rows = query.query([study])?;
    while let Some(row) = rows.next()? {
        if let Some(trial) = trials.get_mut(&row.get(0)?) {
            trial.constraints.extend(constraints(&row.get::<_, String>(1)?, &row.get::<_, String>(2)?));
        }
    }
    let mut trials: Vec<OptunaTrial> = trials.into_values().collect();
    trials.sort_by_key(|trial| trial.number);
    Ok(trials)
}

/// Constraints of a trial: a list under `constraints`, and, since version 5, a number under `constraints:NAME` for each that has a
/// name.
fn constraints(key: &str, written: &str) -> Vec<(String, f64)> {
    let number = |(name, value): (String, &Json)| Some((name, value.as_f64()?));
    match (key.split_once(':'), serde_json::from_str(written)) {
        (Some((_, name)), Ok(value)) => number((name.to_owned(), &value)).into_iter().collect(),
        (None, Ok(Json::Array(values))) => {
            let named = values.iter().enumerate().map(|(i, value)| (format!("constraint_{i}"), value));
            named.filter_map(number).collect()
        }
        _ => Vec::new(),
    }
}

fn word(direction: Direction) -> &'static str {
    match direction {
        Direction::Maximize => "maximized",
        Direction::Minimize => "minimized",
    }
}
