//! Ask and tell: a policy, and the history that it is given.
//!
//! Points are encoded (`encode`): plain numbers in the unit cube, feasible for the domain that the optimizer was made with.
//! Values are maximised. Randomness is an argument.

use rand::SeedableRng;

use crate::encode::Domain;
use crate::error::TellError;
use crate::goals::Goals;
use crate::history::History;
use crate::outcomes::{self, Candidate};
use crate::policy::{Change, Memory, Policy, Suggestion};

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

/// A policy with its history: the one owner of what has happened, to which it adds by `propose`, `tell` and `withdraw`.
///
/// One that is rebuilt from the record of those calls, and was never asked for anything, suggests what the original does, bit for
/// bit.
#[derive(Debug, Clone)]
pub struct Optimizer<P = Box<dyn Policy>> {
    policy: P,
    history: History,
}

impl<P: Policy> Optimizer<P> {
    /// A search of `domain`, for which the policy was made.
    pub fn new(domain: Domain, policy: P) -> Self {
        Self { policy, history: History::new(domain) }
    }

    /// The same with several outcomes, for which the policy was made.
    pub fn with_goals(domain: Domain, goals: Goals, policy: P) -> Self {
        Self { policy, history: History::with_goals(domain, goals) }
    }

    /// The rule by which points are suggested.
    pub fn policy(&self) -> &P {
        &self.policy
    }

    /// What has happened so far.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// A point to try next, and why: never one that is pending while there is anything else to suggest. No later suggestion
    /// depends on whether this one was made.
    pub fn suggest(&self, rng: &mut Rng) -> Suggestion {
        self.policy.suggest(&self.history, rng)
    }

    /// `x` is going to be tried, whoever thought of it. It counts as pending until it is told or withdrawn.
    pub fn propose(&mut self, x: Vec<f64>) {
        self.history.propose(x);
        let proposed = self.history.pending().last().expect("it has just been proposed");
        self.policy.remember(Change::Proposed(proposed), &self.history);
    }

    /// Learns the one outcome: of a proposed point, which is then no longer pending, or of any other.
    ///
    /// # Errors
    /// If the value is not finite, the point does not lie in the domain, or there are several outcomes. Nothing is learnt then.
    pub fn tell(&mut self, observation: Observation) -> Result<(), TellError> {
        self.tell_outcomes(observation.x, &[observation.outcome])
    }

    /// Learns what became of each outcome at a point, in the order of the goals. What was measured teaches, even where another
    /// outcome of the same trial failed.
    ///
    /// # Errors
    /// As for [`Optimizer::tell`], or if there are more or fewer outcomes than goals. Nothing is learnt then.
    pub fn tell_outcomes(&mut self, x: Vec<f64>, outcomes: &[Outcome]) -> Result<(), TellError> {
        self.history.tell_outcomes(x, outcomes)?;
        let told = self.history.observations().last().expect("it has just been told");
        self.policy.remember(Change::Told(told), &self.history);
        Ok(())
    }

    /// Forgets that `x` is pending: its outcome will never be told.
    pub fn withdraw(&mut self, x: &[f64]) {
        self.history.withdraw(x);
        self.policy.remember(Change::Withdrawn(x), &self.history);
    }

    /// The next point to try, which is then pending.
    pub fn ask(&mut self, rng: &mut Rng) -> Vec<f64> {
        let x = self.suggest(rng).x;
        self.propose(x.clone());
        x
    }

    /// Begins to think of points that are to be tried at the same time. When it is dropped, it is as if it had not been begun.
    pub fn batch(&mut self) -> Batch<'_, P> {
        let (n_proposals, memory) = (self.history.proposals().len(), self.policy.memory());
        Batch { optimizer: self, n_proposals, memory }
    }

    /// `k` points to be tried at the same time.
    pub fn ask_batch(&mut self, k: usize, rng: &mut Rng) -> Vec<Vec<f64>> {
        (0..k).map(|_| self.ask(rng)).collect()
    }

    /// The point to bet on; `None` before the first value. With constraints on other outcomes that is one that is likely to meet
    /// them, with what is expected of the goal. `None` too where there is no goal, or several: [`Optimizer::front`] has the answer.
    pub fn recommend(&self) -> Option<Recommendation> {
        if self.history.goals().is_single() {
            return self.policy.recommend(&self.history);
        }
        let goal = self.only_goal()?;
        self.front().into_iter().next().map(|candidate| candidate.of(goal))
    }

    /// The best points so far, best first, none twice: by what the model expects, where there is one. `n` of them, or fewer
    /// if there are no more. With constraints on other outcomes, points that are likely to meet them come first. Empty where there
    /// is no goal, or several.
    pub fn ranking(&self, n: usize) -> Vec<Recommendation> {
        if self.history.goals().is_single() {
            return self.policy.ranking(&self.history, n);
        }
        let Some(goal) = self.only_goal() else { return Vec::new() };
        let ranking = outcomes::ranking(self.history.goals(), self.policy.candidates(&self.history));
        ranking.into_iter().take(n).map(|candidate| candidate.of(goal)).collect()
    }

    /// What there is to choose from in the end, with what is believed of every outcome there. With several goals that is the front:
    /// points that are likely to meet the constraints and that no other is expected to beat in every goal. Otherwise it is one
    /// point: the one to bet on, or, with constraints alone, the one that most probably meets them. Empty before the first trial of
    /// which every outcome was measured; if no point is likely to meet the constraints, the one most likely to.
    pub fn front(&self) -> Vec<Candidate> {
        outcomes::answer(self.history.goals(), self.policy.candidates(&self.history))
    }

    /// The outcome that is to be as large as possible, if it is one.
    fn only_goal(&self) -> Option<usize> {
        match self.history.goals().maximized()[..] {
            [goal] => Some(goal),
            _ => None,
        }
    }

    /// By how much the best value is expected to rise with the next trial, on the scale of the observations; with constraints, the
    /// best that meets them. `None` if the policy cannot say, or there is no goal, or several.
    pub fn expected_gain(&self) -> Option<f64> {
        self.policy.expected_gain(&self.history)
    }

    /// What a user should know before trusting the suggestions, as whole sentences. Empty as a rule.
    pub fn warnings(&self) -> Vec<String> {
        self.policy.warnings()
    }
}

/// Points that are to be tried at the same time: each is suggested as if those before it had been proposed. What is fitted to
/// the values told is fitted once for all of them.
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
    /// How many there were before.
    n_proposals: usize,
    memory: Memory,
}

impl<P: Policy> Batch<'_, P> {
    /// See [`Optimizer::suggest`].
    pub fn suggest(&self, rng: &mut Rng) -> Suggestion {
        self.optimizer.suggest(rng)
    }

    /// Supposes that `x` is going to be tried.
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
