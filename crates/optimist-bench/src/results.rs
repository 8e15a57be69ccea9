//! Result files: JSON lines, appended to as runs end. [`RunRecord`] is that of regret runs, one per (task, optimizer,
//! repetition); `speed` has its own.
//!
//! A file is only ever appended to, one whole line at a time. A process that dies in the middle of
//! a line leaves a torn one; [`Appender::open`] cuts it off and so loses that one record only.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::answer::Answer;

/// What a line of a result file holds.
pub trait Line: Serialize + DeserializeOwned {
    /// Whether its parts fit together; else what is wrong.
    ///
    /// # Errors
    /// What does not fit.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

/// What one optimizer did on one task in one repetition.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Name of the task.
    pub task: String,
    /// Name of the optimizer.
    pub optimizer: String,
    /// Repetition, counted from 0.
    pub rep: usize,
    /// Points of Phase I.
    pub n: usize,
    /// Asks after Phase I.
    pub horizon: usize,
    /// The value of each of the `n + horizon` rounds, without noise; the task's worst where every trial fails.
    pub values: Vec<f64>,
    /// Milliseconds that each of the `horizon` asks took.
    pub ask_ms: Vec<f64>,
    /// Seed of the whole grid of runs.
    pub seed: u64,
    /// The engine that made the suggestions; `None` for peers, and in records older than this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<u32>,
    /// Rounds whose trials failed, counted from 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<usize>,
    /// What was recommended after a quarter, half and all of the rounds; empty in records older than this field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Answer>,
}

impl RunRecord {
    /// What tells one record from another: task, optimizer, repetition, seed.
    pub fn key(&self) -> (&str, &str, usize, u64) {
        (&self.task, &self.optimizer, self.rep, self.seed)
    }

    /// The best value, without noise, of the first `trials` rounds that did not fail; `None` if all of them did.
    pub fn best_visited(&self, trials: usize) -> Option<f64> {
        let rounds = self.values.iter().zip(1..=trials).filter(|(_, round)| !self.failed.contains(round));
        rounds.map(|(value, _)| *value).reduce(f64::max)
    }
}

impl Line for RunRecord {
    fn check(&self) -> Result<(), String> {
        let rounds = self.n + self.horizon;
        if self.values.len() != rounds {
            return Err(format!("n + horizon is {rounds}, but there are {} values", self.values.len()));
        }
        if self.ask_ms.len() != self.horizon {
            return Err(format!("horizon is {}, but there are {} ask_ms", self.horizon, self.ask_ms.len()));
        }
        Ok(())
    }
}

/// All records of a file, in its order.
///
/// # Errors
/// If the file cannot be read, or a line is not a record.
pub fn read(path: &Path) -> Result<Vec<RunRecord>, ResultsError> {
    read_lines(path)
}

/// The same of any kind.
///
/// # Errors
/// If the file cannot be read, or a line is not a record.
pub fn read_lines<L: Line>(path: &Path) -> Result<Vec<L>, ResultsError> {
    let text = std::fs::read_to_string(path).map_err(|source| ResultsError::io(path, source))?;
    parse(path, &text)
}

/// A result file open for adding records, by one process at a time.
pub struct Appender {
    path: PathBuf,
    file: File,
}

impl Appender {
    /// Opens or creates the file, cuts off a torn last line, and reads what is there already.
    ///
    /// # Errors
    /// If the file cannot be opened, another process adds to it, or a whole line is not a record.
    pub fn open<L: Line>(path: &Path) -> Result<(Appender, Vec<L>), ResultsError> {
        let io = |source| ResultsError::io(path, source);
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(ResultsError::Busy { path: path.to_owned() });
            }
            Err(TryLockError::Error(source)) => return Err(io(source)),
        }
        // From here on the lock has an owner, which gives it back on every way out.
        let mut appender = Appender { path: path.to_owned(), file };
        let mut bytes = Vec::new();
        appender.file.read_to_end(&mut bytes).map_err(io)?;
        bytes.truncate(bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1));
        appender.file.set_len(bytes.len() as u64).map_err(io)?;
        appender.file.seek(SeekFrom::End(0)).map_err(io)?;
        let records = parse(path, &String::from_utf8_lossy(&bytes))?;
        Ok((appender, records))
    }

    /// Adds one record as one line, and hands it to the operating system before returning.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn append(&mut self, record: &impl Line) -> Result<(), ResultsError> {
        let mut line = serde_json::to_string(record).expect("a record is numbers, text and lists of them");
        line.push('\n');
        self.file
            .write_all(line.as_bytes())
            .and_then(|()| self.file.flush())
            .map_err(|source| ResultsError::io(&self.path, source))
    }
}

impl Drop for Appender {
    /// Closing the file is not enough: a child process that is just being started holds a copy of it, lock and all.
    fn drop(&mut self) {
        // If unlocking fails, closing the file is all that is left to do.
        let _ = self.file.unlock();
    }
}

/// A result file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResultsError {
    /// The operating system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file of results.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A line is not a record.
    #[error("{} line {line}: {problem}; mend or delete that line", path.display())]
    BadLine {
        /// The file of results.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// Two runs would write the same file.
    #[error("{} is being written by another run; wait for it, or write to another file", path.display())]
    Busy {
        /// The file of results.
        path: PathBuf,
    },
}

impl ResultsError {
    fn io(path: &Path, source: std::io::Error) -> ResultsError {
        ResultsError::Io { path: path.to_owned(), source }
    }
}

fn parse<L: Line>(path: &Path, text: &str) -> Result<Vec<L>, ResultsError> {
    let parse_line = |(index, line): (usize, &str)| {
        serde_json::from_str::<L>(line)
            .map_err(|error| error.to_string())
            .and_then(|record| record.check().map(|()| record))
            .map_err(|problem| ResultsError::BadLine { path: path.to_owned(), line: index + 1, problem })
    };
    text.lines().enumerate().map(parse_line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(rep: usize) -> RunRecord {
        RunRecord {
            task: "f1".into(),
            optimizer: "random".into(),
            rep,
            n: 1,
            horizon: 2,
            values: vec![1.0, 0.1 + 0.2, 3.0],
            ask_ms: vec![0.5, 0.25],
            seed: 7,
            ..RunRecord::default()
        }
    }

    #[test]
    fn a_record_is_written_as_the_contract_says_and_read_back_exactly() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.jsonl");
        let (mut appender, before) = Appender::open::<RunRecord>(&path).unwrap();
        assert!(before.is_empty());
        appender.append(&record(0)).unwrap();
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            "{\"task\":\"f1\",\"optimizer\":\"random\",\"rep\":0,\"n\":1,\"horizon\":2,\
             \"values\":[1.0,0.30000000000000004,3.0],\"ask_ms\":[0.5,0.25],\"seed\":7}\n"
        );
        let ours = RunRecord { engine: Some(12), ..record(1) };
        appender.append(&ours).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.ends_with("\"seed\":7,\"engine\":12}\n"), "{text}");
        assert_eq!(read(&path).unwrap(), [record(0), ours], "older records have no engine");
    }

    #[test]
    fn a_torn_last_line_is_cut_off_wherever_it_was_torn() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.jsonl");
        let line = |rep| format!("{}\n", serde_json::to_string(&record(rep)).unwrap());
        for length in 0..line(1).len() {
            std::fs::write(&path, line(0) + &line(1)[..length]).unwrap();
            let (mut appender, before) = Appender::open::<RunRecord>(&path).unwrap();
            assert_eq!(before, [record(0)]);
            appender.append(&record(2)).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), line(0) + &line(2));
        }
    }

    #[test]
    fn a_file_has_one_writer_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.jsonl");
        let first = Appender::open::<RunRecord>(&path).unwrap();
        assert!(matches!(Appender::open::<RunRecord>(&path), Err(ResultsError::Busy { .. })));
        drop(first);
        assert!(Appender::open::<RunRecord>(&path).is_ok());
    }

    #[test]
    fn a_bad_line_is_named_by_file_and_number_and_the_file_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.jsonl");
        let good = serde_json::to_string(&record(0)).unwrap();
        let short = good.replace("[1.0,0.30000000000000004,3.0]", "[1.0]");
        for (bad, problem) in
            [("oops", "expected value"), (&short, "n + horizon is 3, but there are 1 values")]
        {
            let text = format!("{good}\n{bad}\n{good}\n");
            std::fs::write(&path, &text).unwrap();
            for error in [read(&path).unwrap_err(), Appender::open::<RunRecord>(&path).err().unwrap()] {
                let error = error.to_string();
                assert!(error.contains("results.jsonl line 2") && error.contains(problem), "{error}");
            }
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }

    /// A process that is being started holds a copy of every open file for a moment, and with it the lock.
    #[test]
    fn a_refused_file_is_free_at_once_while_processes_are_started() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.jsonl");
        std::fs::write(&path, "oops\n").unwrap();
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..100 {
                    std::process::Command::new("true").status().unwrap();
                }
                done.store(true, std::sync::atomic::Ordering::Relaxed);
            });
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                let error = Appender::open::<RunRecord>(&path).err().unwrap();
                assert!(matches!(error, ResultsError::BadLine { .. }), "{error}");
            }
        });
    }
}
