//! Acquisition functions for several outcomes, given a model of each.
//!
//! Given: the posterior mean and standard deviation of every outcome at a point, in the units of the models. Gives: the log of an
//! acquisition value with its gradient, as a `Score` that `search` can maximise. Does not know: trials, how models are fitted
//! (anything that implements [`OutcomeModel`] will do: GO-UCB's balls and the Gaussian processes of GP-EI).
//!
//! The value is an improvement times the probability of feasibility, which is that all bounds are met. With one goal the
//! improvement is over the best feasible point; with several it is the hypervolume that a point adds to the front. The log of the
//! product has a gradient wherever the product is positive, however small.

use super::hypervolume::{ln_expected_volume, ln_optimistic_volume};
use crate::goals::Goals;
use crate::normal::{ln_below, ln_h};
use crate::outcomes::{self, Candidate};
use crate::pareto::{self, BoxDecomposition};
use crate::search::Score;

/// Smaller standard deviations count as this one.
pub(super) const MIN_STD: f64 = 1e-9;

/// The improvement that is looked for, in the units of the models.
#[derive(Debug, Clone)]
pub(crate) enum Criterion {
    /// None: the probability of feasibility alone, because there is no goal or no feasible point yet.
    Feasibility,
    /// The expected improvement of one goal over `target`.
    ExpectedImprovement { goal: usize, target: f64 },
    /// The probability that one goal exceeds `target`.
    ProbabilityOfImprovement { goal: usize, target: f64 },
    /// The hypervolume that the optimistic vector adds: each goal at its mean plus `optimism` standard deviations, before any warp.
    OptimisticHypervolume { goals: Vec<usize>, room: BoxDecomposition, optimism: f64 },
    /// The expected hypervolume improvement.
    ExpectedHypervolume { goals: Vec<usize>, room: BoxDecomposition },
}

/// Which criterion is used, and how optimistic it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Settings {
    /// Standard deviations by which an outcome may turn out better than expected where it has to meet a bound.
    pub bound_optimism: f64,
    /// With one goal: what an improvement has to exceed, in the units of its model.
    pub margin: f64,
    /// With one goal: whether the probability of improvement is maximised, not its expected size.
    pub by_probability: bool,
    /// With several goals: standard deviations of optimism about vectors; `None` for the expected hypervolume improvement, which is
    /// also used while no point exceeds the reference.
    pub goal_optimism: Option<f64>,
}

/// A model of one outcome.
pub(crate) trait OutcomeModel: Sync {
    /// The posterior at one point, with what its gradient is computed from.
    type Posterior<'a>
    where
        Self: 'a;

    /// Mean and standard deviation at each of many points of the cube.
    fn predict_rows(&self, points: &[Vec<f64>]) -> Vec<(f64, f64)>;

    /// A point of the cube in the coordinates of the model.
    fn coordinates(&self, x: &[f64]) -> Vec<f64>;

    /// The posterior at a point in these coordinates.
    fn posterior<'a>(&'a self, z: &'a [f64]) -> Self::Posterior<'a>;

    /// Mean and standard deviation of a posterior.
    fn mean_and_std<'a>(posterior: &Self::Posterior<'a>) -> (f64, f64)
    where
        Self: 'a;

    /// Adds to `grad_x` the gradients of the mean, times `in_mean`, and of the standard deviation, times `in_std`: slopes in the
    /// point of the cube.
    fn add_grad<'a>(&self, posterior: Self::Posterior<'a>, in_mean: f64, in_std: f64, grad_x: &mut [f64])
    where
        Self: 'a;

    /// A value as it was observed, in the units of the model.
    fn apply(&self, y: f64) -> f64;

    /// The standardised value that the model's value `z` is a warp of, and its slope in `z`.
    fn unwarp(&self, z: f64) -> (f64, f64);
}

/// A point to improve on, observed or pending.
#[derive(Debug, Clone)]
pub(crate) struct BaselinePoint {
    /// Posterior mean of each outcome, in the units of its model.
    pub means: Vec<f64>,
    /// Whether it is likely to meet every bound.
    pub is_feasible: bool,
}

impl BaselinePoint {
    /// A pending point, as if these means had been observed there.
    pub fn pending<M: OutcomeModel>(goals: &Goals, models: &[M], means: Vec<f64>) -> Self {
        let is_feasible = goals.bounds().all(|(k, bound)| means[k] >= models[k].apply(bound));
        Self { means, is_feasible }
    }
}

/// The points to improve on, and the best of them to search around.
pub(crate) struct Baseline {
    pub points: Vec<BaselinePoint>,
    /// Encoded, best first.
    pub incumbents: Vec<Vec<f64>>,
}

impl Baseline {
    /// At most `n_incumbents` of the candidates are incumbents: those that rank highest, or that add most to the hypervolume of the
    /// front. `apply` puts an observed value of an outcome in the units of its model.
    pub fn new(
        goals: &Goals,
        candidates: Vec<Candidate>,
        n_incumbents: usize,
        apply: impl Fn(usize, f64) -> f64,
    ) -> Self {
        let point = |candidate: &Candidate| BaselinePoint {
            means: candidate.expected.iter().enumerate().map(|(k, e)| apply(k, e.mean)).collect(),
            is_feasible: candidate.is_likely_feasible(),
        };
        let points = candidates.iter().map(point).collect();
        let best = match goals.maximized().len() {
            1 => outcomes::ranking(goals, candidates),
            _ => outcomes::largest_contributions(goals, outcomes::answer(goals, candidates), n_incumbents),
        };
        Self { points, incumbents: best.into_iter().take(n_incumbents).map(|best| best.x).collect() }
    }

    /// Whether any of the points is likely to meet every bound.
    pub fn has_feasible(&self) -> bool {
        self.points.iter().any(|point| point.is_feasible)
    }
}

/// The acquisition value of points, under a model of each outcome.
pub(crate) struct AcquisitionFunction<'a, M> {
    models: &'a [M],
    pub criterion: Criterion,
    /// Outcomes with the least value of each that is feasible, in the units of its model.
    bounds: Vec<(usize, f64)>,
    /// See [`Settings::bound_optimism`].
    bound_optimism: f64,
}

impl<M: OutcomeModel> Score for AcquisitionFunction<'_, M> {
    fn scores(&self, points: &[Vec<f64>]) -> Vec<f64> {
        let by_outcome: Vec<Vec<(f64, f64)>> =
            self.models.iter().map(|model| model.predict_rows(points)).collect();
        let mut slopes = vec![(0.0, 0.0); self.models.len()];
        let score = |i: usize| {
            let predictions: Vec<(f64, f64)> = by_outcome.iter().map(|predictions| predictions[i]).collect();
            self.value(&predictions, &mut slopes)
        };
        (0..points.len()).map(score).collect()
    }

    fn score_with_grad(&self, x: &[f64], grad_x: &mut [f64]) -> f64 {
        let points: Vec<Vec<f64>> = self.models.iter().map(|model| model.coordinates(x)).collect();
        let posteriors: Vec<M::Posterior<'_>> =
            self.models.iter().zip(&points).map(|(model, z)| model.posterior(z)).collect();
        let predictions: Vec<(f64, f64)> = posteriors.iter().map(M::mean_and_std).collect();
        let mut slopes = vec![(0.0, 0.0); posteriors.len()];
        let value = self.value(&predictions, &mut slopes);
        grad_x.fill(0.0);
        for ((model, posterior), (in_mean, in_std)) in self.models.iter().zip(posteriors).zip(slopes) {
            if in_mean != 0.0 || in_std != 0.0 {
                model.add_grad(posterior, in_mean, in_std, grad_x);
            }
        }
        value
    }
}

impl<'a, M: OutcomeModel> AcquisitionFunction<'a, M> {
    /// The acquisition function for these goals, given the points to improve on.
    pub fn new(goals: &Goals, models: &'a [M], baseline: &[BaselinePoint], settings: Settings) -> Self {
        let bounds = goals.bounds().map(|(k, bound)| (k, models[k].apply(bound))).collect();
        let feasible: Vec<&BaselinePoint> = baseline.iter().filter(|point| point.is_feasible).collect();
        let criterion = match goals.maximized()[..] {
            [] => Criterion::Feasibility,
            _ if feasible.is_empty() && goals.bounds().next().is_some() => Criterion::Feasibility,
            [goal] => {
                let best = feasible.iter().map(|point| point.means[goal]).fold(f64::NEG_INFINITY, f64::max);
                let target = best + settings.margin;
                if settings.by_probability {
                    Criterion::ProbabilityOfImprovement { goal, target }
                } else {
                    Criterion::ExpectedImprovement { goal, target }
                }
            }
            _ => hypervolume(goals, models, baseline, settings.goal_optimism),
        };
        Self { models, criterion, bounds, bound_optimism: settings.bound_optimism }
    }

    /// The log of the acquisition value given mean and standard deviation of each outcome. Sets `slopes` to its derivatives in
    /// these.
    pub fn value(&self, predictions: &[(f64, f64)], slopes: &mut [(f64, f64)]) -> f64 {
        slopes.fill((0.0, 0.0));
        let mut value = match &self.criterion {
            Criterion::Feasibility => 0.0,
            Criterion::ExpectedImprovement { goal, target } => {
                ln_improvement(predictions[*goal], *target, &mut slopes[*goal])
            }
            Criterion::ProbabilityOfImprovement { goal, target } => {
                ln_probability(predictions[*goal], *target, 0.0, &mut slopes[*goal])
            }
            Criterion::OptimisticHypervolume { goals, room, optimism } => {
                ln_optimistic_volume(goals, room, *optimism, predictions, self.models, slopes)
            }
            Criterion::ExpectedHypervolume { goals, room } => {
                ln_expected_volume(goals, room, predictions, slopes)
            }
        };
        for &(k, bound) in &self.bounds {
            value += ln_probability(predictions[k], bound, self.bound_optimism, &mut slopes[k]);
        }
        value
    }

    /// The probability that all bounds are met, without any optimism.
    pub fn feasibility(&self, predictions: &[(f64, f64)]) -> f64 {
        let ln_chance =
            |&(k, bound): &(usize, f64)| ln_probability(predictions[k], bound, 0.0, &mut (0.0, 0.0));
        self.bounds.iter().map(ln_chance).sum::<f64>().exp()
    }

    /// The radius √β_t: the slope in the standard deviation relative to that in the mean, for the outcome where it is largest.
    pub fn radius(&self, predictions: &[(f64, f64)]) -> f64 {
        let mut slopes = vec![(0.0, 0.0); predictions.len()];
        self.value(predictions, &mut slopes);
        let radii =
            slopes.iter().filter(|(in_mean, _)| *in_mean > 0.0).map(|(in_mean, in_std)| in_std / in_mean);
        radii.filter(|radius| radius.is_finite()).fold(0.0, f64::max)
    }
}

/// The hypervolume criterion over the feasible points. Where a goal has no reference of its own, one is inferred from these points.
///
/// While no point exceeds the reference, the expected improvement is used whatever the optimism: an optimistic vector that doesn't
/// exceed it either adds nothing, and following the least bad of them gets stuck (docs/results/outcomes.md).
fn hypervolume<M: OutcomeModel>(
    goals: &Goals,
    models: &[M],
    baseline: &[BaselinePoint],
    optimism: Option<f64>,
) -> Criterion {
    let traded = goals.maximized();
    let feasible: Vec<&BaselinePoint> = baseline.iter().filter(|point| point.is_feasible).collect();
    // Vectors and reference in the units of the models, or before any warp.
    let front = |unit: &dyn Fn(usize, f64) -> f64| {
        let vector = |point: &&BaselinePoint| -> Vec<f64> {
            traded.iter().map(|&k| unit(k, point.means[k])).collect()
        };
        let vectors: Vec<Vec<f64>> = feasible.iter().map(vector).collect();
        let given = traded.iter().zip(goals.references());
        let given: Vec<Option<f64>> =
            given.map(|(&k, reference)| Some(unit(k, models[k].apply(reference?)))).collect();
        let reference = pareto::reference(&vectors, &given).unwrap_or_else(|| vec![0.0; traded.len()]);
        (vectors, reference)
    };
    if let Some(optimism) = optimism {
        let (vectors, reference) = front(&|k, z| models[k].unwarp(z).0);
        if vectors.iter().any(|vector| vector.iter().zip(&reference).all(|(value, r)| value > r)) {
            let room = BoxDecomposition::above(&vectors, &reference);
            return Criterion::OptimisticHypervolume { goals: traded, room, optimism };
        }
    }
    let (vectors, reference) = front(&|_, z| z);
    let room = BoxDecomposition::above(&vectors, &reference);
    Criterion::ExpectedHypervolume { goals: traded, room }
}

/// ln of the expected improvement over a target; adds its slopes.
fn ln_improvement((mean, std): (f64, f64), target: f64, slope: &mut (f64, f64)) -> f64 {
    let std = std.max(MIN_STD);
    let z = (mean - target) / std;
    let (ln_h, ratio) = ln_h(z);
    slope.0 += ratio / std;
    slope.1 += (1.0 - ratio * z) / std;
    std.ln() + ln_h
}

/// ln of the probability of a value above `bound`, if the value were `optimism` standard deviations better than expected; adds its
/// slopes.
fn ln_probability((mean, std): (f64, f64), bound: f64, optimism: f64, slope: &mut (f64, f64)) -> f64 {
    let std = std.max(MIN_STD);
    let z = (mean - bound) / std;
    let (ln_below, ratio) = ln_below(z + optimism);
    slope.0 += ratio / std;
    slope.1 -= ratio * z / std;
    ln_below
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::goals::Goal;

    /// Predictions are given, so it makes none. Its values are warped by a factor of one half.
    struct Given;

    impl OutcomeModel for Given {
        type Posterior<'a> = ();

        fn predict_rows(&self, _points: &[Vec<f64>]) -> Vec<(f64, f64)> {
            Vec::new()
        }

        fn coordinates(&self, x: &[f64]) -> Vec<f64> {
            x.to_vec()
        }

        fn posterior<'a>(&'a self, _z: &'a [f64]) -> Self::Posterior<'a> {}

        fn mean_and_std<'a>(_posterior: &Self::Posterior<'a>) -> (f64, f64)
        where
            Self: 'a,
        {
            (0.0, 0.0)
        }

        fn add_grad<'a>(
            &self,
            _posterior: Self::Posterior<'a>,
            _in_mean: f64,
            _in_std: f64,
            _grad_x: &mut [f64],
        ) where
            Self: 'a,
        {
        }

        fn apply(&self, y: f64) -> f64 {
            0.5 * y
        }

        fn unwarp(&self, z: f64) -> (f64, f64) {
            (2.0 * z, 2.0)
        }
    }

    fn room() -> BoxDecomposition {
        let front = [[0.2, 0.9], [0.5, 0.6], [0.8, 0.1]].map(Vec::from);
        BoxDecomposition::above(&front, &[0.0, 0.0])
    }

    fn criteria() -> Vec<Criterion> {
        let goals = vec![0, 1];
        vec![
            Criterion::Feasibility,
            Criterion::ExpectedImprovement { goal: 0, target: 0.4 },
            Criterion::ProbabilityOfImprovement { goal: 1, target: 0.4 },
            Criterion::OptimisticHypervolume { goals: goals.clone(), room: room(), optimism: 0.5 },
            Criterion::ExpectedHypervolume { goals, room: room() },
        ]
    }

    proptest! {
        #[test]
        fn slopes_equal_differences(
            means in prop::array::uniform3(-3.0..2.0_f64), stds in prop::array::uniform3(0.05..1.0_f64)
        ) {
            for criterion in criteria() {
                let (models, bounds) = (&[Given, Given, Given], vec![(2, 0.3)]);
                let acquisition = AcquisitionFunction { models, criterion, bounds, bound_optimism: 0.5 };
                let predictions: Vec<(f64, f64)> = means.into_iter().zip(stds).collect();
                let mut slopes = vec![(0.0, 0.0); 3];
                let value = |predictions: &[(f64, f64)]| acquisition.value(predictions, &mut [(0.0, 0.0); 3]);
                acquisition.value(&predictions, &mut slopes);
                let h = 1e-6;
                for k in 0..3 {
                    for in_std in [false, true] {
                        let moved = |by: f64| {
                            let mut moved = predictions.clone();
                            if in_std { moved[k].1 += by } else { moved[k].0 += by }
                            value(&moved)
                        };
                        let slope = if in_std { slopes[k].1 } else { slopes[k].0 };
                        let (up, down) = ((moved(h) - value(&predictions)) / h, (value(&predictions) - moved(-h)) / h);
                        // A kink lies between.
                        prop_assume!((up - down).abs() < 1e-2 * (1.0 + slope.abs()));
                        let difference = 0.5 * (up + down);
                        prop_assert!((slope - difference).abs() < 2e-3 * (1.0 + slope.abs()), "{:?} {}: {} {}", acquisition.criterion, k, slope, difference);
                    }
                }
            }
        }
    }

    #[test]
    fn optimism_about_hypervolume_begins_with_the_first_point_above_the_reference() {
        let goals = Goals::new(vec![Goal::Maximize { reference: Some(0.0) }; 2]).unwrap();
        let with = |points: &[[f64; 2]]| {
            let point = |means: &[f64; 2]| BaselinePoint { means: means.to_vec(), is_feasible: true };
            let baseline: Vec<BaselinePoint> = points.iter().map(point).collect();
            hypervolume(&goals, &[Given, Given], &baseline, Some(0.5))
        };
        let below = [[-0.1, 0.9], [0.9, -0.1]];
        assert!(matches!(with(&below), Criterion::ExpectedHypervolume { .. }));
        let above = [below[0], below[1], [0.1, 0.1]];
        assert!(matches!(with(&above), Criterion::OptimisticHypervolume { .. }));
    }

    #[test]
    fn a_vector_below_the_front_scores_higher_the_nearer_it_is() {
        let (models, criterion) = (&[Given, Given], criteria().remove(3));
        let acquisition = AcquisitionFunction { models, criterion, bounds: Vec::new(), bound_optimism: 0.0 };
        // Warped by one half: the vectors are 0.1, 0.3 and 0.5 in both entries, and then above the front.
        let value = |x: f64| acquisition.value(&[(0.5 * x, 0.0); 2], &mut [(0.0, 0.0); 2]);
        let values = [-9.0, 0.1, 0.3, 0.5, 0.55, 0.7].map(value);
        assert!(values.is_sorted_by(|a, b| a < b), "{values:?}");
    }
}
