//! `optimist-bench run`: plays tasks with optimizers.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use optimist_bench::optimizers;
use optimist_bench::run::{Experiment, Grid};
use optimist_bench::task::{self, Half};

use super::{exit_code, play, print};

/// What `run` plays.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Tasks or groups of them: synthetic, real, paper (both), typed, suite, all; small, failing, lab, tables, large, long.
    ///
    /// `synthetic` is the paper's f1, f2, f3; `real` its nine with classifiers on [0, 10]^d; `paper` these twelve;
    /// `typed` the nine with integers, categories and log scales; `suite` further functions from the literature;
    /// `all` synthetic and suite. The others are for answers: `small` classical functions with and without noise,
    /// `failing` those with failing trials, `lab` laboratory data, `tables` trained networks, `large` 50 to 200 dimensions, `long`
    /// 300 trials. `optimist-bench tasks` lists them.
    #[arg(long, value_delimiter = ',', default_value = "synthetic")]
    tasks: Vec<String>,
    /// Only this half of the tasks: those to choose by, or those to confirm a choice.
    #[arg(long, value_enum)]
    half: Option<HalfArg>,
    /// Optimizers: go-ucb, gp-ei, gp-pi, gp-ucb, turbo, tpe, cma-es, sobol, random.
    ///
    /// A preset or settings follow after colons: go-ucb:paper, go-ucb:family=anova:warp=false. `@4` keeps
    /// four trials running at the same time: go-ucb@4. Peers, once scripts/peers-env has made their environment:
    /// botorch:gp-ei, botorch:gp-pi, botorch:gp-ucb, botorch:turbo, hebo, optuna:cma-es, optuna:gp, optuna:tpe, pycma,
    /// skopt, smac.
    #[arg(long, value_delimiter = ',', default_value = "go-ucb,random")]
    optimizers: Vec<String>,
    /// Repetitions of each task with each optimizer.
    #[arg(long, default_value_t = 5)]
    reps: usize,
    /// Asks of a run, instead of as many as its task has: how optimizers fare in longer runs, or shorter ones.
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u16).range(1..))]
    horizon: Option<u16>,
    /// Seed of everything random.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// File of results; new ones are appended.
    #[arg(long, short, value_name = "FILE", default_value = "results.jsonl")]
    out: PathBuf,
    /// Runs played at the same time; one a core if it is not given.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
}

/// A half, as it is typed.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum HalfArg {
    Choose,
    Confirm,
}

impl From<HalfArg> for Half {
    fn from(half: HalfArg) -> Half {
        match half {
            HalfArg::Choose => Half::Choose,
            HalfArg::Confirm => Half::Confirm,
        }
    }
}

/// Plays what is missing; the exit code is 1 if some run failed.
pub fn execute(args: RunArgs) -> anyhow::Result<ExitCode> {
    optimizers::check(&args.optimizers)?;
    let mut tasks = task::select(&args.tasks)?;
    if let Some(half) = args.half {
        tasks.retain(|task| task.half() == half.into());
    }
    let grid = Grid { tasks, optimizers: args.optimizers, reps: args.reps };
    let jobs = args.jobs.map_or(0, usize::from);
    let experiment =
        Experiment { grids: vec![grid], horizon: args.horizon.map(usize::from), seed: args.seed, jobs };
    for (task, optimizer) in experiment.unfit() {
        eprintln!("skipped {optimizer} on {task}: peers don't support constraints");
    }
    let (runs, failures) = play(&experiment, &args.out)?;
    let file = args.out.display();
    print(&format!("{} of {runs} runs are in {file}\n", runs - failures.len()))?;
    if failures.is_empty() {
        print(&format!("`optimist-bench report {file}` sums them up\n"))?;
    }
    Ok(exit_code(&failures))
}
