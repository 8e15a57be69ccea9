//! What the model says of two parameters together, on average over the others.

use optimist::insight::JointDependence;
use optimist::space::{Parameter, Value as ParameterValue};
use optimist_study::view::number::significant;
use optimist_study::{State, Trial, TrialState};
use serde_json::{Value, json};

use super::series::{Series, Standing};
use super::slices::{MOST_POINTS, jitter, thinned, what_is_drawn};
use super::surrogate::{Surrogate, by_outcome, trust};
use super::{Plot, PlotKind, describe};
use crate::canvas::{Anchor, Canvas, Shape, colour, cut};
use crate::chart::{Axis, Chart};

pub const TITLE: &str = "Contour";

/// Beyond this many letters a title would run into the colours beside it.
const MOST_LETTERS: usize = 36;

/// Cells across and up, between which colours change.
const CELLS: (usize, usize) = (96, 72);

/// A panel for each outcome, over `pair` (indices of parameters in the space), or over the two parameters that matter most.
pub fn plot(state: &State, models: &[Surrogate], pair: Option<(usize, usize)>) -> Plot {
    let parameters = state.definition().space.parameters();
    let pair = pair.filter(|&(x, y)| is_drawable(parameters, x, y)).or_else(|| most_important(state, models));
    let Some((x, y)) = pair else {
        let caption = "It takes two parameters of which neither depends on the other.".to_owned();
        return Plot {
            kind: PlotKind::Contour,
            title: TITLE,
            caption,
            panels: Vec::new(),
            data: Value::Null,
        };
    };
    let joints: Vec<JointDependence> =
        models.iter().map(|model| model.insight.joint_dependence(x, y)).collect();
    let (x, y) = (&parameters[x], &parameters[y]);
    let data = |joint: &JointDependence| json!({ "x": x.name, "y": y.name, "x_values": joint.first, "y_values": joint.second, "means": joint.means });
    let data = joints.iter().map(data).collect();
    let panels = models.iter().zip(&joints);
    Plot {
        kind: PlotKind::Contour,
        title: TITLE,
        caption: format!(
            "What the model expects of `{}` and `{}` together, on average over all other parameters: the stronger the \
             colour, the better. Dots are trials, the best one in orange; a cross is a trial that failed. {}{}",
            x.name,
            y.name,
            trust(models),
            what_is_drawn(state)
        ),
        panels: panels.map(|(model, joint)| draw(state, &model.series, x, y, joint)).collect(),
        data: by_outcome(models, data),
    }
}

/// Whether there are two such parameters, neither of which is inactive for some values of the other.
pub fn is_drawable(parameters: &[Parameter], x: usize, y: usize) -> bool {
    let (Some(first), Some(second)) = (parameters.get(x), parameters.get(y)) else { return false };
    let depends =
        |one: &Parameter, other: &Parameter| one.when.iter().any(|when| when.parameter == other.name);
    x != y && !depends(first, second) && !depends(second, first)
}

/// The two parameters that matter most for the goal, or for the first outcome that has a model.
fn most_important(state: &State, models: &[Surrogate]) -> Option<(usize, usize)> {
    let parameters = state.definition().space.parameters();
    let goal = state.outcomes().goal().map(|goal| goal.name.as_str());
    let of_goal = models.iter().find(|model| Some(model.series.name()) == goal);
    let importances = of_goal.or(models.first())?.importances();
    let mut order: Vec<usize> = (0..parameters.len()).collect();
    order.sort_by(|&a, &b| importances[b].total.total_cmp(&importances[a].total));
    let pairs = order.iter().enumerate().flat_map(|(i, &x)| order[i + 1..].iter().map(move |&y| (x, y)));
    pairs.into_iter().find(|&(x, y)| is_drawable(parameters, x, y))
}

fn draw(state: &State, series: &Series<'_>, x: &Parameter, y: &Parameter, joint: &JointDependence) -> Canvas {
    let (x_axis, y_axis) = (Axis::of(&x.kind), Axis::of(&y.kind));
    let title = cut(&series.titled(&format!("{} against {}", y.name, x.name)), MOST_LETTERS);
    let mut chart = Chart::new(560.0, 420.0, &title, &x_axis, &x.name, &y_axis);
    let scale = Scale::of(series, joint);
    draw_cells(
        &mut chart,
        &Steps::new(&x_axis, &joint.first),
        &Steps::new(&y_axis, &joint.second),
        joint,
        &scale,
    );
    draw_trials(&mut chart, state, series, (x, &x_axis), (y, &y_axis));
    scale.draw(&mut chart.canvas);
    chart.canvas
}

/// Rectangles as long as the colour stays the same.
fn draw_cells(chart: &mut Chart, x: &Steps, y: &Steps, joint: &JointDependence, scale: &Scale) {
    let (columns, rows) = (x.cells(CELLS.0), y.cells(CELLS.1));
    for (bottom, top) in &rows {
        let up = y.place((bottom + top) / 2.0);
        let level = |(left, right): &(f64, f64)| scale.level(value(joint, x.place((left + right) / 2.0), up));
        let mut first = 0;
        while first < columns.len() {
            let colour = level(&columns[first]);
            let same = columns[first..].iter().take_while(|cell| level(cell) == colour).count();
            let (left, right) = (columns[first].0, columns[first + same - 1].1);
            let (at, end) = (chart.at(left, *top), chart.at(right, *bottom));
            // Neighbours overlap by a hair, or the seams between them would show.
            let (width, height) = (end.0 - at.0 + 0.3, end.1 - at.1 + 0.3);
            chart.canvas.add(colour::LEVELS[colour], Shape::Rect { at, width, height });
            first += same;
        }
    }
}

fn draw_trials(
    chart: &mut Chart,
    state: &State,
    series: &Series<'_>,
    x: (&Parameter, &Axis),
    y: (&Parameter, &Axis),
) {
    let standings = Standing::of_all(state);
    let is_best = |trial: &Trial| standings[trial.number] == Standing::Best;
    let failed = state.trials().iter().filter(|trial| trial.state == TrialState::Failed).take(MOST_POINTS);
    let valued = thinned(state, series);
    let is_titled = valued.len() < MOST_POINTS;
    let (best, others): (Vec<_>, Vec<_>) = failed.chain(valued).partition(|trial| is_best(trial));
    for trial in others.into_iter().chain(best) {
        let place = |(parameter, axis): (&Parameter, &Axis)| {
            Some(axis.position_of(trial.params.get(&parameter.name)?) + jitter(trial, axis))
        };
        let (Some(across), Some(up)) = (place(x), place(y)) else { continue };
        let at = chart.at(across, up);
        let title = is_titled.then(|| describe(trial));
        let (colour, shape) = match trial.state {
            TrialState::Failed => (colour::FAILED, Shape::Cross { at, radius: 3.0 }),
            _ if is_best(trial) => (colour::BEST, Shape::Dot { at, radius: 5.0 }),
            _ => (colour::INK, Shape::Dot { at, radius: 2.0 }),
        };
        chart.canvas.add_trial(colour, shape, trial.number, title);
    }
}

/// Where the places of a parameter lie along its axis.
struct Steps {
    positions: Vec<f64>,
    /// How wide the column of a choice is.
    column: Option<f64>,
}

impl Steps {
    fn new(axis: &Axis, values: &[ParameterValue]) -> Self {
        Self {
            positions: values.iter().map(|value| axis.position_of(value)).collect(),
            column: axis.column(),
        }
    }

    /// Ranges of positions that have one colour each.
    fn cells(&self, most: usize) -> Vec<(f64, f64)> {
        if let Some(column) = self.column {
            return self.positions.iter().map(|at| (at - column / 2.0, at + column / 2.0)).collect();
        }
        let (Some(first), Some(last)) = (self.positions.first(), self.positions.last()) else {
            return Vec::new();
        };
        let at = |i: usize| first + (last - first) * i as f64 / most as f64;
        (0..most).map(|i| (at(i), at(i + 1))).collect()
    }

    /// The place before a position, and how far it is to the next.
    fn place(&self, position: f64) -> (usize, f64) {
        let after = self.positions.partition_point(|at| *at <= position);
        let before = after.saturating_sub(1).min(self.positions.len().saturating_sub(2));
        let Some(next) = self.positions.get(before + 1) else { return (0, 0.0) };
        if self.column.is_some() {
            let nearest = |i: &usize| (self.positions[*i] - position).abs();
            let place = (0..self.positions.len()).min_by(|a, b| nearest(a).total_cmp(&nearest(b)));
            return (place.unwrap_or(0), 0.0);
        }
        let width = next - self.positions[before];
        (
            before,
            if width > 0.0 { ((position - self.positions[before]) / width).clamp(0.0, 1.0) } else { 0.0 },
        )
    }
}

/// The mean between places.
fn value(joint: &JointDependence, (i, right): (usize, f64), (j, up): (usize, f64)) -> f64 {
    let mean = |i: usize, j: usize| {
        let row = &joint.means[i.min(joint.means.len() - 1)];
        row[j.min(row.len() - 1)]
    };
    let along = |j| (1.0 - right) * mean(i, j) + right * mean(i + 1, j);
    (1.0 - up) * along(j) + up * along(j + 1)
}

/// Which colour a value has.
struct Scale {
    worst: f64,
    best: f64,
}

impl Scale {
    fn of(series: &Series<'_>, joint: &JointDependence) -> Self {
        let direction = series.direction();
        let mut means: Vec<f64> =
            joint.means.iter().flatten().copied().filter(|mean| mean.is_finite()).collect();
        means.sort_by(|a, b| direction.compare(a, b));
        Self { worst: means.first().copied().unwrap_or(0.0), best: means.last().copied().unwrap_or(0.0) }
    }

    fn level(&self, value: f64) -> usize {
        let part = (value - self.worst) / (self.best - self.worst);
        let levels = colour::LEVELS.len();
        if part.is_finite() { ((part * levels as f64) as usize).min(levels - 1) } else { 0 }
    }

    fn draw(&self, canvas: &mut Canvas) {
        let (width, levels) = (12.0, colour::LEVELS.len() as f64);
        let left = canvas.width - 84.0 - levels * width;
        canvas.faint_text((left - 6.0, 20.0), significant(self.worst, 3), 11, Anchor::End);
        for (i, colour) in colour::LEVELS.into_iter().enumerate() {
            let at = (left + width * i as f64, 11.0);
            canvas.add(colour, Shape::Rect { at, width: width + 0.3, height: 10.0 });
        }
        canvas.faint_text((left + levels * width + 6.0, 20.0), significant(self.best, 3), 11, Anchor::Start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use optimist::space::Kind;

    fn float(name: &str) -> Parameter {
        Parameter::new(name, Kind::Float { low: 0.0, high: 1.0, log: false, step: None })
    }

    #[test]
    fn a_parameter_is_not_drawn_against_one_that_it_depends_on() {
        let kind = Parameter::new("kind", Kind::Bool);
        let parameters = [kind, float("a").when("kind", true), float("b")];
        assert!(!is_drawable(&parameters, 0, 1) && !is_drawable(&parameters, 1, 0));
        assert!(is_drawable(&parameters, 1, 2) && is_drawable(&parameters, 2, 0));
        assert!(!is_drawable(&parameters, 1, 1) && !is_drawable(&parameters, 1, 3));
    }

    #[test]
    fn between_places_values_are_between_theirs() {
        let values = [0.0, 1.0, 2.0].map(ParameterValue::Float).to_vec();
        let means = vec![vec![0.0, 2.0], vec![4.0, 6.0], vec![8.0, 10.0]];
        let joint =
            JointDependence { first: values, second: [0.0, 1.0].map(ParameterValue::Float).to_vec(), means };
        let x = Steps::new(&Axis::Linear { low: 0.0, high: 2.0 }, &joint.first);
        let y = Steps::new(&Axis::Linear { low: 0.0, high: 1.0 }, &joint.second);
        for (across, up, expected) in [(0.0, 0.0, 0.0), (0.25, 0.0, 2.0), (0.5, 0.5, 5.0), (1.0, 1.0, 10.0)] {
            assert_eq!(value(&joint, x.place(across), y.place(up)), expected, "at {across}, {up}");
        }
    }
}
