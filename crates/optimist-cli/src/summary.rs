//! What a run has found, in words, a table and a picture.

use std::fmt::Write;
use std::time::Duration;

use comfy_table::{Table, presets};
use optimist::Recommendation;
use optimist::encode::Encoding;
use optimist::space::{Assignment, Value};

use crate::number::{significant, with_uncertainty};
use crate::picture;
use crate::study_file::StudyFile;
use crate::trials::Trial;

/// The result of a run with at least one value; `recommended` is on the optimizer's scale.
pub fn text(
    study: &StudyFile,
    encoding: &Encoding,
    trials: &[Trial],
    recommended: Option<&Recommendation>,
    took: Duration,
) -> String {
    let n_failed = trials.iter().filter(|trial| trial.result.is_err()).count();
    let mut text = format!("{}: {}", study.name, counted(trials.len(), "trial"));
    if n_failed > 0 {
        write!(text, " ({n_failed} failed)").expect("writing to a string cannot fail");
    }
    text += &format!(" in {}\n", duration(took));

    let best = best(study, trials);
    let mut columns: Vec<(String, &Assignment)> = Vec::new();
    let decoded;
    if let Some(recommended) = recommended {
        let trial = trials.iter().find(|trial| trial.x == recommended.x);
        decoded = encoding.decode(&recommended.x);
        let mean = study.direction.flip(recommended.mean);
        let expected = match recommended.std {
            Some(std) => with_uncertainty(mean, std),
            None => significant(mean, 6),
        };
        let place = trial.map_or_else(
            || "a new point".to_owned(),
            |trial| format!("trial {}", trial.number),
        );
        let observed = trial
            .and_then(Trial::value)
            .map(|value| format!("observed {}, ", significant(value, 6)));
        text += &format!(
            "\nrecommended    {place}: {}expected {expected}",
            observed.unwrap_or_default()
        );
        columns.push(("recommended".to_owned(), &decoded));
    }
    if let Some(best) = best.filter(|best| recommended.is_none_or(|recommended| recommended.x != best.x)) {
        let value = best
            .value()
            .map(|value| significant(value, 6))
            .unwrap_or_default();
        text += &format!("\nbest observed  trial {}: observed {value}", best.number);
        columns.push(("best observed".to_owned(), &best.params));
    }
    text += &format!("\n\n{}\n", parameters(study, &columns));
    if let Some(picture) = picture::text(trials, study.direction) {
        text += &format!("\n{picture}\n");
    }
    text
}

/// The trial with the best observed value.
pub fn best<'t>(study: &StudyFile, trials: &'t [Trial]) -> Option<&'t Trial> {
    let value = |trial: &&Trial| trial.value().map(|value| study.direction.flip(value));
    let better = |a: &&Trial, b: &&Trial| {
        value(a)
            .partial_cmp(&value(b))
            .unwrap_or(std::cmp::Ordering::Equal)
    };
    // Of equals the first, so that a later trial is named only if it is better.
    trials
        .iter()
        .filter(|trial| trial.value().is_some())
        .rev()
        .max_by(better)
}

/// `lr=0.01 kind=relu`.
pub fn in_short(params: &Assignment) -> String {
    let pairs: Vec<String> = params
        .iter()
        .map(|(name, value)| format!("{name}={}", shown(value)))
        .collect();
    pairs.join(" ")
}

fn parameters(study: &StudyFile, columns: &[(String, &Assignment)]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let titles = columns.iter().map(|(title, _)| title.clone());
    table.set_header(std::iter::once("parameter".to_owned()).chain(titles));
    for parameter in study.space.parameters() {
        let value = |params: &Assignment| params.get(&parameter.name).map_or_else(|| "-".to_owned(), shown);
        let values = columns.iter().map(|(_, params)| value(params));
        table.add_row(std::iter::once(parameter.name.clone()).chain(values));
    }
    table
        .to_string()
        .lines()
        .map(|line| line.trim_end())
        .collect::<Vec<_>>()
        .join("\n")
}

fn shown(value: &Value) -> String {
    match value {
        Value::Float(number) => significant(*number, 6),
        other => other.to_string(),
    }
}

fn counted(n: usize, what: &str) -> String {
    if n == 1 {
        format!("1 {what}")
    } else {
        format!("{n} {what}s")
    }
}

fn duration(took: Duration) -> String {
    let seconds = took.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, _) => format!("{:.1} s", took.as_secs_f64()),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}
