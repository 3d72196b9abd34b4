//! A private server in the role of one that runs already.

use crate::{is_installed, server_folder};
use inorder_engine::{Database, Settings, Synchronous, engine};
use std::fs;
use tempfile::TempDir;

/// A private server with an empty database, and its URL.
pub struct PrivateServer {
    /// The database.
    pub database: Box<dyn Database>,
    /// The folder of its socket, as a part of a URL.
    path: String,
    is_postgres: bool,
    _folder: TempDir,
}

impl PrivateServer {
    /// Starts the server of an engine, if it is installed. Its data are in a folder as of [`server_folder`].
    ///
    /// # Panics
    /// If it doesn't start.
    pub fn start(name: &str, on_disk: &str) -> Option<Self> {
        let engine = engine(name).expect("an engine of the list");
        if !is_installed(engine) {
            return None;
        }
        let folder = server_folder(on_disk);
        let settings = Settings {
            synchronous: Synchronous::Off,
            ..Settings::default()
        };
        let database = engine.create(folder.path(), &settings).expect("a server");
        let line = fs::read(format!("/proc/{}/cmdline", database.processes()[0]));
        let line = String::from_utf8(line.expect("its command line")).expect("text");
        let mut arguments = line.split('\0');
        let argument = arguments.find(|argument| argument.contains("inorder-server-"));
        let path = argument
            .expect("its socket")
            .trim_start_matches("--socket=");
        Some(PrivateServer {
            path: path.replace('/', "%2F"),
            database,
            is_postgres: name == "postgres",
            _folder: folder,
        })
    }

    /// Whether it is PostgreSQL.
    pub fn is_postgres(&self) -> bool {
        self.is_postgres
    }

    /// The URL of a database of the server.
    pub fn url_of(&self, database: &str) -> String {
        match self.is_postgres {
            true => format!("postgres://inorder:pw@{}/{database}", self.path),
            false => format!("mysql://root:pw@localhost/{database}?socket={}", self.path),
        }
    }

    /// The URL of its database.
    pub fn url(&self) -> String {
        let query = match self.is_postgres {
            true => "SELECT current_database()",
            false => "SELECT database()",
        };
        self.url_of(&self.rows(query).concat())
    }

    /// Runs a statement.
    ///
    /// # Panics
    /// If it fails.
    #[track_caller]
    pub fn run(&self, sql: &str) {
        if let Err(error) = self.database.execute(sql) {
            panic!("{sql:.500}: {error}");
        }
    }

    /// Returns the rows of a query, each as its values with `|` between them.
    ///
    /// # Panics
    /// If it fails.
    #[track_caller]
    pub fn rows(&self, sql: &str) -> Vec<String> {
        let rows = match self.database.select(sql) {
            Ok(rows) => rows,
            Err(error) => panic!("{sql:.500}: {error}"),
        };
        let text = |value: Option<String>| value.unwrap_or_else(|| "NULL".to_owned());
        let line = |row: Vec<Option<String>>| row.into_iter().map(text).collect::<Vec<_>>();
        rows.into_iter().map(|row| line(row).join("|")).collect()
    }
}
