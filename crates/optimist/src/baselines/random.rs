//! Uniform random search: the least that any optimizer has to beat.

use crate::encode::Domain;
use crate::error::TellError;
use crate::history::History;
use crate::optimizer::{Observation, Optimizer, Recommendation, Rng};

/// Proposes points drawn uniformly from the domain and recommends the best value observed.
#[derive(Debug, Clone)]
pub struct Random {
    history: History,
}

/// Draws before a point that was proposed already is proposed again. A domain of 100 points of
/// which one is left has it found with a chance of 0.99996.
const MAX_DRAWS: usize = 1000;

impl Random {
    /// A search of `domain`.
    pub fn new(domain: Domain) -> Random {
        Random {
            history: History::new(domain),
        }
    }
}

impl Optimizer for Random {
    fn ask(&mut self, rng: &mut Rng) -> Vec<f64> {
        let mut x = self.history.domain().sample(rng);
        for _ in 1..MAX_DRAWS {
            if !self.history.is_taken(&x) {
                break;
            }
            x = self.history.domain().sample(rng);
        }
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
