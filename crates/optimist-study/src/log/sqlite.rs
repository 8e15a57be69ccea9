//! Logs in one SQLite file, safe for many processes of one machine.
//!
//! Every write is one transaction that locks the file before it reads, so that it waits for its turn and never fails
//! halfway. What was stored is on the disk, not on its way there (`synchronous = FULL`), and in the file itself rather than in
//! the write-ahead log beside it (`wal_autocheckpoint = 1`): people copy the one without the other. While somebody reads, SQLite
//! can't move it there: so records are read in blocks, and an append waits a moment for readers. Records are linked (`chain`).

mod upgrade;

use std::fmt::{self, Display, Formatter};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{
    Connection, ErrorCode, OpenFlags, OptionalExtension, Transaction, TransactionBehavior, params,
};

use super::chain::{Chain, Head, IntegrityFilter, checksum, seal};
use super::{Appended, Backend, Entry, Lease, LeaseChange, Log, Notify, StorageError, StudyId};

/// How long an append waits for readers, so that it is in the file itself when it returns.
const COURTESY: Duration = Duration::from_millis(100);

/// Records read at a time: few at first, as many readers stop after one.
const BLOCKS: (usize, usize) = (16, 1000);

/// In the header of our files: "OPTM".
const APPLICATION_ID: i64 = 0x4f50_544d;

/// The version of the tables.
const FORMAT: i64 = 2;

/// How long to wait for others.
const PATIENCE: Duration = Duration::from_secs(30);

/// Pages of snapshots: a cache beside the log.
const PAGES: &str = "
    CREATE TABLE pages (
        study INTEGER NOT NULL,
        page INTEGER NOT NULL,
        seq INTEGER NOT NULL, -- the record that it was made after
        seal INTEGER NOT NULL,
        body BLOB NOT NULL,
        PRIMARY KEY (study, page)
    ) WITHOUT ROWID;
";

const TABLES: &str = "
    CREATE TABLE studies (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE,
        head INTEGER NOT NULL DEFAULT 0, -- the number of the last record
        link INTEGER NOT NULL DEFAULT 0 -- and its link
    );
    CREATE TABLE linked (
        study INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        body TEXT NOT NULL,
        link INTEGER NOT NULL,
        PRIMARY KEY (study, seq)
    ) WITHOUT ROWID;
    CREATE TABLE leases (
        study INTEGER NOT NULL,
        trial INTEGER NOT NULL,
        owner TEXT NOT NULL,
        until REAL NOT NULL, -- seconds since 1970
        PRIMARY KEY (study, trial)
    ) WITHOUT ROWID;
";

/// A file that is a database, or will be.
pub(super) struct SqliteFile(pub PathBuf);

impl Backend for SqliteFile {
    fn connect(&self, _: &Notify) -> Result<Box<dyn Log>, StorageError> {
        Ok(Box::new(Sqlite::open(&self.0)?))
    }

    fn connect_to_salvage(&self, notify: &Notify) -> Result<Box<dyn Log>, StorageError> {
        match Sqlite::open_damaged(&self.0) {
            Some(damaged) => Ok(Box::new(damaged)),
            None => self.connect(notify), // it says what is wrong
        }
    }

    fn exists(&self) -> Result<bool, StorageError> {
        match self.0.metadata() {
            Ok(file) if file.is_file() && file.len() == 0 => {
                Err(StorageError::Empty { place: self.to_string() })
            }
            Ok(_) => Ok(true),
            Err(_) => match self.0.parent().filter(|folder| !folder.as_os_str().is_empty()) {
                Some(folder) if !folder.is_dir() => {
                    let reason = format!("there is no folder {}", folder.display());
                    Err(StorageError::CannotOpen { place: self.to_string(), reason })
                }
                _ => Ok(false),
            },
        }
    }
}

impl Display for SqliteFile {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.display().fmt(f)
    }
}

/// A connection to a SQLite file.
pub struct Sqlite {
    connection: Connection,
    /// As the user wrote it.
    place: String,
    /// A file of the first format that is read-only: its records are not linked.
    is_unlinked: bool,
    /// How long the next append waits for readers: not at all if somebody has been reading for longer.
    courtesy: Duration,
}

impl Sqlite {
    /// Opens the file, or makes it.
    ///
    /// # Errors
    /// If that is not possible, or it is not a study database of a version known here.
    pub fn open(path: &Path) -> Result<Self, StorageError> {
        let place = path.display().to_string();
        if is_scrap(path) {
            return Err(StorageError::NotOurs { place });
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let is_new = !path.exists();
        let opened = Connection::open_with_flags(path, flags).and_then(|mut connection| {
            connection.busy_timeout(PATIENCE)?;
            if is_new && format(&connection)?.is_none() {
                make_private(path); // still empty
            }
            let format = prepare(&mut connection)?;
            Ok((connection, format))
        });
        let (connection, format) = match opened {
            Err(error) if is_forbidden(&error) && path.exists() => {
                if has_unmerged_changes(path) {
                    return Err(StorageError::Unmerged { place });
                }
                open_unchanging(path).map_err(|_| explain(&place, &error))?
            }
            opened => opened.map_err(|error| explain(&place, &error))?,
        };
        match format {
            Format::Known => Ok(Self { connection, place, is_unlinked: false, courtesy: COURTESY }),
            Format::Unlinked => Ok(Self { connection, place, is_unlinked: true, courtesy: COURTESY }),
            Format::Newer(version) => Err(StorageError::Newer { place, version, known: FORMAT }),
            Format::Foreign => Err(StorageError::NotOurs { place }),
        }
    }

    /// Opens a file of which the end may be missing, for reading only; `None` if that is not possible either.
    fn open_damaged(path: &Path) -> Option<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).ok().filter(|_| !is_scrap(path))?;
        connection.busy_timeout(PATIENCE).ok()?;
        connection.pragma_update(None, "query_only", true).ok()?;
        connection.pragma_update(None, "writable_schema", true).ok()?; // or else a file that is too short is refused
        let is_unlinked = match format(&connection).ok()?? {
            Format::Known => false,
            Format::Unlinked => true,
            Format::Newer(_) | Format::Foreign => return None,
        };
        Some(Self { connection, place: path.display().to_string(), is_unlinked, courtesy: COURTESY })
    }

    /// One transaction that locks the file at its beginning.
    fn write<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, rusqlite::Error>,
    ) -> Result<T, StorageError> {
        let place = &self.place;
        let explained = |error: rusqlite::Error| explain(place, &error);
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(explained)?;
        let result = work(&transaction).map_err(explained)?;
        transaction.commit().map_err(explained)?;
        Ok(result)
    }

    /// Waits until what was committed is in the file itself. Not for long: it is on the disk in any case.
    fn settle(&mut self) {
        let deadline = Instant::now() + self.courtesy;
        let mut committed = None;
        while let Ok((is_busy, n_frames, n_settled)) =
            self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
                Ok((row.get::<_, bool>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
            })
        {
            if !is_busy {
                let n_committed = *committed.get_or_insert(n_frames);
                // If the write-ahead log is shorter now, it was begun anew.
                if n_settled >= n_committed || n_frames < n_committed {
                    self.courtesy = self.courtesy.max(COURTESY);
                    return;
                }
            }
            if Instant::now() >= deadline {
                self.courtesy = Duration::ZERO;
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// The last record of a study, as the file keeps it; `None` if there is no such study.
    fn head(&self, study: StudyId) -> Result<Option<Head>, rusqlite::Error> {
        let query = match self.is_unlinked {
            true => "SELECT max(seq), 0 FROM records WHERE study = ?1 HAVING count(*) > 0",
            false => "SELECT head, link FROM studies WHERE id = ?1",
        };
        self.connection.prepare_cached(query)?.query_row([study.0], head).optional()
    }

    /// The link of record `seq`; `None` if it is not there.
    fn record(&self, study: StudyId, seq: u64) -> Result<Option<Head>, rusqlite::Error> {
        if seq == 0 || self.is_unlinked {
            return Ok(Some(Head { seq, link: 0 }));
        }
        let query = "SELECT seq, link FROM linked WHERE study = ?1 AND seq = ?2";
        let mut statement = self.connection.prepare_cached(query)?;
        statement.query_row(params![study.0, seq.cast_signed()], head).optional()
    }

    /// More records than the file has room for, whatever a damaged head says.
    fn most_records(&self) -> u64 {
        const LEAST_BYTES: u64 = 16; // of a record
        let number = |pragma| self.connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
        let bytes = number("page_count").and_then(|n| Ok(n.saturating_mul(number("page_size")?)));
        bytes.unwrap_or(0).unsigned_abs() / LEAST_BYTES
    }

    fn damaged(&self, problem: String) -> StorageError {
        StorageError::Damaged { place: self.place.clone(), problem }
    }

    /// Gives linked records to `each` as long as they are sound; what is wrong with the first that is not.
    fn follow(
        &self,
        study: StudyId,
        after: u64,
        each: &mut dyn FnMut(u64, &str) -> ControlFlow<()>,
    ) -> Result<Result<(), String>, rusqlite::Error> {
        let Some(head) = self.head(study)? else { return Ok(Ok(())) };
        let Some(start) = self.record(study, after)? else {
            return Ok(Err(format!("record {after} of study {} no longer exists", study.0)));
        };
        let query = match self.is_unlinked {
            true => {
                "SELECT seq, checksum, body FROM records WHERE study = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3"
            }
            false => "SELECT seq, link, body FROM linked WHERE study = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
        };
        let mut chain = Chain::after(study, start);
        let mut statement = self.connection.prepare_cached(query)?;
        let (mut after, mut most) = (after, BLOCKS.0);
        loop {
            // `each` may take its time, and must not keep the file from being written meanwhile.
            let block = statement.query_map(params![study.0, after.cast_signed(), most as i64], |row| {
                Ok((self::head(row)?, row.get_ref(2)?.as_str()?.to_owned()))
            })?;
            let block = block.collect::<Result<Vec<(Head, String)>, _>>()?;
            for (stored, body) in &block {
                let sound = match self.is_unlinked {
                    true if checksum(body) != stored.link => {
                        Err(format!("record {} of study {} is not what was written", stored.seq, study.0))
                    }
                    true => Ok(()),
                    false => chain.follow(*stored, body),
                };
                if sound.is_err() {
                    return Ok(sound);
                }
                if each(stored.seq, body).is_break() {
                    return Ok(Ok(()));
                }
                after = stored.seq;
            }
            if block.len() < most {
                break;
            }
            most = BLOCKS.1;
        }
        if self.is_unlinked || self.head(study)?.is_none() {
            return Ok(Ok(())); // it may have been deleted meanwhile
        }
        Ok(chain.finish(head))
    }
}

/// The first two columns: a number and a link.
fn head(row: &rusqlite::Row<'_>) -> Result<Head, rusqlite::Error> {
    Ok(Head { seq: row.get::<_, i64>(0)?.cast_unsigned(), link: row.get(1)? })
}

impl Log for Sqlite {
    fn studies(&mut self) -> Result<Vec<Entry>, StorageError> {
        let read = || {
            let mut statement =
                self.connection.prepare_cached("SELECT name, id FROM studies ORDER BY name")?;
            let entries =
                statement.query_map([], |row| Ok(Entry { name: row.get(0)?, id: StudyId(row.get(1)?) }))?;
            entries.collect::<Result<_, _>>()
        };
        read().map_err(|error| explain(&self.place, &error))
    }

    fn create(&mut self, name: &str, first: &str) -> Result<Option<StudyId>, StorageError> {
        self.write(|transaction| {
            if transaction.execute("INSERT OR IGNORE INTO studies (name) VALUES (?1)", [name])? == 0 {
                return Ok(None);
            }
            let id = StudyId(transaction.last_insert_rowid());
            insert(transaction, id, Head::default(), std::slice::from_ref(&first))?;
            Ok(Some(id))
        })
        .inspect(|_| self.settle())
    }

    fn append(
        &mut self,
        study: StudyId,
        head: u64,
        bodies: &[String],
        leases: &[LeaseChange],
    ) -> Result<Appended, StorageError> {
        let appended = self.write(|transaction| {
            let mut known = transaction.prepare_cached("SELECT head, link FROM studies WHERE id = ?1")?;
            let last = match known.query_row([study.0], self::head).optional()? {
                None => return Ok(Some(Appended::Gone)),
                Some(last) if last.seq != head => return Ok(Some(Appended::Moved)),
                Some(last) => last,
            };
            let mut there = transaction
                .prepare_cached("SELECT 1 FROM linked WHERE study = ?1 AND seq = ?2 AND link = ?3")?;
            if !there.exists(params![study.0, last.seq.cast_signed(), last.link])? {
                return Ok(None);
            }
            insert(transaction, study, last, bodies)?;
            for change in leases {
                apply(transaction, study, change)?;
            }
            Ok(Some(Appended::Stored))
        })?;
        if appended == Some(Appended::Stored) {
            self.settle();
        }
        appended
            .ok_or_else(|| self.damaged(format!("record {head} of study {} is missing at its end", study.0)))
    }

    fn read(
        &mut self,
        study: StudyId,
        after: u64,
        each: &mut dyn FnMut(u64, &str) -> ControlFlow<()>,
    ) -> Result<(), StorageError> {
        let followed = self.follow(study, after, each).map_err(|error| explain(&self.place, &error))?;
        followed.map_err(|problem| self.damaged(problem))
    }

    fn traces(&mut self) -> Result<Vec<StudyId>, StorageError> {
        const MOST_UNREADABLE: usize = 1000;
        let table = if self.is_unlinked { "records" } else { "linked" };
        let query = format!("SELECT study FROM {table} WHERE study > ?1 ORDER BY study LIMIT 1");
        let (mut found, mut after, mut n_unreadable) = (Vec::new(), 0, 0);
        while n_unreadable < MOST_UNREADABLE {
            let next = self.connection.prepare_cached(&query).and_then(|mut statement| {
                statement.query_row([after], |row| row.get::<_, i64>(0)).optional()
            });
            match next {
                Ok(None) => break,
                Ok(Some(study)) => {
                    found.push(StudyId(study));
                    after = study;
                }
                // Behind a page that cannot be read there may be others that can.
                Err(_) => (after, n_unreadable) = (after + 1, n_unreadable + 1),
            }
        }
        Ok(found)
    }

    fn salvage(&mut self, study: StudyId, each: &mut dyn FnMut(u64, &str)) -> Result<(), StorageError> {
        let query = match self.is_unlinked {
            true => "SELECT seq, checksum, body FROM records WHERE study = ?1 AND seq > ?2 ORDER BY seq",
            false => "SELECT seq, link, body FROM linked WHERE study = ?1 AND seq > ?2 ORDER BY seq",
        };
        let mut filter = IntegrityFilter::new(study);
        let head = self.head(study).ok().flatten().map_or(u64::MAX, |head| head.seq);
        let (mut after, mut last) = (0, head.min(self.most_records()));
        // Behind a page that cannot be read there may be others that can.
        while after <= last {
            let mut rescue = || -> Result<(), rusqlite::Error> {
                let mut statement = self.connection.prepare_cached(query)?;
                let mut rows = statement.query(params![study.0, after.cast_signed()])?;
                while let Some(row) = rows.next()? {
                    let stored = self::head(row)?;
                    after = stored.seq;
                    let body = row.get_ref(2)?.as_str()?;
                    let is_sound = match self.is_unlinked {
                        true => checksum(body) == stored.link,
                        false => filter.is_sound(stored, body),
                    };
                    if is_sound {
                        each(stored.seq, body);
                    }
                }
                last = 0;
                Ok(())
            };
            let _ = rescue(); // what is wrong there is what `read` says
            after = after.saturating_add(1);
        }
        Ok(())
    }

    fn check(&mut self) -> Result<(), StorageError> {
        let check = || {
            let found =
                self.connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get::<_, String>(0))?;
            let table = if self.is_unlinked { "records" } else { "linked" };
            let orphan =
                format!("SELECT study, seq FROM {table} WHERE study NOT IN (SELECT id FROM studies)");
            let orphan = self.connection.query_row(&orphan, [], |row| Ok((row.get(0)?, row.get(1)?)));
            Ok((found, orphan.optional()?))
        };
        let checked = check().map_err(|error: rusqlite::Error| explain(&self.place, &error))?;
        match checked {
            (found, None) if found == "ok" => Ok(()),
            (found, Some((study, seq))) if found == "ok" => {
                let (study, seq): (i64, i64) = (study, seq);
                Err(self.damaged(format!("record {seq} is of study {study}, which is not there")))
            }
            (problem, _) => Err(self.damaged(problem)),
        }
    }

    fn page(&mut self, study: StudyId, page: u64) -> Result<Option<(u64, Vec<u8>)>, StorageError> {
        if self.is_unlinked {
            return Ok(None);
        }
        let read = || {
            let query =
                "SELECT pages.seq, linked.link, seal, pages.body FROM pages JOIN linked USING (study, seq)
                         WHERE pages.study = ?1 AND page = ?2";
            let mut statement = self.connection.prepare_cached(query)?;
            let page = statement.query_row(params![study.0, page.cast_signed()], |row| {
                Ok((head(row)?, row.get::<_, i64>(2)?, row.get::<_, Vec<u8>>(3)?))
            });
            page.optional()
        };
        let found = read().map_err(|error| explain(&self.place, &error))?;
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
        let Some(made_after) = self.record(study, head).map_err(|error| explain(&self.place, &error))? else {
            return Ok(false);
        };
        self.write(|transaction| {
            let known = "SELECT seq FROM pages WHERE study = ?1 AND page = 0";
            let known = transaction.query_row(known, [study.0], |row| row.get::<_, i64>(0)).optional()?;
            if before.is_some() && known.map(i64::cast_unsigned) != before {
                return Ok(false);
            }
            let mut insert =
                transaction.prepare_cached("INSERT OR REPLACE INTO pages VALUES (?1, ?2, ?3, ?4, ?5)")?;
            for (page, body) in pages {
                let sum = seal(study, *page, made_after, body);
                insert.execute(params![study.0, page.cast_signed(), head.cast_signed(), sum, body])?;
            }
            Ok(true)
        })
    }

    fn delete(&mut self, study: StudyId) -> Result<bool, StorageError> {
        self.write(|transaction| {
            transaction.execute("DELETE FROM linked WHERE study = ?1", [study.0])?;
            transaction.execute("DELETE FROM leases WHERE study = ?1", [study.0])?;
            transaction.execute("DELETE FROM pages WHERE study = ?1", [study.0])?;
            Ok(transaction.execute("DELETE FROM studies WHERE id = ?1", [study.0])? > 0)
        })
    }

    fn renew(
        &mut self,
        study: StudyId,
        trials: &[usize],
        owner: &str,
        lasts: Duration,
    ) -> Result<(), StorageError> {
        self.write(|transaction| {
            let mut renew = transaction.prepare_cached(
                "UPDATE leases SET until = unixepoch('subsec') + ?4
                 WHERE study = ?1 AND trial = ?2 AND owner = ?3",
            )?;
            for trial in trials {
                renew.execute(params![study.0, integer(*trial), owner, lasts.as_secs_f64()])?;
            }
            Ok(())
        })
    }

    fn leases(&mut self, study: StudyId) -> Result<Vec<Lease>, StorageError> {
        let read = || {
            let query = "SELECT trial, owner, until <= unixepoch('subsec') FROM leases WHERE study = ?1";
            let mut statement = self.connection.prepare_cached(query)?;
            let lease = |row: &rusqlite::Row<'_>| {
                let trial = usize::try_from(row.get::<_, i64>(0)?).unwrap_or(usize::MAX);
                Ok(Lease { trial, owner: row.get(1)?, has_expired: row.get(2)? })
            };
            statement.query_map([study.0], lease)?.collect::<Result<_, _>>()
        };
        read().map_err(|error| explain(&self.place, &error))
    }
}

/// Appends records behind `last`, and keeps the new head.
fn insert(
    transaction: &Transaction<'_>,
    study: StudyId,
    last: Head,
    bodies: &[impl AsRef<str>],
) -> Result<(), rusqlite::Error> {
    let mut chain = Chain::after(study, last);
    let mut head = last;
    let query = "INSERT INTO linked (study, seq, body, link) VALUES (?1, ?2, ?3, ?4)";
    let mut insert = transaction.prepare_cached(query)?;
    for body in bodies.iter().map(AsRef::as_ref) {
        head = chain.append(body);
        insert.execute(params![study.0, head.seq.cast_signed(), body, head.link])?;
    }
    let query = "UPDATE studies SET head = ?2, link = ?3 WHERE id = ?1";
    let mut update = transaction.prepare_cached(query)?;
    update.execute(params![study.0, head.seq.cast_signed(), head.link]).map(drop)
}

fn apply(transaction: &Transaction<'_>, study: StudyId, change: &LeaseChange) -> Result<(), rusqlite::Error> {
    match change {
        LeaseChange::Claim { trial, owner, lasts } => transaction
            .prepare_cached("INSERT OR REPLACE INTO leases VALUES (?1, ?2, ?3, unixepoch('subsec') + ?4)")?
            .execute(params![study.0, integer(*trial), owner, lasts.as_secs_f64()]),
        LeaseChange::Release { trial } => transaction
            .prepare_cached("DELETE FROM leases WHERE study = ?1 AND trial = ?2")?
            .execute(params![study.0, integer(*trial)]),
    }
    .map(drop)
}

fn integer(trial: usize) -> i64 {
    i64::try_from(trial).unwrap_or(i64::MAX)
}

/// What kind of file was opened.
enum Format {
    Known,
    /// Version 1, whose records are not linked.
    Unlinked,
    Newer(i64),
    Foreign,
}

/// Settings of the connection; makes the tables if the file is new, and links the records of an old one.
fn prepare(connection: &mut Connection) -> Result<Format, rusqlite::Error> {
    let found = format(connection)?;
    let format = match found {
        Some(Format::Unlinked) => begin(connection)?,
        Some(format) => format,
        None => {
            use_write_ahead_log(connection)?;
            begin(connection)?
        }
    };
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "wal_autocheckpoint", 1)?;
    Ok(format)
}

/// Creates the tables, or upgrades those of the first version, unless another process was faster.
fn begin(connection: &mut Connection) -> Result<Format, rusqlite::Error> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let format = match format(&transaction)? {
        None => {
            transaction.execute_batch(TABLES)?;
            transaction.execute_batch(PAGES)?;
            transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
            transaction.pragma_update(None, "user_version", FORMAT)?;
            Format::Known
        }
        Some(Format::Unlinked) => {
            upgrade::upgrade(&transaction)?;
            transaction.execute_batch(PAGES)?;
            transaction.pragma_update(None, "user_version", FORMAT)?;
            Format::Known
        }
        Some(format) => format,
    };
    transaction.commit()?;
    Ok(format)
}

/// `None` if there is nothing in the file yet.
fn format(connection: &Connection) -> Result<Option<Format>, rusqlite::Error> {
    let number = |pragma| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    // Tables first: a process that is creating them right now sets the numbers in the same transaction.
    let any_table = connection.query_row("SELECT 1 FROM sqlite_schema", [], |_| Ok(())).optional()?;
    let (application, version) = (number("application_id")?, number("user_version")?);
    Ok(match (application, any_table) {
        (APPLICATION_ID, _) if version > FORMAT => Some(Format::Newer(version)),
        (APPLICATION_ID, Some(())) if version < FORMAT => Some(Format::Unlinked),
        (APPLICATION_ID, Some(())) => Some(Format::Known),
        (_, Some(())) => Some(Format::Foreign),
        (_, None) => None,
    })
}

/// Readers and a writer do not wait for each other then. The switch itself does not wait for anybody, so we do.
fn use_write_ahead_log(connection: &Connection) -> Result<(), rusqlite::Error> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let switched = connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()));
        match switched {
            Err(error) if is_busy(&error) && Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(20));
            }
            switched => return switched,
        }
    }
}

/// For its owner only; what SQLite makes beside it follows. Where that cannot be said, the file is as the system makes it.
fn make_private(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let _ = std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600));
    }
    #[cfg(not(unix))]
    let _ = path;
}

/// Whether a file has something in it, and less than the header of a database: SQLite would write over it.
fn is_scrap(path: &Path) -> bool {
    const HEADER: u64 = 100;
    path.metadata().is_ok_and(|file| file.is_file() && (1..HEADER).contains(&file.len()))
}

/// Whether what was written last is still in the write-ahead log beside the file.
fn has_unmerged_changes(path: &Path) -> bool {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    Path::new(&name).metadata().is_ok_and(|file| file.len() > 0)
}

/// Opens a file that may not be written, in a folder that may not either: such a file does not change.
fn open_unchanging(path: &Path) -> Result<(Connection, Format), rusqlite::Error> {
    let mut escaped = String::new();
    for c in path.to_string_lossy().chars() {
        match c {
            '%' => escaped.push_str("%25"),
            '?' => escaped.push_str("%3f"),
            '#' => escaped.push_str("%23"),
            c => escaped.push(c),
        }
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(format!("file:{escaped}?immutable=1"), flags)?;
    let format = format(&connection)?.unwrap_or(Format::Foreign);
    Ok((connection, format))
}

fn code(error: &rusqlite::Error) -> Option<ErrorCode> {
    error.sqlite_error_code()
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(code(error), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

fn is_forbidden(error: &rusqlite::Error) -> bool {
    matches!(code(error), Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied))
}

fn explain(place: &str, error: &rusqlite::Error) -> StorageError {
    use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error};
    let (place, reason) = (place.to_owned(), error.to_string());
    match code(error) {
        // Our statements are sound and so is what we write: tables or values are not as we left them.
        Some(ErrorCode::Unknown | ErrorCode::TypeMismatch) => {
            StorageError::Damaged { place, problem: reason }
        }
        None if matches!(
            error,
            FromSqlConversionFailure(..)
                | IntegralValueOutOfRange(..)
                | InvalidColumnType(..)
                | Utf8Error(..)
        ) =>
        {
            StorageError::Damaged { place, problem: reason }
        }
        Some(ErrorCode::DiskFull) => StorageError::Full { place },
        Some(ErrorCode::ReadOnly) => StorageError::ReadOnly { place },
        Some(ErrorCode::SystemIoFailure) => StorageError::Disk { place, reason },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StorageError::Busy { place },
        Some(ErrorCode::DatabaseCorrupt) => StorageError::Damaged { place, problem: reason },
        Some(ErrorCode::NotADatabase) => StorageError::NotOurs { place },
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            StorageError::CannotOpen { place, reason }
        }
        _ => StorageError::Other { place, reason },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    use crate::log::Storage;
    use crate::log_contract;

    log_contract!(contract, |_: &str| {
        let folder = tempfile::tempdir().unwrap();
        Storage::new(Scratch { file: SqliteFile(folder.path().join("a.db")), _folder: folder })
    });

    /// A file whose folder is removed with the last storage that uses it.
    struct Scratch {
        file: SqliteFile,
        _folder: tempfile::TempDir,
    }

    impl Backend for Scratch {
        fn connect(&self, notify: &Notify) -> Result<Box<dyn Log>, StorageError> {
            self.file.connect(notify)
        }
    }

    impl Display for Scratch {
        fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
            self.file.fmt(f)
        }
    }

    #[test]
    fn a_file_that_is_something_else_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().join("notes.txt");
        fs::write(&text, "these are my notes, and there are quite a few of them\n".repeat(20)).unwrap();
        let before = fs::read(&text).unwrap();
        assert!(matches!(Sqlite::open(&text), Err(StorageError::NotOurs { .. })));
        assert_eq!(fs::read(&text).unwrap(), before);

        let other = folder.path().join("other.db");
        Connection::open(&other).unwrap().execute_batch("CREATE TABLE trials (id INTEGER)").unwrap();
        assert!(matches!(Sqlite::open(&other), Err(StorageError::NotOurs { .. })));
    }

    #[test]
    fn a_file_too_short_for_a_database_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let scrap = folder.path().join("scrap.db");
        fs::write(&scrap, "S").unwrap();
        assert!(matches!(Sqlite::open(&scrap), Err(StorageError::NotOurs { .. })));
        assert_eq!(fs::read(&scrap).unwrap(), b"S");
    }

    #[test]
    fn a_file_of_a_later_version_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        drop(Sqlite::open(&path).unwrap());
        Connection::open(&path).unwrap().pragma_update(None, "user_version", 7).unwrap();
        let error = Sqlite::open(&path).err().unwrap();
        assert!(matches!(error, StorageError::Newer { version: 7, .. }), "{error}");
    }

    #[test]
    fn a_record_that_is_not_what_was_written_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let mut log = Sqlite::open(&path).unwrap();
        let id = log.create("s", "{\"value\": 1}").unwrap().unwrap();
        Connection::open(&path).unwrap().execute("UPDATE linked SET body = '{\"value\": 2}'", []).unwrap();
        let error = log.read(id, 0, &mut |_, _| panic!("it must not be used")).unwrap_err();
        assert!(error.to_string().contains("record 1 of study 1 is not what was written"), "{error}");
    }

    /// A file as the first version made it, with a study of these records.
    fn first_version(path: &Path, bodies: &[(&str, i64)]) {
        let connection = Connection::open(path).unwrap();
        connection
            .execute_batch(
                "PRAGMA journal_mode = WAL;
                 CREATE TABLE studies (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE);
                 CREATE TABLE records (study INTEGER NOT NULL, seq INTEGER NOT NULL, body TEXT NOT NULL,
                     checksum INTEGER NOT NULL, PRIMARY KEY (study, seq)) WITHOUT ROWID;
                 CREATE TABLE leases (study INTEGER NOT NULL, trial INTEGER NOT NULL, owner TEXT NOT NULL,
                     until REAL NOT NULL, PRIMARY KEY (study, trial)) WITHOUT ROWID;
                 INSERT INTO studies (name) VALUES ('gone'), ('s');
                 DELETE FROM studies WHERE name = 'gone';",
            )
            .unwrap();
        for (seq, (body, sum)) in (1..).zip(bodies) {
            let row = params![2, seq, body, sum];
            connection.execute("INSERT INTO records VALUES (?1, ?2, ?3, ?4)", row).unwrap();
        }
        connection.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
        connection.pragma_update(None, "user_version", 1).unwrap();
    }

    fn read(log: &mut Sqlite, study: StudyId) -> Result<Vec<String>, StorageError> {
        let mut bodies = Vec::new();
        log.read(study, 0, &mut |_, body| {
            bodies.push(body.to_owned());
            ControlFlow::Continue(())
        })?;
        Ok(bodies)
    }

    #[test]
    fn a_file_of_the_first_version_is_taken_up_without_loss() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let bodies = ["one", "two", "three"];
        first_version(&path, &bodies.map(|body| (body, checksum(body))));
        let study = StudyId(2);
        for _ in 0..2 {
            let mut log = Sqlite::open(&path).unwrap();
            assert_eq!(read(&mut log, study).unwrap(), bodies);
            log.check().unwrap();
        }
        let mut log = Sqlite::open(&path).unwrap();
        assert_eq!(log.append(study, 3, &["four".to_owned()], &[]).unwrap(), Appended::Stored);
        assert_eq!(read(&mut log, study).unwrap().len(), 4);
        assert_eq!(log.create("new", "one").unwrap(), Some(StudyId(3)), "ids are not used again");

        let path = folder.path().join("damaged.db");
        first_version(&path, &[("one", checksum("one")), ("two", 7), ("three", checksum("three"))]);
        let error = read(&mut Sqlite::open(&path).unwrap(), study).unwrap_err().to_string();
        assert!(error.contains("record 2 of study 2 is not what was written"), "{error}");
    }

    #[test]
    fn what_was_stored_is_in_the_file_itself_while_others_write() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let mut log = Sqlite::open(&path).unwrap();
        let study = log.create("s", "one").unwrap().unwrap();
        for head in 1..50 {
            log.append(study, head, &[format!("record {}", head + 1)], &[]).unwrap();
            let copy = folder.path().join(format!("{head}.db"));
            fs::copy(&path, &copy).unwrap(); // without the write-ahead log
            assert_eq!(read(&mut Sqlite::open(&copy).unwrap(), study).unwrap().len() as u64, head + 1);
        }
    }

    /// While somebody reads, what is written stays in the write-ahead log.
    #[test]
    fn an_append_waits_for_a_reader_and_not_for_one_that_never_ends() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let mut log = Sqlite::open(&path).unwrap();
        let study = log.create("s", "one").unwrap().unwrap();
        let reading = || {
            let reader = Connection::open(&path).unwrap();
            reader.execute_batch("BEGIN; SELECT count(*) FROM linked").unwrap();
            reader
        };
        let copied = || {
            let copy = folder.path().join("copy.db");
            fs::copy(&path, &copy).unwrap(); // without the write-ahead log
            read(&mut Sqlite::open(&copy).unwrap(), study).unwrap().len()
        };
        let append = |log: &mut Sqlite, head| {
            assert_eq!(log.append(study, head, &["more".to_owned()], &[]).unwrap(), Appended::Stored);
        };
        log.courtesy = Duration::from_secs(60);
        let reader = reading();
        let ended = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            drop(reader);
        });
        append(&mut log, 1);
        ended.join().unwrap();
        assert_eq!(copied(), 2);

        log.courtesy = COURTESY;
        let reader = reading();
        append(&mut log, 2);
        assert_eq!((copied(), log.courtesy), (2, Duration::ZERO), "it is in the write-ahead log");
        assert_eq!(read(&mut log, study).unwrap().len(), 3);
        drop(reader);
        append(&mut log, 3);
        assert_eq!((copied(), log.courtesy), (4, COURTESY));
    }

    /// Who prints a study to a pager is not a reader all that time.
    #[test]
    fn what_is_written_while_a_study_is_read_slowly_is_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let (mut log, mut other) = (Sqlite::open(&path).unwrap(), Sqlite::open(&path).unwrap());
        let study = log.create("s", "one").unwrap().unwrap();
        let mut n_read = 0;
        log.read(study, 0, &mut |_, _| {
            n_read += 1;
            other.append(study, 1, &["two".to_owned()], &[]).unwrap();
            let copy = folder.path().join("copy.db");
            fs::copy(&path, &copy).unwrap();
            assert_eq!(read(&mut Sqlite::open(&copy).unwrap(), study).unwrap().len(), 2);
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(n_read, 1);
    }

    #[test]
    fn records_that_were_moved_dropped_or_taken_from_another_study_are_noticed() {
        let damages = [
            (
                "DELETE FROM linked WHERE study = 3 AND seq = 4;
                 UPDATE linked SET study = 3 WHERE study = 2 AND seq = 4",
                "records 4 to 4 of study 2 are missing",
            ),
            ("UPDATE linked SET study = 7 WHERE study = 2 AND seq = 2", "record 2 of study 2 is missing"),
            ("DELETE FROM linked WHERE study = 2 AND seq = 4", "records 4 to 4 of study 2 are missing"),
            ("DELETE FROM linked WHERE study = 2 AND seq > 2", "records 3 to 4 of study 2 are missing"),
            ("DELETE FROM linked WHERE study = 2", "records 1 to 4 of study 2 are missing"),
            ("UPDATE linked SET seq = seq + 1 WHERE study = 2 AND seq = 4", "record 4 of study 2 is missing"),
            ("UPDATE studies SET head = 3 WHERE id = 2", ""),
            ("UPDATE studies SET link = 3 WHERE id = 2", "is not the last that was written"),
        ];
        for (damage, problem) in damages {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.db");
            let mut log = Sqlite::open(&path).unwrap();
            for name in ["a", "b", "c"] {
                let study = log.create(name, "one").unwrap().unwrap();
                log.append(study, 1, &["two", "three", "four"].map(str::to_owned), &[]).unwrap();
            }
            Connection::open(&path).unwrap().execute_batch(damage).unwrap();
            let looked = read(&mut log, StudyId(2));
            let told = log.append(StudyId(2), 4, &["five".to_owned()], &[]);
            let is_inside = damage.contains("seq = 2"); // whoever appends has read the study before
            assert!(is_inside || told != Ok(Appended::Stored), "{damage}: {told:?}");
            if damage.contains("SET study = 3") {
                assert!(read(&mut log, StudyId(3)).is_err(), "a foreign record");
            }
            if !problem.is_empty() {
                let error = looked.unwrap_err().to_string();
                assert!(error.contains(problem), "{damage}: {error}");
            }
        }
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let error = Sqlite::open(Path::new("/no/such/folder/a.db")).err().unwrap().to_string();
        assert!(error.starts_with("cannot open /no/such/folder/a.db"), "{error}");
    }
}
