//! The `[optimizer]` table. Optimizers read their settings themselves, with serde: what is done here
//! is to find the place of what they complain about.

use std::ops::Range;

use optimist::spelling::nearest;
use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeValue, ValueDeserializer};

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
    // Read from the file itself, so that what is wrong has its place; without what is wrong, to find all of it.
    let mut settings = entry.value.clone();
    let mistakes_before = problems.len();
    while let Err(error) = Method::deserialize(ValueDeserializer::from(settings.clone())) {
        let mut problem = settings_problem(&entry, error.message(), error.span());
        // Of a value of the wrong type serde says no place.
        if problem.span == entry.key.span()
            && let Some((key, span)) = culprit(&settings, error.message())
        {
            problem.message = problem.message.replacen(": ", &format!(": `{key}`: "), 1);
            problem.span = span;
        }
        let span = problem.span.clone();
        problems.push(problem);
        if !mend(&mut settings, &span) {
            break;
        }
    }
    if problems.len() > mistakes_before {
        return None;
    }
    match OptimizerChoice::deserialize(ValueDeserializer::from(settings)) {
        Ok(choice) => Some(choice),
        Err(error) => {
            problems.push(settings_problem(&entry, error.message(), error.span()));
            None
        }
    }
}

/// Drops the setting at `span`, or gives the optimizer the name that was probably meant; whether anything was done.
fn mend(settings: &mut Spanned<DeValue<'_>>, span: &Range<usize>) -> bool {
    let DeValue::Table(table) = settings.get_mut() else { return false };
    let is_there = |inner: Range<usize>| inner.start <= span.start && span.end <= inner.end;
    let found = table.iter().find(|(key, value)| is_there(key.span()) || is_there(value.span()));
    let Some((key, value)) = found.map(|(key, value)| (key.clone(), value.clone())) else { return false };
    if key.get_ref() != "name" {
        return table.remove(&key).is_some();
    }
    let written = value.get_ref().as_str();
    let Some(meant) = written.and_then(|written| nearest(written, Method::NAMES)) else { return false };
    // A name that is known and yet wrong would come back forever.
    if written == Some(meant) {
        return false;
    }
    table.insert(key, Spanned::new(value.span(), DeValue::String(meant.into())));
    true
}

/// The setting without which there is no such error, and the place of its value.
fn culprit(settings: &Spanned<DeValue<'_>>, message: &str) -> Option<(String, Range<usize>)> {
    let DeValue::Table(table) = settings.get_ref() else { return None };
    let is_to_blame = |name: &str| {
        let mut without = settings.clone();
        let DeValue::Table(table) = without.get_mut() else { return false };
        let Some(key) = table.keys().find(|key| key.get_ref() == name).cloned() else { return false };
        table.remove(&key);
        let error = Method::deserialize(ValueDeserializer::from(without)).err();
        error.is_none_or(|error| error.message() != message)
    };
    let mut settings = table.iter().filter(|(key, _)| key.get_ref() != "name");
    let found = settings.find(|(key, _)| is_to_blame(key.get_ref()));
    found.map(|(key, value)| (key.get_ref().to_string(), value.span()))
}

/// What serde says ("unknown field `kapa`, expected one of `name`, `kappa`") as a problem with its place.
pub fn settings_problem(optimizer: &Entry<'_>, message: &str, span: Option<Range<usize>>) -> Problem {
    let span = span.filter(|span| *span != optimizer.value.span());
    let span = span.or_else(|| mentioned(optimizer, message)).unwrap_or_else(|| optimizer.key.span());
    match message.split_once(", expected ") {
        Some((wrong, expected)) => {
            let message = format!("`[optimizer]`: {}", in_words(optimizer, wrong));
            let problem = Problem::new(span, message, format!("expected {expected}"));
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

/// What serde calls a field is a key to the author of a study file, and the variants are optimizers or values.
fn in_words(optimizer: &Entry<'_>, wrong: &str) -> String {
    let name = optimizer.value.get_ref().get("name").and_then(|name| name.get_ref().as_str());
    let variant = if quoted(wrong).next() == name { "unknown optimizer" } else { "unknown value" };
    wrong.replacen("unknown field", "unknown key", 1).replacen("unknown variant", variant, 1)
}

/// The words in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}
