//! Σ_t by the d_w × d_w matrix itself, for t ≥ d_w.
//!
//! With G the gradients as rows, P the prior's standard deviations and S the noise, Σ_t = P⁻¹ (I + P Gᵀ S⁻¹ G P) P⁻¹.
//! What is factored is the matrix in brackets, whose eigenvalues are at least 1.

use super::MIN_U;
use super::form::{Form, Posterior};
use super::rounds::Rounds;
use crate::linalg::{Cholesky, Matrix, add_scaled, dot};

/// See the module.
#[derive(Clone)]
pub(super) struct Primal {
    /// The Cholesky factor of I + P Gᵀ S⁻¹ G P.
    factor: Cholesky,
    /// P Gᵀ S⁻¹ r, the right-hand side that ŵ_t is solved for.
    rhs: Vec<f64>,
}

impl Primal {
    /// Sums over all rounds and factors.
    pub fn new(rounds: &Rounds) -> Self {
        let d_w = rounds.d_w();
        let mut scaled = Matrix::zeros(0, d_w); // P Gᵀ S^-½, transposed
        let mut rhs = vec![0.0; d_w];
        for i in 0..rounds.len() {
            let mut row = rounds.scaled_gradient(i);
            add_scaled(rounds.residuals[i] / rounds.noise_var[i], &row, &mut rhs);
            row.iter_mut().for_each(|g| *g /= rounds.noise_var[i].sqrt());
            scaled.push_row(&row);
        }
        let mut a = scaled.transposed_product_lower();
        (0..d_w).for_each(|j| a[(j, j)] += 1.0);
        let factor = Cholesky::new(&a)
            .expect("the identity plus a Gram matrix of finite gradients is positive definite");
        Self { factor, rhs }
    }
}

impl Form for Primal {
    /// Updates the factor by rank one.
    fn update(&mut self, rounds: &Rounds) -> bool {
        let last = rounds.len() - 1;
        let (r, s2) = (rounds.residuals[last], rounds.noise_var[last]);
        let scaled_gradient = rounds.scaled_gradient(last);
        let per_noise: Vec<f64> = scaled_gradient.iter().map(|g| g / s2.sqrt()).collect();
        self.factor.rank_one_update(&per_noise);
        add_scaled(r / s2, &scaled_gradient, &mut self.rhs);
        true
    }

    fn solve_shift(&mut self, rounds: &Rounds) -> Vec<f64> {
        rounds.scaled(self.factor.solve(&self.rhs))
    }

    /// With L the factor: u = ‖L⁻¹P g‖.
    fn posterior<'a>(&self, rounds: &Rounds, w_hat: &[f64], x: &'a [f64]) -> Posterior<'a> {
        let mut grad_w = vec![0.0; rounds.d_w()];
        rounds.family.grad_w(w_hat, x, &mut grad_w);
        let mean = rounds.value(w_hat, &grad_w, x);
        let mut z = rounds.scaled(grad_w);
        self.factor.solve_lower(&mut z);
        Posterior { x, mean, u: dot(&z, &z).sqrt(), embedded: Vec::new(), half_solved: z }
    }

    fn grad_x(
        &self,
        rounds: &Rounds,
        w_hat: &[f64],
        posterior: Posterior<'_>,
        radius: f64,
        grad_x: &mut [f64],
    ) {
        let Posterior { x, u, half_solved: mut v, .. } = posterior;
        self.factor.solve_upper(&mut v);
        let per_u = if u > MIN_U { radius / u } else { 0.0 };
        v.iter_mut().zip(&rounds.prior_std).for_each(|(v, p)| *v *= per_u * p);
        rounds.grad_x(w_hat, v, x, grad_x);
    }

    fn variance_of_sum(&self, rounds: &Rounds, w_hat: &[f64], x: Matrix, v: &[f64]) -> f64 {
        let (mut grad_w, mut sum) = (vec![0.0; rounds.d_w()], vec![0.0; rounds.d_w()]);
        for (x, v) in x.iter_rows().zip(v) {
            rounds.family.grad_w(w_hat, x, &mut grad_w);
            add_scaled(*v, &grad_w, &mut sum);
        }
        dot(&sum, &self.covariance_times(rounds, &sum))
    }

    /// Uses the leverage g_iᵀ Σ_t⁻¹ g_i / s_i².
    fn left_out_errors(&self, rounds: &Rounds, w_hat: &[f64]) -> Vec<(f64, f64)> {
        let shift: Vec<f64> = w_hat.iter().zip(&rounds.w_hat_0).map(|(w, w_0)| w - w_0).collect();
        let error = |i: usize| {
            let (grad_w, noise_var) = (rounds.gradient(i), rounds.noise_var[i]);
            let variance = dot(&grad_w, &self.covariance_times(rounds, &grad_w)).max(0.0);
            let kept = (1.0 - variance / noise_var).max(1e-9);
            ((rounds.residuals[i] - dot(&grad_w, &shift)) / kept, (noise_var + variance / kept).sqrt())
        };
        (0..rounds.len()).map(error).collect()
    }

    fn posteriors(&self, rounds: &Rounds, w_hat: &[f64], x: Matrix) -> Vec<(f64, f64)> {
        let mut gradients = Matrix::zeros(x.rows(), rounds.d_w()); // P g, one row a point
        let mut mean = |(i, x): (usize, &[f64])| {
            let grad_w = gradients.row_mut(i);
            rounds.family.grad_w(w_hat, x, grad_w);
            let mean = rounds.value(w_hat, grad_w, x);
            grad_w.iter_mut().zip(&rounds.prior_std).for_each(|(g, p)| *g *= p);
            mean
        };
        let means: Vec<f64> = x.iter_rows().enumerate().map(&mut mean).collect();
        let z = self.factor.solve_lower_rows(gradients);
        means.into_iter().zip(z.iter_rows()).map(|(mean, z)| (mean, dot(z, z).sqrt())).collect()
    }

    fn covariance_times(&self, rounds: &Rounds, v: &[f64]) -> Vec<f64> {
        rounds.scaled(self.factor.solve(&rounds.scaled(v.to_vec())))
    }

    fn log_det_ratio(&self, _rounds: &Rounds) -> f64 {
        self.factor.log_det()
    }
}
