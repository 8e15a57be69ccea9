//! GO-UCB for several outcomes: a belief for each, and one point that is best under all of them.
//!
//! Given: the history of each outcome. Gives: the next point. Each outcome has a surrogate of its own, as a single one has
//! (`belief::surrogate`); `acquisition::multi_outcome` weighs their predictions. Does not know: how a single outcome is searched,
//! the presets `paper` and `theory` (which are about one function).
//!
//! With one goal and constraints, global and local searches take turns as for one outcome: x_t has the largest expected
//! improvement anywhere, or the likeliest one near the best feasible point, times the probability of feasibility. With several
//! goals the point whose optimistic vector adds most to the hypervolume of the front and the one that is expected to add most take
//! turns. Pending points count as observed at their posterior means.

use std::sync::Arc;

use super::Scope;
use crate::acquisition::multi_outcome::{
    AcquisitionFunction, Baseline, BaselinePoint, Criterion, OutcomeModel, Settings,
};
use crate::answer;
use crate::belief::Belief;
use crate::belief::fantasies::Fantasies;
use crate::belief::noise::Noise;
use crate::belief::surrogate::Surrogate;
use crate::confidence::Posterior;
use crate::frame::Frame;
use crate::history::History;
use crate::linalg::add_scaled;
use crate::normal::expected_excess;
use crate::optimizer::{Rng, rng};
use crate::oracle::OracleError;
use crate::outcomes::{self, CONTENDERS, Candidate, Expected};
use crate::policy::{Policy, Suggestion, Why};
use crate::search::{self, Effort, Region};
use crate::settings::Aim;
use crate::sobol::Design;
use crate::trust_region::{TrustRegion, WHOLE};

/// With several goals: how many points of the front candidates are spread around. No other number is on record.
const MAX_INCUMBENTS: usize = 4;

/// Standard deviations of optimism about each of several goals, in every second search; the others maximize the expected hypervolume
/// improvement. Either alone was worse on some problems, and optimism alone got stuck on a few (docs/results/outcomes.md).
const GOAL_OPTIMISM: f64 = 0.5;

/// Standard deviations of optimism about bounds, since the best feasible points often lie where a bound just holds. None at all was
/// better on two of four problems and worse on the other two (docs/results/outcomes.md).
const BOUND_OPTIMISM: f64 = 0.5;

/// Algorithm 1 for several outcomes.
pub struct MultiOutcomeGoUcb {
    /// n: the length of Phase I.
    pub(super) n: usize,
    /// T: the length of Phase II.
    pub(super) horizon: usize,
    /// From the unit cube to the coordinates of the families.
    pub(super) frame: Frame,
    /// One for each outcome, refitted on all data.
    pub(super) surrogates: Vec<Surrogate>,
    /// For each outcome, the surrogate's belief with pending points counted as observed.
    pub(super) fantasies: Vec<Fantasies>,
    pub(super) aim: Aim,
    pub(super) effort: Effort,
    pub(super) design: Design,
    /// A factor on the square of the improvement to be exceeded.
    pub(super) exploration: f64,
    pub(super) trust_region: Option<TrustRegion>,
}

impl Policy for MultiOutcomeGoUcb {
    fn suggest(&self, history: &History, rng: &mut Rng) -> Suggestion {
        let n_proposed = history.observations().len() + history.pending().len();
        if n_proposed < self.n || history.outcomes().any(|outcome| outcome.best().is_none()) {
            return Suggestion::explore(self.design.next(history, rng));
        }
        Suggestion::or_random(self.optimistic(history, rng), history, rng)
    }

    fn candidates(&self, history: &History) -> Vec<Candidate> {
        let rng = &mut rng(0, history.observations().len() as u64);
        match self.beliefs(history, rng) {
            Ok(beliefs) => self.contenders(&beliefs, history),
            Err(_) => outcomes::measured(history),
        }
    }

    fn expected_gain(&self, history: &History) -> Option<f64> {
        let rng = &mut rng(0, history.observations().len() as u64);
        let [goal] = history.goals().maximized()[..] else { return None };
        let beliefs = self.beliefs(history, rng).ok()?;
        let baseline = self.baseline(&beliefs, history);
        let settings = Settings {
            bound_optimism: 0.0,
            margin: 0.0,
            by_probability: false,
            goal_optimism: None, // there is one goal
        };
        let models = self.models(beliefs, &[]);
        let acquisition = AcquisitionFunction::new(history.goals(), &models, &baseline.points, settings);
        let Criterion::ExpectedImprovement { target, .. } = acquisition.criterion else { return None };
        let region = Region::whole(history.domain());
        let x = search::argmax(&acquisition, &region, &baseline.incumbents, |_| false, self.effort, rng)?;
        let predictions: Vec<(f64, f64)> = models.iter().map(|model| model.predict(&x)).collect();
        let outputs = models[goal].belief.outputs;
        let (mean, std) = outputs.restore(predictions[goal].0, predictions[goal].1);
        let feasibility = acquisition.feasibility(&predictions);
        Some(feasibility * expected_excess(mean, std, outputs.restore(target, 0.0).0))
    }
}

impl MultiOutcomeGoUcb {
    /// Phase II, lines 2 to 5. `None` if every point found has been tried.
    fn optimistic(&self, history: &History, rng: &mut Rng) -> Result<Option<Suggestion>, OracleError> {
        let beliefs = self.beliefs(history, rng)?; // lines 2-4
        let mut baseline = self.baseline(&beliefs, history);
        if let Some(x) = self.best_to_repeat(&beliefs, &baseline, history) {
            return Ok(Some(Suggestion::repeat(x)));
        }
        let goals = history.goals();
        let (scope, margin) = match goals.maximized()[..] {
            [goal] => {
                let exploration = self.exploration * (1 + history.pending().len()) as f64;
                let scope =
                    if baseline.has_feasible() { Scope::next(self.aim, history) } else { Scope::Global };
                (scope, exploration.sqrt() * beliefs[goal].noise_std)
            }
            _ => (Scope::Global, 0.0),
        };
        let n_proposed = history.observations().len() + history.pending().len();
        let settings = Settings {
            bound_optimism: BOUND_OPTIMISM,
            margin,
            by_probability: scope == Scope::Local,
            goal_optimism: (n_proposed % 2 == 1).then_some(GOAL_OPTIMISM),
        };
        let family = self.families(&beliefs);
        let models = self.models(beliefs, history.pending());
        let pending = history.pending().iter().map(|x| {
            let means = models.iter().map(|model| model.predict(x).0).collect();
            BaselinePoint::pending(goals, &models, means)
        });
        baseline.points.extend(pending);
        let acquisition = AcquisitionFunction::new(goals, &models, &baseline.points, settings);
        let region = self.region(&baseline, scope, history);
        let taken = |x: &[f64]| history.is_taken(x);
        let x_t = search::argmax(&acquisition, &region, &baseline.incumbents, taken, self.effort, rng); // line 5
        Ok(x_t.map(|x| {
            let predictions: Vec<(f64, f64)> = models.iter().map(|model| model.predict(&x)).collect();
            let radius = acquisition.radius(&predictions);
            Suggestion { x, why: Why::Optimism { family, radius } }
        }))
    }

    /// The belief about each outcome; pending points don't count.
    fn beliefs(&self, history: &History, rng: &mut Rng) -> Result<Vec<Arc<Belief>>, OracleError> {
        self.surrogates
            .iter()
            .zip(history.outcomes())
            .map(|(surrogate, outcome)| surrogate.belief(outcome, rng))
            .collect()
    }

    /// The beliefs as models of points of the cube, with pending points counted as observed at their means.
    fn models(&self, beliefs: Vec<Arc<Belief>>, pending: &[Vec<f64>]) -> Vec<Model<'_>> {
        let pending: Vec<Vec<f64>> = pending.iter().map(|x| self.frame.apply(x)).collect();
        let model = |(belief, fantasies): (Arc<Belief>, &Fantasies)| Model {
            belief: fantasies.belief(&belief, &pending),
            frame: &self.frame,
        };
        beliefs.into_iter().zip(&self.fantasies).map(model).collect()
    }

    /// The best points observed, with what is expected of every outcome there.
    fn contenders(&self, beliefs: &[Arc<Belief>], history: &History) -> Vec<Candidate> {
        let noises: Vec<Noise> = beliefs
            .iter()
            .zip(history.outcomes())
            .map(|(belief, outcome)| Noise::of(belief, outcome))
            .collect();
        let candidate = |number: usize| {
            let x = &history.observations()[number].x;
            let expected =
                beliefs.iter().zip(&noises).zip(history.outcomes()).map(|((belief, noise), outcome)| {
                    let (mean, std) = noise.predict(belief, outcome, x, &self.frame);
                    let (mean, std) = belief.outputs.restore(mean, std);
                    Expected { mean, std: Some(std) }
                });
            Candidate::new(history.goals(), x.clone(), expected.collect())
        };
        outcomes::contenders(history, CONTENDERS).into_iter().map(candidate).collect()
    }

    fn baseline(&self, beliefs: &[Arc<Belief>], history: &History) -> Baseline {
        let goals = history.goals();
        let n_incumbents = if goals.maximized().len() == 1 { 1 } else { MAX_INCUMBENTS };
        let apply = |k: usize, y: f64| beliefs[k].outputs.apply(y);
        Baseline::new(goals, self.contenders(beliefs, history), n_incumbents, apply)
    }

    /// The best point, if it should be tried once more to measure the noise of some outcome.
    fn best_to_repeat(
        &self,
        beliefs: &[Arc<Belief>],
        baseline: &Baseline,
        history: &History,
    ) -> Option<Vec<f64>> {
        let best = baseline.incumbents.first()?;
        let is_due = self.aim == Aim::Answer
            && history.told_at(best).count() == 1
            && answer::should_repeat(best, beliefs.iter().map(|belief| &**belief), history);
        is_due.then(|| best.clone())
    }

    /// The part of the domain that line 5 searches. With several goals it is all of it, without approaching edges step by step,
    /// since fronts often lie on edges.
    fn region<'a>(&self, baseline: &Baseline, scope: Scope, history: &'a History) -> Region<'a> {
        let trust = self.trust_region.as_ref().filter(|_| history.goals().maximized().len() < 2);
        let (Some(trust), Some(incumbent)) = (trust, baseline.incumbents.first()) else {
            return Region::whole(history.domain());
        };
        let half_width = match scope {
            Scope::Global => WHOLE,
            Scope::Local => {
                let width = trust.width(feasible_values(history), self.n);
                let rounds = history.proposals().iter().filter(|at| at.n_told + at.n_pending >= self.n);
                trust.half_width(&width, rounds.count(), self.horizon)
            }
        };
        trust.region(incumbent, half_width, history)
    }

    /// The names of the families that the beliefs are about.
    fn families(&self, beliefs: &[Arc<Belief>]) -> String {
        let names: Vec<&str> =
            self.surrogates.iter().zip(beliefs).map(|(surrogate, belief)| surrogate.name(belief)).collect();
        names.join(", ")
    }
}

/// The values of the one goal, as the trust region counts them: trials that violate a bound have none.
fn feasible_values(history: &History) -> impl Iterator<Item = Option<f64>> {
    let goal = history.goals().maximized().first().copied();
    let outcome = goal.and_then(|goal| history.outcomes().nth(goal));
    let value = move |number: usize| {
        let is_feasible = history.violation(number) == Some(0.0);
        outcome.filter(|_| is_feasible)?.observations()[number].value()
    };
    (0..history.observations().len()).map(value)
}

/// A belief as a model of points of the cube.
struct Model<'a> {
    belief: Arc<Belief>,
    frame: &'a Frame,
}

impl Model<'_> {
    fn predict(&self, x: &[f64]) -> (f64, f64) {
        self.belief.ball.predict(&self.frame.apply(x))
    }
}

impl OutcomeModel for Model<'_> {
    type Posterior<'a>
        = Posterior<'a>
    where
        Self: 'a;

    fn predict_rows(&self, points: &[Vec<f64>]) -> Vec<(f64, f64)> {
        self.belief.ball.predict_rows(self.frame.rows(points))
    }

    fn coordinates(&self, x: &[f64]) -> Vec<f64> {
        self.frame.apply(x)
    }

    fn posterior<'a>(&'a self, z: &'a [f64]) -> Self::Posterior<'a> {
        self.belief.ball.posterior(z)
    }

    fn mean_and_std<'a>(posterior: &Self::Posterior<'a>) -> (f64, f64)
    where
        Self: 'a,
    {
        (posterior.mean, posterior.u)
    }

    fn add_grad<'a>(&self, posterior: Self::Posterior<'a>, in_mean: f64, in_std: f64, grad_x: &mut [f64])
    where
        Self: 'a,
    {
        let mut grad = vec![0.0; grad_x.len()];
        // Where the mean has no slope, that of the standard deviation is a rounding error.
        if in_mean != 0.0 {
            self.belief.ball.grad_x(posterior, in_std / in_mean, &mut grad);
            self.frame.pull_back(&mut grad);
            add_scaled(in_mean, &grad, grad_x);
        }
    }

    fn apply(&self, y: f64) -> f64 {
        self.belief.outputs.apply(y)
    }

    fn unwarp(&self, z: f64) -> (f64, f64) {
        self.belief.outputs.unwarp(z)
    }
}
