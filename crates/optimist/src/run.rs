//! The simplest interface: a function, its space, and how many times to try it.
//!
//! Given: a space, a budget, a seed, a function. Gives: the best parameters found. For trials that run elsewhere, in parallel or
//! for days, see [`Optimizer`](crate::Optimizer).

use crate::encode::Encoding;
use crate::error::RunError;
use crate::method::Method;
use crate::optimizer::{Observation, Outcome, rng};
use crate::space::{Assignment, Space};

/// The best parameters that were found.
#[derive(Debug, Clone, PartialEq)]
pub struct Best {
    /// The parameters to use.
    pub params: Assignment,
    /// The best value measured with these parameters.
    pub value: f64,
    /// The value that the model expects with them: usually less than `value`, which noise may have raised.
    pub mean: f64,
    /// Standard deviation of `mean`; `None` without a model.
    pub std: Option<f64>,
}

/// Tries `f` on `trials` points of `space` and returns the best one. The same seed and values give the same points.
///
/// `f` returns a number that is the better the larger it is; one that is not finite says that the trial failed.
///
/// ```
/// use optimist::space::{Parameter, Space};
///
/// let space = Space::new(vec![
///     Parameter::float("temperature", 20.0, 90.0),
///     Parameter::choice("solvent", ["water", "ethanol"]),
/// ])?;
/// let best = optimist::maximize(space, 25, 0, |params| {
///     let optimum = if params.text("solvent") == "water" { 65.0 } else { 40.0 };
///     90.0 - (0.1 * (params.float("temperature") - optimum)).powi(2) // your experiment
/// })?;
/// println!("{:.1} % with {}", best.value, best.params);
/// # assert!(best.value > 89.5, "{best:?}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If there are no trials, or none of them gave a value.
pub fn maximize(
    space: Space,
    trials: usize,
    seed: u64,
    mut f: impl FnMut(&Assignment) -> f64,
) -> Result<Best, RunError> {
    if trials == 0 {
        return Err(RunError::NoTrials);
    }
    let encoding = Encoding::new(space);
    let mut optimizer = Method::default().build(encoding.domain(), trials, seed)?;
    for trial in 0..trials as u64 {
        let x = optimizer.ask(&mut rng(seed, trial));
        let params = encoding.decode(&x);
        let y = f(&params);
        let outcome = if y.is_finite() { Outcome::Value { y, noise_std: None } } else { Outcome::Failed };
        // What was tried, to the last bit, and what a study would learn from: on a log scale decoding rounds.
        let x = encoding.encode(&params).unwrap_or(x);
        optimizer.tell(Observation { x, outcome })?;
    }
    let best = optimizer.recommend().ok_or(RunError::NoValue { trials })?;
    let measured = optimizer.history().observations().iter().filter(|told| told.x == best.x);
    let value = measured.filter_map(Observation::value).fold(f64::NEG_INFINITY, f64::max);
    Ok(Best { params: encoding.decode(&best.x), value, mean: best.mean, std: best.std })
}

/// Like [`maximize`], where a smaller number is the better one.
///
/// # Errors
/// If there are no trials, or none of them gave a value.
pub fn minimize(
    space: Space,
    trials: usize,
    seed: u64,
    mut f: impl FnMut(&Assignment) -> f64,
) -> Result<Best, RunError> {
    let best = maximize(space, trials, seed, |params| -f(params))?;
    Ok(Best { value: 0.0 - best.value, mean: 0.0 - best.mean, ..best }) // never -0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Parameter;

    fn line() -> Space {
        Space::new(vec![Parameter::float("x", 0.0, 4.0)]).unwrap()
    }

    #[test]
    fn the_smallest_value_is_found_and_told_in_its_own_sign() {
        let best = minimize(line(), 20, 0, |params| (params.float("x") - 1.0).powi(2) + 5.0).unwrap();
        assert!((best.params.float("x") - 1.0).abs() < 0.1, "{best:?}");
        assert!((best.value - 5.0).abs() < 0.01 && (best.mean - 5.0).abs() < 0.1, "{best:?}");
        let mirrored = maximize(line(), 20, 0, |params| -(params.float("x") - 1.0).powi(2) - 5.0).unwrap();
        assert_eq!((mirrored.params, mirrored.value, mirrored.mean), (best.params, -best.value, -best.mean));
        let flat = minimize(line(), 5, 0, |_| 0.0).unwrap();
        assert!(flat.value.is_sign_positive() && flat.mean.is_sign_positive(), "{flat:?}");
    }

    #[test]
    fn a_trial_that_fails_is_survived_and_a_run_of_nothing_else_is_an_error() {
        let mut n_failed = 0;
        let best = maximize(line(), 20, 0, |params| match params.float("x") {
            x if x > 3.0 => {
                n_failed += 1;
                f64::NAN
            }
            x => x,
        });
        assert!(n_failed > 0 && best.unwrap().value > 2.0);
        assert_eq!(maximize(line(), 3, 0, |_| f64::INFINITY), Err(RunError::NoValue { trials: 3 }));
        assert_eq!(maximize(line(), 0, 0, |_| 1.0), Err(RunError::NoTrials));
    }
}
