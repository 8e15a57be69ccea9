//! Value against each parameter.

use optimist::space::Parameter;
use optimist_study::view::number::{shown, significant};
use optimist_study::{State, Trial, TrialState};
use serde_json::Value;

use super::history::{Trace, valued};
use super::{Plot, PlotKind, how};
use crate::canvas::{Canvas, Shape, colour};
use crate::chart::{Axis, Chart};

/// Points that a panel shows at the most: the best quarter of these, and an even spread of the rest.
pub const MOST_POINTS: usize = 600;

pub fn plot(state: &State) -> Plot {
    let caption = "The value against each parameter, the best trial in orange. Choices are columns, whose points are \
                   spread sideways; a cross is a trial that failed.";
    Plot {
        kind: PlotKind::Slices,
        title: "Slices",
        caption: format!("{caption}{}", what_is_drawn(state)),
        panels: draw(state),
        data: Value::Null,
    }
}

/// A sentence for the caption, if not all trials are drawn.
pub fn what_is_drawn(state: &State) -> String {
    match valued(state).len() {
        n if n > MOST_POINTS => {
            format!(" Of {n} trials the best and an even spread of the others are drawn.")
        }
        _ => String::new(),
    }
}

/// A panel for each parameter.
fn draw(state: &State) -> Vec<Canvas> {
    let direction = state.definition().direction;
    let trace = Trace::of(state.trials(), direction);
    let (low, high) = trace.map_or((0.0, 1.0), |trace| trace.visible_range(direction));
    let y = Axis::around([low, high], 0.06);
    let shown = thinned(state);
    state
        .definition()
        .space
        .parameters()
        .iter()
        .map(|parameter| panel(state, parameter, &shown, &y))
        .collect()
}

fn panel(state: &State, parameter: &Parameter, trials: &[&Trial], y: &Axis) -> Canvas {
    let x = Axis::of(&parameter.kind);
    let mut chart = Chart::new(330.0, 250.0, &parameter.name, &x, "", y);
    let failed = state.trials().iter().filter(|trial| trial.state == TrialState::Failed);
    for trial in failed.take(MOST_POINTS) {
        if let Some(value) = trial.params.get(&parameter.name) {
            let at = chart.at(x.position_of(value) + jitter(trial, &x), 0.0);
            chart.canvas.add(colour::FAILED, Shape::Cross { at: (at.0, at.1 - 6.0), radius: 2.5 });
        }
    }
    let best = state.best_observed().map(|trial| trial.number);
    // The best one last, so that it is on top.
    let in_order = trials.iter().filter(|trial| Some(trial.number) != best);
    let best_one = trials.iter().filter(|trial| Some(trial.number) == best);
    for trial in in_order.chain(best_one) {
        let (Some(param), Some(value)) = (trial.params.get(&parameter.name), trial.value()) else { continue };
        let at = chart.at(x.position_of(param) + jitter(trial, &x), y.position(value));
        let title = format!(
            "trial {}: {} = {}, value {}{}",
            trial.number,
            parameter.name,
            shown(param),
            significant(value, 6),
            how(trial)
        );
        let title = Some(title).filter(|_| trials.len() < MOST_POINTS);
        let (colour, radius) =
            if Some(trial.number) == best { (colour::BEST, 5.0) } else { (colour::POINT, 2.5) };
        chart.canvas.add_titled(colour, Shape::Dot { at, radius }, title);
    }
    chart.canvas
}

/// Spreads the points of a choice over its column, by the golden ratio: evenly, and the same every time.
pub fn jitter(trial: &Trial, x: &Axis) -> f64 {
    let part = (trial.number as f64 * 0.618_033_988_75).fract() - 0.5;
    x.column().map_or(0.0, |column| 0.6 * column * part)
}

/// The trials with a value that are drawn where there are too many for all.
pub fn thinned(state: &State) -> Vec<&Trial> {
    let mut drawn = valued(state);
    if drawn.len() > MOST_POINTS {
        let direction = state.definition().direction;
        drawn.sort_by(|(a, _), (b, _)| direction.compare(b, a));
        let mut rest = drawn.split_off(MOST_POINTS / 4);
        rest.sort_by_key(|(_, trial)| trial.number);
        let spread = MOST_POINTS - drawn.len();
        drawn.extend((0..spread).map(|i| rest[i * rest.len() / spread]));
        drawn.sort_by_key(|(_, trial)| trial.number);
    }
    drawn.into_iter().map(|(_, trial)| trial).collect()
}
