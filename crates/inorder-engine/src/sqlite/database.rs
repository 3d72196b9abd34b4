//! One open database: its control connection, and the files it owns.

use super::{
    dbstat,
    failure::Failure,
    link::{BUSY_TIMEOUT, Home, Link, Role},
    quoted,
    reader::SqliteReader,
    settings,
    writer::SqliteWriter,
};
use crate::{ColumnInfo, Database, Error, Io, PageFill, Reader, Retry, Settings, Tree, Writer};
use rusqlite::Connection;
use rustix::fs::{Advice, fadvise, fstatfs};
use std::{
    fs::{self, File},
    io,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

/// Magic numbers of `statfs(2)` of file systems that store files only in memory.
const IN_MEMORY_FILE_SYSTEMS: [u32; 2] = [0x0102_1994, 0x8584_58f6]; // tmpfs, ramfs

/// An open database.
pub struct SqliteDatabase {
    control: Mutex<Link>,
    home: Arc<Home>,
}

impl SqliteDatabase {
    /// Creates the database. If that fails, no files remain.
    pub fn create(folder: &Path, settings: &Settings) -> Result<Self, Error> {
        let home = Arc::new(Home::create(folder, settings)?);
        match Link::open(&home, Role::Create) {
            Ok(link) => Ok(SqliteDatabase {
                control: Mutex::new(link),
                home,
            }),
            Err(error) => {
                // The first error is the relevant one.
                home.files()
                    .iter()
                    .for_each(|file| _ = fs::remove_file(file));
                Err(error)
            }
        }
    }

    /// Opens the database that another program wrote into the folder.
    pub fn open(folder: &Path, settings: &Settings) -> Result<Self, Error> {
        let home = Arc::new(Home::open(folder, settings)?);
        Ok(SqliteDatabase {
            control: Mutex::new(Link::open(&home, Role::Create)?),
            home,
        })
    }

    /// Runs a function on the control connection, where SQLite itself waits for locks.
    fn control<T>(
        &self,
        doing: &str,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        let link = self.control.lock().unwrap_or_else(PoisonError::into_inner);
        did(&link, doing, work(&link.connection))
    }

    /// Runs a function with the caller's SQL, which is confined if the settings say so.
    fn confined<T>(
        &self,
        sql: &str,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        let link = self.control.lock().unwrap_or_else(PoisonError::into_inner);
        link.confine()?;
        let done = did(&link, sql, work(&link.connection));
        link.release()?;
        if self.home.settings.is_confined && !link.connection.is_autocommit() {
            let _ = link.connection.execute_batch("ROLLBACK");
            return Err(Error::Database {
                doing: sql.into(),
                message: "it leaves a transaction open: end it with COMMIT".into(),
            });
        }
        done
    }
}

/// Converts the result of a function on a connection.
fn did<T>(link: &Link, doing: &str, done: rusqlite::Result<T>) -> Result<T, Error> {
    done.map_err(|error| match Failure::from(error) {
        busy if busy.is_busy() => Error::Database {
            doing: doing.into(),
            message: format!("{} (waited {BUSY_TIMEOUT:?})", busy.message),
        },
        failure => link.error(doing, failure),
    })
}

impl Database for SqliteDatabase {
    fn execute(&self, sql: &str) -> Result<(), Error> {
        self.confined(sql, |connection| connection.execute_batch(sql))
    }

    fn columns(&self, table: &str) -> Result<Vec<ColumnInfo>, Error> {
        // A primary key without an index is a rowid alias: SQLite fills it.
        const SQL: &str = "SELECT name, type, pk,
                 hidden <> 0 OR \"notnull\" = 0 OR dflt_value IS NOT NULL OR (pk > 0 AND NOT EXISTS
                     (SELECT 1 FROM pragma_index_list(?1) WHERE origin = 'pk'))
             FROM pragma_table_xinfo(?1) ORDER BY cid";
        self.control(&format!("listing the columns of {table}"), |connection| {
            connection
                .prepare(SQL)?
                .query_map([table], |row| {
                    Ok(ColumnInfo {
                        name: row.get(0)?,
                        declared_type: row.get(1)?,
                        primary_key: row.get(2)?,
                        is_optional: row.get(3)?,
                    })
                })?
                .collect()
        })
    }

    fn settings(&self) -> Result<Vec<(String, String)>, Error> {
        self.control("reading the settings back", settings::read_back)
    }

    fn location(&self) -> Option<String> {
        Some(self.home.path.to_string_lossy().into_owned())
    }

    fn writer(
        &self,
        table: &str,
        columns: &[&str],
        retry: Retry,
    ) -> Result<Box<dyn Writer>, Error> {
        let writer = SqliteWriter::open(&self.home, table, columns, retry)?;
        Ok(Box::new(writer))
    }

    fn finds_by_index(&self, table: &str, columns: &[String]) -> Result<bool, Error> {
        let terms: Vec<String> = columns
            .iter()
            .map(|column| format!("{} = ?", quoted(column)))
            .collect();
        let from = quoted(table);
        let query = format!("SELECT * FROM {from} WHERE {}", terms.join(" AND "));
        Ok(self.query_plan(&query)?.join("; ").contains("SEARCH"))
    }

    fn reader(&self, sql: &str) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(SqliteReader::open(&self.home, sql)?))
    }

    fn io(&self) -> Io {
        self.home.vfs.io()
    }

    /// Does nothing with a rollback journal, because a commit ends in the main file.
    fn quiesce(&self) -> Result<(), Error> {
        let doing = "checkpointing the complete WAL";
        let is_busy: bool = self.control(doing, |connection| {
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |row| row.get(0))
        })?;
        if is_busy {
            return Err(Error::Database {
                doing: doing.into(),
                message: "another reader or writer holds a transaction open: end it".into(),
            });
        }
        Ok(())
    }

    fn count(&self, table: &str) -> Result<u64, Error> {
        let sql = format!("SELECT count(*) FROM {}", quoted(table));
        self.control(&sql, |connection| {
            connection.query_row(&sql, (), |row| row.get(0))
        })
    }

    fn size_bytes(&self) -> Result<u64, Error> {
        let mut bytes = 0;
        for path in self.home.files() {
            match fs::metadata(&path) {
                Ok(metadata) => bytes += metadata.len(),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(source) => return Err(Error::Io { path, source }),
            }
        }
        Ok(bytes)
    }

    /// Reads the `dbstat` virtual table, which visits every page once: <https://www.sqlite.org/dbstat.html>. Pages of
    /// no tree (free pages and the pointer-map pages of auto-vacuum) are not included.
    fn structure(&self) -> Result<Vec<Tree>, Error> {
        self.control("measuring tables and indexes", dbstat::structure)
    }

    fn page_fill(&self, tree: &str) -> Result<PageFill, Error> {
        let doing = format!("measuring the pages of {tree}");
        let leaves = self.control(&doing, |connection| dbstat::leaves(connection, tree))?;
        if leaves.is_empty() {
            return Err(Error::Database {
                doing,
                message: "there is no such table or index".into(),
            });
        }
        Ok(PageFill {
            name: tree.into(),
            leaves,
        })
    }

    /// With a WAL, the rewritten pages are in it until [`Database::quiesce`].
    fn vacuum(&self) -> Result<(), Error> {
        self.control("VACUUM", |connection| connection.execute_batch("VACUUM"))
    }

    /// Pages mapped into memory (`mmap_bytes`) stay cached.
    fn forget_cached_pages(&self) -> Result<bool, Error> {
        let path = &self.home.path;
        if !forget(&self.home.file).map_err(|source| Error::Io {
            path: path.clone(),
            source,
        })? {
            return Ok(false);
        }
        // SQLite's locks are on the main file and the shared memory: this handle may be closed.
        let wal = self.home.wal();
        match File::open(&wal).and_then(|file| forget(&file)) {
            Ok(is_forgotten) => Ok(is_forgotten),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
            Err(source) => Err(Error::Io { path: wal, source }),
        }
    }

    fn query_plan(&self, sql: &str) -> Result<Vec<String>, Error> {
        self.confined(sql, |connection| {
            connection
                .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?
                .raw_query() // its parameters may stay unbound
                .mapped(|row| row.get("detail"))
                .collect()
        })
    }
}

/// Writes a file's dirty pages back, because only clean ones can be dropped, and drops it from the page cache.
/// Returns `false` if the file exists only in the page cache.
fn forget(file: &File) -> io::Result<bool> {
    let file_system = fstatfs(file)?.f_type as u32;
    if IN_MEMORY_FILE_SYSTEMS.contains(&file_system) {
        return Ok(false);
    }
    file.sync_all()?;
    fadvise(file, 0, None, Advice::DontNeed)?;
    Ok(true)
}
