//! The state shared by the request handlers.

use super::accounts::Accounts;
use super::cors;
use super::forwarded::{self, ForwardedHeaders};
use super::functions::Validations;
use super::headers::{ServerHeader, server_header};
use super::metrics::Metrics;
use super::updates::DatabaseUpdates;
use super::uuids::Uuids;
use crate::auth::Auth;
use crate::config::{Config, Values, keys};
use crate::replicator::Replicator;
use crate::script::{ScriptLimits, ScriptSettings, Scripts};
use crate::store::{Databases, Limits};
use crate::tasks::Tasks;
use crate::views::Views;
use axum::http::HeaderMap;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// The number of bytes per permit of [`Server::body_memory`].
pub const PERMIT_BYTES: usize = 4096;

/// The settings of a server.
#[derive(Debug, Clone)]
pub struct ServerSettings {
    /// The settings that may change while the server runs.
    pub config: Arc<Config>,
    /// The listening address, as shown to clients.
    pub listen: String,
    /// The server's id, 32 hexadecimal digits, the same after every start.
    pub uuid: String,
    /// The maximum size of a body that is read as a whole, in bytes. The configuration can lower it.
    pub body_bytes_max: usize,
    /// The maximum size of all such bodies together, in bytes.
    pub bodies_bytes_max: usize,
    /// The maximum number of open connections. Further ones wait to be accepted.
    pub connections_max: usize,
    /// The maximum number of open connections per client address. Further ones are closed.
    pub connections_per_client_max: usize,
    /// The limits of functions in design documents.
    pub scripts: ScriptSettings,
    /// A folder that is served at `/_utils/` in place of the status page.
    pub utils: Option<PathBuf>,
}

impl Default for ServerSettings {
    fn default() -> Self {
        ServerSettings {
            config: Arc::default(),
            listen: "127.0.0.1:5984".to_owned(),
            uuid: crate::auth::hex(&crate::auth::random::<16>()),
            body_bytes_max: 128 << 20,
            bodies_bytes_max: 256 << 20,
            connections_max: 10_000,
            connections_per_client_max: 10_000,
            scripts: ScriptSettings::default(),
            utils: None,
        }
    }
}

/// The state that the request handlers share.
#[derive(Debug)]
pub struct Server {
    /// The databases.
    pub databases: Databases,
    /// Authenticates requests.
    pub auth: Auth,
    /// The settings that may change while the server runs.
    pub config: Arc<Config>,
    /// The settings that do not change.
    pub settings: ServerSettings,
    /// The running tasks, for `_active_tasks`.
    pub tasks: Arc<Tasks>,
    /// The replications.
    pub replicator: Replicator,
    /// Cancelled at the stop, after the replications have ended. Feeds end then.
    pub stop: CancellationToken,
    pub(super) cors: cors::Rules,
    pub(super) server_header: ServerHeader,
    pub(super) forwarded: ForwardedHeaders,
    pub(super) accounts: Accounts,
    /// The users whose password hash is being upgraded.
    pub(super) upgrades: Mutex<HashSet<String>>,
    pub(super) scripts: Scripts,
    pub(super) views: Views,
    pub(super) validations: Validations,
    pub(super) metrics: Metrics,
    pub(super) updates: DatabaseUpdates,
    pub(super) uuids: Uuids,
    pub(super) body_memory: Arc<Semaphore>,
    pub(super) started: Instant,
}

impl Server {
    /// Creates a server that does not listen yet. Must be called within a tokio runtime.
    pub fn new(databases: Databases, auth: Auth, settings: ServerSettings) -> Arc<Self> {
        let stop = CancellationToken::new();
        let tasks = Arc::new(Tasks::default());
        let limited = databases.clone();
        settings
            .config
            .listen(move |values| limited.set_limits(limits(values, limited.limits())));
        let document_bytes_max = settings.config.values().read(&keys::MAX_DOCUMENT_SIZE);
        if document_bytes_max > settings.body_bytes_max as u64 {
            let max = settings.body_bytes_max;
            tracing::warn!(
                max,
                "documents larger than half of --bodies-bytes-max are refused"
            );
        }
        settings.config.listen(cors::warn);
        let scripts = Scripts::new(settings.scripts.clone());
        let views = Views::new(scripts.clone(), Arc::clone(&tasks));
        let (limited, set_aside, given) = (scripts.clone(), views.clone(), settings.scripts.limits);
        settings.config.listen(move |values| {
            limited.set_limits(script_limits(values, given));
            set_aside.set_aside(values.read(&keys::SET_ASIDE_FAILED));
        });
        Arc::new(Server {
            replicator: Replicator::new(
                databases.clone(),
                Arc::clone(&settings.config),
                settings.uuid.clone(),
                Arc::clone(&tasks),
                stop.child_token(),
            ),
            accounts: Accounts::new(&databases),
            updates: DatabaseUpdates::new(&databases),
            uuids: Uuids::default(),
            cors: cors::Rules::new(cors::read),
            server_header: ServerHeader::new(server_header),
            forwarded: ForwardedHeaders::new(forwarded::read),
            upgrades: Mutex::default(),
            views,
            scripts,
            validations: Validations::default(),
            metrics: Metrics::default(),
            body_memory: Arc::new(Semaphore::new(
                settings.bodies_bytes_max.div_ceil(PERMIT_BYTES),
            )),
            started: Instant::now(),
            config: Arc::clone(&settings.config),
            auth: auth.with_config(&settings.config),
            databases,
            settings,
            tasks,
            stop,
        })
    }

    /// The largest body of a request that is read as a whole, in bytes.
    pub fn body_bytes_max(&self) -> usize {
        let bytes = usize::try_from(self.request_bytes_max()).unwrap_or(usize::MAX);
        bytes.min(self.settings.body_bytes_max)
    }

    /// Returns the scheme and the host with which a client reached the server.
    pub fn origin(&self, headers: &HeaderMap, is_tls: bool) -> String {
        self.forwarded.get(&self.config).origin(headers, is_tls)
    }

    /// Returns whether a client reached the server over TLS. Cookies are `Secure` then.
    pub fn is_secure(&self, headers: &HeaderMap, is_tls: bool) -> bool {
        self.forwarded.get(&self.config).is_secure(headers, is_tls)
    }

    /// The largest body of any request, in bytes.
    pub fn request_bytes_max(&self) -> u64 {
        self.config.values().read(&keys::MAX_HTTP_REQUEST_SIZE)
    }
}

/// The limits of functions: those that are configured, else the given ones.
fn script_limits(values: &Values, given: ScriptLimits) -> ScriptLimits {
    let memory_bytes_max = values.read(&keys::MEMORY_LIMIT_BYTES);
    let memory_bytes_max = memory_bytes_max.and_then(|bytes| usize::try_from(bytes).ok());
    let document_bytes_max = values.read(&keys::MAX_DOCUMENT_SIZE);
    ScriptLimits {
        memory_bytes_max: memory_bytes_max.or(given.memory_bytes_max),
        time_max: match values.is_set(&keys::OS_PROCESS_TIMEOUT) {
            true => Duration::from_millis(values.read(&keys::OS_PROCESS_TIMEOUT)),
            false => given.time_max,
        },
        document_bytes_max: usize::try_from(document_bytes_max).unwrap_or(usize::MAX),
    }
}

/// The size limits of databases, as configured.
fn limits(values: &Values, others: Limits) -> Limits {
    let document_bytes_max = values.read(&keys::MAX_DOCUMENT_SIZE);
    let id_bytes_max = values.read(&keys::MAX_DOCUMENT_ID_LENGTH);
    let partition_bytes_max = match values.read(&keys::MAX_PARTITION_SIZE) {
        0 => u64::MAX,
        bytes => bytes,
    };
    Limits {
        partition_bytes_max,
        id_bytes_max: id_bytes_max.map_or(usize::MAX, |bytes| bytes as usize),
        document_bytes_max: usize::try_from(document_bytes_max).unwrap_or(usize::MAX),
        attachment_bytes_max: values.read(&keys::MAX_ATTACHMENT_SIZE).unwrap_or(u64::MAX),
        ..others
    }
}
