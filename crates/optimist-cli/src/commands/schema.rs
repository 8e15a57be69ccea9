//! `optimist schema`: what a study file may say, for editors.

use std::process::ExitCode;

use clap::Args;
use optimist_study::study_file;

use crate::show::print;

const EXAMPLES: &str = "\
Examples:
  optimist schema > study.schema.json

An editor with a TOML language server (Taplo, Even Better TOML) then completes and checks a study file that begins with
  #:schema ./study.schema.json";

/// Options of `optimist schema`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct SchemaArgs {}

/// Prints the schema; errors are printed by `main`.
pub fn execute(_: &SchemaArgs) -> anyhow::Result<ExitCode> {
    print(serde_json::to_string_pretty(&study_file::schema())?)?;
    Ok(ExitCode::SUCCESS)
}
