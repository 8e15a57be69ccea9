//! What random search gives, which scores are measured against: played here where values are formulas, looked up in the records
//! where they are not.
//!
//! Given: a task, and after how many trials. Gives: the median regret of random search's answer, the value at the point with the
//! best observation.

use std::collections::HashMap;

use rayon::prelude::*;

use crate::answer::checkpoints;
use crate::optima::Optima;
use crate::results::RunRecord;
use crate::run::fnv;
use crate::task::{self, Formula, Task, TrialLuck};
use optimist::Outcome;
use rand::RngExt;

/// Runs of which the median is taken.
const RUNS: usize = 201;

/// The optimizer whose records stand for random search.
const NAME: &str = "random";

/// Median regrets of random search's answers.
pub struct RandomSearch {
    /// By task, after a quarter, half and all of its trials.
    regrets: HashMap<&'static str, [f64; 3]>,
}

impl RandomSearch {
    /// On every task of the records.
    pub fn new(records: &[RunRecord], optima: &Optima) -> RandomSearch {
        let mut rounds: HashMap<&'static str, (&'static Task, usize)> = HashMap::new();
        for record in records.iter().filter(|record| !record.answers.is_empty()) {
            if let Ok(task) = task::find(&record.task) {
                rounds.insert(task.name, (task, record.values.len()));
            }
        }
        let regrets = rounds.into_par_iter().filter_map(|(name, (task, rounds))| {
            let runs = match task.formula() {
                Some(formula) => (0..RUNS).map(|run| play(task, formula, rounds, run)).collect(),
                None => recorded(task, records, optima),
            };
            Some((name, medians(&runs)?))
        });
        RandomSearch { regrets: regrets.collect() }
    }

    /// Its median regret on a task, after a quarter, half and all of the trials. `None` if values are not formulas and random
    /// search is not in the records.
    pub fn regrets(&self, task: &Task) -> Option<[f64; 3]> {
        self.regrets.get(task.name).copied()
    }
}

fn play(task: &Task, formula: &Formula, rounds: usize, run: usize) -> [f64; 3] {
    let rng = &mut optimist::rng(fnv(task.name), run as u64);
    let (mut best, mut answers) = (f64::NEG_INFINITY, Vec::with_capacity(rounds));
    let mut answer = task.worst();
    for _ in 0..rounds {
        let x = task.domain.sample(rng);
        let luck = TrialLuck { noise: task.noise.draw(rng), failure: rng.random() };
        let value = formula.value(&x);
        if let Outcome::Value { y, .. } = task.outcome(&x, value, luck)
            && y > best
        {
            (best, answer) = (y, value);
        }
        answers.push(answer);
    }
    checkpoints(rounds).map(|trials| formula.optimum - answers[trials - 1])
}

fn recorded(task: &Task, records: &[RunRecord], optima: &Optima) -> Vec<[f64; 3]> {
    let regrets = |record: &RunRecord| {
        let optimum = optima.of(task, record.rep)?;
        let answers: [_; 3] = record.answers.iter().collect::<Vec<_>>().try_into().ok()?;
        Some(answers.map(|answer| optimum - answer.value))
    };
    let random = records.iter().filter(|record| record.task == task.name && record.optimizer == NAME);
    random.filter_map(regrets).collect()
}

fn medians(runs: &[[f64; 3]]) -> Option<[f64; 3]> {
    let median = |idx: usize| {
        let mut regrets: Vec<f64> = runs.iter().map(|run| run[idx]).collect();
        regrets.sort_by(f64::total_cmp);
        let middle = regrets.len() / 2;
        if regrets.len() % 2 == 1 { regrets[middle] } else { 0.5 * (regrets[middle - 1] + regrets[middle]) }
    };
    (!runs.is_empty()).then(|| [0, 1, 2].map(median))
}
