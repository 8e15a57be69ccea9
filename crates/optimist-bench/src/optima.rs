//! The best values that regret is measured against: known, or the best that anybody has seen.

use std::collections::HashMap;

use crate::results::RunRecord;
use crate::task::{Task, fold};

/// f* of every task, as a set of records lets us know it.
///
/// Where the maximum of a task is not known, it is the best value of any optimizer in any repetition on the same
/// fold, as in the paper. So it grows with the records, and regrets with it.
#[derive(Debug, Clone, Default)]
pub struct Optima {
    /// By task and fold.
    best_seen: HashMap<(String, usize), f64>,
}

impl Optima {
    /// Looks through all records of a file.
    pub fn new(records: &[RunRecord]) -> Optima {
        let mut best_seen = HashMap::new();
        for record in records {
            let best = best_seen.entry((record.task.clone(), fold(record.rep))).or_insert(f64::NEG_INFINITY);
            *best = record.values.iter().copied().fold(*best, f64::max);
        }
        Optima { best_seen }
    }

    /// f* of a task in a repetition; `None` if it is not known and no record has a value for it.
    pub fn of(&self, task: &Task, rep: usize) -> Option<f64> {
        task.optimum().or_else(|| self.best_seen.get(&(task.name.to_owned(), fold(rep))).copied())
    }

    /// The regret of each round of a record: f* less its value.
    ///
    /// # Panics
    /// If f* is not known and this is not one of the records that were looked through.
    pub fn regrets(&self, task: &Task, record: &RunRecord) -> Vec<f64> {
        let optimum = self.of(task, record.rep).expect("a record that was looked through has values");
        record.values.iter().map(|value| optimum - value).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::find;

    fn record(task: &str, optimizer: &str, rep: usize, values: &[f64]) -> RunRecord {
        RunRecord {
            task: task.into(),
            optimizer: optimizer.into(),
            rep,
            n: 0,
            horizon: values.len(),
            values: values.to_vec(),
            ask_ms: vec![0.0; values.len()],
            ..RunRecord::default()
        }
    }

    #[test]
    fn a_known_optimum_is_taken_whatever_was_seen() {
        let optima = Optima::new(&[record("f1", "a", 0, &[3.0, 40.0])]);
        assert_eq!(optima.of(find("f1").unwrap(), 0), Some(26.0));
    }

    #[test]
    fn an_unknown_optimum_is_the_best_of_all_optimizers_on_that_task_and_fold() {
        let optima = Optima::new(&[
            record("rf-breast", "a", 0, &[0.91, 0.95, 0.93]),
            record("rf-breast", "b", 0, &[0.97, 0.90]),
            record("rf-breast", "b", 5, &[0.98, 0.90]), // the fold of repetition 0
            record("rf-breast", "b", 1, &[0.99]),
            record("rf-breast-typed", "a", 0, &[1.0]),
        ]);
        let of = |task, rep| optima.of(find(task).unwrap(), rep);
        assert_eq!(
            [of("rf-breast", 0), of("rf-breast", 10), of("rf-breast", 1)],
            [Some(0.98), Some(0.98), Some(0.99)]
        );
        assert_eq!((of("rf-breast-typed", 0), of("rf-breast", 2)), (Some(1.0), None));
    }
}
