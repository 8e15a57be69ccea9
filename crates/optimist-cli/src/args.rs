//! The command line: which commands there are. The options of each are in its own file.

use clap::{Parser, Subcommand};

use crate::commands::amend::AmendArgs;
use crate::commands::ask::AskArgs;
use crate::commands::backup::BackupArgs;
use crate::commands::best::BestArgs;
use crate::commands::completions::CompletionsArgs;
use crate::commands::create::CreateArgs;
use crate::commands::delete::DeleteArgs;
use crate::commands::enqueue::EnqueueArgs;
use crate::commands::export::ExportArgs;
use crate::commands::fail::FailArgs;
use crate::commands::import::ImportArgs;
use crate::commands::init::InitArgs;
use crate::commands::list::ListArgs;
use crate::commands::plot::PlotArgs;
use crate::commands::retry::RetryArgs;
use crate::commands::run::RunArgs;
use crate::commands::salvage::SalvageArgs;
use crate::commands::show::ShowArgs;
use crate::commands::tell::TellArgs;
use crate::commands::trials::TrialsArgs;
use crate::commands::verify::VerifyArgs;
use crate::commands::worker::WorkerArgs;

/// Finds the best input of a function that is expensive, noisy and opaque.
#[derive(Debug, Parser)]
#[command(
    name = "optimist",
    version,
    after_help = "Run `optimist help run` for the options of a command, with examples."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write a study file to start from
    Init(InitArgs),
    /// Begin a study or go on with it: vary the parameters, measure the objective, show the best that was found
    Run(RunArgs),
    /// Measure trials of a study that was begun elsewhere, until it is over
    Worker(WorkerArgs),
    /// Begin a study that others will run, or that a person will measure
    Create(CreateArgs),
    /// Get the next trial, to measure it yourself
    Ask(AskArgs),
    /// Tell the value of a trial
    Tell(TellArgs),
    /// Tell that a trial has no value
    Fail(FailArgs),
    /// Correct a trial: its value, what it was run with, or that it has no value
    Amend(AmendArgs),
    /// Put failed trials back, to be run again
    Retry(RetryArgs),
    /// Have a point of your own tried next
    Enqueue(EnqueueArgs),
    /// List the studies there are
    List(ListArgs),
    /// Show how a study stands: progress, best, parameters, what runs, what failed
    Show(ShowArgs),
    /// Show the point to bet on, or the best few
    Best(BestArgs),
    /// Print trials as a table, CSV or JSON lines
    Trials(TrialsArgs),
    /// Write the whole log of a study to a file, losslessly
    Export(ExportArgs),
    /// Copy all studies to a file, while others go on
    Backup(BackupArgs),
    /// Make a new study of what is sound in a damaged one
    Salvage(SalvageArgs),
    /// Remove a study for good
    Delete(DeleteArgs),
    /// Take in trials that were made elsewhere: a CSV or JSON table, or an Optuna database
    Import(ImportArgs),
    /// Draw a study: history, slices, parallel coordinates, importance of parameters, the model
    Plot(PlotArgs),
    /// Make every suggestion of a study again from its log, and compare
    Verify(VerifyArgs),
    /// Print a script that completes commands and options in your shell
    Completions(CompletionsArgs),
}
