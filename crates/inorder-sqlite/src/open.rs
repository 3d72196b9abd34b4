//! Connections to databases whose schema may use the SQL functions of this crate.

use std::ffi::CStr;
use std::path::Path;

use rusqlite::{Connection, OpenFlags, Result};

use crate::{ffi, keys, list};

/// Registers every function of [`FUNCTIONS`](crate::FUNCTIONS) and the table-valued function `keys` with a connection.
///
/// # Errors
/// Errors of SQLite, such as out of memory, or a running statement that uses a function of the same name.
pub fn register(connection: &Connection) -> Result<()> {
    for function in list::FUNCTIONS {
        ffi::register(connection, function)?;
    }
    keys::register(connection)
}

/// Opens a database file and registers the functions of this crate.
///
/// Commands open the databases of users by this function. A default, CHECK constraint, index, generated column, view or
/// trigger that uses a function of this crate cannot be compiled by a connection without it.
///
/// # Errors
/// Those of [`Connection::open_with_flags`].
pub fn open(path: impl AsRef<Path>, flags: OpenFlags) -> Result<Connection> {
    with_functions(Connection::open_with_flags(path, flags)?)
}

/// Opens a database file without the functions of this crate, to see what another program does with it.
///
/// # Errors
/// Those of [`Connection::open_with_flags`].
pub fn open_plain(path: impl AsRef<Path>, flags: OpenFlags) -> Result<Connection> {
    Connection::open_with_flags(path, flags)
}

/// Opens a database file by a registered VFS, as [`open`] does.
///
/// # Errors
/// Those of [`Connection::open_with_flags_and_vfs`].
pub fn open_with_vfs(path: impl AsRef<Path>, flags: OpenFlags, vfs: &CStr) -> Result<Connection> {
    with_functions(Connection::open_with_flags_and_vfs(path, flags, vfs)?)
}

/// Opens an empty database in memory and registers the functions of this crate.
///
/// # Errors
/// Those of [`Connection::open_in_memory`].
pub fn open_in_memory() -> Result<Connection> {
    with_functions(Connection::open_in_memory()?)
}

fn with_functions(connection: Connection) -> Result<Connection> {
    register(&connection)?;
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_open_has_the_functions() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("app.db");
        let flags = OpenFlags::default();
        for connection in [
            open(&path, flags),
            open_with_vfs(&path, flags, c"unix"),
            open_in_memory(),
        ] {
            let length = "SELECT length(uuid7_text())";
            let length: u32 = connection
                .unwrap()
                .query_row(length, [], |row| row.get(0))
                .unwrap();
            assert_eq!(length, 36);
        }
    }
}
