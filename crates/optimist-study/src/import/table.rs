//! Tables: CSV with a header (`delimited`), a JSON array of objects, or JSON lines.
//!
//! A row has a column for each active parameter and one for the value, or for each outcome if they have names. A value of `nan` or `failed` is a trial that
//! failed, and so is a row without value whose column `state` says `failed`, `fail` or `pruned`; its reason is in `reason` or
//! `error`. `noise_std` is the standard deviation of the value's noise; of several outcomes, `noise_std.NAME` of each. Of a row that
//! failed those outcomes are kept that it has. Other columns are not looked at. The objects
//! that `optimist trials --json` prints, with objects `params` and `values`, are rows too; in its CSV, `params.NAME` and
//! `values.NAME` are columns whose names others have already.

use std::path::Path;

use optimist::space::{Assignment, Parameter, Value};
use serde_json::{Map, Value as Json};

use super::delimited::{Delimited, Numbers};
use super::{ImportError, ImportOptions, value_of};
use crate::definition::Definition;
use crate::evaluation::{Measured, Measurement, Values};
use crate::outcomes::Outcomes;
use crate::study::Import;

/// A row: texts (CSV) or what JSON has.
pub type Row = Map<String, Json>;

/// A row with its place, or what is wrong with it.
type Placed = (String, Result<Row, String>);

/// A table as it was read: columns, rows, and how numbers are written.
pub struct Table {
    columns: Vec<String>,
    rows: Vec<Placed>,
    numbers: Numbers,
    /// What was recognised, if it is not what CSV has everywhere.
    pub dialect: Option<String>,
}

impl Table {
    /// JSON if it starts like JSON, CSV otherwise. A table without rows is an error.
    pub fn parse(
        bytes: &[u8],
        path: &Path,
        definition: &Definition,
        options: &ImportOptions,
    ) -> Result<Self, ImportError> {
        let malformed = |format, problem| ImportError::Malformed { path: path.to_owned(), format, problem };
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let problem = format!("{error}; save the table again, as \"CSV UTF-8\"");
            malformed("text in UTF-8", problem)
        })?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let (format, table) = match text.trim_start().chars().next() {
            None => return Err(ImportError::Empty { path: path.to_owned() }),
            Some('[') => ("a JSON array of objects", array(text).map(Self::of_json)),
            Some('{') => ("JSON lines", lines(text).map(Self::of_json)),
            Some(_) if is_json(path) => {
                let problem = "it starts with neither `[` nor `{`; expected an array of objects, or one object per line";
                return Err(malformed("JSON", problem.to_owned()));
            }
            Some(_) => {
                let table = Delimited::read(text, options, |column| is_wanted(column, definition, options));
                ("a CSV table", table.map(Self::of_texts))
            }
        };
        let table = table.map_err(|problem| malformed(format, problem))?;
        match table.rows.is_empty() {
            true => Err(ImportError::NoRows { path: path.to_owned(), columns: table.columns }),
            false => Ok(table),
        }
    }

    fn of_json(rows: Vec<Placed>) -> Self {
        let mut columns: Vec<String> = Vec::new();
        for row in rows.iter().filter_map(|(_, row)| row.as_ref().ok()) {
            let inner = [PARAMS, VALUES].into_iter().filter_map(|group| row.get(group)?.as_object());
            let keys = row.keys().filter(|key| !row[*key].is_object()).chain(inner.flat_map(Row::keys));
            let new = keys.filter(|key| !columns.contains(key)).cloned().collect::<Vec<_>>();
            columns.extend(new);
        }
        Self { columns, rows, numbers: Numbers::default(), dialect: None }
    }

    fn of_texts(Delimited { header, rows, numbers, dialect }: Delimited) -> Self {
        Self { columns: header, rows, numbers, dialect }
    }

    /// Each row with its place: a trial, none if it has not ended, or what is wrong.
    pub fn trials<'t>(
        &'t self,
        definition: &'t Definition,
        options: &'t ImportOptions,
    ) -> impl Iterator<Item = (String, Result<Option<Import>, String>)> + 't {
        self.rows.iter().map(|(place, row)| {
            let row = row.as_ref().map_err(String::clone);
            (place.clone(), row.and_then(|row| trial(row, definition, options, self.numbers)))
        })
    }

    /// Whether the columns that are mentioned exist.
    pub fn check_columns(&self, definition: &Definition, options: &ImportOptions) -> Result<(), ImportError> {
        let Definition { space, outcomes, .. } = definition;
        let columns = || self.columns.clone();
        let has = |column: &str| self.columns.iter().any(|known| known == column);
        let absent = |column: &str, option, rest| ImportError::NoColumn {
            column: column.to_owned(),
            columns: columns(),
            option,
            rest,
        };
        for (column, parameter) in &options.map {
            if space.get(parameter).is_none() && !outcomes.names().any(|name| name == parameter) {
                let (column, parameter) = (column.clone(), parameter.clone());
                return Err(ImportError::UnknownParameter { column, parameter });
            }
            if !has(column) {
                return Err(absent(column, "--map ", format!("={parameter}")));
            }
        }
        let lacks = |group: &str, name: &str| {
            let is_mapped = || options.map.iter().any(|(_, mapped)| mapped == name);
            !has(name) && !has(&format!("{group}.{name}")) && !is_mapped()
        };
        if let Some(column) = options.value.clone().filter(|_| !outcomes.is_one()) {
            return Err(ImportError::NoValue { column });
        }
        for name in outcomes.names() {
            let column = options.value.as_deref().unwrap_or(name);
            if outcomes.is_one() && !has(column) && !has("state") {
                return Err(absent(column, "--value ", String::new()));
            }
            if !outcomes.is_one() && lacks(VALUES, column) {
                return Err(absent(column, "--map ", format!("={name}")));
            }
        }
        let mut always = space.parameters().iter().filter(|parameter| parameter.when.is_empty());
        match always.find(|parameter| lacks(PARAMS, &parameter.name)) {
            Some(Parameter { name, .. }) => Err(absent(name, "--map ", format!("={name}"))),
            None => Ok(()),
        }
    }
}

/// Whether a column has a value, its noise, or a parameter.
fn is_wanted(column: &str, definition: &Definition, options: &ImportOptions) -> bool {
    let Definition { space, outcomes, .. } = definition;
    let without = |prefix: &str| column.strip_prefix(prefix).unwrap_or(column);
    let is_outcome = |name: &str| outcomes.names().any(|outcome| outcome == name);
    column == "noise_std"
        || options.value.as_deref() == Some(column)
        || is_outcome(without("noise_std."))
        || is_outcome(without("values."))
        || space.get(without("params.")).is_some()
        || options.map.iter().any(|(mapped, _)| mapped == column)
}

/// A row as a trial; `None` if it has not ended.
fn trial(
    row: &Row,
    definition: &Definition,
    options: &ImportOptions,
    numbers: Numbers,
) -> Result<Option<Import>, String> {
    let Definition { space, outcomes, .. } = definition;
    let ended = match outcomes.is_one() {
        true => outcome(row, options, numbers)?.map(|outcome| (outcome, None)),
        false => several_outcomes(row, outcomes, options, numbers)?,
    };
    let Some((outcome, known)) = ended else { return Ok(None) };
    let mut params = Assignment::default();
    for Parameter { name, kind, .. } in space.parameters() {
        let Some(cell) = cell(row, PARAMS, name, options) else { continue };
        let text = match cell {
            Json::Null => continue,
            Json::String(text) => text.trim().to_owned(),
            Json::Number(_) | Json::Bool(_) => cell.to_string(),
            Json::Array(_) | Json::Object(_) => {
                return Err(format!("`{name}` is {cell}, not a single value"));
            }
        };
        if text.is_empty() {
            continue; // inactive
        }
        // What is no value of the parameter is left to the space, whose message says what is.
        let value = value_of(kind, &text, numbers).map_err(|reason| format!("`{name}`: {reason}"))?;
        let value = value.unwrap_or(Value::Text(text));
        params.insert(name, value);
    }
    Ok(Some(Import { params, outcome, known }))
}

/// What came of a trial, and what was measured of one that failed.
type Ended = (Result<Measurement, String>, Option<Measurement>);

/// The object, or the prefix of columns, that has parameters.
const PARAMS: &str = "params";

/// The object, or the prefix of columns, that has outcomes.
const VALUES: &str = "values";

/// What a row has for a parameter or an outcome. What is in the object or the column of its group comes before a column that is
/// only called so: a parameter may have the name of another column.
fn cell<'r>(row: &'r Row, group: &str, name: &str, options: &ImportOptions) -> Option<&'r Json> {
    let mapped = options.map.iter().find(|(_, mapped)| mapped == name);
    let column = mapped.map_or(name, |(column, _)| column.as_str());
    match row.get(group) {
        Some(Json::Object(inner)) => inner.get(column).or_else(|| mapped.and_then(|_| row.get(column))),
        _ => row.get(&format!("{group}.{column}")).or_else(|| row.get(column)),
    }
}

/// What is in a cell, if anything is.
fn text(row: &Row, column: &str) -> Option<String> {
    text_of(row.get(column))
}

fn text_of(cell: Option<&Json>) -> Option<String> {
    match cell {
        Some(Json::String(text)) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Some(Json::Number(number)) => Some(number.to_string()),
        _ => None,
    }
}

fn number(name: &str, text: &str, numbers: Numbers) -> Result<f64, String> {
    let plain = numbers.plain(text).map_err(|reason| format!("`{name}`: {reason}"))?;
    let number = plain.parse::<f64>().map_err(|_| format!("`{name}` is `{text}`, not a number"))?;
    if number.is_finite() { Ok(number) } else { Err(format!("`{name}` is {number}, not finite")) }
}

fn is_failure(text: &str) -> bool {
    matches!(text.to_lowercase().as_str(), "failed" | "nan")
}

/// How a row without a value ended, by its column `state`: why it failed, or `None` if it has not ended.
fn ended(row: &Row, column: &str) -> Result<Option<String>, String> {
    let failed = |what: &str| Ok(Some(reason(row).unwrap_or_else(|| what.to_owned())));
    match text(row, "state").unwrap_or_default().to_lowercase().as_str() {
        "failed" | "fail" => failed("it failed"),
        "pruned" => failed("it was pruned"),
        "running" | "waiting" | "cancelled" => Ok(None),
        _ => Err(format!("`{column}` is empty; write `failed` where a trial gave no value")),
    }
}

fn reason(row: &Row) -> Option<String> {
    text(row, "reason").or_else(|| text(row, "error"))
}

/// A row of a study of several outcomes: those that it has, each in a column of its name.
fn several_outcomes(
    row: &Row,
    outcomes: &Outcomes,
    options: &ImportOptions,
    numbers: Numbers,
) -> Result<Option<Ended>, String> {
    let (mut values, mut missing) = (Vec::new(), None);
    let common = text(row, "noise_std").map(|text| number("noise_std", &text, numbers)).transpose()?;
    for name in outcomes.names() {
        let mapped = options.map.iter().find(|(_, mapped)| mapped == name);
        let column = mapped.map_or(name, |(column, _)| column.as_str());
        match text_of(cell(row, VALUES, name, options)).filter(|text| !is_failure(text)) {
            None => missing = missing.or(Some((name, column))),
            Some(value) => {
                let noise_column = format!("noise_std.{name}");
                let own =
                    text(row, &noise_column).map(|text| number(&noise_column, &text, numbers)).transpose()?;
                let measured =
                    Measured { value: number(column, &value, numbers)?, noise_std: own.or(common) };
                values.push((name.to_owned(), measured));
            }
        }
    }
    let measured = Measurement { values: Values::named(values), ..Measurement::new(0.0) };
    let Some((name, column)) = missing else {
        return Ok(Some(match ended(row, "state") {
            Ok(Some(reason)) => (Err(reason), outcomes.known(measured)),
            _ => (Ok(measured), None),
        }));
    };
    let says_failed = text_of(cell(row, VALUES, name, options)).is_some_and(|text| is_failure(&text));
    let reason = match says_failed {
        true => Some(reason(row).unwrap_or_else(|| "it failed".to_owned())),
        false => ended(row, column)?,
    };
    Ok(reason.map(|reason| (Err(reason), outcomes.known(measured))))
}

fn outcome(
    row: &Row,
    options: &ImportOptions,
    numbers: Numbers,
) -> Result<Option<Result<Measurement, String>>, String> {
    let column = options.value.as_deref().unwrap_or("value");
    let Some(value) = text(row, column) else { return Ok(ended(row, column)?.map(Err)) };
    if is_failure(&value) {
        return Ok(Some(Err(reason(row).unwrap_or_else(|| "it failed".to_owned()))));
    }
    let mut measured = Measurement::new(number(column, &value, numbers)?);
    if let Some(noise_std) = text(row, "noise_std") {
        measured = measured.with_noise(number("noise_std", &noise_std, numbers)?);
    }
    Ok(Some(Ok(measured)))
}

/// Whether its name says that it holds JSON.
fn is_json(path: &Path) -> bool {
    path.extension()
        .is_some_and(|end| ["json", "jsonl", "ndjson"].iter().any(|json| end.eq_ignore_ascii_case(json)))
}

fn array(text: &str) -> Result<Vec<Placed>, String> {
    let rows: Vec<Json> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let row = |(i, row): (usize, Json)| (format!("row {}", i + 1), object(row));
    some_good(rows.into_iter().enumerate().map(row).collect())
}

fn lines(text: &str) -> Result<Vec<Placed>, String> {
    let row = |line: &str| match serde_json::from_str(line) {
        Ok(row) => object(row),
        // Its line is always 1.
        Err(error) => Err(error.to_string().replace(" at line 1 column ", " at character ")),
    };
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    some_good(lines.map(|(i, line)| (format!("line {}", i + 1), row(line))).collect())
}

/// The rows, unless none of them is an object: then this is another kind of file.
fn some_good(rows: Vec<Placed>) -> Result<Vec<Placed>, String> {
    match rows.first() {
        Some((place, Err(problem))) if rows.iter().all(|(_, row)| row.is_err()) => {
            Err(format!("{place}: {problem}"))
        }
        _ => Ok(rows),
    }
}

fn object(row: Json) -> Result<Row, String> {
    let Json::Object(mut row) = row else { return Err(format!("it is {row}, not an object")) };
    if let Some(Json::Object(noise)) = row.get("noise_std").cloned() {
        row.remove("noise_std");
        row.extend(noise.into_iter().map(|(name, std)| (format!("noise_std.{name}"), std)));
    }
    Ok(row)
}
