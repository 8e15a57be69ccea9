//! Where studies are kept, as commands are told.

use std::env::VarError;

use anyhow::bail;
use clap::Args;
use optimist_study::log;
use optimist_study::objective::STORAGE_VARIABLE;
use optimist_study::worker::MAX_WORKERS;
use optimist_study::{AskTell, Storage, StorageError, Study};

use crate::show::say;

/// The storage if neither option nor variable says otherwise.
pub const DEFAULT: &str = "optimist.db";

/// Where studies are kept.
#[derive(Debug, Args)]
pub struct StorageArgs {
    /// Where studies are stored: a file, postgres://user@host/database or `host=… dbname=…`, a server such as
    /// https://host:8150 (with $OPTIMIST_TOKEN), or `memory` to store nothing
    /// [default: $OPTIMIST_STORAGE, or optimist.db in the current folder]
    #[arg(long, value_name = "PLACE")]
    storage: Option<String>,
}

impl StorageArgs {
    /// The storage that option, variable or default name. Trouble with its connection is printed.
    pub fn storage(&self) -> anyhow::Result<Storage> {
        let variable = match std::env::var(STORAGE_VARIABLE) {
            Err(VarError::NotUnicode(_)) if self.storage.is_none() => {
                bail!("{STORAGE_VARIABLE} is not valid UTF-8; change it, or give --storage")
            }
            variable => variable.ok().filter(|word| !word.is_empty()),
        };
        let word = self.storage.clone().or(variable).unwrap_or_else(|| DEFAULT.to_owned());
        let storage: Storage = word.parse()?;
        Ok(storage.with_notify(|trouble| say(trouble)))
    }
}

/// A study by its name.
#[derive(Debug, Args)]
pub struct StudyArgs {
    /// Name of the study
    study: String,
    #[command(flatten)]
    storage: StorageArgs,
}

/// A study by its name, or the only one there is.
#[derive(Debug, Args)]
pub struct AnyStudyArgs {
    /// Name of the study; optional if there is only one
    study: Option<String>,
    #[command(flatten)]
    storage: StorageArgs,
}

impl StudyArgs {
    /// The storage that option, variable or default name.
    pub fn storage(&self) -> anyhow::Result<Storage> {
        self.storage.storage()
    }

    /// The name of the study.
    pub fn name(&self) -> &str {
        &self.study
    }

    /// Opens the study.
    pub fn open(&self) -> anyhow::Result<Study> {
        Ok(Study::open(&self.storage.storage()?, &self.study)?)
    }

    /// Opens the study to ask and tell only, which is fast however large it is.
    pub fn open_to_tell(&self) -> anyhow::Result<AskTell> {
        Ok(AskTell::open(&self.storage.storage()?, &self.study)?)
    }
}

impl AnyStudyArgs {
    /// Opens the study.
    pub fn open(&self) -> anyhow::Result<Study> {
        let (storage, name) = self.find()?;
        Ok(Study::open(&storage, &name)?)
    }

    /// Opens the study to ask and tell only, which is fast however large it is.
    pub fn open_to_ask(&self) -> anyhow::Result<AskTell> {
        let (storage, name) = self.find()?;
        Ok(AskTell::open(&storage, &name)?)
    }

    fn find(&self) -> anyhow::Result<(Storage, String)> {
        let storage = self.storage.storage()?;
        if let Some(name) = &self.study {
            return Ok((storage, name.clone()));
        }
        match &names(&storage)?[..] {
            [] => bail!(
                "there are no studies in {storage} yet; `optimist run FILE` or `optimist create FILE` starts one"
            ),
            [only] => Ok((storage, only.clone())),
            several => bail!(
                "there are {} studies in {storage}; say which one: {}",
                several.len(),
                several.join(", ")
            ),
        }
    }
}

/// The studies in `storage`. Looking makes nothing.
pub fn names(storage: &Storage) -> Result<Vec<String>, StorageError> {
    if !storage.exists()? {
        return Ok(Vec::new());
    }
    let entries = log::listed(&mut *storage.connect()?)?;
    Ok(entries.into_iter().map(|entry| entry.name).collect())
}

/// A number of workers, of the command line.
pub fn workers(word: &str) -> Result<usize, String> {
    let n: usize = word.parse().map_err(|_| "give a whole number".to_owned())?;
    match n {
        1..=MAX_WORKERS => Ok(n),
        _ => Err(format!(
            "a process can have 1 to {MAX_WORKERS} workers; `optimist worker` adds more, here or on other machines"
        )),
    }
}
