//! What has happened: everything that was proposed, told and withdrawn, in order.
//!
//! Given: the calls. Gives: observations, pending points, and look-ups over them. A policy is given this and nothing else, so it is
//! all that a suggestion can depend on.
//!
//! With several outcomes each has a history of its own, over the same points ([`History::outcomes`]). The history as a whole is
//! that of the first outcome, with the others inside it: points, proposals and pending points are the same in all.

mod index;

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::iter;

use self::index::{Index, fingerprint};
use crate::encode::{Domain, is_same_point};
use crate::error::TellError;
use crate::goals::Goals;
use crate::optimizer::{Observation, Outcome, Recommendation, Rng};

/// Most uniform draws before a point that was tried already is accepted, since a finite domain may be exhausted. In a domain of 100
/// points with one left, this many draws find it with a probability of 0.99996.
const MAX_DRAWS: usize = 1000;

/// The observations and pending points of one optimizer, all of them feasible in its domain.
#[derive(Debug, Clone)]
pub struct History {
    domain: Domain,
    observations: Vec<Observation>,
    /// The indices of observations by their points.
    index: Index,
    /// The values as sortable integers, with the indices of their observations; of equal values the first told is last.
    by_value: BTreeSet<(i64, Reverse<usize>)>,
    /// The first value at a point with a later one at the same point, for each later one.
    repeats: Vec<(f64, f64)>,
    /// The lowest and highest coordinates told; `None` before the first point.
    extent: Option<(Vec<f64>, Vec<f64>)>,
    proposals: Vec<Proposal>,
    pending: Vec<Vec<f64>>,
    /// For each observation, a hash of all observations up to it.
    fingerprints: Vec<u64>,
    /// For each observation, by how much all outcomes together miss their bounds; `None` if one was not measured.
    violations: Vec<Option<f64>>,
    /// What is wanted of each outcome.
    goals: Goals,
    /// The histories of the outcomes after the first.
    others: Vec<History>,
}

/// A point that was proposed, and the state of the history at that moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// The encoded point.
    pub x: Vec<f64>,
    /// How many observations there were.
    pub n_told: usize,
    /// How many other points were pending.
    pub n_pending: usize,
}

impl History {
    /// An empty history of one outcome, to be maximised.
    pub fn new(domain: Domain) -> History {
        History::with_goals(domain, Goals::single())
    }

    /// An empty history with an outcome for each goal.
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
            violations: Vec::new(),
        }
    }

    /// What is wanted of each outcome.
    pub fn goals(&self) -> &Goals {
        &self.goals
    }

    /// The history of each outcome, in the order of the goals: what was told of it, and the pending points.
    pub fn outcomes(&self) -> impl Iterator<Item = &History> {
        iter::once(self).chain(&self.others)
    }

    /// The values of all outcomes in observation `number`; `None` unless every outcome was measured.
    pub fn values(&self, number: usize) -> Option<Vec<f64>> {
        self.outcomes().map(|outcome| outcome.observations[number].value()).collect()
    }

    /// By how much the values of observation `number` miss their bounds, added up: 0 if they are feasible. `None` unless every outcome
    /// was measured.
    pub fn violation(&self, number: usize) -> Option<f64> {
        self.violations[number]
    }

    /// The domain that all points lie in.
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// Everything told, in order, failures included.
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

    /// The points that were proposed and neither told nor withdrawn, in order.
    pub fn pending(&self) -> &[Vec<f64>] {
        &self.pending
    }

    /// Every point that was ever proposed, in order.
    pub fn proposals(&self) -> &[Proposal] {
        &self.proposals
    }

    /// A hash of the first `n_told` observations, for caches: different observations have the same one with a probability of 2⁻⁶⁴.
    ///
    /// # Panics
    /// If there are fewer observations.
    pub fn fingerprint(&self, n_told: usize) -> u64 {
        n_told.checked_sub(1).map_or(0, |last| self.fingerprints[last])
    }

    /// Adds `x` to the pending points.
    pub fn propose(&mut self, x: Vec<f64>) {
        let (n_told, n_pending) = (self.observations.len(), self.pending.len());
        self.proposals.push(Proposal { x: x.clone(), n_told, n_pending });
        self.others.iter_mut().for_each(|other| other.propose(x.clone()));
        self.pending.push(x);
    }

    /// Removes all proposals but the first `n_proposals`; none of the removed ones may have been told or withdrawn.
    pub(crate) fn take_back(&mut self, n_proposals: usize) {
        let n_taken = self.proposals.len().saturating_sub(n_proposals);
        self.others.iter_mut().for_each(|other| other.take_back(n_proposals));
        self.proposals.truncate(n_proposals);
        self.pending.truncate(self.pending.len().saturating_sub(n_taken));
    }

    /// Adds an observation of the one outcome; its point is then no longer pending. A point between feasible ones is moved to the
    /// nearest, since that is where it was decoded and tried.
    ///
    /// # Errors
    /// If the point is not in the cube, the value not finite or the noise not a standard deviation, or there are several outcomes.
    /// Nothing changes then.
    pub fn tell(&mut self, observation: Observation) -> Result<(), TellError> {
        self.tell_outcomes(observation.x, &[observation.outcome])
    }

    /// Adds the result of each outcome at a point, as [`History::tell`] does for one. Some may have failed and others not.
    ///
    /// # Errors
    /// As for [`History::tell`], or if there are more or fewer outcomes than goals. Nothing changes then.
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
        let values = self.values(self.observations.len() - 1);
        self.violations.push(values.map(|values| self.goals.violation(&values)));
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

    /// Removes `x` from the pending points; once, if it was proposed several times.
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

    /// The observations at `x`.
    pub fn told_at(&self, x: &[f64]) -> impl Iterator<Item = &Observation> {
        self.numbers_at(x).map(|number| &self.observations[number])
    }

    /// Pairs of values told at the same point: the first value there with each later one.
    pub fn repeats(&self) -> impl Iterator<Item = (f64, f64)> {
        self.repeats.iter().copied()
    }

    fn numbers_at(&self, x: &[f64]) -> impl Iterator<Item = usize> {
        self.index.near(x).filter(move |&number| is_same_point(&self.observations[number].x, x))
    }

    /// A uniform point of the domain that was neither told nor is pending; any point if none seems to be left.
    pub fn fresh_uniform(&self, rng: &mut Rng) -> Vec<f64> {
        self.fresh(|| self.domain.sample(rng))
    }

    /// The first point drawn that was neither told nor is pending; any point if none seems to be left.
    pub fn fresh(&self, mut draw: impl FnMut() -> Vec<f64>) -> Vec<f64> {
        self.first_fresh(MAX_DRAWS, &mut draw).unwrap_or_else(draw)
    }

    /// The first of at most `n_draws` points drawn that was neither told nor is pending.
    pub fn first_fresh(&self, n_draws: usize, draw: impl FnMut() -> Vec<f64>) -> Option<Vec<f64>> {
        iter::repeat_with(draw).take(n_draws).find(|x| !self.is_taken(x))
    }

    /// The point with the largest value told (the first of equal ones), as a recommendation without a model.
    pub fn best(&self) -> Option<Recommendation> {
        let told = self.highest(1).pop()?;
        Some(Recommendation { x: told.x.clone(), mean: told.value()?, std: None })
    }

    /// The `n` points with the largest values told, largest first, without repeats, as recommendations without a model.
    pub fn ranking(&self, n: usize) -> Vec<Recommendation> {
        let highest = self.highest(self.observations.len()).into_iter();
        let valued = highest.filter_map(|told| Some((told.x.as_slice(), told.value()?, None)));
        ranked(valued.collect(), n)
    }

    /// The `n` observations with the largest values, largest first; fewer if fewer have a value. Of equal values the first told
    /// comes first.
    pub fn highest(&self, n: usize) -> Vec<&Observation> {
        self.by_value.iter().rev().take(n).map(|(_, Reverse(number))| &self.observations[*number]).collect()
    }
}

/// Checks that the numbers of an outcome are valid.
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

/// Maps numbers to integers in the same order; 0 and -0 are the same.
fn ordered(value: f64) -> i64 {
    let bits = (value + 0.0).to_bits().cast_signed();
    if bits < 0 { i64::MIN - bits } else { bits }
}

/// The `n` points with the largest means of (point, mean, standard deviation), largest first; each point only once.
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
        history.tell_outcomes(vec![0.8], &[known(3.0), known(0.5)]).unwrap();
        assert_eq!([0, 1, 2].map(|number| history.violation(number)), [None, Some(0.0), Some(0.5)]);
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
