//! The page for changing a study while it runs.

use maud::{Markup, html};
use optimist::space::{Kind, Parameter};
use optimist_study::view::number::{count, shown, significant};
use optimist_study::{Course, State, TrialState};

use super::address::Address;
use super::layout::{Tab, change, may_operate, status};
use super::markdown;
use crate::auth::Identity;

/// The content of the page; forms only for those who may use them.
pub fn page(who: &Identity, study: &Address, state: &State) -> Markup {
    html! {
        header.title { h1 { "Manage" } (status(state)) }
        @if may_operate(who) {
            (course(who, study, state))
            (plan(who, study, state))
            (failed(who, study, state))
            (enqueue(who, study, state))
            (note(who, study, state))
        } @else {
            p.message { "Read-only: changing a study requires the operator role." }
        }
        (space(state))
    }
}

fn course(who: &Identity, study: &Address, state: &State) -> Markup {
    let button =
        |action: &str, word: &str| change(who, study, action, Tab::Manage, html! { button { (word) } });
    html! {
        h2 { "Workers" }
        div.row { @match state.course() {
            Course::Going => { (button("pause", "Pause")) (button("stop", "Stop after running trials")) }
            Course::Paused => { (button("resume", "Resume")) (button("stop", "Stop after running trials")) }
            Course::Stopped => (button("resume", "Resume")),
        } }
        p.faint { @match state.course() {
            Course::Going => "Pause: workers finish their trials, then wait. Stop: workers finish their trials, then exit.",
            Course::Paused => "Paused: workers wait until the study is resumed.",
            Course::Stopped => "Stopped: after resuming, start a run or a worker again.",
        } }
    }
}

fn plan(who: &Identity, study: &Address, state: &State) -> Markup {
    html! {
        h2 { "Number of trials" }
        (change(who, study, "trials", Tab::Manage, html! {
            label for="trials" { "Total trials" }
            input #trials type="number" name="trials" min="1" step="1" value=(state.plan().trials) inputmode="numeric";
            button { "Change" }
            span.faint { (state.n_counted()) " so far" }
        }))
    }
}

fn failed(who: &Identity, study: &Address, state: &State) -> Markup {
    let n = state.count(TrialState::Failed);
    html! { @if n > 0 {
        h2 { "Failed trials" }
        (change(who, study, "retry", Tab::Manage, html! {
            input type="hidden" name="all" value="yes";
            button { "Retry " (count(n, "failed trial")) }
            span.faint { "They keep their numbers and run before new suggestions." }
        }))
    } }
}

fn enqueue(who: &Identity, study: &Address, state: &State) -> Markup {
    let queue: Vec<_> = state.queue().collect();
    html! {
        h2 { "Queue a point" }
        (change(who, study, "enqueue", Tab::Manage, html! {
            div.grid { @for (i, parameter) in state.definition().space.parameters().iter().enumerate() { (field(i, parameter)) } }
            button { "Try it next" }
        }))
        @if !queue.is_empty() {
            p { (count(queue.len(), "point")) " in the queue:" }
            ul { @for params in queue.iter().take(20) { li.params { (params) } } }
        }
    }
}

fn field(i: usize, parameter: &Parameter) -> Markup {
    let (id, name) = (format!("p{i}"), format!("p.{}", parameter.name));
    let when: Vec<String> =
        parameter.when.iter().map(|when| format!("{} = {}", when.parameter, shown(&when.value))).collect();
    html! { div.field {
        label for=(id) { (parameter.name) }
        @match &parameter.kind {
            Kind::Float { .. } => {
                input id=(id) name=(name) inputmode="decimal" autocomplete="off" placeholder=(range(&parameter.kind));
            }
            Kind::Int { .. } => {
                input id=(id) name=(name) inputmode="numeric" autocomplete="off" placeholder=(range(&parameter.kind));
            }
            Kind::Bool => select id=(id) name=(name) { option value="" {} option { "false" } option { "true" } },
            Kind::Categorical { choices } => select id=(id) name=(name) {
                option value="" {}
                @for choice in choices { option value=(choice) { (shown(choice)) } }
            },
        }
        @if !when.is_empty() { span.faint { "only when " (when.join(" and ")) } }
    } }
}

fn note(who: &Identity, study: &Address, state: &State) -> Markup {
    let text = state.note(None).map_or("", |note| note.text.as_str());
    html! {
        h2 { "Note" }
        @if !text.is_empty() { div.note { (markdown::html(text)) } }
        (change(who, study, "note", Tab::Manage, html! {
            div.field {
                label for="note" { "About this study (Markdown)" }
                textarea #note name="text" rows="6" { (text) }
            }
            button { "Save note" }
        }))
    }
}

/// The search space, its constraints and the objective.
fn space(state: &State) -> Markup {
    let definition = state.definition();
    html! {
        h2 { "Parameters" }
        div.scroll { table {
            thead { tr { th { "Parameter" } th { "Values" } th { "Only when" } } }
            tbody { @for parameter in definition.space.parameters() { tr {
                td.name { (parameter.name) } td { (range(&parameter.kind)) }
                td { @for when in &parameter.when { (when.parameter) " = " (shown(&when.value)) " " } }
            } } }
        } }
        @for constraint in definition.space.constraints() { p.faint { "Constraint: " (constraint) } }
        @if let Some(objective) = &state.plan().objective {
            p { "Objective: " code { (objective.command.join(" ")) } " in " code { (objective.folder.display()) } }
        }
    }
}

/// The values that a parameter can have, in words.
fn range(kind: &Kind) -> String {
    match kind {
        Kind::Float { low, high, log, step } => {
            let step = step.map(|step| significant(step, 6));
            scaled(significant(*low, 6), significant(*high, 6), step, *log)
        }
        Kind::Int { low, high, log, step } => {
            scaled(low.to_string(), high.to_string(), step.map(|step| step.to_string()), *log)
        }
        Kind::Bool => "false, true".to_owned(),
        Kind::Categorical { choices } => choices.iter().map(shown).collect::<Vec<_>>().join(", "),
    }
}

fn scaled(low: String, high: String, step: Option<String>, log: bool) -> String {
    let step = step.map_or(String::new(), |step| format!(", step {step}"));
    format!("{low} to {high}{step}{}", if log { ", log scale" } else { "" })
}
