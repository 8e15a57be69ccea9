//! `optimist worker STUDY`: measures trials of a study that was begun elsewhere.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use optimist_study::view::number::count;
use optimist_study::{Objective, Study, StudyFile};

use super::serve::{AllowedCommand, words};
use crate::session;
use crate::show::{plain, say};

use crate::storage::{StudyArgs, workers};

const EXAMPLES: &str = "\
Examples:
  optimist worker lr-sweep                                       one more, on this machine
  optimist worker lr-sweep --workers 4 --storage postgres://me@lab/studies --folder ~/lr-sweep
  OPTIMIST_TOKEN=... optimist worker lr-sweep --storage https://lab:8150 --file lr-sweep.toml     its command, from here";

/// Options of `optimist worker`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct WorkerArgs {
    #[command(flatten)]
    study: StudyArgs,
    /// Number of trials to run at the same time
    #[arg(long, value_name = "N", default_value = "1", value_parser = workers)]
    workers: usize,
    /// Run the objective in this folder, if its files are elsewhere on this machine
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Run the command of this study file, whatever the study says
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Run the command of the study if it is this one, word for word (a JSON array if words have spaces); may be given several times. Needed if the study is on a
    /// server, which is not to decide what is run here
    #[arg(long, value_name = "COMMAND", conflicts_with = "file", value_parser = words)]
    allow_command: Vec<AllowedCommand>,
    /// Print one JSON object for each trial on standard output
    #[arg(long)]
    json: bool,
}

/// Works until the study is over; errors are printed by `main`.
pub fn execute(args: WorkerArgs) -> anyhow::Result<ExitCode> {
    let study = args.study.open()?;
    let mut objective = match &args.file {
        Some(file) => StudyFile::read(file)?.objective()?.clone(),
        None => objective(&study, &args.allow_command)?,
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
    say(format!("{} of `{name}` measured here", count(done.n_ended, "trial")));
    Ok(ExitCode::from(session::conclude(done.ending, done.study.state())?))
}

/// The command of the study, if it may be run here.
fn objective(study: &Study, allowed: &[AllowedCommand]) -> anyhow::Result<Objective> {
    let (name, is_remote) = (study.name(), study.storage().is_remote());
    let Some(objective) = study.state().plan().objective.clone() else {
        let hint = if is_remote { "; --file study.toml says what measures it on this machine" } else { "" };
        bail!("study `{name}` has no objective: `optimist ask` and `optimist tell` run it by hand{hint}");
    };
    if (is_remote || !allowed.is_empty())
        && !allowed.iter().any(|AllowedCommand(command)| *command == objective.command)
    {
        let command = serde_json::json!(objective.command).to_string();
        let command = plain(&command);
        bail!(
            "study `{name}` would run `{command}` here, and nobody on this machine has allowed that; allow it with --allow-command, \
             or say with --file study.toml what measures it here"
        );
    }
    Ok(objective)
}
