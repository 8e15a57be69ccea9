//! Several goals against each other: the trials that no other beats, those that are beaten, and those that are not feasible.

use optimist_study::view::number::significant;
use optimist_study::{Search, State, Trial};
use serde::Serialize;
use serde_json::Value;

use super::history::MOST_TITLED;
use super::series::{Series, Standing};
use super::{Plot, PlotKind, how};
use crate::canvas::{Canvas, Shape};
use crate::chart::{Axis, Chart, Sample};

pub fn plot(state: &State) -> Plot {
    let (caption, panels) = match state.outcomes().search() {
        Search::Front => (caption(state), draw(state)),
        Search::Best | Search::Feasible => {
            ("There is a front where there are several goals.".to_owned(), Vec::new())
        }
    };
    Plot { kind: PlotKind::Front, title: "Front", caption, panels, data: Value::Null }
}

fn caption(state: &State) -> String {
    let covered = state.observed_front().and_then(|front| {
        let volume = significant(front.hypervolume?, 6);
        let goals = state.outcomes().goals().zip(&front.reference);
        let reference: Vec<String> =
            goals.map(|(goal, at)| format!("{} {}", goal.name, significant(*at, 6))).collect();
        Some(format!(" The front covers a hypervolume of {volume} beyond {}.", reference.join(", ")))
    });
    let infeasible = match state.outcomes().has_constraints() {
        true => " Grey crosses break a constraint.",
        false => "",
    };
    format!(
        "Each goal against each other, by what was observed. Orange trials are the front: no other is better in every goal. Blue \
         ones are beaten.{infeasible}{}",
        covered.unwrap_or_default()
    )
}

/// A panel for each pair of goals.
fn draw(state: &State) -> Vec<Canvas> {
    let goals: Vec<Series<'_>> = Series::all(state).into_iter().filter(|one| one.bound().is_none()).collect();
    let standings = Standing::of_all(state);
    let size = if goals.len() == 2 { (640.0, 420.0) } else { (340.0, 290.0) };
    let pairs = (0..goals.len()).flat_map(|i| (i + 1..goals.len()).map(move |j| (i, j)));
    pairs.map(|(i, j)| panel(state, &goals[i], &goals[j], &standings, size, goals.len() == 2)).collect()
}

fn panel(
    state: &State,
    across: &Series<'_>,
    up: &Series<'_>,
    standings: &[Standing],
    size: (f64, f64),
    is_only: bool,
) -> Canvas {
    let point = |trial| Some((across.value(trial)?, up.value(trial)?));
    let mut points: Vec<(Standing, &Trial, (f64, f64))> = (state.trials().iter().zip(standings))
        .filter_map(|(trial, standing)| Some((*standing, trial, point(trial)?)))
        .collect();
    points.sort_by_key(|(standing, trial, _)| (*standing, trial.number)); // the front on top
    let x = Axis::around(points.iter().map(|(_, _, (x, _))| *x), 0.06);
    let y = Axis::around(points.iter().map(|(_, _, (_, y))| *y), 0.06);
    let mut chart = Chart::new(size.0, size.1, up.name(), &x, across.name(), &y);
    if is_only {
        let entries = [
            (Standing::Best, Sample::Dot, "front"),
            (Standing::Beaten, Sample::Dot, "dominated"),
            (Standing::Infeasible, Sample::Cross, "not feasible"),
        ];
        let is_drawn = |standing: Standing| points.iter().any(|(drawn, ..)| *drawn == standing);
        let entries = entries.into_iter().filter(|(standing, ..)| is_drawn(*standing));
        let entries: Vec<_> =
            entries.map(|(standing, sample, label)| (standing.colour(), sample, label)).collect();
        chart.legend(&entries);
    }
    let is_titled = points.len() <= MOST_TITLED;
    for (standing, trial, (across_at, up_at)) in points {
        let at = chart.at(x.position(across_at), y.position(up_at));
        let title = || {
            let values = [(across, across_at), (up, up_at)];
            let values = values.map(|(series, value)| format!("{} {}", series.name(), significant(value, 6)));
            format!("trial {}: {}{}", trial.number, values.join(", "), how(trial))
        };
        let shape = match standing {
            Standing::Infeasible => Shape::Cross { at, radius: 2.5 },
            Standing::Beaten => Shape::Dot { at, radius: 2.5 },
            Standing::Best => Shape::Dot { at, radius: 4.0 },
        };
        chart.canvas.add_trial(standing.colour(), shape, trial.number, is_titled.then(title));
    }
    chart.canvas
}

/// The data behind it: the trials of which every goal is known.
pub fn data(state: &State) -> impl Serialize + '_ {
    #[derive(Serialize)]
    struct Front {
        hypervolume: Option<f64>,
        reference: Vec<f64>,
        trials: Vec<Row>,
    }
    #[derive(Serialize)]
    struct Row {
        trial: usize,
        values: serde_json::Map<String, Value>,
        standing: &'static str,
    }
    let front = state.observed_front();
    let row = |(trial, standing): (&Trial, Standing)| {
        let goals = state.outcomes().goals();
        let values = goals.map(|goal| Some((goal.name.clone(), trial.value_of(&goal.name)?.into())));
        let standing = match standing {
            Standing::Best => "front",
            Standing::Beaten => "beaten",
            Standing::Infeasible => "infeasible",
        };
        Some(Row { trial: trial.number, values: values.collect::<Option<_>>()?, standing })
    };
    Front {
        hypervolume: front.as_ref().and_then(|front| front.hypervolume),
        reference: front.map(|front| front.reference).unwrap_or_default(),
        trials: state.trials().iter().zip(Standing::of_all(state)).filter_map(row).collect(),
    }
}
