//! The best input of an expensive, noisy, opaque function in as few trials as possible.
//!
//! The heart is GO-UCB (Liu and Wang, ICML 2023): fit a parametric function, keep the ellipsoid of weights that the data
//! allow, and try the point that is best under the most hopeful of them.
//!
//! ```
//! use optimist::encode::Encoding;
//! use optimist::space::{Kind, Parameter, Space};
//! use optimist::{GoUcb, Observation, Optimizer, Outcome, Settings, rng};
//!
//! let rate = Kind::Float { low: 1e-5, high: 1.0, log: true, step: None };
//! let depth = Kind::Int { low: 1, high: 12, log: false, step: None };
//! let space = Space::new(vec![Parameter::new("rate", rate), Parameter::new("depth", depth)])?;
//! let encoding = Encoding::new(space);
//!
//! let trials = 20;
//! let mut optimizer = GoUcb::new(encoding.domain().clone(), trials, Settings::default())?;
//! for trial in 0..trials as u64 {
//!     let x = optimizer.ask(&mut rng(7, trial));
//!     let values = encoding.decode(&x);
//!     let rate = values.get("rate").and_then(|value| value.as_f64()).expect("a float");
//!     let depth = values.get("depth").and_then(|value| value.as_f64()).expect("an integer");
//!     let y = -(rate.log10() + 2.0).powi(2) - 0.1 * (depth - 5.0).powi(2); // your experiment
//!     optimizer.tell(Observation { x, outcome: Outcome::Value { y, noise_std: None } })?;
//! }
//! let best = optimizer.recommend().expect("there were values");
//! println!("{} ± {:?} at {:?}", best.mean, best.std, encoding.decode(&best.x));
//! # assert!(best.mean > -1.0, "{best:?}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A family of your own is a trait away: see [`model::Family`] and `examples/own_family.rs`. Mixtures and other linear
//! constraints between parameters: [`space::Space::with_constraints`] and `examples/mixture.rs`.

pub mod acquisition;
pub mod baselines;
pub mod belief;
pub mod confidence;
pub mod encode;
mod error;
pub mod evidence;
pub mod go_ucb;
pub mod history;
pub mod insight;
pub mod linalg;
mod maximize;
pub mod method;
pub mod model;
mod normal;
pub mod optimizer;
pub mod oracle;
mod polytope;
mod projected_gradient;
pub mod schedule;
pub mod search;
pub mod settings;
pub mod sobol;
pub mod space;
pub mod spelling;
pub mod theory;
pub mod trust_region;
pub mod warp;

pub use error::{MethodError, SpaceError, TellError};
pub use go_ucb::GoUcb;
pub use insight::Insight;
pub use method::{ENGINE_VERSION, Method};
pub use optimizer::{Observation, Optimizer, Outcome, Recommendation, Rng, rng};
pub use settings::Settings;
