//! The `optimist` command, as the program of that name and the Python package run it.

mod args;
mod commands;
mod interrupt;
mod pairs;
mod progress;
mod session;
mod show;
mod storage;
mod summary;

use std::ffi::OsString;
use std::io::ErrorKind;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::Parser;

use optimist_study::{Course, StudyFileError};

use args::{Cli, Command};
use show::say;

/// Runs a command line, whose first word is the name of the program. Prints errors; no command does.
pub fn execute(command_line: &[OsString]) -> ExitCode {
    if command_line.get(1).is_some_and(|word| word == "bench") {
        say(
            "error: benchmarks are a separate program, `optimist-bench`; in a checkout of the repository, run \
             `cargo run --release -p optimist-bench -- --help`",
        );
        return ExitCode::from(2);
    }
    // A write beyond the limit on file sizes (`ulimit -f`) is then an error, and does not kill the process.
    let too_large = Arc::new(AtomicBool::new(false));
    if let Err(error) = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, too_large) {
        say(format!("error: cannot set up signals: {error}"));
        return ExitCode::FAILURE;
    }
    let result = match Cli::parse_from(command_line).command {
        Command::Init(args) => commands::init::execute(args),
        Command::Run(args) => commands::run::execute(args),
        Command::Worker(args) => commands::worker::execute(args),
        Command::Create(args) => commands::create::execute(args),
        Command::Ask(args) => commands::ask::execute(args),
        Command::Tell(args) => commands::tell::execute(args),
        Command::Fail(args) => commands::fail::execute(args),
        Command::Amend(args) => commands::amend::execute(args),
        Command::Retry(args) => commands::retry::execute(args),
        Command::Pause(args) => commands::steer::execute(args, Course::Paused),
        Command::Stop(args) => commands::steer::execute(args, Course::Stopped),
        Command::Resume(args) => commands::steer::execute(args, Course::Going),
        Command::Enqueue(args) => commands::enqueue::execute(args),
        Command::List(args) => commands::list::execute(args),
        Command::Show(args) => commands::show::execute(args),
        Command::Best(args) => commands::best::execute(args),
        Command::Trials(args) => commands::trials::execute(args),
        Command::Export(args) => commands::export::execute(args),
        Command::Backup(args) => commands::backup::execute(args),
        Command::Salvage(args) => commands::salvage::execute(args),
        Command::Delete(args) => commands::delete::execute(args),
        Command::Import(args) => commands::import::execute(args),
        Command::Plot(args) => commands::plot::execute(args),
        Command::Serve(args) => commands::serve::execute(args),
        Command::User(args) => commands::user::execute(args),
        Command::Token(args) => commands::token::execute(args),
        Command::Verify(args) => commands::verify::execute(args),
        Command::Doctor(args) => commands::doctor::execute(args),
        Command::Schema(args) => commands::schema::execute(&args),
        Command::Man(args) => commands::man::execute(&args),
        Command::Completions(args) => commands::completions::execute(&args),
    };
    result.unwrap_or_else(|error| {
        if is_closed_pipe(&error) {
            return ExitCode::SUCCESS;
        }
        say(format!("error: {error:#}"));
        ExitCode::from(if error.is::<StudyFileError>() { 2 } else { 1 })
    })
}

/// Whether whoever reads our output stopped reading, as in `optimist run study.toml --json | head`.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}
