//! A load as the command would ask for it.

// Each test takes what it needs.
#![allow(dead_code)]

#[cfg(feature = "parquet")]
pub mod instants;
pub mod server;

use std::path::{Path, PathBuf};

use inorder_load::source::Location;
use inorder_load::{Job, Progress, Summary, run};
use rusqlite::Connection;
use tempfile::TempDir;

/// A folder with a database.
pub struct Folder(TempDir);

impl Folder {
    /// A folder with a database of this schema; without one where it is empty.
    pub fn new(schema: &str) -> Self {
        let folder = Folder(tempfile::tempdir().expect("a temporary folder"));
        if !schema.is_empty() {
            folder.open().execute_batch(schema).expect("a schema");
        }
        folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).expect("a small file");
        path
    }

    pub fn database(&self) -> PathBuf {
        self.path("app.db")
    }

    pub fn open(&self) -> Connection {
        let db = Connection::open(self.database()).expect("a database");
        inorder_sqlite::register(&db).expect("functions");
        db
    }

    /// A load of this file into the table `t`.
    pub fn job(&self, input: &Path) -> Job {
        let source = Location {
            path: input.to_owned(),
            table: None,
        };
        let to = self.database().display().to_string();
        Job {
            memory_bytes: 1 << 26,
            ..Job::new(vec![source], to, "t".to_owned())
        }
    }

    /// Loads a file with this content into the table `t`; the folder is left out of messages.
    pub fn load(&self, name: &str, content: impl AsRef<[u8]>) -> Result<Summary, String> {
        let path = self.file(name, content);
        self.run(&self.job(&path))
    }

    /// Loads; the folder is left out of messages.
    pub fn run(&self, job: &Job) -> Result<Summary, String> {
        run(job, &Progress::default()).map_err(|error| {
            let folder = format!("{}/", self.0.path().display());
            error.to_string().replace(&folder, "")
        })
    }

    /// The names of all files.
    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).expect("the folder");
        let name = |entry: std::io::Result<std::fs::DirEntry>| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        };
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort();
        names
    }
}

/// All remarks of a load, one per line.
pub fn told(summary: &Summary) -> String {
    let notes = summary.notes.iter().map(|note| note.text.as_str());
    notes.collect::<Vec<_>>().join("\n")
}

/// Every row of a table in SQL's own writing, sorted.
pub fn rows(db: &Connection, table: &str) -> Vec<String> {
    let columns: Vec<String> = db
        .prepare(&format!("SELECT * FROM {table}"))
        .expect("a table")
        .column_names()
        .into_iter()
        .map(|name| format!("typeof(\"{name}\") || quote(\"{name}\")"))
        .collect();
    let sql = format!("SELECT {} FROM {table}", columns.join(" || ',' || "));
    let mut statement = db.prepare(&sql).expect("a query");
    let rows = statement.query_map([], |row| row.get(0)).expect("rows");
    let mut rows: Vec<String> = rows.collect::<Result<_, _>>().expect("rows");
    rows.sort();
    rows
}

/// The result of `PRAGMA integrity_check`.
pub fn integrity(db: &Connection) -> String {
    let check = "PRAGMA integrity_check";
    db.query_row(check, [], |row| row.get(0)).expect("a check")
}
