//! The server: CouchDB's protocol over a folder of databases.
//!
//! `routes` is the list of everything it answers; a file below `server/`, `database/` or `document/` answers each.

mod body;
mod caller;
mod convert;
mod database;
mod detached;
mod document;
mod error;
mod feed;
mod gate;
mod later;
mod listen;
mod metrics;
mod params;
mod reply;
mod routes;
mod seq;
mod server;
mod target;
mod tasks;
mod unread;
mod validation;

pub use error::{HttpError, HttpResult};
pub use listen::{Listening, serve};
pub use routes::within;
pub use tasks::{Task, Tasks};

use crate::auth::Auth;
use crate::replicate::Replicator;
use crate::script::{self, Scripts};
use crate::store::Databases;
use metrics::Metrics;
use server::DatabaseUpdates;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use validation::Validations;

/// What whoever starts a server decides.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The address it listens at, as it is shown to clients.
    pub listen: String,
    /// The server's id, 32 hexadecimal digits, the same after every start.
    pub uuid: String,
    /// Bytes of a request's body that is read as a whole.
    pub body_bytes_max: usize,
    /// Bytes of all such bodies together.
    pub bodies_bytes_max: usize,
    /// Web pages of these origins may use the server; `*` is any.
    pub cors_origins: Vec<String>,
    /// Connections at the same time; more wait to be accepted.
    pub connections_max: usize,
    /// How functions of design documents are run.
    pub scripts: script::Settings,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            listen: "127.0.0.1:5984".to_owned(),
            uuid: crate::auth::hex(&crate::auth::random::<16>()),
            body_bytes_max: 64 << 20,
            bodies_bytes_max: 256 << 20,
            cors_origins: Vec::new(),
            connections_max: 10_000,
            scripts: script::Settings::default(),
        }
    }
}

/// All that handlers share.
#[derive(Debug)]
pub struct Server {
    /// The databases.
    pub databases: Databases,
    /// Who may ask.
    pub auth: Auth,
    /// What was decided at the start.
    pub settings: Settings,
    /// Work under way.
    pub tasks: Arc<Tasks>,
    /// Replications.
    pub replicator: Replicator,
    /// Cancelled when the server is to stop: feeds end, replications too.
    pub stop: CancellationToken,
    scripts: Scripts,
    validations: Validations,
    metrics: Metrics,
    updates: DatabaseUpdates,
    body_memory: Arc<Semaphore>,
    started: Instant,
}

impl Server {
    /// A server that doesn't listen yet. Must be made within a tokio runtime.
    pub fn new(databases: Databases, auth: Auth, settings: Settings) -> Arc<Self> {
        let stop = CancellationToken::new();
        let tasks = Arc::new(Tasks::default());
        Arc::new(Server {
            replicator: Replicator::new(Arc::clone(&tasks), stop.clone()),
            updates: DatabaseUpdates::new(&databases),
            scripts: Scripts::new(settings.scripts.clone()),
            validations: Validations::default(),
            metrics: Metrics::default(),
            body_memory: Arc::new(Semaphore::new(
                settings.bodies_bytes_max.div_ceil(body::PERMIT_BYTES),
            )),
            started: Instant::now(),
            databases,
            auth,
            settings,
            tasks,
            stop,
        })
    }
}
