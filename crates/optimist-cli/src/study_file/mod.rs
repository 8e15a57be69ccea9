//! The study file: what to vary, how to measure it, and how long to search (`docs/study-file.md`).
//!
//! Given: the path of a TOML file. Gives: a [`StudyFile`], checked as a whole, or every independent
//! mistake in it with its place. Does not know: how a study is run.

mod problem;
mod table;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use optimist::SpaceError;
use optimist::space::{Condition, Kind, Parameter, Space, Value};
use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use crate::method::Method;
use crate::objective::{Mode, Objective, environment_name};
pub use problem::StudyFileError;
use problem::{Problem, Source, nearest};
use table::{Entry, FromToml, Table, entries};

/// A study, as its file describes it.
#[derive(Debug)]
pub struct StudyFile {
    /// Default: the name of the file.
    pub name: String,
    /// Which way is better.
    pub direction: Direction,
    /// Same seed, same suggestions. Default: 0.
    pub seed: u64,
    /// How many trials to run. Default: 50.
    pub trials: usize,
    /// How many trials to run at the same time. Default: 1.
    pub workers: usize,
    /// Default: `go-ucb` with its default settings.
    pub method: Method,
    /// How a trial is measured.
    pub objective: Objective,
    /// What may be varied.
    pub space: Space,
    source: Source,
    optimizer_span: Range<usize>,
}

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Larger is better.
    Maximize,
    /// Smaller is better.
    Minimize,
}

impl Direction {
    /// Turns the user's values into values to maximise, and back.
    pub fn flip(self, value: f64) -> f64 {
        match self {
            Direction::Maximize => value,
            Direction::Minimize => -value,
        }
    }
}

impl StudyFile {
    /// Reads and checks the study file at `path`.
    ///
    /// # Errors
    /// If it cannot be read, or says something that cannot be meant.
    pub fn read(path: &Path) -> Result<Self, StudyFileError> {
        let unreadable = |reason| StudyFileError::Unreadable {
            path: path.to_owned(),
            reason,
        };
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        let folder = path
            .canonicalize()
            .map_err(unreadable)?
            .parent()
            .map_or_else(PathBuf::new, Path::to_owned);
        parse(
            Source {
                path: path.to_owned(),
                text,
            },
            folder,
        )
    }

    /// The error that the settings in `[optimizer]` do not fit the study as a whole.
    pub fn wrong_settings(self, error: &dyn std::error::Error) -> StudyFileError {
        let problem = Problem::new(self.optimizer_span, error.to_string(), "in these settings");
        StudyFileError::Wrong {
            file: Box::new(self.source),
            problems: vec![problem],
        }
    }
}

fn parse(source: Source, folder: PathBuf) -> Result<StudyFile, StudyFileError> {
    let mut problems = Vec::new();
    let study = match DeTable::parse(&source.text) {
        Ok(document) => study(document.get_ref(), &source, folder, &mut problems),
        Err(error) => {
            let message = format!("this is not TOML: {}", error.message());
            problems.push(Problem::new(error.span().unwrap_or(0..0), message, "here"));
            None
        }
    };
    match study {
        Some(study) if problems.is_empty() => Ok(study),
        _ => {
            problems.sort_by_key(|problem| problem.span.start);
            Err(StudyFileError::Wrong {
                file: Box::new(source),
                problems,
            })
        }
    }
}

/// `None` only if there are problems.
fn study(
    document: &DeTable<'_>,
    source: &Source,
    folder: PathBuf,
    problems: &mut Vec<Problem>,
) -> Option<StudyFile> {
    let mut table = Table::new("the study", 0..0, document);
    let stem = || {
        source
            .path
            .file_stem()
            .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
    };
    let name = table.optional("name", problems).unwrap_or_else(stem);
    table.require("direction", "`maximize` or `minimize`");
    let directions = [
        ("maximize", Direction::Maximize),
        ("minimize", Direction::Minimize),
    ];
    let direction = table.one_of("direction", &directions, problems);
    let seed = table.optional("seed", problems).unwrap_or(0);
    let trials = table.optional("trials", problems).map_or(50, NonZeroUsize::get);
    let workers = table.optional("workers", problems).map_or(1, NonZeroUsize::get);

    let optimizer = table.take("optimizer");
    let method = method(optimizer, problems);
    table.require("objective", "the table that says how to measure a trial");
    let objective = table
        .table("objective", "`[objective]`", problems)
        .and_then(|t| objective(t, folder, problems));
    table.require(
        "parameters",
        "a table with one `[parameters.NAME]` for each parameter",
    );
    let parameters = table.take("parameters");
    if let Some(entry) = parameters.filter(|entry| !entry.value.get_ref().is_table()) {
        problems.push(table.wrong_type(&entry, "one `[parameters.NAME]` for each parameter"));
    }
    let space = parameters.and_then(|entry| space(&entry, problems));
    table.finish(problems);

    let (space, objective) = (space?, objective?);
    if let Some(command) = command_entry(document) {
        check_parameter_names(&objective, &space, command, parameters?.key.span(), problems);
    }
    Some(StudyFile {
        name,
        direction: direction?,
        seed,
        trials,
        workers,
        method: method?,
        objective,
        space,
        source: source.clone(),
        optimizer_span: optimizer.map_or(0..0, |entry| entry.key.span()),
    })
}

/// The optimizer and its settings, which it reads itself.
fn method(entry: Option<Entry<'_>>, problems: &mut Vec<Problem>) -> Option<Method> {
    let Some(entry) = entry else {
        return Some(Method::default());
    };
    let value = Spanned::new(entry.value.span(), entry.value.get_ref().clone());
    match Method::deserialize(ValueDeserializer::from(value)) {
        Ok(method) => Some(method),
        Err(error) => {
            problems.push(settings_problem(&entry, &error));
            None
        }
    }
}

/// Finds the place of an error that serde reports: at best it has a span; else it names a key, or a
/// value, of the table.
fn settings_problem(optimizer: &Entry<'_>, error: &toml::de::Error) -> Problem {
    let message = error.message();
    let inside = optimizer
        .value
        .get_ref()
        .as_table()
        .map(entries)
        .unwrap_or_default();
    let mentions =
        |word: &str| message.contains(&format!("`{word}`")) || message.contains(&format!("\"{word}\""));
    let by_text = || {
        let key = inside
            .iter()
            .find(|entry| mentions(entry.name()))
            .map(|entry| entry.key.span());
        key.or_else(|| {
            let value = |entry: &&Entry<'_>| entry.value.get_ref().as_str().is_some_and(mentions);
            inside.iter().find(value).map(|entry| entry.value.span())
        })
    };
    let whole = optimizer.value.span();
    let span = error
        .span()
        .filter(|span| *span != whole)
        .or_else(by_text)
        .unwrap_or_else(|| optimizer.key.span());

    // serde puts what it expected behind the last comma-separated "expected".
    let (wrong, expected) = message
        .split_once(", expected ")
        .unwrap_or((message, "a setting that makes sense"));
    let problem = Problem::new(
        span,
        format!("`[optimizer]`: {wrong}"),
        format!("expected {expected}"),
    );
    let mut quoted = wrong.split('`').skip(1).step_by(2);
    match quoted.next() {
        Some(word) if problem.help.is_none() => problem.suggest(word, expected.split('`').skip(1).step_by(2)),
        _ => problem,
    }
}

fn objective(mut table: Table<'_>, folder: PathBuf, problems: &mut Vec<Problem>) -> Option<Objective> {
    let command = table.required::<Vec<String>>("command", problems);
    let modes = [("once", Mode::Once), ("serve", Mode::Serve)];
    let mode = table.one_of("mode", &modes, problems).unwrap_or(Mode::Once);
    let timeout = table.optional::<Duration>("timeout", problems);
    table.finish(problems);
    Some(Objective {
        command: command?,
        mode,
        timeout,
        folder,
    })
}

fn space(parameters: &Entry<'_>, problems: &mut Vec<Problem>) -> Option<Space> {
    let declared = entries(parameters.value.get_ref().as_table()?);
    let names: Vec<&str> = declared.iter().map(Entry::name).collect();
    if names.is_empty() {
        let message = "the study has no parameters";
        let expected = "expected at least one `[parameters.NAME]`";
        problems.push(Problem::new(parameters.key.span(), message, expected));
    }
    let mistakes_before = problems.len();
    let mut all = Vec::new();
    for entry in &declared {
        if let Some(parameter) = parameter(entry, &names, problems) {
            all.push(parameter);
        }
    }
    if problems.len() > mistakes_before || names.is_empty() {
        return None;
    }
    match Space::new(all) {
        Ok(space) => Some(space),
        Err(error) => {
            // Errors about a parameter start with its name.
            let message = error.to_string();
            let is_about = |entry: &&Entry<'_>| message.starts_with(&format!("parameter `{}`", entry.name()));
            let entry = declared.iter().find(is_about).unwrap_or(parameters);
            problems.push(space_problem(entry.key.span(), &error));
            None
        }
    }
}

/// One parameter, checked by itself so that every wrong one is reported.
fn parameter(entry: &Entry<'_>, names: &[&str], problems: &mut Vec<Problem>) -> Option<Parameter> {
    let name = entry.name();
    let Some(mut table) = entry.table(format!("parameter `{name}`")) else {
        let message = format!("parameter `{name}` is not a table");
        let expected = "expected keys such as `type`, `low` and `high`";
        problems.push(Problem::new(entry.value.span(), message, expected));
        return None;
    };
    let mistakes_before = problems.len();
    let kind = kind(&mut table, problems);
    let when = table.table("when", "`when`", problems);
    let when = when.map_or_else(Vec::new, |when| conditions(when, names, problems));
    if kind.is_some() || problems.len() == mistakes_before {
        table.finish(problems);
    }
    let parameter = Parameter {
        name: name.to_owned(),
        kind: kind?,
        when,
    };
    let alone = Parameter {
        when: Vec::new(),
        ..parameter.clone()
    };
    if let Err(error) = Space::new(vec![alone]) {
        problems.push(space_problem(entry.key.span(), &error));
    }
    Some(parameter)
}

fn kind(table: &mut Table<'_>, problems: &mut Vec<Problem>) -> Option<Kind> {
    #[derive(Clone, Copy)]
    enum Type {
        Float,
        Int,
        Bool,
        Categorical,
    }
    let types = [
        ("float", Type::Float),
        ("int", Type::Int),
        ("bool", Type::Bool),
        ("categorical", Type::Categorical),
    ];
    table.require("type", "`float`, `int`, `bool` or `categorical`");
    match table.one_of("type", &types, problems)? {
        Type::Float => {
            let (low, high) = (table.required("low", problems), table.required("high", problems));
            let log = table.optional("log", problems).unwrap_or(false);
            let step = table.optional("step", problems);
            Some(Kind::Float {
                low: low?,
                high: high?,
                log,
                step,
            })
        }
        Type::Int => {
            let (low, high) = (table.required("low", problems), table.required("high", problems));
            let log = table.optional("log", problems).unwrap_or(false);
            let step = table.optional("step", problems);
            Some(Kind::Int {
                low: low?,
                high: high?,
                log,
                step,
            })
        }
        Type::Bool => Some(Kind::Bool),
        Type::Categorical => Some(Kind::Categorical {
            choices: table.required("choices", problems)?,
        }),
    }
}

fn conditions(when: Table<'_>, names: &[&str], problems: &mut Vec<Problem>) -> Vec<Condition> {
    let mut conditions = Vec::new();
    for entry in when.into_entries() {
        let (name, span) = (entry.name(), entry.key.span());
        if !names.contains(&name) {
            let message = format!("`when` refers to `{name}`, which is not a parameter");
            problems.push(
                Problem::new(span, message, "expected the name of another parameter")
                    .suggest(name, names.iter().copied()),
            );
        } else if let Some(value) = Value::from_toml(entry.value.get_ref()) {
            conditions.push(Condition {
                parameter: name.to_owned(),
                value,
            });
        } else {
            let message = format!("`when` compares `{name}` with something that is not a value");
            problems.push(Problem::new(
                entry.value.span(),
                message,
                format!("expected {}", Value::EXPECTED),
            ));
        }
    }
    conditions
}

fn space_problem(span: Range<usize>, error: &SpaceError) -> Problem {
    let message = error.to_string();
    match message.split_once("; ") {
        Some((wrong, advice)) => Problem::new(span, wrong, "declared here").help(advice),
        None => Problem::new(span, message, "declared here"),
    }
}

fn command_entry<'t>(document: &'t DeTable<'t>) -> Option<&'t Spanned<DeValue<'t>>> {
    document.get("objective")?.get_ref().get("command")
}

/// Checks what the names of parameters must satisfy for the command: placeholders that can be
/// filled, and variables that can be told apart.
fn check_parameter_names(
    objective: &Objective,
    space: &Space,
    command: &Spanned<DeValue<'_>>,
    parameters_span: Range<usize>,
    problems: &mut Vec<Problem>,
) {
    let names: Vec<&str> = space
        .parameters()
        .iter()
        .map(|parameter| parameter.name.as_str())
        .collect();
    for word in objective
        .command
        .iter()
        .flat_map(|argument| placeholders(argument))
    {
        let known = names.contains(&word);
        if objective.mode == Mode::Serve && known {
            let message = format!("`{{{word}}}` in `command` cannot be filled in when `mode` is `serve`");
            let expected = "this command is started once for many trials";
            problems.push(
                Problem::new(command.span(), message, expected)
                    .help("read the parameters from standard input, or set `mode = \"once\"`"),
            );
        } else if let (false, Some(meant)) = (known, nearest(word, names.iter().copied())) {
            let message = format!("`{{{word}}}` in `command` is not a parameter");
            problems.push(
                Problem::new(
                    command.span(),
                    message,
                    "expected the name of a parameter in braces",
                )
                .help(format!("did you mean `{{{meant}}}`?")),
            );
        }
    }
    let mut variables = BTreeMap::new();
    for name in names.iter().filter(|_| objective.mode == Mode::Once) {
        if let Some(other) = variables.insert(environment_name(name), name) {
            let message = format!(
                "parameters `{other}` and `{name}` both become {}",
                environment_name(name)
            );
            let expected = "expected names that differ in more than case and punctuation";
            problems.push(Problem::new(parameters_span.clone(), message, expected));
        }
    }
}

/// The words that stand in braces: `--lr={lr}` has `lr`.
fn placeholders(argument: &str) -> impl Iterator<Item = &str> {
    let is_name = |word: &&str| {
        !word.is_empty()
            && word
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
    };
    argument
        .split('{')
        .skip(1)
        .filter_map(|rest| rest.split_once('}').map(|(word, _)| word))
        .filter(is_name)
}
