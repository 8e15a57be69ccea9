//! `optimist trials STUDY`: all trials, to read or to work on elsewhere.

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use optimist::space::Space;
use optimist_study::view::TrialView;
use optimist_study::view::number::significant;
use optimist_study::{State, Trial, TrialState};

use crate::show::{cells, names, or_dash, plain, print_json, print_table, say};
use crate::storage::AnyStudyArgs;

const EXAMPLES: &str = "\
Examples:
  optimist trials film
  optimist trials film --sort value -n 10              the ten best
  optimist trials film --state failed,waiting
  optimist trials film --format csv > film.csv
  optimist trials film --json | jq 'select(.value > 80)'

Columns of the CSV: trial, state, source, value, noise_std, seconds, attempts, worker, reason, note, then one for each
parameter, then metrics.NAME for each metric. A parameter that has the name of another column is params.NAME.

Exit status: 0 if the study is there, 1 if not, 2 if the command line is wrong.";

/// Options of `optimist trials`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct TrialsArgs {
    #[command(flatten)]
    study: AnyStudyArgs,
    /// How to print them
    #[arg(long, default_value = "table")]
    format: Format,
    /// Print one JSON object for each trial, as --format jsonl
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Only trials in these states
    #[arg(long, value_delimiter = ',', value_name = "STATE")]
    state: Vec<StateWord>,
    /// In which order: as they were asked for, or the best value first
    #[arg(long, default_value = "number")]
    sort: Sort,
    /// Only the first N, after sorting
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

/// Prints the trials; errors are printed by `main`.
pub fn execute(args: TrialsArgs) -> anyhow::Result<ExitCode> {
    let study = args.study.open()?;
    let trials = selected(study.state(), &args);
    let space = &study.state().definition().space;
    match if args.json { Format::Jsonl } else { args.format } {
        Format::Jsonl => trials.iter().try_for_each(|trial| print_json(&TrialView::new(trial)))?,
        Format::Csv => write_csv(space, &trials)?,
        Format::Table if trials.is_empty() => {
            say(format!("there are no such trials in study `{}`", study.name()))
        }
        Format::Table => print_table(|| rows(space, &trials))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn selected<'s>(state: &'s State, args: &TrialsArgs) -> Vec<&'s Trial> {
    let is_wanted =
        |trial: &&Trial| args.state.is_empty() || args.state.iter().any(|word| word.state() == trial.state);
    let mut trials: Vec<&Trial> = state.trials().iter().filter(is_wanted).collect();
    if args.sort == Sort::Value {
        let direction = state.definition().direction;
        trials.sort_by(|a, b| match (a.value(), b.value()) {
            (Some(a), Some(b)) => direction.compare(&b, &a),
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

fn rows<'t>(space: &'t Space, trials: &'t [&'t Trial]) -> impl Iterator<Item = Vec<String>> + 't {
    let title = ["trial", "state", "value"].into_iter().chain(names(space)).map(str::to_owned).collect();
    let row = move |trial: &&Trial| {
        let value = or_dash(trial.value().map(|value| significant(value, 6)));
        let amended = if trial.amendments.is_empty() { "" } else { " (amended)" };
        let first = [trial.number.to_string(), format!("{}{amended}", trial.state.word()), value];
        first.into_iter().chain(cells(&trial.params, space)).collect()
    };
    std::iter::once(title).chain(trials.iter().map(row))
}

/// Columns that every study has.
const COLUMNS: [&str; 10] =
    ["trial", "state", "source", "value", "noise_std", "seconds", "attempts", "worker", "reason", "note"];

fn write_csv(space: &Space, trials: &[&Trial]) -> anyhow::Result<()> {
    let metrics: BTreeSet<&str> =
        trials.iter().flat_map(|trial| metrics(trial)).map(|(name, _)| name).collect();
    let is_shown = std::io::stdout().is_terminal();
    let cell = |cell: String| if is_shown { plain(&cell).into_owned() } else { cell };
    let mut writer = csv::Writer::from_writer(std::io::stdout());
    let params = names(space).map(|name| match COLUMNS.contains(&name) {
        true => format!("params.{name}"),
        false => name.to_owned(),
    });
    let further = params.chain(metrics.iter().map(|name| format!("metrics.{name}")));
    writer
        .write_record(COLUMNS.map(str::to_owned).into_iter().chain(further).map(cell))
        .map_err(unwrapped)?;
    for trial in trials {
        let params = names(space).map(|name| written(trial.params.get(name)));
        let metrics = metrics.iter().map(|name| {
            written(self::metrics(trial).find(|(known, _)| known == name).map(|(_, value)| value))
        });
        writer
            .write_record(fixed(trial).into_iter().chain(params).chain(metrics).map(cell))
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

fn fixed(trial: &Trial) -> [String; COLUMNS.len()] {
    let measured = trial.measurements.first();
    let failure = trial.failure.as_ref().filter(|_| measured.is_none());
    [
        trial.number.to_string(),
        trial.state.word().to_owned(),
        trial.source.word().to_owned(),
        written(trial.value()),
        written(measured.and_then(|measured| measured.noise_std)),
        written(trial.seconds),
        trial.attempts.to_string(),
        written(trial.worker.as_ref()),
        written(failure.map(|failure| &failure.reason)),
        written(measured.and_then(|measured| measured.note.as_ref())),
    ]
}

fn metrics(trial: &Trial) -> impl Iterator<Item = (&str, &serde_json::Value)> {
    let metrics = trial.measurements.first().and_then(|measured| measured.metrics.as_ref());
    metrics.into_iter().flat_map(|metrics| metrics.iter().map(|(name, value)| (name.as_str(), value)))
}

fn written(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
