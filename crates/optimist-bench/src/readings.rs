//! What the paper's appendix leaves open, or may have misprinted, and how it can be read: one optimizer per reading.
//!
//! Given: nothing. Gives: the readings, and what records of them say as one table. Does not know: how they are played.
//!
//! The paper plots cumulative regret on f1, f2 and f3 and prints no number. A reading gives its figures if it's ahead of TuRBO and
//! the three Gaussian processes on all three, as the plots are: these rivals are played beside the readings.

use std::fmt::Write;

use crate::report::{Report, ReportError};
use crate::results::RunRecord;

/// What the paper plots the experiments on.
pub const TASKS: [&str; 3] = ["f1", "f2", "f3"];

/// The paper's rivals, and random search.
pub const RIVALS: [&str; 5] = ["turbo", "gp-ei", "gp-pi", "gp-ucb", "random"];

/// One way to read the appendix, and the optimizer that does so.
pub struct Reading {
    /// In a few words.
    pub what: &'static str,
    /// As `optimist-bench run --optimizers` takes it.
    pub optimizer: &'static str,
}

const fn reading(what: &'static str, optimizer: &'static str) -> Reading {
    Reading { what, optimizer }
}

/// From the appendix as it is printed, one change at a time and then several, to what we make of the algorithm.
pub const READINGS: [Reading; 28] = [
    reading("as printed", "go-ucb:paper"),
    reading("learning rate 1e-9", "go-ucb:paper:oracle_rate=1e-9"),
    reading("learning rate 1e-7", "go-ucb:paper:oracle_rate=1e-7"),
    reading("learning rate 1e-5", "go-ucb:paper:oracle_rate=1e-5"),
    reading("learning rate 1e-3", "go-ucb:paper:oracle_rate=1e-3"),
    reading("learning rate 1e-2", "go-ucb:paper:oracle_rate=1e-2"),
    reading("the network fitted", "go-ucb:paper:oracle_rate=fitted"),
    reading("F = 100", "go-ucb:paper:range=100"),
    reading("β × 1e-6", "go-ucb:paper:exploration=1e-6"),
    reading("β × 1e-9", "go-ucb:paper:exploration=1e-9"),
    reading("ascent from the best point", "go-ucb:paper:from_best=true"),
    reading("ascent at 1e-2", "go-ucb:paper:ascent_rate=1e-2"),
    reading("x and y scaled", "go-ucb:paper:scaled=true"),
    reading("scaled, rate 1e-5", "go-ucb:paper:scaled=true:oracle_rate=1e-5"),
    reading("scaled, rate 1e-2", "go-ucb:paper:scaled=true:oracle_rate=1e-2"),
    reading("scaled, fitted", "go-ucb:paper:scaled=true:oracle_rate=fitted"),
    reading("fitted, ascent from the best", "go-ucb:paper:oracle_rate=fitted:from_best=true"),
    reading("fitted, ascent at 1e-2", "go-ucb:paper:oracle_rate=fitted:ascent_rate=1e-2"),
    reading("scaled, fitted, from the best", "go-ucb:paper:scaled=true:oracle_rate=fitted:from_best=true"),
    reading("scaled, fitted, ascent at 1e-2", "go-ucb:paper:scaled=true:oracle_rate=fitted:ascent_rate=1e-2"),
    reading(
        "scaled, fitted, at 1e-2, from the best",
        "go-ucb:paper:scaled=true:oracle_rate=fitted:ascent_rate=1e-2:from_best=true",
    ),
    reading(
        "scaled, fitted, at 1e-2, β × 1e-9",
        "go-ucb:paper:scaled=true:oracle_rate=fitted:ascent_rate=1e-2:exploration=1e-9",
    ),
    reading("constants of the proofs (`theory`)", "go-ucb:theory"),
    reading("refitted network, no trust region", "go-ucb:aim=regret:family=mlp:trust_region=false"),
    reading("refitted network, trust region", "go-ucb:aim=regret:family=mlp"),
    reading("our families, no trust region", "go-ucb:aim=regret:trust_region=false"),
    reading("our families, trust region", "go-ucb:aim=regret"),
    reading("the default (aims at the answer)", "go-ucb"),
];

/// Everything that is played: the readings, and the paper's rivals.
pub fn optimizers() -> Vec<String> {
    READINGS.iter().map(|reading| reading.optimizer).chain(RIVALS).map(str::to_owned).collect()
}

/// Cumulative regret of all readings and rivals that were played, as a table in Markdown.
///
/// # Errors
/// If the records cannot be reported on.
pub fn table(records: &[RunRecord]) -> Result<String, ReportError> {
    let report = Report::new(records)?;
    let regret = |task: &str, optimizer: &str| {
        let task = report.tasks.iter().find(|of| of.task.name == task)?;
        let row = task.rows.iter().find(|row| row.optimizer == optimizer)?;
        Some(row.cumulative.last())
    };
    let is_ahead_of_rivals = |optimizer: &str, task: &str| {
        let Some(own) = regret(task, optimizer) else { return false };
        let rivals = RIVALS.iter().filter_map(|rival| regret(task, rival));
        rivals.map(|rival| rival.mean).all(|rival| own.mean < rival)
    };
    let mut out = format!(
        "| reading | optimizer | {} | ahead of all rivals on |\n|---|---|---:|---:|---:|---|\n",
        TASKS.join(" | ")
    );
    let rivals = RIVALS.map(|rival| ("", rival));
    let rows = READINGS.iter().map(|reading| (reading.what, reading.optimizer)).chain(rivals);
    for (what, optimizer) in rows {
        let cells =
            TASKS.map(|task| regret(task, optimizer).map_or("–".to_owned(), |mean| mean.to_string()));
        let ahead: Vec<&str> = TASKS
            .into_iter()
            .filter(|task| !what.is_empty() && is_ahead_of_rivals(optimizer, task))
            .collect();
        let ahead = if ahead.is_empty() { "–".to_owned() } else { ahead.join(", ") };
        let _ = writeln!(out, "| {what} | `{optimizer}` | {} | {ahead} |", cells.join(" | "));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reading_is_an_optimizer_of_its_own() {
        let mut methods = Vec::new();
        for optimizer in optimizers() {
            let method: optimist::Method = optimizer.parse().unwrap();
            assert!(!methods.contains(&method), "{optimizer} is played twice");
            methods.push(method);
        }
    }

    #[test]
    fn the_table_says_who_is_ahead_of_all_rivals() {
        let record = |optimizer: &str, value: f64| RunRecord {
            task: "f2".into(),
            optimizer: optimizer.into(),
            n: 1,
            values: vec![value],
            ..RunRecord::default()
        };
        let mut records: Vec<RunRecord> = RIVALS.iter().map(|rival| record(rival, 0.0)).collect();
        records.extend([record("go-ucb:paper", -1.0), record("go-ucb", 1.0)]);
        let table = table(&records).unwrap();
        let row = |word: &str| table.lines().find(|line| line.contains(&format!("`{word}`"))).unwrap();
        assert!(row("go-ucb").ends_with("| f2 |"), "{table}");
        assert!(row("go-ucb:paper").ends_with("| – |"), "{table}");
        assert!(row("turbo").ends_with("| – |"), "{table}");
        assert!(row("go-ucb:theory").contains("| – | – | – | – |"), "{table}");
    }
}
