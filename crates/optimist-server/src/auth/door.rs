//! Authentication: by the startup token of a local server, by a session, or by an API token.
//!
//! A server without users that listens on loopback prints a link with a token, and whoever has that token is admin. Adding the first
//! user ends that. Accounts are refreshed before each check, so somebody who was removed on another server is locked out here too.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use optimist_study::StorageError;
use optimist_study::log::Log;

use super::accounts::AccountEvent;
use super::identity::{Identity, unknown};
use super::ledger::{AccountError, Ledger, millis, now};
use super::role::Role;
use super::throttle::Throttle;
use super::{password, secret};
use crate::problem::Problem;
use crate::settings::Settings;
use crate::studies::{Studies, lock};

/// The name in log records for whoever uses the startup token of a local server.
const LOCAL: &str = "local";

/// The most browser sessions opened with the startup token.
const LOCAL_SESSIONS: usize = 100;

/// Authenticates requests.
pub struct Door {
    ledger: Mutex<Ledger>,
    throttle: Mutex<Throttle>,
    /// Held while a password is checked, one at a time: each check takes 19 MiB and a processor.
    comparing: Mutex<()>,
    /// The startup token of a local server; void once there are users.
    local: Option<String>,
    /// When each session opened with the startup token ends, by its hash. They all end with the server.
    local_sessions: Mutex<HashMap<String, u64>>,
    idle: Duration,
    lasts: Duration,
}

impl Door {
    /// Reads the accounts of a server with these settings.
    pub(crate) fn new(settings: &Settings, studies: &Studies) -> Result<Self, StorageError> {
        let local = settings.is_local().then(secret::new).transpose();
        let local = local.map_err(|error| StorageError::Other {
            place: "the system's random number generator".to_owned(),
            reason: error.to_string(),
        })?;
        let door = Self {
            ledger: Mutex::default(),
            throttle: Mutex::default(),
            comparing: Mutex::default(),
            local,
            local_sessions: Mutex::default(),
            idle: settings.session_idle,
            lasts: settings.session_lasts,
        };
        door.has_users(studies)?;
        Ok(door)
    }

    /// The startup token, if the server is local and has no users.
    pub fn local_token(&self) -> Option<&str> {
        let is_open = lock(&self.ledger).accounts().users.is_empty();
        self.local.as_deref().filter(|_| is_open)
    }

    /// Whether there are users who could log in.
    pub(crate) fn has_users(&self, studies: &Studies) -> Result<bool, StorageError> {
        let has = self.with(studies, |ledger, _| Ok(!ledger.accounts().users.is_empty()));
        has.map_err(|error| match error {
            AccountError::Storage(error) => error,
            other => StorageError::Other { place: studies.storage().to_string(), reason: other.to_string() },
        })
    }

    /// Runs `using` on up-to-date accounts.
    ///
    /// # Errors
    /// Whatever `using` returns, or if storage fails.
    pub(crate) fn with<T>(
        &self,
        studies: &Studies,
        using: impl FnOnce(&mut Ledger, &mut dyn Log) -> Result<T, AccountError>,
    ) -> Result<T, AccountError> {
        let mut ledger = lock(&self.ledger);
        studies.with_log(|log| {
            ledger.refresh(log)?;
            using(&mut ledger, log)
        })
    }

    /// The identity behind an API token, or behind the startup token.
    ///
    /// # Errors
    /// If storage fails.
    pub(crate) fn by_token(&self, studies: &Studies, token: &str) -> Result<Option<Identity>, AccountError> {
        let hash = secret::hash(token);
        let found = self.with(studies, |ledger, _| {
            let token = ledger.accounts().token(&hash, now()).cloned();
            Ok(token.map(|token| Identity {
                name: token.name,
                role: token.role,
                study: token.study,
                csrf: None,
            }))
        })?;
        let is_local = || self.local_token().is_some_and(|local| secret::is_same(local, token));
        Ok(found.or_else(|| is_local().then(|| local_identity(None))))
    }

    /// The identity behind a session.
    ///
    /// # Errors
    /// If storage fails.
    pub(crate) fn by_session(
        &self,
        studies: &Studies,
        session: &str,
    ) -> Result<Option<Identity>, AccountError> {
        let (hash, csrf, now) = (secret::hash(session), secret::csrf(session), now());
        let found = self.with(studies, |ledger, log| {
            let accounts = ledger.accounts();
            let Some(known) = accounts.sessions.get(&hash) else { return Ok(None) };
            let Some(user) = accounts.users.get(&known.user) else { return Ok(None) };
            let idle_until = known.seen_at.saturating_add(millis(self.idle));
            if now >= known.until || now >= idle_until {
                return Ok(None);
            }
            let (name, role) = (known.user.clone(), user.role);
            if now - known.seen_at > millis(self.idle) / 8 {
                // Not on every request, or the log would grow with every page view.
                ledger.append(log, None, |_| Ok(AccountEvent::SessionSeen { session: hash.clone() }))?;
            }
            Ok(Some(Identity { name, role, study: None, csrf: Some(csrf.clone()) }))
        })?;
        let is_local = || {
            self.local_token().is_some()
                && lock(&self.local_sessions).get(&hash).is_some_and(|until| now < *until)
        };
        Ok(found.or_else(|| is_local().then(|| local_identity(Some(csrf.clone())))))
    }

    /// Opens a session for the startup token.
    pub(crate) fn open_local(&self, token: &str) -> Result<String, Problem> {
        let is_right = self.local_token().is_some_and(|local| secret::is_same(local, token));
        let session = is_right.then(secret::new).transpose().map_err(|error| no_chance(&error))?;
        let session = session.ok_or_else(unknown)?;
        let mut sessions = lock(&self.local_sessions);
        if sessions.len() >= LOCAL_SESSIONS {
            sessions.clear();
        }
        sessions.insert(secret::hash(&session), now().saturating_add(millis(self.lasts)));
        Ok(session)
    }

    /// Opens a session for a name and password. The error doesn't say which of the two was wrong.
    pub(crate) fn log_in(
        &self,
        studies: &Studies,
        address: IpAddr,
        name: &str,
        password: &str,
    ) -> Result<String, Problem> {
        if let Some(wait) = lock(&self.throttle).attempt(address, name, Instant::now()) {
            let seconds = wait.as_secs() + 1;
            return Err(Problem::too_often(
                seconds,
                format!("too many wrong passwords; try again in {seconds} s"),
            ));
        }
        let stored = self.with(studies, |ledger, _| {
            Ok(ledger.accounts().users.get(name).map(|user| user.password.clone()))
        })?;
        let is_right = {
            let _one_at_a_time = lock(&self.comparing);
            password::is_right(password, stored.as_deref())
        };
        if !is_right {
            let detail =
                "wrong name or password; an admin can set a new password with `optimist user passwd NAME`";
            return Err(Problem::new(axum::http::StatusCode::UNAUTHORIZED, detail));
        }
        lock(&self.throttle).succeeded(address, name);
        Ok(self.with(studies, |ledger, log| ledger.open_session(log, name, self.lasts))?)
    }

    /// Ends a session, for good.
    ///
    /// # Errors
    /// If storage fails.
    pub(crate) fn log_out(&self, studies: &Studies, session: &str) -> Result<(), AccountError> {
        let hash = secret::hash(session);
        if lock(&self.local_sessions).remove(&hash).is_some() {
            return Ok(());
        }
        self.with(studies, |ledger, log| match ledger.accounts().sessions.contains_key(&hash) {
            true => ledger.append(log, None, |_| Ok(AccountEvent::SessionClosed { session: hash.clone() })),
            false => Ok(()),
        })
    }
}

fn local_identity(csrf: Option<String>) -> Identity {
    Identity { name: LOCAL.to_owned(), role: Role::Admin, study: None, csrf }
}

fn no_chance(error: &getrandom::Error) -> Problem {
    Problem::new(axum::http::StatusCode::INTERNAL_SERVER_ERROR, format!("cannot generate a secret: {error}"))
}
