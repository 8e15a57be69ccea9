//! `optimist create FILE`: creates a study to be run later, by workers or by hand.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use optimist_study::view::number::count;
use optimist_study::{Storage, Study, StudyError, StudyFile, StudyFileError};
use serde_json::json;

use crate::show::{print, print_json, say, what_to_tell};
use crate::storage::StorageArgs;

const EXAMPLES: &str = "\
Examples:
  optimist create film.toml                  then `optimist ask film`
  optimist create film.toml --name film-2    a second study of the same kind
  optimist create film.jsonl                 from what `optimist export` wrote
  optimist create sim.toml --storage postgres://me@lab/studies

Run it again after changing the file to adopt the new plan (trials, objective,
when to stop). A study file without [objective] is for a person who measures;
workers can run any other (`optimist worker`), on any machine. `optimist run`
creates the study too, and then runs it.

Exit status: 0 if the study is there, 1 if it can't be created, 2 if the file
or the command line is wrong.";

/// Options of `optimist create`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct CreateArgs {
    /// A study file (TOML), or a log that `optimist export` wrote
    file: PathBuf,
    #[command(flatten)]
    storage: StorageArgs,
    /// Name of the study, instead of what the file says
    #[arg(long)]
    name: Option<String>,
    /// Print the result as a JSON object
    #[arg(long)]
    json: bool,
}

/// Creates the study.
pub fn execute(args: CreateArgs) -> anyhow::Result<ExitCode> {
    let storage = args.storage.storage()?;
    let unreadable = |reason| StudyFileError::Unreadable { path: args.file.clone(), reason };
    let text = std::fs::read_to_string(&args.file).map_err(unreadable)?;
    // No TOML file starts like this, and every log does.
    let (study, was_there) = if text.trim_start().starts_with('{') {
        (restored(&storage, &text, &args)?, false)
    } else {
        let mut file = StudyFile::read(&args.file)?;
        file.definition.name = args.name.unwrap_or(file.definition.name);
        begin(&storage, &file)?
    };
    let state = study.state();
    let (name, n_trials) = (study.name(), state.trials().len());
    if args.json {
        print_json(&json!({
            "study": name,
            "storage": storage.to_string(),
            "created": !was_there,
            "trials": n_trials,
            "planned": state.plan().trials,
        }))?;
    } else {
        let file = args.file.display();
        print(match (was_there, n_trials) {
            (true, _) => {
                format!("study `{name}` already exists in {storage}; its plan is now the one in {file}")
            }
            (false, 0) => format!("study `{name}` is in {storage}"),
            (false, n) => format!("study `{name}` is in {storage}, with {}", count(n, "trial")),
        })?;
        if !was_there && state.plan().objective.is_none() {
            say(format!(
                "next: `optimist ask {name}` says what to measure, `optimist tell {name} TRIAL {}` reports {}",
                what_to_tell(state.outcomes()),
                if state.outcomes().is_one() { "the value" } else { "the values" },
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A study from the text of a log.
fn restored(storage: &Storage, text: &str, args: &CreateArgs) -> anyhow::Result<Study> {
    let file = args.file.display();
    match Study::restore(storage, text.lines(), args.name.as_deref()) {
        // Each record is a line; what to do about a damaged storage does not help with a file.
        Err(StudyError::Broken { seq, problem }) => {
            bail!(
                "{file} cannot be restored: record {seq} is broken: {problem}; export the study again, or correct that line"
            )
        }
        restored => restored.with_context(|| format!("{file} cannot be restored")),
    }
}

/// Opens the study that `file` describes, or creates it; whether it was there.
pub fn begin(storage: &Storage, file: &StudyFile) -> anyhow::Result<(Study, bool)> {
    let mut definition = file.definition.clone();
    if storage.is_remote() {
        // Commands do not travel: the server keeps the one that it has, and each machine says what it runs.
        let known = Study::open(storage, &definition.name).ok();
        definition.plan.objective = known.and_then(|study| study.state().plan().objective.clone());
    }
    match Study::resume_or_create(storage, definition) {
        Err(StudyError::Method(error)) => Err(file.wrong_settings(&error).into()),
        opened => Ok(opened?),
    }
}
