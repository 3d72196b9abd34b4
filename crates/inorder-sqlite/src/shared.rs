//! A high-water mark in a table, which orders ids over all processes that share a database.
//!
//! The mark is the milliseconds and the counter of the last id, as in a [`Factory`](inorder_key::Factory). A
//! transaction that raises it holds the write lock of the database until it ends, so ids are in the order of the
//! commits.

use crate::read::Value;
use crate::{Error, ffi};
use inorder_key::{Clock as _, SystemClock, TimeId, Tsid, fill_random};
use rusqlite::Connection;
use std::ffi::CString;

/// The statement that creates the table of the mark. The table is WITHOUT ROWID, so that raising the mark does not
/// change `last_insert_rowid()`.
pub(crate) fn table(schema: &str) -> String {
    format!(
        "CREATE TABLE {schema}.inorder_high_water(\
         one INTEGER PRIMARY KEY CHECK (one = 1), last INTEGER NOT NULL) WITHOUT ROWID"
    )
}

/// Bits of the counter after the milliseconds.
const COUNTER_BITS: u32 = 16;
/// Random bits of the counter's start in each millisecond. They are few, so most of the counter's range remains.
const START_MASK: u64 = 0xfff;

/// Milliseconds by which a mark may be ahead of the clock. Clocks are set back by less when they are synchronised.
const AHEAD_MS_MAX: u64 = 60_000;
/// Random bits of a TSID after the counter.
const TSID_RANDOM_BITS: u32 = 22 - COUNTER_BITS;

/// Returns the next id of a database, as [`next_count`] chooses it.
pub(crate) fn next<I: TimeId>(
    connection: &Connection,
    schema: Option<Value<'_>>,
) -> Result<I, Error> {
    id(next_count(connection, schema)?)
}

/// Returns the next TSID of a database, as [`next_count`] chooses it. Its node and its counter are the counter of the mark and
/// random bits.
pub(crate) fn next_tsid(connection: &Connection, schema: Option<Value<'_>>) -> Result<Tsid, Error> {
    let count = next_count(connection, schema)?;
    let counter = (count as u32 & 0xffff) << TSID_RANDOM_BITS;
    let random = random::<8>() as u32 & ((1 << TSID_RANDOM_BITS) - 1);
    Ok(Tsid::from_parts(count >> COUNTER_BITS, counter | random)?)
}

/// Raises the mark of a database and returns it. It is greater than all earlier marks of the database.
///
/// Without a name, the function raises the marks of all databases that the transaction writes, to the same count. It
/// cannot find out which of them stores the id, but a row is only stored in a database that the transaction writes.
/// If the transaction writes none, the function raises the mark of `main`.
fn next_count(connection: &Connection, schema: Option<Value<'_>>) -> Result<u64, Error> {
    let now = SystemClock.read(1).time;
    let least = now.ms << COUNTER_BITS | random::<8>() as u64 & START_MASK;
    let (mut schemas, is_named) = match schema {
        Some(schema) => (vec![name(schema)?], true),
        None => (written(connection).map_err(Error::Shared)?, false),
    };
    if schemas.is_empty() {
        schemas.push("main".to_owned());
    }
    let mut count = i64::try_from(least).map_err(|_| Error::MarkEnds {
        schema: schemas[0].clone(),
    })?;
    let latest = (now.ms + AHEAD_MS_MAX) << COUNTER_BITS;
    let latest = i64::try_from(latest).unwrap_or(i64::MAX);
    let mut raised: Vec<(&str, i64)> = Vec::new();
    let mut missing = None;
    for schema in &schemas {
        match raise(connection, schema, count, latest) {
            Ok(next) => {
                count = next;
                raised.push((schema, next));
            }
            Err(error @ Error::NoMark { .. }) if !is_named => missing = missing.or(Some(error)),
            Err(error) => return Err(error),
        }
    }
    match (raised.as_slice(), missing) {
        ([], Some(error)) => return Err(error),
        ([.., last], _) => debug_assert_eq!(last.1, count),
        ([], None) => unreachable!("a mark is raised or missing"),
    }
    // The marks that were raised before a higher one was found.
    for (schema, _) in raised.iter().filter(|(_, mark)| *mark < count) {
        raise(connection, schema, count, latest)?;
    }
    Ok(count as u64)
}

/// Raises one mark to at least this count, and returns it. A mark above `latest` stays as it is.
fn raise(connection: &Connection, schema: &str, count: i64, latest: i64) -> Result<i64, Error> {
    // Not RETURNING: SQLite 3.34 has none.
    let raise = format!(
        "INSERT INTO {schema}.inorder_high_water(one, last) VALUES (1, ?1) \
         ON CONFLICT (one) DO UPDATE SET last = max(last + 1, excluded.last) WHERE last < ?2"
    );
    let rows = connection.execute(&raise, [count, latest]);
    let rows = rows.map_err(|error| {
        let is_missing = error.to_string().starts_with("no such table");
        let schema = schema.to_owned();
        match is_missing {
            true => Error::NoMark { schema },
            false => Error::Shared(error),
        }
    })?;
    let read = format!("SELECT last FROM {schema}.inorder_high_water");
    let last = connection.query_row(&read, [], |row| row.get::<_, i64>(0));
    let last = last.map_err(Error::Shared)?;
    if rows == 0 {
        let ms = (last >> COUNTER_BITS) as u64;
        return Err(Error::MarkAhead {
            schema: schema.to_owned(),
            seconds: ms.saturating_sub(SystemClock.read(1).time.ms) / 1000,
        });
    }
    Ok(last)
}

/// Returns the names in SQL of the databases that the current transaction writes, except that of temporary tables.
fn written(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut list = connection.prepare("PRAGMA database_list")?;
    let mut rows = list.query([])?;
    let mut written = Vec::new();
    while let Some(row) = rows.next()? {
        let name = row.get_ref(1)?.as_bytes()?;
        let is_written = |name: &CString| ffi::is_written(connection, name);
        if name != b"temp" && CString::new(name).as_ref().is_ok_and(is_written) {
            written.push(quoted(&String::from_utf8_lossy(name)));
        }
    }
    Ok(written)
}

/// Reads the name of a database from an argument.
fn name(schema: Value<'_>) -> Result<String, Error> {
    match schema {
        Value::Text(name) => Ok(quoted(&String::from_utf8_lossy(name))),
        _ => Err(schema.unwanted("the name of a database, such as 'main',")),
    }
}

/// Quotes a name for SQL.
fn quoted(name: &str) -> String {
    match name {
        "main" => name.to_owned(),
        _ => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

/// Creates the id of a count.
fn id<I: TimeId>(count: u64) -> Result<I, Error> {
    let below = I::TAIL_BITS - COUNTER_BITS;
    let random = random::<8>() & ((1 << below) - 1);
    let tail = u128::from(count) << below | random;
    Ok(I::from_parts(count >> COUNTER_BITS, tail)?)
}

/// Returns this number of random bytes.
fn random<const N: usize>() -> u128 {
    let mut bytes = [0; 16];
    fill_random(&mut bytes[..N]);
    u128::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use inorder_key::{Ulid, UnixTime, Uuid};

    #[test]
    fn ids_of_counts_are_in_their_order() {
        let count = 1_700_000_000_000 << COUNTER_BITS | 0xffff;
        assert_eq!(id::<Ulid>(count).unwrap().ms(), 1_700_000_000_000);
        assert!(id::<Ulid>(count).unwrap() < id::<Ulid>(count + 1).unwrap());
        assert!(id::<Uuid>(count).unwrap() < id::<Uuid>(count + 1).unwrap());
        assert_eq!(id::<Uuid>(count + 1).unwrap().ms(), Some(1_700_000_000_001));
        assert!(id::<Ulid>(UnixTime::MS_MAX << COUNTER_BITS | 0xffff).is_ok());
    }
}
