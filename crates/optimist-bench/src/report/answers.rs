//! How good the answers are: scores of recommended points by group of tasks and optimizer, for both halves of the tasks.
//!
//! The score of an answer is 100 at the optimum and 0 at what random search's median gives after as many trials; it is never
//! less than -100. Tasks of a group count alike, however many runs they have.

use std::collections::{BTreeMap, BTreeSet};

use super::{RunKey, markdown, page};
use crate::answer::Answer;
use crate::optima::Optima;
use crate::random_search::RandomSearch;
use crate::results::RunRecord;
use crate::table;
use crate::task::{self, Group, Half, Noise, Task};

/// The answers of all records that have them.
pub struct Answers {
    /// By half, group and rank.
    pub rows: Vec<AnswerRow>,
}

/// What one optimizer's answers are worth on one half of a group.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerRow {
    /// Whether the tasks are those to choose by or those to confirm a choice.
    pub half: Half,
    /// The group; `None` for all of them, which then count alike.
    pub group: Option<Group>,
    /// The optimizer's name.
    pub optimizer: String,
    /// How many tasks it has played.
    pub tasks: usize,
    /// Mean place among those that played the same task, by mean score after all trials.
    pub rank: f64,
    /// Mean scores of the answers after a quarter, half and all of the trials.
    pub scores: [f64; 3],
    /// Standard deviation of the last over repetitions, each a mean over tasks; `None` for one repetition.
    pub spread: Option<f64>,
    /// Mean score of the best point visited, whether or not it was recommended.
    pub visited: f64,
    /// Share of runs whose 95 % interval at the recommended point holds the truth; `None` without intervals.
    pub covered: Option<f64>,
    /// Share of the runs without noise whose recommended point is worse than the best one observed; `None` if all are noisy.
    pub worse: Option<f64>,
    /// By how much the score of the recommended point exceeds that of the point with the best observation, on average over the noisy
    /// runs; `None` if there are none.
    pub gain: Option<f64>,
}

/// What one run's answers are worth.
struct Scored<'r> {
    task: &'static Task,
    optimizer: &'r str,
    run: RunKey,
    scores: [f64; 3],
    visited: f64,
    covered: Option<bool>,
    /// The score of the point with the best observation.
    observed: f64,
}

/// A smaller difference in score is a matter of rounding.
const ROUNDING: f64 = 1e-6;

impl Answers {
    /// Scores the records of a file. Tasks whose optimum random search finds, or that it has not played, are left out.
    pub fn new(records: &[RunRecord]) -> Answers {
        let optima = Optima::new(records);
        let random = RandomSearch::new(records, &optima);
        let runs: Vec<Scored> =
            records.iter().filter_map(|record| Scored::new(record, &optima, &random)).collect();
        let mut rows: Vec<AnswerRow> =
            Half::ALL.into_iter().flat_map(|half| half_rows(half, &runs)).collect();
        rows.sort_by(|a, b| {
            let key = |row: &AnswerRow| (row.half, row.group.is_none(), row.group);
            key(a).cmp(&key(b)).then(a.rank.total_cmp(&b.rank))
        });
        Answers { rows }
    }

    /// The tables for a terminal.
    pub fn to_text(&self) -> String {
        table::answers(self)
    }

    /// The tables in Markdown.
    pub fn to_markdown(&self) -> String {
        markdown::render(&page::answers(self))
    }

    /// Whether no record has answers that can be scored.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// Titles of the columns of [`AnswerRow::cells`].
pub(crate) const HEADER: [&str; 12] =
    ["group", "optimizer", "tasks", "rank", "¼", "½", "score", "±", "visited", "in 95 %", "worse", "gain"];

/// The column of the score.
pub(crate) const SCORE: usize = 6;

impl AnswerRow {
    /// The row as tables show it.
    pub(crate) fn cells(&self) -> [String; 12] {
        let one = |value: f64| format!("{value:.1}");
        let known = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), one);
        let [quarter, half, last] = self.scores.map(one);
        [
            self.group.map_or("all groups", Group::name).to_owned(),
            self.optimizer.clone(),
            self.tasks.to_string(),
            format!("{:.2}", self.rank),
            quarter,
            half,
            last,
            known(self.spread),
            one(self.visited),
            self.covered.map_or_else(|| "–".to_owned(), percent),
            self.worse.map_or_else(|| "–".to_owned(), percent),
            self.gain.map_or_else(|| "–".to_owned(), |gain| format!("{gain:+.1}")),
        ]
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

impl<'r> Scored<'r> {
    fn new(record: &'r RunRecord, optima: &Optima, random: &RandomSearch) -> Option<Scored<'r>> {
        let task = task::find(&record.task).ok()?;
        let answers: [&Answer; 3] = record.answers.iter().collect::<Vec<_>>().try_into().ok()?;
        let optimum = optima.of(task, record.rep)?;
        let zero = random.regrets(task)?;
        if zero.iter().any(|regret| *regret <= 0.0) {
            return None;
        }
        let score = |value: f64, zero: f64| (100.0 * (1.0 - (optimum - value) / zero)).clamp(-100.0, 100.0);
        let [quarter, half, last] = [0, 1, 2].map(|idx| score(answers[idx].value, zero[idx]));
        let visited = record.best_visited(record.values.len()).unwrap_or_else(|| task.worst());
        Some(Scored {
            task,
            optimizer: &record.optimizer,
            run: (record.seed, record.rep),
            scores: [quarter, half, last],
            visited: score(visited, zero[2]),
            covered: answers[2].is_covered(),
            observed: score(answers[2].best_observed, zero[2]),
        })
    }

    fn last(&self) -> f64 {
        self.scores[2]
    }
}

/// The rows of each group, and of all of them if there are several.
fn half_rows(half: Half, runs: &[Scored]) -> Vec<AnswerRow> {
    let of_half = || runs.iter().filter(move |run| run.task.half() == half);
    let groups: BTreeSet<Group> = of_half().map(|run| run.task.group).collect();
    let mut rows: Vec<AnswerRow> = groups
        .iter()
        .flat_map(|group| {
            let runs: Vec<&Scored> = of_half().filter(|run| run.task.group == *group).collect();
            group_rows(half, *group, &runs)
        })
        .collect();
    if groups.len() > 1 {
        let optimizers: BTreeSet<&str> = of_half().map(|run| run.optimizer).collect();
        let overall: Vec<AnswerRow> = optimizers
            .into_iter()
            .map(|optimizer| {
                over_groups(
                    rows.iter().filter(|row| row.optimizer == optimizer).collect::<Vec<_>>().as_slice(),
                )
            })
            .collect();
        rows.extend(overall);
    }
    rows
}

fn group_rows(half: Half, group: Group, runs: &[&Scored]) -> Vec<AnswerRow> {
    let mut by_optimizer: BTreeMap<&str, Vec<&Scored>> = BTreeMap::new();
    for run in runs {
        by_optimizer.entry(run.optimizer).or_default().push(run);
    }
    let ranks = mean_ranks(&by_optimizer);
    let row = |(optimizer, runs): (&&str, &Vec<&Scored>)| {
        let (exact, noisy): (Vec<&Scored>, Vec<&Scored>) =
            runs.iter().copied().partition(|run| run.task.noise == Noise::NONE);
        AnswerRow {
            half,
            group: Some(group),
            optimizer: (*optimizer).to_owned(),
            tasks: by_task(runs).len(),
            rank: ranks[optimizer],
            scores: [0, 1, 2].map(|idx| mean_over_tasks(runs, |run| run.scores[idx])),
            spread: spread(runs),
            visited: mean_over_tasks(runs, |run| run.visited),
            covered: mean(
                runs.iter().filter_map(|run| run.covered).map(|covered| f64::from(u8::from(covered))),
            ),
            worse: mean(exact.iter().map(|run| f64::from(u8::from(run.last() < run.observed - ROUNDING)))),
            gain: mean(noisy.iter().map(|run| run.last() - run.observed)),
        }
    };
    by_optimizer.iter().map(row).collect()
}

/// The mean of an optimizer's rows of one half, at least one.
fn over_groups(rows: &[&AnswerRow]) -> AnswerRow {
    let over = |value: &dyn Fn(&AnswerRow) -> f64| {
        mean(rows.iter().map(|row| value(row))).expect("there is at least one group")
    };
    let known = |value: &dyn Fn(&AnswerRow) -> Option<f64>| mean(rows.iter().filter_map(|row| value(row)));
    AnswerRow {
        half: rows[0].half,
        group: None,
        optimizer: rows[0].optimizer.clone(),
        tasks: rows.iter().map(|row| row.tasks).sum(),
        rank: over(&|row| row.rank),
        scores: [0, 1, 2].map(|idx| over(&|row| row.scores[idx])),
        spread: known(&|row| row.spread),
        visited: over(&|row| row.visited),
        covered: known(&|row| row.covered),
        worse: known(&|row| row.worse),
        gain: known(&|row| row.gain),
    }
}

/// Mean place of each optimizer, among those that have played the same task; equals share the mean of their places.
fn mean_ranks<'a>(by_optimizer: &BTreeMap<&'a str, Vec<&Scored>>) -> BTreeMap<&'a str, f64> {
    let mut by_task_name: BTreeMap<&str, Vec<(&'a str, f64)>> = BTreeMap::new();
    for (optimizer, runs) in by_optimizer {
        for (task, runs) in by_task(runs) {
            by_task_name.entry(task).or_default().push((optimizer, mean_over_tasks(&runs, |run| run.last())));
        }
    }
    let mut places: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for scores in by_task_name.values() {
        for (optimizer, own) in scores {
            let better = scores.iter().filter(|(_, score)| *score > own + ROUNDING).count();
            let equal = scores.iter().filter(|(_, score)| (score - own).abs() <= ROUNDING).count();
            places.entry(optimizer).or_default().push(better as f64 + (equal as f64 + 1.0) / 2.0);
        }
    }
    places
        .into_iter()
        .filter_map(|(optimizer, places)| Some((optimizer, mean(places.into_iter())?)))
        .collect()
}

fn by_task<'a, 'r>(runs: &[&'a Scored<'r>]) -> BTreeMap<&'static str, Vec<&'a Scored<'r>>> {
    let mut tasks: BTreeMap<&'static str, Vec<&Scored>> = BTreeMap::new();
    for run in runs {
        tasks.entry(run.task.name).or_default().push(run);
    }
    tasks
}

/// So that a task with more runs does not count more.
fn mean_over_tasks(runs: &[&Scored], value: impl Fn(&Scored) -> f64) -> f64 {
    let of_task = |runs: Vec<&Scored>| mean(runs.into_iter().map(&value));
    mean(by_task(runs).into_values().filter_map(of_task)).expect("there is at least one run")
}

/// Over repetitions, of the mean score of those of all tasks.
fn spread(runs: &[&Scored]) -> Option<f64> {
    let mut by_run: BTreeMap<RunKey, Vec<&Scored>> = BTreeMap::new();
    for run in runs {
        by_run.entry(run.run).or_default().push(run);
    }
    let means: Vec<f64> = by_run.values().map(|runs| mean_over_tasks(runs, |run| run.last())).collect();
    let centre = mean(means.iter().copied())?;
    let squares: f64 = means.iter().map(|mean| (mean - centre).powi(2)).sum();
    (means.len() > 1).then(|| (squares / (means.len() - 1) as f64).sqrt())
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, n) = values.fold((0.0, 0), |(sum, n), value| (sum + value, n + 1));
    (n > 0).then(|| sum / f64::from(n))
}
