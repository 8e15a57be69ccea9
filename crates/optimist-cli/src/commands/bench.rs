//! `optimist bench`: how good are the optimizers?

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use optimist_bench::report::Report;
use optimist_bench::run::{Event, Plan, run};
use optimist_bench::task::Task;
use optimist_bench::trainer::Trainer;
use optimist_bench::{environment, optimizers, results, table, task, trainer};

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
    /// Sum up results: a table here, and a page with tables and figures in a folder.
    #[command(after_help = "Example:
  optimist bench report results.jsonl -o report/")]
    Report(ReportArgs),
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
    /// optuna:tpe, pycma, skopt.
    #[arg(long, value_delimiter = ',', default_value = "go-ucb,random")]
    optimizers: Vec<String>,
    /// Repetitions of each task with each optimizer.
    #[arg(long, default_value_t = 5)]
    reps: usize,
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
    /// Folder for report.md, results.csv and the figures.
    #[arg(long, short, value_name = "FOLDER", default_value = "report")]
    out: PathBuf,
}

/// Carries out the command; the exit code is 1 if some run failed.
pub fn execute(command: BenchCommand) -> anyhow::Result<ExitCode> {
    match command {
        BenchCommand::Run(args) => play(args),
        BenchCommand::Report(args) => report(&args),
        BenchCommand::Tasks => {
            write!(std::io::stdout(), "{}", table::tasks())?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn play(args: RunArgs) -> anyhow::Result<ExitCode> {
    optimizers::check(&args.optimizers)?;
    let plan = Plan {
        tasks: task::select(&args.tasks)?,
        optimizers: args.optimizers,
        reps: args.reps,
        seed: args.seed,
        jobs: args.jobs.map_or(0, usize::from),
    };
    let trainer = trainer_for(&plan.tasks)?;
    let train = |params: &_| {
        trainer.as_ref().map_or_else(|| trainer::nobody(params), |trainer| trainer.accuracy(params))
    };
    let bar = progress_bar();
    let failures = run(&plan, &args.out, &optimizers::build, &train, &|event| match event {
        Event::Started { cells, finished_before } => {
            bar.set_length(cells as u64);
            bar.set_position(finished_before as u64);
            bar.reset_eta();
        }
        Event::Finished(record) => {
            bar.set_message(format!("{} on {}", record.optimizer, record.task));
            bar.inc(1);
        }
        Event::Failed(failure) => {
            bar.suspend(|| eprintln!("failed: {failure}"));
            bar.inc(1);
        }
    })?;
    let cells = bar.length().unwrap_or(0);
    bar.finish_and_clear();
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{} of {cells} runs are in {}", cells - failures.len() as u64, args.out.display())?;
    if failures.is_empty() {
        writeln!(stdout, "`optimist bench report {}` sums them up", args.out.display())?;
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("{} runs failed; start again to try them once more", failures.len());
    Ok(ExitCode::FAILURE)
}

/// Who trains the classifiers of these tasks, if there are any. Its environment is made if it is missing.
fn trainer_for(tasks: &[&Task]) -> anyhow::Result<Option<Trainer>> {
    if !tasks.iter().any(|task| task.needs_training()) {
        return Ok(None);
    }
    let environment = environment::CLASSIFIERS;
    let here = std::env::current_dir()?;
    let python = match environment.find(&here) {
        Some(python) => python,
        None => {
            eprintln!("making {} (scikit-learn and KEEL's data, about a minute)", environment.folder);
            environment.make(&here)?
        }
    };
    Ok(Some(Trainer::open(&python)?))
}

fn report(args: &ReportArgs) -> anyhow::Result<ExitCode> {
    let report = Report::new(&results::read(&args.results)?)
        .map_err(|error| anyhow::anyhow!("{}: {error}", args.results.display()))?;
    report.write(&args.out)?;
    writeln!(std::io::stdout(), "{}\nwritten to {}", report.to_text(), args.out.join("report.md").display())?;
    Ok(ExitCode::SUCCESS)
}

fn progress_bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:32} {pos}/{len} runs, {eta} left  {msg}")
        .expect("the template is well formed");
    let bar = ProgressBar::new(0).with_style(style);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
