//! Which optimizer with which settings, by name: the one list that study files, the command line and benchmarks
//! choose from.
//!
//! A study file has a table (`name = "go-ucb"`, other keys are its settings), a command line one word:
//! `random`, or `go-ucb:paper` for a preset.

use std::str::FromStr;

use serde::Deserialize;

use crate::baselines::{CmaEs, Random, Tpe};
use crate::encode::Domain;
use crate::error::{MethodError, nearest};
use crate::go_ucb::GoUcb;
use crate::optimizer::Optimizer;
use crate::settings::Settings;

/// An optimizer by name, with its settings.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Method {
    /// The paper's algorithm; its presets are settings.
    GoUcb(Box<Settings>),
    /// Tree-structured Parzen estimators.
    Tpe,
    /// Covariance matrix adaptation.
    CmaEs,
    /// Uniform random search.
    Random,
}

impl Default for Method {
    fn default() -> Self {
        Self::GoUcb(Box::default())
    }
}

impl Method {
    /// What `FromStr` reads, for help texts and suggestions.
    pub const NAMES: [&str; 6] = ["go-ucb", "go-ucb:paper", "go-ucb:theory", "tpe", "cma-es", "random"];

    /// The optimizer, ready to be asked. `trials` is how many are planned in all.
    ///
    /// # Errors
    /// If the settings do not fit together, or not the domain.
    pub fn build(&self, domain: &Domain, trials: usize) -> Result<Box<dyn Optimizer>, MethodError> {
        Ok(match self {
            Self::GoUcb(settings) => Box::new(GoUcb::new(domain.clone(), trials, (**settings).clone())?),
            Self::Tpe => Box::new(Tpe::new(domain.clone())),
            Self::CmaEs => Box::new(CmaEs::new(domain.clone())),
            Self::Random => Box::new(Random::new(domain.clone())),
        })
    }
}

impl FromStr for Method {
    type Err = MethodError;

    fn from_str(name: &str) -> Result<Self, MethodError> {
        Ok(match name {
            "go-ucb" => Self::default(),
            "go-ucb:paper" => Self::GoUcb(Box::new(Settings::paper())),
            "go-ucb:theory" => Self::GoUcb(Box::new(Settings::theory())),
            "tpe" => Self::Tpe,
            "cma-es" => Self::CmaEs,
            "random" => Self::Random,
            _ => {
                let nearest = nearest(name, Self::NAMES);
                return Err(MethodError::Unknown { name: name.to_owned(), nearest });
            }
        })
    }
}
