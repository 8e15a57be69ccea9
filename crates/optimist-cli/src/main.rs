//! The `optimist` command.

mod commands;

use std::process::ExitCode;

use clap::Parser;

#[derive(Parser)]
#[command(version, about)]
enum Command {
    #[command(subcommand)]
    Bench(commands::bench::BenchCommand),
}

fn main() -> ExitCode {
    let result = match Command::parse() {
        Command::Bench(command) => commands::bench::execute(command),
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}
