//! What to do next in a study, and when it is finished: what its state means under its plan.

use optimist::space::Assignment;

use super::State;
use crate::definition::Plan;
use crate::event::Course;
use crate::outcomes::Outcomes;

/// The study is over after this many suggestions in a row with too little to gain.
pub(super) const LOW_GAINS: usize = 5;

/// Replicates are worth their while once there are this many points to choose from.
const FEWEST_POINTS: usize = 5;

/// What to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// This trial, again.
    Retry(usize),
    /// An enqueued point.
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
    /// Somebody stopped it.
    Stopped,
}

impl State {
    /// What to do next, regardless of the plan.
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

    /// What to do next under the plan; `None` if there is nothing, though others may still be running trials.
    pub fn planned(&self) -> Option<Next> {
        if self.course == Course::Paused {
            return None;
        }
        match self.over() {
            None => Some(self.next()),
            Some(Over::Trials) => self.waiting.first().map(|&trial| Next::Retry(trial)),
            Some(Over::Target { .. } | Over::Gain { .. } | Over::Stopped) => None,
        }
    }

    /// What `k` workers can do at the same time, regardless of the plan; fewer if a point must be measured again first.
    pub fn next_many(&self, k: usize) -> Vec<Next> {
        self.due(k, usize::MAX)
    }

    /// What `k` workers are to do at the same time under the plan, which may be less.
    pub fn planned_many(&self, k: usize) -> Vec<Next> {
        match self.planned() {
            Some(_) => self.due(k, self.plan().trials.saturating_sub(self.n_counted)),
            None => Vec::new(),
        }
    }

    /// At most `k`, of which at most `room` are new trials. What the optimizer suggests comes last.
    fn due(&self, k: usize, room: usize) -> Vec<Next> {
        let mut due: Vec<Next> = self.waiting.iter().take(k).map(|&trial| Next::Retry(trial)).collect();
        let k = due.len() + (k - due.len()).min(room);
        due.extend(self.queue.iter().take(k - due.len()).cloned().map(Next::Enqueued));
        if due.len() < k {
            match self.worth_repeating() {
                Some(trial) => due.push(Next::Replicate(trial)),
                None => due.resize(k, Next::Suggest),
            }
        }
        due
    }

    /// Why there will be no further trial under the plan as it is now.
    pub fn over(&self) -> Option<Over> {
        if self.course == Course::Stopped {
            return Some(Over::Stopped);
        }
        let Plan { trials, target, min_gain, .. } = self.definition.plan;
        if let Some((target, best)) = target.zip(self.best_observed())
            && self.merit(best).is_some_and(|value| !self.is_better(target, value))
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
        self.planned().is_none() && self.running.is_empty() && self.course != Course::Paused
    }

    /// The first trial at the point with the best mean, if it was measured, or is being measured, less than
    /// `replicates` times. So a lucky value is measured again before anything is built on it.
    fn worth_repeating(&self) -> Option<usize> {
        let replicates = self.definition.plan.replicates;
        if replicates <= 1 {
            return None;
        }
        let (outcomes, goal) = (self.outcomes(), self.outcomes().goal()?);
        let goal = outcomes.names().position(|name| name == goal.name)?;
        let mut points = vec![Point::new(outcomes); self.n_trials()];
        for trial in self.trials() {
            // A replicate that turned out to be run with other values is a point of its own.
            let original = trial.original();
            let is_there = self.trials()[original].params == trial.params;
            let point = &mut points[if is_there { original } else { trial.number }];
            point.n_running += usize::from(!trial.has_ended());
            point.n_measured += trial.measurements.len();
            for (sum, name) in point.sums.iter_mut().zip(outcomes.names()) {
                *sum += trial.measurements.iter().filter_map(|measured| measured.value(name)).sum::<f64>();
            }
        }
        let is_better = |a: &Point, b: &Point| self.is_better(a.mean(goal), b.mean(goal));
        let valued = || points.iter().enumerate().filter(|(_, point)| point.n_measured > 0);
        let feasible = valued().filter(|(_, point)| point.is_feasible(outcomes));
        let (number, best) =
            feasible.reduce(|best, next| if is_better(next.1, best.1) { next } else { best })?;
        let is_due =
            best.n_measured + best.n_running < replicates && valued().nth(FEWEST_POINTS - 1).is_some();
        is_due.then_some(number)
    }
}

/// What was measured at a point, in all its trials.
#[derive(Clone)]
struct Point {
    /// Sums of the values at this point, one for each outcome.
    sums: Vec<f64>,
    n_measured: usize,
    n_running: usize,
}

impl Point {
    fn new(outcomes: &Outcomes) -> Self {
        Self { sums: vec![0.0; outcomes.all().len()], n_measured: 0, n_running: 0 }
    }

    fn mean(&self, outcome: usize) -> f64 {
        self.sums[outcome] / self.n_measured as f64
    }

    fn is_feasible(&self, outcomes: &Outcomes) -> bool {
        let value = |of: &str| Some(self.mean(outcomes.names().position(|name| name == of)?));
        outcomes.is_feasible(value) == Some(true)
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
