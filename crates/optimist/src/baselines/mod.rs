//! Optimizers to compare GO-UCB with. It uses none of them.

#[cfg(test)]
mod checks;
mod cma_es;
pub mod gp;
mod gp_bo;
mod gp_multi_outcome;
mod nsga2;
mod random;
mod sobol;
mod tpe;
mod turbo;

pub use cma_es::CmaEs;
pub use gp::settings::{GpSettings, GpUcbSettings};
pub use gp_bo::{Acquisition, Beta, GpBo};
pub use gp_multi_outcome::GpMultiOutcome;
pub use nsga2::Nsga2;
pub use random::Random;
pub use sobol::Sobol;
pub use tpe::Tpe;
pub use turbo::Turbo;
