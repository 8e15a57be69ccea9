//! Levenberg-Marquardt: Gauss-Newton steps, damped until the loss falls.
//!
//! Works in whitened weights u = (w − m)/p, in which the prior is ‖u‖². With r the residuals, J their
//! Jacobian in u, π the prior's weight and μ the damping, a step solves (JᵀJ + (π + μ)I) δ = −(Jᵀr + πu).
//! With fewer points than weights it is found in the dual, from the n × n matrix JJᵀ, which families give
//! without forming J; else from the normal equations.

use super::{Fit, OracleError, Prior, Problem};
use crate::linalg::{Cholesky, Matrix, add_scaled, dot};
use crate::model::Embedded;

/// When to stop. All tolerances are relative to 1 + loss. A loss of 1 is one observation missed by its noise, so smaller
/// differences are irrelevant.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Steps tried, whether or not they were taken. Least squares (eq. 2) with fewer points than weights takes
    /// about ten; the MAP objective of 25 sigmoids can take hundreds, most of the gain being in the first 40.
    pub max_steps: usize,
    /// Converged when a step promises and gains less than this. Where prior and data pull against each other, steps gain less and
    /// less without end; 1e-6 is a thousandth of a posterior standard deviation.
    pub loss_tolerance: f64,
    /// Converged when no entry of the gradient in u is larger than this.
    pub gradient_tolerance: f64,
    /// Converged when a step is shorter than this, relative to 1 + ‖u‖.
    pub step_tolerance: f64,
    /// μ of the first step, relative to the largest curvature. At 0 the first step that is not worse is the last.
    pub first_damping: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_steps: 200,
            loss_tolerance: 1e-6,
            gradient_tolerance: 1e-8,
            step_tolerance: 1e-12,
            first_damping: 1e-3,
        }
    }
}

impl Settings {
    /// Settings for a family that is linear in w, whose minimum is one step away.
    pub fn undamped() -> Self {
        Self { first_damping: 0.0, ..Self::default() }
    }
}

/// A local minimum of the problem's loss, downhill from `start`. The loss is never above that of `start`.
///
/// # Errors
/// If the data or the loss at `start` are not finite.
pub fn fit(problem: &Problem<'_>, start: &[f64], settings: &Settings) -> Result<Fit, OracleError> {
    problem.check()?;
    let prior = Prior::new(problem.family);
    let mut here = Iterate::new(problem, &prior, start.to_vec());
    if !here.loss.is_finite() {
        return Err(OracleError::BadStart { loss: here.loss });
    }
    let mut slope = Linearized::new(problem, &prior, &here);
    let mut damping = Damping::new(settings, &slope);
    for step in 0..settings.max_steps {
        if slope.largest() <= settings.gradient_tolerance * (1.0 + here.loss) {
            return Ok(here.into_fit(step, true));
        }
        let Some(delta) = slope.step(&here.u, damping.mu) else {
            damping.raise();
            continue;
        };
        let length = dot(&delta, &delta).sqrt();
        let promised = damping.mu * length * length - dot(&slope.gradient, &delta);
        let there = Iterate::new(problem, &prior, here.moved(&prior, &delta));
        let gained = here.loss - there.loss;
        let tiny = length <= settings.step_tolerance * (1.0 + dot(&here.u, &here.u).sqrt());
        let even = gained.abs().max(promised) <= settings.loss_tolerance * (1.0 + here.loss);
        let settled = there.loss.is_finite() && (tiny || even);
        if gained >= 0.0 {
            let exact = settings.first_damping == 0.0 && damping.mu == 0.0;
            here = there;
            if settled || exact {
                return Ok(here.into_fit(step + 1, true));
            }
            damping.lower(gained / promised);
            slope = Linearized::new(problem, &prior, &here);
        } else if settled {
            // Rounding is all that is left.
            return Ok(here.into_fit(step, true));
        } else {
            damping.raise(); // also if the loss there is NaN
        }
    }
    Ok(here.into_fit(settings.max_steps, false))
}

/// Weights, with their residuals and loss.
struct Iterate {
    w: Vec<f64>,
    u: Vec<f64>,
    residuals: Vec<f64>,
    loss: f64,
}

impl Iterate {
    fn new(problem: &Problem<'_>, prior: &Prior, w: Vec<f64>) -> Self {
        let residuals = problem.residuals(&w);
        let u = prior.whitened(&w);
        let loss = problem.loss_from(&residuals, &u);
        Self { w, u, residuals, loss }
    }

    /// The weights after a step in whitened coordinates.
    fn moved(&self, prior: &Prior, delta: &[f64]) -> Vec<f64> {
        let scaled = delta.iter().zip(&prior.std).map(|(delta, std)| delta * std);
        self.w.iter().zip(scaled).map(|(w, step)| w + step).collect()
    }

    fn into_fit(self, steps: usize, converged: bool) -> Fit {
        Fit { w: self.w, loss: self.loss, steps, converged }
    }
}

/// The problem linearised at an iterate: residuals linear in u.
struct Linearized {
    residuals: Vec<f64>,
    /// J. (n, d_w)
    jacobian: Matrix,
    /// Jᵀr + πu: half the gradient of the loss in u.
    gradient: Vec<f64>,
    curvature: Curvature,
    prior_weight: f64,
}

/// The smaller of two matrices with the same non-zero eigenvalues.
enum Curvature {
    /// JJᵀ. (n, n)
    Dual(Matrix),
    /// JᵀJ. (d_w, d_w)
    Primal(Matrix),
}

impl Linearized {
    fn new(problem: &Problem<'_>, prior: &Prior, here: &Iterate) -> Self {
        let jacobian = jacobian(problem, prior, &here.w);
        let curvature = if problem.x.rows() < here.w.len() {
            Curvature::Dual(gram(problem, &here.w))
        } else {
            Curvature::Primal(jacobian.transposed_product_lower())
        };
        let mut gradient = jacobian.transposed_times(&here.residuals);
        add_scaled(problem.prior_weight, &here.u, &mut gradient);
        Self {
            residuals: here.residuals.clone(),
            jacobian,
            gradient,
            curvature,
            prior_weight: problem.prior_weight,
        }
    }

    /// The largest entry of the gradient; infinite if one is not a number.
    fn largest(&self) -> f64 {
        let finite_or_worse = |g: &f64| if g.is_nan() { f64::INFINITY } else { g.abs() };
        self.gradient.iter().map(finite_or_worse).fold(0.0, f64::max)
    }

    /// The step δ of the module's documentation, from u; `None` if it needs more damping.
    fn step(&self, u: &[f64], mu: f64) -> Option<Vec<f64>> {
        let total = self.prior_weight + mu;
        let delta = match &self.curvature {
            Curvature::Primal(matrix) => {
                let mut delta = damped(matrix, total)?.solve(&self.gradient);
                delta.iter_mut().for_each(|delta| *delta = -*delta);
                delta
            }
            Curvature::Dual(matrix) => {
                // By the identity (JᵀJ + cI)⁻¹Jᵀ = Jᵀ(JJᵀ + cI)⁻¹:
                // δ = −(π/c) u − Jᵀ(JJᵀ + cI)⁻¹ (r − (π/c) Ju), with c = π + μ.
                let factor = damped(matrix, total)?;
                let share = if self.prior_weight == 0.0 { 0.0 } else { self.prior_weight / total };
                let mut target = self.jacobian.times(u);
                for (target, r) in target.iter_mut().zip(&self.residuals) {
                    *target = r - share * *target;
                }
                let mut delta = self.jacobian.transposed_times(&factor.solve(&target));
                for (delta, u) in delta.iter_mut().zip(u) {
                    *delta = -(*delta + share * u);
                }
                delta
            }
        };
        delta.iter().all(|delta| delta.is_finite()).then_some(delta)
    }
}

fn jacobian(problem: &Problem<'_>, prior: &Prior, w: &[f64]) -> Matrix {
    let mut jacobian = Matrix::zeros(problem.x.rows(), w.len());
    for (i, (x, noise_std)) in problem.x.iter_rows().zip(problem.noise_std).enumerate() {
        let row = jacobian.row_mut(i);
        problem.family.grad_w(w, x, row);
        let stds = prior.std.iter();
        row.iter_mut().zip(stds).for_each(|(g, std)| *g *= std / noise_std);
    }
    jacobian
}

/// JJᵀ, from the family's inner products.
fn gram(problem: &Problem<'_>, w: &[f64]) -> Matrix {
    let points = Embedded::new(problem.family, w, problem.x.clone());
    let mut gram = problem.family.gram(points.points(), points.points());
    for i in 0..gram.rows() {
        let row = gram.row_mut(i).iter_mut().zip(problem.noise_std);
        row.for_each(|(k, noise_std)| *k /= problem.noise_std[i] * noise_std);
    }
    gram
}

fn damped(matrix: &Matrix, by: f64) -> Option<Cholesky> {
    let mut matrix = matrix.clone();
    (0..matrix.rows()).for_each(|i| matrix[(i, i)] += by);
    Cholesky::new(&matrix)
}

/// The damping μ, which follows success and failure (Nielsen 1999).
struct Damping {
    mu: f64,
    /// The factor on μ after the next failure; doubles with each failure in a row.
    growth: f64,
    /// μ after a failure at μ = 0.
    least: f64,
}

impl Damping {
    fn new(settings: &Settings, slope: &Linearized) -> Self {
        let (Curvature::Dual(matrix) | Curvature::Primal(matrix)) = &slope.curvature;
        let largest = (0..matrix.rows()).fold(0.0, |largest: f64, i| largest.max(matrix[(i, i)]));
        let largest = if largest > 0.0 { largest } else { 1.0 };
        Self { mu: settings.first_damping * largest, growth: 2.0, least: 1e-12 * largest }
    }

    fn raise(&mut self) {
        self.mu = (self.mu * self.growth).max(self.least);
        self.growth *= 2.0;
    }

    /// `ratio` is what the step gained over what it promised.
    fn lower(&mut self, ratio: f64) {
        self.mu *= (1.0 - (2.0 * ratio - 1.0).powi(3)).max(1.0 / 3.0);
        self.growth = 2.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Activation, Family, Fourier, Mlp};
    use crate::optimizer::{Rng, rng};
    use rand::RngExt;
    use rand_distr::{Distribution, StandardNormal};

    struct Data {
        x: Matrix,
        y: Vec<f64>,
        noise_std: Vec<f64>,
    }

    impl Data {
        /// Noisy values of a smooth function at random points, each with its own noise.
        fn draw(n: usize, d_x: usize, rng: &mut Rng) -> Self {
            let x = Matrix::from_fn(n, d_x, |_, _| rng.random_range(-1.0..1.0));
            let noise_std: Vec<f64> = (0..n).map(|i| 0.05 + 0.1 * (i % 3) as f64).collect();
            let smooth = |x: &[f64]| (2.0 * x[0]).sin() + x.iter().map(|x| x * x).sum::<f64>();
            let observe = |(x, std): (&[f64], &f64)| {
                let z: f64 = StandardNormal.sample(rng);
                smooth(x) + std * z
            };
            let y = x.iter_rows().zip(&noise_std).map(observe).collect();
            Self { x, y, noise_std }
        }

        fn problem<'a>(&'a self, family: &'a dyn Family, prior_weight: f64) -> Problem<'a> {
            Problem { family, x: &self.x, y: &self.y, noise_std: &self.noise_std, prior_weight }
        }
    }

    fn tight() -> Settings {
        Settings {
            max_steps: 2000,
            loss_tolerance: 1e-14,
            gradient_tolerance: 1e-9,
            step_tolerance: 1e-13,
            ..Settings::default()
        }
    }

    /// Central differences of the loss in w, times the prior's standard deviation.
    fn whitened_slopes(problem: &Problem<'_>, w: &[f64]) -> Vec<f64> {
        let prior = Prior::new(problem.family);
        let mut moved = w.to_vec();
        let mut slope = |k: usize| {
            let step = 1e-5;
            moved[k] = w[k] + step;
            let up = problem.loss(&moved);
            moved[k] = w[k] - step;
            let down = problem.loss(&moved);
            moved[k] = w[k];
            prior.std[k] * (up - down) / (2.0 * step)
        };
        (0..w.len()).map(&mut slope).collect()
    }

    #[test]
    fn the_gradient_of_the_map_objective_vanishes_at_the_fit() {
        let mut rng = rng(0, 0);
        // 8 points of 31 weights take the dual form, 60 the normal equations.
        for n in [8, 60] {
            let data = Data::draw(n, 4, &mut rng);
            let family = Mlp::new(4, &[5], Activation::Tanh);
            let problem = data.problem(&family, 1.0);
            let start = family.start(&mut rng);
            let found = fit(&problem, &start, &tight()).unwrap();
            assert!(found.converged, "{n} points: {} steps, loss {}", found.steps, found.loss);
            assert!(found.loss < problem.loss(&start));
            for slope in whitened_slopes(&problem, &found.w) {
                assert!(slope.abs() < 1e-4 * (1.0 + found.loss), "{n} points: slope {slope}");
            }
        }
    }

    #[test]
    fn dual_and_primal_steps_agree() {
        let mut rng = rng(1, 0);
        for n in [3, 10, 40] {
            let data = Data::draw(n, 2, &mut rng);
            let family = Mlp::new(2, &[4], Activation::Sigmoid);
            for (prior_weight, mu) in [(1.0, 0.0), (1.0, 3.0), (0.0, 0.5), (0.3, 1e-2)] {
                let problem = data.problem(&family, prior_weight);
                let prior = Prior::new(&family);
                let here = Iterate::new(&problem, &prior, family.start(&mut rng));
                let mut slope = Linearized::new(&problem, &prior, &here);
                slope.curvature = Curvature::Dual(gram(&problem, &here.w));
                let dual = slope.step(&here.u, mu).unwrap();
                slope.curvature = Curvature::Primal(slope.jacobian.transposed_product_lower());
                let primal = slope.step(&here.u, mu).unwrap();
                for (dual, primal) in dual.iter().zip(&primal) {
                    assert!((dual - primal).abs() < 1e-7 * (1.0 + primal.abs()), "{dual} is not {primal}");
                }
            }
        }
    }

    #[test]
    fn a_linear_family_takes_one_step_to_the_ridge_solution() {
        let mut rng = rng(2, 0);
        for (n, n_features) in [(6, 20), (30, 8)] {
            let data = Data::draw(n, 3, &mut rng);
            let family = Fourier::new(3, n_features, 5);
            let problem = data.problem(&family, 0.7);
            let start = family.start(&mut rng);
            let found = fit(&problem, &start, &Settings::undamped()).unwrap();
            assert_eq!((found.steps, found.converged), (1, true));
            let again = fit(&problem, &found.w, &Settings::undamped()).unwrap();
            assert!(again.steps <= 1 && again.converged);

            // (ΦᵀS⁻²Φ + 0.7 P⁻²) w = ΦᵀS⁻²y
            let prior = Prior::new(&family);
            let mut phi = Matrix::zeros(n, n_features);
            let mut scaled_y = data.y.clone();
            for (i, std) in data.noise_std.iter().enumerate() {
                family.grad_w(&[], data.x.row(i), phi.row_mut(i));
                phi.row_mut(i).iter_mut().for_each(|phi| *phi /= std);
                scaled_y[i] /= std;
            }
            let mut matrix = phi.transposed_product_lower();
            (0..n_features).for_each(|k| matrix[(k, k)] += 0.7 / prior.std[k].powi(2));
            let ridge = Cholesky::new(&matrix).unwrap().solve(&phi.transposed_times(&scaled_y));
            for (w, ridge) in found.w.iter().zip(&ridge) {
                assert!((w - ridge).abs() < 1e-6 * (1.0 + ridge.abs()), "{w} is not {ridge}");
            }
        }
    }

    #[test]
    fn enough_data_recover_the_papers_f1() {
        let family = Mlp::paper(20);
        let mut rng = rng(3, 0);
        let f1 = |x: &[f64]| family.value(&[1.0; 551], x);
        let x = Matrix::from_fn(60, 20, |_, _| rng.random_range(-1.0..1.0));
        let y: Vec<f64> = x.iter_rows().map(f1).collect();
        let problem = Problem { family: &family, x: &x, y: &y, noise_std: &[0.01; 60], prior_weight: 0.0 };
        let found = fit(&problem, &family.start(&mut rng), &Settings::default()).unwrap();
        assert!(found.converged);
        let rss = found.loss * 0.01 * 0.01;
        assert!(rss < 1e-9, "rss {rss} after {} steps", found.steps);
    }

    #[test]
    fn more_steps_never_raise_the_loss() {
        let mut rng = rng(4, 0);
        let data = Data::draw(25, 3, &mut rng);
        let family = Mlp::new(3, &[6, 4], Activation::Sigmoid);
        let start = family.start(&mut rng);
        for prior_weight in [0.0, 1.0] {
            let problem = data.problem(&family, prior_weight);
            let mut last = problem.loss(&start);
            for max_steps in 0..40 {
                let settings = Settings { max_steps, ..tight() };
                let found = fit(&problem, &start, &settings).unwrap();
                assert!(found.loss <= last);
                assert_eq!(found.loss, problem.loss(&found.w));
                last = found.loss;
            }
        }
    }

    /// √w x: not a number for a negative w, so that long steps fail.
    struct Root;

    impl Family for Root {
        fn dimension(&self) -> usize {
            1
        }

        fn n_weights(&self) -> usize {
            1
        }

        fn value(&self, w: &[f64], x: &[f64]) -> f64 {
            w[0].sqrt() * x[0]
        }

        fn grad_w(&self, w: &[f64], x: &[f64], out: &mut [f64]) {
            out[0] = 0.5 * x[0] / w[0].sqrt();
        }
    }

    #[test]
    fn steps_into_nan_are_refused() {
        let x = Matrix::from_fn(3, 1, |i, _| 1.0 + i as f64);
        let y = [0.1, 0.2, 0.3]; // w = 0.01
        let problem = Problem { family: &Root, x: &x, y: &y, noise_std: &[0.01; 3], prior_weight: 0.0 };
        let found = fit(&problem, &[25.0], &Settings::default()).unwrap();
        assert!((found.w[0] - 0.01).abs() < 1e-6, "w is {}", found.w[0]);
        let said = fit(&problem, &[-1.0], &Settings::default()).unwrap_err().to_string();
        assert!(said.starts_with("oracle cannot start: loss is NaN;"), "{said}");
    }

    #[test]
    fn without_data_the_fit_is_the_prior_mean() {
        let family = Mlp::new(2, &[3], Activation::Sigmoid);
        let data = Data::draw(0, 2, &mut rng(5, 0));
        let start = family.start(&mut rng(6, 0));
        let found = fit(&data.problem(&family, 1.0), &start, &tight()).unwrap();
        assert!(found.converged);
        assert!(found.w.iter().all(|w| w.abs() < 1e-6), "{:?}", found.w);
    }

    #[test]
    fn points_told_twice_do_no_harm() {
        let mut rng = rng(7, 0);
        let mut data = Data::draw(4, 2, &mut rng);
        for i in 0..4 {
            let row = data.x.row(i).to_vec();
            data.x.push_row(&row);
            data.y.push(data.y[i] + 0.01);
            data.noise_std.push(data.noise_std[i]);
        }
        let networks = Mlp::new(2, &[4], Activation::Tanh);
        let features = Fourier::new(2, 16, 0);
        let (damped, undamped) = (Settings::default(), Settings::undamped());
        for (family, settings) in [(&networks as &dyn Family, damped), (&features, undamped)] {
            for prior_weight in [0.0, 1.0] {
                let problem = data.problem(family, prior_weight);
                let found = fit(&problem, &family.start(&mut rng), &settings).unwrap();
                assert!(found.w.iter().all(|w| w.is_finite()));
                assert!(found.converged, "prior weight {prior_weight}: loss {}", found.loss);
            }
        }
    }
}
