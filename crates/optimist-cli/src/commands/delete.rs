//! `optimist delete STUDY`: removes a study for good.

use std::io::{self, BufRead, IsTerminal, Write};
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use optimist_study::view::number::count;
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
    /// Delete the study even while trials are running
    #[arg(long)]
    force: bool,
    /// Print the result as a JSON object
    #[arg(long)]
    json: bool,
}

/// Deletes the study.
pub fn execute(args: DeleteArgs) -> anyhow::Result<ExitCode> {
    let mut study = args.study.open()?;
    study.reclaim()?;
    let (name, n_trials, n_running) =
        (study.name().to_owned(), study.state().trials().len(), study.state().running().count());
    if n_running > 0 && !args.force {
        let are =
            if n_running == 1 { "1 trial is running" } else { &format!("{n_running} trials are running") };
        bail!("{are} in study `{name}`; `optimist show {name}` lists them, --force deletes the study anyway");
    }
    if !args.yes {
        if !io::stdin().is_terminal() {
            bail!("deleting study `{name}` needs confirmation; pass --yes to skip it");
        }
        let question =
            format!("permanently delete study `{name}` with its {}? [y/N] ", count(n_trials, "trial"));
        if !says_yes(&question, &mut io::stdin().lock(), &mut io::stderr())? {
            bail!("study `{name}` was not deleted");
        }
    }
    study.delete()?;
    if args.json {
        print_json(&json!({ "study": name, "deleted": true, "trials": n_trials }))?;
    } else {
        print(format!("deleted study `{name}` with its {}", count(n_trials, "trial")))?;
    }
    Ok(ExitCode::SUCCESS)
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
