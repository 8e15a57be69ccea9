//! `optimist fail STUDY TRIAL`: there is no value, and what is to become of the trial.

use std::process::ExitCode;

use clap::Args;
use optimist::space::Assignment;
use optimist_study::view::TrialView;
use optimist_study::{Evaluation, FailureKind, Kept, StudyError, Trial, TrialState};

use crate::show::{print, print_json};
use crate::storage::StudyArgs;

const EXAMPLES: &str = "\
Examples:
  optimist fail film 7 --reason 'the film peeled off'     the optimizer learns to stay away from there
  optimist fail film 7 --retry --reason 'power cut'       the next who asks gets it again
  optimist fail film 7 --cancel                           nobody will measure it; it does not count

Exit status: 0 if that is stored, 1 if the trial has a value or there is none of that number, 2 if the command line
is wrong.";

/// Options of `optimist fail`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct FailArgs {
    #[command(flatten)]
    study: StudyArgs,
    /// Its number, as `optimist ask` gave it
    trial: usize,
    /// Why there is no value
    #[arg(long, value_name = "TEXT", default_value = "reported as failed")]
    reason: String,
    /// It was bad luck, not the point: put the trial back, unless it was tried `max_attempts` times
    #[arg(long, conflicts_with = "cancel")]
    retry: bool,
    /// Give the trial up as if it had never been asked for; the optimizer learns nothing from it
    #[arg(long, conflicts_with = "reason")]
    cancel: bool,
    /// Print the trial as a JSON object
    #[arg(long)]
    json: bool,
}

/// Stores the failure; errors are printed by `main`.
pub fn execute(args: FailArgs) -> anyhow::Result<ExitCode> {
    let mut study = args.study.open_to_tell()?;
    let kept = if args.cancel {
        study.cancel(args.trial)?;
        Kept::Stored
    } else {
        let kind = if args.retry { FailureKind::Retried } else { FailureKind::Infeasible };
        study.tell_with(args.trial, Evaluation::failed(kind, args.reason), None, &Assignment::default())?
    };
    let max_attempts = study.definition().plan.max_attempts;
    let trial = study.trial(args.trial)?;
    if trial.state == TrialState::Complete {
        let (trial, state) = (trial.number, trial.state.word());
        return Err(StudyError::HasEnded { trial, state, wanted: "failed" }.into());
    }
    if args.json {
        print_json(&TrialView::new(trial))?;
    } else {
        print(in_words(trial, max_attempts, kept))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn in_words(trial: &Trial, max_attempts: usize, kept: Kept) -> String {
    let (number, word) = (trial.number, trial.state.word());
    let Trial { attempts, .. } = *trial;
    match (kept, trial.state) {
        (Kept::Already, _) => format!("trial {number} is {word} already; nothing was stored"),
        (Kept::Stored, TrialState::Waiting) => {
            format!("trial {number} waits for the next who asks: attempt {} of {max_attempts}", attempts + 1)
        }
        (Kept::Stored, TrialState::Failed) if attempts > 1 => {
            format!("trial {number} has failed; that was attempt {attempts}")
        }
        (Kept::Stored, TrialState::Failed) => format!("trial {number} has failed"),
        (Kept::Stored, _) => format!("trial {number} is {word}"),
    }
}
