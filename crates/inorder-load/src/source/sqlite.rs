//! A table of another SQLite database, in the order of its rows there.

use std::path::{Path, PathBuf};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

use super::feed::{Feed, Outlet};
use super::row::{Field, Row};
use super::{Format, ReadOptions};
use crate::Error;
use crate::sql::quoted;

pub(super) const FORMAT: Format = Format {
    name: "sqlite",
    description: "a SQLite database, as file.db:table",
    recognises: |_, head| head.starts_with(b"SQLite format 3\0"),
    open: |input, settings| {
        let file = input.into_file()?;
        let bytes = file.real.metadata().map_or(0, |metadata| metadata.len());
        let rows = open(file.shown, &file.real, settings)?;
        // SQLite reads the file: the position is unknown.
        file.meter.add(bytes.saturating_sub(file.meter.bytes()));
        Ok(Box::new(rows))
    },
};

fn open(path: PathBuf, real: &Path, settings: &ReadOptions) -> Result<Feed, Error> {
    let failed = |source| Error::Database {
        path: path.clone(),
        source,
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = inorder_sqlite::open(real, flags).map_err(failed)?;
    let table = table(&connection, &path, settings.table.as_deref())?;
    let sql = format!("SELECT * FROM {}", quoted(&table));
    let columns = {
        let statement = connection.prepare(&sql).map_err(failed)?;
        statement
            .column_names()
            .into_iter()
            .map(str::to_owned)
            .collect()
    };
    Ok(Feed::start(columns, path.clone(), move |outlet| {
        read(&connection, &sql, outlet, &path)
    }))
}

/// Returns the requested table, or the only one.
fn table(connection: &Connection, path: &Path, wanted: Option<&str>) -> Result<String, Error> {
    let failed = |source| Error::Database {
        path: path.to_owned(),
        source,
    };
    let list = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') \
                AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";
    let mut statement = connection.prepare(list).map_err(failed)?;
    let names = statement.query_map([], |row| row.get(0)).map_err(failed)?;
    let mut names: Vec<String> = names.collect::<Result<_, _>>().map_err(failed)?;
    let is_wanted = |name: &String| match wanted {
        Some(wanted) => name.eq_ignore_ascii_case(wanted),
        None => true,
    };
    match names.iter().filter(|name| is_wanted(name)).count() {
        1 => {
            let at = names.iter().position(is_wanted).unwrap_or(0);
            Ok(names.swap_remove(at))
        }
        _ => Err(Error::no_such_table(
            path,
            wanted,
            names.iter().map(String::as_str),
        )),
    }
}

fn read(connection: &Connection, sql: &str, outlet: &mut Outlet, path: &Path) -> Result<(), Error> {
    let failed = |source| Error::Database {
        path: path.to_owned(),
        source,
    };
    let mut statement = connection.prepare(sql).map_err(failed)?;
    let columns = statement.column_count();
    let mut found = statement.query([]).map_err(failed)?;
    while let Some(values) = found.next().map_err(failed)? {
        let Ok(row) = outlet.row() else { return Ok(()) };
        for column in 0..columns {
            let value = values.get_ref(column).map_err(failed)?;
            let field = field(row, value).ok_or_else(|| Error::Malformed {
                path: path.to_owned(),
                line: row.line(),
                at: format!(", field {}", column + 1),
                what: "the text is not UTF-8".to_owned(),
                remedy: "correct the source table; CAST(… AS BLOB) shows the bytes",
            })?;
            row.fields.push(field);
        }
    }
    Ok(())
}

/// The field of a value; `None` for text that is not UTF-8.
fn field(row: &mut Row, value: ValueRef<'_>) -> Option<Field> {
    Some(match value {
        ValueRef::Null => Field::Null,
        ValueRef::Integer(integer) => Field::Integer(integer),
        ValueRef::Real(real) => Field::Real(real),
        ValueRef::Text(text) => Field::Text(row.keep(std::str::from_utf8(text).ok()?.as_bytes())),
        ValueRef::Blob(blob) => Field::Blob(row.keep(blob)),
    })
}
