//! How long a run will still take, from what its cells have cost so far.

use std::collections::HashMap;
use std::time::Duration;

use crate::results::RunRecord;
use crate::run::Cell;

/// What is left of a run, and what it is expected to cost. An optimizer may be a thousand times slower than
/// another, and slower on one task than on another: so each (task, optimizer) has a cost of its own.
#[derive(Debug, Default)]
pub struct Forecast {
    left: HashMap<(String, String), usize>,
    by_pair: HashMap<(String, String), Mean>,
    by_optimizer: HashMap<String, Mean>,
    overall: Mean,
    jobs: usize,
}

#[derive(Debug, Default)]
struct Mean {
    sum: f64,
    count: usize,
}

impl Forecast {
    /// Cells that are to be played `jobs` at a time, and records of former runs. Those say how long was waited for
    /// asks only, which is better than nothing.
    pub fn new(missing: &[Cell], before: &[RunRecord], jobs: usize) -> Forecast {
        let mut forecast = Forecast { jobs: jobs.max(1), ..Forecast::default() };
        for cell in missing {
            *forecast.left.entry((cell.task.name.to_owned(), cell.optimizer.to_owned())).or_default() += 1;
        }
        for record in before {
            forecast.learn(&record.task, &record.optimizer, record.ask_ms.iter().sum::<f64>() / 1e3);
        }
        forecast
    }

    /// A cell is played.
    pub fn finished(&mut self, task: &str, optimizer: &str, elapsed: Duration) {
        self.ended(task, optimizer);
        self.learn(task, optimizer, elapsed.as_secs_f64());
    }

    /// A cell has failed, which says nothing about the others.
    pub fn ended(&mut self, task: &str, optimizer: &str) {
        if let Some(left) = self.left.get_mut(&(task.to_owned(), optimizer.to_owned())) {
            *left = left.saturating_sub(1);
        }
    }

    /// How long the rest will take; `None` if nothing has been played yet.
    pub fn time_left(&self) -> Option<Duration> {
        let mut sum = 0.0;
        let mut longest: f64 = 0.0;
        for (pair, left) in self.left.iter().filter(|(_, left)| **left > 0) {
            let cost = self.cost(pair)?;
            sum += cost * *left as f64;
            longest = longest.max(cost);
        }
        Some(Duration::from_secs_f64((sum / self.jobs as f64).max(longest)))
    }

    /// Seconds of one cell: as those of its task and optimizer, else of its optimizer, else of any.
    fn cost(&self, pair: &(String, String)) -> Option<f64> {
        let known = |mean: Option<&Mean>| mean.and_then(Mean::value);
        known(self.by_pair.get(pair))
            .or_else(|| known(self.by_optimizer.get(&pair.1)))
            .or_else(|| self.overall.value())
    }

    fn learn(&mut self, task: &str, optimizer: &str, seconds: f64) {
        self.by_pair.entry((task.to_owned(), optimizer.to_owned())).or_default().add(seconds);
        self.by_optimizer.entry(optimizer.to_owned()).or_default().add(seconds);
        self.overall.add(seconds);
    }
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }

    fn value(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::find;

    fn cell(task: &str, optimizer: &'static str, rep: usize) -> Cell<'static> {
        Cell { task: find(task).unwrap(), optimizer, rep, horizon: 2 }
    }

    fn seconds(forecast: &Forecast) -> Option<f64> {
        forecast.time_left().map(|left| left.as_secs_f64())
    }

    #[test]
    fn each_task_and_optimizer_costs_what_it_has_cost() {
        let cells = [
            cell("f1", "slow", 0),
            cell("f1", "quick", 0),
            cell("f1", "slow", 1),
            cell("f2", "slow", 0),
            cell("f2", "quick", 0),
        ];
        let mut forecast = Forecast::new(&cells, &[], 2);
        assert_eq!(seconds(&forecast), None, "nothing is known");
        let after = Duration::from_secs;
        forecast.finished("f1", "quick", after(1));
        assert_eq!(seconds(&forecast), Some(2.0), "four like the only one known, two at a time");
        forecast.finished("f1", "slow", after(100));
        // 100 for f1 again, 100 for slow on f2, 1 for quick on f2, two at a time.
        assert_eq!(seconds(&forecast), Some(100.5));
        forecast.finished("f2", "slow", after(300));
        forecast.ended("f2", "quick");
        assert_eq!(seconds(&forecast), Some(100.0), "the last one cannot be divided");
        forecast.finished("f1", "slow", after(100));
        assert_eq!(seconds(&forecast), Some(0.0));
    }

    #[test]
    fn former_runs_are_learnt_from() {
        let before = RunRecord {
            task: "f1".into(),
            optimizer: "slow".into(),
            horizon: 2,
            values: vec![0.0, 0.0],
            ask_ms: vec![500.0, 1500.0],
            ..RunRecord::default()
        };
        let cells = [cell("f1", "slow", 1), cell("f1", "slow", 2)];
        assert_eq!(seconds(&Forecast::new(&cells, &[before], 1)), Some(4.0));
    }
}
