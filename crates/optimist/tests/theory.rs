//! The paper's lemmas, round by round, on objectives that are members of their family. What the proofs are about is
//! computed here a second time, from the gradients themselves, and compared with what the crate reports.
//!
//! The theorem allows δ = 5% of runs to fail. Of 150 seeds none did for `hill` and `wave`, and one for `step`, whose ŵ_0
//! was too far off; the first few seeds of each are run here.

use optimist::encode::Domain;
use optimist::internal::confidence::{Confidence, Round};
use optimist::internal::linalg::{Cholesky, Matrix, add_scaled, dot};
use optimist::internal::model::Isotropic;
use optimist::internal::oracle::{self, Problem, Starts};
use optimist::internal::schedule::{Constants, Proof};
use optimist::internal::theory::{Ledger, Truth};
use optimist::model::{Activation, Family, Mlp};
use optimist::settings::TheorySettings;
use optimist::{GoUcb, Observation, Optimizer, Outcome, Rng, Settings, rng};
use rand::RngExt;
use rand_distr::{Distribution, Normal};

const HORIZON: usize = 100;

#[test]
fn every_lemma_and_the_regret_bound_hold_at_every_round_of_a_linear_family() {
    (0..4).for_each(|seed| hill().check(seed));
}

#[test]
fn they_hold_for_a_family_that_is_not_linear() {
    (0..4).for_each(|seed| wave().check(seed));
}

#[test]
fn they_hold_for_a_network() {
    (0..4).for_each(|seed| step().check(seed));
}

#[test]
fn they_hold_for_the_theory_preset_as_users_run_it() {
    let case = hill();
    let settings = Settings::Theory(TheorySettings { constants: case.constants(), ..Default::default() });
    let domain = Domain::boxed(&[(-1.0, 1.0)]);
    let trials = HORIZON + Proof::new(case.constants(), HORIZON, 3).n();
    let policy = GoUcb::with_family(&domain, trials, &settings, 0, case.family).unwrap();
    let mut go_ucb = Optimizer::new(domain, policy);
    let noise = Normal::new(0.0, case.noise_std).unwrap();
    for trial in 0..trials as u64 {
        let rng = &mut rng(5, trial);
        let x = go_ucb.ask(rng);
        let y = Parabola.value(&case.w_star, &[2.0 * x[0] - 1.0]) + noise.sample(rng);
        go_ucb.tell(Observation { x, outcome: Outcome::Value { y, noise_std: None } }).unwrap();
    }
    let truth = Truth { w_star: case.w_star.clone(), optimum: 0.74 }; // 0.7 + 0.4x − x² at x = 0.2
    let reports = go_ucb.policy().round_reports(go_ucb.history(), Some(truth)).unwrap();
    assert_eq!(reports.len(), HORIZON);
    let violations: Vec<String> = reports.iter().flat_map(|report| report.violations()).collect();
    assert_eq!(violations, [""; 0]);
    assert_eq!(go_ucb.warnings(), [""; 0]);
}

#[test]
fn the_bound_on_a_round_is_far_below_the_widest_gap_there_can_be() {
    for case in [hill(), wave(), step()] {
        let run = case.run(case.constants(), 0);
        let widest = 2.0 * case.constants().range;
        let bounds: Vec<f64> = run.ledger.rounds().iter().map(|report| report.regret_bound).collect();
        assert!(bounds.iter().all(|bound| *bound < 0.5 * widest), "{bounds:?} beside {widest}");
    }
}

#[test]
fn the_papers_own_constant_makes_the_ball_wider_still_and_warns_of_the_short_horizon() {
    let case = hill();
    let tight = Proof::new(case.constants(), HORIZON, 3);
    assert!(tight.warnings().is_empty(), "{:?}", tight.warnings());
    let run = case.run(Constants { oracle_factor: 16.0, ..case.constants() }, 0);
    assert_eq!(run.violations(), [""; 0]);
    assert_eq!(run.proof().warnings().len(), 1);
    assert!(run.proof().beta_t(1) > 1e3 * tight.beta_t(1));
}

#[test]
fn in_a_ball_with_a_millionth_of_beta_w_star_is_not() {
    // β_t is linear in σ² and C' where C_h = 0.
    let told = hill().constants();
    let shrunk = Constants {
        noise_std: 1e-3 * told.noise_std,
        oracle_factor: 1e-6 * told.oracle_factor,
        ..told.clone()
    };
    let run = hill().run(shrunk, 0);
    assert!((1e6 * run.proof().beta_t(7) / Proof::new(told, HORIZON, 3).beta_t(7) - 1.0).abs() < 1e-9);
    assert!(run.violations().iter().any(|said| said.ends_with("w* is outside the ball")));

    let run = wave().run(wave().constants(), 0);
    let beta_t = |t| 1e-6 * run.proof().beta_t(t);
    assert!(run.distances.iter().enumerate().any(|(i, distance)| *distance > beta_t(i + 1)));
}

/// f_w(x) = w_0 + w_1 x + w_2 (2x² − 1): linear in w.
struct Parabola;

impl Family for Parabola {
    fn dimension(&self) -> usize {
        1
    }

    fn n_weights(&self) -> usize {
        3
    }

    fn value(&self, w: &[f64], x: &[f64]) -> f64 {
        w[0] + w[1] * x[0] + w[2] * (2.0 * x[0] * x[0] - 1.0)
    }

    fn grad_w(&self, _w: &[f64], x: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&[1.0, x[0], 2.0 * x[0] * x[0] - 1.0]);
    }

    fn is_linear(&self) -> bool {
        true
    }
}

/// f_w(x) = cos(2x + w_0) + w_1 sin(4x + w_2): curved in w, and every weight shows.
struct Wave;

impl Family for Wave {
    fn dimension(&self) -> usize {
        1
    }

    fn n_weights(&self) -> usize {
        3
    }

    fn value(&self, w: &[f64], x: &[f64]) -> f64 {
        (2.0 * x[0] + w[0]).cos() + w[1] * (4.0 * x[0] + w[2]).sin()
    }
}

/// An objective that is a member of its family, over a grid of [-1, 1].
struct Case {
    family: fn() -> Box<dyn Family>,
    w_star: Vec<f64>,
    /// W reaches this far from w*, in each weight.
    reach: f64,
    noise_std: f64,
}

fn hill() -> Case {
    Case { family: || Box::new(Parabola), w_star: vec![0.2, 0.4, -0.5], reach: 0.5, noise_std: 0.05 }
}

fn wave() -> Case {
    Case { family: || Box::new(Wave), w_star: vec![0.6, 0.5, -0.3], reach: 0.25, noise_std: 0.02 }
}

/// A step: one hidden unit.
fn step() -> Case {
    Case {
        family: || Box::new(Mlp::new(1, &[1], Activation::Tanh)),
        w_star: vec![2.0, 0.5, 1.0, -0.2],
        reach: 0.25,
        noise_std: 0.005,
    }
}

/// Phase I and Phase II of Algorithm 1, with what the reports are checked against.
struct Run {
    ledger: Ledger,
    /// log det Σ_t/λ^d_w and Σ_i g_iᵀ Σ_t⁻¹ g_i of each round, from the gradients.
    explicit: Vec<[f64; 2]>,
    /// max over x and the ball, of each round.
    bounds: Vec<f64>,
    /// ‖w* − ŵ_t‖² in Σ_t, of each round.
    distances: Vec<f64>,
}

impl Run {
    fn proof(&self) -> &Proof {
        self.ledger.proof()
    }

    fn violations(&self) -> Vec<String> {
        self.ledger.rounds().iter().flat_map(|report| report.violations()).collect()
    }
}

impl Case {
    /// Runs with the measured constants; panics if a lemma fails in any round.
    fn check(&self, seed: u64) {
        let run = self.run(self.constants(), seed);
        assert_eq!(run.proof().warnings(), [], "the theorem has nothing to say about this case");
        assert_eq!(run.violations(), [""; 0], "seed {seed}");
        let optimum = self.optimum();
        for (report, ([log_det, sum], bound)) in
            run.ledger.rounds().iter().zip(run.explicit.iter().zip(&run.bounds))
        {
            let t = report.t;
            assert_eq!(report.contains_w_star, Some(true));
            assert!(report.regret.is_some() && report.cumulative_regret.is_some());
            assert!((report.log_det_ratio - log_det).abs() <= 1e-9 * (1.0 + log_det), "round {t}: {log_det}");
            assert!(
                (report.log_det_product - log_det).abs() <= 1e-9 * (1.0 + log_det),
                "round {t}: {log_det}"
            );
            assert!((report.sum_of_squares - sum).abs() <= 1e-9 * (1.0 + sum), "round {t}: {sum}");
            assert!(*bound >= optimum - 1e-9, "round {t}: the highest bound {bound} is below f* = {optimum}");
        }
    }

    fn run(&self, constants: Constants, seed: u64) -> Run {
        let family = (self.family)();
        let d_w = self.w_star.len();
        let proof = Proof::new(constants, HORIZON, d_w);
        let mut rng = rng(seed, 0);
        let noise = Normal::new(0.0, self.noise_std).unwrap();
        let grid = grid();
        let observe = |x: &[f64], rng: &mut Rng| family.value(&self.w_star, x) + noise.sample(rng);
        let truth = Truth { w_star: self.w_star.clone(), optimum: self.optimum() };
        let mut ledger = Ledger::new(proof.clone(), Some(truth));

        let mut x = Matrix::zeros(0, 1);
        let mut y = Vec::new();
        for _ in 0..proof.n() {
            let x_j = grid[rng.random_range(0..grid.len())];
            ledger.explored(&*family, &x_j);
            x.push_row(&x_j);
            y.push(observe(&x_j, &mut rng));
        }
        let noise_std = vec![self.noise_std; y.len()];
        let problem = Problem { family: &*family, x: &x, y: &y, noise_std: &noise_std, prior_weight: 0.0 };
        let start = self.draw(&mut rng);
        let w_hat_0 = oracle::fit(&problem, &Starts::At(vec![start])).unwrap().w;

        let prior = Isotropic::new((self.family)(), 1.0 / proof.lambda().sqrt());
        let mut ball = Confidence::new(Box::new(prior), w_hat_0.clone());
        let mut gradients = Matrix::zeros(0, d_w);
        let mut run = Run { ledger, explicit: Vec::new(), bounds: Vec::new(), distances: Vec::new() };
        for t in 1..=HORIZON {
            let radius = proof.beta_t(t).sqrt();
            let bounds = grid.iter().map(|x| (ball.argmax_w(x, radius).1, *x));
            let (bound, x_t) = bounds.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
            run.ledger.round(&ball, &x_t);
            run.explicit.push(explicit(&gradients, proof.lambda()));
            run.bounds.push(bound);
            run.distances.push(ball.distance_squared(&self.w_star));

            let y_t = observe(&x_t, &mut rng);
            let w_hat = ball.w_hat().to_vec();
            let g = grad_w(&*family, &w_hat, &x_t);
            let moved: Vec<f64> = w_hat.iter().zip(&w_hat_0).map(|(w, w_0)| w - w_0).collect();
            let residual = dot(&g, &moved) + y_t - family.value(&w_hat, &x_t);
            ball.update(Round { w: &w_hat, x: &x_t, residual, noise_var: 1.0 });
            gradients.push_row(&g);
        }
        run
    }

    fn optimum(&self) -> f64 {
        let family = (self.family)();
        grid().iter().map(|x| family.value(&self.w_star, x)).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Some w of W.
    fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        self.w_star.iter().map(|w| w + rng.random_range(-self.reach..=self.reach)).collect()
    }

    /// The constants of the paper's assumptions, measured over the grid and over draws of W. Its C' has to cover noise
    /// as large as F; least squares does better by the square of their ratio.
    fn constants(&self) -> Constants {
        let family = (self.family)();
        let rng = &mut rng(99, 0);
        let mut constants = Constants {
            gradient: 0.0,
            curvature: 0.0,
            strong_convexity: 0.9 * self.flattest(),
            noise_std: self.noise_std,
            ..Constants::default()
        };
        for _ in 0..200 {
            let w = self.draw(rng);
            let moved: Vec<f64> = w.iter().zip(&self.w_star).map(|(w, w_star)| w - w_star).collect();
            let mut loss = 0.0;
            for x in grid() {
                let value = family.value(&w, &x);
                let g = grad_w(&*family, &w, &x);
                loss += (value - family.value(&self.w_star, &x)).powi(2) / grid().len() as f64;
                constants.range = constants.range.max(1.1 * value.abs());
                constants.gradient = constants.gradient.max(1.1 * dot(&g, &g).sqrt());
                constants.curvature = constants.curvature.max(1.1 * curvature(&*family, &w, &x));
            }
            let growth = 2.0 * loss / dot(&moved, &moved);
            constants.strong_convexity = constants.strong_convexity.min(0.9 * growth);
        }
        if family.is_linear() {
            constants.curvature = 0.0;
        }
        constants.oracle_factor = 0.25 * (self.noise_std / constants.range).powi(2);
        constants
    }

    /// The smallest eigenvalue of ∇²L(w*), by inverse iteration: draws hardly ever point along its direction.
    fn flattest(&self) -> f64 {
        let (family, grid) = ((self.family)(), grid());
        let gradients: Vec<Vec<f64>> = grid.iter().map(|x| grad_w(&*family, &self.w_star, x)).collect();
        let gradients = Matrix::from_rows(self.w_star.len(), gradients.iter().map(Vec::as_slice));
        let factor = Cholesky::new(&gradients.transposed_product_lower()).unwrap();
        let mut direction = vec![1.0; self.w_star.len()];
        let mut length = 1.0;
        for _ in 0..200 {
            direction = factor.solve(&direction);
            length = dot(&direction, &direction).sqrt();
            direction.iter_mut().for_each(|entry| *entry /= length);
        }
        2.0 / (length * grid.len() as f64)
    }
}

/// 𝒳: few enough points for an argmax that is exact.
fn grid() -> Vec<[f64; 1]> {
    (0..=100).map(|i| [i as f64 / 50.0 - 1.0]).collect()
}

fn grad_w(family: &dyn Family, w: &[f64], x: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; w.len()];
    family.grad_w(w, x, &mut out);
    out
}

/// ‖∇²f_x(w)‖ in the Frobenius norm, which is no less than the operator norm.
fn curvature(family: &dyn Family, w: &[f64], x: &[f64]) -> f64 {
    let step = 1e-4;
    let column = |k: usize| {
        let at = |sign: f64| {
            let mut moved = w.to_vec();
            moved[k] += sign * step;
            grad_w(family, &moved, x)
        };
        at(1.0).iter().zip(at(-1.0)).map(|(up, down)| ((up - down) / (2.0 * step)).powi(2)).sum::<f64>()
    };
    (0..w.len()).map(column).sum::<f64>().sqrt()
}

/// log det Σ_t/λ^d_w and Σ_i g_iᵀ Σ_t⁻¹ g_i.
fn explicit(gradients: &Matrix, lambda: f64) -> [f64; 2] {
    let d_w = gradients.cols();
    let mut sigma_t = Matrix::from_fn(d_w, d_w, |i, j| if i == j { lambda } else { 0.0 });
    for g in gradients.iter_rows() {
        (0..d_w).for_each(|i| add_scaled(g[i], g, sigma_t.row_mut(i)));
    }
    let factor = Cholesky::new(&sigma_t).unwrap();
    let sum = gradients.iter_rows().map(|g| dot(g, &factor.solve(g))).sum();
    [factor.log_det() - d_w as f64 * lambda.ln(), sum]
}
