//! A run as people see it: workers at work, with progress on standard error and trials on standard output.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use optimist_study::state::Over;
use optimist_study::view::TrialView;
use optimist_study::worker::{self, Ending, Notice};
use optimist_study::{CommandEvaluator, Objective, State, Study};

use crate::interrupt;
use crate::progress::Progress;
use crate::show::{print_json, say};

/// As a shell reports a process that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

/// How it went.
pub struct Session {
    /// As it is now.
    pub study: Study,
    /// Why it ended.
    pub ending: Ending,
    /// How long it took.
    pub took: Duration,
    /// How many trials ended in it.
    pub n_ended: usize,
}

/// Works on `study` until there is nothing left to do; with `json`, prints each trial as it ends.
pub fn run(study: Study, objective: Objective, workers: usize, json: bool) -> anyhow::Result<Session> {
    let interrupt = interrupt::listen().context("cannot listen for Ctrl-C")?;
    let evaluator = CommandEvaluator::new(objective, &study.state().definition().space, &interrupt);
    let start = Instant::now();
    let mut progress = Progress::new(study.state());
    let outcomes = study.state().outcomes().clone();
    let mut n_ended = 0;
    let mut printed = Ok(());
    let worked = worker::work(study, evaluator, workers, &interrupt, |notice| {
        match notice {
            Notice::Trouble(trouble) => progress.print(trouble),
            Notice::Paused => progress.print("the study is paused; waiting until it is resumed"),
            Notice::Waiting(1) => progress.print("waiting for a trial that someone else is running"),
            Notice::Waiting(n) => progress.print(&format!("waiting for {n} trials that others are running")),
            Notice::Trial(trial) if !trial.has_ended() => {}
            Notice::Trial(trial) => {
                n_ended += 1;
                progress.update(trial);
                if json && printed.is_ok() {
                    printed =
                        progress.suspend(|| print_json(&TrialView::new(trial).judged(trial, &outcomes)));
                }
            }
        }
        if printed.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    progress.finish();
    CommandEvaluator::end_leftovers();
    let (study, ending) = worked?;
    printed?;
    Ok(Session { study, ending, took: start.elapsed(), n_ended })
}

/// The exit status for why a run ended; says so unless the study is over.
pub fn conclude(ending: Ending, state: &State) -> anyhow::Result<u8> {
    match ending {
        Ending::CannotStart(error) => return Err(error.into()),
        Ending::Interrupted => {
            let (done, planned) = (state.n_done(), state.plan().trials);
            say(format!("stopped after {done} of {planned} trials; run it again to resume"));
            return Ok(INTERRUPTED);
        }
        Ending::Failures { n, last } => {
            bail!("stopped after {n} failed trials in a row (max_failures); the last failure:\n{last}")
        }
        Ending::Hopeless { n, last } => {
            let name = &state.definition().name;
            bail!(
                "stopped: the first {n} trials all failed in the same way; fix the command, put the trials back with `optimist \
                 retry {name} --failed`, and run it again; to continue regardless, set `max_failures`; the last \
                 failure:\n{last}"
            )
        }
        Ending::TimeUp => say("time is up (max_time); run it again to resume"),
        Ending::Over(Over::Stopped) => {
            let name = &state.definition().name;
            say(format!("a user stopped the study; `optimist resume {name}` resumes it, then run it again"));
        }
        Ending::Over(_) => {}
    }
    Ok(0)
}
