//! `optimist export STUDY FILE`: the whole log of a study, to keep or to take elsewhere.

use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use optimist_study::Study;
use optimist_study::view::number::count;
use serde_json::json;

use crate::show::{print, print_json};
use crate::storage::StudyArgs;

const EXAMPLES: &str = "\
Examples:
  optimist export film film.jsonl            every record, bit for bit
  optimist export film - | gzip > film.jsonl.gz
  optimist create film.jsonl --storage other.db      the same study elsewhere

For spreadsheets and data frames see `optimist trials --format csv`.

Exit status: 0 if the file is written, 1 if not, 2 if the command line is
wrong.";

/// Options of `optimist export`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ExportArgs {
    #[command(flatten)]
    study: StudyArgs,
    /// The file to write, or - for standard output
    file: PathBuf,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
    /// Print the result as a JSON object; no effect with -, whose output is JSON lines
    #[arg(long)]
    json: bool,
}

/// Writes the log.
pub fn execute(args: ExportArgs) -> anyhow::Result<ExitCode> {
    let mut study = args.study.open()?;
    if args.file.as_os_str() == "-" {
        write(&mut study, io::stdout().lock())?;
        return Ok(ExitCode::SUCCESS);
    }
    let shown = args.file.display();
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).create_new(!args.force).mode(0o600);
    let file = match options.open(&args.file) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            bail!("{shown} already exists; choose another name, or pass --force to overwrite it")
        }
        opened => opened.with_context(|| format!("cannot write {shown}"))?,
    };
    let n_records = write(&mut study, &file).with_context(|| format!("cannot write {shown}"))?;
    file.sync_all().with_context(|| format!("cannot write {shown}"))?;
    if args.json {
        print_json(&json!({ "study": study.name(), "file": args.file, "records": n_records }))?;
    } else {
        print(format!(
            "exported study `{}` to {shown}: {}",
            study.name(),
            count(n_records as usize, "record")
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes every record on a line; how many there are.
fn write(study: &mut Study, to: impl Write) -> anyhow::Result<u64> {
    let mut to = BufWriter::new(to);
    let mut n_records = 0;
    let mut written = Ok(());
    study.export(|line| {
        written = writeln!(to, "{line}");
        n_records += 1;
        if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    written.and_then(|()| to.flush())?;
    Ok(n_records)
}
