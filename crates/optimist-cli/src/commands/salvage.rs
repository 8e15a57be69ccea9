//! `optimist salvage STUDY FILE`: what is sound of a damaged study, as a new one.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use optimist_study::view::number::count;
use optimist_study::{Salvaged, Storage, Study};
use serde_json::json;

use crate::show::{print, print_json};
use crate::storage::StudyArgs;

const EXAMPLES: &str = "\
Examples:
  optimist salvage film saved.db
  optimist salvage film saved.db --name film-saved

Keeps everything up to the first damaged or missing record. Of the later
trials, those whose parameters and outcome are both intact are added as
imported ones, with new numbers. The damaged study isn't changed.

Exit status: 0 if a study was saved, 1 if nothing can be saved, 2 if the
command line is wrong.";

/// Options of `optimist salvage`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct SalvageArgs {
    #[command(flatten)]
    study: StudyArgs,
    /// The SQLite file for the new study; created if needed
    file: PathBuf,
    /// Name of the new study [default: the same name]
    #[arg(long)]
    name: Option<String>,
    /// Print what was saved as a JSON object
    #[arg(long)]
    json: bool,
}

/// Saves what can be saved.
pub fn execute(args: SalvageArgs) -> anyhow::Result<ExitCode> {
    let (storage, name) = (args.study.storage()?, args.study.name());
    let new_name = args.name.as_deref().unwrap_or(name);
    let (study, salvaged) = Study::salvage(&storage, name, &Storage::sqlite(&args.file), new_name)?;
    if args.json {
        print_json(
            &json!({ "study": new_name, "file": args.file.display().to_string(), "salvaged": salvaged }),
        )?;
    } else {
        let n_trials = study.state().trials().len();
        print(format!(
            "saved study `{new_name}` to {}, with {}",
            args.file.display(),
            count(n_trials, "trial")
        ))?;
        print(in_words(&salvaged))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn in_words(Salvaged { kept, left_out, renumbered, .. }: &Salvaged) -> String {
    let numbers: Vec<String> = renumbered.iter().map(|(old, new)| format!("{old} is now {new}")).collect();
    let mut lines = vec![format!("kept the first {} unchanged", count(*kept as usize, "record"))];
    if !numbers.is_empty() {
        lines.push(format!(
            "{} recovered from after the damage: {}",
            count(numbers.len(), "trial"),
            numbers.join(", ")
        ));
    }
    if *left_out > 0 {
        lines.push(format!(
            "{} skipped: the records they depend on are lost",
            count(*left_out, "intact record")
        ));
    }
    lines.join("\n")
}
