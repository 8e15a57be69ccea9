//! `optimist doctor`: what a bug report needs, and common problems.

mod checks;
mod machine;

use std::process::ExitCode;

use clap::Args;
use optimist_study::view::number::count;
use serde::Serialize;

use self::checks::{Check, Checks};
use self::machine::Machine;
use crate::show::{print, print_json, table};
use crate::storage::StorageArgs;

const EXAMPLES: &str = "\
Examples:
  optimist doctor                           checks optimist.db in this folder
  optimist doctor --storage postgres://me@lab/studies
  optimist doctor --json > report.json      for a bug report; holds no secrets

Changes nothing. `optimist verify STUDY` checks every record of a study, which
takes longer.

Exit status: 0 if no problem was found, 1 if there is one, 2 if the command
line is wrong.";

/// Options of `optimist doctor`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct DoctorArgs {
    #[command(flatten)]
    storage: StorageArgs,
    /// Print the report as a JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    machine: Machine,
    checks: Vec<Check>,
}

/// Looks around and reports.
pub fn execute(args: DoctorArgs) -> anyhow::Result<ExitCode> {
    let checks = Checks::of(args.storage.storage());
    let report = Report { machine: Machine::this(), checks: checks.done };
    if args.json {
        print_json(&report)?;
    } else {
        print(in_words(&report))?;
    }
    let is_well = report.checks.iter().all(|check| check.is_ok);
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn in_words(report: &Report) -> String {
    let facts = report.machine.facts().into_iter().map(|(what, fact)| vec![what.to_owned(), fact]).collect();
    let mut lines = vec![table(facts), String::new()];
    let rows = report.checks.iter().map(|check| {
        let verdict = if check.is_ok { "ok" } else { "problem" };
        vec![verdict.to_owned(), check.what.to_owned(), check.found.clone()]
    });
    lines.push(table(rows.collect()));
    let troubles = report.checks.iter().filter(|check| !check.is_ok).count();
    lines.push(String::new());
    lines.push(match troubles {
        0 => " no problems found".to_owned(),
        n => format!(" {} found", count(n, "problem")),
    });
    lines.join("\n")
}
