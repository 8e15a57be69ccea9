//! Trade-offs: which vectors are not dominated, and the hypervolume that they cover.
//!
//! Given: vectors of the same length, larger is better in each entry. Gives: the front, layers, hypervolumes, the default reference
//! and the knee. Does not know: outcomes, constraints (callers pass feasible vectors), models.
//!
//! The hypervolume is exact in any number of dimensions: a sweep in two and three, beyond that what each vector covers alone
//! (While, Bradstreet and Barone 2012), which is quick for fronts of a hundred vectors in up to five dimensions or so.

mod box_decomposition;

pub(crate) use box_decomposition::BoxDecomposition;

/// Whether `a` is at least as good as `b` in every entry, and better in some.
pub fn dominates(a: &[f64], b: &[f64]) -> bool {
    covers(a, b) && a.iter().zip(b).any(|(a, b)| a > b)
}

/// Whether `a` is at least as good as `b` in every entry.
fn covers(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| a >= b)
}

/// The indices of the vectors that no other dominates, in their order; of equal ones only the first.
pub fn front(points: &[Vec<f64>]) -> Vec<usize> {
    let mut front: Vec<usize> = Vec::new();
    for (i, point) in points.iter().enumerate() {
        if !front.iter().any(|&j| covers(&points[j], point)) {
            front.retain(|&j| !covers(point, &points[j]));
            front.push(i);
        }
    }
    front
}

/// The layer of each vector: 0 on the front, 1 on the front of what is left without that, and so on. Equal vectors share a layer.
pub fn layers(points: &[Vec<f64>]) -> Vec<usize> {
    let mut layer = vec![usize::MAX; points.len()];
    let mut left: Vec<usize> = (0..points.len()).collect();
    for number in 0.. {
        if left.is_empty() {
            break;
        }
        let front = non_dominated(points, &left);
        front.iter().for_each(|&i| layer[i] = number);
        left.retain(|&i| layer[i] == usize::MAX);
    }
    layer
}

/// The indices of the vectors of the first layers, layer by layer: as many layers as it takes to have `n` vectors, or all. Unlike
/// [`layers`] it stops there.
pub(crate) fn best_layers(points: &[Vec<f64>], n: usize) -> Vec<usize> {
    let mut best: Vec<usize> = Vec::new();
    let mut left: Vec<usize> = (0..points.len()).collect();
    while best.len() < n && !left.is_empty() {
        let layer = non_dominated(points, &left);
        left.retain(|i| layer.binary_search(i).is_err());
        best.extend(layer);
    }
    best
}

/// The indices out of `among` whose vectors none of the others dominates; sorted if `among` is.
fn non_dominated(points: &[Vec<f64>], among: &[usize]) -> Vec<usize> {
    let mut front: Vec<usize> = Vec::new();
    for &i in among {
        if !front.iter().any(|&j| dominates(&points[j], &points[i])) {
            front.retain(|&j| !dominates(&points[i], &points[j]));
            front.push(i);
        }
    }
    front
}

/// The hypervolume: the volume above `reference` that is covered by any of the vectors.
pub fn hypervolume(points: &[Vec<f64>], reference: &[f64]) -> f64 {
    let is_above = |point: &&Vec<f64>| point.iter().zip(reference).all(|(x, r)| x > r);
    let shifted = |point: &Vec<f64>| point.iter().zip(reference).map(|(x, r)| x - r).collect();
    volume(points.iter().filter(is_above).map(shifted).collect())
}

/// How much the hypervolume grows if `point` joins the vectors.
pub fn gain(points: &[Vec<f64>], reference: &[f64], point: &[f64]) -> f64 {
    let own = hypervolume(&[point.to_vec()], reference);
    if own > 0.0 { (own - hypervolume(&limited(points, point), reference)).max(0.0) } else { 0.0 }
}

/// How much hypervolume each of the vectors contributes: what would be lost without it.
pub fn contributions(points: &[Vec<f64>], reference: &[f64]) -> Vec<f64> {
    let without = |i: usize| -> Vec<Vec<f64>> {
        points.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, point)| point.clone()).collect()
    };
    (0..points.len()).map(|i| gain(&without(i), reference, &points[i])).collect()
}

/// The worst and the best value of each entry; `None` without a vector.
pub fn ranges(points: &[Vec<f64>]) -> Option<Vec<(f64, f64)>> {
    let mut ranges: Vec<(f64, f64)> = points.first()?.iter().map(|&x| (x, x)).collect();
    for point in points {
        for ((low, high), &x) in ranges.iter_mut().zip(point) {
            (*low, *high) = (low.min(x), high.max(x));
        }
    }
    Some(ranges)
}

/// The reference to use: `wanted` where it is given, otherwise a tenth of the front's range below its worst value. If the front has
/// no range in an entry, that of all vectors counts, or else the size of the value. `None` without a vector.
pub fn reference(points: &[Vec<f64>], wanted: &[Option<f64>]) -> Option<Vec<f64>> {
    let on_front: Vec<Vec<f64>> = front(points).into_iter().map(|i| points[i].clone()).collect();
    let inferred = |((low, high), (least, most)): ((f64, f64), (f64, f64))| {
        let range = if high > low { high - low } else { most - least };
        low - 0.1 * if range > 0.0 { range } else { low.abs().max(1e-9) }
    };
    let inferred = ranges(&on_front)?.into_iter().zip(ranges(points)?).map(inferred);
    Some(inferred.zip(wanted).map(|(inferred, wanted)| wanted.unwrap_or(inferred)).collect())
}

/// The index of the vector at the knee of a front: the one that covers most of the front's box, in units of the front's ranges. It
/// gives up little in any entry. The first of equal ones; `None` without a vector.
pub fn knee(front: &[Vec<f64>]) -> Option<usize> {
    let ranges = ranges(front)?;
    let share =
        |(&x, &(low, high)): (&f64, &(f64, f64))| if high > low { (x - low) / (high - low) } else { 1.0 };
    let shares = |point: &Vec<f64>| -> Vec<f64> { point.iter().zip(&ranges).map(share).collect() };
    let covered = |i: &usize| {
        let shares = shares(&front[*i]);
        (shares.iter().product::<f64>(), shares.iter().sum::<f64>())
    };
    (0..front.len())
        .map(|i| (i, covered(&i)))
        .reduce(|best, next| if next.1 > best.1 { next } else { best })
        .map(|(i, _)| i)
}

/// The vectors, with each entry cut down to that of `point`.
fn limited(points: &[Vec<f64>], point: &[f64]) -> Vec<Vec<f64>> {
    points.iter().map(|other| other.iter().zip(point).map(|(a, b)| a.min(*b)).collect()).collect()
}

/// The hypervolume above zero of vectors whose entries are positive.
fn volume(points: Vec<Vec<f64>>) -> f64 {
    let mut points: Vec<Vec<f64>> = front(&points).into_iter().map(|i| points[i].clone()).collect();
    let Some(d) = points.first().map(Vec::len) else { return 0.0 };
    let last = |a: &Vec<f64>, b: &Vec<f64>| b[d - 1].total_cmp(&a[d - 1]);
    points.sort_by(last);
    match d {
        1 => points[0][0],
        2 => area(points.iter().map(|p| (p[0], p[1]))),
        3 => stacked(&points),
        _ => {
            // Best last entry first: what a vector covers alone is then limited by few of the others.
            let alone = |i: usize| {
                let own: f64 = points[i].iter().product();
                own - volume(limited(&points[i + 1..], &points[i]))
            };
            (0..points.len()).map(alone).sum()
        }
    }
}

/// The area covered by non-dominated pairs in the order of falling second entries, and so of rising first ones.
fn area(pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (mut area, mut covered) = (0.0, 0.0);
    for (x, y) in pairs {
        area += (x - covered) * y;
        covered = x;
    }
    area
}

/// The volume covered by triples in the order of falling third entries: slab by slab, each with the area that the triples so far
/// cover.
fn stacked(points: &[Vec<f64>]) -> f64 {
    let mut stairs: Vec<(f64, f64)> = Vec::new(); // second entries falling, first ones rising
    let mut volume = 0.0;
    for (i, point) in points.iter().enumerate() {
        let step = (point[0], point[1]);
        if !stairs.iter().any(|known| known.0 >= step.0 && known.1 >= step.1) {
            stairs.retain(|known| known.0 > step.0 || known.1 > step.1);
            let at = stairs.partition_point(|known| known.1 > step.1);
            stairs.insert(at, step);
        }
        let below = points.get(i + 1).map_or(0.0, |next| next[2]);
        if point[2] > below {
            volume += area(stairs.iter().copied()) * (point[2] - below);
        }
    }
    volume
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::RngExt;

    use super::*;
    use crate::optimizer::rng;

    /// Vectors of `d` entries on a coarse grid, so that ties are common.
    fn vectors(d: usize, n: usize) -> impl Strategy<Value = Vec<Vec<f64>>> {
        let entry = (0..12_i32).prop_map(|x| f64::from(x) / 10.0);
        prop::collection::vec(prop::collection::vec(entry, d), 0..n)
    }

    fn any_vectors() -> impl Strategy<Value = (usize, Vec<Vec<f64>>)> {
        (1..7_usize).prop_flat_map(|d| vectors(d, 9).prop_map(move |points| (d, points)))
    }

    /// The hypervolume by inclusion and exclusion.
    fn brute_force(points: &[Vec<f64>], reference: &[f64]) -> f64 {
        let corner = |subset: u32| {
            let mut low = vec![f64::INFINITY; reference.len()];
            for (i, point) in points.iter().enumerate().filter(|(i, _)| subset >> i & 1 == 1) {
                let _ = i;
                low.iter_mut().zip(point).for_each(|(low, x)| *low = low.min(*x));
            }
            low.iter().zip(reference).map(|(x, r)| (x - r).max(0.0)).product::<f64>()
        };
        let signed =
            |subset: u32| if subset.count_ones() % 2 == 1 { corner(subset) } else { -corner(subset) };
        (1..1_u32 << points.len()).map(signed).sum()
    }

    proptest! {
        #[test]
        fn nothing_dominates_the_front_and_everything_else_is_covered_by_it((_, points) in any_vectors()) {
            let front = front(&points);
            for (i, point) in points.iter().enumerate() {
                prop_assert!(!front.contains(&i) || !points.iter().any(|other| dominates(other, point)));
                prop_assert!(front.iter().any(|&j| covers(&points[j], point)));
            }
        }

        #[test]
        fn a_layer_is_the_front_of_what_earlier_layers_leave((_, points) in any_vectors()) {
            let layers = layers(&points);
            for (i, point) in points.iter().enumerate() {
                let dominating = points.iter().zip(&layers).filter(|(other, _)| dominates(other, point));
                prop_assert_eq!(layers[i], dominating.map(|(_, layer)| layer + 1).max().unwrap_or(0));
            }
            let best = best_layers(&points, 3);
            prop_assert!(best.len() >= points.len().min(3));
            let last = best.last().map_or(0, |&i| layers[i]);
            prop_assert!((0..points.len()).all(|i| best.contains(&i) == (layers[i] <= last)));
        }

        #[test]
        fn the_hypervolume_is_that_of_inclusion_and_exclusion((d, points) in any_vectors(), low in -1.0..0.6_f64) {
            let reference = vec![low; d];
            let (fast, slow) = (hypervolume(&points, &reference), brute_force(&points, &reference));
            prop_assert!((fast - slow).abs() < 1e-9 * (1.0 + slow), "{} for {}", fast, slow);
        }

        #[test]
        fn a_gain_is_the_difference_of_two_hypervolumes((d, mut points) in any_vectors(), at in 0.0..1.3_f64) {
            let (reference, point) = (vec![0.05; d], vec![at; d]);
            let gain = gain(&points, &reference, &point);
            let before = hypervolume(&points, &reference);
            points.push(point);
            prop_assert!((hypervolume(&points, &reference) - before - gain).abs() < 1e-9);
        }

        #[test]
        fn contributions_are_what_is_lost((d, points) in any_vectors()) {
            let reference = vec![-0.1; d];
            let whole = hypervolume(&points, &reference);
            for (i, lost) in contributions(&points, &reference).into_iter().enumerate() {
                let mut others = points.clone();
                others.remove(i);
                prop_assert!((whole - hypervolume(&others, &reference) - lost).abs() < 1e-9);
            }
        }

        #[test]
        fn a_default_reference_is_below_the_front((d, points) in any_vectors()) {
            match reference(&points, &vec![None; d]) {
                None => prop_assert!(points.is_empty()),
                Some(reference) => for i in front(&points) {
                    prop_assert!(points[i].iter().zip(&reference).all(|(x, r)| x > r));
                }
            }
        }
    }

    #[test]
    fn in_eight_dimensions_it_is_the_share_of_random_points_that_are_covered() {
        let mut rng = rng(0, 0);
        let points: Vec<Vec<f64>> =
            (0..12).map(|_| (0..8).map(|_| rng.random_range(0.3..1.0)).collect()).collect();
        let n = 100_000;
        let is_covered = |rng: &mut crate::optimizer::Rng| {
            let at: Vec<f64> = (0..8).map(|_| rng.random_range(0.0..1.0)).collect();
            points.iter().any(|point| covers(point, &at))
        };
        let share = (0..n).filter(|_| is_covered(&mut rng)).count() as f64 / f64::from(n);
        let exact = hypervolume(&points, &[0.0; 8]);
        assert!((exact - share).abs() < 4.0 * (share / f64::from(n)).sqrt(), "{exact} and {share}");
    }

    #[test]
    fn the_knee_gives_up_little_of_anything() {
        let front = [[0.0, 1.0], [0.6, 0.9], [0.8, 0.5], [1.0, 0.0]].map(Vec::from);
        assert_eq!(knee(&front), Some(1));
        assert_eq!(knee(&front[..1]), Some(0));
        assert_eq!(knee(&[]), None);
    }

    #[test]
    fn a_reference_that_is_given_is_kept() {
        let points = [[0.0, 1.0], [1.0, 0.0], [-5.0, -5.0]].map(Vec::from);
        assert_eq!(reference(&points, &[None, Some(-3.0)]), Some(vec![-0.1, -3.0]));
        assert_eq!(reference(&points[..1], &[None, None]).unwrap()[1], 0.9);
    }
}
