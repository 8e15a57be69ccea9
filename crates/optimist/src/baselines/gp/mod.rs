//! Gaussian-process regression: the posterior of a function given noisy values.
//!
//! Given: points, values on a standardised scale, and hyper-parameters (which `fit` finds). Gives: posterior mean
//! and variance at any point with their gradients (here), the log marginal likelihood with its gradient
//! (`likelihood`), and whole functions drawn from the posterior (`path`).
//! Does not know: trials, scales of y, what is proposed. `surrogate` goes from trials to a fitted process.
//!
//! Checked against BoTorch (`tests/gp_fixtures.rs`).

pub mod acquisition;
pub mod fit;
pub mod kernel;
pub mod likelihood;
pub mod path;
pub(super) mod settings;
pub(super) mod surrogate;

use crate::linalg::{Cholesky, Matrix, add_scaled, dot};
pub use kernel::Kernel;

/// The prior over a function: f ~ GP(mean, signal_var · kernel(distance / lengthscales)).
#[derive(Debug, Clone, PartialEq)]
pub struct Hyper {
    /// How correlation falls with distance.
    pub kernel: Kernel,
    /// Distance over which it falls, for each coordinate.
    pub lengthscales: Vec<f64>,
    /// Prior variance of the function (`outputscale` in GPyTorch).
    pub signal_var: f64,
    /// Variance of the noise of each value.
    pub noise_var: f64,
    /// Prior mean of the function, the same everywhere.
    pub mean: f64,
}

/// Points with their values, and the variance of their noise where it is known, else 0. Known noise adds to the inferred noise,
/// which also covers what the kernel can't explain.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Data {
    /// The points, in the unit cube. (t, d)
    pub x: Matrix,
    /// The values. (t)
    pub y: Vec<f64>,
    /// Known variances of the noise. (t)
    pub known_noise_var: Vec<f64>,
}

/// The posterior of the function at a point, without noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Posterior {
    /// The posterior mean.
    pub mean: f64,
    /// The posterior variance; never negative.
    pub var: f64,
}

/// A Gaussian process conditioned on data. More points can be added.
#[derive(Debug, Clone)]
pub struct Gp {
    hyper: Hyper,
    /// Points over lengthscales. (t, d)
    z: Matrix,
    /// Variance of each value's noise, inferred and known. (t)
    noise_var: Vec<f64>,
    /// Values less the prior mean. (t)
    residuals: Vec<f64>,
    /// The Cholesky factor of K + noise.
    factor: Cholesky,
    /// (K + noise)⁻¹ residuals, the weights of the mean.
    alpha: Vec<f64>,
}

impl Gp {
    /// Conditions on the data. If K + noise is not positive definite to working precision, as with repeated points
    /// and hardly any noise, a jitter is added to its diagonal, as small as will do.
    pub fn new(hyper: Hyper, data: &Data) -> Self {
        let z = kernel::scaled(&data.x, &hyper.lengthscales);
        let mut gram = hyper.gram(&z, &z);
        let noise_var: Vec<f64> = data.known_noise_var.iter().map(|known| hyper.noise_var + known).collect();
        noise_var.iter().enumerate().for_each(|(i, noise_var)| gram[(i, i)] += noise_var);
        let factor = factor_with_jitter(gram);
        let mut gp = Self { hyper, z, noise_var, residuals: Vec::new(), factor, alpha: Vec::new() };
        gp.set_values(&data.y);
        gp
    }

    /// Adds an observation, in the time that it takes to evaluate the posterior there.
    pub fn update(&mut self, x: &[f64], y: f64, known_noise_var: f64) {
        let z = self.hyper.scaled(x);
        let row = self.hyper.covariances(&self.z, &z);
        let noise_var = self.hyper.noise_var + known_noise_var;
        // Fails only for a repeated point without noise, as in `factor_with_jitter`.
        let mut jitter = 0.0;
        while !self.factor.append(&row, self.hyper.signal_var + noise_var + jitter) {
            jitter = f64::max(10.0 * jitter, 1e-10 * (self.hyper.signal_var + noise_var));
        }
        self.noise_var.push(noise_var);
        self.z.push_row(&z);
        self.residuals.push(y - self.hyper.mean);
        self.alpha = self.factor.solve(&self.residuals);
    }

    /// Replaces all values, keeping the points.
    pub fn set_values(&mut self, y: &[f64]) {
        self.residuals = y.iter().map(|y| y - self.hyper.mean).collect();
        self.alpha = self.factor.solve(&self.residuals);
    }

    /// The hyper-parameters of the process.
    pub fn hyper(&self) -> &Hyper {
        &self.hyper
    }

    /// How many points it is conditioned on.
    pub fn n_points(&self) -> usize {
        self.z.rows()
    }

    /// The posterior at x.
    pub fn posterior(&self, x: &[f64]) -> Posterior {
        let mut k = self.hyper.covariances(&self.z, &self.hyper.scaled(x));
        let mean = self.hyper.mean + dot(&k, &self.alpha);
        self.factor.solve_lower(&mut k);
        Posterior { mean, var: (self.hyper.signal_var - dot(&k, &k)).max(0.0) }
    }

    /// The posterior at each of many points, in one block.
    pub fn posteriors(&self, points: &Matrix) -> Vec<Posterior> {
        let z = kernel::scaled(points, &self.hyper.lengthscales);
        let k = self.hyper.gram(&self.z, &z); // (t, points)
        let means = k.transposed_times(&self.alpha);
        let v = self.factor.solve_lower_many(k);
        let mut vars = vec![self.hyper.signal_var; points.rows()];
        for row in v.iter_rows() {
            vars.iter_mut().zip(row).for_each(|(var, v)| *var -= v * v);
        }
        let posterior =
            |(mean, var): (f64, f64)| Posterior { mean: self.hyper.mean + mean, var: var.max(0.0) };
        means.into_iter().zip(vars).map(posterior).collect()
    }

    /// The posterior at x; `grad_mean` and `grad_var` are set to the gradients of its parts in x.
    pub fn posterior_with_grad(&self, x: &[f64], grad_mean: &mut [f64], grad_var: &mut [f64]) -> Posterior {
        let hyper = &self.hyper;
        let z = hyper.scaled(x);
        let (k, slopes) = hyper.covariances_and_slopes(&self.z, &z);
        let mut v = k.clone();
        self.factor.solve_lower(&mut v);
        let var = hyper.signal_var - dot(&v, &v);
        self.factor.solve_upper(&mut v); // (K + noise)⁻¹ k
        grad_mean.fill(0.0);
        grad_var.fill(0.0);
        // ∂k_i/∂z = slope_i · 2 (z − z_i), with slopes in the squared distance.
        let (mut in_mean, mut in_var) = (0.0, 0.0);
        for (i, z_i) in self.z.iter_rows().enumerate() {
            let (mean_weight, var_weight) = (2.0 * slopes[i] * self.alpha[i], -4.0 * slopes[i] * v[i]);
            in_mean += mean_weight;
            in_var += var_weight;
            add_scaled(-mean_weight, z_i, grad_mean);
            add_scaled(-var_weight, z_i, grad_var);
        }
        for j in 0..x.len() {
            grad_mean[j] = (grad_mean[j] + in_mean * z[j]) / hyper.lengthscales[j];
            grad_var[j] = (grad_var[j] + in_var * z[j]) / hyper.lengthscales[j];
        }
        Posterior { mean: hyper.mean + dot(&k, &self.alpha), var: var.max(0.0) }
    }
}

/// The factor of `a` plus the smallest jitter, in powers of ten from 1e-10 of its largest entry, that makes it
/// positive definite.
fn factor_with_jitter(mut a: Matrix) -> Cholesky {
    let largest = (0..a.rows()).map(|i| a[(i, i)]).fold(f64::MIN_POSITIVE, f64::max);
    let mut jitter = 0.0;
    loop {
        if let Some(factor) = Cholesky::new(&a) {
            return factor;
        }
        let next = if jitter == 0.0 { 1e-10 * largest } else { 10.0 * jitter };
        (0..a.rows()).for_each(|i| a[(i, i)] += next - jitter);
        jitter = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optimizer::rng;
    use proptest::prelude::*;
    use rand::RngExt;

    /// A process in two dimensions with t random points of the square and values.
    pub(crate) fn example(kernel: Kernel, t: usize, seed: u64) -> (Hyper, Data) {
        let mut rng = rng(seed, 0);
        let hyper =
            Hyper { kernel, lengthscales: vec![0.3, 0.8], signal_var: 1.7, noise_var: 0.01, mean: 0.4 };
        let x = Matrix::from_fn(t, 2, |_, _| rng.random());
        let y = x.iter_rows().map(|x| (5.0 * x[0]).sin() + x[1]).collect();
        (hyper, Data { x, y, known_noise_var: (0..t).map(|i| 0.01 * (i % 2) as f64).collect() })
    }

    proptest! {
        #[test]
        fn gradients_equal_finite_differences(seed in 0..50_u64, u in 0.0..1.0f64, v in 0.0..1.0f64) {
            for kernel in [Kernel::SquaredExponential, Kernel::Matern52] {
                let (hyper, data) = example(kernel, 12, seed);
                let gp = Gp::new(hyper, &data);
                let (mut grad_mean, mut grad_var) = (vec![0.0; 2], vec![0.0; 2]);
                let at = gp.posterior_with_grad(&[u, v], &mut grad_mean, &mut grad_var);
                let plain = gp.posterior(&[u, v]);
                prop_assert!((at.mean - plain.mean).abs() < 1e-12 && (at.var - plain.var).abs() < 1e-12);
                let h = 1e-5;
                for (j, step) in [[h, 0.0], [0.0, h]].iter().enumerate() {
                    let up = gp.posterior(&[u + step[0], v + step[1]]);
                    let down = gp.posterior(&[u - step[0], v - step[1]]);
                    prop_assert!(((up.mean - down.mean) / (2.0 * h) - grad_mean[j]).abs() < 1e-5);
                    prop_assert!(((up.var - down.var) / (2.0 * h) - grad_var[j]).abs() < 1e-5);
                }
            }
        }

        #[test]
        fn appending_equals_conditioning_on_all(seed in 0..50_u64, start in 0..10_usize) {
            let (hyper, data) = example(Kernel::Matern52, 10, seed);
            let first = Data {
                x: Matrix::from_rows(2, data.x.iter_rows().take(start)),
                y: data.y[..start].to_vec(),
                known_noise_var: data.known_noise_var[..start].to_vec(),
            };
            let mut grown = Gp::new(hyper.clone(), &first);
            for i in start..10 {
                grown.update(data.x.row(i), data.y[i], data.known_noise_var[i]);
            }
            let fresh = Gp::new(hyper, &data);
            let (a, b) = (grown.posterior(&[0.4, 0.6]), fresh.posterior(&[0.4, 0.6]));
            prop_assert!((a.mean - b.mean).abs() < 1e-9 && (a.var - b.var).abs() < 1e-9);
        }
    }

    #[test]
    fn a_block_of_points_has_the_posteriors_of_each() {
        let (hyper, data) = example(Kernel::SquaredExponential, 9, 1);
        let gp = Gp::new(hyper, &data);
        let points = Matrix::from_fn(5, 2, |i, j| (i + 2 * j) as f64 / 7.0);
        for (x, block) in points.iter_rows().zip(gp.posteriors(&points)) {
            let single = gp.posterior(x);
            assert!((single.mean - block.mean).abs() < 1e-12 && (single.var - block.var).abs() < 1e-12);
        }
    }

    #[test]
    fn without_data_the_posterior_is_the_prior() {
        let (hyper, _) = example(Kernel::Matern52, 0, 0);
        let gp = Gp::new(hyper, &Data { x: Matrix::zeros(0, 2), ..Data::default() });
        assert_eq!(gp.posterior(&[0.1, 0.2]), Posterior { mean: 0.4, var: 1.7 });
    }

    #[test]
    fn copies_of_a_point_without_noise_get_a_jitter() {
        let (mut hyper, _) = example(Kernel::SquaredExponential, 0, 0);
        hyper.noise_var = 0.0;
        let x = Matrix::from_fn(60, 2, |i, _| 0.5 + 1e-12 * (i % 3) as f64);
        let mut gp = Gp::new(hyper, &Data { x, y: vec![2.0; 60], known_noise_var: vec![0.0; 60] });
        (0..5).for_each(|_| gp.update(&[0.5, 0.5], 2.0, 0.0));
        let there = gp.posterior(&[0.5, 0.5]);
        assert!((there.mean - 2.0).abs() < 1e-3 && there.var < 1e-3, "{there:?}");
        assert_eq!(gp.n_points(), 65);
    }
}
