//! Changes of a table for a load: its definition, added columns, and rows that update others.

use super::{
    ddl,
    session::{is_utc, quoted},
    strict::StrictWriter,
    table::Table,
};
use crate::{
    Batch, ColumnKind, Error, NewColumn, NewTable, TableChange, Writer,
    server::{Failure, session::Session},
    table_change::Spelling,
};
use mysql::{Conn, prelude::Queryable as _};
use std::ops::Range;

/// Characters of text in a key or an index. InnoDB limits a key to 3,072 bytes.
const KEY_CHARS: usize = 255;

/// Name of the temporary table whose rows update others.
pub const UPDATES: &str = "inorder_updates";

/// The column that a foreign key refers to, and its type with the character set: InnoDB demands equal types.
const PARENT: &str = "SELECT column_name, concat(column_type, coalesce(concat(
         ' CHARACTER SET ', character_set_name, ' COLLATE ', collation_name), ''))
     FROM information_schema.columns
     WHERE table_schema = database() AND table_name = ? AND (column_name = ? OR ? IS NULL AND column_key = 'PRI')
     ORDER BY ordinal_position LIMIT 1";

/// Limits the wait for locks.
pub fn limit_locks(conn: &mut Conn, change: &TableChange) -> Result<(), mysql::Error> {
    let seconds = change.lock_max.as_secs().max(1);
    conn.query_drop(format!(
        "SET SESSION lock_wait_timeout = {seconds}, SESSION innodb_lock_wait_timeout = {seconds}"
    ))
}

/// Sets the session's time zone to UTC, if the change says so. Returns whether it was another one.
pub fn set_time_zone(conn: &mut Conn, change: &TableChange) -> Result<bool, mysql::Error> {
    if !change.is_utc || is_utc(conn)? {
        return Ok(false);
    }
    conn.query_drop("SET SESSION time_zone = '+00:00'")?;
    Ok(true)
}

/// Returns the statement that creates a table of this name, and the definitions of its indexes, which are built after
/// the rows.
pub fn create(
    conn: &mut Conn,
    name: &str,
    new: &NewTable,
) -> Result<(String, Vec<String>), mysql::Error> {
    let mut new = new.clone();
    for key in &mut new.foreign_keys {
        let found: Option<(String, String)> = conn.exec_first(
            PARENT,
            (&key.parent, &key.parent_column, &key.parent_column),
        )?;
        let Some((parent, declared_type)) = found else {
            continue;
        };
        key.parent_column = Some(parent);
        let mut columns = new.columns.iter_mut();
        if let Some(column) = columns.find(|column| column.name == key.column)
            && !matches!(column.kind, ColumnKind::Declared(_))
        {
            column.kind = ColumnKind::Declared(declared_type);
        }
    }
    let body = new.body(&Spelling {
        quoted: &quoted,
        table: &quoted,
        type_of: &type_of,
    });
    let indexes = new.indexes.iter().map(|columns| {
        let name = quoted(&columns.join("_"));
        let columns: Vec<String> = columns.iter().map(|column| quoted(column)).collect();
        format!("KEY {name} ({})", columns.join(","))
    });
    let statement = format!(
        "CREATE TABLE {} {body} ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin",
        quoted(name)
    );
    Ok((statement, indexes.collect()))
}

/// Returns the type of decimals with these most digits before and after the point. Numbers with more than it has are text.
fn decimal(whole_digits: usize, fraction_digits: usize) -> String {
    /// Digits before the point in any case, so that numbers to come have room: with two after it, as many bytes as a double.
    const WHOLE_DIGITS_MIN: usize = 15;
    const PRECISION_MAX: usize = 65;
    const SCALE_MAX: usize = 38;
    let precision = whole_digits.max(WHOLE_DIGITS_MIN) + fraction_digits;
    match precision <= PRECISION_MAX && fraction_digits <= SCALE_MAX {
        true => format!("decimal({precision},{fraction_digits})"),
        false => "longtext".to_owned(),
    }
}

fn type_of(column: &NewColumn, is_keyed: bool) -> String {
    let name = match &column.kind {
        ColumnKind::Integer => "bigint",
        ColumnKind::Real => "double",
        ColumnKind::Decimal {
            whole_digits,
            fraction_digits,
        } => return decimal(*whole_digits, *fraction_digits),
        ColumnKind::Text if is_keyed => return format!("varchar({KEY_CHARS})"),
        ColumnKind::Text => "longtext",
        // MariaDB has no type with a time zone.
        ColumnKind::Instant => "varchar(40)",
        ColumnKind::Bytes if is_keyed => return format!("varbinary({KEY_CHARS})"),
        ColumnKind::Bytes => "longblob",
        ColumnKind::Boolean => "boolean",
        ColumnKind::Uuid => "uuid",
        ColumnKind::Date => "date",
        ColumnKind::DateTime | ColumnKind::Utc => "datetime(6)",
        ColumnKind::Json => "json",
        ColumnKind::Id(kind, encoding) => {
            let own = ddl::key_type(*kind, *encoding);
            return own.unwrap_or("longtext").to_ascii_lowercase();
        }
        ColumnKind::Declared(name) => return name.clone(),
    };
    name.to_owned()
}

/// Returns the statements that add columns to a table.
pub fn additions(name: &str, added: &[NewColumn]) -> Vec<String> {
    let add = |column: &NewColumn| {
        let (table, own) = (quoted(name), quoted(&column.name));
        format!(
            "ALTER TABLE {table} ADD COLUMN {own} {}",
            type_of(column, false)
        )
    };
    added.iter().map(add).collect()
}

/// Creates the temporary table for rows that update a table. Returns the statements that store its rows: those whose
/// key exists first.
pub fn updates(
    conn: &mut Conn,
    table: &Table,
    columns: &[&str],
) -> Result<[String; 2], mysql::Error> {
    let list = |prefix: &str| {
        let names: Vec<String> = columns
            .iter()
            .map(|name| format!("{prefix}{}", quoted(name)))
            .collect();
        names.join(", ")
    };
    let (into, from) = (quoted(&table.name), quoted(UPDATES));
    conn.query_drop(format!("DROP TEMPORARY TABLE IF EXISTS {from}"))?;
    conn.query_drop(format!(
        "CREATE TEMPORARY TABLE {from} ENGINE=InnoDB AS SELECT {} FROM {into} LIMIT 0",
        list("")
    ))?;
    let key: Vec<String> = table.key();
    let is_key = |name: &str| key.iter().any(|part| part.eq_ignore_ascii_case(name));
    let on: Vec<String> = key
        .iter()
        .map(|name| format!("t.{0} = n.{0}", quoted(name)))
        .collect();
    let on = on.join(" AND ");
    let set = |name: &&str| format!("t.{0} = n.{0}", quoted(name));
    let mut sets: Vec<String> = columns
        .iter()
        .filter(|name| !is_key(name))
        .map(set)
        .collect();
    if sets.is_empty() {
        sets = columns.iter().take(1).map(set).collect();
    }
    Ok([
        format!(
            "UPDATE {from} AS n STRAIGHT_JOIN {into} AS t ON {on} SET {}",
            sets.join(", ")
        ),
        format!(
            "INSERT INTO {into}({}) SELECT {} FROM {from} AS n WHERE NOT EXISTS (SELECT 1 FROM {into} AS t WHERE {on})",
            list(""),
            list("n.")
        ),
    ])
}

/// Writes rows to the temporary table, and stores them in the table at the end.
pub struct Updater {
    pub writer: StrictWriter,
    pub merge: [String; 2],
    pub is_complete: bool,
}

impl Writer for Updater {
    fn begin(&mut self) -> Result<(), Error> {
        self.writer.begin()
    }

    fn insert(&mut self, batch: &Batch, rows: Range<usize>) -> Result<(), Error> {
        self.writer.insert(batch, rows)
    }

    fn complete(&mut self) -> Result<(), Error> {
        if std::mem::replace(&mut self.is_complete, true) {
            return Ok(());
        }
        for sql in self.merge.clone() {
            let conn = &mut self.writer.session().connection;
            let ran = conn.query_drop(&sql);
            let warnings = conn.warnings();
            ran.map_err(|error| self.writer.refusal(error, None))?;
            if warnings > 0 {
                return Err(warned(self.writer.session(), &sql));
            }
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Error> {
        self.complete()?;
        self.writer.commit()
    }

    fn rollback(&mut self) -> Result<(), Error> {
        self.writer.rollback()
    }

    fn checkpoint_if_due(&mut self) -> Result<bool, Error> {
        self.writer.checkpoint_if_due()
    }

    fn retries(&self) -> u64 {
        0
    }
}

/// Returns the error of a statement that raised a warning.
fn warned(session: &mut Session<Conn>, sql: &str) -> Error {
    let first: Result<Option<(String, u32, String)>, _> =
        session.connection.query_first("SHOW WARNINGS");
    let message = match first {
        Ok(Some((_, _, message))) => message,
        Ok(None) => "the server raised a warning".to_owned(),
        Err(error) => Failure::from(error).message,
    };
    Error::Database {
        doing: sql.to_owned(),
        message,
    }
}
