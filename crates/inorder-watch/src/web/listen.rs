//! Connections: accepted while there is room for them and for their address, ended when they are slow to ask, and at the
//! stop.

use crate::limits::household;
use axum::{Router, extract::ConnectInfo};
use hyper::{Request, body::Incoming, server::conn::http1, service::Service as _};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use std::{
    collections::HashMap,
    future::Future,
    io,
    net::{IpAddr, SocketAddr},
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};

/// What connections may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// A request's head must have come by then; an idle connection ends.
    pub head_timeout: Duration,
    /// Bytes of a request's head, and of what is read of a body at once.
    pub buffer_bytes_max: usize,
    /// Connections at a time.
    pub connections_max: usize,
    /// Connections of one address at a time; those that are more are closed. Of IPv6 it is an address's first 64 bits, which
    /// one customer has to themselves. Behind a proxy all connections are the proxy's.
    pub connections_per_address_max: usize,
}

impl Default for Limits {
    /// 30 seconds, 32 KiB, and fewer connections than the 1,024 files that a process usually may open. A browser has six
    /// connections at most.
    fn default() -> Self {
        Limits {
            head_timeout: Duration::from_secs(30),
            buffer_bytes_max: 32 * 1024,
            connections_max: 900,
            connections_per_address_max: 64,
        }
    }
}

/// How many connections each address has.
#[derive(Default)]
struct Addresses(Mutex<HashMap<IpAddr, usize>>);

/// A connection's place among those of its address; free again when it is dropped.
struct Place {
    address: IpAddr,
    addresses: Arc<Addresses>,
}

impl Addresses {
    /// A place for one more connection of an address; none if it has as many as it may.
    fn place(self: &Arc<Self>, address: IpAddr, places_max: usize) -> Option<Place> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(address).or_default();
        if *count >= places_max {
            return None;
        }
        *count += 1;
        Some(Place {
            address,
            addresses: Arc::clone(self),
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = self
            .addresses
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.address);
            }
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
    let addresses = Arc::new(Addresses::default());
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
        let address = household(peer.ip());
        let Some(place) = addresses.place(address, limits.connections_per_address_max) else {
            tracing::debug!(%address, "an address has too many connections");
            continue;
        };
        let connection = connections.watch(connection(stream, peer, router.clone(), limits));
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection ended early");
            }
            drop((permit, place));
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
    limits: Limits,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> {
    let router = TowerToHyperService::new(router);
    let service = hyper::service::service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        router.call(request)
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_timeout)
        .max_buf_size(limits.buffer_bytes_max)
        .serve_connection(TokioIo::new(stream), service)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::get;
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpSocket,
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

    /// Connections from an address of this machine, which begin to ask and don't go on.
    async fn slow(from: &str, to: SocketAddr, count: usize) -> Vec<TcpStream> {
        let mut connections = Vec::new();
        for _ in 0..count {
            let socket = TcpSocket::new_v4().expect("a socket");
            let from = SocketAddr::new(from.parse().expect("an address"), 0);
            socket.bind(from).expect("loopback has all of 127.0.0.0/8");
            let mut connection = socket.connect(to).await.expect("a connection");
            // It may be closed already.
            let _ = connection.write_all(&ASK[..9]).await;
            connections.push(connection);
        }
        connections
    }

    #[tokio::test]
    async fn many_slow_connections_of_one_address_are_in_nobody_elses_way() {
        let _ = rustix::process::setrlimit(rustix::process::Resource::Nofile, {
            let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
            rustix::process::Rlimit {
                current: limit.maximum,
                ..limit
            }
        });
        let (address, _stop) = started(Limits::default()).await;
        let crowd = slow("127.0.0.1", address, Limits::default().connections_max).await;
        let mut others = slow("127.0.0.2", address, 1).await;
        others[0].write_all(&ASK[9..]).await.expect("asked");
        let mut answer = [0; 12];
        let read = others[0].read_exact(&mut answer);
        // As long as a slow head may take the crowd would have held all connections.
        let read = tokio::time::timeout(Limits::default().head_timeout / 2, read).await;
        read.expect("it is answered while the others are slow")
            .expect("an answer");
        assert_eq!(&answer, b"HTTP/1.1 200");
        // The ends of the others are noticed one after another.
        let is_open = |connection: &&TcpStream| {
            let read = connection.try_read(&mut [0]);
            matches!(read, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
        };
        let mut kept = crowd.len();
        for _ in 0..200 {
            kept = crowd.iter().filter(is_open).count();
            if kept <= Limits::default().connections_per_address_max {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{kept} are open");
    }

    #[tokio::test]
    async fn who_closes_a_connection_may_open_another() {
        let limits = Limits {
            connections_per_address_max: 2,
            ..Limits::default()
        };
        let (address, _stop) = started(limits).await;
        for _ in 0..20 {
            let mut connection = slow("127.0.0.3", address, 1).await.remove(0);
            let rest = connection.write_all(&ASK[9..]).await;
            let mut answer = [0; 12];
            // The place of the one before may still be taken for a moment.
            if rest.is_err() || connection.read_exact(&mut answer).await.is_err() {
                tokio::time::sleep(Duration::from_millis(20)).await;
                continue;
            }
            assert_eq!(&answer, b"HTTP/1.1 200");
        }
        let mut last = slow("127.0.0.3", address, 1).await.remove(0);
        last.write_all(&ASK[9..]).await.expect("asked");
        let mut answer = [0; 12];
        last.read_exact(&mut answer).await.expect("an answer");
    }

    #[tokio::test]
    async fn a_head_takes_no_more_than_its_buffer() {
        let (address, _stop) = started(Limits::default()).await;
        let mut connection = TcpStream::connect(address).await.expect("a connection");
        let line = format!("X-Long: {}\r\n", "a".repeat(1000));
        connection.write_all(&ASK[..16]).await.expect("asked");
        for _ in 0..Limits::default().buffer_bytes_max / 1000 + 40 {
            if connection.write_all(line.as_bytes()).await.is_err() {
                break;
            }
        }
        let mut answer = Vec::new();
        let _ = connection.read_to_end(&mut answer).await;
        let answer = String::from_utf8_lossy(&answer);
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 431"),
            "{answer}"
        );
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
