//! `optimist amend STUDY TRIAL …`: what was told of a trial was wrong.

use std::process::ExitCode;

use anyhow::{anyhow, bail};
use clap::{ArgGroup, Args};
use optimist_study::view::TrialView;
use optimist_study::view::number::significant;
use optimist_study::{Amendment, Kept, Measurement, Outcomes, State, Trial, TrialState};
use serde_json::{Map, Value};

use super::tell::metrics;
use crate::pairs::{GivenValue, measured, read_pairs, told};
use crate::show::{in_short, print, print_json, values};
use crate::storage::StudyArgs;

const EXAMPLES: &str = "\
Examples:
  optimist amend film 7 71.5 --reason 'mistyped as 715'
  optimist amend film 7 --with temperature=186    was run at 186
  optimist amend net 7 accuracy=0.39              keeps its other outcomes
  optimist amend film 7 --failed --reason 'wrong gas bottle'
  optimist amend crane 7 mass=3.4 --failed        only the mass was measured
  optimist amend film 7 --cancelled               as if it was never asked for

The new value replaces every value reported for the trial. Note, metrics and
noise stay unless you give new ones. The log keeps the previous values;
`optimist trials --json` shows them. The optimizer learns as if the new value
had been reported in the first place.

Exit status: 0 if the correction is stored, 1 if it can't be, 2 if the command
line is wrong.";

/// Options of `optimist amend`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, override_usage = "optimist amend [OPTIONS] <STUDY> <TRIAL> [VALUE]...")]
#[command(group(ArgGroup::new("correction").args(["value", "with", "failed", "cancelled"]).required(true).multiple(true)))]
pub struct AmendArgs {
    #[command(flatten)]
    study: StudyArgs,
    /// Number of a trial that has ended
    trial: usize,
    /// The value actually measured, a finite number; with several outcomes, NAME=NUMBER for each wrong one
    #[arg(value_parser = told, allow_negative_numbers = true, conflicts_with = "cancelled")]
    value: Vec<GivenValue>,
    /// A parameter value that was actually used, as name=value; can be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    with: Vec<String>,
    /// The trial failed: it has no value, or only those outcomes that are given or were known
    #[arg(long, conflicts_with = "cancelled")]
    failed: bool,
    /// Nobody has measured the trial, and nobody will
    #[arg(long)]
    cancelled: bool,
    /// Standard deviation of the noise in the value
    #[arg(long, value_name = "NUMBER", value_parser = told, allow_negative_numbers = true, requires = "value")]
    noise_std: Vec<GivenValue>,
    /// A note to store with the value
    #[arg(long, value_name = "TEXT", requires = "value")]
    note: Option<String>,
    /// Further results to store with the value, as a JSON object
    #[arg(long, value_name = "JSON", value_parser = metrics, requires = "value")]
    metrics: Option<Map<String, Value>>,
    /// Reason for the correction; with --failed, why there is no value
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Print the trial as a JSON object
    #[arg(long)]
    json: bool,
}

/// Stores the correction and prints the trial as it is now.
pub fn execute(args: AmendArgs) -> anyhow::Result<ExitCode> {
    let mut study = args.study.open()?;
    let with = read_pairs(&args.with, &study.state().definition().space)?;
    let outcome = outcome(&args, study.state().trials().get(args.trial), study.state().outcomes())?;
    let kept = study.amend(args.trial, &with, outcome, args.reason.as_deref())?;
    let trial = &study.state().trials()[args.trial];
    if args.json {
        print_json(&TrialView::new(trial).judged(trial, study.state().outcomes()))?;
    } else {
        print(in_words(study.state(), trial, kept))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What came of the trial instead; with a value, what is not given stays as it was told.
fn outcome(
    args: &AmendArgs,
    known: Option<&Trial>,
    outcomes: &Outcomes,
) -> anyhow::Result<Option<Amendment>> {
    if args.cancelled {
        return Ok(Some(Amendment::Cancelled));
    }
    if args.failed {
        let before = known.and_then(|known| known.failure.as_ref()).map(|failure| failure.reason.clone());
        let reason = args.reason.clone().or(before).unwrap_or_else(|| "reported as failed".to_owned());
        let known = partly_measured(args, known, outcomes)?.map(Box::new);
        return Ok(Some(Amendment::Failed { reason, known }));
    }
    if args.value.is_empty() {
        return Ok(None);
    }
    let measured = corrected(args, known, outcomes)?;
    let is_missing = |name: &&str| measured.values.get(name).is_none();
    if let Some(trial) = known.filter(|trial| trial.state == TrialState::Failed)
        && let Some(name) = outcomes.names().find(is_missing)
    {
        let number = trial.number;
        bail!(
            "trial {number} failed, and outcome `{name}` is missing; give it, or correct what was measured of a failed trial with --failed"
        );
    }
    Ok(Some(Amendment::Measured(measured)))
}

/// The values given, with what else was told of the trial.
fn corrected(args: &AmendArgs, known: Option<&Trial>, outcomes: &Outcomes) -> anyhow::Result<Measurement> {
    let values = measured(&args.value, &args.noise_std, outcomes)?.values;
    let measured =
        Measurement { values, note: args.note.clone(), metrics: args.metrics.clone().map(Box::new) };
    Ok(known.map_or_else(|| measured.clone(), |known| known.corrected(measured.clone())))
}

/// What was measured of a trial that failed: the outcomes given and, if it had failed before, those that were known.
fn partly_measured(
    args: &AmendArgs,
    known: Option<&Trial>,
    outcomes: &Outcomes,
) -> anyhow::Result<Option<Measurement>> {
    let failed = known.filter(|trial| trial.state == TrialState::Failed);
    if args.value.is_empty() {
        return Ok(failed.and_then(Trial::known).cloned());
    }
    if outcomes.is_one() {
        bail!("a failed trial has no value; leave out the value, or --failed");
    }
    let partly = corrected(args, failed, outcomes)?;
    outcomes.check_partly(partly).map(Some).map_err(|problem| anyhow!("trial {}: {problem}", args.trial))
}

fn in_words(state: &State, trial: &Trial, kept: Kept) -> String {
    let number = trial.number;
    if kept == Kept::Already {
        return format!("trial {number} already says so; nothing was stored");
    }
    let outcomes = state.outcomes();
    let now = match trial.state {
        TrialState::Complete => {
            format!("complete, with {}", values(outcomes, |name| trial.value_of(name)))
        }
        other => match values(outcomes, |name| trial.value_of(name)) {
            known if known.is_empty() => other.word().to_owned(),
            known => format!("{}, with {known}", other.word()),
        },
    };
    let now = format!("trial {number} is {now}, at {}", in_short(&trial.params));
    match trial.amendments.last() {
        Some(before) if !before.values.is_empty() => {
            let values: Vec<String> = before.values.iter().map(|value| significant(*value, 6)).collect();
            format!("{now}; it was {}, with {}", before.state.word(), values.join(" and "))
        }
        Some(before) if !before.measurements.is_empty() => {
            let told: Vec<String> =
                before.measurements.iter().map(|told| values(outcomes, |name| told.value(name))).collect();
            format!("{now}; it was {}, with {}", before.state.word(), told.join(" and "))
        }
        Some(before) if before.state != trial.state => format!("{now}; it was {}", before.state.word()),
        _ => match state.best_observed() {
            Some(best) if best.number == number => format!("{now}: the best so far"),
            _ => now,
        },
    }
}
