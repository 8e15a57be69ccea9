//! The command line.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::commands::bench::BenchCommand;

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
    /// Run a study: vary the parameters, measure the objective, show the best that was found
    Run(RunArgs),
    /// Compare optimizers: on functions whose optimum is known, and on the hyper-parameters of classifiers
    #[command(subcommand)]
    Bench(BenchCommand),
}

const RUN_EXAMPLES: &str = "\
Examples:
  optimist run study.toml                          as the file says
  optimist run study.toml --trials 200 --workers 4 longer, four at a time
  optimist run study.toml --json > trials.jsonl    one line of JSON for each trial
  optimist run study.toml --svg run.svg            a picture of the run, too

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
