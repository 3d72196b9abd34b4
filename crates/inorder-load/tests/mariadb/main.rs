//! Loads into MariaDB, a private server, beside INSERTs in strict mode of the same rows by another connection.
//!
//! `INORDER_TYPES=all cargo test -p inorder-load --test mariadb` refuses each value alone and tries further modes.

#[path = "../common/mod.rs"]
mod common;
mod equal;
mod generated;
#[path = "../common/tables.rs"]
mod generated_tables;
mod tables;
mod types;

use std::path::Path;
use std::sync::Arc;

use common::Folder;
use common::server as sink;
use inorder_engine::{Database, Settings, Synchronous, Write, engine};
use inorder_load::source::Location;
use inorder_load::{Job, Summary};
use inorder_testing::is_installed;
use tempfile::TempDir;

/// A server with an empty database, and a folder for what is loaded.
struct Server {
    database: Arc<dyn Database>,
    folder: Folder,
    _data: TempDir,
}

/// A server, if MariaDB is there; otherwise the reason is printed.
fn server() -> Option<Server> {
    let engine = engine("mariadb").expect("the engine");
    if !is_installed(engine) {
        return None;
    }
    let data = inorder_testing::server_folder(env!("CARGO_TARGET_TMPDIR"));
    let settings = Settings {
        write: Write::Bulk,
        synchronous: Synchronous::Off,
        ..Settings::default()
    };
    let database = engine.create(data.path(), &settings).expect("a server");
    Some(Server {
        database: Arc::from(database),
        folder: Folder::new(""),
        _data: data,
    })
}

impl Server {
    fn run(&self, sql: &str) {
        self.database.execute(sql).expect(sql);
    }

    /// The number of rows that a query returns.
    fn rows(&self, sql: &str) -> u64 {
        let mut reader = self.database.reader(sql).expect(sql);
        reader.query(&Default::default(), 0).expect(sql)
    }

    /// A load of a file into a table.
    fn job(&self, input: &Path, table: &str) -> Job {
        let source = Location {
            path: input.to_owned(),
            table: None,
        };
        Job {
            memory_bytes: 1 << 26,
            spill_folder: input.parent().map(Into::into),
            ..Job::new(vec![source], String::new(), table.to_owned())
        }
    }

    /// Loads; the folder is left out of messages.
    fn load(&self, job: &Job) -> Result<Summary, String> {
        sink::load(&self.database, job).map_err(|error| {
            let folder = self.folder.path("");
            error.to_string().replace(&*folder.to_string_lossy(), "")
        })
    }

    /// Loads a CSV of this content into a table.
    fn load_csv(&self, table: &str, csv: &str) -> Result<Summary, String> {
        let path = self.folder.file("rows.csv", csv);
        self.load(&self.job(&path, table))
    }
}
