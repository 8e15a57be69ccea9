//! How likely the data are under the hyper-parameters: log N(y; mean, K + noise), with its gradient.

use super::kernel::scaled;
use super::{Data, Hyper};
use crate::evidence::Evidence;
use crate::linalg::{Cholesky, Matrix, dot, squared_distance};

/// The log marginal likelihood and its derivatives.
#[derive(Debug, Clone, PartialEq)]
pub struct LogLikelihood {
    /// The log marginal likelihood, log N(y; mean, K + noise).
    pub value: f64,
    /// For each coordinate, the derivative in the log of the lengthscale.
    pub grad_log_lengthscales: Vec<f64>,
    /// Derivative in the log of the signal variance.
    pub grad_log_signal_var: f64,
    /// Derivative in the log of the noise variance.
    pub grad_log_noise_var: f64,
    /// Derivative in the mean.
    pub grad_mean: f64,
}

impl LogLikelihood {
    /// The likelihood of the data; `None` if K + noise is not positive definite to working precision.
    pub fn new(hyper: &Hyper, data: &Data) -> Option<Self> {
        let prior = PriorCovariance::new(hyper, data)?;
        Some(prior.log_likelihood(hyper, data))
    }

    /// The likelihood with the most likely mean, which has a closed form and is stored in `hyper`.
    pub fn with_best_mean(hyper: &mut Hyper, data: &Data) -> Option<Self> {
        let prior = PriorCovariance::new(hyper, data)?;
        let weights = prior.factor.solve(&vec![1.0; data.y.len()]);
        hyper.mean = dot(&weights, &data.y) / weights.iter().sum::<f64>();
        Some(prior.log_likelihood(hyper, data))
    }
}

/// K + noise, factored, with what the gradient is computed from.
struct PriorCovariance {
    /// Points over lengthscales. (t, d)
    z: Matrix,
    /// K, without noise. (t, t)
    gram: Matrix,
    /// Its derivative in the squared distances. (t, t)
    slopes: Matrix,
    factor: Cholesky,
}

impl PriorCovariance {
    fn new(hyper: &Hyper, data: &Data) -> Option<Self> {
        let t = data.y.len();
        let z = scaled(&data.x, &hyper.lengthscales);
        let (mut gram, mut slopes) = (Matrix::zeros(t, t), Matrix::zeros(t, t));
        for i in 0..t {
            for j in 0..=i {
                let (value, slope) = hyper.kernel.value_and_slope(squared_distance(z.row(i), z.row(j)));
                gram[(i, j)] = hyper.signal_var * value;
                gram[(j, i)] = hyper.signal_var * value;
                slopes[(i, j)] = hyper.signal_var * slope;
                slopes[(j, i)] = hyper.signal_var * slope;
            }
        }
        let mut noisy = gram.clone();
        for (i, known) in data.known_noise_var.iter().enumerate() {
            noisy[(i, i)] += hyper.noise_var + known;
        }
        let factor = Cholesky::new(&noisy)?;
        Some(Self { z, gram, slopes, factor })
    }

    fn log_likelihood(self, hyper: &Hyper, data: &Data) -> LogLikelihood {
        let residuals: Vec<f64> = data.y.iter().map(|y| y - hyper.mean).collect();
        let evidence = Evidence::from_factor(self.factor, &residuals);
        let grad_gram = evidence.grad_gram();
        // With S = ∂L/∂(squared distances), ∂L/∂ ln l_j = −2 Σ_ab S_ab (z_aj − z_bj)²: one matrix product for all j.
        let mut s = self.slopes;
        s.data_mut().iter_mut().zip(grad_gram.data()).for_each(|(s, grad)| *s *= grad);
        let products = s.product(&self.z); // (t, d)
        let mut grad_log_lengthscales = vec![0.0; self.z.cols()];
        for (i, z) in self.z.iter_rows().enumerate() {
            let row_sum: f64 = s.row(i).iter().sum();
            for (j, grad) in grad_log_lengthscales.iter_mut().enumerate() {
                *grad -= 4.0 * z[j] * (row_sum * z[j] - products[(i, j)]);
            }
        }
        LogLikelihood {
            value: evidence.value,
            grad_log_lengthscales,
            grad_log_signal_var: dot(grad_gram.data(), self.gram.data()),
            grad_log_noise_var: hyper.noise_var
                * (0..grad_gram.rows()).map(|i| grad_gram[(i, i)]).sum::<f64>(),
            grad_mean: evidence.alpha.iter().sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::super::{Kernel, *};
    use super::*;

    #[test]
    fn gradients_equal_finite_differences() {
        for kernel in [Kernel::SquaredExponential, Kernel::Matern52] {
            let (hyper, data) = example(kernel, 15, 3);
            let at = LogLikelihood::new(&hyper, &data).unwrap();
            let slope = |change: &dyn Fn(&mut Hyper, f64)| {
                let value = |step: f64| {
                    let mut moved = hyper.clone();
                    change(&mut moved, step);
                    LogLikelihood::new(&moved, &data).unwrap().value
                };
                (value(1e-5) - value(-1e-5)) / 2e-5
            };
            let expected = [
                slope(&|hyper, step| hyper.lengthscales[0] *= step.exp()),
                slope(&|hyper, step| hyper.lengthscales[1] *= step.exp()),
                slope(&|hyper, step| hyper.signal_var *= step.exp()),
                slope(&|hyper, step| hyper.noise_var *= step.exp()),
                slope(&|hyper, step| hyper.mean += step),
            ];
            let LogLikelihood { grad_log_lengthscales: by_length, .. } = &at;
            let got =
                [by_length[0], by_length[1], at.grad_log_signal_var, at.grad_log_noise_var, at.grad_mean];
            for (got, expected) in got.iter().zip(expected) {
                assert!((got - expected).abs() < 1e-5 * (1.0 + expected.abs()), "{got} {expected}");
            }
        }
    }

    #[test]
    fn no_other_mean_makes_the_data_more_likely_than_the_best() {
        let (mut hyper, data) = example(Kernel::Matern52, 15, 4);
        let best = LogLikelihood::with_best_mean(&mut hyper, &data).unwrap();
        assert!(best.grad_mean.abs() < 1e-8);
        assert!(best.value > LogLikelihood::new(&example(Kernel::Matern52, 15, 4).0, &data).unwrap().value);
    }
}
