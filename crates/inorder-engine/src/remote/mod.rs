//! Running servers that are reached by URL.
//!
//! A trial creates its own schema (`guest`). It changes nothing else on the server and no settings; it only reads
//! them back. The list of [`dialect`]s has the supported products and their missing features.

pub mod dialect;
pub(crate) mod guest;
pub(crate) mod host;
pub(crate) mod read_only;
pub(crate) mod tls;
pub(crate) mod url;

pub use guest::remove_own;
pub use read_only::{Cancel, EachRow, ReadLimits, ReadOnly, TextRows};
pub use url::ServerUrl;

use crate::{
    Database, Engine, EngineInfo, Error, Found, KernelCheck, LoadTable, Settings, TableShape, Write,
};
use dialect::{Dialect, Facts, Feature};
use inorder_key::{Encoding, KeyKind};
use read_only::ReadConnection;
use std::path::Path;

/// A protocol of servers: functions that connect and open a database.
pub(crate) struct Protocol {
    /// Engine with the same SQL.
    pub engine: &'static dyn Engine,
    /// Connects, and queries the properties of the server.
    pub facts: fn(&ServerUrl) -> Result<Facts, Error>,
    /// Creates a schema and opens it.
    pub open: Open,
    /// Opens a table of the database of the URL as it is.
    pub table: OpenTable,
    /// Opens a session that only reads.
    pub read: Read,
    /// Removes the schemas of processes that have ended. Returns the names of those that are in use or whose process
    /// cannot be checked.
    pub clean_up: fn(&ServerUrl) -> Result<Vec<String>, Error>,
    /// Returns the column of a key that a server of this version generates, or why there is none.
    pub key_made: fn(&str, KeyKind, Encoding) -> Result<&'static str, String>,
}

type Open = fn(&Remote, &Settings) -> Result<Box<dyn Database>, Error>;
type Read = fn(&Remote, ReadLimits) -> Result<Box<dyn ReadConnection>, Error>;
type OpenTable = fn(&Remote, &Settings, &str) -> Result<Box<dyn LoadTable>, Error>;

/// The parts of [`Settings`] that concern a connection, or how rows are sent. The running server determines all
/// others.
const IGNORED: &[&str] = &[
    "page_size_bytes",
    "cache_kib",
    "journal",
    "synchronous",
    "mmap_bytes",
    "auto_vacuum",
    "checkpoint_pages",
    "profile",
];

/// A running server.
#[derive(Clone)]
pub struct Remote {
    protocol: &'static Protocol,
    /// URL of the server.
    pub url: ServerUrl,
    /// Product and features.
    pub dialect: &'static Dialect,
    facts: Facts,
}

impl Remote {
    /// Connects to the server at a URL by a protocol and identifies it.
    ///
    /// # Errors
    /// If no server answers, it refuses the connection, or it is none of [`dialect::DIALECTS`].
    pub(crate) fn speaking(protocol: &'static Protocol, url: &ServerUrl) -> Result<Self, Error> {
        let facts = (protocol.facts)(url)?;
        let dialect = dialect::recognise(protocol.engine.name(), &facts).ok_or_else(|| {
            url.error(format!(
                "its version is `{}`, which is unknown",
                facts.version
            ))
        })?;
        Ok(Remote {
            protocol,
            url: url.clone(),
            dialect,
            facts,
        })
    }

    /// Opens a table of the database of the URL for loading. The table need not exist. Only the settings
    /// `foreign_keys` and `write` are used.
    ///
    /// # Errors
    /// If the server refuses, or does not support the settings.
    pub fn table(&self, settings: &Settings, name: &str) -> Result<Box<dyn LoadTable>, Error> {
        self.accepts(settings)
            .map_err(|what| self.url.error(what))?;
        (self.protocol.table)(self, settings, name)
    }

    /// Opens a session that only reads the database of the URL.
    ///
    /// # Errors
    /// If no server answers, or it refuses.
    pub fn read_only(&self, limits: ReadLimits) -> Result<ReadOnly, Error> {
        let connection = (self.protocol.read)(self, limits)?;
        Ok(ReadOnly::new(&self.url, connection))
    }

    /// Returns whether the server lacks a feature.
    pub fn lacks(&self, feature: Feature) -> bool {
        self.dialect.lacks.contains(&feature)
    }

    /// Returns the text with which the server names its version.
    pub fn version_text(&self) -> &str {
        &self.facts.version
    }

    /// Returns whether it is MySQL or a product that derives from it.
    pub(crate) fn is_mysql(&self) -> bool {
        self.protocol.engine.name() == "mariadb" && !self.facts.version.contains("MariaDB")
    }

    /// Returns product and version.
    pub fn version(&self) -> String {
        self.dialect.version(&self.facts)
    }

    /// Removes the schemas of processes that have ended. Returns the names of the other schemas of `inorder`, which
    /// are in use or of another machine.
    ///
    /// # Errors
    /// If the server does not answer.
    pub fn clean_up(&self) -> Result<Vec<String>, Error> {
        (self.protocol.clean_up)(&self.url)
    }

    /// Returns properties for the settings of a trial, in addition to those that are read back.
    pub(crate) fn told(&self) -> Vec<(String, String)> {
        let lacks: Vec<&str> = self.dialect.lacks.iter().map(|lack| lack.name()).collect();
        let mut told = vec![
            (
                "server".to_owned(),
                format!("{} at {}", self.version(), self.url),
            ),
            (
                "set_by_inorder".to_owned(),
                "foreign_keys, write; all others are set by the server".to_owned(),
            ),
            (
                "counters".to_owned(),
                "for the whole server, including other clients".to_owned(),
            ),
        ];
        if !lacks.is_empty() {
            told.push(("lacks".to_owned(), lacks.join(", ")));
        }
        if !self.dialect.advice.is_empty() {
            told.push((
                "its documentation on keys".to_owned(),
                self.dialect.advice.to_owned(),
            ));
        }
        told
    }

    /// Returns the error for an unsupported operation.
    pub(crate) fn unsupported(&self, feature: Feature) -> Error {
        Error::Unsupported {
            engine: self.dialect.name,
            what: format!("do this: it lacks {}", feature.name()),
        }
    }
}

impl Engine for Remote {
    fn name(&self) -> &'static str {
        self.protocol.engine.name()
    }

    fn found(&self) -> Result<Vec<Found>, Error> {
        Ok(vec![Found {
            version: self.version(),
            path: None,
        }])
    }

    fn accepts(&self, settings: &Settings) -> Result<(), String> {
        if settings.write == Write::Bulk && self.lacks(Feature::Bulk) {
            let (name, lack) = (self.dialect.name, Feature::Bulk.name());
            return Err(format!("{name} lacks {lack}"));
        }
        if settings.write == Write::Bulk
            && self.facts.has.iter().any(|fact| fact == "local_infile=OFF")
        {
            return Err(format!(
                "{} doesn't take LOAD DATA LOCAL: its variable local_infile is OFF",
                self.url
            ));
        }
        Ok(())
    }

    fn ignores(&self) -> &'static [&'static str] {
        IGNORED
    }

    fn kernel_check(&self) -> KernelCheck {
        self.protocol.engine.kernel_check()
    }

    /// The compile options are the version string of the server, its address, and its missing features.
    fn info(&self) -> Result<EngineInfo, Error> {
        let told = self
            .told()
            .into_iter()
            .map(|(name, value)| format!("{name}: {value}"));
        Ok(EngineInfo {
            name: self.name().to_owned(),
            version: format!("{} at {}", self.version(), self.url),
            compile_options: std::iter::once(self.facts.version.clone())
                .chain(told)
                .collect(),
        })
    }

    fn why_no_key_type(&self, kind: KeyKind, encoding: Encoding) -> Option<&'static str> {
        self.protocol.engine.why_no_key_type(kind, encoding)
    }

    fn key_type(&self, kind: KeyKind, encoding: Encoding) -> Option<&'static str> {
        if encoding == Encoding::Native && self.lacks(Feature::Uuid) {
            return None;
        }
        self.protocol.engine.key_type(kind, encoding)
    }

    fn key_made(&self, kind: KeyKind, encoding: Encoding) -> Result<&'static str, String> {
        if self.lacks(Feature::Uuid) {
            return Err(format!(
                "{} lacks {}",
                self.dialect.name,
                Feature::Uuid.name()
            ));
        }
        (self.protocol.key_made)(self.dialect.number(&self.facts), kind, encoding)
    }

    fn blob_type(&self) -> &'static str {
        self.protocol.engine.blob_type()
    }

    fn text_type(&self) -> &'static str {
        self.protocol.engine.text_type()
    }

    fn create_table(&self, shape: &TableShape<'_>) -> Result<String, String> {
        match self.key_type(shape.key, shape.encoding) {
            Some(_) => self.protocol.engine.create_table(shape),
            None => Err(format!(
                "{} has no {} type for {}",
                self.dialect.name,
                shape.encoding.name(),
                shape.key.name()
            )),
        }
    }

    /// Creates a schema on the server. The folder is not used.
    fn create(&self, _folder: &Path, settings: &Settings) -> Result<Box<dyn Database>, Error> {
        self.accepts(settings)
            .map_err(|what| self.url.error(what))?;
        self.clean_up()?;
        (self.protocol.open)(self, settings)
    }
}
