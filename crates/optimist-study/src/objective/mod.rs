//! Measuring a trial with the user's command (the objective protocol, `docs/study-file.md`).
//!
//! Given: the parameters of a trial. Gives: what the command answered, or why it gave no value.
//! Whatever the command does (crash, hang, flood a pipe, talk nonsense), a trial ends with an answer.

pub mod process;
mod reply;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use optimist::space::Assignment;
use serde::{Deserialize, Serialize};

use crate::definition::optional_seconds;
use crate::event::FailureKind;
use crate::interrupt::Interrupt;
use process::{Group, Output, Process};
pub use reply::Measurement;
use reply::Reply;

/// How a trial is measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Objective {
    /// The program and its arguments; never empty.
    pub command: Vec<String>,
    /// How the command takes parameters and gives values.
    pub mode: Mode,
    /// How long a trial may take; no limit if `None`.
    #[serde(default, with = "optional_seconds")]
    pub timeout: Option<Duration>,
    /// Where the command runs; absolute.
    pub folder: PathBuf,
}

/// How a command takes parameters and gives values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Started anew for each trial.
    Once,
    /// Started once for each worker; one line in and one line out for each trial.
    Serve,
}

/// What became of a trial.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The command gave a value.
    Measured(Measurement),
    /// It gave none.
    Failed(NoValue),
    /// The user stopped the run before it answered.
    Interrupted,
}

/// Why a command gave no value.
#[derive(Debug, Clone, PartialEq)]
pub struct NoValue {
    /// In which way.
    pub kind: FailureKind,
    /// In words.
    pub reason: String,
    /// The end of what it wrote to standard error.
    pub stderr: Option<String>,
}

/// The command cannot be started at all, so that no trial can succeed.
#[derive(Debug, thiserror::Error)]
#[error("cannot start `{program}` in {}: {reason}; check `command` in [objective]", folder.display())]
pub struct StartError {
    program: String,
    folder: PathBuf,
    reason: std::io::Error,
}

/// Measures one trial after another, keeping a serving process alive in between.
pub struct Evaluator<'a> {
    objective: &'a Objective,
    /// The names of all parameters, active or not.
    names: &'a [String],
    interrupt: &'a Interrupt,
    server: Option<Process>,
}

/// The environment variable that carries a parameter in mode `once`.
pub fn environment_name(parameter: &str) -> String {
    let name: String = parameter.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
    format!("OPTIMIST_{}", name.to_uppercase())
}

impl<'a> Evaluator<'a> {
    /// Nothing is started before the first trial. `names` are those of all parameters.
    pub fn new(objective: &'a Objective, names: &'a [String], interrupt: &'a Interrupt) -> Self {
        Self { objective, names, interrupt, server: None }
    }

    /// Measures one trial.
    ///
    /// # Errors
    /// If the command cannot be started.
    pub fn evaluate(&mut self, trial: usize, params: &Assignment) -> Result<Answer, StartError> {
        match self.objective.mode {
            Mode::Once => self.evaluate_once(params),
            Mode::Serve => self.evaluate_by_server(trial, params),
        }
    }

    fn evaluate_once(&self, params: &Assignment) -> Result<Answer, StartError> {
        let arguments: Vec<String> =
            self.objective.command.iter().map(|argument| fill_in(argument, self.names, params)).collect();
        let mut command = command(&arguments, &self.objective.folder);
        for name in self.names {
            match params.get(name) {
                Some(value) => command.env(environment_name(name), value.to_string()),
                None => command.env_remove(environment_name(name)),
            };
        }
        let mut process = self.start(command)?;
        process.send(format!("{}\n", json(params)));
        process.close_input();

        let deadline = self.deadline();
        let mut last_line = None;
        loop {
            match process.next_output(deadline, self.interrupt) {
                Output::Line(line) if line.trim().is_empty() => {}
                Output::Line(line) => last_line = Some(line),
                Output::Closed => {}
                Output::TimedOut => return Ok(self.timed_out(&mut process)),
                Output::Interrupted => return Ok(Answer::Interrupted),
                Output::Ended(status) if !status.success() => {
                    return Ok(failed(&process, FailureKind::Crashed, process::describe(status)));
                }
                Output::Ended(_) => break,
            }
        }
        let reply = last_line.as_deref().map_or_else(
            || Reply::Garbage("the command wrote no value to standard output".to_owned()),
            Reply::parse,
        );
        Ok(answer(&process, reply))
    }

    fn evaluate_by_server(&mut self, trial: usize, params: &Assignment) -> Result<Answer, StartError> {
        // A server that has spoken unasked is out of step: its next line may answer an older trial.
        let server = self.server.take();
        let mut server = match server.and_then(|mut server| server.is_quiet().then_some(server)) {
            Some(server) => server,
            None => self.start(command(&self.objective.command, &self.objective.folder))?,
        };
        server.forget_errors();
        server.send(format!("{}\n", serde_json::json!({ "trial": trial, "params": params })));

        let event = server.next_output(self.deadline(), self.interrupt);
        Ok(match event {
            Output::Line(line) => {
                let reply = Reply::parse(&line);
                let is_in_step = !matches!(reply, Reply::Garbage(_));
                let answer = answer(&server, reply);
                self.server = is_in_step.then_some(server);
                answer
            }
            Output::TimedOut => self.timed_out(&mut server),
            Output::Interrupted => Answer::Interrupted,
            Output::Closed | Output::Ended(_) => {
                let how = server.end().map_or_else(|| "the command ended".to_owned(), process::describe);
                failed(&server, FailureKind::Crashed, format!("{how} before it answered"))
            }
        })
    }

    fn start(&self, command: Command) -> Result<Process, StartError> {
        let program = command.get_program().to_string_lossy().into_owned();
        let folder = self.objective.folder.clone();
        Process::start(command, Group::Own).map_err(|reason| StartError { program, folder, reason })
    }

    fn deadline(&self) -> Option<Instant> {
        Instant::now().checked_add(self.objective.timeout?)
    }

    fn timed_out(&self, process: &mut Process) -> Answer {
        process.end();
        let seconds = self.objective.timeout.unwrap_or_default().as_secs_f64();
        let reason = format!("no value within the timeout of {seconds} s; the command was killed");
        failed(process, FailureKind::TimedOut, reason)
    }
}

fn answer(process: &Process, reply: Reply) -> Answer {
    match reply {
        Reply::Value(measurement) => Answer::Measured(measurement),
        Reply::Error { reason, retry: false } => failed(process, FailureKind::Infeasible, reason),
        Reply::Error { reason, retry: true } => failed(process, FailureKind::Retried, reason),
        Reply::Unusable(reason) | Reply::Garbage(reason) => failed(process, FailureKind::Unreadable, reason),
    }
}

fn failed(process: &Process, kind: FailureKind, reason: String) -> Answer {
    Answer::Failed(NoValue { kind, reason, stderr: process.last_errors() })
}

impl Drop for Evaluator<'_> {
    /// Lets a serving process see the end of its input and leave by itself.
    fn drop(&mut self) {
        const PATIENCE: Duration = Duration::from_secs(2);
        if let Some(mut server) = self.server.take() {
            server.close_input();
            let deadline = Some(Instant::now() + PATIENCE);
            while let Output::Line(_) | Output::Closed = server.next_output(deadline, self.interrupt) {}
        }
    }
}

/// A command in `folder`; a program given as a path is looked for there, too.
fn command(arguments: &[String], folder: &Path) -> Command {
    let (program, arguments) =
        arguments.split_first().expect("a command has a program: the study file was checked");
    let mut command =
        if program.contains('/') { Command::new(folder.join(program)) } else { Command::new(program) };
    command.args(arguments).current_dir(folder);
    command
}

/// Replaces `{name}` by the value of that parameter, or by nothing if it is not active.
/// Braces around anything else stay as they are.
fn fill_in(argument: &str, names: &[String], params: &Assignment) -> String {
    let mut filled = String::new();
    let mut rest = argument;
    while let Some(open) = rest.find('{') {
        filled.push_str(&rest[..open]);
        rest = &rest[open..];
        let name = names
            .iter()
            .find(|name| rest[1..].strip_prefix(name.as_str()).is_some_and(|r| r.starts_with('}')));
        match name {
            Some(name) => {
                filled.extend(params.get(name).map(ToString::to_string));
                rest = &rest[name.len() + 2..];
            }
            None => {
                filled.push('{');
                rest = &rest[1..];
            }
        }
    }
    filled + rest
}

fn json(params: &Assignment) -> String {
    serde_json::to_string(params).expect("names are strings and values are plain")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_braces_around_a_parameter_are_filled_in() {
        let names = ["lr".to_owned(), "momentum".to_owned()];
        let params: Assignment = Assignment::from_iter([("lr", 0.5)]);
        let filled = |argument| fill_in(argument, &names, &params);
        assert_eq!(filled("--lr={lr}"), "--lr=0.5");
        assert_eq!(filled("{lr}{lr}/{{lr}}"), "0.50.5/{0.5}");
        assert_eq!(filled("momentum:{momentum}."), "momentum:.");
        assert_eq!(filled("awk {print $1} {\"a\": 1} {lr {"), "awk {print $1} {\"a\": 1} {lr {");
    }

    #[test]
    fn variables_are_named_in_capitals_with_underscores() {
        assert_eq!(environment_name("learning-rate.0"), "OPTIMIST_LEARNING_RATE_0");
    }
}
