//! `optimist completions SHELL`: completion of commands and options.

use std::io::Write;
use std::process::ExitCode;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::args::Cli;

const EXAMPLES: &str = "\
Examples:
  optimist completions bash >> ~/.bash_completion
  optimist completions zsh > ~/.zfunc/_optimist        with ~/.zfunc in $fpath
  optimist completions fish > ~/.config/fish/completions/optimist.fish";

/// Options of `optimist completions`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct CompletionsArgs {
    /// The shell to complete in
    shell: Shell,
}

/// Prints the script.
pub fn execute(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "optimist", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}
