//! What has happened: everything that was proposed, told and withdrawn, in that order.
//!
//! Given: the calls. Gives: observations, pending points, and look-ups over them. A policy is handed this and nothing else, so
//! it is all that a suggestion can depend on.
//!
//! Of several outcomes each has a history of its own, over the same points ([`History::outcomes`]). The whole is the history of the
//! first of them, with the others beside it: points, proposals and what is pending are the same in all.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::iter;

use crate::encode::{Domain, TOLERANCE, is_same_point};
use crate::error::TellError;
use crate::goals::Goals;
use crate::optimizer::{Observation, Outcome, Recommendation, Rng};

/// Uniform draws before a point that was tried already is accepted: a finite domain may be exhausted. In a domain of 100
/// points of which one is left, this many draws find it with a chance of 0.99996.
const MAX_DRAWS: usize = 1000;

/// The observations and pending points of one optimizer, all of them feasible in its domain.
#[derive(Debug, Clone)]
pub struct History {
    domain: Domain,
    observations: Vec<Observation>,
    /// The observations by where they are.
    index: Index,
    /// The values, in an order that integers have, and the numbers of their observations; the first of equals is the last here.
    by_value: BTreeSet<(i64, Reverse<usize>)>,
    /// The first value at a point and a later one at the same, for each later one.
    repeats: Vec<(f64, f64)>,
    /// The lowest and highest coordinate told on each axis, `None` before the first.
    extent: Option<(Vec<f64>, Vec<f64>)>,
    proposals: Vec<Proposal>,
    pending: Vec<Vec<f64>>,
    /// Of all observations up to each.
    fingerprints: Vec<u64>,
    /// What is wanted of each outcome.
    goals: Goals,
    /// Those of the outcomes after the first.
    others: Vec<History>,
}

/// A point that was going to be tried, and how things stood at that moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// The encoded point.
    pub x: Vec<f64>,
    /// How many observations there were.
    pub n_told: usize,
    /// How many other points were pending.
    pub n_pending: usize,
}

/// Finds points without looking at all of them: by a weighted sum of their coordinates, which is nearly the same for
/// points that are, and hardly ever for others.
#[derive(Debug, Clone, Default)]
struct Index {
    /// Sums, which are not negative and so ordered as their bits are, and the numbers of the points.
    by_sum: BTreeSet<(u64, usize)>,
}

impl History {
    /// Nothing told, nothing pending; one outcome, to be as large as possible.
    pub fn new(domain: Domain) -> History {
        History::with_goals(domain, Goals::single())
    }

    /// Nothing told, nothing pending; an outcome for each goal.
    pub fn with_goals(domain: Domain, goals: Goals) -> History {
        History {
            others: (1..goals.len()).map(|_| History::new(domain.clone())).collect(),
            goals,
            domain,
            observations: Vec::new(),
            index: Index::default(),
            by_value: BTreeSet::new(),
            repeats: Vec::new(),
            extent: None,
            proposals: Vec::new(),
            pending: Vec::new(),
            fingerprints: Vec::new(),
        }
    }

    /// What is wanted of each outcome.
    pub fn goals(&self) -> &Goals {
        &self.goals
    }

    /// The history of each outcome, in the order of the goals: what was told of it, and what is pending.
    pub fn outcomes(&self) -> impl Iterator<Item = &History> {
        iter::once(self).chain(&self.others)
    }

    /// What was measured in trial number `number` where every outcome was.
    pub fn values(&self, number: usize) -> Option<Vec<f64>> {
        self.outcomes().map(|outcome| outcome.observations[number].value()).collect()
    }

    /// The domain that all points lie in.
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// Everything told, in that order, failures included.
    pub fn observations(&self) -> &[Observation] {
        &self.observations
    }

    /// The corners of the smallest box that holds all points told; `None` before the first.
    pub fn extent(&self) -> Option<(&[f64], &[f64])> {
        self.extent.as_ref().map(|(lowest, highest)| (lowest.as_slice(), highest.as_slice()))
    }

    fn extend_to(&mut self, x: &[f64]) {
        let (lowest, highest) = self.extent.get_or_insert_with(|| (x.to_vec(), x.to_vec()));
        for j in 0..x.len() {
            lowest[j] = lowest[j].min(x[j]);
            highest[j] = highest[j].max(x[j]);
        }
    }

    /// The points proposed and neither told nor withdrawn, in the order they were proposed.
    pub fn pending(&self) -> &[Vec<f64>] {
        &self.pending
    }

    /// Every point that was ever proposed, in that order.
    pub fn proposals(&self) -> &[Proposal] {
        &self.proposals
    }

    /// A number that differs, but for a chance of 2⁻⁶⁴, between histories whose first `n_told` observations differ: what a
    /// cache is filed under.
    ///
    /// # Panics
    /// If there are fewer observations.
    pub fn fingerprint(&self, n_told: usize) -> u64 {
        n_told.checked_sub(1).map_or(0, |last| self.fingerprints[last])
    }

    /// Notes that `x` was proposed.
    pub fn propose(&mut self, x: Vec<f64>) {
        let (n_told, n_pending) = (self.observations.len(), self.pending.len());
        self.proposals.push(Proposal { x: x.clone(), n_told, n_pending });
        self.others.iter_mut().for_each(|other| other.propose(x.clone()));
        self.pending.push(x);
    }

    /// Forgets all proposals but the first `n_proposals`, none of which was told or withdrawn.
    pub(crate) fn take_back(&mut self, n_proposals: usize) {
        let n_taken = self.proposals.len().saturating_sub(n_proposals);
        self.others.iter_mut().for_each(|other| other.take_back(n_proposals));
        self.proposals.truncate(n_proposals);
        self.pending.truncate(self.pending.len().saturating_sub(n_taken));
    }

    /// Adds an observation of the one outcome; its point is then no longer pending. A point between feasible ones is
    /// snapped, since that is where it was decoded and tried.
    ///
    /// # Errors
    /// If the point is not in the cube, the value not finite or the noise not a standard deviation, or there are several outcomes.
    /// Nothing is changed then.
    pub fn tell(&mut self, observation: Observation) -> Result<(), TellError> {
        self.tell_outcomes(observation.x, &[observation.outcome])
    }

    /// Adds what became of each outcome at a point, as [`History::tell`] does of one. Some may have failed and others not.
    ///
    /// # Errors
    /// As for [`History::tell`], or if there are more or fewer outcomes than goals. Nothing is changed then.
    pub fn tell_outcomes(&mut self, mut x: Vec<f64>, outcomes: &[Outcome]) -> Result<(), TellError> {
        if outcomes.len() != self.goals.len() {
            return Err(TellError::WrongOutcomes { expected: self.goals.len(), got: outcomes.len() });
        }
        self.domain.check(&x)?;
        outcomes.iter().try_for_each(check)?;
        self.domain.snap(&mut x);
        for (other, outcome) in self.others.iter_mut().zip(&outcomes[1..]) {
            other.add(Observation { x: x.clone(), outcome: *outcome });
        }
        self.add(Observation { x, outcome: outcomes[0] });
        Ok(())
    }

    /// Adds an observation that has been checked.
    fn add(&mut self, observation: Observation) {
        let number = self.observations.len();
        self.settle(&observation.x);
        let first = self
            .numbers_at(&observation.x)
            .filter(|&number| self.observations[number].value().is_some())
            .min();
        self.repeats
            .extend(first.and_then(|first| Some((self.observations[first].value()?, observation.value()?))));
        self.index.insert(&observation.x, number);
        self.extend_to(&observation.x);
        self.by_value.extend(observation.value().map(|value| (ordered(value), Reverse(number))));
        self.fingerprints.push(fingerprint(self.fingerprint(number), &observation));
        self.observations.push(observation);
    }

    /// Forgets that `x` is pending; once, if it was proposed several times.
    pub fn withdraw(&mut self, x: &[f64]) {
        self.others.iter_mut().for_each(|other| other.settle(x));
        self.settle(x);
    }

    fn settle(&mut self, x: &[f64]) {
        if let Some(idx) = self.pending.iter().position(|pending| is_same_point(pending, x)) {
            self.pending.remove(idx);
        }
    }

    /// Whether `x` was told or is pending, to 1e-9 in each coordinate.
    pub fn is_taken(&self, x: &[f64]) -> bool {
        self.numbers_at(x).next().is_some() || self.is_pending(x)
    }

    /// Whether `x` is pending, to 1e-9 in each coordinate.
    pub fn is_pending(&self, x: &[f64]) -> bool {
        self.pending.iter().any(|pending| is_same_point(pending, x))
    }

    /// Everything told of `x`.
    pub fn told_at(&self, x: &[f64]) -> impl Iterator<Item = &Observation> {
        self.numbers_at(x).map(|number| &self.observations[number])
    }

    /// Two values told of the same point, the first and a later one, for each that is not the first there.
    pub fn repeats(&self) -> impl Iterator<Item = (f64, f64)> {
        self.repeats.iter().copied()
    }

    fn numbers_at(&self, x: &[f64]) -> impl Iterator<Item = usize> {
        self.index.near(x).filter(move |&number| is_same_point(&self.observations[number].x, x))
    }

    /// A uniform point of the domain that was neither told nor is pending, or any if there seems to be none left.
    pub fn fresh_uniform(&self, rng: &mut Rng) -> Vec<f64> {
        self.fresh(|| self.domain.sample(rng))
    }

    /// The first point drawn that was neither told nor is pending, or any if there seems to be none left.
    pub fn fresh(&self, mut draw: impl FnMut() -> Vec<f64>) -> Vec<f64> {
        self.first_fresh(MAX_DRAWS, &mut draw).unwrap_or_else(draw)
    }

    /// The first of at most `n_draws` points that was neither told nor is pending, if there is one.
    pub fn first_fresh(&self, n_draws: usize, draw: impl FnMut() -> Vec<f64>) -> Option<Vec<f64>> {
        iter::repeat_with(draw).take(n_draws).find(|x| !self.is_taken(x))
    }

    /// The largest value told, the first of equals, as a recommendation without a model.
    pub fn best(&self) -> Option<Recommendation> {
        let told = self.highest(1).pop()?;
        Some(Recommendation { x: told.x.clone(), mean: told.value()?, std: None })
    }

    /// The `n` points with the largest values told, largest first, each once, as recommendations without a model.
    pub fn ranking(&self, n: usize) -> Vec<Recommendation> {
        let highest = self.highest(self.observations.len()).into_iter();
        let valued = highest.filter_map(|told| Some((told.x.as_slice(), told.value()?, None)));
        ranked(valued.collect(), n)
    }

    /// The `n` observations with the largest values, largest first, or all that have one if they are fewer. Of equals
    /// the first comes first.
    pub fn highest(&self, n: usize) -> Vec<&Observation> {
        self.by_value.iter().rev().take(n).map(|(_, Reverse(number))| &self.observations[*number]).collect()
    }
}

/// Whether an outcome can be learnt from.
fn check(outcome: &Outcome) -> Result<(), TellError> {
    let Outcome::Value { y, noise_std } = *outcome else { return Ok(()) };
    if !y.is_finite() {
        return Err(TellError::NotFinite { y });
    }
    match noise_std.filter(|std| !std.is_finite() || *std < 0.0) {
        Some(noise_std) => Err(TellError::BadNoise { noise_std }),
        None => Ok(()),
    }
}

/// That of the observations up to this one, from that of those before it.
fn fingerprint(before: u64, observation: &Observation) -> u64 {
    let (kind, y, noise_std) = match observation.outcome {
        Outcome::Value { y, noise_std: None } => (1, y, 0.0),
        Outcome::Value { y, noise_std: Some(noise_std) } => (2, y, noise_std),
        Outcome::Failed => (3, 0.0, 0.0),
    };
    let numbers = observation.x.iter().chain([&y, &noise_std]).map(|number| number.to_bits());
    numbers.chain([kind]).fold(before, |hash, bits| split_mix(hash.rotate_left(5) ^ bits))
}

/// SplitMix64: numbers that have nothing to do with each other, from numbers that may.
fn split_mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// An integer for each number, in the same order; 0 and -0 are the same.
fn ordered(value: f64) -> i64 {
    let bits = (value + 0.0).to_bits().cast_signed();
    if bits < 0 { i64::MIN - bits } else { bits }
}

/// The `n` largest of (point, mean, standard deviation), largest first; of the same point only the first.
pub(crate) fn ranked(mut points: Vec<(&[f64], f64, Option<f64>)>, n: usize) -> Vec<Recommendation> {
    points.sort_by(|a, b| b.1.total_cmp(&a.1)); // stable: the first of equals
    let mut ranking: Vec<Recommendation> = Vec::new();
    for (x, mean, std) in points {
        if ranking.len() == n {
            break;
        }
        if !ranking.iter().any(|known| is_same_point(&known.x, x)) {
            ranking.push(Recommendation { x: x.to_vec(), mean, std });
        }
    }
    ranking
}

impl Index {
    fn insert(&mut self, x: &[f64], number: usize) {
        self.by_sum.insert((Self::sum(x).to_bits(), number));
    }

    /// The numbers of all points that are the same as `x`, and of few others.
    fn near(&self, x: &[f64]) -> impl Iterator<Item = usize> {
        let (sum, width) = (Self::sum(x), 2.0 * TOLERANCE * x.len() as f64);
        let (low, high) = ((sum - width).max(0.0), sum + width);
        self.by_sum.range((low.to_bits(), 0)..=(high.to_bits(), usize::MAX)).map(|(_, number)| *number)
    }

    /// With weights from 0.5 to 1 that have nothing to do with each other.
    fn sum(x: &[f64]) -> f64 {
        let weight = |j: u64| {
            let random = split_mix(j.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            0.5 + (random >> 12) as f64 / (1_u64 << 53) as f64
        };
        (0..).zip(x).map(|(j, x)| weight(j) * x.max(0.0)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goals::Goal;
    use crate::optimizer::rng;
    use rand::RngExt;

    fn value(x: &[f64], y: f64, noise_std: Option<f64>) -> Observation {
        Observation { x: x.to_vec(), outcome: Outcome::Value { y, noise_std } }
    }

    fn failed(x: &[f64]) -> Observation {
        Observation { x: x.to_vec(), outcome: Outcome::Failed }
    }

    #[test]
    fn a_refused_observation_changes_nothing() {
        let mut history = History::new(Domain::cube(1));
        history.propose(vec![0.5]);
        let refused = [
            history.tell(value(&[0.5], f64::INFINITY, None)),
            history.tell(value(&[0.5], 1.0, Some(-1.0))),
            history.tell(value(&[0.5], 1.0, Some(f64::INFINITY))),
            history.tell(value(&[0.5, 0.5], 1.0, None)),
            history.tell(failed(&[1.5])),
        ];
        assert_eq!(
            refused,
            [
                Err(TellError::NotFinite { y: f64::INFINITY }),
                Err(TellError::BadNoise { noise_std: -1.0 }),
                Err(TellError::BadNoise { noise_std: f64::INFINITY }),
                Err(TellError::WrongDimension { expected: 1, got: 2 }),
                Err(TellError::OutsideCube { index: 0, value: 1.5 }),
            ]
        );
        assert!(history.tell(value(&[0.5], f64::NAN, None)).is_err());
        assert!(history.tell(value(&[0.5], 1.0, Some(f64::NAN))).is_err());
        assert_eq!((history.observations().len(), history.pending().len()), (0, 1));
    }

    #[test]
    fn each_outcome_has_a_history_of_its_own_over_the_same_points() {
        let goals =
            Goals::new(vec![Goal::Maximize { reference: None }, Goal::AtLeast { bound: 1.0 }]).unwrap();
        let mut history = History::with_goals(Domain::cube(1), goals);
        history.propose(vec![0.5]);
        history.propose(vec![0.7]);
        history.propose(vec![0.9]);
        let known = |y| Outcome::Value { y, noise_std: None };
        history.tell_outcomes(vec![0.5], &[Outcome::Failed, known(2.0)]).unwrap();
        history.tell_outcomes(vec![0.7], &[known(3.0), known(4.0)]).unwrap();
        history.withdraw(&[0.9]);
        let told: Vec<Vec<Option<f64>>> = history
            .outcomes()
            .map(|outcome| outcome.observations().iter().map(Observation::value).collect())
            .collect();
        assert_eq!(told, [[None, Some(3.0)], [Some(2.0), Some(4.0)]]);
        assert_eq!([history.values(0), history.values(1)], [None, Some(vec![3.0, 4.0])]);
        assert!(history.outcomes().all(|outcome| outcome.pending().is_empty()));
    }

    #[test]
    fn too_few_outcomes_or_one_that_is_wrong_change_nothing() {
        let goals = Goals::new(vec![Goal::Maximize { reference: None }; 2]).unwrap();
        let mut history = History::with_goals(Domain::cube(1), goals);
        let known = |y| Outcome::Value { y, noise_std: None };
        let few = TellError::WrongOutcomes { expected: 2, got: 1 };
        assert_eq!(history.tell(value(&[0.5], 1.0, None)), Err(few));
        assert!(history.tell_outcomes(vec![0.5], &[known(1.0), known(f64::NAN)]).is_err());
        assert!(history.outcomes().all(|outcome| outcome.observations().is_empty()));
    }

    #[test]
    fn points_are_taken_while_pending_and_once_told_but_not_once_withdrawn() {
        let mut history = History::new(Domain::cube(1));
        for x in [0.1, 0.2, 0.3] {
            history.propose(vec![x]);
        }
        history.tell(failed(&[0.1])).unwrap();
        history.withdraw(&[0.2]);
        assert_eq!([0.1, 0.2, 0.3].map(|x| history.is_taken(&[x])), [true, false, true]);
        assert_eq!(history.pending(), [[0.3]]);
    }

    #[test]
    fn a_point_is_taken_if_any_point_told_is_the_same_and_not_otherwise() {
        let mut history = History::new(Domain::cube(4));
        let mut rng = rng(0, 0);
        // Half of the coordinates are at the ends, as choices are.
        let mut draw =
            || -> Vec<f64> { (0..4).map(|_| rng.random_range(-0.5..1.5_f64).clamp(0.0, 1.0)).collect() };
        (0..300).for_each(|_| history.tell(failed(&draw())).unwrap());
        let told: Vec<Vec<f64>> = history.observations().iter().map(|told| told.x.clone()).collect();
        for offset in [0.0, 9e-10, 2e-9] {
            for x in told.iter().cloned().chain((0..300).map(|_| draw())) {
                let x: Vec<f64> = x.iter().map(|x| if *x > 0.5 { x - offset } else { x + offset }).collect();
                let expected = told.iter().any(|told| is_same_point(told, &x));
                assert_eq!(history.is_taken(&x), expected, "{x:?} at {offset}");
            }
        }
    }

    #[test]
    fn a_point_proposed_twice_is_told_once_at_a_time() {
        let mut history = History::new(Domain::cube(1));
        history.propose(vec![0.5]);
        history.propose(vec![0.5]);
        history.tell(value(&[0.5], 1.0, None)).unwrap();
        assert_eq!(history.pending().len(), 1);
    }

    #[test]
    fn a_proposal_remembers_how_things_stood() {
        let mut history = History::new(Domain::cube(1));
        for x in [0.1, 0.2, 0.3] {
            history.propose(vec![x]);
        }
        history.withdraw(&[0.2]);
        history.tell(value(&[0.9], 0.0, None)).unwrap();
        history.tell(failed(&[0.3])).unwrap();
        history.propose(vec![0.4]);
        let proposal = |x, n_told, n_pending| Proposal { x: vec![x], n_told, n_pending };
        let expected = [proposal(0.1, 0, 0), proposal(0.2, 0, 1), proposal(0.3, 0, 2), proposal(0.4, 2, 1)];
        assert_eq!(history.proposals(), expected);
    }

    #[test]
    fn fingerprints_are_those_of_what_was_told_and_of_nothing_else() {
        let told = |observations: &[Observation]| {
            let mut history = History::new(Domain::cube(1));
            observations.iter().for_each(|told| history.tell(told.clone()).unwrap());
            (0..=observations.len()).map(|n| history.fingerprint(n)).collect::<Vec<_>>()
        };
        let plain = [value(&[0.1], 1.0, None), failed(&[0.2]), value(&[0.3], 2.0, Some(0.0))];
        assert_eq!(told(&plain), told(&plain));
        assert_eq!(told(&plain)[..3], told(&plain[..2]));
        let changed = [
            [value(&[0.1], -1.0, None), plain[1].clone(), plain[2].clone()],
            [plain[0].clone(), value(&[0.2], 0.0, None), plain[2].clone()],
            [plain[0].clone(), plain[1].clone(), value(&[0.3], 2.0, None)],
            [plain[1].clone(), plain[0].clone(), plain[2].clone()],
        ];
        assert!(changed.iter().all(|other| told(other)[3] != told(&plain)[3]));
    }

    #[test]
    fn the_best_is_the_first_of_the_largest_values() {
        let mut history = History::new(Domain::cube(1));
        history.tell(failed(&[0.0])).unwrap();
        assert_eq!(history.best(), None);
        for (x, y) in [(0.1, -2.0), (0.2, -1.0), (0.3, -1.0), (0.4, -3.0)] {
            history.tell(value(&[x], y, None)).unwrap();
        }
        assert_eq!(history.best(), Some(Recommendation { x: vec![0.2], mean: -1.0, std: None }));
    }

    #[test]
    fn the_highest_are_the_largest_values_without_failures() {
        let mut history = History::new(Domain::cube(1));
        for (i, y) in [3.0, 1.0, 4.0, 1.5, 9.0, 2.0, 6.0].into_iter().enumerate() {
            history.tell(value(&[0.1 * i as f64], y, None)).unwrap();
            history.tell(failed(&[0.1 * i as f64 + 0.05])).unwrap();
        }
        let highest = |n| history.highest(n).iter().map(|told| told.value().unwrap()).collect::<Vec<_>>();
        assert!(highest(0).is_empty());
        assert_eq!(highest(3), [9.0, 6.0, 4.0]);
        assert_eq!(highest(99), [9.0, 6.0, 4.0, 3.0, 2.0, 1.5, 1.0]);
    }

    #[test]
    fn values_are_ordered_and_the_first_of_equals_is_the_best() {
        let rising = [f64::MIN, -2.5, -2.0, -1e-300, 0.0, 1e-300, 2.0, 2.5, f64::MAX];
        assert!(rising.is_sorted_by(|a, b| ordered(*a) < ordered(*b)));
        assert_eq!(ordered(-0.0), ordered(0.0));
        let mut history = History::new(Domain::cube(1));
        for (x, y) in [(0.1, -0.0), (0.2, 0.0), (0.3, -1.0), (0.4, 0.0)] {
            history.tell(value(&[x], y, None)).unwrap();
        }
        let at: Vec<f64> = history.highest(9).iter().map(|told| told.x[0]).collect();
        assert_eq!(at, [0.1, 0.2, 0.4, 0.3]);
        assert_eq!(history.best().unwrap().x, [0.1]);
    }
}
