//! `optimist run FILE`: starts or resumes a study, and shows what it found.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use optimist_plot::study::{PlotKind, Plots};
use optimist_study::{State, StudyFile, TrialState};

use crate::commands::create::begin;
use crate::session::{self, Session};
use crate::show::{print, say};
use crate::storage::{StorageArgs, workers};
use crate::summary;

const EXAMPLES: &str = "\
Examples:
  optimist run study.toml                            run again to resume
  optimist run study.toml --trials 200 --workers 4   more, four at a time
  optimist run study.toml --json > trials.jsonl      a JSON line per trial
  optimist run study.toml --svg run.svg              with a plot of the run
  optimist run study.toml --storage memory           store nothing

A small study file:
  direction = \"minimize\"

  [objective]  # the last line that the command prints is the value
  command = [\"python3\", \"train.py\", \"--lr={lr}\"]

  [parameters.lr]
  type = \"float\"
  low = 1e-5
  high = 1.0
  log = true

Exit status: 0 if there is a result, 1 if the run failed, 2 if the study file
or the command line is wrong, 130 if you stopped it with Ctrl-C (it still
shows what it found).";

/// Options of `optimist run`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct RunArgs {
    /// The study file (TOML)
    file: PathBuf,
    #[command(flatten)]
    storage: StorageArgs,
    /// Number of trials, overriding the file
    #[arg(long, value_name = "N")]
    trials: Option<NonZeroUsize>,
    /// Random seed, overriding the file: same seed, same suggestions
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Number of trials to run at the same time
    #[arg(long, value_name = "N", value_parser = workers)]
    workers: Option<usize>,
    /// Print one JSON object per trial on standard output instead of a summary
    #[arg(long)]
    json: bool,
    /// Write a plot of the run to this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// Runs the study.
pub fn execute(args: RunArgs) -> anyhow::Result<ExitCode> {
    let mut file = StudyFile::read(&args.file)?;
    let plan = &mut file.definition.plan;
    plan.trials = args.trials.map_or(plan.trials, Into::into);
    plan.workers = args.workers.unwrap_or(plan.workers);
    file.definition.seed = args.seed.unwrap_or(file.definition.seed);
    let (objective, workers) = (file.objective()?.clone(), file.definition.plan.workers);

    let storage = args.storage.storage()?;
    let (study, was_there) = begin(&storage, &file)?;
    if was_there {
        say(how_it_stands(study.state()));
    }
    let Session { mut study, ending, took, n_ended } = session::run(study, objective, workers, args.json)?;
    study.warnings()?.iter().for_each(|warning| say(format!("warning: {warning}")));

    let has_value = study.state().has_values();
    if has_value && !args.json {
        let (best, front) = (study.recommend()?, study.front()?);
        print(summary::text(study.state(), best.as_ref(), front.as_ref(), n_ended, took))?;
    }
    if let Some(file) = args.svg.as_ref().filter(|_| has_value) {
        Plots::new(study.state(), &[PlotKind::History])?.write(file)?;
    }
    let code = session::conclude(ending, study.state())?;
    if code == 0 && !has_value {
        bail!("{}", all_failed(study.state()));
    }
    Ok(ExitCode::from(code))
}

fn how_it_stands(state: &State) -> String {
    let (done, planned) = (state.n_done(), state.plan().trials);
    match state.is_settled() {
        true => format!("nothing left to do: {done} of {planned} trials done"),
        false => format!("resuming: {done} of {planned} trials done"),
    }
}

fn all_failed(state: &State) -> String {
    let n_failed = state.count(TrialState::Failed);
    let last = state.trials().iter().rev().find_map(|trial| trial.failure.as_ref());
    let reason = last.map(|failure| failure.explanation()).unwrap_or_default();
    let all = if n_failed == 1 {
        "the only trial failed".to_owned()
    } else {
        format!("all {n_failed} trials failed")
    };
    format!("{all}, so there is no result; the last failure:\n{reason}")
}
