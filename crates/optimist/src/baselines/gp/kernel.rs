//! How the correlation of two values falls with the distance of their points.
//!
//! Kernels are functions of the *squared* distance s between points that are divided by the lengthscales: so are
//! their slopes, which have no singularity at s = 0 and give all gradients, in x and in the lengthscales.

use super::Hyper;
use crate::linalg::{Matrix, squared_distance};

/// A stationary kernel with value 1 at distance 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernel {
    /// exp(−s/2): functions with all derivatives. BoTorch's default since 0.12.
    SquaredExponential,
    /// (1 + √5s + 5s/3) exp(−√5s): functions with two derivatives. TuRBO's.
    Matern52,
}

impl Kernel {
    /// The correlation at squared distance s.
    pub fn value(self, s: f64) -> f64 {
        match self {
            Self::SquaredExponential => (-0.5 * s).exp(),
            Self::Matern52 => {
                let r = (5.0 * s).sqrt();
                (1.0 + r + r * r / 3.0) * (-r).exp()
            }
        }
    }

    /// The correlation at squared distance s, and its derivative in s.
    pub fn value_and_slope(self, s: f64) -> (f64, f64) {
        match self {
            Self::SquaredExponential => {
                let value = (-0.5 * s).exp();
                (value, -0.5 * value)
            }
            Self::Matern52 => {
                let r = (5.0 * s).sqrt();
                let decay = (-r).exp();
                ((1.0 + r + r * r / 3.0) * decay, -5.0 / 6.0 * (1.0 + r) * decay)
            }
        }
    }
}

impl Hyper {
    /// x over the lengthscales.
    pub(super) fn scaled(&self, x: &[f64]) -> Vec<f64> {
        x.iter().zip(&self.lengthscales).map(|(x, lengthscale)| x / lengthscale).collect()
    }

    /// Prior covariances of the values at two sets of scaled points. (rows of a, rows of b)
    pub(super) fn gram(&self, a: &Matrix, b: &Matrix) -> Matrix {
        let mut gram = Matrix::zeros(a.rows(), b.rows());
        for (i, z) in a.iter_rows().enumerate() {
            for (entry, other) in gram.row_mut(i).iter_mut().zip(b.iter_rows()) {
                *entry = self.signal_var * self.kernel.value(squared_distance(z, other));
            }
        }
        gram
    }

    /// Prior covariances of the value at scaled point z with those at the rows of `points`.
    pub(super) fn covariances(&self, points: &Matrix, z: &[f64]) -> Vec<f64> {
        let covariance = |other: &[f64]| self.signal_var * self.kernel.value(squared_distance(z, other));
        points.iter_rows().map(covariance).collect()
    }

    /// Prior covariances as by `covariances`, with their derivatives in the squared distances.
    pub(super) fn covariances_and_slopes(&self, points: &Matrix, z: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let both = |other: &[f64]| {
            let (value, slope) = self.kernel.value_and_slope(squared_distance(z, other));
            (self.signal_var * value, self.signal_var * slope)
        };
        points.iter_rows().map(both).unzip()
    }
}

/// Each row over the lengthscales.
pub(super) fn scaled(x: &Matrix, lengthscales: &[f64]) -> Matrix {
    Matrix::from_fn(x.rows(), x.cols(), |i, j| x[(i, j)] / lengthscales[j])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_equal_finite_differences() {
        for kernel in [Kernel::SquaredExponential, Kernel::Matern52] {
            for s in [1e-3, 0.1, 1.0, 7.0, 50.0] {
                let (value, slope) = kernel.value_and_slope(s);
                let h = 1e-4 * s;
                let expected = (kernel.value(s + h) - kernel.value(s - h)) / (2.0 * h);
                assert!((slope - expected).abs() < 1e-6 * (1.0 + expected.abs()), "{kernel:?} at {s}");
                assert_eq!(value, kernel.value(s));
            }
        }
    }

    #[test]
    fn a_value_is_fully_correlated_with_itself() {
        for kernel in [Kernel::SquaredExponential, Kernel::Matern52] {
            assert_eq!(kernel.value(0.0), 1.0);
            assert!(kernel.value_and_slope(0.0).1.is_finite());
        }
    }
}
