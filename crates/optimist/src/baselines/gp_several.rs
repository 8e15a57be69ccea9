//! Bayesian optimisation of several outcomes with a Gaussian process for each: GP-EI where there are constraints or several goals.
//!
//! The processes are those of `gp_bo`. With one goal the point has the largest expected improvement over the best point that is
//! likely to meet the bounds, times the probability that it meets them (Gardner et al. 2014), in the log; before there is such a
//! point, that probability alone. With several goals it is the expected hypervolume improvement (Emmerich et al. 2006), exact and in
//! the log, times the same probability. Pending points count as observed at the posterior means.

use super::gp::Gp;
use super::gp::fit::Spec;
use super::gp::surrogate::{Fitted, Surrogate};
use crate::goals::Goals;
use crate::history::History;
use crate::linalg::{Matrix, add_scaled};
use crate::optimizer::Rng;
use crate::outcomes::{self, Candidate, Expected};
use crate::policy::{Policy, Suggestion};
use crate::search::{self, Effort, Region};
use crate::sobol::Design;
use crate::worth::{Aim, Judged, Known, Outlook, Style, Worth};

/// The search for the best point, as for one outcome.
const EFFORT: Effort = Effort { spread: 600, near: 400, climbs: 10, first_steps: 60, steps: 60 };

/// Points among which the best are looked for.
const CONTENDERS: usize = 96;

/// Points that are searched around.
const N_INCUMBENTS: usize = 3;

/// Variances below this count as this much, as in BoTorch.
const MIN_VAR: f64 = 1e-12;

const STYLE: Style = Style { leniency: 0.0, margin: 0.0, by_chance: false, optimism: None };

/// Proposes where Gaussian processes of all outcomes promise most.
#[derive(Debug, Clone)]
pub struct GpSeveral {
    explore_trials: usize,
    design: Design,
    surrogates: Vec<Surrogate>,
}

impl GpSeveral {
    /// A search of `dimension` coordinates that begins with `explore_trials` of the evenly spread points of `seed`.
    pub fn new(dimension: usize, goals: &Goals, explore_trials: usize, seed: u64) -> Self {
        let surrogates = goals.as_slice().iter().map(|_| Surrogate::new(Spec::botorch(dimension)));
        Self { explore_trials, design: Design { seed }, surrogates: surrogates.collect() }
    }

    fn fitted(&self, history: &History) -> Vec<Fitted> {
        let outcomes = self.surrogates.iter().zip(history.outcomes());
        outcomes.map(|(surrogate, outcome)| surrogate.fitted(outcome, 0)).collect()
    }

    /// The most promising point that is not taken, and whether anything that meets the bounds was known.
    fn most_promising(&self, history: &History, rng: &mut Rng) -> Option<(Vec<f64>, &'static str)> {
        let goals = history.goals();
        let mut models: Vec<Model> = self.fitted(history).into_iter().map(Model).collect();
        let candidates = believed(&models, history);
        let known = |candidate: &Candidate| Known {
            means: candidate.expected.iter().zip(&models).map(|(e, model)| model.apply(e.mean)).collect(),
            is_feasible: candidate.is_likely_feasible(),
        };
        let mut known: Vec<Known> = candidates.iter().map(known).collect();
        let best = match goals.maximized().len() {
            1 => outcomes::ranking(goals, candidates),
            _ => outcomes::most_of(goals, outcomes::answer(goals, candidates), N_INCUMBENTS),
        };
        let incumbents: Vec<Vec<f64>> = best.into_iter().take(N_INCUMBENTS).map(|best| best.x).collect();
        for x in history.pending() {
            let means: Vec<f64> = models.iter_mut().map(|model| model.hallucinate(x)).collect();
            let is_feasible = goals.bounds().into_iter().all(|(k, bound)| means[k] >= models[k].apply(bound));
            known.push(Known { means, is_feasible });
        }
        let worth = Worth::new(goals, &models, &known, STYLE);
        let rule = match worth.aim {
            Aim::Feasible => "probability of feasibility",
            Aim::ExpectCover { .. } => "expected hypervolume improvement",
            _ => "expected feasible improvement",
        };
        let (score, region) = (Judged { outlooks: &models, worth: &worth }, Region::whole(history.domain()));
        let taken = |x: &[f64]| history.is_taken(x);
        Some((search::argmax(&score, &region, &incumbents, taken, EFFORT, rng)?, rule))
    }
}

/// The best points told, with what the processes say of them.
fn believed(models: &[Model], history: &History) -> Vec<Candidate> {
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

impl Policy for GpSeveral {
    fn suggest(&self, history: &History, rng: &mut Rng) -> Suggestion {
        let n = history.observations().len() + history.pending().len();
        if n < self.explore_trials || history.outcomes().any(|outcome| outcome.best().is_none()) {
            return Suggestion::explore(self.design.next(history, rng));
        }
        match self.most_promising(history, rng) {
            Some((x, rule)) => Suggestion::by_model(x, rule),
            None => Suggestion::random(self.design.next(history, rng), "all that was found is known already"),
        }
    }

    fn candidates(&self, history: &History) -> Vec<Candidate> {
        if history.outcomes().any(|outcome| outcome.best().is_none()) {
            return Vec::new();
        }
        believed(&self.fitted(history).into_iter().map(Model).collect::<Vec<_>>(), history)
    }
}

/// The process of one outcome.
struct Model(Fitted);

impl Model {
    /// Takes the posterior mean at x as observed.
    fn hallucinate(&mut self, x: &[f64]) -> f64 {
        let mean = self.0.gp.posterior(x).mean;
        self.0.gp.append(x, mean, 0.0);
        mean
    }

    fn gp(&self) -> &Gp {
        &self.0.gp
    }
}

/// The posterior at a point, and its gradients.
struct At {
    mean: f64,
    std: f64,
    grad_mean: Vec<f64>,
    grad_var: Vec<f64>,
}

impl Outlook for Model {
    type At<'a> = At;

    fn predict_rows(&self, points: &[Vec<f64>]) -> Vec<(f64, f64)> {
        let d = self.gp().hyper().lengthscales.len();
        let points = Matrix::from_rows(d, points.iter().map(Vec::as_slice));
        let posteriors = self.gp().posteriors(&points).into_iter();
        posteriors.map(|posterior| (posterior.mean, posterior.var.max(MIN_VAR).sqrt())).collect()
    }

    fn coordinates(&self, x: &[f64]) -> Vec<f64> {
        x.to_vec()
    }

    fn at<'a>(&'a self, z: &'a [f64]) -> At {
        let (mut grad_mean, mut grad_var) = (vec![0.0; z.len()], vec![0.0; z.len()]);
        let posterior = self.gp().posterior_with_grad(z, &mut grad_mean, &mut grad_var);
        if posterior.var <= MIN_VAR {
            grad_var.fill(0.0);
        }
        At { mean: posterior.mean, std: posterior.var.max(MIN_VAR).sqrt(), grad_mean, grad_var }
    }

    fn prediction<'a>(at: &Self::At<'a>) -> (f64, f64)
    where
        Self: 'a,
    {
        (at.mean, at.std)
    }

    fn add_grad<'a>(&self, at: Self::At<'a>, in_mean: f64, in_std: f64, grad_x: &mut [f64])
    where
        Self: 'a,
    {
        add_scaled(in_mean, &at.grad_mean, grad_x);
        add_scaled(0.5 * in_std / at.std, &at.grad_var, grad_x);
    }

    fn apply(&self, y: f64) -> f64 {
        (y - self.0.standard.center) / self.0.standard.spread
    }

    fn unwarp(&self, z: f64) -> (f64, f64) {
        (z, 1.0)
    }
}
