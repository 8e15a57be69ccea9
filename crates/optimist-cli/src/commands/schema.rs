//! `optimist schema`: what a study file may say, for editors.

use std::process::ExitCode;

use clap::Args;
use optimist_study::study_file;

use crate::show::print;

const EXAMPLES: &str = "\
Examples:
  optimist schema > study.schema.json

Editors with a TOML language server (Taplo, Even Better TOML) then complete
and check study files that begin with
  #:schema ./study.schema.json";

/// Options of `optimist schema`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct SchemaArgs {}

/// Prints the schema.
pub fn execute(_: &SchemaArgs) -> anyhow::Result<ExitCode> {
    print(serde_json::to_string_pretty(&study_file::schema())?)?;
    Ok(ExitCode::SUCCESS)
}
