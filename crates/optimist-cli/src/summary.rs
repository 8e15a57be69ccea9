//! What a run has found, in words, a table and a picture.

use std::time::Duration;

use optimist::space::Assignment;
use optimist_plot::study::terminal;
use optimist_study::view::number::{count, shown, significant, with_uncertainty};
use optimist_study::{Best, State, Trial, TrialState};

use crate::show::{self, duration};

/// The study as it stands after a run in which `n_ended` trials ended.
pub fn text(state: &State, best: Option<&Best>, n_ended: usize, took: Duration) -> String {
    let mut parts = vec![headline(state, n_ended, took), best_points(state, best)];
    parts.extend(terminal::text(state.trials(), state.definition().direction));
    parts.join("\n\n")
}

/// The recommended point and, if it is another one, that with the best observed value.
pub fn best_points(state: &State, best: Option<&Best>) -> String {
    let recommended = best.map(|best| Column::recommended(best, state));
    let observed = state
        .best_observed()
        .filter(|trial| recommended.as_ref().and_then(|column| column.trial) != Some(*trial));
    let columns: Vec<Column<'_>> =
        recommended.into_iter().chain(observed.map(Column::best_observed)).collect();
    table(state, &columns)
}

/// A point worth showing.
struct Column<'t> {
    title: &'static str,
    /// Where it was tried.
    trial: Option<&'t Trial>,
    /// What the optimizer thinks it is worth.
    expected: Option<String>,
    params: &'t Assignment,
}

impl<'t> Column<'t> {
    fn recommended(best: &'t Best, state: &'t State) -> Self {
        Self {
            title: "recommended",
            trial: best.trial.map(|trial| &state.trials()[trial]),
            expected: best.std.map(|std| with_uncertainty(best.mean, std)),
            params: &best.params,
        }
    }

    fn best_observed(trial: &'t Trial) -> Self {
        Self { title: "best observed", trial: Some(trial), expected: None, params: &trial.params }
    }
}

fn headline(state: &State, n_ended: usize, took: Duration) -> String {
    let n_trials = state.trials().iter().filter(|trial| trial.has_ended()).count();
    let failed = match state.count(TrialState::Failed) {
        0 => String::new(),
        n_failed => format!(" ({n_failed} failed)"),
    };
    let now = if n_ended == n_trials { String::new() } else { format!(", {n_ended} of them now") };
    let (name, n_trials) = (&state.definition().name, count(n_trials, "trial"));
    format!("{name}: {n_trials}{failed}{now} in {}", duration(took))
}

fn table(state: &State, columns: &[Column<'_>]) -> String {
    let mut rows = Vec::new();
    let mut row = |title: &str, cell: &dyn Fn(&Column<'_>) -> Option<String>| {
        let cells: Vec<Option<String>> = columns.iter().map(cell).collect();
        if cells.iter().any(Option::is_some) {
            let cells = cells.into_iter().map(|cell| cell.unwrap_or_else(|| "-".to_owned()));
            rows.push(std::iter::once(title.to_owned()).chain(cells).collect());
        }
    };
    row("", &|column| Some(column.title.to_owned()));
    row("trial", &|column| column.trial.map(|trial| trial.number.to_string()));
    row("observed value", &|column| column.trial?.value().map(|value| significant(value, 6)));
    row("expected value", &|column| column.expected.clone());
    row("", &|_| Some(String::new()));
    for parameter in state.definition().space.parameters() {
        row(&parameter.name, &|column| column.params.get(&parameter.name).map(shown));
    }
    show::table(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use optimist::space::Value;
    use optimist_study::{Measurement, Storage, Study, StudyFile};

    const STUDY: &str = "
        name = 'tune'
        direction = 'minimize'
        parameters.kind = { type = 'categorical', choices = ['deep', 'flat'] }
        parameters.depth = { type = 'int', low = 1, high = 9, when = { kind = 'deep' } }";

    #[test]
    fn a_lucky_trial_is_shown_beside_the_recommended_one() {
        let definition = StudyFile::parse(STUDY).unwrap().definition;
        let mut study = Study::create(&Storage::memory(), definition).unwrap();
        let deep = Assignment::from_iter([("kind", Value::from("deep")), ("depth", Value::from(4))]);
        let flat = Assignment::from_iter([("kind", "flat")]);
        for (params, value) in [(&flat, 0.5), (&deep, 0.7)] {
            study.enqueue(params).unwrap();
            let job = study.ask(None).unwrap();
            study.tell(job.trial, Measurement::new(value), None).unwrap();
        }
        study.ask(None).unwrap();
        let best = Best { trial: Some(1), params: deep, mean: 0.6, std: Some(0.04), value: Some(0.7) };
        let text = text(study.state(), Some(&best), 2, Duration::from_secs(75));
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
