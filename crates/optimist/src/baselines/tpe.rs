//! Tree-structured Parzen estimators (Bergstra et al. 2011; multivariate: Falkner et al. 2018).
//!
//! The points told so far are split into the good ones (a tenth) and the rest. Each set is smoothed into a density; of a few points
//! drawn from the good density, the one where the ratio of the two is largest is tried. All settings are the defaults of Optuna 5's
//! `TPESampler`.
//!
//! Pending points are among the rest (Optuna's `constant_liar`), failed trials are the worst. Conditional axes: axes with the same
//! conditions form a group, as with Optuna's `group = True`. Each group has densities of its own, from the points where it is
//! active, and is drawn after the groups that its conditions refer to, if these made it active. Under constraints kernels are
//! narrower, as the set of feasible points is; the prior is uniform over it, and points drawn are moved to the nearest feasible
//! ones.
//!
//! With several outcomes the good ones are, as with Optuna, those that meet the bounds, layer by layer of dominance, and of the
//! last layer those that add most to the hypervolume; then those that violate the bounds least. A trial with an outcome that failed
//! is among the rest. All kernels have the same weight, where Optuna weighs the good ones by hypervolume.
//!
//! Departures from Optuna: failed trials count (Optuna forgets them), and a point that was told or is
//! pending is proposed again only when nothing else is found.

mod density;

use crate::encode::{Coupling, Domain};
use crate::history::History;
use crate::optimizer::Rng;
use crate::pareto;
use crate::policy::{Policy, Suggestion};
use density::Density;

/// Trials before the first density: until then points are uniform.
const N_STARTUP: usize = 10;

/// Points drawn from the good density, of which the best is tried.
const N_CANDIDATES: usize = 24;

/// Most draws of points that were tried before, in a domain with few points, before a uniform one is suggested.
const N_PROPOSALS: usize = 20;

/// Proposes where good trials are dense and others are not; recommends the best value observed.
#[derive(Debug, Clone)]
pub struct Tpe {
    /// Groups without conditions first, and each after those that its conditions refer to.
    groups: Vec<Group>,
}

/// Axes that are active at the same points.
#[derive(Debug, Clone)]
struct Group {
    axes: Vec<usize>,
}

impl Tpe {
    /// A search of `domain`.
    pub fn new(domain: &Domain) -> Tpe {
        Tpe { groups: groups(domain) }
    }
}

impl Policy for Tpe {
    fn suggest(&self, history: &History, rng: &mut Rng) -> Suggestion {
        if history.observations().len() < N_STARTUP {
            return Suggestion::explore(history.fresh_uniform(rng));
        }
        let domain = history.domain();
        let (good, rest) = split(history);
        let ratios: Vec<DensityRatio> =
            self.groups.iter().map(|group| DensityRatio::new(domain, group, &good, &rest)).collect();
        match history.first_fresh(N_PROPOSALS, || propose(domain, &ratios, rng)) {
            Some(x) => Suggestion::by_model(x, "ratio of densities"),
            None => {
                Suggestion::random(history.fresh_uniform(rng), "every point that was drawn has been tried")
            }
        }
    }
}

/// The good points and the rest, each from the oldest to the newest, pending ones last.
fn split(history: &History) -> (Vec<&[f64]>, Vec<&[f64]>) {
    let observations = history.observations();
    let mut is_good = vec![false; observations.len()];
    for number in good_trials(history, n_good(observations.len())) {
        is_good[number] = true;
    }
    let part = |good: bool| {
        let part = observations.iter().zip(&is_good).filter(move |(_, is_good)| **is_good == good);
        part.map(|(observation, _)| observation.x.as_slice())
    };
    (part(true).collect(), part(false).chain(history.pending().iter().map(Vec::as_slice)).collect())
}

/// The `n` best trials by number, fewer if fewer have values.
fn good_trials(history: &History, n: usize) -> Vec<usize> {
    if history.goals().is_single() {
        return highest(history, n);
    }
    let goals = history.goals();
    let measured = (0..history.observations().len()).filter_map(|i| Some((i, history.values(i)?)));
    let (feasible, mut others): (Vec<_>, Vec<_>) = measured.partition(|(_, values)| goals.are_met_by(values));
    let vectors: Vec<Vec<f64>> = feasible.iter().map(|(_, values)| goals.traded(values)).collect();
    others.sort_by(|a, b| goals.violation(&a.1).total_cmp(&goals.violation(&b.1)));
    let good = good_vectors(&vectors, n).into_iter().map(|i| feasible[i].0);
    good.chain(others.into_iter().map(|(number, _)| number)).take(n).collect()
}

/// The `n` best vectors, layer by layer; of a layer that is too large, those that cover most together, added one at a time.
fn good_vectors(vectors: &[Vec<f64>], n: usize) -> Vec<usize> {
    let layers = pareto::layers(vectors);
    let mut good: Vec<usize> = Vec::new();
    for number in 0.. {
        let mut layer: Vec<usize> = (0..vectors.len()).filter(|&i| layers[i] == number).collect();
        if layer.is_empty() || good.len() >= n {
            break;
        }
        if good.len() + layer.len() <= n {
            good.extend(layer);
            continue;
        }
        let reference = below(layer.iter().map(|&i| &vectors[i]));
        let mut chosen: Vec<Vec<f64>> = Vec::new();
        while good.len() < n && !layer.is_empty() {
            let gains: Vec<f64> =
                layer.iter().map(|&i| pareto::gain(&chosen, &reference, &vectors[i])).collect();
            let best = (0..layer.len()).fold(0, |best, i| if gains[i] > gains[best] { i } else { best });
            chosen.push(vectors[layer[best]].clone());
            good.push(layer.remove(best));
        }
    }
    good
}

/// A reference that is below the worst of each entry by a tenth of its size, as in Optuna.
fn below<'a>(vectors: impl Iterator<Item = &'a Vec<f64>>) -> Vec<f64> {
    let worst = vectors.cloned().reduce(|a, b| a.iter().zip(&b).map(|(a, b)| a.min(*b)).collect());
    worst.unwrap_or_default().into_iter().map(|worst| worst - 0.1 * worst.abs()).collect()
}

/// The trials with the largest values.
fn highest(history: &History, n: usize) -> Vec<usize> {
    let observations = history.observations();
    let mut by_value: Vec<(usize, f64)> =
        observations.iter().enumerate().filter_map(|(idx, told)| Some((idx, told.value()?))).collect();
    by_value.sort_by(|a, b| b.1.total_cmp(&a.1));
    by_value.into_iter().take(n).map(|(idx, _)| idx).collect()
}

/// The two densities of a group: good points are likely under one, the rest under the other.
struct DensityRatio<'a> {
    group: &'a Group,
    good: Density,
    rest: Density,
}

impl<'a> DensityRatio<'a> {
    fn new(domain: &Domain, group: &'a Group, good: &[&[f64]], rest: &[&[f64]]) -> DensityRatio<'a> {
        let density = |points: &[&[f64]]| {
            let active: Vec<&[f64]> = points.iter().copied().filter(|x| group.is_active(domain, x)).collect();
            Density::new(domain, &group.axes, &active)
        };
        DensityRatio { group, good: density(good), rest: density(rest) }
    }

    /// Sets the coordinates of the group to the best of some draws from the good density.
    fn maximize(&self, domain: &Domain, rng: &mut Rng, x: &mut Vec<f64>) {
        let mut best = f64::NEG_INFINITY;
        let mut candidate = x.clone();
        for draw in 0..N_CANDIDATES {
            self.good.sample(domain, rng, &mut candidate);
            self.group.snap_tied(domain, &mut candidate);
            let log_ratio = self.good.log_at(domain, &candidate) - self.rest.log_at(domain, &candidate);
            if draw == 0 || log_ratio > best {
                best = log_ratio;
                x.clone_from(&candidate);
            }
        }
    }
}

/// A feasible point, drawn group by group.
fn propose(domain: &Domain, ratios: &[DensityRatio], rng: &mut Rng) -> Vec<f64> {
    let mut x = vec![0.0; domain.dimension()];
    for ratio in ratios {
        if ratio.group.is_active(domain, &x) {
            ratio.maximize(domain, rng, &mut x);
        }
    }
    domain.snap(&mut x);
    x
}

impl Group {
    fn is_active(&self, domain: &Domain, x: &[f64]) -> bool {
        domain.is_active(self.axes[0], x)
    }

    /// Makes constraints hold, so that densities are compared at the points that will be tried. Axes under constraints are always
    /// active, so they are all in one group.
    fn snap_tied(&self, domain: &Domain, x: &mut [f64]) {
        let is_own = |coupling: &&Coupling| self.axes.contains(&coupling.members()[0].axis);
        domain.couplings().iter().filter(is_own).for_each(|coupling| coupling.snap(x));
    }
}

/// Axes by their conditions, fewest conditions first. The conditions of an axis include those of the axes it depends on, so it
/// always has more than they have.
fn groups(domain: &Domain) -> Vec<Group> {
    let mut groups: Vec<(Vec<(usize, usize)>, Group)> = Vec::new();
    for (idx, axis) in domain.axes().iter().enumerate() {
        let mut when = axis.when.clone();
        when.sort_unstable();
        match groups.iter_mut().find(|(known, _)| *known == when) {
            Some((_, group)) => group.axes.push(idx),
            None => groups.push((when, Group { axes: vec![idx] })),
        }
    }
    groups.sort_by_key(|(when, _)| when.len());
    groups.into_iter().map(|(_, group)| group).collect()
}

/// How many of `n` trials count as good: a tenth, rounded up, and 25 at most.
fn n_good(n: usize) -> usize {
    n.div_ceil(10).min(25)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baselines::checks;
    use crate::goals::{Goal, Goals};
    use crate::optimizer::{Observation, Outcome};

    #[test]
    fn it_is_an_optimizer_that_can_be_relied_on() {
        checks::all(&|domain, _| Box::new(Tpe::new(domain)));
    }

    #[test]
    fn it_beats_uniform_search_in_cube_and_conditional_space() {
        checks::beats_random(&|domain, _| Box::new(Tpe::new(domain)));
    }

    #[test]
    fn a_tenth_of_the_trials_is_good() {
        assert_eq!([0, 1, 10, 11, 100, 1000].map(n_good), [0, 1, 1, 2, 10, 25]);
    }

    #[test]
    fn failures_and_pending_points_are_never_good() {
        let mut history = History::new(Domain::cube(1));
        for idx in 0..30 {
            let outcome =
                if idx % 3 == 0 { Outcome::Value { y: -1e9, noise_std: None } } else { Outcome::Failed };
            history.tell(Observation { x: vec![f64::from(idx) / 30.0], outcome }).unwrap();
        }
        history.propose(vec![0.99]);
        let (good, rest) = split(&history);
        assert_eq!(good, [[0.0], [0.1], [0.2]]); // the oldest of equals
        assert_eq!((rest.len(), rest.last().unwrap()[0]), (28, 0.99));
    }

    #[test]
    fn with_several_goals_the_good_trials_cover_most_and_meet_the_bounds() {
        let goal = Goal::Maximize { reference: None };
        let goals = Goals::new(vec![goal, goal, Goal::AtLeast { bound: 0.0 }]).unwrap();
        let mut history = History::with_goals(Domain::cube(1), goals);
        let values = [
            [9.0, 9.0, -1.0],
            [1.0, 3.0, 1.0],
            [2.9, 1.1, 1.0],
            [3.0, 1.0, 1.0],
            [2.0, 2.0, 1.0],
            [0.0, 0.0, 1.0],
        ];
        for (i, values) in values.iter().enumerate() {
            let outcomes = values.map(|y| Outcome::Value { y, noise_std: None });
            history.tell_outcomes(vec![0.1 * i as f64], &outcomes).unwrap();
        }
        history.tell_outcomes(vec![0.9], &[Outcome::Failed; 3]).unwrap();
        assert_eq!(good_trials(&history, 1), [4], "the middle covers most");
        assert_eq!(good_trials(&history, 4).len(), 4);
        assert_eq!(
            good_trials(&history, 5).last(),
            Some(&5),
            "a dominated point before one that breaks a bound"
        );
        assert_eq!(good_trials(&history, 9).last(), Some(&0));
    }

    #[test]
    fn groups_come_after_those_they_depend_on() {
        let domain = checks::conditional();
        let groups = groups(&domain);
        let n_conditions = |group: &Group| domain.axes()[group.axes[0]].when.len();
        assert_eq!(groups.iter().map(n_conditions).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(groups.iter().map(|group| group.axes.len()).sum::<usize>(), domain.n_free());
    }
}
