//! `optimist import STUDY FILE`: takes in trials that were made elsewhere, all or none.

use std::process::ExitCode;

use anyhow::{anyhow, bail};
use clap::Args;
use optimist_study::import::{self, BadRow, Found, ImportOptions};
use optimist_study::{Storage, Study};
use serde_json::{Value, json};

use crate::show::{print, print_json};
use crate::storage::StorageArgs;

const EXAMPLES: &str = "\
Examples:
  optimist import coating notebook.csv --value thickness --map temp=temperature
  optimist import tune earlier.jsonl --dry-run                    only say what would happen
  optimist import tune sqlite:///optuna.db --optuna-study tune    into a study that is there
  optimist import tune optuna.db --create                         and make the study after Optuna's

A table has a row for each trial, a column for each parameter and one for the value; an empty cell is a parameter that
is inactive, a value `failed` a trial that gave none. Either all rows are imported or none. Rows that were imported
before, with the same parameters and the same value, are not imported again.";

/// Options of `optimist import`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ImportArgs {
    /// The name of the study
    study: String,
    /// A table (CSV, JSON, JSON lines) or an Optuna database
    file: String,
    #[command(flatten)]
    storage: StorageArgs,
    /// The column of the value [default: value]
    #[arg(long, value_name = "COLUMN")]
    value: Option<String>,
    /// A column that is called otherwise than its parameter; may be given several times
    #[arg(long, value_name = "COLUMN=PARAMETER")]
    map: Vec<String>,
    /// Which study of the Optuna database, if it has several
    #[arg(long, value_name = "NAME")]
    optuna_study: Option<String>,
    /// Make the study if it is not there, with the parameters and direction of Optuna's
    #[arg(long)]
    create: bool,
    /// Leave out rows that cannot be imported
    #[arg(long)]
    skip_bad: bool,
    /// Store nothing, only say what would be imported
    #[arg(long)]
    dry_run: bool,
    /// Print the result as a JSON object
    #[arg(long)]
    json: bool,
}

/// How many bad rows are shown.
const MOST_SHOWN: usize = 20;

/// Imports the file; errors are printed by `main`.
pub fn execute(args: ImportArgs) -> anyhow::Result<ExitCode> {
    let options = ImportOptions {
        value: args.value.clone(),
        map: args.map.iter().map(|pair| mapped(pair)).collect::<anyhow::Result<_>>()?,
        optuna_study: args.optuna_study.clone(),
    };
    let mut study = open(&args, &args.storage.storage()?, &options)?;
    let found = import::read(&args.file, study.state().definition(), &options)?;
    if !found.bad.is_empty() && !args.skip_bad {
        bail!("{}", complaint(&found.bad));
    }
    let n_added = match args.dry_run {
        true => study.not_yet_there(&found.trials).len(),
        false => study.import(&found.trials)?.n_added,
    };
    if args.json {
        print_json(&in_json(&args, &found, n_added))?;
    } else {
        print(in_words(&args, &found, n_added))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The study, made after the example of Optuna's if that is wanted and it is not there. A dry run makes it in memory.
fn open(args: &ImportArgs, storage: &Storage, options: &ImportOptions) -> anyhow::Result<Study> {
    if !args.create {
        return Ok(Study::open(storage, &args.study)?);
    }
    match Study::open(storage, &args.study) {
        Ok(study) => Ok(study),
        Err(optimist_study::StudyError::NotFound { .. }) => {
            let definition = import::definition_of_optuna(&args.study, &args.file, options)?;
            // Nothing is left behind if the rows turn out to be bad.
            let found = import::read(&args.file, &definition, options)?;
            if !found.bad.is_empty() && !args.skip_bad {
                bail!("{}", complaint(&found.bad));
            }
            let memory = Storage::memory();
            Ok(Study::create(if args.dry_run { &memory } else { storage }, definition)?)
        }
        Err(error) => Err(error.into()),
    }
}

fn mapped(pair: &str) -> anyhow::Result<(String, String)> {
    let (column, parameter) =
        pair.split_once('=').ok_or_else(|| anyhow!("--map takes column=parameter, got `{pair}`"))?;
    Ok((column.to_owned(), parameter.to_owned()))
}

fn complaint(bad: &[BadRow]) -> String {
    let mut lines = vec![format!("{} cannot be imported, so nothing was:", rows(bad.len()))];
    lines.extend(bad.iter().take(MOST_SHOWN).map(|BadRow { place, reason }| format!("  {place}: {reason}")));
    if bad.len() > MOST_SHOWN {
        lines.push(format!("  … and {} more", bad.len() - MOST_SHOWN));
    }
    lines.push("correct them, or leave them out with --skip-bad".to_owned());
    lines.join("\n")
}

fn in_words(args: &ImportArgs, found: &Found, n_added: usize) -> String {
    let would = if args.dry_run { "would be " } else { "" };
    let mut parts = vec![format!("{} {would}imported into `{}`", rows(n_added), args.study)];
    let n_known = found.trials.len() - n_added;
    let left_out = [(n_known, "already there"), (found.n_unfinished, "unfinished"), (found.bad.len(), "bad")];
    parts.extend(left_out.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} left out: {what}")));
    let reasons =
        found.bad.iter().take(MOST_SHOWN).map(|BadRow { place, reason }| format!("\n  {place}: {reason}"));
    parts.join("; ") + &reasons.collect::<String>()
}

fn in_json(args: &ImportArgs, found: &Found, n_added: usize) -> Value {
    let bad = found.bad.iter().map(|BadRow { place, reason }| json!({ "row": place, "reason": reason }));
    json!({
        "study": args.study,
        "dry_run": args.dry_run,
        "added": n_added,
        "known": found.trials.len() - n_added,
        "unfinished": found.n_unfinished,
        "bad": bad.collect::<Vec<Value>>(),
    })
}

fn rows(n: usize) -> String {
    format!("{n} row{}", if n == 1 { "" } else { "s" })
}
