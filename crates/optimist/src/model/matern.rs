//! A Gaussian process with a Matérn-5/2 kernel: infinitely many weights, so none are stored.
//!
//! f ~ GP(0, c² + a² k(r)) with k(r) = (1 + √5 r + 5r²/3) e^(−√5 r) and r² = Σ_j (x_j − x'_j)²/ℓ_j². It is a family that is
//! linear in infinitely many weights: inner products of its gradients are values of the kernel, and the dual form of the ball
//! needs nothing else.
//!
//! Fitted by evidence: log a, then log ℓ_j for each coordinate. c is fixed: where there are no data, values are about their mean.

use super::{Family, Point, Points, Scale};
use crate::linalg::{Matrix, add_scaled, dot, squared_distance};

/// Prior standard deviation of the constant, on standardised values.
const CONSTANT_STD: f64 = 1.0;

/// Mean of the hyper-prior of log ℓ for one coordinate: about a third of the cube's side. Scores of answers after 30 trials on 20
/// functions of 2 to 20 dimensions, with and without noise, of the process alone: 58 at −0.5, 57 at 0, 42 at 0.7
/// (docs/results/log.md).
const LENGTHSCALE: f64 = -0.5;

const SQRT_5: f64 = 2.236_067_977_499_79;

/// A Gaussian process as a [`Family`]; see the module.
#[derive(Debug, Clone)]
pub struct Matern {
    /// 1/ℓ_j for each coordinate.
    inverse_lengthscales: Vec<f64>,
    amplitude: f64,
    lengthscale_scale: Scale,
}

impl Matern {
    /// A process on [-1, 1]^d_x. Lengthscales grow with √d_x, as distances do.
    pub fn new(d_x: usize) -> Self {
        let lengthscale_scale = Scale { mean: LENGTHSCALE + 0.5 * (d_x.max(1) as f64).ln(), std: 1.0 };
        let mut family = Self { inverse_lengthscales: vec![1.0; d_x], amplitude: 1.0, lengthscale_scale };
        let log_scales: Vec<f64> = family.scales().iter().map(|scale| scale.mean).collect();
        family.set_scales(&log_scales);
        family
    }

    /// The kernel for each pair of embedded rows: from e·e' (overwritten) and the squared lengths.
    fn kernels(&self, products: &mut Matrix, a: Points<'_>, b: Points<'_>, kernel: impl Fn(f64) -> f64) {
        let lengths = |points: Points<'_>| points.e.iter_rows().map(|e| dot(e, e)).collect::<Vec<f64>>();
        let (of_a, of_b) = (lengths(a), lengths(b));
        for (i, of_a) in of_a.iter().enumerate() {
            for (product, of_b) in products.row_mut(i).iter_mut().zip(&of_b) {
                *product = kernel((of_a + of_b - 2.0 * *product).max(0.0));
            }
        }
    }

    /// c² + a² k, given r².
    fn covariance(&self, squared: f64) -> f64 {
        CONSTANT_STD * CONSTANT_STD + self.amplitude * self.amplitude * matern(squared)
    }
}

/// The kernel k, given r².
fn matern(squared: f64) -> f64 {
    let r = SQRT_5 * squared.sqrt();
    (1.0 + r + r * r / 3.0) * (-r).exp()
}

/// The slope of the kernel in r², given r².
fn matern_slope(squared: f64) -> f64 {
    let r = SQRT_5 * squared.sqrt();
    -5.0 / 6.0 * (1.0 + r) * (-r).exp()
}

impl Family for Matern {
    fn dimension(&self) -> usize {
        self.inverse_lengthscales.len()
    }

    fn n_weights(&self) -> usize {
        0
    }

    /// The prior mean, 0.
    fn value(&self, _w: &[f64], _x: &[f64]) -> f64 {
        0.0
    }

    fn is_linear(&self) -> bool {
        true
    }

    fn is_parametric(&self) -> bool {
        false
    }

    fn scales(&self) -> Vec<Scale> {
        let mut scales = vec![self.lengthscale_scale; self.dimension() + 1];
        scales[0] = Scale { mean: 0.0, std: 1.0 };
        scales
    }

    fn set_scales(&mut self, log_scales: &[f64]) {
        self.amplitude = log_scales[0].exp();
        self.inverse_lengthscales =
            log_scales[1..].iter().map(|log_lengthscale| (-log_lengthscale).exp()).collect();
    }

    fn n_embedded(&self) -> usize {
        self.dimension()
    }

    /// x_j/ℓ_j: distances between these are what the kernel sees.
    fn embed(&self, _w: &[f64], x: &[f64], out: &mut [f64]) {
        for ((out, x), inverse) in out.iter_mut().zip(x).zip(&self.inverse_lengthscales) {
            *out = x * inverse;
        }
    }

    fn gram(&self, a: Points<'_>, b: Points<'_>) -> Matrix {
        let mut gram = a.e.product_transposed(b.e);
        self.kernels(&mut gram, a, b, |squared| self.covariance(squared));
        gram
    }

    fn gram_row(&self, x: Point<'_>, points: Points<'_>, out: &mut [f64]) {
        for (out, e) in out.iter_mut().zip(points.e.iter_rows()) {
            *out = self.covariance(squared_distance(x.e, e));
        }
    }

    fn gram_self(&self, _x: Point<'_>) -> f64 {
        self.covariance(0.0)
    }

    fn gram_grad_scales(&self, points: Points<'_>, m: &Matrix, out: &mut [f64]) {
        let variance = self.amplitude * self.amplitude;
        let mut squared = points.e.product_transposed(points.e);
        self.kernels(&mut squared, points, points, |squared| squared);
        let mut slopes = Matrix::zeros(m.rows(), m.cols()); // m_ij ∂gram_ij/∂(r²)
        let mut in_amplitude = 0.0;
        for i in 0..m.rows() {
            for ((slope, m), squared) in slopes.row_mut(i).iter_mut().zip(m.row(i)).zip(squared.row(i)) {
                in_amplitude += m * matern(*squared);
                *slope = m * variance * matern_slope(*squared);
            }
        }
        out[0] = 2.0 * variance * in_amplitude;
        // r² moves with log ℓ_j by −2 (e_ij − e_kj)².
        let weighted = slopes.view().product(points.e); // (n, d_x)
        out[1..].fill(0.0);
        for (i, e) in points.e.iter_rows().enumerate() {
            let total: f64 = slopes.row(i).iter().sum();
            for ((out, e), weighted) in out[1..].iter_mut().zip(e).zip(weighted.row(i)) {
                *out -= 4.0 * (total * e * e - e * weighted);
            }
        }
    }

    fn gram_grad_x(
        &self,
        _w: &[f64],
        x: Point<'_>,
        points: Points<'_>,
        v: &[f64],
        _v_self: f64, // ‖∇f_x‖² is the same everywhere
        out: &mut [f64],
    ) {
        let variance = self.amplitude * self.amplitude;
        out.fill(0.0);
        let mut total = 0.0;
        for (e, v) in points.e.iter_rows().zip(v) {
            let slope = 2.0 * v * variance * matern_slope(squared_distance(x.e, e));
            total += slope;
            add_scaled(-slope, e, out);
        }
        for ((out, e), inverse) in out.iter_mut().zip(x.e).zip(&self.inverse_lengthscales) {
            *out = (*out + total * e) * inverse;
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::model::Embedded;
    use crate::optimizer::rng;

    fn example() -> (Matern, Embedded, Embedded) {
        let mut family = Matern::new(3);
        family.set_scales(&[0.3, -0.4, 0.2, 0.9]);
        let mut rng = rng(0, 0);
        let mut points =
            |n| Embedded::new(&family, &[], Matrix::from_fn(n, 3, |_, _| rng.random_range(-1.0..1.0)));
        let (a, b) = (points(7), points(4));
        (family, a, b)
    }

    /// The kernel by its definition, with plain loops.
    fn covariance(family: &Matern, a: &[f64], b: &[f64]) -> f64 {
        let scaled =
            a.iter().zip(b).zip(&family.inverse_lengthscales).map(|((a, b), i)| ((a - b) * i).powi(2));
        let r = scaled.sum::<f64>().sqrt();
        1.0 + family.amplitude.powi(2)
            * (1.0 + 5f64.sqrt() * r + 5.0 / 3.0 * r * r)
            * (-(5f64.sqrt()) * r).exp()
    }

    #[test]
    fn inner_products_are_values_of_the_kernel() {
        let (family, a, b) = example();
        let gram = family.gram(a.points(), b.points());
        for i in 0..7 {
            let mut row = vec![0.0; 4];
            family.gram_row(a.point(i), b.points(), &mut row);
            for j in 0..4 {
                let expected = covariance(&family, a.x.row(i), b.x.row(j));
                assert!((gram[(i, j)] - expected).abs() < 1e-12 && (row[j] - expected).abs() < 1e-12);
            }
            assert!(
                (family.gram_self(a.point(i)) - covariance(&family, a.x.row(i), a.x.row(i))).abs() < 1e-12
            );
        }
    }

    #[test]
    fn gradients_in_scales_are_differences() {
        let (mut family, a, _) = example();
        let mut rng = rng(1, 0);
        let mut m = Matrix::from_fn(7, 7, |_, _| rng.random_range(-1.0..1.0));
        for i in 0..7 {
            for j in 0..i {
                m[(i, j)] = m[(j, i)];
            }
        }
        let mut gradient = vec![0.0; 4];
        family.gram_grad_scales(a.points(), &m, &mut gradient);
        let scales = [0.3, -0.4, 0.2, 0.9];
        let mut weighted = |scales: &[f64]| -> f64 {
            family.set_scales(scales);
            let a = Embedded::new(&family, &[], a.x.clone());
            dot(family.gram(a.points(), a.points()).data(), m.data())
        };
        for k in 0..4 {
            let mut moved = |by: f64| {
                let mut scales = scales;
                scales[k] += by;
                weighted(&scales)
            };
            let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((gradient[k] - difference).abs() < 1e-6, "{k}: {} and {difference}", gradient[k]);
        }
    }

    #[test]
    fn gradients_in_x_are_differences() {
        let (family, a, b) = example();
        let v = [0.3, -1.0, 0.7, 0.2];
        let weighted = |x: &[f64]| -> f64 { (0..4).map(|j| v[j] * covariance(&family, x, b.x.row(j))).sum() };
        let mut gradient = vec![0.0; 3];
        family.gram_grad_x(&[], a.point(2), b.points(), &v, 0.5, &mut gradient);
        for j in 0..3 {
            let moved = |by: f64| {
                let mut x = a.x.row(2).to_vec();
                x[j] += by;
                weighted(&x)
            };
            let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((gradient[j] - difference).abs() < 1e-8, "{j}: {} and {difference}", gradient[j]);
        }
    }
}
