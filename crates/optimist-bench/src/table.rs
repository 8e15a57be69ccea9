//! Tables: of tasks, and of a report for a terminal and as comma-separated values.

use std::fmt::Write;

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, Width};

use crate::report::{
    AnswerRow, Answers, HEADER, Measure, Paired, REFERENCE, RankRow, Report, Row, Standing, TaskReport,
    number,
};
use crate::task::{self, Half};

/// Every task with what is varied, how it is played and where it comes from, for a terminal.
pub fn tasks() -> String {
    let mut table = table(&["task", "varied", "n + T", "noise", "what it is, and its source"], 0);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(120);
    if let Some(varied) = table.column_mut(1) {
        varied.set_constraint(ColumnConstraint::UpperBoundary(Width::Fixed(20)));
    }
    for task in task::all() {
        table.add_row([
            task.name.to_owned(),
            task.kinds(),
            format!("{} + {}", task.n, task.horizon),
            task.noise.to_string(),
            format!("{}\n{}", task.summary, task.source),
        ]);
    }
    format!("{table}\n")
}

/// Every task of a report, one row an optimizer, then [`summary`].
pub(crate) fn text(report: &Report) -> String {
    let mut table = table(&["task", "optimizer", "reps", "cumulative regret", "simple regret", "ask, ms"], 4);
    for part in &report.tasks {
        for (index, row) in part.rows.iter().enumerate() {
            let name = if index == 0 { part.task.name } else { "" };
            table.add_row([
                name.to_owned(),
                row.optimizer.clone(),
                row.reps.to_string(),
                marked(part, row, Measure::Cumulative),
                marked(part, row, Measure::Simple),
                row.ask.map_or_else(|| "–".into(), |ask| number(ask.median, ask.median)),
            ]);
        }
    }
    format!(
        "{table}\n* least of the task, ~ not to be told from it; mean ± 1.96 sd/√reps; median ask\n{}",
        summary(report)
    )
}

/// Mean ranks, and GO-UCB against the others.
pub(crate) fn summary(report: &Report) -> String {
    let mut text = String::new();
    for ranking in &report.rankings {
        let tasks = match ranking.tasks.len() {
            1 => "1 task".to_owned(),
            n => format!("{n} tasks"),
        };
        let mut ranks = table(&[&format!("mean rank over {tasks}"), "cumulative", "simple"], 2);
        for RankRow { optimizer, cumulative, simple } in &ranking.rows {
            ranks.add_row([optimizer.clone(), format!("{cumulative:.2}"), format!("{simple:.2}")]);
        }
        let _ = write!(text, "\n{ranks}\n");
    }
    if !report.comparisons.is_empty() {
        let header =
            [&format!("{REFERENCE} against"), "tasks", "cumulative: won/tied/lost", "simple: won/tied/lost"];
        let mut comparisons = table(&header, 3);
        for comparison in &report.comparisons {
            let runs = |measure| {
                let Paired { wins, ties, losses, .. } = comparison.paired(measure);
                format!("{wins}/{ties}/{losses}")
            };
            let [cumulative, simple] = Measure::ALL.map(runs);
            comparisons.add_row([
                comparison.other.clone(),
                comparison.n_tasks.to_string(),
                cumulative,
                simple,
            ]);
        }
        let _ = write!(text, "\n{comparisons}\n");
    }
    text
}

/// The scores of answers, a table for each half of the tasks.
pub(crate) fn answers(answers: &Answers) -> String {
    let mut text = String::new();
    for half in Half::ALL {
        let rows: Vec<&AnswerRow> = answers.rows.iter().filter(|row| row.half == half).collect();
        if rows.is_empty() {
            continue;
        }
        let mut table = table(&HEADER, HEADER.len() - 2);
        for (index, row) in rows.iter().enumerate() {
            let mut cells = row.cells();
            if index > 0 && rows[index - 1].group == row.group {
                cells[0].clear();
            }
            table.add_row(cells);
        }
        let _ = write!(text, "answers on the tasks {}\n{table}\n\n", half.purpose());
    }
    text
}

pub(crate) fn csv(report: &Report) -> String {
    let mut csv = String::from(
        "task,optimizer,reps,cumulative_regret,cumulative_half_width,\
         simple_regret,simple_half_width,median_ask_ms,ask_ms_95\n",
    );
    let or_nothing = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    for part in &report.tasks {
        for row in &part.rows {
            let [cumulative, simple] = Measure::ALL.map(|measure| row.regret(measure).last());
            let fields = [
                quoted(part.task.name),
                quoted(&row.optimizer),
                row.reps.to_string(),
                cumulative.mean.to_string(),
                or_nothing(cumulative.half_width),
                simple.mean.to_string(),
                or_nothing(simple.half_width),
                or_nothing(row.ask.map(|ask| ask.median)),
                or_nothing(row.ask.map(|ask| ask.high)),
            ];
            let _ = writeln!(csv, "{}", fields.join(","));
        }
    }
    csv
}

fn marked(part: &TaskReport, row: &Row, measure: Measure) -> String {
    let mark = match part.standing(row, measure) {
        Standing::Best => "* ",
        Standing::Near => "~ ",
        Standing::Behind | Standing::Alone => "",
    };
    format!("{mark}{}", row.regret(measure).last())
}

/// A table with lines around the header only, its last `n_numbers` columns aligned to the right.
fn table(header: &[&str], n_numbers: usize) -> Table {
    let line = LineStyle::none().fill('─').junction('─');
    let mut table = Table::new();
    table.load_style(TableStyle::new().top_border(line).header_separator(line).bottom_border(line));
    table.set_header(header);
    for column in table.column_iter_mut().skip(header.len() - n_numbers) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// A field as RFC 4180 has it: in quotes if it holds a comma, quote or line break.
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
