//! Where studies are kept, as commands are told.

use clap::Args;
use optimist_study::{Storage, StorageError};

/// What is used if nothing else is said.
const DEFAULT: &str = "optimist.db";

/// Says it once for a whole shell.
const VARIABLE: &str = "OPTIMIST_STORAGE";

/// Where studies are kept.
#[derive(Debug, Args)]
pub struct StorageArgs {
    /// Where studies are kept: a file, postgres://user@host/database, or `memory` to keep nothing
    /// [default: $OPTIMIST_STORAGE, or optimist.db in the current folder]
    #[arg(long, value_name = "PLACE")]
    storage: Option<String>,
}

impl StorageArgs {
    /// The storage meant. Trouble with it is printed.
    pub fn storage(&self) -> Result<Storage, StorageError> {
        let variable = std::env::var(VARIABLE).ok().filter(|word| !word.is_empty());
        let word = self.storage.clone().or(variable).unwrap_or_else(|| DEFAULT.to_owned());
        let storage: Storage = word.parse()?;
        Ok(storage.with_notify(|trouble| eprintln!("{trouble}")))
    }
}
