//! Hypervolume improvements: that of an optimistic vector, and the expected one.
//!
//! Given: mean and standard deviation of every outcome, and the room above a front. Gives: the log of the improvement, and its
//! slopes. Does not know: bounds, points.

use std::f64::consts::LN_2;

use super::multi_outcome::{MIN_STD, OutcomeModel};
use crate::normal::ln_h;
use crate::pareto::BoxDecomposition;

/// Hypervolumes below this one, in units of the spread of values, are ranked by the distance to the front instead.
const MIN_VOLUME: f64 = 1e-9;

/// What a unit of that distance costs, in the log of a hypervolume.
const DISTANCE_COST: f64 = 30.0;

/// ln of the hypervolume that the optimistic vector adds; adds its slopes.
pub(super) fn ln_optimistic_volume<M: OutcomeModel>(
    goals: &[usize],
    room: &BoxDecomposition,
    optimism: f64,
    predictions: &[(f64, f64)],
    models: &[M],
    slopes: &mut [(f64, f64)],
) -> f64 {
    let optimistic = goals.iter().map(|&k| models[k].unwarp(predictions[k].0 + optimism * predictions[k].1));
    let (vector, in_z): (Vec<f64>, Vec<f64>) = optimistic.unzip();
    let mut in_vector = vec![0.0; goals.len()];
    let volume = added_volume(room, &vector, &mut in_vector);
    let value = if volume > 0.0 {
        in_vector.iter_mut().for_each(|slope| *slope /= volume + MIN_VOLUME);
        (volume + MIN_VOLUME).ln()
    } else {
        let (distance, j) = room.distance(&vector);
        in_vector[j] = DISTANCE_COST;
        MIN_VOLUME.ln() - DISTANCE_COST * distance
    };
    for ((&k, slope), in_z) in goals.iter().zip(in_vector).zip(in_z) {
        slopes[k].0 += slope * in_z;
        slopes[k].1 += slope * in_z * optimism;
    }
    value
}

/// The hypervolume that a vector adds; adds its slopes in the vector's entries.
fn added_volume(room: &BoxDecomposition, vector: &[f64], slopes: &mut [f64]) -> f64 {
    let mut total = 0.0;
    for cell in room.iter() {
        let side = |j: usize| vector[j].min(cell[j].1) - cell[j].0;
        if (0..vector.len()).any(|j| side(j) <= 0.0) {
            continue;
        }
        let volume: f64 = (0..vector.len()).map(side).product();
        total += volume;
        for j in (0..vector.len()).filter(|&j| vector[j] < cell[j].1) {
            slopes[j] += volume / side(j);
        }
    }
    total
}

/// ln of the expected hypervolume improvement of a vector of independent normal values; adds its slopes.
pub(super) fn ln_expected_volume(
    goals: &[usize],
    room: &BoxDecomposition,
    predictions: &[(f64, f64)],
    slopes: &mut [(f64, f64)],
) -> f64 {
    let d = goals.len();
    let logs: Vec<(f64, Vec<(f64, f64)>)> = room
        .iter()
        .map(|cell| {
            let parts = (0..d).map(|j| ln_expected_side(predictions[goals[j]], cell[j]));
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

/// ln of the expected length of the part of an interval that lies below a normal value, and its slopes.
fn ln_expected_side((mean, std): (f64, f64), (low, high): (f64, f64)) -> (f64, (f64, f64)) {
    let std = std.max(MIN_STD);
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
    use rand_distr::{Distribution, StandardNormal};

    use super::*;
    use crate::optimizer::rng;

    fn room() -> BoxDecomposition {
        let front = [[0.2, 0.9], [0.5, 0.6], [0.8, 0.1]].map(Vec::from);
        BoxDecomposition::above(&front, &[0.0, 0.0])
    }

    proptest! {
        #[test]
        fn the_expected_hypervolume_is_the_mean_of_what_vectors_add(
            means in prop::array::uniform2(-0.2..1.2_f64), stds in prop::array::uniform2(0.05..0.5_f64)
        ) {
            let room = room();
            let predictions: Vec<(f64, f64)> = means.into_iter().zip(stds).collect();
            let exact = ln_expected_volume(&[0, 1], &room, &predictions, &mut [(0.0, 0.0); 2]).exp();
            let (n, rng) = (20_000, &mut rng(0, 0));
            let mut draw = || {
                let vector = predictions.iter().map(|(mean, std)| mean + std * Distribution::<f64>::sample(&StandardNormal, rng));
                added_volume(&room, &vector.collect::<Vec<_>>(), &mut [0.0; 2])
            };
            let gains: Vec<f64> = (0..n).map(|_| draw()).collect();
            let mean = gains.iter().sum::<f64>() / f64::from(n);
            let variance = gains.iter().map(|gain| (gain - mean).powi(2)).sum::<f64>() / f64::from(n);
            let error = (variance / f64::from(n)).sqrt();
            prop_assert!((exact - mean).abs() < 5.0 * error + 1e-5, "{} and {} ± {}", exact, mean, error);
        }
    }
}
