//! `optimist tell STUDY TRIAL VALUE`: what was measured.

use std::process::ExitCode;

use clap::Args;
use optimist_study::view::TrialView;
use optimist_study::view::number::significant;
use optimist_study::{Kept, Measurement, Trial, TrialState};
use serde_json::{Map, Value};

use crate::pairs::read_pairs;
use crate::show::{print, print_json};
use crate::storage::StudyArgs;

const EXAMPLES: &str = "\
Examples:
  optimist tell film 7 81.5
  optimist tell film 7 81.5 --noise-std 0.4 --note 'second oven' --metrics '{\"thickness_nm\": 112}'
  optimist tell film 7 -3.2
  optimist tell film 7 81.5 --with temperature=186     it was run at 186, not at what `ask` had said

Telling the same value again changes nothing. Another value is a further measurement of the trial, whose value is then
the mean of both; `optimist amend` takes a wrong one back. A value may come late: it completes a trial that was put back
or had failed.

Exit status: 0 if the value is stored, 1 if it cannot be, 2 if the command line is wrong.";

/// Options of `optimist tell`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct TellArgs {
    #[command(flatten)]
    study: StudyArgs,
    /// Its number, as `optimist ask` gave it
    trial: usize,
    /// What was measured: a finite number
    #[arg(allow_negative_numbers = true)]
    value: f64,
    /// Standard deviation of the value's noise; inferred if left out
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    noise_std: Option<f64>,
    /// A remark to keep with the value
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Further results to keep with the value, as a JSON object
    #[arg(long, value_name = "JSON", value_parser = metrics)]
    metrics: Option<Map<String, Value>>,
    /// A value that was really used, as name=value; repeat it for several parameters
    #[arg(long, value_name = "NAME=VALUE")]
    with: Vec<String>,
    /// Print the trial as a JSON object
    #[arg(long)]
    json: bool,
}

/// Tells; errors are printed by `main`.
pub fn execute(args: TellArgs) -> anyhow::Result<ExitCode> {
    let mut study = args.study.open_to_tell()?;
    let before = study.trial(args.trial)?.state;
    let TellArgs { value, noise_std, note, metrics, .. } = args;
    let measured = Measurement { value, noise_std, note, metrics: metrics.map(Box::new) };
    let with = read_pairs(&args.with, &study.definition().space)?;
    let kept = study.tell_with(args.trial, measured, None, &with)?;
    if args.json {
        print_json(&TrialView::new(study.trial(args.trial)?))?;
    } else {
        let best = study.best_observed()?;
        print(in_words(study.trial(args.trial)?, best, before, kept, value))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn in_words(trial: &Trial, best: Option<(usize, f64)>, before: TrialState, kept: Kept, value: f64) -> String {
    let (number, value) = (trial.number, significant(value, 6));
    if kept == Kept::Already {
        return format!("trial {number} has the value {value} already; nothing was stored");
    }
    let told = match before {
        TrialState::Complete => {
            let mean = significant(trial.value().unwrap_or(f64::NAN), 6);
            let n = trial.measurements.len();
            format!("trial {number} has {n} values now, the last {value}; it counts with their mean, {mean}")
        }
        TrialState::Failed | TrialState::Cancelled | TrialState::Waiting => {
            format!("trial {number} was {} and is complete now, with {value}", before.word())
        }
        TrialState::Running => format!("trial {number} is complete, with {value}"),
    };
    match best {
        Some((best, _)) if best == number => format!("{told}: the best so far"),
        Some((best, value)) => {
            format!("{told}; the best so far is trial {best}, with {}", significant(value, 6))
        }
        None => told,
    }
}

/// A JSON object.
pub fn metrics(word: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str(word) {
        Ok(Value::Object(metrics)) => Ok(metrics),
        _ => Err("expected a JSON object such as '{\"loss\": 0.2}'".to_owned()),
    }
}
