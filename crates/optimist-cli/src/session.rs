//! A run as people see it: workers at work, with progress on standard error and trials on standard output.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use anyhow::Context;
use optimist_study::Study;
use optimist_study::view::TrialView;
use optimist_study::worker::{self, Ending, Notice, Orders};

use crate::interrupt;
use crate::progress::Progress;
use crate::show::print_json;

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
pub fn run(study: Study, orders: &Orders, json: bool) -> anyhow::Result<Session> {
    let interrupt = interrupt::listen().context("cannot listen for Ctrl-C")?;
    let start = Instant::now();
    let mut progress = Progress::new(study.state());
    let mut n_ended = 0;
    let mut printed = Ok(());
    let worked = worker::work(study, orders, &interrupt, |notice| {
        match notice {
            Notice::Trouble(trouble) => progress.print(trouble),
            Notice::Waiting(1) => progress.print("waiting for a trial that somebody else runs"),
            Notice::Waiting(n) => progress.print(&format!("waiting for {n} trials that others run")),
            Notice::Trial(trial) if !trial.has_ended() => {}
            Notice::Trial(trial) => {
                n_ended += 1;
                progress.update(trial);
                if json && printed.is_ok() {
                    printed = progress.suspend(|| print_json(&TrialView::new(trial)));
                }
            }
        }
        if printed.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    progress.finish();
    let (study, ending) = worked?;
    printed?;
    Ok(Session { study, ending, took: start.elapsed(), n_ended })
}
