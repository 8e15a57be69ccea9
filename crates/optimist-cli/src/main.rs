//! The `optimist` command.

mod args;
mod commands;
mod interrupt;
mod number;
mod plot;
mod progress;
mod session;
mod storage;
mod summary;

use std::io::ErrorKind;
use std::process::ExitCode;

use clap::Parser;

use optimist_study::StudyFileError;

use args::{Cli, Command};

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Run(args) => commands::run::execute(args),
        Command::Worker(args) => commands::worker::execute(args),
        Command::Import(args) => commands::import::execute(args),
        Command::Plot(args) => commands::plot::execute(args),
        Command::Verify(args) => commands::verify::execute(args),
        Command::Bench(command) => commands::bench::execute(command),
    };
    result.unwrap_or_else(|error| {
        if is_closed_pipe(&error) {
            return ExitCode::SUCCESS;
        }
        eprintln!("error: {error:#}");
        ExitCode::from(if error.is::<StudyFileError>() { 2 } else { 1 })
    })
}

/// Whether our reader has seen enough, as in `optimist run study.toml --json | head`.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}
