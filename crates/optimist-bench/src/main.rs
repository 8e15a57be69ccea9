//! The `optimist-bench` program: how good are the optimizers?

mod commands;

use std::io::ErrorKind;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use optimist_bench::table;

use commands::answers::AnswersArgs;
use commands::outcomes::OutcomesArgs;
use commands::paper::PaperArgs;
use commands::readings::ReadingsArgs;
use commands::report::ReportArgs;
use commands::run::RunArgs;
use commands::speed::{CellArgs, SpeedArgs};

/// Compare optimizers: on functions whose optimum is known, and on the hyper-parameters of classifiers.
#[derive(Debug, Parser)]
#[command(name = "optimist-bench", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Play tasks with optimizers and write what happened, one JSON line a run.
    ///
    /// Started again with the same file it plays only what is missing. Every optimizer is given the
    /// same points of Phase I and the same noise.
    #[command(after_help = "Examples:
  optimist-bench run --tasks f1,f2,f3 --optimizers go-ucb,go-ucb:paper,random --out results.jsonl
  optimist-bench run --tasks suite --optimizers go-ucb --reps 2 --seed 7 --out suite.jsonl
  optimist-bench run --tasks real --optimizers go-ucb,tpe,random --out real.jsonl

The tasks `real`, `typed`, `lab` and `tables` get their values from Python. Its environment, .venv-real, is looked for here
and in the folders above, and made here if it is missing. Values are kept beside it, in .optimist-cache: no
classifier is trained twice.")]
    Run(RunArgs),
    /// Sum up results: tables here, and a page with tables and figures in a folder.
    ///
    /// The page is there twice: index.html, which needs nothing beside it, and report.md with its figures.
    #[command(after_help = "Example:
  optimist-bench report results.jsonl -o report/")]
    Report(ReportArgs),
    /// Score the answers: how good are the recommended points, by group of tasks?
    ///
    /// 100 is the optimum, 0 what random search's median gives after as many trials. The best visited point, ranks, intervals and
    /// recommendations worse than the best observation are beside it, for the tasks to choose by and those to confirm.
    #[command(after_help = "Example:
  optimist-bench run --tasks small --half choose --optimizers go-ucb,gp-ei --reps 3 --horizon 30 --out small.jsonl
  optimist-bench answers small.jsonl")]
    Answers(AnswersArgs),
    /// Play problems with several outcomes, and show how far each optimizer is from the best.
    ///
    /// Several goals are judged by the hypervolume of all points tried, one goal with constraints by the best value that meets them.
    /// Started again with the same file it plays only what is missing.
    #[command(after_help = "Examples:
  optimist-bench outcomes --tasks multi --optimizers go-ucb,nsga-ii,random --trials 40 --out outcomes.jsonl
  optimist-bench outcomes --reps 0 --trials 100 --after 40 --out outcomes.jsonl     only show what is there")]
    Outcomes(OutcomesArgs),
    /// Reproduce the experiments of the GO-UCB paper: play all that is missing, then write the report.
    ///
    /// The paper's twelve tasks, five times each, with go-ucb, go-ucb:paper, gp-ei, gp-pi, gp-ucb, turbo, tpe, cma-es
    /// and random. Started again with the same folder it plays only what is missing.
    #[command(after_help = "Examples:
  optimist-bench paper -o report/                     all tasks, our optimizers
  optimist-bench paper -o report/ --peers --typed     everything, reference implementations included
  optimist-bench paper -o quick/ --tasks f1 --reps 2  a quick look

The folder holds index.html (needs nothing beside it), report.md with its figures, results.csv, and results.jsonl with
every value.")]
    Paper(PaperArgs),
    /// Play what the paper's appendix leaves open in many ways, beside the paper's rivals: f1, f2 and f3.
    ///
    /// The oracle's learning rate, F, β, where the ascent over x and w begins, scaled or raw x and y; the presets `theory` and
    /// default too. Started again with the same folder it plays only what is missing.
    Readings(ReadingsArgs),
    /// Measure how long an ask with its tell takes, and how much memory, by number of trials and by dimension.
    ///
    /// n from 10 to 100,000 at d = 20, d from 5 to 500 at n = 72 and n = 1,000, on one core and on all, as far as each optimizer
    /// gets within the limit. Started again with the same folder it measures only what is missing: after a change to
    /// the program use another folder.
    #[command(after_help = "Examples:
  optimist-bench speed -o speed/                                        our optimizers, some ten minutes
  optimist-bench speed -o speed/ --peers                                other people's beside them: hours
  optimist-bench speed -o new/ --optimizers go-ucb --cores one          after a change, a minute or two
  optimist-bench speed -o quick/ --quick                                a look at how it works

The folder holds speed.html (needs nothing beside it), speed.md with its figures, and speed.jsonl with every measurement.
Let nothing else run meanwhile: on one core other programs change little, on all cores a lot.")]
    Speed(SpeedArgs),
    /// One measurement of `speed`, in a process of its own.
    #[command(hide = true)]
    SpeedCell(CellArgs),
    /// List the tasks: their dimension, what is varied, where they come from.
    Tasks,
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Run(args) => commands::run::execute(args),
        Command::Report(args) => commands::report::execute(&args),
        Command::Answers(args) => commands::answers::execute(&args),
        Command::Outcomes(args) => commands::outcomes::execute(&args),
        Command::Paper(args) => commands::paper::execute(args),
        Command::Readings(args) => commands::readings::execute(&args),
        Command::Speed(args) => commands::speed::execute(args),
        Command::SpeedCell(args) => commands::speed::execute_cell(args),
        Command::Tasks => commands::print(&table::tasks()).map(|()| ExitCode::SUCCESS),
    };
    result.unwrap_or_else(|error| {
        if is_closed_pipe(&error) {
            return ExitCode::SUCCESS;
        }
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

/// Whether our reader has seen enough, as in `optimist-bench tasks | head`.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}
