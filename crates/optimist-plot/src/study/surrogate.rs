//! The model behind the suggestions: how well it predicts, and what it says of each parameter.

use std::cell::OnceCell;

use optimist::insight::{Dependence, Importance};
use optimist::space::Parameter;
use optimist_study::view::number::significant;
use optimist_study::{LeaveOneOut, State, StudyError, StudyInsight, TrialPrediction};
use serde_json::{Value, json};

use super::history::{MOST_TITLED, Trace, visible_range};
use super::series::Series;
use super::slices::{jitter, thinned, what_is_drawn};
use super::{NARROW, Plot, PlotKind, describe};
use crate::canvas::{Canvas, Shape, colour};
use crate::chart::{Axis, Chart, mark};

pub const TITLE: &str = "Model";

/// Standard deviations on either side that hold 95 % of a normal distribution.
const HALF_WIDTH: f64 = 1.96;

/// A model of an outcome, and how well it predicts.
pub struct Surrogate<'s> {
    pub series: Series<'s>,
    pub insight: StudyInsight<'s>,
    left_out: LeaveOneOut,
    importances: OnceCell<Vec<Importance>>,
}

/// How the value depends on each parameter.
struct Dependences<'s>(Vec<(&'s Parameter, Vec<Dependence>)>);

pub fn plot(state: &State, models: &[Surrogate]) -> Plot {
    let dependences: Vec<Dependences> =
        models.iter().map(|model| Dependences::new(state, &model.insight)).collect();
    let panels = models.iter().zip(&dependences);
    let data = panels.clone().map(|(model, dependences)| model.data(dependences)).collect();
    let panels = panels.flat_map(|(model, dependences)| {
        std::iter::once(model.draw_predictions()).chain(dependences.draw(state, &model.series))
    });
    let caption = format!(
        "First: each value as predicted from all others, with its 95 % interval; points on the diagonal are predicted \
         exactly. Then, for each parameter, the prediction averaged over all other parameters, with its 95 % band, and the \
         observed values. A triangle is off the scale. {}{}",
        trust(models),
        what_is_drawn(state)
    );
    let panels = panels.collect();
    Plot { kind: PlotKind::Surrogate, title: TITLE, caption, panels, data: by_outcome(models, data) }
}

impl<'s> Surrogate<'s> {
    /// A model of each outcome that has one: none before the first value, or if no model fits.
    pub fn fit_all(state: &'s State) -> Result<Vec<Self>, StudyError> {
        let mut models = Vec::new();
        for series in Series::all(state) {
            let insight = StudyInsight::of_outcome(state, series.number)?;
            models.extend(insight.map(|insight| Self {
                series,
                left_out: insight.leave_one_out(),
                importances: OnceCell::new(),
                insight,
            }));
        }
        Ok(models)
    }

    /// How much each parameter matters, in the order of declaration.
    pub fn importances(&self) -> &[Importance] {
        self.importances.get_or_init(|| self.insight.importances())
    }

    /// How much of the variance of the values the model explains, in words.
    pub fn trust(&self) -> String {
        // Where a picture of the model still looks like the truth, by eye.
        let verdict = |part: f64| match part {
            0.7.. => "trust it",
            0.3.. => "trust its rough shape",
            _ => "don't rely on it yet",
        };
        match self.left_out.explained {
            Some(part) if part > 0.0 => format!(
                "The model predicts {:.0} % of the variance of values that it has not seen (leave-one-out): {}.",
                100.0 * part,
                verdict(part)
            ),
            Some(_) => "The model predicts values that it has not seen no better than their mean does (leave-one-out): don't \
                        trust it yet."
                .to_owned(),
            None => "The values don't vary, or there are too few to judge the model by.".to_owned(),
        }
    }

    fn draw_predictions(&self) -> Canvas {
        let predictions = &self.left_out.predictions;
        let (low, high) = visible_range(predictions.iter().map(|p| p.observed), self.series.direction());
        let near = low - (high - low)..=high + (high - low);
        let means = predictions.iter().map(|p| p.mean).filter(|mean| near.contains(mean));
        let axis = Axis::around([low, high].into_iter().chain(means), 0.06);
        let title = self.series.heading("predicted against observed");
        let mut chart = Chart::new(NARROW, 250.0, &title, &axis, "observed, left out of the fit", &axis);
        let diagonal = vec![chart.at(0.0, 0.0), chart.at(1.0, 1.0)];
        chart.canvas.add(colour::FAINT, Shape::Line { points: diagonal, width: 1.0, is_dashed: true });
        // Too many intervals are a blot.
        let step = predictions.len().div_ceil(200).max(1);
        let at = |chart: &Chart, p: &TrialPrediction, y: f64| {
            chart.at(axis.position(p.observed), axis.position(y))
        };
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
            let at = at(&chart, p, p.mean);
            let shape = mark(at, axis.beyond(p.observed), axis.beyond(p.mean), 2.5);
            chart.canvas.add_trial(colour::POINT, shape, p.trial, title);
        }
        chart.canvas
    }

    /// The data behind it.
    fn data(&self, dependences: &Dependences) -> Value {
        let LeaveOneOut { predictions, explained } = &self.left_out;
        let prediction = |p: &TrialPrediction| json!({ "trial": p.trial, "observed": p.observed, "mean": p.mean, "std": p.std });
        let predictions: Vec<Value> = predictions.iter().map(prediction).collect();
        json!({
            "explained": explained,
            "leave_one_out": predictions,
            "partial_dependence": dependences.data(),
        })
    }
}

impl<'s> Dependences<'s> {
    fn new(state: &'s State, insight: &StudyInsight) -> Self {
        let parameters = state.definition().space.parameters().iter().enumerate();
        Self(parameters.map(|(i, parameter)| (parameter, insight.partial_dependence(i))).collect())
    }

    /// A panel for each parameter.
    fn draw(&self, state: &State, series: &Series<'_>) -> Vec<Canvas> {
        let trials = thinned(state, series);
        // Each trial is in every panel: its parameters are said where that is little.
        let is_titled = trials.len() * self.0.len() <= MOST_TITLED;
        let panel = |(parameter, along): &(&Parameter, Vec<Dependence>)| {
            let y = value_axis(state, series, along);
            let x = Axis::of(&parameter.kind);
            let mut chart = Chart::new(NARROW, 250.0, &series.titled(&parameter.name), &x, "", &y);
            draw_dependence(&mut chart, &x, &y, along);
            for trial in &trials {
                let (Some(param), Some(value)) = (trial.params.get(&parameter.name), series.value(trial))
                else {
                    continue;
                };
                let at = chart.at(x.position_of(param) + jitter(trial, &x), y.position(value));
                let title = is_titled.then(|| describe(trial));
                let shape = mark(at, None, y.beyond(value), 1.5);
                chart.canvas.add_trial(colour::FAINT, shape, trial.number, title);
            }
            chart.canvas
        };
        self.0.iter().map(panel).collect()
    }

    fn data(&self) -> Value {
        let at = |at: &Dependence| json!({ "param": at.value, "mean": at.mean, "std": at.std });
        let along = |(parameter, along): &(&Parameter, Vec<Dependence>)| json!({ "parameter": parameter.name, "points": along.iter().map(at).collect::<Vec<Value>>() });
        self.0.iter().map(along).collect()
    }
}

/// What is said of the models of all outcomes.
pub fn trust(models: &[Surrogate]) -> String {
    let of_model = |model: &Surrogate| model.series.titled(&model.trust());
    models.iter().map(of_model).collect::<Vec<_>>().join(" ")
}

/// The data of one outcome as they are, those of several by name.
pub fn by_outcome(models: &[Surrogate], data: Vec<Value>) -> Value {
    if models.first().is_some_and(|model| model.series.is_one) {
        return data.into_iter().next().unwrap_or_default();
    }
    let named = models.iter().zip(data).map(|(model, data)| (model.series.name().to_owned(), data));
    Value::Object(named.collect())
}

/// Shows the values worth seeing, and the curve with its band.
fn value_axis(state: &State, series: &Series<'_>, along: &[Dependence]) -> Axis {
    let values = Trace::of(state, series).map(|trace| trace.visible_range());
    let band = along.iter().flat_map(|at| [at.mean - HALF_WIDTH * at.std, at.mean + HALF_WIDTH * at.std]);
    let seen = values.into_iter().flat_map(|(low, high)| [low, high]);
    Axis::around(seen.chain(band), 0.04)
}

fn draw_dependence(chart: &mut Chart, x: &Axis, y: &Axis, along: &[Dependence]) {
    let position = |at: &Dependence, side: f64| {
        (x.position_of(&at.value), y.position(at.mean + side * HALF_WIDTH * at.std))
    };
    if let Some(column) = x.column() {
        for at in along {
            let ((middle, low), (_, high)) = (position(at, -1.0), position(at, 1.0));
            let half = 0.35 * column;
            let (left, right) = (middle - half, middle + half);
            let band = [(left, low), (right, low), (right, high), (left, high)];
            let points = band.map(|(x, y)| chart.at(x, y)).to_vec();
            chart.canvas.add(colour::BAND, Shape::Area { points });
            let mean = position(at, 0.0).1;
            let line = vec![chart.at(left, mean), chart.at(right, mean)];
            chart.canvas.line(colour::POINT, line, 2.0);
        }
        return;
    }
    let upper = along.iter().map(|at| position(at, 1.0));
    let lower = along.iter().rev().map(|at| position(at, -1.0));
    let points = upper.chain(lower).map(|(x, y)| chart.at(x, y)).collect();
    chart.canvas.add(colour::BAND, Shape::Area { points });
    let line = along.iter().map(|at| position(at, 0.0)).map(|(x, y)| chart.at(x, y)).collect();
    chart.canvas.line(colour::POINT, line, 2.0);
}
