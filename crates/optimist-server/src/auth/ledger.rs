//! Where accounts are kept: in a log of their own in the same storage as the studies, so that every server of a storage knows the same
//! users, whatever the storage is (decision 27). It is append-only, like a study: who was let in, when and by
//! whom stays known.

use std::ops::ControlFlow;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use optimist_study::log::{Appended, Log, StudyId};
use optimist_study::{Storage, StorageError};

use super::accounts::{AccountEvent, AccountRecord, Accounts, Token, VERSION};
use super::role::Role;
use super::{password, secret};

/// The name of the log. Names with this prefix are not studies (`optimist_study::log::HIDDEN`).
const NAME: &str = "optimist:accounts";

/// How often to look for the accounts' log while there is none.
const LOOK: Duration = Duration::from_secs(1);

/// The longest user name, in characters.
const NAME_LENGTH: usize = 64;

/// Why accounts cannot be changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AccountError {
    /// Their storage cannot be used.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A user name with characters that aren't allowed.
    #[error(
        "`{name}` is not a valid user name; use 1 to {NAME_LENGTH} letters, digits, `.`, `-`, `_` or `@`"
    )]
    BadName {
        /// The name as given.
        name: String,
    },
    /// A password that is too short or too long.
    #[error(
        "a password must have {} to {} characters, this one has {length}",
        password::SHORTEST,
        password::LONGEST
    )]
    BadPassword {
        /// Its length, in characters.
        length: usize,
    },
    /// The name is taken.
    #[error("user `{name}` already exists; `optimist user passwd {name}` changes the password")]
    UserExists {
        /// The user's name.
        name: String,
    },
    /// No user has this name.
    #[error("user `{name}` doesn't exist; `optimist user list` shows the users that do")]
    NoUser {
        /// The user's name.
        name: String,
    },
    /// Without this admin, nobody could manage users.
    #[error("`{name}` is the only admin; add another one first")]
    LastAdmin {
        /// The user's name.
        name: String,
    },
    /// No token has this id.
    #[error("token `{id}` doesn't exist; `optimist token list` shows the tokens that do")]
    NoToken {
        /// The token's id.
        id: String,
    },
    /// The worker role, given to a user.
    #[error("users can be viewers, operators or admins; the worker role is for tokens only")]
    WorkerUser,
    /// The records were written by a newer version.
    #[error("the accounts were written by a newer version of optimist; update optimist")]
    Newer,
    /// The system's random number generator or the password hash failed.
    #[error("cannot generate a secret: {reason}")]
    NoSecret {
        /// What the system said.
        reason: String,
    },
}

/// The accounts of a storage, as of the last refresh.
#[derive(Default)]
pub struct Ledger {
    id: Option<StudyId>,
    head: u64,
    looked: Option<Instant>,
    accounts: Accounts,
}

impl Ledger {
    /// Reads the accounts of a storage, without creating any.
    ///
    /// # Errors
    /// If storage cannot be read.
    pub fn open(storage: &Storage) -> Result<(Self, Box<dyn Log>), AccountError> {
        let mut log = storage.connect()?;
        let mut ledger = Self::default();
        ledger.refresh(&mut *log)?;
        Ok((ledger, log))
    }

    /// The accounts as of the last [`Ledger::refresh`].
    pub fn accounts(&self) -> &Accounts {
        &self.accounts
    }

    /// Reads the records appended since the last refresh.
    ///
    /// # Errors
    /// If storage cannot be read.
    pub fn refresh(&mut self, log: &mut dyn Log) -> Result<(), AccountError> {
        if self.id.is_none() {
            if self.looked.is_some_and(|looked| looked.elapsed() < LOOK) {
                return Ok(());
            }
            self.looked = Some(Instant::now());
            self.id = log.studies()?.into_iter().find(|entry| entry.name == NAME).map(|entry| entry.id);
        }
        let Some(id) = self.id else { return Ok(()) };
        let mut is_newer = false;
        log.read(id, self.head, &mut |seq, body| match serde_json::from_str(body) {
            Ok(record @ AccountRecord { v: VERSION, .. }) => {
                self.accounts.apply(record);
                self.head = seq;
                ControlFlow::Continue(())
            }
            _ => {
                is_newer = true;
                ControlFlow::Break(())
            }
        })?;
        if is_newer { Err(AccountError::Newer) } else { Ok(()) }
    }

    /// Adds a user.
    ///
    /// # Errors
    /// If the name is taken, the name or the password is invalid, or storage fails.
    pub fn add_user(
        &mut self,
        log: &mut dyn Log,
        name: &str,
        role: Role,
        password: &str,
        by: Option<&str>,
    ) -> Result<(), AccountError> {
        let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '@');
        if !(1..=NAME_LENGTH).contains(&name.chars().count()) || !name.chars().all(is_plain) {
            return Err(AccountError::BadName { name: name.to_owned() });
        }
        if role == Role::Worker {
            return Err(AccountError::WorkerUser);
        }
        let (name, password) = (name.to_owned(), password::hash(password)?);
        self.append(log, by, |accounts| match accounts.users.contains_key(&name) {
            true => Err(AccountError::UserExists { name: name.clone() }),
            false => Ok(AccountEvent::UserAdded { name: name.clone(), role, password: password.clone() }),
        })
    }

    /// Removes a user.
    ///
    /// # Errors
    /// If no user has this name, no admin would be left, or storage fails.
    pub fn remove_user(
        &mut self,
        log: &mut dyn Log,
        name: &str,
        by: Option<&str>,
    ) -> Result<(), AccountError> {
        self.append(log, by, |accounts| {
            let name = name.to_owned();
            let Some(user) = accounts.users.get(&name) else { return Err(AccountError::NoUser { name }) };
            if user.role == Role::Admin && accounts.n_admins() == 1 && accounts.users.len() > 1 {
                return Err(AccountError::LastAdmin { name });
            }
            Ok(AccountEvent::UserRemoved { name })
        })
    }

    /// Changes a user's password and ends all their sessions.
    ///
    /// # Errors
    /// If no user has this name, the password is invalid, or storage fails.
    pub fn change_password(
        &mut self,
        log: &mut dyn Log,
        name: &str,
        password: &str,
        by: Option<&str>,
    ) -> Result<(), AccountError> {
        let password = password::hash(password)?;
        self.append(log, by, |accounts| {
            let name = name.to_owned();
            match accounts.users.contains_key(&name) {
                true => Ok(AccountEvent::PasswordChanged { name, password: password.clone() }),
                false => Err(AccountError::NoUser { name }),
            }
        })
    }

    /// Changes a user's role.
    ///
    /// # Errors
    /// If no user has this name, no admin would be left, or storage fails.
    pub fn change_role(
        &mut self,
        log: &mut dyn Log,
        name: &str,
        role: Role,
        by: Option<&str>,
    ) -> Result<(), AccountError> {
        self.append(log, by, |accounts| {
            let name = name.to_owned();
            let Some(user) = accounts.users.get(&name) else { return Err(AccountError::NoUser { name }) };
            match (user.role, role) {
                (_, Role::Worker) => Err(AccountError::WorkerUser),
                (Role::Admin, other) if other != Role::Admin && accounts.n_admins() == 1 => {
                    Err(AccountError::LastAdmin { name })
                }
                _ => Ok(AccountEvent::RoleChanged { name, role }),
            }
        })
    }

    /// Creates a token. Returns its id and the token itself, which is not stored and can't be shown again.
    ///
    /// # Errors
    /// If the random number generator or storage fails.
    pub fn create_token(
        &mut self,
        log: &mut dyn Log,
        name: Option<&str>,
        (role, study): (Role, Option<&str>),
        lasts: Option<Duration>,
        by: Option<&str>,
    ) -> Result<(String, String), AccountError> {
        let secret = format!("opt_{}", new_secret()?);
        let id = new_secret()?[..8].to_owned();
        let name = name.map_or_else(|| format!("token-{id}"), str::to_owned);
        let until = lasts.map(|lasts| now().saturating_add(millis(lasts)));
        let token = Token { name, role, study: study.map(str::to_owned), hash: secret::hash(&secret), until };
        self.append(log, by, |_| Ok(AccountEvent::TokenCreated { id: id.clone(), token: token.clone() }))?;
        Ok((id, secret))
    }

    /// Revokes a token.
    ///
    /// # Errors
    /// If no token has this id, or storage fails.
    pub fn revoke_token(
        &mut self,
        log: &mut dyn Log,
        id: &str,
        by: Option<&str>,
    ) -> Result<(), AccountError> {
        self.append(log, by, |accounts| match accounts.tokens.contains_key(id) {
            true => Ok(AccountEvent::TokenRevoked { id: id.to_owned() }),
            false => Err(AccountError::NoToken { id: id.to_owned() }),
        })
    }

    /// Opens a session and returns its secret.
    ///
    /// # Errors
    /// If the random number generator or storage fails.
    pub fn open_session(
        &mut self,
        log: &mut dyn Log,
        user: &str,
        lasts: Duration,
    ) -> Result<String, AccountError> {
        let secret = new_secret()?;
        self.append(log, Some(user), |_| {
            let (session, until) = (secret::hash(&secret), now().saturating_add(millis(lasts)));
            Ok(AccountEvent::SessionOpened { session, user: user.to_owned(), until })
        })?;
        Ok(secret)
    }

    /// Appends the event that `decide` chooses; if another process appended first, refreshes and decides again.
    pub(super) fn append(
        &mut self,
        log: &mut dyn Log,
        by: Option<&str>,
        decide: impl Fn(&Accounts) -> Result<AccountEvent, AccountError>,
    ) -> Result<(), AccountError> {
        loop {
            self.looked = None;
            self.refresh(log)?;
            let record = AccountRecord {
                v: VERSION,
                at: now(),
                by: by.map(str::to_owned),
                event: decide(&self.accounts)?,
            };
            let body = serde_json::to_string(&record)
                .map_err(|error| AccountError::NoSecret { reason: error.to_string() })?;
            let is_stored = match self.id {
                None => log.create(NAME, &body)?.is_some(),
                Some(id) => match log.append(id, self.head, &[body], &[])? {
                    Appended::Stored => true,
                    Appended::Moved => false,
                    Appended::Gone => {
                        *self = Self::default();
                        false
                    }
                },
            };
            if is_stored {
                self.looked = None;
                return self.refresh(log);
            }
        }
    }
}

/// Milliseconds since 1970.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, millis)
}

/// A duration in whole milliseconds, at most `u64::MAX`.
pub fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn new_secret() -> Result<String, AccountError> {
    secret::new().map_err(|error| AccountError::NoSecret { reason: error.to_string() })
}
