//! CMA-ES: a normal distribution that adapts its mean, size and shape to the best points (Hansen's tutorial, arXiv:1604.00772, with
//! negative weights), on any domain and told in any order.
//!
//! Given: outcomes. Gives: points drawn from the distribution. The distribution itself is in `distribution`, the meaning of its
//! numbers in `genotype`.
//!
//! Draw number k is made by generator k of the seed, not by the generator of an ask. So the numbers that a proposed point was drawn
//! as can be drawn again when only the point is known.
//!
//! It starts with a standard deviation of a sixth of each axis, as Optuna's does, around the mean of the best points that were told
//! before the first was proposed, weighted as a generation is, or else around the middle. A generation is over when enough points
//! were told, whichever they are. A point that was drawn from the current distribution counts in full; for any other (drawn earlier
//! and told late, or never proposed) the step is limited in length and never has negative weight (Hansen 2011, "Injecting external
//! solutions into CMA-ES"). So nothing waits for pending points, and withdrawn ones are not missed. Failed trials are the worst of
//! their generation. After convergence it starts again from a uniform point with generations twice as large (Auger and Hansen 2005,
//! IPOP).
//!
//! With constraints on other outcomes, points that meet them come first, ordered by the goal; then the others, least violation
//! first (Deb 2000). Only the order within a generation counts. It doesn't support several goals, which have no such order.
//!
//! Departures from pycma: Cholesky factors take the place of the symmetric square root (Krause et al.
//! 2016), and grids are kept open by the margin of Hamano et al. 2022.

mod distribution;
mod genotype;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::VecDeque;

use crate::encode::{Domain, is_same_point};
use crate::history::History;
use crate::linalg::add_scaled;
use crate::optimizer::{Observation, Rng, own_rng};
use crate::policy::{Change, Memory, Policy, Suggestion};
use distribution::{Distribution, Sample, recombination_weights};
use genotype::Genotype;

/// After this many draws of points that were proposed before, a distribution counts as converged.
const N_DRAWS: usize = 100;

/// Converged when no standard deviation is larger: points this close are practically the same.
const MIN_STD: f64 = 1e-8;

/// Converged when values of many generations differ by less, relative to their size.
const MIN_VALUE_RANGE: f64 = 1e-12;

/// Restarts after which generations no longer grow.
const MAX_DOUBLINGS: u32 = 9;

/// Suggests points of an evolving normal distribution; recommends the best value observed.
#[derive(Debug, Clone)]
pub struct CmaEs {
    genotype: Genotype,
    seed: u64,
    /// How many times it has converged.
    n_restarts: u32,
    /// `None` before the first proposal and after convergence.
    run: Option<Run>,
}

/// The state from a start to convergence.
#[derive(Debug, Clone)]
struct Run {
    distribution: Distribution,
    /// Points that were proposed and neither told nor withdrawn.
    pending: Vec<Proposal>,
    /// Points told in the current generation, with their values.
    told: Vec<(Sample, Option<Merit>)>,
    /// The best value of each of the last generations.
    recent_best: VecDeque<f64>,
}

#[derive(Debug, Clone)]
struct Proposal {
    x: Vec<f64>,
    sample: Sample,
}

/// What points are ordered by: the violation of the bounds, then the value of the goal.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Merit {
    violation: f64,
    value: f64,
}

impl Merit {
    /// The merit of observation `number`, if every outcome was measured.
    fn of(history: &History, number: usize) -> Option<Self> {
        let goals = history.goals();
        if goals.is_single() {
            return Some(Self { violation: 0.0, value: history.observations()[number].value()? });
        }
        let values = history.values(number)?;
        let value = goals.traded(&values).first().copied().unwrap_or(0.0);
        Some(Self { violation: goals.violation(&values), value })
    }

    /// Orders the better one first.
    fn compare(a: Option<Self>, b: Option<Self>) -> Ordering {
        let key = |merit: Option<Self>| {
            merit.map_or((f64::INFINITY, f64::NEG_INFINITY), |m| (m.violation, m.value))
        };
        let (a, b) = (key(a), key(b));
        a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1))
    }

    /// The merit as one number: minus the violation if there is any, otherwise the value.
    fn number(self) -> f64 {
        if self.violation > 0.0 { -self.violation } else { self.value }
    }
}

/// Where a proposed point came from.
enum Drawn {
    As(Sample),
    /// Not from this distribution, which still gives new points.
    Elsewhere,
    /// Not from this distribution, which gives no new points any more.
    Converged,
}

impl CmaEs {
    /// A search of `domain`, with draws by generators of `seed`.
    pub fn new(domain: Domain, seed: u64) -> CmaEs {
        CmaEs { genotype: Genotype::new(domain), seed, n_restarts: 0, run: None }
    }

    /// The generator for everything that is drawn for a proposal, counted from 0.
    fn rng_of(&self, proposal_idx: usize) -> Rng {
        own_rng(self.seed, proposal_idx as u64)
    }

    fn start(&self, n_restarts: u32, history: &History, rng: &mut Rng) -> Run {
        let mean = match n_restarts {
            0 => self.mean_of_told(history),
            _ => self.genotype.preimage(&history.domain().sample(rng)),
        };
        let lambda = default_population(mean.len()) << n_restarts.min(MAX_DOUBLINGS);
        Run {
            distribution: Distribution::new(mean, &self.genotype.initial_stds(), lambda),
            pending: Vec::new(),
            told: Vec::new(),
            recent_best: VecDeque::new(),
        }
    }

    /// The mean after a generation of the best points told; the middle if there are none.
    fn mean_of_told(&self, history: &History) -> Vec<f64> {
        let middle = self.genotype.middle();
        let best_first = best_first(history, default_population(middle.len()));
        if best_first.is_empty() {
            return middle;
        }
        let mut mean = vec![0.0; middle.len()];
        for (told, weight) in best_first.iter().zip(recombination_weights(best_first.len())) {
            add_scaled(weight, &self.genotype.preimage(&told.x), &mut mean);
        }
        mean
    }

    /// A draw from the distribution that was not proposed before; `None` if none is left.
    fn draw(&self, run: &Run, history: &History, rng: &mut Rng) -> Option<Vec<f64>> {
        history.first_fresh(N_DRAWS, || self.genotype.express(&run.distribution.sample(rng).at))
    }

    /// The numbers that `x` was drawn as, if `draw` gave it.
    fn drawn_as(&self, run: &Run, x: &[f64], history: &History, rng: &mut Rng) -> Drawn {
        let mut is_converged = true;
        for _ in 0..N_DRAWS {
            let sample = run.distribution.sample(rng);
            let drawn = self.genotype.express(&sample.at);
            if is_same_point(&drawn, x) {
                return Drawn::As(sample);
            }
            is_converged = is_converged && history.is_taken(&drawn);
        }
        if is_converged { Drawn::Converged } else { Drawn::Elsewhere }
    }

    /// Handles the proposal of `x`, the newest pending point.
    fn proposed(&mut self, x: &[f64], history: &History) {
        let mut own = self.rng_of(history.proposals().len() - 1);
        let mut run = self.run.take().unwrap_or_else(|| self.start(self.n_restarts, history, &mut own));
        let mut drawn = self.drawn_as(&run, x, history, &mut own);
        if let Drawn::Converged = drawn {
            self.n_restarts += 1;
            run = self.start(self.n_restarts, history, &mut own);
            drawn = self.drawn_as(&run, x, history, &mut own);
        }
        let sample = match drawn {
            Drawn::As(sample) => sample,
            Drawn::Elsewhere | Drawn::Converged => Sample::foreign(self.genotype.preimage(x)),
        };
        run.pending.push(Proposal { x: x.to_vec(), sample });
        self.run = Some(run);
    }

    fn told(&mut self, told: &Observation, history: &History) {
        let Some(run) = &mut self.run else { return };
        let sample =
            run.withdraw(&told.x).unwrap_or_else(|| Sample::foreign(self.genotype.preimage(&told.x)));
        run.told.push((sample, Merit::of(history, history.observations().len() - 1)));
        if run.told.len() >= run.distribution.population() && run.end_generation(&self.genotype).is_none() {
            self.run = None;
            self.n_restarts += 1;
        }
    }
}

impl Policy for CmaEs {
    fn suggest(&self, history: &History, rng: &mut Rng) -> Suggestion {
        let mut own = self.rng_of(history.proposals().len());
        let run = match &self.run {
            Some(run) => Cow::Borrowed(run),
            None => Cow::Owned(self.start(self.n_restarts, history, &mut own)),
        };
        let x = self.draw(&run, history, &mut own).or_else(|| {
            let restarted = self.start(self.n_restarts + 1, history, &mut own);
            self.draw(&restarted, history, &mut own)
        });
        match x {
            Some(x) => Suggestion::by_model(x, "evolution"),
            None => {
                Suggestion::random(history.fresh_uniform(rng), "every point that was drawn has been tried")
            }
        }
    }

    fn remember(&mut self, change: Change<'_>, history: &History) {
        match change {
            Change::Proposed(x) => self.proposed(x, history),
            Change::Told(told) => self.told(told, history),
            Change::Withdrawn(x) => {
                self.run.as_mut().and_then(|run| run.withdraw(x));
            }
        }
    }

    fn memory(&self) -> Memory {
        Some(Box::new((self.n_restarts, self.run.clone())))
    }

    fn restore(&mut self, memory: Memory) {
        if let Some(memory) = memory.and_then(|memory| memory.downcast().ok()) {
            (self.n_restarts, self.run) = *memory;
        }
    }
}

impl Run {
    /// Removes `x` from the pending points, and returns what it was drawn as if it was proposed in this run.
    fn withdraw(&mut self, x: &[f64]) -> Option<Sample> {
        let idx = self.pending.iter().position(|proposal| is_same_point(&proposal.x, x))?;
        Some(self.pending.remove(idx).sample)
    }

    /// Learns from the points told; `None` if the run is over.
    fn end_generation(&mut self, genotype: &Genotype) -> Option<()> {
        let mut told = std::mem::take(&mut self.told);
        told.sort_by(|(_, a), (_, b)| Merit::compare(*a, *b));
        let (best, worst) = (told.first()?.1, told.last()?.1);
        let Some(best) = best else {
            return Some(()); // nothing but failures: nothing to move towards
        };
        let ranked: Vec<Sample> = told.into_iter().map(|(sample, _)| sample).collect();
        self.distribution.update(&ranked)?;
        genotype.keep_open(&mut self.distribution);
        let is_flat = self.is_flat(best.number(), worst.map(Merit::number));
        (!is_flat && self.distribution.largest_std() > MIN_STD).then_some(())
    }

    /// Whether the best values of many generations, and all of the last, are the same.
    fn is_flat(&mut self, best: f64, worst: Option<f64>) -> bool {
        let (n, lambda) = (self.distribution.mean().len(), self.distribution.population());
        let many = 10 + (30 * n).div_ceil(lambda);
        self.recent_best.push_back(best);
        if self.recent_best.len() <= many {
            return false;
        }
        self.recent_best.pop_front();
        let values = || self.recent_best.iter().copied().chain(worst);
        let (low, high) = (values().fold(best, f64::min), values().fold(best, f64::max));
        high - low <= MIN_VALUE_RANGE * f64::max(low.abs(), high.abs())
    }
}

/// Points to a generation in `n` dimensions, before any restart.
fn default_population(n: usize) -> usize {
    4 + (3.0 * (n.max(1) as f64).ln()) as usize
}

/// The `n` best observations, best first.
fn best_first(history: &History, n: usize) -> Vec<&Observation> {
    if history.goals().is_single() {
        return history.highest(n);
    }
    let observations = history.observations();
    let mut ordered: Vec<(Option<Merit>, &Observation)> =
        (0..observations.len()).map(|i| (Merit::of(history, i), &observations[i])).collect();
    ordered.retain(|(merit, _)| merit.is_some());
    ordered.sort_by(|(a, _), (b, _)| Merit::compare(*a, *b));
    ordered.into_iter().take(n).map(|(_, told)| told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baselines::checks;
    use crate::optimizer::{Optimizer, Outcome, rng};

    fn search(d: usize) -> Optimizer<CmaEs> {
        Optimizer::new(Domain::cube(d), CmaEs::new(Domain::cube(d), 0))
    }

    fn value(y: f64) -> Outcome {
        Outcome::Value { y, noise_std: None }
    }

    #[test]
    fn it_is_an_optimizer_that_can_be_relied_on() {
        checks::all(&|domain, seed| Box::new(CmaEs::new(domain.clone(), seed)));
    }

    #[test]
    fn it_beats_uniform_search_in_cube_and_conditional_space() {
        checks::beats_random(&|domain, seed| Box::new(CmaEs::new(domain.clone(), seed)));
    }

    #[test]
    fn it_converges_on_a_rotated_ill_conditioned_ellipsoid() {
        let turned = |x: &[f64]| {
            let sum: f64 = x.iter().map(|x| x - 0.6).sum();
            let apart: f64 = x.windows(2).map(|pair| (pair[0] - pair[1]).powi(2)).sum();
            -(sum * sum + 1e4 * apart)
        };
        let mut search = search(5);
        checks::play(&mut search, 3000, &turned, &mut rng(1, 0));
        let best = search.recommend().unwrap();
        assert!(best.mean > -1e-9, "{best:?}");
    }

    #[test]
    fn it_finds_an_optimum_in_a_corner_and_then_starts_again() {
        let mut search = search(3);
        checks::play(&mut search, 3000, &|x| x[0] - x[1] + 0.5 * x[2], &mut rng(2, 0));
        assert!(search.recommend().unwrap().mean > 1.5 - 1e-6, "{:?}", search.recommend());
        assert!(search.policy().n_restarts > 0);
    }

    #[test]
    fn it_starts_around_the_better_half_of_what_was_told_before_the_first_ask() {
        let started_at = |told: &[([f64; 2], Outcome)]| {
            let mut search = search(2);
            for (x, outcome) in told {
                search.tell(Observation { x: x.to_vec(), outcome: *outcome }).unwrap();
            }
            search.ask(&mut rng(0, 0));
            search.policy().run.as_ref().unwrap().distribution.mean().to_vec()
        };
        let [best, good, bad] = [[0.5, 0.25], [0.25, 0.75], [0.75, 0.75]];
        assert_eq!(started_at(&[(best, Outcome::Failed)]), [0.5, 0.5]);
        assert_eq!(started_at(&[(bad, value(1.0)), (best, Outcome::Failed)]), bad);
        assert_eq!(started_at(&[(bad, value(1.0)), (best, value(2.0))]), best);

        // Of four points two count, with weights ln 2.5 and ln 2.5 - ln 2.
        let mean =
            started_at(&[(bad, value(1.0)), (best, value(4.0)), (good, value(3.0)), (bad, value(2.0))]);
        let weight = 2.5_f64.ln() / (2.0 * 2.5_f64.ln() - 2.0_f64.ln());
        assert!((mean[0] - (0.25 + 0.25 * weight)).abs() < 1e-12, "{mean:?}");
    }

    #[test]
    fn a_generation_ends_whichever_points_are_told() {
        let mut search = search(2); // 6 to a generation
        let mut rng = rng(0, 0);
        let batch = search.ask_batch(10, &mut rng);
        let before = search.policy().run.as_ref().unwrap().distribution.mean().to_vec();
        for x in batch.iter().rev().take(5) {
            search.tell(Observation { x: x.clone(), outcome: value(x[0]) }).unwrap();
        }
        assert_eq!(search.policy().run.as_ref().unwrap().distribution.mean(), before);
        search.tell(Observation { x: vec![1.0, 1.0], outcome: value(1.0) }).unwrap();
        let run = search.policy().run.as_ref().unwrap();
        assert!(run.distribution.mean()[0] > before[0]);
        assert_eq!((run.pending.len(), run.told.len()), (5, 0));
        search.tell(Observation { x: batch[0].clone(), outcome: Outcome::Failed }).unwrap();
        assert_eq!(search.policy().run.as_ref().unwrap().told.len(), 1);
    }
}
