//! Connections: limits, slow clients, the stop.

use axum::Router;
use axum::extract::ConnectInfo;
use axum::routing::get;
use inorder_serve::{ConnectionLimits, HttpServer};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n";

/// A test fails when a condition does not hold within this time.
const DEADLINE: Duration = Duration::from_secs(30);

/// A server that answers with the client's address.
struct Running {
    address: SocketAddr,
    open: Arc<AtomicU64>,
    stop: CancellationToken,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

async fn started(limits: ConnectionLimits) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let who = |ConnectInfo(peer): ConnectInfo<SocketAddr>| async move { peer.to_string() };
    let running = Running {
        address: listener.local_addr().expect("an address"),
        open: Arc::default(),
        stop: CancellationToken::new(),
    };
    let server = HttpServer {
        answers: Router::new().route("/", get(who)),
        limits,
        open: Arc::clone(&running.open),
        stop: running.stop.clone(),
    };
    tokio::spawn(server.serve(listener));
    running
}

impl Running {
    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address)
            .await
            .expect("a connection")
    }

    fn open(&self) -> u64 {
        self.open.load(Ordering::Relaxed)
    }
}

/// Waits until a condition holds.
async fn until(mut holds: impl FnMut() -> bool, what: impl Fn() -> String) {
    let deadline = Instant::now() + DEADLINE;
    while !holds() {
        assert!(Instant::now() < deadline, "{}", what());
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

async fn answered(connection: &mut TcpStream) -> String {
    connection.write_all(REQUEST).await.expect("sent");
    let mut answer = [0; 1024];
    let read = connection.read(&mut answer).await.expect("an answer");
    String::from_utf8_lossy(&answer[..read]).into_owned()
}

#[tokio::test]
async fn a_request_has_the_address_of_its_client() {
    let server = started(ConnectionLimits::default()).await;
    let mut connection = server.connect().await;
    let own = connection.local_addr().expect("an address").to_string();
    assert!(answered(&mut connection).await.ends_with(&own));
}

#[tokio::test]
async fn half_a_head_does_not_hold_a_connection() {
    let server = started(ConnectionLimits {
        head_timeout: Duration::from_millis(50),
        ..ConnectionLimits::default()
    })
    .await;
    let mut connection = server.connect().await;
    connection.write_all(&REQUEST[..9]).await.expect("sent");
    let mut rest = Vec::new();
    let end = connection.read_to_end(&mut rest);
    assert!(timeout(DEADLINE, end).await.is_ok());
}

#[tokio::test]
async fn a_client_waits_while_there_is_no_room() {
    let server = started(ConnectionLimits {
        connections_max: 1,
        ..ConnectionLimits::default()
    })
    .await;
    let mut first = server.connect().await;
    assert!(answered(&mut first).await.starts_with("HTTP/1.1 200"));
    let mut second = server.connect().await;
    second.write_all(REQUEST).await.expect("sent");
    // The server answers the first connection again, and has not accepted the second one.
    assert!(answered(&mut first).await.starts_with("HTTP/1.1 200"));
    assert_eq!(server.open(), 1);
    drop(first);
    let mut answer = [0; 12];
    second.read_exact(&mut answer).await.expect("an answer");
    assert_eq!(&answer, b"HTTP/1.1 200");
}

/// Connections from an address of this machine that send the first bytes of a request.
async fn slow(from: &str, to: SocketAddr, count: usize) -> Vec<TcpStream> {
    let mut connections = Vec::new();
    for _ in 0..count {
        let socket = TcpSocket::new_v4().expect("a socket");
        let from = SocketAddr::new(from.parse().expect("an address"), 0);
        socket.bind(from).expect("loopback has all of 127.0.0.0/8");
        let mut connection = socket.connect(to).await.expect("a connection");
        // It may be closed already.
        let _ = connection.write_all(&REQUEST[..9]).await;
        connections.push(connection);
    }
    connections
}

/// Raises the limit of open files of this process as far as it may.
fn allow_many_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    let _ = setrlimit(Resource::Nofile, raised);
}

#[tokio::test]
async fn many_slow_connections_of_one_client_do_not_delay_others() {
    allow_many_files();
    let limits = ConnectionLimits::default();
    let server = started(limits).await;
    let crowd = slow("127.0.0.1", server.address, limits.connections_max).await;
    let mut others = slow("127.0.0.2", server.address, 1).await;
    others[0].write_all(&REQUEST[9..]).await.expect("sent");
    let mut answer = [0; 12];
    let read = others[0].read_exact(&mut answer);
    // Without the limit per client, slow request heads would hold all connections.
    let read = timeout(limits.head_timeout / 2, read).await;
    read.expect("it is answered while the others are slow")
        .expect("an answer");
    assert_eq!(&answer, b"HTTP/1.1 200");
    let is_open = |connection: &&TcpStream| {
        let read = connection.try_read(&mut [0]);
        matches!(read, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    };
    let kept = || crowd.iter().filter(is_open).count();
    until(
        || kept() <= limits.connections_per_client_max,
        || format!("{} connections of one client are open", kept()),
    )
    .await;
}

#[tokio::test]
async fn a_closed_connection_makes_room_for_another() {
    let server = started(ConnectionLimits {
        connections_per_client_max: 2,
        ..ConnectionLimits::default()
    })
    .await;
    for _ in 0..20 {
        let mut connection = slow("127.0.0.3", server.address, 1).await.remove(0);
        connection.write_all(&REQUEST[9..]).await.expect("sent");
        let mut answer = [0; 12];
        connection.read_exact(&mut answer).await.expect("an answer");
        assert_eq!(&answer, b"HTTP/1.1 200");
        drop(connection);
        until(|| server.open() == 0, || "it stays open".to_owned()).await;
    }
}

#[tokio::test]
async fn a_head_takes_no_more_than_its_buffer() {
    let limits = ConnectionLimits::default();
    let server = started(limits).await;
    let mut connection = server.connect().await;
    let line = format!("X-Long: {}\r\n", "a".repeat(1000));
    connection.write_all(&REQUEST[..16]).await.expect("sent");
    for _ in 0..limits.head_bytes_max / 1000 + 40 {
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
async fn a_head_is_answered_up_to_its_limit_and_refused_above() {
    let limits = ConnectionLimits::default();
    let server = started(limits).await;
    let head = |bytes: usize, lines: usize| {
        let fixed = String::from_utf8(REQUEST.to_vec()).unwrap();
        let start = fixed.strip_suffix("\r\n").unwrap();
        let each = (bytes - fixed.len()) / lines;
        let line = |at: usize| {
            let name = format!("X-{at:03}: ");
            format!("{name}{}\r\n", "a".repeat(each - name.len() - 2))
        };
        let lines: String = (0..lines).map(line).collect();
        format!("{start}{lines}\r\n")
    };
    for lines in [1, 7, 40] {
        for (bytes, status) in [
            (16, "200"),
            (31, "200"),
            (33, "431"),
            (48, "431"),
            (64, "431"),
            (200, "431"),
        ] {
            // In one piece and in several.
            for piece in [1 << 20, 5000] {
                let mut connection = server.connect().await;
                for piece in head(bytes << 10, lines).as_bytes().chunks(piece) {
                    if connection.write_all(piece).await.is_err() {
                        break;
                    }
                    tokio::task::yield_now().await;
                }
                let mut answer = [0; 12];
                connection.read_exact(&mut answer).await.expect("an answer");
                let answer = String::from_utf8_lossy(&answer);
                assert_eq!(
                    answer,
                    format!("HTTP/1.1 {status}"),
                    "{bytes} KiB in {lines} lines"
                );
            }
        }
    }
}

#[tokio::test]
async fn a_stop_closes_idle_connections_and_the_listener() {
    let server = started(ConnectionLimits::default()).await;
    let mut connection = server.connect().await;
    assert!(answered(&mut connection).await.starts_with("HTTP/1.1 200"));
    server.stop.cancel();
    let mut rest = Vec::new();
    let end = timeout(DEADLINE, connection.read_to_end(&mut rest)).await;
    end.expect("in time").expect("the end");
    assert!(rest.is_empty());
    assert!(TcpStream::connect(server.address).await.is_err());
}

#[tokio::test]
async fn an_unread_body_does_not_reset_the_connection() {
    let server = started(ConnectionLimits::default()).await;
    let mut connection = server.connect().await;
    let body = vec![b'x'; 3 << 20];
    let head = format!(
        "POST / HTTP/1.1\r\nHost: here\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    connection.write_all(head.as_bytes()).await.expect("sent");
    connection.write_all(&body).await.expect("taken, not reset");
    let mut answer = Vec::new();
    let end = timeout(DEADLINE, connection.read_to_end(&mut answer)).await;
    end.expect("in time").expect("the end of the answer");
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.starts_with("HTTP/1.1 405"), "{answer}");
    assert!(answer.contains("connection: close"), "{answer}");
}
