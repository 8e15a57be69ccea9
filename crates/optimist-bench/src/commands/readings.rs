//! `optimist-bench readings`: does any reading of the paper's appendix give the paper's figures?

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use optimist_bench::run::{Experiment, Grid};
use optimist_bench::{readings, results, task};

use super::{exit_code, play, print};

/// What `readings` plays and where it writes.
#[derive(Debug, Args)]
pub struct ReadingsArgs {
    /// Folder for readings.jsonl, from which an interrupted run resumes, and readings.md, the table.
    #[arg(long, short, value_name = "FOLDER", default_value = "readings")]
    out: PathBuf,
    /// Repetitions of each task with each reading.
    #[arg(long, default_value_t = 3)]
    reps: usize,
    /// Seed of everything random.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Runs played at the same time; one per core if it is not given.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
}

/// Plays what is missing and writes the table; the exit code is 1 if some run failed.
pub fn execute(args: &ReadingsArgs) -> anyhow::Result<ExitCode> {
    let grid =
        Grid { tasks: task::select(&readings::TASKS)?, optimizers: readings::optimizers(), reps: args.reps };
    let jobs = args.jobs.map_or(0, usize::from);
    let experiment = Experiment { grids: vec![grid], horizon: None, seed: args.seed, jobs };
    std::fs::create_dir_all(&args.out).with_context(|| format!("cannot make {}", args.out.display()))?;
    let records = args.out.join("readings.jsonl");
    let (_, failures) = play(&experiment, &records)?;
    let table = readings::table(&results::read(&records)?)?;
    let page = args.out.join("readings.md");
    std::fs::write(&page, &table).with_context(|| format!("cannot write {}", page.display()))?;
    print(&format!("{table}\nwritten to {}\n", page.display()))?;
    Ok(exit_code(&failures))
}
