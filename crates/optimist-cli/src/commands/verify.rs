//! `optimist verify STUDY`: makes every suggestion again from the log, and compares.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use indicatif::ProgressBar;
use optimist_study::Study;
use optimist_study::suggest::{Mismatch, Verification};
use serde_json::json;

use crate::args::VerifyArgs;
use crate::show::in_short;

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
    Ok(ExitCode::from(u8::from(!verification.mismatches.is_empty())))
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
    })
    .to_string()
}

fn in_words(verification: &Verification) -> String {
    let Verification { n_records, n_suggestions, mismatches } = verification;
    let made = format!("{n_records} records are sound; {n_suggestions} suggestions were made again");
    if mismatches.is_empty() {
        return format!("{made}, and all came out the same, bit for bit");
    }
    let n = mismatches.len();
    let mut lines = vec![format!("{made}, and {n} came out differently:")];
    lines.extend(mismatches.iter().map(|Mismatch { trial, recorded, suggested }| {
        format!(
            "  trial {trial}: {} is recorded, {} is suggested now",
            in_short(recorded),
            in_short(suggested)
        )
    }));
    lines.push("another version of optimist, or another kind of processor, may suggest otherwise".to_owned());
    lines.join("\n")
}
