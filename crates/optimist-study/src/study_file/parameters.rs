//! The `[parameters]` table: the space.

use std::ops::Range;

use optimist::SpaceError;
use optimist::space::{Condition, Kind, Parameter, Space, Value};

use super::problem::{Problem, alternatives};
use super::table::{Entry, FromToml, Table, entries};

/// The space that `[parameters]` describes, without what is wrong with it; `None` only if there are problems.
pub fn space(parameters: &Entry<'_>, problems: &mut Vec<Problem>) -> Option<Space> {
    let Some(table) = parameters.value.get_ref().as_table() else {
        let expected = "expected one `[parameters.NAME]` for each parameter";
        problems.push(Problem::new(parameters.value.span(), "`parameters` is not a table", expected));
        return None;
    };
    let declared = entries(table);
    if declared.is_empty() {
        let expected = "expected at least one `[parameters.NAME]`";
        problems.push(Problem::new(parameters.key.span(), "the study has no parameters", expected));
        return None;
    }
    let read = declared.iter().filter_map(|entry| parameter(entry, &declared, problems)).collect();
    without_mistakes(read, &declared, problems)
}

/// The space of these parameters, without the conditions that cannot be; each of them is a problem.
fn without_mistakes(
    mut read: Vec<Parameter>,
    declared: &[Entry<'_>],
    problems: &mut Vec<Problem>,
) -> Option<Space> {
    // What is wrong with the parameter that a condition names is one mistake, not two.
    let names: Vec<String> = read.iter().map(|parameter| parameter.name.clone()).collect();
    for parameter in &mut read {
        parameter.when.retain(|condition| names.contains(&condition.parameter));
    }
    loop {
        let error = match Space::new(read.clone()) {
            Ok(space) => return Some(space),
            Err(error) => error,
        };
        let Some((name, awaited)) = conditional(&error) else {
            if problems.is_empty() {
                problems.push(space_problem(declared.first()?.key.span(), &error, "declared here"));
            }
            return None;
        };
        if let Some(entry) = declared.iter().find(|entry| entry.name() == name) {
            problems.push(space_problem(entry.key.span(), &error, "declared here"));
        }
        let parameter = read.iter_mut().find(|parameter| parameter.name == name)?;
        parameter.when.retain(|condition| awaited.is_some_and(|awaited| condition.parameter != awaited));
    }
}

/// Which parameter's condition an error is about, and which parameter that waits for if only one of its conditions is wrong.
fn conditional(error: &SpaceError) -> Option<(&str, Option<&str>)> {
    match error {
        SpaceError::ConditionOnContinuum { name, parameter }
        | SpaceError::ConditionImpossible { name, parameter, .. }
        | SpaceError::ConditionUnknown { name, parameter, .. } => Some((name, Some(parameter))),
        SpaceError::ConditionContradiction { name, .. } | SpaceError::ConditionCycle { name } => {
            Some((name, None))
        }
        _ => None,
    }
}

#[derive(Clone, Copy)]
enum Type {
    Float,
    Int,
    Bool,
    Categorical,
}

const TYPES: [(&str, Type); 4] =
    [("float", Type::Float), ("int", Type::Int), ("bool", Type::Bool), ("categorical", Type::Categorical)];

/// One parameter, checked by itself so that every wrong one is reported.
fn parameter(entry: &Entry<'_>, declared: &[Entry<'_>], problems: &mut Vec<Problem>) -> Option<Parameter> {
    let name = entry.name();
    let Some(mut table) = entry.table(format!("parameter `{name}`")) else {
        let message = format!("parameter `{name}` is not a table");
        let expected = "expected keys such as `type`, `low` and `high`";
        problems.push(Problem::new(entry.value.span(), message, expected));
        return None;
    };
    table.require("type", &alternatives(TYPES.map(|(word, _)| word)));
    let kind = match table.one_of("type", &TYPES, problems) {
        Some(of_type) => kind(of_type, &mut table, problems),
        None => {
            check_keys_of_any_type(&mut table, problems);
            None
        }
    };
    let when = table.table("when", format!("`when` of parameter `{name}`"), problems);
    let when = when.map_or_else(Vec::new, |when| conditions(when, declared, problems));
    table.finish(problems);

    let kind = kind?;
    let name = name.to_owned();
    if let Err(error) = Space::new(vec![Parameter::new(name.clone(), kind.clone())]) {
        problems.push(space_problem(entry.key.span(), &error, "declared here"));
        return None;
    }
    Some(Parameter { name, kind, when })
}

fn kind(of_type: Type, table: &mut Table<'_>, problems: &mut Vec<Problem>) -> Option<Kind> {
    match of_type {
        Type::Float => {
            let (low, high) = (table.required("low", problems), table.required("high", problems));
            let log = table.optional("log", problems).unwrap_or(false);
            let step = table.optional("step", problems);
            let (low, high) = (low?, high?);
            Some(Kind::Float { low, high, log, step })
        }
        Type::Int => {
            let (low, high) = (table.required("low", problems), table.required("high", problems));
            let log = table.optional("log", problems).unwrap_or(false);
            let step = table.optional("step", problems);
            let (low, high) = (low?, high?);
            Some(Kind::Int { low, high, log, step })
        }
        Type::Bool => Some(Kind::Bool),
        Type::Categorical => {
            let choices = table.required("choices", problems)?;
            Some(Kind::Categorical { choices })
        }
    }
}

/// Keys of a parameter whose type is wrong: those that some type has.
fn check_keys_of_any_type(table: &mut Table<'_>, problems: &mut Vec<Problem>) {
    for key in ["low", "high", "step"] {
        table.optional::<f64>(key, problems);
    }
    table.optional::<bool>("log", problems);
    table.optional::<Vec<Value>>("choices", problems);
}

fn conditions(when: Table<'_>, declared: &[Entry<'_>], problems: &mut Vec<Problem>) -> Vec<Condition> {
    let read = |entry: Entry<'_>| match condition(&entry, declared) {
        Ok(condition) => Some(condition),
        Err(problem) => {
            problems.push(problem);
            None
        }
    };
    when.into_entries().into_iter().filter_map(read).collect()
}

fn condition(entry: &Entry<'_>, declared: &[Entry<'_>]) -> Result<Condition, Problem> {
    let name = entry.name();
    let Some(other) = declared.iter().find(|other| other.name() == name) else {
        let message = format!("`when` refers to `{name}`, which is not a parameter");
        let expected = "expected the name of another parameter";
        return Err(
            Problem::new(entry.key.span(), message, expected).suggest(name, declared.iter().map(Entry::name))
        );
    };
    let Some(value) = Value::from_toml(entry.value.get_ref()) else {
        let message = format!("`when` compares `{name}` with something that is not a value");
        return Err(Problem::new(entry.value.span(), message, format!("expected {}", Value::EXPECTED)));
    };
    let choices = other.value.get_ref().get("choices").and_then(|choices| Vec::from_toml(choices.get_ref()));
    // That a parameter has no choices is a mistake of its own.
    let lacks = |choices: &Vec<Value>| !choices.is_empty() && !choices.contains(&value);
    if let Some(choices) = choices.filter(lacks) {
        let choices: Vec<String> = choices.iter().map(Value::to_string).collect();
        let choices = || choices.iter().map(String::as_str);
        let message = format!("`when` waits for `{name}` to be `{value}`, which is not one of its choices");
        let expected = format!("expected {}", alternatives(choices()));
        return Err(
            Problem::new(entry.value.span(), message, expected).suggest(&value.to_string(), choices())
        );
    }
    Ok(Condition { parameter: name.to_owned(), value })
}

/// What is wrong with a space as a problem at one of its places, which `label` is said of.
pub fn space_problem(span: Range<usize>, error: &SpaceError, label: &str) -> Problem {
    let message = match error {
        // As the file has them: 3, not 3.0.
        SpaceError::EmptyRange { name, low, high } => {
            format!("parameter `{name}`: low {} is above high {}; swap the bounds", number(low), number(high))
        }
        _ => error.to_string(),
    };
    match message.split_once("; ") {
        Some((wrong, advice)) => Problem::new(span, wrong, label).help(advice),
        None => Problem::new(span, message, label),
    }
}

/// A bound without the `.0` that tells a float from a whole number.
fn number(value: &Value) -> String {
    let text = value.to_string();
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}
