//! The study file: what to vary, how to measure it, and how long to search (`docs/study-file.md`).
//!
//! Given: the path of a TOML file. Gives: a [`StudyFile`], checked as a whole, or every independent
//! mistake in it with its place. Does not know: how a study is run.

mod constraints;
mod objective;
mod parameters;
mod problem;
mod settings;
mod table;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use optimist::space::Space;
use toml::de::DeTable;

use crate::objective::Objective;
use optimist::Method;
pub use problem::StudyFileError;
use problem::{Problem, Source};
use table::{Table, entries};

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
}

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Larger is better.
    Maximize,
    /// Smaller is better.
    Minimize,
}

const DIRECTIONS: [(&str, Direction); 2] =
    [("maximize", Direction::Maximize), ("minimize", Direction::Minimize)];

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
        let unreadable = |reason| StudyFileError::Unreadable { path: path.to_owned(), reason };
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        let folder =
            path.canonicalize().map_err(unreadable)?.parent().map_or_else(PathBuf::new, Path::to_owned);
        parse(Source { path: path.to_owned(), text }, folder)
    }

    /// The error that what `[optimizer]` says does not fit the study as a whole.
    pub fn wrong_settings(self, error: &dyn std::error::Error) -> StudyFileError {
        let document = DeTable::parse(&self.source.text).ok();
        let table = document.as_ref().map(|document| entries(document.get_ref())).unwrap_or_default();
        let problem = match table.iter().find(|entry| entry.name() == "optimizer") {
            Some(entry) => settings::settings_problem(entry, &error.to_string(), None),
            None => Problem::new(0..0, error.to_string(), "expected an `[optimizer]` that can do this"),
        };
        StudyFileError::Wrong { file: Box::new(self.source.clone()), problems: vec![problem] }
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
            Err(StudyFileError::Wrong { file: Box::new(source), problems })
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
    let name = table.optional("name", problems).unwrap_or_else(|| source.stem());
    table.require("direction", "`maximize` or `minimize`");
    let direction = table.one_of("direction", &DIRECTIONS, problems);
    let seed = table.optional("seed", problems).unwrap_or(0);
    let trials = table.optional("trials", problems).map_or(50, NonZeroUsize::get);
    let workers = table.optional("workers", problems).map_or(1, NonZeroUsize::get);

    let method = settings::method(table.take("optimizer"), problems);
    table.require("objective", "the table that says how to measure a trial");
    let objective = table.table("objective", "`[objective]`", problems);
    table.require("parameters", "a table with one `[parameters.NAME]` for each parameter");
    let parameters = table.take("parameters");
    let declared =
        parameters.and_then(|entry| entry.value.get_ref().as_table()).map_or_else(Vec::new, entries);
    let objective = objective.and_then(|table| objective::objective(table, &declared, folder, problems));
    let space = parameters.and_then(|entry| parameters::space(&entry, problems));
    let constraints = table.take("constraints");
    let constraints = constraints.map_or_else(Vec::new, |list| constraints::constraints(&list, problems));
    let space = space.and_then(|space| constraints::constrained(space, constraints, problems));
    table.finish(problems);

    let source = source.clone();
    let (direction, method, objective, space) = (direction?, method?, objective?, space?);
    Some(StudyFile { name, direction, seed, trials, workers, method, objective, space, source })
}
