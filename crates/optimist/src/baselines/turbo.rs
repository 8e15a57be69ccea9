//! TuRBO-1 (Eriksson et al. 2019, "Scalable global optimization via local Bayesian optimization").
//!
//! A Gaussian process is trusted only in a box around the best point. The box grows after successes and shrinks after failures;
//! when it has become tiny, the search starts over elsewhere with nothing but new points. In the box, a function drawn from the
//! posterior is maximised over candidates (Thompson sampling).
//!
//! Departures from the paper: draws are by `gp::path`; the process is fitted by L-BFGS-B rather than 50 steps of Adam; rounds are
//! single trials, so that trials may end in any order. Categories, which a box cannot limit, are redrawn the more rarely the
//! smaller the box is. Coordinates under constraints are taken from a random feasible point of the box, and the others follow.

use rand::RngExt;

use super::gp::fit::Spec;
use super::gp::path::Path;
use super::gp::surrogate::{Fitted, Surrogate};
use crate::encode::{AxisKind, Domain};
use crate::history::History;
use crate::linalg::Matrix;
use crate::optimizer::{Observation, Outcome, Rng};
use crate::policy::{Policy, Suggestion};
use crate::search::Region;
use crate::sobol::{self, Design, Sobol};

/// Side of the box at the start and after a restart, as a share of the cube's (paper §4, L_init).
const LENGTH_INIT: f64 = 0.8;
/// Side below which the search starts over (L_min = 2^-7).
const LENGTH_MIN: f64 = 0.0078125;
/// Largest side (L_max).
const LENGTH_MAX: f64 = 1.6;
/// Successes in a row after which the side doubles (τ_succ; BoTorch's tutorial has 10).
const SUCCESS_TOLERANCE: usize = 3;
/// Failures in a row after which it halves: the dimension, but at least this many (τ_fail, for batches of 1).
const FAILURE_TOLERANCE_MIN: usize = 4;
/// A success is better than the best value by this share of it (the authors' code).
const SUCCESS_SHARE: f64 = 1e-3;
/// Candidates: 100 a dimension, at most 5000 (§4).
const CANDIDATES_PER_DIMENSION: usize = 100;
const CANDIDATES_MAX: usize = 5000;
/// Coordinates of the best point that a candidate changes, on average (§4, after Regis and Shoemaker 2013).
const PERTURBED: f64 = 20.0;

/// Proposes the best points of functions drawn from a Gaussian process, in a box that follows its successes.
#[derive(Debug, Clone)]
pub struct Turbo {
    explore_trials: usize,
    design: Design,
    surrogate: Surrogate,
}

impl Turbo {
    /// A search that begins, and begins again after each restart, with `explore_trials` points of the Sobol sequence of `seed` (the
    /// authors recommend twice the dimension); observations of other points count towards that number.
    pub fn new(explore_trials: usize, seed: u64) -> Self {
        let surrogate = Surrogate::new(Spec::turbo());
        Self { explore_trials: explore_trials.max(1), design: Design { seed }, surrogate }
    }

    fn run(&self, history: &History) -> Run {
        let tolerance = FAILURE_TOLERANCE_MIN.max(history.domain().n_free());
        Run::after(history.observations(), self.explore_trials, tolerance)
    }

    /// The best candidate, under a function drawn from the posterior, that is not taken.
    fn thompson_sample(&self, run: &Run, history: &History, rng: &mut Rng) -> Option<Vec<f64>> {
        let observations = history.observations();
        let Fitted { gp, y, .. } = self.surrogate.fitted(history, run.first);
        let best = (0..y.len()).reduce(|best, i| if y[i] > y[best] { i } else { best })?;
        let trust_box = TrustBox {
            center: &observations[run.first + best].x,
            sides: sides(run.length, &gp.hyper().lengthscales),
            length: run.length,
        };
        let candidates = trust_box.candidates(history.domain(), rng);
        let d = history.domain().dimension();
        let values = Path::draw(&gp, rng).values(&Matrix::from_rows(d, candidates.iter().map(Vec::as_slice)));
        let mut order: Vec<usize> = (0..candidates.len()).collect();
        order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
        let best = order.into_iter().find(|&i| !history.is_taken(&candidates[i]))?;
        Some(candidates[best].clone())
    }
}

impl Policy for Turbo {
    fn suggest(&self, history: &History, rng: &mut Rng) -> Suggestion {
        let run = self.run(history);
        let n_told = history.observations().len() - run.first;
        if n_told == 0 || n_told + history.pending().len() < self.explore_trials {
            return Suggestion::explore(self.design.next(history, rng));
        }
        match self.thompson_sample(&run, history, rng) {
            Some(x) => Suggestion::by_model(x, "Thompson sampling"),
            None => Suggestion::random(self.design.next(history, rng), "every candidate has been tried"),
        }
    }
}

/// The run since the last restart.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Run {
    /// Its first observation.
    first: usize,
    /// Side of the box.
    length: f64,
    successes: usize,
    failures: usize,
    best: f64,
}

impl Run {
    fn starting_at(first: usize) -> Self {
        Self { first, length: LENGTH_INIT, successes: 0, failures: 0, best: f64::NEG_INFINITY }
    }

    /// The run after these observations: a fold, so that nothing else has to be kept.
    fn after(observations: &[Observation], explore_trials: usize, failure_tolerance: usize) -> Self {
        let mut run = Self::starting_at(0);
        for (i, observation) in observations.iter().enumerate() {
            let value = match observation.outcome {
                Outcome::Value { y, .. } => y,
                Outcome::Failed => f64::NEG_INFINITY,
            };
            if i >= run.first + explore_trials {
                run.update(value, failure_tolerance);
            }
            run.best = run.best.max(value);
            if run.length < LENGTH_MIN {
                run = Self::starting_at(i + 1);
            }
        }
        run
    }

    fn update(&mut self, value: f64, failure_tolerance: usize) {
        let is_success = value.is_finite()
            && (self.best.is_infinite() || value > self.best + SUCCESS_SHARE * self.best.abs());
        (self.successes, self.failures) =
            if is_success { (self.successes + 1, 0) } else { (0, self.failures + 1) };
        if self.successes == SUCCESS_TOLERANCE {
            (self.length, self.successes) = ((2.0 * self.length).min(LENGTH_MAX), 0);
        } else if self.failures == failure_tolerance {
            (self.length, self.failures) = (0.5 * self.length, 0);
        }
    }
}

/// The side of the box in each column, in proportion to the lengthscale and with a volume of length^d.
fn sides(length: f64, lengthscales: &[f64]) -> Vec<f64> {
    let mean_log = lengthscales.iter().map(|scale| scale.ln()).sum::<f64>() / lengthscales.len() as f64;
    lengthscales.iter().map(|scale| length * (scale.ln() - mean_log).exp()).collect()
}

/// The box in which the process is trusted.
struct TrustBox<'a> {
    center: &'a [f64],
    sides: Vec<f64>,
    length: f64,
}

impl TrustBox<'_> {
    /// The centre with some of its coordinates replaced by those of Sobol points of the box.
    fn candidates(&self, domain: &Domain, rng: &mut Rng) -> Vec<Vec<f64>> {
        let n_axes = domain.n_free();
        let sequence = Sobol::scrambled(n_axes.min(sobol::MAX_DIMENSION), rng);
        let n = (CANDIDATES_PER_DIMENSION * n_axes).min(CANDIDATES_MAX);
        let share = (PERTURBED / n_axes as f64).min(1.0);
        let region = Region::between(domain, self.end(-0.5), self.end(0.5));
        let mut walks = region.walks(rng);
        let candidate = |index: usize| {
            let mut u = sequence.point(index as u32);
            u.resize_with(n_axes, || rng.random());
            let mut x = self.center.to_vec();
            let at_least = rng.random_range(0..n_axes);
            let mut elsewhere = x.clone();
            walks.iter_mut().for_each(|walk| walk.next(rng, &mut elsewhere));
            for (i, &u) in u.iter().enumerate() {
                if i == at_least || share == 1.0 || rng.random_bool(share) {
                    let column = domain.axes()[i].columns.start;
                    match region.coupling(column) {
                        Some(_) => x[column] = elsewhere[column],
                        None => self.perturb(domain, i, u, &mut x, rng),
                    }
                }
            }
            region.snap(&mut x);
            x
        };
        (0..n).map(candidate).collect()
    }

    /// A corner of the box.
    fn end(&self, half: f64) -> Vec<f64> {
        let end = |(center, side): (&f64, &f64)| (center + half * side).clamp(0.0, 1.0);
        self.center.iter().zip(&self.sides).map(end).collect()
    }

    /// Moves x along one axis to where `u` in [0, 1) is in the box.
    fn perturb(&self, domain: &Domain, axis: usize, u: f64, x: &mut [f64], rng: &mut Rng) {
        let columns = domain.axes()[axis].columns.clone();
        match domain.axes()[axis].kind {
            AxisKind::OneHot => {
                if rng.random_bool((self.length / LENGTH_MAX).min(1.0)) {
                    domain.set_level(axis, (u * columns.len() as f64) as usize, x);
                }
            }
            AxisKind::Real | AxisKind::Grid(_) => {
                let (center, side) = (self.center[columns.start], self.sides[columns.start]);
                let [low, high] = [-0.5, 0.5].map(|half| (center + half * side).clamp(0.0, 1.0));
                x[columns.start] = low + u * (high - low);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baselines::checks;
    use crate::optimizer::{Optimizer, Outcome, rng};

    /// One exploratory value of 0, then these.
    fn after(values: &[f64]) -> Run {
        let told = |&y: &f64| Observation { x: vec![0.5], outcome: Outcome::Value { y, noise_std: None } };
        let observations: Vec<Observation> = [0.0].iter().chain(values).map(told).collect();
        Run::after(&observations, 1, 4)
    }

    #[test]
    fn the_box_doubles_after_successes_and_halves_after_failures() {
        assert_eq!(after(&[1.0, 2.0]).length, 0.8);
        assert_eq!(after(&[1.0, 2.0, 3.0]).length, 1.6);
        assert_eq!(after(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).length, LENGTH_MAX);
        assert_eq!(after(&[-1.0; 3]).length, 0.8);
        assert_eq!(after(&[-1.0; 4]).length, 0.4);
        assert_eq!(after(&[-1.0, -1.0, -1.0, 1.0, -1.0]).length, 0.8);
        // 1.0005 is not enough better than 1.
        assert_eq!(after(&[1.0, 1.0005, 1.0005, 1.0005, 1.0005]).length, 0.4);
    }

    #[test]
    fn the_search_starts_over_when_the_box_is_tiny() {
        // 0.8 / 2^6 is still above the smallest side, 0.8 / 2^7 below.
        assert_eq!(
            after(&[-1.0; 27]),
            Run { failures: 3, best: 0.0, ..Run { length: 0.0125, ..Run::starting_at(0) } }
        );
        assert_eq!(after(&[-1.0; 28]), Run::starting_at(29));
        let restarted = after(&[-1.0; 29]);
        assert_eq!((restarted.first, restarted.best), (29, -1.0));

        let mut turbo = Optimizer::new(Domain::cube(1), Turbo::new(3, 0));
        let tell = |turbo: &mut Optimizer<Turbo>, x: f64, y: f64| {
            let outcome = Outcome::Value { y, noise_std: None };
            turbo.tell(Observation { x: vec![x], outcome }).unwrap();
        };
        tell(&mut turbo, 0.5, 0.0);
        (1..31).for_each(|i| tell(&mut turbo, 0.5 + 1e-3 * f64::from(i), -1.0));
        let mut points: Vec<f64> = turbo.ask_batch(3, &mut rng(0, 0)).into_iter().map(|x| x[0]).collect();
        points.sort_by(f64::total_cmp);
        assert!(points[2] - points[0] > 0.25, "new points are spread over the domain: {points:?}");
    }

    #[test]
    fn candidates_move_some_coordinates_within_a_box_of_the_given_volume() {
        let lengthscales: Vec<f64> = (0..40).map(|j| 0.2 + 0.02 * j as f64).collect();
        let sides = sides(0.3, &lengthscales);
        let log_volume: f64 = sides.iter().map(|side| side.ln()).sum();
        assert!((log_volume - 40.0 * 0.3_f64.ln()).abs() < 1e-9);
        let center = vec![0.5; 40];
        let trust_box = TrustBox { center: &center, sides, length: 0.3 };
        let candidates = trust_box.candidates(&Domain::cube(40), &mut rng(0, 0));
        assert_eq!(candidates.len(), 4000);
        let moved = |x: &Vec<f64>| x.iter().filter(|&&x| x != 0.5).count();
        let n_moved = candidates.iter().map(moved).sum::<usize>() as f64 / 4000.0;
        assert!((n_moved - 20.5).abs() < 0.5, "{n_moved}");
        for x in &candidates {
            assert!((0..40).all(|j| (x[j] - 0.5).abs() <= 0.5 * trust_box.sides[j] + 1e-12));
        }
    }

    #[test]
    fn it_does_what_every_baseline_must() {
        checks::all_once(&|_, seed| Box::new(Turbo::new(4, seed)));
    }

    #[test]
    fn it_beats_random_search() {
        checks::beats_random(&|_, seed| Box::new(Turbo::new(10, seed)));
    }
}
