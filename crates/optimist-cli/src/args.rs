//! The command line: which commands there are. The options of each are in its own file.

use clap::{Parser, Subcommand};

use crate::commands::amend::AmendArgs;
use crate::commands::ask::AskArgs;
use crate::commands::backup::BackupArgs;
use crate::commands::best::BestArgs;
use crate::commands::completions::CompletionsArgs;
use crate::commands::create::CreateArgs;
use crate::commands::delete::DeleteArgs;
use crate::commands::doctor::DoctorArgs;
use crate::commands::enqueue::EnqueueArgs;
use crate::commands::export::ExportArgs;
use crate::commands::fail::FailArgs;
use crate::commands::import::ImportArgs;
use crate::commands::init::InitArgs;
use crate::commands::list::ListArgs;
use crate::commands::man::ManArgs;
use crate::commands::plot::PlotArgs;
use crate::commands::retry::RetryArgs;
use crate::commands::run::RunArgs;
use crate::commands::salvage::SalvageArgs;
use crate::commands::schema::SchemaArgs;
use crate::commands::serve::ServeArgs;
use crate::commands::show::ShowArgs;
use crate::commands::steer::SteerArgs;
use crate::commands::tell::TellArgs;
use crate::commands::token::TokenArgs;
use crate::commands::trials::TrialsArgs;
use crate::commands::user::UserArgs;
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
    /// Start or resume a study: vary the parameters, measure the objective, show the best point found
    Run(RunArgs),
    /// Measure trials of an existing study until it is done
    Worker(WorkerArgs),
    /// Create a study for others to run, or for a person to measure
    Create(CreateArgs),
    /// Get the next trial to measure yourself
    Ask(AskArgs),
    /// Report the value of a trial
    Tell(TellArgs),
    /// Report that a trial has no value
    Fail(FailArgs),
    /// Correct a trial: its value, what it was run with, or that it has no value
    Amend(AmendArgs),
    /// Run failed trials again
    Retry(RetryArgs),
    /// Let workers finish their trials and wait
    Pause(SteerArgs),
    /// Let workers finish their trials and end
    Stop(SteerArgs),
    /// Let a paused or stopped study go on
    Resume(SteerArgs),
    /// Try a point of your own next
    Enqueue(EnqueueArgs),
    /// List all studies
    List(ListArgs),
    /// Show the status of a study: progress, best point, parameters, running and failed trials
    Show(ShowArgs),
    /// Show the recommended point, or the best few
    Best(BestArgs),
    /// Print trials as a table, CSV or JSON lines
    Trials(TrialsArgs),
    /// Write the complete log of a study to a file
    Export(ExportArgs),
    /// Back up all studies to a file, even while they run
    Backup(BackupArgs),
    /// Recover what is intact in a damaged study
    Salvage(SalvageArgs),
    /// Delete a study permanently
    Delete(DeleteArgs),
    /// Import trials from a CSV or JSON table, or an Optuna database
    Import(ImportArgs),
    /// Plot a study: history, slices, parallel coordinates, parameter importance, the model
    Plot(PlotArgs),
    /// Serve studies over HTTP: pages for people, an API for programs, a storage for workers
    Serve(ServeArgs),
    /// Say who may log in to a server of a storage
    User(UserArgs),
    /// Say which programs may come in to a server of a storage
    Token(TokenArgs),
    /// Recompute every suggestion of a study from its log and compare
    Verify(VerifyArgs),
    /// Report version, machine and storage, and look for usual trouble
    Doctor(DoctorArgs),
    /// Print the JSON schema of study files, with which editors complete and check them
    Schema(SchemaArgs),
    /// Print a manual page, or write all of them
    Man(ManArgs),
    /// Print a completion script for your shell
    Completions(CompletionsArgs),
}
