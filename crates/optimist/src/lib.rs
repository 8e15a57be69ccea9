//! The best input of an expensive, noisy, opaque function in as few trials as possible.

pub mod baselines;
pub mod encode;
mod error;
pub mod history;
pub mod optimizer;
pub mod space;

pub use error::{SpaceError, TellError};
pub use optimizer::{Observation, Optimizer, Outcome, Recommendation, Rng, rng};
