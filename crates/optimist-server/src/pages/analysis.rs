//! The plots of a study, with some trials highlighted.
//!
//! Brushing is filtering: dragging along an axis of the parallel coordinates writes conditions into the filter, and the server draws trials
//! that don't meet them pale, in every plot. So it also works without scripts, can be shared as a link, and matches the table.

use maud::{Markup, html};
use optimist_plot::study::{PlotKind, Plots, Section, is_drawable, parallel_axes};
use optimist_study::State;
use optimist_study::view::number::count;
use serde::Deserialize;

use super::address::{Address, query};
use super::background::Found;
use super::filter::Filter;
use super::layout::Part;
use super::overview::plot_with;

/// The filter and the contour's parameters in the address.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Wanted {
    /// Which trials to highlight; see [`Filter`].
    pub filter: String,
    /// The contour's horizontal parameter; empty for the most important ones.
    pub x: String,
    /// The contour's vertical parameter.
    pub y: String,
}

impl Wanted {
    /// The indices of the two parameters in the space, if they can be drawn together.
    pub fn pair(&self, state: &State) -> Option<(usize, usize)> {
        let parameters = state.definition().space.parameters();
        let place = |name: &str| parameters.iter().position(|parameter| parameter.name == name);
        let (x, y) = (place(&self.x)?, place(&self.y)?);
        is_drawable(parameters, x, y).then_some((x, y))
    }
}

/// Plots that don't need a model.
pub const SEEN: [PlotKind; 6] = [
    PlotKind::Front,
    PlotKind::Parallel,
    PlotKind::Metrics,
    PlotKind::Slices,
    PlotKind::Edf,
    PlotKind::Timeline,
];

/// Plots that need a fitted model.
pub const MODELLED: [PlotKind; 3] = [PlotKind::Importance, PlotKind::Surrogate, PlotKind::Contour];

/// The form above the plots.
pub fn controls(state: &State, study: &Address, wanted: &Wanted, problem: Option<&str>) -> Markup {
    html! {
        header.title { h1 { "Analysis" } }
        form #brush.search method="get" role="search" {
            label for="filter" { "Highlight" }
            input #filter type="search" name="filter" value=(wanted.filter) placeholder="for example value<0.5 or rate>0.01"
                aria-invalid=[problem.map(|_| "true")];
            input type="hidden" name="x" value=(wanted.x);
            input type="hidden" name="y" value=(wanted.y);
            button { "Apply" }
            a.button.plain href=(study.path("/analysis")) { "Clear" }
        }
        @if let Some(problem) = problem { p.message.warning role="alert" { (problem) } }
        p.faint {
            @if state.has_values() { "Drag along an axis of the parallel coordinates to highlight trials in all plots. " }
            a href=(study.path(&format!("/trials{}", query([("filter", wanted.filter.clone())])))) { "Show these trials as a table" }
            @if state.n_trials() > 0 { " · " (count(state.n_trials(), "trial")) } }
    }
}

/// The plots that show trials.
pub fn seen(study: &Address, state: &State, plots: &Plots, filter: Option<(&Filter, &State)>) -> Part {
    let sections = sections(plots, filter);
    let axes = serde_json::to_string(&parallel_axes(state)).ok();
    let axes = |section: &Section| axes.clone().filter(|_| section.kind == PlotKind::Parallel);
    let is_shown = |section: &&Section| {
        let needs_values = matches!(section.kind, PlotKind::Front | PlotKind::Parallel | PlotKind::Edf);
        !section.panels.is_empty() && (state.has_values() || !needs_values)
    };
    let content = html! {
        @if state.n_trials() == 0 { p.empty { "No trials yet." } } @else {
            @for section in sections.iter().filter(is_shown) { (plot_with(study, section, axes(section), "")) }
        }
    };
    Part::new("seen", content)
}

/// The plots of the model.
pub fn modelled(
    study: &Address,
    state: &State,
    wanted: &Wanted,
    plots: &Found<Plots>,
    filter: Option<(&Filter, &State)>,
) -> Part {
    let of = query([("x", wanted.x.clone()), ("y", wanted.y.clone())]);
    let content = match plots {
        _ if !state.has_values() => html! { p.empty { "A model is fitted once a trial has a value." } },
        Found::Ready { answer, head } => html! {
            @if *head < state.head() { p.faint data-again { "The model is as of record " (head) " of " (state.head()) "; updating." } }
            @for section in &sections(answer, filter) {
                @if section.kind == PlotKind::Contour { (pair_form(state, wanted)) }
                (plot_with(study, section, None, &of))
            }
        },
        Found::Pending => {
            html! { p.empty data-again { "Fitting the model; reload the page in a moment." } }
        }
        Found::Failed(problem) => html! { p.problem { "Can't fit the model: " (problem) } },
    };
    Part::new("modelled", content)
}

fn sections(plots: &Plots, filter: Option<(&Filter, &State)>) -> Vec<Section> {
    match filter {
        Some((filter, state)) => {
            let passes = |number: usize| state.trial(number).is_some_and(|trial| filter.passes(trial));
            plots.sections(Some(&passes))
        }
        None => plots.sections(None),
    }
}

/// The form that chooses the contour's parameters.
fn pair_form(state: &State, wanted: &Wanted) -> Markup {
    let parameters = state.definition().space.parameters();
    let choose = |name: &str, chosen: &str| {
        html! {
            label for={ "contour-" (name) } { (name) }
            select id={ "contour-" (name) } name=(name) {
                option value="" { "most important" }
                @for parameter in parameters { option value=(parameter.name) selected[parameter.name == chosen] { (parameter.name) } }
            }
        }
    };
    html! { @if parameters.len() > 1 {
        form.search method="get" {
            input type="hidden" name="filter" value=(wanted.filter);
            strong { "Contour of" } (choose("x", &wanted.x)) (choose("y", &wanted.y))
            button { "Draw" }
        }
        @if !(wanted.x.is_empty() && wanted.y.is_empty()) && wanted.pair(state).is_none() {
            p.message.warning role="alert" { "Choose two different parameters, neither of which depends on the other. These are the most important ones." }
        }
    } }
}
