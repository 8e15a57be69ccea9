//! The `[optimizer]` table of a study file, with the defaults of the preset for keys that it leaves out.
//!
//! Given: keys and values. Gives: [`Settings`]. Keys that another preset has are errors.

use serde::Deserialize;

use super::{Aim, DefaultSettings, OracleRate, PaperSettings, Settings, TheorySettings, auto};
use crate::error::MethodError;
use crate::model::Activation;
use crate::model::kind::{FamilyKind, Layers};
use crate::schedule::Constants;
use crate::trust_region::TrustRegion;

/// The keys of a study file's `[optimizer]` table.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Keys {
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
    /// A key that only the preset `paper` has, if any is set.
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

/// The one family of the presets `paper` and `theory`.
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
