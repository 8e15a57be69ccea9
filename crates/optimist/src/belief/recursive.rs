//! The paper's updates: ŵ_0 from Phase I, then eqs. 3 and 5 by one rank-one update a round.
//!
//! Departures from the paper: Σ_1 is λI (its sums start at i = 0, and there is no x_0); trials that failed teach nothing.

use super::{Belief, Outputs};
use crate::acquisition::Frame;
use crate::confidence::{Confidence, Round};
use crate::linalg::{Matrix, dot};
use crate::model::Family;
use crate::model::isotropic::Isotropic;
use crate::optimizer::{Observation, Outcome, Rng};
use crate::oracle::{self, OracleError, Problem, sgd};
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
                oracle::fit_with_restarts(&problem, None, *restarts, rng)?.w
            }
            Oracle::Sgd(settings) => sgd::fit(&problem, &family.start(rng), settings)?.w,
        };
        let ball = Confidence::new(Box::new(Isotropic::new(family, 1.0 / lambda.sqrt())), w_hat_0.clone());
        Ok(Self { belief: Belief { ball, outputs: Outputs::PLAIN }, w_hat_0, seen: phase_one.len() })
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
            ball.push(Round { w: &w, x: &x, residual, noise_var: 1.0 });
        }
        self.seen = observations.len();
    }

    /// The belief of the round to come.
    pub fn belief(&self) -> &Belief {
        &self.belief
    }
}

fn value(observation: &Observation) -> Option<(&[f64], f64)> {
    match observation.outcome {
        Outcome::Value { y, .. } => Some((&observation.x, y)),
        Outcome::Failed => None,
    }
}
