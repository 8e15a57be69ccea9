//! Logs in a PostgreSQL database, for many machines.
//!
//! An append locks the row of its study, so that appends to one study come one after the other. Leases go by the clock
//! of the server. A connection that is lost is made again, and what was being done is done again: an append that had gone
//! through before the connection broke is recognised by its text. A server that says nothing, or holds a lock for others,
//! is waited for some seconds only. Records are linked (`chain`).
//!
//! `address` reads addresses, `certificates` says whom to trust, `connection` is the way to the server.

mod address;
mod certificates;
mod connection;

use std::fmt::{self, Display, Formatter};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use postgres::config::{SslMode as Driver, SslNegotiation};
use postgres::error::SqlState;
use postgres::{Client, Config, Error, Transaction};
use tokio_postgres_rustls::MakeRustlsConnect;

use self::address::Address;
pub(super) use self::address::is_key_value;
use self::certificates::{SslMode, client_config, ssl_mode};
use self::connection::{Connector, Watch};
use super::chain::{Chain, Head, IntegrityFilter, seal, upgraded};
use super::{Appended, Backend, Entry, Lease, LeaseChange, Log, Notify, StorageError, StudyId};

/// The version of the tables.
const FORMAT: i32 = 2;

/// How long to try to reach a server that was there before.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long to try to reach a server at a time, unless the address says otherwise.
const CONNECT: Duration = Duration::from_secs(10);

/// A server that says nothing for this long is given up. Longer than the longest statement may take.
const NO_ANSWER: Duration = Duration::from_secs(20);

/// What the server keeps to, unless it or the address says otherwise: nobody waits long for a lock, and nobody who has
/// stopped holds one for long.
const LIMITS: &str = "
    SELECT set_config(name, wanted, false)
    FROM (VALUES ('lock_timeout', '10s'), ('statement_timeout', '15s'),
                 ('idle_in_transaction_session_timeout', '30s')) AS limits (name, wanted)
    WHERE current_setting(name) = '0'
";

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
    CREATE TABLE IF NOT EXISTS optimist_pages (
        study BIGINT NOT NULL,
        page BIGINT NOT NULL,
        seq BIGINT NOT NULL,
        seal BIGINT NOT NULL,
        body BYTEA NOT NULL,
        PRIMARY KEY (study, page)
    );
    CREATE TABLE IF NOT EXISTS optimist_leases (
        study BIGINT NOT NULL,
        trial BIGINT NOT NULL,
        owner TEXT NOT NULL,
        until TIMESTAMPTZ NOT NULL,
        PRIMARY KEY (study, trial)
    );
";

/// A database by its address; an address that is none is reported when it is used.
pub(super) struct PostgresDatabase(Result<Address, String>);

impl PostgresDatabase {
    pub fn new(address: &str) -> Self {
        Self(Address::parse(address))
    }
}

impl Backend for PostgresDatabase {
    fn connect(&self, notify: &Notify) -> Result<Box<dyn Log>, StorageError> {
        let address = self.0.clone().map_err(|reason| StorageError::BadAddress { reason })?;
        Ok(Box::new(Postgres::connect(address, Arc::clone(notify))?))
    }
}

/// Without the password.
impl Display for PostgresDatabase {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Ok(address) => address.fmt(f),
            Err(_) => f.write_str("postgres://"),
        }
    }
}

/// A connection to a PostgreSQL database.
pub struct Postgres {
    client: Client,
    /// How to get another.
    config: Config,
    connector: Connector,
    /// As it may be shown.
    place: String,
    notify: Notify,
}

impl Postgres {
    /// Connects, and makes the tables if they are not there.
    ///
    /// # Errors
    /// If the server cannot be reached or does not let us in, or the tables are of a later version.
    fn connect(address: Address, notify: Notify) -> Result<Self, StorageError> {
        let place = address.to_string();
        let variable = |name: &str| std::env::var(name).ok();
        let address = address.completed(&variable, &|warning| notify(warning));
        let setup = address.and_then(|address| setup(&address));
        let (config, connector) = setup.map_err(|reason| StorageError::BadAddress { reason })?;
        let unreachable =
            |error: Error| StorageError::Unreachable { place: place.clone(), reason: reason(&error) };
        let mut client = connect(&config, &connector).map_err(unreachable)?;
        let version = prepare(&mut client).map_err(|error| explain(&place, &error))?;
        if version > FORMAT {
            return Err(StorageError::Newer { place, version: version.into(), known: FORMAT.into() });
        }
        Ok(Self { client, config, connector, place, notify })
    }

    /// Does `work`, again from the start whenever the connection is lost. Its argument counts earlier attempts.
    fn persist<T>(
        &mut self,
        mut work: impl FnMut(&mut Client, usize) -> Result<T, Error>,
    ) -> Result<T, StorageError> {
        let mut n_lost = 0;
        loop {
            self.connector.watch.begin(NO_ANSWER);
            match work(&mut self.client, n_lost) {
                Err(error) if is_connection_lost(&error) => self.reconnect(&error)?,
                result => return result.map_err(|error| explain(&self.place, &error)),
            }
            n_lost += 1;
        }
    }

    fn damaged(&self, problem: String) -> StorageError {
        StorageError::Damaged { place: self.place.clone(), problem }
    }

    fn reconnect(&mut self, lost: &Error) -> Result<(), StorageError> {
        let place = self.place.clone();
        (self.notify)(&format!("the connection to {place} was lost ({}); reconnecting", reason(lost)));
        let deadline = Instant::now() + PATIENCE;
        loop {
            match connect(&self.config, &self.connector) {
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
                let problem = format!("record {after} of study {} no longer exists", study.0);
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
                let place = self.place.clone();
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

    fn traces(&mut self) -> Result<Vec<StudyId>, StorageError> {
        self.persist(|client, _| {
            let rows = client.query("SELECT DISTINCT study FROM optimist_linked ORDER BY study", &[])?;
            rows.iter().map(|row| Ok(StudyId(row.try_get(0)?))).collect()
        })
    }

    fn salvage(&mut self, study: StudyId, each: &mut dyn FnMut(u64, &str)) -> Result<(), StorageError> {
        let rows = self.persist(|client, _| {
            let query = "SELECT seq, link, body FROM optimist_linked WHERE study = $1 ORDER BY seq";
            client.query(query, &[&study.0])
        })?;
        let mut filter = IntegrityFilter::new(study);
        for row in &rows {
            if let (Ok(stored), Ok(body)) = (head(row), row.try_get::<_, &str>(2))
                && filter.is_sound(stored, body)
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

    fn page(&mut self, study: StudyId, page: u64) -> Result<Option<(u64, Vec<u8>)>, StorageError> {
        let found = self.persist(|client, _| {
            let query = "SELECT pages.seq, link, seal, pages.body FROM optimist_pages AS pages
                         JOIN optimist_linked USING (study, seq) WHERE pages.study = $1 AND page = $2";
            let row = client.query_opt(query, &[&study.0, &page.cast_signed()])?;
            row.map(|row| Ok((head(&row)?, row.try_get::<_, i64>(2)?, row.try_get::<_, Vec<u8>>(3)?)))
                .transpose()
        })?;
        Ok(found
            .filter(|(made_after, sum, body)| seal(study, page, *made_after, body) == *sum)
            .map(|(made_after, _, body)| (made_after.seq, body)))
    }

    fn keep(
        &mut self,
        study: StudyId,
        head: u64,
        before: Option<u64>,
        pages: &[(u64, Vec<u8>)],
    ) -> Result<bool, StorageError> {
        self.persist(|client, _| {
            let mut transaction = client.transaction()?;
            let lock = "SELECT 1 FROM optimist_studies WHERE id = $1 FOR UPDATE"; // and so it is not deleted meanwhile
            let there = transaction.query_opt(lock, &[&study.0])?;
            let record = "SELECT seq, link FROM optimist_linked WHERE study = $1 AND seq = $2";
            let record = transaction.query_opt(record, &[&study.0, &head.cast_signed()])?;
            let known = "SELECT seq FROM optimist_pages WHERE study = $1 AND page = 0";
            let known = transaction.query_opt(known, &[&study.0])?;
            let known = known.map(|row| row.try_get::<_, i64>(0)).transpose()?.map(i64::cast_unsigned);
            let (Some(_), Some(record)) = (there, record) else { return Ok(false) };
            if before.is_some() && known != before {
                return Ok(false);
            }
            let made_after = self::head(&record)?;
            for (page, body) in pages {
                let sum = seal(study, *page, made_after, body);
                let query = "INSERT INTO optimist_pages VALUES ($1, $2, $3, $4, $5) ON CONFLICT (study, page)
                             DO UPDATE SET seq = excluded.seq, seal = excluded.seal, body = excluded.body";
                let (page, head) = (page.cast_signed(), head.cast_signed());
                transaction.execute(query, &[&study.0, &page, &head, &sum, &body])?;
            }
            transaction.commit()?;
            Ok(true)
        })
    }

    fn delete(&mut self, study: StudyId) -> Result<bool, StorageError> {
        self.persist(|client, n_lost| {
            let mut transaction = client.transaction()?;
            let n_studies = transaction.execute("DELETE FROM optimist_studies WHERE id = $1", &[&study.0])?;
            transaction.execute("DELETE FROM optimist_linked WHERE study = $1", &[&study.0])?;
            transaction.execute("DELETE FROM optimist_leases WHERE study = $1", &[&study.0])?;
            transaction.execute("DELETE FROM optimist_pages WHERE study = $1", &[&study.0])?;
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

/// How to connect to what is meant.
fn setup(address: &Address) -> Result<(Config, Connector), String> {
    let mut config: Config = address.for_driver().parse().map_err(|error| reason(&error))?;
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT);
    }
    // The driver leaves encryption to the connector, which then also does without. It has no say over sockets in folders.
    let mode = if address.is_socket() { SslMode::Disable } else { ssl_mode(address)? };
    config.ssl_mode(if address.is_socket() { Driver::Disable } else { Driver::Require });
    config.ssl_negotiation(SslNegotiation::Direct);
    let tls = match mode {
        SslMode::Disable => None,
        _ => Some(MakeRustlsConnect::new(client_config(address, mode)?)),
    };
    let connector = Connector {
        tls,
        is_required: !matches!(mode, SslMode::Disable | SslMode::Prefer),
        is_direct: address.get("sslnegotiation") == Some("direct"),
        is_local: address.is_local(),
        watch: Watch::default(),
    };
    Ok((config, connector))
}

fn connect(config: &Config, connector: &Connector) -> Result<Client, Error> {
    let patience = config.get_connect_timeout().copied().unwrap_or(CONNECT);
    connector.watch.begin(patience);
    let connected = match config.connect(connector.clone()) {
        Err(_) if connector.watch.could_not_encrypt() && !connector.is_required => {
            connector.watch.begin(patience);
            config.connect(Connector { tls: None, ..connector.clone() })
        }
        connected => connected,
    };
    let mut client = connected?;
    client.execute(LIMITS, &[])?;
    Ok(client)
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
        Some(_) => {} // another process was faster
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
        [
            SqlState::ADMIN_SHUTDOWN,
            SqlState::CRASH_SHUTDOWN,
            SqlState::CANNOT_CONNECT_NOW,
            SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        ]
        .contains(code)
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
        Some(&SqlState::LOCK_NOT_AVAILABLE) => StorageError::Busy { place },
        Some(&SqlState::QUERY_CANCELED) => StorageError::Unreachable { place, reason: reason(error) },
        Some(&SqlState::DATA_CORRUPTED | &SqlState::INDEX_CORRUPTED) => {
            StorageError::Damaged { place, problem: reason(error) }
        }
        _ => StorageError::Other { place, reason: reason(error) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use crate::log::Storage;
    use crate::log_contract;

    log_contract!(contract, scratch);

    /// The server that `scripts/test` starts.
    fn server() -> Option<String> {
        std::env::var("OPTIMIST_TEST_POSTGRES").ok()
    }

    /// A schema of its own on that server, by its address and its name.
    fn schema(fact: &str) -> Option<(String, String)> {
        static N_SCHEMAS: AtomicUsize = AtomicUsize::new(0);
        let Some(url) = server() else {
            eprintln!("SKIPPED: {fact} on PostgreSQL; `scripts/postgres-test-server run cargo test` runs it");
            return None;
        };
        let n = N_SCHEMAS.fetch_add(1, Ordering::Relaxed);
        let schema = format!("contract_{}_{n}", std::process::id());
        let mut client = Client::connect(&url, postgres::NoTls).unwrap();
        client.batch_execute(&format!("CREATE SCHEMA {schema}")).unwrap();
        let separator = if url.contains('?') { '&' } else { '?' };
        Some((format!("{url}{separator}options=-csearch_path%3D{schema}"), schema))
    }

    fn scratch(fact: &str) -> Option<Storage> {
        schema(fact).map(|(url, _)| Storage::postgres(url))
    }

    #[test]
    fn a_database_of_the_first_version_is_taken_up_and_a_missing_end_is_noticed() {
        let Some((url, _)) = schema("an upgrade") else { return };
        let storage = Storage::postgres(&url);
        let mut client = Client::connect(&url, postgres::NoTls).unwrap();
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
    fn a_server_that_is_not_there_is_named() {
        let storage = Storage::postgres("postgres://me:secret@127.0.0.1:1/lab");
        let error = storage.connect().err().unwrap().to_string();
        assert!(error.starts_with("cannot reach postgres://me@127.0.0.1:1/lab: "), "{error}");
    }

    #[test]
    fn a_server_that_says_nothing_is_given_up() {
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = silent.local_addr().unwrap().port();
        for more in ["", "&sslmode=disable", "&sslmode=require&sslnegotiation=direct"] {
            let url = format!("postgres://me@127.0.0.1:{port}/lab?connect_timeout=1{more}");
            let error = Storage::postgres(url).connect().err().unwrap().to_string();
            assert!(error.contains("no answer for 1 s"), "{more}: {error}");
        }
    }

    #[test]
    fn a_server_that_cannot_encrypt_after_all_is_used_without_only_if_that_is_allowed() {
        use std::io::{Read, Write};
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = server.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for client in server.incoming() {
                let (mut client, mut request) = (client.unwrap(), [0; 8]);
                client.read_exact(&mut request).unwrap();
                let wants_encryption = request[4..] == [4, 210, 22, 47];
                let refusal = b"E\0\0\0\x21SFATAL\0C28000\0Min the clear\0\0";
                client.write_all(if wants_encryption { b"S" } else { refusal }).unwrap();
            }
        });
        let error = |mode: &str| {
            let url = format!("postgres://me@127.0.0.1:{port}/lab?sslmode={mode}");
            Storage::postgres(url).connect().err().unwrap().to_string()
        };
        assert!(error("prefer").contains("in the clear"), "{}", error("prefer"));
        assert!(!error("require").contains("in the clear"), "{}", error("require"));
    }

    #[test]
    fn a_lock_that_others_hold_is_waited_for_some_seconds_only() {
        let Some((url, schema)) = schema("a foreign lock") else { return };
        let storage = Storage::postgres(&url);
        let mut log = storage.connect().unwrap();
        let study = log.create("s", "{}").unwrap().unwrap();
        let mut other = Client::connect(&server().unwrap(), postgres::NoTls).unwrap();
        let mut foreign = other.transaction().unwrap();
        foreign.execute(&format!("SELECT 1 FROM {schema}.optimist_studies FOR UPDATE"), &[]).unwrap();
        let error = log.append(study, 1, &["{}".to_owned()], &[]).unwrap_err();
        assert!(error.to_string().contains("is locked by another program"), "{error}");
        assert!(error.may_pass(), "a run waits and resumes");
        foreign.rollback().unwrap();
        assert_eq!(log.append(study, 1, &["{}".to_owned()], &[]), Ok(Appended::Stored));
    }

    /// Whether such an address leads to the test server, whose certificates are for `localhost` and 127.0.0.1.
    fn outcome(user: &str, host: &str, more: &str) -> Result<bool, String> {
        let folder = std::env::var("OPTIMIST_TEST_POSTGRES_FOLDER").unwrap();
        let port = std::fs::read_to_string(format!("{folder}/port")).unwrap();
        let more = more.replace("TLS", &format!("{folder}/tls"));
        let address = Address::parse(&format!("host={host} port={port} user={user} dbname=postgres {more}"))?;
        let (config, connector) = setup(&address)?;
        let mut client = connect(&config, &connector).map_err(|error| reason(&error))?;
        let query = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
        Ok(client.query_one(query, &[]).unwrap().get(0))
    }

    #[test]
    fn connections_are_encrypted_as_the_address_asks_for() {
        if server().is_none() {
            return;
        }
        let ca = "sslrootcert=TLS/ca.crt";
        for (host, more, is_encrypted) in [
            ("127.0.0.1", "", true),
            ("127.0.0.1", "sslmode=disable", false),
            ("127.0.0.1", "sslmode=prefer", true),
            ("0.0.0.0", "sslmode=require", true),
            ("0.0.0.0", &format!("sslmode=verify-ca {ca}"), true),
            ("127.0.0.1", &format!("sslmode=verify-full {ca}"), true),
            ("localhost", &format!("sslmode=verify-full {ca}"), true),
            ("localhost", "sslmode=verify-full sslrootcert=TLS/server.crt", true),
            ("127.0.0.1", "channel_binding=require user=scram password=secret", true),
        ] {
            assert_eq!(outcome("optimist", host, more), Ok(is_encrypted), "{host} {more}");
        }
        for (host, more, expected) in [
            ("0.0.0.0", format!("sslmode=verify-full {ca}"), "not valid for name"),
            ("127.0.0.1", "sslmode=verify-full sslrootcert=TLS/other.crt".to_owned(), "UnknownIssuer"),
            ("127.0.0.1", "sslmode=verify-ca sslrootcert=TLS/other.crt".to_owned(), "UnknownIssuer"),
            ("127.0.0.1", "sslmode=require sslrootcert=TLS/other.crt".to_owned(), "UnknownIssuer"),
            ("127.0.0.1", "sslmode=verify-full sslrootcert=TLS/none.crt".to_owned(), "cannot read"),
        ] {
            let error = outcome("optimist", host, &more).unwrap_err();
            assert!(error.contains(expected), "{host} {more}: {error}");
        }
    }

    #[test]
    fn a_certificate_of_the_client_lets_it_in() {
        if server().is_none() {
            return;
        }
        let own = "sslmode=verify-full sslrootcert=TLS/ca.crt sslcert=TLS/client.crt sslkey=TLS/client.key";
        assert_eq!(outcome("certified", "localhost", own), Ok(true));
        let error = outcome("certified", "localhost", "sslmode=require").unwrap_err();
        assert!(error.contains("certificate"), "{error}");
    }

    #[test]
    fn passwords_go_to_other_machines_encrypted_or_not_at_all() {
        if server().is_none() {
            return;
        }
        let clear =
            |host: &str, mode: &str| outcome("clear", host, &format!("password=secret sslmode={mode}"));
        assert_eq!(clear("0.0.0.0", "prefer"), Ok(true));
        assert_eq!(clear("127.0.0.1", "disable"), Ok(false), "nobody listens on this machine");
        let error = clear("0.0.0.0", "disable").unwrap_err();
        assert!(error.contains("in clear text"), "{error}");
        assert_eq!(
            outcome("scram", "0.0.0.0", "password=secret sslmode=disable"),
            Ok(false),
            "never in clear text"
        );
    }

    #[test]
    fn an_address_that_is_none_says_what_is_wrong_and_no_secret() {
        for (address, reason) in [
            ("postgres://me:secret@h/lab?sslmod=require", "`sslmod` is not a known key"),
            ("postgres://me:secret@h/lab?sslmode=secret", "sslmode must be disable, prefer"),
            ("postgres://me:secret@h:secret/lab", "`port`"),
            (
                "host=h password=secret sslmode=verify-full sslrootcert=/no/such/file",
                "cannot read /no/such/file",
            ),
        ] {
            let storage = Storage::postgres(address);
            let error = storage.connect().err().unwrap().to_string();
            assert!(error.contains(reason), "{reason} in {error}");
            assert!(!error.contains("secret") && !storage.to_string().contains(":secret@"), "{error}");
        }
    }
}
