//! What an optimizer was told and what it is waiting for: the same book-keeping for all of them.

use crate::encode::{Domain, is_same_point};
use crate::error::TellError;
use crate::optimizer::{Observation, Outcome, Recommendation};

/// The observations and pending points of one optimizer, all of them feasible in its domain.
#[derive(Debug, Clone)]
pub struct History {
    domain: Domain,
    observations: Vec<Observation>,
    pending: Vec<Vec<f64>>,
}

impl History {
    /// Nothing told, nothing pending.
    pub fn new(domain: Domain) -> History {
        History {
            domain,
            observations: Vec::new(),
            pending: Vec::new(),
        }
    }

    /// The domain that all points lie in.
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// Everything told, in that order, failures included.
    pub fn observations(&self) -> &[Observation] {
        &self.observations
    }

    /// The points proposed and neither told nor withdrawn, in the order they were proposed.
    pub fn pending(&self) -> &[Vec<f64>] {
        &self.pending
    }

    /// Notes that `x` was proposed.
    pub fn propose(&mut self, x: Vec<f64>) {
        self.pending.push(x);
    }

    /// Adds an observation; its point is then no longer pending. A point between feasible ones is
    /// snapped, since that is where it was decoded and tried.
    ///
    /// # Errors
    /// If the point is not in the cube, the value not finite or the noise not a standard deviation.
    /// Nothing is changed then.
    pub fn tell(&mut self, mut observation: Observation) -> Result<(), TellError> {
        self.domain.check(&observation.x)?;
        if let Outcome::Value { y, noise_std } = observation.outcome {
            if !y.is_finite() {
                return Err(TellError::NotFinite { y });
            }
            if let Some(noise_std) = noise_std.filter(|std| !std.is_finite() || *std < 0.0) {
                return Err(TellError::BadNoise { noise_std });
            }
        }
        self.domain.snap(&mut observation.x);
        self.withdraw(&observation.x);
        self.observations.push(observation);
        Ok(())
    }

    /// Forgets that `x` is pending; once, if it was proposed several times.
    pub fn withdraw(&mut self, x: &[f64]) {
        if let Some(idx) = self.pending.iter().position(|pending| is_same_point(pending, x)) {
            self.pending.remove(idx);
        }
    }

    /// Whether `x` was told or is pending, to 1e-9 in each coordinate.
    pub fn is_taken(&self, x: &[f64]) -> bool {
        let told = self.observations.iter().map(|observation| &observation.x);
        told.chain(&self.pending).any(|taken| is_same_point(taken, x))
    }

    /// The largest value told, the first of equals, as a recommendation without a model.
    pub fn best(&self) -> Option<Recommendation> {
        let values = self
            .observations
            .iter()
            .filter_map(|Observation { x, outcome }| match *outcome {
                Outcome::Value { y, .. } => Some((x, y)),
                Outcome::Failed => None,
            });
        let (x, mean) = values.reduce(|best, next| if next.1 > best.1 { next } else { best })?;
        Some(Recommendation {
            x: x.clone(),
            mean,
            std: None,
        })
    }
}
