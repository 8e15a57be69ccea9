//! Answers with several outcomes: the front, or the recommended point.
//!
//! Given: points that were measured, with the expected values of all outcomes there. Gives: those to choose from. Does not know:
//! models, how points are suggested.

use crate::encode::is_same_point;
use crate::goals::Goals;
use crate::history::History;
use crate::normal::below;
use crate::optimizer::Recommendation;
use crate::pareto;

/// The expected value of one outcome at a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expected {
    /// The expected value, on the scale of the observations.
    pub mean: f64,
    /// Its standard deviation; `None` without a model.
    pub std: Option<f64>,
}

/// A point that was measured, with what is expected of all outcomes there.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The encoded point.
    pub x: Vec<f64>,
    /// The expected value of each outcome, in the order of the goals.
    pub expected: Vec<Expected>,
    /// The probability that it meets every bound; 1 without bounds.
    pub feasibility: f64,
}

impl Candidate {
    /// A candidate, with its feasibility. Outcomes are taken to be independent of each other.
    pub(crate) fn new(goals: &Goals, x: Vec<f64>, expected: Vec<Expected>) -> Self {
        let chance = |(k, bound): (usize, f64)| expected[k].chance_of(bound);
        let feasibility = goals.bounds().map(chance).product();
        Self { x, expected, feasibility }
    }

    /// Whether it is at least as likely as not to meet every bound.
    pub fn is_likely_feasible(&self) -> bool {
        self.feasibility >= 0.5
    }

    /// The point as a recommendation for one outcome.
    pub(crate) fn recommendation(self, outcome: usize) -> Recommendation {
        let Expected { mean, std } = self.expected[outcome];
        Recommendation { x: self.x, mean, std }
    }

    fn mean(&self, outcome: usize) -> f64 {
        self.expected[outcome].mean
    }

    fn traded(&self, goals: &Goals) -> Vec<f64> {
        goals.maximized().into_iter().map(|k| self.mean(k)).collect()
    }
}

impl Expected {
    /// The probability of reaching at least `bound`.
    fn chance_of(&self, bound: f64) -> f64 {
        let z = (self.mean - bound) / self.std.unwrap_or(0.0);
        if z.is_finite() { below(z) } else { f64::from(u8::from(self.mean >= bound)) }
    }
}

/// How many observations a model looks for the best ones among, as `contenders` ranks them. No other number is on record.
pub(crate) const CONTENDERS: usize = 96;

/// The points at which every outcome was measured, each once, with the first values told there.
pub(crate) fn measured(history: &History) -> Vec<Candidate> {
    let known = |values: Vec<f64>| values.into_iter().map(|mean| Expected { mean, std: None }).collect();
    let numbers = (0..history.observations().len()).filter(|&number| history.violation(number).is_some());
    let candidate = |number: usize| {
        let x = history.observations()[number].x.clone();
        Some(Candidate::new(history.goals(), x, known(history.values(number)?)))
    };
    distinct_points(history, numbers.collect()).into_iter().filter_map(candidate).collect()
}

/// The indices of about `n` observations (or all) with the best values, out of those where every outcome was measured; each point
/// once. Feasible ones come first, in layers by dominance; then the others, those with the least violation first.
pub(crate) fn contenders(history: &History, n: usize) -> Vec<usize> {
    let goals = history.goals();
    let measured = (0..history.observations().len()).filter_map(|i| Some((history.violation(i)?, i)));
    let (feasible, others): (Vec<_>, Vec<_>) = measured.partition(|(violation, _)| *violation == 0.0);
    let feasible = feasible.into_iter().map(|(_, number)| number);
    let mut chosen: Vec<usize> = match goals.maximized()[..] {
        [] => feasible.take(n).collect(),
        [goal] => {
            let outcome = history.outcomes().nth(goal).expect("every goal has an outcome");
            let value = |number: usize| outcome.observations()[number].value();
            least(feasible.filter_map(|number| Some((-value(number)?, number))).collect(), n)
        }
        _ => {
            let numbers: Vec<usize> = feasible.collect();
            let values = numbers.iter().filter_map(|&number| history.values(number));
            let vectors: Vec<Vec<f64>> = values.map(|values| goals.traded(&values)).collect();
            pareto::best_layers(&vectors, n).into_iter().map(|i| numbers[i]).collect()
        }
    };
    chosen.extend(least(others, n.saturating_sub(chosen.len())));
    distinct_points(history, chosen)
}

/// The numbers with the `n` least keys, in order; of equal keys the first numbers. Sorts no more than those `n`, since there may be
/// many thousands.
fn least(mut keyed: Vec<(f64, usize)>, n: usize) -> Vec<usize> {
    let by_key = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    if n < keyed.len() {
        keyed.select_nth_unstable_by(n, by_key);
        keyed.truncate(n);
    }
    keyed.sort_unstable_by(by_key);
    keyed.into_iter().map(|(_, number)| number).collect()
}

/// These observations without those at a point that came before.
fn distinct_points(history: &History, numbers: Vec<usize>) -> Vec<usize> {
    let x = |number: usize| &history.observations()[number].x;
    let mut known: Vec<usize> = Vec::new();
    for number in numbers {
        let is_repeated = history.told_at(x(number)).count() > 1;
        if !(is_repeated && known.iter().any(|&other| is_same_point(x(other), x(number)))) {
            known.push(number);
        }
    }
    known
}

/// The front with several goals, otherwise the one point to recommend.
pub(crate) fn answer(goals: &Goals, candidates: Vec<Candidate>) -> Vec<Candidate> {
    match goals.maximized().len() {
        0 => most_feasible(candidates).into_iter().collect(),
        1 => ranking(goals, candidates).into_iter().take(1).collect(),
        _ => front(goals, candidates),
    }
}

/// Likely feasible points that no other is expected to dominate; if there is none, the most likely one.
fn front(goals: &Goals, candidates: Vec<Candidate>) -> Vec<Candidate> {
    let likely: Vec<Candidate> = candidates.iter().filter(|c| c.is_likely_feasible()).cloned().collect();
    if likely.is_empty() {
        return most_feasible(candidates).into_iter().collect();
    }
    let means: Vec<Vec<f64>> = likely.iter().map(|candidate| candidate.traded(goals)).collect();
    pareto::front(&means).into_iter().map(|i| likely[i].clone()).collect()
}

/// Most goals for which hypervolumes are computed: with more they take too long.
const MAX_FOR_VOLUMES: usize = 4;

/// At most `n` points of a front: those that contribute most hypervolume, largest first; with many goals, any.
pub(crate) fn largest_contributions(goals: &Goals, front: Vec<Candidate>, n: usize) -> Vec<Candidate> {
    if front.len() <= n {
        return front;
    }
    if goals.maximized().len() > MAX_FOR_VOLUMES {
        let stride = front.len().div_ceil(n);
        return front.into_iter().step_by(stride).collect();
    }
    let means: Vec<Vec<f64>> = front.iter().map(|candidate| candidate.traded(goals)).collect();
    let Some(reference) = pareto::reference(&means, &goals.references()) else { return front };
    let added = pareto::contributions(&means, &reference);
    let mut order: Vec<usize> = (0..front.len()).collect();
    order.sort_by(|&a, &b| added[b].total_cmp(&added[a]));
    order.into_iter().take(n).map(|i| front[i].clone()).collect()
}

fn most_feasible(candidates: Vec<Candidate>) -> Option<Candidate> {
    candidates.into_iter().reduce(|best, next| if next.feasibility > best.feasibility { next } else { best })
}

/// For one goal, best first: likely feasible points by their gain over the median times their feasibility; then the others by their
/// feasibility.
pub(crate) fn ranking(goals: &Goals, mut candidates: Vec<Candidate>) -> Vec<Candidate> {
    let Some(goal) = goals.maximized().first().copied() else { return Vec::new() };
    let mut means: Vec<f64> = candidates.iter().map(|candidate| candidate.mean(goal)).collect();
    means.sort_by(f64::total_cmp);
    let Some(&median) = means.get(means.len() / 2) else { return Vec::new() };
    let key = |candidate: &Candidate| match candidate.is_likely_feasible() {
        true => (1.0_f64, weighed(candidate.mean(goal) - median, candidate.feasibility)),
        false => (0.0, candidate.feasibility),
    };
    candidates.sort_by(|a, b| {
        let (a, b) = (key(a), key(b));
        b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1)) // stable: the first of equals
    });
    candidates
}

/// A gain weighed by the probability that it is feasible: a loss counts more the less likely that is.
fn weighed(gain: f64, feasibility: f64) -> f64 {
    if gain > 0.0 { gain * feasibility } else { gain / feasibility }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::Domain;
    use crate::goals::Goal;
    use crate::optimizer::Outcome;

    const UP: Goal = Goal::Maximize { reference: None };

    fn candidates(goals: &Goals, told: &[(Vec<f64>, Option<f64>)]) -> Vec<Candidate> {
        let candidate = |(i, (means, std)): (usize, &(Vec<f64>, Option<f64>))| {
            let expected = means.iter().map(|&mean| Expected { mean, std: *std }).collect();
            Candidate::new(goals, vec![i as f64 / 10.0], expected)
        };
        told.iter().enumerate().map(candidate).collect()
    }

    fn at(answer: &[Candidate]) -> Vec<f64> {
        answer.iter().map(|candidate| (candidate.x[0] * 10.0).round()).collect()
    }

    #[test]
    fn with_constraints_the_best_likely_feasible_point_is_the_answer() {
        let goals = Goals::new(vec![UP, Goal::AtLeast { bound: 0.0 }]).unwrap();
        let told =
            [vec![9.0, -1.0], vec![3.0, 0.0], vec![5.0, 2.0], vec![1.0, 5.0]].map(|means| (means, None));
        assert_eq!(at(&answer(&goals, candidates(&goals, &told))), [2.0]);
        assert_eq!(at(&ranking(&goals, candidates(&goals, &told))), [2.0, 1.0, 3.0, 0.0]);
        // Nearly as good, compared with typical differences, and far more likely to be feasible.
        let at_goal = |mean: f64, slack: f64| (vec![mean, slack], Some(1.0));
        let told =
            [at_goal(9.0, 0.01), at_goal(8.9, 3.0), at_goal(0.0, 3.0), at_goal(0.1, 3.0), at_goal(0.2, 3.0)];
        assert_eq!(at(&answer(&goals, candidates(&goals, &told))), [1.0]);
    }

    #[test]
    fn if_nothing_is_likely_feasible_the_likeliest_is_the_answer() {
        let constraint = Goal::AtLeast { bound: 0.0 };
        let told = [(vec![9.0, -3.0], Some(1.0)), (vec![1.0, -0.5], Some(1.0)), (vec![4.0, -1.0], Some(1.0))];
        for goals in [vec![UP, constraint], vec![constraint; 2]] {
            let goals = Goals::new(goals).unwrap();
            let answer = answer(&goals, candidates(&goals, &told));
            assert_eq!(at(&answer), [1.0]);
            assert!(answer[0].feasibility < 0.5);
        }
    }

    #[test]
    fn of_many_keys_the_least_are_chosen_and_of_equals_the_first() {
        let keys = [3.0, 1.0, 2.0, 1.0, 0.5, 3.0];
        let keyed = || keys.into_iter().enumerate().map(|(number, key)| (key, number)).collect();
        let sorted = [4, 1, 3, 2, 0, 5];
        for n in 0..8 {
            assert_eq!(least(keyed(), n), sorted[..n.min(6)]);
        }
    }

    #[test]
    fn with_several_goals_the_answer_is_the_feasible_front() {
        let goals = Goals::new(vec![UP, Goal::AtLeast { bound: 0.0 }, UP]).unwrap();
        let told = [vec![5.0, -1.0, 5.0], vec![1.0, 1.0, 3.0], vec![3.0, 1.0, 1.0], vec![1.0, 9.0, 1.0]];
        let told = told.map(|means| (means, None));
        assert_eq!(at(&answer(&goals, candidates(&goals, &told))), [1.0, 2.0]);
    }

    #[test]
    fn points_of_which_something_is_unknown_are_no_candidates_and_none_is_one_twice() {
        let mut history = History::with_goals(Domain::cube(1), Goals::new(vec![UP; 2]).unwrap());
        let known = |y| Outcome::Value { y, noise_std: None };
        for (x, outcomes) in [
            (0.1, [known(1.0), Outcome::Failed]),
            (0.2, [known(2.0), known(3.0)]),
            (0.1, [known(4.0), known(5.0)]),
            (0.2, [known(6.0), known(7.0)]),
        ] {
            history.tell_outcomes(vec![x], &outcomes).unwrap();
        }
        let points: Vec<(f64, Vec<f64>)> = measured(&history)
            .into_iter()
            .map(|candidate| (candidate.x[0], candidate.traded(history.goals())))
            .collect();
        assert_eq!(points, [(0.2, vec![2.0, 3.0]), (0.1, vec![4.0, 5.0])]);
        assert_eq!(contenders(&history, 9), [3, 2], "the values of trial 3 are the best");
    }
}
