//! Settings of GO-UCB: three presets, each with settings of its own.
//!
//! A study file names a preset and overrides any of its settings:
//!
//! ```toml
//! [optimizer]
//! name = "go-ucb"
//! preset = "default"        # or "paper", "theory"
//! family = "auto"           # or "anova", "linear", "additive", "quadratic", "fourier", "anova+fourier", "matern", "mlp",
//!                           # or a list of these to choose from by evidence
//! explore_trials = 8        # n; the square root of the number of trials if left out
//! aim = "answer"            # or "regret"; preset "default" only, see `Aim`
//! exploration = 1.0         # a factor on β_t; preset "default": on the square of the improvement to be exceeded
//! trust_region = true       # ignored by the preset "paper", which always searches the whole space
//! warp = true               # of y, by evidence; in other presets than "default", only of the model behind rankings
//! hidden = [25]             # units of each hidden layer of "mlp"
//! activation = "sigmoid"    # or "tanh"
//! range = 1.0               # F; preset "paper" only, like the next four, which are ways to read its appendix
//! oracle_rate = 1e-11       # the oracle's learning rate, or "fitted": least squares as in preset "theory"
//! ascent_rate = 1e-4        # the learning rate of the ascent over x and w
//! from_best = false         # whether that ascent starts at the best point observed, not at a uniform one
//! scaled = false            # whether x is scaled to [-1, 1] and y standardised by Phase I
//! constants = { curvature = 0.5 }   # preset "theory" only, see `schedule::Constants`
//! ```

mod keys;

use serde::Deserialize;

pub use crate::acquisition::Effort;
pub use crate::baselines::{GpSettings, GpUcbSettings};
use crate::belief::refit::Refit;
use crate::encode::Domain;
use crate::error::MethodError;
use crate::evidence::NOISE;
pub use crate::model::Activation;
pub use crate::model::kind::{FamilyKind, Layers};
use crate::model::{FamilyMaker, Scale};
pub use crate::schedule::Constants;
use crate::schedule::check_range;
pub use crate::trust_region::TrustRegion;

/// A preset with its settings.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "keys::Keys")]
pub enum Settings {
    /// For everyday use: refitted families, the smallest ball, a trust region.
    Default(DefaultSettings),
    /// The constants of the paper's experiments (appendix), as published: its oracle fits next to nothing and its ball is never a
    /// limit.
    Paper(PaperSettings),
    /// Algorithm 1 with n, λ and β_t as the proofs have them, all constants explicit.
    Theory(TheorySettings),
}

/// What trials are spent on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Aim {
    /// On a good point in the end: trials explore while there is much to gain, whatever they cost on the way.
    #[default]
    Answer,
    /// On low cumulative regret, as in the paper: for when every trial counts (traffic, patients, production). Trials stay near
    /// points that are known to be good.
    Regret,
}

/// Settings of the preset `default`.
#[derive(Debug, Clone, PartialEq)]
pub struct DefaultSettings {
    /// What trials are spent on.
    pub aim: Aim,
    /// The families to choose from: the one with the highest evidence is used.
    pub families: Vec<FamilyKind>,
    /// Hidden layers of the `mlp` family.
    pub layers: Layers,
    /// Whether x is scaled to [-1, 1] and y standardised; otherwise both stay in their own units.
    pub scaled: bool,
    /// Whether a warp of y may be learnt.
    pub warp: bool,
    /// Starts of a fit, for families that are not linear in w.
    pub restarts: usize,
    /// A factor on the square of the improvement to be exceeded.
    pub exploration: f64,
    /// How much work the search for the argmax of line 5 may take.
    pub effort: Effort,
    /// n; `None` is the shortest Phase I with n ≥ √T.
    pub explore_trials: Option<usize>,
    /// The box around the best point in which the next one is searched for; `None` searches everywhere.
    pub trust_region: Option<TrustRegion>,
}

/// Settings of the preset `paper`.
#[derive(Debug, Clone, PartialEq)]
pub struct PaperSettings {
    /// The family f_w.
    pub family: FamilyKind,
    /// Hidden layers of the `mlp` family.
    pub layers: Layers,
    /// F: |f| is at most this.
    pub range: f64,
    /// A factor on β_t.
    pub exploration: f64,
    /// n; `None` is the shortest Phase I with n ≥ √T.
    pub explore_trials: Option<usize>,
    /// Whether the model that rankings rest on may learn a warp of y.
    pub warp: bool,
    /// How far the oracle's steps go.
    pub oracle_rate: OracleRate,
    /// The learning rate of the ascent over x and w.
    pub ascent_rate: f64,
    /// Whether that ascent starts at the best point observed; at a uniform point otherwise.
    pub from_best: bool,
    /// Whether x is scaled to [-1, 1] and y standardised by Phase I; otherwise both stay in their own units.
    pub scaled: bool,
}

/// How far the steps of the paper's oracle go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OracleRate {
    /// 2000 steps of gradient descent at this rate.
    Steps(f64),
    /// To convergence: least squares, by Levenberg-Marquardt from several starts.
    Fitted,
}

/// Settings of the preset `theory`.
#[derive(Debug, Clone, PartialEq)]
pub struct TheorySettings {
    /// The family f_w.
    pub family: FamilyKind,
    /// Hidden layers of the `mlp` family.
    pub layers: Layers,
    /// What the theorem assumes.
    pub constants: Constants,
    /// Starts of the regression oracle, for families that are not linear in w.
    pub restarts: usize,
    /// A factor on β_t.
    pub exploration: f64,
    /// How much work the search for the argmax of line 5 may take.
    pub effort: Effort,
    /// n; `None` is the shortest Phase I with n ≥ √T.
    pub explore_trials: Option<usize>,
    /// The box around the best point in which the next one is searched for; `None` searches everywhere, as in the paper.
    pub trust_region: Option<TrustRegion>,
    /// Whether the model that rankings rest on may learn a warp of y.
    pub warp: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self::Default(DefaultSettings::default())
    }
}

impl Default for DefaultSettings {
    fn default() -> Self {
        Self {
            aim: Aim::default(),
            families: auto(Aim::default()),
            layers: Layers::default(),
            scaled: true,
            warp: true,
            restarts: 2,
            exploration: 1.0,
            effort: Effort::default(),
            explore_trials: None,
            trust_region: Some(TrustRegion::default()),
        }
    }
}

impl Default for PaperSettings {
    fn default() -> Self {
        Self {
            family: FamilyKind::Mlp,
            layers: Layers::default(),
            range: 1.0,
            exploration: 1.0,
            explore_trials: None,
            warp: false,
            oracle_rate: OracleRate::Steps(1e-11),
            ascent_rate: 1e-4,
            from_best: false,
            scaled: false,
        }
    }
}

impl Default for TheorySettings {
    fn default() -> Self {
        Self {
            family: FamilyKind::Mlp,
            layers: Layers::default(),
            constants: Constants::default(),
            restarts: 5,
            exploration: 1.0,
            effort: Effort::default(),
            explore_trials: None,
            trust_region: None,
            warp: false,
        }
    }
}

impl Settings {
    /// The preset `paper`, without changes.
    pub fn paper() -> Self {
        Self::Paper(PaperSettings::default())
    }

    /// The preset `theory`, without changes.
    pub fn theory() -> Self {
        Self::Theory(TheorySettings::default())
    }

    /// Checks what types can't.
    ///
    /// # Errors
    /// If a number is out of its range.
    pub fn validate(&self) -> Result<(), MethodError> {
        let bad = |key, problem| Err(MethodError::BadSetting { key, problem });
        let exploration = match self {
            Self::Default(DefaultSettings { exploration, .. }) => *exploration,
            Self::Paper(PaperSettings { exploration, range, oracle_rate, ascent_rate, .. }) => {
                check_range(*range)?;
                let is_rate = |rate: f64| rate.is_finite() && rate > 0.0;
                if let OracleRate::Steps(rate) = *oracle_rate
                    && !is_rate(rate)
                {
                    return bad("oracle_rate", format!("{rate} must be finite and above 0"));
                }
                if !is_rate(*ascent_rate) {
                    return bad("ascent_rate", format!("{ascent_rate} must be finite and above 0"));
                }
                *exploration
            }
            Self::Theory(TheorySettings { exploration, constants, .. }) => {
                constants.validate()?;
                *exploration
            }
        };
        if !(exploration.is_finite() && exploration >= 0.0) {
            return bad("exploration", format!("{exploration} must be finite and not negative"));
        }
        if self.family_kinds().is_empty() {
            return bad("family", "the list is empty; name at least one family, or leave it out".into());
        }
        if !matches!(self, Self::Default(_)) && self.family_kinds().contains(&FamilyKind::Matern) {
            let problem =
                "the presets `paper` and `theory` need a family with weights, and `matern` has none";
            return bad("family", problem.into());
        }
        if self.explore_trials() == Some(0) {
            return bad("explore_trials", "0 must be at least 1".into());
        }
        let hidden = &self.layers().hidden;
        if hidden.is_empty() || hidden.contains(&0) {
            return bad("hidden", format!("{hidden:?} must name at least one layer, each of 1 unit or more"));
        }
        Ok(())
    }

    /// n, if it is set.
    pub(crate) fn explore_trials(&self) -> Option<usize> {
        match self {
            Self::Default(default) => default.explore_trials,
            Self::Paper(paper) => paper.explore_trials,
            Self::Theory(theory) => theory.explore_trials,
        }
    }

    /// The families on the columns of a domain.
    pub(crate) fn families(&self, domain: &Domain) -> Vec<FamilyMaker> {
        self.family_kinds().iter().map(|kind| kind.maker(domain, self.layers())).collect()
    }

    /// How the model is fitted that every preset's ranking rests on, and the suggestions of `default`.
    pub(crate) fn refit(&self) -> Refit {
        match self {
            Self::Default(DefaultSettings { aim, scaled, warp, restarts, .. }) => {
                let noise = match aim {
                    Aim::Answer => NOISE_FOR_ANSWERS,
                    Aim::Regret => NOISE,
                };
                Refit { scaled: *scaled, warp: *warp, limited: true, noise, restarts: *restarts }
            }
            Self::Paper(paper) => {
                Refit { scaled: paper.scaled, warp: paper.warp, limited: false, noise: NOISE, restarts: 1 }
            }
            Self::Theory(theory) => Refit {
                scaled: false,
                warp: theory.warp,
                limited: false,
                noise: NOISE,
                restarts: theory.restarts,
            },
        }
    }

    fn family_kinds(&self) -> &[FamilyKind] {
        match self {
            Self::Default(default) => &default.families,
            Self::Paper(paper) => std::slice::from_ref(&paper.family),
            Self::Theory(theory) => std::slice::from_ref(&theory.family),
        }
    }

    fn layers(&self) -> &Layers {
        match self {
            Self::Default(default) => &default.layers,
            Self::Paper(paper) => &paper.layers,
            Self::Theory(theory) => &theory.layers,
        }
    }
}

/// The families that `auto` stands for.
fn auto(aim: Aim) -> Vec<FamilyKind> {
    match aim {
        Aim::Answer => vec![FamilyKind::Anova, FamilyKind::AnovaFourier, FamilyKind::Matern],
        Aim::Regret => vec![FamilyKind::Anova, FamilyKind::AnovaFourier],
    }
}

/// Hyper-prior of log noise for the aim `answer`: lower and wider than for `regret`. What looks like noise early on is often a bend of
/// the function, and worth exploring. No other is on record for this aim.
const NOISE_FOR_ANSWERS: Scale = Scale { mean: -2.5, std: 1.2 };
