//! `optimist retry STUDY`: puts failed trials back.

use std::process::ExitCode;

use clap::{ArgGroup, Args};
use optimist_study::TrialState;
use optimist_study::view::number::count;
use serde_json::json;

use crate::show::{print, print_json};
use crate::storage::StudyArgs;

const EXAMPLES: &str = "\
Examples:
  optimist retry lr-sweep --failed    all that failed, with a fixed command
  optimist retry lr-sweep 3 7         these two, failed or cancelled

They keep their numbers and parameters, and run before any new trial. The
optimizer forgets that they failed.

Exit status: 0 if they were put back, or there are none; 1 if one of them is
running or has a value; 2 if the command line is wrong.";

/// Options of `optimist retry`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(group(ArgGroup::new("which").args(["trials", "failed"]).required(true).multiple(true)))]
pub struct RetryArgs {
    #[command(flatten)]
    study: StudyArgs,
    /// Trials that failed or were cancelled
    #[arg(value_name = "TRIAL")]
    trials: Vec<usize>,
    /// All failed trials
    #[arg(long)]
    failed: bool,
    /// Print the trials as a JSON object
    #[arg(long)]
    json: bool,
}

/// Puts trials back.
pub fn execute(args: RetryArgs) -> anyhow::Result<ExitCode> {
    let mut study = args.study.open()?;
    let mut trials = args.trials;
    if args.failed {
        let failed = study.state().trials().iter().filter(|trial| trial.state == TrialState::Failed);
        trials.extend(failed.map(|trial| trial.number));
    }
    let back = study.retry(&trials)?;
    if args.json {
        print_json(&json!({ "study": study.name(), "trials": back }))?;
    } else if back.is_empty() {
        print("there is nothing to put back")?;
    } else {
        print(format!(
            "{} put back: `optimist run`, `worker` or `ask` takes them first",
            count(back.len(), "trial")
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}
