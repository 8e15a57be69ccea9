//! The best input of an expensive, noisy, opaque function in as few trials as possible.

pub mod baselines;
pub mod confidence;
pub mod encode;
mod error;
pub mod evidence;
pub mod history;
pub mod linalg;
mod maximize;
pub mod model;
pub mod optimizer;
pub mod space;
pub mod warp;

pub use error::{SpaceError, TellError};
pub use optimizer::{Observation, Optimizer, Outcome, Recommendation, Rng, rng};
