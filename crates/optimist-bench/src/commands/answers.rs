//! `optimist-bench answers`: how good the recommended points are, by group of tasks.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use optimist_bench::report::Answers;
use optimist_bench::results::{self, RunRecord};

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

/// Whether every task has been played with as many trials by everybody.
fn check_lengths(records: &[RunRecord]) -> anyhow::Result<()> {
    let mut lengths = HashMap::new();
    for record in records {
        let (task, trials) = (record.task.as_str(), record.values.len());
        let first = *lengths.entry(task).or_insert(trials);
        anyhow::ensure!(
            first == trials,
            "`{task}` was played with {first} trials and with {trials}; score files of different lengths one by one"
        );
    }
    Ok(())
}

/// Shows the scores.
pub fn execute(args: &AnswersArgs) -> anyhow::Result<ExitCode> {
    let mut records = Vec::new();
    for file in &args.results {
        records.extend(results::read(file)?);
    }
    check_lengths(&records)?;
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
