//! Reports: what the records of a result file say about optimizers, as numbers, tables and figures.
//!
//! Regret of a round is f* less its value without noise. Cumulative regret adds up all rounds,
//! Phase I included, as the paper does; simple regret is that of the best round. Each is a mean
//! over repetitions ± 1.96 sd/√reps, the paper's 95 % interval.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

pub use crate::estimate::Estimate;

use crate::optima::Optima;
use crate::results::Record;
use crate::task::{self, Task, UnknownTask};
use crate::{figure, table};

/// What all records together say.
pub struct Report {
    /// One part a task, in the order of [`task::all`].
    pub tasks: Vec<TaskReport>,
    /// Every optimizer's mean rank in cumulative regret over the tasks that all of them played,
    /// best first. Empty if there is no such task, or only one optimizer.
    pub ranks: Vec<(String, f64)>,
    /// How many tasks `ranks` is about.
    pub n_ranked: usize,
}

/// What the records of one task say.
pub struct TaskReport {
    /// The task.
    pub task: &'static Task,
    /// One row an optimizer, least cumulative regret first.
    pub rows: Vec<Row>,
}

/// What the records of one optimizer on one task say.
pub struct Row {
    /// The optimizer's name.
    pub optimizer: String,
    /// How many repetitions there are.
    pub reps: usize,
    /// Cumulative regret after the last round.
    pub cumulative: Estimate,
    /// Regret of the best round.
    pub simple: Estimate,
    /// Median over all asks of all repetitions; `None` if nothing was asked.
    pub median_ask_ms: Option<f64>,
    /// Cumulative regret after each round.
    pub curve: Vec<Estimate>,
}

/// Records that cannot be reported on.
#[derive(Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// There is nothing to report.
    #[error("there are no results; `optimist bench run` makes some")]
    Empty,
    /// A task that is not known, and so neither is its optimum.
    #[error("line {line}: {source}")]
    UnknownTask {
        /// The line of the file, counted from 1.
        line: usize,
        /// The name and the nearest one.
        source: UnknownTask,
    },
    /// Two records of the same run.
    #[error("lines {first} and {second} are the same run ({run}); delete one of them")]
    Duplicate {
        /// The first line, counted from 1.
        first: usize,
        /// The second.
        second: usize,
        /// Which run.
        run: String,
    },
    /// A record of a task that has changed since.
    #[error("line {line}: task `{task}` has {got} rounds here, but {expected} now; run it again")]
    DifferentRounds {
        /// The line of the file, counted from 1.
        line: usize,
        /// The task.
        task: String,
        /// Rounds of the task.
        expected: usize,
        /// Rounds of this record.
        got: usize,
    },
}

/// A report that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {problem}", path.display())]
pub struct WriteError {
    /// The file or folder.
    pub path: PathBuf,
    /// Why.
    pub problem: String,
}

impl Report {
    /// Sums up the records of a file, in its order: errors name their lines.
    ///
    /// # Errors
    /// If there are none, or they contradict each other or the tasks.
    pub fn new(records: &[Record]) -> Result<Report, ReportError> {
        check(records)?;
        let mut by_task: BTreeMap<&str, BTreeMap<&str, Vec<&Record>>> = BTreeMap::new();
        for record in records {
            by_task.entry(&record.task).or_default().entry(&record.optimizer).or_default().push(record);
        }
        let optima = Optima::new(records);
        let tasks: Vec<TaskReport> = task::all()
            .iter()
            .filter_map(|task| Some(TaskReport::new(task, by_task.get(task.name)?, &optima)))
            .collect();
        let (ranks, n_ranked) = mean_ranks(&tasks);
        Ok(Report { tasks, ranks, n_ranked })
    }

    /// The table for a terminal.
    pub fn to_text(&self) -> String {
        table::text(self)
    }

    /// The table and figures as a page in Markdown.
    pub fn to_markdown(&self) -> String {
        table::markdown(self)
    }

    /// The table as comma-separated values, one row a task and optimizer, at full precision.
    pub fn to_csv(&self) -> String {
        table::csv(self)
    }

    /// Writes `report.md`, `results.csv` and, for each task, a figure as SVG and PNG into `folder`,
    /// which is made if it is not there.
    ///
    /// # Errors
    /// If something cannot be drawn or written.
    pub fn write(&self, folder: &Path) -> Result<(), WriteError> {
        let fail = |path: &Path, problem: String| WriteError { path: path.to_owned(), problem };
        let save = |name: String, bytes: &[u8]| {
            let path = folder.join(name);
            std::fs::write(&path, bytes).map_err(|error| fail(&path, error.to_string()))
        };
        std::fs::create_dir_all(folder).map_err(|error| fail(folder, error.to_string()))?;
        save("report.md".into(), self.to_markdown().as_bytes())?;
        save("results.csv".into(), self.to_csv().as_bytes())?;
        let optimizers = self.optimizers();
        for part in &self.tasks {
            let name = part.task.name;
            let figure = figure::draw(part, &optimizers);
            save(format!("{name}.svg"), figure.svg().as_bytes())?;
            save(format!("{name}.png"), &figure.png().map_err(|problem| fail(folder, problem))?)?;
        }
        Ok(())
    }

    /// Every optimizer there is, by name; its place decides its colour in every figure.
    fn optimizers(&self) -> Vec<&str> {
        let names = self.tasks.iter().flat_map(|part| &part.rows).map(|row| row.optimizer.as_str());
        names.collect::<BTreeSet<_>>().into_iter().collect()
    }
}

impl TaskReport {
    fn new(task: &'static Task, by_optimizer: &BTreeMap<&str, Vec<&Record>>, optima: &Optima) -> TaskReport {
        let mut rows: Vec<Row> = by_optimizer
            .iter()
            .map(|(optimizer, records)| Row::new(task, optimizer, records, optima))
            .collect();
        rows.sort_by(|a, b| a.cumulative.mean.total_cmp(&b.cumulative.mean));
        TaskReport { task, rows }
    }
}

impl Row {
    fn new(task: &Task, optimizer: &str, records: &[&Record], optima: &Optima) -> Row {
        let regrets: Vec<Vec<f64>> = records.iter().map(|record| optima.regrets(task, record)).collect();
        let curves: Vec<Vec<f64>> = regrets.iter().map(|regrets| cumulative(regrets)).collect();
        let simple: Vec<f64> =
            regrets.iter().map(|regrets| regrets.iter().copied().fold(f64::INFINITY, f64::min)).collect();
        let curve: Vec<Estimate> = (0..task.rounds())
            .map(|round| Estimate::of(&curves.iter().map(|curve| curve[round]).collect::<Vec<_>>()))
            .collect();
        Row {
            optimizer: optimizer.to_owned(),
            reps: records.len(),
            cumulative: curve[task.rounds() - 1],
            simple: Estimate::of(&simple),
            median_ask_ms: median(records.iter().flat_map(|record| record.ask_ms.iter().copied()).collect()),
            curve,
        }
    }
}

fn check(records: &[Record]) -> Result<(), ReportError> {
    if records.is_empty() {
        return Err(ReportError::Empty);
    }
    let mut seen = HashMap::new();
    for (index, record) in records.iter().enumerate() {
        let line = index + 1;
        let task = task::find(&record.task).map_err(|source| ReportError::UnknownTask { line, source })?;
        if record.values.len() != task.rounds() {
            return Err(ReportError::DifferentRounds {
                line,
                task: record.task.clone(),
                expected: task.rounds(),
                got: record.values.len(),
            });
        }
        if let Some(first) = seen.insert(record.key(), line) {
            let (task, optimizer, rep, seed) = record.key();
            let run = format!("{optimizer} on {task}, repetition {rep}, seed {seed}");
            return Err(ReportError::Duplicate { first, second: line, run });
        }
    }
    Ok(())
}

fn cumulative(regrets: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    let mut add = |regret: &f64| {
        sum += regret;
        sum
    };
    regrets.iter().map(&mut add).collect()
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        len if len % 2 == 1 => Some(values[middle]),
        _ => Some((values[middle - 1] + values[middle]) / 2.0),
    }
}

/// Mean ranks over the tasks that all optimizers played, and how many tasks those are.
fn mean_ranks(tasks: &[TaskReport]) -> (Vec<(String, f64)>, usize) {
    let optimizers: BTreeSet<&str> =
        tasks.iter().flat_map(|part| &part.rows).map(|row| row.optimizer.as_str()).collect();
    let shared: Vec<&TaskReport> = tasks.iter().filter(|part| part.rows.len() == optimizers.len()).collect();
    if shared.is_empty() || optimizers.len() < 2 {
        return (Vec::new(), 0);
    }
    let mean_rank =
        |optimizer: &str| shared.iter().map(|part| rank(part, optimizer)).sum::<f64>() / shared.len() as f64;
    let mut ranks: Vec<(String, f64)> =
        optimizers.iter().map(|optimizer| ((*optimizer).to_owned(), mean_rank(optimizer))).collect();
    ranks.sort_by(|a, b| a.1.total_cmp(&b.1));
    (ranks, shared.len())
}

/// 1 for the least mean cumulative regret; equals share the mean of their places.
fn rank(part: &TaskReport, optimizer: &str) -> f64 {
    let own =
        part.rows.iter().find(|row| row.optimizer == optimizer).map_or(f64::NAN, |row| row.cumulative.mean);
    let better = part.rows.iter().filter(|row| row.cumulative.mean < own).count();
    let equal = part.rows.iter().filter(|row| row.cumulative.mean == own).count();
    better as f64 + (equal as f64 + 1.0) / 2.0
}
