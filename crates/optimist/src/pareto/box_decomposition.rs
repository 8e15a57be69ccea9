//! The room above a front as disjoint boxes, over which hypervolume improvements are sums.
//!
//! Given: vectors and a reference. Gives: boxes that together are everything above the reference that no vector covers. Does not
//! know: models.

use super::front;

/// Most boxes, roughly. Later vectors are left out then, as if they covered nothing.
const MAX_BOXES: usize = 2000;

/// The room above a front, as disjoint boxes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BoxDecomposition {
    /// Lower and upper end of each entry of each box.
    boxes: Vec<Vec<(f64, f64)>>,
}

impl BoxDecomposition {
    /// The room above `reference` that no vector covers.
    pub fn above(points: &[Vec<f64>], reference: &[f64]) -> Self {
        let mut boxes = vec![reference.iter().map(|&r| (r, f64::INFINITY)).collect::<Vec<_>>()];
        let is_above = |point: &&Vec<f64>| point.iter().zip(reference).all(|(x, r)| x > r);
        let points: Vec<Vec<f64>> = points.iter().filter(is_above).cloned().collect();
        for i in front(&points) {
            if boxes.len() > MAX_BOXES {
                break;
            }
            let (covered, free): (Vec<_>, Vec<_>) =
                boxes.into_iter().partition(|cell| cell.iter().zip(&points[i]).all(|((low, _), x)| low < x));
            boxes = free;
            covered.iter().for_each(|cell| cut(cell, &points[i], &mut boxes));
        }
        Self { boxes }
    }

    /// The distance of a vector from the nearest box: by how much all of its entries would have to rise. Also the entry that would
    /// have to rise most. 0 in a box.
    pub fn distance(&self, vector: &[f64]) -> (f64, usize) {
        let missing = |cell: &Vec<(f64, f64)>| {
            let by_entry = cell.iter().zip(vector).map(|((low, _), x)| low - x).enumerate();
            by_entry.fold((0.0, 0), |most, (j, miss)| if miss > most.0 { (miss, j) } else { most })
        };
        let nearer = |a: (f64, usize), b: (f64, usize)| if b.0 < a.0 { b } else { a };
        self.boxes.iter().map(missing).reduce(nearer).unwrap_or((0.0, 0))
    }

    /// The boxes: lower and upper end of each entry.
    pub fn iter(&self) -> impl Iterator<Item = &[(f64, f64)]> {
        self.boxes.iter().map(Vec::as_slice)
    }
}

/// Adds the part of a box that `point` does not cover: entry by entry, what is above `point` there and below it in the entries
/// before.
fn cut(cell: &[(f64, f64)], point: &[f64], boxes: &mut Vec<Vec<(f64, f64)>>) {
    let mut rest = cell.to_vec();
    for (j, &x) in point.iter().enumerate() {
        let (low, high) = rest[j];
        if high > x {
            rest[j] = (x, high);
            boxes.push(rest.clone());
        }
        rest[j] = (low, high.min(x));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::pareto::{covers, gain};

    proptest! {
        #[test]
        fn a_gain_is_a_sum_over_cells(
            points in prop::collection::vec(prop::collection::vec(0.0..1.0_f64, 3), 0..12),
            at in prop::collection::vec(-0.2..1.2_f64, 3),
        ) {
            let reference = [0.1; 3];
            let part = |cell: &[(f64, f64)]| {
                let side = |((low, high), x): (&(f64, f64), &f64)| (x.min(*high) - low).max(0.0);
                cell.iter().zip(&at).map(side).product::<f64>()
            };
            let sum: f64 = BoxDecomposition::above(&points, &reference).iter().map(part).sum();
            let gain = gain(&points, &reference, &at);
            prop_assert!((sum - gain).abs() < 1e-12, "{} for {}", sum, gain);
            if points.iter().any(|point| covers(point, &at)) {
                prop_assert_eq!(sum, 0.0);
            }
        }
    }
}
