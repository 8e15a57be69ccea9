//! What a run has found, in words, a table and a picture.

use std::time::Duration;

use comfy_table::{Table, presets};
use optimist::Recommendation;
use optimist::encode::Encoding;
use optimist::space::{Assignment, Value};

use crate::number::{significant, with_uncertainty};
use crate::picture;
use crate::study_file::StudyFile;
use crate::trials::Trial;

/// The result of a run; `recommended` is on the optimizer's scale.
pub fn text(
    study: &StudyFile,
    encoding: &Encoding,
    trials: &[Trial],
    recommended: Option<&Recommendation>,
    took: Duration,
) -> String {
    let recommended =
        recommended.map(|recommended| Column::recommended(recommended, study, encoding, trials));
    let best =
        best(study, trials).filter(|best| recommended.as_ref().and_then(|column| column.trial) != Some(best));
    let columns: Vec<Column<'_>> = recommended.into_iter().chain(best.map(Column::best_observed)).collect();
    let mut parts = vec![headline(study, trials, took), table(study, &columns)];
    parts.extend(picture::text(trials, study.direction));
    parts.join("\n\n")
}

/// A point worth showing.
struct Column<'t> {
    title: &'static str,
    /// Where it was tried.
    trial: Option<&'t Trial>,
    /// What the optimizer thinks it is worth.
    expected: Option<String>,
    params: Assignment,
}

impl<'t> Column<'t> {
    fn recommended(
        recommended: &Recommendation,
        study: &StudyFile,
        encoding: &Encoding,
        trials: &'t [Trial],
    ) -> Self {
        let mean = study.direction.flip(recommended.mean);
        Self {
            title: "recommended",
            trial: trials.iter().find(|trial| trial.x == recommended.x),
            expected: recommended.std.map(|std| with_uncertainty(mean, std)),
            params: encoding.decode(&recommended.x),
        }
    }

    fn best_observed(trial: &'t Trial) -> Self {
        Self { title: "best observed", trial: Some(trial), expected: None, params: trial.params.clone() }
    }
}

fn headline(study: &StudyFile, trials: &[Trial], took: Duration) -> String {
    let plural = if trials.len() == 1 { "" } else { "s" };
    let failed = match trials.iter().filter(|trial| trial.result.is_err()).count() {
        0 => String::new(),
        n_failed => format!(" ({n_failed} failed)"),
    };
    format!("{}: {} trial{plural}{failed} in {}", study.name, trials.len(), duration(took))
}

fn table(study: &StudyFile, columns: &[Column<'_>]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let mut row = |title: &str, cell: &dyn Fn(&Column<'_>) -> Option<String>| {
        let cells: Vec<Option<String>> = columns.iter().map(cell).collect();
        if cells.iter().any(Option::is_some) {
            let cells = cells.into_iter().map(|cell| cell.unwrap_or_else(|| "-".to_owned()));
            table.add_row(std::iter::once(title.to_owned()).chain(cells));
        }
    };
    row("", &|column| Some(column.title.to_owned()));
    row("trial", &|column| column.trial.map(|trial| trial.number.to_string()));
    row("observed value", &|column| column.trial?.value().map(|value| significant(value, 6)));
    row("expected value", &|column| column.expected.clone());
    row("", &|_| Some(String::new()));
    for parameter in study.space.parameters() {
        row(&parameter.name, &|column| column.params.get(&parameter.name).map(shown));
    }
    table.to_string().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// The trial with the best observed value; of equals the first.
fn best<'t>(study: &StudyFile, trials: &'t [Trial]) -> Option<&'t Trial> {
    let valued = trials.iter().filter_map(|trial| Some((study.direction.flip(trial.value()?), trial)));
    valued.rev().max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, trial)| trial)
}

/// `lr=0.01 kind=relu`.
pub fn in_short(params: &Assignment) -> String {
    let pairs: Vec<String> = params.iter().map(|(name, value)| format!("{name}={}", shown(value))).collect();
    pairs.join(" ")
}

fn shown(value: &Value) -> String {
    match value {
        Value::Float(number) => significant(*number, 6),
        other => other.to_string(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objective::Measurement;

    const STUDY: &str = "
        name = 'tune'
        direction = 'minimize'
        objective.command = ['true']
        parameters.kind = { type = 'categorical', choices = ['deep', 'flat'] }
        parameters.depth = { type = 'int', low = 1, high = 9, when = { kind = 'deep' } }";

    #[test]
    fn a_lucky_trial_is_shown_beside_the_recommended_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("study.toml");
        std::fs::write(&file, STUDY).unwrap();
        let study = StudyFile::read(&file).unwrap();
        let encoding = Encoding::new(study.space.clone());
        let deep = Assignment::from_iter([("kind", Value::from("deep")), ("depth", Value::from(4))]);
        let flat = Assignment::from_iter([("kind", "flat")]);
        let trial = |number, params: &Assignment, value: f64| Trial {
            number,
            params: params.clone(),
            x: encoding.encode(params).unwrap(),
            result: Ok(Measurement { value, noise_std: None, note: None, metrics: None }),
            seconds: 1.0,
        };
        let trials = [trial(0, &flat, 0.5), trial(1, &deep, 0.7)];
        let recommended = Recommendation { x: trials[1].x.clone(), mean: -0.6, std: Some(0.04) };
        let text = text(&study, &encoding, &trials, Some(&recommended), Duration::from_secs(75));
        let expected = "tune: 2 trials in 1 min 15 s

                 recommended    best observed
 trial           1              0
 observed value  0.7            0.5
 expected value  0.600 ± 0.040  -

 kind            deep           flat
 depth           4              -";
        assert!(text.starts_with(expected), "{text}");
    }
}
