//! Trials that were made elsewhere, from files: tables (CSV, JSON, JSON lines) and Optuna's databases.
//!
//! Given: a file and the study that it is for. Gives: its trials as `Study::import` takes them, and every row that
//! cannot be one, with the reason. Does not store anything.

#[cfg(feature = "sqlite")]
mod optuna;
mod table;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use optimist::space::{Assignment, Kind, Space, Value};

use crate::definition::Definition;
use crate::evaluation::Measurement;
use crate::study::Import;

#[cfg(feature = "sqlite")]
pub use optuna::definition as definition_of_optuna;
#[cfg(feature = "sqlite")]
use optuna::read as read_database;

/// How a file is to be read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ImportOptions {
    /// The column of the value; `value` if not given.
    pub value: Option<String>,
    /// Columns that are called otherwise than their parameter: column, then parameter.
    pub map: Vec<(String, String)>,
    /// The study of an Optuna database; not needed if there is only one.
    pub optuna_study: Option<String>,
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
        /// Which one.
        path: PathBuf,
        /// What the system said.
        problem: String,
    },
    /// It is neither a table nor a database.
    #[error("{} is no {format}: {problem}", path.display())]
    Malformed {
        /// Which one.
        path: PathBuf,
        /// What it looked like.
        format: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// It is a database, and databases were left out of this program.
    #[error(
        "{} is a SQLite database, which this program cannot read: build it with the feature `sqlite` of optimist-study",
        path.display()
    )]
    NotBuiltIn {
        /// Which one.
        path: PathBuf,
    },
    /// A table lacks a column.
    #[error("there is no column `{column}`; the columns are {}", columns.join(", "))]
    NoColumn {
        /// What was looked for, and how to say otherwise.
        column: String,
        /// What there is.
        columns: Vec<String>,
    },
    /// `--map` names something that is not in the space.
    #[error("column `{column}` is mapped to `{parameter}`, which is no parameter of the study")]
    UnknownParameter {
        /// The column.
        column: String,
        /// The name given.
        parameter: String,
    },
    /// Which study of a database is meant?
    #[error("{problem}; the studies there are {}", studies.join(", "))]
    WhichStudy {
        /// What is wrong with what was asked for.
        problem: String,
        /// What there is.
        studies: Vec<String>,
    },
    /// Optuna's study cannot be one of ours.
    #[error("the Optuna study `{study}` {problem}")]
    Unsuitable {
        /// Its name.
        study: String,
        /// Why not.
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
    parse(&bytes, &path, &definition.space, options)
}

/// Reads a table that is in memory; `path` is for messages.
///
/// # Errors
/// As [`read`].
pub fn parse(
    bytes: &[u8],
    path: &Path,
    space: &Space,
    options: &ImportOptions,
) -> Result<Found, ImportError> {
    let table = table::Table::parse(bytes, path)?;
    table.check_columns(space, options)?;
    let mut found = Found::default();
    for (place, row) in table.rows() {
        match table::trial(row, space, options) {
            Ok(Some(trial)) => found.take(trial, place, space),
            Ok(None) => found.n_unfinished += 1,
            Err(reason) => found.bad.push(BadRow { place, reason }),
        }
    }
    Ok(found)
}

impl Found {
    /// Adds a row if it is a point of the space.
    fn take(&mut self, trial: Import, place: String, space: &Space) {
        let outcome = match &trial.outcome {
            Ok(Measurement { noise_std: Some(std), .. }) if !std.is_finite() || *std < 0.0 => {
                Err(format!("the noise must be 0 or more, got {std}"))
            }
            _ => space.check(&trial.params).map_err(|error| error.to_string()),
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
        Ok(measured) => format!("{pairs:?} {:x}", measured.value.to_bits()),
        Err(reason) => format!("{pairs:?} failed {reason}"),
    }
}

/// What a text means as a value of a parameter.
fn value_of(kind: &Kind, text: &str) -> Option<Value> {
    match kind {
        Kind::Float { .. } => text.parse().ok().map(Value::Float),
        Kind::Int { .. } => {
            let whole = || Value::Float(text.parse().ok()?).as_i64();
            text.parse().ok().or_else(whole).map(Value::Int)
        }
        Kind::Bool => match text.to_lowercase().as_str() {
            "true" | "1" | "yes" => Some(Value::Bool(true)),
            "false" | "0" | "no" => Some(Value::Bool(false)),
            _ => None,
        },
        Kind::Categorical { choices } => {
            let number: Option<f64> = text.parse().ok();
            let same_number = |choice: &Value| number.is_some() && choice.as_f64() == number;
            let same = |choice: &&Value| choice.to_string() == text || same_number(choice);
            choices.iter().find(same).cloned()
        }
    }
}

/// Parameters in the order of the space.
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
