//! Quasi-random search: it ignores values, like random search, but spreads points more evenly.

use crate::history::History;
use crate::optimizer::Rng;
use crate::policy::{Policy, Suggestion};
use crate::sobol::Design;

/// Suggests the points of one scrambled Sobol sequence and recommends the best value observed.
#[derive(Debug, Clone)]
pub struct Sobol {
    design: Design,
}

impl Sobol {
    /// A search with the Sobol sequence that `seed` scrambles.
    pub fn new(seed: u64) -> Self {
        Self { design: Design { seed } }
    }
}

impl Policy for Sobol {
    fn suggest(&self, history: &History, rng: &mut Rng) -> Suggestion {
        Suggestion::explore(self.design.next(history, rng))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baselines::checks;
    use crate::encode::Domain;
    use crate::optimizer::{Optimizer, rng};

    fn search(d: usize, seed: u64) -> Optimizer<Sobol> {
        Optimizer::new(Domain::cube(d), Sobol::new(seed))
    }

    #[test]
    fn points_are_spread_evenly_and_by_the_seed() {
        let ask = |seed| search(3, seed).ask_batch(64, &mut rng(0, 0));
        let points = ask(1);
        for column in 0..3 {
            let mut cells: Vec<usize> = points.iter().map(|x| (x[column] * 64.0) as usize).collect();
            cells.sort_unstable();
            assert_eq!(cells, (0..64).collect::<Vec<_>>());
        }
        assert_eq!(points, ask(1));
        assert_ne!(points, ask(2));
    }

    #[test]
    fn it_does_what_every_baseline_must() {
        checks::all(&|_, seed| Box::new(Sobol::new(seed)));
    }

    #[test]
    fn there_may_be_more_axes_than_tabulated_dimensions() {
        let points = search(1200, 0).ask_batch(2, &mut rng(0, 0));
        assert!(points[0].iter().zip(&points[1]).all(|(a, b)| a != b));
    }
}
