//! What the parts of the replicator share.

use super::document_table::Documents;
use super::job_table::Jobs;
use crate::config::Config;
use crate::replicate::{Endpoint, Peer, Principal, ReplicateError, Replication, Settings};
use crate::store::Databases;
use crate::tasks::Tasks;
use std::fmt;
use std::sync::{Arc, OnceLock};
use tokio_util::sync::CancellationToken;

/// The service that answers requests to databases of this server, in the name of a user.
pub type Here = Box<dyn Fn(&Principal) -> axum::Router + Send + Sync>;

/// The replications of a server. Clones are cheap and share the state.
#[derive(Debug, Clone)]
pub struct Replicator(pub(super) Arc<Inner>);

/// The state that all clones share.
pub struct Inner {
    pub(super) databases: Databases,
    pub(super) config: Arc<Config>,
    /// The server's id.
    pub(super) uuid: String,
    pub(super) tasks: Arc<Tasks>,
    pub(super) stop: CancellationToken,
    pub(super) here: OnceLock<Here>,
    pub(super) jobs: Jobs,
    pub(super) documents: Documents,
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replicator").finish_non_exhaustive()
    }
}

impl Replicator {
    /// The settings as they are now.
    pub(super) fn settings(&self) -> Settings {
        Settings::of(&self.0.config.values())
    }

    /// The peer at an endpoint.
    pub(super) fn peer(
        &self,
        endpoint: &Endpoint,
        replication: &Replication,
    ) -> Result<Peer, ReplicateError> {
        let here = match (endpoint, self.0.here.get()) {
            (Endpoint::Here(_), Some(here)) => here(&replication.user),
            _ => axum::Router::new(),
        };
        Peer::new(endpoint, here, &self.settings(), &replication.tuning)
    }
}

#[cfg(test)]
impl Replicator {
    /// A replicator of the databases in a folder, with the settings of a new server.
    pub(super) fn in_folder(folder: &std::path::Path) -> Self {
        let settings = crate::store::Settings::default();
        Replicator::new(
            Databases::open(folder, settings).unwrap(),
            Arc::new(Config::default()),
            "uuid".to_owned(),
            Arc::default(),
            CancellationToken::new(),
        )
    }
}
