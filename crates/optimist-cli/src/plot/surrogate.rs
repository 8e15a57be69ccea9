//! The model behind the suggestions: how well it predicts, and what it says of each parameter.

use optimist::insight::Dependence;
use optimist::space::Parameter;
use optimist_study::{LeaveOneOut, State, StudyInsight, TrialPrediction};
use serde_json::{Value, json};

use super::canvas::{Canvas, Shape, colour};
use super::chart::{Axis, Chart};
use super::history::{MOST_TITLED, Points};
use super::slices::{jitter, thinned};
use optimist_study::view::number::significant;

/// Standard deviations on either side that hold 95 % of a normal distribution.
const HALF_WIDTH: f64 = 1.96;

/// What the model says.
pub struct Fit {
    left_out: LeaveOneOut,
    /// By parameter.
    dependence: Vec<Vec<Dependence>>,
}

impl Fit {
    pub fn new(state: &State, insight: &StudyInsight) -> Self {
        let n_parameters = state.definition().space.parameters().len();
        Self {
            left_out: insight.leave_one_out(),
            dependence: (0..n_parameters).map(|parameter| insight.partial_dependence(parameter)).collect(),
        }
    }

    /// How much of the variance of the values the model explains, in words.
    pub fn trust(&self) -> String {
        match self.left_out.explained {
            Some(part) if part > 0.0 => format!(
                "Left out one at a time, {:.0} % of the variance of the values is predicted.",
                100.0 * part
            ),
            Some(_) => {
                "Left out one at a time, values are predicted no better than by their mean: do not trust the \
                        model yet."
                    .to_owned()
            }
            None => "The values do not vary, or are too few to judge the model by.".to_owned(),
        }
    }

    /// Predicted against observed, then a panel for each parameter.
    pub fn draw(&self, state: &State) -> Vec<Canvas> {
        let parameters = state.definition().space.parameters().iter().zip(&self.dependence);
        let trials = thinned(state);
        let panel = |(parameter, along): (&Parameter, &Vec<Dependence>)| {
            let y = value_axis(state, along);
            let x = Axis::of(&parameter.kind);
            let mut chart = Chart::new(330.0, 250.0, &parameter.name, &x, "", &y);
            draw_dependence(&mut chart, &x, &y, along);
            for trial in &trials {
                let (Some(param), Some(value)) = (trial.params.get(&parameter.name), trial.value()) else {
                    continue;
                };
                let at = chart.at(x.place_of(param) + jitter(trial, &x), y.place(value));
                chart.canvas.add(colour::FAINT, Shape::Dot { at, radius: 1.5 });
            }
            chart.canvas
        };
        std::iter::once(self.draw_predictions()).chain(parameters.map(panel)).collect()
    }

    fn draw_predictions(&self) -> Canvas {
        let predictions = &self.left_out.predictions;
        let ends = predictions.iter().flat_map(|p| [p.observed, p.mean]);
        let axis = Axis::around(ends, 0.06);
        let title = "Predicted against observed";
        let mut chart = Chart::new(330.0, 250.0, title, &axis, "observed, left out of the fit", &axis);
        let diagonal = vec![chart.at(0.0, 0.0), chart.at(1.0, 1.0)];
        chart.canvas.add(colour::FAINT, Shape::Line { points: diagonal, width: 1.0, is_dashed: true });
        // Too many intervals are a blot.
        let step = predictions.len().div_ceil(200).max(1);
        let at = |chart: &Chart, p: &TrialPrediction, y: f64| chart.at(axis.place(p.observed), axis.place(y));
        for p in predictions.iter().step_by(step) {
            let half = HALF_WIDTH * p.std;
            let interval = vec![at(&chart, p, p.mean - half), at(&chart, p, p.mean + half)];
            chart.canvas.line(colour::RANKS[1], interval, 1.0);
        }
        for p in predictions {
            let title = format!(
                "trial {}: observed {}, predicted {} ± {}",
                p.trial,
                significant(p.observed, 5),
                significant(p.mean, 5),
                significant(HALF_WIDTH * p.std, 2)
            );
            let title = Some(title).filter(|_| predictions.len() <= MOST_TITLED);
            let place = at(&chart, p, p.mean);
            chart.canvas.add_titled(colour::POINT, Shape::Dot { at: place, radius: 2.5 }, title);
        }
        chart.canvas
    }

    /// The data behind it.
    pub fn data(&self, state: &State) -> Value {
        let LeaveOneOut { predictions, explained } = &self.left_out;
        let prediction = |p: &TrialPrediction| json!({ "trial": p.trial, "observed": p.observed, "mean": p.mean, "std": p.std });
        let predictions: Vec<Value> = predictions.iter().map(prediction).collect();
        let along = |(parameter, along): (&Parameter, &Vec<Dependence>)| {
            let at = |at: &Dependence| json!({ "param": at.value, "mean": at.mean, "std": at.std });
            json!({ "parameter": parameter.name, "points": along.iter().map(at).collect::<Vec<Value>>() })
        };
        let parameters = state.definition().space.parameters().iter().zip(&self.dependence);
        json!({
            "explained": explained,
            "leave_one_out": predictions,
            "partial_dependence": parameters.map(along).collect::<Vec<Value>>(),
        })
    }
}

/// Shows the values worth seeing, and the curve with its band.
fn value_axis(state: &State, along: &[Dependence]) -> Axis {
    let direction = state.definition().direction;
    let values = Points::of(state.trials(), direction).map(|points| points.visible_range(direction));
    let band = along.iter().flat_map(|at| [at.mean - HALF_WIDTH * at.std, at.mean + HALF_WIDTH * at.std]);
    let seen = values.into_iter().flat_map(|(low, high)| [low, high]);
    Axis::around(seen.chain(band), 0.04)
}

fn draw_dependence(chart: &mut Chart, x: &Axis, y: &Axis, along: &[Dependence]) {
    let place =
        |at: &Dependence, side: f64| (x.place_of(&at.value), y.place(at.mean + side * HALF_WIDTH * at.std));
    if let Some(column) = x.column() {
        for at in along {
            let ((middle, low), (_, high)) = (place(at, -1.0), place(at, 1.0));
            let half = 0.35 * column;
            let (left, right) = (middle - half, middle + half);
            let band = [(left, low), (right, low), (right, high), (left, high)];
            let points = band.map(|(x, y)| chart.at(x, y)).to_vec();
            chart.canvas.add(colour::BAND, Shape::Area { points });
            let mean = place(at, 0.0).1;
            let line = vec![chart.at(left, mean), chart.at(right, mean)];
            chart.canvas.line(colour::POINT, line, 2.0);
        }
        return;
    }
    let upper = along.iter().map(|at| place(at, 1.0));
    let lower = along.iter().rev().map(|at| place(at, -1.0));
    let points = upper.chain(lower).map(|(x, y)| chart.at(x, y)).collect();
    chart.canvas.add(colour::BAND, Shape::Area { points });
    let line = along.iter().map(|at| place(at, 0.0)).map(|(x, y)| chart.at(x, y)).collect();
    chart.canvas.line(colour::POINT, line, 2.0);
}
