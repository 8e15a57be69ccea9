//! `optimist-bench answers`: how good the recommended points are, by group of tasks.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use optimist_bench::report::Answers;
use optimist_bench::results;

use super::print;

/// What `answers` reads.
#[derive(Debug, Args)]
pub struct AnswersArgs {
    /// Files of results, taken together.
    #[arg(required = true)]
    results: Vec<PathBuf>,
    /// Print Markdown instead of tables for a terminal.
    #[arg(long)]
    markdown: bool,
}

/// Shows the scores.
pub fn execute(args: &AnswersArgs) -> anyhow::Result<ExitCode> {
    let mut records = Vec::new();
    for file in &args.results {
        records.extend(results::read(file)?);
    }
    let answers = Answers::new(&records);
    if answers.is_empty() {
        anyhow::bail!(
            "no record has answers that can be scored; `optimist-bench run` makes some, and tasks without a known optimum need \
             `random` among the optimizers"
        );
    }
    print(&if args.markdown { answers.to_markdown() } else { answers.to_text() })?;
    Ok(ExitCode::SUCCESS)
}
