//! Reports: what the records of a result file say about optimizers, as numbers, tables and figures.
//!
//! Regret of a round is f* less its value without noise. Cumulative regret adds up all rounds,
//! Phase I included, as the paper does; simple regret is that of the best round. Each is a mean
//! over repetitions ± 1.96 sd/√reps, the paper's 95 % interval.
//!
//! The numbers are here, in `regret` and in `compare` (with `stats`); `page` says in which order a reader
//! meets them, `markdown` and `html` only how that looks.

mod answers;
mod arrange;
mod compare;
mod estimate;
pub(crate) mod html;
pub(crate) mod markdown;
pub(crate) mod page;
mod regret;
mod stats;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

pub(crate) use answers::HEADER;
pub use answers::{AnswerRow, Answers};
pub use compare::{Comparison, Paired, REFERENCE, RankRow, Ranking, Standing};
pub use estimate::Estimate;
pub(crate) use estimate::number;
pub use regret::{AskTime, Measure, RunKey, Summary};

use crate::optima::Optima;
use crate::results::RunRecord;
use crate::task::{self, Task, UnknownTask};
use crate::{engines, figure, table};

/// What all records together say.
pub struct Report {
    /// One part a task, in the order of [`task::all`].
    pub tasks: Vec<TaskReport>,
    /// [`REFERENCE`] beside every other optimizer that it met, by name.
    pub comparisons: Vec<Comparison>,
    /// Mean ranks: one ranking for each set of tasks that some optimizer has played, the largest set first.
    pub rankings: Vec<Ranking>,
    /// How long asks take, by optimizer, over all tasks.
    pub ask_times: Vec<(String, AskTime)>,
    /// A note on the engines that made the records, if there are several.
    pub mixed_engines: Option<String>,
    /// How good the recommended points are.
    pub answers: Answers,
    /// What a reader should know about how the records came to be, such as peers that are missing.
    pub notes: Vec<String>,
    /// How many optimizers a panel of a figure shows at most; tables have all.
    pub most_lines: usize,
}

/// What the records of one task say.
pub struct TaskReport {
    /// The task of these records.
    pub task: &'static Task,
    /// Asks of each run, after the points of Phase I.
    pub horizon: usize,
    /// One row an optimizer, least cumulative regret first.
    pub rows: Vec<Row>,
}

/// What the records of one optimizer on one task say.
pub struct Row {
    /// The optimizer's name.
    pub optimizer: String,
    /// How many repetitions there are.
    pub reps: usize,
    /// Sum of the regrets of all rounds.
    pub cumulative: Summary,
    /// Regret of the best round so far.
    pub simple: Summary,
    /// Over all asks of all repetitions; `None` if nothing was asked.
    pub ask: Option<AskTime>,
}

/// Records that cannot be reported on.
#[derive(Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// There is nothing to report.
    #[error("there are no results; `optimist-bench run` makes some")]
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
        /// The later line, counted from 1.
        second: usize,
        /// Optimizer, task, repetition and seed of both.
        run: String,
    },
    /// Records of runs that cannot be compared.
    #[error(
        "line {line}: a run of `{task}` has n = {}, T = {}, but that of line {first} has n = {}, T = {}; put them into files \
         of their own", got.0, got.1, expected.0, expected.1
    )]
    DifferentRounds {
        /// The line of the file, counted from 1.
        line: usize,
        /// The first line of the same task.
        first: usize,
        /// Name of the task.
        task: String,
        /// Points of Phase I and asks of that line.
        expected: (usize, usize),
        /// Both of this record.
        got: (usize, usize),
    },
}

/// A report that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {problem}", path.display())]
pub struct WriteError {
    /// The file or folder.
    pub path: PathBuf,
    /// What the system said.
    pub problem: String,
}

impl Report {
    /// Sums up the records of a file, in its order: errors name their lines.
    ///
    /// # Errors
    /// If there are none, or they contradict each other or the tasks.
    pub fn new(records: &[RunRecord]) -> Result<Report, ReportError> {
        check(records)?;
        let mut by_task: BTreeMap<&str, BTreeMap<&str, Vec<&RunRecord>>> = BTreeMap::new();
        for record in records {
            by_task.entry(&record.task).or_default().entry(&record.optimizer).or_default().push(record);
        }
        let optima = Optima::new(records);
        let tasks: Vec<TaskReport> = task::all()
            .iter()
            .filter_map(|task| Some(TaskReport::new(task, by_task.get(task.name)?, &optima)))
            .collect();
        Ok(Report {
            comparisons: compare::comparisons(&tasks),
            rankings: compare::rankings(&tasks),
            ask_times: ask_times(records),
            mixed_engines: engines::mixed(
                records.iter().map(|record| (record.optimizer.as_str(), record.engine)),
            ),
            answers: Answers::new(records),
            notes: Vec::new(),
            most_lines: figure::MOST_LINES,
            tasks,
        })
    }

    /// The same with something more to know about the records.
    pub fn with_notes(self, notes: Vec<String>) -> Report {
        Report { notes, ..self }
    }

    /// The same with so many lines in a panel at most.
    pub fn with_lines(self, most_lines: usize) -> Report {
        Report { most_lines, ..self }
    }

    /// Every task, for a terminal.
    pub fn to_text(&self) -> String {
        let answers = match self.answers.is_empty() {
            true => String::new(),
            false => format!("\n{}", self.answers.to_text()),
        };
        self.warnings() + &table::text(self) + &answers
    }

    /// Mean ranks and comparisons only, for a terminal.
    pub fn summary(&self) -> String {
        self.warnings() + &table::summary(self)
    }

    /// The whole page in Markdown, with links to the figures that [`Report::write`] writes.
    pub fn to_markdown(&self) -> String {
        markdown::render(&page::page(self))
    }

    /// The whole page in HTML, with everything it needs inside.
    pub fn to_html(&self) -> String {
        html::render(&page::page(self))
    }

    /// The regrets as comma-separated values, one row a task and optimizer, at full precision.
    pub fn to_csv(&self) -> String {
        table::csv(self)
    }

    /// Writes `index.html`, `report.md`, `results.csv` and the figures of `report.md` into `folder`, which
    /// is made if it is not there.
    ///
    /// # Errors
    /// If something cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), WriteError> {
        let fail = |path: &Path, problem: String| WriteError { path: path.to_owned(), problem };
        let save = |name: &str, bytes: &[u8]| {
            let path = folder.join(name);
            std::fs::write(&path, bytes).map_err(|error| fail(&path, error.to_string()))
        };
        let figures = folder.join(page::FIGURES);
        std::fs::create_dir_all(&figures).map_err(|error| fail(&figures, error.to_string()))?;
        save("index.html", self.to_html().as_bytes())?;
        save("report.md", self.to_markdown().as_bytes())?;
        save("results.csv", self.to_csv().as_bytes())?;
        for panels in arrange::rows_of_three(&self.tasks) {
            let shown = figure::shown(&panels.parts, self.most_lines);
            for measure in Measure::ALL {
                let path = page::figure_path(&panels, measure);
                save(&format!("{path}.svg"), figure::row(&panels.parts, measure, &shown).as_bytes())?;
            }
        }
        Ok(())
    }

    /// What a reader must know before any number, for a terminal.
    fn warnings(&self) -> String {
        self.mixed_engines.as_ref().map_or_else(String::new, |note| format!("{note}\n\n"))
    }

    /// Every optimizer there is, by name.
    fn optimizers(&self) -> BTreeSet<&str> {
        self.tasks.iter().flat_map(|part| &part.rows).map(|row| row.optimizer.as_str()).collect()
    }
}

impl TaskReport {
    fn new(
        task: &'static Task,
        by_optimizer: &BTreeMap<&str, Vec<&RunRecord>>,
        optima: &Optima,
    ) -> TaskReport {
        let regrets = |record: &RunRecord| optima.regrets(task, record);
        let worst = by_optimizer.values().flatten().flat_map(|record| regrets(record)).fold(0.0, f64::max);
        let regrets = |record: &RunRecord| regret::without_rounding(regrets(record), worst);
        let mut rows: Vec<Row> =
            by_optimizer.iter().map(|(optimizer, records)| Row::new(optimizer, records, regrets)).collect();
        rows.sort_by(|a, b| a.cumulative.last().mean.total_cmp(&b.cumulative.last().mean));
        let horizon = by_optimizer.values().flatten().next().map_or(task.horizon, |record| record.horizon);
        TaskReport { task, horizon, rows }
    }

    /// What this optimizer did here, if anything.
    pub fn row(&self, optimizer: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.optimizer == optimizer)
    }
}

impl Row {
    fn new(optimizer: &str, records: &[&RunRecord], regrets: impl Fn(&RunRecord) -> Vec<f64>) -> Row {
        let summary = |measure| Summary::new(records, |record| regret::curve(&regrets(record), measure));
        Row {
            optimizer: optimizer.to_owned(),
            reps: records.len(),
            cumulative: summary(Measure::Cumulative),
            simple: summary(Measure::Simple),
            ask: AskTime::of(records.iter().copied()),
        }
    }

    /// One of the two kinds of regret.
    pub fn regret(&self, measure: Measure) -> &Summary {
        match measure {
            Measure::Cumulative => &self.cumulative,
            Measure::Simple => &self.simple,
        }
    }
}

fn ask_times(records: &[RunRecord]) -> Vec<(String, AskTime)> {
    let mut by_optimizer: BTreeMap<&str, Vec<&RunRecord>> = BTreeMap::new();
    for record in records {
        by_optimizer.entry(&record.optimizer).or_default().push(record);
    }
    by_optimizer
        .into_iter()
        .filter_map(|(optimizer, records)| Some((optimizer.to_owned(), AskTime::of(records.into_iter())?)))
        .collect()
}

fn check(records: &[RunRecord]) -> Result<(), ReportError> {
    if records.is_empty() {
        return Err(ReportError::Empty);
    }
    let (mut seen, mut lengths) = (HashMap::new(), HashMap::new());
    for (index, record) in records.iter().enumerate() {
        let line = index + 1;
        let task = task::find(&record.task).map_err(|source| ReportError::UnknownTask { line, source })?;
        let got = (record.n, record.horizon);
        let (first, expected) = *lengths.entry(task.name).or_insert((line, got));
        if got != expected {
            let task = record.task.clone();
            return Err(ReportError::DifferentRounds { line, first, task, expected, got });
        }
        if let Some(first) = seen.insert(record.key(), line) {
            let (task, optimizer, rep, seed) = record.key();
            let run = format!("{optimizer} on {task}, repetition {rep}, seed {seed}");
            return Err(ReportError::Duplicate { first, second: line, run });
        }
    }
    Ok(())
}

/// The probability of Wilcoxon's signed-rank test; `None` if no difference is other than 0.
pub(crate) fn signed_rank_p(differences: &[f64]) -> Option<f64> {
    stats::signed_rank(differences).map(|test| test.p)
}
