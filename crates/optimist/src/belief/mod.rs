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
        let n = values.len().max(1) as f64;
        let centre = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|y| (y - centre).powi(2)).sum::<f64>() / n;
        let scale = variance.sqrt();
        // Below this the spread is rounding, not signal.
        let scale = if scale > 1e-12 * centre.abs().max(f64::MIN_POSITIVE) { scale } else { 1.0 };
        Self { centre, scale, warp: Warp::IDENTITY }
    }

    /// The standardised value, before the warp.
    pub fn standardize(&self, y: f64) -> f64 {
        (y - self.centre) / self.scale
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
        let value = |observation: &Observation| match observation.outcome {
            Outcome::Value { y, .. } => Some(y),
            Outcome::Failed => None,
        };
        let values: Vec<f64> = observations.iter().filter_map(value).collect();
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
