//! `optimist trials STUDY`: all trials, to read or to work on elsewhere.

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use optimist::space::Space;
use optimist_study::view::TrialView;
use optimist_study::view::number::significant;
use optimist_study::{Outcomes, State, Trial, TrialState};

use crate::show::{cells, names, or_dash, plain, print_json, print_table, say};
use crate::storage::AnyStudyArgs;

const EXAMPLES: &str = "\
Examples:
  optimist trials film
  optimist trials film --sort value -n 10              the ten best
  optimist trials film --state failed,waiting
  optimist trials film --format csv > film.csv
  optimist trials film --json | jq 'select(.value > 80)'

Columns of the CSV: trial, state, source, value, noise_std, seconds, attempts,
worker, reason, note, then one for each parameter, then metrics.NAME for each
metric. With several outcomes, value and noise_std give way to a column for
each outcome, `feasible`, and noise_std.NAME for each. A parameter or outcome
that has the name of another column becomes params.NAME or values.NAME.

Exit status: 0 if the study exists, 1 if not, 2 if the command line is wrong.";

/// Options of `optimist trials`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct TrialsArgs {
    #[command(flatten)]
    study: AnyStudyArgs,
    /// Output format
    #[arg(long, default_value = "table")]
    format: Format,
    /// Print one JSON object per trial, like --format jsonl
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Only trials in these states
    #[arg(long, value_delimiter = ',', value_name = "STATE")]
    state: Vec<StateWord>,
    /// Sort by number, or the best first; with several goals the front comes first
    #[arg(long, default_value = "number")]
    sort: Sort,
    /// Only the first N after sorting
    #[arg(short, long = "number", value_name = "N")]
    n: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum Format {
    Table,
    Csv,
    Jsonl,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum Sort {
    Number,
    Value,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum StateWord {
    Running,
    Waiting,
    Complete,
    Failed,
    Cancelled,
}

/// Prints the trials.
pub fn execute(args: TrialsArgs) -> anyhow::Result<ExitCode> {
    let study = args.study.open()?;
    let trials = selected(study.state(), &args);
    let (space, outcomes) = (&study.state().definition().space, study.state().outcomes());
    match if args.json { Format::Jsonl } else { args.format } {
        Format::Jsonl => {
            trials.iter().try_for_each(|trial| print_json(&TrialView::new(trial).judged(trial, outcomes)))?;
        }
        Format::Csv => write_csv(space, outcomes, &trials)?,
        Format::Table if trials.is_empty() => say(format!("no trials to show in study `{}`", study.name())),
        Format::Table => print_table(|| rows(space, outcomes, &trials))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn selected<'s>(state: &'s State, args: &TrialsArgs) -> Vec<&'s Trial> {
    let is_wanted =
        |trial: &&Trial| args.state.is_empty() || args.state.iter().any(|word| word.state() == trial.state);
    let mut trials: Vec<&Trial> = state.trials().iter().filter(is_wanted).collect();
    if args.sort == Sort::Value {
        let layers = state.layers();
        let merit = |trial: &Trial| state.merit(trial);
        let layer = |trial: &Trial| layers.get(&trial.number).copied().unwrap_or(usize::MAX);
        let is_better = |a, b| state.outcomes().is_better(a, b);
        trials.sort_by(|a, b| match (merit(a), merit(b)) {
            (Some(a), Some(b)) => is_better(b, a).cmp(&is_better(a, b)),
            (None, None) => {
                layer(a).cmp(&layer(b)).then(a.measurements.is_empty().cmp(&b.measurements.is_empty()))
            }
            (a, b) => b.is_some().cmp(&a.is_some()),
        });
    }
    trials.truncate(args.n.unwrap_or(usize::MAX));
    trials
}

impl StateWord {
    fn state(self) -> TrialState {
        match self {
            Self::Running => TrialState::Running,
            Self::Waiting => TrialState::Waiting,
            Self::Complete => TrialState::Complete,
            Self::Failed => TrialState::Failed,
            Self::Cancelled => TrialState::Cancelled,
        }
    }
}

fn rows<'t>(
    space: &'t Space,
    outcomes: &'t Outcomes,
    trials: &'t [&'t Trial],
) -> impl Iterator<Item = Vec<String>> + 't {
    let title = ["trial", "state"].into_iter().chain(outcomes.names()).chain(names(space));
    let title = title.map(str::to_owned).collect();
    let row = move |trial: &&Trial| {
        let values =
            outcomes.names().map(|name| or_dash(trial.value_of(name).map(|value| significant(value, 6))));
        let amended = if trial.amendments.is_empty() { "" } else { " (amended)" };
        let infeasible = match outcomes.is_feasible(|name| trial.value_of(name)) {
            Some(false) if trial.state == TrialState::Complete => ", not feasible",
            _ => "",
        };
        let first = [trial.number.to_string(), format!("{}{infeasible}{amended}", trial.state.word())];
        first.into_iter().chain(values).chain(cells(&trial.params, space)).collect()
    };
    std::iter::once(title).chain(trials.iter().map(row))
}

/// Columns that every study of one outcome has. Where there are several, columns of theirs take the place of `value` and `noise_std`.
const COLUMNS: [&str; 10] =
    ["trial", "state", "source", "value", "noise_std", "seconds", "attempts", "worker", "reason", "note"];

/// Where `value` and `noise_std` are among them.
const OF_VALUE: std::ops::Range<usize> = 3..5;

/// The columns in front of the parameters.
fn columns(outcomes: &Outcomes) -> Vec<String> {
    let mut columns = COLUMNS.map(str::to_owned).to_vec();
    if !outcomes.is_one() {
        let named = outcomes.names().map(|name| match COLUMNS.contains(&name) || name == FEASIBLE {
            true => format!("values.{name}"),
            false => name.to_owned(),
        });
        let feasible = outcomes.has_constraints().then(|| FEASIBLE.to_owned());
        let noise = outcomes.names().map(|name| format!("noise_std.{name}"));
        columns.splice(OF_VALUE, named.chain(feasible).chain(noise));
    }
    columns
}

const FEASIBLE: &str = "feasible";

fn write_csv(space: &Space, outcomes: &Outcomes, trials: &[&Trial]) -> anyhow::Result<()> {
    let columns = columns(outcomes);
    let metrics: BTreeSet<&str> =
        trials.iter().flat_map(|trial| metrics(trial)).map(|(name, _)| name).collect();
    let is_shown = std::io::stdout().is_terminal();
    let cell = |cell: String| if is_shown { plain(&cell).into_owned() } else { cell };
    let mut writer = csv::Writer::from_writer(std::io::stdout());
    let params = names(space).map(|name| match columns.iter().any(|column| column == name) {
        true => format!("params.{name}"),
        false => name.to_owned(),
    });
    let further = params.chain(metrics.iter().map(|name| format!("metrics.{name}")));
    writer.write_record(columns.iter().cloned().chain(further).map(cell)).map_err(unwrapped)?;
    for trial in trials {
        let params = names(space).map(|name| written(trial.params.get(name)));
        let metrics = metrics.iter().map(|name| {
            written(self::metrics(trial).find(|(known, _)| known == name).map(|(_, value)| value))
        });
        writer
            .write_record(fixed(trial, outcomes).into_iter().chain(params).chain(metrics).map(cell))
            .map_err(unwrapped)?;
    }
    writer.flush()?;
    Ok(())
}

/// An error of the pipe is known by its type (`main`).
fn unwrapped(error: csv::Error) -> anyhow::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error.into(),
        other => anyhow::anyhow!("cannot write CSV: {other:?}"),
    }
}

fn fixed(trial: &Trial, outcomes: &Outcomes) -> Vec<String> {
    let measured = trial.measurements.first().or_else(|| trial.known());
    let failure = trial.failure.as_ref().filter(|_| trial.measurements.is_empty());
    let noise = |name: &str| measured.and_then(|measured| measured.values.get(name)?.noise_std);
    let mut fixed = vec![
        trial.number.to_string(),
        trial.state.word().to_owned(),
        trial.source.word().to_owned(),
        written(trial.value()),
        written(noise("value")),
        written(trial.seconds),
        trial.attempts.to_string(),
        written(trial.worker.as_ref()),
        written(failure.map(|failure| &failure.reason)),
        written(measured.and_then(|measured| measured.note.as_ref())),
    ];
    if !outcomes.is_one() {
        let values = outcomes.names().map(|name| written(trial.value_of(name)));
        let feasible = outcomes.is_feasible(|name| trial.value_of(name));
        let feasible = outcomes.has_constraints().then(|| written(feasible));
        let noise = outcomes.names().map(|name| written(noise(name)));
        fixed.splice(OF_VALUE, values.chain(feasible).chain(noise));
    }
    fixed
}

fn metrics(trial: &Trial) -> impl Iterator<Item = (&str, &serde_json::Value)> {
    let measured = trial.measurements.first().or_else(|| trial.known());
    let metrics = measured.and_then(|measured| measured.metrics.as_ref());
    metrics.into_iter().flat_map(|metrics| metrics.iter().map(|(name, value)| (name.as_str(), value)))
}

fn written(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
