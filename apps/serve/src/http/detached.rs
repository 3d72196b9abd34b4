//! Long answers that are sent without the HTTP library while they wait. The library keeps two buffers of 8 KiB and its own
//! state per connection, many times what a waiting feed needs.
//!
//! A handler returns [`Detachable::answer`]. Once the library has sent the head and the first piece, the connection takes
//! its socket back, sends the rest as chunks, and lends the socket to the library again.

use super::line::RequestLine;
use super::socket::Socket;
use axum::BoxError;
use axum::body::Body;
use bytes::Bytes;
use futures_util::{Stream, StreamExt, TryStreamExt};
use hyper::body::Frame;
use hyper::rt::{Read, ReadBuf, ReadBufCursor, Write};
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// The pieces of an answer that the connection sends.
pub type Rest = Pin<Box<dyn Stream<Item = Result<Bytes, BoxError>> + Send>>;

/// A connection that can take its socket back from the HTTP library. Requests have it as an extension.
#[derive(Clone, Default)]
pub struct Detachable(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// The rest of an answer whose head and first piece the library has taken.
    rest: Mutex<Option<Rest>>,
    /// Whether the library has sent them.
    is_flushed: AtomicBool,
}

impl Shared {
    fn rest(&self) -> std::sync::MutexGuard<'_, Option<Rest>> {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Detachable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Detachable")
    }
}

impl Detachable {
    /// Returns a body of which the library sends the first piece, which may be empty, and the connection the rest.
    ///
    /// An error of `rest` cuts the connection, so the client sees that the body is incomplete.
    pub fn answer<E: Into<BoxError> + 'static>(
        self,
        first: Bytes,
        rest: impl Stream<Item = Result<Bytes, E>> + Send + 'static,
    ) -> Body {
        Body::new(Leaving {
            first: (!first.is_empty()).then_some(first),
            rest: Some(Box::pin(rest.map_err(Into::into))),
            shared: self.0,
        })
    }

    /// Wraps the socket for the library. `received` was read from it before.
    pub(super) fn watch<T>(&self, io: T, received: Bytes) -> Watched<T> {
        Watched {
            io,
            received,
            line: RequestLine::default(),
            shared: Arc::clone(&self.0),
        }
    }

    /// Takes what is left to send, once the library has sent its part.
    pub(super) fn take(&self) -> Option<Rest> {
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
        // No waker is needed: the library flushes now, and then the connection takes over.
        Poll::Pending
    }
}

/// Bytes that are read at once, at most, where a request line may be. The HTTP library must get a line that is too long as a
/// whole to say that it is the line.
const LINE_BYTES_MAX: usize = 128 << 10;

/// Bytes that the HTTP library reads at once unless much arrives.
const READ_BYTES: usize = 8 << 10;

/// A socket that notices when the library has sent everything: only then does the library flush it.
pub struct Watched<T> {
    io: T,
    received: Bytes,
    line: RequestLine,
    shared: Arc<Shared>,
}

impl<T> Watched<T> {
    /// Returns the socket.
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
            self.line.skip();
            return Poll::Ready(Ok(()));
        }
        if !self.line.is_near() {
            return Pin::new(&mut self.io).poll_read(cx, buffer);
        }
        match buffer.remaining() {
            ..=READ_BYTES => self.read_line::<READ_BYTES>(cx, buffer),
            _ => self.read_line::<LINE_BYTES_MAX>(cx, buffer),
        }
    }
}

impl<T: Read + Unpin> Watched<T> {
    /// Reads at most `N` bytes that may belong to a request line.
    // Never inlined: each call would touch the stack of the larger array.
    #[inline(never)]
    fn read_line<const N: usize>(
        &mut self,
        cx: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        // On the stack, and not zeroed: this is the way of every request.
        let mut bytes = [const { MaybeUninit::uninit() }; N];
        let length = buffer.remaining().min(N);
        let mut head = ReadBuf::uninit(&mut bytes[..length]);
        ready!(Pin::new(&mut self.io).poll_read(cx, head.unfilled()))?;
        let head = match self.line.encode(head.filled()) {
            Some(encoded) => Bytes::from(encoded),
            None => {
                buffer.put_slice(head.filled());
                return Poll::Ready(Ok(()));
            }
        };
        let bytes = head.len().min(buffer.remaining());
        buffer.put_slice(&head[..bytes]);
        self.received = head.slice(bytes..);
        Poll::Ready(Ok(()))
    }
}

impl<T: Write + Unpin> Write for Watched<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.line.sent(bytes);
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
        let first = slices.iter().find(|slice| !slice.is_empty());
        if let Some(first) = first {
            self.line.sent(first);
        }
        Pin::new(&mut self.io).poll_write_vectored(cx, slices)
    }
}

/// Sends the rest of an answer, to its end.
///
/// Bytes that the client sends meanwhile are appended to `received`.
///
/// # Errors
/// If the client is gone, or the rest ends with an error.
pub async fn send(stream: &mut Socket, rest: &mut Rest, received: &mut Bytes) -> io::Result<()> {
    let (mut reader, mut writer) = tokio::io::split(stream);
    let (mut next, mut is_quiet) = ([0], received.is_empty());
    loop {
        let piece = tokio::select! {
            piece = rest.next() => piece.transpose().map_err(io::Error::other)?,
            read = reader.read(&mut next), if is_quiet => match read? {
                0 => return Err(io::ErrorKind::ConnectionAborted.into()),
                // A pipelined request: it waits until this one is answered.
                _ => {
                    is_quiet = false;
                    *received = Bytes::copy_from_slice(&next);
                    continue;
                }
            },
        };
        let Some(piece) = piece else {
            writer.write_all(b"0\r\n\r\n").await?;
            return writer.flush().await;
        };
        if !piece.is_empty() {
            let mut chunk = format!("{:X}\r\n", piece.len()).into_bytes();
            chunk.extend_from_slice(&piece);
            chunk.extend_from_slice(b"\r\n");
            writer.write_all(&chunk).await?;
            writer.flush().await?;
        }
    }
}
