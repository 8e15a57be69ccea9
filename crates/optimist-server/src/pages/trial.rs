//! The page of a trial.

use maud::{Markup, html};
use optimist::Why;
use optimist_plot::study::values;
use optimist_study::view::number::{shown, significant};
use optimist_study::{Source, State, Trial, TrialState};

use super::address::Address;
use super::laboratory::field;
use super::layout::{Part, Tab, change, csrf, may_operate, time};
use super::markdown;
use super::overview::parameters;
use crate::auth::Identity;

/// The live part of the page: all but the forms and the log records.
pub fn part(study: &Address, state: &State, trial: &Trial) -> Part {
    let number = trial.number;
    let last = state.n_trials().saturating_sub(1);
    let content = html! {
        header.title {
            h1 { "Trial " (number) }
            span class={ "status " (trial.state.word()) } { (trial.state.word()) }
            nav.pages aria-label="Neighbouring trials" {
                @if number > 0 { a rel="prev" href=(study.path(&format!("/trials/{}", number - 1))) { "Previous" } }
                @if number < last { a rel="next" href=(study.path(&format!("/trials/{}", number + 1))) { "Next" } }
            }
        }
        div.pair {
            article.card { h2 { "Parameters" } (parameters(trial.params.iter())) }
            article.card { h2 { "Outcome" } (outcome(trial)) (metrics(trial)) }
            article.card { h2 { "Origin" } (origin(study, trial)) }
        }
        (failure(trial))
        (amendments(trial))
        @if let Some(note) = state.note(Some(number)) {
            h2 { "Note" }
            div.note { (markdown::html(&note.text)) }
        }
    };
    Part::new("trial", content)
}

fn outcome(trial: &Trial) -> Markup {
    html! { @if let Some(values) = values(trial, 8).filter(|_| trial.state == TrialState::Complete) {
        @let is_mean = trial.measurements.len() > 1;
        @let has_one = trial.value().is_some();
        @if has_one || is_mean { p.value {
            // The exact value, unless there are several.
            strong { (trial.value().filter(|_| !is_mean).map_or(values, |value| value.to_string())) }
            @if is_mean { span.faint { " mean of " (trial.measurements.len()) } }
        } }
        dl.parameters { @for measured in &trial.measurements {
            @for (name, one) in measured.values.iter() {
                @if is_mean || !has_one { div { dt { @if has_one { "measured" } @else { (name) } } dd { (one.value) } } }
                @if let Some(std) = one.noise_std { div {
                    dt { @if has_one { "noise" } @else { "noise of " (name) } } dd { "± " (significant(std, 3)) }
                } }
            }
            @if let Some(note) = &measured.note { div { dt { "note" } dd.text { (note) } } }
        } }
    } @else if trial.state == TrialState::Failed {
        p { "No value at this point." }
        @if let Some(known) = values(trial, 6) { p.faint { "Measured before it failed: " (known) } }
    } @else {
        p.empty { "No value yet." }
    } }
}

fn metrics(trial: &Trial) -> Markup {
    let metrics = trial.measurements.iter().filter_map(|measured| measured.metrics.as_deref());
    html! { @for metrics in metrics {
        h3 { "Metrics" }
        dl.parameters { @for (name, value) in metrics { div { dt { (name) } dd.text { (value) } } } }
    } }
}

fn origin(study: &Address, trial: &Trial) -> Markup {
    html! { dl.parameters {
        div { dt { "source" } dd { (trial.source.word())
            @if let Source::Replicate { of } = trial.source { " of " a href=(study.path(&format!("/trials/{of}"))) { "trial " (of) } }
        } }
        @if let Source::Suggested { seen, gain, .. } = trial.source {
            div { dt { "based on log records up to" } dd { (seen) } }
            @if let Some(gain) = gain { div { dt { "expected gain" } dd { (significant(gain, 3)) } } }
        }
        @if let Some(why) = &trial.why { div { dt { "why" } dd.text { (reason(why)) } } }
        @if let Some(worker) = &trial.worker { div { dt { "worker" } dd { (worker) } } }
        div { dt { "attempts" } dd { (trial.attempts) } }
        div { dt { "started" } dd { (time(trial.asked_at)) } }
        @if let Some(at) = trial.ended_at { div { dt { "ended" } dd { (time(at)) } } }
        @if let Some(seconds) = trial.seconds { div { dt { "took" } dd { (significant(seconds, 3)) " s" } } }
    } }
}

/// Why the optimizer suggested a point.
fn reason(why: &Why) -> String {
    match why {
        Why::Explore => "exploration: an evenly spread point, where nothing is known yet".to_owned(),
        Why::Optimism { family, radius } => {
            // With several outcomes, each has a family.
            let family = match family.contains(", ") {
                true => format!("the families {family}"),
                false => format!("the family {family}"),
            };
            match format!("{radius:.2}") {
                radius if radius == "0.00" => format!("the best expected value under {family}"),
                radius => format!(
                    "optimism: the highest upper confidence bound under {family}, {radius} standard deviations above the mean"
                ),
            }
        }
        Why::Repeat => "repetition: the best point again, to tell noise from a rough objective".to_owned(),
        why => why.to_string(),
    }
}

fn failure(trial: &Trial) -> Markup {
    html! { @if let Some(failure) = &trial.failure {
        h2 { @if trial.state == TrialState::Failed { "Why it failed" } @else { "Why it was requeued" } }
        p.text { (failure.reason) }
        @if let Some(stderr) = &failure.stderr {
            h3 { "End of standard error" }
            pre tabindex="0" { (stderr) }
        }
    } }
}

fn amendments(trial: &Trial) -> Markup {
    html! { @if !trial.amendments.is_empty() {
        h2 { "Corrections" }
        ul { @for amended in &trial.amendments {
            li { "until " (time(amended.at)) ": " (amended.state.word())
                @if !amended.values.is_empty() {
                    ", " (amended.values.iter().map(|value| significant(*value, 6)).collect::<Vec<_>>().join(", "))
                }
                @for measured in &amended.measurements { ", " (measured.values) }
                @if let Some(params) = &amended.params {
                    ", run with " (params.iter().map(|(name, value)| format!("{name} {}", shown(value))).collect::<Vec<_>>().join(", "))
                }
                @if let Some(reason) = &amended.reason { " – " (reason) }
            }
        } }
    } }
}

/// The trial's log records, as they are stored.
pub fn records(records: &[(u64, String)]) -> Markup {
    html! { details.records open[records.len() < 3] { summary { "Log records (" (records.len()) ")" }
        @for (seq, body) in records { p.faint { "record " (seq) } pre tabindex="0" { (body) } }
    } }
}

/// The forms that change the trial.
pub fn actions(who: &Identity, study: &Address, state: &State, trial: &Trial) -> Markup {
    if !may_operate(who) {
        return html! {};
    }
    let number = html! { input type="hidden" name="trial" value=(trial.number); };
    let note = state.note(Some(trial.number)).map_or("", |note| note.text.as_str());
    html! {
        h2 { "Change" }
        div.row {
            @if matches!(trial.state, TrialState::Failed | TrialState::Cancelled) {
                (change(who, study, "retry", Tab::Trials, html! { (number) button { "Retry" } }))
            }
            @if !trial.has_ended() {
                (change(who, study, "cancel", Tab::Trials, html! { (number) button { "Cancel" } }))
            }
            (change(who, study, "enqueue-again", Tab::Trials, html! { (number) button { "Try this point again" } }))
        }
        @if trial.has_ended() { details { summary { "Correct the value" }
            form.change.stacked method="post" action=(study.path("/do/amend")) {
                (csrf(who)) (number)
                @for outcome in state.outcomes().all() {
                    div.field {
                        label for={ "amend-" (outcome.name) } { @if state.outcomes().is_one() { "Value" } @else { (outcome.name) } }
                        input id={ "amend-" (outcome.name) } name=(field(outcome)) inputmode="decimal" autocomplete="off"
                            value=(trial.value_of(&outcome.name).map_or(String::new(), |value| value.to_string()));
                    }
                }
                div.field {
                    label for="amend-reason" { "Reason" }
                    input #amend-reason name="reason" autocomplete="off";
                }
                button { "Correct" }
            }
        } }
        details { summary { "Edit note" }
            (change(who, study, "note", Tab::Trials, html! {
                (number)
                label for="note" { "Note (Markdown)" }
                textarea #note name="text" rows="5" { (note) }
                button { "Save note" }
            }))
        }
    }
}
