//! Hyper-parameters from data: those that are most probable (MAP) under their priors, or most likely without one.
//!
//! Given: data with standardised values, and the ranges and priors of the hyper-parameters. Gives: the best of several climbs. The
//! mean has no prior and a closed form, so only lengthscales, signal and noise are climbed, in their logs.

use super::likelihood::LogLikelihood;
use super::{Data, Hyper, Kernel};
use crate::lbfgsb::{ClimbLimits, Maximum, maximize_in_box};

/// The kernel, with the ranges and priors of its hyper-parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spec {
    /// The kernel of the process.
    pub kernel: Kernel,
    /// The range of every lengthscale.
    pub lengthscale: Range,
    /// The range of the function's variance.
    pub signal_var: Range,
    /// The range of the noise variance.
    pub noise_var: Range,
}

/// The range of a hyper-parameter, with its prior.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// The smallest value.
    pub lower: f64,
    /// The largest value; equal to the smallest for a constant.
    pub upper: f64,
    /// The value that climbs start from.
    pub start: f64,
    /// The prior; `None` if all values are equally probable.
    pub prior: Option<LogNormal>,
}

/// A positive number whose log is normal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogNormal {
    /// Mean of the log.
    pub location: f64,
    /// Standard deviation of the log.
    pub scale: f64,
}

impl Spec {
    /// BoTorch's `SingleTaskGP` since 0.12, for d coordinates of the unit cube: squared-exponential without a scale
    /// of its own, lengthscales that grow with √d (Hvarfner, Hellsten and Nardi 2024). BoTorch has no upper bounds;
    /// ours are where the function is flat, or nothing but noise.
    pub fn botorch(d: usize) -> Self {
        let location = 2.0_f64.sqrt() + 0.5 * (d as f64).ln();
        Self {
            kernel: Kernel::SquaredExponential,
            lengthscale: Range::with_prior(0.025, 1e4, LogNormal { location, scale: 3.0_f64.sqrt() }),
            signal_var: Range { lower: 1.0, upper: 1.0, start: 1.0, prior: None },
            noise_var: Range::with_prior(1e-4, 10.0, LogNormal { location: -4.0, scale: 1.0 }),
        }
    }

    /// TuRBO's (Eriksson et al. 2019, `gp.py` of their code): Matérn-5/2 with a scale, bounds and no priors.
    pub fn turbo() -> Self {
        Self {
            kernel: Kernel::Matern52,
            lengthscale: Range { lower: 0.005, upper: 2.0, start: 0.5, prior: None },
            signal_var: Range { lower: 0.05, upper: 20.0, start: 1.0, prior: None },
            noise_var: Range { lower: 5e-4, upper: 0.2, start: 0.005, prior: None },
        }
    }
}

impl Range {
    /// A range whose climbs start at the mode of the prior.
    fn with_prior(lower: f64, upper: f64, prior: LogNormal) -> Self {
        Self { lower, upper, start: prior.mode().clamp(lower, upper), prior: Some(prior) }
    }

    /// Log density of exp(theta), up to a constant, and its derivative in theta.
    fn log_prior(&self, theta: f64) -> (f64, f64) {
        self.prior.map_or((0.0, 0.0), |prior| {
            let z = (theta - prior.location) / prior.scale;
            (-theta - 0.5 * z * z, -1.0 - z / prior.scale)
        })
    }
}

impl LogNormal {
    /// The value, not the log, of highest density.
    pub fn mode(self) -> f64 {
        (self.location - self.scale * self.scale).exp()
    }
}

/// Factors on the starting lengthscales and noise of each climb: data may be explained by a function with ripples, or by a smooth
/// one with noise.
const STARTS: [(f64, f64); 2] = [(1.0, 1.0), (4.0, 10.0)];

/// Quasi-Newton steps of a climb; most end by themselves before 50.
const MAX_STEPS: usize = 100;

/// The most probable hyper-parameters; those at the start of the ranges if there are no data.
pub fn fit(spec: &Spec, data: &Data) -> Hyper {
    let d = data.x.cols();
    let ranges = spec.ranges(d);
    let bound = |of: fn(&Range) -> f64| ranges.iter().map(|range| of(range).ln()).collect::<Vec<f64>>();
    let (lower, upper) = (bound(|range| range.lower), bound(|range| range.upper));
    let climb = |(lengthscale_factor, noise_factor): (f64, f64)| {
        let mut start = bound(|range| range.start);
        start[..d].iter_mut().for_each(|theta| *theta += lengthscale_factor.ln());
        start[d + 1] += noise_factor.ln();
        maximize_in_box(
            |theta, grad| log_posterior(spec, data, theta, grad).unwrap_or(f64::NAN),
            &start,
            &lower,
            &upper,
            ClimbLimits::steps(MAX_STEPS),
        )
    };
    let best = STARTS
        .into_iter()
        .map(climb)
        .reduce(|best: Maximum, next| if next.value > best.value { next } else { best });
    let mut hyper = spec.hyper(&best.expect("there is at least one start").x);
    if !data.y.is_empty() && LogLikelihood::with_best_mean(&mut hyper, data).is_none() {
        hyper.mean = data.y.iter().sum::<f64>() / data.y.len() as f64;
    }
    hyper
}

impl Spec {
    /// The ranges in the order of theta: lengthscales, signal, noise.
    fn ranges(&self, d: usize) -> Vec<Range> {
        let mut ranges = vec![self.lengthscale; d];
        ranges.extend([self.signal_var, self.noise_var]);
        ranges
    }

    fn hyper(&self, theta: &[f64]) -> Hyper {
        let d = theta.len() - 2;
        Hyper {
            kernel: self.kernel,
            lengthscales: theta[..d].iter().map(|theta| theta.exp()).collect(),
            signal_var: theta[d].exp(),
            noise_var: theta[d + 1].exp(),
            mean: 0.0,
        }
    }
}

/// Log likelihood with the best mean, plus log priors, at theta = logs of (lengthscales, signal, noise).
fn log_posterior(spec: &Spec, data: &Data, theta: &[f64], grad: &mut [f64]) -> Option<f64> {
    let likelihood = LogLikelihood::with_best_mean(&mut spec.hyper(theta), data)?;
    let d = theta.len() - 2;
    grad[..d].copy_from_slice(&likelihood.grad_log_lengthscales);
    grad[d] = likelihood.grad_log_signal_var;
    grad[d + 1] = likelihood.grad_log_noise_var;
    let mut value = likelihood.value;
    for ((range, &theta), grad) in spec.ranges(d).iter().zip(theta).zip(grad) {
        let (log_prior, slope) = range.log_prior(theta);
        value += log_prior;
        *grad += slope;
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Matrix;
    use crate::optimizer::rng;
    use rand::RngExt;
    use rand_distr::{Distribution, StandardNormal};

    /// A ripple in the first coordinate, nothing in the second, and noise.
    fn ripple(t: usize, noise_std: f64) -> Data {
        let mut rng = rng(5, 0);
        let x = Matrix::from_fn(t, 2, |_, _| rng.random());
        let mut noise = || -> f64 { noise_std * Distribution::<f64>::sample(&StandardNormal, &mut rng) };
        let y = x.iter_rows().map(|x| 1.4 * (9.0 * x[0]).sin() + noise()).collect();
        Data { x, y, known_noise_var: vec![0.0; t] }
    }

    #[test]
    fn the_gradient_vanishes_at_the_fit_or_points_out_of_the_bounds() {
        for spec in [Spec::botorch(2), Spec::turbo()] {
            let data = ripple(40, 0.1);
            let hyper = fit(&spec, &data);
            let mut theta: Vec<f64> = hyper.lengthscales.iter().map(|l| l.ln()).collect();
            theta.extend([hyper.signal_var.ln(), hyper.noise_var.ln()]);
            let mut grad = vec![0.0; 4];
            log_posterior(&spec, &data, &theta, &mut grad).unwrap();
            for ((grad, theta), range) in grad.iter().zip(&theta).zip(spec.ranges(2)) {
                let at_bound =
                    (theta - range.lower.ln()).abs() < 1e-9 || (theta - range.upper.ln()).abs() < 1e-9;
                assert!(at_bound || grad.abs() < 0.02, "{grad} at {hyper:?}");
            }
        }
    }

    #[test]
    fn noise_and_relevance_of_coordinates_are_recovered() {
        for (spec, std) in [(Spec::botorch(2), 0.3), (Spec::turbo(), 0.3), (Spec::botorch(2), 0.05)] {
            let hyper = fit(&spec, &ripple(80, std));
            let inferred = hyper.noise_var.sqrt();
            assert!(inferred > 0.6 * std && inferred < 1.6 * std, "{std}: {hyper:?}");
            assert!(hyper.lengthscales[0] < 0.5 && hyper.lengthscales[1] > 1.5, "{hyper:?}");
        }
    }

    #[test]
    fn hardly_any_data_and_constant_data_can_be_fitted() {
        let constant = |t: usize| Data {
            x: Matrix::from_fn(t, 3, |i, j| ((i * j) % 2) as f64),
            y: vec![0.0; t],
            known_noise_var: vec![0.0; t],
        };
        for spec in [Spec::botorch(3), Spec::turbo()] {
            for t in [0, 1, 2, 30] {
                let hyper = fit(&spec, &constant(t));
                let numbers = [hyper.signal_var, hyper.noise_var, hyper.lengthscales[0], hyper.mean + 1.0];
                assert!(numbers.iter().all(|number| number.is_finite() && *number > 0.0), "{hyper:?}");
            }
        }
    }
}
