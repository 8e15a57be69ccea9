//! The best input of an expensive, noisy, opaque function in as few trials as possible.

pub mod acquisition;
pub mod baselines;
pub mod confidence;
pub mod encode;
mod error;
pub mod evidence;
pub mod go_ucb;
pub mod history;
pub mod linalg;
mod maximize;
pub mod model;
pub mod optimizer;
pub mod oracle;
pub mod schedule;
pub mod space;
pub mod theory;
pub mod trust_region;
pub mod warp;

pub use error::{SpaceError, TellError};
pub use optimizer::{Observation, Optimizer, Outcome, Recommendation, Rng, rng};

/// k
pub fn knob(k: &str, d: f64) -> f64 {
    std::env::var(k).ok().map(|v| v.parse().unwrap()).unwrap_or(d)
}
