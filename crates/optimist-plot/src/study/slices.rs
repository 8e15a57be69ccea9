//! Value against each parameter.

use optimist::space::Parameter;
use optimist_study::view::number::{shown, significant};
use optimist_study::{State, Trial, TrialState};
use serde_json::Value;

use super::history::Trace;
use super::series::{Series, Standing};
use super::{NARROW, Plot, PlotKind, how};
use crate::canvas::{Canvas, Shape, colour};
use crate::chart::{Axis, Chart, mark};

/// The most points in a panel: a quarter of them are the best trials, the others are spread evenly over the rest.
pub const MOST_POINTS: usize = 600;

pub fn plot(state: &State) -> Plot {
    let caption = match state.outcomes().is_one() {
        true => "The value against each parameter, the best trial in orange.",
        false => {
            "Each outcome against each parameter; orange is the best trial, or the front of several goals, grey is not feasible, \
             and bounds are dashed."
        }
    };
    let choices = " Choices are columns, whose points are spread sideways; a cross is a trial that failed, a triangle one \
                   that is off the scale.";
    Plot {
        kind: PlotKind::Slices,
        title: "Slices",
        caption: format!("{caption}{choices}{}", what_is_drawn(state)),
        panels: draw(state),
        data: Value::Null,
    }
}

/// A sentence for the caption, if not all trials are drawn.
pub fn what_is_drawn(state: &State) -> String {
    match state.trials().iter().filter(|trial| !trial.measurements.is_empty()).count() {
        n if n > MOST_POINTS => {
            format!(" Of {n} trials the best and an even spread of the others are drawn.")
        }
        _ => String::new(),
    }
}

/// A panel for each parameter.
fn draw(state: &State) -> Vec<Canvas> {
    let standings = Standing::of_all(state);
    let of_outcome = |series: Series<'_>| -> Vec<Canvas> {
        let trace = Trace::of(state, &series);
        let (low, high) = trace.map_or((0.0, 1.0), |trace| trace.visible_range());
        let y = Axis::around([low, high].into_iter().chain(series.bound()), 0.06);
        let shown = thinned(state, &series);
        let parameters = state.definition().space.parameters().iter();
        parameters.map(|parameter| panel(state, &series, parameter, &shown, &standings, &y)).collect()
    };
    Series::all(state).into_iter().flat_map(of_outcome).collect()
}

fn panel(
    state: &State,
    series: &Series<'_>,
    parameter: &Parameter,
    trials: &[&Trial],
    standings: &[Standing],
    y: &Axis,
) -> Canvas {
    let x = Axis::of(&parameter.kind);
    let mut chart = Chart::new(NARROW, 250.0, &series.titled(&parameter.name), &x, "", y);
    if let Some(bound) = series.bound() {
        let points = vec![chart.at(0.0, y.position(bound)), chart.at(1.0, y.position(bound))];
        chart.canvas.add(colour::INK, Shape::Line { points, width: 1.0, is_dashed: true });
    }
    let failed = state.trials().iter().filter(|trial| trial.state == TrialState::Failed);
    for trial in failed.take(MOST_POINTS) {
        if let Some(value) = trial.params.get(&parameter.name) {
            let at = chart.at(x.position_of(value) + jitter(trial, &x), 0.0);
            let shape = Shape::Cross { at: (at.0, at.1 - 6.0), radius: 2.5 };
            chart.canvas.add_trial(colour::FAILED, shape, trial.number, None);
        }
    }
    // The best last, so that it is on top.
    let is_best = |trial: &&&Trial| standings[trial.number] == Standing::Best;
    let in_order = trials.iter().filter(|trial| !is_best(trial));
    for trial in in_order.chain(trials.iter().filter(is_best)) {
        let (Some(param), Some(value)) = (trial.params.get(&parameter.name), series.value(trial)) else {
            continue;
        };
        let at = chart.at(x.position_of(param) + jitter(trial, &x), y.position(value));
        let title = format!(
            "trial {}: {} = {}, {} {}{}",
            trial.number,
            parameter.name,
            shown(param),
            series.name(),
            significant(value, 6),
            how(trial)
        );
        let title = Some(title).filter(|_| trials.len() < MOST_POINTS);
        let standing = standings[trial.number];
        let radius = if standing == Standing::Best { 5.0 } else { 2.5 };
        chart.canvas.add_trial(
            standing.colour(),
            mark(at, None, y.beyond(value), radius),
            trial.number,
            title,
        );
    }
    chart.canvas
}

/// Spreads the points of a choice over its column, by the golden ratio: evenly, and the same every time.
pub fn jitter(trial: &Trial, x: &Axis) -> f64 {
    let part = (trial.number as f64 * 0.618_033_988_75).fract() - 0.5;
    x.column().map_or(0.0, |column| 0.6 * column * part)
}

/// The trials with a value that are drawn where there are too many for all.
pub fn thinned<'s>(state: &'s State, series: &Series<'s>) -> Vec<&'s Trial> {
    let mut drawn = series.valued(state);
    if drawn.len() > MOST_POINTS {
        let (direction, standings) = (series.direction(), Standing::of_all(state));
        let standing = |trial: &Trial| standings[trial.number];
        drawn.sort_by(|(a, first), (b, second)| {
            standing(second).cmp(&standing(first)).then_with(|| direction.compare(b, a))
        });
        let mut rest = drawn.split_off(MOST_POINTS / 4);
        rest.sort_by_key(|(_, trial)| trial.number);
        let spread = MOST_POINTS - drawn.len();
        drawn.extend((0..spread).map(|i| rest[i * rest.len() / spread]));
        drawn.sort_by_key(|(_, trial)| trial.number);
    }
    drawn.into_iter().map(|(_, trial)| trial).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use optimist_study::{Measurement, Storage, Study, StudyFile};

    #[test]
    fn a_value_off_the_scale_is_a_triangle_in_slices_and_in_metrics() {
        let text = "direction = 'minimize'\nparameters.x = { type = 'float', low = 0.0, high = 1.0 }\noptimizer.name = 'random'";
        let definition = StudyFile::parse(text).unwrap().definition;
        let mut study = Study::create(&Storage::memory(), definition).unwrap();
        for number in 0..20 {
            let trial = study.ask(None).unwrap().trial;
            let value = if number == 7 { 1e9 } else { f64::from(number) };
            let metrics = serde_json::json!({ "seconds": f64::from(number) });
            let measured = Measurement {
                metrics: metrics.as_object().cloned().map(Box::new),
                ..Measurement::new(value)
            };
            study.tell(trial, measured, None).unwrap();
        }
        for plot in [plot(study.state()), super::super::metrics::plot(study.state())] {
            let shapes = plot.panels.iter().flat_map(|panel| panel.marks.iter().map(|mark| &mark.shape));
            let n_triangles = shapes.filter(|shape| matches!(shape, Shape::Area { .. })).count();
            assert_eq!(n_triangles, 1, "{:?}", plot.kind);
        }
    }
}
