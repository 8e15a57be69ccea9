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

/// What the log is called. Names that begin so are not studies (`optimist_study::log::HIDDEN`).
const NAME: &str = "optimist:accounts";

/// How often it is looked for where there is none.
const LOOK: Duration = Duration::from_secs(1);

/// The most characters of a name.
const NAME_LENGTH: usize = 64;

/// Why accounts cannot be changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AccountError {
    /// Their storage cannot be used.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A name that is not one.
    #[error(
        "`{name}` cannot be the name of a user; take 1 to {NAME_LENGTH} letters, digits and `.`, `-`, `_`, `@`"
    )]
    BadName {
        /// What was given.
        name: String,
    },
    /// A password that is easily guessed, or that nobody types.
    #[error("a password has {} to {} characters, this has {length}", password::SHORTEST, password::LONGEST)]
    BadPassword {
        /// How many it has.
        length: usize,
    },
    /// There is such a user.
    #[error("there is a user `{name}` already; `optimist user passwd {name}` gives another password")]
    UserExists {
        /// The name.
        name: String,
    },
    /// There is no such user.
    #[error("there is no user `{name}`; `optimist user list` shows those there are")]
    NoUser {
        /// The name.
        name: String,
    },
    /// Nobody could manage users any more.
    #[error("`{name}` is the only admin; make another one first")]
    LastAdmin {
        /// The name.
        name: String,
    },
    /// There is no such token.
    #[error("there is no token `{id}`; `optimist token list` shows those there are")]
    NoToken {
        /// The id.
        id: String,
    },
    /// A role that is for tokens.
    #[error("people are viewer, operator or admin; the role worker is for tokens")]
    WorkerUser,
    /// The records were written by a later version.
    #[error("the accounts were written by a later version of optimist; update optimist")]
    Newer,
    /// The system has no chance to give, or a hash cannot be made.
    #[error("cannot make a secret: {reason}")]
    NoSecret {
        /// What was said.
        reason: String,
    },
}

/// The accounts of a storage, as of the last look.
#[derive(Default)]
pub struct Ledger {
    id: Option<StudyId>,
    head: u64,
    looked: Option<Instant>,
    accounts: Accounts,
}

impl Ledger {
    /// The accounts of a storage. Looking makes nothing.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn open(storage: &Storage) -> Result<(Self, Box<dyn Log>), AccountError> {
        let mut log = storage.connect()?;
        let mut ledger = Self::default();
        ledger.refresh(&mut *log)?;
        Ok((ledger, log))
    }

    /// As of the last look.
    pub fn accounts(&self) -> &Accounts {
        &self.accounts
    }

    /// Reads what was done since the last look.
    ///
    /// # Errors
    /// If it cannot be read.
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
    /// If there is one of that name, the name or the password cannot be used, or storage cannot.
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
    /// If there is none of that name, nobody could add one any more, or storage cannot be used.
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

    /// Gives a user another password; all their sessions end.
    ///
    /// # Errors
    /// If there is none of that name, the password cannot be used, or storage cannot.
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

    /// Gives a user another role.
    ///
    /// # Errors
    /// If there is none of that name, nobody would be admin, or storage cannot be used.
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

    /// Makes a token: its id, and the token itself, which nobody can find out later.
    ///
    /// # Errors
    /// If the system has no chance to give, or storage cannot be used.
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

    /// Ends a token.
    ///
    /// # Errors
    /// If there is none of that id, or storage cannot be used.
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

    /// Begins a session: its secret.
    ///
    /// # Errors
    /// If the system has no chance to give, or storage cannot be used.
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

    /// Appends what `decide` wants, and has it decide again if somebody else has appended in the meantime.
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

/// As whole milliseconds.
pub fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn new_secret() -> Result<String, AccountError> {
    secret::new().map_err(|error| AccountError::NoSecret { reason: error.to_string() })
}
