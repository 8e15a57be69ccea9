//! The paper's updates: ŵ_0 from Phase I, then eqs. 3 and 5 by a rank-one update per round.
//!
//! Departures from the paper: Σ_1 is λI (its sums start at i = 0, and there is no x_0); failed trials are left out.

use std::sync::{Arc, Mutex, PoisonError};

use super::{Belief, OutputTransform};
use crate::confidence::{Confidence, Round};
use crate::frame::Frame;
use crate::history::History;
use crate::linalg::{Matrix, dot};
use crate::model::isotropic::Isotropic;
use crate::model::{Family, FamilyMaker};
use crate::optimizer::{Observation, Rng, own_rng};
use crate::oracle::{self, OracleError, Problem, Starts, sgd};

/// The regression oracle of Phase I.
#[derive(Debug, Clone, PartialEq)]
pub enum Oracle {
    /// Levenberg-Marquardt from several starts.
    LevenbergMarquardt {
        /// How many starts, for families that are not linear in w.
        restarts: usize,
    },
    /// The paper's gradient descent.
    Sgd(sgd::Settings),
}

/// What ŵ_0 is fitted to, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseOne {
    /// n: how many observations belong to Phase I.
    pub n: usize,
    /// What fits ŵ_0.
    pub oracle: Oracle,
    /// Whether y is standardised, by the mean and the spread of Phase I; in its own units otherwise.
    pub standardized: bool,
}

/// A family under the paper's updates. Caches the last ball, which saves time and changes nothing.
pub struct RecursiveSurrogate {
    family: FamilyMaker,
    /// λ, the weight of ‖w − ŵ_0‖².
    lambda: f64,
    beginning: PhaseOne,
    frame: Frame,
    /// For the starts of ŵ_0, which must not change from trial to trial.
    seed: u64,
    kept: Mutex<Option<RecursiveState>>,
}

impl RecursiveSurrogate {
    /// A surrogate without observations. Nothing is fitted until it is asked for.
    pub fn new(family: FamilyMaker, lambda: f64, beginning: PhaseOne, frame: Frame, seed: u64) -> Self {
        Self { family, lambda, beginning, frame, seed, kept: Mutex::default() }
    }

    /// The belief after all observations, with which the next round begins.
    ///
    /// # Errors
    /// If ŵ_0 cannot be fitted.
    pub fn belief(&self, history: &History) -> Result<Arc<Belief>, OracleError> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let mut recursive = match kept.take().filter(|kept| kept.is_of(history)) {
            Some(kept) => kept,
            None => self.start(history)?,
        };
        recursive.update(history, history.observations().len(), &self.frame);
        Ok(Arc::clone(&kept.insert(recursive).belief))
    }

    /// The state after line 5 of Phase I.
    ///
    /// # Errors
    /// If ŵ_0 cannot be fitted.
    pub fn start(&self, history: &History) -> Result<RecursiveState, OracleError> {
        let rng = &mut own_rng(self.seed, 0);
        let told = self.phase_one(history);
        RecursiveState::start(self.family.make(), self.lambda, &self.beginning, told, &self.frame, rng)
    }

    /// The observations that ŵ_0 is fitted to.
    pub fn phase_one<'a>(&self, history: &'a History) -> &'a [Observation] {
        let told = history.observations();
        &told[..self.beginning.n.min(told.len())]
    }

    /// The family with its own prior, not the paper's.
    pub fn family(&self) -> Box<dyn Family> {
        self.family.make()
    }
}

/// The belief that the next round begins with, and the observations that went into it.
pub struct RecursiveState {
    belief: Arc<Belief>,
    w_hat_0: Vec<f64>,
    n_told: usize,
    /// `History::fingerprint` of these observations.
    fingerprint: u64,
}

impl RecursiveState {
    /// Line 5 of Phase I: ŵ_0 from the observations so far, and Σ_1 = λI.
    fn start(
        family: Box<dyn Family>,
        lambda: f64,
        beginning: &PhaseOne,
        phase_one: &[Observation],
        frame: &Frame,
        rng: &mut Rng,
    ) -> Result<Self, OracleError> {
        let values: Vec<(&[f64], f64)> = phase_one.iter().filter_map(value).collect();
        let points: Vec<Vec<f64>> = values.iter().map(|(x, _)| frame.apply(x)).collect();
        let x = Matrix::from_rows(frame.dimension(), points.iter().map(Vec::as_slice));
        let y: Vec<f64> = values.iter().map(|(_, y)| *y).collect();
        let outputs = if beginning.standardized {
            OutputTransform::standardized(&y)
        } else {
            OutputTransform::IDENTITY
        };
        let y: Vec<f64> = y.into_iter().map(|y| outputs.standardize(y)).collect();
        let noise_std = vec![1.0; y.len()];
        let problem = Problem { family: &*family, x: &x, y: &y, noise_std: &noise_std, prior_weight: 0.0 };
        let w_hat_0 = match &beginning.oracle {
            Oracle::LevenbergMarquardt { restarts } => {
                oracle::fit(&problem, &Starts::draw(&*family, *restarts, rng))?.w
            }
            Oracle::Sgd(settings) => sgd::fit(&problem, &family.start(rng), settings)?.w,
        };
        let ball = Confidence::new(Box::new(Isotropic::new(family, 1.0 / lambda.sqrt())), w_hat_0.clone());
        let belief = Belief { ball, outputs, noise_std: 1.0, family_idx: 0 };
        Ok(Self { belief: Arc::new(belief), w_hat_0, n_told: phase_one.len(), fingerprint: 0 })
    }

    /// Whether it was made from this history, or from its beginning.
    fn is_of(&self, history: &History) -> bool {
        self.n_told <= history.observations().len() && self.fingerprint == history.fingerprint(self.n_told)
    }

    /// Lines 2 and 3 of Phase II, for each of the first `n_told` observations that is new: eqs. 3 and 5.
    pub fn update(&mut self, history: &History, n_told: usize, frame: &Frame) {
        for (x, y) in history.observations()[self.n_told..n_told].iter().filter_map(value) {
            let Belief { ball, outputs, .. } = Arc::make_mut(&mut self.belief);
            let (x, y, w) = (frame.apply(x), outputs.standardize(y), ball.w_hat().to_vec());
            let mut grad_w = vec![0.0; w.len()];
            ball.family().grad_w(&w, &x, &mut grad_w);
            let shift: Vec<f64> = w.iter().zip(&self.w_hat_0).map(|(w, w_0)| w - w_0).collect();
            let residual = dot(&grad_w, &shift) + y - ball.family().value(&w, &x);
            ball.update(Round { w: &w, x: &x, residual, noise_var: 1.0 });
        }
        self.n_told = n_told;
        self.fingerprint = history.fingerprint(n_told);
    }

    /// The belief that the next round begins with.
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
    use crate::encode::Domain;
    use crate::linalg::add_scaled;
    use crate::model::{Activation, Mlp};
    use crate::optimizer::{Outcome, rng};

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

    fn history(observations: &[Observation]) -> History {
        let mut history = History::new(Domain::cube(1));
        observations.iter().for_each(|told| history.tell(told.clone()).unwrap());
        history
    }

    /// Points told in order; the fourth and seventh failed.
    fn observations() -> Vec<Observation> {
        let outcome = |i: usize| match i {
            3 | 6 => Outcome::Failed,
            _ => Outcome::Value { y: (1.7 * i as f64).sin(), noise_std: None },
        };
        (0..9).map(|i| Observation { x: vec![0.1 + 0.1 * i as f64], outcome: outcome(i) }).collect()
    }

    /// y in its own units.
    fn beginning(n: usize) -> PhaseOne {
        PhaseOne { n, oracle: Oracle::LevenbergMarquardt { restarts: 2 }, standardized: false }
    }

    fn start(family: Box<dyn Family>, phase_one: &[Observation]) -> RecursiveState {
        let beginning = beginning(phase_one.len());
        RecursiveState::start(family, LAMBDA, &beginning, phase_one, &Frame::symmetric(1), &mut rng(0, 0))
            .unwrap()
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
        recursive.update(&history(&told), told.len(), &Frame::symmetric(1));
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
    fn updating_a_few_at_a_time_is_updating_all_at_once() {
        let told = observations();
        let network = || Box::new(Mlp::new(1, &[3], Activation::Tanh));
        let [mut steps, mut once] = [(); 2].map(|()| start(network(), &told[..4]));
        for seen in [5, 5, 8, 9] {
            steps.update(&history(&told), seen, &Frame::symmetric(1));
        }
        once.update(&history(&told), told.len(), &Frame::symmetric(1));
        assert_eq!(steps.belief().ball.w_hat(), once.belief().ball.w_hat());
        assert_eq!(once.belief().ball.rounds(), 4);
    }

    #[test]
    fn with_y_standardised_the_units_of_y_do_not_matter() {
        let standardized = PhaseOne { standardized: true, ..beginning(4) };
        let w_hat = |unit: f64| {
            let mut told = observations();
            for told in &mut told {
                if let Outcome::Value { y, .. } = &mut told.outcome {
                    *y = unit * *y + 100.0 * unit;
                }
            }
            let frame = Frame::symmetric(1);
            let line = Box::new(Line);
            let mut recursive =
                RecursiveState::start(line, LAMBDA, &standardized, &told[..4], &frame, &mut rng(0, 0))
                    .unwrap();
            recursive.update(&history(&told), told.len(), &frame);
            recursive.belief().ball.w_hat().to_vec()
        };
        let (metres, feet) = (w_hat(1.0), w_hat(3.28));
        assert!(metres.iter().zip(&feet).all(|(m, f)| (m - f).abs() < 1e-8), "{metres:?} {feet:?}");
    }

    #[test]
    fn a_ball_is_a_function_of_the_history_whatever_was_asked_before() {
        let recursion = || {
            let network = FamilyMaker::new("mlp", || Box::new(Mlp::new(1, &[3], Activation::Tanh)));
            RecursiveSurrogate::new(network, LAMBDA, beginning(4), Frame::symmetric(1), 0)
        };
        let (told, kept) = (observations(), recursion());
        let mut other = told.clone();
        other[5].outcome = Outcome::Failed;
        let w_hat = |recursion: &RecursiveSurrogate, told: &[Observation]| {
            recursion.belief(&history(told)).unwrap().ball.w_hat().to_vec()
        };
        for told in [&told[..6], &told[..9], &other[..9], &told[..5]] {
            assert_eq!(w_hat(&kept, told), w_hat(&recursion(), told));
        }
    }
}
