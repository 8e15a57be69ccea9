//! All trials as a table that can be sorted by any column.

use std::collections::BTreeMap;

use optimist_study::view::number::{shown, significant};
use optimist_study::{State, Trial};
use serde_json::Value;

use super::page::escaped;
use super::series::{Series, Standing};

/// The most rows: the best trials, and the latest of the others.
const MOST_ROWS: usize = 1000;

/// The most columns of metrics.
const MOST_METRICS: usize = 12;

/// The script that sorts: without it there still is a table.
pub const SCRIPT: &str = "\
document.querySelectorAll('table.sortable th').forEach((head) => {
  head.tabIndex = 0;
  const sort = () => {
    const body = head.closest('table').tBodies[0], column = head.cellIndex;
    const down = head.getAttribute('aria-sort') === 'ascending';
    head.parentNode.querySelectorAll('th').forEach((other) => other.removeAttribute('aria-sort'));
    head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    const key = (row) => row.cells[column].dataset.v ?? row.cells[column].textContent;
    const isNumber = (text) => text !== '' && !isNaN(text);
    const rows = [...body.rows].sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      if (x === '' || y === '') return (x === '') - (y === '');
      const order = isNumber(x) && isNumber(y) ? x - y : x.localeCompare(y);
      return down ? -order : order;
    });
    body.append(...rows);
  };
  head.addEventListener('click', sort);
  head.addEventListener('keydown', (event) => { if (event.key === 'Enter') sort(); });
});
";

/// A section of the page; empty if there are no trials.
pub fn html(state: &State) -> String {
    let (trials, metrics) = (selected(state), metrics(state));
    if trials.is_empty() {
        return String::new();
    }
    let parameters = state.definition().space.parameters();
    let names = parameters.iter().map(|parameter| parameter.name.as_str());
    let all_series = Series::all(state);
    let outcomes = all_series.iter().map(Series::name);
    let titles = ["trial", "state"].into_iter().chain(outcomes).chain(names).chain(metrics.iter().copied());
    let titles: String =
        titles.chain(["seconds", "found by"]).map(|title| format!("<th>{}</th>", escaped(title))).collect();
    let best = state.best_observed().map(|trial| trial.number);
    let row = |trial: &&Trial| {
        let mut row = cell(&trial.number.to_string(), None) + &cell(trial.state.word(), None);
        row.extend(all_series.iter().map(|series| number(series.value(trial))));
        for parameter in parameters {
            let value = trial.params.get(&parameter.name);
            row.push_str(&cell(
                &value.map(shown).unwrap_or_default(),
                value.and_then(|value| value.as_f64()),
            ));
        }
        for metric in &metrics {
            row.push_str(&number(
                metrics_of(trial).find(|(name, _)| name == metric).map(|(_, number)| number),
            ));
        }
        row.push_str(&number(trial.seconds));
        let found = trial.why.as_ref().map_or_else(|| trial.source.word().to_owned(), ToString::to_string);
        row.push_str(&cell(&found, None));
        let class = if Some(trial.number) == best { " class=\"best\"" } else { "" };
        format!("<tr{class}>{row}</tr>\n")
    };
    let rows: String = trials.iter().map(row).collect();
    let n = state.trials().len();
    let caption = match trials.len() < n {
        true => format!(" Of {n} trials the best and the latest are shown, {MOST_ROWS} in all."),
        false => String::new(),
    };
    format!(
        "<section id=\"trials\">\n<h2>Trials</h2>\n<p>Click a title to sort by it.{caption}</p>\n<div class=\"scroll\">\n\
         <table class=\"sortable\">\n<thead><tr>{titles}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>\n</section>\n"
    )
}

/// A cell; `key` is what is sorted by if that is not the text.
fn cell(text: &str, key: Option<f64>) -> String {
    // Not `{key}`, which writes 1e308 with all its zeros.
    let key = key.map_or_else(String::new, |key| format!(" data-v=\"{key:?}\""));
    format!("<td{key}>{}</td>", escaped(text))
}

fn number(number: Option<f64>) -> String {
    cell(&number.map(|number| significant(number, 6)).unwrap_or_default(), number)
}

/// The trials of the table, by number: the best and the latest if there are too many for all.
fn selected(state: &State) -> Vec<&Trial> {
    let mut trials: Vec<&Trial> = state.trials().iter().collect();
    if trials.len() > MOST_ROWS {
        let standings = Standing::of_all(state);
        let goal = Series::all(state).into_iter().find(|series| series.bound().is_none());
        let value =
            |trial: &Trial| goal.as_ref().and_then(|goal| Some((goal.direction(), goal.value(trial)?)));
        trials.sort_by(|a, b| {
            let by_value = match (value(a), value(b)) {
                (Some((direction, a)), Some((_, b))) => direction.compare(&b, &a),
                (a, b) => b.is_some().cmp(&a.is_some()),
            };
            standings[b.number].cmp(&standings[a.number]).then(by_value)
        });
        let mut rest = trials.split_off(MOST_ROWS / 2);
        rest.sort_by_key(|trial| std::cmp::Reverse(trial.number));
        trials.extend(rest.into_iter().take(MOST_ROWS / 2));
        trials.sort_by_key(|trial| trial.number);
    }
    trials
}

/// The metrics that are numbers, those that most trials have first.
fn metrics(state: &State) -> Vec<&str> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, _) in state.trials().iter().flat_map(metrics_of) {
        *counts.entry(name).or_default() += 1;
    }
    let mut names: Vec<(&str, usize)> = counts.into_iter().collect();
    names.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    names.into_iter().map(|(name, _)| name).take(MOST_METRICS).collect()
}

fn metrics_of(trial: &Trial) -> impl Iterator<Item = (&str, f64)> {
    let metrics = trial.measurements.first().and_then(|measured| measured.metrics.as_ref());
    let metrics = metrics.into_iter().flat_map(|metrics| metrics.iter());
    metrics.filter_map(|(name, value)| Some((name.as_str(), Value::as_f64(value)?)))
}
