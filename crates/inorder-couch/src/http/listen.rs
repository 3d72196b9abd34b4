//! Connections: accepted while there is room, ended when they are idle, slow or vanished, and at the stop.

use super::detached::{self, Detachable, Rest};
use super::unread::{self, says_close};
use super::{Server, routes};
use axum::http::Version;
use bytes::Bytes;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

/// A request's head must have come by then, and an idle connection ends.
const HEAD_TIMEOUT: Duration = Duration::from_secs(60);

/// Bytes of a request's head; replicators ask for many revisions in one.
const HEAD_BYTES_MAX: usize = 64 << 10;

/// What was sent must be acknowledged by then: clients that vanished or don't read are given up.
const UNACKNOWLEDGED: Duration = Duration::from_secs(60);

/// Requests under way at the stop may take that long; the process has ten seconds in all.
const STOP_GRACE: Duration = Duration::from_secs(8);

/// A client that sends on after the end of its connection was announced has so long for it, and for a pause in it.
const LINGER: Duration = Duration::from_secs(30);
const LINGER_PAUSE: Duration = Duration::from_secs(5);

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
    if timeout(STOP_GRACE, connections.wait()).await.is_err() {
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

/// Answers the requests of a connection.
async fn connection(
    server: Arc<Server>,
    mut stream: TcpStream,
    service: TowerToHyperService<axum::Router>,
) {
    let _counted = Counted::new(&server);
    let mut received = Bytes::new();
    loop {
        // Boxed, so that a feed that waits doesn't keep room for it.
        let (left, rest) = match Box::pin(exchange(&server, stream, received, &service)).await {
            Left::Nothing => return,
            Left::Client(stream) => return linger(&server, stream).await,
            Left::Answer(left, rest) => (left, rest),
        };
        stream = left.stream;
        received = left.received;
        let mut rest = rest;
        if let Err(error) = detached::send(&mut stream, &mut rest).await {
            tracing::debug!(%error, "a connection ended early");
            return;
        }
        if left.is_last {
            return linger(&server, stream).await;
        }
        if server.stop.is_cancelled() {
            return;
        }
    }
}

/// Ends a connection whose client may still be sending: what nobody reads would make the system reset the connection, and
/// take the answer from the client with it.
async fn linger(server: &Server, mut stream: TcpStream) {
    let rest = async {
        if stream.shutdown().await.is_err() {
            return;
        }
        let mut bytes = vec![0; 16 << 10];
        while let Ok(Ok(1..)) = timeout(LINGER_PAUSE, stream.read(&mut bytes)).await {}
    };
    tokio::select! {
        _ = timeout(LINGER, rest) => {}
        () = server.stop.cancelled() => {}
    }
}

/// What the HTTP library leaves of a connection.
enum Left {
    Nothing,
    /// A client that may still be sending what nobody reads.
    Client(TcpStream),
    /// An answer that goes on without the library.
    Answer(Detached, Rest),
}

/// A connection whose answer goes on without the HTTP library.
struct Detached {
    stream: TcpStream,
    /// What came behind the request.
    received: Bytes,
    /// Whether the connection ends with the answer, as one of both sides has said.
    is_last: bool,
}

/// Answers requests until the connection ends, or an answer goes on without the HTTP library. Some of what the client sent
/// may have been received already.
async fn exchange(
    server: &Server,
    stream: TcpStream,
    received: Bytes,
    service: &TowerToHyperService<axum::Router>,
) -> Left {
    let (detachable, is_last) = (Detachable::default(), AtomicBool::new(false));
    let service = service_fn(|mut request: Request<Incoming>| {
        let is_last = &is_last;
        is_last.store(says_close(request.headers()), Ordering::Relaxed);
        // Before that there are no chunks.
        if request.version() == Version::HTTP_11 {
            request.extensions_mut().insert(detachable.clone());
        }
        // Boxed: the library polls a connection that it leaves open only if its requests can be moved.
        Box::pin(async move {
            let response = unread::answer(request, |request| service.call(request)).await?;
            is_last.fetch_or(says_close(response.headers()), Ordering::Relaxed);
            Ok::<_, Infallible>(response)
        })
    });
    let io = detachable.watch(TokioIo::new(stream), received);
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(io, service);
    let mut is_stopping = false;
    let ended = loop {
        let left =
            std::future::poll_fn(
                |cx| match Pin::new(&mut connection).poll_without_shutdown(cx) {
                    Poll::Ready(ended) => Poll::Ready(Err(ended)),
                    Poll::Pending => detachable
                        .take()
                        .map_or(Poll::Pending, |it| Poll::Ready(Ok(it))),
                },
            );
        tokio::select! {
            left = left => break left,
            () = server.stop.cancelled(), if !is_stopping => {}
        }
        is_stopping = true;
        Pin::new(&mut connection).graceful_shutdown();
    };
    let parts = connection.into_parts();
    let stream = parts.io.into_inner().into_inner();
    let is_last = is_last.load(Ordering::Relaxed);
    match ended {
        Ok(rest) => {
            let detached = Detached {
                stream,
                received: parts.read_buf,
                is_last,
            };
            Left::Answer(detached, rest)
        }
        Err(Ok(())) if !is_last => Left::Nothing,
        Err(ended) => {
            if let Err(error) = ended {
                tracing::debug!(%error, "a connection ended early");
            }
            Left::Client(stream)
        }
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
