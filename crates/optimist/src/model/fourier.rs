//! Random Fourier features: as flexible as a Gaussian process, but parametric and linear in w.
//!
//! f_w(x) = Σ_k w_k cos θ_k + w_{m+k} sin θ_k with θ_k = Σ_j ω_kj x_j / ℓ_j, for m random frequencies ω_k.
//! With w ~ N(0, a²/m) the gradients' inner product is a²/m Σ_k cos(θ_k − θ'_k), whose expectation over the
//! frequencies is a² times the kernel they were drawn for: the squared exponential
//! exp(−½ Σ_j (x_j − x'_j)²/ℓ_j²), or Matérn-5/2.
//!
//! Fitted by evidence: log a, then log ℓ_j for each coordinate.
//!
//! Fewer features suffice than with independent frequencies: directions are orthogonal within blocks of
//! d_x, and radii are stratified. Each ω_k alone still has exactly the kernel's distribution.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_distr::{ChiSquared, Distribution, StandardNormal};

use super::{Family, Point, Points, Scale};
use crate::linalg::{Matrix, add_scaled, dot, vectorized};
use crate::optimizer::{Rng, rng};

/// The kernel that the features approximate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kernel {
    /// Infinitely smooth functions.
    #[default]
    SquaredExponential,
    /// Twice differentiable functions: frequencies with the tails of Student's t with 5 degrees of freedom.
    Matern52,
}

/// Random Fourier features; see the module.
#[derive(Debug, Clone)]
pub struct Fourier {
    /// ω for lengthscales of 1: one row per coordinate, one column per frequency. (d_x, m)
    unit_frequencies: Matrix,
    /// ω_kj / ℓ_j, in the same order.
    frequencies: Matrix,
    amplitude: f64,
    /// Hyper-prior of log a.
    amplitude_scale: Scale,
    /// Hyper-prior of each log ℓ_j.
    lengthscale_scale: Scale,
}

impl Fourier {
    /// Features of the squared-exponential kernel; an odd `n_features` is rounded up, as cosines and sines
    /// come in pairs. The same seed gives the same frequencies.
    pub fn new(d_x: usize, n_features: usize, seed: u64) -> Self {
        Self::with_kernel(Kernel::default(), d_x, n_features, seed)
    }

    /// Features for what another family leaves unexplained: at most about half its spread, in bumps that are small compared with
    /// the distances between random points, since another family has the trend. Matérn's frequencies have heavy tails: a value that
    /// only its neighbourhood can explain is believed there, not taken for luck.
    pub fn residual(d_x: usize, n_features: usize, seed: u64) -> Self {
        let amplitude = Scale { mean: -1.0, std: 1.0 };
        let lengthscale = Scale { mean: 0.5 * (d_x as f64).ln() - 0.5, std: 0.7 };
        Self::with_scales(Kernel::Matern52, d_x, n_features, seed, amplitude, lengthscale)
    }

    /// Features of the given kernel, for an objective as a whole: lengthscales grow with √d_x, as distances do
    /// (Hvarfner et al. 2024: log ℓ ~ N(√2 + ½ log d_x, 3) on the unit cube; log 2 more on [-1, 1]). Our standard
    /// deviation of 0.7 is tighter than their √3: a few dozen trials cannot tell d_x free lengthscales apart.
    pub fn with_kernel(kernel: Kernel, d_x: usize, n_features: usize, seed: u64) -> Self {
        let amplitude = Scale { mean: 0.0, std: 1.0 };
        let mean = std::f64::consts::SQRT_2 + 0.5 * (d_x as f64).ln() + 2f64.ln();
        Self::with_scales(kernel, d_x, n_features, seed, amplitude, Scale { mean, std: 0.7 })
    }

    fn with_scales(
        kernel: Kernel,
        d_x: usize,
        n_features: usize,
        seed: u64,
        amplitude_scale: Scale,
        lengthscale_scale: Scale,
    ) -> Self {
        let unit_frequencies = draw_frequencies(kernel, d_x, n_features.div_ceil(2), &mut rng(seed, 0));
        let frequencies = unit_frequencies.clone();
        let mut family =
            Self { frequencies, unit_frequencies, amplitude: 1.0, amplitude_scale, lengthscale_scale };
        let log_scales: Vec<f64> = family.scales().iter().map(|scale| scale.mean).collect();
        family.set_scales(&log_scales);
        family
    }

    fn n_frequencies(&self) -> usize {
        self.frequencies.cols()
    }

    /// Standard deviation of every weight, a/√m.
    fn weight_std(&self) -> f64 {
        self.amplitude / (self.n_frequencies() as f64).sqrt()
    }

    /// All cosines, then all sines.
    fn features(&self, x: &[f64], out: &mut [f64]) {
        let (cosines, angles) = out.split_at_mut(self.n_frequencies());
        self.frequencies.view().transposed_times_into(x, angles);
        vectorized(cos_sin, (cosines, angles));
    }

    /// ∇_x of `along`·features, given the features (or any multiple of them).
    fn grad_x_of_features(&self, along: &mut [f64], features: &[f64], out: &mut [f64]) {
        let (slopes, along_sin) = along.split_at_mut(self.n_frequencies());
        turn(slopes, along_sin, features);
        self.frequencies.view().times_into(slopes, out);
    }
}

impl Family for Fourier {
    fn dimension(&self) -> usize {
        self.frequencies.rows()
    }

    fn n_weights(&self) -> usize {
        2 * self.n_frequencies()
    }

    fn value(&self, w: &[f64], x: &[f64]) -> f64 {
        let mut features = vec![0.0; self.n_weights()];
        self.features(x, &mut features);
        dot(w, &features)
    }

    fn grad_w(&self, _w: &[f64], x: &[f64], out: &mut [f64]) {
        self.features(x, out);
    }

    fn grad_x(&self, w: &[f64], x: &[f64], out: &mut [f64]) {
        let mut features = vec![0.0; self.n_weights()];
        self.features(x, &mut features);
        self.grad_x_of_features(&mut w.to_vec(), &features, out);
    }

    fn grad_x_along(&self, _w: &[f64], v: &[f64], x: &[f64], out: &mut [f64]) {
        self.grad_x(v, x, out);
    }

    fn is_linear(&self) -> bool {
        true
    }

    fn scales(&self) -> Vec<Scale> {
        let mut scales = vec![self.lengthscale_scale; self.dimension() + 1];
        scales[0] = self.amplitude_scale;
        scales
    }

    fn set_scales(&mut self, log_scales: &[f64]) {
        self.amplitude = log_scales[0].exp();
        for (j, log_lengthscale) in log_scales[1..].iter().enumerate() {
            let factor = (-log_lengthscale).exp();
            let unit = self.unit_frequencies.row(j);
            self.frequencies.row_mut(j).iter_mut().zip(unit).for_each(|(omega, unit)| *omega = factor * unit);
        }
    }

    fn prior_std(&self, out: &mut [f64]) {
        out.fill(self.weight_std());
    }

    fn embed(&self, _w: &[f64], x: &[f64], out: &mut [f64]) {
        self.features(x, out);
        let std = self.weight_std();
        out.iter_mut().for_each(|e| *e *= std);
    }

    fn gram_within(&self, points: Points<'_>) -> Matrix {
        points.e.product_transposed_lower(points.e)
    }

    fn gram_grad_scales(&self, points: Points<'_>, m: &Matrix, out: &mut [f64]) {
        // Σ_ij m_ij e_i·e_j moves by 2 Σ_i (ME)_i·∂e_i, and e_i moves with ℓ only through its angles.
        let mut weighted = m.view().product(points.e); // (n, 2m)
        out[0] = 2.0 * weighted.iter_rows().zip(points.e.iter_rows()).map(|(w, e)| dot(w, e)).sum::<f64>();
        let mut slopes = Matrix::zeros(points.x.rows(), self.n_frequencies());
        for (i, e) in points.e.iter_rows().enumerate() {
            let (along_cos, along_sin) = weighted.row_mut(i).split_at_mut(self.n_frequencies());
            turn(along_cos, along_sin, e);
            slopes.row_mut(i).copy_from_slice(along_cos);
        }
        let grad_x = slopes.product_transposed(&self.frequencies); // (n, d_x)
        out[1..].fill(0.0);
        for (grad_x, x) in grad_x.iter_rows().zip(points.x.iter_rows()) {
            for ((out_j, g), x_j) in out[1..].iter_mut().zip(grad_x).zip(x) {
                *out_j -= 2.0 * g * x_j;
            }
        }
    }

    fn gram_grad_x(
        &self,
        _w: &[f64],
        x: Point<'_>,
        points: Points<'_>,
        v: &[f64],
        _v_self: f64, // ‖∇f_x‖² is a² everywhere
        out: &mut [f64],
    ) {
        let mut along = points.e.transposed_times(v);
        self.grad_x_of_features(&mut along, x.e, out);
    }
}

/// Replaces `along_cos` by the derivative of along·(cos θ, sin θ) in each angle θ_k.
fn turn(along_cos: &mut [f64], along_sin: &[f64], features: &[f64]) {
    let (cosines, sines) = features.split_at(along_cos.len());
    for (((slope, along_sin), cosine), sine) in along_cos.iter_mut().zip(along_sin).zip(cosines).zip(sines) {
        *slope = along_sin * cosine - *slope * sine;
    }
}

/// One row per coordinate, one column per frequency.
fn draw_frequencies(kernel: Kernel, d_x: usize, count: usize, rng: &mut Rng) -> Matrix {
    let radii = stratified_radii(kernel, d_x, count, rng);
    let mut frequencies = Matrix::zeros(d_x, count);
    let mut directions = Matrix::default();
    for (k, radius) in radii.into_iter().enumerate() {
        if k % d_x == 0 {
            directions = orthonormal_rows(d_x.min(count - k), d_x, rng);
        }
        for (j, direction) in directions.row(k % d_x).iter().enumerate() {
            frequencies[(j, k)] = radius * direction;
        }
    }
    frequencies
}

/// One draw from each of `count` strata of the radius' distribution, in random order.
fn stratified_radii(kernel: Kernel, d_x: usize, count: usize, rng: &mut Rng) -> Vec<f64> {
    const DRAWS_PER_STRATUM: usize = 32;
    let squared_length = ChiSquared::new(d_x as f64).expect("a space has at least one dimension");
    let tail = ChiSquared::new(5.0).expect("5 is positive");
    let mut radius = || {
        let squared: f64 = squared_length.sample(rng);
        match kernel {
            Kernel::SquaredExponential => squared.sqrt(),
            Kernel::Matern52 => (squared * 5.0 / tail.sample(rng)).sqrt(),
        }
    };
    let mut draws: Vec<f64> = (0..count * DRAWS_PER_STRATUM).map(|_| radius()).collect();
    draws.sort_by(f64::total_cmp);
    let pick = |stratum: &[f64]| stratum[rng.random_range(0..DRAWS_PER_STRATUM)];
    let mut radii: Vec<f64> = draws.chunks_exact(DRAWS_PER_STRATUM).map(pick).collect();
    radii.shuffle(rng);
    radii
}

/// The first `count` rows of a uniformly random orthogonal matrix: Gaussian ones, made orthonormal one after the other.
fn orthonormal_rows(count: usize, size: usize, rng: &mut Rng) -> Matrix {
    let mut rows = Matrix::zeros(0, size);
    while rows.rows() < count {
        let mut row: Vec<f64> = (0..size).map(|_| StandardNormal.sample(rng)).collect();
        for _ in 0..2 {
            // Twice: the second pass removes what rounding left of the first.
            for earlier in 0..rows.rows() {
                let overlap = dot(&row, rows.row(earlier));
                add_scaled(-overlap, rows.row(earlier), &mut row);
            }
        }
        let length = dot(&row, &row).sqrt();
        if length > 1e-9 {
            row.iter_mut().for_each(|entry| *entry /= length);
            rows.push_row(&row);
        }
    }
    rows
}

/// Turns angles, given in `sin`, into their cosines and sines.
///
/// Our own, because this is where the time goes: without branches or calls the compiler uses vector
/// registers, and results do not depend on the C library.
/// Absolute error below 4e-16 for angles to a million; larger ones take the slow way.
#[inline(always)]
fn cos_sin((cos, sin): (&mut [f64], &mut [f64])) {
    if sin.iter().any(|angle| angle.abs() > 1e6) {
        for (cos, sin) in cos.iter_mut().zip(sin) {
            (*sin, *cos) = sin.sin_cos();
        }
        return;
    }
    for (cos, sin) in cos.iter_mut().zip(sin) {
        (*cos, *sin) = cos_sin_of(*sin);
    }
}

#[inline(always)]
fn cos_sin_of(angle: f64) -> (f64, f64) {
    /// Adding it rounds to an integer, whose parity is then the last bit.
    const ROUND: f64 = 6_755_399_441_055_744.0; // 1.5 · 2^52
    /// π in two parts: multiples of the first are exact up to a million.
    const PI_HIGH: f64 = 3.141_592_653_468_251_2;
    const PI_LOW: f64 = 1.215_420_101_301_238_4e-10;

    let rounded = angle * std::f64::consts::FRAC_1_PI + ROUND;
    let half_turns = rounded - ROUND;
    let sign = rounded.to_bits() << 63;
    let r = (angle - half_turns * PI_HIGH) - half_turns * PI_LOW; // in [-π/2, π/2]
    let r2 = r * r;
    let (mut cos, mut sin) = (COS[0], SIN[0]);
    for k in 1..COS.len() {
        cos = cos * r2 + COS[k];
        sin = sin * r2 + SIN[k];
    }
    let flip = |value: f64| f64::from_bits(value.to_bits() ^ sign);
    (flip(cos), flip(sin * r))
}

/// Taylor coefficients (−1)^k/(2k)! of cos, highest first; the next term is below 2e-17 at π/2.
const COS: [f64; 11] = taylor(0);
/// Taylor coefficients (−1)^k/(2k + 1)! of sin r / r, highest first.
const SIN: [f64; 11] = taylor(1);

const fn taylor(offset: usize) -> [f64; 11] {
    let mut coefficients = [1.0; 11];
    let mut k = 1;
    while k < 11 {
        let top = (2 * k + offset) as f64;
        coefficients[10 - k] = -coefficients[11 - k] / (top * (top - 1.0));
        k += 1;
    }
    coefficients
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Embedded;
    use crate::model::checks::check_family;

    fn gram_of_two(family: &Fourier, a: &[f64], b: &[f64]) -> f64 {
        let points = Embedded::new(family, &[], Matrix::from_rows(a.len(), [a, b]));
        family.gram(points.points(), points.points())[(0, 1)]
    }

    fn squared_exponential(a: &[f64], b: &[f64]) -> f64 {
        (-0.5 * a.iter().zip(b).map(|(p, q)| (p - q).powi(2)).sum::<f64>()).exp()
    }

    fn matern52(a: &[f64], b: &[f64]) -> f64 {
        let r = (5.0 * a.iter().zip(b).map(|(p, q)| (p - q).powi(2)).sum::<f64>()).sqrt();
        (1.0 + r + r * r / 3.0) * (-r).exp()
    }

    #[test]
    fn is_a_family() {
        for (d_x, n_features, seed) in [(1, 8, 0), (3, 31, 1), (5, 4, 2), (20, 64, 3)] {
            check_family(&mut Fourier::new(d_x, n_features, seed), seed);
            check_family(&mut Fourier::with_kernel(Kernel::Matern52, d_x, n_features, seed), seed);
        }
    }

    #[test]
    fn its_gram_is_on_average_the_kernel() {
        let kernels = [
            (Kernel::SquaredExponential, squared_exponential as fn(&[f64], &[f64]) -> f64),
            (Kernel::Matern52, matern52),
        ];
        let (a, b) = ([0.3, -0.8, 0.5], [-0.4, 0.1, 0.9]);
        for (kernel, exact) in kernels {
            let n_seeds = 400;
            let total: f64 = (0..n_seeds)
                .map(|seed| {
                    let mut family = Fourier::with_kernel(kernel, 3, 12, seed);
                    family.set_scales(&[2f64.ln(), 0.0, 0.0, 0.0]);
                    gram_of_two(&family, &a, &b)
                })
                .sum();
            let mean = total / n_seeds as f64;
            let expected = 4.0 * exact(&a, &b);
            assert!((mean - expected).abs() < 0.06, "{kernel:?}: {mean} is not {expected}");
        }
    }

    #[test]
    fn its_gram_is_nearer_the_kernel_than_independent_frequencies_would_be() {
        // Independent frequencies have variance (1 − k²)²/2m, so an rms error of 0.056 here.
        for (d_x, bound) in [(1, 0.015), (4, 0.035), (20, 0.035)] {
            let x = vec![1.5 / (d_x as f64).sqrt(); d_x];
            let zero = vec![0.0; d_x];
            let exact = squared_exponential(&x, &zero);
            let squared_error: f64 = (0..50)
                .map(|seed| {
                    let mut family = Fourier::new(d_x, 256, seed);
                    family.set_scales(&vec![0.0; d_x + 1]);
                    (gram_of_two(&family, &x, &zero) - exact).powi(2)
                })
                .sum();
            let rms = (squared_error / 50.0).sqrt();
            assert!(rms < bound, "d_x = {d_x}: rms error {rms}");
        }
    }

    #[test]
    fn cosines_and_sines_are_exact_to_rounding() {
        for i in 0..20_000 {
            let angle = (i as f64 - 10_000.0) * 0.137 * if i % 3 == 0 { 500.0 } else { 1.0 };
            let (mut cos, mut sin) = ([0.0], [angle]);
            cos_sin((&mut cos, &mut sin));
            assert!((cos[0] - angle.cos()).abs() < 4e-16, "cos {angle}");
            assert!((sin[0] - angle.sin()).abs() < 4e-16, "sin {angle}");
        }
        let (mut cos, mut sin) = ([0.0], [1e9]);
        cos_sin((&mut cos, &mut sin));
        assert_eq!((cos[0], sin[0]), (1e9f64.cos(), 1e9f64.sin()));
    }

    #[test]
    fn the_same_seed_gives_the_same_features() {
        let (a, b) = (Fourier::new(4, 32, 7), Fourier::new(4, 32, 7));
        assert_eq!(a.frequencies, b.frequencies);
        assert_ne!(a.frequencies, Fourier::new(4, 32, 8).frequencies);
    }
}
