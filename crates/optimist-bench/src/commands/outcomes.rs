//! `optimist-bench outcomes`: plays problems with several outcomes, and says who came how far.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use optimist_bench::several::{self, Plan, Standings};
use optimist_bench::{optimizers, results};

use super::print;

/// What `outcomes` plays and shows.
#[derive(Debug, Args)]
pub struct OutcomesArgs {
    /// Problems or groups of them: multi, constrained.
    #[arg(long, value_delimiter = ',', default_value = "multi,constrained")]
    tasks: Vec<String>,
    /// Optimizers: go-ucb, gp-ei, tpe, nsga-ii, cma-es (one goal), sobol, random.
    ///
    /// Peers, once scripts/peers-env has made their environment: optuna:tpe, optuna:nsga-ii, optuna:gp,
    /// pymoo:nsga-ii, botorch:gp-ei (qLogNEHVI for several goals, constrained log-EI for one).
    #[arg(long, value_delimiter = ',', default_value = "go-ucb,random")]
    optimizers: Vec<String>,
    /// Trials of a run, eight given points among them.
    #[arg(long, default_value_t = 40)]
    trials: usize,
    /// Repetitions of each problem with each optimizer; with 0, results are shown and nothing is played.
    #[arg(long, default_value_t = 3)]
    reps: usize,
    /// Seed of everything random.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// File of results; new ones are appended.
    #[arg(long, short, value_name = "FILE", default_value = "outcomes.jsonl")]
    out: PathBuf,
    /// Runs played at the same time.
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// Show how things stood after so many trials, instead of all.
    #[arg(long, value_name = "N")]
    after: Option<usize>,
}

/// Plays what is missing, then shows how everybody stands; the exit code is 1 if some run failed.
pub fn execute(args: &OutcomesArgs) -> anyhow::Result<ExitCode> {
    let problems = several::select(&args.tasks)?;
    let failures = std::sync::atomic::AtomicUsize::new(0);
    if args.reps > 0 {
        optimizers::check(&args.optimizers)?;
        let plan = Plan {
            problems,
            optimizers: args.optimizers.clone(),
            trials: args.trials,
            reps: args.reps,
            seed: args.seed,
            jobs: args.jobs,
        };
        several::play_missing(&plan, &args.out, &|run, played| match played {
            Ok(_) => eprintln!("played: {run}"),
            Err(error) => {
                failures.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                eprintln!("left out: {run}: {error}");
            }
        })?;
    }
    let problems = several::select(&args.tasks)?;
    let records = results::read_lines(&args.out)?;
    let text = Standings::new(&problems, &records, args.after.unwrap_or(args.trials)).to_markdown();
    anyhow::ensure!(!text.is_empty(), "no run in {} has so many trials", args.out.display());
    print(&text)?;
    Ok(if failures.into_inner() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
