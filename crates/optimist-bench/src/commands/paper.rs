//! `optimist-bench paper`: every experiment of the paper by one command, from nothing to the report.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use optimist_bench::paper::{Extent, FAST_PEERS, SLOW_PEERS};
use optimist_bench::run::Experiment;

use super::python::prepare_peers;
use super::{exit_code, play, print, whereabouts, working_peers, write_report};

/// What `paper` plays and where it writes.
#[derive(Debug, Args)]
pub struct PaperArgs {
    /// Folder of the report; results.jsonl in it is where an interrupted run goes on.
    #[arg(long, short, value_name = "FOLDER", default_value = "report")]
    out: PathBuf,
    /// Compare with other people's programs too: BoTorch, Optuna, pycma, scikit-optimize, HEBO.
    ///
    /// The fast ones (Optuna's TPE, pycma) play every task; the slow ones f1, f2, f3, rf-breast, mlp-australian
    /// and gb-diabetes, three times each. Their Python environment, .venv, is looked for here and in the folders
    /// above, and made here if it is missing: a few gigabytes.
    #[arg(long)]
    peers: bool,
    /// Play the real tasks also with their true types: integers, categories, log scales.
    #[arg(long)]
    typed: bool,
    /// Tasks or groups of them, for a part of the whole.
    #[arg(long, value_delimiter = ',', default_value = "paper")]
    tasks: Vec<String>,
    /// Repetitions of each task with each optimizer.
    #[arg(long, default_value_t = 5)]
    reps: usize,
    /// Seed of everything random.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Runs played at the same time; one a core if it is not given.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
}

/// Plays what is missing, and reports on everything that is there; the exit code is 1 if some run failed.
pub fn execute(args: PaperArgs) -> anyhow::Result<ExitCode> {
    let mut extent = Extent { tasks: args.tasks, reps: args.reps, typed: args.typed, peers: Vec::new() };
    extent.grids()?; // a slip is found before anything is made
    let mut notes = Vec::new();
    if args.peers {
        prepare_peers()?;
        (extent.peers, notes) = working_peers(FAST_PEERS.into_iter().chain(SLOW_PEERS));
    }
    let experiment = Experiment {
        grids: extent.grids()?,
        horizon: None,
        seed: args.seed,
        jobs: args.jobs.map_or(0, usize::from),
    };

    std::fs::create_dir_all(&args.out).with_context(|| format!("cannot make {}", args.out.display()))?;
    let results = args.out.join("results.jsonl");
    let (_, failures) = play(&experiment, &results)?;
    notes.extend(failures.iter().map(|failure| format!("A run failed: {failure}.")));
    let report = write_report(&results, &args.out, notes, None)?;
    print(&format!("{}\n{}\n", report.summary(), whereabouts(&args.out)))?;
    Ok(exit_code(&failures))
}
