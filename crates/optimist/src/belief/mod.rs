//! Lines 2 to 4 of Phase II: from the observations to the confidence ball.
//!
//! Given: observations, pending points, families. Gives: Ball_t in model coordinates, and the way back to the units of the
//! observations. Does not know: which point is proposed.
//!
//! There are two ways. The default refits everything on all data: `refit` is one fit, `surrogate` says when to make it, `fantasies`
//! adds pending points. The presets `paper` and `theory` have the paper's updates (`recursive`).

mod failures;
pub mod fantasies;
pub mod noise;
pub mod recursive;
pub mod refit;
pub mod surrogate;

use crate::confidence::{Confidence, Round};
use crate::evidence::Data;
use crate::frame::Frame;
use crate::linalg::{Matrix, dot};
use crate::model::Family;
use crate::optimizer::{Observation, Outcome};
use crate::warp::Warp;

/// The posterior over the objective after some observations.
#[derive(Clone)]
pub struct Belief {
    /// Σ_t and ŵ_t.
    pub ball: Confidence,
    /// From the units of the observations to those of the ball.
    pub outputs: OutputTransform,
    /// Noise of an observation, in the units of the ball.
    pub noise_std: f64,
    /// The index, among the families that were fitted, of the one with the highest evidence.
    pub family_idx: usize,
}

impl Belief {
    /// Mean and standard deviation of the objective at x (model coordinates), in the units of the observations.
    pub fn predict(&self, x: &[f64]) -> (f64, f64) {
        let (mean, u) = self.ball.predict(x);
        self.outputs.restore(mean, u)
    }

    /// The mean alone, which costs far less.
    pub fn mean(&self, x: &[f64]) -> f64 {
        self.outputs.restore(self.ball.mean(x), 0.0).0
    }

    /// Updates the ball with observations; scales, warp and noise stay as they are. The family must be linear in w.
    pub fn update(&mut self, told: &TrainingData) {
        let data = told.standardized(&self.outputs);
        let prior_mean = prior_mean(self.ball.family());
        for (i, x) in data.x.iter_rows().enumerate() {
            let y = self.outputs.warp.apply(data.y[i]);
            let residual = y - self.ball.family().value(&prior_mean, x);
            let noise_var = data.known_noise_var[i] + self.noise_std * self.noise_std;
            self.ball.update(Round { w: &prior_mean, x, residual, noise_var });
        }
    }

    /// Adds each pending point (model coordinates) as if its posterior mean had been observed. That removes the uncertainty there,
    /// so the next point is found elsewhere. `w_hat` is ŵ_t before the first of them.
    pub fn fantasize(&mut self, w_hat: &[f64], pending: &[Vec<f64>]) {
        let prior_mean = prior_mean(self.ball.family());
        let shift: Vec<f64> = w_hat.iter().zip(&prior_mean).map(|(w, m)| w - m).collect();
        let noise_var = self.noise_std * self.noise_std;
        let mut grad_w = vec![0.0; w_hat.len()];
        for x in pending {
            let residual = if self.ball.family().is_parametric() {
                self.ball.family().grad_w(w_hat, x, &mut grad_w);
                dot(&grad_w, &shift)
            } else {
                self.ball.mean(x)
            };
            self.ball.update(Round { w: w_hat, x, residual, noise_var });
        }
    }
}

fn prior_mean(family: &dyn Family) -> Vec<f64> {
    let mut mean = vec![0.0; family.n_weights()];
    family.prior_mean(&mut mean);
    mean
}

/// From the units of the observations to those of the model: standardised, then warped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OutputTransform {
    centre: f64,
    scale: f64,
    warp: Warp,
}

impl OutputTransform {
    /// The transform that changes nothing.
    pub const IDENTITY: Self = Self { centre: 0.0, scale: 1.0, warp: Warp::IDENTITY };

    /// Standardises to mean 0 and standard deviation 1. Values that are all the same are only centred.
    pub fn standardized(values: &[f64]) -> Self {
        // Relative to the largest, so that no finite value is too large or too small to be squared.
        let largest = values.iter().fold(0.0_f64, |largest, y| largest.max(y.abs()));
        if largest == 0.0 {
            return Self::IDENTITY;
        }
        let n = values.len() as f64;
        let centre = values.iter().map(|y| y / largest).sum::<f64>() / n;
        let variance = values.iter().map(|y| (y / largest - centre).powi(2)).sum::<f64>() / n;
        // Below this the spread is rounding, not signal.
        let scale = if variance.sqrt() > 1e-12 { largest * variance.sqrt() } else { 1.0 };
        Self { centre: largest * centre, scale, warp: Warp::IDENTITY }
    }

    /// The standardised value, not warped.
    pub fn standardize(&self, y: f64) -> f64 {
        y / self.scale - self.centre / self.scale
    }

    /// A value in the units of the model.
    pub fn apply(&self, y: f64) -> f64 {
        self.warp.apply(self.standardize(y))
    }

    /// The standardised value behind a value in the units of the model, and its slope. Values beyond a million times the spread are
    /// clamped to that.
    pub fn unwarp(&self, z: f64) -> (f64, f64) {
        const FAR: f64 = 1e6;
        let standardized = self.warp.invert(z);
        if standardized.abs() < FAR {
            (standardized, (-self.warp.log_slope(standardized)).exp())
        } else {
            (FAR.copysign(standardized), 0.0)
        }
    }

    /// A difference of values (a noise, say) on the standardised scale.
    pub fn standardize_difference(&self, dy: f64) -> f64 {
        dy / self.scale
    }

    /// Median and spread, in the units of the observations, of a value that is normal in the units of the model.
    pub fn restore(&self, mean: f64, std: f64) -> (f64, f64) {
        let standardized = self.warp.invert(mean);
        let slope = self.warp.log_slope(standardized).exp();
        (self.centre + self.scale * standardized, self.scale * std / slope)
    }
}

/// How observations become training data: what failed trials count as, and values that are far worse than all others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Preparation {
    failures: FailureImputation,
    /// The least value. A lower one says no more than "not here", and would make all others look the same.
    floor: f64,
}

impl Preparation {
    /// Values further below the others than this many times their range are outliers.
    const FAR: f64 = 10.0;

    /// The preparation of these observations; `None` if none has a value. With `limited`, up to a tenth of the values may be outliers,
    /// which count as values just worse than the others (by as much as their range).
    pub fn of(observations: &[&Observation], limited: bool) -> Option<Self> {
        let mut values: Vec<f64> = observations.iter().filter_map(|told| told.value()).collect();
        let floor = if limited { Self::floor(&mut values) } else { f64::NEG_INFINITY };
        values.iter_mut().for_each(|value| *value = value.max(floor));
        Some(Self { failures: FailureImputation::among(observations, &values)?, floor })
    }

    /// Sorts the values.
    fn floor(values: &mut [f64]) -> f64 {
        values.sort_by(f64::total_cmp);
        let n_outliers = values.len().div_ceil(10);
        let (Some(&lowest), Some(&low), Some(&high)) =
            (values.first(), values.get(n_outliers), values.last())
        else {
            return f64::NEG_INFINITY;
        };
        let range = high - low;
        let has_outliers = range > 0.0 && low - lowest > Self::FAR * range;
        if has_outliers { low - range } else { f64::NEG_INFINITY }
    }
}

/// What failed trials count as.
#[derive(Debug, Clone, Copy, PartialEq)]
enum FailureImputation {
    /// The worst value told, with noise as large as the spread of all values: it says "not here", but not how bad.
    Worst {
        /// The worst value told.
        y: f64,
        /// The spread of all values.
        noise_std: f64,
    },
    /// Nothing, because trials fail by chance: failures are left out.
    LeftOut,
}

impl FailureImputation {
    /// What failures among these observations count as, which have these values; `None` if there is no value.
    fn among(observations: &[&Observation], values: &[f64]) -> Option<Self> {
        let worst = values.iter().copied().reduce(f64::min)?;
        if failures::are_chance(observations) {
            return Some(Self::LeftOut);
        }
        Some(Self::Worst { y: worst, noise_std: OutputTransform::standardized(values).scale })
    }
}

/// Observations as families are fitted to them: points in model coordinates, values in their own units.
pub struct TrainingData {
    /// The points. (t, d_x)
    pub x: Matrix,
    /// The values, imputed where a trial failed. (t)
    pub y: Vec<f64>,
    /// Standard deviation of the noise where it is known, else 0. (t)
    pub noise_std: Vec<f64>,
}

impl TrainingData {
    /// These observations, in this order.
    pub fn new<'a>(
        observations: impl IntoIterator<Item = &'a Observation>,
        preparation: Preparation,
        frame: &Frame,
    ) -> Self {
        let mut told = Self { x: Matrix::zeros(0, frame.dimension()), y: Vec::new(), noise_std: Vec::new() };
        for observation in observations {
            let (y, noise_std) = match (&observation.outcome, preparation.failures) {
                (&Outcome::Value { y, noise_std }, _) => (y.max(preparation.floor), noise_std.unwrap_or(0.0)),
                (Outcome::Failed, FailureImputation::Worst { y, noise_std }) => (y, noise_std),
                (Outcome::Failed, FailureImputation::LeftOut) => continue,
            };
            told.x.push_row(&frame.apply(&observation.x));
            told.y.push(y);
            told.noise_std.push(noise_std);
        }
        told
    }

    /// The data on the standardised scale of `outputs`, not warped.
    fn standardized(&self, outputs: &OutputTransform) -> Data {
        // More noise than a million times the spread makes no difference.
        let known_noise_var = |&std: &f64| outputs.standardize_difference(std).min(1e6).powi(2);
        Data {
            x: self.x.clone(),
            y: self.y.iter().map(|&y| outputs.standardize(y)).collect(),
            known_noise_var: self.noise_std.iter().map(known_noise_var).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::optimizer::Observation;

    proptest! {
        #[test]
        fn restoring_undoes_standardising_and_warping(
            values in prop::collection::vec(-1e3..1e3_f64, 2..10), y in -2e3..2e3_f64, power in 0.2..1.8_f64
        ) {
            let outputs = OutputTransform { warp: Warp { power }, ..OutputTransform::standardized(&values) };
            prop_assume!(outputs.standardize(y).abs() < 50.0);
            let (restored, _) = outputs.restore(outputs.warp.apply(outputs.standardize(y)), 1.0);
            prop_assert!((restored - y).abs() < 1e-6 * (1.0 + y.abs()), "{y} became {restored}");
        }

        #[test]
        fn a_small_spread_is_restored_as_the_difference_it_makes(z in -3.0..3.0_f64, power in 0.2..1.8_f64) {
            let outputs = OutputTransform { centre: 7.0, scale: 20.0, warp: Warp { power } };
            let std = 1e-5;
            let difference = (outputs.restore(z + std, 0.0).0 - outputs.restore(z - std, 0.0).0) / 2.0;
            let (_, restored) = outputs.restore(z, std);
            prop_assert!((restored / difference - 1.0).abs() < 1e-3, "{restored} and {difference}");
        }
    }

    #[test]
    fn a_value_is_unwarped_with_its_slope_and_no_further_than_far() {
        let outputs = OutputTransform { centre: 7.0, scale: 20.0, warp: Warp { power: 0.4 } };
        for z in [-2.0, 0.0, 0.7, 2.0] {
            let (value, slope) = outputs.unwarp(z);
            let difference = (outputs.unwarp(z + 1e-6).0 - outputs.unwarp(z - 1e-6).0) / 2e-6;
            assert!((slope / difference - 1.0).abs() < 1e-5, "{slope} and {difference}");
            assert!((outputs.apply(outputs.centre + outputs.scale * value) - z).abs() < 1e-9);
        }
        assert_eq!(outputs.unwarp(1e9), (1e6, 0.0));
    }

    #[test]
    fn standardised_values_have_mean_0_and_standard_deviation_1() {
        let values = [3.0, -1.0, 4.0, 1.0, 5.0];
        let outputs = OutputTransform::standardized(&values);
        let z = values.map(|y| outputs.standardize(y));
        assert!(z.iter().sum::<f64>().abs() < 1e-12);
        assert!((z.iter().map(|z| z * z).sum::<f64>() / 5.0 - 1.0).abs() < 1e-12);
        assert!((outputs.standardize_difference(2.0) - (outputs.standardize(5.0) - z[0])).abs() < 1e-12);
    }

    #[test]
    fn no_finite_value_is_too_large_or_too_small() {
        for size in [1e-300, 1e-155, 1e155, 1e300] {
            let outputs = OutputTransform::standardized(&[-size, 0.0, size]);
            assert!((outputs.standardize(size) - 1.5_f64.sqrt()).abs() < 1e-9, "{size}: {outputs:?}");
        }
    }

    #[test]
    fn values_that_are_all_the_same_are_only_centred() {
        for y in [0.0, 1e9, -0.1] {
            let outputs = OutputTransform::standardized(&[y; 3]);
            assert!(outputs.standardize(y).abs() < 1e-6);
            assert_eq!(outputs.standardize_difference(0.5), 0.5);
        }
    }

    /// The values as families are fitted to them.
    fn prepared(values: &[f64], limited: bool) -> Vec<f64> {
        let told = |(i, &y): (usize, &f64)| Observation {
            x: vec![i as f64 / values.len() as f64],
            outcome: Outcome::Value { y, noise_std: None },
        };
        let all: Vec<Observation> = values.iter().enumerate().map(told).collect();
        let preparation = Preparation::of(&all.iter().collect::<Vec<_>>(), limited).unwrap();
        TrainingData::new(&all, preparation, &Frame::symmetric(1)).y
    }

    #[test]
    fn a_tenth_of_the_values_may_be_far_worse_than_the_others() {
        assert_eq!(prepared(&[1.0, -1e6, 3.0, 2.0], true), [1.0, -1.0, 3.0, 2.0]);
        assert_eq!(prepared(&[1.0, -1e6, 3.0, 2.0], false), [1.0, -1e6, 3.0, 2.0]);
        let with = |n_outliers: usize| {
            let values: Vec<f64> = (0..20).map(|i| if i < n_outliers { -1e9 } else { i as f64 }).collect();
            prepared(&values, true)[0]
        };
        assert_eq!([with(1), with(2), with(3)], [-15.0, 2.0 - 17.0, -1e9]);
    }

    #[test]
    fn values_of_any_ordinary_shape_stay_as_they_are() {
        let skewed: Vec<f64> = (0..30).map(|i| -f64::from(i * i * i)).collect();
        for values in
            [&skewed[..], &[0.0, -1.0, -9.0], &[5.0; 9], &[1.0, 1.0, 1.0, -1e6], &[1.0], &[-1e6, 0.0]]
        {
            assert_eq!(prepared(values, true), values);
        }
    }

    #[test]
    fn a_failure_that_is_not_chance_counts_as_the_worst_value_told_give_or_take_the_spread() {
        let observation = |x: f64, outcome: Outcome| Observation { x: vec![x], outcome };
        let all = [
            observation(0.0, Outcome::Failed),
            observation(0.5, Outcome::Value { y: -3.0, noise_std: Some(0.1) }),
            observation(1.0, Outcome::Value { y: 2.0, noise_std: None }),
        ];
        assert_eq!(Preparation::of(&[&all[0]], true), None);
        let preparation = Preparation::of(&all.each_ref(), true).unwrap();
        let told = TrainingData::new(&all, preparation, &Frame::symmetric(1));
        assert_eq!(told.y, [-3.0, -3.0, 2.0]);
        assert_eq!(told.noise_std, [2.5, 0.1, 0.0]);
        assert_eq!(told.x.data(), [-1.0, 0.0, 1.0]);
    }
}
