//! `optimist import STUDY FILE`: takes in trials that were made elsewhere, all or none.

use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, ValueEnum};
use optimist_study::import::{self, BadRow, DecimalMark, Found, ImportOptions};
use optimist_study::view::number::count;
use optimist_study::{Storage, Study};
use serde_json::{Value, json};

use crate::show::{print, print_json};
use crate::storage::StorageArgs;

const EXAMPLES: &str = "\
Examples:
  optimist import film notebook.csv --value thickness --map temp=temperature
  optimist import film german.csv --decimal comma     if 1,234 is ambiguous
  optimist import tune earlier.jsonl --dry-run        changes nothing
  optimist import tune sqlite:///optuna.db --optuna-study tune
  optimist import tune optuna.db --create             copies the search space

A table has one row per trial, with a column for each parameter and one for
the value. An empty cell means that the parameter is inactive; the value
`failed` means that the trial failed. Separators and decimal commas are
detected. Either every row is imported or none is. Rows with the parameters
and value of one imported earlier are skipped.

Exit status: 0 if the rows are in the study, 1 if not, 2 if the command line
is wrong.";

/// Options of `optimist import`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ImportArgs {
    /// Name of the study
    study: String,
    /// A table (CSV, JSON, JSON lines) or an Optuna database
    file: String,
    #[command(flatten)]
    storage: StorageArgs,
    /// The column of the value [default: value]; with several outcomes, each has a column of its name
    #[arg(long, value_name = "COLUMN")]
    value: Option<String>,
    /// The parameter or outcome that a column holds, if their names differ; can be repeated
    #[arg(long, value_name = "COLUMN=NAME", value_parser = mapped)]
    map: Vec<(String, String)>,
    /// What separates the columns of a CSV: `,`, `;`, `|` or tab [default: detected]
    #[arg(long, value_name = "CHARACTER", value_parser = separator)]
    separator: Option<u8>,
    /// How decimals are written in a CSV [default: detected]
    #[arg(long)]
    decimal: Option<DecimalWord>,
    /// Which study of the Optuna database to import, if it has several
    #[arg(long, value_name = "NAME")]
    optuna_study: Option<String>,
    /// Create the study if it doesn't exist, with the parameters, directions and constraints of the Optuna study
    #[arg(long)]
    create: bool,
    /// Skip rows that cannot be imported, and list them
    #[arg(long)]
    skip_bad: bool,
    /// Only print what would be imported
    #[arg(long)]
    dry_run: bool,
    /// Print the result as a JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DecimalWord {
    /// As in 2.5
    Point,
    /// As in 2,5
    Comma,
}

/// How many bad rows are shown.
const MOST_SHOWN: usize = 20;

/// Imports the file.
pub fn execute(args: ImportArgs) -> anyhow::Result<ExitCode> {
    let options = ImportOptions {
        value: args.value.clone(),
        map: args.map.clone(),
        optuna_study: args.optuna_study.clone(),
        separator: args.separator,
        decimal: args.decimal.map(|word| match word {
            DecimalWord::Point => DecimalMark::Point,
            DecimalWord::Comma => DecimalMark::Comma,
        }),
    };
    let mut study = open(&args, &args.storage.storage()?, &options)?;
    let found = import::read(&args.file, study.state().definition(), &options)?;
    check(&found, &args)?;
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
            check(&found, args)?;
            let memory = Storage::memory();
            Ok(Study::create(if args.dry_run { &memory } else { storage }, definition)?)
        }
        Err(error) => Err(error.into()),
    }
}

fn mapped(pair: &str) -> Result<(String, String), String> {
    let (column, parameter) = pair.split_once('=').ok_or("expected COLUMN=PARAMETER or COLUMN=OUTCOME")?;
    Ok((column.to_owned(), parameter.to_owned()))
}

fn separator(word: &str) -> Result<u8, String> {
    match (word, word.as_bytes()) {
        ("tab" | "\\t", _) => Ok(b'\t'),
        (_, [one]) => Ok(*one),
        _ => Err("give one character, or `tab`".to_owned()),
    }
}

/// Refuses bad rows unless they may be skipped, and a file in which all are bad.
fn check(found: &Found, args: &ImportArgs) -> anyhow::Result<()> {
    let n_bad = found.bad.len();
    if n_bad > 0 && !args.skip_bad {
        let rows = count(n_bad, "row");
        let advice = "correct them, or skip them with --skip-bad";
        bail!("{rows} cannot be imported, so nothing was:{}\n{advice}", reasons(&found.bad));
    }
    if n_bad > 0 && found.trials.is_empty() && found.n_unfinished == 0 {
        bail!("no row can be imported:{}", reasons(&found.bad));
    }
    Ok(())
}

/// A line for each bad row, but for the last of many.
fn reasons(bad: &[BadRow]) -> String {
    let mut lines: Vec<String> = bad
        .iter()
        .take(MOST_SHOWN)
        .map(|BadRow { place, reason }| format!("\n  {place}: {reason}"))
        .collect();
    if bad.len() > MOST_SHOWN {
        lines.push(format!("\n  … and {} more", bad.len() - MOST_SHOWN));
    }
    lines.concat()
}

fn in_words(args: &ImportArgs, found: &Found, n_added: usize) -> String {
    let would = if args.dry_run { "would be " } else { "" };
    let mut parts = vec![format!("{} {would}imported into `{}`", count(n_added, "row"), args.study)];
    let n_known = found.trials.len() - n_added;
    let left_out = [(n_known, "already there"), (found.n_unfinished, "unfinished"), (found.bad.len(), "bad")];
    parts.extend(left_out.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} skipped: {what}")));
    let dialect = found.dialect.iter().map(|dialect| format!(" ({dialect})")).collect::<String>();
    parts.join("; ") + &dialect + &reasons(&found.bad)
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
        "dialect": found.dialect,
    })
}
