//! The presets of GO-UCB: how settings become a policy, and the rounds of preset `theory` as its proofs see them.
//!
//! Given: a domain, how many trials are planned, the settings. Gives: a [`GoUcb`].

use super::multi_outcome::MultiOutcomeGoUcb;
use super::{GoUcb, PhaseTwo, Scheduled, Search};
use crate::acquisition::JointAscent;
use crate::belief::fantasies::Fantasies;
use crate::belief::recursive::{Oracle, PhaseOne, RecursiveSurrogate};
use crate::belief::refit::Refit;
use crate::belief::surrogate::Surrogate;
use crate::encode::Domain;
use crate::error::MethodError;
use crate::frame::Frame;
use crate::goals::{Goal, Goals};
use crate::history::History;
use crate::model::{Family, FamilyMaker};
use crate::oracle::{OracleError, sgd};
use crate::schedule::{Proof, Schedule, explore_trials};
use crate::settings::{Aim, DefaultSettings, OracleRate, Settings, TheorySettings};
use crate::sobol::Design;
use crate::theory::{Ledger, RoundReport, Truth};

impl GoUcb {
    /// A policy with the families that the settings name. `trials` is how many are planned in all: n and T follow from it. Points
    /// that are told without having been proposed are learnt from as well, and don't count towards T. `seed` is for the starts of
    /// ŵ_0 (presets `paper` and `theory`), which must not change from trial to trial.
    ///
    /// # Errors
    /// If a setting is out of its range.
    pub fn new(domain: &Domain, trials: usize, settings: &Settings, seed: u64) -> Result<Self, MethodError> {
        Self::with_families(domain, trials, settings, seed, settings.families(domain))
    }

    /// A policy with a family of your own instead of those that the settings name; `make` is called for each fit.
    ///
    /// # Errors
    /// If a setting is out of its range.
    pub fn with_family(
        domain: &Domain,
        trials: usize,
        settings: &Settings,
        seed: u64,
        make: impl Fn() -> Box<dyn Family> + Send + Sync + 'static,
    ) -> Result<Self, MethodError> {
        Self::with_families(domain, trials, settings, seed, vec![FamilyMaker::new("custom", make)])
    }

    fn with_families(
        domain: &Domain,
        trials: usize,
        settings: &Settings,
        seed: u64,
        families: Vec<FamilyMaker>,
    ) -> Result<Self, MethodError> {
        settings.validate()?;
        let n = settings.explore_trials().unwrap_or_else(|| explore_trials(trials));
        let horizon = trials.saturating_sub(n).max(1);
        let refit = settings.refit();
        let frame = Frame::new(domain, refit.scaled);
        let n_weights = families[0].make().n_weights();
        let scheduled = |schedule: Schedule, oracle, search| {
            let (family, lambda, frame) = (families[0].clone(), schedule.lambda(), frame.clone());
            let beginning = PhaseOne { n, oracle, standardized: refit.scaled };
            let surrogate = RecursiveSurrogate::new(family, lambda, beginning, frame, seed);
            PhaseTwo::Scheduled(Box::new(Scheduled { surrogate, schedule, search }))
        };
        let (phase_two, exploration, trust_region) = match settings {
            Settings::Default(default) => {
                let DefaultSettings { aim, effort, exploration, trust_region, .. } = *default;
                (PhaseTwo::Refitted { aim, effort, design: Design { seed } }, exploration, trust_region)
            }
            Settings::Paper(paper) => {
                let schedule = Schedule::Paper { range: paper.range, horizon, n_weights };
                let oracle = match paper.oracle_rate {
                    OracleRate::Steps(rate) => Oracle::Sgd(sgd::Settings { rate, ..Default::default() }),
                    OracleRate::Fitted => {
                        Oracle::LevenbergMarquardt { restarts: TheorySettings::default().restarts }
                    }
                };
                let ascent =
                    JointAscent { rate: paper.ascent_rate, from_best: paper.from_best, ..Default::default() };
                (scheduled(schedule, oracle, Search::Joint(ascent)), paper.exploration, None)
            }
            Settings::Theory(theory) => {
                let schedule = Schedule::Theory(Proof::new(theory.constants.clone(), horizon, n_weights));
                let oracle = Oracle::LevenbergMarquardt { restarts: theory.restarts };
                let search = Search::Bound(theory.effort);
                (scheduled(schedule, oracle, search), theory.exploration, theory.trust_region)
            }
        };
        let surrogate = Surrogate::new(families, refit, frame.clone());
        let fantasies = Fantasies::default();
        Ok(Self { n, horizon, frame, surrogate, fantasies, phase_two, exploration, trust_region })
    }

    /// A policy for several outcomes, in the preset `default` only, since the paper is about one function.
    ///
    /// # Errors
    /// If a setting is out of its range or not supported with these goals.
    pub(crate) fn multi_outcome(
        domain: &Domain,
        goals: &Goals,
        trials: usize,
        settings: &Settings,
        seed: u64,
    ) -> Result<MultiOutcomeGoUcb, MethodError> {
        settings.validate()?;
        let unable = |problem: &'static str| MethodError::Unable { name: "go-ucb".to_owned(), problem };
        let Settings::Default(default) = settings else {
            return Err(unable(
                "supports several outcomes with the preset `default` only; leave out `preset`",
            ));
        };
        let DefaultSettings { aim, effort, exploration, trust_region, .. } = *default;
        if aim == Aim::Regret && goals.maximized().len() != 1 {
            return Err(unable("supports the aim `regret` with one goal only; leave out `aim`"));
        }
        let n = settings.explore_trials().unwrap_or_else(|| explore_trials(trials));
        let frame = Frame::new(domain, settings.refit().scaled);
        let surrogate = |goal: &Goal| {
            // Values far below a bound must not come near it.
            let refit = Refit { limited: matches!(goal, Goal::Maximize { .. }), ..settings.refit() };
            Surrogate::new(settings.families(domain), refit, frame.clone())
        };
        Ok(MultiOutcomeGoUcb {
            n,
            horizon: trials.saturating_sub(n).max(1),
            surrogates: goals.as_slice().iter().map(surrogate).collect(),
            fantasies: goals.as_slice().iter().map(|_| Fantasies::default()).collect(),
            aim,
            effort,
            design: Design { seed },
            exploration,
            trust_region,
            frame: frame.clone(),
        })
    }

    /// The length n of Phase I.
    pub fn explore_trials(&self) -> usize {
        self.n
    }

    /// What the proofs say about each round of Phase II so far, next to the truth if it is known; empty unless the preset is
    /// `theory`. The balls of all rounds are computed again, which takes as long as the first time.
    ///
    /// # Errors
    /// If ŵ_0 cannot be fitted, or if w* has another number of weights than the family.
    pub fn round_reports(
        &self,
        history: &History,
        truth: Option<Truth>,
    ) -> Result<Vec<RoundReport>, OracleError> {
        let Some((surrogate, proof)) = self.theory() else { return Ok(Vec::new()) };
        if self.rounds(history).next().is_none() {
            return Ok(Vec::new());
        }
        let family = surrogate.family();
        if let Some(got) = truth.as_ref().map(|truth| truth.w_star.len())
            && got != family.n_weights()
        {
            return Err(OracleError::WrongWeights { got, wanted: family.n_weights() });
        }
        let mut ledger = Ledger::new(proof.clone(), truth);
        let phase_one = surrogate.phase_one(history);
        phase_one.iter().for_each(|told| ledger.explored(&*family, &self.frame.apply(&told.x)));
        let mut state = surrogate.start(history)?;
        for round in self.rounds(history) {
            state.update(history, round.n_told, &self.frame);
            ledger.round(&state.belief().ball, &self.frame.apply(&round.x));
        }
        Ok(ledger.into_rounds())
    }

    /// The surrogate and the proof of the preset `theory`; `None` for the other presets.
    pub(super) fn theory(&self) -> Option<(&RecursiveSurrogate, &Proof)> {
        let PhaseTwo::Scheduled(scheduled) = &self.phase_two else { return None };
        match &scheduled.schedule {
            Schedule::Theory(proof) => Some((&scheduled.surrogate, proof)),
            Schedule::Paper { .. } => None,
        }
    }
}
