//! What defines Σ_t, ŵ_t and Ball_t (eqs. 3-6), whatever the form they are computed in.

use optimist::internal::confidence::{Confidence, LeftOut, Round};
use optimist::internal::linalg::{Cholesky, Matrix, add_scaled, dot};
use optimist::internal::model::Isotropic;
use optimist::model::{Activation, Anova, Family, Fourier, Mlp};
use optimist::{Rng, rng};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// Linear families first.
const FAMILIES: [fn() -> Box<dyn Family>; 5] = [
    || Box::new(Anova::quadratic(2)),
    || Box::new(Fourier::new(2, 8, 3)),
    || Box::new(Isotropic::new(Box::new(Anova::linear(2)), 0.4)),
    || Box::new(Mlp::new(2, &[2], Activation::Tanh)),
    || Box::new(Isotropic::new(Box::new(Mlp::new(2, &[2], Activation::Sigmoid)), 0.7)),
];

#[test]
fn dual_and_primal_agree_at_the_crossing() {
    for_each_case(|case| {
        let d_w = case.d_w();
        let dual = case.ball(d_w - 1);
        // One more round makes it primal; with such noise it says nothing.
        let mut primal = case.ball(d_w - 1);
        primal.update(Round { noise_var: 1e30, ..case.round(d_w - 1) });
        assert_same(&dual, &primal, 1e-8);
    });
}

#[test]
fn both_forms_are_eqs_3_and_5() {
    for_each_case(|case| {
        for t in [0, 1, case.d_w() - 1, case.d_w(), 2 * case.d_w()] {
            let ball = case.ball(t);
            let (sigma_t, w_hat) = case.by_definition(t);
            assert_eq!(ball.rounds(), t);
            assert_close(ball.w_hat(), &w_hat, 1e-8);
            let factor = Cholesky::new(&sigma_t).unwrap();
            let log_det_0 = case.prior_std().iter().map(|std| -2.0 * std.ln()).sum::<f64>();
            assert_close(&[ball.log_det_ratio()], &[factor.log_det() - log_det_0], 1e-8);
            for x in probes() {
                let g = grad_w(ball.family(), ball.w_hat(), &x);
                let covariance_g = factor.solve(&g);
                assert_close(&ball.covariance_times(&g), &covariance_g, 1e-8);
                assert_close(&[ball.uncertainty(&x).powi(2)], &[dot(&g, &covariance_g)], 1e-8);
                let moved: Vec<f64> = w_hat.iter().zip(&g).map(|(w, g)| w + g).collect();
                assert_close(&[ball.distance_squared(&moved)], &[dot(&g, &sigma_t.times(&g))], 1e-8);
                assert_eq!(ball.predict(&x), (ball.predict(&x).0, ball.uncertainty(&x)));
                assert_close(&[ball.predict(&x).0], &[ball.family().value(&w_hat, &x)], 1e-8);
            }
        }
    });
}

#[test]
fn w_hat_minimizes_the_regularized_loss() {
    for_each_case(|case| {
        for t in [3, case.d_w() - 1, case.d_w(), 2 * case.d_w()] {
            let ball = case.ball(t);
            let moved: Vec<f64> = ball.w_hat().iter().zip(&case.w_hat_0).map(|(w, w_0)| w - w_0).collect();
            let mut slope: Vec<f64> =
                moved.iter().zip(case.prior_std()).map(|(moved, std)| moved / (std * std)).collect();
            let mut size = slope.iter().fold(0.0, |size: f64, slope| size.max(slope.abs()));
            for round in (0..t).map(|i| case.round(i)) {
                let g = grad_w(ball.family(), round.w, round.x);
                let misfit = (dot(&g, &moved) - round.residual) / round.noise_var;
                add_scaled(misfit, &g, &mut slope);
                size = g.iter().fold(size, |size, g| size.max((misfit * g).abs()));
            }
            assert!(slope.iter().all(|slope| slope.abs() <= 1e-9 * size), "{slope:?} beside {size}");
        }
    });
}

#[test]
fn one_round_at_a_time_is_all_rounds_at_once() {
    for_each_case(|case| {
        for t in [1, case.d_w() - 1, case.d_w(), case.d_w() + 1, 3 * case.d_w()] {
            let at_once =
                Confidence::with_rounds((case.family)(), case.w_hat_0.clone(), (0..t).map(|i| case.round(i)));
            assert_same(&case.ball(t), &at_once, 1e-9);
        }
    });
}

#[test]
fn a_refresh_changes_nothing() {
    for_each_case(|case| {
        for t in [case.d_w() - 1, 500] {
            let mut refreshed = case.ball(t);
            refreshed.refresh();
            assert_same(&case.ball(t), &refreshed, 1e-9);
        }
    });
}

#[test]
fn the_gradient_of_the_upper_confidence_bound_equals_differences() {
    let radius = 1.7;
    for_each_case(|case| {
        for t in [0, case.d_w() / 2, 2 * case.d_w()] {
            let ball = case.ball(t);
            for x in probes() {
                let mut grad_x = [f64::NAN; 2];
                let value = ball.upper_confidence_bound(&x, radius, &mut grad_x);
                let (mean, u) = ball.predict(&x);
                assert_close(&[value], &[mean + radius * u], 1e-12);
                let slope = |k: usize| {
                    let at = |sign: f64| {
                        let mut moved = x;
                        moved[k] += sign * 1e-5;
                        ball.upper_confidence_bound(&moved, radius, &mut [0.0; 2])
                    };
                    (at(1.0) - at(-1.0)) / 2e-5
                };
                assert_close(&grad_x, &[slope(0), slope(1)], 1e-6);
            }
        }
    });
}

#[test]
fn a_block_of_predictions_is_the_predictions_one_by_one() {
    for_each_case(|case| {
        for t in [0, case.d_w() / 2, 2 * case.d_w()] {
            let ball = case.ball(t);
            let block = Matrix::from_rows(2, probes().iter().map(|x| x.as_slice()));
            for (x, (mean, u)) in probes().iter().zip(ball.predict_rows(block)) {
                let one = ball.predict(x);
                assert_close(&[mean, u], &[one.0, one.1], 1e-9);
            }
        }
    });
}

#[test]
fn a_z_score_is_the_distance_to_a_target_in_standard_deviations_and_its_gradient_that_of_differences() {
    for_each_case(|case| {
        for t in [case.d_w() / 2, 2 * case.d_w()] {
            let ball = case.ball(t);
            for (x, target) in probes().into_iter().zip([-2.0, 0.1, 3.0].into_iter().cycle()) {
                let mut grad_x = [0.0; 2];
                let z_score = ball.z_score(&x, target, &mut grad_x);
                let (mean, u) = ball.predict(&x);
                assert_close(&[mean - z_score * u], &[target], 1e-9);
                let slope = |k: usize| {
                    let at = |sign: f64| {
                        let mut moved = x;
                        moved[k] += sign * 1e-5;
                        ball.z_score(&moved, target, &mut [0.0; 2])
                    };
                    (at(1.0) - at(-1.0)) / 2e-5
                };
                assert_close(&grad_x, &[slope(0), slope(1)], 1e-5);
            }
        }
    });
}

#[test]
fn the_argmax_over_w_lies_in_the_ball_and_beats_a_thousand_others_in_it() {
    let beta_t: f64 = 0.5;
    for_each_case(|case| {
        for t in [case.d_w() / 2, 2 * case.d_w()] {
            let ball = case.ball(t);
            let others: Vec<Vec<f64>> =
                (0..1000).map(|seed| random_member(&ball, beta_t, &mut rng(seed, 1))).collect();
            for x in probes() {
                let (w, value) = ball.argmax_w(&x, beta_t.sqrt());
                assert!(ball.contains(&w, beta_t * (1.0 + 1e-9)), "{}", ball.distance_squared(&w));
                assert_close(&[ball.family().value(&w, &x)], &[value], 1e-12);
                let best = others.iter().map(|w| ball.family().value(w, &x)).fold(f64::MIN, f64::max);
                assert!(value >= best - 1e-9, "{value} is below {best}");
                if ball.family().is_linear() {
                    let (mean, u) = ball.predict(&x);
                    assert_close(&[value], &[mean + beta_t.sqrt() * u], 1e-9);
                }
            }
        }
    });
}

#[test]
fn membership_ends_at_the_radius() {
    for_each_case(|case| {
        let ball = case.ball(case.d_w());
        assert!(ball.contains(ball.w_hat(), 0.0));
        let w = random_member(&ball, 2.0, &mut rng(5, 1));
        let distance_squared = ball.distance_squared(&w);
        assert!(distance_squared > 0.0 && distance_squared <= 2.0 * (1.0 + 1e-12));
        assert!(ball.contains(&w, 1.001 * distance_squared) && !ball.contains(&w, 0.999 * distance_squared));
    });
}

#[test]
fn leaving_one_out_is_never_having_seen_it() {
    for_each_case(|case| {
        if !(case.family)().is_linear() {
            return;
        }
        for t in [case.d_w() - 1, case.d_w() + 3] {
            let left_out = case.ball(t).leave_one_out();
            for skipped in [0, t / 2, t - 1] {
                let rounds = (0..t).filter(|&i| i != skipped).map(|i| case.round(i));
                let without = Confidence::with_rounds((case.family)(), case.w_hat_0.clone(), rounds);
                let Round { x, residual, noise_var, .. } = case.round(skipped);
                let (mean, u) = without.predict(x);
                let observed = residual + without.family().value(&case.w_hat_0, x);
                let LeftOut { observed: seen, mean: predicted, std, .. } = left_out[skipped];
                assert_close(&[seen, predicted, std], &[observed, mean, u.hypot(noise_var.sqrt())], 1e-7);
            }
        }
    });
}

/// A family, the centre of its prior, and an endless sequence of rounds.
struct Case {
    family: fn() -> Box<dyn Family>,
    w_hat_0: Vec<f64>,
    /// For each round: the weights where it was linearised, its point, residual and noise.
    rounds: Vec<(Vec<f64>, [f64; 2], f64, f64)>,
}

/// Each family with its prior centred at zero and elsewhere.
fn for_each_case(check: impl Fn(&Case)) {
    for (index, family) in FAMILIES.into_iter().enumerate() {
        for centred in [true, false] {
            let mut rng = rng(index as u64, 0);
            let drawn = family().start(&mut rng);
            let w_hat_0 = if centred { vec![0.0; drawn.len()] } else { drawn };
            let rounds = (0..500).map(|_| {
                let w = family().start(&mut rng);
                let x = [rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0)];
                (w, x, StandardNormal.sample(&mut rng), rng.random_range(0.05..0.5))
            });
            check(&Case { family, w_hat_0, rounds: rounds.collect() });
        }
    }
}

impl Case {
    fn d_w(&self) -> usize {
        self.w_hat_0.len()
    }

    fn prior_std(&self) -> Vec<f64> {
        let mut std = vec![0.0; self.d_w()];
        (self.family)().prior_std(&mut std);
        std
    }

    fn round(&self, i: usize) -> Round<'_> {
        let (w, x, residual, noise_var) = &self.rounds[i];
        Round { w, x, residual: *residual, noise_var: *noise_var }
    }

    /// The ball after t rounds, updated with one after the other.
    fn ball(&self, t: usize) -> Confidence {
        let mut ball = Confidence::new((self.family)(), self.w_hat_0.clone());
        (0..t).for_each(|i| ball.update(self.round(i)));
        ball
    }

    /// Σ_t and ŵ_t, term by term.
    fn by_definition(&self, t: usize) -> (Matrix, Vec<f64>) {
        let std = self.prior_std();
        let mut sigma_t = Matrix::from_fn(self.d_w(), self.d_w(), |i, j| f64::from(i == j) / std[i].powi(2));
        let mut rhs = vec![0.0; self.d_w()];
        for round in (0..t).map(|i| self.round(i)) {
            let g = grad_w(&*(self.family)(), round.w, round.x);
            (0..g.len()).for_each(|i| add_scaled(g[i] / round.noise_var, &g, sigma_t.row_mut(i)));
            add_scaled(round.residual / round.noise_var, &g, &mut rhs);
        }
        let mut w_hat = Cholesky::new(&sigma_t).unwrap().solve(&rhs);
        add_scaled(1.0, &self.w_hat_0, &mut w_hat);
        (sigma_t, w_hat)
    }
}

fn probes() -> Vec<[f64; 2]> {
    vec![[0.3, -0.6], [-0.85, 0.1], [0.95, 0.9], [0.05, 0.45]]
}

/// Uniform over directions and up to the edge of the ball.
fn random_member(ball: &Confidence, beta_t: f64, rng: &mut Rng) -> Vec<f64> {
    let away: Vec<f64> = ball.w_hat().iter().map(|_| StandardNormal.sample(rng)).collect();
    let along = |step: f64| -> Vec<f64> {
        ball.w_hat().iter().zip(&away).map(|(w, direction)| w + step * direction).collect()
    };
    let length = ball.distance_squared(&along(1.0)).sqrt();
    let share = rng.random_range(0.0f64..1.0).powf(1.0 / away.len() as f64);
    along(share * beta_t.sqrt() / length)
}

fn grad_w(family: &dyn Family, w: &[f64], x: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; w.len()];
    family.grad_w(w, x, &mut out);
    out
}

#[track_caller]
fn assert_same(a: &Confidence, b: &Confidence, tolerance: f64) {
    assert_close(a.w_hat(), b.w_hat(), tolerance);
    assert_close(&[a.log_det_ratio()], &[b.log_det_ratio()], tolerance);
    let elsewhere: Vec<f64> = a.w_hat().iter().map(|w| 1.1 * w + 0.2).collect();
    assert_close(&[a.distance_squared(&elsewhere)], &[b.distance_squared(&elsewhere)], tolerance);
    for x in probes() {
        let ((mean_a, u_a), (mean_b, u_b)) = (a.predict(&x), b.predict(&x));
        assert_close(&[mean_a, u_a], &[mean_b, u_b], tolerance);
    }
}

/// Relative to the largest entry, or to 1 if that is smaller.
#[track_caller]
fn assert_close(got: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(got.len(), expected.len());
    let size = expected.iter().fold(1.0, |size: f64, entry| size.max(entry.abs()));
    for (got, expected) in got.iter().zip(expected) {
        assert!((got - expected).abs() <= tolerance * size, "got {got}, expected {expected}");
    }
}
