//! Settings of the optimizers with a Gaussian process, as study files have them.
//!
//! ```toml
//! [optimizer]
//! name = "gp-ucb"           # or "gp-ei", "gp-pi", "turbo", which have no `beta`
//! explore_trials = 8        # evenly spread points at first; as many as GO-UCB's if left out
//! beta = 0.3                # of mean + √β std; or "srinivas", their schedule
//! ```

use serde::Deserialize;

use crate::baselines::Beta;
use crate::error::MethodError;
use crate::schedule;

/// Settings of GP-EI, GP-PI and TuRBO.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GpSettings {
    /// Evenly spread points before the first model; `None` is the n of GO-UCB.
    pub explore_trials: Option<usize>,
}

/// Settings of GP-UCB.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GpUcbSettings {
    /// Evenly spread points before the first model; `None` is the n of GO-UCB.
    pub explore_trials: Option<usize>,
    /// β of mean + √β std.
    #[serde(deserialize_with = "beta")]
    pub beta: Beta,
}

impl GpSettings {
    /// The number of evenly spread points if there are `trials` in all.
    ///
    /// # Errors
    /// If it is 0.
    pub fn explore_trials(&self, trials: usize) -> Result<usize, MethodError> {
        match self.explore_trials {
            Some(0) => {
                Err(MethodError::BadSetting { key: "explore_trials", problem: "0 must be at least 1".into() })
            }
            Some(n) => Ok(n),
            None => Ok(schedule::explore_trials(trials)),
        }
    }
}

impl GpUcbSettings {
    /// As for [`GpSettings`].
    ///
    /// # Errors
    /// If it is 0.
    pub fn explore_trials(&self, trials: usize) -> Result<usize, MethodError> {
        GpSettings { explore_trials: self.explore_trials }.explore_trials(trials)
    }

    /// β, if it is valid.
    ///
    /// # Errors
    /// If a constant is negative or not finite.
    pub fn beta(&self) -> Result<Beta, MethodError> {
        match self.beta {
            Beta::Constant(beta) if !(beta.is_finite() && beta >= 0.0) => Err(MethodError::BadSetting {
                key: "beta",
                problem: format!("{beta} must be finite and not negative"),
            }),
            beta => Ok(beta),
        }
    }
}

/// A number, or the name of a schedule.
fn beta<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Beta, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a number or \"srinivas\"")]
    enum NumberOrName {
        Number(f64),
        Name(Name),
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Name {
        Srinivas,
    }
    Ok(match NumberOrName::deserialize(deserializer)? {
        NumberOrName::Number(beta) => Beta::Constant(beta),
        NumberOrName::Name(Name::Srinivas) => Beta::SRINIVAS,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::Domain;
    use crate::method::Method;

    fn read(table: &str) -> Result<Method, String> {
        serde_json::from_str(table).map_err(|error| error.to_string())
    }

    #[test]
    fn tables_are_read_and_slips_refused() {
        let constant = GpUcbSettings { explore_trials: Some(3), beta: Beta::Constant(4.0) };
        let table = r#"{"name": "gp-ucb", "explore_trials": 3, "beta": 4}"#;
        assert_eq!(read(table), Ok(Method::GpUcb(constant)));
        assert_eq!("gp-ucb:explore_trials=3:beta=4".parse::<Method>().ok(), read(table).ok());
        let schedule = GpUcbSettings { beta: Beta::SRINIVAS, ..GpUcbSettings::default() };
        assert_eq!("gp-ucb:beta=srinivas".parse(), Ok(Method::GpUcb(schedule)));
        assert_eq!(read(r#"{"name": "turbo"}"#), Ok("turbo".parse().unwrap()));
        for (table, expected) in [
            (r#"{"name": "gp-ei", "beta": 1}"#, "beta"),
            (r#"{"name": "gp-ucb", "beta": "large"}"#, "expected a number or \"srinivas\""),
        ] {
            let error = read(table).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        for (table, key) in [
            (r#"{"name": "gp-ucb", "beta": -1}"#, "beta"),
            (r#"{"name": "gp-ucb", "explore_trials": 0}"#, "explore_trials"),
            (r#"{"name": "turbo", "explore_trials": 0}"#, "explore_trials"),
        ] {
            let refused = read(table).unwrap().build(&Domain::cube(2), 30, 0).err();
            assert!(
                matches!(refused, Some(MethodError::BadSetting { key: got, .. }) if got == key),
                "{refused:?}"
            );
        }
    }
}
