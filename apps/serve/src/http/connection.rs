//! One connection: requests and answers in turn, until it is idle, slow, ended or stopped.

use super::detached::{self, Detachable, Rest};
use super::socket::Socket;
use super::unread::{self, says_close};
use super::{Answer, ConnectionLimits, Link};
use crate::tls;
use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, Version, header};
use bytes::Bytes;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

/// The time in which a client may continue to send after the end of its connection was announced.
const LINGER: Duration = Duration::from_secs(30);

/// The longest pause of such a client.
const LINGER_PAUSE: Duration = Duration::from_secs(5);

/// The parts of a connection beside its socket.
pub struct Connection<A> {
    pub peer: SocketAddr,
    pub limits: ConnectionLimits,
    pub stop: CancellationToken,
    pub answers: A,
}

/// The parts of a connection that the HTTP library returns.
enum Left {
    Nothing,
    /// A client that may still be sending.
    Client(Socket),
    /// An answer that continues without the library.
    Answer(Detached, Rest),
}

/// A connection whose answer continues without the HTTP library.
struct Detached {
    stream: Socket,
    /// Bytes received behind the request, copied: the buffer of the library has 8 KiB, also when it is empty.
    received: Bytes,
    /// Whether one side announced that the connection ends with the answer.
    is_last: bool,
}

/// The bytes of a request's head. The HTTP library refuses larger heads only if they do not fit into the buffer that it has by then.
fn head_bytes<B>(request: &Request<B>) -> usize {
    let uri = request.uri();
    let target = uri.path_and_query().map_or(0, |it| it.as_str().len());
    let lines = request.headers().iter();
    // The colon, the space and the end of the line; those of the first line, too.
    let lines = lines.map(|(name, value)| name.as_str().len() + value.len() + 4);
    request.method().as_str().len() + target + lines.sum::<usize>() + 14
}

/// The answer to a request whose head is too large, after which the connection ends.
fn too_large() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(header::CONNECTION, close);
    response
}

impl<A: Answer> Connection<A> {
    /// Answers the requests of a connection, after the handshake if there is one.
    pub async fn run(self, stream: TcpStream, tls: Option<TlsAcceptor>) {
        let stream = match tls {
            None => Socket::Plain(stream),
            // Boxed as `exchange` is: else every feed keeps memory for a handshake.
            Some(tls) => {
                match Box::pin(timeout(self.limits.head_timeout, tls.accept(stream))).await {
                    Ok(Ok(stream)) => {
                        let protocol = stream.get_ref().1.alpn_protocol();
                        if protocol.is_some_and(|name| name != tls::HTTP) {
                            // A CA that checks a domain has seen the certificate.
                            return Box::pin(self.linger(Socket::Tls(Box::new(stream)))).await;
                        }
                        Socket::Tls(Box::new(stream))
                    }
                    Ok(Err(error)) => {
                        tracing::debug!(%error, "a TLS handshake failed");
                        return;
                    }
                    Err(_) => return,
                }
            }
        };
        self.answer(stream).await;
    }

    async fn answer(self, mut stream: Socket) {
        let mut received = Bytes::new();
        loop {
            // Boxed, so that a waiting feed does not reserve memory for it.
            let (left, mut rest) = match Box::pin(self.exchange(stream, received)).await {
                Left::Nothing => return,
                Left::Client(stream) => return Box::pin(self.linger(stream)).await,
                Left::Answer(left, rest) => (left, rest),
            };
            stream = left.stream;
            received = left.received;
            if let Err(error) = detached::send(&mut stream, &mut rest, &mut received).await {
                tracing::debug!(%error, "a connection ended early");
                return;
            }
            if left.is_last {
                return Box::pin(self.linger(stream)).await;
            }
            if self.stop.is_cancelled() {
                return;
            }
        }
    }

    /// Ends a connection whose client may still be sending. Unread bytes would make the system reset the connection, and
    /// the client would lose the answer.
    async fn linger(&self, mut stream: Socket) {
        let rest = async {
            if stream.shutdown().await.is_err() {
                return;
            }
            let mut bytes = vec![0; 16 << 10];
            while let Ok(Ok(1..)) = timeout(LINGER_PAUSE, stream.read(&mut bytes)).await {}
        };
        tokio::select! {
            _ = timeout(LINGER, rest) => {}
            () = self.stop.cancelled() => {}
        }
    }

    fn link(&self, stream: &Socket, detachable: &Detachable) -> Link {
        Link {
            peer: self.peer,
            is_tls: matches!(stream, Socket::Tls(_)),
            detachable: Some(detachable.clone()),
        }
    }

    /// Answers requests until the connection ends or an answer continues without the HTTP library. `received` was read from
    /// the socket before.
    async fn exchange(&self, stream: Socket, received: Bytes) -> Left {
        let (detachable, is_last) = (Detachable::default(), AtomicBool::new(false));
        let link = self.link(&stream, &detachable);
        let old = Link {
            detachable: None,
            ..link.clone()
        };
        let service = service_fn(|request: Request<Incoming>| {
            let (is_last, answers) = (&is_last, &self.answers);
            is_last.store(says_close(request.headers()), Ordering::Relaxed);
            let is_large = head_bytes(&request) > self.limits.head_bytes_max;
            let link = match request.version() {
                Version::HTTP_11 => &link,
                _ => &old,
            };
            // Boxed, because `poll_without_shutdown` needs a future that can be moved.
            Box::pin(async move {
                let response = match is_large {
                    true => too_large(),
                    false => unread::answer(request, |it| answers.answer(it, link)).await,
                };
                is_last.fetch_or(says_close(response.headers()), Ordering::Relaxed);
                Ok::<_, Infallible>(response)
            })
        });
        let io = detachable.watch(TokioIo::new(stream), received);
        let mut connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.head_timeout)
            .max_buf_size(self.limits.head_bytes_max)
            .serve_connection(io, service);
        let mut is_stopping = false;
        let ended = loop {
            let left = std::future::poll_fn(|cx| {
                match Pin::new(&mut connection).poll_without_shutdown(cx) {
                    Poll::Ready(ended) => Poll::Ready(Err(ended)),
                    Poll::Pending => detachable
                        .take()
                        .map_or(Poll::Pending, |it| Poll::Ready(Ok(it))),
                }
            });
            tokio::select! {
                left = left => break left,
                () = self.stop.cancelled(), if !is_stopping => {}
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
                    received: Bytes::copy_from_slice(&parts.read_buf),
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
}
