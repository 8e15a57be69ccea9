//! The paper's lemmas, round by round, on objectives that the family can be: what the proofs claim is computed
//! here a second time, from the gradients themselves, and compared with what the crate reports.

use optimist::confidence::{Confidence, Round};
use optimist::linalg::{Cholesky, Matrix, add_scaled, dot};
use optimist::model::Family;
use optimist::model::anova::Anova;
use optimist::model::isotropic::Isotropic;
use optimist::model::mlp::{Activation, Mlp};
use optimist::oracle::{self, Problem};
use optimist::schedule::{Constants, Proof};
use optimist::theory::{Ledger, RoundReport, Truth};
use optimist::{Rng, rng};
use rand::RngExt;
use rand_distr::{Distribution, Normal};

#[test]
fn explore() {
    for case in [bump(), hill()] {
        let c = case.constants();
        println!("{c:?}");
        for seed in 0..3 {
            let run = case.run(c.clone(), 256, 1.0, seed);
            println!("lambda {} n {} warnings {:?}", run.proof.lambda(), run.proof.n(), run.proof.warnings());
            println!("ctilde {} w0err {} cumul", run.proof.c_tilde(), run.proof.w_hat_0_error());
            for r in run.reports.iter().filter(|r| r.t == 1 || r.t % 60 == 0) {
                println!("{r:?}");
            }
            println!(
                "viol {:?}",
                run.reports.iter().flat_map(|r| r.violations()).take(3).collect::<Vec<_>>()
            );
        }
    }
}

/// An objective that is a member of its family, on [-1, 1].
struct Case {
    family: fn() -> Box<dyn Family>,
    w_star: Vec<f64>,
    /// W reaches this far from w* in each weight.
    reach: f64,
    noise_std: f64,
}

/// A bump made of two opposed tanh units: w* has 7 entries, and f is not linear in them.
fn bump() -> Case {
    Case {
        family: || Box::new(Mlp::new(1, &[2], Activation::Tanh)),
        w_star: vec![2.0, 2.0, 1.2, -1.6, 0.8, -0.7, -0.2],
        reach: 0.25,
        noise_std: 0.01,
    }
}

fn hill() -> Case {
    Case {
        family: || Box::new(Anova::quadratic(1)),
        w_star: vec![0.2, 0.4, -0.5],
        reach: 0.5,
        noise_std: 0.05,
    }
}

impl Case {
    fn grid(&self) -> Vec<[f64; 1]> {
        (0..=200).map(|i| [i as f64 / 100.0 - 1.0]).collect()
    }

    fn sample_w(&self, rng: &mut Rng) -> Vec<f64> {
        self.w_star.iter().map(|w| w + rng.random_range(-self.reach..=self.reach)).collect()
    }

    /// The constants of the assumptions, measured over the grid and draws of W.
    fn constants(&self) -> Constants {
        let family = (self.family)();
        let rng = &mut rng(99, 0);
        let (mut range, mut gradient, mut curvature) = (1.0f64, 0.0f64, 0.0f64);
        for _ in 0..2000 {
            let w = self.sample_w(rng);
            let x = self.grid()[rng.random_range(0..201)];
            range = range.max(family.value(&w, &x).abs());
            let g = grad_w(&*family, &w, &x);
            gradient = gradient.max(dot(&g, &g).sqrt());
            curvature = curvature.max(hessian_norm(&*family, &w, &x));
        }
        let mut hessian = Matrix::zeros(self.w_star.len(), self.w_star.len()); // ∇²L(w*)
        for x in self.grid() {
            let g = grad_w(&*family, &self.w_star, &x);
            (0..g.len()).for_each(|i| add_scaled(2.0 * g[i] / 201.0, &g, hessian.row_mut(i)));
        }
        let strong = smallest_eigenvalue(&hessian);
        println!("strong {strong}");
        Constants {
            range: 1.1 * range,
            gradient: 1.1 * gradient,
            curvature: if family.is_linear() { 0.0 } else { 1.1 * curvature },
            strong_convexity: 0.5 * strong,
            noise_std: self.noise_std,
            oracle_factor: 0.25 * (self.noise_std / range).powi(2),
            ..Constants::default()
        }
    }

    fn run(&self, constants: Constants, horizon: usize, shrink: f64, seed: u64) -> Run {
        let family = (self.family)();
        let proof = Proof::new(constants, horizon, self.w_star.len());
        let rng = &mut rng(seed, 0);
        let noise = Normal::new(0.0, self.noise_std).unwrap();
        let grid = self.grid();
        let f = |x: &[f64]| family.value(&self.w_star, x);
        let optimum = grid.iter().map(|x| f(x)).fold(f64::NEG_INFINITY, f64::max);
        let truth = Truth { w_star: self.w_star.clone(), optimum };
        let mut ledger = Ledger::new(proof.clone(), Some(truth));

        let points: Vec<[f64; 1]> = (0..proof.n()).map(|_| grid[rng.random_range(0..grid.len())]).collect();
        let x = Matrix::from_rows(1, points.iter().map(|x| x.as_slice()));
        let y: Vec<f64> = points.iter().map(|x| f(x) + noise.sample(rng)).collect();
        points.iter().for_each(|x| ledger.explored(&*family, x));
        let problem = Problem {
            family: &*family,
            x: &x,
            y: &y,
            noise_std: &vec![self.noise_std; y.len()],
            prior_weight: 0.0,
        };
        let start = self.sample_w(rng);
        let w_hat_0 = oracle::fit_with_restarts(&problem, Some(&start), 0, rng).unwrap().w;
        let e: Vec<f64> = w_hat_0.iter().zip(&self.w_star).map(|(a, b)| a - b).collect();
        println!("w0 error {}", dot(&e, &e));

        let std = 1.0 / proof.lambda().sqrt();
        let mut ball = Confidence::new(Box::new(Isotropic::new((self.family)(), std)), w_hat_0.clone());
        for t in 1..=horizon {
            let radius = (shrink * proof.beta_t(t)).sqrt();
            let hope = |x: &[f64; 1]| ball.most_hopeful(x, radius).1;
            let x_t = grid.iter().copied().max_by(|a, b| hope(a).total_cmp(&hope(b))).unwrap();
            ledger.round(&ball, &x_t);
            let w = ball.w_hat().to_vec();
            let g = grad_w(&*family, &w, &x_t);
            let moved: Vec<f64> = w.iter().zip(&w_hat_0).map(|(w, w_0)| w - w_0).collect();
            let y_t = f(&x_t) + noise.sample(rng);
            let residual = dot(&g, &moved) + y_t - family.value(&w, &x_t);
            ball.push(Round { w: &w, x: &x_t, residual, noise_var: 1.0 });
        }
        Run { proof, reports: ledger.rounds().to_vec() }
    }
}

struct Run {
    proof: Proof,
    reports: Vec<RoundReport>,
}

fn grad_w(family: &dyn Family, w: &[f64], x: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; w.len()];
    family.grad_w(w, x, &mut out);
    out
}

/// Frobenius
fn hessian_norm(family: &dyn Family, w: &[f64], x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for k in 0..w.len() {
        let mut moved = w.to_vec();
        moved[k] += 1e-5;
        let up = grad_w(family, &moved, x);
        moved[k] -= 2e-5;
        let down = grad_w(family, &moved, x);
        sum += up.iter().zip(down).map(|(u, d)| ((u - d) / 2e-5).powi(2)).sum::<f64>();
    }
    sum.sqrt()
}

fn smallest_eigenvalue(a: &Matrix) -> f64 {
    let factor = Cholesky::new(a).unwrap();
    let mut v = vec![1.0; a.rows()];
    let mut length = 1.0;
    for _ in 0..500 {
        v = factor.solve(&v);
        length = dot(&v, &v).sqrt();
        v.iter_mut().for_each(|v| *v /= length);
    }
    1.0 / length
}
