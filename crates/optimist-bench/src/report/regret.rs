//! From the regrets of rounds to those of runs.

use std::collections::BTreeMap;

use super::estimate::Estimate;
use super::stats::quantile;
use crate::results::RunRecord;

/// What an optimizer is judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// The regrets of all rounds, added up.
    Cumulative,
    /// The regret of the best round.
    Simple,
}

impl Measure {
    /// Both.
    pub const ALL: [Measure; 2] = [Measure::Cumulative, Measure::Simple];

    /// `cumulative` or `simple`.
    pub fn name(self) -> &'static str {
        match self {
            Measure::Cumulative => "cumulative",
            Measure::Simple => "simple",
        }
    }
}

/// Which run of a task a number belongs to: (seed, repetition). Runs of the same key have the same points of
/// Phase I and the same noise, and so can be compared one by one.
pub type RunKey = (u64, usize);

/// The regret of some runs.
pub struct Summary {
    /// After each round, over the runs.
    pub curve: Vec<Estimate>,
    /// After the last round, run by run.
    pub by_run: BTreeMap<RunKey, f64>,
}

impl Summary {
    pub(super) fn new(records: &[&RunRecord], curve: impl Fn(&RunRecord) -> Vec<f64>) -> Summary {
        let curves: Vec<Vec<f64>> = records.iter().map(|record| curve(record)).collect();
        let rounds = curves.iter().map(Vec::len).min().unwrap_or(0);
        let after = |round: usize| curves.iter().map(|curve| curve[round]).collect::<Vec<_>>();
        Summary {
            curve: (0..rounds).map(|round| Estimate::of(&after(round))).collect(),
            by_run: records
                .iter()
                .zip(&curves)
                .map(|(record, curve)| ((record.seed, record.rep), curve[rounds - 1]))
                .collect(),
        }
    }

    /// After the last round.
    pub fn last(&self) -> Estimate {
        *self.curve.last().expect("every task has rounds")
    }

    /// Over some of the runs only, all of which must be among these.
    pub(super) fn mean_over(&self, runs: &[RunKey]) -> f64 {
        runs.iter().map(|run| self.by_run[run]).sum::<f64>() / runs.len() as f64
    }
}

/// How long an optimizer makes one wait for a point, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AskTime {
    /// Half of the asks took less.
    pub median: f64,
    /// 95 % of the asks took less.
    pub high: f64,
}

impl AskTime {
    /// Over all asks; `None` if nothing was asked.
    pub(super) fn of<'a>(records: impl Iterator<Item = &'a RunRecord>) -> Option<AskTime> {
        let mut ms: Vec<f64> = records.flat_map(|record| record.ask_ms.iter().copied()).collect();
        ms.sort_by(f64::total_cmp);
        let at = |share| quantile(&ms, share).map(|ms| (1e3 * ms).round() / 1e3); // to the microsecond
        Some(AskTime { median: at(0.5)?, high: at(0.95)? })
    }
}

/// A smaller part of the worst regret seen on a task is no regret: it is a matter of rounding there.
const NEGLIGIBLE: f64 = 1e-9;

/// Regrets of rounds, given the worst that was seen on the task.
pub(super) fn without_rounding(mut regrets: Vec<f64>, worst: f64) -> Vec<f64> {
    for regret in regrets.iter_mut().filter(|regret| **regret < NEGLIGIBLE * worst) {
        *regret = 0.0;
    }
    regrets
}

/// The regret after each round, from the regrets of the rounds.
pub(super) fn curve(regrets: &[f64], measure: Measure) -> Vec<f64> {
    let (start, with): (f64, fn(f64, f64) -> f64) = match measure {
        Measure::Cumulative => (0.0, |before, regret| before + regret),
        Measure::Simple => (f64::INFINITY, f64::min),
    };
    let after = |before: &mut f64, regret: &f64| {
        *before = with(*before, *regret);
        Some(*before)
    };
    regrets.iter().scan(start, after).collect()
}
