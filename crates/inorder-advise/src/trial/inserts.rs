//! What inserting costs: the table's newest rows are deleted and inserted again, and a counting VFS counts the bytes.
//!
//! Triggers and foreign keys are off: the table and its indexes are what is compared.

use super::value::Value;
use crate::{
    Error,
    ddl::quoted,
    read::{self, Case, Form, Ids, Table, TableKind},
    sql::quoted_list,
};
use inorder_engine::sqlite::CountingVfs;
use inorder_key::Uuid;
use rusqlite::{Connection, OpenFlags, config::DbConfig, params_from_iter};
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;
use std::path::Path;

/// Rows that are inserted again.
const ROWS_MAX: u64 = 2000;
/// Rows per transaction.
pub const ROWS_PER_TRANSACTION: usize = 10;
/// Of a table at most this share.
const SHARE: u64 = 10;
/// Smaller tables are not measured.
const ROWS_MIN: u64 = 1000;
/// Wide rows: fewer of them.
const BYTES_MAX: u64 = 32_000_000;

/// What the inserts of some rows cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Cost {
    /// Bytes written to the database, its journal or write-ahead log.
    pub written_bytes: u64,
    /// Seconds of processor time.
    pub cpu_s: f64,
}

/// The same inserts into two databases.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Inserts {
    /// The table.
    pub table: String,
    /// Rows inserted, [`ROWS_PER_TRANSACTION`] at a time.
    pub rows: u64,
    /// As it is.
    pub before: Cost,
    /// With the changes.
    pub after: Cost,
}

impl Inserts {
    /// The bytes saved as a share of those written before, in percent.
    pub fn saved_percent(&self) -> f64 {
        let before = self.before.written_bytes.max(1) as f64;
        100.0 * (before - self.after.written_bytes as f64) / before
    }
}

/// Rows of a table in the order in which they were inserted.
pub(super) struct Rows {
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
    /// What tells a row from others: places in `columns`.
    key: Vec<usize>,
}

/// Takes the newest rows of a table: `None` if it is too small, or nothing tells its rows apart.
pub(super) fn newest(connection: &Connection, table: &Table) -> Result<Option<Rows>, Error> {
    let mut columns: Vec<String> = table
        .columns
        .iter()
        .filter(|column| column.hidden == 0)
        .map(|column| column.name.clone())
        .collect();
    // A unique key may become the primary key, and the rowid go.
    let unique = || {
        let mut indexes = table.indexes.iter();
        indexes.find_map(|index| {
            let columns = index.columns()?;
            let is_key = index.is_unique && index.condition.is_none();
            let is_never_null = columns.iter().all(|&at| table.columns[at].is_not_null);
            (is_key && is_never_null).then_some(columns)
        })
    };
    let own = match table.key.is_empty() {
        true => unique().unwrap_or_default(),
        false => table.key.clone(),
    };
    let mut key: Vec<usize> = own
        .iter()
        .filter_map(|&at| {
            columns
                .iter()
                .position(|name| *name == table.columns[at].name)
        })
        .collect();
    if key.is_empty() && table.kind == TableKind::Rowid && table.column("rowid").is_none() {
        key = vec![columns.len()];
        columns.push("rowid".into());
    }
    let row_bytes = table.tree.as_ref().map_or(0, |tree| tree.size_bytes) / table.rows.max(1) + 1;
    let count = ROWS_MAX.min(table.rows / SHARE).min(BYTES_MAX / row_bytes);
    if table.rows < ROWS_MIN || count == 0 || key.is_empty() {
        return Ok(None);
    }
    let names: Vec<String> = columns.iter().map(|name| quoted(name)).collect();
    let rows = read_rows(connection, table, &names.join(", "), count)?;
    Ok(Some(Rows { columns, rows, key }))
}

/// The rows with the largest rowids; of a table WITHOUT ROWID those with the largest keys, or if keys are random,
/// rows from everywhere in no order.
fn read_rows(
    connection: &Connection,
    table: &Table,
    names: &str,
    count: u64,
) -> Result<Vec<Vec<Value>>, Error> {
    let select = format!("SELECT {names} FROM {}", quoted(&table.name));
    let ends = match table.key.first() {
        _ if table.kind == TableKind::Rowid && table.column("rowid").is_none() => {
            Some("rowid".to_owned())
        }
        Some(&first) if is_ordered(table, first) => Some(quoted(&table.columns[first].name)),
        _ => None,
    };
    let (sql, stride) = match &ends {
        Some(key) => (format!("{select} ORDER BY {key} DESC LIMIT {count}"), 1),
        None => (select, table.rows / count),
    };
    let mut statement = connection.prepare(&sql)?;
    let columns = statement.column_count();
    let mut found = Vec::new();
    let mut rows = statement.query(())?;
    let mut at = 0;
    while let Some(row) = rows.next()? {
        if at % stride == 0 && (found.len() as u64) < count {
            found.push(
                (0..columns)
                    .map(|at| row.get(at))
                    .collect::<rusqlite::Result<_>>()?,
            );
        }
        at += 1;
    }
    match ends {
        Some(_) => found.reverse(),
        None => shuffle(&mut found),
    }
    Ok(found)
}

/// Shuffles, the same way each time (Fisher and Yates with a linear congruential generator).
fn shuffle<T>(rows: &mut [T]) {
    let mut state = 1u64;
    for at in (1..rows.len()).rev() {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        rows.swap(at, ((state >> 33) % (at as u64 + 1)) as usize);
    }
}

/// Whether new keys go to the end.
fn is_ordered(table: &Table, at: usize) -> bool {
    let column = &table.columns[at];
    let ids = Ids::of(table, column);
    let kind = ids
        .as_ref()
        .and_then(|ids| ids.kinds.first())
        .map(|share| share.kind.as_str());
    matches!(kind, Some("UUIDv7" | "UUIDv6" | "ULID"))
        || column.values.integers == column.values.rows
}

impl Rows {
    pub(super) fn len(&self) -> u64 {
        self.rows.len() as u64
    }

    /// The same rows with ids in order in one column; `None` if the table has no such column or form.
    pub(super) fn with_ids_in_order(&self, column: &str, form: Form) -> Option<Rows> {
        let at = self.columns.iter().position(|name| name == column)?;
        let mut rows = self.rows.clone();
        for row in &mut rows {
            row[at] = id_in_order(form)?;
        }
        Some(Rows {
            columns: self.columns.clone(),
            rows,
            key: self.key.clone(),
        })
    }
}

/// A new UUIDv7 in a form.
fn id_in_order(form: Form) -> Option<Value> {
    let id = Uuid::now_v7();
    let text = id.to_string();
    let in_text = |text: String| Value::Text(text.into_bytes());
    Some(match form {
        Form::Uuid(Case::Upper) => in_text(text.to_uppercase()),
        Form::Uuid(_) => in_text(text),
        Form::Hex {
            digits: 32,
            has_prefix: false,
            case,
        } => {
            let text = text.replace('-', "");
            in_text(if case == Case::Upper {
                text.to_uppercase()
            } else {
                text
            })
        }
        Form::Blob(16) => Value::Blob(id.to_bytes().to_vec()),
        _ => return None,
    })
}

/// Deletes rows from a database.
pub(super) fn delete(connection: &Connection, table: &str, rows: &Rows) -> Result<(), Error> {
    let condition: Vec<String> = rows
        .key
        .iter()
        .map(|&at| format!("{} IS ?", quoted(&rows.columns[at])))
        .collect();
    let sql = format!(
        "DELETE FROM {} WHERE {}",
        quoted(table),
        condition.join(" AND ")
    );
    connection.execute_batch("BEGIN")?;
    {
        let mut statement = connection.prepare(&sql)?;
        for row in &rows.rows {
            statement.execute(params_from_iter(rows.key.iter().map(|&at| &row[at])))?;
        }
    }
    connection.execute_batch("COMMIT")?;
    Ok(())
}

/// Inserts rows, some per transaction, and counts. The rows stay.
pub(super) fn insert(path: &Path, is_wal: bool, table: &str, rows: &Rows) -> Result<Cost, Error> {
    let vfs = CountingVfs::register().map_err(|error| Error::Refused {
        change: format!("inserting into {table}"),
        why: error.to_string(),
    })?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = inorder_sqlite::open_with_vfs(path, flags, vfs.name())?;
    prepare(&connection)?;
    connection.pragma_update(
        None,
        "journal_mode",
        if is_wal { "wal" } else { "truncate" },
    )?;
    let marks = vec!["?"; rows.columns.len()].join(", ");
    let columns = quoted_list(rows.columns.iter().map(String::as_str));
    let sql = format!("INSERT INTO {}({columns}) VALUES ({marks})", quoted(table));
    let mut statement = connection.prepare(&sql)?;
    let (bytes, cpu) = (written(&vfs), cpu_s());
    for transaction in rows.rows.chunks(ROWS_PER_TRANSACTION) {
        connection.execute_batch("BEGIN")?;
        for row in transaction {
            statement.execute(params_from_iter(row))?;
        }
        connection.execute_batch("COMMIT")?;
    }
    drop(statement);
    if is_wal {
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))?;
    }
    let cost = Cost {
        written_bytes: written(&vfs) - bytes,
        cpu_s: cpu_s() - cpu,
    };
    connection.pragma_update(None, "journal_mode", "delete")?;
    connection.close().map_err(|(_, error)| error)?;
    Ok(cost)
}

/// Opens a copy for deleting and inserting.
pub(super) fn open(path: &Path) -> Result<Connection, Error> {
    let connection = read::open(path)?;
    prepare(&connection)?;
    Ok(connection)
}

fn prepare(connection: &Connection) -> Result<(), Error> {
    read::prepare(connection)?;
    connection.pragma_update(None, "ignore_check_constraints", true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    Ok(())
}

fn written(vfs: &CountingVfs) -> u64 {
    vfs.io().total().written_bytes.unwrap_or(0)
}

fn cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Measures the same inserts into two databases, which lose and get the rows.
pub(super) fn compare(
    [before, after]: [&Path; 2],
    is_wal: bool,
    table: &Table,
) -> Result<Option<Inserts>, Error> {
    let connection = open(before)?;
    let Some(rows) = newest(&connection, table)? else {
        return Ok(None);
    };
    drop(connection);
    let cost = |path| {
        delete(&open(path)?, &table.name, &rows)?;
        insert(path, is_wal, &table.name, &rows)
    };
    Ok(Some(Inserts {
        table: table.name.clone(),
        rows: rows.len(),
        before: cost(before)?,
        after: cost(after)?,
    }))
}

/// Measures inserts with the ids of a column and the same ones with ids in order, into one database.
pub(super) fn compare_ids(
    path: &Path,
    is_wal: bool,
    table: &Table,
    column: &str,
) -> Result<Option<Inserts>, Error> {
    let ids = table
        .column(column)
        .and_then(|at| Ids::of(table, &table.columns[at]));
    let Some(form) = ids.and_then(|ids| ids.kinds.first().map(|share| share.form)) else {
        return Ok(None);
    };
    let connection = open(path)?;
    let Some(rows) = newest(&connection, table)? else {
        return Ok(None);
    };
    let Some(ordered) = rows.with_ids_in_order(column, form) else {
        return Ok(None);
    };
    delete(&connection, &table.name, &rows)?;
    drop(connection);
    let before = insert(path, is_wal, &table.name, &rows)?;
    delete(&open(path)?, &table.name, &rows)?;
    let after = insert(path, is_wal, &table.name, &ordered)?;
    Ok(Some(Inserts {
        table: table.name.clone(),
        rows: rows.len(),
        before,
        after,
    }))
}
