//! What a point is worth trying for where there are several outcomes, given what is believed of each there.
//!
//! Given: mean and standard deviation of every outcome at a point, in the units of their models. Gives: the log of what trying it is
//! hoped to bring, and its slopes; as a score over points, from models of any kind ([`Outlook`]), for `search`. Does not know:
//! trials, how models are fitted.
//!
//! What is hoped for is a gain, times the chance that the bounds are met. A gain is an improvement of the one goal over the best
//! value that meets the bounds, or the hypervolume that a vector adds to the front. The sum of logs has a slope wherever there is
//! something to hope for, however little.

use std::f64::consts::LN_2;

use crate::goals::Goals;
use crate::normal::{ln_below, ln_h};
use crate::pareto::{self, Tiles};
use crate::search::Score;

/// Standard deviations below this count as this much.
const LEAST_STD: f64 = 1e-9;

/// A hypervolume below this, in units of the spread of values, is told apart from none by how far a vector is from the front.
const LEAST_VOLUME: f64 = 1e-9;

/// What each unit of that distance costs, in the log of a gain.
const DISTANCE_COST: f64 = 30.0;

/// What is hoped for.
#[derive(Debug, Clone)]
pub(crate) enum Aim {
    /// That the bounds are met: nothing else is wanted, or nothing is known that meets them.
    Feasible,
    /// An improvement of the one goal: its expected size.
    Improve { goal: usize, target: f64 },
    /// The same: how likely it is.
    Exceed { goal: usize, target: f64 },
    /// Hypervolume: what the optimistic vector, so many standard deviations above the mean, would add. In values before any warp.
    Cover { goals: Vec<usize>, room: Tiles, optimism: f64 },
    /// The same: its expected size. In the units of the models.
    ExpectCover { goals: Vec<usize>, room: Tiles },
}

/// What is hoped for, and the bounds that are to be met.
#[derive(Debug, Clone)]
pub(crate) struct Worth {
    pub aim: Aim,
    /// Outcomes and the least value of each, in the units of its model.
    pub bounds: Vec<(usize, f64)>,
    /// By how many standard deviations more than expected an outcome may turn out to meet its bound.
    pub leniency: f64,
}

/// What a model says of one outcome at any point.
pub(crate) trait Outlook: Sync {
    /// What is known at one point.
    type At<'a>
    where
        Self: 'a;

    /// Mean and standard deviation at each point.
    fn predict_rows(&self, points: &[Vec<f64>]) -> Vec<(f64, f64)>;

    /// A point in the coordinates of the model.
    fn coordinates(&self, x: &[f64]) -> Vec<f64>;

    /// What is known at a point in these coordinates.
    fn at<'a>(&'a self, z: &'a [f64]) -> Self::At<'a>;

    /// Mean and standard deviation there.
    fn prediction<'a>(at: &Self::At<'a>) -> (f64, f64)
    where
        Self: 'a;

    /// Adds `in_mean` and `in_std` times the gradients, in the point of the cube, of mean and standard deviation there to `grad_x`.
    fn add_grad<'a>(&self, at: Self::At<'a>, in_mean: f64, in_std: f64, grad_x: &mut [f64])
    where
        Self: 'a;

    /// A value as it was told, in the units of the model.
    fn apply(&self, y: f64) -> f64;

    /// The value that the model's is a warp of, and its slope.
    fn unwarp(&self, z: f64) -> (f64, f64);
}

/// What is believed of a point that was measured, or that is pending, in the units of the models.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    /// Outcome by outcome.
    pub means: Vec<f64>,
    /// Whether it is likely to meet every bound.
    pub is_feasible: bool,
}

/// What gain is hoped for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Style {
    /// See [`Worth::leniency`].
    pub leniency: f64,
    /// By how much the one goal is to be improved at least, in the units of its model.
    pub margin: f64,
    /// Whether the chance of that counts, and not its expected size.
    pub by_chance: bool,
    /// Standard deviations of optimism about vectors; `None` for expected volumes.
    pub optimism: Option<f64>,
}

/// Points judged by what they are worth.
pub(crate) struct Judged<'a, M> {
    /// A model for each outcome.
    pub outlooks: &'a [M],
    pub worth: &'a Worth,
}

impl<M: Outlook> Score for Judged<'_, M> {
    fn scores(&self, points: &[Vec<f64>]) -> Vec<f64> {
        let by_outcome: Vec<Vec<(f64, f64)>> =
            self.outlooks.iter().map(|outlook| outlook.predict_rows(points)).collect();
        let mut slopes = vec![(0.0, 0.0); self.outlooks.len()];
        let score = |i: usize| {
            let predictions: Vec<(f64, f64)> = by_outcome.iter().map(|predictions| predictions[i]).collect();
            self.worth.value(&predictions, self.outlooks, &mut slopes)
        };
        (0..points.len()).map(score).collect()
    }

    fn score_with_grad(&self, x: &[f64], grad_x: &mut [f64]) -> f64 {
        let points: Vec<Vec<f64>> = self.outlooks.iter().map(|outlook| outlook.coordinates(x)).collect();
        let known: Vec<M::At<'_>> =
            self.outlooks.iter().zip(&points).map(|(outlook, z)| outlook.at(z)).collect();
        let predictions: Vec<(f64, f64)> = known.iter().map(M::prediction).collect();
        let mut slopes = vec![(0.0, 0.0); known.len()];
        let value = self.worth.value(&predictions, self.outlooks, &mut slopes);
        grad_x.fill(0.0);
        for ((outlook, at), (in_mean, in_std)) in self.outlooks.iter().zip(known).zip(slopes) {
            if in_mean != 0.0 || in_std != 0.0 {
                outlook.add_grad(at, in_mean, in_std, grad_x);
            }
        }
        value
    }
}

impl Worth {
    /// What is to be hoped for beyond what is known.
    pub fn new<M: Outlook>(goals: &Goals, outlooks: &[M], known: &[Known], style: Style) -> Self {
        let bounds = goals.bounds().into_iter().map(|(k, bound)| (k, outlooks[k].apply(bound))).collect();
        let feasible: Vec<&Known> = known.iter().filter(|known| known.is_feasible).collect();
        let aim = match goals.maximized()[..] {
            [] => Aim::Feasible,
            _ if feasible.is_empty() && !goals.bounds().is_empty() => Aim::Feasible,
            [goal] => {
                let best = feasible.iter().map(|known| known.means[goal]).fold(f64::NEG_INFINITY, f64::max);
                let target = best + style.margin;
                if style.by_chance { Aim::Exceed { goal, target } } else { Aim::Improve { goal, target } }
            }
            _ => cover(goals, outlooks, known, style.optimism),
        };
        Self { aim, bounds, leniency: style.leniency }
    }

    /// The worth of these predictions; sets its slopes in the mean and the standard deviation of each outcome.
    pub fn value<M: Outlook>(
        &self,
        predictions: &[(f64, f64)],
        outlooks: &[M],
        slopes: &mut [(f64, f64)],
    ) -> f64 {
        slopes.fill((0.0, 0.0));
        let mut value = match &self.aim {
            Aim::Feasible => 0.0,
            Aim::Improve { goal, target } => improvement(predictions[*goal], *target, &mut slopes[*goal]),
            Aim::Exceed { goal, target } => chance(predictions[*goal], *target, 0.0, &mut slopes[*goal]),
            Aim::Cover { goals, room, optimism } => {
                optimistic_volume(goals, room, *optimism, predictions, outlooks, slopes)
            }
            Aim::ExpectCover { goals, room } => expected_volume(goals, room, predictions, slopes),
        };
        for &(k, bound) in &self.bounds {
            value += chance(predictions[k], bound, self.leniency, &mut slopes[k]);
        }
        value
    }
}

impl Worth {
    /// How likely all bounds are met, without any leniency.
    pub fn feasibility(&self, predictions: &[(f64, f64)]) -> f64 {
        let ln_chance = |&(k, bound): &(usize, f64)| chance(predictions[k], bound, 0.0, &mut (0.0, 0.0));
        self.bounds.iter().map(ln_chance).sum::<f64>().exp()
    }

    /// How many standard deviations of optimism it takes: of that outcome for which it is most.
    pub fn radius<M: Outlook>(&self, predictions: &[(f64, f64)], outlooks: &[M]) -> f64 {
        let mut slopes = vec![(0.0, 0.0); predictions.len()];
        self.value(predictions, outlooks, &mut slopes);
        let radii =
            slopes.iter().filter(|(in_mean, _)| *in_mean > 0.0).map(|(in_mean, in_std)| in_std / in_mean);
        radii.filter(|radius| radius.is_finite()).fold(0.0, f64::max)
    }
}

/// To add to what feasible vectors cover. A reference that nobody gave rests on all vectors that are known.
fn cover<M: Outlook>(goals: &Goals, outlooks: &[M], known: &[Known], optimism: Option<f64>) -> Aim {
    let traded = goals.maximized();
    let unit = |k: usize, z: f64| if optimism.is_some() { outlooks[k].unwarp(z).0 } else { z };
    let vector = |known: &Known| -> Vec<f64> { traded.iter().map(|&k| unit(k, known.means[k])).collect() };
    let feasible: Vec<Vec<f64>> = known.iter().filter(|known| known.is_feasible).map(vector).collect();
    let wanted =
        traded.iter().zip(goals.references()).map(|(&k, wanted)| Some(unit(k, outlooks[k].apply(wanted?))));
    let reference = pareto::reference(&feasible, &wanted.collect::<Vec<_>>());
    let reference = reference.unwrap_or_else(|| vec![0.0; traded.len()]);
    let room = Tiles::above(&feasible, &reference);
    match optimism {
        Some(optimism) => Aim::Cover { goals: traded, room, optimism },
        None => Aim::ExpectCover { goals: traded, room },
    }
}

/// ln of the expected excess over a target.
fn improvement((mean, std): (f64, f64), target: f64, slope: &mut (f64, f64)) -> f64 {
    let std = std.max(LEAST_STD);
    let z = (mean - target) / std;
    let (ln_h, ratio) = ln_h(z);
    slope.0 += ratio / std;
    slope.1 += (1.0 - ratio * z) / std;
    std.ln() + ln_h
}

/// ln of the chance of at least `bound`, for a value so many standard deviations better than expected.
fn chance((mean, std): (f64, f64), bound: f64, leniency: f64, slope: &mut (f64, f64)) -> f64 {
    let std = std.max(LEAST_STD);
    let z = (mean - bound) / std;
    let (ln_below, ratio) = ln_below(z + leniency);
    slope.0 += ratio / std;
    slope.1 -= ratio * z / std;
    ln_below
}

/// ln of the hypervolume that the optimistic vector adds.
fn optimistic_volume<M: Outlook>(
    goals: &[usize],
    room: &Tiles,
    optimism: f64,
    predictions: &[(f64, f64)],
    outlooks: &[M],
    slopes: &mut [(f64, f64)],
) -> f64 {
    let hoped = goals.iter().map(|&k| outlooks[k].unwarp(predictions[k].0 + optimism * predictions[k].1));
    let (vector, in_z): (Vec<f64>, Vec<f64>) = hoped.unzip();
    let mut in_vector = vec![0.0; goals.len()];
    let gain = gain(room, &vector, &mut in_vector);
    let value = if gain > 0.0 {
        in_vector.iter_mut().for_each(|slope| *slope /= gain + LEAST_VOLUME);
        (gain + LEAST_VOLUME).ln()
    } else {
        let (distance, j) = room.distance(&vector);
        in_vector[j] = DISTANCE_COST;
        LEAST_VOLUME.ln() - DISTANCE_COST * distance
    };
    for ((&k, slope), in_z) in goals.iter().zip(in_vector).zip(in_z) {
        slopes[k].0 += slope * in_z;
        slopes[k].1 += slope * in_z * optimism;
    }
    value
}

/// The hypervolume that a vector adds, and its slopes.
fn gain(room: &Tiles, vector: &[f64], slopes: &mut [f64]) -> f64 {
    let mut gain = 0.0;
    for tile in room.iter() {
        let side = |j: usize| vector[j].min(tile[j].1) - tile[j].0;
        if (0..vector.len()).any(|j| side(j) <= 0.0) {
            continue;
        }
        let volume: f64 = (0..vector.len()).map(side).product();
        gain += volume;
        for j in (0..vector.len()).filter(|&j| vector[j] < tile[j].1) {
            slopes[j] += volume / side(j);
        }
    }
    gain
}

/// ln of the hypervolume that a vector of independent normal values is expected to add.
fn expected_volume(
    goals: &[usize],
    room: &Tiles,
    predictions: &[(f64, f64)],
    slopes: &mut [(f64, f64)],
) -> f64 {
    let d = goals.len();
    let logs: Vec<(f64, Vec<(f64, f64)>)> = room
        .iter()
        .map(|tile| {
            let parts = (0..d).map(|j| ln_expected_side(predictions[goals[j]], tile[j]));
            let (logs, slopes): (Vec<f64>, Vec<(f64, f64)>) = parts.unzip();
            (logs.iter().sum(), slopes)
        })
        .collect();
    let largest = logs.iter().map(|(log, _)| *log).fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return f64::MIN;
    }
    let total: f64 = logs.iter().map(|(log, _)| (log - largest).exp()).sum();
    for (log, in_goals) in &logs {
        let share = (log - largest).exp() / total;
        for (&k, slope) in goals.iter().zip(in_goals).filter(|_| share > 0.0) {
            slopes[k].0 += share * slope.0;
            slopes[k].1 += share * slope.1;
        }
    }
    largest + total.ln()
}

/// ln of how far a normal value is expected to reach into an interval, and its slopes.
fn ln_expected_side((mean, std): (f64, f64), (low, high): (f64, f64)) -> (f64, (f64, f64)) {
    let std = std.max(LEAST_STD);
    let above = |threshold: f64| {
        let z = (mean - threshold) / std;
        let (ln_h, ratio) = ln_h(z);
        (ln_h, ratio, 1.0 - z * ratio)
    };
    let from_low = above(low);
    if high == f64::INFINITY {
        return (std.ln() + from_low.0, (from_low.1 / std, from_low.2 / std));
    }
    let from_high = above(high);
    // The excess over `low` less that over `high`, as shares of the difference.
    let difference = from_high.0 - from_low.0;
    let ln_rest = if difference > -LN_2 { (-difference.exp_m1()).ln() } else { (-difference.exp()).ln_1p() };
    if !ln_rest.is_finite() || !from_low.0.is_finite() {
        return (f64::NEG_INFINITY, (0.0, 0.0));
    }
    let (share_low, share_high) = ((-ln_rest).exp(), (difference - ln_rest).exp());
    let in_mean = (share_low * from_low.1 - share_high * from_high.1) / std;
    let in_std = (share_low * from_low.2 - share_high * from_high.2) / std;
    (std.ln() + from_low.0 + ln_rest, (in_mean, in_std))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::optimizer::rng;
    use rand_distr::{Distribution, StandardNormal};

    /// No model: predictions are given. Its values are warped by a factor of one half.
    struct Given;

    impl Outlook for Given {
        type At<'a> = ();

        fn predict_rows(&self, _points: &[Vec<f64>]) -> Vec<(f64, f64)> {
            Vec::new()
        }

        fn coordinates(&self, x: &[f64]) -> Vec<f64> {
            x.to_vec()
        }

        fn at<'a>(&'a self, _z: &'a [f64]) -> Self::At<'a> {}

        fn prediction<'a>(_at: &Self::At<'a>) -> (f64, f64)
        where
            Self: 'a,
        {
            (0.0, 0.0)
        }

        fn add_grad<'a>(&self, _at: Self::At<'a>, _in_mean: f64, _in_std: f64, _grad_x: &mut [f64])
        where
            Self: 'a,
        {
        }

        fn apply(&self, y: f64) -> f64 {
            0.5 * y
        }

        fn unwarp(&self, z: f64) -> (f64, f64) {
            (2.0 * z, 2.0)
        }
    }

    fn room() -> Tiles {
        let front = [[0.2, 0.9], [0.5, 0.6], [0.8, 0.1]].map(Vec::from);
        Tiles::above(&front, &[0.0, 0.0])
    }

    fn aims() -> Vec<Aim> {
        let goals = vec![0, 1];
        vec![
            Aim::Feasible,
            Aim::Improve { goal: 0, target: 0.4 },
            Aim::Exceed { goal: 1, target: 0.4 },
            Aim::Cover { goals: goals.clone(), room: room(), optimism: 0.5 },
            Aim::ExpectCover { goals, room: room() },
        ]
    }

    proptest! {
        #[test]
        fn slopes_equal_differences(
            means in prop::array::uniform3(-3.0..2.0_f64), stds in prop::array::uniform3(0.05..1.0_f64)
        ) {
            for aim in aims() {
                let worth = Worth { aim, bounds: vec![(2, 0.3)], leniency: 0.5 };
                let predictions: Vec<(f64, f64)> = means.into_iter().zip(stds).collect();
                let mut slopes = vec![(0.0, 0.0); 3];
                let value = |predictions: &[(f64, f64)]| {
                    worth.value(predictions, &[Given, Given, Given], &mut [(0.0, 0.0); 3])
                };
                worth.value(&predictions, &[Given, Given, Given], &mut slopes);
                let h = 1e-6;
                for k in 0..3 {
                    for in_std in [false, true] {
                        let moved = |by: f64| {
                            let mut moved = predictions.clone();
                            if in_std { moved[k].1 += by } else { moved[k].0 += by }
                            value(&moved)
                        };
                        let slope = if in_std { slopes[k].1 } else { slopes[k].0 };
                        let (up, down) = ((moved(h) - value(&predictions)) / h, (value(&predictions) - moved(-h)) / h);
                        // A kink lies between.
                        prop_assume!((up - down).abs() < 1e-2 * (1.0 + slope.abs()));
                        let difference = 0.5 * (up + down);
                        prop_assert!((slope - difference).abs() < 2e-3 * (1.0 + slope.abs()), "{:?} {}: {} {}", worth.aim, k, slope, difference);
                    }
                }
            }
        }

        #[test]
        fn the_expected_volume_is_the_mean_of_what_vectors_add(
            means in prop::array::uniform2(-0.2..1.2_f64), stds in prop::array::uniform2(0.05..0.5_f64)
        ) {
            let room = room();
            let predictions: Vec<(f64, f64)> = means.into_iter().zip(stds).collect();
            let exact = expected_volume(&[0, 1], &room, &predictions, &mut [(0.0, 0.0); 2]).exp();
            let (n, rng) = (20_000, &mut rng(0, 0));
            let mut draw = || {
                let vector = predictions.iter().map(|(mean, std)| mean + std * Distribution::<f64>::sample(&StandardNormal, rng));
                gain(&room, &vector.collect::<Vec<_>>(), &mut [0.0; 2])
            };
            let gains: Vec<f64> = (0..n).map(|_| draw()).collect();
            let mean = gains.iter().sum::<f64>() / f64::from(n);
            let variance = gains.iter().map(|gain| (gain - mean).powi(2)).sum::<f64>() / f64::from(n);
            let error = (variance / f64::from(n)).sqrt();
            prop_assert!((exact - mean).abs() < 5.0 * error + 1e-5, "{} and {} ± {}", exact, mean, error);
        }
    }

    #[test]
    fn a_vector_below_the_front_is_worth_the_more_the_nearer_it_is() {
        let worth = Worth { aim: aims().remove(3), bounds: Vec::new(), leniency: 0.0 };
        // Warped by one half: the vectors are 0.1, 0.3 and 0.5 in both entries, and then above the front.
        let value = |x: f64| worth.value(&[(0.5 * x, 0.0); 2], &[Given, Given], &mut [(0.0, 0.0); 2]);
        let values = [-9.0, 0.1, 0.3, 0.5, 0.55, 0.7].map(value);
        assert!(values.is_sorted_by(|a, b| a < b), "{values:?}");
    }
}
