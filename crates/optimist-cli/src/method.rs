//! Which optimizer, by name: stands in for `optimist::method` until that is there. Both names mean
//! random search for now.

use optimist::Optimizer;
use optimist::baselines::Random;
use optimist::encode::Domain;
use serde::Deserialize;

/// An optimizer by name.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Method {
    #[serde(default)]
    name: Name,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Name {
    #[default]
    GoUcb,
    Random,
}

/// Settings that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the settings do not fit")]
pub struct SettingsError;

impl Method {
    /// The optimizer, ready to be asked.
    pub fn build(
        &self,
        domain: &Domain,
        _horizon: usize,
        _seed: u64,
    ) -> Result<Box<dyn Optimizer>, SettingsError> {
        match self.name {
            Name::GoUcb | Name::Random => Ok(Box::new(Random::new(domain.clone()))),
        }
    }
}
