//! Connections: accepted while there is room, ended when they are idle, slow or vanished, and at the stop.

use super::{Server, routes};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

/// A request's head must have come by then, and an idle connection ends.
const HEAD_TIMEOUT: Duration = Duration::from_secs(60);

/// Bytes of a request's head; replicators ask for many revisions in one.
const HEAD_BYTES_MAX: usize = 64 << 10;

/// What was sent must be acknowledged by then: clients that vanished or don't read are given up.
const UNACKNOWLEDGED: Duration = Duration::from_secs(60);

/// Requests under way at the stop may take that long.
const STOP_GRACE: Duration = Duration::from_secs(10);

/// A server that is bound to its address.
#[derive(Debug)]
pub struct Listening {
    listener: TcpListener,
    /// Where; with the port that was chosen if 0 was asked for.
    pub address: SocketAddr,
}

impl Listening {
    /// Binds an address.
    ///
    /// # Errors
    /// When it is in use, or not this machine's.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        Ok(Listening { listener, address })
    }
}

/// Serves until `stop` is done; then takes no more connections, ends feeds, and lets requests finish.
pub async fn serve(server: Arc<Server>, listening: Listening, stop: impl Future<Output = ()>) {
    let room = Arc::new(Semaphore::new(server.settings.connections_max));
    let service = TowerToHyperService::new(routes::router(Arc::clone(&server)));
    let connections = TaskTracker::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = tokio::select! {
            () = &mut stop => break,
            accepted = accept(&listening.listener, &room) => accepted,
        };
        match accepted {
            Ok((stream, permit)) => {
                let connection = connection(Arc::clone(&server), stream, service.clone());
                connections.spawn(async move {
                    connection.await;
                    drop(permit);
                });
            }
            Err(error) => {
                // Mostly too many open files: those that are open must end first.
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
    drop(listening);
    server.stop.cancel();
    connections.close();
    if tokio::time::timeout(STOP_GRACE, connections.wait())
        .await
        .is_err()
    {
        tracing::warn!("{} connections were cut", connections.len());
    }
}

async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> io::Result<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let permit = Arc::clone(room).acquire_owned().await;
    let permit = permit.map_err(io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    let socket = socket2::SockRef::from(&stream);
    socket.set_tcp_nodelay(true)?;
    socket.set_tcp_user_timeout(Some(UNACKNOWLEDGED))?;
    let keepalive = socket2::TcpKeepalive::new().with_time(UNACKNOWLEDGED);
    socket.set_tcp_keepalive(&keepalive)?;
    Ok((stream, permit))
}

async fn connection(
    server: Arc<Server>,
    stream: TcpStream,
    service: TowerToHyperService<axum::Router>,
) {
    let _counted = Counted::new(&server);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = &mut connection => ended,
        () = server.stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// A connection in the metrics, however it ends.
struct Counted<'a>(&'a Server);

impl<'a> Counted<'a> {
    fn new(server: &'a Server) -> Self {
        server.metrics.connections.fetch_add(1, Ordering::Relaxed);
        Counted(server)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.metrics.connections.fetch_sub(1, Ordering::Relaxed);
    }
}
