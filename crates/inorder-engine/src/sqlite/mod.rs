//! SQLite, embedded.
//!
//! A database is the file `inorder.db` in its folder. All its connections use one counting VFS and the same settings.
//! Each [`crate::Writer`] and [`crate::Reader`] has its own connection. All other statements use one control
//! connection.

mod confine;
mod database;
mod dbstat;
mod ddl;
mod failure;
mod link;
mod reader;
#[allow(unsafe_code)] // the hot path: SQLite's C interface, without a copy or an allocation per row
mod session;
mod settings;
#[allow(unsafe_code)] // a VFS is a table of C functions
mod vfs;
mod writer;

pub use dbstat::structure;
pub use vfs::CountingVfs;

use crate::{
    Database, Engine, EngineInfo, Error, Found, KernelCheck, Layer, Settings, TableShape, Write,
    engine::check,
};
use inorder_key::{Encoding, KeyKind};
use std::path::Path;

/// Name in error messages.
const NAME: &str = "sqlite";

/// The bundled SQLite.
pub struct Sqlite;

impl Sqlite {
    /// Name of the main file in the folder of a database.
    pub const FILE: &str = link::FILE;

    /// Opens the database [`Sqlite::FILE`] that another program wrote into `folder`. It must have the page size and the
    /// auto-vacuum mode of the settings.
    ///
    /// # Errors
    /// If the file is missing, is no database, or a setting is not supported.
    pub fn open(folder: &Path, settings: &Settings) -> Result<Box<dyn Database>, Error> {
        Ok(Box::new(database::SqliteDatabase::open(folder, settings)?))
    }
}

impl Engine for Sqlite {
    fn name(&self) -> &'static str {
        NAME
    }

    fn found(&self) -> Result<Vec<Found>, Error> {
        Ok(vec![Found {
            version: rusqlite::version().to_owned(),
            path: None,
        }])
    }

    fn accepts(&self, settings: &Settings) -> Result<(), String> {
        match settings.write {
            Write::Insert => Ok(()),
            other => Err(format!("write by {}: SQLite has INSERT only", other.name())),
        }
    }

    fn ignores(&self) -> &'static [&'static str] {
        &[
            "profile",
            "full_page_writes",
            "shards",
            "partition",
            "first_shard_cpu_percent",
        ]
    }

    fn kernel_check(&self) -> KernelCheck {
        KernelCheck {
            layer: Layer::WriteCalls,
            gap: "the kernel also counts the trial's other writes, and no writes through a memory map",
        }
    }

    /// The first compile option is `SOURCE_ID=` with the source check-in of SQLite.
    fn info(&self) -> Result<EngineInfo, Error> {
        let query = || -> rusqlite::Result<Vec<String>> {
            let connection = inorder_sqlite::open_in_memory()?;
            connection
                .prepare(
                    "SELECT 'SOURCE_ID=' || sqlite_source_id()
                     UNION ALL SELECT compile_options FROM pragma_compile_options",
                )?
                .query_map((), |row| row.get(0))?
                .collect()
        };
        Ok(EngineInfo {
            name: NAME.into(),
            version: rusqlite::version().into(),
            compile_options: query().map_err(|error| Error::Database {
                doing: "asking SQLite how it was built".into(),
                message: error.to_string(),
            })?,
        })
    }

    fn key_type(&self, kind: KeyKind, encoding: Encoding) -> Option<&'static str> {
        ddl::key_type(kind, encoding)
    }

    fn create_table(&self, shape: &TableShape<'_>) -> Result<String, String> {
        ddl::create_table(shape)
    }

    fn create(&self, folder: &Path, settings: &Settings) -> Result<Box<dyn Database>, Error> {
        check(self, settings)?;
        Ok(Box::new(database::SqliteDatabase::create(
            folder, settings,
        )?))
    }
}

/// Quotes a name for SQL.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
