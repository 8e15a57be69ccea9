//! `optimist worker STUDY`: runs trials of a study that was created elsewhere.

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
  optimist worker lr-sweep                      one more, on this machine
  optimist worker lr-sweep --workers 4 --folder ~/lr-sweep \\
      --storage postgres://me@lab/studies
  OPTIMIST_TOKEN=... optimist worker lr-sweep --file lr-sweep.toml \\
      --storage https://lab:8150

Exit status: 0 if nothing is left to do or time is up (max_time), 1 if the run
failed, 2 if the command line is wrong, 130 if you stopped it with Ctrl-C.";

/// Options of `optimist worker`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct WorkerArgs {
    #[command(flatten)]
    study: StudyArgs,
    /// Number of trials to run at the same time
    #[arg(long, value_name = "N", default_value = "1", value_parser = workers)]
    workers: usize,
    /// Run the objective in this folder; needed if its files are elsewhere on this machine
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Run the command of this study file instead of the one in the study
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Allow the study to run this command, word for word (a JSON array if words have spaces); can be repeated. Required for
    /// studies on a server, so that the server can't decide what runs here
    #[arg(long, value_name = "COMMAND", conflicts_with = "file", value_parser = words)]
    allow_command: Vec<AllowedCommand>,
    /// Print one JSON object for each trial on standard output
    #[arg(long)]
    json: bool,
}

/// Works until the study is over.
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
            "the objective of study `{}` runs in {}, which does not exist here; --folder says where its files are",
            study.name(),
            objective.folder.display()
        );
    }
    let done = session::run(study, objective, args.workers, args.json)?;
    let name = done.study.name();
    say(format!("ran {} of `{name}`", count(done.n_ended, "trial")));
    Ok(ExitCode::from(session::conclude(done.ending, done.study.state())?))
}

/// The command of the study, if it may be run here.
fn objective(study: &Study, allowed: &[AllowedCommand]) -> anyhow::Result<Objective> {
    let (name, is_remote) = (study.name(), study.storage().is_remote());
    let Some(objective) = study.state().plan().objective.clone() else {
        let hint = if is_remote { "; --file study.toml says what to run on this machine" } else { "" };
        bail!(
            "study `{name}` has no command to run: it is measured by hand, with `optimist ask` and `optimist tell`{hint}"
        );
    };
    if (is_remote || !allowed.is_empty())
        && !allowed.iter().any(|AllowedCommand(command)| *command == objective.command)
    {
        let command = serde_json::json!(objective.command).to_string();
        let command = plain(&command);
        bail!(
            "study `{name}` would run `{command}` here, which is not allowed; allow it with --allow-command, or run the command of \
             your own study file with --file study.toml"
        );
    }
    Ok(objective)
}
