//! `optimist run FILE`: begins a study or goes on with it, and shows what it found.

use std::io::Write;
use std::process::ExitCode;

use anyhow::bail;
use optimist_plot::study::{PlotKind, Plots};
use optimist_study::worker::{Ending, Orders};
use optimist_study::{State, StudyFile, TrialState};

use crate::args::RunArgs;
use crate::commands::create::begin;
use crate::session::{self, Session};
use crate::summary;

/// As a shell reports a process that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

/// Runs the study; errors are printed by `main`.
pub fn execute(args: RunArgs) -> anyhow::Result<ExitCode> {
    let mut file = StudyFile::read(&args.file)?;
    let plan = &mut file.definition.plan;
    plan.trials = args.trials.map_or(plan.trials, Into::into);
    plan.workers = args.workers.map_or(plan.workers, Into::into);
    file.definition.seed = args.seed.unwrap_or(file.definition.seed);
    let orders = Orders { objective: file.objective()?.clone(), workers: file.definition.plan.workers };

    let storage = args.storage.storage()?;
    let (study, was_there) = begin(&storage, &file)?;
    if was_there {
        eprintln!("{}", how_it_stands(study.state()));
    }
    let Session { mut study, ending, took, n_ended } = session::run(study, &orders, args.json)?;
    study.warnings()?.iter().for_each(|warning| eprintln!("warning: {warning}"));

    let has_value = study.state().best_observed().is_some();
    if has_value && !args.json {
        let best = study.recommend()?;
        let text = summary::text(study.state(), best.as_ref(), n_ended, took);
        writeln!(std::io::stdout(), "{text}")?;
    }
    if let Some(file) = args.svg.as_ref().filter(|_| has_value) {
        Plots::new(study.state(), &[PlotKind::History])?.write(file)?;
    }
    conclude(study.state(), ending, has_value)
}

fn conclude(state: &State, ending: Ending, has_value: bool) -> anyhow::Result<ExitCode> {
    match ending {
        Ending::CannotStart(error) => return Err(error.into()),
        Ending::Interrupted => {
            let (done, planned) = (state.n_done(), state.plan().trials);
            eprintln!("stopped after {done} of {planned} trials; run it again to go on");
            return Ok(ExitCode::from(INTERRUPTED));
        }
        Ending::Failures { n, last } => {
            bail!("stopped after {n} failed trials in a row (max_failures); the last one because:\n{last}")
        }
        Ending::TimeUp => eprintln!("the time is up (max_time); run it again to go on"),
        Ending::Over(_) => {}
    }
    if !has_value {
        bail!("{}", all_failed(state));
    }
    Ok(ExitCode::SUCCESS)
}

fn how_it_stands(state: &State) -> String {
    let (done, planned) = (state.n_done(), state.plan().trials);
    match state.is_settled() {
        true => format!("nothing left to do: {done} of {planned} trials are done"),
        false => format!("going on: {done} of {planned} trials are done"),
    }
}

fn all_failed(state: &State) -> String {
    let n_failed = state.count(TrialState::Failed);
    let last = state.trials().iter().rev().find_map(|trial| trial.failure.as_ref());
    let reason = last.map(|failure| failure.explanation()).unwrap_or_default();
    format!("all {n_failed} trials failed, so there is no result; the last one because:\n{reason}")
}
