//! GO-UCB: Algorithm 1 as ask and tell.
//!
//! Given: a domain, how many trials are planned, the settings; then what became of each trial. Gives: the next point,
//! and in the end the one to bet on. The three presets of `settings` run through the same lines.
//!
//! Departures from the paper, default preset only: the ball is refitted (`belief::refit`; `belief::growing` says when), the
//! argmax may be confined to a trust region, and no point is proposed twice while there is another.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rand::RngExt;

use crate::acquisition::{Effort, ProbabilityOfImprovement, Region, UpperConfidenceBound};
use crate::belief::Belief;
use crate::belief::growing::{Growing, checkpoint};
use crate::belief::recursive::Recursive;
use crate::belief::refit::Refit;
use crate::encode::Domain;
use crate::error::{MethodError, TellError};
use crate::frame::Frame;
use crate::history::{History, ranked};
use crate::model::Family;
use crate::model::kind::FamilyKind;
use crate::normal::expected_excess;
use crate::optimizer::{Observation, Optimizer, Outcome, Recommendation, Rng, own_rng, rng};
use crate::oracle::OracleError;
use crate::schedule::{Plan, explore_trials};
use crate::settings::{Answer, Oracle, Search, Settings, Updates};
use crate::theory::{Ledger, RoundReport, Truth};
use crate::trust_region::Width;

/// Makes a family, at the centres of its hyper-priors.
type MakeFamily = Box<dyn Fn() -> Box<dyn Family> + Send + Sync>;

/// Draws of a uniform point before one that was tried already is accepted: a finite domain may be exhausted.
const REDRAWS: usize = 1000;

/// Points with the highest values of which one is believed to be the best. As many as most runs have; a limit, so that a long run
/// is not gone through each time.
const CONTENDERS: usize = 64;

/// Algorithm 1.
pub struct GoUcb {
    settings: Settings,
    families: Vec<MakeFamily>,
    frame: Frame,
    history: History,
    /// Of the trust region.
    width: Width,
    /// n.
    explore: usize,
    /// T.
    horizon: usize,
    /// Points of Phase II that were proposed.
    n_rounds: usize,
    /// λ and β_t.
    plan: Plan,
    /// For ŵ_0, which must not change from trial to trial.
    seed: u64,
    /// The belief of the last ask: it saves time and changes nothing.
    growing: Mutex<Option<Growing>>,
    /// The recursion so far: likewise.
    recursive: Mutex<Option<Recursive>>,
    /// What is known of the objective, for the reports of preset `theory`.
    truth: Option<Truth>,
    /// The points of Phase II, for the same reports.
    rounds: Vec<Round>,
    /// Why points were drawn at random that a ball should have chosen.
    failure: Mutex<Option<OracleError>>,
}

/// A point of Phase II, and how many observations there were when it was proposed.
struct Round {
    x_t: Vec<f64>,
    n_told: usize,
}

impl GoUcb {
    /// With the families that the settings name. `trials` is how many are planned in all: n and T follow from it. Points that
    /// are told without having been proposed teach as well, and use up nothing of T.
    ///
    /// # Errors
    /// If the settings do not fit together.
    pub fn new(domain: Domain, trials: usize, settings: Settings) -> Result<Self, MethodError> {
        let make = |kind: &FamilyKind| -> MakeFamily {
            let (kind, layers, domain) = (kind.clone(), settings.layers.clone(), domain.clone());
            Box::new(move || kind.build(&domain, &layers))
        };
        let families = settings.families.iter().map(make).collect();
        Self::with_families(domain, trials, settings, families)
    }

    /// With a family of one's own in place of those that the settings name.
    ///
    /// # Errors
    /// If the settings do not fit together.
    pub fn with_family(
        domain: Domain,
        trials: usize,
        settings: Settings,
        make: impl Fn() -> Box<dyn Family> + Send + Sync + 'static,
    ) -> Result<Self, MethodError> {
        Self::with_families(domain, trials, settings, vec![Box::new(make)])
    }

    fn with_families(
        domain: Domain,
        trials: usize,
        settings: Settings,
        families: Vec<MakeFamily>,
    ) -> Result<Self, MethodError> {
        settings.validate()?;
        let explore = settings.explore_trials.unwrap_or_else(|| explore_trials(trials));
        let n_weights = families.first().map_or(0, |make| make().n_weights());
        let horizon = trials.saturating_sub(explore).max(1);
        Ok(Self {
            frame: Frame::new(&domain, settings.scaled),
            plan: settings.schedule.plan(horizon, n_weights),
            history: History::new(domain),
            width: Width::default(),
            explore,
            horizon,
            n_rounds: 0,
            seed: 0,
            growing: Mutex::default(),
            recursive: Mutex::default(),
            truth: None,
            rounds: Vec::new(),
            failure: Mutex::default(),
            families,
            settings,
        })
    }

    /// With the ŵ_0 that is fitted from starts drawn by `seed` (presets `paper` and `theory`); seed 0 unless set.
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, recursive: Mutex::default(), ..self }
    }

    /// The length n of Phase I.
    pub fn explore_trials(&self) -> usize {
        self.explore
    }

    /// λ and β_t.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Preset `theory`: reports are to say how the rounds compare with the truth.
    pub fn know_truth(&mut self, truth: Truth) {
        self.truth = Some(truth);
    }

    /// Preset `theory`: what the proofs say of each round of Phase II so far; empty for the others.
    /// The rounds are gone through again, which takes as long as finding the balls the first time did.
    ///
    /// # Errors
    /// If ŵ_0 cannot be fitted.
    pub fn round_reports(&self) -> Result<Vec<RoundReport>, OracleError> {
        let Plan::Theory(proof) = &self.plan else { return Ok(Vec::new()) };
        if self.rounds.is_empty() {
            return Ok(Vec::new());
        }
        let mut ledger = Ledger::new(proof.clone(), self.truth.clone());
        let family = self.families[0]();
        self.phase_one().iter().for_each(|told| ledger.explored(&*family, &self.frame.apply(&told.x)));
        let mut recursive = self.start_recursion()?;
        for Round { x_t, n_told } in &self.rounds {
            recursive.follow(&self.history.observations()[..*n_told], &self.frame);
            ledger.round(&recursive.belief().ball, &self.frame.apply(x_t));
        }
        Ok(ledger.into_rounds())
    }

    /// What is believed now on all data (`belief::refit`, whatever the preset), pending points not counted; `None` before the first value, or if no family fits.
    pub fn belief(&self) -> Option<Belief> {
        let growing = self.refit(&mut rng(0, self.history.observations().len() as u64)).ok()?;
        let belief = growing.belief().clone();
        *lock(&self.growing) = Some(growing);
        Some(belief)
    }

    /// The paper's answer: one of the points of Phase II, uniformly; of Phase I if there is none.
    pub fn draw_answer(&self, rng: &mut Rng) -> Option<Recommendation> {
        let told = self.history.observations();
        let value = |told: &Observation| {
            told.value().map(|mean| Recommendation { x: told.x.clone(), mean, std: None })
        };
        let phase_two: Vec<Recommendation> = told.iter().skip(self.explore).filter_map(value).collect();
        let drawn = if phase_two.is_empty() { told.iter().filter_map(value).collect() } else { phase_two };
        (!drawn.is_empty()).then(|| drawn[rng.random_range(0..drawn.len())].clone())
    }

    /// Phase I, line 2.
    fn explore(&self, rng: &mut Rng) -> Vec<f64> {
        let domain = self.history.domain();
        let fresh = (0..REDRAWS).map(|_| domain.sample(rng)).find(|x| !self.history.is_taken(x));
        fresh.unwrap_or_else(|| domain.sample(rng))
    }

    /// Phase II, lines 2-5.
    fn exploit(&self, rng: &mut Rng) -> Result<Option<Vec<f64>>, OracleError> {
        match self.settings.updates {
            Updates::Refit => {
                let growing = self.refit(rng)?; // lines 2-4
                let x_t = match self.pending() {
                    none if none.is_empty() => self.most_hopeful(growing.belief(), rng), // line 5
                    pending => {
                        let mut belief = growing.belief().clone();
                        belief.fantasize(&pending);
                        self.most_hopeful(&belief, rng)
                    }
                };
                *lock(&self.growing) = Some(growing);
                Ok(x_t)
            }
            Updates::Recursive => {
                let kept = lock(&self.recursive).take();
                let mut recursive = kept.map_or_else(|| self.start_recursion(), Ok)?; // Phase I, line 5
                recursive.follow(self.history.observations(), &self.frame); // lines 2-4
                let x_t = self.most_hopeful(recursive.belief(), rng); // line 5
                *lock(&self.recursive) = Some(recursive);
                Ok(x_t)
            }
        }
    }

    /// Of the points with the highest values, the one of which most is expected. With noise it need not be the first:
    /// that one may have been lucky.
    fn best_believed(&self, belief: &Belief) -> Option<&[f64]> {
        let contenders = self.history.highest(CONTENDERS).into_iter();
        let expected = contenders.map(|told| (told, belief.ball.mean(&self.frame.apply(&told.x))));
        expected
            .reduce(|best, next| if next.1 > best.1 { next } else { best })
            .map(|(told, _)| told.x.as_slice())
    }

    /// Line 5: argmax over x and over w in Ball_t.
    fn most_hopeful(&self, belief: &Belief, rng: &mut Rng) -> Option<Vec<f64>> {
        let (ball, frame) = (&belief.ball, &self.frame);
        let best = self.best_believed(belief);
        let region = self.region(best);
        let incumbents: Vec<Vec<f64>> = best.into_iter().map(<[f64]>::to_vec).collect();
        let t = self.history.observations().len().saturating_sub(self.explore) + 1;
        // Points that are tried at the same time as others may look further afield.
        let factor = self.settings.exploration * (1 + self.history.pending().len()) as f64;
        let taken = |x: &[f64]| self.history.is_taken(x);
        let radius = self.plan.beta_t(t).map(|beta_t| (factor * beta_t).sqrt());
        match (self.settings.search, radius) {
            (Search::Bound(effort), None) => {
                let known = best.map(|x| frame.apply(x)).into_iter().chain(self.pending());
                let most_expected = known.map(|x| ball.mean(&x)).fold(f64::NEG_INFINITY, f64::max);
                let target = most_expected + factor.sqrt() * belief.noise_std;
                let improvement = ProbabilityOfImprovement { ball, target, frame };
                improvement.argmax(&region, &incumbents, taken, effort, rng)
            }
            (Search::Bound(effort), Some(radius)) => {
                let ucb = UpperConfidenceBound { ball, radius, frame };
                ucb.argmax(&region, &incumbents, taken, effort, rng)
            }
            (Search::Joint(ascent), radius) => {
                let ucb = UpperConfidenceBound { ball, radius: radius.unwrap_or_default(), frame };
                Some(ascent.argmax(ucb, self.history.domain(), rng)).filter(|x| !taken(x))
            }
        }
    }

    /// Where line 5 looks: the trust region around the best point so far, or everywhere.
    fn region(&self, best: Option<&[f64]>) -> Region<'_> {
        let domain = self.history.domain();
        let (Some(trust), Some(best)) = (&self.settings.trust_region, best) else {
            return Region::whole(domain);
        };
        let half = trust.half_width(&self.width, self.n_rounds, self.horizon);
        let (lower, upper) = trust.around(best, half, &self.history);
        Region::between(domain, lower, upper)
    }

    /// What all data say, pending points not counted. Taken from where it is kept from ask to ask, if that changes nothing: a fit
    /// that is not linear starts at random.
    fn refit(&self, rng: &mut Rng) -> Result<Growing, OracleError> {
        let restarts = match self.settings.oracle {
            Oracle::LevenbergMarquardt { restarts } => restarts,
            Oracle::Sgd(_) => 1,
        };
        let refit = Refit { scaled: self.settings.scaled, warp: self.settings.warp, restarts };
        let families = || self.families.iter().map(|make| make()).collect::<Vec<_>>();
        let is_linear = families().iter().all(|family| family.is_linear());
        let told = self.history.observations();
        let n_fitted = if is_linear { checkpoint(told.len()) } else { told.len() };
        let mut growing = match lock(&self.growing).take().filter(|_| is_linear) {
            Some(kept) if kept.is_current(told.len()) => kept,
            earlier => Growing::fit(&refit, families, &told[..n_fitted], &self.frame, earlier, rng)?,
        };
        growing.follow(told, &self.frame);
        Ok(growing)
    }

    fn start_recursion(&self) -> Result<Recursive, OracleError> {
        let (lambda, rng) = (self.plan.lambda().unwrap_or(1.0), &mut own_rng(self.seed, 0));
        let (family, oracle) = (self.families[0](), &self.settings.oracle);
        Recursive::start(family, lambda, oracle, self.phase_one(), &self.frame, rng)
    }

    fn phase_one(&self) -> &[Observation] {
        let told = self.history.observations();
        &told[..self.explore.min(told.len())]
    }

    fn is_exploring(&self) -> bool {
        let told = self.history.observations();
        let n_explored = match self.settings.updates {
            Updates::Refit => told.len() + self.history.pending().len(),
            Updates::Recursive => told.len(), // ŵ_0 is fitted once, on all of Phase I
        };
        n_explored < self.explore || told.iter().all(|told| told.outcome == Outcome::Failed)
    }

    fn pending(&self) -> Vec<Vec<f64>> {
        self.history.pending().iter().map(|x| self.frame.apply(x)).collect()
    }
}

impl Optimizer for GoUcb {
    fn suggest(&self, rng: &mut Rng) -> Vec<f64> {
        let x = if self.is_exploring() { Ok(None) } else { self.exploit(rng) };
        let x = x.unwrap_or_else(|failure| {
            *lock(&self.failure) = Some(failure);
            None
        });
        x.unwrap_or_else(|| self.explore(rng))
    }

    fn propose(&mut self, x: Vec<f64>) {
        if !self.is_exploring() {
            self.n_rounds += 1;
            if matches!(self.plan, Plan::Theory(_)) {
                self.rounds.push(Round { x_t: x.clone(), n_told: self.history.observations().len() });
            }
        }
        self.history.propose(x);
    }

    fn tell(&mut self, observation: Observation) -> Result<(), TellError> {
        let value = observation.value();
        self.history.tell(observation)?;
        if let Some(trust) = &self.settings.trust_region {
            trust.update(&mut self.width, self.explore, value);
        }
        Ok(())
    }

    fn withdraw(&mut self, x: &[f64]) {
        self.history.withdraw(x);
    }

    fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Plan::Theory(proof) = &self.plan {
            warnings.extend(proof.warnings().iter().map(|warning| warning.to_string()));
        }
        let random = |failure: &OracleError| format!("some points were drawn at random: {failure}");
        warnings.extend(lock(&self.failure).as_ref().map(random));
        warnings
    }

    fn recommend(&self) -> Option<Recommendation> {
        if self.settings.answer == Answer::RandomDraw {
            return self.draw_answer(&mut rng(0, self.history.observations().len() as u64));
        }
        let Some(belief) = self.belief() else { return self.history.best() };
        let x = self.best_believed(&belief)?;
        let (mean, std) = belief.predict(&self.frame.apply(x));
        Some(Recommendation { x: x.to_vec(), mean, std: Some(std) })
    }

    /// By posterior mean, of the points with the highest values: several times as many as are wanted.
    fn ranking(&self, n: usize) -> Vec<Recommendation> {
        let Some(belief) = self.belief() else { return self.history.ranking(n) };
        let contenders = self.history.highest(CONTENDERS.max(n.saturating_mul(4))).into_iter();
        let predicted = contenders.map(|told| {
            let (mean, std) = belief.predict(&self.frame.apply(&told.x));
            (told.x.as_slice(), mean, Some(std))
        });
        ranked(predicted.collect(), n)
    }

    /// At the point of the whole domain whose mean and one standard deviation are highest, and above what is expected of
    /// the best point.
    fn expected_gain(&self) -> Option<f64> {
        let belief = self.belief()?;
        let predict = |x: &[f64]| belief.predict(&self.frame.apply(x));
        let best_x = self.best_believed(&belief)?;
        let (best, _) = predict(best_x);
        let ucb = UpperConfidenceBound { ball: &belief.ball, radius: 1.0, frame: &self.frame };
        let everywhere = Region::whole(self.history.domain());
        let rng = &mut rng(0, self.history.observations().len() as u64);
        let x = ucb.argmax(&everywhere, &[best_x.to_vec()], |_| false, Effort::default(), rng)?;
        let (mean, std) = predict(&x);
        Some(expected_excess(mean, std, best))
    }
}

/// Nothing is done while it is locked that could panic and leave it half done.
fn lock<T>(kept: &Mutex<T>) -> MutexGuard<'_, T> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}
