//! Optimizers beside each other: pair by pair, and in the order of their ranks.
//!
//! Only like is compared with like: runs of the same task, seed and repetition, which have the same points of
//! Phase I and the same noise. What some optimizer has not played is left out for the others as well.

use std::collections::BTreeSet;

use super::regret::{Measure, RunKey};
use super::stats;
use super::{Row, TaskReport};

/// The optimizer that all others are compared with.
pub const REFERENCE: &str = "go-ucb";

/// [`REFERENCE`] beside another optimizer, over all the runs that both have played.
#[derive(Debug, PartialEq)]
pub struct Comparison {
    /// The other's name.
    pub other: String,
    /// Tasks that both have played.
    pub n_tasks: usize,
    /// In cumulative regret.
    pub cumulative: Paired,
    /// In simple regret.
    pub simple: Paired,
}

impl Comparison {
    /// By one of the two kinds of regret.
    pub fn paired(&self, measure: Measure) -> &Paired {
        match measure {
            Measure::Cumulative => &self.cumulative,
            Measure::Simple => &self.simple,
        }
    }
}

/// How often [`REFERENCE`] had less regret than another, and whether that may be luck.
#[derive(Debug, PartialEq)]
pub struct Paired {
    /// Tasks on which its mean was less.
    pub tasks_ahead: usize,
    /// Runs in which it had less regret.
    pub wins: usize,
    /// Runs in which both had the same.
    pub ties: usize,
    /// Runs in which it had more.
    pub losses: usize,
    /// Two-sided probability of Wilcoxon's signed-rank test over the runs, on differences in regret as a share of
    /// the mean regret of both on that task; `None` if there is no difference.
    pub p: Option<f64>,
}

/// How an optimizer stands on a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Its mean regret is the least.
    Best,
    /// Its mean is not, but by a difference that may be luck (Student's test for pairs, 5 %).
    Near,
    /// Another's is less, and not by luck.
    Behind,
    /// Nobody else played.
    Alone,
}

/// Mean ranks of optimizers over the tasks that all of them have played.
#[derive(Debug, PartialEq)]
pub struct Ranking {
    /// Names of the tasks that all of these have played.
    pub tasks: Vec<&'static str>,
    /// Least cumulative regret first.
    pub rows: Vec<RankRow>,
}

/// An optimizer's mean ranks: 1 is the least regret, and equals share the mean of their places.
#[derive(Debug, PartialEq)]
pub struct RankRow {
    /// Name of the optimizer.
    pub optimizer: String,
    /// In cumulative regret.
    pub cumulative: f64,
    /// In simple regret.
    pub simple: f64,
}

impl Ranking {
    /// The row of an optimizer, if it is among those ranked.
    pub fn row(&self, optimizer: &str) -> Option<&RankRow> {
        self.rows.iter().find(|row| row.optimizer == optimizer)
    }
}

pub(super) fn comparisons(tasks: &[TaskReport]) -> Vec<Comparison> {
    let others = names(tasks).into_iter().filter(|name| *name != REFERENCE);
    others.filter_map(|other| compare(tasks, other)).collect()
}

/// `None` if the two have no run in common.
fn compare(tasks: &[TaskReport], other: &str) -> Option<Comparison> {
    let pairs: Vec<[&Row; 2]> = tasks
        .iter()
        .filter_map(|part| Some([part.row(REFERENCE)?, part.row(other)?]))
        .filter(|rows| !shared_runs(rows).is_empty())
        .collect();
    (!pairs.is_empty()).then(|| Comparison {
        other: other.to_owned(),
        n_tasks: pairs.len(),
        cumulative: paired(&pairs, Measure::Cumulative),
        simple: paired(&pairs, Measure::Simple),
    })
}

fn paired(pairs: &[[&Row; 2]], measure: Measure) -> Paired {
    let by_task: Vec<Vec<f64>> = pairs.iter().map(|rows| differences(rows, measure)).collect();
    let ahead = |differences: &&Vec<f64>| differences.iter().sum::<f64>() < 0.0;
    let all = by_task.concat();
    let count = |is: fn(&f64) -> bool| all.iter().filter(|difference| is(difference)).count();
    Paired {
        tasks_ahead: by_task.iter().filter(ahead).count(),
        wins: count(|difference| *difference < 0.0),
        ties: count(|difference| *difference == 0.0),
        losses: count(|difference| *difference > 0.0),
        p: stats::signed_rank(&all).map(|test| test.p),
    }
}

/// The first's regret less the second's, run by run, as a share of the mean of both: tasks then weigh alike.
/// Rounded to a billionth, so that equals which were added up in another order are equal.
fn differences(rows: &[&Row; 2], measure: Measure) -> Vec<f64> {
    let runs = shared_runs(rows);
    let [own, other] = rows.map(|row| row.regret(measure));
    let mean = (own.mean_over(&runs) + other.mean_over(&runs)) / 2.0;
    let share = |run: &RunKey| (own.by_run[run] - other.by_run[run]) / mean;
    runs.iter().map(|run| if mean > 0.0 { (1e9 * share(run)).round() / 1e9 } else { 0.0 }).collect()
}

/// The runs that all of them have played.
fn shared_runs(rows: &[&Row]) -> Vec<RunKey> {
    let Some((first, others)) = rows.split_first() else { return Vec::new() };
    let runs = first.cumulative.by_run.keys().copied();
    runs.filter(|run| others.iter().all(|row| row.cumulative.by_run.contains_key(run))).collect()
}

impl TaskReport {
    /// How an optimizer of this task stands.
    pub fn standing(&self, row: &Row, measure: Measure) -> Standing {
        let mean = |row: &Row| row.regret(measure).last().mean;
        let Some(best) = self.rows.iter().min_by(|a, b| mean(a).total_cmp(&mean(b))) else {
            return Standing::Alone;
        };
        if self.rows.len() == 1 {
            Standing::Alone
        } else if mean(row) == mean(best) {
            Standing::Best
        } else if stats::differs(&differences(&[row, best], measure)) {
            Standing::Behind
        } else {
            Standing::Near
        }
    }
}

/// One ranking for each set of tasks that some optimizer has played, among all that have played them, too: a
/// report may hold optimizers that played everything and slow ones that played a part.
pub(super) fn rankings(tasks: &[TaskReport]) -> Vec<Ranking> {
    let names = names(tasks);
    let played = |name: &str| -> BTreeSet<&'static str> {
        tasks.iter().filter(|part| part.row(name).is_some()).map(|part| part.task.name).collect()
    };
    let mut sets: Vec<BTreeSet<&str>> =
        names.iter().map(|name| played(name)).collect::<BTreeSet<_>>().into_iter().collect();
    sets.sort_by_key(|set| std::cmp::Reverse(set.len()));
    let ranking = |set: &BTreeSet<&str>| {
        let compared: Vec<&str> =
            names.iter().copied().filter(|name| played(name).is_superset(set)).collect();
        rank(tasks.iter().filter(|part| set.contains(part.task.name)), &compared)
    };
    sets.iter().filter_map(ranking).collect()
}

/// `None` unless there are two to be compared and a task with a run in common.
fn rank<'a>(tasks: impl Iterator<Item = &'a TaskReport>, optimizers: &[&str]) -> Option<Ranking> {
    let tasks: Vec<(&TaskReport, Vec<RunKey>)> = tasks
        .map(|part| {
            let rows: Vec<&Row> = optimizers.iter().filter_map(|name| part.row(name)).collect();
            (part, shared_runs(&rows))
        })
        .filter(|(_, runs)| !runs.is_empty())
        .collect();
    if optimizers.len() < 2 || tasks.is_empty() {
        return None;
    }
    let mean_rank = |optimizer: &str, measure| {
        let ranks = tasks.iter().map(|(part, runs)| place(part, runs, optimizers, optimizer, measure));
        ranks.sum::<f64>() / tasks.len() as f64
    };
    let mut rows: Vec<RankRow> = optimizers
        .iter()
        .map(|optimizer| RankRow {
            optimizer: (*optimizer).to_owned(),
            cumulative: mean_rank(optimizer, Measure::Cumulative),
            simple: mean_rank(optimizer, Measure::Simple),
        })
        .collect();
    rows.sort_by(|a, b| a.cumulative.total_cmp(&b.cumulative));
    Some(Ranking { tasks: tasks.iter().map(|(part, _)| part.task.name).collect(), rows })
}

/// An optimizer's place among others on one task, by the mean over the runs that all of them have played.
fn place(part: &TaskReport, runs: &[RunKey], optimizers: &[&str], own: &str, measure: Measure) -> f64 {
    let mean = |name: &str| part.row(name).map(|row| row.regret(measure).mean_over(runs));
    let own = mean(own);
    let means: Vec<Option<f64>> = optimizers.iter().map(|name| mean(name)).collect();
    let better = means.iter().filter(|mean| **mean < own).count();
    let equal = means.iter().filter(|mean| **mean == own).count();
    better as f64 + (equal as f64 + 1.0) / 2.0
}

fn names(tasks: &[TaskReport]) -> BTreeSet<&str> {
    tasks.iter().flat_map(|part| &part.rows).map(|row| row.optimizer.as_str()).collect()
}
