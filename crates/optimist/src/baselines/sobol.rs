//! Quasi-random search: as blind as random search, but evenly spread.

use rand::RngExt;

use super::{MAX_DRAWS, first_fresh};
use crate::encode::Domain;
use crate::error::TellError;
use crate::history::History;
use crate::optimizer::{Observation, Optimizer, Recommendation, Rng};
use crate::sobol::{self, Sobol as Sequence};

/// Proposes the points of one scrambled Sobol sequence and recommends the best value observed.
#[derive(Debug, Clone)]
pub struct Sobol {
    history: History,
    design: Design,
}

impl Sobol {
    /// A search of `domain`. The sequence is scrambled by the generator of the first ask.
    pub fn new(domain: Domain) -> Self {
        Self { history: History::new(domain), design: Design::default() }
    }
}

impl Optimizer for Sobol {
    fn ask(&mut self, rng: &mut Rng) -> Vec<f64> {
        let x = self.design.next(&self.history, rng);
        self.history.propose(x.clone());
        x
    }

    fn tell(&mut self, observation: Observation) -> Result<(), TellError> {
        self.history.tell(observation)
    }

    fn withdraw(&mut self, x: &[f64]) {
        self.history.withdraw(x);
    }

    fn recommend(&self) -> Option<Recommendation> {
        self.history.best()
    }
}

/// Evenly spread points of a domain, one after the other: also what optimizers with a model start with.
#[derive(Debug, Clone, Default)]
pub(super) struct Design {
    sequence: Option<Sequence>,
    n_drawn: u32,
}

impl Design {
    /// The next point that is neither told nor pending, while there is one to be found.
    pub(super) fn next(&mut self, history: &History, rng: &mut Rng) -> Vec<f64> {
        let fresh = first_fresh(history, MAX_DRAWS, || self.draw(history.domain(), rng));
        fresh.unwrap_or_else(|| self.draw(history.domain(), rng))
    }

    /// Coordinates beyond the tabulated ones are random.
    fn draw(&mut self, domain: &Domain, rng: &mut Rng) -> Vec<f64> {
        let n_even = domain.n_free().min(sobol::MAX_DIMENSION);
        let sequence = self.sequence.get_or_insert_with(|| Sequence::scrambled(n_even, rng));
        let mut u = sequence.point(self.n_drawn);
        u.resize_with(domain.n_free(), || rng.random());
        self.n_drawn = self.n_drawn.wrapping_add(1);
        domain.place(&u)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baselines::checks;
    use crate::optimizer::rng;

    #[test]
    fn points_are_spread_evenly_and_by_the_seed() {
        let ask = |seed| Sobol::new(Domain::cube(3)).ask_batch(64, &mut rng(seed, 0));
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
        checks::all(&|domain| Box::new(Sobol::new(domain)));
    }

    #[test]
    fn there_may_be_more_axes_than_tabulated_dimensions() {
        let points = Sobol::new(Domain::cube(1200)).ask_batch(2, &mut rng(0, 0));
        assert!(points[0].iter().zip(&points[1]).all(|(a, b)| a != b));
    }
}
