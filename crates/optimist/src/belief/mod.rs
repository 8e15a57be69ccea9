//! Lines 2-4 of Phase II: from what was told to the confidence ball.
//!
//! Given: observations and pending points, a family, the settings. Gives: Ball_t in model coordinates, and the way
//! back to the units of the observations. Does not know: what is proposed.
//!
//! Two ways, by `Updates`: `refit` fits everything anew each round, `recursive` is the paper's update.

pub mod recursive;
pub mod refit;

use crate::acquisition::Frame;
use crate::confidence::Confidence;
use crate::encode::Domain;
use crate::history::History;
use crate::linalg::Matrix;
use crate::optimizer::{Observation, Outcome};
use crate::warp::Warp;

/// What is believed about the objective after some observations.
pub struct Belief {
    /// Σ_t and ŵ_t.
    pub ball: Confidence,
    /// How the values that the ball speaks of are read.
    pub outputs: Outputs,
}

impl Belief {
    /// Mean and standard deviation of the objective at x (model coordinates), in the units of the observations.
    pub fn predict(&self, x: &[f64]) -> (f64, f64) {
        let (mean, u) = self.ball.predict(x);
        self.outputs.restore(mean, u)
    }
}

/// From the units of the observations to those of the model: standardised, then warped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outputs {
    centre: f64,
    scale: f64,
    warp: Warp,
}

impl Outputs {
    /// Values as they are.
    pub const PLAIN: Self = Self { centre: 0.0, scale: 1.0, warp: Warp::IDENTITY };

    /// Standardised: mean 0 and standard deviation 1. Values that are all the same are only centred.
    pub fn standardized(values: &[f64]) -> Self {
        // Relative to the largest, so that no finite value is too large or too small to be squared.
        let largest = values.iter().fold(0.0_f64, |largest, y| largest.max(y.abs()));
        if largest == 0.0 {
            return Self::PLAIN;
        }
        let n = values.len() as f64;
        let centre = values.iter().map(|y| y / largest).sum::<f64>() / n;
        let variance = values.iter().map(|y| (y / largest - centre).powi(2)).sum::<f64>() / n;
        // Below this the spread is rounding, not signal.
        let scale = if variance.sqrt() > 1e-12 { largest * variance.sqrt() } else { 1.0 };
        Self { centre: largest * centre, scale, warp: Warp::IDENTITY }
    }

    /// The standardised value, before the warp.
    pub fn standardize(&self, y: f64) -> f64 {
        y / self.scale - self.centre / self.scale
    }

    /// A difference of values (a noise, say) on the standardised scale.
    pub fn standardize_difference(&self, dy: f64) -> f64 {
        dy / self.scale
    }

    /// Median and spread in the units of the observations of what is normal in those of the model.
    fn restore(&self, mean: f64, std: f64) -> (f64, f64) {
        let standardized = self.warp.invert(mean);
        let slope = self.warp.log_slope(standardized).exp();
        (self.centre + self.scale * standardized, self.scale * std / slope)
    }
}

/// Everything told, in model coordinates and own units. A failure counts as the worst value told, give or take the
/// spread of all values: it says "not here", but not how bad, and it may have been chance.
pub struct Told {
    /// Points. (t, d_x)
    pub x: Matrix,
    /// Values. (t)
    pub y: Vec<f64>,
    /// Known noise, 0 where it is not. (t)
    pub noise_std: Vec<f64>,
}

impl Told {
    /// `None` if no trial gave a value.
    pub fn new(history: &History, frame: &Frame) -> Option<Self> {
        let observations = history.observations();
        let values: Vec<f64> = observations.iter().filter_map(Observation::value).collect();
        let worst = values.iter().copied().reduce(f64::min)?;
        let spread = Outputs::standardized(&values).scale;
        let mut told = Self { x: Matrix::zeros(0, frame.dimension()), y: Vec::new(), noise_std: Vec::new() };
        for observation in observations {
            let (y, noise_std) = match observation.outcome {
                Outcome::Value { y, noise_std } => (y, noise_std.unwrap_or(0.0)),
                Outcome::Failed => (worst, spread),
            };
            told.x.push_row(&frame.apply(&observation.x));
            told.y.push(y);
            told.noise_std.push(noise_std);
        }
        Some(told)
    }
}

/// [-1, 1] in each coordinate, or the parameters' own units.
pub fn frame(domain: &Domain, scaled: bool) -> Frame {
    if scaled { Frame::symmetric(domain.dimension()) } else { Frame::natural(domain) }
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
            let outputs = Outputs { warp: Warp { power }, ..Outputs::standardized(&values) };
            prop_assume!(outputs.standardize(y).abs() < 50.0);
            let (restored, _) = outputs.restore(outputs.warp.apply(outputs.standardize(y)), 1.0);
            prop_assert!((restored - y).abs() < 1e-6 * (1.0 + y.abs()), "{y} became {restored}");
        }

        #[test]
        fn a_small_spread_is_restored_as_the_difference_it_makes(z in -3.0..3.0_f64, power in 0.2..1.8_f64) {
            let outputs = Outputs { centre: 7.0, scale: 20.0, warp: Warp { power } };
            let std = 1e-5;
            let difference = (outputs.restore(z + std, 0.0).0 - outputs.restore(z - std, 0.0).0) / 2.0;
            let (_, restored) = outputs.restore(z, std);
            prop_assert!((restored / difference - 1.0).abs() < 1e-3, "{restored} and {difference}");
        }
    }

    #[test]
    fn standardised_values_have_mean_0_and_standard_deviation_1() {
        let values = [3.0, -1.0, 4.0, 1.0, 5.0];
        let outputs = Outputs::standardized(&values);
        let z = values.map(|y| outputs.standardize(y));
        assert!(z.iter().sum::<f64>().abs() < 1e-12);
        assert!((z.iter().map(|z| z * z).sum::<f64>() / 5.0 - 1.0).abs() < 1e-12);
        assert!((outputs.standardize_difference(2.0) - (outputs.standardize(5.0) - z[0])).abs() < 1e-12);
    }

    #[test]
    fn no_finite_value_is_too_large_or_too_small() {
        for size in [1e-300, 1e-155, 1e155, 1e300] {
            let outputs = Outputs::standardized(&[-size, 0.0, size]);
            assert!((outputs.standardize(size) - 1.5_f64.sqrt()).abs() < 1e-9, "{size}: {outputs:?}");
        }
    }

    #[test]
    fn values_that_are_all_the_same_are_only_centred() {
        for y in [0.0, 1e9, -0.1] {
            let outputs = Outputs::standardized(&[y; 3]);
            assert!(outputs.standardize(y).abs() < 1e-6);
            assert_eq!(outputs.standardize_difference(0.5), 0.5);
        }
    }

    #[test]
    fn a_failure_counts_as_the_worst_value_told_give_or_take_the_spread() {
        let mut history = History::new(Domain::cube(1));
        let frame = Frame::symmetric(1);
        let mut tell = |x: f64, outcome: Outcome| {
            history.tell(Observation { x: vec![x], outcome }).unwrap();
            Told::new(&history, &frame)
        };
        assert!(tell(0.0, Outcome::Failed).is_none());
        tell(0.5, Outcome::Value { y: -3.0, noise_std: Some(0.1) });
        let told = tell(1.0, Outcome::Value { y: 2.0, noise_std: None }).unwrap();
        assert_eq!(told.y, [-3.0, -3.0, 2.0]);
        assert_eq!(told.noise_std, [2.5, 0.1, 0.0]);
        assert_eq!(told.x.data(), [-1.0, 0.0, 1.0]);
    }
}
