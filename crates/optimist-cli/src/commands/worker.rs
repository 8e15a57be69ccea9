//! `optimist worker STUDY`: measures trials of a study that was begun elsewhere.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;

use crate::session;
use crate::show::say;
use crate::storage::{StudyArgs, workers};

const EXAMPLES: &str = "\
Examples:
  optimist worker lr-sweep                                       one more, on this machine
  optimist worker lr-sweep --workers 4 --storage postgres://me@lab/studies --folder ~/lr-sweep";

/// Options of `optimist worker`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct WorkerArgs {
    #[command(flatten)]
    study: StudyArgs,
    /// Run this many trials at the same time
    #[arg(long, value_name = "N", default_value = "1", value_parser = workers)]
    workers: usize,
    /// Run the objective in this folder, if its files are not where they were when the study was begun
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Print one JSON object for each trial on standard output
    #[arg(long)]
    json: bool,
}

/// Works until the study is over; errors are printed by `main`.
pub fn execute(args: WorkerArgs) -> anyhow::Result<ExitCode> {
    let study = args.study.open()?;
    let Some(mut objective) = study.state().plan().objective.clone() else {
        bail!("study `{}` has no objective: `optimist ask` and `optimist tell` run it by hand", study.name());
    };
    if let Some(folder) = args.folder {
        objective.folder = folder
            .canonicalize()
            .with_context(|| format!("cannot run the objective in {}", folder.display()))?;
    } else if !objective.folder.is_dir() {
        bail!(
            "the objective of study `{}` runs in {}, which is not there; say with --folder where its files are here",
            study.name(),
            objective.folder.display()
        );
    }
    let done = session::run(study, objective, args.workers, args.json)?;
    let name = done.study.name();
    say(format!("{} trials of `{name}` were measured here", done.n_ended));
    Ok(ExitCode::from(session::conclude(done.ending, done.study.state())?))
}
