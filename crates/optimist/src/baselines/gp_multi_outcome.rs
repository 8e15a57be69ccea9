//! Bayesian optimisation of several outcomes with a Gaussian process for each: GP-EI with constraints or several goals.
//!
//! The processes are those of `gp_bo`. With one goal the acquisition function is the expected improvement over the best point that
//! is likely to meet the bounds, times the probability of feasibility (Gardner et al. 2014), in the log; before there is such a
//! point, that probability alone. With several goals it is the expected hypervolume improvement (Emmerich et al. 2006), exact and
//! in the log, times the same probability. Pending points count as observed at their posterior means.

use super::gp::Gp;
use super::gp::acquisition::MIN_VAR;
use super::gp::fit::Spec;
use super::gp::surrogate::{Fitted, Surrogate};
use super::gp_bo::{EFFORT, MAX_INCUMBENTS};
use crate::acquisition::multi_outcome::{
    AcquisitionFunction, Baseline, BaselinePoint, Criterion, OutcomeModel, Settings,
};
use crate::goals::Goals;
use crate::history::History;
use crate::linalg::{Matrix, add_scaled};
use crate::optimizer::Rng;
use crate::outcomes::{self, CONTENDERS, Candidate, Expected};
use crate::policy::{Policy, Suggestion};
use crate::search::{self, Region};
use crate::sobol::Design;

/// Expected improvements without optimism, as the methods named above have them.
const SETTINGS: Settings =
    Settings { bound_optimism: 0.0, margin: 0.0, by_probability: false, goal_optimism: None };

/// Proposes the argmax of an expected improvement under Gaussian processes of all outcomes.
#[derive(Debug, Clone)]
pub struct GpMultiOutcome {
    explore_trials: usize,
    design: Design,
    surrogates: Vec<Surrogate>,
}

impl GpMultiOutcome {
    /// A search over `dimension` coordinates that begins with `explore_trials` points of the Sobol sequence of `seed`.
    pub fn new(dimension: usize, goals: &Goals, explore_trials: usize, seed: u64) -> Self {
        let surrogates = goals.as_slice().iter().map(|_| Surrogate::new(Spec::botorch(dimension)));
        Self { explore_trials, design: Design { seed }, surrogates: surrogates.collect() }
    }

    fn models(&self, history: &History) -> Vec<Model> {
        let outcomes = self.surrogates.iter().zip(history.outcomes());
        outcomes.map(|(surrogate, outcome)| Model(surrogate.fitted(outcome, 0))).collect()
    }

    /// The argmax of the acquisition function among points that aren't taken, and what users know that function as.
    fn argmax(&self, history: &History, rng: &mut Rng) -> Option<(Vec<f64>, &'static str)> {
        let goals = history.goals();
        let mut models = self.models(history);
        let apply = |k: usize, y: f64| models[k].apply(y);
        let mut baseline = Baseline::new(goals, contenders(&models, history), MAX_INCUMBENTS, apply);
        for x in history.pending() {
            let means: Vec<f64> = models.iter_mut().map(|model| model.fantasize(x)).collect();
            baseline.points.push(BaselinePoint::pending(goals, &models, means));
        }
        let acquisition = AcquisitionFunction::new(goals, &models, &baseline.points, SETTINGS);
        let rule = match acquisition.criterion {
            Criterion::Feasibility => "probability of feasibility",
            Criterion::ExpectedHypervolume { .. } => "expected hypervolume improvement",
            _ => "expected feasible improvement",
        };
        let region = Region::whole(history.domain());
        let taken = |x: &[f64]| history.is_taken(x);
        Some((search::argmax(&acquisition, &region, &baseline.incumbents, taken, EFFORT, rng)?, rule))
    }
}

/// The best points observed, with the posteriors of all outcomes there.
fn contenders(models: &[Model], history: &History) -> Vec<Candidate> {
    let candidate = |number: usize| {
        let x = &history.observations()[number].x;
        let expected = |model: &Model| {
            let posterior = model.0.gp.posterior(x);
            let standard = model.0.standard;
            let std = Some(standard.spread * posterior.var.sqrt());
            Expected { mean: standard.invert(posterior.mean), std }
        };
        Candidate::new(history.goals(), x.clone(), models.iter().map(expected).collect())
    };
    outcomes::contenders(history, CONTENDERS).into_iter().map(candidate).collect()
}

impl Policy for GpMultiOutcome {
    fn suggest(&self, history: &History, rng: &mut Rng) -> Suggestion {
        let n = history.observations().len() + history.pending().len();
        if n < self.explore_trials || history.outcomes().any(|outcome| outcome.best().is_none()) {
            return Suggestion::explore(self.design.next(history, rng));
        }
        match self.argmax(history, rng) {
            Some((x, rule)) => Suggestion::by_model(x, rule),
            None => Suggestion::random(
                self.design.next(history, rng),
                "every point that was found has been tried",
            ),
        }
    }

    fn candidates(&self, history: &History) -> Vec<Candidate> {
        if history.outcomes().any(|outcome| outcome.best().is_none()) {
            return Vec::new();
        }
        contenders(&self.models(history), history)
    }
}

/// The process of one outcome.
struct Model(Fitted);

impl Model {
    /// Counts the posterior mean at x as observed, and returns it.
    fn fantasize(&mut self, x: &[f64]) -> f64 {
        let mean = self.0.gp.posterior(x).mean;
        self.0.gp.update(x, mean, 0.0);
        mean
    }

    fn gp(&self) -> &Gp {
        &self.0.gp
    }
}

/// The posterior at a point, with its gradients.
struct PosteriorWithGrad {
    mean: f64,
    std: f64,
    grad_mean: Vec<f64>,
    grad_var: Vec<f64>,
}

impl OutcomeModel for Model {
    type Posterior<'a> = PosteriorWithGrad;

    fn predict_rows(&self, points: &[Vec<f64>]) -> Vec<(f64, f64)> {
        let d = self.gp().hyper().lengthscales.len();
        let points = Matrix::from_rows(d, points.iter().map(Vec::as_slice));
        let posteriors = self.gp().posteriors(&points).into_iter();
        posteriors.map(|posterior| (posterior.mean, posterior.var.max(MIN_VAR).sqrt())).collect()
    }

    fn coordinates(&self, x: &[f64]) -> Vec<f64> {
        x.to_vec()
    }

    fn posterior<'a>(&'a self, z: &'a [f64]) -> PosteriorWithGrad {
        let (mut grad_mean, mut grad_var) = (vec![0.0; z.len()], vec![0.0; z.len()]);
        let posterior = self.gp().posterior_with_grad(z, &mut grad_mean, &mut grad_var);
        if posterior.var <= MIN_VAR {
            grad_var.fill(0.0);
        }
        let std = posterior.var.max(MIN_VAR).sqrt();
        PosteriorWithGrad { mean: posterior.mean, std, grad_mean, grad_var }
    }

    fn mean_and_std<'a>(posterior: &Self::Posterior<'a>) -> (f64, f64)
    where
        Self: 'a,
    {
        (posterior.mean, posterior.std)
    }

    fn add_grad<'a>(&self, posterior: Self::Posterior<'a>, in_mean: f64, in_std: f64, grad_x: &mut [f64])
    where
        Self: 'a,
    {
        add_scaled(in_mean, &posterior.grad_mean, grad_x);
        add_scaled(0.5 * in_std / posterior.std, &posterior.grad_var, grad_x);
    }

    fn apply(&self, y: f64) -> f64 {
        (y - self.0.standard.center) / self.0.standard.spread
    }

    fn unwarp(&self, z: f64) -> (f64, f64) {
        (z, 1.0)
    }
}
