//! `optimist init`: a study file to start from, written after a few questions or from a template.

mod interview;
mod template;

use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use optimist_study::StudyFile;
use serde_json::json;

use crate::show::{print, print_json};

const EXAMPLES: &str = "\
Examples:
  optimist init                    asks questions and writes study.toml
  optimist init film.toml
  optimist init --yes              writes a runnable example without asking
  optimist run study.toml

Exit status: 0 if the files are written, 1 if not, 2 if the command line is
wrong.";

/// Options of `optimist init`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct InitArgs {
    /// The study file to write
    #[arg(default_value = "study.toml")]
    file: PathBuf,
    /// Don't ask: write a runnable example and its objective.py
    #[arg(long, short)]
    yes: bool,
    /// Overwrite existing files
    #[arg(long)]
    force: bool,
    /// Print what was written as a JSON object
    #[arg(long)]
    json: bool,
}

/// Writes the files.
pub fn execute(args: InitArgs) -> anyhow::Result<ExitCode> {
    refuse_to_overwrite(&args.file, args.force, "choose another name")?;
    let stem = args.file.file_stem().unwrap_or_default().to_string_lossy();
    let objective = args.file.with_file_name(template::OBJECTIVE_NAME);
    let mut written = vec![args.file.clone()];
    let mut has_command = true;
    if args.yes || !io::stdin().is_terminal() {
        refuse_to_overwrite(&objective, args.force, "use another folder")?;
        write(&args.file, &template::example(&stem))?;
        write(&objective, template::OBJECTIVE)?;
        written.push(objective);
    } else {
        let Some(answers) = interview::hold(&stem, &mut io::stdin().lock(), &mut io::stderr())? else {
            bail!("stopped before the last answer; nothing was written");
        };
        write(&args.file, &template::study(&answers))?;
        let mistaken = || format!("wrote {}, but it needs a correction", args.file.display());
        StudyFile::read(&args.file).with_context(mistaken)?;
        has_command = !answers.command.is_empty();
    }
    if args.json {
        print_json(&json!({ "files": written }))?;
    } else {
        let written: Vec<String> = written.iter().map(|file| file.display().to_string()).collect();
        let (next, file) = (if has_command { "run" } else { "create" }, args.file.display());
        print(format!("wrote {}; next: optimist {next} {file}", written.join(" and ")))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn refuse_to_overwrite(file: &Path, force: bool, advice: &str) -> anyhow::Result<()> {
    if file.exists() && !force {
        bail!("{} already exists; {advice}, or pass --force to overwrite it", file.display());
    }
    Ok(())
}

fn write(file: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}
