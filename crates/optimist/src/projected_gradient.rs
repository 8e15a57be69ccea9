//! The maximum of a smooth function over a convex set, for sets that points can be put back into: spectral projected
//! gradients (Birgin, Martínez and Raydan 2000).
//!
//! A step goes towards the projection of a point up the gradient, so that it never leaves the set. How far up is the
//! inverse of the curvature met by the last step (Barzilai and Borwein 1988), and the value may fall for a few steps as
//! long as it rises over ten: both are what makes it fast where steepest ascent is slow.

use std::collections::VecDeque;

use crate::lbfgsb::Maximum;
use crate::linalg::{add_scaled, dot};

/// A step must gain this share of what the slope promises, compared with the lowest of the recent values.
const MIN_GAIN: f64 = 1e-4;

/// How many values count as recent.
const N_RECENT: usize = 10;

/// Longest step up the gradient, in its largest coordinate: sets are of the size of the unit cube.
const FARTHEST: f64 = 10.0;

/// A climb ends where a step would be shorter.
const SHORTEST: f64 = 1e-8;

/// Most cuts of a step, to about half each, before the climb ends.
const MAX_CUTS: usize = 20;

/// Climbs from `start`, which is first put into the set. `f` writes its gradient and returns its value; where it
/// returns something that is not finite the climb turns back. `project` moves a point to the nearest one of the set.
pub fn maximize_in_set(
    mut f: impl FnMut(&[f64], &mut [f64]) -> f64,
    project: impl Fn(&mut [f64]),
    start: &[f64],
    max_steps: usize,
) -> Maximum {
    let mut x = start.to_vec();
    project(&mut x);
    let mut gradient = vec![0.0; x.len()];
    let mut value = f(&x, &mut gradient);
    let mut best = Maximum { x: x.clone(), value: if value.is_finite() { value } else { f64::NEG_INFINITY } };
    let mut recent = VecDeque::from([value]);
    let mut length = f64::INFINITY;
    for _ in 0..max_steps {
        let steepest = gradient.iter().fold(0.0, |most: f64, slope| most.max(slope.abs()));
        if !value.is_finite() || !steepest.is_finite() || steepest == 0.0 {
            break;
        }
        let mut direction = x.clone();
        add_scaled(length.min(FARTHEST / steepest), &gradient, &mut direction);
        project(&mut direction);
        add_scaled(-1.0, &x, &mut direction);
        let promised = dot(&gradient, &direction);
        if promised <= 0.0 || direction.iter().all(|step| step.abs() < SHORTEST) {
            break;
        }
        let floor = recent.iter().copied().fold(f64::INFINITY, f64::min);
        let Some(next) = line_search(&mut f, &x, &direction, floor, value, promised) else { break };
        let step: Vec<f64> = next.x.iter().zip(&x).map(|(next, x)| next - x).collect();
        let turn: Vec<f64> = gradient.iter().zip(&next.gradient).map(|(old, new)| old - new).collect();
        let curvature = dot(&step, &turn);
        length = if curvature > 0.0 { dot(&step, &step) / curvature } else { f64::INFINITY };
        (x, value, gradient) = (next.x, next.value, next.gradient);
        if value > best.value {
            best = Maximum { x: x.clone(), value };
        }
        recent.push_back(value);
        if recent.len() > N_RECENT {
            recent.pop_front();
        }
    }
    best
}

struct Visited {
    x: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
}

/// The first point that gains enough on the way to x + direction, trying shorter and shorter steps.
fn line_search(
    f: &mut impl FnMut(&[f64], &mut [f64]) -> f64,
    x: &[f64],
    direction: &[f64],
    floor: f64,
    value: f64,
    promised: f64,
) -> Option<Visited> {
    let mut part = 1.0;
    for _ in 0..MAX_CUTS {
        let mut visited = Visited { x: x.to_vec(), value: 0.0, gradient: vec![0.0; x.len()] };
        add_scaled(part, direction, &mut visited.x);
        visited.value = f(&visited.x, &mut visited.gradient);
        if visited.value >= floor + MIN_GAIN * part * promised && visited.value.is_finite() {
            return Some(visited);
        }
        // The peak of the parabola through both values, unless that is hardly a cut, or too much of one.
        let fall = value + part * promised - visited.value;
        let peak = 0.5 * part * part * promised / fall;
        part = if peak.is_finite() { peak.clamp(0.1 * part, 0.5 * part) } else { 0.5 * part };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optimizer::rng;
    use crate::polytope::{Polytope, Row};

    /// −½ Σ c_i (x_i − t_i)², c from 1 to 100.
    fn bowl(peak: Vec<f64>) -> impl Fn(&[f64], &mut [f64]) -> f64 {
        move |x, gradient| {
            let mut value = 0.0;
            for (i, (x, t)) in x.iter().zip(&peak).enumerate() {
                let c = 100_f64.powf(i as f64 / (peak.len() - 1) as f64);
                gradient[i] = -c * (x - t);
                value -= 0.5 * c * (x - t) * (x - t);
            }
            value
        }
    }

    fn in_polytope(polytope: &Polytope, f: impl FnMut(&[f64], &mut [f64]) -> f64, start: &[f64]) -> Maximum {
        maximize_in_set(f, |x| x.copy_from_slice(&polytope.project(x)), start, 100)
    }

    fn simplex(n: usize) -> Polytope {
        let sum = Row::new(&vec![1.0; n], 1.0, true).unwrap();
        Polytope::new(vec![0.0; n], vec![1.0; n], vec![sum]).unwrap()
    }

    #[test]
    fn the_peak_inside_is_found() {
        let peak: Vec<f64> = (0..10).map(|i| (1.0 + i as f64) / 55.0).collect();
        for seed in 0..5 {
            let start = simplex(10).sample(&mut rng(seed, 0));
            let found = in_polytope(&simplex(10), bowl(peak.clone()), &start);
            assert!(found.value > -1e-8, "{found:?}");
        }
    }

    /// At a maximum over a polytope the gradient leads nowhere: x is the projection of every point up the gradient.
    #[test]
    fn with_the_peak_outside_the_best_point_of_a_face_is_found() {
        let n = 8;
        let peak: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 0.9 } else { -0.3 + 0.1 * i as f64 }).collect();
        let half = Row::new(&[0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0], 0.3, false).unwrap();
        let sum = Row::new(&vec![1.0; n], 1.0, true).unwrap();
        let polytope = Polytope::new(vec![0.0; n], vec![0.4; n], vec![half, sum]).unwrap();
        for seed in 0..5 {
            let start = polytope.sample(&mut rng(seed, 0));
            let found = in_polytope(&polytope, bowl(peak.clone()), &start);
            let (mut gradient, mut up) = (vec![0.0; n], found.x.clone());
            bowl(peak.clone())(&found.x, &mut gradient);
            add_scaled(0.01, &gradient, &mut up);
            let back = polytope.project(&up);
            assert!(back.iter().zip(&found.x).all(|(a, b)| (a - b).abs() < 1e-6), "{back:?} {found:?}");
            assert!(found.x[4] + found.x[6] > 0.3 - 1e-9, "the face is reached");
        }
    }

    #[test]
    fn values_that_are_not_finite_are_never_returned() {
        let peak = vec![0.9, 0.05, 0.05];
        let mut partly = |x: &[f64], gradient: &mut [f64]| {
            let value = bowl(peak.clone())(x, gradient);
            if x[0] > 0.7 { f64::NAN } else { value }
        };
        let found = in_polytope(&simplex(3), &mut partly, &[0.2, 0.4, 0.4]);
        assert!(found.value.is_finite() && found.x[0] <= 0.7 && found.x[0] > 0.5, "{found:?}");
    }
}
