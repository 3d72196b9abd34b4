//! The server behind an open database: a private one, or one that runs already.

use super::{Remote, dialect::Feature};
use crate::{
    Error,
    server::{Server, process::with_children},
};
use std::sync::Arc;

/// The server of a database.
pub enum Host {
    /// Its own.
    Private(Arc<Server>),
    /// One that runs already.
    Running(Running),
}

/// A server that runs already, as a session found it.
pub struct Running {
    /// What it is.
    pub remote: Remote,
    /// Its first process, where that runs on this machine and can be seen.
    pub process: Option<u32>,
    /// Whether the user of the URL may have memory written to the disk.
    pub may_flush: bool,
}

impl Host {
    /// Whether the server has something.
    pub fn has(&self, feature: Feature) -> bool {
        match self {
            Host::Private(_) => true,
            Host::Running(running) => !running.remote.lacks(feature),
        }
    }

    /// The same as an error that says what it lacks: what needs it is unobservable.
    pub fn needs(&self, feature: Feature) -> Result<(), Error> {
        match self {
            Host::Running(running) if running.remote.lacks(feature) => {
                Err(running.remote.unsupported(feature))
            }
            _ => Ok(()),
        }
    }

    /// Whether memory can be written to the disk.
    pub fn may_flush(&self) -> bool {
        match self {
            Host::Private(_) => true,
            Host::Running(running) => running.may_flush && self.has(Feature::Flush),
        }
    }

    /// Its processes, as far as they are in sight.
    pub fn processes(&self) -> Vec<u32> {
        match self {
            Host::Private(server) => server.processes(),
            Host::Running(running) => running.process.map(with_children).unwrap_or_default(),
        }
    }

    /// Whether its processes can be seen.
    pub fn is_in_sight(&self) -> bool {
        match self {
            Host::Private(_) => true,
            Host::Running(running) => running.process.is_some(),
        }
    }

    /// What settings say of it besides what is read back.
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
                "can't be written to the disk on request: what is still in it isn't counted",
            );
        }
        if running.process.is_none() {
            tell(
                "processes",
                "not in sight: their CPU time and the block layer are unobservable",
            );
        }
        told
    }
}
