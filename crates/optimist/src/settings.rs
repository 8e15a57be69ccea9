//! Settings of GO-UCB: three presets, each with what it has to set and nothing else.
//!
//! A study file names a preset and overrides what it likes:
//!
//! ```toml
//! [optimizer]
//! name = "go-ucb"
//! preset = "default"        # or "paper", "theory"
//! family = "auto"           # or "anova", "linear", "additive", "quadratic", "fourier", "anova+fourier", "matern", "mlp",
//!                           # or a list of these, of which the evidence chooses
//! explore_trials = 8        # n; the square root of the number of trials if left out
//! aim = "answer"            # or "regret"; preset "default" only, see `Aim`
//! exploration = 1.0         # a factor on β_t; preset "default": on the square of the gain that is hoped for
//! trust_region = true       # preset "paper" searches the whole space whatever is said here
//! warp = true               # of y, by evidence; where the preset is not "default", of the model behind rankings only
//! hidden = [25]             # units of each hidden layer of "mlp"
//! activation = "sigmoid"    # or "tanh"
//! range = 1.0               # F, preset "paper" only, as the next four, by which its appendix can be read in other ways
//! oracle_rate = 1e-11       # the oracle's learning rate, or "fitted": least squares as in preset "theory"
//! ascent_rate = 1e-4        # that of the ascent over x and w
//! from_best = false         # whether that begins at the best point observed, not at a uniform one
//! scaled = false            # x to [-1, 1] and y standardised by Phase I, not both in their own units
//! constants = { curvature = 0.5 }   # preset "theory" only, see `schedule::Constants`
//! ```

use serde::Deserialize;

pub use crate::acquisition::Effort;
pub use crate::baselines::{GpSettings, GpUcbSettings};
use crate::belief::refit::Refit;
use crate::encode::Domain;
use crate::error::MethodError;
use crate::evidence::NOISE;
pub use crate::model::kind::{FamilyKind, Layers};
pub use crate::model::mlp::Activation;
use crate::model::{FamilyMaker, Scale};
pub use crate::schedule::Constants;
use crate::schedule::check_range;
pub use crate::trust_region::TrustRegion;

/// A preset and what it may be set to.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Keys")]
pub enum Settings {
    /// What users want: refitted families, the least ball, a trust region.
    Default(DefaultSettings),
    /// The constants that the paper's experiments ran with (appendix), as published: its oracle fits next to nothing and its
    /// ball never binds.
    Paper(PaperSettings),
    /// Algorithm 1 with n, λ and β_t as the proofs have them, all constants explicit.
    Theory(TheorySettings),
}

/// What trials are spent on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Aim {
    /// A good point in the end: trials look widely while there is much to gain, whatever they cost on the way.
    #[default]
    Answer,
    /// A small sum of what trials lose on the way, as in the paper: for people whose every trial counts (traffic, patients,
    /// production). It stays near what is known to be good.
    Regret,
}

/// Settings of the preset `default`.
#[derive(Debug, Clone, PartialEq)]
pub struct DefaultSettings {
    /// What trials are spent on.
    pub aim: Aim,
    /// Of several families, the one with the highest evidence proposes.
    pub families: Vec<FamilyKind>,
    /// Hidden layers of the `mlp` family.
    pub layers: Layers,
    /// Whether x is scaled to [-1, 1] and y standardised; otherwise both stay in their own units.
    pub scaled: bool,
    /// Whether a warp of y may be learnt.
    pub warp: bool,
    /// Starts of a fit, for families that are not linear in w.
    pub restarts: usize,
    /// A factor on the square of the gain that is hoped for.
    pub exploration: f64,
    /// How thoroughly line 5's argmax is searched for.
    pub effort: Effort,
    /// n; `None` is the shortest Phase I with n ≥ √T.
    pub explore_trials: Option<usize>,
    /// The box around the best point in which the next is looked for; `None` is everywhere.
    pub trust_region: Option<TrustRegion>,
}

/// Settings of the preset `paper`.
#[derive(Debug, Clone, PartialEq)]
pub struct PaperSettings {
    /// What f_w is.
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
    /// What gradients are multiplied by in the ascent over x and w.
    pub ascent_rate: f64,
    /// Whether that ascent begins at the best point observed; at a uniform one otherwise.
    pub from_best: bool,
    /// Whether x is scaled to [-1, 1] and y standardised by Phase I; otherwise both stay in their own units.
    pub scaled: bool,
}

/// How far the steps of the paper's oracle go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OracleRate {
    /// 2000 steps of gradient descent at this rate.
    Steps(f64),
    /// As far as they need to: least squares, by Levenberg-Marquardt from several starts.
    Fitted,
}

/// Settings of the preset `theory`.
#[derive(Debug, Clone, PartialEq)]
pub struct TheorySettings {
    /// What f_w is.
    pub family: FamilyKind,
    /// Hidden layers of the `mlp` family.
    pub layers: Layers,
    /// What the theorem assumes.
    pub constants: Constants,
    /// Starts of the regression oracle, for families that are not linear in w.
    pub restarts: usize,
    /// A factor on β_t.
    pub exploration: f64,
    /// How thoroughly line 5's argmax is searched for.
    pub effort: Effort,
    /// n; `None` is the shortest Phase I with n ≥ √T.
    pub explore_trials: Option<usize>,
    /// The box around the best point in which the next is looked for; `None`, as in the paper, is everywhere.
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
    /// The preset `paper`, as it is.
    pub fn paper() -> Self {
        Self::Paper(PaperSettings::default())
    }

    /// The preset `theory`, as it is.
    pub fn theory() -> Self {
        Self::Theory(TheorySettings::default())
    }

    /// Checks what no type can.
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

    /// n, where it is set.
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
                Refit { scaled: *scaled, warp: *warp, noise, restarts: *restarts }
            }
            Self::Paper(paper) => Refit { scaled: paper.scaled, warp: paper.warp, noise: NOISE, restarts: 1 },
            Self::Theory(theory) => {
                Refit { scaled: false, warp: theory.warp, noise: NOISE, restarts: theory.restarts }
            }
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

/// Hyper-prior of log noise where answers are wanted: lower, and less sure, than where every trial counts. What looks like noise
/// early on is often a bend of the function, and worth another look. docs/results/log.md has others.
const NOISE_FOR_ANSWERS: Scale = Scale { mean: -2.5, std: 1.2 };

/// The keys of a study file's `[optimizer]` table.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Keys {
    preset: Preset,
    aim: Option<Aim>,
    family: Option<FamilyNames>,
    explore_trials: Option<usize>,
    exploration: Option<f64>,
    trust_region: Option<bool>,
    warp: Option<bool>,
    hidden: Option<Vec<usize>>,
    activation: Option<Activation>,
    range: Option<f64>,
    oracle_rate: Option<RateOrFitted>,
    ascent_rate: Option<f64>,
    from_best: Option<bool>,
    scaled: Option<bool>,
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
#[serde(untagged, expecting = "expected a learning rate or \"fitted\"")]
enum RateOrFitted {
    Rate(f64),
    Fitted(Fitted),
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Fitted {
    Fitted,
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

impl TryFrom<Keys> for Settings {
    type Error = MethodError;

    fn try_from(keys: Keys) -> Result<Self, MethodError> {
        if keys.preset != Preset::Default && keys.aim.is_some() {
            return Err(only_with("aim", "default"));
        }
        if keys.preset != Preset::Paper
            && let Some(key) = keys.reading_of_the_paper()
        {
            return Err(only_with(key, "paper"));
        }
        if keys.preset != Preset::Theory && keys.constants.is_some() {
            return Err(only_with("constants", "theory"));
        }
        let settings = match keys.preset {
            Preset::Default => Self::Default(keys.default_settings()),
            Preset::Paper => Self::Paper(keys.paper_settings()?),
            Preset::Theory => Self::Theory(keys.theory_settings()?),
        };
        settings.validate()?;
        Ok(settings)
    }
}

fn only_with(key: &'static str, preset: &str) -> MethodError {
    let problem = format!("it belongs to the preset `{preset}`; set preset = \"{preset}\", or leave it out");
    MethodError::BadSetting { key, problem }
}

impl Keys {
    /// A key that only the preset `paper` has, if one is set.
    fn reading_of_the_paper(&self) -> Option<&'static str> {
        let keys = [
            ("range", self.range.is_some()),
            ("oracle_rate", self.oracle_rate.is_some()),
            ("ascent_rate", self.ascent_rate.is_some()),
            ("from_best", self.from_best.is_some()),
            ("scaled", self.scaled.is_some()),
        ];
        keys.into_iter().find(|(_, is_set)| *is_set).map(|(key, _)| key)
    }

    fn default_settings(self) -> DefaultSettings {
        let (default, aim) = (DefaultSettings::default(), self.aim.unwrap_or_default());
        DefaultSettings {
            aim,
            layers: self.layers(),
            families: self.family.map_or_else(|| auto(aim), |names| names.into_kinds(aim)),
            warp: self.warp.unwrap_or(default.warp),
            exploration: self.exploration.unwrap_or(default.exploration),
            explore_trials: self.explore_trials,
            trust_region: self.trust_region.unwrap_or(true).then(TrustRegion::default),
            ..default
        }
    }

    fn paper_settings(self) -> Result<PaperSettings, MethodError> {
        let default = PaperSettings::default();
        Ok(PaperSettings {
            layers: self.layers(),
            family: only_family(self.family, default.family)?,
            range: self.range.unwrap_or(default.range),
            exploration: self.exploration.unwrap_or(default.exploration),
            explore_trials: self.explore_trials,
            warp: self.warp.unwrap_or(default.warp),
            oracle_rate: self.oracle_rate.map_or(default.oracle_rate, RateOrFitted::into_oracle_rate),
            ascent_rate: self.ascent_rate.unwrap_or(default.ascent_rate),
            from_best: self.from_best.unwrap_or(default.from_best),
            scaled: self.scaled.unwrap_or(default.scaled),
        })
    }

    fn theory_settings(self) -> Result<TheorySettings, MethodError> {
        let default = TheorySettings::default();
        Ok(TheorySettings {
            layers: self.layers(),
            family: only_family(self.family, default.family)?,
            constants: self.constants.unwrap_or(default.constants),
            exploration: self.exploration.unwrap_or(default.exploration),
            explore_trials: self.explore_trials,
            trust_region: self.trust_region.unwrap_or(false).then(TrustRegion::default),
            warp: self.warp.unwrap_or(default.warp),
            ..default
        })
    }

    fn layers(&self) -> Layers {
        let default = Layers::default();
        Layers {
            hidden: self.hidden.clone().unwrap_or(default.hidden),
            activation: self.activation.unwrap_or(default.activation),
        }
    }
}

impl RateOrFitted {
    fn into_oracle_rate(self) -> OracleRate {
        match self {
            Self::Rate(rate) => OracleRate::Steps(rate),
            Self::Fitted(Fitted::Fitted) => OracleRate::Fitted,
        }
    }
}

impl FamilyNames {
    fn into_kinds(self, aim: Aim) -> Vec<FamilyKind> {
        match self {
            Self::One(AutoOr::Auto(Auto::Auto)) => auto(aim),
            Self::One(AutoOr::Family(kind)) => vec![kind],
            Self::Several(kinds) => kinds,
        }
    }
}

/// The one family that the presets of the paper have.
fn only_family(names: Option<FamilyNames>, default: FamilyKind) -> Result<FamilyKind, MethodError> {
    let Some(names) = names else { return Ok(default) };
    let mut kinds = names.into_kinds(Aim::default());
    match (kinds.pop(), kinds.is_empty()) {
        (Some(kind), true) => Ok(kind),
        _ => {
            let problem = "the presets `paper` and `theory` take one family, not a list".into();
            Err(MethodError::BadSetting { key: "family", problem })
        }
    }
}
