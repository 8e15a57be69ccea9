//! What a report says, in which order, in which words: blocks that `markdown` and `html` give their looks.

use std::collections::{BTreeMap, BTreeSet};

use super::answers::{self, AnswerRow, Answers};
use super::arrange::{Panels, rows_of_three};
use super::{AskTime, Measure, REFERENCE, RankRow, Report, RunKey, Standing, TaskReport, number};
use crate::figure::{self, legend_order};
use crate::task::{Half, Noise};

/// The folder of the figures, beside the page.
pub(super) const FIGURES: &str = "figures";

/// A piece of the page. Texts are plain but for names in `back quotes`.
pub(crate) enum Block<'a> {
    /// The title of the page.
    Title(String),
    /// The title of a section.
    Heading(String),
    Text(String),
    List(Vec<String>),
    Table(Table),
    Figure(FigureBlock<'a>),
    Picture(Picture),
}

/// Names in the first column, numbers in the others.
pub(crate) struct Table {
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<Cell>>,
}

pub(crate) struct Cell {
    pub(crate) text: String,
    pub(crate) mark: Mark,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    None,
    /// The best of its column.
    Best,
    /// Not to be told from the best.
    Near,
}

pub(crate) struct FigureBlock<'a> {
    /// Where it is saved, without the ending.
    pub(super) path: String,
    pub(super) caption: String,
    pub(super) parts: Vec<&'a TaskReport>,
    pub(super) measure: Measure,
    /// Optimizers that have a line.
    pub(super) shown: Vec<&'a str>,
}

/// Figures that are drawn already, side by side.
pub(crate) struct Picture {
    /// Where they are saved together, without the ending.
    pub(crate) path: String,
    pub(crate) caption: String,
    /// As SVG, in the colours of the page.
    pub(crate) panels: Vec<String>,
    /// Optimizers that are in them.
    pub(crate) names: Vec<String>,
}

/// Where a figure is saved below the report's folder, without the ending.
pub(super) fn figure_path(panels: &Panels, measure: Measure) -> String {
    format!("{FIGURES}/{}-{}", panels.name, measure.name())
}

/// The whole page.
pub(super) fn page(report: &Report) -> Vec<Block<'_>> {
    let mut page = vec![Block::Title("Benchmark report".into())];
    page.extend(verdict(report).map(Block::Text));
    page.push(Block::Text(contents(report)));
    page.extend(report.mixed_engines.clone().map(Block::Text));
    let notes: Vec<String> = report.notes.iter().cloned().chain(coverage(report)).collect();
    if !notes.is_empty() {
        page.push(Block::List(notes));
    }
    page.extend(answers(&report.answers));
    page.extend(ranks(report));
    page.extend(comparisons(report));
    for panels in rows_of_three(&report.tasks) {
        page.extend(regrets(panels, report));
    }
    page.extend(ask_times(report));
    page.extend(how_to_read());
    page.push(Block::Heading("The tasks".into()));
    page.push(Block::List(report.tasks.iter().map(describe).collect()));
    page
}

fn contents(report: &Report) -> String {
    let runs = report.tasks.iter().flat_map(|part| &part.rows).map(|row| row.reps).sum::<usize>();
    let reps = usual_reps(report);
    let seeds: BTreeSet<u64> = run_keys(report).map(|(seed, _)| *seed).collect();
    let seeds = seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let n_tasks = count(report.tasks.len(), "task");
    let n_optimizers = count(report.optimizers().len(), "optimizer");
    format!("{n_tasks}, {n_optimizers}, {}; {}; seed {seeds}.", count(reps, "repetition"), count(runs, "run"))
}

/// Who is first, and how GO-UCB fares: by mean rank over the largest set of tasks that several have played.
fn verdict(report: &Report) -> Option<String> {
    let ranking = report.rankings.iter().find(|ranking| ranking.rows.len() > 1)?;
    let sentences = Measure::ALL.map(|measure| {
        let rank = |row: &RankRow| match measure {
            Measure::Cumulative => row.cumulative,
            Measure::Simple => row.simple,
        };
        let named = |row: &RankRow| format!("`{}` ({:.2})", row.optimizer, rank(row));
        let least = ranking.rows.iter().map(rank).fold(f64::INFINITY, f64::min);
        let first: Vec<&RankRow> = ranking.rows.iter().filter(|row| rank(row) == least).collect();
        let leaders = first.iter().map(|row| named(row)).collect::<Vec<_>>().join(", ");
        let are = if first.len() == 1 { "has the best mean rank" } else { "share the best mean rank" };
        let reference = ranking.row(REFERENCE).map(|own| {
            let parts = report.tasks.iter().filter(|part| ranking.tasks.contains(&part.task.name));
            let is_first = |part: &&TaskReport| {
                part.row(REFERENCE).is_some_and(|row| part.standing(row, measure) == Standing::Best)
            };
            let n_first = parts.filter(is_first).count();
            let tasks = count(ranking.tasks.len(), "task");
            let place = ranking.rows.iter().filter(|row| rank(row) < rank(own)).count() + 1;
            let place = if rank(own) == least {
                String::new()
            } else {
                format!("is {} of {} ({:.2}) and ", ordinal(place), ranking.rows.len(), rank(own))
            };
            format!(" `{REFERENCE}` {place}has the least mean regret on {n_first} of {tasks}.")
        });
        format!("By {} regret {leaders} {are}.{}", measure.name(), reference.unwrap_or_default())
    });
    Some(sentences.join(" "))
}

/// `1st`, `2nd`, `3rd`, `4th`.
fn ordinal(n: usize) -> String {
    let ending = match (n % 10, n % 100) {
        (1, rest) if rest != 11 => "st",
        (2, rest) if rest != 12 => "nd",
        (3, rest) if rest != 13 => "rd",
        _ => "th",
    };
    format!("{n}{ending}")
}

/// Optimizers that played less than others, those of the same part together.
fn coverage(report: &Report) -> Vec<String> {
    let mut parts: BTreeMap<(Vec<&str>, Vec<usize>), Vec<&str>> = BTreeMap::new();
    for optimizer in report.optimizers() {
        let rows = report.tasks.iter().filter_map(|part| Some((part.task.name, part.row(optimizer)?.reps)));
        let (tasks, reps): (Vec<&str>, BTreeSet<usize>) = rows.unzip();
        parts.entry((tasks, reps.into_iter().collect())).or_default().push(optimizer);
    }
    let usual = usual_reps(report);
    let played_all = |tasks: &[&str], reps: &[usize]| tasks.len() == report.tasks.len() && reps == [usual];
    parts
        .iter()
        .filter(|((tasks, reps), _)| !played_all(tasks, reps))
        .map(|((tasks, reps), optimizers)| {
            let names = optimizers.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let reps = match reps[..] {
                [reps] => count(reps, "repetition"),
                _ => format!("{} to {} repetitions", reps[0], reps[reps.len() - 1]),
            };
            let which = match tasks.len() == report.tasks.len() {
                true => "all tasks".to_owned(),
                false => format!("{} of {} tasks ({})", tasks.len(), report.tasks.len(), tasks.join(", ")),
            };
            format!("{names} played {which} with {reps}.")
        })
        .collect()
}

/// The scores of answers, if there are any: one table for each half of the tasks.
pub(super) fn answers(answers: &Answers) -> Vec<Block<'static>> {
    if answers.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::Heading("Answers".into()), Block::Text(ANSWERS.into())];
    for half in Half::ALL {
        let rows: Vec<&AnswerRow> = answers.rows.iter().filter(|row| row.half == half).collect();
        if rows.is_empty() {
            continue;
        }
        blocks.push(Block::Text(format!("Tasks {}:", half.purpose())));
        let header = answers::HEADER.iter().map(|title| (*title).to_owned()).collect();
        let is_first = |row: &AnswerRow| {
            let rivals = rows.iter().filter(|rival| rival.group == row.group);
            rivals.map(|rival| rival.scores[2]).fold(f64::NEG_INFINITY, f64::max) <= row.scores[2]
        };
        let cells = |row: &AnswerRow| {
            let mut cells: Vec<Cell> = row.cells().into_iter().map(Cell::plain).collect();
            if is_first(row) {
                cells[answers::SCORE].mark = Mark::Best;
            }
            cells
        };
        blocks.push(Block::Table(Table { header, rows: rows.iter().map(|row| cells(row)).collect() }));
    }
    blocks
}

/// What the columns of answers mean.
pub(crate) const ANSWERS: &str = "The score of a recommended point is that of its value without noise: 100 is the optimum, 0 what \
    random search's median gives after as many trials, and less than -100 counts as -100. ¼, ½ and score are after a quarter, half and \
    all of the trials; ± is the standard deviation over repetitions; visited is the score of the best point tried, whether \
    recommended or not. Of the runs, “in 95 %” says how many have the truth in the interval at the recommended point, “worse” \
    how many of those without noise recommend a worse point than the best one observed. “gain” is by how much the recommended point \
    exceeds the one with the best observation, in points of score over the noisy runs.";

fn ranks(report: &Report) -> Vec<Block<'_>> {
    let Some(first) = report.rankings.first() else { return Vec::new() };
    let column = |measure: Measure, n| format!("{}, {}", measure.name(), count(n, "task"));
    let header = report
        .rankings
        .iter()
        .flat_map(|ranking| Measure::ALL.map(|measure| column(measure, ranking.tasks.len())));
    // Those of the first ranking in its order, then those that only the next ones have.
    let mut order: Vec<&str> = Vec::new();
    for row in report.rankings.iter().flat_map(|ranking| &ranking.rows) {
        if !order.contains(&row.optimizer.as_str()) {
            order.push(&row.optimizer);
        }
    }
    let cells = |optimizer: &str| -> Vec<Cell> {
        let ranks = report.rankings.iter().flat_map(|ranking| {
            let least = |rank: fn(&super::RankRow) -> f64| {
                ranking.rows.iter().map(rank).fold(f64::INFINITY, f64::min)
            };
            let own = ranking.row(optimizer);
            [
                (own.map(|row| row.cumulative), least(|row| row.cumulative)),
                (own.map(|row| row.simple), least(|row| row.simple)),
            ]
        });
        ranks
            .map(|(rank, least)| match rank {
                Some(rank) if rank == least => Cell { text: format!("{rank:.2}"), mark: Mark::Best },
                Some(rank) => Cell::plain(format!("{rank:.2}")),
                None => Cell::nothing(),
            })
            .collect()
    };
    let explanation = match report.rankings.len() {
        1 => format!("Mean rank over {}, 1 is the least regret.", count(first.tasks.len(), "task")),
        _ => "Mean rank, 1 is the least regret, over each set of tasks that some optimizer has played, among all \
              that have played it."
            .to_owned(),
    };
    vec![
        Block::Heading("Mean ranks".into()),
        Block::Text(explanation),
        Block::Table(Table {
            header: std::iter::once("optimizer".to_owned()).chain(header).collect(),
            rows: order
                .into_iter()
                .map(|optimizer| std::iter::once(Cell::plain(optimizer)).chain(cells(optimizer)).collect())
                .collect(),
        }),
    ]
}

fn comparisons(report: &Report) -> Vec<Block<'_>> {
    if report.comparisons.is_empty() {
        return Vec::new();
    }
    let names = legend_order(report.comparisons.iter().map(|comparison| comparison.other.as_str()));
    let find = |name: &str| report.comparisons.iter().find(|comparison| comparison.other == name);
    let rows = names.into_iter().filter_map(find).map(|comparison| {
        let mut cells = vec![Cell::plain(&*comparison.other), Cell::plain(comparison.n_tasks.to_string())];
        for paired in Measure::ALL.map(|measure| comparison.paired(measure)) {
            cells.push(Cell::plain(paired.tasks_ahead.to_string()));
            cells.push(Cell::plain(format!("{} / {} / {}", paired.wins, paired.ties, paired.losses)));
            cells.push(paired.p.map_or_else(Cell::nothing, |p| Cell::plain(probability(p))));
        }
        cells
    });
    let header = [
        "against",
        "tasks",
        "cumulative: tasks ahead",
        "runs won / tied / lost",
        "p",
        "simple: tasks ahead",
        "runs won / tied / lost",
        "p",
    ];
    vec![
        Block::Heading(format!("{REFERENCE} against each other optimizer")),
        Block::Text(
            "Run by run, over the tasks and repetitions that both have played. p is Wilcoxon's signed-rank test, \
             two-sided, not corrected for the number of comparisons."
                .into(),
        ),
        Block::Table(Table { header: header.map(str::to_owned).to_vec(), rows: rows.collect() }),
    ]
}

fn regrets<'a>(panels: Panels<'a>, report: &Report) -> Vec<Block<'a>> {
    let mut blocks = vec![Block::Heading(panels.title.clone())];
    let shown = figure::shown(&panels.parts, report.most_lines);
    let played = panels.parts.iter().flat_map(|part| &part.rows).map(|row| row.optimizer.as_str());
    let n_played = played.collect::<BTreeSet<_>>().len();
    let which = match shown.len() < n_played {
        true => format!("; the best {} of {n_played} optimizers", shown.len()),
        false => String::new(),
    };
    for measure in Measure::ALL {
        blocks.push(Block::Figure(FigureBlock {
            path: figure_path(&panels, measure),
            caption: format!("{}: mean {} regret ± 1.96 sd/√reps{which}", panels.title, measure.name()),
            parts: panels.parts.clone(),
            measure,
            shown: shown.clone(),
        }));
    }
    for measure in Measure::ALL {
        blocks.push(Block::Table(regret_table(&panels, measure, usual_reps(report))));
    }
    blocks
}

/// One row an optimizer, one column a task, in the order of the legend.
fn regret_table(panels: &Panels, measure: Measure, usual_reps: usize) -> Table {
    let optimizers = panels.parts.iter().flat_map(|part| &part.rows).map(|row| row.optimizer.as_str());
    let cell = |part: &TaskReport, optimizer: &str| {
        let Some(row) = part.row(optimizer) else { return Cell::nothing() };
        let reps = if row.reps == usual_reps { String::new() } else { format!(" ({})", row.reps) };
        let mark = match part.standing(row, measure) {
            Standing::Best => Mark::Best,
            Standing::Near => Mark::Near,
            Standing::Behind | Standing::Alone => Mark::None,
        };
        Cell { text: format!("{}{reps}", row.regret(measure).last()), mark }
    };
    let rows = legend_order(optimizers).into_iter().map(|optimizer| {
        let cells = panels.parts.iter().map(|part| cell(part, optimizer));
        std::iter::once(Cell::plain(optimizer)).chain(cells).collect()
    });
    let tasks = panels.parts.iter().map(|part| part.task.name.to_owned());
    Table {
        header: std::iter::once(format!("{} regret", measure.name())).chain(tasks).collect(),
        rows: rows.collect(),
    }
}

fn ask_times(report: &Report) -> Vec<Block<'_>> {
    let names = legend_order(report.ask_times.iter().map(|(name, _)| name.as_str()));
    let find = |name: &str| report.ask_times.iter().find(|(other, _)| other == name);
    let rows = names.into_iter().filter_map(find).map(|(name, AskTime { median, high })| {
        vec![Cell::plain(&**name), Cell::plain(number(*median, *median)), Cell::plain(number(*high, *high))]
    });
    let header = ["milliseconds an ask", "median", "95 %"];
    vec![
        Block::Heading("Ask time".into()),
        Block::Table(Table { header: header.map(str::to_owned).to_vec(), rows: rows.collect() }),
        Block::Text(
            "Over all asks of all tasks that the optimizer has played, on the machine and under the load of the \
             runs. Those of other people's programs include the pipe. What an optimizer does when it is told \
             something is not in it."
                .into(),
        ),
    ]
}

fn how_to_read() -> Vec<Block<'static>> {
    let facts = [
        "The regret of a round is the best value f* less the value of the round without noise. Where f* is not \
         known it is the best value that any optimizer of this report has seen on the same task and fold. Cumulative \
         regret adds up all rounds, Phase I included; simple regret is that of the best round. Regret below a billionth \
         of the worst that was seen on the task counts as none.",
        "± and the bands of the figures are 1.96 sd/√reps. In tables of regret the least mean is bold; those that \
         cannot be told from it are in italics (Student's test for pairs over the repetitions of both, 5 %). A \
         number in brackets is that of the repetitions, where it is not the usual one.",
        "Every optimizer is given the same points of Phase I and the same noise in the same repetition: runs are \
         compared in pairs. Wilcoxon's test is over tasks × repetitions, on differences in regret as a share \
         of the mean of both on that task. It is exact for up to 50 pairs without ties or zeros; otherwise it is the \
         normal approximation, corrected for ties, with zeros ranked as Pratt has it. It takes repetitions of a task \
         for as independent as tasks are, which they are not quite.",
        "Ranks are of mean regrets over the repetitions that all ranked optimizers have played; equals share the \
         mean of their places.",
        "In figures other people's programs are dashed, in the colour of the optimizer here that does the same.",
    ];
    vec![Block::Heading("How to read this".into()), Block::List(facts.map(str::to_owned).to_vec())]
}

fn describe(part: &TaskReport) -> String {
    let task = part.task;
    let (name, summary, source) = (task.name, task.summary, task.source);
    let noise = match task.noise {
        Noise::NONE => "no noise".to_owned(),
        noise => format!("noise {noise}"),
    };
    format!("`{name}`: {summary}. {source}. {}; n = {}, T = {}, {noise}.", task.kinds(), task.n, part.horizon)
}

impl Cell {
    pub(crate) fn plain(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), mark: Mark::None }
    }

    pub(crate) fn nothing() -> Cell {
        Cell::plain("–")
    }
}

/// How many repetitions most rows have.
fn usual_reps(report: &Report) -> usize {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for row in report.tasks.iter().flat_map(|part| &part.rows) {
        *counts.entry(row.reps).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(_, rows)| *rows).map_or(0, |(reps, _)| reps)
}

fn run_keys(report: &Report) -> impl Iterator<Item = &RunKey> {
    report.tasks.iter().flat_map(|part| &part.rows).flat_map(|row| row.cumulative.by_run.keys())
}

pub(crate) fn probability(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}

pub(crate) fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}
