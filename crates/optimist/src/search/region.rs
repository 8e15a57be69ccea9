//! Regions of a search, and random points in them.
//!
//! Given: a domain and two corners. Gives: feasible points between them. Does not know: scores, which points have been tried.

use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use crate::encode::{AxisKind, Coupling, Domain, FeasibleWalk};
use crate::optimizer::Rng;

// How a candidate near an incumbent differs from it. All chosen by hand, and none matters (docs/results/log.md; cumulative
// regret on 29 tasks with 261 pairs of runs, as a ratio to these values).

/// Probability that every coordinate is moved, not just a few. Always: 1.012 ± 0.006; never: 1.006 ± 0.006.
const MOVE_ALL: f64 = 0.5;

/// Coordinates that are moved otherwise, on average. No other value is on record.
const N_MOVED: f64 = 4.0;

/// Standard deviation of a move, in widths of the region. 0.05: 1.010 ± 0.007; 0.2: 1.009 ± 0.007.
const STEP: f64 = 0.1;

/// Probability that a choice that is moved is drawn again. 0.6: 0.998 ± 0.001; only two of the tasks have choices.
const NEW_CHOICE: f64 = 0.3;

/// The region of a search: the feasible points of a domain between two corners.
#[derive(Debug, Clone)]
pub struct Region<'a> {
    pub(super) domain: &'a Domain,
    /// Lower end of each coordinate; it limits real coordinates and grids, not choices.
    pub(super) lower: Vec<f64>,
    /// Upper end of each coordinate, likewise.
    pub(super) upper: Vec<f64>,
    /// The coordinates that constraints tie together, limited to these ends if that leaves anything feasible.
    pub(super) couplings: Vec<Coupling>,
    /// How far apart points of the region are in each coordinate.
    widths: Vec<f64>,
}

impl<'a> Region<'a> {
    /// The whole domain.
    pub fn whole(domain: &'a Domain) -> Self {
        let d = domain.dimension();
        Self::new(domain, vec![0.0; d], vec![1.0; d], domain.couplings().to_vec())
    }

    /// The feasible points between two corners. Choices are not limited.
    pub fn between(domain: &'a Domain, lower: Vec<f64>, upper: Vec<f64>) -> Self {
        let tighter =
            |coupling: &Coupling| coupling.within(&lower, &upper).unwrap_or_else(|| coupling.clone());
        let couplings = domain.couplings().iter().map(tighter).collect();
        Self::new(domain, lower, upper, couplings)
    }

    fn new(domain: &'a Domain, lower: Vec<f64>, upper: Vec<f64>, couplings: Vec<Coupling>) -> Self {
        let mut widths: Vec<f64> = lower.iter().zip(&upper).map(|(lower, upper)| upper - lower).collect();
        for coupling in &couplings {
            let spread = coupling.polytope().spread();
            coupling
                .members()
                .iter()
                .zip(spread)
                .for_each(|(member, spread)| widths[member.column] = *spread);
        }
        Self { domain, lower, upper, couplings, widths }
    }

    /// Random feasible points, spread over the whole region.
    pub(crate) fn samples(&self, n: usize, rng: &mut Rng) -> Vec<Vec<f64>> {
        let mut walks = self.walks(rng);
        let sample = |_| {
            let mut x = self.domain.sample_axes(rng);
            for axis in self.domain.axes() {
                if !matches!(axis.kind, AxisKind::OneHot) {
                    let column = axis.columns.start;
                    x[column] = self.lower[column] + x[column] * (self.upper[column] - self.lower[column]);
                }
            }
            walks.iter_mut().for_each(|walk| walk.next(rng, &mut x));
            self.snap(&mut x);
            x
        };
        (0..n).map(sample).collect()
    }

    /// A random feasible point near `centre`: all coordinates moved, or only a few and those that constraints force to follow.
    pub(crate) fn sample_near(&self, centre: &[f64], rng: &mut Rng) -> Vec<f64> {
        let mut x = centre.to_vec();
        let axes = self.domain.axes();
        let share = if rng.random_bool(MOVE_ALL) { 1.0 } else { (N_MOVED / axes.len() as f64).min(1.0) };
        for (index, axis) in axes.iter().enumerate() {
            if !rng.random_bool(share) {
                continue;
            }
            let column = axis.columns.start;
            match &axis.kind {
                AxisKind::OneHot => {
                    if rng.random_bool(NEW_CHOICE) {
                        self.domain.set_level(index, rng.random_range(0..axis.columns.len()), &mut x);
                    }
                }
                AxisKind::Real | AxisKind::Grid(_) => {
                    let normal: f64 = StandardNormal.sample(rng);
                    x[column] = (x[column] + STEP * self.widths[column] * normal)
                        .clamp(self.lower[column], self.upper[column]);
                }
            }
        }
        self.snap(&mut x);
        x
    }

    /// Random walks over the coordinates that constraints tie together, one per coupling.
    pub(crate) fn walks(&self, rng: &mut Rng) -> Vec<FeasibleWalk<'_>> {
        self.couplings.iter().map(|coupling| coupling.walk(rng)).collect()
    }

    /// Moves x to the nearest feasible point. Only coordinates under constraints are moved into the region.
    pub(crate) fn snap(&self, x: &mut [f64]) {
        self.couplings.iter().for_each(|coupling| coupling.snap(x));
        self.domain.snap(x);
    }

    /// The coupling that a column is part of.
    pub(crate) fn coupling(&self, column: usize) -> Option<&Coupling> {
        self.couplings.iter().find(|coupling| coupling.has(column))
    }
}
