//! `optimist run FILE`: runs a study in memory and shows what it found.

use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, bail};
use optimist::encode::Encoding;

use crate::args::RunArgs;
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::study_file::StudyFile;
use crate::trials::{self, Trial};
use crate::{picture, summary};

/// As a shell reports a process that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

/// Runs the study; errors are printed by `main`.
pub fn execute(args: RunArgs) -> anyhow::Result<ExitCode> {
    let mut study = StudyFile::read(&args.file)?;
    study.trials = args.trials.map_or(study.trials, Into::into);
    study.workers = args.workers.map_or(study.workers, Into::into);
    study.seed = args.seed.unwrap_or(study.seed);
    let encoding = Encoding::new(study.space.clone());
    let mut optimizer = match study.method.build(encoding.domain(), study.trials, study.seed) {
        Ok(optimizer) => optimizer,
        Err(error) => return Err(study.wrong_settings(&error).into()),
    };

    let interrupt = Interrupt::listen().context("cannot listen for Ctrl-C")?;
    let start = Instant::now();
    let mut progress = Progress::new(&study);
    let run = trials::run(&study, &encoding, optimizer.as_mut(), &interrupt, |trial| {
        progress.update(trial);
        if args.json { progress.suspend(|| print_json(trial)) } else { Ok(()) }
    });
    progress.finish();
    let run = run?;
    optimizer.warnings().iter().for_each(|warning| eprintln!("warning: {warning}"));

    let has_value = run.trials.iter().any(|trial| trial.result.is_ok());
    if has_value && !args.json {
        let recommended = optimizer.recommend();
        let text = summary::text(&study, &encoding, &run.trials, recommended.as_ref(), start.elapsed());
        writeln!(std::io::stdout(), "{text}")?;
    }
    if let Some(file) = &args.svg
        && let Some(svg) = picture::svg(&run.trials, study.direction, &study.name)
    {
        std::fs::write(file, svg)
            .with_context(|| format!("cannot write the picture to {}", file.display()))?;
    }
    if let Some(error) = run.start_error {
        return Err(error.into());
    }
    if interrupt.is_requested() {
        eprintln!("stopped after {} of {} trials", run.trials.len(), study.trials);
        return Ok(ExitCode::from(INTERRUPTED));
    }
    if !has_value {
        bail!("{}", all_failed(&run.trials));
    }
    Ok(ExitCode::SUCCESS)
}

fn print_json(trial: &Trial) -> anyhow::Result<()> {
    let line = serde_json::to_string(trial)?;
    writeln!(std::io::stdout(), "{line}")?;
    Ok(())
}

fn all_failed(trials: &[Trial]) -> String {
    let last = trials.last().and_then(|trial| trial.result.as_ref().err());
    let reason = last.map(String::as_str).unwrap_or_default();
    let n_trials = trials.len();
    format!("all {n_trials} trials failed, so there is no result; the last one because:\n{reason}")
}
