//! Measuring a trial with the user's command (the objective protocol, `docs/study-file.md`).
//!
//! Given: a trial. Gives: what the command said about it, or why it gave no value.
//! Whatever the command does (crash, hang, flood a pipe, talk nonsense), the trial ends.

mod guard;
pub(crate) mod orphans;
pub mod process;
mod reply;

use std::process::Command;
use std::time::{Duration, Instant};

use optimist::space::{Assignment, Space};

use crate::evaluation::{Evaluation, Evaluator, StartError};
use crate::event::FailureKind;
use crate::identity::Identity;
use crate::interrupt::Interrupt;
use crate::objective::{Mode, Objective, STORAGE_VARIABLE, TOKEN_VARIABLE, environment_name};
use crate::study::Job;
use process::{Group, Output, Process};

/// Measures one trial after another with a command, keeping a serving process alive in between.
pub struct CommandEvaluator {
    objective: Objective,
    /// The names of all parameters, active or not.
    names: Vec<String>,
    interrupt: Interrupt,
    server: Option<Process>,
}

impl CommandEvaluator {
    /// Nothing is started before the first trial. `interrupt` is that of the workers: when it is urgent, commands are killed.
    pub fn new(objective: Objective, space: &Space, interrupt: &Interrupt) -> Self {
        let names = space.parameters().iter().map(|parameter| parameter.name.clone()).collect();
        Self { objective, names, interrupt: interrupt.clone(), server: None }
    }

    /// Ends what commands of this process, of every evaluator, have left running outside of their process groups. To be called when
    /// no command is to run any more.
    pub fn end_leftovers() {
        orphans::end(&Identity::current().owner);
    }

    fn evaluate_once(&self, params: &Assignment) -> Result<Evaluation, StartError> {
        let arguments: Vec<String> =
            self.objective.command.iter().map(|argument| fill_in(argument, &self.names, params)).collect();
        let mut command = self.command(&arguments)?;
        for name in &self.names {
            let variable = environment_name(name);
            match params.get(name).filter(|_| variable != STORAGE_VARIABLE) {
                Some(value) => command.env(variable, value.to_string()),
                None => command.env_remove(variable),
            };
        }
        let mut process = self.start(command)?;
        process.send(format!("{}\n", json(params)));
        process.close_input();

        let deadline = self.deadline();
        let mut last_line = None;
        loop {
            match process.next_output(deadline, &self.interrupt) {
                Output::Line(line) if line.trim().is_empty() => {}
                Output::Line(line) => last_line = Some(line),
                Output::Closed => {}
                Output::TimedOut => {
                    return Ok(having_known(self.timed_out(&mut process), last_line.as_deref()));
                }
                Output::Interrupted => return Ok(stopped()),
                Output::Ended(status) if !status.success() => {
                    let crashed = failed(&process, FailureKind::Crashed, process::describe(status));
                    return Ok(having_known(crashed, last_line.as_deref()));
                }
                Output::Ended(_) => break,
            }
        }
        let no_reply = || Err("the command wrote no value to standard output".to_owned());
        let reply = last_line.as_deref().map_or_else(no_reply, reply::parse);
        Ok(evaluation(&process, reply))
    }

    fn evaluate_by_server(&mut self, job: &Job) -> Result<Evaluation, StartError> {
        // A server that has spoken unasked is out of step: its next line may answer an older trial.
        let server = self.server.take();
        let mut server = match server.and_then(|mut server| server.is_quiet().then_some(server)) {
            Some(server) => server,
            None => self.start(self.command(&self.objective.command)?)?,
        };
        server.forget_errors();
        server.send(format!("{}\n", serde_json::json!({ "trial": job.trial, "params": job.params })));

        Ok(match server.next_output(self.deadline(), &self.interrupt) {
            Output::Line(line) => {
                let reply = reply::parse(&line);
                let is_in_step = reply.is_ok();
                let evaluation = evaluation(&server, reply);
                self.server = is_in_step.then_some(server);
                evaluation
            }
            Output::TimedOut => self.timed_out(&mut server),
            Output::Interrupted => stopped(),
            Output::Closed | Output::Ended(_) => {
                let how = server.end().map_or_else(|| "the command ended".to_owned(), process::describe);
                failed(&server, FailureKind::Crashed, format!("{how} before it answered"))
            }
        })
    }

    /// A command in the folder of the objective; a program given as a path is looked for there, too.
    fn command(&self, arguments: &[String]) -> Result<Command, StartError> {
        let Some((program, arguments)) = arguments.split_first() else {
            let reason = "the study has an objective without a command; give `command` in [objective]";
            return Err(StartError { reason: reason.to_owned() });
        };
        let folder = &self.objective.folder;
        let mut command =
            if program.contains('/') { Command::new(folder.join(program)) } else { Command::new(program) };
        command.args(arguments).current_dir(folder);
        command.env_remove(STORAGE_VARIABLE).env_remove(TOKEN_VARIABLE);
        command.env(orphans::VARIABLE, Identity::current().owner);
        Ok(command)
    }

    fn start(&self, command: Command) -> Result<Process, StartError> {
        let (program, folder) =
            (command.get_program().to_string_lossy().into_owned(), &self.objective.folder);
        Process::start(command, Group::Own).map_err(|error| {
            let folder = folder.display();
            let reason =
                format!("cannot start `{program}` in {folder}: {error}; check `command` in [objective]");
            StartError { reason }
        })
    }

    fn deadline(&self) -> Option<Instant> {
        Instant::now().checked_add(self.objective.timeout?)
    }

    fn timed_out(&self, process: &mut Process) -> Evaluation {
        process.end();
        let seconds = self.objective.timeout.unwrap_or_default().as_secs_f64();
        let reason = format!("no value within the timeout of {seconds} s; the command was killed");
        failed(process, FailureKind::TimedOut, reason)
    }
}

impl Evaluator for CommandEvaluator {
    fn evaluate(&mut self, job: &Job) -> Result<Evaluation, StartError> {
        match self.objective.mode {
            Mode::Once => self.evaluate_once(&job.params),
            Mode::Serve => self.evaluate_by_server(job),
        }
    }
}

/// For another worker, which starts a process of its own.
impl Clone for CommandEvaluator {
    fn clone(&self) -> Self {
        let Self { objective, names, interrupt, server: _ } = self;
        let (objective, names, interrupt) = (objective.clone(), names.clone(), interrupt.clone());
        Self { objective, names, interrupt, server: None }
    }
}

impl Drop for CommandEvaluator {
    /// Lets a serving process see the end of its input and leave by itself.
    fn drop(&mut self) {
        const PATIENCE: Duration = Duration::from_secs(2);
        if let Some(mut server) = self.server.take() {
            server.close_input();
            let deadline = Some(Instant::now() + PATIENCE);
            while let Output::Line(_) | Output::Closed = server.next_output(deadline, &self.interrupt) {}
        }
    }
}

/// What the command replied, with what it wrote to standard error if there is no value.
fn evaluation(process: &Process, reply: Result<Evaluation, String>) -> Evaluation {
    match reply {
        Ok(Evaluation::Failed { kind, reason, known, .. }) => {
            Evaluation::Failed { kind, reason, stderr: process.last_errors(), known }
        }
        Ok(evaluation) => evaluation,
        Err(reason) => failed(process, FailureKind::Unreadable, reason),
    }
}

fn failed(process: &Process, kind: FailureKind, reason: String) -> Evaluation {
    Evaluation::Failed { kind, reason, stderr: process.last_errors(), known: None }
}

/// A failure with what the command had measured before it, by the last line that it wrote.
fn having_known(failed: Evaluation, last_line: Option<&str>) -> Evaluation {
    match failed {
        Evaluation::Failed { kind, reason, stderr, .. } => {
            Evaluation::Failed { kind, reason, stderr, known: last_line.and_then(reply::known) }
        }
        other => other,
    }
}

fn stopped() -> Evaluation {
    Evaluation::Stopped { reason: "the run was stopped".to_owned() }
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
}
