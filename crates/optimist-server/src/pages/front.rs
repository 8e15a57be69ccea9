//! The answer of a study with several goals: the knee of its front, the best of each goal, and all points to choose from.

use maud::{Markup, html};
use optimist_study::view::number::{count, shown, significant};
use optimist_study::{Front, FrontPoint, State, Trial, TrialState};

use super::address::Address;
use super::advice::Advice;
use super::background::Found;
use super::overview::{as_of, copies, expected, in_doubt, likely, parameters, percent, waiting};

/// The most points to list; the front of many goals can have hundreds.
const MOST_LISTED: usize = 50;

/// The cards and the table.
pub fn answer(state: &State, study: &Address, advised: &Found<Advice>) -> Markup {
    let front = match advised {
        Found::Ready { answer, .. } => answer.front.as_ref(),
        _ => None,
    };
    html! {
        div.pair {
            article.card {
                h3 { "Recommended: the knee" }
                @match advised {
                    Found::Ready { head, .. } => {
                        (knee(state, study, front))
                        (as_of(state, *head))
                    }
                    other => (waiting(state, other)),
                }
            }
            article.card {
                h3 { "Best observed in each goal" }
                (extremes(state, study))
            }
        }
        @if let Some(front) = front { (table(state, study, front)) }
    }
}

fn knee(state: &State, study: &Address, front: Option<&Front>) -> Markup {
    // A front of one point has no knee.
    let point = front.and_then(|front| front.knee().or(front.points.first()));
    let Some(point) = point else {
        let why = match state.has_values() {
            true => "No trial has all outcomes yet.",
            false => "No trial has a value yet.",
        };
        return html! { p.empty { (why) } };
    };
    html! {
        p.faint { "Gives up little of any goal: a good choice if you have no preference." }
        p {
            @match point.trial {
                Some(trial) => { "Measured in " (link(study, trial)) "." }
                None => "This point hasn't been tried yet.",
            }
            @if let Some(feasible) = point.feasible { " " (likely(feasible)) }
        }
        (expected(&point.outcomes))
        (parameters(point.params.iter()))
        (copies(Some(&point.params)))
    }
}

/// The best feasible trial of each goal.
fn extremes(state: &State, study: &Address) -> Markup {
    let feasible =
        |trial: &&Trial| trial.state == TrialState::Complete && state.is_feasible(trial) == Some(true);
    let best = |name: &str, direction: optimist_study::Direction| {
        let measured = state.trials().iter().filter(feasible);
        let measured = measured.filter_map(|trial| Some((trial.value_of(name)?, trial.number)));
        measured.reduce(|best, next| if direction.is_better(next.0, best.0) { next } else { best })
    };
    html! {
        dl.parameters.one { @for goal in state.outcomes().goals() { div {
            dt { (goal.name) " (" (goal.aim.direction().word()) ")" }
            dd { @match best(&goal.name, goal.aim.direction()) {
                Some((value, trial)) => { strong { (significant(value, 6)) } " " (link(study, trial)) }
                None => "–",
            } }
        } } }
        @if state.outcomes().has_constraints() { p.faint { "Among trials that meet all constraints." } }
    }
}

/// All points, the knee marked.
fn table(state: &State, study: &Address, front: &Front) -> Markup {
    let (outcomes, space) = (state.outcomes(), &state.definition().space);
    let covered: Vec<String> =
        front.reference.0.iter().map(|(name, at)| format!("{name} {}", significant(*at, 6))).collect();
    html! {
        h2 { "The front" }
        p.faint {
            (count(front.points.len(), "point")) ", none of which is expected to beat another in every goal."
            @if let Some(volume) = front.hypervolume {
                " Together they cover a hypervolume of " (significant(volume, 6)) " beyond " (covered.join(", ")) "."
            }
            " Below what was observed is what the model expects."
        }
        div.scroll { table.front {
            thead { tr {
                th.number { "Trial" }
                @if outcomes.has_constraints() { th.number { "Feasible" } }
                @for name in outcomes.names() { th.number { (name) } }
                @for parameter in space.parameters() { th.number { (parameter.name) } }
            } }
            tbody { @for point in front.points.iter().take(MOST_LISTED) { (row(state, study, point)) } }
        } }
        @if front.points.len() > MOST_LISTED {
            p.faint { "The first " (MOST_LISTED) "; " code { "optimist best" } " lists all." }
        }
    }
}

fn row(state: &State, study: &Address, point: &FrontPoint) -> Markup {
    html! { tr.is-knee[point.knee] {
        td.number {
            @if point.knee { span.status.knee { "knee" } " " }
            @match point.trial { Some(trial) => a href=(study.path(&format!("/trials/{trial}"))) { (trial) }, None => "–" }
        }
        @if state.outcomes().has_constraints() { td.number { (point.feasible.map_or("–".to_owned(), percent)) } }
        @for (_, one) in &point.outcomes.0 { td.number {
            (one.value.map_or("–".to_owned(), |value| significant(value, 6)))
            @if one.std.is_some() { small { (in_doubt(one)) } }
        } }
        @for parameter in state.definition().space.parameters() {
            td.number { @match point.params.get(&parameter.name) { Some(value) => (shown(value)), None => span.faint { "–" } } }
        }
    } }
}

fn link(study: &Address, trial: usize) -> Markup {
    html! { a href=(study.path(&format!("/trials/{trial}"))) { "trial " (trial) } }
}
