//! `optimist list`: the studies there are.

use std::process::ExitCode;

use clap::Args;
use optimist_study::{State, Storage, Study, StudyError, Trial, TrialState};
use serde_json::{Value, json};

use crate::number::significant;
use crate::show::{age, or_dash, print, print_json, table};
use crate::storage::{StorageArgs, names};

const EXAMPLES: &str = "\
Examples:
  optimist list
  optimist list --storage postgres://me@lab/studies --json

Exit status: 0, also if there are none; 1 if storage cannot be read.";

/// Options of `optimist list`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ListArgs {
    #[command(flatten)]
    storage: StorageArgs,
    /// Print one JSON object for each study
    #[arg(long)]
    json: bool,
}

/// Lists studies; errors are printed by `main`. One that cannot be opened does not hide the others.
pub fn execute(args: ListArgs) -> anyhow::Result<ExitCode> {
    let storage = args.storage.storage()?;
    let names = names(&storage)?;
    if args.json {
        names.iter().try_for_each(|name| print_json(&in_json(&storage, name)))?;
    } else if names.is_empty() {
        eprintln!(
            "there are no studies in {storage} yet; `optimist run FILE` or `optimist create FILE` begins one"
        );
    } else {
        let title = ["study", "direction", "done", "planned", "failed", "running", "best observed", "begun"];
        let title = title.map(str::to_owned).to_vec();
        print(table(std::iter::once(title).chain(names.iter().map(|name| row(&storage, name))).collect()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn row(storage: &Storage, name: &str) -> Vec<String> {
    let state = match open(storage, name) {
        Ok(state) => state,
        Err(error) => return vec![name.to_owned(), format!("cannot be opened: {error}")],
    };
    vec![
        name.to_owned(),
        state.definition().direction.word().to_owned(),
        state.n_done().to_string(),
        state.plan().trials.to_string(),
        state.count(TrialState::Failed).to_string(),
        state.running().count().to_string(),
        or_dash(state.best_observed().and_then(Trial::value).map(|value| significant(value, 6))),
        age(state.created_at()),
    ]
}

fn in_json(storage: &Storage, name: &str) -> Value {
    match open(storage, name) {
        Ok(state) => json!({
            "study": name,
            "direction": state.definition().direction,
            "trials": state.trials().len(),
            "done": state.n_done(),
            "planned": state.plan().trials,
            "complete": state.count(TrialState::Complete),
            "failed": state.count(TrialState::Failed),
            "running": state.running().count(),
            "best_value": state.best_observed().and_then(Trial::value),
            "created_at": state.created_at(),
        }),
        Err(error) => json!({ "study": name, "error": error.to_string() }),
    }
}

fn open(storage: &Storage, name: &str) -> Result<State, StudyError> {
    Ok(Study::open(storage, name)?.state().clone())
}
