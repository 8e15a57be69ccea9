//! Users, tokens and sessions, as a fold over records of what was done to them.
//!
//! Does not know: where the records are kept (`ledger`), how passwords are checked (`password`). Nothing here is enough to log in:
//! passwords are argon2id hashes, and tokens and sessions are known by their hashes only.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::role::Role;

/// The version of the records.
pub const VERSION: u32 = 1;

/// What was done to accounts, as the log keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AccountRecord {
    /// The version of the record format.
    pub v: u32,
    /// When: milliseconds since 1970.
    pub at: u64,
    /// Who did it; `None` for changes made on the command line, by somebody with access to the storage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// What was done.
    pub event: AccountEvent,
}

/// What can be done to accounts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccountEvent {
    /// A user was added.
    UserAdded {
        /// The user's name, which is unique.
        name: String,
        /// What they may do.
        role: Role,
        /// The hash of their password.
        password: String,
    },
    /// A user was removed; their sessions end.
    UserRemoved {
        /// The user's name.
        name: String,
    },
    /// A user's password was changed; their sessions end.
    PasswordChanged {
        /// The user's name.
        name: String,
        /// The hash of the new password.
        password: String,
    },
    /// A user's role was changed.
    RoleChanged {
        /// The user's name.
        name: String,
        /// The new role.
        role: Role,
    },
    /// A token was created.
    TokenCreated {
        /// Unique, and not a secret.
        id: String,
        /// What the token may do, and its hash.
        token: Token,
    },
    /// A token was revoked.
    TokenRevoked {
        /// The token's id.
        id: String,
    },
    /// A user logged in.
    SessionOpened {
        /// The hash of the session's secret.
        session: String,
        /// The user's name.
        user: String,
        /// When the session ends at the latest: milliseconds since 1970.
        until: u64,
    },
    /// A session is still in use.
    SessionSeen {
        /// The hash of the session's secret.
        session: String,
    },
    /// A user logged out.
    SessionClosed {
        /// The hash of the session's secret.
        session: String,
    },
}

/// A user, who can log in.
#[derive(Debug, Clone, PartialEq)]
pub struct User {
    /// What they may do.
    pub role: Role,
    /// The hash of their password.
    pub password: String,
    /// When the user was added: milliseconds since 1970.
    pub added_at: u64,
}

/// A token, with which a program can use the API.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Token {
    /// What the token is for, in words.
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// The only study it gives access to; `None` for all studies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub study: Option<String>,
    /// The hash of the token.
    pub hash: String,
    /// When it expires: milliseconds since 1970; never if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<u64>,
}

/// A browser session of a user who logged in.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// The user's name.
    pub user: String,
    /// When it was last known to be in use: milliseconds since 1970.
    pub seen_at: u64,
    /// When it ends at the latest: milliseconds since 1970.
    pub until: u64,
}

/// All users, tokens and sessions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Accounts {
    /// Users by name.
    pub users: BTreeMap<String, User>,
    /// Tokens by id.
    pub tokens: BTreeMap<String, Token>,
    /// Sessions by the hash of their secret.
    pub sessions: BTreeMap<String, Session>,
}

impl Accounts {
    /// Applies the next record. Events about users, tokens or sessions that don't exist change nothing.
    pub fn apply(&mut self, record: AccountRecord) {
        let at = record.at;
        match record.event {
            AccountEvent::UserAdded { name, role, password } => {
                self.users.insert(name, User { role, password, added_at: at });
            }
            AccountEvent::UserRemoved { name } => {
                self.users.remove(&name);
                self.sessions.retain(|_, session| session.user != name);
            }
            AccountEvent::PasswordChanged { name, password } => {
                if let Some(user) = self.users.get_mut(&name) {
                    user.password = password;
                }
                self.sessions.retain(|_, session| session.user != name);
            }
            AccountEvent::RoleChanged { name, role } => {
                if let Some(user) = self.users.get_mut(&name) {
                    user.role = role;
                }
            }
            AccountEvent::TokenCreated { id, token } => {
                self.tokens.insert(id, token);
            }
            AccountEvent::TokenRevoked { id } => {
                self.tokens.remove(&id);
            }
            AccountEvent::SessionOpened { session, user, until } => {
                self.sessions.retain(|_, session| session.until > at);
                self.sessions.insert(session, Session { user, seen_at: at, until });
            }
            AccountEvent::SessionSeen { session } => {
                if let Some(session) = self.sessions.get_mut(&session) {
                    session.seen_at = session.seen_at.max(at);
                }
            }
            AccountEvent::SessionClosed { session } => {
                self.sessions.remove(&session);
            }
        }
    }

    /// The token with this hash, unless it has expired.
    pub fn token(&self, hash: &str, now: u64) -> Option<&Token> {
        let mut tokens = self.tokens.values().filter(|token| super::secret::is_same(&token.hash, hash));
        tokens.next().filter(|token| token.until.is_none_or(|until| now < until))
    }

    /// How many admins there are.
    pub fn n_admins(&self) -> usize {
        self.users.values().filter(|user| user.role == Role::Admin).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(events: impl IntoIterator<Item = AccountEvent>) -> Accounts {
        let mut accounts = Accounts::default();
        for (at, event) in (1..).zip(events) {
            let record = AccountRecord { v: VERSION, at, by: None, event };
            let written = serde_json::to_string(&record).unwrap();
            accounts.apply(serde_json::from_str(&written).unwrap());
        }
        accounts
    }

    fn added(name: &str) -> AccountEvent {
        AccountEvent::UserAdded { name: name.into(), role: Role::Viewer, password: "hash".into() }
    }

    fn opened(session: &str, user: &str) -> AccountEvent {
        AccountEvent::SessionOpened { session: session.into(), user: user.into(), until: 100 }
    }

    #[test]
    fn sessions_end_with_their_user_and_with_their_password() {
        let begin = [added("anna"), added("ben"), opened("a", "anna"), opened("b", "ben")];
        let ends = [
            AccountEvent::UserRemoved { name: "anna".into() },
            AccountEvent::PasswordChanged { name: "anna".into(), password: "other".into() },
            AccountEvent::SessionClosed { session: "a".into() },
        ];
        for end in ends {
            let accounts = after(begin.iter().cloned().chain([end]));
            assert_eq!(accounts.sessions.keys().collect::<Vec<_>>(), ["b"]);
        }
        let changed = AccountEvent::RoleChanged { name: "anna".into(), role: Role::Admin };
        let accounts = after(begin.into_iter().chain([changed]));
        assert_eq!((accounts.sessions.len(), accounts.n_admins()), (2, 1));
    }

    #[test]
    fn a_token_ends_when_it_was_to_end_and_when_it_is_revoked() {
        let token = Token {
            name: "cluster".into(),
            role: Role::Worker,
            study: Some("film".into()),
            hash: "h".into(),
            until: Some(50),
        };
        let created = AccountEvent::TokenCreated { id: "1".into(), token: token.clone() };
        let accounts = after([created.clone()]);
        assert_eq!((accounts.token("h", 49), accounts.token("h", 50)), (Some(&token), None));
        assert_eq!(accounts.token("other", 0), None);
        assert_eq!(after([created, AccountEvent::TokenRevoked { id: "1".into() }]).token("h", 0), None);
    }
}
