//! Measures what the result file lacks, a process for each cell, one at a time: they would slow each other down.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use optimist_study::process::{Group, Process};

use super::{Cell, SpeedRecord, Sweeps, Timing};
use crate::results::{Appender, ResultsError};
use crate::{optimizers, process};

/// What happens during a run.
#[derive(Debug)]
pub enum Progress<'a> {
    /// A cell is about to be measured.
    Started(&'a Cell),
    /// A cell was measured, or not.
    Finished(&'a SpeedRecord),
    /// A cell was left out: one that is smaller was over the limit or failed.
    Skipped(&'a Cell),
}

/// How much longer than its limit a process may take to notice that it is over it.
const GRACE: Duration = Duration::from_secs(10);

/// Measures every cell that the file `out` does not hold yet, as far as they go within `limit` each, and gives all records.
/// `command` starts a process that measures a cell and prints its [`Timing`] as JSON, on one line; its standard input
/// stays open for as long as the answer is wanted. Cells that failed are tried again, and those over a limit that was lower.
///
/// # Errors
/// If the results cannot be read or written.
pub fn run(
    sweeps: &Sweeps,
    limit: Duration,
    out: &Path,
    command: &dyn Fn(&Cell) -> Command,
    watch: &dyn Fn(Progress),
) -> Result<Vec<SpeedRecord>, ResultsError> {
    let (mut appender, records) = Appender::open::<SpeedRecord>(out)?;
    // The last word on each cell.
    let mut known: Vec<SpeedRecord> = Vec::new();
    records.into_iter().for_each(|record| learn(&mut known, record));
    for row in sweeps.rows() {
        let mut too_large = false;
        for cell in row {
            if too_large {
                watch(Progress::Skipped(&cell));
                continue;
            }
            let settled = known.iter().find(|record| record.cell == cell && is_settled(record, limit));
            let outcome = match settled {
                Some(record) => record.outcome.clone(),
                None => {
                    watch(Progress::Started(&cell));
                    let outcome = measure_apart(command(&cell), limit);
                    let engine = optimizers::engine(&cell.optimizer);
                    let record = SpeedRecord { cell, outcome, engine };
                    appender.append(&record)?;
                    watch(Progress::Finished(&record));
                    learn(&mut known, record.clone());
                    record.outcome
                }
            };
            too_large = !matches!(outcome, Timing::Measured(_));
        }
    }
    Ok(known)
}

fn learn(known: &mut Vec<SpeedRecord>, record: SpeedRecord) {
    known.retain(|other| other.cell != record.cell);
    known.push(record);
}

fn is_settled(record: &SpeedRecord, limit: Duration) -> bool {
    match record.outcome {
        Timing::Measured(_) => true,
        Timing::OverLimit { seconds } => seconds >= limit.as_secs_f64(),
        Timing::Failed { .. } => false,
    }
}

/// What a process of its own says of its cell.
fn measure_apart(command: Command, limit: Duration) -> Timing {
    let failed = |reason: String| Timing::Failed { reason };
    let mut process = match Process::start(command, Group::Own) {
        Ok(process) => process,
        Err(error) => return failed(format!("its process cannot be started: {error}")),
    };
    let mut answer = String::new();
    let deadline = process::deadline(limit.saturating_add(GRACE));
    if process::wait(&mut process, deadline, |line| answer = line).is_none() {
        return Timing::OverLimit { seconds: limit.as_secs_f64() };
    }
    serde_json::from_str(&answer).unwrap_or_else(|_| {
        let words = process::last_words(&process).unwrap_or_default();
        failed(format!("its process ended without an answer; last output: {words}"))
    })
}

#[cfg(all(test, unix))]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::speed::{Cores, Times};

    fn sweeps() -> Sweeps {
        let optimizers = vec!["a".to_owned()];
        let by_n = vec![10, 20, 30];
        Sweeps { optimizers, cores: vec![Cores::One], by_n, d: 2, by_d: vec![], n: vec![], several: vec![] }
    }

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    fn measured() -> Timing {
        let times = Times { wall_ms: vec![1.0, 2.0], cpu_ms: vec![], ready_ms: 5.0, peak_mb: Some(7.0) };
        Timing::Measured(times)
    }

    fn says(outcome: &Timing) -> Command {
        shell(&format!("echo '{}'", serde_json::to_string(outcome).unwrap()))
    }

    /// Runs with what each n says; gives the n that were measured and the records.
    fn play(file: &Path, limit: u64, says: &dyn Fn(usize) -> Command) -> (Vec<usize>, Vec<SpeedRecord>) {
        let started = RefCell::new(Vec::new());
        let watch = |event: Progress| {
            if let Progress::Started(cell) = event {
                started.borrow_mut().push(cell.n);
            }
        };
        let limit = Duration::from_secs(limit);
        let records = run(&sweeps(), limit, file, &|cell| says(cell.n), &watch).unwrap();
        (started.into_inner(), records)
    }

    #[test]
    fn what_is_over_the_limit_stops_its_row_and_is_tried_again_with_a_higher_limit() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("speed.jsonl");
        let slow = |n: usize| match n {
            20 => says(&Timing::OverLimit { seconds: 60.0 }),
            _ => says(&measured()),
        };
        let (started, records) = play(&file, 60, &slow);
        assert_eq!(started, [10, 20]);
        assert_eq!(records[0].outcome, measured());
        assert_eq!(play(&file, 60, &slow).0, [0; 0], "nothing is left to measure");
        let (started, records) = play(&file, 90, &|_| says(&measured()));
        assert_eq!(started, [20, 30]);
        assert!(records.iter().all(|record| record.engine == Some(optimist::ENGINE_VERSION)), "{records:?}");
        assert!(records.iter().all(|record| record.outcome == measured()), "{records:?}");
    }

    #[test]
    fn a_process_that_dies_is_a_failure_with_its_last_words_and_is_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("speed.jsonl");
        let (started, records) = play(&file, 60, &|_| shell("echo out of memory >&2; exit 3"));
        assert_eq!(started, [10]);
        let Timing::Failed { reason } = &records[0].outcome else { panic!("{records:?}") };
        assert_eq!(reason, "its process ended without an answer; last output: out of memory");
        let (started, records) = play(&file, 60, &|_| says(&measured()));
        assert_eq!((started.len(), records.len()), (3, 3));
    }
}
