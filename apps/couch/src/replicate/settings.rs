//! The settings of replications, with CouchDB's names and defaults.

use super::AllowedHosts;
use crate::config::{Values, keys};
use std::time::Duration;

/// The settings of the section `[replicator]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The interval of the scheduler.
    pub interval: Duration,
    /// The most jobs that run at the same time.
    pub max_jobs: usize,
    /// The most jobs that the scheduler stops and starts per interval.
    pub max_churn: usize,
    /// The events kept per job.
    pub max_history: usize,
    /// A job that runs longer without a crash is healthy.
    pub health_threshold: Duration,
    /// The longest random delay of the start of a job.
    pub startup_jitter: Duration,
    /// Whether transient states are written into documents, as by old versions of CouchDB.
    pub update_docs: bool,
    /// The options of replications that do not give them.
    pub defaults: Tuning,
    /// The longest document id that is replicated.
    pub id_bytes_max: usize,
    /// Whether remote databases are accessed with a session cookie.
    pub uses_sessions: bool,
    /// Whether certificates of peers are verified.
    pub verifies_certificates: bool,
    /// The hosts of remote databases.
    pub allowed_hosts: AllowedHosts,
}

/// The options of a replication that do not decide what is replicated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tuning {
    /// The time without a byte after which a request fails.
    pub connection_timeout: Duration,
    /// The retries of a failed request.
    pub retries: u32,
    /// The changes per batch.
    pub batch_size: usize,
    /// The interval between checkpoints.
    pub checkpoint_interval: Duration,
    /// Whether checkpoints are written.
    pub use_checkpoints: bool,
    /// Whether documents are read with `_bulk_get`.
    pub use_bulk_get: bool,
}

impl Settings {
    /// Reads the settings from a configuration.
    pub fn of(values: &Values) -> Self {
        let count = |key| usize::try_from(values.read(key)).unwrap_or(usize::MAX);
        let millis = |key| Duration::from_millis(values.read(key));
        let id_bytes_max = values.read(&keys::REPLICATOR_MAX_DOCUMENT_ID_LENGTH);
        let plugins = values.read(&keys::REPLICATOR_AUTH_PLUGINS);
        Settings {
            interval: millis(&keys::REPLICATOR_INTERVAL).max(Duration::from_millis(1)),
            max_jobs: count(&keys::REPLICATOR_MAX_JOBS),
            max_churn: count(&keys::REPLICATOR_MAX_CHURN),
            max_history: count(&keys::REPLICATOR_MAX_HISTORY).max(1),
            health_threshold: Duration::from_secs(values.read(&keys::REPLICATOR_HEALTH_THRESHOLD)),
            startup_jitter: millis(&keys::REPLICATOR_STARTUP_JITTER),
            update_docs: values.read(&keys::REPLICATOR_UPDATE_DOCS),
            defaults: Tuning {
                connection_timeout: millis(&keys::REPLICATOR_CONNECTION_TIMEOUT),
                retries: u32::try_from(values.read(&keys::REPLICATOR_RETRIES_PER_REQUEST))
                    .unwrap_or(u32::MAX),
                batch_size: count(&keys::REPLICATOR_WORKER_BATCH_SIZE).max(1),
                checkpoint_interval: millis(&keys::REPLICATOR_CHECKPOINT_INTERVAL),
                use_checkpoints: values.read(&keys::REPLICATOR_USE_CHECKPOINTS),
                use_bulk_get: values.read(&keys::REPLICATOR_USE_BULK_GET),
            },
            id_bytes_max: id_bytes_max.map_or(usize::MAX, |bytes| bytes as usize),
            uses_sessions: plugins.iter().any(|plugin| plugin.ends_with("_session")),
            verifies_certificates: values.read(&keys::REPLICATOR_VERIFY_SSL_CERTIFICATES),
            allowed_hosts: AllowedHosts::new(values.read(&keys::REPLICATOR_ALLOWED_HOSTS)),
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings::of(&Values::default())
    }
}

impl Default for Tuning {
    fn default() -> Self {
        Settings::default().defaults
    }
}
