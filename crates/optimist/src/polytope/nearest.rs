//! The point of a polytope nearest to a given one: a dual active-set method (Goldfarb and Idnani 1983), for which the
//! distance is the easiest of all quadratic programs.
//!
//! It starts at the given point, with no face active, and activates one violated face after the other. Each step goes straight
//! towards the face, along the active ones; an active face whose multiplier would become negative is dropped first. The distance
//! grows with each step, so the method ends: at the nearest point, or at a face that can't be reached, in which case the active
//! faces in the way prove that there is no point at all.

use super::{Conflict, Row};
use crate::linalg::{add_scaled, dot};

/// A face violated by less counts as satisfied. Coordinates are of order 1 and normals of length 1.
const ROUNDING: f64 = 1e-12;

/// A face that can't be reached also counts as satisfied if it is violated by less: levels of grids are sums of rounded numbers.
const REACH: f64 = 1e-9;

/// A normal depends on others if this share (squared) or less of it is outside of their span.
const DEPENDENT: f64 = 1e-12;

/// The nearest point within these rows and bounds. A coordinate whose bounds are equal is a constant.
pub(super) fn nearest(
    point: &[f64],
    lower: &[f64],
    upper: &[f64],
    rows: &[Row],
) -> Result<Vec<f64>, Conflict> {
    let faces = Faces { lower, upper, rows };
    let fixed = (0..point.len()).filter(|&j| lower[j] == upper[j]);
    let mut x = point.to_vec();
    fixed.for_each(|j| x[j] = lower[j]);
    let mut active = Active::default();
    let mut tolerated = Vec::new();
    for _ in 0..MAX_STEPS * (point.len() + rows.len() + 1) {
        let is_settled = |face: &Face| active.faces.contains(face) || tolerated.contains(face);
        let Some((face, excess)) = faces.most_violated(&x, is_settled) else {
            (0..x.len()).for_each(|j| x[j] = x[j].clamp(lower[j], upper[j]));
            return Ok(x);
        };
        match active.reach(face, excess, &faces, &mut x) {
            Err(_) if excess <= REACH => tolerated.push(face),
            reached => reached?,
        }
    }
    Err(Conflict::default()) // rounding went in circles
}

/// Steps per face before the search is given up.
const MAX_STEPS: usize = 30;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Face {
    Lower(usize),
    Upper(usize),
    Row(usize),
    /// An equality, from its far side.
    RowReversed(usize),
}

struct Faces<'a> {
    lower: &'a [f64],
    upper: &'a [f64],
    rows: &'a [Row],
}

impl Faces<'_> {
    /// The face that x is farthest beyond, and how far. Equalities come first: they are never let go.
    fn most_violated(&self, x: &[f64], is_settled: impl Fn(&Face) -> bool) -> Option<(Face, f64)> {
        let rows = |equalities: bool| {
            let rows = self.rows.iter().enumerate();
            rows.filter(move |(_, row)| row.is_equality == equalities).map(|(i, row)| (i, row.excess(x)))
        };
        let sided = |(i, excess): (usize, f64)| [(Face::Row(i), excess), (Face::RowReversed(i), -excess)];
        let free = (0..x.len()).filter(|&j| self.lower[j] < self.upper[j]);
        let bounds = free
            .flat_map(|j| [(Face::Lower(j), self.lower[j] - x[j]), (Face::Upper(j), x[j] - self.upper[j])]);
        let inequalities = rows(false).map(|(i, excess)| (Face::Row(i), excess)).chain(bounds);
        let is_violated = |&(face, excess): &(Face, f64)| excess > ROUNDING && !is_settled(&face);
        let worst = |a: (Face, f64), b: (Face, f64)| if b.1 > a.1 { b } else { a };
        let equality = rows(true).flat_map(sided).filter(is_violated).reduce(worst);
        equality.or_else(|| inequalities.filter(is_violated).reduce(worst))
    }

    /// The outward normal of a face, zero where coordinates are constant.
    fn normal(&self, face: Face) -> Vec<f64> {
        let signed = |i: usize, sign: f64| {
            let free = |j: usize| f64::from(u8::from(self.lower[j] < self.upper[j]));
            self.rows[i].normal.iter().enumerate().map(|(j, a)| sign * free(j) * a).collect()
        };
        let unit = |j: usize, sign: f64| {
            let mut normal = vec![0.0; self.lower.len()];
            normal[j] = sign;
            normal
        };
        match face {
            Face::Lower(j) => unit(j, -1.0),
            Face::Upper(j) => unit(j, 1.0),
            Face::Row(i) => signed(i, 1.0),
            Face::RowReversed(i) => signed(i, -1.0),
        }
    }

    fn is_equality(&self, face: Face) -> bool {
        matches!(face, Face::Row(i) | Face::RowReversed(i) if self.rows[i].is_equality)
    }
}

/// The faces that x lies on, in the order in which they became active.
#[derive(Default)]
struct Active {
    faces: Vec<Face>,
    /// How hard x leans on each of them.
    multipliers: Vec<f64>,
    /// Orthonormal vectors that span the normals, the first k of them the first k normals.
    q: Vec<Vec<f64>>,
    /// The coordinates of each normal in q, one more for each.
    r: Vec<Vec<f64>>,
}

impl Active {
    /// Moves x onto a face that it is `excess` beyond, and lets go of those that hold it back.
    fn reach(
        &mut self,
        face: Face,
        mut excess: f64,
        faces: &Faces<'_>,
        x: &mut [f64],
    ) -> Result<(), Conflict> {
        let normal = faces.normal(face);
        let mut multiplier = 0.0;
        loop {
            let (within, across) = self.split(&normal);
            let shares = self.solve(&within);
            let inequalities = (0..self.faces.len()).filter(|&k| !faces.is_equality(self.faces[k]));
            let loosest = inequalities
                .filter(|&k| shares[k] > ROUNDING)
                .map(|k| (k, self.multipliers[k] / shares[k]))
                .reduce(|best, next| if next.1 < best.1 { next } else { best });
            let across_squared = dot(&across, &across);
            let is_independent = across_squared > DEPENDENT * dot(&normal, &normal);
            let to_face = if is_independent { excess / across_squared } else { f64::INFINITY };
            let step = to_face.min(loosest.map_or(f64::INFINITY, |(_, step)| step));
            if step.is_infinite() {
                return Err(self.conflict(face, &shares));
            }
            if is_independent {
                add_scaled(-step, &across, x);
                excess -= step * across_squared;
            }
            add_scaled(-step, &shares, &mut self.multipliers);
            multiplier += step;
            match loosest {
                Some((k, limit)) if limit < to_face => self.let_go(k, faces),
                _ => {
                    self.push(face, multiplier, within, across, across_squared);
                    return Ok(());
                }
            }
        }
    }

    /// A vector's coordinates in q, and what is left of it: twice, since the first time leaves rounding errors.
    fn split(&self, vector: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut rest = vector.to_vec();
        let mut within = vec![0.0; self.q.len()];
        for _ in 0..2 {
            for (coordinate, q) in within.iter_mut().zip(&self.q) {
                let along = dot(q, &rest);
                add_scaled(-along, q, &mut rest);
                *coordinate += along;
            }
        }
        (within, rest)
    }

    /// The combination of active normals with these coordinates in q: back substitution.
    fn solve(&self, within: &[f64]) -> Vec<f64> {
        let mut shares = within.to_vec();
        for k in (0..shares.len()).rev() {
            shares[k] /= self.r[k][k];
            let share = shares[k];
            add_scaled(-share, &self.r[k][..k], &mut shares[..k]);
        }
        shares
    }

    fn push(
        &mut self,
        face: Face,
        multiplier: f64,
        mut within: Vec<f64>,
        mut across: Vec<f64>,
        squared: f64,
    ) {
        let length = squared.sqrt();
        across.iter_mut().for_each(|a| *a /= length);
        within.push(length);
        self.faces.push(face);
        self.multipliers.push(multiplier);
        self.q.push(across);
        self.r.push(within);
    }

    /// Removes a face; q and r are recomputed from there on.
    fn let_go(&mut self, k: usize, faces: &Faces<'_>) {
        let (kept_faces, kept_multipliers) = (self.faces.split_off(k), self.multipliers.split_off(k));
        self.q.truncate(k);
        self.r.truncate(k);
        for (face, multiplier) in kept_faces.into_iter().zip(kept_multipliers).skip(1) {
            let (within, across) = self.split(&faces.normal(face));
            let squared = dot(&across, &across);
            self.push(face, multiplier, within, across, squared);
        }
    }

    /// The rows that, with the bounds, exclude each other: the one that cannot be reached, and those in its way.
    fn conflict(&self, face: Face, shares: &[f64]) -> Conflict {
        let in_the_way = self.faces.iter().zip(shares).filter(|(_, share)| share.abs() > ROUNDING);
        let faces = std::iter::once(&face).chain(in_the_way.map(|(face, _)| face));
        let rows = faces.filter_map(|face| match face {
            Face::Row(i) | Face::RowReversed(i) => Some(*i),
            Face::Lower(_) | Face::Upper(_) => None,
        });
        let mut rows: Vec<usize> = rows.collect();
        rows.sort_unstable();
        rows.dedup();
        Conflict { rows }
    }
}
