//! `optimist-bench speed`: how long an ask with its tell takes, of every optimizer, from nothing to the report.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::Context;
use clap::{Args, ValueEnum};
use optimist_bench::optimizers;
use optimist_bench::speed::{
    Cell, Cores, Limits, Outcomes, PEERS, Progress, SpeedReport, Sweeps, Timing, end_with_input, mean,
    measure, run,
};

use super::python::prepare_peers;
use super::{print, working_peers};

/// What `speed` measures and where it writes.
#[derive(Debug, Args)]
pub struct SpeedArgs {
    /// Folder of the report; speed.jsonl in it is where an interrupted run goes on.
    #[arg(long, short, value_name = "FOLDER", default_value = "report")]
    out: PathBuf,
    /// Measure other people's programs too: BoTorch, Optuna, scikit-optimize, HEBO.
    ///
    /// Their Python environment, .venv, is looked for here and in the folders above, and made here if it is missing: a
    /// few gigabytes.
    #[arg(long)]
    peers: bool,
    /// Only these optimizers; with --peers, beside the peers.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    optimizers: Option<Vec<String>>,
    /// Only on one core or on all of them.
    #[arg(long, value_enum)]
    cores: Option<CoresArg>,
    /// Seconds for each measurement; an optimizer that takes longer is not measured on anything larger.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    limit: u64,
    /// A small version: three optimizers, few trials, few dimensions, one core. A few seconds.
    #[arg(long)]
    quick: bool,
}

/// One measurement, in the process that `speed` starts for it.
#[derive(Debug, Args)]
pub struct CellArgs {
    /// Name of the optimizer to time.
    optimizer: String,
    /// Observations that it is told before.
    #[arg(long, default_value_t = 72)]
    n: usize,
    /// Number of coordinates of the space.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..))]
    d: u16,
    /// What is measured of each point.
    #[arg(long, value_enum, default_value = "one")]
    outcomes: OutcomesArg,
    /// Where it may run.
    #[arg(long, value_enum, default_value = "one")]
    cores: CoresArg,
    /// Tells with their asks that are measured.
    #[arg(long, default_value_t = Limits::PAIRS)]
    pairs: usize,
    /// Seconds for all of it.
    #[arg(long, default_value_t = 60)]
    limit: u64,
    /// End when standard input does: `speed` holds its other end.
    #[arg(long)]
    attached: bool,
}

/// Where an optimizer may run.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum CoresArg {
    One,
    All,
}

/// What is measured of each point.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum OutcomesArg {
    One,
    ThreeGoals,
    GoalAndTwoBounds,
}

/// Measures what is missing, and reports on everything that is there; the exit code is 1 if something failed.
pub fn execute(args: SpeedArgs) -> anyhow::Result<ExitCode> {
    let mut sweeps = if args.quick { Sweeps::quick() } else { Sweeps::default() };
    if let Some(names) = args.optimizers {
        optimizers::check(&names)?;
        sweeps.optimizers = names;
    }
    if let Some(cores) = args.cores {
        sweeps.cores = vec![cores.into()];
    }
    let mut notes = Vec::new();
    if args.peers {
        prepare_peers()?;
        let (peers, without) = working_peers(PEERS);
        sweeps.optimizers.extend(peers);
        notes = without;
    }

    std::fs::create_dir_all(&args.out).with_context(|| format!("cannot make {}", args.out.display()))?;
    let program = std::env::current_exe()
        .context("cannot find this program, which measures in processes of its own")?;
    let pairs = if args.quick { 3 } else { Limits::PAIRS };
    let command = |cell: &Cell| cell_command(&program, cell, pairs, args.limit);
    let limit = Duration::from_secs(args.limit);
    let records = run(&sweeps, limit, &args.out.join("speed.jsonl"), &command, &show)?;

    let failed = records.iter().filter(|record| matches!(record.outcome, Timing::Failed { .. })).count();
    let report = SpeedReport::new(records, notes);
    report.write(&args.out)?;
    let [page, text] = ["speed.html", "speed.md"].map(|name| args.out.join(name));
    print(&format!("{}\nwritten to {} and {}\n", report.summary(), page.display(), text.display()))?;
    if failed > 0 {
        eprintln!("{failed} measurements failed; run the same command again to retry");
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// Measures one cell here and prints what came of it as JSON.
pub fn execute_cell(args: CellArgs) -> anyhow::Result<ExitCode> {
    if args.attached {
        end_with_input();
    }
    let CellArgs { optimizer, n, d, outcomes, cores, .. } = args;
    let cell = Cell { optimizer, n, d: d.into(), outcomes: outcomes.into(), cores: cores.into() };
    let limits = Limits { pairs: args.pairs, time: Duration::from_secs(args.limit) };
    print(&format!("{}\n", serde_json::to_string(&measure(&cell, limits))?))?;
    Ok(ExitCode::SUCCESS)
}

/// This program again, for one cell.
fn cell_command(program: &Path, cell: &Cell, pairs: usize, limit: u64) -> Command {
    let cores = match cell.cores {
        Cores::One => "one",
        Cores::All => "all",
    };
    let mut command = Command::new(program);
    let outcomes = match cell.outcomes {
        Outcomes::One => "one",
        Outcomes::ThreeGoals => "three-goals",
        Outcomes::GoalAndTwoBounds => "goal-and-two-bounds",
    };
    command.args(["speed-cell", &cell.optimizer, "--cores", cores, "--outcomes", outcomes]);
    for (option, number) in [("--n", cell.n), ("--d", cell.d), ("--pairs", pairs)] {
        command.args([option, &number.to_string()]);
    }
    command.args(["--limit", &limit.to_string(), "--attached"]);
    command
}

/// A line on standard error for each cell.
fn show(event: Progress) {
    match event {
        Progress::Started(_) => {}
        Progress::Skipped(cell) => eprintln!("{cell}: left out, as something smaller was too slow or failed"),
        Progress::Finished(record) => match &record.outcome {
            Timing::Measured(times) => {
                eprintln!("{}: {:.3} ms", record.cell, mean(times.pairs_ms(record.cell.cores)));
            }
            Timing::OverLimit { seconds } => eprintln!("{}: more than {seconds} s", record.cell),
            Timing::Failed { reason } => eprintln!("{}: failed: {reason}", record.cell),
        },
    }
}

impl From<OutcomesArg> for Outcomes {
    fn from(outcomes: OutcomesArg) -> Outcomes {
        match outcomes {
            OutcomesArg::One => Outcomes::One,
            OutcomesArg::ThreeGoals => Outcomes::ThreeGoals,
            OutcomesArg::GoalAndTwoBounds => Outcomes::GoalAndTwoBounds,
        }
    }
}

impl From<CoresArg> for Cores {
    fn from(cores: CoresArg) -> Cores {
        match cores {
            CoresArg::One => Cores::One,
            CoresArg::All => Cores::All,
        }
    }
}
