//! An HTTP/1.1 server: accepts connections within limits, and stops gracefully.

mod answer;
mod connection;
mod detached;
mod line;
mod link;
mod places;
mod socket;
mod unread;

pub use answer::Answer;
pub use detached::Detachable;
pub use link::{IsTls, Link};
pub use places::client_network;

use connection::Connection;
use places::{Place, Places};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The time in which a client must acknowledge sent bytes. A client that vanished or does not read is disconnected.
const UNACKNOWLEDGED_MAX: Duration = Duration::from_secs(60);

/// The pause after a failed accept. The usual cause is too many open files, so an open connection must end first.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The limits of connections.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionLimits {
    /// The time for the head of a request. An idle connection is closed after the same time.
    pub head_timeout: Duration,
    /// The largest head of a request, in bytes.
    pub head_bytes_max: usize,
    /// Open connections. Further ones wait to be accepted.
    pub connections_max: usize,
    /// Open connections of one [client network](client_network). Further ones are closed.
    pub connections_per_client_max: usize,
    /// The time that requests have to finish after the stop.
    pub stop_timeout: Duration,
}

impl Default for ConnectionLimits {
    /// 30 seconds, 32 KiB, 900 connections, 64 of one client, 8 seconds. A process may usually open 1,024 files, and a
    /// browser opens at most six connections.
    fn default() -> Self {
        ConnectionLimits {
            head_timeout: Duration::from_secs(30),
            head_bytes_max: 32 << 10,
            connections_max: 900,
            connections_per_client_max: 64,
            stop_timeout: Duration::from_secs(8),
        }
    }
}

/// A server of HTTP/1.1 over TCP, with or without TLS.
///
/// Requests come with the [`Link`] of their connection, which a [`axum::Router`] gets as extensions. The rest of a request body that a handler left unread is read, or the connection is closed without a reset, so the
/// client always gets the answer.
#[derive(Clone, Debug)]
pub struct HttpServer<A> {
    /// Answers the requests.
    pub answers: A,
    /// The limits of its connections.
    pub limits: ConnectionLimits,
    /// Counts open connections, for metrics.
    pub open: Arc<AtomicU64>,
    /// Stops the server when it is cancelled.
    pub stop: CancellationToken,
}

impl<A: Answer> HttpServer<A> {
    /// Serves until `stop` is cancelled. Then closes the listener and idle connections, and waits for requests under way
    /// for at most [`ConnectionLimits::stop_timeout`].
    pub async fn serve(self, listener: TcpListener) {
        self.serve_with(listener, None).await;
    }

    /// Serves over TLS, as [`HttpServer::serve`] does without.
    pub async fn serve_tls(self, listener: TcpListener, tls: TlsAcceptor) {
        self.serve_with(listener, Some(tls)).await;
    }

    async fn serve_with(self, listener: TcpListener, tls: Option<TlsAcceptor>) {
        let room = Arc::new(Semaphore::new(self.limits.connections_max));
        let places = Arc::new(Places::default());
        let connections = TaskTracker::new();
        loop {
            let accepted = tokio::select! {
                () = self.stop.cancelled() => break,
                accepted = accept(&listener, &room) => accepted,
            };
            let (stream, peer, permit) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            };
            let client = client_network(peer.ip());
            let Some(place) = places.take(client, self.limits.connections_per_client_max) else {
                tracing::debug!(%client, "a client has too many connections");
                continue;
            };
            let admission = Admission {
                _permit: permit,
                _place: place,
                _open: Counted::new(&self.open),
            };
            let connection = Connection {
                peer,
                limits: self.limits,
                stop: self.stop.clone(),
                answers: self.answers.clone(),
            };
            let tls = tls.clone();
            connections.spawn(async move {
                connection.run(stream, tls).await;
                drop(admission);
            });
        }
        drop(listener);
        connections.close();
        let ended = timeout(self.limits.stop_timeout, connections.wait()).await;
        if ended.is_err() {
            tracing::warn!("{} connections were cut", connections.len());
        }
    }
}

async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let permit = Arc::clone(room).acquire_owned().await;
    let permit = permit.map_err(io::Error::other)?;
    let (stream, peer) = listener.accept().await?;
    let socket = socket2::SockRef::from(&stream);
    // A response of several packets does not wait for an acknowledgement.
    socket.set_tcp_nodelay(true)?;
    socket.set_tcp_user_timeout(Some(UNACKNOWLEDGED_MAX))?;
    let keepalive = socket2::TcpKeepalive::new().with_time(UNACKNOWLEDGED_MAX);
    socket.set_tcp_keepalive(&keepalive)?;
    Ok((stream, peer, permit))
}

/// The resources of an open connection. The fields are released in this order, so `open` counts down last.
struct Admission {
    _permit: OwnedSemaphorePermit,
    _place: Place,
    _open: Counted,
}

/// Counts one up while it lives.
struct Counted(Arc<AtomicU64>);

impl Counted {
    fn new(counter: &Arc<AtomicU64>) -> Self {
        counter.fetch_add(1, Ordering::Relaxed);
        Counted(Arc::clone(counter))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
