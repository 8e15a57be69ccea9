//! Logs in a PostgreSQL database, for many machines.
//!
//! An append locks the row of its study, so that appends to one study come one after the other. Leases go by the clock
//! of the server. A connection that is lost is made again, and what was being done is done again: an append that had gone
//! through before the connection broke is recognised by its text. Records are linked (`chain`).

use std::fmt::{self, Display, Formatter};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use postgres::config::SslMode;
use postgres::error::SqlState;
use postgres::{Client, Config, Error, NoTls, Transaction};

use super::chain::{Chain, Head, Sieve, upgraded};
use super::{Appended, Backend, Entry, Lease, LeaseChange, Log, Notify, StorageError, StudyId};

/// The version of the tables.
const FORMAT: i32 = 2;

/// How long to try to reach a server that was there before.
const PATIENCE: Duration = Duration::from_secs(60);

/// Records fetched at a time.
const BLOCK: i64 = 5000;

const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS optimist_format (version INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS optimist_studies (id BIGSERIAL PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    ALTER TABLE optimist_studies ADD COLUMN IF NOT EXISTS head BIGINT NOT NULL DEFAULT 0;
    ALTER TABLE optimist_studies ADD COLUMN IF NOT EXISTS link BIGINT NOT NULL DEFAULT 0;
    CREATE TABLE IF NOT EXISTS optimist_linked (
        study BIGINT NOT NULL,
        seq BIGINT NOT NULL,
        body TEXT NOT NULL,
        link BIGINT NOT NULL,
        PRIMARY KEY (study, seq)
    );
    CREATE TABLE IF NOT EXISTS optimist_leases (
        study BIGINT NOT NULL,
        trial BIGINT NOT NULL,
        owner TEXT NOT NULL,
        until TIMESTAMPTZ NOT NULL,
        PRIMARY KEY (study, trial)
    );
";

/// A database by its address.
pub(super) struct PostgresDatabase(pub String);

impl Backend for PostgresDatabase {
    fn connect(&self, notify: &Notify) -> Result<Box<dyn Log>, StorageError> {
        Ok(Box::new(Postgres::connect(&self.0, Arc::clone(notify))?))
    }
}

/// Without the password.
impl Display for PostgresDatabase {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&without_password(&self.0))
    }
}

/// A connection to a PostgreSQL database.
pub struct Postgres {
    client: Client,
    url: String,
    notify: Notify,
}

impl Postgres {
    /// Connects, and makes the tables if they are not there.
    ///
    /// # Errors
    /// If the server cannot be reached or does not let us in, or the tables are of a later version.
    pub fn connect(url: &str, notify: Notify) -> Result<Self, StorageError> {
        let place = without_password(url);
        let unreachable =
            |error: Error| StorageError::Unreachable { place: place.clone(), reason: reason(&error) };
        let wants_encryption = |config: Config| config.get_ssl_mode() == SslMode::Require;
        if url.parse().is_ok_and(wants_encryption) {
            return Err(StorageError::NoEncryption { place });
        }
        let mut client = Client::connect(url, NoTls).map_err(unreachable)?;
        let version = prepare(&mut client).map_err(|error| explain(&place, &error))?;
        if version > FORMAT {
            return Err(StorageError::Newer { place, version: version.into(), known: FORMAT.into() });
        }
        Ok(Self { client, url: url.to_owned(), notify })
    }

    /// Does `work`, again from the start whenever the connection is lost. It is told how often it was begun before.
    fn persist<T>(
        &mut self,
        mut work: impl FnMut(&mut Client, usize) -> Result<T, Error>,
    ) -> Result<T, StorageError> {
        let mut n_lost = 0;
        loop {
            match work(&mut self.client, n_lost) {
                Err(error) if is_connection_lost(&error) => self.reconnect(&error)?,
                result => return result.map_err(|error| explain(&without_password(&self.url), &error)),
            }
            n_lost += 1;
        }
    }

    fn place(&self) -> String {
        without_password(&self.url)
    }

    fn damaged(&self, problem: String) -> StorageError {
        StorageError::Damaged { place: self.place(), problem }
    }

    fn reconnect(&mut self, lost: &Error) -> Result<(), StorageError> {
        let place = without_password(&self.url);
        (self.notify)(&format!("the connection to {place} was lost ({}); reconnecting", reason(lost)));
        let deadline = Instant::now() + PATIENCE;
        loop {
            match Client::connect(&self.url, NoTls) {
                Ok(client) => {
                    self.client = client;
                    (self.notify)(&format!("connected to {place} again"));
                    return Ok(());
                }
                Err(error) if Instant::now() > deadline => {
                    return Err(StorageError::Unreachable { place, reason: reason(&error) });
                }
                Err(_) => std::thread::sleep(Duration::from_millis(500)),
            }
        }
    }
}

impl Log for Postgres {
    fn studies(&mut self) -> Result<Vec<Entry>, StorageError> {
        self.persist(|client, _| {
            let rows = client.query("SELECT name, id FROM optimist_studies ORDER BY name", &[])?;
            rows.iter().map(|row| Ok(Entry { name: row.try_get(0)?, id: StudyId(row.try_get(1)?) })).collect()
        })
    }

    fn create(&mut self, name: &str, first: &str) -> Result<Option<StudyId>, StorageError> {
        self.persist(|client, n_lost| {
            let mut transaction = client.transaction()?;
            let query = "INSERT INTO optimist_studies (name) VALUES ($1) ON CONFLICT DO NOTHING RETURNING id";
            let Some(row) = transaction.query_opt(query, &[&name])? else {
                let query = "SELECT id FROM optimist_studies JOIN optimist_linked ON study = id
                             WHERE name = $1 AND seq = 1 AND body = $2";
                let ours = transaction.query_opt(query, &[&name, &first])?;
                return match ours.filter(|_| n_lost > 0) {
                    Some(row) => Ok(Some(StudyId(row.try_get(0)?))),
                    None => Ok(None),
                };
            };
            let id = StudyId(row.try_get(0)?);
            insert(&mut transaction, id, Head::default(), std::slice::from_ref(&first))?;
            transaction.commit()?;
            Ok(Some(id))
        })
    }

    fn append(
        &mut self,
        study: StudyId,
        head: u64,
        bodies: &[String],
        leases: &[LeaseChange],
    ) -> Result<Appended, StorageError> {
        let appended = self.persist(|client, n_lost| {
            let mut transaction = client.transaction()?;
            let lock = "SELECT head, link FROM optimist_studies WHERE id = $1 FOR UPDATE";
            let Some(row) = transaction.query_opt(lock, &[&study.0])? else {
                return Ok(Some(Appended::Gone));
            };
            let last = self::head(&row)?;
            if last.seq != head {
                let went_through = n_lost > 0 && is_there(&mut transaction, study, head + 1, bodies)?;
                return Ok(Some(if went_through { Appended::Stored } else { Appended::Moved }));
            }
            let there = "SELECT 1 FROM optimist_linked WHERE study = $1 AND seq = $2 AND link = $3";
            if transaction.query_opt(there, &[&study.0, &last.seq.cast_signed(), &last.link])?.is_none() {
                return Ok(None);
            }
            insert(&mut transaction, study, last, bodies)?;
            for change in leases {
                apply(&mut transaction, study, change)?;
            }
            transaction.commit()?;
            Ok(Some(Appended::Stored))
        })?;
        let missing = || format!("record {head} of study {} is missing at its end", study.0);
        appended.ok_or_else(|| self.damaged(missing()))
    }

    fn read(
        &mut self,
        study: StudyId,
        after: u64,
        each: &mut dyn FnMut(u64, &str) -> ControlFlow<()>,
    ) -> Result<(), StorageError> {
        let start = self.persist(|client, _| {
            let last = "SELECT head, link FROM optimist_studies WHERE id = $1";
            let last = client.query_opt(last, &[&study.0])?;
            let first = "SELECT seq, link FROM optimist_linked WHERE study = $1 AND seq = $2";
            let first = client.query_opt(first, &[&study.0, &after.cast_signed()])?;
            Ok((last.as_ref().map(head).transpose()?, first.as_ref().map(head).transpose()?))
        })?;
        let (last, first) = match start {
            (None, _) => return Ok(()),
            (Some(last), _) if after == 0 => (last, Head::default()),
            (Some(last), Some(first)) => (last, first),
            (Some(_), None) => {
                let problem = format!("record {after} of study {} is not there any more", study.0);
                return Err(self.damaged(problem));
            }
        };
        let mut chain = Chain::after(study, first);
        let mut after = after.cast_signed();
        loop {
            let rows = self.persist(|client, _| {
                let query = "SELECT seq, link, body FROM optimist_linked
                             WHERE study = $1 AND seq > $2 ORDER BY seq LIMIT $3";
                client.query(query, &[&study.0, &after, &BLOCK])
            })?;
            for row in &rows {
                let place = self.place();
                let unreadable = |error: Error| explain(&place, &error);
                let stored = head(row).map_err(unreadable)?;
                let body: &str = row.try_get(2).map_err(unreadable)?;
                chain.follow(stored, body).map_err(|problem| self.damaged(problem))?;
                if each(stored.seq, body).is_break() {
                    return Ok(());
                }
                after = stored.seq.cast_signed();
            }
            if rows.len() < BLOCK as usize {
                return chain.finish(last).map_err(|problem| self.damaged(problem));
            }
        }
    }

    fn salvage(&mut self, study: StudyId, each: &mut dyn FnMut(u64, &str)) -> Result<(), StorageError> {
        let rows = self.persist(|client, _| {
            let query = "SELECT seq, link, body FROM optimist_linked WHERE study = $1 ORDER BY seq";
            client.query(query, &[&study.0])
        })?;
        let mut sieve = Sieve::new(study);
        for row in &rows {
            if let (Ok(stored), Ok(body)) = (head(row), row.try_get::<_, &str>(2))
                && sieve.is_sound(stored, body)
            {
                each(stored.seq, body);
            }
        }
        Ok(())
    }

    fn check(&mut self) -> Result<(), StorageError> {
        let orphan = self.persist(|client, _| {
            let query = "SELECT study, seq FROM optimist_linked
                         WHERE study NOT IN (SELECT id FROM optimist_studies) LIMIT 1";
            let row = client.query_opt(query, &[])?;
            row.map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).transpose()
        })?;
        orphan.map_or(Ok(()), |(study, seq): (i64, i64)| {
            Err(self.damaged(format!("record {seq} is of study {study}, which is not there")))
        })
    }

    fn delete(&mut self, study: StudyId) -> Result<bool, StorageError> {
        self.persist(|client, n_lost| {
            let mut transaction = client.transaction()?;
            let n_studies = transaction.execute("DELETE FROM optimist_studies WHERE id = $1", &[&study.0])?;
            transaction.execute("DELETE FROM optimist_linked WHERE study = $1", &[&study.0])?;
            transaction.execute("DELETE FROM optimist_leases WHERE study = $1", &[&study.0])?;
            transaction.commit()?;
            Ok(n_studies > 0 || n_lost > 0)
        })
    }

    fn renew(
        &mut self,
        study: StudyId,
        trials: &[usize],
        owner: &str,
        lasts: Duration,
    ) -> Result<(), StorageError> {
        let trials: Vec<i64> = trials.iter().map(|trial| integer(*trial)).collect();
        self.persist(|client, _| {
            let query = "UPDATE optimist_leases SET until = clock_timestamp() + make_interval(secs => $4)
                         WHERE study = $1 AND trial = ANY($2) AND owner = $3";
            client.execute(query, &[&study.0, &trials, &owner, &seconds(lasts)]).map(drop)
        })
    }

    fn leases(&mut self, study: StudyId) -> Result<Vec<Lease>, StorageError> {
        self.persist(|client, _| {
            let query =
                "SELECT trial, owner, until <= clock_timestamp() FROM optimist_leases WHERE study = $1";
            let lease = |row: &postgres::Row| {
                let trial = usize::try_from(row.try_get::<_, i64>(0)?).unwrap_or(usize::MAX);
                Ok(Lease { trial, owner: row.try_get(1)?, has_expired: row.try_get(2)? })
            };
            client.query(query, &[&study.0])?.iter().map(lease).collect()
        })
    }
}

/// Makes the tables if they are not there, or brings those of the first version up to date; the version of those that are.
fn prepare(client: &mut Client) -> Result<i32, Error> {
    if let Some(version) = version(client)?
        && version >= FORMAT
    {
        return Ok(version);
    }
    let mut transaction = client.transaction()?;
    // Of several that find no tables, or old ones, one makes them.
    transaction.execute("SELECT pg_advisory_xact_lock(5790430)", &[])?;
    transaction.batch_execute(TABLES)?;
    let known = transaction.query_opt("SELECT max(version) FROM optimist_format", &[])?;
    let known = known.map_or(Ok(None), |row| row.try_get::<_, Option<i32>>(0))?;
    match known {
        None => {
            transaction.execute("INSERT INTO optimist_format VALUES ($1)", &[&FORMAT])?;
        }
        Some(version) if version < FORMAT => {
            upgrade(&mut transaction)?;
            transaction.execute("UPDATE optimist_format SET version = $1", &[&FORMAT])?;
        }
        Some(_) => {} // somebody else was faster
    }
    transaction.commit()?;
    Ok(version(client)?.unwrap_or(FORMAT))
}

/// Links the records of the first version. Their table is dropped, so that an older program fails instead of writing records
/// without links.
fn upgrade(transaction: &mut Transaction<'_>) -> Result<(), Error> {
    transaction.execute("LOCK TABLE optimist_records IN ACCESS EXCLUSIVE MODE", &[])?;
    let studies = transaction.query("SELECT DISTINCT study FROM optimist_records", &[])?;
    for study in studies {
        let study = StudyId(study.try_get(0)?);
        let query = "SELECT seq, body, checksum FROM optimist_records WHERE study = $1 ORDER BY seq";
        let rows = transaction.query(query, &[&study.0])?;
        let record = |row: &postgres::Row| {
            Ok((row.try_get::<_, i64>(0)?.cast_unsigned(), row.try_get::<_, String>(1)?, row.try_get(2)?))
        };
        let records = rows.iter().map(record).collect::<Result<Vec<(u64, String, i64)>, Error>>()?;
        let heads = upgraded(study, records.iter().map(|(seq, body, sum)| (*seq, body.as_str(), *sum)));
        let (numbers, links): (Vec<i64>, Vec<i64>) =
            heads.iter().map(|head| (head.seq.cast_signed(), head.link)).unzip();
        let query = "INSERT INTO optimist_linked (study, seq, body, link)
                     SELECT study, seq, body, new.link FROM optimist_records
                     JOIN unnest($2::bigint[], $3::bigint[]) AS new (number, link) ON seq = number
                     WHERE study = $1";
        transaction.execute(query, &[&study.0, &numbers, &links])?;
        set_head(transaction, study, heads.last().copied().unwrap_or_default())?;
    }
    transaction.execute("DROP TABLE optimist_records", &[]).map(drop)
}

/// The first two columns: a number and a link.
fn head(row: &postgres::Row) -> Result<Head, Error> {
    Ok(Head { seq: row.try_get::<_, i64>(0)?.cast_unsigned(), link: row.try_get(1)? })
}

fn version(client: &mut Client) -> Result<Option<i32>, Error> {
    let there: bool =
        client.query_one("SELECT to_regclass('optimist_format') IS NOT NULL", &[])?.try_get(0)?;
    if !there {
        return Ok(None);
    }
    let row = client.query_opt("SELECT max(version) FROM optimist_format", &[])?;
    row.map_or(Ok(None), |row| row.try_get(0))
}

/// Appends records behind `last`, and keeps the new head.
fn insert(
    transaction: &mut Transaction<'_>,
    study: StudyId,
    last: Head,
    bodies: &[impl AsRef<str>],
) -> Result<(), Error> {
    let mut chain = Chain::after(study, last);
    let mut head = last;
    for body in bodies.iter().map(AsRef::as_ref) {
        head = chain.append(body);
        let query = "INSERT INTO optimist_linked (study, seq, body, link) VALUES ($1, $2, $3, $4)";
        transaction.execute(query, &[&study.0, &head.seq.cast_signed(), &body, &head.link])?;
    }
    set_head(transaction, study, head)
}

fn set_head(transaction: &mut Transaction<'_>, study: StudyId, head: Head) -> Result<(), Error> {
    let query = "UPDATE optimist_studies SET head = $2, link = $3 WHERE id = $1";
    transaction.execute(query, &[&study.0, &head.seq.cast_signed(), &head.link]).map(drop)
}

fn is_there(
    transaction: &mut Transaction<'_>,
    study: StudyId,
    seq: u64,
    bodies: &[String],
) -> Result<bool, Error> {
    let Some(first) = bodies.first() else { return Ok(false) };
    let query = "SELECT 1 FROM optimist_linked WHERE study = $1 AND seq = $2 AND body = $3";
    Ok(transaction.query_opt(query, &[&study.0, &seq.cast_signed(), first])?.is_some())
}

fn apply(transaction: &mut Transaction<'_>, study: StudyId, change: &LeaseChange) -> Result<(), Error> {
    match change {
        LeaseChange::Claim { trial, owner, lasts } => {
            let query = "INSERT INTO optimist_leases VALUES ($1, $2, $3, clock_timestamp() + make_interval(secs => $4))
                         ON CONFLICT (study, trial) DO UPDATE SET owner = excluded.owner, until = excluded.until";
            transaction.execute(query, &[&study.0, &integer(*trial), &owner, &seconds(*lasts)])
        }
        LeaseChange::Release { trial } => transaction.execute(
            "DELETE FROM optimist_leases WHERE study = $1 AND trial = $2",
            &[&study.0, &integer(*trial)],
        ),
    }
    .map(drop)
}

fn integer(trial: usize) -> i64 {
    i64::try_from(trial).unwrap_or(i64::MAX)
}

/// Timestamps end in the year 294276.
fn seconds(lasts: Duration) -> f64 {
    lasts.as_secs_f64().min(1e11)
}

fn is_connection_lost(error: &Error) -> bool {
    let by_server = error.code().is_some_and(|code| {
        [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN, SqlState::CANNOT_CONNECT_NOW].contains(code)
    });
    error.is_closed() || by_server || (error.as_db_error().is_none() && has_io_source(error))
}

fn has_io_source(error: &Error) -> bool {
    std::error::Error::source(error).is_some_and(|source| source.is::<std::io::Error>())
}

/// What went wrong, with what the server or the system said.
fn reason(error: &Error) -> String {
    match (error.as_db_error(), std::error::Error::source(error)) {
        (Some(said), _) => said.message().to_owned(),
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    }
}

fn explain(place: &str, error: &Error) -> StorageError {
    let place = place.to_owned();
    match error.code() {
        Some(&SqlState::DISK_FULL) => StorageError::Full { place },
        Some(&SqlState::READ_ONLY_SQL_TRANSACTION | &SqlState::INSUFFICIENT_PRIVILEGE) => {
            StorageError::ReadOnly { place }
        }
        Some(&SqlState::DATA_CORRUPTED | &SqlState::INDEX_CORRUPTED) => {
            StorageError::Damaged { place, problem: reason(error) }
        }
        _ => StorageError::Other { place, reason: reason(error) },
    }
}

/// The address as it may be shown.
fn without_password(url: &str) -> String {
    let shown = || {
        let (scheme, rest) = url.split_once("://")?;
        let authority_end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (user, host) = rest[..authority_end].rsplit_once('@')?;
        let user = user.split(':').next()?;
        Some(format!("{scheme}://{user}@{host}{}", &rest[authority_end..]))
    };
    let url = shown().unwrap_or_else(|| url.to_owned());
    match url.split_once("password=") {
        Some((before, after)) => {
            let rest = after.find('&').map_or("", |end| &after[end + 1..]);
            format!("{before}{rest}").trim_end_matches(['?', '&']).to_owned()
        }
        None => url,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use crate::log::Storage;
    use crate::log_contract;

    log_contract!(contract, scratch);

    /// A schema of its own on the server that `scripts/test` starts.
    fn scratch(fact: &str) -> Option<Storage> {
        static N_SCHEMAS: AtomicUsize = AtomicUsize::new(0);
        let Ok(url) = std::env::var("OPTIMIST_TEST_POSTGRES") else {
            eprintln!("SKIPPED: {fact} on PostgreSQL; `scripts/postgres-test-server run cargo test` runs it");
            return None;
        };
        let n = N_SCHEMAS.fetch_add(1, Ordering::Relaxed);
        let schema = format!("contract_{}_{n}", std::process::id());
        let mut client = Client::connect(&url, NoTls).unwrap();
        client.batch_execute(&format!("CREATE SCHEMA {schema}")).unwrap();
        let separator = if url.contains('?') { '&' } else { '?' };
        Some(Storage::postgres(format!("{url}{separator}options=-csearch_path%3D{schema}")))
    }

    #[test]
    fn a_database_of_the_first_version_is_taken_up_and_a_missing_end_is_noticed() {
        let Some(storage) = scratch("an upgrade") else { return };
        let url = storage.to_string();
        let mut client = Client::connect(&url, NoTls).unwrap();
        client
            .batch_execute(
                "CREATE TABLE optimist_format (version INTEGER NOT NULL);
                 INSERT INTO optimist_format VALUES (1);
                 CREATE TABLE optimist_studies (id BIGSERIAL PRIMARY KEY, name TEXT NOT NULL UNIQUE);
                 CREATE TABLE optimist_records (study BIGINT NOT NULL, seq BIGINT NOT NULL, body TEXT NOT NULL,
                     checksum BIGINT NOT NULL, PRIMARY KEY (study, seq));
                 INSERT INTO optimist_studies (name) VALUES ('s');",
            )
            .unwrap();
        for (seq, body) in (1_i64..).zip(["one", "two", "three"]) {
            let sum = crate::log::chain::checksum(body);
            let query = "INSERT INTO optimist_records VALUES (1, $1, $2, $3)";
            client.execute(query, &[&seq, &body, &sum]).unwrap();
        }
        let mut log = storage.connect().unwrap();
        let study = log.studies().unwrap()[0].id;
        let read = |log: &mut Box<dyn Log>| {
            let mut n = 0;
            let each = &mut |_, _: &str| {
                n += 1;
                ControlFlow::Continue(())
            };
            log.read(study, 0, each).map(|()| n)
        };
        assert_eq!(read(&mut log), Ok(3));
        assert_eq!(log.append(study, 3, &["four".to_owned()], &[]), Ok(Appended::Stored));
        assert_eq!(read(&mut storage.connect().unwrap()), Ok(4));
        client.execute("DELETE FROM optimist_linked WHERE seq > 2", &[]).unwrap();
        let error = read(&mut log).unwrap_err().to_string();
        assert!(error.contains("records 3 to 4 of study 1 are missing at its end"), "{error}");
        assert!(log.append(study, 4, &["five".to_owned()], &[]).is_err());
    }

    #[test]
    fn passwords_are_not_shown() {
        for (url, shown) in [
            ("postgres://me:se@cret@host/lab", "postgres://me@host/lab"),
            ("postgres://me@host/lab", "postgres://me@host/lab"),
            ("postgres://host/lab?user=me&password=secret", "postgres://host/lab?user=me"),
            ("postgres://host?password=secret&user=me", "postgres://host?user=me"),
        ] {
            assert_eq!(without_password(url), shown);
        }
    }

    #[test]
    fn encryption_is_refused_in_words_and_never_left_out_silently() {
        let url = "postgres://me:secret@127.0.0.1:1/lab?sslmode=require";
        let error = Postgres::connect(url, std::sync::Arc::new(|_| ())).err().unwrap().to_string();
        assert!(error.contains("sslmode=require") && error.contains("tunnel"), "{error}");
        assert!(!error.contains("secret"), "{error}");
    }

    #[test]
    fn a_server_that_is_not_there_is_named() {
        let error = Postgres::connect("postgres://me:secret@127.0.0.1:1/lab", std::sync::Arc::new(|_| ()));
        let error = error.err().unwrap().to_string();
        assert!(error.starts_with("cannot reach postgres://me@127.0.0.1:1/lab: "), "{error}");
    }
}
