//! The best input of an expensive, noisy, opaque function in as few trials as possible.

pub mod acquisition;
pub mod baselines;
pub mod belief;
pub mod confidence;
pub mod encode;
mod error;
pub mod evidence;
pub mod go_ucb;
pub mod history;
pub mod linalg;
mod maximize;
pub mod method;
pub mod model;
pub mod optimizer;
pub mod oracle;
pub mod schedule;
pub mod settings;
pub mod space;
pub mod theory;
pub mod trust_region;
pub mod warp;

pub use error::{MethodError, SpaceError, TellError};
pub use go_ucb::GoUcb;
pub use method::Method;
pub use optimizer::{Observation, Optimizer, Outcome, Recommendation, Rng, rng};
pub use settings::Settings;
