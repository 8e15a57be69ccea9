//! `optimist worker STUDY`: measures trials of a study that was begun elsewhere.

use std::process::ExitCode;

use anyhow::{Context, bail};
use optimist_study::Study;

use crate::args::WorkerArgs;
use crate::session;

/// Works until the study is over; errors are printed by `main`.
pub fn execute(args: WorkerArgs) -> anyhow::Result<ExitCode> {
    let study = Study::open(&args.storage.storage()?, &args.study)?;
    let Some(mut objective) = study.state().plan().objective.clone() else {
        bail!("study `{}` has no objective: `optimist ask` and `optimist tell` run it by hand", args.study);
    };
    if let Some(folder) = args.folder {
        objective.folder = folder
            .canonicalize()
            .with_context(|| format!("cannot run the objective in {}", folder.display()))?;
    } else if !objective.folder.is_dir() {
        bail!(
            "the objective of study `{}` runs in {}, which is not there; say with --folder where its files are here",
            args.study,
            objective.folder.display()
        );
    }
    let done = session::run(study, objective, args.workers.into(), args.json)?;
    let name = done.study.name();
    eprintln!("{} trials of `{name}` were measured here", done.n_ended);
    Ok(ExitCode::from(session::conclude(done.ending, done.study.state())?))
}
