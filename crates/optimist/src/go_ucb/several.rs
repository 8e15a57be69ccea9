//! GO-UCB with several outcomes: a belief for each, and one point that is best under all of them.
//!
//! Given: the history of each outcome. Gives: the next point. Family, scales, noise and warp of each outcome are learnt as those of
//! one are (`belief::growing`); what a point is worth under all of them is in `worth`. Does not know: how a single outcome is
//! searched, the paper's presets (which are about one function).
//!
//! With one goal and constraints, wide and near looks take turns as for one outcome: the point of the largest expected improvement
//! anywhere, or of the likeliest one near the best feasible point, either times the chance that the bounds are met by half a
//! standard deviation of optimism. With several goals it is the point whose optimistic vector adds most to the hypervolume of the
//! front. Pending points are taken as observed at their means.

use std::sync::Arc;

use super::looks_wide;
use crate::belief::Belief;
use crate::belief::growing::Refitting;
use crate::belief::supposed::Supposed;
use crate::belief::unexplained::Noise;
use crate::confidence::Posterior;
use crate::frame::Frame;
use crate::goals::Goals;
use crate::history::History;
use crate::linalg::add_scaled;
use crate::normal::expected_excess;
use crate::optimizer::{Observation, Outcome, Rng, rng};
use crate::oracle::OracleError;
use crate::outcomes::{self, Candidate, Expected};
use crate::policy::{Policy, Suggestion, Why};
use crate::search::{self, Effort, Region};
use crate::settings::Aim as Purpose;
use crate::sobol::Design;
use crate::trust_region::{TrustRegion, WHOLE};
use crate::worth::{Aim, Judged, Known, Outlook, Style, Worth};

/// Points among which the best are looked for, those with the best values.
const CONTENDERS: usize = 96;

/// Incumbents that candidates are spread around.
const MOST_STARTS: usize = 4;

/// Standard deviations of optimism about the vectors of several goals.
const OPTIMISM: f64 = 0.5;

/// Standard deviations of optimism about bounds: the best points lie where one just holds.
const LENIENCY: f64 = 0.5;

/// Trials before one is spent on measuring the noise, as for one outcome.
const MEASURE_NOISE_AFTER: usize = 24;

/// Algorithm 1 for several outcomes.
pub struct Several {
    /// n: how many trials Phase I has.
    pub(super) n: usize,
    /// T: how many Phase II has.
    pub(super) horizon: usize,
    /// From the unit cube to the coordinates of the families.
    pub(super) frame: Frame,
    /// What all data say of each outcome.
    pub(super) models: Vec<Refitting>,
    /// The same with pending points, kept from ask to ask of a batch.
    pub(super) supposed: Vec<Supposed>,
    pub(super) purpose: Purpose,
    pub(super) effort: Effort,
    pub(super) design: Design,
    /// A factor on the square of the gain that is hoped for.
    pub(super) exploration: f64,
    pub(super) trust_region: Option<TrustRegion>,
}

impl Policy for Several {
    fn suggest(&self, history: &History, rng: &mut Rng) -> Suggestion {
        let n_proposed = history.observations().len() + history.pending().len();
        if n_proposed < self.n || history.outcomes().any(|outcome| outcome.best().is_none()) {
            return Suggestion::explore(self.design.next(history, rng));
        }
        match self.most_hopeful(history, rng) {
            Ok(Some(suggestion)) => suggestion,
            Ok(None) => {
                Suggestion::random(history.fresh_uniform(rng), "every point that was found is known already")
            }
            Err(failure) => Suggestion::random(history.fresh_uniform(rng), failure),
        }
    }

    fn candidates(&self, history: &History) -> Vec<Candidate> {
        let rng = &mut rng(0, history.observations().len() as u64);
        match self.beliefs(history, rng) {
            Ok(beliefs) => self.believed(&beliefs, history, &outcomes::contenders(history, CONTENDERS)),
            Err(_) => outcomes::measured(history),
        }
    }

    fn expected_gain(&self, history: &History) -> Option<f64> {
        let rng = &mut rng(0, history.observations().len() as u64);
        let [goal] = history.goals().maximized()[..] else { return None };
        let beliefs = self.beliefs(history, rng).ok()?;
        let stand = self.stand(&beliefs, history);
        let style = Style { leniency: 0.0, margin: 0.0, by_chance: false, optimism: Some(OPTIMISM) };
        let outlooks = self.outlooks(beliefs, &[]);
        let worth = Worth::new(history.goals(), &outlooks, &stand.known, style);
        let Aim::Improve { target, .. } = worth.aim else { return None };
        let (score, region) =
            (Judged { outlooks: &outlooks, worth: &worth }, Region::whole(history.domain()));
        let x = search::argmax(&score, &region, &stand.starts, |_| false, self.effort, rng)?;
        let predictions: Vec<(f64, f64)> = outlooks.iter().map(|outlook| outlook.predict(&x)).collect();
        let outputs = outlooks[goal].belief.outputs;
        let (mean, std) = outputs.restore(predictions[goal].0, predictions[goal].1);
        let chance = worth.feasibility(&predictions);
        Some(chance * expected_excess(mean, std, outputs.restore(target, 0.0).0))
    }
}

/// How things stand, in the units of the models.
struct Stand {
    known: Vec<Known>,
    /// The best points, best first.
    starts: Vec<Vec<f64>>,
    has_feasible: bool,
}

impl Several {
    /// Phase II, lines 2-5; `None` if every point that was found is taken.
    fn most_hopeful(&self, history: &History, rng: &mut Rng) -> Result<Option<Suggestion>, OracleError> {
        let beliefs = self.beliefs(history, rng)?; // lines 2-4
        let mut stand = self.stand(&beliefs, history);
        if let Some(x) = self.worth_repeating(&beliefs, &stand, history) {
            return Ok(Some(Suggestion { x, why: Why::Repeat }));
        }
        let goals = history.goals();
        let near = goals.maximized().len() == 1
            && stand.has_feasible
            && !(self.purpose == Purpose::Answer && looks_wide(history));
        let margin = match goals.maximized()[..] {
            [goal] => {
                (self.exploration * (1 + history.pending().len()) as f64).sqrt() * beliefs[goal].noise_std
            }
            _ => 0.0,
        };
        let style = Style { leniency: LENIENCY, margin, by_chance: near, optimism: Some(OPTIMISM) };
        let family = self.families(&beliefs);
        let outlooks = self.outlooks(beliefs, history.pending());
        let pending = history.pending().iter().map(|x| self.hoped(goals, &outlooks, x));
        stand.known.extend(pending);
        let worth = Worth::new(goals, &outlooks, &stand.known, style);
        let region = self.region(&stand, near, history);
        let score = Judged { outlooks: &outlooks, worth: &worth };
        let taken = |x: &[f64]| history.is_taken(x);
        let x = search::argmax(&score, &region, &stand.starts, taken, self.effort, rng); // line 5
        Ok(x.map(|x| {
            let predictions: Vec<(f64, f64)> = outlooks.iter().map(|outlook| outlook.predict(&x)).collect();
            let radius = worth.radius(&predictions, &outlooks);
            Suggestion { x, why: Why::Optimism { family, radius } }
        }))
    }

    /// What is believed of each outcome, pending points not counted.
    fn beliefs(&self, history: &History, rng: &mut Rng) -> Result<Vec<Arc<Belief>>, OracleError> {
        self.models
            .iter()
            .zip(history.outcomes())
            .map(|(model, outcome)| model.belief(outcome, rng))
            .collect()
    }

    /// The same as models of points, pending ones taken as observed at their means.
    fn outlooks(&self, beliefs: Vec<Arc<Belief>>, pending: &[Vec<f64>]) -> Vec<Model<'_>> {
        let pending: Vec<Vec<f64>> = pending.iter().map(|x| self.frame.apply(x)).collect();
        let outlook = |(belief, supposed): (Arc<Belief>, &Supposed)| Model {
            belief: supposed.belief(&belief, &pending),
            frame: &self.frame,
        };
        beliefs.into_iter().zip(&self.supposed).map(outlook).collect()
    }

    /// These observations with what is believed of every outcome there, after all.
    fn believed(&self, beliefs: &[Arc<Belief>], history: &History, numbers: &[usize]) -> Vec<Candidate> {
        let noises: Vec<Noise> = beliefs
            .iter()
            .zip(history.outcomes())
            .map(|(belief, outcome)| Noise::of(belief, outcome))
            .collect();
        let candidate = |&number: &usize| {
            let x = &history.observations()[number].x;
            let expected =
                beliefs.iter().zip(&noises).zip(history.outcomes()).map(|((belief, noise), outcome)| {
                    let (mean, std) = noise.predict(belief, outcome, x, &self.frame);
                    let (mean, std) = belief.outputs.restore(mean, std);
                    Expected { mean, std: Some(std) }
                });
            Candidate::new(history.goals(), x.clone(), expected.collect())
        };
        numbers.iter().map(candidate).collect()
    }

    fn stand(&self, beliefs: &[Arc<Belief>], history: &History) -> Stand {
        let goals = history.goals();
        let candidates = self.believed(beliefs, history, &outcomes::contenders(history, CONTENDERS));
        let known = |candidate: &Candidate| Known {
            means: candidate
                .expected
                .iter()
                .zip(beliefs)
                .map(|(e, belief)| belief.outputs.apply(e.mean))
                .collect(),
            is_feasible: candidate.is_likely_feasible(),
        };
        let known: Vec<Known> = candidates.iter().map(known).collect();
        let has_feasible = known.iter().any(|known| known.is_feasible);
        let best = match goals.maximized().len() {
            1 => outcomes::ranking(goals, candidates).into_iter().take(1).collect(),
            _ => outcomes::most_of(goals, outcomes::answer(goals, candidates), MOST_STARTS),
        };
        Stand { known, starts: best.into_iter().map(|candidate| candidate.x).collect(), has_feasible }
    }

    /// A pending point as if its means had been measured.
    fn hoped(&self, goals: &Goals, outlooks: &[Model<'_>], x: &[f64]) -> Known {
        let means: Vec<f64> = outlooks.iter().map(|outlook| outlook.predict(x).0).collect();
        let is_feasible = goals.bounds().into_iter().all(|(k, bound)| means[k] >= outlooks[k].apply(bound));
        Known { means, is_feasible }
    }

    /// The best point, if it should be tried once more: of some outcome nothing tells noise from roughness.
    fn worth_repeating(&self, beliefs: &[Arc<Belief>], stand: &Stand, history: &History) -> Option<Vec<f64>> {
        let best = stand.starts.first()?;
        let mut outcomes = beliefs.iter().zip(history.outcomes());
        let is_due = self.purpose == Purpose::Answer
            && history.told_at(best).count() == 1
            && history.observations().len() >= MEASURE_NOISE_AFTER
            && outcomes.any(|(belief, outcome)| Noise::of(belief, outcome) == Noise::Unknown);
        (is_due && !history.is_pending(best)).then(|| best.clone())
    }

    /// Where line 5 looks. With one goal, the trust region around the best feasible point, or everywhere, with edges approached step by
    /// step; with several goals everywhere, since fronts often lie on edges.
    fn region<'a>(&self, stand: &Stand, near: bool, history: &'a History) -> Region<'a> {
        let trust = self.trust_region.as_ref().filter(|_| history.goals().maximized().len() < 2);
        let (Some(trust), Some(centre)) = (trust, stand.starts.first()) else {
            return Region::whole(history.domain());
        };
        let half = if near {
            let width = trust.width(&feasible_values(history), self.n);
            let rounds = history.proposals().iter().filter(|at| at.n_told + at.n_pending >= self.n);
            trust.half_width(&width, rounds.count(), self.horizon)
        } else {
            WHOLE
        };
        let (lower, upper) = trust.around(centre, half, history);
        Region::between(history.domain(), lower, upper)
    }

    fn families(&self, beliefs: &[Arc<Belief>]) -> String {
        let names: Vec<&str> =
            self.models.iter().zip(beliefs).map(|(model, belief)| model.name(belief)).collect();
        names.join(", ")
    }
}

/// Values of the one goal where the bounds are met; every other trial counts as failed.
fn feasible_values(history: &History) -> Vec<Observation> {
    let goals = history.goals();
    let told = |number: usize| {
        let feasible = history.values(number).filter(|values| goals.are_met_by(values));
        let outcome = match (feasible, &goals.maximized()[..]) {
            (Some(values), [goal]) => Outcome::Value { y: values[*goal], noise_std: None },
            _ => Outcome::Failed,
        };
        Observation { x: history.observations()[number].x.clone(), outcome }
    };
    (0..history.observations().len()).map(told).collect()
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

impl Outlook for Model<'_> {
    type At<'a>
        = Posterior<'a>
    where
        Self: 'a;

    fn predict_rows(&self, points: &[Vec<f64>]) -> Vec<(f64, f64)> {
        self.belief.ball.predict_rows(self.frame.rows(points))
    }

    fn coordinates(&self, x: &[f64]) -> Vec<f64> {
        self.frame.apply(x)
    }

    fn at<'a>(&'a self, z: &'a [f64]) -> Self::At<'a> {
        self.belief.ball.posterior(z)
    }

    fn prediction<'a>(at: &Self::At<'a>) -> (f64, f64)
    where
        Self: 'a,
    {
        (at.mean, at.u)
    }

    fn add_grad<'a>(&self, at: Self::At<'a>, in_mean: f64, in_std: f64, grad_x: &mut [f64])
    where
        Self: 'a,
    {
        let mut grad = vec![0.0; grad_x.len()];
        // Without a part in the mean the slope in the standard deviation is one of rounding.
        if in_mean != 0.0 {
            self.belief.ball.grad_x(at, in_std / in_mean, &mut grad);
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
