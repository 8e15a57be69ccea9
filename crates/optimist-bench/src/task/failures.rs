//! Trials that fail: at random, or wherever the inputs are not feasible.
//!
//! Given: a point and luck. Gives: whether the trial fails there, and what it counts as.
//! An optimizer is not told where trials fail; it sees only that one did.

use rand::RngExt;
use rand_distr::StandardNormal;

use super::Formula;

/// When a trial has no value.
pub struct Failures {
    /// Which share of the trials fail whatever the point.
    pub at_random: f64,
    /// Where trials fail for certain.
    pub region: Option<Region>,
    /// What an answer counts as that fails for certain, or that there is none of: the worst of many values.
    pub floor: f64,
}

/// Which part of the unit cube is feasible.
#[derive(Debug, Clone, PartialEq)]
pub enum Region {
    /// One side of a plane.
    HalfSpace {
        /// Across the plane.
        direction: Vec<f64>,
        /// The largest feasible product with it.
        limit: f64,
    },
    /// The inside of a ball.
    Island {
        /// Centre of the ball, in the unit cube.
        centre: Vec<f64>,
        /// Radius of the ball, in sides of the cube.
        radius: f64,
    },
}

impl Failures {
    /// A share of the trials of a formula, whatever the point.
    pub(super) fn at_random(formula: &Formula, share: f64) -> Failures {
        Failures { at_random: share, region: None, floor: floor(formula) }
    }

    /// Trials of a formula outside a region that holds its maximiser, near the border.
    pub(super) fn outside(formula: &Formula, region: Region) -> Failures {
        Failures { at_random: 0.0, region: Some(region), floor: floor(formula) }
    }

    /// Whether every trial at this point fails.
    pub fn is_infeasible(&self, x: &[f64]) -> bool {
        self.region.as_ref().is_some_and(|region| !region.contains(x))
    }

    /// Whether a trial at this point fails, with a uniform number as its luck.
    pub fn happens(&self, x: &[f64], luck: f64) -> bool {
        luck < self.at_random || self.is_infeasible(x)
    }
}

impl Region {
    /// All but a share of the cube that lies beyond a plane. Of some directions the one whose plane comes nearest to the point.
    pub(super) fn half_space(near: &[f64], infeasible: f64, seed: u64) -> Region {
        const DIRECTIONS: usize = 50;
        let rng = &mut optimist::rng(seed, 0);
        let points = uniform(SAMPLE, near.len(), rng);
        let planes = (0..DIRECTIONS).flat_map(|_| {
            let direction: Vec<f64> = near.iter().map(|_| rng.sample(StandardNormal)).collect();
            let opposite = direction.iter().map(|x| -x).collect();
            [direction, opposite]
        });
        let distances = planes.map(|direction| {
            let limit = quantile(points.iter().map(|x| dot(x, &direction)).collect(), 1.0 - infeasible);
            let room = (limit - dot(near, &direction)) / dot(&direction, &direction).sqrt();
            (room, Region::HalfSpace { direction, limit })
        });
        let feasible = distances.filter(|(room, _)| *room >= 0.0);
        feasible.min_by(|a, b| a.0.total_cmp(&b.0)).expect("a point is on one side or the other").1
    }

    /// A share of the cube around a centre that is as far from the point as it can be.
    pub(super) fn island(near: &[f64], feasible: f64, seed: u64) -> Region {
        const STEPS: u32 = 20;
        let rng = &mut optimist::rng(seed, 0);
        let points = uniform(SAMPLE, near.len(), rng);
        let target: Vec<f64> = near.iter().map(|_| rng.random()).collect();
        let at = |step: u32| {
            let share = f64::from(step) / f64::from(STEPS);
            let centre: Vec<f64> = near.iter().zip(&target).map(|(a, b)| a + share * (b - a)).collect();
            let radius = quantile(points.iter().map(|x| distance(x, &centre)).collect(), feasible);
            Region::Island { centre, radius }
        };
        (0..=STEPS).rev().map(at).find(|island| island.contains(near)).expect("the last is centred there")
    }

    /// Whether trials at this point can have a value.
    pub fn contains(&self, x: &[f64]) -> bool {
        match self {
            Region::HalfSpace { direction, limit } => dot(x, direction) <= *limit,
            Region::Island { centre, radius } => distance(x, centre) <= *radius,
        }
    }
}

/// Points by which shares are measured.
const SAMPLE: usize = 2048;

fn floor(formula: &Formula) -> f64 {
    let points = uniform(SAMPLE, formula.maximiser.len(), &mut optimist::rng(0, 0));
    points.iter().map(|x| formula.value(x)).fold(f64::INFINITY, f64::min)
}

fn uniform(n: usize, d: usize, rng: &mut optimist::Rng) -> Vec<Vec<f64>> {
    (0..n).map(|_| (0..d).map(|_| rng.random()).collect()).collect()
}

fn quantile(mut values: Vec<f64>, share: f64) -> f64 {
    let idx = (share * values.len() as f64) as usize;
    *values.select_nth_unstable_by(idx, f64::total_cmp).1
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_has_its_share_and_holds_the_point() {
        for near in [vec![0.1, 0.9], vec![0.5; 6], vec![1.0; 4]] {
            let regions = [0.2, 0.5]
                .map(|share| (share, Region::half_space(&near, share, 3)))
                .into_iter()
                .chain([0.7, 0.9].map(|share| (share, Region::island(&near, 1.0 - share, 3))));
            for (share, region) in regions {
                assert!(region.contains(&near), "{region:?}");
                let points = uniform(20_000, near.len(), &mut optimist::rng(5, 0));
                let fails = points.iter().filter(|x| !region.contains(x)).count() as f64 / 20_000.0;
                assert!((fails - share).abs() < 0.04, "{region:?}: {fails}");
            }
        }
    }
}
