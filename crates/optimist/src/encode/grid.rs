//! Grids: the levels of stepped numbers, integers and flags on an axis from 0 to 1.

use super::scale::{Scale, unit};

/// Levels on [0, 1], evenly spaced or, on a log scale, denser towards the end.
///
/// Beyond 2^40 levels neighbours are so close that they are only exact to 1e-12.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    last: usize,
    /// Distance between neighbouring values, in units of `scale`.
    step: f64,
    scale: Scale,
}

impl Grid {
    /// Levels 0 to `last`, evenly spaced.
    pub(crate) fn linear(last: usize) -> Grid {
        Grid { last, step: 1.0, scale: Scale::linear(last as f64) }
    }

    /// Levels 0 to `last` for the values `low + level * step` on a log scale.
    pub(crate) fn log(last: usize, low: f64, step: f64) -> Grid {
        Grid { last, step, scale: Scale::log(low, last as f64 * step) }
    }

    /// How many levels there are, at least 1.
    pub fn count(&self) -> usize {
        self.last.saturating_add(1)
    }

    /// The position of level `i`, from 0 for the first to 1 for the last; 0.5 if there is only one.
    ///
    /// # Panics
    /// If there is no such level.
    pub fn level(&self, i: usize) -> f64 {
        assert!(i <= self.last, "level {i} of 0 to {}", self.last);
        self.scale.position(i as f64 * self.step)
    }

    /// The level nearest to `u`; of two equally near, the lower.
    pub fn nearest(&self, u: f64) -> usize {
        if self.last == 0 {
            return 0;
        }
        let u = unit(u);
        let below = ((self.scale.offset(u) / self.step) as usize).min(self.last - 1);
        if u - self.level(below) <= self.level(below + 1) - u { below } else { below + 1 }
    }

    /// The level for a uniform `u`: each is as likely as it is wide, that is, from halfway to the
    /// level before to halfway to the level after. The first and the last are as wide outwards as inwards.
    pub(super) fn place(&self, u: f64) -> usize {
        if self.last == 0 {
            return 0;
        }
        let first_half = self.level(1) / 2.0;
        let last_half = (1.0 - self.level(self.last - 1)) / 2.0;
        self.nearest(u * (1.0 + first_half + last_half) - first_half)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// How many of `n` evenly spread numbers are placed on each level.
    fn n_placed(n: usize, count: usize, level: impl Fn(f64) -> usize) -> Vec<usize> {
        let mut n_placed = vec![0; count];
        for i in 0..n {
            n_placed[level((i as f64 + 0.5) / n as f64)] += 1;
        }
        n_placed
    }

    proptest! {
        #[test]
        fn each_level_of_a_linear_grid_is_equally_likely(count in 1..300_usize) {
            let grid = Grid::linear(count - 1);
            prop_assert_eq!(n_placed(8 * count, count, |u| grid.place(u)), vec![8; count]);
        }

        #[test]
        fn the_nearest_level_is_no_further_than_any_other(
            count in 1..100_usize, low in 0.001..1e3, step in 0.001..1e3, u in 0.0..=1.0
        ) {
            let grid = Grid::log(count - 1, low, step);
            let gap = |i| f64::abs(grid.level(i) - u);
            let nearest = grid.nearest(u);
            prop_assert!((0..count).all(|i| gap(nearest) <= gap(i)));
        }
    }

    #[test]
    fn levels_of_a_log_grid_are_as_likely_as_they_are_wide() {
        let grid = Grid::log(999, 1.0, 1.0); // 1 to 1000
        let n_placed = n_placed(1_000_000, 1000, |u| grid.place(u));
        let by_decade =
            [0..9, 9..99, 99..999].map(|decade| n_placed[decade].iter().sum::<usize>() as f64 / 1e6);
        for share in by_decade {
            assert!((share - 1.0 / 3.0).abs() < 0.04, "{by_decade:?}");
        }
    }

    #[test]
    fn levels_run_from_one_end_to_the_other() {
        for grid in [Grid::linear(6), Grid::log(6, 2.0, 3.0), Grid::log(1, 1e-300, 1e10)] {
            assert_eq!((grid.level(0), grid.level(grid.count() - 1)), (0.0, 1.0));
        }
        assert_eq!(Grid::linear(0).level(0), 0.5);
        assert_eq!(Grid::linear(4).level(1), 0.25);
        assert!((Grid::log(99, 1.0, 1.0).level(9) - 0.5).abs() < 1e-15); // 10 of 1 to 100
    }
}
