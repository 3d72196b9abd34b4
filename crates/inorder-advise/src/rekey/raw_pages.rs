//! Single pages of a database, read and written through SQLite.

use rusqlite::{Connection, OptionalExtension as _, params};

/// The pages of the database `main`, as its connection's transaction sees them. Source:
/// <https://www.sqlite.org/dbpage.html>.
pub(super) struct RawPages<'c>(&'c Connection);

impl<'c> RawPages<'c> {
    /// The pages; `None` where SQLite was built without the virtual table.
    pub(super) fn of(connection: &'c Connection) -> rusqlite::Result<Option<Self>> {
        let module = "SELECT 1 FROM pragma_module_list WHERE name = 'sqlite_dbpage'";
        let found = connection.query_row(module, [], |_| Ok(())).optional()?;
        Ok(found.map(|()| RawPages(connection)))
    }

    pub(super) fn read(&self, number: u32) -> rusqlite::Result<Vec<u8>> {
        let select = "SELECT data FROM sqlite_dbpage WHERE pgno = ?1";
        let mut statement = self.0.prepare_cached(select)?;
        statement.query_row([number], |row| row.get(0))
    }

    /// Writes a page. One behind the last makes the database longer: pages between are as they are in the file.
    pub(super) fn write(&self, number: u32, page: &[u8]) -> rusqlite::Result<()> {
        let insert = "INSERT INTO sqlite_dbpage(pgno, data) VALUES (?1, ?2)";
        let mut statement = self.0.prepare_cached(insert)?;
        statement.execute(params![number, page]).map(drop)
    }

    /// Ends the database after so many pages. Nothing may be written before the commit.
    pub(super) fn truncate(&self, pages: u32) -> rusqlite::Result<()> {
        let insert = "INSERT INTO sqlite_dbpage(pgno, data) VALUES (?1, NULL)";
        self.0.execute(insert, [pages + 1]).map(drop)
    }
}
