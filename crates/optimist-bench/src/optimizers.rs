//! Optimizers by name, as benchmarks start them. The one place that knows where they come from:
//! Optimist's own, or peers that run as processes of their own.

use optimist::encode::Domain;
use optimist::{Method, MethodError, Optimizer};

use crate::peer;

/// Starts the optimizer `name` on a domain, for `horizon` trials in all.
pub type Build<'a> =
    dyn Fn(&str, &Domain, usize, u64) -> Result<Box<dyn Optimizer>, OptimizerError> + Sync + 'a;

/// The optimizer called `name`, such as `go-ucb`, `go-ucb:paper` or `optuna:tpe`.
///
/// # Errors
/// If there is no such optimizer.
pub fn build(
    name: &str,
    domain: &Domain,
    trials: usize,
    seed: u64,
) -> Result<Box<dyn Optimizer>, OptimizerError> {
    let failed = |error: String| OptimizerError(format!("optimizer `{name}`: {error}"));
    if peer::NAMES.contains(&name) {
        let peer = peer::start(name, domain, trials, seed).map_err(|error| failed(error.to_string()))?;
        return Ok(Box::new(peer));
    }
    let method: Method = name.parse().map_err(|error: MethodError| OptimizerError(error.to_string()))?;
    method.build(domain, trials, seed).map_err(|error| failed(error.to_string()))
}

/// Whether every name is one that [`build`] knows and every peer answers, so that a slip is found
/// before hours of runs.
///
/// # Errors
/// On the first that it does not know, or that does not answer.
pub fn check<S: AsRef<str>>(names: &[S]) -> Result<(), OptimizerError> {
    names.iter().map(AsRef::as_ref).try_for_each(|name| match peer::NAMES.contains(&name) {
        true => peer::check(name).map_err(|error| OptimizerError(format!("optimizer `{name}`: {error}"))),
        false => build(name, &Domain::cube(1), 1, 0).map(drop),
    })
}

/// An optimizer that cannot be started, and why.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct OptimizerError(pub String);
