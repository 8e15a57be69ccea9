//! What to take home from a study: the point to use, what it is worth, and how far the model can be trusted.

use optimist::space::Assignment;
use optimist_study::view::number::{count, shown, significant, with_uncertainty};
use optimist_study::{Best, State, Trial, TrialState};

use super::page::escaped;
use super::surrogate::{Surrogate, trust};

/// Standard deviations on either side that hold 95 % of a normal distribution.
const HALF_WIDTH: f64 = 1.96;

/// The first thing on the page.
pub struct Card {
    standing: String,
    parameters: Vec<String>,
    recommended: Option<Column>,
    observed: Option<Column>,
    trust: Option<String>,
}

/// What the card says of one point.
#[derive(Debug, Clone, PartialEq)]
struct Column {
    trial: Option<usize>,
    /// What is expected there, with its uncertainty.
    expected: Option<String>,
    observed: Option<String>,
    params: Assignment,
}

impl Card {
    pub fn new(state: &State, models: &[Surrogate]) -> Self {
        let parameters = state.definition().space.parameters();
        Self {
            standing: standing(state),
            parameters: parameters.iter().map(|parameter| parameter.name.clone()).collect(),
            recommended: None,
            observed: state.best_observed().map(|trial| Column::observed(state, trial)),
            trust: (!models.is_empty()).then(|| trust(models)),
        }
    }

    /// With the point that the optimizer recommends.
    pub fn recommend(&mut self, best: &Best) {
        self.recommended = Some(Column::recommended(best));
    }

    /// A section of the page.
    pub fn html(&self) -> String {
        let is_same = |column: &&Column| {
            self.recommended.as_ref().is_some_and(|recommended| recommended.trial == column.trial)
        };
        let observed = self.observed.as_ref().filter(|column| !is_same(column));
        let columns: Vec<(&str, &Column)> =
            [("recommended", self.recommended.as_ref()), ("best observed", observed)]
                .into_iter()
                .filter_map(|(title, column)| Some((title, column?)))
                .collect();
        let mut rows = String::new();
        let mut row = |title: &str, cell: &dyn Fn(&Column) -> Option<String>| {
            let cells: Vec<Option<String>> = columns.iter().map(|(_, column)| cell(column)).collect();
            if cells.iter().any(Option::is_some) {
                let cells = cells
                    .into_iter()
                    .map(|cell| format!("<td>{}</td>", escaped(&cell.unwrap_or("–".into()))));
                rows.push_str(&format!(
                    "<tr><th>{}</th>{}</tr>\n",
                    escaped(title),
                    cells.collect::<String>()
                ));
            }
        };
        for name in &self.parameters {
            row(name, &|column| column.params.get(name).map(shown));
        }
        row("value expected", &|column| column.expected.clone());
        row("value observed", &|column| column.observed.clone());
        row("trial", &|column| column.trial.map(|trial| trial.to_string()));
        let titles: String = columns.iter().map(|(title, _)| format!("<th>{title}</th>")).collect();
        let table = match columns.is_empty() {
            true => String::new(),
            false => format!("<table>\n<tr><th></th>{titles}</tr>\n{rows}</table>\n"),
        };
        let trust = self.trust.iter().map(|trust| format!("<p>{}</p>\n", escaped(trust)));
        format!(
            "<section id=\"summary\" class=\"card\">\n<p>{}</p>\n{table}{}</section>\n",
            escaped(&self.standing),
            trust.collect::<String>()
        )
    }
}

impl Column {
    fn recommended(best: &Best) -> Self {
        Self {
            trial: best.trial,
            expected: best
                .std
                .filter(|_| best.mean.is_finite())
                .map(|std| format!("{} (95 %)", with_uncertainty(best.mean, HALF_WIDTH * std))),
            observed: best.value.map(|value| significant(value, 6)),
            params: best.params.clone(),
        }
    }

    fn observed(state: &State, trial: &Trial) -> Self {
        let goal = state.outcomes().goal();
        Self {
            trial: Some(trial.number),
            expected: None,
            observed: goal.and_then(|goal| trial.value_of(&goal.name)).map(|value| significant(value, 6)),
            params: trial.params.clone(),
        }
    }
}

/// `maximize; 20 of 50 trials done, 2 failed, 1 running`.
fn standing(state: &State) -> String {
    let mut parts = vec![format!("{} of {} done", state.n_done(), count(state.plan().trials, "trial"))];
    let counts = [
        (state.count(TrialState::Failed), "failed"),
        (state.running().count(), "running"),
        (state.waiting().count(), "waiting"),
    ];
    parts.extend(counts.into_iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")));
    let wanted = state.outcomes().in_words();
    let wanted = match state.outcomes().one_direction() {
        Some(direction) => format!("{}{}", direction.word()[..1].to_uppercase(), &direction.word()[1..]),
        None => wanted,
    };
    format!("{wanted}: {}.", parts.join(", "))
}
