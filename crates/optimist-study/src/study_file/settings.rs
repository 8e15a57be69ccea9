//! The `[optimizer]` table. Optimizers read their settings themselves, with serde: what is done here
//! is to find the place of what they complain about.

use std::ops::Range;

use serde::Deserialize;
use toml::de::ValueDeserializer;

use super::problem::Problem;
use super::table::{Entry, entries};
use crate::definition::OptimizerChoice;
use optimist::Method;

/// The optimizer and its settings; the default one if there is no such table.
pub fn optimizer(optimizer: Option<Entry<'_>>, problems: &mut Vec<Problem>) -> Option<OptimizerChoice> {
    let Some(entry) = optimizer else {
        return Some(OptimizerChoice::default());
    };
    if !entry.value.get_ref().is_table() {
        let expected = "expected a table such as `optimizer = { name = \"go-ucb\" }`";
        problems.push(Problem::new(entry.value.span(), "`optimizer` is not a table", expected));
        return None;
    }
    let table = || ValueDeserializer::from(entry.value.clone());
    // Read from the file itself, so that what is wrong has its place.
    if let Err(error) = Method::deserialize(table()) {
        problems.push(settings_problem(&entry, error.message(), error.span()));
        return None;
    }
    match OptimizerChoice::deserialize(table()) {
        Ok(choice) => Some(choice),
        Err(error) => {
            problems.push(settings_problem(&entry, error.message(), error.span()));
            None
        }
    }
}

/// What serde says as a problem: "unknown field `kapa`, expected one of `name`, `kappa`", and where.
pub fn settings_problem(optimizer: &Entry<'_>, message: &str, span: Option<Range<usize>>) -> Problem {
    let span = span.filter(|span| *span != optimizer.value.span());
    let span = span.or_else(|| mentioned(optimizer, message)).unwrap_or_else(|| optimizer.key.span());
    match message.split_once(", expected ") {
        Some((wrong, expected)) => {
            let problem =
                Problem::new(span, format!("`[optimizer]`: {wrong}"), format!("expected {expected}"));
            match quoted(wrong).next() {
                Some(word) => problem.suggest(word, quoted(expected)),
                None => problem,
            }
        }
        None => Problem::new(span, format!("`[optimizer]`: {message}"), "in these settings"),
    }
}

/// The place of the first key, or else value, that the message has in quotes.
fn mentioned(optimizer: &Entry<'_>, message: &str) -> Option<Range<usize>> {
    let settings = entries(optimizer.value.get_ref().as_table()?);
    let is_mentioned = |text: &str| quoted(message).any(|word| word == text);
    let key = settings.iter().find(|entry| is_mentioned(entry.name())).map(|entry| entry.key.span());
    let value = || settings.iter().find(|entry| entry.value.get_ref().as_str().is_some_and(is_mentioned));
    key.or_else(|| value().map(|entry| entry.value.span()))
}

/// The words in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}
