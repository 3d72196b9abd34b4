//! Answers that last, sent without the HTTP library from the moment they wait: it keeps two buffers of 8 KiB and its own state
//! for each connection, many times what a feed itself needs.
//!
//! A handler gives such an answer the body of [`Detachable::answer`]. Once the library has sent the head and the first piece,
//! the connection takes its socket back, sends the rest as chunks, and lends the socket to the library again.

use super::HttpResult;
use axum::body::Body;
use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use hyper::body::Frame;
use hyper::rt::{Read, ReadBufCursor, Write};
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

/// The pieces of an answer that the library doesn't send.
pub type Rest = Pin<Box<dyn Stream<Item = HttpResult<Bytes>> + Send>>;

/// A connection that can take its socket back; requests have it as an extension.
#[derive(Clone, Default)]
pub struct Detachable(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// Left by an answer whose head and first piece the library has taken.
    rest: Mutex<Option<Rest>>,
    /// Whether the library has sent what it had taken then.
    is_flushed: AtomicBool,
}

impl Shared {
    fn rest(&self) -> std::sync::MutexGuard<'_, Option<Rest>> {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Detachable {
    /// A body of which the library sends the first piece, which may be empty, and the connection the rest.
    pub fn answer(self, first: Bytes, rest: Rest) -> Body {
        Body::new(Leaving {
            first: (!first.is_empty()).then_some(first),
            rest: Some(rest),
            shared: self.0,
        })
    }

    /// The socket as the library shall have it; some bytes were received from it before.
    pub fn watch<T>(&self, io: T, received: Bytes) -> Watched<T> {
        Watched {
            io,
            received,
            shared: Arc::clone(&self.0),
        }
    }

    /// What is left to send, as soon as the library has sent its part.
    pub fn take(&self) -> Option<Rest> {
        let is_flushed = self.0.is_flushed.load(Ordering::Relaxed);
        is_flushed.then(|| self.0.rest().take()).flatten()
    }
}

/// A body that leaves its rest behind.
struct Leaving {
    first: Option<Bytes>,
    rest: Option<Rest>,
    shared: Arc<Shared>,
}

impl hyper::body::Body for Leaving {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        if let Some(rest) = self.rest.take() {
            *self.shared.rest() = Some(rest);
        }
        // Nobody needs to be woken: the library flushes now, and then the connection takes over.
        Poll::Pending
    }
}

/// A socket that notices when all is sent: the library flushes it only then.
pub struct Watched<T> {
    io: T,
    received: Bytes,
    shared: Arc<Shared>,
}

impl<T> Watched<T> {
    /// The socket.
    pub fn into_inner(self) -> T {
        self.io
    }
}

impl<T: Read + Unpin> Read for Watched<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.received.is_empty() {
            let bytes = self.received.len().min(buffer.remaining());
            buffer.put_slice(&self.received.split_to(bytes));
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.io).poll_read(cx, buffer)
    }
}

impl<T: Write + Unpin> Write for Watched<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.io).poll_flush(cx))?;
        if self.shared.rest().is_some() {
            self.shared.is_flushed.store(true, Ordering::Relaxed);
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(cx, slices)
    }
}

/// Sends the rest of an answer, to its end.
///
/// # Errors
/// When the client is gone, or the rest ends with an error: the answer is cut off.
pub async fn send(stream: &mut TcpStream, rest: &mut Rest) -> io::Result<()> {
    let (mut reader, mut writer) = stream.split();
    let (mut next, mut is_quiet) = ([0], true);
    loop {
        let piece = tokio::select! {
            piece = rest.next() => piece.transpose().map_err(io::Error::other)?,
            seen = reader.peek(&mut next), if is_quiet => match seen? {
                0 => return Err(io::ErrorKind::ConnectionAborted.into()),
                // The next request, before this one is answered: it waits.
                _ => {
                    is_quiet = false;
                    continue;
                }
            },
        };
        let Some(piece) = piece else {
            return writer.write_all(b"0\r\n\r\n").await;
        };
        if !piece.is_empty() {
            let mut chunk = format!("{:X}\r\n", piece.len()).into_bytes();
            chunk.extend_from_slice(&piece);
            chunk.extend_from_slice(b"\r\n");
            writer.write_all(&chunk).await?;
        }
    }
}
