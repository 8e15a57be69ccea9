//! Who takes part in a benchmark: asked for points, told what became of them, and free to fail.
//!
//! Runs and measurements of speed know nothing else of our own optimizers and of peers. This is the one place where an
//! optimizer of the core becomes a contestant.

use optimist::{Observation, Optimizer, Outcome, Recommendation, Rng, TellError};

use crate::peer::PeerError;

/// Proposes points of the unit cube and learns from what became of them. Values are maximised.
pub trait Contestant {
    /// The next point to try. Every one of them is told.
    ///
    /// # Errors
    /// If it cannot go on; it is not asked again then.
    fn ask(&mut self, rng: &mut Rng) -> Result<Vec<f64>, ContestantError>;

    /// Learns what became of a point, which need not be one that it asked for.
    ///
    /// # Errors
    /// If the point or its value cannot be used.
    fn tell(&mut self, observation: Observation) -> Result<(), ContestantError>;

    /// Learns what became of each outcome at a point.
    ///
    /// # Errors
    /// If the point or a value cannot be used, or there are several outcomes and it knows one.
    fn tell_outcomes(&mut self, x: Vec<f64>, outcomes: &[Outcome]) -> Result<(), ContestantError> {
        match *outcomes {
            [outcome] => self.tell(Observation { x, outcome }),
            _ => Err(TellError::WrongOutcomes { expected: 1, got: outcomes.len() }.into()),
        }
    }

    /// The point that it would bet on, and what it expects there; `None` before the first value.
    fn recommend(&self) -> Option<Recommendation>;
}

/// Why a contestant cannot go on.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ContestantError {
    /// It refused an outcome.
    #[error("it refused an outcome: {0}")]
    Refused(#[from] TellError),
    /// It is a process of its own, which does not answer as it should.
    #[error(transparent)]
    Peer(#[from] PeerError),
}

impl Contestant for Optimizer {
    fn ask(&mut self, rng: &mut Rng) -> Result<Vec<f64>, ContestantError> {
        Ok(Optimizer::ask(self, rng))
    }

    fn tell(&mut self, observation: Observation) -> Result<(), ContestantError> {
        Ok(Optimizer::tell(self, observation)?)
    }

    fn tell_outcomes(&mut self, x: Vec<f64>, outcomes: &[Outcome]) -> Result<(), ContestantError> {
        Ok(Optimizer::tell_outcomes(self, x, outcomes)?)
    }

    fn recommend(&self) -> Option<Recommendation> {
        Optimizer::recommend(self)
    }
}
