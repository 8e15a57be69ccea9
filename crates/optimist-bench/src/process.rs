//! A child process that is sent lines and answers with lines: peers, and the objective of the real tasks.
//!
//! Given: a command. Gives: its answers, or what became of it.
//! Does not know: what the lines mean. It never blocks for longer than its patience, whatever the process
//! does, and kills the process when it is dropped.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Longer lines are cut, and so are not answers.
const LONGEST_LINE: u64 = 1 << 20;

/// A running process.
pub struct LineProcess {
    child: Child,
    /// Lines for the process, written by a thread so that a process that does not read blocks nobody.
    input: Sender<String>,
    /// Lines of the process; ended when it has closed its output.
    output: Receiver<String>,
    /// The last that it wrote to standard error, once it has ended.
    errors: Option<JoinHandle<String>>,
    patience: Duration,
}

/// What became of a process that does not answer; reads after its name, as in "the peer …".
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProcessError {
    /// The process could not be started.
    #[error("cannot be started: {reason}")]
    NotStarted {
        /// What the system said.
        reason: String,
    },
    /// The process ended before it answered.
    #[error("ended without an answer; its last words: {last_words}")]
    Ended {
        /// The end of what it wrote to standard error.
        last_words: String,
    },
    /// There was no answer in time.
    #[error("gave no answer within {} s", after.as_secs_f64())]
    Silent {
        /// How long it was waited for.
        after: Duration,
    },
}

impl LineProcess {
    /// Starts a command, whose every answer may take as long as `patience`.
    ///
    /// # Errors
    /// If the command cannot be started.
    pub fn start(mut command: Command, patience: Duration) -> Result<LineProcess, ProcessError> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            command.spawn().map_err(|error| ProcessError::NotStarted { reason: error.to_string() })?;
        let (input, lines) = mpsc::channel::<String>();
        if let Some(mut stdin) = child.stdin.take() {
            // A process that cannot be written to has ended, which the next answer will show.
            thread::spawn(move || lines.iter().all(|line| stdin.write_all(line.as_bytes()).is_ok()));
        }
        let (report, output) = mpsc::channel();
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || read_lines(BufReader::new(stdout), &report));
        }
        let errors = child.stderr.take().map(|stderr| thread::spawn(move || last_words(stderr)));
        Ok(LineProcess { child, input, output, errors, patience })
    }

    /// The process, as the operating system counts them.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a message that is not answered, as one line. Whether it arrived the next answer shows.
    pub fn send(&self, message: &serde_json::Value) {
        let _ = self.input.send(format!("{message}\n")); // fails only if the process has ended
    }

    /// Sends a message and waits for the line that answers it.
    ///
    /// # Errors
    /// If there is none in time, or none any more.
    pub fn answer(&mut self, message: &serde_json::Value) -> Result<String, ProcessError> {
        self.send(message);
        self.output.recv_timeout(self.patience).map_err(|error| match error {
            RecvTimeoutError::Timeout => ProcessError::Silent { after: self.patience },
            RecvTimeoutError::Disconnected => self.ended(),
        })
    }

    fn ended(&mut self) -> ProcessError {
        self.kill();
        let last_words = self.errors.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        let last_words = if last_words.is_empty() { "none".to_owned() } else { last_words };
        ProcessError::Ended { last_words }
    }

    fn kill(&mut self) {
        let _ = self.child.kill(); // fails only if it has ended
        let _ = self.child.wait();
    }
}

impl Drop for LineProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

fn read_lines(mut output: impl BufRead, report: &Sender<String>) {
    loop {
        let mut line = Vec::new();
        match output.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
            Ok(1..) if report.send(String::from_utf8_lossy(&line).trim_end().to_owned()).is_ok() => {}
            _ => return,
        }
    }
}

/// The last line that is not empty: that is where Python says what went wrong.
pub(crate) fn last_words(errors: impl Read) -> String {
    let lines = BufReader::new(errors).split(b'\n').map_while(Result::ok);
    let words = lines.map(|line| String::from_utf8_lossy(&line).trim().chars().take(500).collect::<String>());
    words.filter(|line| !line.is_empty()).last().unwrap_or_default()
}
