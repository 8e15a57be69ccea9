//! Finds the best input of an expensive, noisy, opaque function in as few trials as possible.
//!
//! ```
//! use optimist::space::{Parameter, Space};
//!
//! let space = Space::new(vec![Parameter::log_float("rate", 1e-5, 1.0), Parameter::int("depth", 1, 12)])?;
//! let best = optimist::maximize(space, 20, 7, |params| {
//!     -(params.float("rate").log10() + 2.0).powi(2) - 0.1 * (params.float("depth") - 5.0).powi(2) // your experiment
//! })?;
//! println!("{} ± {:?} with {}", best.mean, best.std, best.params);
//! # assert!(best.value > -1.0, "{best:?}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! At its heart is GO-UCB (Liu and Wang, ICML 2023): fit a parametric function, keep the ellipsoid of weights that the data allow,
//! and try the point that is best under the most optimistic of them.
//!
//! # Ask and tell
//!
//! Where trials run elsewhere, in parallel or for days, ask an [`Optimizer`] for points and tell it the results. A [`Method`] is
//! its name and settings: GO-UCB or one of nine others.
//!
//! ```
//! use optimist::encode::Encoding;
//! use optimist::space::{Parameter, Space};
//! use optimist::{Method, Observation, Outcome, rng};
//!
//! let encoding = Encoding::new(Space::new(vec![Parameter::float("x", 0.0, 1.0), Parameter::flag("warm")])?);
//! let mut optimizer = Method::default().build(encoding.domain(), 20, 7)?;
//! for trial in 0..20 {
//!     let suggestion = optimizer.suggest(&mut rng(7, trial));
//!     println!("trial {trial}: {} by {}", encoding.decode(&suggestion.x), suggestion.why);
//!     let x = suggestion.x;
//!     optimizer.propose(x.clone()); // pending from here on
//!     let y = -(x[0] - 0.4).powi(2); // an experiment
//!     optimizer.tell(Observation { x, outcome: Outcome::Value { y, noise_std: None } })?;
//! }
//! let best = optimizer.recommend().expect("there were values");
//! # assert!(best.mean > -0.01, "{best:?}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Several outcomes
//!
//! Often more than one number matters. [`Goals`] say what is wanted of each outcome: to be as large as possible, or at least some
//! bound. The answer is then a front, or the best point that is likely to meet the bounds.
//!
//! ```
//! use optimist::encode::Domain;
//! use optimist::{Goal, Goals, Method, Outcome, rng};
//!
//! let goals = Goals::new(vec![Goal::Maximize { reference: None }, Goal::AtLeast { bound: -0.2 }])?;
//! let mut optimizer = Method::default().build_for(&Domain::cube(2), &goals, 12, 7)?;
//! for trial in 0..12 {
//!     let x = optimizer.ask(&mut rng(7, trial));
//!     let strength = x[0] + x[1]; // an experiment, and what it measures
//!     let margin = -(x[0] - 0.3).powi(2);
//!     let known = |y| Outcome::Value { y, noise_std: None };
//!     optimizer.tell_outcomes(x, &[known(strength), known(margin)])?;
//! }
//! let best = &optimizer.front()[0];
//! println!("{:?}: {:?}, feasible with a chance of {:.2}", best.x, best.expected[0], best.feasibility);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! To use a family of functions of your own, implement [`Family`], as `examples/own_family.rs` does; to use a search of your own,
//! implement [`Policy`]. For mixtures and other linear constraints between parameters see [`space::Space::with_constraints`] and
//! `examples/mixture.rs`, for what a fitted model says about the parameters see [`insight`].

mod acquisition;
mod answer;
mod baselines;
mod belief;
mod confidence;
pub mod encode;
mod error;
mod evidence;
mod frame;
mod go_ucb;
pub mod goals;
mod history;
pub mod insight;
mod lbfgsb;
mod linalg;
mod method;
pub mod model;
mod normal;
mod optimizer;
mod oracle;
mod outcomes;
pub mod pareto;
mod policy;
mod polytope;
mod projected_gradient;
mod run;
mod schedule;
mod search;
pub mod settings;
mod sobol;
pub mod space;
#[doc(hidden)]
pub mod spelling;
mod theory;
mod trust_region;
mod warp;

pub use error::{MethodError, RunError, SpaceError, TellError};
pub use go_ucb::GoUcb;
pub use goals::{Goal, Goals, GoalsError};
pub use history::{History, Proposal};
pub use insight::Insight;
pub use method::{ENGINE_VERSION, Method};
pub use model::Family;
pub use optimizer::{Batch, Observation, Optimizer, Outcome, Recommendation, Rng, rng};
pub use outcomes::{Candidate, Expected};
pub use policy::{Change, Memory, Policy, Suggestion, Why};
pub use run::{Best, maximize, minimize};
pub use settings::Settings;
pub use theory::{RoundReport, Truth};

/// Internals for tests and benchmarks. Not part of the interface: they change without notice.
#[doc(hidden)]
pub mod internal {
    pub mod acquisition {
        pub use crate::acquisition::*;
    }
    pub mod baselines {
        pub use crate::baselines::*;
    }
    pub mod belief {
        pub use crate::belief::*;
    }
    pub mod confidence {
        pub use crate::confidence::*;
    }
    pub mod evidence {
        pub use crate::evidence::*;
    }
    pub mod frame {
        pub use crate::frame::*;
    }
    pub mod linalg {
        pub use crate::linalg::*;
    }
    pub mod model {
        pub use crate::model::embedded::Embedded;
        pub use crate::model::isotropic::Isotropic;
    }
    pub mod oracle {
        pub use crate::oracle::*;
    }
    pub mod schedule {
        pub use crate::schedule::*;
    }
    pub mod search {
        pub use crate::search::*;
    }
    pub mod theory {
        pub use crate::theory::*;
    }
    pub mod warp {
        pub use crate::warp::*;
    }
}
