//! `optimist list`: the studies there are.

use std::process::ExitCode;

use clap::Args;
use optimist_study::NamedOutcome;
use optimist_study::view::number::{count, significant};
use optimist_study::view::{ListedStudy, StudySummary};

use crate::show::{age, print, print_json, say, table};
use crate::storage::{StorageArgs, names};

const EXAMPLES: &str = "\
Examples:
  optimist list
  optimist list --storage postgres://me@lab/studies --json

Exit status: 0, even if there are no studies; 1 if storage can't be read; 2 if
the command line is wrong.";

/// Options of `optimist list`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ListArgs {
    #[command(flatten)]
    storage: StorageArgs,
    /// Print one JSON object for each study
    #[arg(long)]
    json: bool,
}

/// Lists studies. One that cannot be opened does not hide the others.
pub fn execute(args: ListArgs) -> anyhow::Result<ExitCode> {
    let storage = args.storage.storage()?;
    let names = names(&storage)?;
    let mut listed = names.iter().map(|name| ListedStudy::new(&storage, name));
    if args.json {
        listed.try_for_each(|study| print_json(&study))?;
    } else if names.is_empty() {
        say(format!(
            "there are no studies in {storage} yet; `optimist run FILE` or `optimist create FILE` starts one"
        ));
    } else {
        let title =
            ["study", "direction", "done", "planned", "failed", "running", "best observed", "started"];
        let title = title.map(str::to_owned).to_vec();
        let mut unreadable = Vec::new();
        let rows = listed.map(|study| {
            if let ListedStudy::Unreadable { study, error } = &study {
                unreadable.push(format!("study `{study}` cannot be opened: {error}"));
            }
            row(study)
        });
        print(table(std::iter::once(title).chain(rows).collect()))?;
        unreadable.into_iter().for_each(say);
    }
    Ok(ExitCode::SUCCESS)
}

fn row(study: ListedStudy) -> Vec<String> {
    match study {
        ListedStudy::Unreadable { study, .. } => vec![study, "unreadable".to_owned()],
        ListedStudy::Readable(StudySummary {
            study,
            direction,
            outcomes,
            done,
            planned,
            failed,
            running,
            best_value,
            front,
            feasible,
            created_at,
            ..
        }) => vec![
            study,
            direction.map_or_else(|| goals(&outcomes), |direction| direction.word().to_owned()),
            done.to_string(),
            planned.to_string(),
            failed.to_string(),
            running.to_string(),
            best(best_value, front, feasible),
            age(created_at),
        ],
    }
}

/// `2 goals, 1 constraint`.
fn goals(outcomes: &[NamedOutcome]) -> String {
    let n_goals = outcomes.iter().filter(|outcome| outcome.is_goal()).count();
    let parts = [(n_goals, "goal"), (outcomes.len() - n_goals, "constraint")];
    let parts = parts.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| count(n, what));
    parts.collect::<Vec<_>>().join(", ")
}

fn best(value: Option<f64>, front: Option<usize>, feasible: Option<bool>) -> String {
    match (value, front, feasible) {
        (Some(value), _, _) => significant(value, 6),
        (None, Some(n), _) => format!("a front of {n}"),
        (None, None, Some(true)) => "feasible".to_owned(),
        (None, None, Some(false)) => "nothing feasible".to_owned(),
        (None, None, None) => "-".to_owned(),
    }
}
