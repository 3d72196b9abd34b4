//! Connections: accepted while there is room, ended when they are idle, slow or vanished, and at the stop.

use super::detached::{self, Detachable, Rest};
use super::{Server, routes};
use axum::http::{Version, header};
use hyper::Request;
use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
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

/// Answers the requests of a connection.
async fn connection(
    server: Arc<Server>,
    mut stream: TcpStream,
    service: TowerToHyperService<axum::Router>,
) {
    let _counted = Counted::new(&server);
    // Boxed, so that a feed that waits doesn't keep room for it.
    while let Some(mut left) = Box::pin(exchange(&server, stream, &service)).await {
        if let Err(error) = detached::send(&mut left.stream, &mut left.rest).await {
            tracing::debug!(%error, "a connection ended early");
            return;
        }
        if !left.is_reusable || server.stop.is_cancelled() {
            return;
        }
        stream = left.stream;
    }
}

/// What the HTTP library leaves of a connection when an answer goes on without it.
struct Left {
    stream: TcpStream,
    rest: Rest,
    /// Whether what the client sends next is a request.
    is_reusable: bool,
}

/// Answers requests until the connection ends, or an answer goes on without the HTTP library.
async fn exchange(
    server: &Server,
    stream: TcpStream,
    service: &TowerToHyperService<axum::Router>,
) -> Option<Left> {
    let (detachable, is_last) = (Detachable::default(), AtomicBool::new(false));
    let service = service_fn(|mut request: Request<Incoming>| {
        is_last.store(is_last_on_connection(&request), Ordering::Relaxed);
        // Before that there are no chunks.
        if request.version() == Version::HTTP_11 {
            request.extensions_mut().insert(detachable.clone());
        }
        service.call(request)
    });
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(detachable.watch(TokioIo::new(stream)), service);
    let mut is_stopping = false;
    let ended = loop {
        let left = std::future::poll_fn(|cx| match Pin::new(&mut connection).poll(cx) {
            Poll::Ready(ended) => Poll::Ready(Err(ended)),
            Poll::Pending => detachable
                .take()
                .map_or(Poll::Pending, |it| Poll::Ready(Ok(it))),
        });
        tokio::select! {
            left = left => break left,
            () = server.stop.cancelled(), if !is_stopping => {}
        }
        is_stopping = true;
        Pin::new(&mut connection).graceful_shutdown();
    };
    match ended {
        Ok(rest) => {
            let parts = connection.into_parts();
            let is_reusable = !is_last.load(Ordering::Relaxed) && parts.read_buf.is_empty();
            Some(Left {
                stream: parts.io.into_inner().into_inner(),
                rest,
                is_reusable,
            })
        }
        Err(ended) => {
            if let Err(error) = ended {
                tracing::debug!(%error, "a connection ended early");
            }
            None
        }
    }
}

/// Whether nothing but an end may follow an answer that went on without the HTTP library: the client wants that, or there may
/// be more of the request's body, which only the library tells from another request.
fn is_last_on_connection(request: &Request<Incoming>) -> bool {
    let connection = request.headers().get_all(header::CONNECTION).iter();
    let mut options = connection
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    !request.body().is_end_stream()
        || options.any(|option| option.trim().eq_ignore_ascii_case("close"))
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
