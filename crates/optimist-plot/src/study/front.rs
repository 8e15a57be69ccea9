//! Several goals against each other: the trials that no other beats, those that are beaten, and those that are not feasible.

use optimist_study::view::number::significant;
use optimist_study::{Search, State, Trial};
use serde::Serialize;
use serde_json::Value;

use super::history::{MOST_TITLED, visible_range};
use super::series::{Series, Standing};
use super::{Plot, PlotKind, WIDE, how};
use crate::canvas::{Anchor, Canvas, Shape};
use crate::chart::{Axis, Chart, Sample, mark};

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
         ones are beaten.{infeasible} A triangle is off the scale.{}",
        covered.unwrap_or_default()
    )
}

/// What marks mean.
const LEGEND: [(Standing, Sample, &str); 3] = [
    (Standing::Best, Sample::Dot, "front"),
    (Standing::Beaten, Sample::Dot, "dominated"),
    (Standing::Infeasible, Sample::Cross, "not feasible"),
];

/// Two goals in one panel, several in a matrix of panels.
fn draw(state: &State) -> Vec<Canvas> {
    let goals: Vec<Goal<'_>> = Goal::all(state);
    let standings = Standing::of_all(state);
    let is_drawn = |of: Standing| {
        let mut trials = state.trials().iter().zip(&standings);
        trials.any(|(trial, &standing)| standing == of && goals.iter().all(|goal| goal.at(trial).is_some()))
    };
    let legend = LEGEND.into_iter().filter(|(standing, ..)| is_drawn(*standing));
    let legend: Vec<_> = legend.map(|(standing, sample, label)| (standing.colour(), sample, label)).collect();
    match &goals[..] {
        [across, up] => {
            let mut chart = panel(state, across, up, &standings, (640.0, 420.0));
            chart.legend(&legend);
            vec![chart.canvas]
        }
        goals => vec![matrix(state, goals, &standings, &legend)],
    }
}

/// A column for each goal but the last, a row for each but the first: every pair of goals once, below the diagonal. What the marks mean
/// is where there are no pairs.
fn matrix(
    state: &State,
    goals: &[Goal<'_>],
    standings: &[Standing],
    legend: &[(&'static str, Sample, &str)],
) -> Canvas {
    let n = goals.len() - 1;
    let width = (WIDE / n as f64).clamp(220.0, 400.0);
    let height = 0.8 * width;
    let mut sheet = Canvas::new(width * n as f64, height * n as f64);
    for (row, up) in goals.iter().enumerate().skip(1) {
        for (column, across) in goals[..row].iter().enumerate() {
            let chart = panel(state, across, up, standings, (width, height));
            sheet.inset(chart.canvas, (width * column as f64, height * (row - 1) as f64));
        }
    }
    for (i, &(colour, sample, label)) in legend.iter().enumerate() {
        let (left, middle) = (width + 40.0, 40.0 + 20.0 * i as f64);
        sheet.add(colour, sample.shape((left, middle)));
        sheet.faint_text((left + 12.0, middle + 4.0), label, 12, Anchor::Start);
    }
    sheet
}

/// A goal with its axis, which is the same in all panels.
struct Goal<'s> {
    series: Series<'s>,
    axis: Axis,
}

impl<'s> Goal<'s> {
    fn all(state: &'s State) -> Vec<Self> {
        let goals = Series::all(state).into_iter().filter(|one| one.bound().is_none());
        let axis = |series: &Series<'_>| {
            let values = state.trials().iter().filter_map(|trial| series.value(trial));
            let (low, high) = visible_range(values, series.direction());
            Axis::around([low, high], 0.06)
        };
        goals.map(|series| Self { axis: axis(&series), series }).collect()
    }

    fn at(&self, trial: &Trial) -> Option<f64> {
        self.series.value(trial)
    }
}

fn panel(state: &State, across: &Goal<'_>, up: &Goal<'_>, standings: &[Standing], size: (f64, f64)) -> Chart {
    let point = |trial| Some((across.at(trial)?, up.at(trial)?));
    let mut points: Vec<(Standing, &Trial, (f64, f64))> = (state.trials().iter().zip(standings))
        .filter_map(|(trial, standing)| Some((*standing, trial, point(trial)?)))
        .collect();
    points.sort_by_key(|(standing, trial, _)| (*standing, trial.number)); // the front on top
    let mut chart =
        Chart::new(size.0, size.1, up.series.name(), &across.axis, across.series.name(), &up.axis);
    let is_titled = points.len() <= MOST_TITLED;
    for (standing, trial, (across_at, up_at)) in points {
        let at = chart.at(across.axis.position(across_at), up.axis.position(up_at));
        let title = || {
            let values = [(across, across_at), (up, up_at)];
            let values =
                values.map(|(goal, value)| format!("{} {}", goal.series.name(), significant(value, 6)));
            format!("trial {}: {}{}", trial.number, values.join(", "), how(trial))
        };
        let ends = (across.axis.beyond(across_at), up.axis.beyond(up_at));
        let shape = match standing {
            Standing::Infeasible => Shape::Cross { at, radius: 2.5 },
            Standing::Beaten => mark(at, ends.0, ends.1, 2.5),
            Standing::Best => mark(at, ends.0, ends.1, 4.0),
        };
        chart.canvas.add_trial(standing.colour(), shape, trial.number, is_titled.then(title));
    }
    chart
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canvas::Mark;
    use optimist_study::{Measurement, Storage, Study, StudyFile};

    /// A study of so many goals and a constraint: a trial on the front, one that is beaten, one that is not feasible.
    fn told(n_goals: usize) -> Study {
        let goals: String =
            (0..n_goals).map(|i| format!("outcomes.g{i} = {{ goal = 'maximize' }}\n")).collect();
        let text = format!(
            "optimizer.name = 'sobol'\n{goals}outcomes.cost = {{ at_most = 1.0 }}\nparameters.x = {{ type = 'float', low = 0, high = 1 }}"
        );
        let definition = StudyFile::parse(&text).unwrap().definition;
        let mut study = Study::create(&Storage::memory(), definition).unwrap();
        for (value, cost) in [(2.0, 0.0), (1.0, 1.0), (3.0, 2.0)] {
            let trial = study.ask(None).unwrap().trial;
            let values = (0..n_goals).map(|i| (format!("g{i}"), value)).chain([("cost".to_owned(), cost)]);
            study.tell(trial, Measurement::of(values), None).unwrap();
        }
        study
    }

    #[test]
    fn three_goals_and_more_have_a_matrix_with_every_pair_once_and_a_legend() {
        for n_goals in [2, 3, 4, 7] {
            let study = told(n_goals);
            let plot = plot(study.state());
            let [picture] = &plot.panels[..] else {
                panic!("{n_goals} goals: {} pictures", plot.panels.len())
            };
            let n_pairs = n_goals * (n_goals - 1) / 2;
            let of_trials = picture.marks.iter().filter(|mark| mark.trial.is_some());
            assert_eq!(of_trials.count(), 3 * n_pairs, "{n_goals} goals");
            let text = |mark: &Mark| match &mark.shape {
                Shape::Text { text, .. } => Some(text.clone()),
                _ => None,
            };
            let texts: Vec<String> = picture.marks.iter().filter_map(text).collect();
            for label in ["front", "dominated", "not feasible"] {
                assert_eq!(texts.iter().filter(|text| *text == label).count(), 1, "{n_goals} goals: {label}");
            }
        }
    }
}
