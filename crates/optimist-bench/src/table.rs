//! The tables of a report: for a terminal, for Markdown, and as comma-separated values.

use std::fmt::Write;

use comfy_table::{CellAlignment, Table, presets};

use crate::estimate::{Estimate, number};
use crate::report::{Report, Row, TaskReport};

const HEADER: [&str; 6] = [
    "task",
    "optimizer",
    "reps",
    "cumulative regret",
    "simple regret",
    "ask, ms",
];

pub(crate) fn text(report: &Report) -> String {
    let mut table = table(HEADER.as_slice());
    for part in &report.tasks {
        let best = Best::of(part);
        for row in &part.rows {
            let mark = |estimate: Estimate, best: f64| {
                if estimate.mean == best {
                    format!("* {estimate}")
                } else {
                    estimate.to_string()
                }
            };
            table.add_row([
                part.task.name.to_owned(),
                row.optimizer.clone(),
                row.reps.to_string(),
                mark(row.cumulative, best.cumulative),
                mark(row.simple, best.simple),
                ask(row),
            ]);
        }
    }
    let mut text = format!("{table}\n* least of the task; mean ± 1.96 sd/√reps; median ask\n");
    if !report.ranks.is_empty() {
        let mut ranks = self::table(&["optimizer", &rank_header(report)]);
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
            let bold = |estimate: Estimate, best: f64| {
                if estimate.mean == best {
                    format!("**{estimate}**")
                } else {
                    estimate.to_string()
                }
            };
            let _ = writeln!(
                page,
                "| {} | {} | {} | {} | {} | {} |",
                part.task.name,
                row.optimizer,
                row.reps,
                bold(row.cumulative, best.cumulative),
                bold(row.simple, best.simple),
                ask(row)
            );
        }
    }
    if !report.ranks.is_empty() {
        let _ = write!(page, "\n| optimizer | {} |\n|---|---:|\n", rank_header(report));
        for (optimizer, rank) in &report.ranks {
            let _ = writeln!(page, "| {optimizer} | {rank:.2} |");
        }
    }
    for part in &report.tasks {
        let task = part.task;
        let _ = write!(
            page,
            "\n## {0}\n\n{1} ({2}). {3}; n = {4}, T = {5}, noise {6}.\n\n![Cumulative regret on {0}]({0}.svg)\n",
            task.name,
            task.summary,
            task.source,
            task.kinds(),
            task.n,
            task.horizon,
            task.noise_std
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
            let _ = writeln!(
                csv,
                "{},{},{},{},{},{},{},{}",
                quoted(part.task.name),
                quoted(&row.optimizer),
                row.reps,
                row.cumulative.mean,
                or_nothing(row.cumulative.half_width),
                row.simple.mean,
                or_nothing(row.simple.half_width),
                or_nothing(row.median_ask_ms)
            );
        }
    }
    csv
}

/// The least means of a task.
struct Best {
    cumulative: f64,
    simple: f64,
}

impl Best {
    fn of(part: &TaskReport) -> Best {
        let least = |mean: fn(&Row) -> f64| part.rows.iter().map(mean).fold(f64::INFINITY, f64::min);
        Best {
            cumulative: least(|row| row.cumulative.mean),
            simple: least(|row| row.simple.mean),
        }
    }
}

/// A table with numbers, that is all but the names in front, aligned to the right.
fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY).set_header(header);
    for column in table.column_iter_mut() {
        if column.index + 1 >= header.len().min(3) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

fn rank_header(report: &Report) -> String {
    match report.n_ranked {
        1 => "rank on the one task of all".into(),
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
