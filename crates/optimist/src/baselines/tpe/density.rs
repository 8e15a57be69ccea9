//! The densities that TPE compares: mixtures with a kernel around each of some points, and a prior.
//!
//! A kernel is a product over axes: a normal truncated to [0, 1] on real axes, the same made discrete on grids, and a distribution
//! over the choices on one-hot axes. The prior is one more kernel, as wide as the domain. A grid with only two levels, which has
//! nothing between them, is treated as a choice.
//!
//! The kernels are those of Optuna 5, except that cells of a grid reach halfway to the next level on the scale of the axis, where
//! Optuna uses half a step on a log scale as well.

use rand::RngExt;
use rand_distr::StandardNormal;

use crate::encode::{AxisKind, Domain, Grid};
use crate::normal::{LN_SQRT_2PI, log_mass};
use crate::optimizer::Rng;

/// Weight of the prior, where recent points weigh 1 (Optuna's `prior_weight`).
const PRIOR_WEIGHT: f64 = 1.0;

/// With more points than this, older ones have less weight (Optuna's `default_weights`).
const N_FULL_WEIGHT: usize = 25;

/// The smallest width of a kernel, as a share of its axis, however many points there are ("magic clip").
const MIN_WIDTH: f64 = 0.01;

/// A density over some axes of a domain.
pub(super) struct Density {
    /// The probability of each kernel, the prior's last.
    shares: Vec<f64>,
    /// The factors of all kernels, axis by axis.
    factors: Vec<Factor>,
    /// The indices of the couplings of the domain that are on these axes.
    tied: Vec<usize>,
}

/// The factors of all kernels on one axis.
enum Factor {
    TruncatedNormals(TruncatedNormals),
    /// The probability of each choice under each kernel.
    Choices {
        axis: usize,
        shares: Vec<Vec<f64>>,
    },
}

/// Normals truncated to `low..high`, with their means in it and no wider than it.
struct TruncatedNormals {
    column: usize,
    /// The levels, if only those are feasible.
    grid: Option<Grid>,
    low: f64,
    high: f64,
    means: Vec<f64>,
    stds: Vec<f64>,
    /// Logarithm of the part of each normal that is not cut off.
    log_masses: Vec<f64>,
}

impl Density {
    /// The density around `points`, from the oldest to the newest, on some axes of a domain.
    pub(super) fn new(domain: &Domain, axes: &[usize], points: &[&[f64]]) -> Density {
        let weights = weights(points.len());
        let total: f64 = weights.iter().sum();
        Density {
            shares: weights.iter().map(|weight| weight / total).collect(),
            factors: axes.iter().map(|&axis| Factor::new(domain, axis, points)).collect(),
            tied: (0..domain.couplings().len())
                .filter(|&tied| axes.contains(&domain.couplings()[tied].members()[0].axis))
                .collect(),
        }
    }

    /// Draws the coordinates of the axes into `x`.
    pub(super) fn sample(&self, domain: &Domain, rng: &mut Rng, x: &mut [f64]) {
        let kernel = draw(&self.shares, rng);
        for factor in &self.factors {
            match factor {
                Factor::TruncatedNormals(normals) => x[normals.column] = normals.sample(kernel, rng),
                Factor::Choices { axis, shares } => domain.set_level(*axis, draw(&shares[kernel], rng), x),
            }
        }
        if kernel + 1 == self.shares.len() {
            self.tied.iter().for_each(|&coupling| domain.couplings()[coupling].sample(rng, x));
        }
    }

    /// Logarithm of the density at `x`, a feasible point.
    pub(super) fn log_at(&self, domain: &Domain, x: &[f64]) -> f64 {
        let mut logs: Vec<f64> = self.shares.iter().map(|share| share.ln()).collect();
        for factor in &self.factors {
            match factor {
                Factor::TruncatedNormals(normals) => normals.add_logs(x[normals.column], &mut logs),
                Factor::Choices { axis, shares } => {
                    let choice = domain.level(*axis, x).expect("choices have levels");
                    logs.iter_mut().zip(shares).for_each(|(log, shares)| *log += shares[choice].ln());
                }
            }
        }
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        largest + logs.iter().map(|log| (log - largest).exp()).sum::<f64>().ln()
    }
}

impl Factor {
    fn new(domain: &Domain, axis: usize, points: &[&[f64]]) -> Factor {
        let column = domain.axes()[axis].columns.start;
        let positions = || points.iter().map(|x| x[column]).collect();
        match &domain.axes()[axis].kind {
            AxisKind::Real => Factor::TruncatedNormals(TruncatedNormals::new(
                column,
                None,
                domain.spread(column),
                positions(),
            )),
            AxisKind::Grid(grid) if grid.count() > 2 => Factor::TruncatedNormals(TruncatedNormals::new(
                column,
                Some(*grid),
                domain.spread(column),
                positions(),
            )),
            AxisKind::Grid(grid) => Factor::choices(domain, axis, grid.count(), points),
            AxisKind::OneHot => Factor::choices(domain, axis, domain.axes()[axis].columns.len(), points),
        }
    }

    /// Each kernel prefers its own choice, the more so the more kernels there are.
    fn choices(domain: &Domain, axis: usize, count: usize, points: &[&[f64]]) -> Factor {
        let other = PRIOR_WEIGHT / (points.len() + 1) as f64;
        let total = 1.0 + other * count as f64;
        let around = |x: &&[f64]| {
            let own = domain.level(axis, x).expect("choices have levels");
            (0..count).map(|choice| (other + f64::from(u8::from(choice == own))) / total).collect()
        };
        let mut shares: Vec<Vec<f64>> = points.iter().map(around).collect();
        shares.push(vec![1.0 / count as f64; count]);
        Factor::Choices { axis, shares }
    }
}

impl TruncatedNormals {
    /// `spread` is how much of the axis feasible points take up.
    fn new(column: usize, grid: Option<Grid>, spread: f64, mut means: Vec<f64>) -> TruncatedNormals {
        let (low, high) = match grid {
            None => (0.0, 1.0),
            Some(grid) => (cell(&grid, 0).0, cell(&grid, grid.count() - 1).1),
        };
        let mut stds = widths(&means, low, high, spread * (high - low));
        means.push(0.5 * (low + high));
        stds.push(high - low);
        let log_masses = means.iter().zip(&stds);
        let log_masses = log_masses.map(|(mean, std)| log_mass((low - mean) / std, (high - mean) / std));
        TruncatedNormals { column, grid, low, high, log_masses: log_masses.collect(), means, stds }
    }

    /// A draw from one kernel, by rejection: at least a third of each normal is between the bounds.
    fn sample(&self, kernel: usize, rng: &mut Rng) -> f64 {
        loop {
            let u = self.means[kernel] + self.stds[kernel] * rng.sample::<f64, _>(StandardNormal);
            if (self.low..=self.high).contains(&u) {
                return self.grid.map_or(u, |grid| grid.level(grid.nearest(u)));
            }
        }
    }

    /// Adds the logarithm of each kernel's density at `u`, or of its probability on a grid.
    fn add_logs(&self, u: f64, logs: &mut [f64]) {
        let cell = self.grid.map(|grid| cell(&grid, grid.nearest(u)));
        for (kernel, log) in logs.iter_mut().enumerate() {
            let (mean, std) = (self.means[kernel], self.stds[kernel]);
            *log += match cell {
                None => -0.5 * ((u - mean) / std).powi(2) - std.ln() - LN_SQRT_2PI,
                Some((low, high)) => log_mass((low - mean) / std, (high - mean) / std),
            } - self.log_masses[kernel];
        }
    }
}

/// The interval of numbers nearest to a level; for the first and the last level it is symmetric.
fn cell(grid: &Grid, level: usize) -> (f64, f64) {
    let at = grid.level(level);
    let below = level.checked_sub(1).map(|below| 0.5 * (at - grid.level(below)));
    let above = (level + 1 < grid.count()).then(|| 0.5 * (grid.level(level + 1) - at));
    let (below, above) = (below.or(above).unwrap_or(0.5), above.or(below).unwrap_or(0.5));
    (at - below, at + above)
}

/// The width of the kernel around each number: the larger of the distances to its neighbours, with the bounds as neighbours only of
/// a single number. `widest` is the largest width, and what the smallest one is measured by.
fn widths(means: &[f64], low: f64, high: f64, widest: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..means.len()).collect();
    order.sort_by(|&a, &b| means[a].total_cmp(&means[b]));
    let least = widest * MIN_WIDTH.max(1.0 / (means.len() + 2) as f64);
    let mut widths = vec![0.0; means.len()];
    for (rank, &idx) in order.iter().enumerate() {
        let below = rank.checked_sub(1).map(|below| means[idx] - means[order[below]]);
        let above = order.get(rank + 1).map(|&above| means[above] - means[idx]);
        let width = match (below, above) {
            (None, None) => f64::max(means[idx] - low, high - means[idx]),
            (below, above) => f64::max(below.unwrap_or(0.0), above.unwrap_or(0.0)),
        };
        widths[idx] = width.clamp(least, widest);
    }
    widths
}

/// Weights of `n` points, from the oldest to the newest, and of the prior.
fn weights(n: usize) -> Vec<f64> {
    let n_ramp = n.saturating_sub(N_FULL_WEIGHT);
    let oldest = 1.0 / n as f64;
    let slope = (1.0 - oldest) / (n_ramp.max(2) - 1) as f64;
    let ramp = (0..n_ramp).map(|i| oldest + slope * i as f64);
    ramp.chain((n_ramp..n).map(|_| 1.0)).chain([PRIOR_WEIGHT]).collect()
}

/// Draws an index with the given probabilities.
fn draw(shares: &[f64], rng: &mut Rng) -> usize {
    let mut rest: f64 = rng.random();
    for (idx, share) in shares.iter().enumerate() {
        rest -= share;
        if rest < 0.0 {
            return idx;
        }
    }
    shares.len() - 1 // the shares were rounded to a little less than 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{Axis, Encoding};
    use crate::optimizer::rng;
    use crate::space::{Kind, Parameter, Space};

    fn space(parameters: Vec<Parameter>) -> Domain {
        Encoding::new(Space::new(parameters).unwrap()).domain().clone()
    }

    fn one_axis(kind: Kind) -> Domain {
        space(vec![Parameter::new("p", kind)])
    }

    fn int(low: i64, high: i64, log: bool) -> Kind {
        Kind::Int { low, high, log, step: None }
    }

    /// Every point of a domain with one axis that has levels.
    fn all_levels(domain: &Domain) -> Vec<Vec<f64>> {
        let Axis { kind, columns, .. } = &domain.axes()[0];
        let count = match kind {
            AxisKind::Grid(grid) => grid.count(),
            _ => columns.len(),
        };
        let point = |level| {
            let mut x = vec![0.0; domain.dimension()];
            domain.set_level(0, level, &mut x);
            x
        };
        (0..count).map(point).collect()
    }

    #[test]
    fn a_density_over_levels_sums_to_one_and_is_what_is_sampled() {
        let choices = Kind::Categorical { choices: ["a", "b", "c"].map(|c| c.into()).to_vec() };
        for kind in [int(1, 7, false), int(1, 40, true), Kind::Bool, choices, int(3, 3, false)] {
            let domain = one_axis(kind);
            let levels = all_levels(&domain);
            let points: Vec<&[f64]> = levels.iter().take(2).map(Vec::as_slice).collect();
            let density = Density::new(&domain, &[0], &points);
            let shares: Vec<f64> = levels.iter().map(|x| density.log_at(&domain, x).exp()).collect();
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{shares:?}");

            let mut counts = vec![0; levels.len()];
            let mut rng = rng(0, 0);
            let mut x = vec![0.0; domain.dimension()];
            for _ in 0..20_000 {
                density.sample(&domain, &mut rng, &mut x);
                counts[domain.level(0, &x).unwrap()] += 1;
            }
            for (count, share) in counts.iter().zip(&shares) {
                assert!((f64::from(*count) / 20_000.0 - share).abs() < 0.015, "{counts:?} {shares:?}");
            }
        }
    }

    #[test]
    fn a_density_over_the_square_integrates_to_one() {
        let domain = Domain::cube(2);
        let points: Vec<Vec<f64>> = vec![vec![0.0, 0.3], vec![0.4, 1.0], vec![0.41, 0.9]];
        let points: Vec<&[f64]> = points.iter().map(Vec::as_slice).collect();
        let density = Density::new(&domain, &[0, 1], &points);
        let mut sum = 0.0;
        for i in 0..200 {
            for j in 0..200 {
                sum += density.log_at(&domain, &[(i as f64 + 0.5) / 200.0, (j as f64 + 0.5) / 200.0]).exp();
            }
        }
        assert!((sum / 40_000.0 - 1.0).abs() < 1e-4, "{sum}");
    }

    #[test]
    fn densities_are_those_of_optuna() {
        // Optuna 5.0.0: _ParzenEstimator over FloatDistribution(0, 1) "a" and "b", IntDistribution(0, 4)
        // "c" and CategoricalDistribution of three "d"; log_pdf at the point below.
        let choices = Kind::Categorical { choices: ["a", "b", "c"].map(|c| c.into()).to_vec() };
        let float = Kind::Float { low: 0.0, high: 1.0, log: false, step: None };
        let domain = space(vec![
            Parameter::new("a", float.clone()),
            Parameter::new("b", float),
            Parameter::new("c", int(0, 4, false)),
            Parameter::new("d", choices),
        ]);
        let points: Vec<Vec<f64>> = vec![
            vec![0.1, 0.9, 0.25, 1.0, 0.0, 0.0],
            vec![0.2, 0.5, 1.0, 0.0, 0.0, 1.0],
            vec![0.7, 0.4, 0.25, 0.0, 0.0, 1.0],
        ];
        let points: Vec<&[f64]> = points.iter().map(Vec::as_slice).collect();
        let x = [0.3, 0.45, 0.5, 0.0, 0.0, 1.0];
        for (n, log_pdf) in LOG_PDFS_OF_OPTUNA {
            let density = Density::new(&domain, &[0, 1, 2, 3], &points[..n]);
            assert!((density.log_at(&domain, &x) - log_pdf).abs() < 1e-9, "{n} points");
        }
    }

    /// Weights for each number of points.
    const LOG_PDFS_OF_OPTUNA: [(usize, f64); 4] = [
        (0, -2.608_032_355_537_826_4),
        (1, -2.791_800_060_282_696_4),
        (2, -1.864_309_422_835_376),
        (3, -1.802_032_699_456_330_5),
    ];

    #[test]
    fn old_points_weigh_less_than_new_ones() {
        assert_eq!(weights(0), [1.0]);
        assert_eq!(weights(25), [1.0; 26]);
        assert_eq!(weights(26)[..2], [1.0 / 26.0, 1.0]);
        let weights = weights(35);
        assert!((weights[0] - 1.0 / 35.0).abs() < 1e-15 && (weights[9] - 1.0).abs() < 1e-15);
        assert!(weights.windows(2).all(|pair| pair[0] <= pair[1]));
    }

    #[test]
    fn widths_are_distances_to_neighbours_within_limits() {
        assert_eq!(widths(&[0.25], 0.0, 1.0, 1.0), [0.75]);
        let widths = widths(&[0.1, 0.9, 0.5, 0.5, 0.11], 0.0, 1.0, 1.0);
        let expected = [1.0 / 7.0, 0.4, 0.39, 0.4, 0.39];
        assert!(widths.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{widths:?}");
    }

    #[test]
    fn a_point_far_from_all_kernels_has_a_density() {
        let domain = one_axis(int(0, 1_000_000_000_000, false));
        let points = vec![vec![0.0]; 500];
        let points: Vec<&[f64]> = points.iter().map(Vec::as_slice).collect();
        let density = Density::new(&domain, &[0], &points);
        assert!(density.log_at(&domain, &[1.0]).is_finite());
    }
}
