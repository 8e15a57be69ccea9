//! `optimist tell STUDY TRIAL VALUE`: what was measured.

use std::process::ExitCode;

use clap::Args;
use optimist_study::view::TrialView;
use optimist_study::view::number::significant;
use optimist_study::{Kept, Measurement, Outcomes, Trial, TrialState};
use serde_json::{Map, Value};

use crate::pairs::{GivenValue, measured, read_pairs, told};
use crate::show::{print, print_json, values, violated};
use crate::storage::StudyArgs;

const EXAMPLES: &str = "\
Examples:
  optimist tell film 7 81.5
  optimist tell film 7 81.5 --noise-std 0.4 --note 'second oven'
  optimist tell film 7 -3.2 --metrics '{\"thickness_nm\": 112}'
  optimist tell film 7 81.5 --with temperature=186     was run at 186
  optimist tell net 7 accuracy=0.93 latency_ms=12.1    all of several outcomes

Telling the same value again changes nothing. Another value is a further
measurement of the trial, whose value is then the mean; `optimist amend`
corrects a wrong one. A value may come late: it completes a trial that was put
back or had failed.

Exit status: 0 if the value is stored, 1 if it can't be, 2 if the command line
is wrong.";

/// Options of `optimist tell`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct TellArgs {
    #[command(flatten)]
    study: StudyArgs,
    /// Number of the trial, as given by `optimist ask`
    trial: usize,
    /// The measured value, a finite number; with several outcomes, NAME=NUMBER for each
    #[arg(required = true, value_name = "VALUE", value_parser = told, allow_negative_numbers = true)]
    value: Vec<GivenValue>,
    /// Standard deviation of the noise in the value [default: inferred]; NAME=NUMBER for one of several outcomes
    #[arg(long, value_name = "NUMBER", value_parser = told, allow_negative_numbers = true)]
    noise_std: Vec<GivenValue>,
    /// A note to store with the value
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Further results to store with the value, as a JSON object
    #[arg(long, value_name = "JSON", value_parser = metrics)]
    metrics: Option<Map<String, Value>>,
    /// A parameter value that was actually used, as name=value; can be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    with: Vec<String>,
    /// Print the trial as a JSON object
    #[arg(long)]
    json: bool,
}

/// Stores the values and says where the trial now stands.
pub fn execute(args: TellArgs) -> anyhow::Result<ExitCode> {
    let mut study = args.study.open_to_tell()?;
    let before = study.trial(args.trial)?.state;
    let TellArgs { value, noise_std, note, metrics, .. } = args;
    let values = measured(&value, &noise_std, &study.definition().outcomes)?.values;
    let measured = Measurement { values, note, metrics: metrics.map(Box::new) };
    let told = measured.clone();
    let with = read_pairs(&args.with, &study.definition().space)?;
    let kept = study.tell_with(args.trial, measured, None, &with)?;
    if args.json {
        let outcomes = study.definition().outcomes.clone();
        let trial = study.trial(args.trial)?;
        print_json(&TrialView::new(trial).judged(trial, &outcomes))?;
    } else {
        let best = study.best_observed()?;
        let outcomes = study.definition().outcomes.clone();
        print(in_words(study.trial(args.trial)?, best, before, kept, &told, &outcomes))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn in_words(
    trial: &Trial,
    best: Option<(usize, f64)>,
    before: TrialState,
    kept: Kept,
    told: &Measurement,
    outcomes: &Outcomes,
) -> String {
    let number = trial.number;
    let value = values(outcomes, |name| told.value(name));
    if kept == Kept::Already {
        let the_value = if outcomes.is_one() { "the value " } else { "" };
        return format!("trial {number} already has {the_value}{value}; nothing was stored");
    }
    let told = match before {
        TrialState::Complete => {
            let mean = values(outcomes, |name| trial.value_of(name));
            let n = trial.measurements.len();
            let what = if outcomes.is_one() { "values" } else { "measurements" };
            format!(
                "trial {number} now has {n} {what}, the last is {value}; it counts with their mean, {mean}"
            )
        }
        TrialState::Failed | TrialState::Cancelled | TrialState::Waiting => {
            format!("trial {number} was {} and is now complete, with {value}", before.word())
        }
        TrialState::Running => format!("trial {number} is complete, with {value}"),
    };
    let told = match violated(outcomes, |name| trial.value_of(name)) {
        Some(violated) => format!("{told}; {violated}"),
        None => told,
    };
    match (best, outcomes.goal()) {
        (Some((best, _)), _) if best == number => format!("{told}: the best so far"),
        (Some((best, value)), Some(_)) => {
            format!("{told}; the best so far is trial {best}, with {}", significant(value, 6))
        }
        _ => told,
    }
}

/// A JSON object.
pub fn metrics(word: &str) -> Result<Map<String, Value>, String> {
    const EXPECTED: &str = "expected a JSON object such as '{\"loss\": 0.2}'";
    match serde_json::from_str(word) {
        Ok(Value::Object(metrics)) => Ok(metrics),
        Ok(_) => Err(EXPECTED.to_owned()),
        Err(error) => Err(format!("{error}; {EXPECTED}")),
    }
}
