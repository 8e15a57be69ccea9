//! Tables: of tasks, and of a report for a terminal, for Markdown and as comma-separated values.

use std::fmt::Write;

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, Width};

use crate::estimate::{Estimate, number};
use crate::report::{Report, Row, TaskReport};
use crate::task;

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
            task.noise_std.to_string(),
            format!("{}\n{}", task.summary, task.source),
        ]);
    }
    format!("{table}\n")
}

const HEADER: [&str; 6] = ["task", "optimizer", "reps", "cumulative regret", "simple regret", "ask, ms"];

pub(crate) fn text(report: &Report) -> String {
    let mut table = table(&HEADER, HEADER.len() - 2);
    for part in &report.tasks {
        let best = Best::of(part);
        for (index, row) in part.rows.iter().enumerate() {
            let name = if index == 0 { part.task.name } else { "" };
            table.add_row([
                name.to_owned(),
                row.optimizer.clone(),
                row.reps.to_string(),
                marked("* ", row.cumulative, best.cumulative, ""),
                marked("* ", row.simple, best.simple, ""),
                ask(row),
            ]);
        }
    }
    let mut text = format!("{table}\n* least of the task; mean ± 1.96 sd/√reps; median ask\n");
    if !report.ranks.is_empty() {
        let mut ranks = self::table(&["optimizer", &rank_header(report)], 1);
        for (optimizer, rank) in &report.ranks {
            ranks.add_row([optimizer.clone(), format!("{rank:.2}")]);
        }
        let _ = write!(text, "\n{ranks}\n");
    }
    text
}

pub(crate) fn markdown(report: &Report) -> String {
    let mut page = String::from(
        "# Benchmark report\n\n\
         Mean over repetitions ± 1.96 sd/√reps, least regret in bold. Cumulative regret adds up all\n\
         rounds, Phase I included; simple regret is that of the best round. Ask is the median time.\n\n",
    );
    let _ = writeln!(page, "| {} |", HEADER.join(" | "));
    page.push_str("|---|---|---:|---:|---:|---:|\n");
    for part in &report.tasks {
        let best = Best::of(part);
        for row in &part.rows {
            let cells = [
                part.task.name.to_owned(),
                row.optimizer.clone(),
                row.reps.to_string(),
                marked("**", row.cumulative, best.cumulative, "**"),
                marked("**", row.simple, best.simple, "**"),
                ask(row),
            ];
            let _ = writeln!(page, "| {} |", cells.join(" | "));
        }
    }
    if !report.ranks.is_empty() {
        let _ = write!(page, "\n| optimizer | {} |\n|---|---:|\n", rank_header(report));
        for (optimizer, rank) in &report.ranks {
            let _ = writeln!(page, "| {optimizer} | {rank:.2} |");
        }
    }
    for task in report.tasks.iter().map(|part| part.task) {
        let (name, summary, source) = (task.name, task.summary, task.source);
        let facts =
            format!("{}; n = {}, T = {}, noise {}", task.kinds(), task.n, task.horizon, task.noise_std);
        let _ = write!(
            page,
            "\n## {name}\n\n{summary} ({source}). {facts}.\n\n![Cumulative regret on {name}]({name}.svg)\n"
        );
    }
    page
}

pub(crate) fn csv(report: &Report) -> String {
    let mut csv = String::from(
        "task,optimizer,reps,cumulative_regret,cumulative_half_width,\
         simple_regret,simple_half_width,median_ask_ms\n",
    );
    let or_nothing = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    for part in &report.tasks {
        for row in &part.rows {
            let fields = [
                quoted(part.task.name),
                quoted(&row.optimizer),
                row.reps.to_string(),
                row.cumulative.mean.to_string(),
                or_nothing(row.cumulative.half_width),
                row.simple.mean.to_string(),
                or_nothing(row.simple.half_width),
                or_nothing(row.median_ask_ms),
            ];
            let _ = writeln!(csv, "{}", fields.join(","));
        }
    }
    csv
}

/// The least means of a task; none where there is nothing to compare.
struct Best {
    cumulative: Option<f64>,
    simple: Option<f64>,
}

impl Best {
    fn of(part: &TaskReport) -> Best {
        let least = |mean: fn(&Row) -> f64| {
            (part.rows.len() > 1).then(|| part.rows.iter().map(mean).fold(f64::INFINITY, f64::min))
        };
        Best { cumulative: least(|row| row.cumulative.mean), simple: least(|row| row.simple.mean) }
    }
}

fn marked(before: &str, estimate: Estimate, best: Option<f64>, after: &str) -> String {
    if Some(estimate.mean) == best { format!("{before}{estimate}{after}") } else { estimate.to_string() }
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

fn rank_header(report: &Report) -> String {
    match report.n_ranked {
        1 => "rank on the one task that all played".into(),
        n => format!("mean rank over {n} tasks"),
    }
}

fn ask(row: &Row) -> String {
    row.median_ask_ms.map_or_else(|| "–".into(), |ms| number(ms, ms))
}

/// A field as RFC 4180 has it: in quotes if it holds a comma, quote or line break.
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
