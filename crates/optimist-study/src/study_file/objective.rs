//! The `[objective]` table: the command, and whether it fits the parameters.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

use optimist::spelling::nearest;

use super::problem::Problem;
use super::table::{Entry, FromToml, Table};
use crate::objective::{Mode, Objective, STORAGE_VARIABLE, environment_name};

/// The objective, to be run in `folder`; `None` only if there are problems.
pub fn objective(
    mut table: Table<'_>,
    parameters: &[Entry<'_>],
    folder: PathBuf,
    problems: &mut Vec<Problem>,
) -> Option<Objective> {
    table.require("command", Vec::<String>::EXPECTED);
    let entry = table.take("command");
    let command: Option<Vec<String>> = entry.and_then(|entry| table.read(&entry, problems));
    let mode = table.one_of("mode", &[("once", Mode::Once), ("serve", Mode::Serve)], problems);
    let mode = mode.unwrap_or(Mode::Once);
    let timeout = table.optional("timeout", problems);
    table.finish(problems);

    let (command, span) = (command?, entry?.value.span());
    if folder.to_str().is_none() {
        let message = format!("the command cannot run in {}: the name is not UTF-8", folder.display());
        let help = "rename the folder, or move the study file to another";
        problems.push(Problem::new(span.clone(), message, "runs in the folder of the study file").help(help));
    }
    let words = command.iter().flat_map(|argument| placeholders(argument));
    problems.extend(words.filter_map(|word| placeholder_problem(word, &span, mode, parameters)));
    if mode == Mode::Once {
        problems.extend(variable_problems(parameters));
    }
    Some(Objective { command, mode, timeout, folder })
}

/// The words that stand in braces: `--lr={lr}` has `lr`.
fn placeholders(argument: &str) -> impl Iterator<Item = &str> {
    argument.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(word, _)| word)
}

/// A placeholder that cannot be filled in, or nearly is one. Other words in braces are left alone:
/// they may well be meant for a shell, or be JSON.
fn placeholder_problem(
    word: &str,
    span: &Range<usize>,
    mode: Mode,
    parameters: &[Entry<'_>],
) -> Option<Problem> {
    let names = || parameters.iter().map(Entry::name);
    let is_parameter = names().any(|name| name == word);
    if is_parameter && mode == Mode::Serve {
        let message = format!("`{{{word}}}` in `command` cannot be filled in when `mode` is `serve`");
        let help = "read the parameters from standard input, or set `mode = \"once\"`";
        return Some(Problem::new(span.clone(), message, "started once for many trials").help(help));
    }
    let meant = nearest(word, names()).filter(|_| !is_parameter)?;
    let message = format!("`{{{word}}}` in `command` is not a parameter");
    let problem = Problem::new(span.clone(), message, "expected the name of a parameter in braces");
    Some(problem.help(format!("did you mean `{{{meant}}}`?")))
}

/// Parameters whose environment variables mean something else, or cannot be told apart.
fn variable_problems(parameters: &[Entry<'_>]) -> Vec<Problem> {
    let mut names = BTreeMap::new();
    let mut problems = Vec::new();
    for entry in parameters {
        let (name, variable) = (entry.name(), environment_name(entry.name()));
        if variable == STORAGE_VARIABLE {
            let message =
                format!("parameter `{name}` would set {variable}, which says where studies are stored");
            let expected = "expected another name";
            let help = "rename it, or set `mode = \"serve\"`, which has no variables";
            problems.push(Problem::new(entry.key.span(), message, expected).help(help));
        }
        if let Some(other) = names.insert(variable.clone(), name) {
            let message = format!("parameters `{other}` and `{name}` both become {variable}");
            let expected = "expected names that differ in more than case and punctuation";
            problems.push(Problem::new(entry.key.span(), message, expected));
        }
    }
    problems
}
