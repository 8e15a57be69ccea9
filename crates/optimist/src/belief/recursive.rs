//! The paper's updates: ŵ_0 from Phase I, then eqs. 3 and 5 by one rank-one update a round.
//!
//! Departures from the paper: Σ_1 is λI (its sums start at i = 0, and there is no x_0); trials that failed teach nothing.

use super::{Belief, Outputs};
use crate::confidence::{Confidence, Round};
use crate::frame::Frame;
use crate::linalg::{Matrix, dot};
use crate::model::Family;
use crate::model::isotropic::Isotropic;
use crate::optimizer::{Observation, Rng};
use crate::oracle::{self, OracleError, Problem, Starts, sgd};
use crate::settings::Oracle;

/// The ball of the round to come, and how many observations it has seen.
pub struct Recursive {
    belief: Belief,
    w_hat_0: Vec<f64>,
    seen: usize,
}

impl Recursive {
    /// Line 5 of Phase I: ŵ_0 from the observations so far, and Σ_1 = λI.
    ///
    /// # Errors
    /// If the oracle fails.
    pub fn start(
        family: Box<dyn Family>,
        lambda: f64,
        oracle: &Oracle,
        phase_one: &[Observation],
        frame: &Frame,
        rng: &mut Rng,
    ) -> Result<Self, OracleError> {
        let values: Vec<(&[f64], f64)> = phase_one.iter().filter_map(value).collect();
        let points: Vec<Vec<f64>> = values.iter().map(|(x, _)| frame.apply(x)).collect();
        let x = Matrix::from_rows(frame.dimension(), points.iter().map(Vec::as_slice));
        let y: Vec<f64> = values.iter().map(|(_, y)| *y).collect();
        let noise_std = vec![1.0; y.len()];
        let problem = Problem { family: &*family, x: &x, y: &y, noise_std: &noise_std, prior_weight: 0.0 };
        let w_hat_0 = match oracle {
            Oracle::LevenbergMarquardt { restarts } => {
                oracle::fit(&problem, &Starts::draw(&*family, *restarts, rng))?.w
            }
            Oracle::Sgd(settings) => sgd::fit(&problem, &family.start(rng), settings)?.w,
        };
        let ball = Confidence::new(Box::new(Isotropic::new(family, 1.0 / lambda.sqrt())), w_hat_0.clone());
        Ok(Self {
            belief: Belief { ball, outputs: Outputs::PLAIN, noise_std: 1.0 },
            w_hat_0,
            seen: phase_one.len(),
        })
    }

    /// Lines 2 and 3 of Phase II, for each observation that is new.
    pub fn follow(&mut self, observations: &[Observation], frame: &Frame) {
        for (x, y) in observations[self.seen..].iter().filter_map(value) {
            let ball = &mut self.belief.ball;
            let (x, w) = (frame.apply(x), ball.w_hat().to_vec());
            let mut grad_w = vec![0.0; w.len()];
            ball.family().grad_w(&w, &x, &mut grad_w);
            let shift: Vec<f64> = w.iter().zip(&self.w_hat_0).map(|(w, w_0)| w - w_0).collect();
            let residual = dot(&grad_w, &shift) + y - ball.family().value(&w, &x);
            ball.update(Round { w: &w, x: &x, residual, noise_var: 1.0 });
        }
        self.seen = observations.len();
    }

    /// The belief of the round to come.
    pub fn belief(&self) -> &Belief {
        &self.belief
    }
}

fn value(observation: &Observation) -> Option<(&[f64], f64)> {
    Some((&observation.x, observation.value()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::add_scaled;
    use crate::model::mlp::{Activation, Mlp};
    use crate::optimizer::Outcome;
    use crate::optimizer::rng;

    const LAMBDA: f64 = 3.0;

    /// w_0 + w_1 x.
    struct Line;

    impl Family for Line {
        fn dimension(&self) -> usize {
            1
        }

        fn n_weights(&self) -> usize {
            2
        }

        fn value(&self, w: &[f64], x: &[f64]) -> f64 {
            w[0] + w[1] * x[0]
        }

        fn grad_w(&self, _w: &[f64], x: &[f64], out: &mut [f64]) {
            out.copy_from_slice(&[1.0, x[0]]);
        }

        fn is_linear(&self) -> bool {
            true
        }
    }

    /// Points told in order; the fourth and seventh failed.
    fn observations() -> Vec<Observation> {
        let outcome = |i: usize| match i {
            3 | 6 => Outcome::Failed,
            _ => Outcome::Value { y: (1.7 * i as f64).sin(), noise_std: None },
        };
        (0..9).map(|i| Observation { x: vec![0.1 + 0.1 * i as f64], outcome: outcome(i) }).collect()
    }

    fn start(family: Box<dyn Family>, phase_one: &[Observation]) -> Recursive {
        let oracle = Oracle::LevenbergMarquardt { restarts: 2 };
        Recursive::start(family, LAMBDA, &oracle, phase_one, &Frame::symmetric(1), &mut rng(0, 0)).unwrap()
    }

    #[test]
    fn w_hat_0_is_the_least_squares_fit_of_phase_one() {
        let told = observations();
        let recursive = start(Box::new(Line), &told[..5]);
        let mut slope = [0.0; 2];
        for (x, y) in told[..5].iter().filter_map(value) {
            let g = [1.0, 2.0 * x[0] - 1.0];
            add_scaled(y - dot(&g, &recursive.w_hat_0), &g, &mut slope);
        }
        assert!(slope.iter().all(|slope| slope.abs() < 1e-6), "{slope:?}");
        assert_eq!(recursive.belief().ball.rounds(), 0);
        assert_eq!(recursive.belief().ball.w_hat(), recursive.w_hat_0);
    }

    #[test]
    fn w_hat_t_zeroes_the_gradient_of_eq_4_and_failed_trials_are_no_part_of_it() {
        let told = observations();
        let mut recursive = start(Box::new(Line), &told[..5]);
        recursive.follow(&told, &Frame::symmetric(1));
        let ball = &recursive.belief().ball;
        assert_eq!(ball.rounds(), 3);
        let w = ball.w_hat();
        let mut slope: Vec<f64> =
            w.iter().zip(&recursive.w_hat_0).map(|(w, w_0)| LAMBDA * (w - w_0)).collect();
        for (x, y) in told[5..].iter().filter_map(value) {
            let g = [1.0, 2.0 * x[0] - 1.0];
            add_scaled(dot(&g, w) - y, &g, &mut slope);
        }
        assert!(slope.iter().all(|slope| slope.abs() < 1e-10), "{slope:?}");
    }

    #[test]
    fn following_a_few_at_a_time_is_following_all_at_once() {
        let told = observations();
        let network = || Box::new(Mlp::new(1, &[3], Activation::Tanh));
        let [mut steps, mut once] = [(); 2].map(|()| start(network(), &told[..4]));
        for seen in [5, 5, 8, 9] {
            steps.follow(&told[..seen], &Frame::symmetric(1));
        }
        once.follow(&told, &Frame::symmetric(1));
        assert_eq!(steps.belief().ball.w_hat(), once.belief().ball.w_hat());
        assert_eq!(once.belief().ball.rounds(), 4);
    }
}
