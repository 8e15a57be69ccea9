//! The command line.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::commands::ask::AskArgs;
use crate::commands::best::BestArgs;
use crate::commands::completions::CompletionsArgs;
use crate::commands::create::CreateArgs;
use crate::commands::delete::DeleteArgs;
use crate::commands::enqueue::EnqueueArgs;
use crate::commands::export::ExportArgs;
use crate::commands::fail::FailArgs;
use crate::commands::init::InitArgs;
use crate::commands::list::ListArgs;
use crate::commands::plot::PlotArgs;
use crate::commands::show::ShowArgs;
use crate::commands::tell::TellArgs;
use crate::commands::trials::TrialsArgs;
use crate::storage::StorageArgs;

/// Finds the best input of a function that is expensive, noisy and opaque.
#[derive(Debug, Parser)]
#[command(
    name = "optimist",
    version,
    after_help = "Run `optimist help run` for the options of a command, with examples."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write a study file to start from
    Init(InitArgs),
    /// Begin a study or go on with it: vary the parameters, measure the objective, show the best that was found
    Run(RunArgs),
    /// Measure trials of a study that was begun elsewhere, until it is over
    Worker(WorkerArgs),
    /// Begin a study that others will run, or that a person will measure
    Create(CreateArgs),
    /// Get the next trial, to measure it yourself
    Ask(AskArgs),
    /// Tell the value of a trial
    Tell(TellArgs),
    /// Tell that a trial has no value
    Fail(FailArgs),
    /// Have a point of your own tried next
    Enqueue(EnqueueArgs),
    /// List the studies there are
    List(ListArgs),
    /// Show how a study stands: progress, best, parameters, what runs, what failed
    Show(ShowArgs),
    /// Show the point to bet on, or the best few
    Best(BestArgs),
    /// Print trials as a table, CSV or JSON lines
    Trials(TrialsArgs),
    /// Write the whole log of a study to a file, losslessly
    Export(ExportArgs),
    /// Remove a study for good
    Delete(DeleteArgs),
    /// Take in trials that were made elsewhere: a CSV or JSON table, or an Optuna database
    Import(ImportArgs),
    /// Draw a study: history, slices, parallel coordinates, importance of parameters, the model
    Plot(PlotArgs),
    /// Make every suggestion of a study again from its log, and compare
    Verify(VerifyArgs),
    /// Print a script that completes commands and options in your shell
    Completions(CompletionsArgs),
}

const RUN_EXAMPLES: &str = "\
Examples:
  optimist run study.toml                          as the file says; again, to go on after a stop
  optimist run study.toml --trials 200 --workers 4 longer, four at a time
  optimist run study.toml --json > trials.jsonl    one line of JSON for each trial
  optimist run study.toml --svg run.svg            a picture of the run, too
  optimist run study.toml --storage memory         keep nothing

A small study file:
  direction = \"minimize\"

  [objective]
  command = [\"python3\", \"train.py\", \"--lr={lr}\"]   # its last line of output is the value

  [parameters.lr]
  type = \"float\"
  low = 1e-5
  high = 1.0
  log = true

Exit status: 0 if there is a result, 1 if the run failed, 2 if the study file or the command line is
wrong, 130 if it was stopped with Ctrl-C (what was found until then is shown).";

/// Options of `optimist run`.
#[derive(Debug, Args)]
#[command(after_help = RUN_EXAMPLES)]
pub struct RunArgs {
    /// The study file (TOML)
    pub file: PathBuf,
    #[command(flatten)]
    pub storage: StorageArgs,
    /// Run this many trials, whatever the file says
    #[arg(long, value_name = "N")]
    pub trials: Option<NonZeroUsize>,
    /// Use this seed: same seed, same suggestions
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Run this many trials at the same time
    #[arg(long, value_name = "N")]
    pub workers: Option<NonZeroUsize>,
    /// Print one JSON object for each trial on standard output, and no summary
    #[arg(long)]
    pub json: bool,
    /// Write a picture of the run to this file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

const WORKER_EXAMPLES: &str = "\
Examples:
  optimist worker lr-sweep                                       one more, on this machine
  optimist worker lr-sweep --workers 4 --storage postgres://me@lab/studies --folder ~/lr-sweep";

/// Options of `optimist worker`.
#[derive(Debug, Args)]
#[command(after_help = WORKER_EXAMPLES)]
pub struct WorkerArgs {
    /// The name of the study
    pub study: String,
    #[command(flatten)]
    pub storage: StorageArgs,
    /// Run this many trials at the same time
    #[arg(long, value_name = "N", default_value = "1")]
    pub workers: NonZeroUsize,
    /// Run the objective in this folder, if its files are not where they were when the study was begun
    #[arg(long, value_name = "FOLDER")]
    pub folder: Option<PathBuf>,
    /// Print one JSON object for each trial on standard output
    #[arg(long)]
    pub json: bool,
}

const IMPORT_EXAMPLES: &str = "\
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
#[command(after_help = IMPORT_EXAMPLES)]
pub struct ImportArgs {
    /// The name of the study
    pub study: String,
    /// A table (CSV, JSON, JSON lines) or an Optuna database
    pub file: String,
    #[command(flatten)]
    pub storage: StorageArgs,
    /// The column of the value [default: value]
    #[arg(long, value_name = "COLUMN")]
    pub value: Option<String>,
    /// A column that is called otherwise than its parameter; may be given several times
    #[arg(long, value_name = "COLUMN=PARAMETER")]
    pub map: Vec<String>,
    /// Which study of the Optuna database, if it has several
    #[arg(long, value_name = "NAME")]
    pub optuna_study: Option<String>,
    /// Make the study if it is not there, with the parameters and direction of Optuna's
    #[arg(long)]
    pub create: bool,
    /// Leave out rows that cannot be imported
    #[arg(long)]
    pub skip_bad: bool,
    /// Store nothing, only say what would be imported
    #[arg(long)]
    pub dry_run: bool,
    /// Print the result as a JSON object
    #[arg(long)]
    pub json: bool,
}

const VERIFY_EXAMPLES: &str = "\
Example:
  optimist verify lr-sweep

Exit status: 0 if every suggestion came out as it is recorded, bit for bit, which holds for the kind of processor that
they were made on; 1 if one did not, or the log is damaged; 2 if the command line is wrong; 3 if some could not be
compared, because another engine made them: a version of optimist that suggests otherwise.";

/// Options of `optimist verify`.
#[derive(Debug, Args)]
#[command(after_help = VERIFY_EXAMPLES)]
pub struct VerifyArgs {
    /// The name of the study
    pub study: String,
    #[command(flatten)]
    pub storage: StorageArgs,
    /// Print the result as a JSON object
    #[arg(long)]
    pub json: bool,
}
