//! Optimizers by name, as benchmarks start them. The one place that knows where they come from:
//! Optimist's own, or peers that run as processes of their own.

use optimist::encode::Domain;
use optimist::{ENGINE_VERSION, Goals, Method, MethodError, spelling};

use crate::contestant::Contestant;
use crate::peer;

/// Starts the optimizer `name` on a domain, for `horizon` trials in all.
pub type Build<'a> =
    dyn Fn(&str, &Domain, usize, u64) -> Result<Box<dyn Contestant>, OptimizerError> + Sync + 'a;

/// The optimizer called `name`, such as `go-ucb`, `go-ucb:paper` or `optuna:tpe`.
///
/// # Errors
/// If there is no such optimizer, or it does not fit the domain.
pub fn build(
    name: &str,
    domain: &Domain,
    trials: usize,
    seed: u64,
) -> Result<Box<dyn Contestant>, OptimizerError> {
    build_for(name, domain, &Goals::single(), trials, seed)
}

/// The same for several outcomes.
///
/// # Errors
/// If there is no such optimizer, or it does not fit the domain or the goals.
pub fn build_for(
    name: &str,
    domain: &Domain,
    goals: &Goals,
    trials: usize,
    seed: u64,
) -> Result<Box<dyn Contestant>, OptimizerError> {
    let failed = |error: String| OptimizerError(format!("optimizer `{name}`: {error}"));
    let (base, at_once) = at_once(name)?;
    if !fits(name, domain) {
        return Err(failed("peers don't support constraints; choose a task without them".to_owned()));
    }
    if peer::NAMES.contains(&base) {
        if at_once > 1 {
            return Err(failed(
                "a peer is told one trial before it is asked for the next; leave out `@`".to_owned(),
            ));
        }
        let peer =
            peer::start_for(base, domain, goals, trials, seed).map_err(|error| failed(error.to_string()))?;
        return Ok(Box::new(peer));
    }
    let method: Method = base.parse().map_err(|error| OptimizerError(with_peers(base, error).to_string()))?;
    let own = method.build_for(domain, goals, trials, seed).map_err(|error| failed(error.to_string()))?;
    Ok(Box::new(own))
}

/// What is before the `@` of a name, and the number behind it: how many trials are under way at the same time. `go-ucb@4` is
/// asked for its next point while three others are pending.
///
/// # Errors
/// If it is not a number from 1.
pub fn at_once(name: &str) -> Result<(&str, usize), OptimizerError> {
    let Some((base, number)) = name.split_once('@') else { return Ok((name, 1)) };
    let wrong = || {
        OptimizerError(format!(
            "optimizer `{name}`: `@{number}` must be a number of trials from 1, as in `go-ucb@4`"
        ))
    };
    let at_once: usize = number.parse().map_err(|_| wrong())?;
    if at_once == 0 { Err(wrong()) } else { Ok((base, at_once)) }
}

/// Whether an optimizer can search a domain: peers know the cube, not constraints in it. Moving their proposals to the
/// nearest feasible points would be a search of our own making.
pub fn fits(name: &str, domain: &Domain) -> bool {
    !(domain.is_constrained() && peer::NAMES.contains(&name))
}

/// The version of the engine behind an optimizer; peers have none.
pub fn engine(name: &str) -> Option<u32> {
    (!peer::NAMES.contains(&name)).then_some(ENGINE_VERSION)
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

/// A name that nobody has may be one of a peer, misspelt.
fn with_peers(typed: &str, error: MethodError) -> MethodError {
    let MethodError::Unknown { nearest: ours, .. } = &error else { return error };
    let nearest = spelling::nearest(typed, peer::NAMES.into_iter().chain(ours.as_deref()));
    match nearest.filter(|name| peer::NAMES.contains(name)) {
        Some(peer) => MethodError::Unknown { name: typed.to_owned(), nearest: Some(peer.to_owned()) },
        None => error,
    }
}

/// An optimizer that cannot be started, and why.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct OptimizerError(pub String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_suggests_the_nearest_of_ours_and_of_peers() {
        let error = |name: &str| check(&[name]).unwrap_err().to_string();
        for (typed, meant) in [
            ("botorch:gp-e", "botorch:gp-ei"),
            ("pycm", "pycma"),
            ("Optuna:TPE", "optuna:tpe"),
            ("tpee", "tpe"),
        ] {
            assert_eq!(error(typed), format!("there is no optimizer `{typed}`; did you mean `{meant}`?"));
        }
        for typed in ["go-ucb@", "go-ucb@0", "go-ucb@four"] {
            assert!(error(typed).contains("must be a number of trials from 1"), "{typed}");
        }
        assert_eq!(check(&["go-ucb@4", "go-ucb:aim=regret@8"]), Ok(()));
        let stranger = error("simplex");
        assert!(stranger.starts_with("there is no optimizer `simplex`; choose from go-ucb, "), "{stranger}");
    }
}
