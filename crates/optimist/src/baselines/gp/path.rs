//! Whole functions drawn from the posterior, cheap to evaluate at many points: what Thompson sampling maximises.
//!
//! Matheron's rule (Wilson et al. 2020, "Efficiently sampling functions from Gaussian process posteriors"): a draw f
//! from the *prior* becomes one from the posterior by adding k(x, X) (K + noise)⁻¹ (y − f(X) − ε), ε a draw of the
//! noise. The draw from the prior is a sum of `N_FREQUENCIES` random waves (Rahimi and Recht 2007), so m candidates
//! cost O(m), where a joint draw through the factor of their covariance costs O(m³): 51 ms of processor time against
//! 320 at m = 2000 in 20 dimensions, 0.16 s against 4.6 s at m = 5000 in 50, with 70 observations. The correction is
//! exact; the waves' covariance is that of the kernel up to an error of about 1/√`N_FREQUENCIES`, 3 %.

use std::f64::consts::TAU;

use rand_distr::{Distribution, StandardNormal};

use super::kernel::scaled;
use super::{Gp, Hyper, Kernel};
use crate::linalg::{Matrix, dot};
use crate::optimizer::Rng;

/// Waves in a draw from the prior.
pub const N_FREQUENCIES: usize = 1024;

/// A function drawn from the posterior of a process.
#[derive(Debug, Clone)]
pub struct Path<'a> {
    gp: &'a Gp,
    waves: Waves,
    /// (K + noise)⁻¹ (y − f(X) − ε).
    correction: Vec<f64>,
}

impl<'a> Path<'a> {
    /// Draws a function from the posterior.
    pub fn draw(gp: &'a Gp, rng: &mut Rng) -> Self {
        let waves = Waves::draw(gp.hyper(), rng);
        let prior = waves.values(&gp.z);
        let gap: Vec<f64> = (0..gp.n_points())
            .map(|i| gp.residuals[i] - prior[i] - gp.noise_var[i].sqrt() * normal(rng))
            .collect();
        Self { gp, waves, correction: gp.factor.solve(&gap) }
    }

    /// The values of the function at many points.
    pub fn values(&self, points: &Matrix) -> Vec<f64> {
        let hyper = self.gp.hyper();
        let z = scaled(points, &hyper.lengthscales);
        let mut values = self.waves.values(&z);
        for (value, z) in values.iter_mut().zip(z.iter_rows()) {
            *value += hyper.mean + dot(&hyper.covariances(&self.gp.z, z), &self.correction);
        }
        values
    }
}

/// A draw from the prior, less its mean: Σ_k amplitude_k cos(2π (frequency_k·z + shift_k)).
#[derive(Debug, Clone)]
struct Waves {
    /// Frequencies in turns, for points over lengthscales. (waves, d)
    frequencies: Matrix,
    /// Phases in turns.
    shifts: Vec<f64>,
    amplitudes: Vec<f64>,
}

impl Waves {
    /// Draws waves: a sine and a cosine with normal amplitudes are one wave with a random phase and a Rayleigh amplitude.
    fn draw(hyper: &Hyper, rng: &mut Rng) -> Self {
        let frequencies = frequencies(hyper.kernel, hyper.lengthscales.len(), rng);
        let size = (hyper.signal_var / N_FREQUENCIES as f64).sqrt();
        let parts: Vec<(f64, f64)> = (0..N_FREQUENCIES).map(|_| (normal(rng), normal(rng))).collect();
        Self {
            frequencies,
            shifts: parts.iter().map(|(cosine, sine)| sine.atan2(*cosine) / TAU).collect(),
            amplitudes: parts.iter().map(|(cosine, sine)| size * cosine.hypot(*sine)).collect(),
        }
    }

    /// The values at scaled points.
    fn values(&self, z: &Matrix) -> Vec<f64> {
        let mut turns = z.product_transposed(&self.frequencies); // (points, waves)
        let mut value = |i: usize| {
            let row = turns.row_mut(i);
            row.iter_mut().zip(&self.shifts).for_each(|(turn, shift)| *turn = cosine_of_turns(*turn + shift));
            dot(row, &self.amplitudes)
        };
        (0..z.rows()).map(&mut value).collect()
    }
}

/// Draws from the kernel's spectral density, in turns: normal for the squared exponential, Student's t with 5 degrees
/// of freedom for Matérn-5/2.
fn frequencies(kernel: Kernel, d: usize, rng: &mut Rng) -> Matrix {
    let mut frequencies = Matrix::zeros(N_FREQUENCIES, d);
    for i in 0..N_FREQUENCIES {
        let stretch = match kernel {
            Kernel::SquaredExponential => 1.0,
            Kernel::Matern52 => (5.0 / (0..5).map(|_| normal(rng).powi(2)).sum::<f64>()).sqrt(),
        };
        frequencies.row_mut(i).iter_mut().for_each(|frequency| *frequency = stretch / TAU * normal(rng));
    }
    frequencies
}

/// cos(2πt) to 1e-9, in a form that the compiler turns into vector instructions: most of the time of a draw is here.
fn cosine_of_turns(t: f64) -> f64 {
    /// Adding and subtracting it rounds to whole numbers.
    const ROUNDER: f64 = 1.5 * (1_u64 << 52) as f64;
    let angle = TAU * (t - ((t + ROUNDER) - ROUNDER)); // from −π to π
    let s = angle * angle;
    // Taylor's series, to the term in angle^20.
    (1..=10).rev().fold(1.0, |sum, k| 1.0 - s * sum * const { reciprocals() }[k])
}

/// 1 / ((2k − 1) 2k) for each k: the ratio of neighbouring terms of the cosine's series.
const fn reciprocals() -> [f64; 11] {
    let mut reciprocals = [0.0; 11];
    let mut k = 1;
    while k <= 10 {
        reciprocals[k] = 1.0 / ((2 * k - 1) * 2 * k) as f64;
        k += 1;
    }
    reciprocals
}

fn normal(rng: &mut Rng) -> f64 {
    StandardNormal.sample(rng)
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::*;
    use crate::optimizer::rng;

    #[test]
    fn cosines_are_exact_to_nine_digits() {
        for i in -3000..3000 {
            let t = 0.00137 * f64::from(i);
            assert!((cosine_of_turns(t) - (TAU * t).cos()).abs() < 1e-9, "{t}");
        }
    }

    #[test]
    fn draws_have_the_mean_and_covariance_of_the_posterior() {
        for kernel in [Kernel::SquaredExponential, Kernel::Matern52] {
            let (hyper, data) = example(kernel, 8, 2);
            let gp = Gp::new(hyper, &data);
            let points =
                Matrix::from_fn(4, 2, |i, j| [[0.1, 0.2], [0.15, 0.25], [0.9, 0.4], [0.5, 0.95]][i][j]);
            let n = 2000;
            let mut rng = rng(3, 0);
            let draws: Vec<Vec<f64>> = (0..n).map(|_| Path::draw(&gp, &mut rng).values(&points)).collect();
            let mean = |i: usize| draws.iter().map(|draw| draw[i]).sum::<f64>() / n as f64;
            let covariance = |i: usize, j: usize| {
                draws.iter().map(|draw| (draw[i] - mean(i)) * (draw[j] - mean(j))).sum::<f64>() / n as f64
            };
            let exact = gp.posteriors(&points);
            for (i, exact) in exact.iter().enumerate() {
                let error = (mean(i) - exact.mean) / (exact.var / n as f64).sqrt();
                assert!(error.abs() < 4.0, "{kernel:?}: mean off by {error} standard errors");
                assert!(
                    (covariance(i, i) / exact.var - 1.0).abs() < 0.15,
                    "{kernel:?}: {}",
                    covariance(i, i)
                );
            }
            // Conditioning on the value at j lowers the variance at i by their squared covariance over that at j.
            let mut conditioned = gp.clone();
            conditioned.update(points.row(1), exact[1].mean, 1e3 - gp.hyper().noise_var);
            let explained = exact[0].var - conditioned.posterior(points.row(0)).var;
            let exact_covariance = (explained * (exact[1].var + 1e3)).sqrt();
            assert!(
                (covariance(0, 1) / exact_covariance - 1.0).abs() < 0.15,
                "{kernel:?}: {exact_covariance}"
            );
        }
    }
}
