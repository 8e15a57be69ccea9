//! A child process that is sent lines and answers with lines: peers, and the objective of the real tasks.
//!
//! Given: a command. Gives: its answers, or what became of it.
//! Does not know: what the lines mean. It never blocks for longer than its patience, whatever the process does, and
//! kills the process when it is dropped; how is known to `optimist_study::process`.

use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use optimist_study::Interrupt;
use optimist_study::process::{Group, Output, Process};

/// A running process.
pub struct LineProcess {
    process: Process,
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
    #[error("ended without an answer; last output: {last_words}")]
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
    pub fn start(command: Command, patience: Duration) -> Result<LineProcess, ProcessError> {
        let process = Process::start(command, Group::Inherited)
            .map_err(|error| ProcessError::NotStarted { reason: error.to_string() })?;
        Ok(LineProcess { process, patience })
    }

    /// The process, as the operating system counts them.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Sends a message that is not answered, as one line. Whether it arrived the next answer shows.
    pub fn send(&self, message: &serde_json::Value) {
        self.process.send(format!("{message}\n"));
    }

    /// Sends a message and waits for the line that answers it.
    ///
    /// # Errors
    /// If there is none in time, or none any more.
    pub fn answer(&mut self, message: &serde_json::Value) -> Result<String, ProcessError> {
        self.send(message);
        match self.process.next_output(deadline(self.patience), &Interrupt::default()) {
            Output::Line(line) => Ok(line),
            Output::Closed | Output::Ended(_) => Err(self.ended()),
            Output::TimedOut | Output::Interrupted => Err(ProcessError::Silent { after: self.patience }),
        }
    }

    fn ended(&mut self) -> ProcessError {
        /// A process that answers no more may still say why.
        const LAST_WORDS: Duration = Duration::from_secs(1);
        wait(&mut self.process, deadline(LAST_WORDS), drop);
        self.process.end();
        let last_words = last_words(&self.process).unwrap_or_else(|| "none".to_owned());
        ProcessError::Ended { last_words }
    }
}

/// When `time` will have passed; `None` if that is beyond all clocks.
pub(crate) fn deadline(time: Duration) -> Option<Instant> {
    Instant::now().checked_add(time)
}

/// How a process ended, if it did before the deadline; `show` is given each line that it wrote until then.
pub(crate) fn wait(
    process: &mut Process,
    deadline: Option<Instant>,
    mut show: impl FnMut(String),
) -> Option<ExitStatus> {
    loop {
        match process.next_output(deadline, &Interrupt::default()) {
            Output::Line(line) => show(line),
            Output::Closed => {}
            Output::Ended(status) => return Some(status),
            Output::TimedOut | Output::Interrupted => return None,
        }
    }
}

/// The last line of standard error that is not empty: that is where Python says what went wrong.
pub(crate) fn last_words(process: &Process) -> Option<String> {
    let errors = process.last_errors()?;
    Some(errors.lines().last()?.trim().chars().take(500).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shell(script: &str) -> LineProcess {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        LineProcess::start(command, Duration::from_secs(20)).unwrap()
    }

    /// So that Ctrl-C, and `speed` when it gives a cell up, stop peers as well.
    #[test]
    fn a_process_is_in_our_group() {
        let mut process = shell("exec python3 -c 'import os; print(os.getpgrp())'");
        let group = process.answer(&json!(1)).unwrap();
        assert_eq!(group, rustix::process::getpgrp().as_raw_nonzero().to_string());
    }

    #[test]
    fn a_process_that_closes_its_output_has_ended_and_its_last_words_are_those_after_that() {
        let mut process = shell("exec >&-; echo no luck >&2; echo >&2; exec sleep 60");
        let ended = ProcessError::Ended { last_words: "no luck".to_owned() };
        assert_eq!(process.answer(&json!(1)), Err(ended.clone()));
        assert_eq!(process.answer(&json!(2)), Err(ended));
    }
}
