//! The overview of a study: progress, the recommended point, running trials, failures.

use maud::{Markup, html};
use optimist_plot::study::{PlotKind, Section};
use optimist_study::log::Lease;
use optimist_study::view::number::{count, shown, significant, with_uncertainty};
use optimist_study::view::{ByOutcome, OutcomeView, reason};
use optimist_study::{Best, Course, Search, State, Trial, TrialState};

use super::address::Address;
use super::advice::Advice;
use super::background::Found;
use super::clock::length;
use super::front;
use super::layout::{Part, status, svg, time};
use super::markdown;
use super::snippet;
use super::studies::progress;

/// The most running trials to list.
const MOST_LISTED: usize = 20;

/// How many recent trials the pace is estimated from.
const PACE_TRIALS: usize = 20;

/// The parts of the page, in order.
pub fn parts(
    state: &State,
    study: &Address,
    advised: &Found<Advice>,
    leases: &[Lease],
    history: &Section,
) -> Vec<Part> {
    vec![
        Part::new("summary", summary(state, study)),
        Part::new(
            "history",
            if state.has_values() {
                plot(study, history)
            } else {
                html! {}
            },
        ),
        Part::new("answer", answer(state, study, advised)),
        Part::new("underway", underway(state, study, leases)),
        Part::new("failures", failures(state, study)),
        Part::new("note", note(state)),
    ]
}

fn summary(state: &State, study: &Address) -> Markup {
    let definition = state.definition();
    let figure = |name: &str, value: Markup| html! { div { dt { (name) } dd { (value) } } };
    let failed = state.count(TrialState::Failed);
    html! {
        header.title {
            h1 { (study.name) }
            (status(state))
            span.faint { (definition.outcomes.in_words()) " · " (definition.optimizer.name()) " · "
                (count(definition.space.parameters().len(), "parameter")) }
        }
        dl.figures {
            (figure("Best observed", best_observed(state, study)))
            (figure("Trials", html! { (progress(state.n_done(), state.plan().trials)) }))
            @if state.outcomes().has_constraints() {
                (figure("Feasible", html! { (feasible(state)) " of " (state.count(TrialState::Complete)) }))
            }
            (figure("Failed", html! {
                @if failed == 0 { "0" } @else { a href=(study.path("/trials?filter=state%3Dfailed")) { (failed) } }
            }))
            (figure("Running", html! { (state.running().count()) }))
            (figure("Created", time(state.created_at())))
        }
        p.pace { (when_it_stops(state)) }
    }
}

fn best_observed(state: &State, study: &Address) -> Markup {
    let value = |trial: &Trial| goal_of(state, trial).map(|value| significant(value, 6));
    let front = state.observed_front().map(|front| front.trials.len());
    html! { @match (state.best_observed(), front) {
        (Some(trial), _) => {
            strong.best { (value(trial).unwrap_or_else(|| "feasible".to_owned())) } " "
            a.faint href=(study.path(&format!("/trials/{}", trial.number))) { "trial " (trial.number) }
        }
        (None, Some(front)) => { strong.best { (count(front, "trial")) } " on the front" }
        (None, None) if state.has_values() => "no feasible trial yet",
        (None, None) => "no value yet",
    } }
}

/// The goal's value of a trial, if there is one goal.
pub fn goal_of(state: &State, trial: &Trial) -> Option<f64> {
    trial.value_of(&state.outcomes().goal()?.name)
}

/// How many trials meet all constraints.
fn feasible(state: &State) -> usize {
    let measured = state.trials().iter().filter(|trial| trial.state == TrialState::Complete);
    measured.filter(|trial| state.is_feasible(trial) == Some(true)).count()
}

/// Why the study has finished, or when it will stop.
fn when_it_stops(state: &State) -> String {
    if let Some(over) = state.over() {
        return format!("Finished: {}.", reason(over));
    }
    let plan = state.plan();
    let mut ends = vec![format!("after {}", count(plan.trials, "trial"))];
    ends.extend(plan.target.map(|target| format!("at a value of {}", significant(target, 6))));
    ends.extend(plan.min_gain.map(|gain| {
        format!("when 5 suggestions in a row are expected to gain less than {}", significant(gain, 3))
    }));
    let rule = format!("Stops {}", ends.join(", or "));
    match (state.course(), remaining(state)) {
        (Course::Paused, _) => format!("Paused: no new trials start until the study is resumed. {rule}."),
        (_, Some(left)) => format!("{rule}; about {} left at the current pace.", length(left)),
        _ => format!("{rule}."),
    }
}

/// How long the remaining trials will take at the pace of the last ones, in milliseconds.
fn remaining(state: &State) -> Option<u64> {
    let left = state.plan().trials.checked_sub(state.n_done()).filter(|left| *left > 0)?;
    state.running().next()?;
    let recent = state.trials()[state.n_trials().saturating_sub(2 * PACE_TRIALS)..].iter();
    let mut ended: Vec<u64> =
        recent.filter(|trial| trial.attempts > 0).filter_map(|trial| trial.ended_at).collect();
    ended.sort_unstable();
    let ended = &ended[ended.len().saturating_sub(PACE_TRIALS)..];
    let (first, last) = (ended.first()?, ended.last()?);
    (ended.len() > 2).then(|| (last - first) / (ended.len() as u64 - 1) * left as u64)
}

/// A plot with its caption and links to save it.
pub fn plot(study: &Address, section: &Section) -> Markup {
    plot_with(study, section, None, "")
}

/// A plot whose axes scripts can read, and whose links have a query.
pub fn plot_with(study: &Address, section: &Section, axes: Option<String>, query: &str) -> Markup {
    let word = section.kind.word();
    html! { figure.plot data-plot=(word) data-axes=[axes] {
        figcaption {
            h2 { (section.title) } " " span.faint { (section.caption) }
            @if !section.panels.is_empty() {
                " " span.save { "Save as " a href=(study.path(&format!("/plots/{word}.svg{query}"))) download { "SVG" } " "
                    a href=(study.path(&format!("/plots/{word}.png{query}"))) download { "PNG" } }
            }
        }
        div.panels { @for (i, panel) in section.panels.iter().enumerate() {
            @let is_wide = is_wide(section.kind, i);
            div.panel.wide[is_wide] tabindex=[is_wide.then_some("0")] { (svg(panel)) }
        } }
    } }
}

/// Whether a panel is scrolled on small screens, where it would be illegible if it shrank. After the first panel, the history has a
/// small one for each further outcome.
fn is_wide(kind: PlotKind, panel: usize) -> bool {
    match kind {
        PlotKind::History => panel == 0,
        kind => matches!(kind, PlotKind::Parallel | PlotKind::Timeline | PlotKind::Importance),
    }
}

/// The recommended point, the best observed one, and the expected gain of the next trial; with several goals, the front.
fn answer(state: &State, study: &Address, advised: &Found<Advice>) -> Markup {
    let is_front = state.outcomes().search() == Search::Front;
    html! {
        h2 { "The answer" }
        @if is_front { (front::answer(state, study, advised)) } @else {
            div.pair {
                article.card {
                    h3 { "Recommended" }
                    @match advised {
                        Found::Ready { answer: advice, head } => {
                            (recommended(state, advice.best.as_ref(), study))
                            (as_of(state, *head))
                            (copies(advice.best.as_ref().map(|best| &best.params)))
                        }
                        other => (waiting(state, other)),
                    }
                }
                article.card {
                    h3 { "Best observed" }
                    (observed(state, study))
                }
            }
        }
        @if let Found::Ready { answer: advice, .. } = advised { (outlook(advice)) }
    }
}

/// That advice lags behind the log, if it does.
pub fn as_of(state: &State, head: u64) -> Markup {
    html! { @if head < state.head() { p.faint data-again { "As of record " (head) " of " (state.head()) "; updating." } } }
}

/// Why there is no advice yet.
pub fn waiting(state: &State, advised: &Found<Advice>) -> Markup {
    html! { @match advised {
        Found::Failed(problem) => p.problem { (problem) },
        _ => p.faint data-again { "Fitting the model to "
            (count(state.count(TrialState::Complete), "value")) "; reload the page in a moment." },
    } }
}

fn observed(state: &State, study: &Address) -> Markup {
    html! { @match state.best_observed() {
        Some(trial) => {
            p.value {
                @if let Some(value) = goal_of(state, trial) { strong { (significant(value, 6)) } " " }
                a href=(study.path(&format!("/trials/{}", trial.number))) { "trial " (trial.number) }
            }
            @if !state.outcomes().is_one() { dl.parameters { @for name in state.outcomes().names() {
                @if let Some(value) = trial.value_of(name) { div { dt { (name) } dd { (significant(value, 6)) } } }
            } } }
            (parameters(trial.params.iter()))
            p.faint { "A single measurement can be best by luck. The recommended point takes all of them into account." }
        }
        None if state.has_values() => p.empty { "No trial meets all constraints yet." },
        None => p.empty { "No trial has a value yet." },
    } }
}

fn recommended(state: &State, best: Option<&Best>, study: &Address) -> Markup {
    let Some(best) = best else { return html! { p.empty { "No trial has a value yet." } } };
    html! {
        @if best.mean.is_finite() { p.value {
            strong { (best.std.map_or_else(|| significant(best.mean, 6), |std| with_uncertainty(best.mean, std))) }
            @if best.std.is_some() { span.faint { " expected, ± one standard deviation" } }
        } }
        p {
            @match (best.trial, best.value) {
                (Some(trial), Some(value)) => {
                    "Measured in " a href=(study.path(&format!("/trials/{trial}"))) { "trial " (trial) } ": " (significant(value, 6)) "."
                }
                (Some(trial), None) => { "Tried in " a href=(study.path(&format!("/trials/{trial}"))) { "trial " (trial) } "." },
                (None, _) => "This point hasn't been tried yet.",
            }
            @if let Some(feasible) = best.feasible { " " (likely(feasible)) }
        }
        @if !state.outcomes().is_one() { (expected(&best.outcomes)) }
        (parameters(best.params.iter()))
    }
}

/// What is expected of each outcome.
pub fn expected(outcomes: &ByOutcome<OutcomeView>) -> Markup {
    html! { dl.parameters { @for (name, one) in &outcomes.0 { div { dt { (name) } dd { (in_doubt(one)) } } } } }
}

/// What is expected of an outcome, with its uncertainty.
pub fn in_doubt(one: &OutcomeView) -> String {
    one.std.map_or_else(|| significant(one.expected, 6), |std| with_uncertainty(one.expected, std))
}

/// How likely a point meets all constraints, as a sentence.
pub fn likely(chance: f64) -> String {
    format!("It meets all constraints with a probability of {}.", percent(chance))
}

/// A probability as people read it: `97 %`.
pub fn percent(chance: f64) -> String {
    match 100.0 * chance {
        percent if percent > 99.0 && chance < 1.0 => "more than 99 %".to_owned(),
        percent if percent < 1.0 && chance > 0.0 => "less than 1 %".to_owned(),
        percent => format!("{percent:.0} %"),
    }
}

/// A list of parameters with their values.
pub fn parameters<'p>(pairs: impl Iterator<Item = (&'p str, &'p optimist::space::Value)>) -> Markup {
    html! { dl.parameters { @for (name, value) in pairs { div { dt { (name) } dd { (shown(value)) } } } } }
}

/// A point to copy and paste.
pub fn copies(params: Option<&optimist::space::Assignment>) -> Markup {
    let Some(params) = params else { return html! {} };
    html! { @for (language, text) in snippet::all(params) {
        details.copy { summary { (language) } pre tabindex="0" data-copy { (text) } }
    } }
}

fn outlook(advice: &Advice) -> Markup {
    html! {
        @if let Some(gain) = advice.gain {
            p { "The next trial is expected to improve the best value by " strong { (significant(gain, 3)) } "." }
        }
        @for warning in &advice.warnings { p.message.warning { (warning) } }
    }
}

fn underway(state: &State, study: &Address, leases: &[Lease]) -> Markup {
    let trials: Vec<&Trial> = state.running().chain(state.waiting()).collect();
    let lease = |trial: &Trial| match leases.iter().find(|lease| lease.trial == trial.number) {
        Some(lease) if lease.has_expired => "expired",
        Some(_) => "held",
        None => "none",
    };
    let queue = state.queue().count();
    html! {
        h2 { "Running" }
        @if trials.is_empty() && queue == 0 { p.empty { "No running or queued trials." } }
        @if !trials.is_empty() { div.scroll { table {
            thead { tr { th.number { "Trial" } th { "State" } th { "Worker" } th { "Started" } th { "Lease" } th { "Parameters" } } }
            tbody { @for trial in trials.iter().take(MOST_LISTED) { tr {
                td.number { a href=(study.path(&format!("/trials/{}", trial.number))) { (trial.number) } }
                td { (trial.state.word()) }
                td { (trial.worker.as_deref().unwrap_or("–")) }
                td { (time(trial.asked_at)) }
                td { (lease(trial)) }
                td.params { (in_short(trial)) }
            } } }
        } } }
        @if trials.len() > MOST_LISTED {
            p { a href=(study.path("/trials?filter=state%3Drunning")) { "All " (trials.len()) " trials" } }
        }
        @if queue > 0 { p { (count(queue, "point")) " in the queue, to be tried before new suggestions." } }
    }
}

/// The parameters of a trial on one line.
pub fn in_short(trial: &Trial) -> String {
    let pairs: Vec<String> =
        trial.params.iter().map(|(name, value)| format!("{name} {}", shown(value))).collect();
    pairs.join(" · ")
}

/// Why trials failed, the most frequent reason first.
fn failures(state: &State, study: &Address) -> Markup {
    const MOST_REASONS: usize = 5;
    let mut reasons: std::collections::BTreeMap<&str, (usize, usize)> = std::collections::BTreeMap::new();
    for trial in state.trials().iter().filter(|trial| trial.state == TrialState::Failed) {
        let reason = trial.failure.as_ref().map_or("no reason given", |failure| failure.reason.as_str());
        let known = reasons.entry(reason.lines().next().unwrap_or("")).or_default();
        *known = (known.0 + 1, trial.number);
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, (n, _))| std::cmp::Reverse(*n));
    html! { @if !reasons.is_empty() {
        h2 { "Failures" }
        ul.reasons { @for (reason, (n, last)) in reasons.iter().take(MOST_REASONS) {
            li { strong { (n) } " × " (reason) " " a.faint href=(study.path(&format!("/trials/{last}"))) { "trial " (last) } }
        } }
        @if reasons.len() > MOST_REASONS { p.faint { (count(reasons.len() - MOST_REASONS, "other reason")) } }
    } }
}

fn note(state: &State) -> Markup {
    html! { @if let Some(note) = state.note(None) {
        h2 { "Note" }
        div.note { (markdown::html(&note.text)) }
        p.faint { "written " (time(note.at)) }
    } }
}
