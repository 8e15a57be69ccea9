//! Which cells: n grows at a fixed d, and d at a fixed n.

use super::{Cell, Cores, Outcomes};
use crate::report::REFERENCE;

/// Optimizers that are measured however many observations there are.
const OURS: [&str; 8] = ["go-ucb", "tpe", "cma-es", "random", "gp-ei", "gp-pi", "gp-ucb", "turbo"];

/// Other people's programs that are measured beside ours.
pub const PEERS: [&str; 7] =
    ["botorch:gp-ei", "botorch:turbo", "optuna:tpe", "optuna:gp", "optuna:cma-es", "skopt", "hebo"];

/// What is measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Sweeps {
    /// Names of the optimizers to time.
    pub optimizers: Vec<String>,
    /// On one core, on all, or both.
    pub cores: Vec<Cores>,
    /// Numbers of observations, in d = [`Sweeps::d`].
    pub by_n: Vec<usize>,
    /// The dimension of those.
    pub d: usize,
    /// Dimensions, for each number of observations of [`Sweeps::n`].
    pub by_d: Vec<usize>,
    /// The numbers of observations of those.
    pub n: Vec<usize>,
    /// Numbers of observations of `go-ucb` with several outcomes, in d = [`Sweeps::d`], on one core.
    pub several: Vec<usize>,
}

impl Default for Sweeps {
    /// Everything but peers.
    fn default() -> Sweeps {
        Sweeps {
            optimizers: OURS.map(str::to_owned).to_vec(),
            cores: vec![Cores::One, Cores::All],
            by_n: vec![10, 100, 500, 1_000, 10_000, 100_000],
            d: 20,
            by_d: vec![5, 20, 100, 500],
            n: vec![72, 1_000],
            several: vec![72, 1_000, 10_000, 100_000],
        }
    }
}

/// Optimizers of the small version: a fitted one, a cheap one, one that does nothing.
pub const QUICK: [&str; 3] = ["go-ucb", "tpe", "random"];

impl Sweeps {
    /// A small version of everything, for a look at how it works.
    pub fn quick() -> Sweeps {
        Sweeps {
            optimizers: QUICK.map(str::to_owned).to_vec(),
            cores: vec![Cores::One],
            by_n: vec![10, 30],
            d: 5,
            by_d: vec![2, 5],
            n: vec![10],
            several: vec![10],
        }
    }

    /// Cells in rows of which each is larger than the one before: what is too large for one is too large for the rest
    /// of its row. A cell may be in two rows. One core first: that is what optimizers are compared on.
    pub(super) fn rows(&self) -> Vec<Vec<Cell>> {
        let mut rows = Vec::new();
        for &cores in &self.cores {
            for optimizer in &self.optimizers {
                let of = |outcomes, n, d| Cell { optimizer: optimizer.clone(), n, d, outcomes, cores };
                let cell = |n, d| of(Outcomes::One, n, d);
                rows.push(self.by_n.iter().map(|&n| cell(n, self.d)).collect());
                rows.extend(self.n.iter().map(|&n| self.by_d.iter().map(|&d| cell(n, d)).collect()));
                if optimizer == REFERENCE && cores == Cores::One {
                    let several = [Outcomes::ThreeGoals, Outcomes::GoalAndTwoBounds];
                    let row = |outcomes| self.several.iter().map(|&n| of(outcomes, n, self.d)).collect();
                    rows.extend(several.map(row));
                }
            }
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{optimizers, peer};

    #[test]
    fn every_optimizer_exists() {
        assert!(optimizers::check(&OURS).is_ok());
        assert!(PEERS.iter().all(|name| peer::NAMES.contains(name)));
    }

    #[test]
    fn rows_grow() {
        let size = |cell: &Cell| cell.n * cell.d;
        for row in Sweeps::default().rows().iter().chain(&Sweeps::quick().rows()) {
            assert!(row.is_sorted_by(|a, b| size(a) < size(b)), "{row:?}");
        }
    }
}
