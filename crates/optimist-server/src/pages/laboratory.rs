//! Laboratory mode: what do I try next? For somebody with gloves and a tablet, over a bad connection.
//!
//! An experiment is a trial that somebody asked for by hand. Telling the same value twice changes nothing, so scripts can keep sending a
//! result until it has arrived.

use maud::{Markup, html};
use optimist_plot::study::values;
use optimist_study::log::Lease;
use optimist_study::view::number::{count, shown, significant};
use optimist_study::{Course, NamedOutcome, State, Trial, TrialState};

use super::address::Address;
use super::layout::{Part, Tab, change, csrf, may_operate, time};
use super::trials::text_of;
use crate::auth::Identity;

/// The most experiments on a sheet.
pub const MOST_AT_ONCE: usize = 50;

/// The most recent results to list.
const MOST_DONE: usize = 8;

/// The experiments that wait for a result: running trials without a lease, since they were asked for by hand.
pub fn open<'s>(state: &'s State, leases: &[Lease]) -> Vec<&'s Trial> {
    let is_by_hand = |trial: &&Trial| leases.iter().all(|lease| lease.trial != trial.number);
    state.running().filter(is_by_hand).collect()
}

/// The part of the page that isn't live, since somebody may be typing in it.
pub fn page(who: &Identity, study: &Address, state: &State, leases: &[Lease]) -> Markup {
    let open = open(state, leases);
    let others = state.running().count() - open.len();
    html! {
        header.title { h1 { "Laboratory" } span.faint { (state.n_done()) " of " (state.plan().trials) " done" } }
        div #outbox role="status" hidden {}
        @if !may_operate(who) {
            p.message { "Read-only: entering results requires the operator role." }
        }
        @for trial in &open { (experiment(who, study, state, trial)) }
        @if open.is_empty() { p.next { "No open experiments." } }
        @if may_operate(who) { (ask(who, study, state, open.len())) }
        @if others > 0 { p.faint { (count(others, "other trial")) " running on workers." } }
    }
}

fn ask(who: &Identity, study: &Address, state: &State, n_open: usize) -> Markup {
    if state.course() != Course::Going {
        return html! { p.message.warning { "The study is paused or stopped; resume it on the " a href=(study.path("/manage")) { "Manage" } " page." } };
    }
    let again = if n_open == 0 { "What do I try next?" } else { "Another experiment" };
    html! {
        @if state.over().is_some() { p.message { "All planned trials are done. You can continue, or change the number of trials on the " a href=(study.path("/manage")) { "Manage" } " page." } }
        div.row {
            (change(who, study, "ask", Tab::Laboratory, html! {
                input type="hidden" name="count" value="1";
                button.large.primary[n_open == 0] { (again) }
            }))
            (change(who, study, "ask", Tab::Laboratory, html! {
                input type="hidden" name="sheet" value="yes";
                label for="count" { "or experiments on paper:" }
                input #count type="number" name="count" min="1" max=(MOST_AT_ONCE) value="5" inputmode="numeric";
                button { "Make a sheet" }
            }))
            @if n_open > 0 { a.button href=(study.path("/laboratory/sheet")) { "Print open experiments" } }
        }
    }
}

fn experiment(who: &Identity, study: &Address, state: &State, trial: &Trial) -> Markup {
    let number = trial.number;
    html! {
        article.experiment #{ "trial-" (number) } data-trial=(number) {
            header { h2 { "Experiment " (number) } span.faint { "started " @if let Some(who) = &trial.worker { "by " (who) " " } (time(trial.asked_at)) } }
            dl.large { @for (name, value) in trial.params.iter() { div { dt { (name) } dd { (shown(value)) } } } }
            @if may_operate(who) {
                form.result method="post" action=(study.path("/do/tell")) data-outbox=(study.api(&format!("/trials/{number}"))) {
                    (csrf(who))
                    input type="hidden" name="back" value="/laboratory";
                    input type="hidden" name="trial" value=(number);
                    @for outcome in state.outcomes().all() { div.field {
                        label for={ (outcome.name) "-" (number) } {
                            @if state.outcomes().is_one() { "Result" } @else { (outcome.name) }
                            span.faint { " (" (outcome.aim) ")" }
                        }
                        input.large id={ (outcome.name) "-" (number) } name=(field(outcome)) data-value inputmode="decimal" autocomplete="off" pattern="\\s*[\\-+]?[0-9.,]+([eE][\\-+]?[0-9]+)?\\s*"
                            title="a number, such as 71.5 or 1.2e-3";
                    } }
                    div.field {
                        label for={ "note-" (number) } { "Note" }
                        input id={ "note-" (number) } name="note" autocomplete="off" maxlength="2000";
                    }
                    div.row {
                        button.large.primary name="how" value="value" { "Save result" }
                        details.failed { summary { "It failed" } div.row {
                            label for={ "reason-" (number) } { "Why did it fail?" }
                            input id={ "reason-" (number) } name="reason" autocomplete="off" maxlength="2000";
                            button name="how" value="failed" { "Save failure" }
                            button.plain name="how" value="cancel" { "Cancel experiment" }
                        } }
                    }
                }
            }
        }
    }
}

/// The name of an outcome's form field: `value` if the outcome has no name.
pub fn field(outcome: &NamedOutcome) -> String {
    if outcome.name == "value" { outcome.name.clone() } else { format!("value.{}", outcome.name) }
}

/// The live part of the page: recent results, which can be undone.
pub fn done(who: &Identity, study: &Address, state: &State) -> Part {
    let by_hand = |trial: &&Trial| trial.has_ended() && trial.attempts > 0;
    let mut ended: Vec<&Trial> = state.trials().iter().filter(by_hand).collect();
    ended.sort_by_key(|trial| std::cmp::Reverse((trial.ended_at, trial.number)));
    let content = html! { @if !ended.is_empty() {
        h2 { "Recent results" }
        div.scroll { table.done {
            thead { tr {
                th { "Experiment" }
                @for outcome in state.outcomes().all() { th.number { @if state.outcomes().is_one() { "Result" } @else { (outcome.name) } } }
                th.wide { "Note" } th { "When" } th { span.hidden { "Undo" } }
            } }
            tbody { @for trial in ended.iter().take(MOST_DONE) { tr {
                td { a href=(study.path(&format!("/trials/{}", trial.number))) { (trial.number) } }
                @if trial.state == TrialState::Complete {
                    @for name in state.outcomes().names() { td.number { (trial.value_of(name).map_or("–".to_owned(), |value| significant(value, 6))) } }
                } @else {
                    td.number colspan=(state.outcomes().all().len()) { span class={ "status " (trial.state.word()) } { (trial.state.word()) } }
                }
                td.note.wide { (text_of(trial)) }
                td { @if let Some(at) = trial.ended_at { (time(at)) } }
                td { @if may_operate(who) { a.button.plain href=(study.path(&format!("/laboratory?undo={}", trial.number))) { "Undo" } } }
            } } }
        } }
    } };
    Part::new("done", content)
}

fn result(trial: &Trial) -> String {
    values(trial, 6)
        .filter(|_| trial.state == TrialState::Complete)
        .unwrap_or_else(|| trial.state.word().to_owned())
}

/// The question whether to undo a result.
pub fn undo(who: &Identity, study: &Address, trial: &Trial) -> Markup {
    html! { div.message.warning role="alert" {
        p { "Experiment " (trial.number) " was recorded as " strong { (result(trial)) } ". Undo reopens it; the log keeps both results." }
        (change(who, study, "undo", Tab::Laboratory, html! {
            input type="hidden" name="trial" value=(trial.number);
            button { "Undo" } " " a href=(study.path("/laboratory")) { "Keep it" }
        }))
    } }
}

/// A sheet of the open experiments, to print and fill in by hand.
pub fn sheet(study: &Address, state: &State, leases: &[Lease]) -> Markup {
    let open = open(state, leases);
    let names: Vec<&str> =
        state.definition().space.parameters().iter().map(|parameter| parameter.name.as_str()).collect();
    html! {
        header.title { h1 { (study.name) } span.faint { (count(open.len(), "experiment")) " · " (state.outcomes().in_words()) } }
        p.actions.screen { button data-print { "Print" } a href=(study.path("/laboratory")) { "Back" } }
        @if open.is_empty() { p.empty { "No open experiments." } } @else {
            table.sheet {
                thead { tr { th.number { "No." } @for name in &names { th { (name) } } @for outcome in state.outcomes().all() { th.blank { @if state.outcomes().is_one() { "Result" } @else { (outcome.name) } } } th.blank.wide { "Note" } } }
                tbody { @for trial in &open { tr {
                    td.number { (trial.number) }
                    @for name in &names { td { (trial.params.get(name).map_or("–".to_owned(), shown)) } }
                    @for _ in state.outcomes().all() { td.blank {} } td.blank.wide {}
                } } }
            }
            p.faint { "Enter each result under its experiment number." }
        }
    }
}

/// Whether the result of a trial can be undone.
pub fn can_undo(trial: &Trial) -> bool {
    trial.has_ended() && trial.attempts > 0 && trial.state != TrialState::Waiting
}
