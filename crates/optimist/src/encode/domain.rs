//! The feasible part of the unit cube, as optimizers see it.
//!
//! Given: the axes that `Encoding` lays out, and the couplings by constraints. Gives: feasible points (`place`, `sample`, `snap`),
//! and the positions of points on their axes. Does not know: names, units, values.

use std::ops::Range;

use rand::RngExt;

use super::coupling::Coupling;
use super::grid::Grid;
use super::scale::unit;
use crate::error::TellError;
use crate::optimizer::Rng;

/// How far from a feasible point a coordinate may be and still count as that point.
pub(crate) const TOLERANCE: f64 = 1e-9;

/// The feasible points of a unit cube: one axis per parameter, one column per coordinate.
///
/// The coordinates of an inactive axis are pinned to a neutral value (the middle of the axis, or
/// equal shares of all choices), so that points which mean the same are the same. Axes that constraints
/// tie together are always active, real or linear grids, and in one coupling each.
#[derive(Debug, Clone, PartialEq)]
pub struct Domain {
    axes: Vec<Axis>,
    couplings: Vec<Coupling>,
}

/// The coordinates of one parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Which coordinates are feasible.
    pub kind: AxisKind,
    /// The columns of the axis in a point.
    pub columns: Range<usize>,
    /// The axis is active when each of these axes is at this level. The conditions of those axes are included.
    pub when: Vec<(usize, usize)>,
    /// The values that 0 and 1 stand for in the parameter's own units, or their logarithms on a log scale. Optimizers that don't
    /// scale their inputs work in these.
    pub units: (f64, f64),
}

/// Which coordinates of an axis are feasible.
#[derive(Debug, Clone, PartialEq)]
pub enum AxisKind {
    /// One column, anywhere in [0, 1].
    Real,
    /// One column, at one of finitely many levels.
    Grid(Grid),
    /// One column per choice; one of them is 1, the others are 0.
    OneHot,
}

impl Domain {
    /// The whole `d`-dimensional cube.
    pub fn cube(d: usize) -> Domain {
        Domain::boxed(&vec![(0.0, 1.0); d])
    }

    /// A box of real numbers with these bounds, scaled to the cube.
    pub fn boxed(bounds: &[(f64, f64)]) -> Domain {
        let axis = |(column, &units)| Axis {
            kind: AxisKind::Real,
            columns: column..column + 1,
            when: Vec::new(),
            units,
        };
        Domain::new(bounds.iter().enumerate().map(axis).collect(), Vec::new())
    }

    /// A domain of these axes, whose columns must follow each other without gaps.
    pub(super) fn new(axes: Vec<Axis>, couplings: Vec<Coupling>) -> Domain {
        Domain { axes, couplings }
    }

    /// How many coordinates a point has.
    pub fn dimension(&self) -> usize {
        self.axes.last().map_or(0, |axis| axis.columns.end)
    }

    /// The axes, in the order of their columns.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Whether there are constraints between axes.
    pub fn is_constrained(&self) -> bool {
        !self.couplings.is_empty()
    }

    /// The columns that constraints tie together.
    pub(crate) fn couplings(&self) -> &[Coupling] {
        &self.couplings
    }

    /// The spread of feasible points in a column: 1, or less under constraints.
    pub(crate) fn spread(&self, column: usize) -> f64 {
        let tied = self.couplings.iter().find_map(|coupling| {
            let place = coupling.members().iter().position(|member| member.column == column)?;
            Some(coupling.polytope().spread()[place])
        });
        tied.unwrap_or(1.0)
    }

    /// How many numbers `place` takes: one per axis.
    pub fn n_free(&self) -> usize {
        self.axes.len()
    }

    /// The feasible point for `u` in [0, 1]^`n_free`. It is uniform if `u` is: every level of a linear grid and every choice is
    /// equally likely, log scales are uniform in the log, and real axes under constraints are filled evenly.
    ///
    /// # Panics
    /// If `u` does not have `n_free` numbers.
    pub fn place(&self, u: &[f64]) -> Vec<f64> {
        let mut x = self.place_axes(u);
        for coupling in &self.couplings {
            let own: Vec<f64> = coupling.members().iter().map(|member| u[member.axis]).collect();
            coupling.place(&own, &mut x);
        }
        self.pin_inactive(&mut x);
        x
    }

    /// The point for `u`, ignoring constraints.
    pub(crate) fn place_apart(&self, u: &[f64]) -> Vec<f64> {
        let mut x = self.place_axes(u);
        self.pin_inactive(&mut x);
        x
    }

    /// A random feasible point, uniform in the sense of `place`.
    pub fn sample(&self, rng: &mut Rng) -> Vec<f64> {
        let mut x = self.sample_axes(rng);
        self.couplings.iter().for_each(|coupling| coupling.sample(rng, &mut x));
        self.pin_inactive(&mut x);
        x
    }

    /// A random point axis by axis: constraints and conditions are left to `snap`.
    pub(crate) fn sample_axes(&self, rng: &mut Rng) -> Vec<f64> {
        let u: Vec<f64> = (0..self.n_free()).map(|_| rng.random()).collect();
        self.place_axes(&u)
    }

    /// Moves `x` to the nearest feasible point: axes under constraints to the nearest values that
    /// satisfy them, grids to their nearest level, one-hot columns to the largest (the first of
    /// equals), inactive axes to neutral, the rest into [0, 1]. Under constraints, grids are moved to
    /// levels that are near, but others may be a little nearer.
    pub fn snap(&self, x: &mut [f64]) {
        self.couplings.iter().for_each(|coupling| coupling.snap(x));
        for axis in &self.axes {
            match &axis.kind {
                AxisKind::Real => x[axis.columns.start] = unit(x[axis.columns.start]),
                AxisKind::Grid(grid) => {
                    let u = &mut x[axis.columns.start];
                    *u = grid.level(grid.nearest(*u));
                }
                AxisKind::OneHot => axis.set_choice(axis.choice(x), x),
            }
        }
        self.pin_inactive(x);
    }

    /// Moves `x` to the nearest point of the cube that satisfies the constraints, ignoring levels and choices.
    pub(crate) fn relax(&self, x: &mut [f64]) {
        x.iter_mut().for_each(|x| *x = unit(*x));
        self.couplings.iter().for_each(|coupling| coupling.relax(x));
    }

    /// Whether `x` is feasible, to 1e-9 in each coordinate.
    pub fn contains(&self, x: &[f64]) -> bool {
        x.len() == self.dimension() && {
            let mut nearest = x.to_vec();
            self.snap(&mut nearest);
            is_same_point(x, &nearest)
        }
    }

    /// Whether the parameter behind an axis matters at `x`.
    pub fn is_active(&self, axis: usize, x: &[f64]) -> bool {
        self.axes[axis].when.iter().all(|&(other, level)| self.level(other, x) == Some(level))
    }

    /// The level nearest to `x` on a grid, the choice that is largest on a one-hot axis, `None` on a
    /// real axis. It means nothing where the axis is inactive.
    pub fn level(&self, axis: usize, x: &[f64]) -> Option<usize> {
        let axis = &self.axes[axis];
        match &axis.kind {
            AxisKind::Real => None,
            AxisKind::Grid(grid) => Some(grid.nearest(x[axis.columns.start])),
            AxisKind::OneHot => Some(axis.choice(x)),
        }
    }

    /// Moves `x` to a level of a grid or a choice of a one-hot axis. Other axes may become active or
    /// inactive by it: `snap` once all levels are set.
    ///
    /// # Panics
    /// If the axis has no such level.
    pub fn set_level(&self, axis: usize, level: usize, x: &mut [f64]) {
        let axis = &self.axes[axis];
        match &axis.kind {
            AxisKind::Real => panic!("a real axis has no levels"),
            AxisKind::Grid(grid) => x[axis.columns.start] = grid.level(level),
            AxisKind::OneHot => {
                assert!(level < axis.columns.len(), "choice {level} of {}", axis.columns.len());
                axis.set_choice(level, x);
            }
        }
    }

    /// Checks that `x` is a point of the cube. Points between feasible ones can be told too: they are snapped.
    ///
    /// # Errors
    /// If it has the wrong number of coordinates, or one that is not in [0, 1].
    pub fn check(&self, x: &[f64]) -> Result<(), TellError> {
        if x.len() != self.dimension() {
            return Err(TellError::WrongDimension { expected: self.dimension(), got: x.len() });
        }
        match x.iter().position(|value| !(0.0..=1.0).contains(value)) {
            Some(index) => Err(TellError::OutsideCube { index, value: x[index] }),
            None => Ok(()),
        }
    }

    /// The point for `u`, axis by axis: constraints and conditions are ignored.
    fn place_axes(&self, u: &[f64]) -> Vec<f64> {
        assert_eq!(u.len(), self.n_free(), "`place` takes one number per axis");
        let mut x = vec![0.0; self.dimension()];
        for (axis, &u) in self.axes.iter().zip(u) {
            match &axis.kind {
                AxisKind::Real => x[axis.columns.start] = unit(u),
                AxisKind::Grid(grid) => x[axis.columns.start] = grid.level(grid.place(u)),
                AxisKind::OneHot => axis.set_choice((u * axis.columns.len() as f64) as usize, &mut x),
            }
        }
        x
    }

    /// Moves inactive axes to their neutral values.
    pub(crate) fn pin_inactive(&self, x: &mut [f64]) {
        for (idx, axis) in self.axes.iter().enumerate() {
            if !self.is_active(idx, x) {
                x[axis.columns.clone()].fill(axis.neutral());
            }
        }
    }
}

impl Axis {
    /// The value of an inactive axis in each of its columns.
    pub(crate) fn neutral(&self) -> f64 {
        match self.kind {
            AxisKind::Real | AxisKind::Grid(_) => 0.5,
            AxisKind::OneHot => 1.0 / self.columns.len() as f64,
        }
    }

    /// The largest column of a one-hot axis, the first of equals.
    fn choice(&self, x: &[f64]) -> usize {
        let shares = &x[self.columns.clone()];
        (1..shares.len()).fold(0, |best, idx| if shares[idx] > shares[best] { idx } else { best })
    }

    /// Sets the columns of a one-hot axis; choices beyond the last count as the last.
    fn set_choice(&self, choice: usize, x: &mut [f64]) {
        let columns = &mut x[self.columns.clone()];
        columns.fill(0.0);
        columns[choice.min(self.columns.len() - 1)] = 1.0;
    }
}

/// Whether two points are the same to 1e-9 in each coordinate.
pub(crate) fn is_same_point(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= TOLERANCE)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::optimizer::rng;

    /// A one-hot axis of 3 choices; a grid of 5 levels and a real axis that are active for its last choice.
    fn conditional() -> Domain {
        let grid = AxisKind::Grid(Grid::linear(4));
        Domain::new(
            vec![
                Axis { kind: AxisKind::OneHot, columns: 0..3, when: Vec::new(), units: (0.0, 1.0) },
                Axis { kind: grid, columns: 3..4, when: vec![(0, 2)], units: (0.0, 1.0) },
                Axis { kind: AxisKind::Real, columns: 4..5, when: vec![(0, 2)], units: (0.0, 1.0) },
            ],
            Vec::new(),
        )
    }

    proptest! {
        #[test]
        fn each_choice_is_equally_likely(count in 1..50_usize) {
            let domain = Domain::new(vec![Axis { kind: AxisKind::OneHot, columns: 0..count, when: Vec::new(), units: (0.0, 1.0) }], Vec::new());
            let choice = |u| domain.level(0, &domain.place(&[u])).unwrap();
            let mut n_placed = vec![0; count];
            (0..8 * count).for_each(|i| n_placed[choice((i as f64 + 0.5) / (8 * count) as f64)] += 1);
            prop_assert_eq!(n_placed, vec![8; count]);
        }
    }

    #[test]
    fn inactive_axes_are_pinned_to_neutral() {
        let domain = conditional();
        let mut x = [0.2, 0.9, 0.3, 0.9, 0.9];
        domain.snap(&mut x);
        assert_eq!(x, [0.0, 1.0, 0.0, 0.5, 0.5]);
        assert!(!domain.is_active(1, &x) && !domain.is_active(2, &x));
        assert!(!domain.contains(&[0.0, 1.0, 0.0, 0.5, 0.6]));

        domain.set_level(0, 2, &mut x);
        domain.set_level(1, 3, &mut x);
        assert_eq!(x, [0.0, 0.0, 1.0, 0.75, 0.5]);
        assert!(domain.is_active(1, &x) && domain.contains(&x));
        assert_eq!((domain.level(1, &x), domain.level(2, &x)), (Some(3), None));
    }

    #[test]
    fn an_inactive_category_is_pinned_to_equal_shares() {
        let flag = Axis {
            kind: AxisKind::Grid(Grid::linear(1)),
            columns: 0..1,
            when: Vec::new(),
            units: (0.0, 1.0),
        };
        let category = Axis { kind: AxisKind::OneHot, columns: 1..5, when: vec![(0, 1)], units: (0.0, 1.0) };
        let domain = Domain::new(vec![flag, category], Vec::new());
        assert_eq!(domain.place(&[0.1, 0.9]), [0.0, 0.25, 0.25, 0.25, 0.25]);
        assert_eq!(domain.place(&[0.9, 0.9]), [1.0, 0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn only_points_of_the_cube_can_be_told() {
        let domain = Domain::cube(2);
        assert_eq!(domain.check(&[0.0, 1.0]), Ok(()));
        assert_eq!(domain.check(&[0.0]), Err(TellError::WrongDimension { expected: 2, got: 1 }));
        assert_eq!(domain.check(&[0.0, 1.5]), Err(TellError::OutsideCube { index: 1, value: 1.5 }));
        assert!(matches!(domain.check(&[f64::NAN, 0.0]), Err(TellError::OutsideCube { index: 0, .. })));
        assert!(!domain.contains(&[f64::NAN, 0.0]) && !domain.contains(&[0.5]));
    }

    #[test]
    fn the_same_seed_samples_the_same_point() {
        let domain = conditional();
        assert_eq!(domain.sample(&mut rng(7, 0)), domain.sample(&mut rng(7, 0)));
        assert_ne!(Domain::cube(2).sample(&mut rng(7, 0)), Domain::cube(2).sample(&mut rng(7, 1)));
    }
}
