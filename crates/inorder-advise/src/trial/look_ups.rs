//! Look-ups by a key or an index: existing keys in random order, before and after, with a warm cache.

use super::{
    pairs::{self, Pairs},
    value::Value,
};
use crate::{
    Error, IdForm,
    apply::ids,
    ddl::quoted,
    read::{self, Table, TableKind},
    sql::quoted_list,
};
use inorder_key::bulk::SplitMix64;
use rusqlite::{Connection, Statement, params_from_iter};
use serde::Serialize;
use std::{
    path::Path,
    time::{Duration, Instant},
};

/// Smaller tables are not measured.
const ROWS_MIN: u64 = 1000;
/// Keys that are looked up.
const KEYS: usize = 2000;
/// Rows of which keys are taken where rows have no numbers.
const SCANNED_MAX: u64 = 1_000_000;
/// Rows read per look-up at most.
const ROWS_READ_MAX: u32 = 10;
/// How long keys are looked up once, so that pages are cached, and how long the measurement lasts.
const WARM: Duration = Duration::from_millis(60);
const TIME: Duration = Duration::from_millis(150);
/// A block takes about so long on either side.
const BLOCK: Duration = Duration::from_millis(2);
/// The seed of the keys.
const SEED: u64 = 14;

/// Look-ups of the same keys before and after.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LookUps {
    /// The table.
    pub table: String,
    /// The columns that are compared.
    pub columns: Vec<String>,
    /// Different keys, existing ones in random order.
    pub keys: usize,
    /// The times.
    #[serde(flatten)]
    pub times: Pairs,
}

/// Opens a copy in a read transaction, which lasts as long as the connection. Else each look-up would lock and unlock the
/// file, but those in a file that another thread reads meanwhile: SQLite has one lock per file and process.
///
/// # Errors
/// Those of SQLite.
pub(super) fn open(path: &Path) -> Result<Connection, Error> {
    let connection = read::open(path)?;
    connection.execute_batch("BEGIN; SELECT count(*) FROM main.sqlite_schema")?;
    Ok(connection)
}

/// Measures look-ups of a table's rows by some columns. `None` where the table is too small, or columns are NULL.
/// Columns in `converted` hold blobs after the change.
///
/// # Errors
/// Those of reading the keys.
pub(super) fn measure(
    [before, after]: [&Connection; 2],
    table: &Table,
    columns: &[String],
    converted: &[(String, IdForm)],
) -> Result<Option<LookUps>, Error> {
    if table.rows < ROWS_MIN || columns.is_empty() {
        return Ok(None);
    }
    let keys = keys(before, table, columns)?;
    if keys.len() < KEYS / 10 {
        return Ok(None);
    }
    let forms: Vec<Option<IdForm>> = columns
        .iter()
        .map(|column| {
            let mut own = converted.iter().filter(|(name, _)| name == column);
            own.next().map(|(_, form)| *form)
        })
        .collect();
    let blobs: Vec<Vec<Value>> = keys.iter().map(|key| in_blobs(key, &forms)).collect();
    let conditions: Vec<String> = columns
        .iter()
        .enumerate()
        .map(|(at, column)| format!("{} = ?{}", quoted(column), at + 1))
        .collect();
    let sql = format!(
        "SELECT * FROM {} WHERE {} LIMIT {ROWS_READ_MAX}",
        quoted(&table.name),
        conditions.join(" AND ")
    );
    let (Ok(before), Ok(after)) = (before.prepare(&sql), after.prepare(&sql)) else {
        return Ok(None);
    };
    Ok(
        times([before, after], [&keys, &blobs]).map(|times| LookUps {
            table: table.name.clone(),
            columns: columns.to_vec(),
            keys: keys.len(),
            times,
        }),
    )
}

fn times(mut statements: [Statement<'_>; 2], keys: [&[Vec<Value>]; 2]) -> Option<Pairs> {
    let count = keys[0].len();
    let mut slowest = Duration::ZERO;
    for side in 0..2 {
        let (began, mut looked) = (Instant::now(), 0);
        for key in keys[side] {
            // Whatever is found before is found after.
            if !look_up(&mut statements[side], key)? {
                return None;
            }
            looked += 1;
            if began.elapsed() > WARM {
                break;
            }
        }
        slowest = slowest.max(began.elapsed() / looked);
    }
    let block = (BLOCK.as_nanos() / slowest.as_nanos().max(1)).clamp(1, count as u128) as usize;
    pairs::measure(TIME, |side, number| {
        let from = number * block;
        for at in from..from + block {
            look_up(&mut statements[side], &keys[side][at % count])?;
        }
        Some(block)
    })
}

/// Reads the rows of a key; tells whether there is one.
fn look_up(statement: &mut Statement<'_>, key: &[Value]) -> Option<bool> {
    let mut rows = statement.query(params_from_iter(key)).ok()?;
    let mut is_found = false;
    while rows.next().ok()?.is_some() {
        is_found = true;
    }
    Some(is_found)
}

/// The key with ids as blobs.
fn in_blobs(key: &[Value], forms: &[Option<IdForm>]) -> Vec<Value> {
    let value = |(value, form): (&Value, &Option<IdForm>)| match (value, form) {
        (Value::Text(text), Some(form)) => {
            ids::to_blob(text, *form).map_or_else(|| value.clone(), Value::Blob)
        }
        _ => value.clone(),
    };
    key.iter().zip(forms).map(value).collect()
}

/// Random keys without NULL, the same ones each time.
fn keys(
    connection: &Connection,
    table: &Table,
    columns: &[String],
) -> Result<Vec<Vec<Value>>, Error> {
    let names = quoted_list(columns.iter().map(String::as_str));
    rows_at_random(connection, table, &names, KEYS).map(|mut rows| {
        rows.retain(|row| !row.contains(&Value::Null));
        rows
    })
}

/// Expressions over random rows of a table: rows with random rowids, or of a WITHOUT ROWID table every n-th row of the
/// first million, shuffled.
pub(super) fn rows_at_random(
    connection: &Connection,
    table: &Table,
    expressions: &str,
    count: usize,
) -> Result<Vec<Vec<Value>>, Error> {
    let name = quoted(&table.name);
    let mut random = SplitMix64::new(SEED);
    let mut found = Vec::new();
    if table.kind == TableKind::Rowid && table.column("rowid").is_none() {
        let ends = format!("SELECT min(rowid), max(rowid) FROM {name}");
        let ends: (Option<i64>, Option<i64>) =
            connection.query_row(&ends, (), |row| Ok((row.get(0)?, row.get(1)?)))?;
        let (Some(first), Some(last)) = ends else {
            return Ok(found);
        };
        let span = last.abs_diff(first).saturating_add(1);
        let sql =
            format!("SELECT {expressions} FROM {name} WHERE rowid >= ?1 ORDER BY rowid LIMIT 1");
        let mut statement = connection.prepare(&sql)?;
        for _ in 0..count {
            let rowid = first.wrapping_add_unsigned(random.below(span));
            let mut rows = statement.query([rowid])?;
            if let Some(row) = rows.next()? {
                found.push(values(row)?);
            }
        }
        return Ok(found);
    }
    let stride = (table.rows.min(SCANNED_MAX) / count as u64).max(1);
    let mut statement = connection.prepare(&format!(
        "SELECT {expressions} FROM {name} LIMIT {SCANNED_MAX}"
    ))?;
    let mut rows = statement.query(())?;
    let mut at = 0;
    while let Some(row) = rows.next()? {
        if at % stride == 0 && found.len() < count {
            found.push(values(row)?);
        }
        at += 1;
    }
    random.shuffle(&mut found);
    Ok(found)
}

fn values(row: &rusqlite::Row<'_>) -> rusqlite::Result<Vec<Value>> {
    let columns = row.as_ref().column_count();
    (0..columns).map(|at| row.get(at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_that_is_looked_up_is_locked_throughout() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let other = Connection::open(&path).unwrap();
        other.execute_batch("CREATE TABLE t(a)").unwrap();
        other.busy_timeout(Duration::ZERO).unwrap();
        let reading = open(&path).unwrap();
        for _ in 0..2 {
            let found = reading.query_row("SELECT count(*) FROM t", (), |row| row.get(0));
            assert_eq!(found, Ok(0));
            let write = other.execute_batch("INSERT INTO t VALUES (1)");
            let code = write.map_err(|error| error.sqlite_error_code());
            assert_eq!(code, Err(Some(rusqlite::ErrorCode::DatabaseBusy)));
        }
        drop(reading);
        other.execute_batch("INSERT INTO t VALUES (1)").unwrap();
    }
}
