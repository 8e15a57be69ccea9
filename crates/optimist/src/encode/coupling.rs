//! Columns that constraints tie together, and their jointly feasible values: those of a polytope and, in columns with levels, on a
//! level.
//!
//! Given: the polytope and the grids. Gives: feasible values (`place`, `sample`, `snap`), also next to given ones. Does not know:
//! other columns of the domain; it is given whole points and leaves the rest of them alone.
//!
//! On levels: the nearest point of the polytope is found first, then its levels are rounded. If the other columns can't follow, one
//! column after the other is moved to the level below or above, the nearer first, and moves that lead nowhere are taken back
//! (branch and bound that stops at the first solution).

use super::grid::Grid;
use crate::optimizer::Rng;
use crate::polytope::{Polytope, Walk};

/// How far from a level a coordinate may be and still count as on it.
const ON_LEVEL: f64 = 1e-9;

/// Most moves to levels, including those taken back, before `snap` settles for levels that are known to be feasible.
const SNAP_MOVES: usize = 200;

/// Most moves before the levels count as infeasible.
const SEARCH_MOVES: usize = 20_000;

/// Coordinates farther beyond the cube are treated as this far beyond it.
const FAR: f64 = 10.0;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Coupling {
    members: Vec<Member>,
    polytope: Polytope,
    /// A feasible point.
    known: Vec<f64>,
}

/// One of the columns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Member {
    /// Its axis in the domain.
    pub(crate) axis: usize,
    /// Its place in a point.
    pub(crate) column: usize,
    /// Its levels, if only those are feasible.
    pub(crate) grid: Option<Grid>,
}

impl Coupling {
    /// `None` if no point of the polytope is found in which every grid is on a level.
    pub(super) fn new(members: Vec<Member>, polytope: Polytope) -> Option<Coupling> {
        let centre = polytope.centre().to_vec();
        let mut coupling = Coupling { members, polytope, known: centre };
        coupling.known = coupling.levelled(&coupling.known, coupling.bounds(), SEARCH_MOVES)?;
        Some(coupling)
    }

    /// The coupling within tighter bounds, which are for whole points; `None` if that leaves nothing.
    pub(crate) fn within(&self, lower: &[f64], upper: &[f64]) -> Option<Coupling> {
        let polytope = self.polytope.within(&self.gather(lower), &self.gather(upper)).ok()?;
        Coupling::new(self.members.clone(), polytope)
    }

    pub(crate) fn members(&self) -> &[Member] {
        &self.members
    }

    pub(crate) fn polytope(&self) -> &Polytope {
        &self.polytope
    }

    /// Whether a column is among those tied.
    pub(crate) fn has(&self, column: usize) -> bool {
        self.members.iter().any(|member| member.column == column)
    }

    /// Sets the columns to the values that `u` stands for, one number per column. Uniform if `u` is; nearly so on levels.
    pub(super) fn place(&self, u: &[f64], x: &mut [f64]) {
        // Without a sum every level is equally likely; with one, levels are rounded afterwards.
        let mut u = u.to_vec();
        for (j, member) in self.members.iter().enumerate() {
            if let Some(grid) = member.grid.filter(|_| !self.polytope.is_summed(j)) {
                u[j] = grid.level(grid.place(u[j]));
            }
        }
        self.set(&self.polytope.place(&u), x);
    }

    /// Sets the columns to uniform feasible values; nearly uniform on levels.
    pub(crate) fn sample(&self, rng: &mut Rng, x: &mut [f64]) {
        self.set(&self.polytope.sample(rng), x);
    }

    /// A random walk for many samples: cheaper than `sample`, but successive samples are close to each other.
    pub(crate) fn walk(&self, rng: &mut Rng) -> FeasibleWalk<'_> {
        let mut walk = self.polytope.walk();
        walk.settle(rng);
        FeasibleWalk { coupling: self, walk }
    }

    /// Moves the columns to the nearest feasible values; on levels, to some that are near.
    pub(crate) fn snap(&self, x: &mut [f64]) {
        let tame = |x: f64| if x.is_nan() { 0.0 } else { x.clamp(-FAR, 1.0 + FAR) };
        let z: Vec<f64> = self.gather(x).into_iter().map(tame).collect();
        self.set(&z, x);
    }

    /// Moves the columns to the nearest values that satisfy the constraints, on a level or not.
    pub(super) fn relax(&self, x: &mut [f64]) {
        self.scatter(&self.polytope.project(&self.gather(x)), x);
    }

    /// Moves the columns without levels to the nearest feasible values, keeping the others. False if there are none.
    pub(crate) fn snap_reals(&self, x: &mut [f64]) -> bool {
        self.follow(x, |member| member.grid.is_some())
    }

    /// Moves all columns but one to the nearest feasible values. False if there are none.
    pub(crate) fn snap_others(&self, column: usize, x: &mut [f64]) -> bool {
        self.follow(x, |member| member.column == column)
    }

    /// Moves one column to the nearest feasible value. False if there is none.
    pub(crate) fn snap_only(&self, column: usize, x: &mut [f64]) -> bool {
        self.follow(x, |member| member.column != column)
    }

    fn follow(&self, x: &mut [f64], stays: impl Fn(&Member) -> bool) -> bool {
        let z = self.gather(x);
        let (mut lower, mut upper) = self.bounds();
        for (j, _) in self.members.iter().enumerate().filter(|(_, member)| stays(member)) {
            (lower[j], upper[j]) = (z[j], z[j]);
        }
        let found = self.levelled(&z, (lower, upper), SNAP_MOVES);
        found.is_some_and(|found| {
            self.scatter(&found, x);
            true
        })
    }

    /// Sets the columns to the feasible values nearest to `z`.
    fn set(&self, z: &[f64], x: &mut [f64]) {
        let feasible = self.on_levels(z).filter(|z| self.polytope.contains(z));
        let found = feasible.or_else(|| self.levelled(z, self.bounds(), SNAP_MOVES));
        self.scatter(found.as_ref().unwrap_or(&self.known), x);
    }

    /// Feasible values near `z` within bounds, if any are found.
    fn levelled(&self, z: &[f64], (lower, upper): (Vec<f64>, Vec<f64>), moves: usize) -> Option<Vec<f64>> {
        let relaxed = self.polytope.project_between(z, &lower, &upper)?;
        if let Some(on_levels) = self.on_levels(&relaxed) {
            return Some(on_levels);
        }
        let rounded = self.at_nearest_levels(&relaxed, &lower, &upper);
        rounded.or_else(|| Branch { coupling: self, z, lower, upper, moves }.descend())
    }

    /// The values, those nearly on a level moved onto it; `None` if one is not near a level.
    fn on_levels(&self, z: &[f64]) -> Option<Vec<f64>> {
        let on_level = |(z, member): (&f64, &Member)| match &member.grid {
            None => Some(*z),
            Some(grid) => Some(grid.level(grid.nearest(*z))).filter(|level| (level - z).abs() <= ON_LEVEL),
        };
        z.iter().zip(&self.members).map(on_level).collect()
    }

    /// All grids at their nearest levels within bounds, and the other columns as near as possible; `None` if they can't follow.
    fn at_nearest_levels(&self, z: &[f64], lower: &[f64], upper: &[f64]) -> Option<Vec<f64>> {
        let (mut fixed_lower, mut fixed_upper) = (lower.to_vec(), upper.to_vec());
        for (j, member) in self.members.iter().enumerate() {
            if let Some(grid) = member.grid {
                let level = grid.level(grid.nearest(z[j]));
                if level < lower[j] - ON_LEVEL || level > upper[j] + ON_LEVEL {
                    return None;
                }
                (fixed_lower[j], fixed_upper[j]) = (level, level);
            }
        }
        self.polytope.project_between(z, &fixed_lower, &fixed_upper)
    }

    fn bounds(&self) -> (Vec<f64>, Vec<f64>) {
        (self.polytope.lower().to_vec(), self.polytope.upper().to_vec())
    }

    fn gather(&self, x: &[f64]) -> Vec<f64> {
        self.members.iter().map(|member| x[member.column]).collect()
    }

    fn scatter(&self, z: &[f64], x: &mut [f64]) {
        self.members.iter().zip(z).for_each(|(member, z)| x[member.column] = *z);
    }
}

/// A random walk over feasible values.
pub(crate) struct FeasibleWalk<'a> {
    coupling: &'a Coupling,
    walk: Walk<'a>,
}

impl FeasibleWalk<'_> {
    /// Sets the columns to the next values.
    pub(crate) fn next(&mut self, rng: &mut Rng, x: &mut [f64]) {
        self.coupling.set(&self.walk.next(rng), x);
    }
}

/// The search for levels that the other columns can follow.
struct Branch<'a> {
    coupling: &'a Coupling,
    z: &'a [f64],
    lower: Vec<f64>,
    upper: Vec<f64>,
    /// How many more may be tried.
    moves: usize,
}

impl Branch<'_> {
    fn descend(&mut self) -> Option<Vec<f64>> {
        self.moves = self.moves.checked_sub(1)?;
        let x = self.coupling.polytope.project_between(self.z, &self.lower, &self.upper)?;
        let Some((j, below, above)) = self.farthest_from_levels(&x) else {
            return self.coupling.at_nearest_levels(&x, &self.lower, &self.upper);
        };
        let is_lower_nearer = x[j] - below <= above - x[j];
        let bounds = (self.lower[j], self.upper[j]);
        for downwards in [is_lower_nearer, !is_lower_nearer] {
            (self.lower[j], self.upper[j]) = if downwards { (bounds.0, below) } else { (above, bounds.1) };
            if let Some(found) = self.descend() {
                return Some(found);
            }
        }
        (self.lower[j], self.upper[j]) = bounds;
        None
    }

    /// The column that is farthest from its nearest level, and the levels below and above it.
    fn farthest_from_levels(&self, x: &[f64]) -> Option<(usize, f64, f64)> {
        let off = |(j, member): (usize, &Member)| {
            let grid = member.grid?;
            let nearest = grid.nearest(x[j]);
            let level = grid.level(nearest);
            let below = || nearest.checked_sub(1).map_or(f64::NEG_INFINITY, |below| grid.level(below));
            let above = || if nearest + 1 < grid.count() { grid.level(nearest + 1) } else { f64::INFINITY };
            let (below, above) = if level <= x[j] { (level, above()) } else { (below(), level) };
            Some((j, below, above)).filter(|_| (level - x[j]).abs() > ON_LEVEL)
        };
        let distance = |(j, below, above): &(usize, f64, f64)| (x[*j] - below).min(above - x[*j]);
        self.coupling
            .members
            .iter()
            .enumerate()
            .filter_map(off)
            .max_by(|a, b| distance(a).total_cmp(&distance(b)))
    }
}
