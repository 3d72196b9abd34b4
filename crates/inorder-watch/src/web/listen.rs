//! Connections: accepted while there is room, ended when they are slow to ask, and at the stop.

use axum::{Router, extract::ConnectInfo};
use hyper::{Request, body::Incoming, server::conn::http1, service::Service as _};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use std::{future::Future, io, net::SocketAddr, pin::pin, sync::Arc, time::Duration};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};

/// What connections may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// A request's head must have come by then; an idle connection ends.
    pub head_timeout: Duration,
    /// Connections at a time.
    pub connections_max: usize,
}

impl Default for Limits {
    /// 30 seconds, and fewer connections than the 1,024 files that a process usually may open.
    fn default() -> Self {
        Limits {
            head_timeout: Duration::from_secs(30),
            connections_max: 900,
        }
    }
}

/// How long requests that are being answered may go on once the server is told to stop.
pub const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// Serves until `stop` is done; then takes no more connections and lets requests finish.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    stop: impl Future<Output = ()>,
) {
    let room = Arc::new(Semaphore::new(limits.connections_max));
    let connections = GracefulShutdown::new();
    let mut stop = pin!(stop);
    loop {
        let accepted = tokio::select! {
            () = &mut stop => break,
            accepted = accept(&listener, &room) => accepted,
        };
        let (stream, peer, permit) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Mostly too many open files: those that are open must end first.
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let connection = connections.watch(connection(
            stream,
            peer,
            router.clone(),
            limits.head_timeout,
        ));
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection ended early");
            }
            drop(permit);
        });
    }
    drop(listener);
    tracing::info!("stopping");
    let stopped = tokio::time::timeout(STOP_TIMEOUT, connections.shutdown());
    if stopped.await.is_err() {
        tracing::warn!("some requests took too long and were cut off");
    }
}

async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let permit = Arc::clone(room).acquire_owned().await;
    let permit = permit.map_err(io::Error::other)?;
    let (stream, peer) = listener.accept().await?;
    // A page is several packets: none waits for the last one's receipt.
    stream.set_nodelay(true)?;
    Ok((stream, peer, permit))
}

/// Answers the requests of a connection, which know who asks.
fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    head_timeout: Duration,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> {
    let router = TowerToHyperService::new(router);
    let service = hyper::service::service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        router.call(request)
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head_timeout)
        .serve_connection(TokioIo::new(stream), service)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::get;
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        sync::oneshot,
    };

    const ASK: &[u8] = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n";

    /// A server that answers who asks, and what stops it.
    async fn started(limits: Limits) -> (SocketAddr, oneshot::Sender<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let who = |ConnectInfo(peer): ConnectInfo<SocketAddr>| async move { peer.to_string() };
        let (stop, stopped) = oneshot::channel::<()>();
        let stopped = async move { _ = stopped.await };
        let router = Router::new().route("/", get(who));
        tokio::spawn(serve(listener, router, limits, stopped));
        (address, stop)
    }

    async fn answered(connection: &mut TcpStream) -> String {
        connection.write_all(ASK).await.expect("asked");
        let mut answer = [0; 1024];
        let read = connection.read(&mut answer).await.expect("an answer");
        String::from_utf8_lossy(&answer[..read]).into_owned()
    }

    #[tokio::test]
    async fn a_request_knows_who_asks() {
        let (address, _stop) = started(Limits::default()).await;
        let mut connection = TcpStream::connect(address).await.expect("a connection");
        let own = connection.local_addr().expect("an address").to_string();
        assert!(answered(&mut connection).await.ends_with(&own));
    }

    #[tokio::test]
    async fn half_a_head_does_not_hold_a_connection() {
        let limits = Limits {
            head_timeout: Duration::from_millis(50),
            ..Limits::default()
        };
        let (address, _stop) = started(limits).await;
        let mut connection = TcpStream::connect(address).await.expect("a connection");
        connection.write_all(&ASK[..9]).await.expect("asked");
        let mut rest = Vec::new();
        // Whatever is said before.
        let end = connection.read_to_end(&mut rest);
        let ended = tokio::time::timeout(Duration::from_secs(10), end).await;
        assert!(ended.is_ok());
    }

    #[tokio::test]
    async fn who_comes_when_there_is_no_room_waits_for_it() {
        let limits = Limits {
            connections_max: 1,
            ..Limits::default()
        };
        let (address, _stop) = started(limits).await;
        let mut first = TcpStream::connect(address).await.expect("a connection");
        assert!(answered(&mut first).await.starts_with("HTTP/1.1 200"));
        let mut second = TcpStream::connect(address).await.expect("a connection");
        let soon = Duration::from_millis(50);
        let waits = tokio::time::timeout(soon, answered(&mut second)).await;
        assert!(waits.is_err());
        drop(first);
        let mut answer = [0; 12];
        second.read_exact(&mut answer).await.expect("an answer");
        assert_eq!(&answer, b"HTTP/1.1 200");
    }

    #[tokio::test]
    async fn a_stop_ends_idle_connections_and_takes_no_more() {
        let (address, stop) = started(Limits::default()).await;
        let mut connection = TcpStream::connect(address).await.expect("a connection");
        assert!(answered(&mut connection).await.starts_with("HTTP/1.1 200"));
        stop.send(()).expect("a server");
        let mut rest = Vec::new();
        connection.read_to_end(&mut rest).await.expect("the end");
        assert!(rest.is_empty());
        assert!(TcpStream::connect(address).await.is_err());
    }
}
