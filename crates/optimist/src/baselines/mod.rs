//! Optimizers to compare GO-UCB with. It uses none of them.

#[cfg(test)]
mod checks;
mod cma_es;
pub mod gp;
mod gp_bo;
mod random;
mod sobol;
mod tpe;
mod turbo;

pub use cma_es::CmaEs;
pub use gp::settings::{GpSettings, GpUcbSettings};
pub use gp_bo::{Acquisition, Beta, GpBo};
pub use random::Random;
pub use sobol::Sobol;
pub use tpe::Tpe;
pub use turbo::Turbo;

use crate::history::History;
use crate::optimizer::Rng;

/// Draws before a point that was proposed already is proposed again. A domain of 100 points of
/// which one is left has it found by uniform draws with a chance of 0.99996.
const MAX_DRAWS: usize = 1000;

/// The first of at most `n_draws` points that was neither told nor is pending, if there is one.
fn first_fresh(history: &History, n_draws: usize, draw: impl FnMut() -> Vec<f64>) -> Option<Vec<f64>> {
    std::iter::repeat_with(draw).take(n_draws).find(|x| !history.is_taken(x))
}

/// A uniform point that was neither told nor is pending, or any if there seems to be none left.
fn fresh_uniform(history: &History, rng: &mut Rng) -> Vec<f64> {
    let fresh = first_fresh(history, MAX_DRAWS, || history.domain().sample(rng));
    fresh.unwrap_or_else(|| history.domain().sample(rng))
}
