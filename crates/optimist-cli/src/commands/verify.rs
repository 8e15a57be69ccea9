//! `optimist verify STUDY`: makes every suggestion again from the log, and compares.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use indicatif::ProgressBar;
use optimist::ENGINE_VERSION;
use optimist_study::Study;
use optimist_study::suggest::{Mismatch, Verification};
use serde_json::json;

use crate::args::VerifyArgs;
use crate::show::in_short;

/// Exit status if a suggestion came out differently.
const MISMATCH: u8 = 1;

/// Exit status if all that could be compared came out the same, but some were made by another engine. (2 is for a wrong
/// command line.)
const NOT_COMPARED: u8 = 3;

/// Verifies the study; errors are printed by `main`.
pub fn execute(args: VerifyArgs) -> anyhow::Result<ExitCode> {
    let mut study = Study::open(&args.storage.storage()?, &args.study)?;
    let bar = match std::io::stderr().is_terminal() {
        true => ProgressBar::new(study.state().trials().len() as u64),
        false => ProgressBar::hidden(),
    };
    let verification = study.verify(|trial| bar.set_position(trial as u64 + 1));
    bar.finish_and_clear();
    let verification = verification?;
    let text = if args.json { in_json(&args.study, &verification) } else { in_words(&verification) };
    writeln!(std::io::stdout(), "{text}")?;
    Ok(ExitCode::from(match &verification {
        Verification { mismatches, .. } if !mismatches.is_empty() => MISMATCH,
        Verification { by_other_engines, .. } if !by_other_engines.is_empty() => NOT_COMPARED,
        _ => 0,
    }))
}

fn in_json(study: &str, verification: &Verification) -> String {
    let mismatch = |mismatch: &Mismatch| {
        json!({
            "trial": mismatch.trial,
            "recorded": mismatch.recorded,
            "suggested": mismatch.suggested,
        })
    };
    let mismatches: Vec<serde_json::Value> = verification.mismatches.iter().map(mismatch).collect();
    json!({
        "study": study,
        "records": verification.n_records,
        "suggestions": verification.n_suggestions,
        "mismatches": mismatches,
        "engine": ENGINE_VERSION,
        "by_other_engines": verification.by_other_engines,
    })
    .to_string()
}

fn in_words(verification: &Verification) -> String {
    let Verification { n_records, n_suggestions, mismatches, by_other_engines } = verification;
    let sound = format!("{n_records} records are sound");
    let mut lines = Vec::new();
    if *n_suggestions > 0 || by_other_engines.is_empty() {
        let made = format!("{sound}; {n_suggestions} suggestions were made again");
        lines.push(match mismatches.len() {
            0 => format!("{made}, and all came out the same, bit for bit"),
            n => format!("{made}, and {n} came out differently:"),
        });
    } else {
        lines.push(sound);
    }
    lines.extend(mismatches.iter().map(|Mismatch { trial, recorded, suggested }| {
        format!(
            "  trial {trial}: {} is recorded, {} is suggested now",
            in_short(recorded),
            in_short(suggested)
        )
    }));
    if !mismatches.is_empty() {
        lines.push("another kind of processor may suggest otherwise".to_owned());
    }
    for (engine, n) in by_other_engines {
        lines.push(format!(
            "{} made by engine {engine}, and cannot be compared with what engine {ENGINE_VERSION} of this optimist \
             suggests; verify with a version of optimist that has engine {engine}",
            if *n == 1 { "1 suggestion was".to_owned() } else { format!("{n} suggestions were") }
        ));
    }
    lines.join("\n")
}
