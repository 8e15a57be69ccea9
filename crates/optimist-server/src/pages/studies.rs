//! The list of studies, and the comparison of several.

use maud::{Markup, html};
use optimist_plot::study::{MOST_STUDIES, best_so_far, sparkline};
use optimist_study::view::number::{count, significant};
use optimist_study::{Search, State, TrialState};

use super::address::Address;
use super::layout::{Part, page, status, svg, time};
use super::overview::goal_of;
use crate::auth::Identity;

/// The most studies on the page; search finds the others.
const MOST_LISTED: usize = 200;

/// A row of the list: a study, or why it can't be read.
pub struct Row {
    address: Address,
    content: Result<Markup, String>,
}

impl Row {
    /// A study with its current state.
    pub fn new(state: &State) -> Self {
        let address = Address::new(&state.definition().name);
        let content = Ok(cells(state));
        Self { address, content }
    }

    /// A study that can't be read.
    pub fn unreadable(name: &str, problem: String) -> Self {
        Self { address: Address::new(name), content: Err(problem) }
    }
}

/// The page with the studies whose names contain `search`.
pub fn list(who: &Identity, rows: &[Row], search: &str, n_in_all: usize) -> Markup {
    let content = html! {
        header.title { h1 { "Studies" } span.faint { (n_in_all) } }
        form.search method="get" action="/" role="search" {
            label for="search" { "Search" }
            input #search type="search" name="search" value=(search) placeholder="part of a name";
            button { "Find" }
        }
        form method="get" action="/compare" {
            (part(rows, search).section())
            @if rows.len() > 1 {
                p.actions { button { "Compare selected" } span.faint { "up to " (MOST_STUDIES) } }
            }
        }
    };
    page(who, "Studies", content)
}

/// The live part of the page: the table.
pub fn part(rows: &[Row], search: &str) -> Part {
    let listed = &rows[..rows.len().min(MOST_LISTED)];
    let content = html! {
        @if rows.is_empty() && search.is_empty() {
            p.empty { "No studies yet. Create one with " code { "optimist create STUDY.toml" } " or "
                code { "optimist run STUDY.toml" } "." }
        } @else if rows.is_empty() {
            p.empty { "No study matches “" (search) "”. " a href="/" { "Show all" } }
        } @else {
            div.scroll { table.studies {
                thead { tr {
                    th { span.hidden { "Compare" } } th { "Study" } th { "State" } th { "Progress" } th.number { "Best" }
                    th { "Best so far" } th.number { "Failed" } th { "Workers" } th { "Created" }
                } }
                tbody { @for row in listed { (line(row)) } }
            } }
            @if rows.len() > listed.len() {
                p.faint { (rows.len() - listed.len()) " more; search by name to find them" }
            }
        }
    };
    Part::new("studies", content)
}

fn line(row: &Row) -> Markup {
    let name = &row.address.name;
    html! { tr {
        td { @if row.content.is_ok() {
            input type="checkbox" name="study" value=(name) aria-label={ "compare " (name) };
        } }
        td.name { a href=(row.address.path("")) { (name) } }
        @match &row.content {
            Ok(cells) => (cells),
            Err(problem) => { td.problem colspan="7" { "can't be read: " (problem) } }
        }
    } }
}

fn cells(state: &State) -> Markup {
    let (done, planned) = (state.n_done(), state.plan().trials);
    let mut workers: Vec<&str> = state.running().filter_map(|trial| trial.worker.as_deref()).collect();
    workers.sort_unstable();
    workers.dedup();
    html! {
        td { (status(state)) }
        td { (progress(done, planned)) }
        td.number { (best(state)) }
        td.spark { @if let Some(spark) = sparkline(state) { (svg(&spark)) } }
        td.number { (state.count(TrialState::Failed)) }
        td { @match workers.len() {
            0 => span.faint { "–" },
            1..=2 => (workers.join(", ")),
            n => span title=(workers.join(", ")) { (n) " workers" },
        } }
        td { (time(state.created_at())) }
    }
}

/// The goal's best value, or how large the front of several goals is.
fn best(state: &State) -> String {
    match (state.best_observed(), state.observed_front()) {
        (Some(trial), _) => goal_of(state, trial).map_or("feasible".to_owned(), |best| significant(best, 6)),
        (None, Some(front)) => format!("{} on the front", front.trials.len()),
        (None, None) => "–".to_owned(),
    }
}

/// Progress as a bar and in numbers.
pub fn progress(done: usize, planned: usize) -> Markup {
    html! { span.progress {
        progress max=(planned.max(1)) value=(done.min(planned)) aria-label={ (done) " of " (planned) " trials" } {}
        span { (done) " of " (planned) }
    } }
}

/// The page that compares up to [`MOST_STUDIES`] studies, of `n_wanted`.
pub fn compare(who: &Identity, states: &[&State], n_wanted: usize) -> Markup {
    let kinds = by_goals(states);
    let content = html! {
        header.title { h1 { "Compare" } span.faint { (count(states.len(), "study").replace("studys", "studies")) } }
        @if states.is_empty() {
            p.empty { "Select studies in the " a href="/" { "list" } " to compare them here." }
        } @else {
            @if n_wanted > states.len() {
                p.message.warning { "Showing the first " (states.len()) " of " (n_wanted) " selected studies." }
            }
            @if kinds.len() > 1 {
                p.message { "Values of studies with different goals can't be compared, so each kind has a plot of its own." }
            }
            @for (goals, states) in &kinds { figure.plot {
                figcaption {
                    @if kinds.len() > 1 { h2 { (goals) } " " }
                    span.faint { (what_is_best(states)) " Early values that are far from the rest are cut off." }
                }
                div.panels { div.panel.wide tabindex="0" { (svg(&best_so_far(states))) } }
            } }
            div.scroll { table {
                thead { tr {
                    th { "Study" } th { "State" } th { "Goal" } th { "Optimizer" } th { "Progress" } th.number { "Best" }
                    th.number { "Failed" } th.number { "Parameters" }
                } }
                tbody { @for state in states { (compared(state)) } }
            } }
        }
    };
    page(who, "Compare", content)
}

/// Studies whose values mean the same, in the order of the first of each kind.
fn by_goals<'s>(states: &[&'s State]) -> Vec<(String, Vec<&'s State>)> {
    let mut kinds: Vec<(String, Vec<&State>)> = Vec::new();
    for &state in states {
        let goals = state.outcomes().in_words();
        match kinds.iter_mut().find(|(known, _)| *known == goals) {
            Some((_, same)) => same.push(state),
            None => kinds.push((goals, vec![state])),
        }
    }
    kinds
}

/// What the lines of a plot show.
fn what_is_best(states: &[&State]) -> &'static str {
    match states.first().map(|state| state.outcomes().search()) {
        Some(Search::Front) => "How much of the goals each study has covered so far (hypervolume).",
        _ => "Best value so far of each study.",
    }
}

fn compared(state: &State) -> Markup {
    let definition = state.definition();
    let address = Address::new(&definition.name);
    html! { tr {
        td.name { a href=(address.path("")) { (address.name) } }
        td { (status(state)) }
        td { (definition.outcomes.in_words()) }
        td { (definition.optimizer.name()) }
        td { (progress(state.n_done(), state.plan().trials)) }
        td.number { (best(state)) }
        td.number { (state.count(TrialState::Failed)) }
        td.number { (definition.space.parameters().len()) }
    } }
}
