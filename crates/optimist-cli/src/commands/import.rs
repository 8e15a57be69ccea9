//! `optimist import STUDY FILE`: takes in trials that were made elsewhere, all or none.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{anyhow, bail};
use optimist_study::import::{self, BadRow, Found, ImportOptions};
use optimist_study::{Storage, Study};
use serde_json::{Value, json};

use crate::args::ImportArgs;

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
    let text = if args.json {
        in_json(&args, &found, n_added).to_string()
    } else {
        in_words(&args, &found, n_added)
    };
    writeln!(std::io::stdout(), "{text}")?;
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
