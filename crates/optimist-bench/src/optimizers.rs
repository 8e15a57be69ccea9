//! Optimizers by name, as benchmarks start them. The one place that knows where they come from:
//! a peer that runs as a process of its own (the optimizer protocol) is to be started here too.

use optimist::encode::Domain;
use optimist::{Method, MethodError, Optimizer};

/// Starts the optimizer `name` on a domain, for `horizon` trials in all.
pub type Build<'a> =
    dyn Fn(&str, &Domain, usize, u64) -> Result<Box<dyn Optimizer>, OptimizerError> + Sync + 'a;

/// The optimizer called `name`, such as `go-ucb`, `go-ucb:paper` or `random`.
///
/// # Errors
/// If there is no such optimizer.
pub fn build(
    name: &str,
    domain: &Domain,
    trials: usize,
    _seed: u64,
) -> Result<Box<dyn Optimizer>, OptimizerError> {
    let method: Method = name.parse().map_err(|error: MethodError| OptimizerError(error.to_string()))?;
    method.build(domain, trials).map_err(|error| OptimizerError(format!("optimizer `{name}`: {error}")))
}

/// Whether every name is one that [`build`] knows, so that a slip is found before hours of runs.
///
/// # Errors
/// On the first that it does not know.
pub fn check<S: AsRef<str>>(names: &[S]) -> Result<(), OptimizerError> {
    names.iter().try_for_each(|name| build(name.as_ref(), &Domain::cube(1), 1, 0).map(drop))
}

/// An optimizer that cannot be started, and why.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct OptimizerError(pub String);
