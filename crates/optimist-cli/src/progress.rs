//! How the run is doing, on standard error: a bar on a terminal, a line per new best elsewhere.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use optimist::pareto;
use optimist_study::{Outcomes, State, Trial};

use crate::show::{in_short, plain, say, values};

/// Follows a run.
pub struct Progress {
    /// Hidden where there is no terminal.
    bar: ProgressBar,
    outcomes: Outcomes,
    best: Option<f64>,
    /// With several goals: their Pareto front, where larger is better.
    front: Vec<Vec<f64>>,
}

impl Progress {
    /// A run that is about to start or to resume.
    pub fn new(state: &State) -> Self {
        let bar = if std::io::stderr().is_terminal() {
            let planned = state.plan().trials as u64;
            let bar = ProgressBar::new(planned).with_style(style()).with_message("no value yet");
            bar.set_position(state.n_done() as u64);
            bar.reset_eta();
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        } else {
            ProgressBar::hidden()
        };
        let outcomes = state.outcomes().clone();
        let mut progress = Self { bar, outcomes, best: None, front: Vec::new() };
        for trial in state.trials() {
            progress.takes(trial);
        }
        progress
    }

    /// A trial has ended.
    pub fn update(&mut self, trial: &Trial) {
        self.bar.inc(1);
        match (trial.measurements.is_empty(), &trial.failure) {
            (true, None) => {}
            (true, Some(failure)) => {
                let reason = failure.explanation().replace('\n', "\n  ");
                self.print(&format!("trial {} failed: {reason}", trial.number));
            }
            (false, _) => {
                if let Some(what) = self.takes(trial) {
                    let values = values(&self.outcomes, |name| trial.value_of(name));
                    let message =
                        format!("{what} {values} at trial {}: {}", trial.number, in_short(&trial.params));
                    if self.bar.is_hidden() {
                        say(message);
                    } else {
                        self.bar.set_message(plain(&message).into_owned());
                    }
                }
            }
        }
    }

    /// What is new if the trial is better than those before it, or on the front of several goals.
    fn takes(&mut self, trial: &Trial) -> Option<&'static str> {
        if let Some(vector) = self.outcomes.traded(|name| trial.measured_value_of(name)) {
            let is_beaten = |vector: &[f64], by: &[f64]| by == vector || pareto::dominates(by, vector);
            if self.front.iter().any(|other| is_beaten(&vector, other)) {
                return None;
            }
            self.front.retain(|other| !pareto::dominates(&vector, other));
            self.front.push(vector);
            return Some("on the front:");
        }
        let merit = self.outcomes.merit(|name| trial.measured_value_of(name))?;
        if self.best.is_some_and(|best| !self.outcomes.is_better(merit, best)) {
            return None;
        }
        self.best = Some(merit);
        Some(if self.outcomes.goal().is_some() { "best" } else { "feasible:" })
    }

    /// Does something with the bar out of the way.
    pub fn suspend<T>(&self, work: impl FnOnce() -> T) -> T {
        self.bar.suspend(work)
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Prints a line above the bar.
    pub fn print(&self, message: &str) {
        self.suspend(|| say(message));
    }
}

fn style() -> ProgressStyle {
    ProgressStyle::with_template(
        "{bar:32.cyan/blue} {pos}/{len} trials  {elapsed} (about {eta} left)\n{wide_msg}",
    )
    .expect("the template is a constant, and a test reads it")
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_template_of_the_bar_is_valid() {
        super::style();
    }
}
