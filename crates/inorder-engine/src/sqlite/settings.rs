//! Settings as PRAGMAs. Each is set and then read back, because SQLite reports no error for a value it does not
//! accept. <https://www.sqlite.org/pragma.html>

use super::{NAME, failure::Failure};
use crate::{AutoVacuum, Error, Settings, Synchronous};
use rusqlite::{Connection, types::Value};
use std::path::Path;

/// SQLite settings that are reported, in this order.
const REPORTED: &[&str] = &[
    "page_size",
    "cache_size",
    "journal_mode",
    "synchronous",
    "mmap_size",
    "auto_vacuum",
    "wal_autocheckpoint",
    "foreign_keys",
    "locking_mode",
    "temp_store",
    "encoding",
    "secure_delete",
    "cell_size_check",
];

/// Settings that are stored in the file, which must be empty. The order matters: switching to WAL writes the first
/// page, and with it the page size and the auto-vacuum mode.
pub fn apply_to_file(connection: &Connection, settings: &Settings) -> Result<(), Error> {
    apply(connection, &of_the_file(settings))?;
    apply(connection, &[journal_mode(settings)])
}

/// Settings of each connection, and a check of those in the file. `autocheckpoint_pages` is 0 if the caller runs
/// checkpoints itself.
pub fn apply_to_connection(
    connection: &Connection,
    settings: &Settings,
    autocheckpoint_pages: u32,
) -> Result<(), Error> {
    apply(
        connection,
        &[
            journal_mode(settings),
            ("cache_size", format!("-{}", settings.cache_kib)),
            ("mmap_size", settings.mmap_bytes.to_string()),
            ("synchronous", settings.synchronous.name().into()),
            ("foreign_keys", on_off(settings.foreign_keys).into()),
            ("wal_autocheckpoint", autocheckpoint_pages.to_string()),
        ],
    )?;
    of_the_file(settings)
        .iter()
        .try_for_each(|(name, wanted)| check(connection, name, wanted))
}

/// Returns every reported setting with its current value, and SQLite's version.
pub fn read_back(connection: &Connection) -> rusqlite::Result<Vec<(String, String)>> {
    REPORTED
        .iter()
        .map(|name| Ok(((*name).to_owned(), read(connection, name)?)))
        .chain([Ok((
            "sqlite_version".to_owned(),
            rusqlite::version().to_owned(),
        ))])
        .collect()
}

fn of_the_file(settings: &Settings) -> [(&'static str, String); 2] {
    [
        ("page_size", settings.page_size_bytes.to_string()),
        ("auto_vacuum", settings.auto_vacuum.name().into()),
    ]
}

fn journal_mode(settings: &Settings) -> (&'static str, String) {
    ("journal_mode", settings.journal.name().into())
}

fn on_off(is_on: bool) -> &'static str {
    if is_on { "on" } else { "off" }
}

fn apply(connection: &Connection, settings: &[(&str, String)]) -> Result<(), Error> {
    for (name, wanted) in settings {
        connection
            .execute_batch(&format!("PRAGMA {name}={wanted}"))
            .map_err(|error| {
                let why = error.to_string();
                let path = Path::new(connection.path().unwrap_or_default());
                match Failure::from(error).into_error(name, path) {
                    full @ Error::DiskFull { .. } => full,
                    _ => refused(name, wanted, &why),
                }
            })?;
        check(connection, name, wanted)?;
    }
    Ok(())
}

fn check(connection: &Connection, name: &str, wanted: &str) -> Result<(), Error> {
    match read(connection, name) {
        // `-0` requests a cache of 0 KiB.
        Ok(got) if got == wanted || (got == "0" && wanted == "-0") => Ok(()),
        Ok(got) => Err(refused(name, wanted, &format!("it stayed at {got}"))),
        Err(error) => Err(refused(name, wanted, &error.to_string())),
    }
}

fn refused(name: &str, wanted: &str, why: &str) -> Error {
    let hint = match name {
        "page_size" => " (a page has a power of two from 512 to 65536 bytes)",
        "cache_size" => " (a cache has at most 2147483647 KiB)",
        "mmap_size" => " (a memory map has at most 2147418112 bytes)",
        _ => "",
    };
    Error::Unsupported {
        engine: NAME,
        what: format!("set {name} to {wanted}: {why}{hint}"),
    }
}

/// Returns the value of a setting, by name if it is an enumeration.
fn read(connection: &Connection, name: &str) -> rusqlite::Result<String> {
    let value: Value = connection.pragma_query_value(None, name, |row| row.get(0))?;
    Ok(match value {
        Value::Integer(number) => {
            name_of(name, number).map_or_else(|| number.to_string(), str::to_owned)
        }
        Value::Text(text) => text,
        other => format!("{other:?}"),
    })
}

/// Returns the name of an enumerated value, by the numbers of SQLite's documentation.
fn name_of(setting: &str, number: i64) -> Option<&'static str> {
    let index = usize::try_from(number).ok()?;
    match setting {
        "synchronous" => Synchronous::ALL.get(index).map(|value| value.name()),
        "auto_vacuum" => AutoVacuum::ALL.get(index).map(|value| value.name()),
        "temp_store" => ["default", "file", "memory"].get(index).copied(),
        "secure_delete" => ["off", "on", "fast"].get(index).copied(),
        "foreign_keys" | "cell_size_check" => ["off", "on"].get(index).copied(),
        _ => None,
    }
}
