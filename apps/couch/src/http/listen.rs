//! The server at a socket.

use super::{Server, global_changes, peruser, replications, routes, users_db};
use crate::replicator::Here;
use inorder_serve::{ConnectionLimits, HttpServer, TlsAcceptor};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// The maximum time for the head of a request. Clients keep idle connections open for about a minute.
const HEAD_TIMEOUT: Duration = Duration::from_secs(60);

/// The maximum size of a request's head, in bytes. A replicator asks for many revisions in one URL.
const HEAD_BYTES_MAX: usize = 64 << 10;

/// The maximum time for the last checkpoints of replications.
const CHECKPOINTS_TIMEOUT: Duration = Duration::from_secs(1);

/// Serves until `stop` is cancelled. Then ends replications and feeds, and waits for unfinished requests.
pub async fn serve(server: Arc<Server>, listener: TcpListener, stop: CancellationToken) {
    serve_also_tls(server, listener, None, stop).await;
}

/// Serves as [`serve`] does, at a second listener over TLS.
pub async fn serve_also_tls(
    server: Arc<Server>,
    listener: TcpListener,
    tls: Option<(TcpListener, TlsAcceptor)>,
    stop: CancellationToken,
) {
    let limits = ConnectionLimits {
        head_timeout: HEAD_TIMEOUT,
        head_bytes_max: HEAD_BYTES_MAX,
        connections_max: server.settings.connections_max,
        connections_per_client_max: server.settings.connections_per_client_max,
        ..ConnectionLimits::default()
    };
    let own_stop = server.stop.clone();
    let replicator = server.replicator.clone();
    if let Err(error) = users_db::ensure_rules(&server).await {
        tracing::error!(%error, "the design document _auth could not be written");
    }
    replicator.begin(here(&server));
    peruser::follow(&server);
    global_changes::follow(&server);
    let http = HttpServer {
        open: Arc::clone(&server.metrics.connections),
        answers: routes::site(server),
        limits,
        stop: own_stop.clone(),
    };
    let stopping = async {
        stop.cancelled().await;
        // The listener is still open: a replication may reach databases of this server by their URLs.
        replicator.stop_within(CHECKPOINTS_TIMEOUT).await;
        own_stop.cancel();
    };
    let over_tls = http.clone();
    let over_tls = async {
        if let Some((listener, acceptor)) = tls {
            over_tls.serve_tls(listener, acceptor).await;
        }
    };
    tokio::join!(stopping, http.serve(listener), over_tls);
}

/// Returns the service with which the replicator reaches the databases of this server.
fn here(server: &Arc<Server>) -> Here {
    let server = Arc::downgrade(server);
    Box::new(move |principal| match server.upgrade() {
        Some(server) => {
            let user = replications::user(&server, principal);
            routes::within(server, user)
        }
        None => axum::Router::new(),
    })
}
