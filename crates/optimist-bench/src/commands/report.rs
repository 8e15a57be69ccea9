//! `optimist-bench report`: sums up a file of results.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::{print, whereabouts, write_report};

/// What `report` reads and where it writes.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// File of results.
    results: PathBuf,
    /// Folder for index.html, report.md with its figures, and results.csv.
    #[arg(long, short, value_name = "FOLDER", default_value = "report")]
    out: PathBuf,
    /// Lines in a panel of a figure, the best optimizers first; tables have all.
    #[arg(long, value_name = "N", default_value = "8")]
    lines: NonZeroUsize,
}

/// Writes the report, and shows its tables.
pub fn execute(args: &ReportArgs) -> anyhow::Result<ExitCode> {
    let report = write_report(&args.results, &args.out, Vec::new(), Some(args.lines))?;
    print(&format!("{}\n{}\n", report.to_text(), whereabouts(&args.out)))?;
    Ok(ExitCode::SUCCESS)
}
