//! Ask and tell: what GO-UCB and every baseline share.
//!
//! Points are encoded (`encode`): plain numbers in the unit cube, feasible for the domain that the
//! optimizer was made with. Values are maximised. Randomness is an argument.
//!
//! The contract: what an optimizer knows is a fold over `propose`, `tell` and `withdraw`, and a
//! suggestion is a pure function of that and of the generator. So one that is rebuilt from the record of
//! those calls, and was never asked for anything, suggests what the original does, bit for bit.

use rand::SeedableRng;

use crate::error::TellError;

/// The one generator used everywhere: portable, seedable, with independent streams.
pub type Rng = rand::rngs::ChaCha8Rng;

/// A generator for `seed`; different `stream`s (one a trial, say) are independent of each other.
pub fn rng(seed: u64, stream: u64) -> Rng {
    let mut rng = Rng::seed_from_u64(seed);
    rng.set_stream(stream);
    rng
}

/// Generator number `index` of an optimizer itself, for what must not change from trial to trial. Trials
/// have the streams from 0 up, these come from the other end.
pub(crate) fn own_rng(seed: u64, index: u64) -> Rng {
    rng(seed, u64::MAX - index)
}

/// What became of a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome {
    /// A measured value; larger is better.
    Value {
        /// The value observed, noise included.
        y: f64,
        /// Standard deviation of this observation's noise where it is known; inferred otherwise.
        noise_std: Option<f64>,
    },
    /// The trial gave no value: it crashed, diverged or was infeasible.
    Failed,
}

/// A point and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// The encoded point.
    pub x: Vec<f64>,
    /// Its outcome.
    pub outcome: Outcome,
}

impl Observation {
    /// The value observed; `None` of a failure.
    pub fn value(&self) -> Option<f64> {
        match self.outcome {
            Outcome::Value { y, .. } => Some(y),
            Outcome::Failed => None,
        }
    }
}

/// The point an optimizer would bet on.
#[derive(Debug, Clone, PartialEq)]
pub struct Recommendation {
    /// The encoded point.
    pub x: Vec<f64>,
    /// What the optimizer expects there, on the scale of the observations.
    pub mean: f64,
    /// How unsure it is of that, one standard deviation; `None` if it has no model.
    pub std: Option<f64>,
}

/// Proposes points and learns from what became of them.
pub trait Optimizer: Send {
    /// A point to try next: never one that is pending while there is anything else to suggest. No later
    /// suggestion depends on whether this one was made.
    fn suggest(&self, rng: &mut Rng) -> Vec<f64>;

    /// `x` is going to be tried, whoever thought of it. It counts as pending until it is told or withdrawn.
    fn propose(&mut self, x: Vec<f64>);

    /// Learns an outcome: of a proposed point, which is then no longer pending, or of any other.
    ///
    /// # Errors
    /// If the value is not finite, or the point does not lie in the domain. Nothing is learnt then.
    fn tell(&mut self, observation: Observation) -> Result<(), TellError>;

    /// Forgets that `x` is pending: its outcome will never be told.
    fn withdraw(&mut self, x: &[f64]);

    /// The best point so far; `None` before the first value.
    fn recommend(&self) -> Option<Recommendation>;

    /// The best points so far, best first, none twice: by what the model expects, where there is one. `n` of them, or fewer
    /// if there are no more.
    fn ranking(&self, n: usize) -> Vec<Recommendation> {
        self.recommend().into_iter().take(n).collect()
    }

    /// By how much the best value is expected to rise with the next trial, on the scale of the observations; `None`
    /// for an optimizer that cannot say.
    fn expected_gain(&self) -> Option<f64> {
        None
    }

    /// What a user should know about how points were found, as whole sentences: a model that could not be fitted, an
    /// assumption that does not hold. Empty as a rule.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// The next point to try, which is then pending.
    fn ask(&mut self, rng: &mut Rng) -> Vec<f64> {
        let x = self.suggest(rng);
        self.propose(x.clone());
        x
    }

    /// `k` points to be tried at the same time.
    fn ask_batch(&mut self, k: usize, rng: &mut Rng) -> Vec<Vec<f64>> {
        (0..k).map(|_| self.ask(rng)).collect()
    }
}
