//! The program `optimist`.

use std::process::ExitCode;

fn main() -> ExitCode {
    optimist_cli::execute(&std::env::args_os().collect::<Vec<_>>())
}
