//! `optimist user`: who may log in to a server.

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
  pass show lab/ben | optimist user add ben --role operator
  optimist user passwd anna                      changes it and logs anna out
  optimist user remove ben

Roles: viewer (looks), operator (also asks, tells, amends, enqueues, pauses),
admin (also creates and deletes studies, and manages users).

Exit status: 0 if it worked, 1 if not, 2 if the command line is wrong.";

/// Options of `optimist user`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct UserArgs {
    #[command(subcommand)]
    command: UserCommand,
}

#[derive(Debug, Subcommand)]
enum UserCommand {
    /// Add a user
    Add {
        /// The name of the user
        name: String,
        /// What they may do: viewer, operator or admin
        #[arg(long, default_value = "viewer")]
        role: Role,
        #[command(flatten)]
        storage: StorageArgs,
    },
    /// List users
    List {
        #[command(flatten)]
        storage: StorageArgs,
        /// Print a JSON object for each user
        #[arg(long)]
        json: bool,
    },
    /// Remove a user
    Remove {
        /// The name of the user
        name: String,
        #[command(flatten)]
        storage: StorageArgs,
    },
    /// Change a user's password
    Passwd {
        /// The name of the user
        name: String,
        #[command(flatten)]
        storage: StorageArgs,
    },
}

/// Adds, lists, removes, or changes a password.
pub fn execute(args: UserArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        UserCommand::Add { name, role, storage } => {
            let (mut ledger, mut log) = open(&storage)?;
            ledger.add_user(&mut *log, &name, role, &password(&name)?, None)?;
            print(format!("added user `{name}` as {}", role.word()))?;
        }
        UserCommand::List { storage, json } => list(&storage, json)?,
        UserCommand::Remove { name, storage } => {
            let (mut ledger, mut log) = open(&storage)?;
            ledger.remove_user(&mut *log, &name, None)?;
            print(format!("removed user `{name}`"))?;
        }
        UserCommand::Passwd { name, storage } => {
            let (mut ledger, mut log) = open(&storage)?;
            if !ledger.accounts().users.contains_key(&name) {
                bail!("there is no user `{name}`; `optimist user list` lists all users");
            }
            ledger.change_password(&mut *log, &name, &password(&name)?, None)?;
            print(format!("changed the password of `{name}`, who has to log in again"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The accounts of a storage.
pub fn open(storage: &StorageArgs) -> anyhow::Result<(Ledger, Box<dyn Log>)> {
    let storage = storage.storage()?;
    if storage.is_remote() {
        bail!(
            "{storage} is a server; run this where its storage is, or use its API as an admin (POST /api/v1/users, /api/v1/tokens)"
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
        say("there are no users; `optimist user add NAME --role admin` adds one");
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
    eprint!("\nrepeat the password: ");
    let second = line()?;
    eprintln!();
    if first != second {
        bail!("the passwords don't match; nothing was changed");
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
            _ => bail!("this terminal cannot hide the password; pipe it to standard input instead"),
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
