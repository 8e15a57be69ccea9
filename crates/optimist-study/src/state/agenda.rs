//! What is to be done next in a study, and when it is over: what its state means under its plan.

use optimist::space::Assignment;

use super::State;
use crate::definition::{Direction, Plan};

/// The study is over after this many suggestions in a row with too little to gain.
pub(super) const LOW_GAINS: usize = 5;

/// Replicates are worth their while once there are this many points to choose from.
const FEWEST_POINTS: usize = 5;

/// What is to be done next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// This trial, again.
    Retry(usize),
    /// A point that somebody asked for.
    Enqueued(Assignment),
    /// The point of this trial, once more.
    Replicate(usize),
    /// Whatever the optimizer suggests.
    Suggest,
}

/// Why a study is over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Over {
    /// As many trials as were planned.
    Trials,
    /// A value is good enough.
    Target {
        /// The trial that it was measured in.
        trial: usize,
    },
    /// There is too little to gain.
    Gain {
        /// The largest gain that the last suggestions were expected to bring.
        gain: f64,
    },
}

impl State {
    /// What is to be done next, whatever the plan says.
    pub fn next(&self) -> Next {
        if let Some(&trial) = self.waiting.first() {
            Next::Retry(trial)
        } else if let Some(params) = self.queue.front() {
            Next::Enqueued(params.clone())
        } else if let Some(trial) = self.worth_repeating() {
            Next::Replicate(trial)
        } else {
            Next::Suggest
        }
    }

    /// What is to be done next under the plan; `None` if there is nothing, though others may still be running trials.
    pub fn planned(&self) -> Option<Next> {
        match self.over() {
            None => Some(self.next()),
            Some(Over::Trials) => self.waiting.first().map(|&trial| Next::Retry(trial)),
            Some(Over::Target { .. } | Over::Gain { .. }) => None,
        }
    }

    /// Why there will be no further trial under the plan as it is now.
    pub fn over(&self) -> Option<Over> {
        let Plan { trials, target, min_gain, .. } = self.definition.plan;
        if let Some((target, best)) = target.zip(self.best_observed())
            && best.value().is_some_and(|value| !self.direction().is_better(target, value))
        {
            return Some(Over::Target { trial: best.number });
        }
        if let Some(min_gain) = min_gain
            && self.gains.len() == LOW_GAINS
            && self.gains.iter().all(|gain| gain.is_some_and(|gain| gain < min_gain))
        {
            let gain = self.gains.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
            return Some(Over::Gain { gain });
        }
        (self.n_counted >= trials).then_some(Over::Trials)
    }

    /// Whether the study is over and nobody runs a trial any more.
    pub fn is_settled(&self) -> bool {
        self.planned().is_none() && self.running.is_empty()
    }

    fn direction(&self) -> Direction {
        self.definition.direction
    }

    /// The first trial at the point with the best mean, if it was measured, or is being measured, less than
    /// `replicates` times. So a lucky value is measured again before anything is built on it.
    fn worth_repeating(&self) -> Option<usize> {
        let replicates = self.definition.plan.replicates;
        if replicates <= 1 {
            return None;
        }
        #[derive(Clone, Copy, Default)]
        struct Point {
            sum: f64,
            n_measured: usize,
            n_running: usize,
        }
        let mut points = vec![Point::default(); self.n_trials()];
        for trial in self.trials() {
            // A replicate that turned out to be run with other values is a point of its own.
            let original = trial.original();
            let is_there = self.trials()[original].params == trial.params;
            let point = &mut points[if is_there { original } else { trial.number }];
            point.n_running += usize::from(!trial.has_ended());
            point.n_measured += trial.measurements.len();
            point.sum += trial.measurements.iter().map(|measured| measured.value).sum::<f64>();
        }
        let mean = |point: &Point| point.sum / point.n_measured as f64;
        let is_better = |a: &Point, b: &Point| self.direction().is_better(mean(a), mean(b));
        let valued = || points.iter().enumerate().filter(|(_, point)| point.n_measured > 0);
        let (number, best) =
            valued().reduce(|best, next| if is_better(next.1, best.1) { next } else { best })?;
        let is_due =
            best.n_measured + best.n_running < replicates && valued().nth(FEWEST_POINTS - 1).is_some();
        is_due.then_some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{after, asked};
    use super::*;

    #[test]
    fn little_to_gain_five_times_in_a_row_ends_the_study() {
        let over = |gains: &[Option<f64>]| {
            let events = gains.iter().enumerate().map(|(trial, gain)| asked(trial, *gain));
            after("min_gain = 0.1\ntrials = 100", events).over()
        };
        assert_eq!(over(&[Some(0.05); 4]), None);
        assert_eq!(
            over(&[Some(0.05), Some(0.01), Some(0.02), Some(0.0), Some(0.03)]),
            Some(Over::Gain { gain: 0.05 })
        );
        assert_eq!(over(&[Some(0.05), Some(0.05), Some(0.5), Some(0.05), Some(0.05)]), None);
        assert_eq!(over(&[None; 5]), None);
        let row = [&[Some(0.5)][..], &[Some(0.01); 5]].concat();
        assert_eq!(over(&row), Some(Over::Gain { gain: 0.01 }));
    }
}
