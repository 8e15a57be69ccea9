//! `optimist backup FILE`: a copy of every study, while they are running.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use optimist_study::view::number::count;
use optimist_study::{Storage, backup};
use serde_json::json;

use crate::show::{print, print_json};
use crate::storage::StorageArgs;

const EXAMPLES: &str = "\
Examples:
  optimist backup monday.db
  optimist backup monday.db --storage postgres://lab@server/studies
  optimist show film --storage monday.db    a backup is an ordinary storage

Works while studies are running: each study is copied as it is at one moment.
The copy is read back and compared before it gets its name. Leases aren't
copied: the copy takes trials that were running as put back.

Exit status: 0 if every study is copied; 1 if not, and then there is no FILE;
2 if the command line is wrong.";

/// Options of `optimist backup`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct BackupArgs {
    /// The SQLite file to create; must not exist yet
    file: PathBuf,
    #[command(flatten)]
    storage: StorageArgs,
    /// Print the studies as a JSON object
    #[arg(long)]
    json: bool,
}

/// Copies every study to a new file, under a temporary name until it is verified.
pub fn execute(args: BackupArgs) -> anyhow::Result<ExitCode> {
    let (storage, file) = (args.storage.storage()?, &args.file);
    let place = file.display();
    if file.exists() {
        bail!("{place} already exists; choose another name, or remove it");
    }
    if !storage.exists()? {
        bail!("nothing to back up: {storage} does not exist");
    }
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
        bail!("cannot create {place}: there is no folder {}", folder.display());
    }
    let mut name = file.as_os_str().to_owned();
    name.push(".partial");
    let partial = PathBuf::from(name);
    if partial.exists() {
        bail!(
            "{} already exists: another backup is running, or was interrupted; in that case remove the file",
            partial.display()
        );
    }
    let copied = backup(&storage, &Storage::sqlite(&partial));
    let Ok(copied) = copied else {
        let _ = std::fs::remove_file(&partial); // there may be none yet
        return Err(copied.map(drop).unwrap_err().into());
    };
    if copied.is_empty() {
        bail!("nothing to back up: there are no studies in {storage}");
    }
    std::fs::rename(&partial, file).with_context(|| format!("cannot make {place}"))?;
    if args.json {
        let studies: Vec<_> =
            copied.iter().map(|(study, records)| json!({ "study": study, "records": records })).collect();
        print_json(&json!({ "file": place.to_string(), "studies": studies }))?;
    } else {
        let records: usize = copied.iter().map(|(_, records)| records).sum();
        let studies =
            if copied.len() == 1 { "1 study".to_owned() } else { format!("{} studies", copied.len()) };
        print(format!("{studies} with {} copied to {place} and verified", count(records, "record")))?;
    }
    Ok(ExitCode::SUCCESS)
}
