//! What a fitted model says about the parameters: which ones matter, how the objective depends on each, and how well the model
//! predicts.
//!
//! Given: a space and observations in it, from any optimizer. Gives: Sobol' indices of the posterior mean, partial dependence with
//! its band, and leave-one-out predictions. Does not know: pictures, trials, directions.
//!
//! Averages are over the whole space, parameter by parameter: evenly over values and choices, over logarithms on a log scale.
//! Constraints are ignored, since they would attribute the effect of one parameter to another.

use std::collections::HashMap;
use std::sync::Arc;

use rand::RngExt;

use crate::belief::Belief;
use crate::belief::surrogate::Surrogate;
use crate::encode::{AxisKind, Encoding};
use crate::error::MethodError;
use crate::frame::Frame;
use crate::history::History;
use crate::optimizer::{Observation, own_rng, rng};
use crate::settings::Settings;
use crate::sobol::{MAX_DIMENSION, Sobol};
use crate::space::Value;

/// Number of pairs of points that indices are estimated from. With 1024 they are off by 0.01 or so.
const INDEX_POINTS: usize = 1024;

/// Number of points that a partial dependence is averaged over.
const AVERAGED_POINTS: usize = 128;

/// Number of positions along a parameter at which its partial dependence is computed; all levels if there are fewer.
const PLACES: usize = 33;

/// Number of positions along each of two parameters, and of points that each pair of positions is averaged over.
const PLACES_OF_TWO: usize = 21;
const AVERAGED_POINTS_OF_TWO: usize = 32;

/// A model of the objective, together with its space.
pub struct Insight {
    encoding: Encoding,
    observations: Vec<Observation>,
    frame: Frame,
    belief: Arc<Belief>,
}

/// The share of the variance of the posterior mean, over the whole space, that is due to a parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Importance {
    /// The share due to the parameter alone (first-order index), from 0 to 1: what would go if its value were known.
    pub main: f64,
    /// The share including interactions (total index): what would remain if all other values were known. At least `main`, up to the
    /// error of the estimate.
    pub total: f64,
}

/// The objective at one value of a parameter, averaged over the others.
#[derive(Debug, Clone, PartialEq)]
pub struct Dependence {
    /// The value of the parameter.
    pub value: Value,
    /// Posterior mean of the average.
    pub mean: f64,
    /// Its posterior standard deviation, noise not included.
    pub std: f64,
}

/// The objective at pairs of values of two parameters, averaged over the others.
#[derive(Debug, Clone, PartialEq)]
pub struct JointDependence {
    /// Values of the first parameter, in their order along its axis.
    pub first: Vec<Value>,
    /// Values of the second.
    pub second: Vec<Value>,
    /// Posterior mean of the average: a row per value of `first`, with a column per value of `second`.
    pub means: Vec<Vec<f64>>,
}

/// An observation, as predicted from all others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// The index of the observation among those that were given.
    pub observation: usize,
    /// The value observed.
    pub observed: f64,
    /// The value that the other observations predict.
    pub mean: f64,
    /// Standard deviation of the prediction, noise included.
    pub std: f64,
}

impl Insight {
    /// Fits GO-UCB's model to observations in the order told; `None` if none of them has a value, or nothing fits.
    ///
    /// # Errors
    /// If a setting is out of its range.
    pub fn fit(
        encoding: &Encoding,
        observations: Vec<Observation>,
        settings: &Settings,
    ) -> Result<Option<Self>, MethodError> {
        settings.validate()?;
        let domain = encoding.domain();
        let mut history = History::new(domain.clone());
        let observations: Vec<Observation> =
            observations.into_iter().filter(|told| history.tell(told.clone()).is_ok()).collect();
        let refit = settings.refit();
        let frame = Frame::new(domain, refit.scaled);
        let model = Surrogate::new(settings.families(domain), refit, frame.clone());
        let belief = model.belief(&history, &mut rng(0, observations.len() as u64)).ok();
        let encoding = encoding.clone();
        Ok(belief.map(|belief| Self { encoding, observations, frame, belief }))
    }

    /// Sobol' indices of each parameter, in the order of declaration; all 0 where the mean is the same everywhere.
    ///
    /// Estimated by picking and freezing: one coordinate of each point is replaced by that of another (Saltelli 2010 for `main`,
    /// Jansen 1999 for `total`).
    pub fn importances(&self) -> Vec<Importance> {
        let n_axes = self.encoding.domain().n_free();
        let pairs = evenly_spread(INDEX_POINTS, 2 * n_axes);
        let mean_at = |u: &[f64]| self.belief.mean(&self.frame.apply(&self.encoding.domain().place_apart(u)));
        let mut f_a: Vec<f64> = pairs.iter().map(|pair| mean_at(&pair[..n_axes])).collect();
        let mut f_b: Vec<f64> = pairs.iter().map(|pair| mean_at(&pair[n_axes..])).collect();
        let n = 2.0 * pairs.len() as f64;
        let centre = f_a.iter().chain(&f_b).sum::<f64>() / n;
        f_a.iter_mut().chain(&mut f_b).for_each(|f| *f -= centre);
        let variance = f_a.iter().chain(&f_b).map(|f| f * f).sum::<f64>() / n;
        // Below this the mean only differs by rounding.
        if variance.sqrt() <= 1e-9 * centre.abs().max(f64::MIN_POSITIVE) {
            return vec![Importance { main: 0.0, total: 0.0 }; n_axes];
        }
        let share = |sum: f64| (sum / pairs.len() as f64 / variance).clamp(0.0, 1.0);
        let indices = |axis: usize| {
            let (mut main, mut total) = (0.0, 0.0);
            for (pair, (a, b)) in pairs.iter().zip(f_a.iter().zip(&f_b)) {
                let mut mixed = pair[..n_axes].to_vec();
                mixed[axis] = pair[n_axes + axis];
                let mixed = mean_at(&mixed) - centre;
                main += b * (mixed - a);
                total += (mixed - a).powi(2) / 2.0;
            }
            Importance { main: share(main), total: share(total) }
        };
        (0..n_axes).map(indices).collect()
    }

    /// How the objective depends on a parameter, averaged over the others. If the parameter is conditional, the average is over the
    /// points where it is active.
    ///
    /// # Panics
    /// If there is no such parameter.
    pub fn partial_dependence(&self, parameter: usize) -> Vec<Dependence> {
        let others = self.others(&[parameter], AVERAGED_POINTS);
        let places = self.places(parameter, PLACES);
        let mut dependence: Vec<Dependence> = Vec::with_capacity(places);
        for place in 0..places {
            let at = |x: &Vec<f64>| {
                let mut x = x.clone();
                self.put(parameter, place, places, &mut x);
                x
            };
            let points: Vec<Vec<f64>> = others.iter().map(at).collect();
            let value = self.encoding.value(parameter, &points[0]);
            if dependence.last().is_none_or(|last| last.value != value) {
                let (mean, std) = self.average(&points);
                dependence.push(Dependence { value, mean, std });
            }
        }
        dependence
    }

    /// How the objective depends on two parameters together, averaged over the others. If they are conditional, the average is over
    /// the points where they are active.
    ///
    /// # Panics
    /// If there are no such parameters.
    pub fn joint_dependence(&self, first: usize, second: usize) -> JointDependence {
        let others = self.others(&[first, second], AVERAGED_POINTS_OF_TWO);
        let [first_places, second_places] = [first, second].map(|axis| self.places(axis, PLACES_OF_TWO));
        let value = |parameter: usize, place: usize, places: usize| {
            let mut x = others[0].clone();
            self.put(parameter, place, places, &mut x);
            self.encoding.value(parameter, &x)
        };
        let mean = |i: usize, j: usize| {
            let at = |x: &Vec<f64>| {
                let mut x = x.clone();
                self.put(first, i, first_places, &mut x);
                self.put(second, j, second_places, &mut x);
                x
            };
            self.average_mean(&others.iter().map(at).collect::<Vec<_>>())
        };
        JointDependence {
            first: (0..first_places).map(|i| value(first, i, first_places)).collect(),
            second: (0..second_places).map(|j| value(second, j, second_places)).collect(),
            means: (0..first_places).map(|i| (0..second_places).map(|j| mean(i, j)).collect()).collect(),
        }
    }

    /// The points that are averaged over, with these parameters active.
    fn others(&self, parameters: &[usize], n: usize) -> Vec<Vec<f64>> {
        let domain = self.encoding.domain();
        let place = |u: &Vec<f64>| {
            let mut x = domain.place_apart(u);
            for &parameter in parameters {
                let when = &domain.axes()[parameter].when;
                when.iter().for_each(|&(other, level)| domain.set_level(other, level, &mut x));
            }
            domain.pin_inactive(&mut x);
            x
        };
        evenly_spread(n, domain.n_free()).iter().map(place).collect()
    }

    /// The number of positions along a parameter.
    fn places(&self, parameter: usize, most: usize) -> usize {
        let axis = &self.encoding.domain().axes()[parameter];
        match axis.kind {
            AxisKind::OneHot => axis.columns.len(),
            AxisKind::Real | AxisKind::Grid(_) => most,
        }
    }

    /// Moves a point to a position along a parameter: to the nearest level, if it has levels.
    fn put(&self, parameter: usize, place: usize, places: usize, x: &mut [f64]) {
        let domain = self.encoding.domain();
        let axis = &domain.axes()[parameter];
        match axis.kind {
            AxisKind::OneHot => domain.set_level(parameter, place, x),
            AxisKind::Real | AxisKind::Grid(_) => {
                x[axis.columns.start] = place as f64 / (places - 1) as f64;
            }
        }
        if let Some(level) = domain.level(parameter, x) {
            domain.set_level(parameter, level, x);
        }
    }

    /// Posterior mean and standard deviation of the objective at a point of the cube, noise not included.
    pub fn predict(&self, x: &[f64]) -> (f64, f64) {
        self.belief.predict(&self.frame.apply(x))
    }

    /// Posterior mean and standard deviation of the objective's average over these points. To first order where the
    /// objective is not linear in the weights.
    fn average(&self, points: &[Vec<f64>]) -> (f64, f64) {
        let ball = &self.belief.ball;
        let n = points.len() as f64;
        let rows = self.frame.rows(points);
        let restore = |x: &[f64]| self.belief.outputs.restore(ball.mean(x), 1.0);
        let (values, slopes): (Vec<f64>, Vec<f64>) =
            rows.iter_rows().map(restore).map(|(value, slope)| (value / n, slope / n)).unzip();
        (values.iter().sum(), ball.std_of_sum(rows, &slopes))
    }

    /// Posterior mean of the objective's average over these points.
    fn average_mean(&self, points: &[Vec<f64>]) -> f64 {
        let rows = self.frame.rows(points);
        let mean = |x: &[f64]| self.belief.outputs.restore(self.belief.ball.mean(x), 1.0).0;
        rows.iter_rows().map(mean).sum::<f64>() / points.len() as f64
    }

    /// Each observation that has a value as the model predicts it from all others, in the order given. What was learnt
    /// from all of them (scales, noise, warp) is kept. A family that is not linear in its weights may have been fitted to
    /// some of them only; the others are left out.
    pub fn leave_one_out(&self) -> Vec<Prediction> {
        let mut by_point: HashMap<Vec<u64>, Vec<usize>> = HashMap::new();
        for (i, told) in self.observations.iter().enumerate() {
            by_point.entry(bits(&self.frame.apply(&self.snapped(&told.x)))).or_default().push(i);
        }
        let mut predictions: Vec<Prediction> = Vec::new();
        for left_out in self.belief.ball.leave_one_out() {
            let (observed, _) = self.belief.outputs.restore(left_out.observed, 0.0);
            let Some(candidates) = by_point.get_mut(&bits(&left_out.x)) else { continue };
            let away = |&i: &usize| self.observations[i].value().map_or(f64::MAX, |y| (y - observed).abs());
            let nearest =
                (0..candidates.len()).min_by(|&a, &b| away(&candidates[a]).total_cmp(&away(&candidates[b])));
            let Some(observation) = nearest.map(|place| candidates.swap_remove(place)) else { continue };
            if let Some(observed) = self.observations[observation].value() {
                let (mean, std) = self.belief.outputs.restore(left_out.mean, left_out.std);
                predictions.push(Prediction { observation, observed, mean, std });
            }
        }
        predictions.sort_by_key(|prediction| prediction.observation);
        predictions
    }

    fn snapped(&self, x: &[f64]) -> Vec<f64> {
        let mut x = x.to_vec();
        self.encoding.domain().snap(&mut x);
        x
    }
}

/// The part of the variance of the observed values that predictions explain: 1 if they are exact, 0 or less if the mean
/// of all values would have done as well; `None` where the values do not vary.
pub fn explained(predictions: &[Prediction]) -> Option<f64> {
    let n = predictions.len() as f64;
    let centre = predictions.iter().map(|prediction| prediction.observed / n).sum::<f64>();
    let square = |distance: f64| distance * distance;
    let spread: f64 = predictions.iter().map(|p| square(p.observed - centre)).sum();
    let missed: f64 = predictions.iter().map(|p| square(p.observed - p.mean)).sum();
    (spread > 0.0 && spread.is_finite() && missed.is_finite()).then(|| 1.0 - missed / spread)
}

/// Points of a unit cube, the same at every call.
fn evenly_spread(n: usize, dimension: usize) -> Vec<Vec<f64>> {
    let mut rng = own_rng(0, 0);
    if dimension > MAX_DIMENSION {
        return (0..n).map(|_| (0..dimension).map(|_| rng.random()).collect()).collect();
    }
    let sobol = Sobol::scrambled(dimension, &mut rng);
    (0..n as u32).map(|index| sobol.point(index)).collect()
}

fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|x| x.to_bits()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optimizer::{Outcome, rng};
    use crate::space::{Kind, Parameter, Space};

    fn float(name: &str) -> Parameter {
        Parameter::new(name, Kind::Float { low: 0.0, high: 2.0, log: false, step: None })
    }

    /// A model of `f`, which sees the encoded point, from `t` random points.
    fn fitted(parameters: Vec<Parameter>, t: usize, f: impl Fn(&[f64]) -> Option<f64>) -> Insight {
        let encoding = Encoding::new(Space::new(parameters).unwrap());
        let mut rng = rng(3, 0);
        let observe = |_| {
            let x = encoding.domain().sample(&mut rng);
            let outcome = f(&x).map_or(Outcome::Failed, |y| Outcome::Value { y, noise_std: None });
            Observation { x, outcome }
        };
        let observations = (0..t).map(observe).collect();
        Insight::fit(&encoding, observations, &Settings::default()).unwrap().unwrap()
    }

    #[test]
    fn importances_are_the_sobol_indices_of_the_objective() {
        // Of 3(2u-1) + (2v-1) + 2(2u-1)(2v-1): variances 3, 1/3 and 4/9 of 34/9.
        let f = |x: &[f64]| {
            let (u, v) = (2.0 * x[0] - 1.0, 2.0 * x[1] - 1.0);
            Some(3.0 * u + v + 2.0 * u * v)
        };
        let insight = fitted(vec![float("a"), float("b"), float("c")], 60, f);
        let total_variance = 3.0 + 1.0 / 3.0 + 4.0 / 9.0;
        let expected = [(3.0, 3.0 + 4.0 / 9.0), (1.0 / 3.0, 1.0 / 3.0 + 4.0 / 9.0), (0.0, 0.0)];
        for (found, (main, total)) in insight.importances().iter().zip(expected) {
            assert!((found.main - main / total_variance).abs() < 0.03, "{found:?}, not {main}");
            assert!((found.total - total / total_variance).abs() < 0.03, "{found:?}, not {total}");
        }
    }

    #[test]
    fn a_choice_has_one_importance_and_an_inactive_parameter_its_share() {
        let choices = ["a", "b", "c"].map(Value::from).to_vec();
        let parameters =
            vec![Parameter::new("kind", Kind::Categorical { choices }), float("only_c").when("kind", "c")];
        let insight = fitted(parameters, 60, |x| Some(if x[2] == 1.0 { 4.0 + x[3] } else { x[0] }));
        let [kind, only_c] = insight.importances().try_into().unwrap();
        assert!(kind.main > 0.9 && only_c.total < 0.1 && only_c.total > 0.0, "{kind:?} {only_c:?}");
    }

    #[test]
    fn partial_dependence_is_the_average_over_the_others() {
        let insight = fitted(vec![float("a"), float("b")], 60, |x| Some(x[0] * x[0] + 10.0 * x[1]));
        let dependence = insight.partial_dependence(0);
        assert_eq!(dependence.first().unwrap().value, Value::Float(0.0));
        assert_eq!(dependence.last().unwrap().value, Value::Float(2.0));
        for Dependence { value, mean, std } in dependence {
            let expected = (value.as_f64().unwrap() / 2.0).powi(2) + 5.0;
            assert!((mean - expected).abs() < 0.15, "{mean} at {value}, not {expected}");
            assert!(std.is_finite() && std < 1.0, "{std}");
        }
    }

    #[test]
    fn joint_dependence_has_the_interaction_of_two_parameters() {
        let insight =
            fitted(vec![float("a"), float("b"), float("c")], 80, |x| Some(4.0 * x[0] * x[1] + x[2]));
        let JointDependence { first, second, means } = insight.joint_dependence(1, 0);
        assert_eq!((first.len(), second.len()), (means.len(), means[0].len()));
        for (b, row) in first.iter().zip(&means) {
            for (a, mean) in second.iter().zip(row) {
                let expected = a.as_f64().unwrap() * b.as_f64().unwrap() + 0.5; // a, b are twice their place in the cube
                assert!((mean - expected).abs() < 0.2, "{mean} at {a}, {b}, not {expected}");
            }
        }
    }

    #[test]
    fn levels_and_choices_are_each_looked_at_once_and_only_where_active() {
        let choices = ["a", "b"].map(Value::from).to_vec();
        let parameters = vec![
            Parameter::new("kind", Kind::Categorical { choices }),
            Parameter::new("n", Kind::Int { low: 1, high: 4, log: true, step: None }).when("kind", "b"),
            Parameter::new("flag", Kind::Bool),
        ];
        let insight = fitted(parameters, 40, |x| Some(if x[1] == 1.0 { 5.0 + x[2] } else { 0.0 }));
        let values = |parameter| -> Vec<Value> {
            insight.partial_dependence(parameter).into_iter().map(|at| at.value).collect()
        };
        assert_eq!(values(0), [Value::from("a"), Value::from("b")]);
        assert_eq!(values(1), [1_i64, 2, 3, 4].map(Value::from));
        assert_eq!(values(2), [Value::from(false), Value::from(true)]);
        assert!(insight.partial_dependence(1).iter().all(|at| at.mean > 4.0), "only where it is active");
    }

    #[test]
    fn predictions_are_of_the_values_observed_and_failures_have_none() {
        let insight = fitted(vec![float("a"), float("b")], 40, |x| (x[0] < 0.9).then(|| 100.0 * x[1] - x[0]));
        let predictions = insight.leave_one_out();
        let with_value: Vec<usize> = (0..40).filter(|&i| insight.observations[i].value().is_some()).collect();
        assert_eq!(predictions.iter().map(|p| p.observation).collect::<Vec<_>>(), with_value);
        for prediction in &predictions {
            assert_eq!(Some(prediction.observed), insight.observations[prediction.observation].value());
        }
        assert!(explained(&predictions).unwrap() > 0.9, "{:?}", explained(&predictions));
    }

    #[test]
    fn little_to_go_by_is_no_trouble() {
        let space = || vec![float("a")];
        let encoding = Encoding::new(Space::new(space()).unwrap());
        assert!(Insight::fit(&encoding, Vec::new(), &Settings::default()).unwrap().is_none());
        for t in [1, 2, 3] {
            let insight = fitted(space(), t, |_| Some(7.0));
            assert!(
                insight.importances().iter().all(|found| found.total == 0.0),
                "{:?}",
                insight.importances()
            );
            assert!(insight.partial_dependence(0).iter().all(|at| (at.mean - 7.0).abs() < 1e-6));
            assert_eq!(explained(&insight.leave_one_out()), None);
        }
    }

    #[test]
    fn replicates_are_told_apart() {
        let encoding = Encoding::new(Space::new(vec![float("a")]).unwrap());
        let observation =
            |y: f64| Observation { x: vec![0.5], outcome: Outcome::Value { y, noise_std: None } };
        let observations = [1.0, 2.0, 1.5].map(observation).to_vec();
        let insight = Insight::fit(&encoding, observations, &Settings::default()).unwrap().unwrap();
        let observed: Vec<f64> = insight.leave_one_out().iter().map(|p| p.observed).collect();
        assert_eq!(observed, [1.0, 2.0, 1.5]);
    }
}
