//! What the unbounded numbers of CMA-ES mean in a domain.
//!
//! Axes under constraints: numbers are steps from the middle of the feasible set, in its own directions (so that a mixture of three
//! has two numbers), and beyond its end they stand for the nearest feasible point. The distribution learns from the numbers as they
//! were drawn: learning from where they were moved to was worse, by orders of magnitude where the optimum was on an edge of a
//! mixture. Other real axes: the identity except for the last twentieth at each end, which is bent smoothly so that all numbers map
//! to [0, 1] (pycma's `BoundTransform`). Grids: the nearest level. One-hot axes: the largest of as many numbers as there are
//! choices. Axes with one level have no number.
//!
//! Where numbers are rounded, a narrow distribution would propose the same level forever. `keep_open` keeps the probability of
//! others at 1 / (n λ) (Hamano et al. 2022, "CMA-ES with Margin"); for choices, which that paper does not cover, no number falls so
//! far behind the largest that it is chosen less often.

use std::ops::Range;

use super::distribution::Distribution;
use crate::encode::{AxisKind, Coupling, Domain, Grid};
use crate::linalg::{add_scaled, dot};
use crate::normal::{below, quantile};

/// Initial standard deviation, on an axis of length 1.
const INITIAL_STD: f64 = 1.0 / 6.0;

/// The share of a real axis at each end that is bent.
const BEND: f64 = 0.05;

/// How far the number of a choice starts above the others: a standard deviation of the difference.
const CHOICE_LEAD: f64 = INITIAL_STD * std::f64::consts::SQRT_2;

#[derive(Debug, Clone)]
pub(super) struct Genotype {
    domain: Domain,
    parts: Vec<Part>,
    /// The indices of the numbers of each coupling.
    tied: Vec<Range<usize>>,
}

/// The numbers of one axis.
#[derive(Debug, Clone)]
struct Part {
    axis: usize,
    /// Their indices among all numbers.
    numbers: Range<usize>,
    kind: PartKind,
}

#[derive(Debug, Clone)]
enum PartKind {
    Real,
    Grid(Grid),
    Choice,
}

impl Genotype {
    pub(super) fn new(domain: Domain) -> Genotype {
        let mut parts = Vec::new();
        let mut start = 0;
        for (axis, layout) in domain.axes().iter().enumerate() {
            if domain.couplings().iter().any(|coupling| coupling.has(layout.columns.start)) {
                continue;
            }
            let kind = match layout.kind {
                AxisKind::Grid(grid) if grid.count() == 1 => continue,
                AxisKind::OneHot if layout.columns.len() == 1 => continue,
                AxisKind::Real => PartKind::Real,
                AxisKind::Grid(grid) => PartKind::Grid(grid),
                AxisKind::OneHot => PartKind::Choice,
            };
            let numbers = start..start + layout.columns.len();
            start = numbers.end;
            parts.push(Part { axis, numbers, kind });
        }
        let n_directions = |coupling: &Coupling| coupling.polytope().directions().len();
        let numbers = |coupling| {
            let numbers = start..start + n_directions(coupling);
            start = numbers.end;
            numbers
        };
        let tied = domain.couplings().iter().map(numbers).collect();
        Genotype { domain, parts, tied }
    }

    /// Numbers that prefer no value on any axis.
    pub(super) fn middle(&self) -> Vec<f64> {
        let middle = |part: &Part| {
            let middle = if matches!(part.kind, PartKind::Choice) { 0.0 } else { 0.5 };
            vec![middle; part.numbers.len()]
        };
        let centre = self.tied.iter().flat_map(|numbers| vec![0.0; numbers.len()]);
        self.parts.iter().flat_map(middle).chain(centre).collect()
    }

    /// Initial standard deviations: wide enough on coarse grids to reach the next level, and under constraints a sixth of the
    /// spread of feasible points.
    pub(super) fn initial_stds(&self) -> Vec<f64> {
        let std = |part: &Part| match part.kind {
            PartKind::Grid(grid) => vec![f64::max(INITIAL_STD, 0.5 / (grid.count() - 1) as f64)],
            PartKind::Real | PartKind::Choice => vec![INITIAL_STD; part.numbers.len()],
        };
        let tied = self.domain.couplings().iter().flat_map(|coupling| {
            let polytope = coupling.polytope();
            let spread = |direction: &Vec<f64>| {
                let squares = direction.iter().zip(polytope.spread()).map(|(d, spread)| (d * spread).powi(2));
                squares.sum::<f64>().sqrt()
            };
            polytope.directions().iter().map(move |direction| INITIAL_STD * spread(direction))
        });
        self.parts.iter().flat_map(std).chain(tied).collect()
    }

    /// The feasible point that numbers stand for.
    pub(super) fn express(&self, at: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; self.domain.dimension()];
        for part in &self.parts {
            let columns = self.domain.axes()[part.axis].columns.clone();
            let numbers = &at[part.numbers.clone()];
            match part.kind {
                PartKind::Real => x[columns.start] = bend(numbers[0]),
                PartKind::Grid(grid) => x[columns.start] = grid.level(grid.nearest(numbers[0])),
                PartKind::Choice => self.domain.set_level(part.axis, largest(numbers), &mut x),
            }
        }
        for (coupling, numbers) in self.domain.couplings().iter().zip(&self.tied) {
            let mut z = coupling.polytope().centre().to_vec();
            let directions = coupling.polytope().directions();
            directions.iter().zip(&at[numbers.clone()]).for_each(|(d, step)| add_scaled(*step, d, &mut z));
            coupling.members().iter().zip(z).for_each(|(member, z)| x[member.column] = z);
        }
        self.domain.snap(&mut x);
        x
    }

    /// Numbers that stand for a feasible point; without a preference on inactive axes.
    pub(super) fn preimage(&self, x: &[f64]) -> Vec<f64> {
        let numbers = |part: &Part| {
            let coordinates = &x[self.domain.axes()[part.axis].columns.clone()];
            match part.kind {
                PartKind::Real => vec![unbend(coordinates[0])],
                PartKind::Grid(_) => vec![coordinates[0]],
                PartKind::Choice => coordinates.iter().map(|share| CHOICE_LEAD * share).collect(),
            }
        };
        let tied = self.domain.couplings().iter().flat_map(|coupling| steps_from_centre(coupling, x));
        self.parts.iter().flat_map(numbers).chain(tied).collect()
    }

    /// Moves and widens the distribution, as little as possible, so that every level and choice stays possible.
    pub(super) fn keep_open(&self, distribution: &mut Distribution) {
        let least = 1.0 / (distribution.mean().len() * distribution.population()) as f64;
        let mut is_stretched = false;
        for part in &self.parts {
            let number = part.numbers.start;
            match part.kind {
                PartKind::Real => {}
                PartKind::Grid(grid) => {
                    let (mean, std) = (distribution.mean()[number], distribution.std(number));
                    let open = with_margin(&grid, mean, std, least);
                    distribution.set_mean(number, open.mean);
                    if open.std != std {
                        distribution.stretch(number, open.std / std);
                        is_stretched = true;
                    }
                }
                PartKind::Choice => keep_choices_open(part.numbers.clone(), least, distribution),
            }
        }
        if is_stretched {
            distribution.refactor();
        }
    }
}

/// The numbers of a point under constraints.
fn steps_from_centre(coupling: &Coupling, x: &[f64]) -> Vec<f64> {
    let polytope = coupling.polytope();
    let columns = coupling.members().iter().map(|member| member.column);
    let step: Vec<f64> = columns.zip(polytope.centre()).map(|(column, centre)| x[column] - centre).collect();
    polytope.directions().iter().map(|direction| dot(direction, &step)).collect()
}

/// A normal distribution of one number.
#[derive(Debug, PartialEq)]
struct Normal {
    mean: f64,
    std: f64,
}

/// The normal closest to the given one under which levels other than the mean's have a probability of `least`: half of it on either
/// side, or all on the one side that has levels.
fn with_margin(grid: &Grid, mean: f64, std: f64, least: f64) -> Normal {
    let level = grid.nearest(mean);
    let between = |a: usize, b: usize| 0.5 * (grid.level(a) + grid.level(b));
    let low = level.checked_sub(1).map(|below| between(below, level));
    let high = (level + 1 < grid.count()).then(|| between(level, level + 1));
    let (low, high) = match (low, high) {
        (Some(low), Some(high)) => (low, high),
        (None, None) => return Normal { mean, std },
        (Some(edge), None) | (None, Some(edge)) => {
            let reach = -quantile(least) * std;
            return Normal { mean: mean.clamp(edge - reach, edge + reach), std };
        }
    };
    let (p_low, p_high) = (below((low - mean) / std), below((mean - high) / std));
    if p_low.min(p_high) >= 0.5 * least {
        return Normal { mean, std };
    }
    // What one side is given is taken from the other side and the middle, in proportion to what they
    // have to spare (the paper's eqs. 14 to 17).
    let p_middle = 1.0 - p_low - p_high;
    let (q_low, q_high) = (p_low.max(0.5 * least), p_high.max(0.5 * least));
    let excess = q_low + q_high + p_middle - 1.0;
    let spare = q_low + q_high + p_middle - 1.5 * least;
    let shrunk = |q: f64| q - excess / spare * (q - 0.5 * least);
    let (z_low, z_high) = (-quantile(shrunk(q_low)), -quantile(shrunk(q_high)));
    let std = (high - low) / (z_low + z_high);
    Normal { mean: low + z_low * std, std }
}

/// Raises the means that are too far below the largest one.
fn keep_choices_open(numbers: Range<usize>, least: f64, distribution: &mut Distribution) {
    let first = numbers.start + largest(&distribution.mean()[numbers.clone()]);
    let lead = -quantile(least);
    for number in numbers.filter(|&number| number != first) {
        let floor = distribution.mean()[first] - lead * distribution.std_of_difference(first, number);
        distribution.set_mean(number, distribution.mean()[number].max(floor));
    }
}

/// The index of the largest number, the first of equal ones.
fn largest(numbers: &[f64]) -> usize {
    (1..numbers.len()).fold(0, |best, idx| if numbers[idx] > numbers[best] { idx } else { best })
}

/// Maps any number to [0, 1]: periodic, smooth everywhere, and the identity away from both ends.
fn bend(number: f64) -> f64 {
    let length = 1.0 + 2.0 * BEND;
    let offset = (number + BEND).rem_euclid(2.0 * length);
    let u = if offset > length { 2.0 * length - offset } else { offset } - BEND; // in [-BEND, 1 + BEND]
    let bent = if u < BEND {
        (u + BEND).powi(2) / (4.0 * BEND)
    } else if u > 1.0 - BEND {
        1.0 - (1.0 + BEND - u).powi(2) / (4.0 * BEND)
    } else {
        u
    };
    bent.clamp(0.0, 1.0)
}

/// The number nearest to the middle that is bent to `x`.
fn unbend(x: f64) -> f64 {
    if x < BEND {
        2.0 * (BEND * x).sqrt() - BEND
    } else if x > 1.0 - BEND {
        1.0 + BEND - 2.0 * (BEND * (1.0 - x)).sqrt()
    } else {
        x
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::baselines::checks;
    use crate::optimizer::rng;

    fn grid(last: i64) -> Grid {
        use crate::encode::Encoding;
        use crate::space::{Kind, Parameter, Space};
        let kind = Kind::Int { low: 0, high: last, log: false, step: None };
        let space = Space::new(vec![Parameter::new("i", kind)]).unwrap();
        match Encoding::new(space).domain().axes()[0].kind {
            AxisKind::Grid(grid) => grid,
            _ => panic!("integers are grids"),
        }
    }

    proptest! {
        #[test]
        fn bending_undoes_unbending(x in 0.0..=1.0f64) {
            prop_assert!((bend(unbend(x)) - x).abs() < 1e-12);
        }

        #[test]
        fn all_numbers_are_bent_into_the_axis_without_jumps(number in -5.0..5.0f64) {
            prop_assert!((0.0..=1.0).contains(&bend(number)));
            prop_assert!((bend(number + 1e-6) - bend(number)).abs() <= 1.001e-6);
        }

        #[test]
        fn the_level_of_the_mean_is_left_often_enough(
            last in 1..9_i64, mean in -0.5..1.5f64, log_std in -18.0..0.0f64, least in 1e-4..0.05f64
        ) {
            let grid = grid(last);
            let Normal { mean: moved, std } = with_margin(&grid, mean, log_std.exp(), least);
            let level = grid.nearest(mean);
            let edge = |other: usize| 0.5 * (grid.level(level) + grid.level(other));
            let p_low = level.checked_sub(1).map(|other| below((edge(other) - moved) / std));
            let p_high = (level + 1 < grid.count()).then(|| below((moved - edge(level + 1)) / std));
            let sides = p_low.iter().chain(&p_high).count() as f64;
            for p in p_low.iter().chain(&p_high) {
                prop_assert!(*p >= least / sides * (1.0 - 1e-6), "{p} of {least}");
            }
        }
    }

    #[test]
    fn a_distribution_that_is_wide_enough_is_left_alone() {
        let (mean, std) = (0.52, 0.2);
        assert_eq!(with_margin(&grid(4), mean, std, 0.01), Normal { mean, std });
    }

    #[test]
    fn feasible_points_are_their_preimages_expressed() {
        let domain = checks::conditional();
        let genotype = Genotype::new(domain.clone());
        let mut rng = rng(0, 0);
        assert_eq!(genotype.middle().len(), domain.dimension() - 1, "the axis of one level has no number");
        for _ in 0..100 {
            let x = domain.sample(&mut rng);
            let again = genotype.express(&genotype.preimage(&x));
            assert!(x.iter().zip(&again).all(|(a, b)| (a - b).abs() < 1e-12), "{x:?} {again:?}");
        }
    }
}
