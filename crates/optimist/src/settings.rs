//! Settings of GO-UCB, and the three presets: values, not code paths.
//!
//! A study file names a preset and overrides what it likes:
//!
//! ```toml
//! [optimizer]
//! name = "go-ucb"
//! preset = "default"        # or "paper", "theory"
//! family = "auto"           # or "anova", "linear", "additive", "quadratic", "fourier", "anova+fourier", "mlp",
//!                           # or a list of these, of which the evidence chooses
//! explore_trials = 8        # n; the square root of the number of trials if left out
//! exploration = 1.0         # a factor on β_t; preset "default": on the square of the gain that is hoped for
//! trust_region = true
//! warp = true               # of y, by evidence
//! hidden = [25]             # units of each hidden layer of "mlp"
//! activation = "sigmoid"    # or "tanh"
//! range = 1.0               # F, preset "paper" only
//! constants = { curvature = 0.5 }   # preset "theory" only, see `schedule::Constants`
//! ```

use serde::Deserialize;

use crate::acquisition::{Effort, JointAscent};
use crate::error::MethodError;
use crate::model::kind::{FamilyKind, Layers};
use crate::model::mlp::Activation;
use crate::oracle::sgd;
use crate::schedule::{Constants, Schedule};
use crate::trust_region::TrustRegion;

/// Everything that the three presets differ in.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Overrides")]
pub struct Settings {
    /// Whether x is scaled to [-1, 1] and y standardised; otherwise both stay in their own units.
    pub scaled: bool,
    /// Families; of several, the one with the highest evidence proposes.
    pub families: Vec<FamilyKind>,
    /// Hidden layers of the `mlp` family.
    pub layers: Layers,
    /// How ŵ_0 is fitted.
    pub oracle: Oracle,
    /// How ŵ_t and Σ_t follow from the data.
    pub updates: Updates,
    /// λ and β_t.
    pub schedule: Schedule,
    /// A factor on β_t; with [`Schedule::Least`], on the square of the gain that is hoped for.
    pub exploration: f64,
    /// How line 5's argmax is searched for.
    pub search: Search,
    /// n; `None` is the shortest Phase I with n ≥ √T.
    pub explore_trials: Option<usize>,
    /// The box around the best point in which the next is looked for; `None` is everywhere.
    pub trust_region: Option<TrustRegion>,
    /// Whether a warp of y may be learnt.
    pub warp: bool,
    /// What `recommend` answers.
    pub answer: Answer,
}

/// The regression oracle of Phase I.
#[derive(Debug, Clone, PartialEq)]
pub enum Oracle {
    /// Levenberg-Marquardt from several starts.
    LevenbergMarquardt {
        /// Starts besides a warm one, for families that are not linear in w.
        restarts: usize,
    },
    /// The paper's.
    Sgd(sgd::Settings),
}

/// How the ball follows from the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Updates {
    /// Fitted anew on all data each round, Phase I included, with the prior's scales learnt by evidence.
    Refit,
    /// The paper's: ŵ_0 from Phase I, then eqs. 3 and 5 by rank one a round.
    Recursive,
}

/// How the argmax over x and w is searched for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Search {
    /// The linearised bound from many starts, then the exact inner maximum.
    Bound(Effort),
    /// The paper's gradient ascent over x and w together.
    Joint(JointAscent),
}

/// What is recommended in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The tried point with the best posterior mean.
    PosteriorMean,
    /// The paper's: one of the points of Phase II, uniformly.
    RandomDraw,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            scaled: true,
            families: auto(),
            layers: Layers::default(),
            oracle: Oracle::LevenbergMarquardt { restarts: 2 },
            updates: Updates::Refit,
            schedule: Schedule::Least,
            exploration: 1.0,
            search: Search::Bound(Effort::default()),
            explore_trials: None,
            trust_region: Some(TrustRegion::default()),
            warp: true,
            answer: Answer::PosteriorMean,
        }
    }
}

impl Settings {
    /// The constants that the paper's experiments ran with (appendix), as published: its oracle fits next to nothing
    /// and its ball never binds.
    pub fn paper() -> Self {
        Self {
            families: vec![FamilyKind::Mlp],
            oracle: Oracle::Sgd(sgd::Settings::default()),
            schedule: Schedule::Paper { range: 1.0 },
            search: Search::Joint(JointAscent::default()),
            ..Self::theory()
        }
    }

    /// Algorithm 1 with n, λ and β_t as the proofs have them, all constants explicit.
    pub fn theory() -> Self {
        Self {
            scaled: false,
            families: vec![FamilyKind::Mlp],
            oracle: Oracle::LevenbergMarquardt { restarts: 5 },
            updates: Updates::Recursive,
            schedule: Schedule::Theory(Constants::default()),
            trust_region: None,
            warp: false,
            answer: Answer::RandomDraw,
            ..Self::default()
        }
    }

    /// Checks what no type can.
    ///
    /// # Errors
    /// If a number is out of its range, or settings exclude each other.
    pub fn validate(&self) -> Result<(), MethodError> {
        self.schedule.validate()?;
        let bad = |key, problem| Err(MethodError::BadSetting { key, problem });
        if !(self.exploration.is_finite() && self.exploration >= 0.0) {
            return bad("exploration", format!("{} must be finite and not negative", self.exploration));
        }
        if self.schedule == Schedule::Least && !matches!(self.search, Search::Bound(_)) {
            return bad(
                "schedule",
                "the least ball is found by the search for a bound, not by joint ascent".into(),
            );
        }
        if self.families.is_empty() {
            return bad("family", "the list is empty; name at least one family, or leave it out".into());
        }
        if self.updates == Updates::Recursive && self.families.len() > 1 {
            return bad("family", "the presets `paper` and `theory` take one family, not a list".into());
        }
        if self.explore_trials == Some(0) {
            return bad("explore_trials", "0 must be at least 1".into());
        }
        if self.layers.hidden.is_empty() || self.layers.hidden.contains(&0) {
            return bad(
                "hidden",
                format!("{:?} must name at least one layer, each of 1 unit or more", self.layers.hidden),
            );
        }
        Ok(())
    }
}

/// The families that `auto` stands for.
fn auto() -> Vec<FamilyKind> {
    vec![FamilyKind::Anova, FamilyKind::AnovaFourier]
}

/// The keys of a study file's `[optimizer]` table.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Overrides {
    preset: Preset,
    family: Option<FamilyNames>,
    explore_trials: Option<usize>,
    exploration: Option<f64>,
    trust_region: Option<bool>,
    warp: Option<bool>,
    hidden: Option<Vec<usize>>,
    activation: Option<Activation>,
    range: Option<f64>,
    constants: Option<Constants>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Preset {
    #[default]
    Default,
    Paper,
    Theory,
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected the name of a family, a list of such names, or \"auto\"")]
enum FamilyNames {
    One(AutoOr),
    Several(Vec<FamilyKind>),
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected the name of a family or \"auto\"")]
enum AutoOr {
    Auto(Auto),
    Family(FamilyKind),
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Auto {
    Auto,
}

impl TryFrom<Overrides> for Settings {
    type Error = MethodError;

    fn try_from(overrides: Overrides) -> Result<Self, MethodError> {
        let mut settings = match overrides.preset {
            Preset::Default => Self::default(),
            Preset::Paper => Self::paper(),
            Preset::Theory => Self::theory(),
        };
        match overrides.family {
            None => {}
            Some(FamilyNames::One(AutoOr::Auto(Auto::Auto))) => settings.families = auto(),
            Some(FamilyNames::One(AutoOr::Family(kind))) => settings.families = vec![kind],
            Some(FamilyNames::Several(kinds)) => settings.families = kinds,
        }
        let only_with = |key, preset| {
            let problem =
                format!("it belongs to the preset `{preset}`; set preset = \"{preset}\", or leave it out");
            Err(MethodError::BadSetting { key, problem })
        };
        if let Some(range) = overrides.range {
            let Schedule::Paper { .. } = settings.schedule else { return only_with("range", "paper") };
            settings.schedule = Schedule::Paper { range };
        }
        if let Some(constants) = overrides.constants {
            let Schedule::Theory(_) = settings.schedule else { return only_with("constants", "theory") };
            settings.schedule = Schedule::Theory(constants);
        }
        if let Some(on) = overrides.trust_region {
            settings.trust_region = on.then(TrustRegion::default);
        }
        settings.explore_trials = overrides.explore_trials.or(settings.explore_trials);
        settings.exploration = overrides.exploration.unwrap_or(settings.exploration);
        settings.warp = overrides.warp.unwrap_or(settings.warp);
        settings.layers.hidden = overrides.hidden.unwrap_or(settings.layers.hidden);
        settings.layers.activation = overrides.activation.unwrap_or(settings.layers.activation);
        settings.validate()?;
        Ok(settings)
    }
}
