//! `optimist run FILE`: begins a study or goes on with it, and shows what it found.

use std::io::Write;
use std::process::ExitCode;

use anyhow::bail;
use optimist_study::{State, StudyFile, TrialState};

use crate::args::RunArgs;
use crate::commands::create::begin;
use crate::plot::{Kind, Plots};
use crate::session::{self, Session};
use crate::summary;

/// Runs the study; errors are printed by `main`.
pub fn execute(args: RunArgs) -> anyhow::Result<ExitCode> {
    let mut file = StudyFile::read(&args.file)?;
    let plan = &mut file.definition.plan;
    plan.trials = args.trials.map_or(plan.trials, Into::into);
    plan.workers = args.workers.map_or(plan.workers, Into::into);
    file.definition.seed = args.seed.unwrap_or(file.definition.seed);
    let (objective, workers) = (file.objective()?.clone(), file.definition.plan.workers);

    let storage = args.storage.storage()?;
    let (study, was_there) = begin(&storage, &file)?;
    if was_there {
        eprintln!("{}", how_it_stands(study.state()));
    }
    let Session { mut study, ending, took, n_ended } = session::run(study, objective, workers, args.json)?;
    study.warnings()?.iter().for_each(|warning| eprintln!("warning: {warning}"));

    let has_value = study.state().best_observed().is_some();
    if has_value && !args.json {
        let best = study.recommend()?;
        let text = summary::text(study.state(), best.as_ref(), n_ended, took);
        writeln!(std::io::stdout(), "{text}")?;
    }
    if let Some(file) = args.svg.as_ref().filter(|_| has_value) {
        Plots::of(study.state(), &[Kind::History])?.write(file)?;
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
