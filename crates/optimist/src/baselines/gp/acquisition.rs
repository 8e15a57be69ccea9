//! Acquisition functions of one outcome: log expected improvement, log probability of improvement, upper confidence bound.
//!
//! Improvement is taken in the log, as in Ament et al. (2023): where it is vanishingly small, as it is nearly
//! everywhere late in a run, it still has a slope to climb. With z = (mean − best) / std:
//! ln EI = ln std + ln h(z), where h(z) = φ(z) + z Φ(z); ln PI = ln Φ(z); UCB = mean + √β std.
//!
//! Far in the tail both come from one continued fraction, which has no cancellation: with t = −z and
//! q = 1/(t + 2/(t + 3/(t + …))), Φ(z) = φ(z) / (t + q) and h(z) = φ(z) q / (t + q).

use super::{Gp, Posterior};
use crate::linalg::Matrix;
use crate::normal::{ln_below, ln_h};
use crate::search::Score;

/// An acquisition function of the posterior at a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Criterion {
    /// Log of the expected improvement over `best`.
    LogEi {
        /// The value to improve on.
        best: f64,
    },
    /// Log of the probability of improvement over `best`.
    LogPi {
        /// The value to improve on.
        best: f64,
    },
    /// Upper confidence bound: mean + √β std.
    Ucb {
        /// β, the weight of the variance.
        beta: f64,
    },
}

/// Smaller variances count as this one, as in BoTorch.
pub(crate) const MIN_VAR: f64 = 1e-12;

impl Criterion {
    /// The acquisition value of a point with this posterior.
    pub fn value(self, posterior: Posterior) -> f64 {
        self.value_and_slopes(posterior).0
    }

    /// The acquisition value with its derivatives in mean and standard deviation.
    fn value_and_slopes(self, posterior: Posterior) -> (f64, f64, f64) {
        let (mean, std) = (posterior.mean, posterior.var.max(MIN_VAR).sqrt());
        match self {
            Self::Ucb { beta } => (mean + beta.sqrt() * std, 1.0, beta.sqrt()),
            Self::LogEi { best } => {
                let z = (mean - best) / std;
                let (value, slope) = ln_h(z);
                (std.ln() + value, slope / std, (1.0 - slope * z) / std)
            }
            Self::LogPi { best } => {
                let z = (mean - best) / std;
                let (value, slope) = ln_below(z);
                (value, slope / std, -slope * z / std)
            }
        }
    }
}

/// A criterion as a function of points.
#[derive(Debug, Clone, Copy)]
pub struct AcquisitionFunction<'a> {
    /// The process that gives the posterior.
    pub gp: &'a Gp,
    /// The criterion to compute.
    pub criterion: Criterion,
}

impl Score for AcquisitionFunction<'_> {
    fn scores(&self, points: &[Vec<f64>]) -> Vec<f64> {
        let d = self.gp.hyper().lengthscales.len();
        let points = Matrix::from_rows(d, points.iter().map(Vec::as_slice));
        self.gp.posteriors(&points).into_iter().map(|posterior| self.criterion.value(posterior)).collect()
    }

    fn score_with_grad(&self, x: &[f64], grad_x: &mut [f64]) -> f64 {
        let (mut grad_mean, mut grad_var) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        let posterior = self.gp.posterior_with_grad(x, &mut grad_mean, &mut grad_var);
        let (value, in_mean, in_std) = self.criterion.value_and_slopes(posterior);
        let in_var = if posterior.var > MIN_VAR { in_std / (2.0 * posterior.var.sqrt()) } else { 0.0 };
        for j in 0..x.len() {
            grad_x[j] = in_mean * grad_mean[j] + in_var * grad_var[j];
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::super::{Kernel, *};
    use super::*;
    use proptest::prelude::*;

    /// ln Φ and ln h at points of the bulk and of the tail, by arithmetic with hundreds of digits.
    const EXACT: [(f64, f64, f64); 8] = [
        (3.0, -0.0013508099647481938, 1.0987396653277077),
        (0.5, -0.3689464152886564, -0.3598276837450638),
        (-1.0, -1.8410216450092636, -2.4851210257126413),
        (-3.9, -9.942304391691357, -11.410393270072435),
        (-4.1, -10.787431773744634, -12.296899546413044),
        (-10.0, -53.23128515051247, -55.55312203612235),
        (-40.0, -804.6084420137538, -808.29856835662),
        (-100.0, -5005.524208694205, -5010.12957880025),
    ];

    #[test]
    fn both_logs_are_exact_in_the_bulk_and_in_the_tail() {
        for (z, ln_cdf, ln_improvement) in EXACT {
            let (got_cdf, got_improvement) = (ln_below(z).0, ln_h(z).0);
            assert!((got_cdf / ln_cdf - 1.0).abs() < 1e-13, "ln Φ({z}) = {ln_cdf}, got {got_cdf}");
            assert!(
                (got_improvement / ln_improvement - 1.0).abs() < 1e-12,
                "ln h({z}) = {ln_improvement}, got {got_improvement}"
            );
        }
    }

    proptest! {
        #[test]
        fn slopes_equal_finite_differences(z in -60.0..8.0f64) {
            for function in [ln_h, ln_below] {
                let h = 1e-5 * (1.0 + z.abs());
                let expected = (function(z + h).0 - function(z - h).0) / (2.0 * h);
                prop_assert!((function(z).1 - expected).abs() < 1e-5 * (1.0 + expected.abs()), "{z}");
            }
        }

        #[test]
        fn gradients_in_x_equal_finite_differences(u in 0.0..1.0f64, v in 0.0..1.0f64, seed in 0..20_u64) {
            let (hyper, data) = example(Kernel::SquaredExponential, 10, seed);
            let gp = Gp::new(hyper, &data);
            for criterion in
                [Criterion::LogEi { best: 2.0 }, Criterion::LogPi { best: 2.0 }, Criterion::Ucb { beta: 2.0 }]
            {
                let score = AcquisitionFunction { gp: &gp, criterion };
                let mut grad_x = [0.0; 2];
                let value = score.score_with_grad(&[u, v], &mut grad_x);
                let h = 1e-5;
                let moved = score.scores(&[
                    vec![u, v], vec![u + h, v], vec![u - h, v], vec![u, v + h], vec![u, v - h],
                ]);
                prop_assert!((value - moved[0]).abs() < 1e-7 * (1.0 + value.abs()));
                for j in 0..2 {
                    let expected = (moved[2 * j + 1] - moved[2 * j + 2]) / (2.0 * h);
                    prop_assert!((grad_x[j] - expected).abs() < 1e-3 * (1.0 + expected.abs()));
                }
            }
        }
    }

    #[test]
    fn improvement_can_be_climbed_where_it_underflows() {
        let far = |mean| Criterion::LogEi { best: 0.0 }.value(Posterior { mean, var: 1e-6 });
        assert!(far(-10.0).is_finite() && far(-9.0) > far(-10.0));
        let certain = Criterion::LogPi { best: 0.0 }.value(Posterior { mean: -1e8, var: 0.0 });
        assert!(certain.is_finite());
    }
}
