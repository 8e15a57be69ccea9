//! NSGA-II (Deb et al. 2002): crossover and mutation of the best trials so far, which are ranked by layers of dominance.
//!
//! Given: outcomes. Gives: a child of two parents, each the better of two members of the population. The population is the best of
//! all points told: those that meet the bounds before others (Deb 2000), layer by layer, and of the last layer those with the
//! largest crowding distance. Crossover is SBX, mutation polynomial, on the coordinates of the cube; choices are taken from either
//! parent or drawn again.
//!
//! Departure: there are no generations. A child is made from what is known when it is asked for, so nothing has to wait for pending
//! trials, and a study is a fold over its record; survivors are the same as if each trial were a generation of its own. The
//! population is a fifth of the planned trials, from 10 to 100: with the usual 100, most studies would end before the first
//! generation does.

use rand::RngExt;

use crate::encode::AxisKind;
use crate::history::History;
use crate::optimizer::Rng;
use crate::outcomes;
use crate::pareto;
use crate::policy::{Policy, Suggestion};

/// Probability that parents are crossed at all, and how near to them children are: pymoo's defaults.
const CROSSOVER: f64 = 0.9;
const CROSSOVER_INDEX: f64 = 15.0;

/// How near to its parent a mutated coordinate is; on average one coordinate of each child is mutated.
const MUTATION_INDEX: f64 = 20.0;

/// How many children that were tried before are drawn before a uniform point is suggested.
const N_DRAWS: usize = 50;

/// Crosses and mutates the best trials.
#[derive(Debug, Clone)]
pub struct Nsga2 {
    population: usize,
}

/// A point of the population with its rank: less violation is better, then a lower layer, then a larger crowding distance.
struct Parent<'a> {
    x: &'a [f64],
    violation: f64,
    layer: usize,
    crowding: f64,
}

impl Nsga2 {
    /// A search with a population for this many trials in all.
    pub fn new(trials: usize) -> Self {
        Self { population: (trials / 5).clamp(10, 100) }
    }

    /// The population, best first.
    fn parents<'a>(&self, history: &'a History) -> Vec<Parent<'a>> {
        let goals = history.goals();
        let numbers = outcomes::contenders(history, self.population);
        let values: Vec<Vec<f64>> = numbers.iter().filter_map(|&number| history.values(number)).collect();
        let traded: Vec<Vec<f64>> = values.iter().map(|values| goals.traded(values)).collect();
        let layers = pareto::layers(&traded);
        let crowding = crowding_distances(&traded, &layers);
        let parent = |i: usize| Parent {
            x: &history.observations()[numbers[i]].x,
            violation: goals.violation(&values[i]),
            layer: layers[i],
            crowding: crowding[i],
        };
        let mut parents: Vec<Parent> = (0..values.len()).map(parent).collect();
        parents.sort_by(Parent::compare);
        parents.truncate(self.population);
        parents
    }
}

impl Parent<'_> {
    /// Orders the better one first.
    fn compare(&self, other: &Self) -> std::cmp::Ordering {
        let by_violation = self.violation.total_cmp(&other.violation);
        by_violation.then(self.layer.cmp(&other.layer)).then(other.crowding.total_cmp(&self.crowding))
    }
}

impl Policy for Nsga2 {
    fn suggest(&self, history: &History, rng: &mut Rng) -> Suggestion {
        let n = history.observations().len() + history.pending().len();
        let parents = self.parents(history);
        if n < self.population || parents.len() < 2 {
            return Suggestion::explore(history.fresh_uniform(rng));
        }
        match history.first_fresh(N_DRAWS, || child(&parents, history, rng)) {
            Some(x) => Suggestion::by_model(x, "evolution"),
            None => {
                Suggestion::random(history.fresh_uniform(rng), "every child that was made has been tried")
            }
        }
    }
}

/// Crowding distances: how far apart the neighbours of each vector in its layer are, entry by entry, in units of the layer's range;
/// infinite at the ends of a layer.
fn crowding_distances(points: &[Vec<f64>], layers: &[usize]) -> Vec<f64> {
    let at = |i: usize, entry: usize| points[i][entry];
    let n_entries = points.first().map_or(0, Vec::len);
    let mut distances = vec![0.0; points.len()];
    for layer in 0..=layers.iter().copied().max().unwrap_or(0) {
        let mut members: Vec<usize> = (0..points.len()).filter(|&i| layers[i] == layer).collect();
        for entry in 0..n_entries {
            members.sort_by(|&a, &b| at(a, entry).total_cmp(&at(b, entry)));
            let (Some(&first), Some(&last)) = (members.first(), members.last()) else { continue };
            let range = at(last, entry) - at(first, entry);
            (distances[first], distances[last]) = (f64::INFINITY, f64::INFINITY);
            for three in members.windows(3).filter(|_| range > 0.0) {
                distances[three[1]] += (at(three[2], entry) - at(three[0], entry)) / range;
            }
        }
    }
    distances
}

/// The better of two parents drawn at random.
fn tournament<'a, 'b>(parents: &'a [Parent<'b>], rng: &mut Rng) -> &'a Parent<'b> {
    // Parents are sorted: the better one comes first.
    let (a, b) = (rng.random_range(0..parents.len()), rng.random_range(0..parents.len()));
    &parents[a.min(b)]
}

fn child(parents: &[Parent<'_>], history: &History, rng: &mut Rng) -> Vec<f64> {
    let domain = history.domain();
    let (mother, father) = (tournament(parents, rng).x, tournament(parents, rng).x);
    let mut x = mother.to_vec();
    let crosses = rng.random_bool(CROSSOVER);
    let mutation = 1.0 / domain.axes().len().max(1) as f64;
    for (index, axis) in domain.axes().iter().enumerate() {
        let column = axis.columns.start;
        if crosses && rng.random_bool(0.5) {
            match axis.kind {
                AxisKind::OneHot => x[axis.columns.clone()].copy_from_slice(&father[axis.columns.clone()]),
                AxisKind::Real | AxisKind::Grid(_) => {
                    x[column] = crossed(mother[column], father[column], rng.random_range(0.0..1.0));
                }
            }
        }
        if rng.random_bool(mutation) {
            match axis.kind {
                AxisKind::OneHot => domain.set_level(index, rng.random_range(0..axis.columns.len()), &mut x),
                AxisKind::Real | AxisKind::Grid(_) => {
                    x[column] = mutated(x[column], rng.random_range(0.0..1.0));
                }
            }
        }
    }
    domain.snap(&mut x);
    x
}

/// Simulated binary crossover: as near to the mother as a bit string's child would be.
fn crossed(mother: f64, father: f64, luck: f64) -> f64 {
    let power = 1.0 / (CROSSOVER_INDEX + 1.0);
    let spread =
        if luck <= 0.5 { (2.0 * luck).powf(power) } else { (1.0 / (2.0 * (1.0 - luck))).powf(power) };
    (0.5 * ((1.0 + spread) * mother + (1.0 - spread) * father)).clamp(0.0, 1.0)
}

/// Polynomial mutation: usually small, sometimes up to the bounds.
fn mutated(x: f64, luck: f64) -> f64 {
    let power = 1.0 / (MUTATION_INDEX + 1.0);
    if luck < 0.5 {
        let reach = (1.0 - x).powf(MUTATION_INDEX + 1.0);
        (x + (2.0 * luck + (1.0 - 2.0 * luck) * reach).powf(power) - 1.0).clamp(0.0, 1.0)
    } else {
        let reach = x.powf(MUTATION_INDEX + 1.0);
        (x + 1.0 - (2.0 * (1.0 - luck) + (2.0 * luck - 1.0) * reach).powf(power)).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baselines::checks;

    #[test]
    fn it_is_an_optimizer_that_can_be_relied_on() {
        checks::all(&|_, _| Box::new(Nsga2::new(40)));
    }

    #[test]
    fn it_beats_uniform_search_in_cube_and_conditional_space() {
        checks::beats_random(&|_, _| Box::new(Nsga2::new(50)));
    }

    #[test]
    fn children_stay_near_their_parents_and_in_the_cube() {
        for i in 0..=100 {
            let luck = f64::from(i) / 100.0;
            for x in [0.0, 0.3, 1.0] {
                let (child, mutant) = (crossed(x, 0.4, luck.min(0.999)), mutated(x, luck));
                assert!((0.0..=1.0).contains(&child) && (0.0..=1.0).contains(&mutant), "{child} {mutant}");
            }
        }
        assert!((crossed(0.3, 0.4, 0.5) - 0.3).abs() < 1e-12 && (mutated(0.3, 0.5) - 0.3).abs() < 1e-9);
    }

    #[test]
    fn crowding_distances_are_largest_at_the_ends_of_a_layer_and_smallest_in_crowds() {
        let points = [[0.0, 1.0], [0.4, 0.6], [0.5, 0.5], [1.0, 0.0]].map(Vec::from);
        let distances = crowding_distances(&points, &[0; 4]);
        assert_eq!([distances[0], distances[3]], [f64::INFINITY; 2]);
        assert!((distances[1] - 1.0).abs() < 1e-12 && (distances[2] - 1.2).abs() < 1e-12, "{distances:?}");
    }
}
