//! Single pages of a SQLite database, read and written through SQLite.
//!
//! Pages that were written behind the end of a database's file become a part of it in one small transaction
//! ([`RawPages::extend`]).

use inorder_btree::{FreeList, Sizes, set_schema_cookie};
use rusqlite::{Connection, OptionalExtension as _, params};

/// The pages of the database `main`, as its connection's transaction sees them. Source:
/// <https://www.sqlite.org/dbpage.html>.
#[derive(Debug)]
pub struct RawPages<'c>(&'c Connection);

/// Pages behind the end of a database that become a part of it.
#[derive(Debug)]
pub struct Extension<'a> {
    /// The number of pages of the database with them.
    pub pages: u32,
    /// The content of its last page, if that is a new one.
    pub last_page: Option<&'a [u8]>,
    /// Pages that become free, ascending.
    pub freed: &'a [u32],
    /// The new schema cookie; `None` if the schema stays.
    pub schema_cookie: Option<u32>,
    /// Bytes of a page without the reserved ones.
    pub usable_bytes: usize,
}

impl<'c> RawPages<'c> {
    /// The pages; `None` where SQLite was built without the virtual table.
    ///
    /// # Errors
    /// SQLite's.
    pub fn of(connection: &'c Connection) -> rusqlite::Result<Option<Self>> {
        let module = "SELECT 1 FROM pragma_module_list WHERE name = 'sqlite_dbpage'";
        let found = connection.query_row(module, [], |_| Ok(())).optional()?;
        Ok(found.map(|()| RawPages(connection)))
    }

    /// Reads a page.
    ///
    /// # Errors
    /// SQLite's.
    pub fn read(&self, number: u32) -> rusqlite::Result<Vec<u8>> {
        let select = "SELECT data FROM sqlite_dbpage WHERE pgno = ?1";
        let mut statement = self.0.prepare_cached(select)?;
        statement.query_row([number], |row| row.get(0))
    }

    /// Writes a page. One behind the last makes the database longer: pages between are as they are in the file.
    ///
    /// # Errors
    /// SQLite's.
    pub fn write(&self, number: u32, page: &[u8]) -> rusqlite::Result<()> {
        let insert = "INSERT INTO sqlite_dbpage(pgno, data) VALUES (?1, ?2)";
        let mut statement = self.0.prepare_cached(insert)?;
        statement.execute(params![number, page]).map(drop)
    }

    /// Lets SQLite parse pages again that were written in this transaction. A B-tree keeps what it has parsed of a page in the
    /// cache, and forgets it where a savepoint restores the page.
    ///
    /// # Errors
    /// SQLite's.
    pub fn forget(&self, pages: &[(u32, Vec<u8>)]) -> rusqlite::Result<()> {
        self.0.execute_batch("SAVEPOINT inorder_pages")?;
        for (number, page) in pages {
            self.write(*number, page)?;
        }
        self.0
            .execute_batch("ROLLBACK TO inorder_pages; RELEASE inorder_pages")
    }

    /// Ends the database after so many pages. Nothing may be written before the commit.
    ///
    /// # Errors
    /// SQLite's.
    pub fn truncate(&self, pages: u32) -> rusqlite::Result<()> {
        let insert = "INSERT INTO sqlite_dbpage(pgno, data) VALUES (?1, NULL)";
        self.0.execute(insert, [pages + 1]).map(drop)
    }

    /// Makes pages that were written and synced behind the end a part of the database, and puts pages on the freelist.
    /// Returns whether that was possible: a version of SQLite before 3.7.0 leaves a header that doesn't allow it.
    ///
    /// # Errors
    /// SQLite's.
    pub fn extend(&self, extension: &Extension<'_>) -> rusqlite::Result<bool> {
        let mut first = self.read(1)?;
        let Some(sizes) = Sizes::of(&first) else {
            return Ok(false);
        };
        let free = FreeList::new(
            extension.freed,
            first.len(),
            extension.usable_bytes,
            (sizes.free_list, sizes.free_pages),
        );
        if let Some(page) = extension.last_page {
            self.write(extension.pages, page)?;
        }
        for (number, trunk) in &free.trunks {
            self.write(*number, trunk)?;
        }
        free.enter(&mut first, extension.pages);
        if let Some(cookie) = extension.schema_cookie {
            set_schema_cookie(&mut first, cookie);
        }
        self.write(1, &first)?;
        Ok(true)
    }
}
