//! Optimizers by name, as benchmarks start them. The one place that knows where they come from:
//! a peer that runs as a process of its own (the optimizer protocol) is to be started here too.

use optimist::Optimizer;
use optimist::baselines::Random;
use optimist::encode::Domain;

/// Starts the optimizer `name` on a domain, for `horizon` trials in all.
pub type Build = dyn Fn(&str, &Domain, usize, u64) -> Result<Box<dyn Optimizer>, OptimizerError> + Sync;

/// The optimizer called `name`, such as `go-ucb`, `go-ucb:paper` or `random`.
///
/// # Errors
/// If there is no such optimizer.
pub fn build(
    name: &str,
    domain: &Domain,
    _horizon: usize,
    _seed: u64,
) -> Result<Box<dyn Optimizer>, OptimizerError> {
    match name {
        "random" => Ok(Box::new(Random::new(domain.clone()))),
        _ => Err(OptimizerError(format!(
            "there is no optimizer `{name}`; there is `random`"
        ))),
    }
}

/// An optimizer that cannot be started, and why.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct OptimizerError(pub String);
