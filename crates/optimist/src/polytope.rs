//! The points of a box that satisfy linear constraints: a convex polytope.
//!
//! Given: bounds, and rows `normal · x ≤ bound` or `= bound`. Gives: the nearest point (`project`), uniform points (`place`,
//! `sample`), the middle, the extremes and the directions it extends in. Equalities, given or implied, cost no more than
//! inequalities: points are constructed, not drawn until some satisfy them. Does not know: parameters, grids, units. Coordinates
//! are of order 1.

mod nearest;
mod walk;

pub(crate) use walk::Walk;

use rand::RngExt;

use crate::linalg::{add_scaled, dot};
use crate::optimizer::{Rng, rng};

/// How far beyond a face a point may be and still count as inside. Half the tolerance of domains, so that points inside here are
/// feasible there.
pub(crate) const TOLERANCE: f64 = 5e-10;

/// If no point is farther from a face than this, all points lie on it.
const FLAT: f64 = 1e-9;

/// Bounds farther away than this are out of reach, and treated as this far.
const FAR: f64 = 1e3;

/// Draws from a simple set around the polytope before a walk is used: if more than one in twenty is inside, one is almost certain
/// to be found, and misses cost less than a walk.
const N_THROWS: usize = 16;

/// A linear constraint.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    /// The normal vector, of length 1.
    normal: Vec<f64>,
    bound: f64,
    is_equality: bool,
}

/// Rows that exclude each other in the box.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Conflict {
    /// The indices of the rows; none if only the bounds exclude each other.
    pub(crate) rows: Vec<usize>,
}

/// A polytope that is not empty.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Polytope {
    lower: Vec<f64>,
    upper: Vec<f64>,
    rows: Vec<Row>,
    /// For each face, a point as far from it as possible. Faces are in the order of `faces`.
    extremes: Vec<Vec<f64>>,
    /// For each face, whether all points lie on it.
    is_flat: Vec<bool>,
    /// The mean of the extremes: an inner point.
    centre: Vec<f64>,
    /// An orthonormal basis of the differences between points.
    directions: Vec<Vec<f64>>,
    /// For each coordinate, the spread of points: the side of a box with the same standard deviation.
    spread: Vec<f64>,
}

impl Row {
    /// `coefficients · x` is at most, or exactly, `bound`. `None` if all coefficients are zero.
    pub(crate) fn new(coefficients: &[f64], bound: f64, is_equality: bool) -> Option<Row> {
        let largest = coefficients.iter().fold(0.0, |largest: f64, a| largest.max(a.abs()));
        let scaled: Vec<f64> = coefficients.iter().map(|a| a / largest).collect(); // squares overflow otherwise
        let length = dot(&scaled, &scaled).sqrt();
        let normal = scaled.iter().map(|a| a / length).collect();
        let bound = (bound / largest / length).clamp(-FAR, FAR);
        (largest > 0.0).then_some(Row { normal, bound, is_equality })
    }

    /// How far beyond the bound x is; negative if there is room.
    fn excess(&self, x: &[f64]) -> f64 {
        dot(&self.normal, x) - self.bound
    }
}

impl Polytope {
    /// The points within bounds and rows.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn new(lower: Vec<f64>, upper: Vec<f64>, rows: Vec<Row>) -> Result<Polytope, Conflict> {
        let middle: Vec<f64> = lower.iter().zip(&upper).map(|(low, high)| 0.5 * (low + high)).collect();
        let n = middle.len();
        let start = nearest::nearest(&middle, &lower, &upper, &rows)?;
        let mut polytope = Polytope {
            lower,
            upper,
            rows,
            extremes: Vec::new(),
            is_flat: Vec::new(),
            centre: start,
            directions: Vec::new(),
            spread: vec![0.0; n],
        };
        let (extremes, is_flat) =
            polytope.faces().map(|(normal, bound)| polytope.farthest(&normal, bound)).unzip();
        (polytope.extremes, polytope.is_flat) = (extremes, is_flat);
        polytope.centre = mean(&polytope.extremes);
        polytope.directions = polytope.free_directions();
        polytope.spread = polytope.measured_spread();
        Ok(polytope)
    }

    /// The polytope within tighter bounds.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn within(&self, lower: &[f64], upper: &[f64]) -> Result<Polytope, Conflict> {
        let lower = lower.iter().zip(&self.lower).map(|(a, b)| a.max(*b)).collect();
        let upper = upper.iter().zip(&self.upper).map(|(a, b)| a.min(*b)).collect();
        Polytope::new(lower, upper, self.rows.clone())
    }

    pub(crate) fn lower(&self) -> &[f64] {
        &self.lower
    }

    pub(crate) fn upper(&self) -> &[f64] {
        &self.upper
    }

    pub(crate) fn centre(&self) -> &[f64] {
        &self.centre
    }

    pub(crate) fn directions(&self) -> &[Vec<f64>] {
        &self.directions
    }

    pub(crate) fn spread(&self) -> &[f64] {
        &self.spread
    }

    /// Whether a row fixes the sum that coordinate `j` is part of.
    pub(crate) fn is_summed(&self, j: usize) -> bool {
        self.rows.iter().any(|row| row.is_equality && row.normal[j] != 0.0)
    }

    /// Whether x is inside, to `TOLERANCE`.
    pub(crate) fn contains(&self, x: &[f64]) -> bool {
        let in_box =
            (0..x.len()).all(|j| self.lower[j] - x[j] <= TOLERANCE && x[j] - self.upper[j] <= TOLERANCE);
        in_box
            && self.rows.iter().all(|row| {
                let excess = row.excess(x);
                excess <= TOLERANCE && (!row.is_equality || excess >= -TOLERANCE)
            })
    }

    /// The point nearest to x.
    pub(crate) fn project(&self, x: &[f64]) -> Vec<f64> {
        nearest::nearest(x, &self.lower, &self.upper, &self.rows).unwrap_or_else(|_| self.centre.clone())
    }

    /// The point nearest to x within tighter bounds; `None` if there is none. Equal bounds fix a coordinate.
    pub(crate) fn project_between(&self, x: &[f64], lower: &[f64], upper: &[f64]) -> Option<Vec<f64>> {
        let in_order = lower.iter().zip(upper).all(|(low, high)| low <= high);
        if in_order { nearest::nearest(x, lower, upper, &self.rows).ok() } else { None }
    }

    /// The point for u in [0, 1]^n: uniform if u is. Where `throw` succeeds it is continuous in u; elsewhere u is the seed of a
    /// walk.
    pub(crate) fn place(&self, u: &[f64]) -> Vec<f64> {
        self.throw(u).unwrap_or_else(|| self.walk().settle(&mut rng(seed(u), 0)))
    }

    /// A uniform point.
    pub(crate) fn sample(&self, rng: &mut Rng) -> Vec<f64> {
        let mut u = vec![0.0; self.lower.len()];
        for _ in 0..N_THROWS {
            u.fill_with(|| rng.random());
            if let Some(x) = self.throw(&u) {
                return x;
            }
        }
        self.walk().settle(rng)
    }

    /// A random walk from the middle.
    pub(crate) fn walk(&self) -> Walk<'_> {
        Walk::new(self)
    }

    /// The point for u in a simple set around the polytope, if it is inside: the box, or a simplex where coordinates have a fixed
    /// sum. Coordinates with a negative coefficient are counted down from their upper bounds, so that any equality is a sum. Also
    /// `None` where two sums share a coordinate.
    fn throw(&self, u: &[f64]) -> Option<Vec<f64>> {
        let mut x: Vec<f64> =
            (0..u.len()).map(|j| self.lower[j] + u[j] * (self.upper[j] - self.lower[j])).collect();
        let mut is_set = vec![false; u.len()];
        for Row { normal, bound, .. } in self.rows.iter().filter(|row| row.is_equality) {
            let terms = || normal.iter().enumerate().filter(|(_, a)| **a != 0.0);
            let corner = |j: usize| if normal[j] > 0.0 { self.lower[j] } else { self.upper[j] };
            let to_share = bound - terms().map(|(j, a)| a * corner(j)).sum::<f64>();
            let total: f64 = terms().map(|(j, _)| exponential(u[j])).sum();
            for (j, a) in terms() {
                if std::mem::replace(&mut is_set[j], true) {
                    return None;
                }
                x[j] = corner(j) + to_share * exponential(u[j]) / (total * a);
            }
        }
        self.contains(&x).then_some(x)
    }

    /// Normal and bound of each face: lower bounds, upper bounds, rows that are not equalities.
    fn faces(&self) -> impl Iterator<Item = (Vec<f64>, f64)> {
        let n = self.lower.len();
        let unit = move |j: usize, sign: f64| (0..n).map(|k| if k == j { sign } else { 0.0 }).collect();
        let lower = (0..n).map(move |j| (unit(j, -1.0), -self.lower[j]));
        let upper = (0..n).map(move |j| (unit(j, 1.0), self.upper[j]));
        let rows = self.rows.iter().filter(|row| !row.is_equality);
        lower.chain(upper).chain(rows.map(|row| (row.normal.clone(), row.bound)))
    }

    /// The point farthest from a face, and whether even that lies on it. The point is pushed away from the face and projected back
    /// repeatedly: the proximal point method, which ends at the exact optimum of a linear function.
    fn farthest(&self, normal: &[f64], bound: f64) -> (Vec<f64>, bool) {
        const PUSH: f64 = 1e3;
        const MAX_PUSHES: usize = 50;
        let mut x = self.centre.clone();
        for _ in 0..MAX_PUSHES {
            let mut pushed = x.clone();
            add_scaled(-PUSH, normal, &mut pushed);
            let next = self.project(&self.project(&pushed)); // twice, since rounding errors grow with the push
            let gain = dot(normal, &x) - dot(normal, &next);
            if gain <= 0.01 * FLAT {
                break;
            }
            x = next;
        }
        let is_flat = bound - dot(normal, &x) <= FLAT;
        (x, is_flat)
    }

    /// An orthonormal basis of the space orthogonal to all equalities and flat faces. Each vector is made from the axis that is
    /// least explained so far, so that none consists of rounding errors.
    fn free_directions(&self) -> Vec<Vec<f64>> {
        let n = self.lower.len();
        let equalities = self.rows.iter().filter(|row| row.is_equality).map(|row| row.normal.clone());
        let flat =
            self.faces().zip(&self.is_flat).filter(|(_, is_flat)| **is_flat).map(|((normal, _), _)| normal);
        let mut fixed: Vec<Vec<f64>> = Vec::new();
        equalities.chain(flat).for_each(|normal| fixed.extend(new_direction(normal, &fixed)));
        let mut all = fixed.clone();
        while all.len() < n {
            let explained = |j: &usize| all.iter().map(|direction| direction[*j].powi(2)).sum::<f64>();
            let least = (0..n).min_by(|a, b| explained(a).total_cmp(&explained(b)));
            let axis = |j: usize| (0..n).map(|k| f64::from(u8::from(k == j))).collect();
            match least.and_then(|j| new_direction(axis(j), &all)) {
                Some(direction) => all.push(direction),
                None => break,
            }
        }
        all.split_off(fixed.len())
    }

    /// The spread in each coordinate, from the standard deviations of points of a walk; never quite 0.
    fn measured_spread(&self) -> Vec<f64> {
        const N_POINTS: usize = 64;
        const LEAST: f64 = 1e-6;
        let mut rng = rng(0, 0);
        let mut walk = self.walk();
        walk.settle(&mut rng);
        let points: Vec<Vec<f64>> = (0..N_POINTS).map(|_| walk.next(&mut rng)).collect();
        let mean = mean(&points);
        let variance =
            |j: usize| points.iter().map(|x| (x[j] - mean[j]).powi(2)).sum::<f64>() / N_POINTS as f64;
        let spread = |j: usize| f64::sqrt(12.0 * variance(j)).min(self.upper[j] - self.lower[j]).max(LEAST);
        (0..mean.len()).map(spread).collect()
    }
}

/// The part of a vector orthogonal to others, with length 1; `None` if that is almost nothing.
fn new_direction(mut vector: Vec<f64>, others: &[Vec<f64>]) -> Option<Vec<f64>> {
    const HARDLY_ANY: f64 = 1e-7;
    for _ in 0..2 {
        others.iter().for_each(|other| add_scaled(-dot(other, &vector), other, &mut vector));
    }
    let length = dot(&vector, &vector).sqrt();
    vector.iter_mut().for_each(|v| *v /= length);
    (length > HARDLY_ANY).then_some(vector)
}

fn mean(points: &[Vec<f64>]) -> Vec<f64> {
    let mut mean = vec![0.0; points.first().map_or(0, Vec::len)];
    points.iter().for_each(|x| add_scaled(1.0 / points.len() as f64, x, &mut mean));
    mean
}

/// An exponentially distributed number if u is uniform: shares of a sum of such numbers are uniform over a simplex.
fn exponential(u: f64) -> f64 {
    -(-u.clamp(f64::EPSILON, 1.0 - f64::EPSILON)).ln_1p()
}

/// A different seed for each u: FNV-1a over its bits.
fn seed(u: &[f64]) -> u64 {
    let bytes = u.iter().flat_map(|u| u.to_bits().to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn row(coefficients: &[f64], bound: f64) -> Row {
        Row::new(coefficients, bound, false).unwrap()
    }

    fn sum(coefficients: &[f64], bound: f64) -> Row {
        Row::new(coefficients, bound, true).unwrap()
    }

    fn unit(n: usize, rows: Vec<Row>) -> Result<Polytope, Conflict> {
        Polytope::new(vec![0.0; n], vec![1.0; n], rows)
    }

    fn simplex(n: usize) -> Polytope {
        unit(n, vec![sum(&vec![1.0; n], 1.0)]).unwrap()
    }

    /// Rows with small whole coefficients, so that they are often parallel, equal or meet in one point, around a point that
    /// is inside; some of them touch it.
    fn polytope() -> impl Strategy<Value = Polytope> {
        let row = |n| (prop::collection::vec(-2..=2_i32, n), prop_oneof![Just(0.0), 0.0..0.5], 0..4_u8);
        (1..7_usize).prop_flat_map(move |n| {
            let inside =
                prop::collection::vec(prop_oneof![3 => 0.0..=1.0, 1 => Just(0.0), 1 => Just(1.0)], n);
            (inside, prop::collection::vec(row(n), 0..6)).prop_map(move |(inside, rows)| {
                let rows = rows.into_iter().filter_map(|(coefficients, room, kind)| {
                    let coefficients: Vec<f64> = coefficients.into_iter().map(f64::from).collect();
                    let at = dot(&coefficients, &inside);
                    Row::new(&coefficients, if kind == 0 { at } else { at + room }, kind == 0)
                });
                unit(n, rows.collect()).expect("there is a point inside")
            })
        })
    }

    fn numbers() -> impl Strategy<Value = Vec<f64>> {
        prop::collection::vec(-2.0..3.0, 7)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        /// What defines a projection: no way from it to another point leads towards what was projected.
        #[test]
        fn no_point_is_nearer_than_the_projection(
            (polytope, numbers, seed) in (polytope(), numbers(), any::<u64>())
        ) {
            let x = &numbers[..polytope.lower.len()];
            let nearest = polytope.project(x);
            prop_assert!(polytope.contains(&nearest), "{nearest:?}");
            let mut rng = rng(seed, 0);
            let others = polytope.extremes.iter().cloned().chain((0..5).map(|_| polytope.sample(&mut rng)));
            for other in others {
                let towards: f64 = (0..x.len()).map(|j| (x[j] - nearest[j]) * (other[j] - nearest[j])).sum();
                prop_assert!(towards <= 1e-9, "{other:?} is nearer to {x:?} than {nearest:?}, by {towards}");
            }
        }

        #[test]
        fn a_projection_stays_where_it_is((polytope, numbers) in (polytope(), numbers())) {
            let once = polytope.project(&numbers[..polytope.lower.len()]);
            let twice = polytope.project(&once);
            prop_assert!(once.iter().zip(&twice).all(|(a, b)| (a - b).abs() <= 1e-11), "{once:?} {twice:?}");
        }

        #[test]
        fn placed_and_sampled_points_are_inside(
            (polytope, numbers, seed) in (polytope(), numbers(), any::<u64>())
        ) {
            let u: Vec<f64> = numbers[..polytope.lower.len()].iter().map(|x| x.clamp(0.0, 1.0)).collect();
            prop_assert!(polytope.contains(&polytope.place(&u)));
            prop_assert!(polytope.contains(&polytope.sample(&mut rng(seed, 0))));
            prop_assert!(polytope.contains(polytope.centre()));
        }

        #[test]
        fn the_middle_is_away_from_every_face_that_is_not_flat(polytope in polytope()) {
            for ((normal, bound), is_flat) in polytope.faces().zip(&polytope.is_flat) {
                let room = bound - dot(&normal, &polytope.centre);
                prop_assert!(if *is_flat { room <= 1e-8 } else { room > 1e-11 }, "{room}");
            }
        }
    }

    #[test]
    fn rows_that_exclude_each_other_are_found() {
        let conflict = |rows| unit(3, rows).unwrap_err().rows;
        let idle = || row(&[1.0, 0.0, 1.0], 1.9);
        assert_eq!(conflict(vec![idle(), row(&[-1.0, -1.0, 0.0], -2.5)]), [1]);
        let [low, high] = [row(&[1.0, 1.0, 0.0], 0.5), row(&[-1.0, -1.0, 0.0], -0.6)];
        assert_eq!(conflict(vec![low.clone(), idle(), high]), [0, 2]);
        assert_eq!(
            conflict(vec![idle(), sum(&[1.0, 1.0, 1.0], 2.0), low, sum(&[0.0, 0.0, 1.0], 0.9)]),
            [1, 2, 3]
        );
    }

    #[test]
    fn points_are_projected_on_a_simplex_as_is_known() {
        let near = |x: &[f64], expected: &[f64]| {
            let found = simplex(3).project(x);
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
        };
        near(&[0.2, 0.3, 0.5], &[0.2, 0.3, 0.5]);
        near(&[1.0, 1.0, 1.0], &[1.0 / 3.0; 3]);
        near(&[0.9, 0.8, -0.5], &[0.55, 0.45, 0.0]);
        near(&[9.0, 0.0, 0.0], &[1.0, 0.0, 0.0]);
    }

    /// Mean and standard deviation of each coordinate.
    fn moments(points: &[Vec<f64>]) -> Vec<(f64, f64)> {
        let mean = mean(points);
        let variance =
            |j: usize| points.iter().map(|x| (x[j] - mean[j]).powi(2)).sum::<f64>() / points.len() as f64;
        (0..mean.len()).map(|j| (mean[j], variance(j).sqrt())).collect()
    }

    #[test]
    fn samples_of_a_simplex_have_its_moments_thrown_or_walked() {
        for n in [2, 3, 20] {
            let polytope = simplex(n);
            let mut rng = rng(1, 0);
            let thrown: Vec<Vec<f64>> = (0..2000).map(|_| polytope.sample(&mut rng)).collect();
            let walked: Vec<Vec<f64>> = (0..2000).map(|_| polytope.walk().settle(&mut rng)).collect();
            let k = n as f64;
            let (mean, std) = (1.0 / k, ((k - 1.0) / (k * k * (k + 1.0))).sqrt());
            for (sample_mean, sample_std) in moments(&thrown).into_iter().chain(moments(&walked)) {
                assert!((sample_mean - mean).abs() < 5.0 * std / 2000_f64.sqrt(), "{n}: {sample_mean}");
                assert!((sample_std / std - 1.0).abs() < 0.15, "{n}: {sample_std} for {std}");
            }
        }
    }

    /// Against points of the box that happen to be inside: a thin wedge, and a corner cut off in ten dimensions.
    #[test]
    fn walks_are_as_uniform_as_rejection() {
        let wedge = unit(2, vec![row(&[30.0, -1.0], 0.0)]).unwrap();
        let corner = unit(
            10,
            vec![row(&[1.0; 10], 4.0), row(&[-1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], 0.0)],
        );
        for polytope in [wedge, corner.unwrap()] {
            let mut rng = rng(2, 0);
            let walked: Vec<Vec<f64>> = (0..1500).map(|_| polytope.walk().settle(&mut rng)).collect();
            let mut rejected = Vec::new();
            while rejected.len() < 1500 {
                let x: Vec<f64> = polytope.lower.iter().map(|_| rng.random()).collect();
                if polytope.contains(&x) {
                    rejected.push(x);
                }
            }
            for (walked, rejected) in moments(&walked).into_iter().zip(moments(&rejected)) {
                let error = rejected.1 * (2.0_f64 / 1500.0).sqrt();
                assert!((walked.0 - rejected.0).abs() < 5.0 * error, "{walked:?} {rejected:?}");
                assert!((walked.1 / rejected.1 - 1.0).abs() < 0.15, "{walked:?} {rejected:?}");
            }
        }
    }

    #[test]
    fn equalities_that_are_only_implied_are_walked_along() {
        let implied = unit(3, vec![row(&[1.0, 1.0, 0.0], 1.0), row(&[-1.0, -1.0, 0.0], -1.0)]).unwrap();
        assert_eq!(implied.directions.len(), 2);
        let corner = unit(3, vec![row(&[1.0, 1.0, 0.0], 0.0)]).unwrap();
        assert_eq!(corner.directions.len(), 1);
        let mut rng = rng(3, 0);
        for polytope in [implied, corner] {
            let points: Vec<Vec<f64>> = (0..200).map(|_| polytope.sample(&mut rng)).collect();
            let (_, std) = moments(&points)[2];
            assert!((std - 12_f64.sqrt().recip()).abs() < 0.05, "{std}");
        }
        let point = unit(2, vec![sum(&[1.0, 1.0], 2.0)]).unwrap();
        assert_eq!(point.directions.len(), 0);
        assert!(point.sample(&mut rng).iter().all(|x| (x - 1.0).abs() < 1e-9));
    }

    #[test]
    fn placed_points_are_evenly_spread_over_a_mixture() {
        let polytope = simplex(3);
        let sobol = crate::sobol::Sobol::scrambled(3, &mut rng(0, 0));
        let points: Vec<Vec<f64>> = (0..256).map(|index| polytope.place(&sobol.point(index))).collect();
        for (mean, _) in moments(&points) {
            assert!((mean - 1.0 / 3.0).abs() < 0.01, "{mean}"); // a random sample is off by 0.015, typically
        }
    }
}
