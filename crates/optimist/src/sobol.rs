//! Sobol points: numbers that fill the unit cube more evenly than random ones.
//!
//! Given: a dimension and, to scramble, a generator. Gives: any point of the sequence by its index.
//!
//! The direction numbers are those of Joe and Kuo (2008), in the order of the Gray code (Antonov and Saleev 1979).
//! Scrambling is Matoušek's (1998): each coordinate's digits are multiplied by a random lower triangular matrix
//! and shifted. It keeps every power of two of points as evenly spread as before, while each of them is uniform.

use std::sync::LazyLock;

use rand::RngExt;

use crate::history::History;
use crate::optimizer::{Rng, own_rng};

/// The largest dimension that direction numbers are tabulated for.
pub const MAX_DIMENSION: usize = 1111;

/// A Sobol sequence, scrambled or not.
#[derive(Debug, Clone, PartialEq)]
pub struct Sobol {
    /// For each coordinate: direction number k, as a binary fraction of `DIGITS` digits, flips digits of a point whose index has
    /// bit k in its Gray code.
    directions: Vec<[u64; INDEX_BITS]>,
    /// For each coordinate: the digits of the first point.
    shift: Vec<u64>,
}

/// Indices are below 2^32, as in other implementations.
const INDEX_BITS: usize = 32;

/// As many binary digits as an f64 in [0, 1) can hold.
const DIGITS: usize = 53;

impl Sobol {
    /// The sequence as Joe and Kuo have it; its first point is the origin.
    ///
    /// # Panics
    /// If the dimension is beyond `MAX_DIMENSION`.
    pub fn new(dimension: usize) -> Self {
        assert!(dimension <= MAX_DIMENSION, "Sobol points have at most {MAX_DIMENSION} coordinates");
        static TABLE: LazyLock<Vec<[u64; INDEX_BITS]>> = LazyLock::new(table);
        Self { directions: TABLE[..dimension].to_vec(), shift: vec![0; dimension] }
    }

    /// The sequence scrambled at random.
    ///
    /// # Panics
    /// If the dimension is beyond `MAX_DIMENSION`.
    pub fn scrambled(dimension: usize, rng: &mut Rng) -> Self {
        let mut sobol = Self::new(dimension);
        for (directions, shift) in sobol.directions.iter_mut().zip(&mut sobol.shift) {
            *shift = rng.random::<u64>() >> (64 - DIGITS);
            let matrix = random_lower_triangular(rng);
            directions.iter_mut().for_each(|direction| *direction = times(&matrix, *direction));
        }
        sobol
    }

    /// Point number `index`, each coordinate in [0, 1).
    pub fn point(&self, index: u32) -> Vec<f64> {
        let gray = index ^ (index >> 1);
        let coordinate = |(directions, &shift): (&[u64; INDEX_BITS], &u64)| {
            let flipped = (0..INDEX_BITS).filter(|bit| gray >> bit & 1 == 1);
            let digits = flipped.fold(shift, |digits, bit| digits ^ directions[bit]);
            digits as f64 / (1_u64 << DIGITS) as f64
        };
        self.directions.iter().zip(&self.shift).map(coordinate).collect()
    }
}

/// The direction numbers of all coordinates.
fn table() -> Vec<[u64; INDEX_BITS]> {
    let van_der_corput = std::array::from_fn(|k| 1 << (DIGITS - 1 - k));
    let lines = include_str!("sobol/joe-kuo.txt").lines().filter(|line| !line.starts_with('#'));
    std::iter::once(van_der_corput).chain(lines.map(direction_numbers)).collect()
}

/// The direction numbers of one line of the table: m_1 to m_s as given, the rest by the recurrence of its polynomial
/// (Bratley and Fox 1988).
fn direction_numbers(line: &str) -> [u64; INDEX_BITS] {
    let numbers: Vec<u64> =
        line.split(' ').map(|number| number.parse().expect("the table holds numbers only")).collect();
    let (polynomial, initial) = (numbers[0], &numbers[1..]);
    let degree = initial.len();
    let mut directions = [0; INDEX_BITS];
    for k in 0..INDEX_BITS {
        directions[k] = match initial.get(k) {
            Some(m) => m << (DIGITS - 1 - k),
            None => {
                let inner = (1..degree).filter(|i| polynomial >> (degree - i) & 1 == 1);
                let last = directions[k - degree];
                inner.fold(last ^ (last >> degree), |direction, i| direction ^ directions[k - i])
            }
        };
    }
    directions
}

/// For each digit, the most significant first: the digits, itself included, that it is the parity of.
fn random_lower_triangular(rng: &mut Rng) -> [u64; DIGITS] {
    std::array::from_fn(|row| {
        let own = 1 << (DIGITS - 1 - row);
        let above = ((1_u64 << DIGITS) - 1) & !(2 * own - 1);
        own | (rng.random::<u64>() & above)
    })
}

fn times(matrix: &[u64; DIGITS], digits: u64) -> u64 {
    matrix.iter().fold(0, |product, row| product << 1 | u64::from((row & digits).count_ones() & 1))
}

/// A sequence of evenly spread points of a domain: what optimizers with a model start with.
#[derive(Debug, Clone, Default)]
pub struct Design {
    /// The seed that the sequence is scrambled with.
    pub seed: u64,
}

impl Design {
    /// The next point of the sequence that is neither told nor pending, if one can be found. Its index is the number of points
    /// proposed so far. Coordinates beyond the tabulated ones are random.
    pub fn next(&self, history: &History, rng: &mut Rng) -> Vec<f64> {
        let domain = history.domain();
        let n_even = domain.n_free().min(MAX_DIMENSION);
        let sequence = Sobol::scrambled(n_even, &mut own_rng(self.seed, 0));
        let mut index = history.proposals().len() as u32;
        let draw = || {
            let mut u = sequence.point(index);
            u.resize_with(domain.n_free(), || rng.random());
            index = index.wrapping_add(1);
            domain.place(&u)
        };
        history.fresh(draw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optimizer::rng;

    #[test]
    fn the_points_are_those_of_another_implementation() {
        let d = 1000;
        let oracle = sobol::Sobol::<f64>::new(d, &sobol::params::JoeKuoD6::standard());
        let ours = Sobol::new(d);
        for (index, expected) in oracle.take(300).enumerate() {
            assert_eq!(ours.point(index as u32), expected, "point {index}");
        }
    }

    #[test]
    fn far_points_and_high_dimensions_are_binary_fractions_of_their_own() {
        let sobol = Sobol::new(MAX_DIMENSION);
        assert_eq!(sobol.point(0).len(), MAX_DIMENSION);
        let mut last = sobol.point(u32::MAX);
        assert!(last.iter().all(|u| (0.0..1.0).contains(u)));
        last.sort_by(f64::total_cmp);
        last.dedup();
        assert!(last.len() > MAX_DIMENSION / 2, "{} distinct coordinates", last.len());
    }

    #[test]
    fn scrambled_points_hit_every_cell_of_every_coordinate_once() {
        let sobol = Sobol::scrambled(40, &mut rng(1, 0));
        for column in 0..40 {
            let mut cells: Vec<usize> =
                (0..256).map(|index| (sobol.point(index)[column] * 256.0) as usize).collect();
            cells.sort_unstable();
            assert_eq!(cells, (0..256).collect::<Vec<_>>(), "coordinate {column}");
        }
    }

    #[test]
    fn scrambled_points_keep_the_even_spread_of_pairs_of_coordinates() {
        // Dimensions 1 and 2 are a (0, 2)-sequence: 256 points fall one into each cell of a 16 by 16 grid.
        let sobol = Sobol::scrambled(2, &mut rng(2, 0));
        let mut cells: Vec<usize> = (0..256)
            .map(|index| sobol.point(index))
            .map(|u| 16 * (u[0] * 16.0) as usize + (u[1] * 16.0) as usize)
            .collect();
        cells.sort_unstable();
        assert_eq!(cells, (0..256).collect::<Vec<_>>());
    }

    #[test]
    fn the_first_scrambled_point_is_uniform_over_scramblings() {
        let firsts: Vec<f64> =
            (0..400).map(|seed| Sobol::scrambled(1, &mut rng(seed, 0)).point(0)[0]).collect();
        let mean = firsts.iter().sum::<f64>() / 400.0;
        assert!((mean - 0.5).abs() < 0.06, "{mean}"); // four standard errors
    }
}
