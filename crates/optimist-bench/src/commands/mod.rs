//! The commands, a file each, and what several of them do: play with progress shown, write the report.

pub mod answers;
pub mod outcomes;
pub mod paper;
mod progress;
mod python;
pub mod readings;
pub mod report;
pub mod run;
pub mod speed;

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::ExitCode;

use optimist_bench::report::Report;
use optimist_bench::run::{Experiment, Failure, Progress};
use optimist_bench::{optimizers, peer, results, trainer};

use progress::ProgressDisplay;

/// Prints a text on standard output.
pub fn print(text: &str) -> anyhow::Result<()> {
    Ok(std::io::stdout().write_all(text.as_bytes())?)
}

/// Plays what is missing, with progress shown. Gives how many runs the experiment has, and those that failed.
fn play(experiment: &Experiment, out: &Path) -> anyhow::Result<(usize, Vec<Failure>)> {
    let trainer = python::trainer_for(experiment.grids.iter().flat_map(|grid| &grid.tasks))?;
    let train = |params: &_| {
        trainer.as_ref().map_or_else(|| trainer::nobody(params), |trainer| trainer.accuracy(params))
    };
    let display = ProgressDisplay::new();
    let watch = |event: Progress| display.update(&event);
    let failures = optimist_bench::run::run(experiment, out, &optimizers::build, &train, &watch);
    let runs = display.finish();
    Ok((runs, failures?))
}

fn write_report(
    file: &Path,
    folder: &Path,
    notes: Vec<String>,
    lines: Option<NonZeroUsize>,
) -> anyhow::Result<Report> {
    let mut report = Report::new(&results::read(file)?)
        .map_err(|error| anyhow::anyhow!("{}: {error}", file.display()))?
        .with_notes(notes);
    if let Some(lines) = lines {
        report = report.with_lines(lines.get());
    }
    report.write(folder)?;
    Ok(report)
}

/// The peers of these that work, and a line for the report about each that does not.
fn working_peers(names: impl IntoIterator<Item = &'static str>) -> (Vec<String>, Vec<String>) {
    eprintln!("checking which peers are available");
    let (mut working, mut notes) = (Vec::new(), Vec::new());
    for name in names {
        match peer::check(name) {
            Ok(()) => working.push(name.to_owned()),
            Err(error) => {
                eprintln!("without `{name}`: {error}");
                notes.push(format!("`{name}` was left out: {error}."));
            }
        }
    }
    (working, notes)
}

fn whereabouts(folder: &Path) -> String {
    format!("written to {} and {}", folder.join("index.html").display(), folder.join("report.md").display())
}

fn exit_code(failures: &[Failure]) -> ExitCode {
    if failures.is_empty() {
        return ExitCode::SUCCESS;
    }
    let runs = if failures.len() == 1 { "1 run".to_owned() } else { format!("{} runs", failures.len()) };
    eprintln!("{runs} failed; run the same command again to retry");
    ExitCode::FAILURE
}
