//! Optimizers by name, with their settings: the one list that study files, the command line and benchmarks choose from.
//!
//! A study file has a table (`name = "go-ucb"`, other keys are settings), a command line a word: `random`, `go-ucb:paper` for a
//! preset, `go-ucb:family=anova:warp=false` for settings.

use std::str::FromStr;

use serde::de::value::{Error as ValueError, MapDeserializer};
use serde::de::{Deserialize, Deserializer, IntoDeserializer, Visitor};

use crate::baselines::{
    Acquisition, CmaEs, GpBo, GpMultiOutcome, GpSettings, GpUcbSettings, Nsga2, Random, Sobol, Tpe, Turbo,
};
use crate::encode::Domain;
use crate::error::MethodError;
use crate::go_ucb::GoUcb;
use crate::goals::Goals;
use crate::optimizer::Optimizer;
use crate::policy::Policy;
use crate::settings::Settings;
use crate::spelling;

/// The version of the suggestions: it goes up with every change that makes some optimizer suggest something else from the same
/// history and seed, and only then. `tests/engine.rs` has suggestions that must not change without it.
pub const ENGINE_VERSION: u32 = 14;

/// An optimizer by name, with its settings.
#[derive(Debug, Clone, PartialEq, serde::Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Method {
    /// The paper's algorithm; its presets are settings.
    GoUcb(Box<Settings>),
    /// A Gaussian process and the expected improvement under it.
    GpEi(GpSettings),
    /// A Gaussian process and the probability of improvement under it.
    GpPi(GpSettings),
    /// A Gaussian process and its upper confidence bound.
    GpUcb(GpUcbSettings),
    /// A Gaussian process in a box that follows its successes.
    Turbo(GpSettings),
    /// Tree-structured Parzen estimators.
    Tpe,
    /// Covariance matrix adaptation.
    CmaEs,
    /// Crossover and mutation of the best trials.
    #[serde(rename = "nsga-ii")]
    Nsga2,
    /// Scrambled Sobol points.
    Sobol,
    /// Uniform random search.
    Random,
}

impl Default for Method {
    fn default() -> Self {
        Self::GoUcb(Box::default())
    }
}

impl Method {
    /// The names, for help texts and suggestions.
    pub const NAMES: [&str; 10] =
        ["go-ucb", "gp-ei", "gp-pi", "gp-ucb", "turbo", "tpe", "cma-es", "nsga-ii", "sobol", "random"];

    /// An optimizer over `domain`, ready to be asked. `trials` is how many are planned in all; `seed` is for what is drawn once for
    /// all trials, such as a scrambled sequence.
    ///
    /// # Errors
    /// If a setting is out of its range.
    pub fn build(&self, domain: &Domain, trials: usize, seed: u64) -> Result<Optimizer, MethodError> {
        Ok(Optimizer::new(domain.clone(), self.policy(domain, trials, seed)?))
    }

    /// An optimizer with several outcomes. With one outcome to maximise it is the same as [`Method::build`].
    ///
    /// # Errors
    /// If a setting is out of its range, or the optimizer doesn't support these goals.
    pub fn build_for(
        &self,
        domain: &Domain,
        goals: &Goals,
        trials: usize,
        seed: u64,
    ) -> Result<Optimizer, MethodError> {
        let policy = self.policy_for(domain, goals, trials, seed)?;
        Ok(Optimizer::with_goals(domain.clone(), goals.clone(), policy))
    }

    fn policy_for(
        &self,
        domain: &Domain,
        goals: &Goals,
        trials: usize,
        seed: u64,
    ) -> Result<Box<dyn Policy>, MethodError> {
        let unable =
            |problem: &'static str| Err(MethodError::Unable { name: self.name().to_owned(), problem });
        match self {
            _ if goals.is_single() => self.policy(domain, trials, seed),
            Self::GoUcb(settings) => {
                Ok(Box::new(GoUcb::multi_outcome(domain, goals, trials, settings, seed)?))
            }
            Self::GpEi(settings) => {
                let n = settings.explore_trials(trials)?;
                Ok(Box::new(GpMultiOutcome::new(domain.dimension(), goals, n, seed)))
            }
            Self::GpPi(_) | Self::GpUcb(_) | Self::Turbo(_) => unable(
                "supports one outcome, without constraints; for several use go-ucb, gp-ei, tpe or nsga-ii",
            ),
            Self::CmaEs if goals.maximized().len() > 1 => unable(
                "supports one goal, with or without constraints; for several use go-ucb, gp-ei, tpe or nsga-ii",
            ),
            Self::Tpe | Self::Nsga2 | Self::CmaEs | Self::Sobol | Self::Random => {
                self.policy(domain, trials, seed)
            }
        }
    }

    /// Its name, without settings.
    pub fn name(&self) -> &'static str {
        match self {
            Self::GoUcb(_) => "go-ucb",
            Self::GpEi(_) => "gp-ei",
            Self::GpPi(_) => "gp-pi",
            Self::GpUcb(_) => "gp-ucb",
            Self::Turbo(_) => "turbo",
            Self::Tpe => "tpe",
            Self::Nsga2 => "nsga-ii",
            Self::CmaEs => "cma-es",
            Self::Sobol => "sobol",
            Self::Random => "random",
        }
    }

    /// The policy for one outcome.
    fn policy(&self, domain: &Domain, trials: usize, seed: u64) -> Result<Box<dyn Policy>, MethodError> {
        let gp_bo = |explore_trials, acquisition| {
            Box::new(GpBo::new(domain.dimension(), explore_trials, acquisition, seed))
        };
        Ok(match self {
            Self::GoUcb(settings) => Box::new(GoUcb::new(domain, trials, settings, seed)?),
            Self::GpEi(settings) => gp_bo(settings.explore_trials(trials)?, Acquisition::Ei),
            Self::GpPi(settings) => gp_bo(settings.explore_trials(trials)?, Acquisition::Pi),
            Self::GpUcb(settings) => {
                gp_bo(settings.explore_trials(trials)?, Acquisition::Ucb(settings.beta()?))
            }
            Self::Turbo(settings) => Box::new(Turbo::new(settings.explore_trials(trials)?, seed)),
            Self::Tpe => Box::new(Tpe::new(domain)),
            Self::CmaEs => Box::new(CmaEs::new(domain.clone(), seed)),
            Self::Nsga2 => Box::new(Nsga2::new(trials)),
            Self::Sobol => Box::new(Sobol::new(seed)),
            Self::Random => Box::new(Random),
        })
    }
}

impl FromStr for Method {
    type Err = MethodError;

    /// `NAME`, then, each after a colon, `PRESET` or `KEY=VALUE`.
    fn from_str(word: &str) -> Result<Self, MethodError> {
        let mut parts = word.split(':');
        let name = parts.next().unwrap_or_default();
        if !Self::NAMES.contains(&name) {
            let nearest = spelling::nearest(name, Self::NAMES).map(str::to_owned);
            return Err(MethodError::Unknown { name: name.to_owned(), nearest });
        }
        let settings = parts.map(|part| part.split_once('=').unwrap_or(("preset", part)));
        let entries = [("name", name)].into_iter().chain(settings).map(|(key, value)| (key, Plain(value)));
        Self::deserialize(MapDeserializer::new(entries)).map_err(|error: ValueError| MethodError::BadWord {
            word: word.to_owned(),
            problem: error.to_string(),
        })
    }
}

/// A value as typed on a command line: true or false, a number, or else text.
struct Plain<'a>(&'a str);

impl<'de> IntoDeserializer<'de> for Plain<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Plain<'de> {
    type Error = ValueError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        if let Ok(truth) = self.0.parse() {
            visitor.visit_bool(truth)
        } else if let Ok(integer) = self.0.parse() {
            visitor.visit_i64(integer)
        } else if let Ok(number) = self.0.parse() {
            visitor.visit_f64(number)
        } else {
            visitor.visit_str(self.0)
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_some(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::kind::FamilyKind;
    use crate::settings::DefaultSettings;

    #[test]
    fn a_word_names_an_optimizer_its_preset_and_its_settings() {
        assert_eq!("go-ucb".parse(), Ok(Method::default()));
        assert_eq!("go-ucb:paper".parse(), Ok(Method::GoUcb(Box::new(Settings::paper()))));
        assert_eq!("go-ucb:theory".parse(), Ok(Method::GoUcb(Box::new(Settings::theory()))));
        let changed = Settings::Default(DefaultSettings {
            families: vec![FamilyKind::Anova],
            warp: false,
            exploration: 2.5,
            explore_trials: Some(4),
            ..DefaultSettings::default()
        });
        let word = "go-ucb:family=anova:warp=false:exploration=2.5:explore_trials=4";
        assert_eq!(word.parse(), Ok(Method::GoUcb(Box::new(changed))));
        assert_eq!("random".parse(), Ok(Method::Random));
    }

    #[test]
    fn every_name_can_be_built() {
        for name in Method::NAMES {
            let method: Method = name.parse().expect("a name of the list");
            assert!(method.build(&Domain::cube(2), 10, 0).is_ok(), "{name}");
        }
    }

    #[test]
    fn a_slip_is_named_and_mended() {
        let error = |word: &str| word.parse::<Method>().expect_err("a slip").to_string();
        assert!(error("go-ubc").contains("did you mean `go-ucb`?"), "{}", error("go-ubc"));
        assert!(error("go-ucb:papr").contains("expected one of `default`, `paper`, `theory`"));
        assert!(error("go-ucb:kappa=1").contains("unknown field `kappa`"), "{}", error("go-ucb:kappa=1"));
        assert!(error("go-ucb:scaled=true").contains("it belongs to the preset `paper`"));
        assert!(error("go-ucb:paper:oracle_rate=0").contains("must be finite and above 0"));
        let rate = error("go-ucb:paper:oracle_rate=swift");
        assert!(rate.contains("expected a learning rate or \"fitted\""), "{rate}");
        assert!(error("go-ucb:exploration=-1").contains("must be finite and not negative"));
    }
}
