//! How the run is doing, on standard error: a bar on a terminal, a line per new best elsewhere.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use optimist_study::view::number::significant;
use optimist_study::{Direction, State, Trial};

use crate::show::{in_short, plain, say};

/// Follows a run.
pub struct Progress {
    /// Hidden where there is no terminal.
    bar: ProgressBar,
    direction: Direction,
    best: Option<f64>,
}

impl Progress {
    /// A run that is about to start, or to go on.
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
        let best = state.best_observed().and_then(Trial::value);
        Self { bar, direction: state.definition().direction, best }
    }

    /// A trial has ended.
    pub fn update(&mut self, trial: &Trial) {
        self.bar.inc(1);
        match (trial.value(), &trial.failure) {
            (None, None) => {}
            (None, Some(failure)) => {
                let reason = failure.explanation().replace('\n', "\n  ");
                self.print(&format!("trial {} failed: {reason}", trial.number));
            }
            (Some(value), _) => {
                if self.best.is_none_or(|best| self.direction.is_better(value, best)) {
                    self.best = Some(value);
                    let best = format!("{} at trial {}", significant(value, 6), trial.number);
                    let message = format!("best {best}: {}", in_short(&trial.params));
                    if self.bar.is_hidden() {
                        say(message);
                    } else {
                        self.bar.set_message(plain(&message).into_owned());
                    }
                }
            }
        }
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
