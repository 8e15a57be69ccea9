//! The table of trials, filtered, sorted and paged on the server, and its export as CSV.

use std::cmp::Ordering;

use maud::{Markup, html};
use optimist::space::{Kind, Value};
use optimist_study::view::number::{count, shown, significant};
use optimist_study::{State, Trial};

use super::address::{Address, query};
use super::clock::utc;
use super::filter::Filter;
use super::layout::Part;

/// Rows per page.
pub const PAGE: usize = 50;

/// Columns that are neither parameters nor outcomes, and whether they are shown by default.
const COLUMNS: [(&str, bool); 9] = [
    ("trial", true),
    ("state", true),
    ("worker", true),
    ("source", false),
    ("seconds", false),
    ("attempts", false),
    ("asked_at", false),
    ("ended_at", false),
    ("note", true),
];

/// The filter, order, columns and page in the address.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// The conditions that trials must meet; see [`Filter`].
    pub filter: String,
    /// A column, with `-` before it for the reverse order.
    pub sort: String,
    /// Column names separated by commas; empty for the default columns.
    pub columns: String,
    /// Counted from 1.
    pub page: usize,
}

impl Wanted {
    /// Reads a query. A form without scripts sends `column` once for each column.
    pub fn new(pairs: &[(String, String)]) -> Self {
        let all = |name: &str| -> Vec<&str> {
            pairs.iter().filter(|(known, _)| known == name).map(|(_, value)| value.as_str()).collect()
        };
        let first = |name: &str| all(name).first().map_or(String::new(), |value| (*value).to_owned());
        let columns = all("column");
        Self {
            filter: first("filter"),
            sort: first("sort"),
            columns: if columns.is_empty() { first("columns") } else { columns.join(",") },
            page: first("page").parse().unwrap_or(1),
        }
    }

    /// Selects all columns, unless some were chosen.
    pub fn with_all_columns(mut self, state: &State) -> Self {
        if self.columns.is_empty() {
            self.columns = all_columns(state).join(",");
        }
        self
    }
}

/// The matching trials, in order.
pub struct Table<'s> {
    columns: Vec<String>,
    outcomes: Vec<String>,
    /// Columns of numbers, which are aligned to the right.
    numeric: Vec<String>,
    trials: Vec<&'s Trial>,
    wanted: Wanted,
}

impl<'s> Table<'s> {
    /// # Errors
    /// If the filter is invalid; the message is for users.
    pub fn new(state: &'s State, wanted: Wanted) -> Result<Self, String> {
        let filter = Filter::parse(&wanted.filter, state)?;
        let mut trials: Vec<&Trial> = state.trials().iter().filter(|trial| filter.passes(trial)).collect();
        let (column, is_reversed) = match wanted.sort.strip_prefix('-') {
            Some(column) => (column, true),
            None => (&wanted.sort[..], false),
        };
        if column.is_empty() || column == "trial" {
            // The last trials are what people look for.
            if column.is_empty() || is_reversed {
                trials.reverse();
            }
        } else {
            let mut keyed: Vec<(Key, &Trial)> =
                trials.into_iter().map(|trial| (key(trial, column), trial)).collect();
            keyed.sort_by(|(a, first), (b, second)| {
                a.compare(b, is_reversed).then(first.number.cmp(&second.number))
            });
            trials = keyed.into_iter().map(|(_, trial)| trial).collect();
        }
        let outcomes = state.outcomes().names().map(str::to_owned).collect();
        let columns = columns(state, &wanted.columns);
        let numeric = columns.iter().filter(|column| is_numeric(state, column)).cloned().collect();
        Ok(Self { columns, outcomes, numeric, trials, wanted })
    }

    /// All rows as CSV (RFC 4180).
    pub fn csv(&self) -> String {
        let mut csv = String::new();
        let mut line = |cells: Vec<String>| {
            csv.push_str(&cells.join(","));
            csv.push_str("\r\n");
        };
        line(self.columns.iter().map(|column| csv_cell(column)).collect());
        for trial in &self.trials {
            line(self.columns.iter().map(|column| csv_cell(&exact(trial, column))).collect());
        }
        csv
    }

    fn page(&self) -> (usize, &[&'s Trial]) {
        let n_pages = self.trials.len().div_ceil(PAGE).max(1);
        let page = self.wanted.page.clamp(1, n_pages);
        let first = (page - 1) * PAGE;
        (page, &self.trials[first..(first + PAGE).min(self.trials.len())])
    }

    fn address(&self, study: &Address, file: &str, sort: &str, page: usize) -> String {
        let page = if page > 1 { page.to_string() } else { String::new() };
        let Wanted { filter, columns, .. } = &self.wanted;
        let pairs = [
            ("filter", filter.clone()),
            ("sort", sort.to_owned()),
            ("columns", columns.clone()),
            ("page", page),
        ];
        study.path(&format!("/{file}{}", query(pairs)))
    }
}

/// The form above the table.
pub fn controls(state: &State, wanted: &Wanted, problem: Option<&str>) -> Markup {
    let chosen = columns(state, &wanted.columns);
    html! {
        header.title { h1 { "Trials" } }
        form.search method="get" role="search" {
            label for="filter" { "Filter" }
            input #filter type="search" name="filter" value=(wanted.filter) placeholder="state=complete value<0.5 a word of a note"
                aria-describedby="filter-help" aria-invalid=[problem.map(|_| "true")];
            input type="hidden" name="sort" value=(wanted.sort);
            input type="hidden" name="columns" value=(wanted.columns);
            button { "Apply" }
        }
        @if let Some(problem) = problem { p.message.warning role="alert" { (problem) } }
        details.help { summary #filter-help { "Filter syntax and columns" }
            p { "Separate conditions with spaces; all must hold. A condition compares a parameter, an outcome, state, trial, worker, source or seconds by " code { "=" } " " code { "!=" } " " code { "<" } " " code { "<=" } " "
                code { ">" } " " code { ">=" } " " code { "~" } " (contains). "
                "A word on its own is searched for in notes, failure reasons, standard error, choices and worker names. Put text with spaces in quotation marks." }
            form.columns method="get" data-columns {
                input type="hidden" name="filter" value=(wanted.filter);
                input type="hidden" name="sort" value=(wanted.sort);
                fieldset { legend { "Columns" }
                    @for column in all_columns(state) {
                        label { input type="checkbox" name="column" value=(column) checked[chosen.contains(&column)]; (column) }
                    }
                }
                button { "Apply" }
            }
        }
    }
}

/// The live part of the page: the table.
pub fn part(study: &Address, table: &Table) -> Part {
    let (page, rows) = table.page();
    let n_pages = table.trials.len().div_ceil(PAGE).max(1);
    let go = |page: usize| table.address(study, "trials", &table.wanted.sort, page);
    let content = html! {
        p.actions {
            span { (count(table.trials.len(), "trial")) }
            a href=(table.address(study, "trials.csv", &table.wanted.sort, 1)) download { "CSV" }
            a href=(study.path(&format!("/analysis{}", query([("filter", table.wanted.filter.clone())])))) { "Show in plots" }
        }
        div.scroll { table.trials {
            thead { tr { @for column in &table.columns { (heading(study, table, column)) } } }
            tbody { @for trial in rows { tr.{ "is-" (trial.state.word()) } {
                @for column in &table.columns { (cell(study, table, trial, column)) }
            } } }
        } }
        @if table.trials.is_empty() { p.empty { "No trials match." } }
        @if n_pages > 1 { nav.pages aria-label="Pages of the table" {
            @if page > 1 { a href=(go(1)) { "First" } a rel="prev" href=(go(page - 1)) { "Previous" } }
            span { "page " (page) " of " (n_pages) }
            @if page < n_pages { a rel="next" href=(go(page + 1)) { "Next" } a href=(go(n_pages)) { "Last" } }
        } }
    };
    Part::new("trials", content)
}

fn heading(study: &Address, table: &Table, column: &str) -> Markup {
    let sort = table.wanted.sort.as_str();
    let (order, next) = match sort {
        _ if sort == column => (Some("ascending"), format!("-{column}")),
        _ if sort.strip_prefix('-') == Some(column) => (Some("descending"), column.to_owned()),
        _ => (None, column.to_owned()),
    };
    let is_numeric = table.numeric.iter().any(|numeric| numeric == column);
    html! { th.number[is_numeric] aria-sort=[order] { a href=(table.address(study, "trials", &next, 1)) { (column) } } }
}

fn cell(study: &Address, table: &Table, trial: &Trial, column: &str) -> Markup {
    let is_numeric = table.numeric.iter().any(|numeric| numeric == column);
    html! { @match column {
        "trial" => td.number { a href=(study.path(&format!("/trials/{}", trial.number))) { (trial.number) } },
        "state" => td { span class={ "status " (trial.state.word()) } { (trial.state.word()) } },
        "seconds" => td.number { (trial.seconds.map_or(String::new(), |seconds| significant(seconds, 3))) },
        "attempts" => td.number { (trial.attempts) },
        "note" => td.note { (text_of(trial)) },
        "worker" | "source" | "asked_at" | "ended_at" => td { (exact(trial, column)) },
        parameter => @match trial.params.get(parameter) {
            Some(value) => td.number[value.as_f64().is_some()] { (shown(value)) },
            None if table.outcomes.iter().any(|outcome| outcome == parameter) => {
                td.number { (trial.value_of(parameter).map_or(String::new(), |value| significant(value, 6))) }
            }
            None => td.number[is_numeric] { span.faint title="inactive" { "–" } },
        },
    } }
}

/// The first line of the first note or of the failure's reason.
pub fn text_of(trial: &Trial) -> &str {
    let note = trial.measurements.iter().find_map(|measured| measured.note.as_deref());
    let reason =
        trial.failure.as_ref().filter(|_| trial.measurements.is_empty()).map(|failure| &failure.reason[..]);
    note.or(reason).unwrap_or("").lines().next().unwrap_or("")
}

/// All columns, in order: outcomes and parameters come after the first two.
fn all_columns(state: &State) -> Vec<String> {
    let parameters = state.definition().space.parameters().iter().map(|parameter| parameter.name.clone());
    let (before, after) = COLUMNS.split_at(2);
    let names =
        |columns: &[(&str, bool)]| columns.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>();
    let outcomes = state.outcomes().names().map(str::to_owned);
    names(before).into_iter().chain(outcomes).chain(parameters).chain(names(after)).collect()
}

/// The chosen columns that exist, or the default ones.
fn columns(state: &State, wanted: &str) -> Vec<String> {
    let is_parameter = |name: &str| state.definition().space.get(name).is_some();
    let is_outcome = |name: &str| state.outcomes().names().any(|outcome| outcome == name);
    let usual = |name: &String| {
        is_parameter(name)
            || is_outcome(name)
            || COLUMNS.iter().any(|(known, is_usual)| *is_usual && known == name)
    };
    let all = all_columns(state);
    let chosen: Vec<String> =
        all.iter().filter(|name| wanted.split(',').any(|wanted| wanted == *name)).cloned().collect();
    if chosen.is_empty() { all.into_iter().filter(usual).collect() } else { chosen }
}

/// Whether all values of a column are numbers.
fn is_numeric(state: &State, column: &str) -> bool {
    match state.definition().space.get(column).map(|parameter| &parameter.kind) {
        Some(Kind::Float { .. } | Kind::Int { .. }) => true,
        Some(Kind::Categorical { choices }) => choices.iter().all(|choice| choice.as_f64().is_some()),
        Some(Kind::Bool) => false,
        None => {
            matches!(column, "trial" | "seconds" | "attempts")
                || state.outcomes().names().any(|outcome| outcome == column)
        }
    }
}

/// What trials are sorted by. Trials without a value come last in either direction.
enum Key {
    Number(f64),
    Text(String),
    None,
}

impl Key {
    fn compare(&self, other: &Self, is_reversed: bool) -> Ordering {
        let turned = |order: Ordering| if is_reversed { order.reverse() } else { order };
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => turned(a.total_cmp(b)),
            (Self::Text(a), Self::Text(b)) => turned(a.cmp(b)),
            (Self::None, Self::None) => Ordering::Equal,
            (Self::Number(_), _) | (_, Self::None) => Ordering::Less,
            (_, Self::Number(_)) | (Self::None, _) => Ordering::Greater,
        }
    }
}

fn key(trial: &Trial, column: &str) -> Key {
    let number = |number: Option<f64>| number.map_or(Key::None, Key::Number);
    match column {
        "seconds" => number(trial.seconds),
        "attempts" => Key::Number(trial.attempts as f64),
        "asked_at" => Key::Number(trial.asked_at as f64),
        "ended_at" => number(trial.ended_at.map(|at| at as f64)),
        "state" => Key::Text(trial.state.word().to_owned()),
        "source" => Key::Text(trial.source.word().to_owned()),
        "worker" => trial.worker.clone().map_or(Key::None, Key::Text),
        "note" => Some(text_of(trial))
            .filter(|text| !text.is_empty())
            .map_or(Key::None, |text| Key::Text(text.to_owned())),
        parameter => match trial.params.get(parameter) {
            Some(Value::Text(text)) => Key::Text(text.clone()),
            Some(Value::Bool(flag)) => Key::Number(f64::from(u8::from(*flag))),
            Some(value) => number(value.as_f64()),
            None => number(trial.value_of(parameter)),
        },
    }
}

/// A cell with every digit.
fn exact(trial: &Trial, column: &str) -> String {
    match column {
        "trial" => trial.number.to_string(),
        "state" => trial.state.word().to_owned(),
        "worker" => trial.worker.clone().unwrap_or_default(),
        "source" => trial.source.word().to_owned(),
        "seconds" => trial.seconds.map_or(String::new(), |seconds| seconds.to_string()),
        "attempts" => trial.attempts.to_string(),
        "asked_at" => utc(trial.asked_at),
        "ended_at" => trial.ended_at.map_or(String::new(), utc),
        "note" => text_of(trial).to_owned(),
        parameter => match (trial.params.get(parameter), trial.value_of(parameter)) {
            (Some(value), _) => value.to_string(),
            (None, Some(value)) => value.to_string(),
            (None, None) => String::new(),
        },
    }
}

/// A cell of a CSV file. Text that a spreadsheet would run as a formula gets a leading apostrophe.
fn csv_cell(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '@', '\t', '\r'])
        || text.starts_with('-') && text.parse::<f64>().is_err();
    let text = if is_formula { format!("'{text}") } else { text.to_owned() };
    if text.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use optimist_study::{Measurement, Storage, Study, StudyFile};

    fn study() -> Study {
        let text = "direction = 'minimize'\nparameters.x = { type = 'float', low = 0, high = 1 }";
        let mut study =
            Study::create(&Storage::memory(), StudyFile::parse(text).unwrap().definition).unwrap();
        for value in [3.0, -1.0, 2.0] {
            let job = study.ask(Some("=cmd()")).unwrap();
            let note = Some("a, \"b\"".to_owned());
            study.tell(job.trial, Measurement { note, ..Measurement::new(value) }, None).unwrap();
        }
        study.ask(None).unwrap();
        study
    }

    fn numbers(sort: &str) -> Vec<usize> {
        let study = study();
        let wanted = Wanted { sort: sort.to_owned(), ..Wanted::default() };
        Table::new(study.state(), wanted).unwrap().trials.iter().map(|trial| trial.number).collect()
    }

    #[test]
    fn rows_are_ordered_by_a_column_and_what_has_none_comes_last() {
        assert_eq!(numbers(""), [3, 2, 1, 0]);
        assert_eq!(numbers("trial"), [0, 1, 2, 3]);
        assert_eq!(numbers("value"), [1, 2, 0, 3]);
        assert_eq!(numbers("-value"), [0, 2, 1, 3]);
    }

    #[test]
    fn csv_has_every_digit_and_no_formulas() {
        let study = study();
        let wanted =
            Wanted { columns: "trial,value,worker,note".into(), sort: "trial".into(), ..Wanted::default() };
        let csv = Table::new(study.state(), wanted).unwrap().csv();
        let lines: Vec<&str> = csv.split("\r\n").collect();
        assert_eq!(lines[0], "trial,value,worker,note");
        assert_eq!(lines[2], "1,-1,'=cmd(),\"a, \"\"b\"\"\"");
    }
}
