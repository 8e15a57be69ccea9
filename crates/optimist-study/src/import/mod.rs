//! Trials that were made elsewhere, from files: tables (CSV, JSON, JSON lines) and Optuna's databases.
//!
//! Given: a file and the study that it is for. Gives: its trials as `Study::import` takes them, and every row that
//! cannot be one, with the reason. Does not store anything.

mod delimited;
#[cfg(feature = "sqlite")]
mod optuna;
mod table;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

#[cfg(feature = "sqlite")]
use optimist::space::Assignment;
use optimist::space::{Kind, Space, Value};
use optimist::spelling::nearest;

use self::delimited::Numbers;
use crate::definition::Definition;
use crate::evaluation::Measurement;
use crate::study::Import;

#[cfg(feature = "sqlite")]
pub use optuna::definition as definition_of_optuna;
#[cfg(feature = "sqlite")]
use optuna::read as read_database;

/// How to read a file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ImportOptions {
    /// The column of the value; `value` if not given. Several outcomes have a column each, which has their name.
    pub value: Option<String>,
    /// Columns that are called otherwise than their parameter or outcome: column, then that.
    pub map: Vec<(String, String)>,
    /// The study of an Optuna database; not needed if there is only one.
    pub optuna_study: Option<String>,
    /// What separates the columns of a CSV; found out if not given.
    pub separator: Option<u8>,
    /// How the decimals of a CSV are written; found out if not given.
    pub decimal: Option<DecimalMark>,
}

/// What stands before the decimals of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecimalMark {
    /// A point, as in `2.5`.
    Point,
    /// A comma, as in `2,5`.
    Comma,
}

/// What a file has.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Found {
    /// Rows that are trials of the study.
    pub trials: Vec<Import>,
    /// Rows that are not.
    pub bad: Vec<BadRow>,
    /// Rows that have not ended: neither value nor failure.
    pub n_unfinished: usize,
    /// How columns and decimals are separated, if not as CSV has them everywhere.
    pub dialect: Option<String>,
}

/// A row that cannot be a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRow {
    /// Where it is: `row 12`, counted as the file has it.
    pub place: String,
    /// What is wrong with it.
    pub reason: String,
}

/// Why a file cannot be imported at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// It cannot be read.
    #[error("cannot read {}: {problem}", path.display())]
    Unreadable {
        /// The file that was to be imported.
        path: PathBuf,
        /// What the system said.
        problem: String,
    },
    /// It is neither a table nor a database.
    #[error("{} is not {format}: {problem}", path.display())]
    Malformed {
        /// The file that was to be imported.
        path: PathBuf,
        /// What it looked like.
        format: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// There is nothing in it.
    #[error("{} is empty; expected a table with one row per trial", path.display())]
    Empty {
        /// The file that was to be imported.
        path: PathBuf,
    },
    /// It has no rows.
    #[error(
        "{} has no rows{}; expected a header, and below it one row per trial",
        path.display(),
        if columns.is_empty() { String::new() } else { format!(" below `{}`", columns.join("`, `")) }
    )]
    NoRows {
        /// The file that was to be imported.
        path: PathBuf,
        /// Names of its columns.
        columns: Vec<String>,
    },
    /// It is a database, and databases were left out of this program.
    #[error(
        "{} is a SQLite database, which this program cannot read: build it with the feature `sqlite` of optimist-study",
        path.display()
    )]
    NotBuiltIn {
        /// The file that was to be imported.
        path: PathBuf,
    },
    /// A table lacks a column.
    #[error(
        "there is no column `{column}`; the columns are {}{}",
        columns.join(", "),
        match nearest(column, columns.iter().map(String::as_str)) {
            Some(meant) => format!("; did you mean `{meant}`? Use {option}{meant}{rest}"),
            None => format!("; if another column holds it, use {option}COLUMN{rest}"),
        }
    )]
    NoColumn {
        /// What was looked for.
        column: String,
        /// What there is.
        columns: Vec<String>,
        /// How to say that it has another name, before and after that name.
        option: &'static str,
        /// The end of that option, after the name of the column.
        rest: String,
    },
    /// `--map` names something that is not in the space.
    #[error(
        "column `{column}` is mapped to `{parameter}`, which is neither a parameter nor an outcome of the study"
    )]
    UnknownParameter {
        /// Name of the column in the file.
        column: String,
        /// The name given.
        parameter: String,
    },
    /// There is no one column of the value.
    #[error(
        "the study has several outcomes, each with its own column; use `--map {column}=OUTCOME` instead of `--value {column}`"
    )]
    NoValue {
        /// What was given as that column.
        column: String,
    },
    /// Which study of a database is meant?
    #[error("{problem}; its studies are {}", studies.join(", "))]
    WhichStudy {
        /// What is wrong with what was asked for.
        problem: String,
        /// What there is.
        studies: Vec<String>,
    },
    /// Optuna's study cannot be one of ours.
    #[error("the Optuna study `{study}` {problem}")]
    Unsuitable {
        /// Name of Optuna's study.
        study: String,
        /// What cannot be represented.
        problem: String,
    },
}

/// Reads a file for the study of this definition.
///
/// # Errors
/// If it cannot be read at all. Single rows that are wrong are no error.
pub fn read(path: &str, definition: &Definition, options: &ImportOptions) -> Result<Found, ImportError> {
    let path = database_path(path);
    let bytes = bytes_of(&path)?;
    if is_database(&bytes) {
        return read_database(&path, definition, options);
    }
    parse(&bytes, &path, definition, options)
}

/// Reads a table that is in memory; `path` is for messages.
///
/// # Errors
/// As [`read`].
pub fn parse(
    bytes: &[u8],
    path: &Path,
    definition: &Definition,
    options: &ImportOptions,
) -> Result<Found, ImportError> {
    let table = table::Table::parse(bytes, path, definition, options)?;
    table.check_columns(definition, options)?;
    let mut found = Found { dialect: table.dialect.clone(), ..Found::default() };
    for (place, row) in table.trials(definition, options) {
        match row {
            Ok(Some(trial)) => found.take(trial, place, &definition.space),
            Ok(None) => found.n_unfinished += 1,
            Err(reason) => found.bad.push(BadRow { place, reason }),
        }
    }
    Ok(found)
}

impl Found {
    /// Adds a row if it is a point of the space.
    fn take(&mut self, trial: Import, place: String, space: &Space) {
        let noise = trial.outcome.iter().flat_map(|measured| measured.values.iter());
        let bad_noise = noise.filter_map(|(_, one)| one.noise_std).find(|std| !std.is_finite() || *std < 0.0);
        let outcome = match bad_noise {
            Some(std) => Err(format!("the noise must be 0 or more, got {std}")),
            None => space.check(&trial.params).map_err(|error| error.to_string()),
        };
        match outcome {
            Ok(()) => self.trials.push(trial),
            Err(reason) => self.bad.push(BadRow { place, reason }),
        }
    }
}

/// Of `trials`, those that `known` does not have, as often as each is there. Two trials are the same if they have the
/// same parameters and the same outcome, bit for bit.
pub(crate) fn new_ones(trials: &[Import], known: impl Iterator<Item = Import>) -> Vec<&Import> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    known.for_each(|known| *counts.entry(key(&known)).or_default() += 1);
    let is_new = |trial: &&Import| match counts.get_mut(&key(trial)) {
        Some(left) if *left > 0 => {
            *left -= 1;
            false
        }
        _ => true,
    };
    trials.iter().filter(is_new).collect()
}

/// The same for trials that are the same.
fn key(trial: &Import) -> String {
    let mut pairs: Vec<String> = trial
        .params
        .iter()
        .map(|(name, value)| match value.as_f64() {
            Some(number) => format!("{name:?}={:x}", number.to_bits()),
            None => format!("{name:?}={value:?}"),
        })
        .collect();
    pairs.sort_unstable();
    match &trial.outcome {
        Ok(measured) => format!("{pairs:?} {}", bits(measured)),
        Err(reason) => {
            format!("{pairs:?} failed {reason} {}", trial.known.as_ref().map_or_else(String::new, bits))
        }
    }
}

/// The values measured, to the last bit.
fn bits(measured: &Measurement) -> String {
    measured.values.iter().map(|(name, one)| format!("{name:?}={:x} ", one.value.to_bits())).collect()
}

/// What a text means as a value of a parameter; `None` if it means nothing.
fn value_of(kind: &Kind, text: &str, numbers: Numbers) -> Result<Option<Value>, String> {
    Ok(match kind {
        Kind::Float { .. } => numbers.plain(text)?.parse().ok().map(Value::Float),
        Kind::Int { .. } => {
            let text = numbers.plain(text)?;
            let whole = || Value::Float(text.parse().ok()?).as_i64();
            text.parse().ok().or_else(whole).map(Value::Int)
        }
        Kind::Bool => match text.to_lowercase().as_str() {
            "true" | "1" | "yes" => Some(Value::Bool(true)),
            "false" | "0" | "no" => Some(Value::Bool(false)),
            _ => None,
        },
        Kind::Categorical { choices } => {
            let number: Option<f64> = numbers.plain(text).ok().and_then(|plain| plain.parse().ok());
            let same_number = |choice: &Value| number.is_some() && choice.as_f64() == number;
            let same = |choice: &&Value| choice.to_string() == text || same_number(choice);
            choices.iter().find(same).cloned()
        }
    })
}

/// Parameters in the order of the space.
#[cfg(feature = "sqlite")]
fn in_order(params: Assignment, space: &Space) -> Assignment {
    let order = |name: &str| space.parameters().iter().position(|parameter| parameter.name == name);
    let mut pairs: Vec<(String, Value)> =
        params.iter().map(|(name, value)| (name.to_owned(), value.clone())).collect();
    pairs.sort_by_key(|(name, _)| order(name).unwrap_or(usize::MAX));
    pairs.into_iter().collect()
}

/// Optuna's own spelling of a file is understood: `sqlite:///x.db`.
fn database_path(path: &str) -> PathBuf {
    PathBuf::from(path.strip_prefix("sqlite:///").unwrap_or(path))
}

fn bytes_of(path: &Path) -> Result<Vec<u8>, ImportError> {
    std::fs::read(path)
        .map_err(|error| ImportError::Unreadable { path: path.to_owned(), problem: error.to_string() })
}

/// Whether a file is a SQLite database.
fn is_database(bytes: &[u8]) -> bool {
    bytes.starts_with(b"SQLite format 3\0")
}

#[cfg(not(feature = "sqlite"))]
fn read_database(path: &Path, _: &Definition, _: &ImportOptions) -> Result<Found, ImportError> {
    Err(ImportError::NotBuiltIn { path: path.to_owned() })
}
