//! The study file: what to vary, how to measure it, and how long to search (`docs/study-file.md`).
//!
//! Given: the path of a TOML file. Gives: a [`StudyFile`], checked as a whole, or every independent
//! mistake in it with its place. Does not know: how a study is run.

mod constraints;
mod objective;
mod outcomes;
mod parameters;
mod problem;
mod schema;
mod settings;
mod table;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use toml::de::DeTable;

use crate::definition::{Definition, Plan};
use crate::objective::Objective;
pub use problem::StudyFileError;
use problem::{Problem, SourceFile};
pub use schema::schema;
use table::{Finite, Positive, Table, Workers, entries};

/// A study, as its file describes it.
#[derive(Debug)]
pub struct StudyFile {
    /// What it says.
    pub definition: Definition,
    source: SourceFile,
}

impl StudyFile {
    /// Reads and checks the study file at `path`.
    ///
    /// # Errors
    /// If it cannot be read, or says something that cannot be meant.
    pub fn read(path: &Path) -> Result<Self, StudyFileError> {
        let unreadable = |reason| StudyFileError::Unreadable { path: path.to_owned(), reason };
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        let folder =
            path.canonicalize().map_err(unreadable)?.parent().map_or_else(PathBuf::new, Path::to_owned);
        parse(SourceFile { path: path.to_owned(), text }, folder)
    }

    /// Checks the text of a study file that is not in a file. Its command runs in the current folder.
    ///
    /// # Errors
    /// If it says something that cannot be meant.
    pub fn parse(text: &str) -> Result<Self, StudyFileError> {
        let folder = std::env::current_dir().unwrap_or_default();
        parse(SourceFile { path: PathBuf::from("study.toml"), text: text.to_owned() }, folder)
    }

    /// The objective, for callers that need one.
    ///
    /// # Errors
    /// If the file has none.
    pub fn objective(&self) -> Result<&Objective, StudyFileError> {
        self.definition.plan.objective.as_ref().ok_or_else(|| {
            let expected = "expected `[objective]`, the table that says how to measure a trial";
            let problem = Problem::new(0..0, "the study has no `objective`", expected);
            self.wrong(problem.help("without one, `optimist ask` and `optimist tell` run a study by hand"))
        })
    }

    /// The error that what `[optimizer]` says does not fit the study as a whole.
    pub fn wrong_settings(&self, error: &dyn std::error::Error) -> StudyFileError {
        let document = DeTable::parse(&self.source.text).ok();
        let table = document.as_ref().map(|document| entries(document.get_ref())).unwrap_or_default();
        self.wrong(match table.iter().find(|entry| entry.name() == "optimizer") {
            Some(entry) => settings::settings_problem(entry, &error.to_string(), None),
            None => Problem::new(0..0, error.to_string(), "expected an `[optimizer]` that can do this"),
        })
    }

    fn wrong(&self, problem: Problem) -> StudyFileError {
        StudyFileError::Wrong { file: Box::new(self.source.clone()), problems: vec![problem] }
    }
}

fn parse(source: SourceFile, folder: PathBuf) -> Result<StudyFile, StudyFileError> {
    let mut problems = Vec::new();
    let (document, errors) = DeTable::parse_recoverable(&source.text);
    problems.extend(errors.iter().map(|error| {
        let message = format!("this is not TOML: {}", error.message());
        Problem::new(error.span().unwrap_or(0..0), message, "here")
    }));
    // What is left of a file that is not TOML would be mistaken for more mistakes.
    let study = match problems.is_empty() {
        true => study(document.get_ref(), &source, folder, &mut problems),
        false => None,
    };
    match study {
        Some(study) if problems.is_empty() => Ok(study),
        _ => {
            problems.sort_by_key(|problem| problem.span.start);
            Err(StudyFileError::Wrong { file: Box::new(source), problems })
        }
    }
}

/// `None` only if there are problems.
fn study(
    document: &DeTable<'_>,
    source: &SourceFile,
    folder: PathBuf,
    problems: &mut Vec<Problem>,
) -> Option<StudyFile> {
    let mut table = Table::new("the study", 0..0, document);
    let name = table.optional("name", problems).unwrap_or_else(|| source.stem());
    table.require("parameters", "a table with one `[parameters.NAME]` for each parameter");
    let parameters = table.take("parameters");
    let declared = parameters.and_then(|entry| entry.value.get_ref().as_table());
    let names = declared.map_or_else(Vec::new, entries);
    let outcomes = outcomes::outcomes(&mut table, &names, problems);
    let seed = table.optional("seed", problems).unwrap_or(0);
    let optimizer = settings::optimizer(table.take("optimizer"), problems);
    let mut plan = plan(&mut table, problems);

    let objective = table.table("objective", "`[objective]`", problems);
    plan.objective = objective.and_then(|table| objective::objective(table, &names, folder, problems));
    let space = parameters.and_then(|entry| parameters::space(&entry, problems));
    let constraints = table.take("constraints");
    let constraints = constraints.map_or_else(Vec::new, |list| constraints::constraints(&list, problems));
    let space = space.and_then(|space| constraints::constrained(space, constraints, &names, problems));
    table.finish(problems);
    if let Some(outcomes) = &outcomes {
        outcomes::misfits(outcomes, &plan, &entries(document), problems);
    }

    let (outcomes, optimizer, space) = (outcomes?, optimizer?, space?);
    let definition = Definition { name, outcomes, seed, optimizer, space, plan };
    Some(StudyFile { definition, source: source.clone() })
}

/// How the study is run, but for the objective.
fn plan(table: &mut Table<'_>, problems: &mut Vec<Problem>) -> Plan {
    let default = Plan::default();
    let mut count = |key| table.optional(key, problems).map(NonZeroUsize::get);
    let trials = count("trials").unwrap_or(default.trials);
    let max_attempts = count("max_attempts").unwrap_or(default.max_attempts);
    let max_failures = count("max_failures");
    let replicates = count("replicates").unwrap_or(default.replicates);
    let workers = table.optional("workers", problems).map_or(default.workers, |Workers(workers)| workers);
    let lease = table.optional("lease", problems).unwrap_or(default.lease);
    let max_time = table.optional("max_time", problems);
    let target = table.optional("target", problems).map(|Finite(target)| target);
    let min_gain = table.optional("min_gain", problems).map(|Positive(gain)| gain);
    Plan {
        trials,
        workers,
        objective: None,
        lease,
        max_attempts,
        max_failures,
        replicates,
        max_time,
        target,
        min_gain,
    }
}
