//! `optimist user`: who may log in to the servers of a storage.

use std::io::{self, BufRead, IsTerminal};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use optimist_server::{Ledger, Role};
use optimist_study::log::Log;
use serde_json::json;

use crate::show::{print, print_json, say, table};
use crate::storage::StorageArgs;

const EXAMPLES: &str = "\
Examples:
  optimist user add anna --role admin            asks for the password
  pass show lab/ben | optimist user add ben --role operator      or reads it from standard input
  optimist user passwd anna                      a new password; all sessions of anna end
  optimist user remove ben

Roles: viewer (looks), operator (also asks, tells, amends, enqueues, pauses), admin (also creates and deletes studies,
and manages users).

Exit status: 0 if it is done, 1 if it cannot be, 2 if the command line is wrong.";

/// Options of `optimist user`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct UserArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Let somebody log in
    Add {
        /// The name of the user
        name: String,
        /// What they may do: viewer, operator or admin
        #[arg(long, default_value = "viewer")]
        role: Role,
        #[command(flatten)]
        storage: StorageArgs,
    },
    /// Show who may log in
    List {
        #[command(flatten)]
        storage: StorageArgs,
        /// Print a JSON object for each user
        #[arg(long)]
        json: bool,
    },
    /// Do not let somebody log in any more
    Remove {
        /// The name of the user
        name: String,
        #[command(flatten)]
        storage: StorageArgs,
    },
    /// Give somebody another password
    Passwd {
        /// The name of the user
        name: String,
        #[command(flatten)]
        storage: StorageArgs,
    },
}

/// Does it; errors are printed by `main`.
pub fn execute(args: UserArgs) -> anyhow::Result<ExitCode> {
    match args.what {
        What::Add { name, role, storage } => {
            let (mut ledger, mut log) = open(&storage)?;
            ledger.add_user(&mut *log, &name, role, &password(&name)?, None)?;
            print(format!("`{name}` may log in, as {}", role.word()))?;
        }
        What::List { storage, json } => list(&storage, json)?,
        What::Remove { name, storage } => {
            let (mut ledger, mut log) = open(&storage)?;
            ledger.remove_user(&mut *log, &name, None)?;
            print(format!("`{name}` may not log in any more"))?;
        }
        What::Passwd { name, storage } => {
            let (mut ledger, mut log) = open(&storage)?;
            if !ledger.accounts().users.contains_key(&name) {
                bail!("there is no user `{name}`; `optimist user list` shows those there are");
            }
            ledger.change_password(&mut *log, &name, &password(&name)?, None)?;
            print(format!("`{name}` has a new password, and has to log in again"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The accounts of a storage.
pub fn open(storage: &StorageArgs) -> anyhow::Result<(Ledger, Box<dyn Log>)> {
    let storage = storage.storage()?;
    if storage.is_remote() {
        bail!(
            "{storage} is a server; do this where its storage is, or as an admin with its API (POST /api/v1/users, /api/v1/tokens)"
        );
    }
    Ok(Ledger::open(&storage)?)
}

fn list(storage: &StorageArgs, json: bool) -> anyhow::Result<()> {
    let (ledger, _) = open(storage)?;
    let users = &ledger.accounts().users;
    if json {
        for (name, user) in users {
            print_json(&json!({ "user": name, "role": user.role }))?;
        }
    } else if users.is_empty() {
        say("there are no users; `optimist user add NAME --role admin` makes one");
    } else {
        let title = vec!["user".to_owned(), "role".to_owned()];
        let row = |(name, user): (&String, &optimist_server::accounts::User)| {
            vec![name.clone(), user.role.word().to_owned()]
        };
        print(table(std::iter::once(title).chain(users.iter().map(row)).collect()))?;
    }
    Ok(())
}

/// The password: the first line of standard input; at a terminal, asked for twice and not shown.
fn password(name: &str) -> anyhow::Result<String> {
    let line = || -> anyhow::Result<String> {
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line).context("cannot read the password")?;
        Ok(line.trim_end_matches(['\n', '\r']).to_owned())
    };
    if !io::stdin().is_terminal() {
        return line();
    }
    let _hidden = Hidden::new()?;
    eprint!("password for {name}: ");
    let first = line()?;
    eprint!("\nthe same again: ");
    let second = line()?;
    eprintln!();
    if first != second {
        bail!("the two are not the same; nothing was changed");
    }
    Ok(first)
}

/// A terminal that does not show what is typed, until this is dropped.
struct Hidden;

impl Hidden {
    fn new() -> anyhow::Result<Self> {
        let hidden = Self::stty("-echo");
        match hidden {
            Ok(true) => Ok(Self),
            _ => bail!("the terminal would show the password; send it to standard input instead"),
        }
    }

    fn stty(how: &str) -> io::Result<bool> {
        Ok(Command::new("stty").arg(how).stdin(Stdio::inherit()).status()?.success())
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        let _ = Self::stty("echo");
    }
}
