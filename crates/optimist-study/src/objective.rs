//! The user's command as a study file and the log describe it. What runs it is the feature `command`.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::definition::optional_seconds;

/// How a trial is measured by a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Objective {
    /// The program and its arguments; never empty.
    pub command: Vec<String>,
    /// How the command takes parameters and gives values.
    pub mode: Mode,
    /// How long a trial may take; no limit if `None`.
    #[serde(default, with = "optional_seconds")]
    pub timeout: Option<Duration>,
    /// Where the command runs; absolute.
    pub folder: PathBuf,
}

/// How a command takes parameters and gives values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Started for each trial.
    Once,
    /// Started once for each worker; one line in and one line out for each trial.
    Serve,
}

/// The environment variable that says where studies are kept. Commands do not get it: it may hold a password.
pub const STORAGE_VARIABLE: &str = "OPTIMIST_STORAGE";

/// The environment variable with the token that lets us in to a server. Commands do not get it, unless a parameter is called so.
pub const TOKEN_VARIABLE: &str = "OPTIMIST_TOKEN";

/// The environment variable that carries a parameter in mode `once`, unless that is [`STORAGE_VARIABLE`].
pub fn environment_name(parameter: &str) -> String {
    let name: String = parameter.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
    format!("OPTIMIST_{}", name.to_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_named_in_capitals_with_underscores() {
        assert_eq!(environment_name("learning-rate.0"), "OPTIMIST_LEARNING_RATE_0");
    }
}
