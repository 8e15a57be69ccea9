//! The confidence ball over model weights (paper §4.1, eqs. 3-6).
//!
//! Given: a family with its prior, the prior's centre ŵ_0, and one linearised observation a round: where f was
//! linearised, the point, the residual about the centre, the noise. Gives: ŵ_t, Σ_t, u_t, the most hopeful value
//! in Ball_t and its gradient in x, membership, log det Σ_t / det Σ_0.
//! Does not know: how the centre was fitted, how β_t is chosen, trials.
//!
//! Σ_t = P⁻² + Σ_i g_i g_iᵀ / s_i², with P the prior's standard deviations and s_i the noise. The paper's eq. 3 is
//! P = I/√λ and s_i = 1. While t < d_w everything is done with the t × t matrix of inner products g_iᵀP²g_j + s_i²
//! (dual), and later with the d_w × d_w matrix I + Σ P g_i g_iᵀ P / s_i² (primal); a round appends a row to the
//! factor of the first, or moves that of the second by rank one.
//!
//! Departures from the paper: none in the updates; P and s_i are free so that a learnt prior fits in.

use std::sync::Arc;

use crate::linalg::{Cholesky, Matrix, add_scaled, dot};
use crate::model::{Embedded, Family, Point};

/// Rounds between two factorisations from scratch, which stop rounding errors of rank-one updates from adding up.
const REFRESH_ROUNDS: usize = 512;

/// Added to inner products relative to their size when rounding made them indefinite; grows tenfold a try.
const JITTER: f64 = 1e-10;

/// Uncertainty below which a point counts as known: its gradient would be rounding errors.
pub(crate) const LEAST_U: f64 = 1e-9;

/// One observation, linearised: y ≈ f_x(w) + ∇f_x(w)·(w* − w).
#[derive(Debug, Clone, Copy)]
pub struct Round<'a> {
    /// Where f was linearised; any slice if the family is linear in w.
    pub w: &'a [f64],
    /// The point, in model coordinates.
    pub x: &'a [f64],
    /// ∇f_x(w)·(w − ŵ_0) + y − f_x(w): the observation about the prior's centre.
    pub residual: f64,
    /// s²; the paper's updates have 1.
    pub noise_var: f64,
}

/// A round as the others predict it, in the units of the model.
#[derive(Debug, Clone, PartialEq)]
pub struct LeftOut {
    /// The point, in model coordinates.
    pub x: Vec<f64>,
    /// What was observed there.
    pub observed: f64,
    /// What the other rounds say of it.
    pub mean: f64,
    /// How unsure that is, the noise of the observation included; one standard deviation.
    pub std: f64,
}

/// Σ_t and ŵ_t, hence Ball_t for every β_t.
#[derive(Clone)]
pub struct Confidence {
    family: Arc<dyn Family>,
    prior_std: Vec<f64>,
    w_hat_0: Vec<f64>,
    /// f_x(ŵ_0) is zero everywhere, as for a linear family with its prior centred at zero.
    centred: bool,
    points: Embedded,
    /// Where each round was linearised; no columns if the family is linear in w.
    linearized_at: Matrix,
    residuals: Vec<f64>,
    noise_var: Vec<f64>,
    form: Form,
    w_hat: Vec<f64>,
    since_refresh: usize,
    /// An upper bound on the largest eigenvalue of Σ_t: the prior's largest, and the trace of the rest.
    trace_bound: f64,
}

#[derive(Clone)]
enum Form {
    /// Factor of G P² Gᵀ + S, and its inverse times the residuals.
    Dual { factor: Cholesky, alpha: Vec<f64> },
    /// Factor of I + P Gᵀ S⁻¹ G P, and P Gᵀ S⁻¹ r.
    Primal { factor: Cholesky, rhs: Vec<f64> },
}

impl Confidence {
    /// The prior alone: Σ_0, centred at ŵ_0.
    pub fn new(family: Box<dyn Family>, w_hat_0: Vec<f64>) -> Self {
        let mut prior_std = vec![0.0; family.n_weights()];
        family.prior_std(&mut prior_std);
        let at_columns = if family.is_linear() { 0 } else { family.n_weights() };
        Self {
            centred: family.is_linear() && w_hat_0.iter().all(|&w| w == 0.0),
            points: Embedded {
                x: Matrix::zeros(0, family.dimension()),
                e: Matrix::zeros(0, family.n_embedded()),
            },
            linearized_at: Matrix::zeros(0, at_columns),
            residuals: Vec::new(),
            noise_var: Vec::new(),
            form: Form::Dual { factor: Cholesky::default(), alpha: Vec::new() },
            w_hat: w_hat_0.clone(),
            since_refresh: 0,
            trace_bound: prior_std.iter().map(|p| p.powi(-2)).fold(0.0, f64::max),
            prior_std,
            w_hat_0,
            family: family.into(),
        }
    }

    /// All rounds at once: one factorisation instead of one update a round.
    pub fn with_rounds<'a>(
        family: Box<dyn Family>,
        w_hat_0: Vec<f64>,
        rounds: impl IntoIterator<Item = Round<'a>>,
    ) -> Self {
        let mut confidence = Self::new(family, w_hat_0);
        rounds.into_iter().for_each(|round| {
            confidence.store(round);
        });
        confidence.refresh();
        confidence
    }

    /// Line 2 and 3 of Phase II: Σ_t and ŵ_t after one more round. A round that is not finite teaches nothing.
    pub fn push(&mut self, round: Round<'_>) {
        if !self.store(round) {
            return;
        }
        self.since_refresh += 1;
        let t = self.residuals.len();
        let crossing = t == self.prior_std.len();
        if crossing || self.since_refresh >= REFRESH_ROUNDS || !self.update_form(t - 1) {
            self.refresh();
        } else {
            self.solve_centre();
        }
    }

    /// Factors from scratch, in the form that is cheaper at this t.
    pub fn refresh(&mut self) {
        self.since_refresh = 0;
        self.form = if self.residuals.len() < self.prior_std.len() { self.dual() } else { self.primal() };
        self.solve_centre();
    }

    /// The family, at the scales of this ball's prior.
    pub fn family(&self) -> &dyn Family {
        &*self.family
    }

    /// ŵ_t.
    pub fn w_hat(&self) -> &[f64] {
        &self.w_hat
    }

    /// Number of rounds so far.
    pub fn rounds(&self) -> usize {
        self.residuals.len()
    }

    /// f_x(ŵ_t).
    pub fn mean(&self, x: &[f64]) -> f64 {
        self.family.value(&self.w_hat, x)
    }

    /// u = ‖∇f_x(ŵ_t)‖ in Σ_t⁻¹: one standard deviation of f_x under the linearised posterior.
    pub fn uncertainty(&self, x: &[f64]) -> f64 {
        self.look(x, |_| 0.0, None).u
    }

    /// f_x(ŵ_t) and u in one go.
    pub fn predict(&self, x: &[f64]) -> (f64, f64) {
        let look = self.look(x, |_| 0.0, None);
        (look.mean, look.u)
    }

    /// f_x(ŵ_t) + √β u: the most hopeful value in Ball_t under the linearisation, exact for a linear family.
    /// Writes its gradient in x.
    pub fn bound(&self, x: &[f64], radius: f64, grad_x: &mut [f64]) -> f64 {
        let look = self.look(x, |_| radius, Some(grad_x));
        look.mean + radius * look.u
    }

    /// (f_x(ŵ_t) − level) / u: by how many standard deviations x is expected to be above a level. If x is expected below
    /// it, this is −√β of the smallest ball in which some w lifts x to it. Writes its gradient in x.
    pub fn standing(&self, x: &[f64], level: f64, grad_x: &mut [f64]) -> f64 {
        // The gradient is that of mean − standing · u, over u.
        let look = self.look(x, |look| -look.standing(level), Some(grad_x));
        grad_x.iter_mut().for_each(|slope| *slope /= look.u.max(LEAST_U));
        look.standing(level)
    }

    /// `predict` for each row of `x`: one block of matrix products.
    pub fn predict_rows(&self, x: Matrix) -> Vec<(f64, f64)> {
        match &self.form {
            Form::Dual { factor, alpha } => self.predict_rows_dual(factor, alpha, x),
            Form::Primal { factor, .. } => self.predict_rows_primal(factor, &x),
        }
    }

    fn predict_rows_dual(&self, factor: &Cholesky, alpha: &[f64], x: Matrix) -> Vec<(f64, f64)> {
        let block = Embedded::new(&*self.family, &self.w_hat, x);
        let k = self.family.gram(self.points.points(), block.points()); // (t, block)
        let means: Vec<f64> = if self.centred {
            k.transposed_times(alpha)
        } else {
            block.x.iter_rows().map(|x| self.mean(x)).collect()
        };
        let z = factor.solve_lower_many(k);
        let mut explained = vec![0.0; block.x.rows()];
        for row in z.iter_rows() {
            explained.iter_mut().zip(row).for_each(|(sum, z)| *sum += z * z);
        }
        let prior = |i: usize| self.family.gram_self(block.point(i));
        (0..means.len()).map(|i| (means[i], (prior(i) - explained[i]).max(0.0).sqrt())).collect()
    }

    fn predict_rows_primal(&self, factor: &Cholesky, x: &Matrix) -> Vec<(f64, f64)> {
        let mut gradients = Matrix::zeros(x.rows(), self.prior_std.len()); // P g, one row a point
        let mut mean = |(i, x): (usize, &[f64])| {
            let grad_w = gradients.row_mut(i);
            self.family.grad_w(&self.w_hat, x, grad_w);
            let mean = self.mean_from(grad_w, x);
            grad_w.iter_mut().zip(&self.prior_std).for_each(|(g, p)| *g *= p);
            mean
        };
        let means: Vec<f64> = x.iter_rows().enumerate().map(&mut mean).collect();
        let z = factor.solve_lower_rows(gradients);
        means.into_iter().zip(z.iter_rows()).map(|(mean, z)| (mean, dot(z, z).sqrt())).collect()
    }

    /// The w in Ball_t where f_x is highest, and that value. Closed form for a linear family; else an ascent that
    /// maximises the linearisation at w over the ball (conditional gradients) until it no longer gains.
    pub fn most_hopeful(&self, x: &[f64], radius: f64) -> (Vec<f64>, f64) {
        let mut w = self.w_hat.clone();
        let mut value = self.family.value(&w, x);
        let mut grad_w = vec![0.0; w.len()];
        for _ in 0..if self.family.is_linear() { 1 } else { 50 } {
            self.family.grad_w(&w, x, &mut grad_w);
            let direction = self.covariance_times(&grad_w);
            let u = dot(&direction, &grad_w).max(0.0).sqrt();
            if u == 0.0 {
                break;
            }
            let corner: Vec<f64> = (0..w.len()).map(|i| self.w_hat[i] + radius * direction[i] / u).collect();
            let before = value;
            for step in [1.0, 0.5, 0.25, 0.125, 0.0625] {
                let trial: Vec<f64> = w.iter().zip(&corner).map(|(w, c)| w + step * (c - w)).collect();
                let trial_value = self.family.value(&trial, x);
                if trial_value > value {
                    (w, value) = (trial, trial_value);
                    break;
                }
            }
            if value - before <= 1e-10 * (1.0 + value.abs()) {
                break;
            }
        }
        (w, value)
    }

    /// ‖w − ŵ_t‖² in Σ_t.
    pub fn distance_squared(&self, w: &[f64]) -> f64 {
        let delta: Vec<f64> = w.iter().zip(&self.w_hat).map(|(w, c)| w - c).collect();
        let prior: f64 = delta.iter().zip(&self.prior_std).map(|(d, p)| (d / p).powi(2)).sum();
        let data = (0..self.rounds()).map(|i| dot(&self.gradient(i), &delta).powi(2) / self.noise_var[i]);
        prior + data.sum::<f64>()
    }

    /// Whether w lies in Ball_t.
    pub fn contains(&self, w: &[f64], beta_t: f64) -> bool {
        self.distance_squared(w) <= beta_t
    }

    /// Moves w straight towards ŵ_t until it lies in the ball of this radius √β.
    pub fn pull_inside(&self, w: &mut [f64], radius: f64) {
        let plain: f64 = w.iter().zip(&self.w_hat).map(|(w, c)| (w - c).powi(2)).sum();
        // Σ_t is at most its trace: most of the time this settles it without visiting the rounds.
        if self.trace_bound * plain <= radius * radius {
            return;
        }
        let distance = self.distance_squared(w).sqrt();
        if distance > radius {
            w.iter_mut().zip(&self.w_hat).for_each(|(w, c)| *w = c + (*w - c) * radius / distance);
        }
    }

    /// log det Σ_t − log det Σ_0.
    pub fn log_det_ratio(&self) -> f64 {
        match &self.form {
            Form::Dual { factor, .. } => {
                factor.log_det() - self.noise_var.iter().map(|s2| s2.ln()).sum::<f64>()
            }
            Form::Primal { factor, .. } => factor.log_det(),
        }
    }

    /// Σ_t⁻¹ v.
    pub fn covariance_times(&self, v: &[f64]) -> Vec<f64> {
        let scaled = |v: &[f64]| -> Vec<f64> { v.iter().zip(&self.prior_std).map(|(v, p)| v * p).collect() };
        match &self.form {
            Form::Primal { factor, .. } => scaled(&factor.solve(&scaled(v))),
            Form::Dual { factor, .. } => {
                let mut out = scaled(&scaled(v)); // P² v
                let products: Vec<f64> = (0..self.rounds()).map(|i| dot(&self.gradient(i), &out)).collect();
                let explained = self.weighted_gradients(&factor.solve(&products));
                let explained = scaled(&scaled(&explained));
                add_scaled(-1.0, &explained, &mut out);
                out
            }
        }
    }

    /// Each round as the posterior of all others has it, by the leverage g_iᵀ Σ_t⁻¹ g_i / s_i²: exact for a linear family
    /// under this prior.
    pub fn leave_one_out(&self) -> Vec<LeftOut> {
        let left_out = |i: usize| {
            let (x, grad_w, noise_var) = (self.points.x.row(i), self.gradient(i), self.noise_var[i]);
            let at = if self.family.is_linear() { &self.w_hat_0 } else { self.linearized_at.row(i) };
            let from_centre = |w: &[f64]| -> f64 {
                grad_w.iter().zip(w).zip(&self.w_hat_0).map(|((g, w), w_0)| g * (w - w_0)).sum()
            };
            let variance = dot(&grad_w, &self.covariance_times(&grad_w)).max(0.0);
            let kept = (1.0 - variance / noise_var).max(1e-9);
            let error = (self.residuals[i] - from_centre(&self.w_hat)) / kept;
            let observed = self.residuals[i] - from_centre(at) + self.family.value(at, x);
            LeftOut {
                x: x.to_vec(),
                observed,
                mean: observed - error,
                std: (noise_var + variance / kept).sqrt(),
            }
        };
        (0..self.rounds()).map(left_out).collect()
    }

    /// Mean and uncertainty at x, and, where asked for, the gradient of mean + radius · u, for the radius that follows
    /// from the two.
    fn look(&self, x: &[f64], radius: impl Fn(&Look) -> f64, grad_x: Option<&mut [f64]>) -> Look {
        match &self.form {
            Form::Dual { factor, alpha } => self.look_dual(factor, alpha, x, radius, grad_x),
            Form::Primal { factor, .. } => self.look_primal(factor, x, radius, grad_x),
        }
    }

    fn look_dual(
        &self,
        factor: &Cholesky,
        alpha: &[f64],
        x: &[f64],
        radius: impl Fn(&Look) -> f64,
        grad_x: Option<&mut [f64]>,
    ) -> Look {
        let mut e = vec![0.0; self.family.n_embedded()];
        self.family.embed(&self.w_hat, x, &mut e);
        let point = Point { x, e: &e };
        let mut k = vec![0.0; self.rounds()];
        self.family.gram_row(point, self.points.points(), &mut k);
        let mean = if self.centred { dot(alpha, &k) } else { self.mean(x) };
        factor.solve_lower(&mut k);
        let look = Look { mean, u: (self.family.gram_self(point) - dot(&k, &k)).max(0.0).sqrt() };
        if let Some(grad_x) = grad_x {
            factor.solve_upper(&mut k); // now (K + S)⁻¹ k
            let per_u = if look.u > LEAST_U { radius(&look) / look.u } else { 0.0 };
            k.iter_mut().for_each(|k| *k *= -per_u);
            if self.centred {
                add_scaled(1.0, alpha, &mut k);
            }
            self.family.gram_grad_x(&self.w_hat, point, self.points.points(), &k, per_u, grad_x);
            if !self.centred {
                self.add_grad_mean(x, grad_x);
            }
        }
        look
    }

    fn look_primal(
        &self,
        factor: &Cholesky,
        x: &[f64],
        radius: impl Fn(&Look) -> f64,
        grad_x: Option<&mut [f64]>,
    ) -> Look {
        let mut e = vec![0.0; self.prior_std.len()];
        self.family.grad_w(&self.w_hat, x, &mut e);
        let mean = self.mean_from(&e, x);
        e.iter_mut().zip(&self.prior_std).for_each(|(g, p)| *g *= p);
        factor.solve_lower(&mut e);
        let look = Look { mean, u: dot(&e, &e).sqrt() };
        if let Some(grad_x) = grad_x {
            factor.solve_upper(&mut e);
            let per_u = if look.u > LEAST_U { radius(&look) / look.u } else { 0.0 };
            e.iter_mut().zip(&self.prior_std).for_each(|(v, p)| *v *= per_u * p);
            if self.family.is_linear() {
                add_scaled(1.0, &self.w_hat, &mut e); // ∇_x f is linear in w: one pass for mean and uncertainty
                self.family.grad_x(&e, x, grad_x);
            } else {
                self.family.grad_x_along(&self.w_hat, &e, x, grad_x);
                self.add_grad_mean(x, grad_x);
            }
        }
        look
    }

    /// f_x(ŵ_t), where ∇f_x(ŵ_t) is known.
    fn mean_from(&self, grad_w: &[f64], x: &[f64]) -> f64 {
        if self.family.is_linear() { dot(grad_w, &self.w_hat) } else { self.mean(x) }
    }

    fn add_grad_mean(&self, x: &[f64], grad_x: &mut [f64]) {
        let mut slope = vec![0.0; x.len()];
        self.family.grad_x(&self.w_hat, x, &mut slope);
        add_scaled(1.0, &slope, grad_x);
    }

    /// False, and nothing stored, if the gradient or the residual is not finite.
    fn store(&mut self, round: Round<'_>) -> bool {
        let mut gradient = vec![0.0; self.prior_std.len()];
        self.family.grad_w(round.w, round.x, &mut gradient);
        let growth = dot(&gradient, &gradient) / round.noise_var;
        let mut e = vec![0.0; self.family.n_embedded()];
        self.family.embed(round.w, round.x, &mut e);
        if !(growth.is_finite() && round.residual.is_finite() && e.iter().all(|e| e.is_finite())) {
            return false;
        }
        self.points.x.push_row(round.x);
        self.points.e.push_row(&e);
        self.linearized_at.push_row(if self.family.is_linear() { &[] } else { round.w });
        self.residuals.push(round.residual);
        self.noise_var.push(round.noise_var);
        self.trace_bound += growth;
        true
    }

    /// Takes round i, the last one, into the factor. False if that failed for rounding.
    fn update_form(&mut self, i: usize) -> bool {
        let scaled_gradient = self.scaled_gradient(i);
        let (r, s2) = (self.residuals[i], self.noise_var[i]);
        match &mut self.form {
            Form::Primal { factor, rhs } => {
                let per_noise: Vec<f64> = scaled_gradient.iter().map(|g| g / s2.sqrt()).collect();
                factor.rank_one_update(&per_noise);
                add_scaled(r / s2, &scaled_gradient, rhs);
                true
            }
            Form::Dual { factor, .. } => {
                let point = self.points.point(i);
                let mut row = vec![0.0; i + 1];
                self.family.gram_row(point, self.points.points(), &mut row);
                let diagonal = self.family.gram_self(point) + s2;
                factor.append(&row[..i], diagonal)
            }
        }
    }

    fn dual(&self) -> Form {
        let gram = self.family.gram_within(self.points.points());
        let size = (0..gram.rows()).map(|i| gram[(i, i)]).fold(0.0, f64::max);
        let mut jitter = 0.0;
        loop {
            let mut k = gram.clone();
            (0..k.rows()).for_each(|i| k[(i, i)] += self.noise_var[i] + jitter);
            if let Some(factor) = Cholesky::new(&k) {
                return Form::Dual { factor, alpha: Vec::new() };
            }
            assert!(
                jitter < size,
                "inner products of finite gradients are finite and positive semi-definite"
            );
            jitter = if jitter == 0.0 { JITTER * size.max(f64::MIN_POSITIVE) } else { 10.0 * jitter };
        }
    }

    fn primal(&self) -> Form {
        let d_w = self.prior_std.len();
        let mut scaled = Matrix::zeros(0, d_w); // P Gᵀ S^-½, transposed
        let mut rhs = vec![0.0; d_w];
        for i in 0..self.rounds() {
            let mut row = self.scaled_gradient(i);
            add_scaled(self.residuals[i] / self.noise_var[i], &row, &mut rhs);
            row.iter_mut().for_each(|g| *g /= self.noise_var[i].sqrt());
            scaled.push_row(&row);
        }
        let mut a = scaled.transposed_product_lower();
        (0..d_w).for_each(|j| a[(j, j)] += 1.0);
        let factor = Cholesky::new(&a)
            .expect("the identity plus a Gram matrix of finite gradients is positive definite");
        Form::Primal { factor, rhs }
    }

    /// ŵ_t from the factor (eq. 5).
    fn solve_centre(&mut self) {
        let shift = match &mut self.form {
            Form::Dual { factor, alpha } => {
                *alpha = factor.solve(&self.residuals);
                let alpha = alpha.clone();
                let mut shift = self.weighted_gradients(&alpha);
                shift.iter_mut().zip(&self.prior_std).for_each(|(s, p)| *s *= p * p);
                shift
            }
            Form::Primal { factor, rhs } => {
                factor.solve(rhs).iter().zip(&self.prior_std).map(|(v, p)| v * p).collect()
            }
        };
        self.w_hat = self.w_hat_0.iter().zip(&shift).map(|(w, s)| w + s).collect();
    }

    /// g_i.
    fn gradient(&self, i: usize) -> Vec<f64> {
        let mut gradient = vec![0.0; self.prior_std.len()];
        let w = if self.family.is_linear() { &self.w_hat_0 } else { self.linearized_at.row(i) };
        self.family.grad_w(w, self.points.x.row(i), &mut gradient);
        gradient
    }

    /// P g_i.
    fn scaled_gradient(&self, i: usize) -> Vec<f64> {
        let mut gradient = self.gradient(i);
        gradient.iter_mut().zip(&self.prior_std).for_each(|(g, p)| *g *= p);
        gradient
    }

    /// Σ_i c_i g_i.
    fn weighted_gradients(&self, c: &[f64]) -> Vec<f64> {
        let mut sum = vec![0.0; self.prior_std.len()];
        c.iter().enumerate().for_each(|(i, &c)| add_scaled(c, &self.gradient(i), &mut sum));
        sum
    }
}

struct Look {
    mean: f64,
    u: f64,
}

impl Look {
    fn standing(&self, level: f64) -> f64 {
        (self.mean - level) / self.u.max(LEAST_U)
    }
}
