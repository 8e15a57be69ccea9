//! `optimist delete STUDY`: removes a study for good.

use std::io::{self, BufRead, IsTerminal, Write};
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use optimist_study::view::number::count;
use optimist_study::{Storage, Study, StudyError};
use serde_json::json;

use crate::show::{plain, print, print_json};
use crate::storage::StudyArgs;

const EXAMPLES: &str = "\
Examples:
  optimist export film film.jsonl && optimist delete film --yes

Exit status: 0 if the study is deleted, 1 if not, 2 if the command line is
wrong.";

/// Options of `optimist delete`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct DeleteArgs {
    #[command(flatten)]
    study: StudyArgs,
    /// Don't ask for confirmation
    #[arg(long, short)]
    yes: bool,
    /// Delete the study even while trials are running, or if it is damaged
    #[arg(long)]
    force: bool,
    /// Print the result as a JSON object
    #[arg(long)]
    json: bool,
}

/// Deletes the study.
pub fn execute(args: DeleteArgs) -> anyhow::Result<ExitCode> {
    let storage = args.study.storage()?;
    let mut study = match Study::open(&storage, args.study.name()) {
        Err(error) if error.is_damage() => return delete_damaged(&args, &storage, &error),
        opened => opened?,
    };
    study.reclaim()?;
    let (name, n_trials, n_running) =
        (study.name().to_owned(), study.state().trials().len(), study.state().running().count());
    if n_running > 0 && !args.force {
        let are =
            if n_running == 1 { "1 trial is running" } else { &format!("{n_running} trials are running") };
        bail!("{are} in study `{name}`; `optimist show {name}` lists them, --force deletes the study anyway");
    }
    confirm(&args, &format!("study `{name}` with its {}", count(n_trials, "trial")))?;
    study.delete()?;
    if args.json {
        print_json(&json!({ "study": name, "deleted": true, "trials": n_trials }))?;
    } else {
        print(format!("deleted study `{name}` with its {}", count(n_trials, "trial")))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Nobody knows which trials it has, or whether any is running.
fn delete_damaged(args: &DeleteArgs, storage: &Storage, error: &StudyError) -> anyhow::Result<ExitCode> {
    let name = args.study.name();
    if !args.force {
        bail!("{error}; `optimist delete {name} --force` deletes it as it is");
    }
    confirm(args, &format!("study `{name}`, which is damaged"))?;
    Study::delete_unread(storage, name)?;
    if args.json {
        print_json(&json!({ "study": name, "deleted": true, "trials": null }))?;
    } else {
        print(format!("deleted study `{name}`, which was damaged"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Goes on if the user says so.
fn confirm(args: &DeleteArgs, what: &str) -> anyhow::Result<()> {
    let name = args.study.name();
    if args.yes {
        return Ok(());
    }
    if !io::stdin().is_terminal() {
        bail!("deleting study `{name}` needs confirmation; pass --yes to skip it");
    }
    let question = format!("permanently delete {what}? [y/N] ");
    if !says_yes(&question, &mut io::stdin().lock(), &mut io::stderr())? {
        bail!("study `{name}` was not deleted");
    }
    Ok(())
}

fn says_yes(question: &str, from: &mut impl BufRead, to: &mut impl Write) -> io::Result<bool> {
    write!(to, "{}", plain(question))?;
    to.flush()?;
    let mut answer = String::new();
    from.read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_yes_is_yes() {
        let answers = [
            ("y\n", true),
            ("YES\n", true),
            ("\n", false),
            ("", false),
            ("n\n", false),
            ("yesterday\n", false),
        ];
        for (answer, expected) in answers {
            let mut asked = Vec::new();
            assert_eq!(
                says_yes("sure? ", &mut answer.as_bytes(), &mut asked).unwrap(),
                expected,
                "{answer:?}"
            );
            assert_eq!(asked, b"sure? ");
        }
    }
}
