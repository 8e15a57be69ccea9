//! Tables: CSV with a header, a JSON array of objects, or JSON lines.
//!
//! A row has a column for each active parameter and one for the value. A value of `nan` or `failed` is a trial that
//! failed, and so is a row without value whose column `state` says `failed`, `fail` or `pruned`; its reason is in `reason` or
//! `error`. `noise_std` is the standard deviation of the value's noise. Other columns are not looked at. The objects
//! that `optimist trials --json` prints, with an object `params`, are rows too.

use std::path::Path;

use optimist::space::{Assignment, Space, Value};
use serde_json::{Map, Value as Json};

use super::{ImportError, ImportOptions, in_order, value_of};
use crate::evaluation::Measurement;
use crate::study::Import;

/// A row: texts (CSV) or what JSON has.
pub type Row = Map<String, Json>;

/// A table.
pub struct Table {
    columns: Vec<String>,
    rows: Vec<(String, Row)>,
}

impl Table {
    /// JSON if it begins like it, CSV otherwise.
    pub fn parse(bytes: &[u8], path: &Path) -> Result<Self, ImportError> {
        let malformed = |format, problem| ImportError::Malformed { path: path.to_owned(), format, problem };
        let text =
            std::str::from_utf8(bytes).map_err(|error| malformed("text in UTF-8", error.to_string()))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let (format, rows) = match text.trim_start().chars().next() {
            Some('[') => ("JSON array of objects", array(text)),
            Some('{') => ("JSON lines", lines(text)),
            _ => ("CSV table", csv(text)),
        };
        let rows = rows.map_err(|problem| malformed(format, problem))?;
        let mut columns: Vec<String> = Vec::new();
        for (_, row) in &rows {
            let new = row.keys().filter(|key| !columns.contains(key)).cloned().collect::<Vec<_>>();
            columns.extend(new);
        }
        Ok(Self { columns, rows })
    }

    /// The rows with their places.
    pub fn rows(&self) -> impl Iterator<Item = (String, &Row)> {
        self.rows.iter().map(|(place, row)| (place.clone(), row))
    }

    /// Whether the columns that are spoken of are there.
    pub fn check_columns(&self, space: &Space, options: &ImportOptions) -> Result<(), ImportError> {
        let columns = || self.columns.clone();
        let has = |column: &str| self.rows.is_empty() || self.columns.iter().any(|known| known == column);
        for (column, parameter) in &options.map {
            if space.get(parameter).is_none() {
                let (column, parameter) = (column.clone(), parameter.clone());
                return Err(ImportError::UnknownParameter { column, parameter });
            }
            if !has(column) {
                return Err(ImportError::NoColumn { column: column.clone(), columns: columns() });
            }
        }
        let value = options.value.as_deref().unwrap_or("value");
        if !has(value) && !has("state") {
            return Err(ImportError::NoColumn { column: value.to_owned(), columns: columns() });
        }
        let lacks = |name: &str| !has(name) && !options.map.iter().any(|(_, mapped)| mapped == name);
        match space.parameters().iter().find(|parameter| parameter.when.is_empty() && lacks(&parameter.name))
        {
            Some(parameter) => {
                Err(ImportError::NoColumn { column: parameter.name.clone(), columns: columns() })
            }
            None => Ok(()),
        }
    }
}

/// A row as a trial; `None` if it has not ended.
pub fn trial(row: &Row, space: &Space, options: &ImportOptions) -> Result<Option<Import>, String> {
    let outcome = match outcome(row, options)? {
        Some(outcome) => outcome,
        None => return Ok(None),
    };
    let mut params = Assignment::default();
    for (column, cell) in row {
        let mapped = options.map.iter().find(|(mapped, _)| mapped == column);
        let name = mapped.map_or(column.as_str(), |(_, parameter)| parameter.as_str());
        let Some(parameter) = space.get(name) else { continue };
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
        let value = value_of(&parameter.kind, &text).unwrap_or(Value::Text(text));
        params.insert(name, value);
    }
    Ok(Some(Import { params: in_order(params, space), outcome }))
}

fn outcome(row: &Row, options: &ImportOptions) -> Result<Option<Result<Measurement, String>>, String> {
    let column = options.value.as_deref().unwrap_or("value");
    let text = |name: &str| match row.get(name) {
        Some(Json::String(text)) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Some(Json::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    let reason = || text("reason").or_else(|| text("error"));
    let failed = |what: &str| Ok(Some(Err(reason().unwrap_or_else(|| what.to_owned()))));
    let state = text("state").unwrap_or_default().to_lowercase();
    let Some(value) = text(column) else {
        return match state.as_str() {
            "failed" | "fail" => failed("it failed"),
            "pruned" => failed("it was pruned"),
            "running" | "waiting" | "cancelled" => Ok(None),
            _ => Err(format!("`{column}` is empty; write `failed` where a trial gave no value")),
        };
    };
    match value.to_lowercase().as_str() {
        "failed" | "nan" => return failed("it failed"),
        _ => {}
    }
    let number = |name: &str, text: &str| -> Result<f64, String> {
        let number = text.parse::<f64>().map_err(|_| format!("`{name}` is `{text}`, not a number"))?;
        if number.is_finite() { Ok(number) } else { Err(format!("`{name}` is {number}, not finite")) }
    };
    let mut measured = Measurement::new(number(column, &value)?);
    if let Some(noise_std) = text("noise_std") {
        measured.noise_std = Some(number("noise_std", &noise_std)?);
    }
    Ok(Some(Ok(measured)))
}

fn array(text: &str) -> Result<Vec<(String, Row)>, String> {
    let rows: Vec<Json> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    rows.into_iter().enumerate().map(|(i, row)| object(format!("row {}", i + 1), row)).collect()
}

fn lines(text: &str) -> Result<Vec<(String, Row)>, String> {
    let line = |(i, line): (usize, &str)| {
        let place = format!("line {}", i + 1);
        match serde_json::from_str(line) {
            Ok(row) => object(place, row),
            Err(error) => Err(format!("{place}: {error}")),
        }
    };
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(line).collect()
}

fn object(place: String, row: Json) -> Result<(String, Row), String> {
    let Json::Object(mut row) = row else { return Err(format!("{place} is {row}, not an object")) };
    if let Some(Json::Object(params)) = row.get("params").cloned() {
        row.remove("params");
        row.extend(params);
    }
    Ok((place, row))
}

fn csv(text: &str) -> Result<Vec<(String, Row)>, String> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| error.to_string())?.clone();
    if let Some(twice) =
        header.iter().enumerate().find(|(i, name)| header.iter().take(*i).any(|other| other == *name))
    {
        return Err(format!("the column `{}` is there twice", twice.1));
    }
    let row = |record: Result<csv::StringRecord, csv::Error>| {
        let record = record.map_err(|error| error.to_string())?;
        let line = record.position().map_or(0, csv::Position::line);
        let cells = header.iter().zip(&record).map(|(name, cell)| (name.to_owned(), Json::from(cell)));
        Ok((format!("line {line}"), cells.collect()))
    };
    reader.records().map(row).collect()
}
