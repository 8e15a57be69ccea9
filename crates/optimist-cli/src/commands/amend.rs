//! `optimist amend STUDY TRIAL …`: what was told of a trial was wrong.

use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use optimist_study::view::TrialView;
use optimist_study::view::number::significant;
use optimist_study::{Amendment, Kept, Measurement, State, Trial, TrialState};
use serde_json::{Map, Value};

use super::tell::metrics;
use crate::pairs::read_pairs;
use crate::show::{in_short, print, print_json};
use crate::storage::StudyArgs;

const EXAMPLES: &str = "\
Examples:
  optimist amend film 7 71.5 --reason 'mistyped as 715'
  optimist amend film 7 --with temperature=186       it was run with another temperature than it was asked for
  optimist amend film 7 --failed --reason 'wrong gas bottle'
  optimist amend film 7 --cancelled                  as if it had never been asked for; it does not count

The new value takes the place of all values that were told; note, metrics and noise stay unless they are given. The log
keeps what it said before, and `optimist trials --json` tells. The optimizer learns as if this had been told in the first
place.

Exit status: 0 if that is stored, 1 if it cannot be, 2 if the command line is wrong.";

/// Options of `optimist amend`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct AmendArgs {
    #[command(flatten)]
    study: StudyArgs,
    /// The number of a trial that has ended
    trial: usize,
    /// What was really measured: a finite number
    #[arg(allow_negative_numbers = true, conflicts_with_all = ["failed", "cancelled"])]
    value: Option<f64>,
    /// A value that was really used, as name=value; repeat it for several parameters
    #[arg(long, value_name = "NAME=VALUE")]
    with: Vec<String>,
    /// There is no value at this point
    #[arg(long, conflicts_with = "cancelled")]
    failed: bool,
    /// Nobody measured it, and nobody will
    #[arg(long)]
    cancelled: bool,
    /// Standard deviation of the value's noise
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, requires = "value")]
    noise_std: Option<f64>,
    /// A remark to keep with the value
    #[arg(long, value_name = "TEXT", requires = "value")]
    note: Option<String>,
    /// Further results to keep with the value, as a JSON object
    #[arg(long, value_name = "JSON", value_parser = metrics, requires = "value")]
    metrics: Option<Map<String, Value>>,
    /// Why it is amended; with --failed, why there is no value
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Print the trial as a JSON object
    #[arg(long)]
    json: bool,
}

/// Amends; errors are printed by `main`.
pub fn execute(args: AmendArgs) -> anyhow::Result<ExitCode> {
    let mut study = args.study.open()?;
    let with = read_pairs(&args.with, &study.state().definition().space)?;
    let outcome = outcome(&args, study.state().trials().get(args.trial));
    if outcome.is_none() && with.is_empty() {
        bail!("say what was wrong: a value, --with NAME=VALUE, --failed or --cancelled");
    }
    let kept = study.amend(args.trial, &with, outcome, args.reason.as_deref())?;
    let trial = &study.state().trials()[args.trial];
    if args.json {
        print_json(&TrialView::new(trial))?;
    } else {
        print(in_words(study.state(), trial, kept))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What came of the trial instead; with a value, what is not given stays as it was told.
fn outcome(args: &AmendArgs, known: Option<&Trial>) -> Option<Amendment> {
    if args.cancelled {
        return Some(Amendment::Cancelled);
    }
    if args.failed {
        let reason = args.reason.clone().unwrap_or_else(|| "reported as failed".to_owned());
        return Some(Amendment::Failed { reason });
    }
    let (noise_std, note) = (args.noise_std, args.note.clone());
    let measured =
        Measurement { value: args.value?, noise_std, note, metrics: args.metrics.clone().map(Box::new) };
    let measured = known.map_or_else(|| measured.clone(), |known| known.corrected(measured.clone()));
    Some(Amendment::Measured(measured))
}

fn in_words(state: &State, trial: &Trial, kept: Kept) -> String {
    let number = trial.number;
    if kept == Kept::Already {
        return format!("the log says so of trial {number} already; nothing was stored");
    }
    let now = match trial.value() {
        Some(value) if trial.state == TrialState::Complete => {
            format!("complete, with {}", significant(value, 6))
        }
        _ => trial.state.word().to_owned(),
    };
    let now = format!("trial {number} is {now}, at {}", in_short(&trial.params));
    match trial.amendments.last() {
        Some(before) if !before.values.is_empty() => {
            let values: Vec<String> = before.values.iter().map(|value| significant(*value, 6)).collect();
            format!("{now}; it was {}, with {}", before.state.word(), values.join(" and "))
        }
        Some(before) if before.state != trial.state => format!("{now}; it was {}", before.state.word()),
        _ => match state.best_observed() {
            Some(best) if best.number == number => format!("{now}: the best so far"),
            _ => now,
        },
    }
}
