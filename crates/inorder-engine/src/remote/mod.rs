//! Servers that run already, reached by URL.
//!
//! A trial works in a schema of its own making (`guest`); nothing else of the server is changed, and
//! none of its settings: they are read back. What answers at a URL, and what that lacks, is in the list
//! of [`dialect`]s.

pub mod dialect;
pub(crate) mod guest;
pub(crate) mod host;
mod url;

pub use url::ServerUrl;

use crate::{
    Database, Engine, EngineInfo, Error, Found, KernelCheck, LoadTable, Settings, TableShape, Write,
};
use dialect::{Dialect, Facts, Feature};
use inorder_key::{Encoding, KeyKind};
use std::path::Path;

/// A protocol of servers: how to ask, and how to open a database. Adding one is a line in
/// [`PROTOCOLS`].
pub(crate) struct Protocol {
    /// What URLs begin with.
    pub schemes: &'static [&'static str],
    /// The engine whose SQL it takes.
    pub engine: &'static dyn Engine,
    /// Connects, and asks what the server is.
    pub facts: fn(&ServerUrl) -> Result<Facts, Error>,
    /// Makes a schema and opens it.
    pub open: Open,
    /// Opens a table of the database that the URL names, as it is.
    pub table: OpenTable,
    /// Removes the schemas of processes that are gone. Returns the names of those that are in use or
    /// can't be told to be gone.
    pub clean_up: fn(&ServerUrl) -> Result<Vec<String>, Error>,
    /// The column of a key that a server of a version makes, or why there is none.
    pub key_made: fn(&str, KeyKind, Encoding) -> Result<&'static str, String>,
}

type Open = fn(&Remote, &Settings) -> Result<Box<dyn Database>, Error>;
type OpenTable = fn(&Remote, &Settings, &str) -> Result<Box<dyn LoadTable>, Error>;

/// Every protocol.
static PROTOCOLS: &[&Protocol] = &[&crate::postgres::PROTOCOL, &crate::mariadb::PROTOCOL];

/// What URLs may begin with.
fn schemes() -> impl Iterator<Item = &'static str> {
    PROTOCOLS
        .iter()
        .flat_map(|protocol| protocol.schemes)
        .copied()
}

/// The parts of [`Settings`] that are of a connection, or of how rows are sent: all others are the
/// running server's own.
const IGNORED: &[&str] = &[
    "page_size_bytes",
    "cache_kib",
    "journal",
    "synchronous",
    "mmap_bytes",
    "auto_vacuum",
    "checkpoint_pages",
];

/// A server that runs already.
#[derive(Clone)]
pub struct Remote {
    protocol: &'static Protocol,
    /// Where it is.
    pub url: ServerUrl,
    /// What it is.
    pub dialect: &'static Dialect,
    facts: Facts,
}

impl Remote {
    /// Connects to the server at a URL and asks what it is.
    ///
    /// # Errors
    /// When nothing answers there, it refuses, or it is none of [`dialect::DIALECTS`].
    pub fn at(url: &ServerUrl) -> Result<Self, Error> {
        let speaks = |protocol: &&&Protocol| protocol.schemes.contains(&url.scheme());
        let protocol = PROTOCOLS
            .iter()
            .find(speaks)
            .ok_or_else(|| url.error("no protocol has this name"))?;
        let facts = (protocol.facts)(url)?;
        let dialect = dialect::recognise(protocol.engine.name(), &facts).ok_or_else(|| {
            url.error(format!(
                "it says it is `{}`, which isn't known",
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

    /// Opens a table of the database that the URL names, which need not be there, for loading into it. Of the
    /// settings, `foreign_keys` and `write` count.
    ///
    /// # Errors
    /// When it refuses, or can't take rows the way the settings say.
    pub fn table(&self, settings: &Settings, name: &str) -> Result<Box<dyn LoadTable>, Error> {
        self.accepts(settings)
            .map_err(|what| self.url.error(what))?;
        (self.protocol.table)(self, settings, name)
    }

    /// Whether it lacks something.
    pub fn lacks(&self, feature: Feature) -> bool {
        self.dialect.lacks.contains(&feature)
    }

    /// What it is, and which version.
    pub fn version(&self) -> String {
        self.dialect.version(&self.facts)
    }

    /// Removes the schemas of processes that are gone. Returns the names of the others of inorder's,
    /// which are in use or of another machine.
    ///
    /// # Errors
    /// When the server doesn't answer.
    pub fn clean_up(&self) -> Result<Vec<String>, Error> {
        (self.protocol.clean_up)(&self.url)
    }

    /// What settings say of it besides what is read back.
    pub(crate) fn told(&self) -> Vec<(String, String)> {
        let lacks: Vec<&str> = self.dialect.lacks.iter().map(|lack| lack.name()).collect();
        let mut told = vec![
            (
                "server".to_owned(),
                format!("{} at {}", self.version(), self.url),
            ),
            (
                "set_by_inorder".to_owned(),
                "foreign_keys, write; all else is the server's own".to_owned(),
            ),
            (
                "counters".to_owned(),
                "of the whole server: what others do on it is in them".to_owned(),
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

    /// An error for something it can't do.
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

    /// The compile options are what it says of itself, where it is, and what it lacks.
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

    /// A schema of its own on the server; the folder isn't used.
    fn create(&self, _folder: &Path, settings: &Settings) -> Result<Box<dyn Database>, Error> {
        self.accepts(settings)
            .map_err(|what| self.url.error(what))?;
        self.clean_up()?;
        (self.protocol.open)(self, settings)
    }
}
