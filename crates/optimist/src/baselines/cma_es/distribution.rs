//! The normal distribution of CMA-ES: mean m, step size σ and covariance σ²C in unbounded numbers.
//!
//! Given: samples ranked by how good they were. Gives: new samples.
//! Does not know: domains, values, bounds. Equations are those of Hansen's tutorial (arXiv:1604.00772).

use rand::RngExt;
use rand_distr::StandardNormal;

use crate::linalg::{Cholesky, Matrix, add_scaled, dot};
use crate::optimizer::Rng;

/// Largest ratio of the longest to the shortest axis of C: beyond it rounding errors are too large.
const LARGEST_ASPECT: f64 = 1e7;

/// A coordinate's standard deviation stays below its initial one times this: a sixth of an axis at
/// first, a third at most, as in pycma.
const LARGEST_GROWTH: f64 = 2.0;

#[derive(Debug, Clone)]
pub(super) struct Distribution {
    mean: Vec<f64>,
    /// σ, the overall step size.
    step: f64,
    /// C, the shape of the distribution.
    covariance: Matrix,
    /// L with C = L Lᵀ.
    factor: Cholesky,
    /// p_c, the path that C is stretched along.
    path: Vec<f64>,
    /// p_σ, whose length says whether steps add up or cancel.
    step_path: Vec<f64>,
    generation: i32,
    largest_stds: Vec<f64>,
    constants: Constants,
}

/// A point and where it came from.
#[derive(Debug, Clone, Default)]
pub(super) struct Sample {
    pub(super) at: Vec<f64>,
    /// The generation it was drawn in, if it was drawn.
    generation: Option<i32>,
}

impl Sample {
    /// A point that was not drawn from the distribution.
    pub(super) fn foreign(at: Vec<f64>) -> Sample {
        Sample { at, generation: None }
    }
}

/// Learning rates and weights, by dimension and population (tutorial, table 1).
#[derive(Debug, Clone)]
struct Constants {
    /// w_1 to w_λ: the positive half sums to 1, the other is negative.
    weights: Vec<f64>,
    mu_eff: f64,
    /// c_c, c_1, c_μ, c_σ, d_σ.
    c_path: f64,
    c_one: f64,
    c_mu: f64,
    c_step: f64,
    damping: f64,
    /// E‖N(0, I)‖, the expected length of a standard normal vector.
    expected_length: f64,
}

impl Distribution {
    /// Independent coordinates with these means and standard deviations; `lambda` samples a generation.
    pub(super) fn new(mean: Vec<f64>, stds: &[f64], lambda: usize) -> Distribution {
        let n = mean.len();
        let step = stds.iter().copied().reduce(f64::min).unwrap_or(1.0);
        let diagonal = |i: usize, j: usize| if i == j { (stds[i] / step).powi(2) } else { 0.0 };
        let covariance = Matrix::from_fn(n, n, diagonal);
        Distribution {
            factor: Cholesky::new(&covariance).expect("a positive diagonal"),
            mean,
            step,
            covariance,
            path: vec![0.0; n],
            step_path: vec![0.0; n],
            generation: 0,
            largest_stds: stds.iter().map(|std| LARGEST_GROWTH * std).collect(),
            constants: Constants::new(n, lambda),
        }
    }

    pub(super) fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Samples that `update` takes.
    pub(super) fn population(&self) -> usize {
        self.constants.weights.len()
    }

    /// Standard deviation of a coordinate.
    pub(super) fn std(&self, i: usize) -> f64 {
        self.step * self.covariance[(i, i)].sqrt()
    }

    /// Standard deviation of the difference of two coordinates.
    pub(super) fn std_of_difference(&self, i: usize, j: usize) -> f64 {
        let c = &self.covariance;
        self.step * (c[(i, i)] + c[(j, j)] - 2.0 * c[(i, j)]).max(0.0).sqrt()
    }

    pub(super) fn largest_std(&self) -> f64 {
        (0..self.mean.len()).map(|i| self.std(i)).fold(0.0, f64::max)
    }

    pub(super) fn sample(&self, rng: &mut Rng) -> Sample {
        let z: Vec<f64> = self.mean.iter().map(|_| rng.sample(StandardNormal)).collect();
        let coordinate = |(i, mean): (usize, &f64)| mean + self.step * dot(self.factor.row(i), &z[..=i]);
        let at = self.mean.iter().enumerate().map(coordinate).collect();
        Sample { at, generation: Some(self.generation) }
    }

    /// Moves one coordinate.
    pub(super) fn set_mean(&mut self, i: usize, mean: f64) {
        self.mean[i] = mean;
    }

    /// Stretches one coordinate by `factor`, keeping correlations. Call `refactor` after any number of stretches.
    pub(super) fn stretch(&mut self, i: usize, factor: f64) {
        for j in 0..self.mean.len() {
            self.covariance[(i, j)] *= factor;
            self.covariance[(j, i)] *= factor;
        }
        self.path[i] *= factor;
    }

    /// Updates the distribution with a generation, best sample first. `None` if it has degenerated.
    pub(super) fn update(&mut self, ranked: &[Sample]) -> Option<()> {
        let n = self.mean.len() as f64;
        let k = self.constants.clone();
        let steps: Vec<Step> = ranked.iter().map(|sample| self.step_to(sample)).collect();

        // Move the mean (eqs. 41, 42).
        let mut y_mean = vec![0.0; self.mean.len()];
        let mut z_mean = y_mean.clone();
        for (weight, step) in k.weights.iter().zip(&steps).filter(|(weight, _)| **weight > 0.0) {
            add_scaled(*weight, &step.y, &mut y_mean);
            add_scaled(*weight, &step.z, &mut z_mean);
        }
        add_scaled(self.step, &y_mean, &mut self.mean);

        // Both paths (eqs. 43, 45); the first stalls while steps are long.
        self.step_path.iter_mut().for_each(|p| *p *= 1.0 - k.c_step);
        add_scaled((k.c_step * (2.0 - k.c_step) * k.mu_eff).sqrt(), &z_mean, &mut self.step_path);
        self.generation += 1;
        let fade = 1.0 - (1.0 - k.c_step).powi(2 * self.generation);
        let length_squared = dot(&self.step_path, &self.step_path);
        let is_steady = length_squared / fade < (2.0 + 4.0 / (n + 1.0)) * n;
        self.path.iter_mut().for_each(|p| *p *= 1.0 - k.c_path);
        if is_steady {
            add_scaled((k.c_path * (2.0 - k.c_path) * k.mu_eff).sqrt(), &y_mean, &mut self.path);
        }

        // C (eqs. 46, 47): towards the path and the good steps, away from the bad ones.
        let stalled = if is_steady { 0.0 } else { k.c_path * (2.0 - k.c_path) };
        let keep = 1.0 - k.c_one * (1.0 - stalled) - k.c_mu * k.weights.iter().sum::<f64>();
        self.covariance.data_mut().iter_mut().for_each(|c| *c *= keep);
        add_outer(k.c_one, &self.path, &mut self.covariance);
        for (&weight, step) in k.weights.iter().zip(&steps) {
            let weight = match weight < 0.0 {
                false => weight,
                true if step.is_foreign => 0.0,
                true => weight * n / dot(&step.z, &step.z).max(1e-300),
            };
            add_outer(k.c_mu * weight, &step.y, &mut self.covariance);
        }

        // σ (eq. 44).
        let excess = length_squared.sqrt() / k.expected_length - 1.0;
        self.step *= (k.c_step / k.damping * excess).min(1.0).exp();
        for i in 0..self.mean.len() {
            let growth = self.std(i) / self.largest_stds[i];
            if growth > 1.0 {
                self.stretch(i, 1.0 / growth);
            }
        }
        self.refactor()
    }

    /// Updates the factor after changes of C; `None` if it has degenerated.
    pub(super) fn refactor(&mut self) -> Option<()> {
        self.factor = Cholesky::new(&self.covariance)?;
        let diagonal = || (0..self.mean.len()).map(|i| self.factor.row(i)[i]);
        let (shortest, longest) = (diagonal().fold(f64::INFINITY, f64::min), diagonal().fold(0.0, f64::max));
        let is_sound = self.step.is_finite() && self.mean.iter().all(|mean| mean.is_finite());
        (is_sound && longest <= LARGEST_ASPECT * shortest).then_some(())
    }

    fn step_to(&self, sample: &Sample) -> Step {
        let mut y: Vec<f64> = sample.at.iter().zip(&self.mean).map(|(x, m)| (x - m) / self.step).collect();
        let mut z = y.clone();
        self.factor.solve_lower(&mut z);
        let is_foreign = sample.generation != Some(self.generation);
        if is_foreign {
            let n = z.len() as f64;
            let limit = n.sqrt() + 2.0 * n / (n + 2.0);
            let shorten = (limit / dot(&z, &z).sqrt()).min(1.0);
            y.iter_mut().chain(&mut z).for_each(|v| *v *= shorten);
        }
        Step { y, z, is_foreign }
    }
}

/// The step from the mean to a sample: y in units of σ, z = L⁻¹y in those of a standard normal.
struct Step {
    y: Vec<f64>,
    z: Vec<f64>,
    is_foreign: bool,
}

impl Constants {
    fn new(dimension: usize, lambda: usize) -> Constants {
        let n = dimension.max(1) as f64;
        let mut weights = raw_weights(lambda);
        let n_positive = weights.iter().filter(|weight| **weight > 0.0).count();
        let (positive, negative) = weights.split_at_mut(n_positive);
        let (sum, mu_eff) = sum_and_mu_eff(positive);
        let (negative_sum, mu_eff_negative) = sum_and_mu_eff(negative);

        let c_one = 2.0 / ((n + 1.3).powi(2) + mu_eff);
        let c_mu = 2.0 * (0.25 + mu_eff + 1.0 / mu_eff - 2.0) / ((n + 2.0).powi(2) + mu_eff);
        let c_mu = c_mu.min(1.0 - c_one);
        let c_path = (4.0 + mu_eff / n) / (n + 4.0 + 2.0 * mu_eff / n);
        // pycma has 3 where the tutorial has 5.
        let c_step = ((mu_eff + 2.0) / (n + mu_eff + 3.0)).min(0.5);

        // The negative weights together (eqs. 50 to 52): C does not fade, nor become indefinite.
        let fading = 1.0 + c_one / c_mu;
        let effective = 1.0 + 2.0 * mu_eff_negative / (mu_eff + 2.0);
        let definite = (1.0 - c_one - c_mu) / (n * c_mu);
        let share = fading.min(effective).min(definite);
        positive.iter_mut().for_each(|weight| *weight /= sum);
        negative.iter_mut().for_each(|weight| *weight *= share / negative_sum.abs());
        Constants {
            weights,
            mu_eff,
            c_path,
            c_one,
            c_mu,
            c_step,
            damping: 1.0 + 2.0 * (((mu_eff - 1.0) / (n + 1.0)).sqrt() - 1.0).max(0.0) + c_step,
            expected_length: n.sqrt() * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n)),
        }
    }
}

/// The weights of `n_points` points in the mean, best first: the worse half is left out, the others add up to 1.
pub(super) fn recombination_weights(n_points: usize) -> Vec<f64> {
    let mut weights = raw_weights(n_points.max(2));
    weights.retain(|weight| *weight > 0.0);
    let (sum, _) = sum_and_mu_eff(&weights);
    weights.iter().map(|weight| weight / sum).collect()
}

fn raw_weights(n_points: usize) -> Vec<f64> {
    (1..=n_points).map(|rank| ((n_points + 1) as f64 / 2.0).ln() - (rank as f64).ln()).collect()
}

fn sum_and_mu_eff(weights: &[f64]) -> (f64, f64) {
    let sum: f64 = weights.iter().sum();
    (sum, sum * sum / dot(weights, weights))
}

/// A += weight v vᵀ.
fn add_outer(weight: f64, v: &[f64], a: &mut Matrix) {
    for (i, v_i) in v.iter().enumerate() {
        add_scaled(weight * v_i, v, a.row_mut(i));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optimizer::rng;

    #[test]
    fn constants_are_those_of_pycma() {
        // pycma 4.5.0, CMAEvolutionStrategy(20 * [0.5], 0.25): es.sp and es.adapt_sigma.
        let k = Constants::new(20, 12);
        let found = [k.mu_eff, k.c_one, k.c_mu, k.c_path, k.c_step, k.damping, k.weights[0], k.weights[11]];
        let pycma = [
            3.729_458_934_303_067,
            0.004_372_354_435_160_246,
            0.009_216_561_776_274_352,
            0.171_767_211_276_812_13,
            0.214_349_977_991_892_87,
            1.214_349_977_991_893,
            0.402_402_942_8,
            -0.415_204_422_5,
        ];
        for (found, pycma) in found.iter().zip(pycma) {
            assert!((found / pycma - 1.0).abs() < 1e-8, "{found} {pycma}");
        }
    }

    #[test]
    fn samples_have_the_covariance() {
        let mut distribution = Distribution::new(vec![1.0, -2.0], &[0.25, 0.5], 6);
        distribution.covariance[(0, 1)] = 1.2;
        distribution.covariance[(1, 0)] = 1.2;
        distribution.refactor().unwrap();
        let mut rng = rng(0, 0);
        let mut sums = [0.0; 3];
        for _ in 0..40_000 {
            let at = distribution.sample(&mut rng).at;
            let (a, b) = (at[0] - 1.0, at[1] + 2.0);
            sums = [sums[0] + a * a, sums[1] + b * b, sums[2] + a * b];
        }
        let expected = [0.0625, 0.25, 0.0625 * 1.2];
        for (sum, expected) in sums.iter().zip(expected) {
            assert!((sum / 40_000.0 / expected - 1.0_f64).abs() < 0.05);
        }
        let difference = distribution.std_of_difference(0, 1).powi(2);
        assert!((difference - (0.0625 + 0.25 - 0.15)).abs() < 1e-12);
    }

    #[test]
    fn a_foreign_sample_moves_the_mean_by_a_bounded_step() {
        let mut distribution = Distribution::new(vec![0.0; 4], &[1.0; 4], 6);
        let far = Sample::foreign(vec![1e12; 4]);
        let ranked = [vec![far], vec![Sample { at: vec![0.0; 4], generation: Some(0) }; 5]].concat();
        distribution.update(&ranked).unwrap();
        let limit = 2.0 + 8.0 / 6.0;
        let length = dot(distribution.mean(), distribution.mean()).sqrt();
        assert!(length > 0.5 && length < limit, "{length}");
    }
}
