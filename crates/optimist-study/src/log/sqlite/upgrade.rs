//! From the first format of the file, whose records were not linked, to the second.
//!
//! The table of records gets another name, so that an older program that has the file open fails instead of writing records
//! without links.

use rusqlite::{Connection, params};

use super::StudyId;
use crate::log::chain::{Head, upgraded};

/// Links all records. In a transaction of the caller's.
pub fn upgrade(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.execute_batch(
        "ALTER TABLE studies ADD COLUMN head INTEGER NOT NULL DEFAULT 0;
         ALTER TABLE studies ADD COLUMN link INTEGER NOT NULL DEFAULT 0;
         ALTER TABLE records RENAME TO linked;
         ALTER TABLE linked RENAME COLUMN checksum TO link;",
    )?;
    let mut studies = connection.prepare("SELECT DISTINCT study FROM linked")?;
    let studies = studies.query_map([], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
    studies.into_iter().try_for_each(|study| link(connection, StudyId(study)))
}

fn link(connection: &Connection, study: StudyId) -> Result<(), rusqlite::Error> {
    let mut records =
        connection.prepare("SELECT seq, body, link FROM linked WHERE study = ?1 ORDER BY seq")?;
    let records = records.query_map([study.0], |row| {
        Ok((row.get::<_, i64>(0)?.cast_unsigned(), row.get::<_, String>(1)?, row.get::<_, i64>(2)?))
    })?;
    let records = records.collect::<Result<Vec<_>, _>>()?;
    let heads = upgraded(study, records.iter().map(|(seq, body, sum)| (*seq, body.as_str(), *sum)));
    let mut update = connection.prepare("UPDATE linked SET link = ?3 WHERE study = ?1 AND seq = ?2")?;
    for Head { seq, link } in &heads {
        update.execute(params![study.0, seq.cast_signed(), link])?;
    }
    let last = heads.last().copied().unwrap_or_default();
    connection.execute(
        "UPDATE studies SET head = ?2, link = ?3 WHERE id = ?1",
        params![study.0, last.seq.cast_signed(), last.link],
    )?;
    Ok(())
}
