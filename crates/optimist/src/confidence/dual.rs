//! Σ_t⁻¹ by the t × t matrix of inner products, for t < d_w.
//!
//! With G the gradients as rows, P the prior's standard deviations and S the noise, Woodbury's identity gives
//! Σ_t⁻¹ = P² − P²Gᵀ (G P² Gᵀ + S)⁻¹ G P². What is factored is K + S, with K = G P² Gᵀ the inner products of
//! gradients under the prior, which families know how to compute without the gradients.

use super::MIN_U;
use super::form::{Form, Posterior};
use super::rounds::Rounds;
use crate::linalg::{Cholesky, Matrix, add_scaled, dot};
use crate::model::{Embedded, Point};

/// Added to the diagonal, relative to its largest entry, if rounding made K + S indefinite; ten times as much with each try.
const JITTER: f64 = 1e-10;

/// See the module.
#[derive(Clone, Default)]
pub(super) struct Dual {
    /// The Cholesky factor of K + S.
    factor: Cholesky,
    /// (K + S)⁻¹ r, the weights of the mean.
    alpha: Vec<f64>,
}

impl Dual {
    /// Factors K + S.
    pub fn new(rounds: &Rounds) -> Self {
        let gram = rounds.family.gram_within(rounds.points.points());
        let size = (0..gram.rows()).map(|i| gram[(i, i)]).fold(0.0, f64::max);
        let mut jitter = 0.0;
        loop {
            let mut k = gram.clone();
            (0..k.rows()).for_each(|i| k[(i, i)] += rounds.noise_var[i] + jitter);
            if let Some(factor) = Cholesky::new(&k) {
                return Self { factor, alpha: Vec::new() };
            }
            assert!(
                jitter < size,
                "inner products of finite gradients are finite and positive semi-definite"
            );
            jitter = if jitter == 0.0 { JITTER * size.max(f64::MIN_POSITIVE) } else { 10.0 * jitter };
        }
    }
}

impl Form for Dual {
    /// Appends a row to the factor.
    fn update(&mut self, rounds: &Rounds) -> bool {
        let last = rounds.len() - 1;
        let point = rounds.points.point(last);
        let mut row = vec![0.0; last + 1];
        rounds.family.gram_row(point, rounds.points.points(), &mut row);
        let diagonal = rounds.family.gram_self(point) + rounds.noise_var[last];
        self.factor.append(&row[..last], diagonal)
    }

    /// P²Gᵀ (K + S)⁻¹ r.
    fn solve_shift(&mut self, rounds: &Rounds) -> Vec<f64> {
        self.alpha = self.factor.solve(&rounds.residuals);
        let mut shift = rounds.weighted_gradients(&self.alpha);
        shift.iter_mut().zip(&rounds.prior_std).for_each(|(s, p)| *s *= p * p);
        shift
    }

    /// With k = G P² g: the mean is αᵀk where f_x(ŵ_0) is zero, and u² = gᵀP²g − kᵀ(K + S)⁻¹k.
    fn posterior<'a>(&self, rounds: &Rounds, w_hat: &[f64], x: &'a [f64]) -> Posterior<'a> {
        let mut e = vec![0.0; rounds.family.n_embedded()];
        rounds.family.embed(w_hat, x, &mut e);
        let point = Point { x, e: &e };
        let mut k = vec![0.0; rounds.len()];
        rounds.family.gram_row(point, rounds.points.points(), &mut k);
        let mean = if rounds.is_centred { dot(&self.alpha, &k) } else { rounds.family.value(w_hat, x) };
        self.factor.solve_lower(&mut k);
        let u = (rounds.family.gram_self(point) - dot(&k, &k)).max(0.0).sqrt();
        Posterior { x, mean, u, embedded: e, half_solved: k }
    }

    fn grad_x(
        &self,
        rounds: &Rounds,
        w_hat: &[f64],
        posterior: Posterior<'_>,
        radius: f64,
        grad_x: &mut [f64],
    ) {
        let Posterior { x, u, embedded, half_solved: mut k, .. } = posterior;
        self.factor.solve_upper(&mut k); // now (K + S)⁻¹ k
        let per_u = if u > MIN_U { radius / u } else { 0.0 };
        k.iter_mut().for_each(|k| *k *= -per_u);
        if rounds.is_centred {
            add_scaled(1.0, &self.alpha, &mut k);
        }
        let point = Point { x, e: &embedded };
        rounds.family.gram_grad_x(w_hat, point, rounds.points.points(), &k, per_u, grad_x);
        if !rounds.is_centred {
            rounds.add_grad_x(w_hat, x, grad_x);
        }
    }

    fn mean(&self, rounds: &Rounds, w_hat: &[f64], x: &[f64]) -> f64 {
        if rounds.family.is_parametric() {
            return rounds.family.value(w_hat, x);
        }
        let mut e = vec![0.0; rounds.family.n_embedded()];
        rounds.family.embed(w_hat, x, &mut e);
        let mut k = vec![0.0; rounds.len()];
        rounds.family.gram_row(Point { x, e: &e }, rounds.points.points(), &mut k);
        dot(&self.alpha, &k)
    }

    fn variance_of_sum(&self, rounds: &Rounds, w_hat: &[f64], x: Matrix, v: &[f64]) -> f64 {
        let block = Embedded::new(&*rounds.family, w_hat, x);
        let prior = dot(v, &rounds.family.gram(block.points(), block.points()).times(v));
        let mut k = rounds.family.gram(rounds.points.points(), block.points()).times(v);
        self.factor.solve_lower(&mut k);
        prior - dot(&k, &k)
    }

    /// Uses the diagonal of (K + S)⁻¹.
    fn left_out_errors(&self, _rounds: &Rounds, _w_hat: &[f64]) -> Vec<(f64, f64)> {
        let inverse = self.factor.inverse();
        let error = |(i, alpha): (usize, &f64)| (alpha / inverse[(i, i)], inverse[(i, i)].powf(-0.5));
        self.alpha.iter().enumerate().map(error).collect()
    }

    fn posteriors(&self, rounds: &Rounds, w_hat: &[f64], x: Matrix) -> Vec<(f64, f64)> {
        let block = Embedded::new(&*rounds.family, w_hat, x);
        let k = rounds.family.gram(rounds.points.points(), block.points()); // (t, block)
        let means: Vec<f64> = if rounds.is_centred {
            k.transposed_times(&self.alpha)
        } else {
            block.x.iter_rows().map(|x| rounds.family.value(w_hat, x)).collect()
        };
        let z = self.factor.solve_lower_many(k);
        let mut explained = vec![0.0; block.x.rows()];
        for row in z.iter_rows() {
            explained.iter_mut().zip(row).for_each(|(sum, z)| *sum += z * z);
        }
        let prior = |i: usize| rounds.family.gram_self(block.point(i));
        (0..means.len()).map(|i| (means[i], (prior(i) - explained[i]).max(0.0).sqrt())).collect()
    }

    fn covariance_times(&self, rounds: &Rounds, v: &[f64]) -> Vec<f64> {
        let squared = |v: Vec<f64>| rounds.scaled(rounds.scaled(v)); // P² v
        let mut out = squared(v.to_vec());
        let products: Vec<f64> = (0..rounds.len()).map(|i| dot(&rounds.gradient(i), &out)).collect();
        let explained = squared(rounds.weighted_gradients(&self.factor.solve(&products)));
        add_scaled(-1.0, &explained, &mut out);
        out
    }

    /// Uses the determinant lemma.
    fn log_det_ratio(&self, rounds: &Rounds) -> f64 {
        self.factor.log_det() - rounds.noise_var.iter().map(|s2| s2.ln()).sum::<f64>()
    }
}
