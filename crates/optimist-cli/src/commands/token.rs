//! `optimist token`: access tokens for programs that use a server.

use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand};
use optimist_server::Role;
use optimist_server::accounts::Token;
use serde_json::json;

use super::user::open;
use crate::show::{print, print_json, say, table};
use crate::storage::StorageArgs;

const EXAMPLES: &str = "\
Examples:
  optimist token create --role worker --study film --expires 30d
  OPTIMIST_TOKEN=opt_... optimist ask film --storage https://lab:8150
  optimist token list
  optimist token revoke 3f2a9c01

Roles: worker (asks and tells), and viewer, operator and admin as for users.

Exit status: 0 if it worked, 1 if not, 2 if the command line is wrong.";

/// Options of `optimist token`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct TokenArgs {
    #[command(subcommand)]
    command: TokenCommand,
}

#[derive(Debug, Subcommand)]
enum TokenCommand {
    /// Create a token
    Create {
        /// What it may do: worker, viewer, operator or admin
        #[arg(long)]
        role: Role,
        /// For this study only [default: all]
        #[arg(long, value_name = "NAME")]
        study: Option<String>,
        /// Expires after this time, such as 12h or 30d [default: never]
        #[arg(long, value_name = "TIME", value_parser = lasts)]
        expires: Option<Duration>,
        /// Name recorded in study logs [default: its id]
        #[arg(long)]
        name: Option<String>,
        #[command(flatten)]
        storage: StorageArgs,
        /// Print a JSON object
        #[arg(long)]
        json: bool,
    },
    /// List tokens
    List {
        #[command(flatten)]
        storage: StorageArgs,
        /// Print a JSON object for each token
        #[arg(long)]
        json: bool,
    },
    /// Revoke a token
    Revoke {
        /// The id of the token
        id: String,
        #[command(flatten)]
        storage: StorageArgs,
    },
}

/// Creates, lists or revokes.
pub fn execute(args: TokenArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        TokenCommand::Create { role, study, expires, name, storage, json } => {
            let (mut ledger, mut log) = open(&storage)?;
            let grant = (role, study.as_deref());
            let (id, token) = ledger.create_token(&mut *log, name.as_deref(), grant, expires, None)?;
            if json {
                print_json(&json!({ "id": id, "token": token }))?;
            } else {
                print(token)?;
                say(format!(
                    "this is shown once; set it as OPTIMIST_TOKEN. `optimist token revoke {id}` revokes it"
                ));
            }
        }
        TokenCommand::List { storage, json } => {
            let (ledger, _) = open(&storage)?;
            let tokens = &ledger.accounts().tokens;
            if json {
                for (id, Token { name, role, study, until, .. }) in tokens {
                    print_json(
                        &json!({ "id": id, "name": name, "role": role, "study": study, "until": until }),
                    )?;
                }
            } else if tokens.is_empty() {
                say("there are no tokens; `optimist token create --role worker --study NAME` creates one");
            } else {
                let title = ["id", "name", "role", "study", "expires"].map(str::to_owned).to_vec();
                print(table(std::iter::once(title).chain(tokens.iter().map(row)).collect()))?;
            }
        }
        TokenCommand::Revoke { id, storage } => {
            let (mut ledger, mut log) = open(&storage)?;
            ledger.revoke_token(&mut *log, &id, None)?;
            print(format!("token {id} is revoked"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn row((id, token): (&String, &Token)) -> Vec<String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let ends = match token.until.map(u128::from) {
        None => "never".to_owned(),
        Some(until) if until <= now => "expired".to_owned(),
        Some(until) => format!("in {} h", (until - now).div_ceil(3_600_000)),
    };
    let study = token.study.clone().unwrap_or_else(|| "all".to_owned());
    vec![id.clone(), token.name.clone(), token.role.word().to_owned(), study, ends]
}

/// A time such as `90s`, `15m`, `12h` or `30d`.
fn lasts(word: &str) -> Result<Duration, String> {
    let seconds = |unit: char| match unit {
        's' => Some(1),
        'm' => Some(60),
        'h' => Some(3600),
        'd' => Some(86_400),
        _ => None,
    };
    let parts =
        word.char_indices().next_back().and_then(|(end, unit)| Some((word.get(..end)?, seconds(unit)?)));
    let lasts = parts.and_then(|(n, unit)| n.parse::<u64>().ok()?.checked_mul(unit));
    let lasts = lasts.filter(|&lasts| lasts > 0 && lasts < 3_000_000_000);
    lasts.map(Duration::from_secs).ok_or_else(|| "expected a time such as 90s, 15m, 12h or 30d".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit() {
        for (word, seconds) in [("90s", 90), ("15m", 900), ("12h", 43_200), ("30d", 2_592_000)] {
            assert_eq!(lasts(word), Ok(Duration::from_secs(seconds)));
        }
        for word in ["", "30", "d", "-1d", "0s", "1.5h", "30 d", "99999999999d", "3é"] {
            assert!(lasts(word).is_err(), "{word}");
        }
    }
}
