//! `optimist bench`: how good are the optimizers?

mod paper;
mod progress;
mod python;
mod speed;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use optimist_bench::report::Report;
use optimist_bench::run::{Failure, Grid, Plan, run};
use optimist_bench::{optimizers, peer, results, table, task, trainer};

use paper::PaperArgs;
use progress::Progress;
use speed::{CellArgs, SpeedArgs};

/// Compare optimizers: on functions whose optimum is known, and on the hyper-parameters of classifiers.
#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Play tasks with optimizers and write what happened, one JSON line a run.
    ///
    /// Started again with the same file it plays only what is missing. Every optimizer is given the
    /// same points of Phase I and the same noise.
    #[command(after_help = "Examples:
  optimist bench run --tasks f1,f2,f3 --optimizers go-ucb,go-ucb:paper,random --out results.jsonl
  optimist bench run --tasks suite --optimizers go-ucb --reps 2 --seed 7 --out suite.jsonl
  optimist bench run --tasks real --optimizers go-ucb,tpe,random --out real.jsonl

The tasks `real` and `typed` train classifiers of scikit-learn. Its Python environment, .venv-real, is looked for here
and in the folders above, and made here if it is missing. Accuracies are kept beside it, in .optimist-cache: no
classifier is trained twice.")]
    Run(RunArgs),
    /// Sum up results: tables here, and a page with tables and figures in a folder.
    ///
    /// The page is there twice: index.html, which needs nothing beside it, and report.md with its figures.
    #[command(after_help = "Example:
  optimist bench report results.jsonl -o report/")]
    Report(ReportArgs),
    /// Reproduce the experiments of the GO-UCB paper: play all that is missing, then write the report.
    ///
    /// The paper's twelve tasks, five times each, with go-ucb, go-ucb:paper, gp-ei, gp-pi, gp-ucb, turbo, tpe, cma-es
    /// and random. Started again with the same folder it plays only what is missing.
    #[command(after_help = "Examples:
  optimist bench paper -o report/                     all tasks, our optimizers
  optimist bench paper -o report/ --peers --typed     everything, reference implementations included
  optimist bench paper -o quick/ --tasks f1 --reps 2  a quick look

The folder holds index.html (needs nothing beside it), report.md with its figures, results.csv, and results.jsonl with
every value.")]
    Paper(PaperArgs),
    /// Measure how long an ask with its tell takes, and how much memory, by number of trials and by dimension.
    ///
    /// n from 10 to 100,000 at d = 20, d from 5 to 500 at n = 72 and n = 1,000, on one core and on all, as far as each optimizer
    /// gets within the limit. Started again with the same folder it measures only what is missing: after a change to
    /// the program use another folder.
    #[command(after_help = "Examples:
  optimist bench speed -o speed/                                        our optimizers, some ten minutes
  optimist bench speed -o speed/ --peers                                other people's beside them: hours
  optimist bench speed -o new/ --optimizers go-ucb --cores one          after a change, a minute or two
  optimist bench speed -o quick/ --quick                                a look at how it works

The folder holds speed.html (needs nothing beside it), speed.md with its figures, and speed.jsonl with every measurement.
Let nothing else run meanwhile: on one core other programs change little, on all cores a lot.")]
    Speed(SpeedArgs),
    /// One measurement of `bench speed`, in a process of its own.
    #[command(hide = true)]
    SpeedCell(CellArgs),
    /// List the tasks: their dimension, what is varied, where they come from.
    Tasks,
}

/// What `bench run` plays.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Tasks or groups of them: synthetic, real, paper (both), typed, suite, all.
    ///
    /// `synthetic` is the paper's f1, f2, f3; `real` its nine with classifiers on [0, 10]^d; `paper` these twelve;
    /// `typed` the nine with integers, categories and log scales; `suite` further functions from the literature;
    /// `all` everything that needs no Python (synthetic and suite). `optimist bench tasks` lists them.
    #[arg(long, value_delimiter = ',', default_value = "synthetic")]
    tasks: Vec<String>,
    /// Optimizers: go-ucb, gp-ei, gp-pi, gp-ucb, turbo, tpe, cma-es, sobol, random.
    ///
    /// A preset or settings follow after colons: go-ucb:paper, go-ucb:family=anova:warp=false. Peers, once
    /// scripts/peers-env has made their environment: botorch:gp-ei, botorch:gp-pi, botorch:gp-ucb, botorch:turbo,
    /// hebo, optuna:cma-es, optuna:gp, optuna:tpe, pycma, skopt.
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

/// What `bench report` reads and where it writes.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// File of results.
    results: PathBuf,
    /// Folder for index.html, report.md with its figures, and results.csv.
    #[arg(long, short, value_name = "FOLDER", default_value = "report")]
    out: PathBuf,
}

/// Carries out the command; the exit code is 1 if some run failed.
pub fn execute(command: BenchCommand) -> anyhow::Result<ExitCode> {
    match command {
        BenchCommand::Run(args) => run_grid(args),
        BenchCommand::Report(args) => report(&args),
        BenchCommand::Paper(args) => paper::execute(args),
        BenchCommand::Speed(args) => speed::execute(args),
        BenchCommand::SpeedCell(args) => speed::execute_cell(args),
        BenchCommand::Tasks => {
            print(&table::tasks())?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn run_grid(args: RunArgs) -> anyhow::Result<ExitCode> {
    optimizers::check(&args.optimizers)?;
    let grid = Grid { tasks: task::select(&args.tasks)?, optimizers: args.optimizers, reps: args.reps };
    let jobs = args.jobs.map_or(0, usize::from);
    let plan = Plan { grids: vec![grid], horizon: args.horizon.map(usize::from), seed: args.seed, jobs };
    for (task, optimizer) in plan.unfit() {
        eprintln!("left out: {optimizer} on {task}, since peers know no constraints");
    }
    let (runs, failures) = play(&plan, &args.out)?;
    let file = args.out.display();
    print(&format!("{} of {runs} runs are in {file}\n", runs - failures.len()))?;
    if failures.is_empty() {
        print(&format!("`optimist bench report {file}` sums them up\n"))?;
    }
    Ok(exit_code(&failures))
}

/// Plays what is missing, with progress shown. Gives how many runs the plan has, and those that failed.
fn play(plan: &Plan, out: &Path) -> anyhow::Result<(usize, Vec<Failure>)> {
    let trainer = python::trainer_for(plan.grids.iter().flat_map(|grid| &grid.tasks))?;
    let train = |params: &_| {
        trainer.as_ref().map_or_else(|| trainer::nobody(params), |trainer| trainer.accuracy(params))
    };
    let progress = Progress::new();
    let failures = run(plan, out, &optimizers::build, &train, &|event| progress.update(&event));
    let runs = progress.finish();
    Ok((runs, failures?))
}

fn report(args: &ReportArgs) -> anyhow::Result<ExitCode> {
    let report = write_report(&args.results, &args.out, Vec::new())?;
    print(&format!("{}\n{}\n", report.to_text(), whereabouts(&args.out)))?;
    Ok(ExitCode::SUCCESS)
}

fn write_report(file: &Path, folder: &Path, notes: Vec<String>) -> anyhow::Result<Report> {
    let report = Report::new(&results::read(file)?)
        .map_err(|error| anyhow::anyhow!("{}: {error}", file.display()))?
        .with_notes(notes);
    report.write(folder)?;
    Ok(report)
}

/// The peers of these that work, and a line for the report about each that does not.
fn working_peers(names: impl IntoIterator<Item = &'static str>) -> (Vec<String>, Vec<String>) {
    eprintln!("looking which peers there are");
    let (mut working, mut notes) = (Vec::new(), Vec::new());
    for name in names {
        match peer::check(name) {
            Ok(()) => working.push(name.to_owned()),
            Err(error) => {
                eprintln!("without `{name}`: {error}");
                notes.push(format!("`{name}` was left out: {error}."));
            }
        }
    }
    (working, notes)
}

fn whereabouts(folder: &Path) -> String {
    format!("written to {} and {}", folder.join("index.html").display(), folder.join("report.md").display())
}

fn exit_code(failures: &[Failure]) -> ExitCode {
    if failures.is_empty() {
        return ExitCode::SUCCESS;
    }
    eprintln!("{} runs failed; start again to try them once more", failures.len());
    ExitCode::FAILURE
}

fn print(text: &str) -> std::io::Result<()> {
    std::io::stdout().write_all(text.as_bytes())
}
