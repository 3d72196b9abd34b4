//! The server of an open database: a private one, or a running one.

use super::{Remote, dialect::Feature};
use crate::{Error, processes::process_tree, server::Server};
use std::sync::Arc;

/// Server of a database.
pub enum Host {
    /// A private server.
    Private(Arc<Server>),
    /// A running server.
    Running(Running),
}

/// A running server and the properties that a session found.
pub struct Running {
    /// Product.
    pub remote: Remote,
    /// First process of the server, if it runs on this machine and is visible.
    pub process: Option<u32>,
    /// Whether the user of the URL may write dirty pages to the disk.
    pub may_flush: bool,
}

impl Host {
    /// Returns whether the server has a feature.
    pub fn has(&self, feature: Feature) -> bool {
        match self {
            Host::Private(_) => true,
            Host::Running(running) => !running.remote.lacks(feature),
        }
    }

    /// Returns an error that names the missing feature, or nothing. A value that needs the feature is unobservable.
    pub fn needs(&self, feature: Feature) -> Result<(), Error> {
        match self {
            Host::Running(running) if running.remote.lacks(feature) => {
                Err(running.remote.unsupported(feature))
            }
            _ => Ok(()),
        }
    }

    /// Returns whether dirty pages can be written to the disk.
    pub fn may_flush(&self) -> bool {
        match self {
            Host::Private(_) => true,
            Host::Running(running) => running.may_flush && self.has(Feature::Flush),
        }
    }

    /// Returns the folder of a private server's socket, escaped for a URL.
    pub fn run_folder(&self) -> Option<String> {
        match self {
            Host::Private(server) => {
                let folder = server.home.run.to_string_lossy();
                Some(folder.replace('%', "%25").replace('/', "%2F"))
            }
            Host::Running(_) => None,
        }
    }

    /// Returns the visible processes of the server.
    pub fn processes(&self) -> Vec<u32> {
        match self {
            Host::Private(server) => server.processes(),
            Host::Running(running) => running.process.map(process_tree).unwrap_or_default(),
        }
    }

    /// Returns whether the processes of the server are visible.
    pub fn is_in_sight(&self) -> bool {
        match self {
            Host::Private(_) => true,
            Host::Running(running) => running.process.is_some(),
        }
    }

    /// Returns properties for the settings of a trial, in addition to those that are read back.
    pub fn told(&self) -> Vec<(String, String)> {
        let running = match self {
            Host::Private(server) => return server.home.told().into_iter().collect(),
            Host::Running(running) => running,
        };
        let mut told = running.remote.told();
        let mut tell = |name: &str, what: &str| told.push((name.to_owned(), what.to_owned()));
        if !self.may_flush() {
            tell(
                "memory",
                "can't be flushed on request: dirty pages in it are not counted",
            );
        }
        if running.process.is_none() {
            tell(
                "processes",
                "not accessible: their CPU time and block I/O are unobservable",
            );
        }
        told
    }
}
