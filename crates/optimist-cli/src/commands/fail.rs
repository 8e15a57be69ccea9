//! `optimist fail STUDY TRIAL`: there is no value, and what is to become of the trial.

use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use optimist::space::Assignment;
use optimist_study::view::TrialView;
use optimist_study::{Evaluation, FailureKind, Kept, Measurement, Outcomes, StudyError, Trial, TrialState};

use crate::pairs::{GivenValue, measured, told};
use crate::show::{print, print_json, values};
use crate::storage::StudyArgs;

const EXAMPLES: &str = "\
Examples:
  optimist fail film 7 --reason 'it peeled off'       the optimizer avoids it
  optimist fail film 7 --retry --reason 'power cut'   put back for another try
  optimist fail film 7 --cancel                       doesn't count
  optimist fail crane 7 mass=3.2 --reason diverged    keeps what was measured

Exit status: 0 if the failure is stored, 1 if the trial has a value or doesn't
exist, 2 if the command line is wrong.";

/// Options of `optimist fail`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct FailArgs {
    #[command(flatten)]
    study: StudyArgs,
    /// Number of the trial, as given by `optimist ask`
    trial: usize,
    /// Outcomes measured before the failure, as NAME=NUMBER; for studies with several outcomes
    #[arg(value_name = "KNOWN", value_parser = told, conflicts_with_all = ["cancel", "retry"])]
    known: Vec<GivenValue>,
    /// Why there is no value
    #[arg(long, value_name = "TEXT", default_value = "reported as failed")]
    reason: String,
    /// Not the point's fault: put the trial back, unless it was tried `max_attempts` times
    #[arg(long, conflicts_with = "cancel")]
    retry: bool,
    /// Drop the trial as if it had never been asked for; the optimizer learns nothing
    #[arg(long, conflicts_with = "reason")]
    cancel: bool,
    /// Print the trial as a JSON object
    #[arg(long)]
    json: bool,
}

/// Stores the failure.
pub fn execute(args: FailArgs) -> anyhow::Result<ExitCode> {
    let mut study = args.study.open_to_tell()?;
    let kept = if args.cancel {
        study.cancel(args.trial)?;
        Kept::Stored
    } else {
        let kind = if args.retry { FailureKind::Retried } else { FailureKind::Infeasible };
        let known = known(&args.known, &study.definition().outcomes)?;
        let failed = Evaluation::Failed { kind, reason: args.reason, stderr: None, known };
        study.tell_with(args.trial, failed, None, &Assignment::default())?
    };
    let max_attempts = study.definition().plan.max_attempts;
    let outcomes = study.definition().outcomes.clone();
    let trial = study.trial(args.trial)?;
    if trial.state == TrialState::Complete {
        let (trial, state) = (trial.number, trial.state.word());
        return Err(StudyError::HasEnded { trial, state, wanted: "failed" }.into());
    }
    if args.json {
        print_json(&TrialView::new(trial).judged(trial, &outcomes))?;
    } else {
        print(in_words(trial, &outcomes, max_attempts, kept))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The outcomes measured before the failure.
fn known(told: &[GivenValue], outcomes: &Outcomes) -> anyhow::Result<Option<Box<Measurement>>> {
    if told.is_empty() {
        return Ok(None);
    }
    if outcomes.is_one() {
        bail!("`fail` doesn't take a value; use `optimist tell`");
    }
    let known = outcomes.check_partly(measured(told, &[], outcomes)?);
    known.map(|known| Some(Box::new(known))).map_err(anyhow::Error::msg)
}

fn in_words(trial: &Trial, outcomes: &Outcomes, max_attempts: usize, kept: Kept) -> String {
    let (number, word) = (trial.number, trial.state.word());
    let known = match values(outcomes, |name| trial.value_of(name)) {
        known if known.is_empty() => String::new(),
        known => format!(", with {known}"),
    };
    let Trial { attempts, .. } = *trial;
    match (kept, trial.state) {
        (Kept::Already, _) => format!("trial {number} is already {word}; nothing was stored"),
        (Kept::Stored, TrialState::Waiting) => {
            format!("trial {number} is back in the queue: attempt {} of {max_attempts}", attempts + 1)
        }
        (Kept::Stored, TrialState::Failed) if attempts > 1 => {
            format!("trial {number} failed on attempt {attempts}{known}")
        }
        (Kept::Stored, TrialState::Failed) => format!("trial {number} failed{known}"),
        (Kept::Stored, _) => format!("trial {number} is {word}"),
    }
}
