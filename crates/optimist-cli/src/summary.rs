//! What a run has found, in words, a table and a picture.

use std::time::Duration;

use optimist::space::Assignment;
use optimist_plot::study::terminal;
use optimist_study::view::number::{count, shown, significant, with_uncertainty};
use optimist_study::{Best, Front, FrontPoint, Outcomes, State, Trial, TrialState};

use crate::show::{self, duration};

/// The status of a study after a run in which `n_ended` trials ended.
pub fn text(
    state: &State,
    best: Option<&Best>,
    front: Option<&Front>,
    n_ended: usize,
    took: Duration,
) -> String {
    let answer = match front {
        Some(front) => self::front(state, front, usize::MAX),
        None => best_points(state, best),
    };
    let mut parts = vec![headline(state, n_ended, took), answer];
    parts.extend(terminal::text(state));
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

/// The points of a front, the first `n` of them, and what they cover.
pub fn front(state: &State, front: &Front, n: usize) -> String {
    let (outcomes, space) = (state.outcomes(), &state.definition().space);
    let has_constraints = outcomes.has_constraints();
    let has_model =
        front.points.iter().any(|point| point.outcomes.0.iter().any(|(_, one)| one.std.is_some()));
    let of_outcomes = outcomes
        .names()
        .flat_map(|name| std::iter::once(name.to_owned()).chain(has_model.then(|| "expected".to_owned())));
    let first = ["trial".to_owned()].into_iter().chain(has_constraints.then(|| "feasible".to_owned()));
    let title = first.chain(of_outcomes).chain(show::names(space).map(str::to_owned)).collect();
    let row = |point: &FrontPoint| {
        let trial = show::or_dash(point.trial);
        let trial = if point.knee { format!("{trial} (knee)") } else { trial };
        let feasible = has_constraints.then(|| show::or_dash(point.feasible.map(percent)));
        let of_outcomes = point.outcomes.0.iter().flat_map(|(_, one)| {
            let observed = show::or_dash(one.value.map(|value| significant(value, 6)));
            let expected = show::or_dash(one.std.map(|std| with_uncertainty(one.expected, std)));
            std::iter::once(observed).chain(has_model.then_some(expected))
        });
        [trial]
            .into_iter()
            .chain(feasible)
            .chain(of_outcomes)
            .chain(show::cells(&point.params, space))
            .collect()
    };
    let rows = std::iter::once(title).chain(front.points.iter().take(n).map(row)).collect();
    format!("{}\n\n{}", show::table(rows), covered(front))
}

/// `12 points, hypervolume 3.4; the knee is trial 7 with accuracy 0.93, latency_ms 12.1`.
pub fn front_in_short(front: &Front, outcomes: &Outcomes) -> String {
    let knee = front.knee().map(|knee| {
        let value = |name: &str| knee.outcomes.get(name).map(|one| one.value.unwrap_or(one.expected));
        let trial = knee.trial.map_or_else(|| "a new point".to_owned(), |trial| format!("trial {trial}"));
        format!("; the knee is {trial}: {}", show::values(outcomes, value))
    });
    format!("{}, {}{}", count(front.points.len(), "point"), covered(front), knee.unwrap_or_default())
}

fn covered(front: &Front) -> String {
    let reference: Vec<String> =
        front.reference.0.iter().map(|(name, at)| format!("{name} {}", significant(*at, 6))).collect();
    match front.hypervolume {
        Some(volume) => format!("hypervolume {} beyond {}", significant(volume, 6), reference.join(", ")),
        None if front.reference.is_empty() => "nothing feasible was observed yet".to_owned(),
        None => "too many goals and points for a hypervolume".to_owned(),
    }
}

/// A probability as people read it: `97 %`.
pub fn percent(chance: f64) -> String {
    match 100.0 * chance {
        percent if percent > 99.0 && chance < 1.0 => "more than 99 %".to_owned(),
        percent if percent < 1.0 && chance > 0.0 => "less than 1 %".to_owned(),
        percent => format!("{percent:.0} %"),
    }
}

/// A point worth showing.
struct Column<'t> {
    title: &'static str,
    /// Where it was tried.
    trial: Option<&'t Trial>,
    /// What the optimizer thinks of it.
    best: Option<&'t Best>,
    params: &'t Assignment,
}

impl<'t> Column<'t> {
    fn recommended(best: &'t Best, state: &'t State) -> Self {
        Self {
            title: "recommended",
            trial: best.trial.map(|trial| &state.trials()[trial]),
            best: Some(best),
            params: &best.params,
        }
    }

    fn best_observed(trial: &'t Trial) -> Self {
        Self { title: "best observed", trial: Some(trial), best: None, params: &trial.params }
    }
}

impl Column<'_> {
    /// How likely it keeps all constraints, or whether it did.
    fn feasible(&self, state: &State) -> Option<String> {
        if !state.outcomes().has_constraints() {
            return None;
        }
        let observed = || self.trial.and_then(|trial| state.is_feasible(trial));
        match self.best.and_then(|best| best.feasible) {
            Some(chance) => Some(percent(chance)),
            None => observed().map(|kept| if kept { "observed" } else { "no" }.to_owned()),
        }
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
    if state.outcomes().is_one() {
        row("observed value", &|column| column.trial?.value().map(|value| significant(value, 6)));
        row("expected value", &|column| Some(with_uncertainty(column.best?.mean, column.best?.std?)));
    } else {
        row("feasible", &|column| column.feasible(state));
        for name in state.outcomes().names() {
            row(name, &|column| column.trial?.value_of(name).map(|value| significant(value, 6)));
            row("  expected", &|column| {
                let one = column.best?.outcomes.get(name)?;
                Some(with_uncertainty(one.expected, one.std?))
            });
        }
    }
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
        let best = Best {
            trial: Some(1),
            params: deep,
            mean: 0.6,
            std: Some(0.04),
            ..study.recommend().unwrap().unwrap()
        };
        let best = Best { value: Some(0.7), ..best };
        let text = text(study.state(), Some(&best), None, 2, Duration::from_secs(75));
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
