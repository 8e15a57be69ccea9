//! NSGA-II (Deb et al. 2002): crossover and mutation of the best trials so far, by layers of what no other dominates.
//!
//! Given: outcomes. Gives: a child of two parents, each the better of two of the population. The population is the best of all
//! points told: those that meet the bounds before others (Deb 2000), layer by layer, of the last layer those that stand most apart.
//! Crossover is SBX, mutation polynomial, on the coordinates of the cube; choices are taken from either parent or drawn anew.
//!
//! Departure: generations. A child is made of what is known when it is asked for, so that nothing waits for a pending trial, and a
//! study is a fold over its record; survivors are the same as if each trial were a generation of one. The population has a fifth of
//! the trials that are planned, from 10 to 100: with the usual 100, most studies would end before the first generation does.

use rand::RngExt;

use crate::encode::AxisKind;
use crate::history::History;
use crate::optimizer::Rng;
use crate::outcomes;
use crate::pareto;
use crate::policy::{Policy, Suggestion};

/// Chance that parents are crossed at all, and how near to them children are: pymoo's defaults.
const CROSSOVER: f64 = 0.9;
const CROSSOVER_INDEX: f64 = 15.0;

/// How near to its parent a mutated coordinate is; on average one of each child is mutated.
const MUTATION_INDEX: f64 = 20.0;

/// Children that are known already before a uniform point is suggested.
const N_DRAWS: usize = 50;

/// Crosses and mutates the best trials.
#[derive(Debug, Clone)]
pub struct Nsga2 {
    population: usize,
}

/// A point of the population, and how it stands: less violation is better, then a lower layer, then more room around it.
struct Parent<'a> {
    x: &'a [f64],
    violation: f64,
    layer: usize,
    room: f64,
}

impl Nsga2 {
    /// For so many trials in all.
    pub fn new(trials: usize) -> Self {
        Self { population: (trials / 5).clamp(10, 100) }
    }

    /// The best points told.
    fn parents<'a>(&self, history: &'a History) -> Vec<Parent<'a>> {
        let goals = history.goals();
        let numbers = outcomes::contenders(history, self.population);
        let values: Vec<Vec<f64>> = numbers.iter().filter_map(|&number| history.values(number)).collect();
        let traded: Vec<Vec<f64>> = values.iter().map(|values| goals.traded(values)).collect();
        let layers = pareto::layers(&traded);
        let room = room(&traded, &layers);
        let parent = |i: usize| Parent {
            x: &history.observations()[numbers[i]].x,
            violation: goals.violation(&values[i]),
            layer: layers[i],
            room: room[i],
        };
        let mut parents: Vec<Parent> = (0..values.len()).map(parent).collect();
        parents.sort_by(Parent::compare);
        parents.truncate(self.population);
        parents
    }
}

impl Parent<'_> {
    /// Better first.
    fn compare(&self, other: &Self) -> std::cmp::Ordering {
        let by_violation = self.violation.total_cmp(&other.violation);
        by_violation.then(self.layer.cmp(&other.layer)).then(other.room.total_cmp(&self.room))
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
            None => Suggestion::random(history.fresh_uniform(rng), "all that was bred is known already"),
        }
    }
}

/// How far apart the neighbours of each vector in its layer are, entry by entry, in units of the layer's range (crowding distance);
/// without end at its ends.
fn room(points: &[Vec<f64>], layers: &[usize]) -> Vec<f64> {
    let at = |i: usize, entry: usize| points[i][entry];
    let n_entries = points.first().map_or(0, Vec::len);
    let mut room = vec![0.0; points.len()];
    for layer in 0..=layers.iter().copied().max().unwrap_or(0) {
        let mut members: Vec<usize> = (0..points.len()).filter(|&i| layers[i] == layer).collect();
        for entry in 0..n_entries {
            members.sort_by(|&a, &b| at(a, entry).total_cmp(&at(b, entry)));
            let (Some(&first), Some(&last)) = (members.first(), members.last()) else { continue };
            let range = at(last, entry) - at(first, entry);
            (room[first], room[last]) = (f64::INFINITY, f64::INFINITY);
            for three in members.windows(3).filter(|_| range > 0.0) {
                room[three[1]] += (at(three[2], entry) - at(three[0], entry)) / range;
            }
        }
    }
    room
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

/// Polynomial mutation: near by as a rule, up to the bounds at times.
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
    fn the_ends_of_a_layer_have_most_room_and_crowds_least() {
        let points = [[0.0, 1.0], [0.4, 0.6], [0.5, 0.5], [1.0, 0.0]].map(Vec::from);
        let room = room(&points, &[0; 4]);
        assert_eq!([room[0], room[3]], [f64::INFINITY; 2]);
        assert!((room[1] - 1.0).abs() < 1e-12 && (room[2] - 1.2).abs() < 1e-12, "{room:?}");
    }
}
