//! `optimist verify STUDY`: recomputes every suggestion from the log, and compares.

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Args;
use indicatif::ProgressBar;
use optimist::ENGINE_VERSION;
use optimist_study::suggest::{Mismatch, Verification};
use optimist_study::view::number::count;
use serde_json::{Value, json};

use crate::show::{in_short, print, print_json};
use crate::storage::StudyArgs;

const EXAMPLES: &str = "\
Example:
  optimist verify lr-sweep

Exit status: 0 if every suggestion came out as recorded, bit for bit (which
holds on the kind of processor it was made on); 1 if one didn't, or the log is
damaged; 2 if the command line is wrong; 3 if some could not be compared,
because they were made by another engine: another version of optimist's
algorithms.";

/// Options of `optimist verify`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct VerifyArgs {
    #[command(flatten)]
    study: StudyArgs,
    /// Print the result as a JSON object
    #[arg(long)]
    json: bool,
}

/// Exit status if a suggestion came out differently.
const MISMATCH: u8 = 1;

/// Exit status if all that could be compared came out the same, but some were made by another engine. (2 is for a wrong
/// command line.)
const NOT_COMPARED: u8 = 3;

/// Verifies the study.
pub fn execute(args: VerifyArgs) -> anyhow::Result<ExitCode> {
    let mut study = args.study.open()?;
    let bar = match std::io::stderr().is_terminal() {
        true => ProgressBar::new(study.state().trials().len() as u64),
        false => ProgressBar::hidden(),
    };
    let verification = study.verify(|trial| bar.set_position(trial as u64 + 1));
    bar.finish_and_clear();
    let verification = verification?;
    if args.json {
        print_json(&in_json(study.name(), &verification))?;
    } else {
        print(in_words(&verification))?;
    }
    Ok(ExitCode::from(match &verification {
        Verification { mismatches, .. } if !mismatches.is_empty() => MISMATCH,
        Verification { by_other_engines, .. } if !by_other_engines.is_empty() => NOT_COMPARED,
        _ => 0,
    }))
}

fn in_json(study: &str, verification: &Verification) -> Value {
    let mismatch = |mismatch: &Mismatch| {
        json!({
            "trial": mismatch.trial,
            "recorded": mismatch.recorded,
            "suggested": mismatch.suggested,
        })
    };
    let mismatches: Vec<Value> = verification.mismatches.iter().map(mismatch).collect();
    json!({
        "study": study,
        "records": verification.n_records,
        "suggestions": verification.n_suggestions,
        "mismatches": mismatches,
        "engine": ENGINE_VERSION,
        "by_other_engines": verification.by_other_engines,
    })
}

fn in_words(verification: &Verification) -> String {
    let Verification { n_records, n_suggestions, mismatches, by_other_engines } = verification;
    let sound = format!("{} intact", count(*n_records as usize, "record"));
    let mut lines = Vec::new();
    if *n_suggestions > 0 || by_other_engines.is_empty() {
        let made = format!("{sound}; {} recomputed", count(*n_suggestions, "suggestion"));
        lines.push(match mismatches.len() {
            0 => format!("{made}, all identical bit for bit"),
            n => format!("{made}, {n} of them different:"),
        });
    } else {
        lines.push(sound);
    }
    lines.extend(mismatches.iter().map(|Mismatch { trial, recorded, suggested }| {
        format!("  trial {trial}: recorded {}, now suggested {}", in_short(recorded), in_short(suggested))
    }));
    if !mismatches.is_empty() {
        lines.push("another kind of processor may round differently".to_owned());
    }
    for (engine, n) in by_other_engines {
        lines.push(format!(
            "{} made by engine {engine}, which engine {ENGINE_VERSION} of this program cannot recompute; verify with a \
             version of optimist that has engine {engine}",
            if *n == 1 { "1 suggestion was".to_owned() } else { format!("{n} suggestions were") }
        ));
    }
    lines.join("\n")
}
