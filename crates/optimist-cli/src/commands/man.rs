//! `optimist man`: manual pages, from the same texts as `--help`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use clap::{Args, CommandFactory};
use clap_mangen::Man;

use crate::args::Cli;
use crate::show::say;

const EXAMPLES: &str = "\
Examples:
  optimist man | man -l -                          the page of `optimist`
  optimist man run | man -l -                      the page of `optimist run`
  optimist man --folder ~/.local/share/man/man1    all pages";

/// Options of `optimist man`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ManArgs {
    /// The page of this command
    #[arg(conflicts_with = "folder", value_parser = known)]
    command: Option<String>,
    /// Write every page to this folder instead
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

/// Prints or writes pages.
pub fn execute(args: &ManArgs) -> anyhow::Result<ExitCode> {
    // `clap_mangen` has no page for `help`, which would have one for each command again.
    let mut cli = Cli::command().disable_help_subcommand(true);
    cli.build();
    if let Some(folder) = &args.folder {
        std::fs::create_dir_all(folder)
            .and_then(|()| clap_mangen::generate_to(cli, folder))
            .with_context(|| format!("cannot write manual pages to {}", folder.display()))?;
        say(format!("manual pages written to {}", folder.display()));
        return Ok(ExitCode::SUCCESS);
    }
    let page = match &args.command {
        None => cli,
        Some(name) => {
            let found = cli.find_subcommand(name).cloned();
            found.ok_or_else(|| anyhow!("there is no command `{name}`"))?
        }
    };
    let mut rendered = Vec::new();
    Man::new(page).render(&mut rendered)?;
    std::io::stdout().write_all(&rendered)?;
    Ok(ExitCode::SUCCESS)
}

/// The name of a command.
fn known(name: &str) -> Result<String, String> {
    match Cli::command().find_subcommand(name) {
        Some(_) => Ok(name.to_owned()),
        None => Err(format!("there is no command `{name}`; `optimist help` lists them")),
    }
}
