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
    max_term_width = 80,
    after_help = "`optimist help COMMAND` shows the options of a command, with examples."
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
    /// Run a study file, or resume its study: try parameters, measure them, show the best
    Run(RunArgs),
    /// Run trials of an existing study until it is finished
    Worker(WorkerArgs),
    /// Create a study that workers run later, or that you measure by hand
    Create(CreateArgs),
    /// Get the next trial to measure yourself
    Ask(AskArgs),
    /// Report the value of a trial
    Tell(TellArgs),
    /// Report that a trial has no value
    Fail(FailArgs),
    /// Correct a trial: its value, the parameters it was run with, or that it failed
    Amend(AmendArgs),
    /// Run failed trials again
    Retry(RetryArgs),
    /// Pause a study: workers finish their trials, then wait
    Pause(SteerArgs),
    /// Stop a study: workers finish their trials, then exit
    Stop(SteerArgs),
    /// Resume a paused or stopped study
    Resume(SteerArgs),
    /// Try a point of your own next
    Enqueue(EnqueueArgs),
    /// List all studies
    List(ListArgs),
    /// Show the status of a study: progress, best point, running and failed trials
    Show(ShowArgs),
    /// Show the recommended point, or the best few
    Best(BestArgs),
    /// Print trials as a table, CSV or JSON lines
    Trials(TrialsArgs),
    /// Write the complete log of a study to a file
    Export(ExportArgs),
    /// Back up all studies to a file, even while they are running
    Backup(BackupArgs),
    /// Recover what is intact in a damaged study
    Salvage(SalvageArgs),
    /// Delete a study permanently
    Delete(DeleteArgs),
    /// Import trials from a CSV or JSON table, or an Optuna database
    Import(ImportArgs),
    /// Plot a study: history, slices, parameter importance, the model and more
    Plot(PlotArgs),
    /// Serve studies over HTTP: a dashboard, an API, and storage for workers
    Serve(ServeArgs),
    /// Manage the users of a server
    User(UserArgs),
    /// Manage access tokens
    Token(TokenArgs),
    /// Recompute every suggestion of a study from its log and compare
    Verify(VerifyArgs),
    /// Report version, machine and storage, and check for common problems
    Doctor(DoctorArgs),
    /// Print the JSON schema of study files, for completion and checks in editors
    Schema(SchemaArgs),
    /// Print a manual page, or write all of them
    Man(ManArgs),
    /// Print a completion script for your shell
    Completions(CompletionsArgs),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    /// Every command, those below commands included, by its full name.
    fn all(command: &clap::Command, above: &str) -> Vec<(String, clap::Command)> {
        let name = format!("{above}{}", command.get_name());
        let below = command.get_subcommands().filter(|below| below.get_name() != "help");
        let below: Vec<_> = below.flat_map(|below| all(below, &format!("{name} "))).collect();
        std::iter::once((name, command.clone())).chain(below).collect()
    }

    #[test]
    fn help_fits_a_terminal_of_80_columns_and_examples_are_not_wrapped() {
        let mut cli = Cli::command().term_width(80);
        cli.build();
        for (name, mut command) in all(&cli, "") {
            let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let (short, long) = (command.render_help().to_string(), command.render_long_help().to_string());
            for help in [&short, &long] {
                let too_long = help.lines().find(|line| line.chars().count() > 80);
                assert_eq!(too_long, None, "in the help of `{name}`");
                assert!(help.contains(&examples), "the examples of `{name}` were wrapped:\n{help}");
            }
            let too_long = examples.lines().find(|line| line.chars().count() > 78);
            assert_eq!(too_long, None, "in the examples of `{name}`");
        }
    }
}
