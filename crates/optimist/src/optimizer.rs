//! Ask and tell: a policy together with its history.
//!
//! Points are encoded (`encode`): plain numbers in the unit cube, feasible in the domain that the optimizer was made for. Values
//! are maximised. Randomness is an argument.

use rand::SeedableRng;

use crate::encode::Domain;
use crate::error::TellError;
use crate::goals::Goals;
use crate::history::History;
use crate::outcomes::{self, Candidate};
use crate::policy::{Change, Memory, Policy, Suggestion};

/// The one generator used everywhere: portable, seedable, with independent streams.
pub type Rng = rand::rngs::ChaCha8Rng;

/// A generator for `seed`. Different `stream`s, one per trial for example, are independent of each other.
pub fn rng(seed: u64, stream: u64) -> Rng {
    let mut rng = Rng::seed_from_u64(seed);
    rng.set_stream(stream);
    rng
}

/// Generator number `index` of the optimizer itself, for what must not change from trial to trial. Trials use the streams from 0
/// up; these count down from the highest.
pub(crate) fn own_rng(seed: u64, index: u64) -> Rng {
    rng(seed, u64::MAX - index)
}

/// The result of a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome {
    /// A measured value; larger is better.
    Value {
        /// The value observed, noise included.
        y: f64,
        /// Standard deviation of this observation's noise if it is known; inferred otherwise.
        noise_std: Option<f64>,
    },
    /// The trial has no value: it crashed, diverged or was infeasible.
    Failed,
}

/// A point with its result.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// The encoded point.
    pub x: Vec<f64>,
    /// The result of the trial there.
    pub outcome: Outcome,
}

impl Observation {
    /// The value observed; `None` if the trial failed.
    pub fn value(&self) -> Option<f64> {
        match self.outcome {
            Outcome::Value { y, .. } => Some(y),
            Outcome::Failed => None,
        }
    }
}

/// The point to use, according to an optimizer.
#[derive(Debug, Clone, PartialEq)]
pub struct Recommendation {
    /// The encoded point.
    pub x: Vec<f64>,
    /// The expected value there, on the scale of the observations.
    pub mean: f64,
    /// Standard deviation of that expectation; `None` without a model.
    pub std: Option<f64>,
}

/// A policy together with its history. It owns the record of what has happened, and extends it by `propose`, `tell` and `withdraw`.
///
/// An optimizer that is rebuilt from the record of those calls, and was never asked for anything, suggests what the original does,
/// bit for bit.
#[derive(Debug, Clone)]
pub struct Optimizer<P = Box<dyn Policy>> {
    policy: P,
    history: History,
}

impl<P: Policy> Optimizer<P> {
    /// An optimizer over `domain`, which the policy must have been made for.
    pub fn new(domain: Domain, policy: P) -> Self {
        Self { policy, history: History::new(domain) }
    }

    /// An optimizer with several outcomes; the policy must have been made for `domain` and `goals`.
    pub fn with_goals(domain: Domain, goals: Goals, policy: P) -> Self {
        Self { policy, history: History::with_goals(domain, goals) }
    }

    /// The policy that suggests points.
    pub fn policy(&self) -> &P {
        &self.policy
    }

    /// What has happened so far.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// A point to try next, and why. Never one that is pending, unless there is nothing else to suggest. Later suggestions do not
    /// depend on whether this one was made.
    pub fn suggest(&self, rng: &mut Rng) -> Suggestion {
        self.policy.suggest(&self.history, rng)
    }

    /// Notes that `x` is going to be tried, whether it was suggested or not. It is pending until it is told or withdrawn.
    pub fn propose(&mut self, x: Vec<f64>) {
        self.history.propose(x);
        let proposed = self.history.pending().last().expect("it has just been proposed");
        self.policy.remember(Change::Proposed(proposed), &self.history);
    }

    /// Tells the result of a trial with one outcome, at a proposed point (which is then no longer pending) or at any other.
    ///
    /// # Errors
    /// If the value is not finite, the point does not lie in the domain, or there are several outcomes. Nothing changes then.
    pub fn tell(&mut self, observation: Observation) -> Result<(), TellError> {
        self.tell_outcomes(observation.x, &[observation.outcome])
    }

    /// Tells the result of each outcome at a point, in the order of the goals. Outcomes that were measured are used even if others
    /// of the same trial failed.
    ///
    /// # Errors
    /// As for [`Optimizer::tell`], or if there are more or fewer outcomes than goals. Nothing changes then.
    pub fn tell_outcomes(&mut self, x: Vec<f64>, outcomes: &[Outcome]) -> Result<(), TellError> {
        self.history.tell_outcomes(x, outcomes)?;
        let told = self.history.observations().last().expect("it has just been told");
        self.policy.remember(Change::Told(told), &self.history);
        Ok(())
    }

    /// Removes `x` from the pending points: its result will never be told.
    pub fn withdraw(&mut self, x: &[f64]) {
        self.history.withdraw(x);
        self.policy.remember(Change::Withdrawn(x), &self.history);
    }

    /// Suggests a point and proposes it, so that it is pending.
    pub fn ask(&mut self, rng: &mut Rng) -> Vec<f64> {
        let x = self.suggest(rng).x;
        self.propose(x.clone());
        x
    }

    /// Starts a batch of points to be tried at the same time. When the batch is dropped, the optimizer is as it was before.
    pub fn batch(&mut self) -> Batch<'_, P> {
        let (n_proposals, memory) = (self.history.proposals().len(), self.policy.memory());
        Batch { optimizer: self, n_proposals, memory }
    }

    /// Asks for `k` points to be tried at the same time; all are then pending.
    pub fn ask_batch(&mut self, k: usize, rng: &mut Rng) -> Vec<Vec<f64>> {
        (0..k).map(|_| self.ask(rng)).collect()
    }

    /// The recommended point; `None` before the first value. With constraints on other outcomes it is one that is likely to meet
    /// them, with the expected value of the goal. Also `None` without a goal, or with several: [`Optimizer::front`] has the answer
    /// then.
    pub fn recommend(&self) -> Option<Recommendation> {
        if self.history.goals().is_single() {
            return self.policy.recommend(&self.history);
        }
        let goal = self.only_goal()?;
        self.front().into_iter().next().map(|candidate| candidate.recommendation(goal))
    }

    /// The best `n` points so far, best first, without repeats; fewer if there are no more. Ranked by what the model expects, if
    /// there is one. With constraints on other outcomes, points that are likely to meet them come first. Empty without a goal, or
    /// with several.
    pub fn ranking(&self, n: usize) -> Vec<Recommendation> {
        if self.history.goals().is_single() {
            return self.policy.ranking(&self.history, n);
        }
        let Some(goal) = self.only_goal() else { return Vec::new() };
        let ranking = outcomes::ranking(self.history.goals(), self.policy.candidates(&self.history));
        ranking.into_iter().take(n).map(|candidate| candidate.recommendation(goal)).collect()
    }

    /// The points to choose from in the end, with the expected values of all outcomes. With several goals that is the front: points
    /// that are likely to meet the constraints and that no other is expected to dominate. Otherwise it is one point: the
    /// recommended one or, with constraints alone, the one most likely to meet them. If no point is likely to meet the constraints,
    /// it is the one most likely to. Empty before the first trial in which every outcome was measured.
    pub fn front(&self) -> Vec<Candidate> {
        outcomes::answer(self.history.goals(), self.policy.candidates(&self.history))
    }

    /// The outcome to maximise, if there is exactly one.
    fn only_goal(&self) -> Option<usize> {
        match self.history.goals().maximized()[..] {
            [goal] => Some(goal),
            _ => None,
        }
    }

    /// The expected improvement of the best value with the next trial, on the scale of the observations; with constraints, of the
    /// best value that meets them. `None` if the policy doesn't know, or without a goal, or with several.
    pub fn expected_gain(&self) -> Option<f64> {
        self.policy.expected_gain(&self.history)
    }

    /// What a user should know before trusting the suggestions, as complete sentences. Usually empty.
    pub fn warnings(&self) -> Vec<String> {
        self.policy.warnings()
    }
}

/// A batch of points to be tried at the same time: each is suggested as if those before it had been proposed. The model is fitted
/// once for all of them.
///
/// ```
/// use optimist::encode::Domain;
/// use optimist::{Method, rng};
///
/// let mut optimizer = Method::default().build(&Domain::cube(2), 20, 0)?;
/// let mut batch = optimizer.batch();
/// for trial in 0..3 {
///     let x = batch.suggest(&mut rng(0, trial)).x;
///     batch.propose(x);
/// }
/// drop(batch);
/// assert!(optimizer.history().pending().is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Batch<'a, P: Policy = Box<dyn Policy>> {
    optimizer: &'a mut Optimizer<P>,
    /// The number of proposals before the batch.
    n_proposals: usize,
    memory: Memory,
}

impl<P: Policy> Batch<'_, P> {
    /// See [`Optimizer::suggest`].
    pub fn suggest(&self, rng: &mut Rng) -> Suggestion {
        self.optimizer.suggest(rng)
    }

    /// Adds `x` to the batch.
    pub fn propose(&mut self, x: Vec<f64>) {
        self.optimizer.propose(x);
    }
}

impl<P: Policy> Drop for Batch<'_, P> {
    fn drop(&mut self) {
        self.optimizer.history.take_back(self.n_proposals);
        self.optimizer.policy.restore(self.memory.take());
    }
}
