//! How far a benchmark is, on standard error: a bar on a terminal, a line now and then elsewhere.

use std::io::IsTerminal;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use optimist_bench::engines;
use optimist_bench::forecast::Forecast;
use optimist_bench::run::Progress;

/// Follows a run of benchmarks, from any thread.
pub struct ProgressDisplay {
    /// Hidden where there is no terminal.
    bar: ProgressBar,
    state: Arc<Mutex<State>>,
}

struct State {
    forecast: Forecast,
    /// When the forecast was last true.
    updated: Instant,
    /// How many twentieths of the run have been written about.
    twentieths: u64,
}

impl ProgressDisplay {
    /// A run that is about to start.
    pub fn new() -> Self {
        let state = Arc::new(Mutex::new(State {
            forecast: Forecast::default(),
            updated: Instant::now(),
            twentieths: 0,
        }));
        let bar = if std::io::stderr().is_terminal() {
            let bar = ProgressBar::new(0).with_style(style(Arc::clone(&state)));
            bar.enable_steady_tick(Duration::from_millis(500));
            bar
        } else {
            ProgressBar::hidden()
        };
        Self { bar, state }
    }

    /// Something has happened.
    pub fn update(&self, event: &Progress) {
        match event {
            Progress::Started { cells, missing, kept, before, jobs } => {
                if let Some(others) = engines::others(kept) {
                    self.bar.suspend(|| eprintln!("{others}"));
                }
                self.bar.set_length(*cells as u64);
                self.bar.set_position((cells - missing.len()) as u64);
                self.state().forecast = Forecast::new(missing, before, *jobs);
            }
            Progress::Finished { record, elapsed } => {
                self.bar.set_message(format!("{} on {}", record.optimizer, record.task));
                let mut state = self.state();
                state.forecast.finished(&record.task, &record.optimizer, *elapsed);
                state.updated = Instant::now();
                self.advance(state);
            }
            Progress::Failed(failure) => {
                self.bar.suspend(|| eprintln!("failed: {failure}"));
                let mut state = self.state();
                state.forecast.ended(failure.task, &failure.optimizer);
                self.advance(state);
            }
        }
    }

    /// Removes the bar. Gives how many runs there are in all.
    pub fn finish(&self) -> usize {
        self.bar.finish_and_clear();
        self.bar.length().unwrap_or(0) as usize
    }

    fn advance(&self, mut state: MutexGuard<State>) {
        self.bar.inc(1);
        let (done, all) = (self.bar.position(), self.bar.length().unwrap_or(0).max(1));
        let twentieths = 20 * done / all;
        if self.bar.is_hidden() && twentieths > state.twentieths {
            state.twentieths = twentieths;
            eprintln!("{done} of {all} runs, {}", state.time_left());
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it is held")
    }
}

impl State {
    fn time_left(&self) -> String {
        match self.forecast.time_left() {
            None => "time left not known yet".into(),
            Some(left) => {
                let left = left.saturating_sub(self.updated.elapsed());
                format!("about {} left", HumanDuration(Duration::from_secs(left.as_secs())))
            }
        }
    }
}

fn style(state: Arc<Mutex<State>>) -> ProgressStyle {
    let left = move |_: &ProgressState, text: &mut dyn std::fmt::Write| {
        let _ = text.write_str(&state.lock().map_or_else(|_| String::new(), |state| state.time_left()));
    };
    ProgressStyle::with_template("{bar:32.cyan/blue} {pos}/{len} runs  {elapsed} ({left})  {msg}")
        .expect("the template is a constant, and a test reads it")
        .with_key("left", left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_of_the_bar_is_valid() {
        let state = State { forecast: Forecast::default(), updated: Instant::now(), twentieths: 0 };
        style(Arc::new(Mutex::new(state)));
    }
}
