//! Quasi-random search: as blind as random search, but evenly spread.

use rand::RngExt;

use super::{MAX_DRAWS, first_fresh};
use crate::encode::Domain;
use crate::error::TellError;
use crate::history::History;
use crate::optimizer::{Observation, Optimizer, Recommendation, Rng, own_rng};
use crate::sobol::{self, Sobol as Sequence};

/// Proposes the points of one scrambled Sobol sequence and recommends the best value observed.
#[derive(Debug, Clone)]
pub struct Sobol {
    history: History,
    design: Design,
}

impl Sobol {
    /// A search of `domain`.
    pub fn new(domain: Domain) -> Self {
        Self { history: History::new(domain), design: Design::default() }
    }

    /// With the sequence that `seed` scrambles; seed 0 unless set.
    pub fn with_seed(self, seed: u64) -> Self {
        Self { design: Design { seed }, ..self }
    }
}

impl Optimizer for Sobol {
    fn suggest(&self, rng: &mut Rng) -> Vec<f64> {
        self.design.next(&self.history, rng)
    }

    fn propose(&mut self, x: Vec<f64>) {
        self.history.propose(x);
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

    fn ranking(&self, n: usize) -> Vec<Recommendation> {
        self.history.ranking(n)
    }
}

/// Evenly spread points of a domain, one after the other: also what optimizers with a model start with.
#[derive(Debug, Clone, Default)]
pub(super) struct Design {
    /// What the sequence is scrambled by.
    pub(super) seed: u64,
}

impl Design {
    /// The next point that is neither told nor pending, while there is one to be found: the sequence is entered at the
    /// number of points proposed so far. Coordinates beyond the tabulated ones are random.
    pub(super) fn next(&self, history: &History, rng: &mut Rng) -> Vec<f64> {
        let domain = history.domain();
        let n_even = domain.n_free().min(sobol::MAX_DIMENSION);
        let sequence = Sequence::scrambled(n_even, &mut own_rng(self.seed, 0));
        let mut index = history.n_proposed() as u32;
        let mut draw = || {
            let mut u = sequence.point(index);
            u.resize_with(domain.n_free(), || rng.random());
            index = index.wrapping_add(1);
            domain.place(&u)
        };
        first_fresh(history, MAX_DRAWS, &mut draw).unwrap_or_else(draw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baselines::checks;
    use crate::optimizer::rng;

    #[test]
    fn points_are_spread_evenly_and_by_the_seed() {
        let ask = |seed| Sobol::new(Domain::cube(3)).with_seed(seed).ask_batch(64, &mut rng(0, 0));
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
        checks::all(&|domain, seed| Box::new(Sobol::new(domain).with_seed(seed)));
    }

    #[test]
    fn there_may_be_more_axes_than_tabulated_dimensions() {
        let points = Sobol::new(Domain::cube(1200)).ask_batch(2, &mut rng(0, 0));
        assert!(points[0].iter().zip(&points[1]).all(|(a, b)| a != b));
    }
}
