//! Reads the bodies of requests, with limits for the size, the time and the memory of all bodies together.

use super::blocking::blocking;
use super::headers::BodyTime;
use super::shared::PERMIT_BYTES;
use super::{HttpError, HttpResult, Server};
use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use flate2::write::GzDecoder;
use futures_util::{Stream, StreamExt};
use serde::de::{DeserializeOwned, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::io::{Read, Write};
use std::marker::PhantomData;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

/// The longest pause of a client within a body.
const PAUSE: Duration = Duration::from_secs(30);

/// The minimum average speed of a client over the whole body.
const BYTES_PER_SECOND_MIN: u32 = 1000;

/// A whole body. Its memory counts towards the limit for all bodies until it is dropped.
#[derive(Debug)]
pub struct Received {
    bytes: Bytes,
    _held: Held,
}

impl Deref for Received {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Received {
    /// Returns the body as text.
    ///
    /// # Errors
    /// If it is not UTF-8.
    pub fn text(&self) -> HttpResult<&str> {
        std::str::from_utf8(self).map_err(|error| HttpError::BadJson(error.to_string()))
    }

    /// Parses the body as JSON.
    ///
    /// # Errors
    /// If it is not JSON, or has another type.
    pub fn json<T: DeserializeOwned>(&self) -> HttpResult<T> {
        serde_json::from_slice(self).map_err(|error| match error.is_data() {
            true => HttpError::BadRequest(format!("The request body has a wrong value: {error}")),
            false => HttpError::BadJson(error.to_string()),
        })
    }
}

/// Returns the pieces of a body of at most `bytes_max` bytes as they arrive, and an error if they arrive too slowly.
pub fn pieces(body: Body, bytes_max: u64) -> impl Stream<Item = HttpResult<Bytes>> + Send + Unpin {
    let stream = body.into_data_stream();
    let start = Instant::now();
    Box::pin(futures_util::stream::try_unfold(
        (stream, 0_u64),
        move |(mut stream, received)| async move {
            let earned = Duration::from_secs(received / u64::from(BYTES_PER_SECOND_MIN));
            let end = (start + PAUSE + earned).min(Instant::now() + PAUSE);
            match timeout_at(end, stream.next()).await {
                Err(_) => Err(HttpError::RequestTimeout),
                Ok(None) => Ok(None),
                Ok(Some(Err(error))) => {
                    let reason = format!("the body ended early: {error}");
                    Err(HttpError::BadRequest(reason))
                }
                Ok(Some(Ok(bytes))) => {
                    let received = received + bytes.len() as u64;
                    if received > bytes_max {
                        return Err(HttpError::BodyTooLarge);
                    }
                    Ok(Some((bytes, (stream, received))))
                }
            }
        },
    ))
}

/// Reads a whole body of at most `bytes_max` bytes.
///
/// # Errors
/// If it is larger, arrives too slowly, or all bodies together take too much memory.
pub async fn collect(
    body: Body,
    bytes_max: usize,
    memory: &Arc<Semaphore>,
) -> HttpResult<Received> {
    let mut pieces = pieces(body, u64::MAX);
    let mut gathered = Gathered::new(memory);
    while let Some(piece) = pieces.next().await {
        gathered.add(piece?, bytes_max)?;
    }
    Ok(gathered.finish())
}

/// Memory that counts towards the limit for all bodies until it is dropped.
#[derive(Debug)]
pub struct Held {
    memory: Arc<Semaphore>,
    permits: Option<OwnedSemaphorePermit>,
}

impl Held {
    /// Starts without memory.
    pub fn new(memory: &Arc<Semaphore>) -> Self {
        Held {
            memory: Arc::clone(memory),
            permits: None,
        }
    }

    /// Sets the number of bytes. Few bytes do not count, because the number of connections is limited.
    ///
    /// # Errors
    /// If all bodies together take too much memory.
    pub fn set(&mut self, bytes: usize) -> HttpResult<()> {
        let permitted = self.permits.as_ref().map_or(0, |it| it.num_permits()) * PERMIT_BYTES;
        if bytes <= PERMIT_BYTES {
            self.permits = None;
        } else if bytes > permitted {
            let permits = (bytes - permitted).div_ceil(PERMIT_BYTES).max(16);
            let count = u32::try_from(permits).map_err(|_| HttpError::BodyTooLarge)?;
            let more = Arc::clone(&self.memory).try_acquire_many_owned(count);
            let more = more.map_err(|_| HttpError::Busy)?;
            match &mut self.permits {
                Some(permits) => permits.merge(more),
                None => self.permits = Some(more),
            }
        }
        Ok(())
    }
}

/// The received part of a body. Its memory counts towards the limit for all bodies.
#[derive(Debug)]
pub struct Gathered {
    bytes: Vec<u8>,
    /// The first piece. It is usually the only one, and then needs no copy.
    first: Option<Bytes>,
    held: Held,
}

impl Gathered {
    /// Creates an empty body.
    pub fn new(memory: &Arc<Semaphore>) -> Self {
        Gathered {
            bytes: Vec::new(),
            first: None,
            held: Held::new(memory),
        }
    }

    /// Appends a piece.
    ///
    /// # Errors
    /// If the body is too large, or all bodies together take too much memory.
    pub fn add(&mut self, piece: Bytes, bytes_max: usize) -> HttpResult<()> {
        let first_bytes = self.first.as_ref().map_or(0, Bytes::len);
        let total = first_bytes + self.bytes.len() + piece.len();
        if total > bytes_max {
            return Err(HttpError::BodyTooLarge);
        }
        self.held.set(total)?;
        if total == piece.len() {
            self.first = Some(piece);
            return Ok(());
        }
        if let Some(first) = self.first.take() {
            self.bytes.extend_from_slice(&first);
        }
        self.bytes.extend_from_slice(&piece);
        Ok(())
    }

    /// Returns the whole body.
    pub fn finish(self) -> Received {
        Received {
            bytes: self.first.unwrap_or_else(|| self.bytes.into()),
            _held: self.held,
        }
    }
}

impl FromRequest<Arc<Server>> for Received {
    type Rejection = HttpError;

    async fn from_request(request: Request, server: &Arc<Server>) -> HttpResult<Self> {
        Received::of(request, server, server.body_bytes_max()).await
    }
}

impl Received {
    async fn of(request: Request, server: &Server, bytes_max: usize) -> HttpResult<Self> {
        let (head, body) = request.into_parts();
        let length = content_length(&head.headers);
        if length.is_some_and(|length| length > bytes_max as u64) {
            return Err(HttpError::BodyTooLarge);
        }
        let begin = Instant::now();
        let received = collect(body, bytes_max, &server.body_memory).await?;
        if let Some(time) = head.extensions.get::<BodyTime>() {
            time.set(begin.elapsed());
        }
        match head.headers.get(header::CONTENT_ENCODING) {
            None => Ok(received),
            Some(coding) if coding == "identity" => Ok(received),
            Some(coding) if coding == "gzip" => unpack(&received, bytes_max, &server.body_memory),
            Some(_) => Err(HttpError::BadContentType("encoded with gzip or not at all")),
        }
    }
}

/// Returns the decoded pieces of a request's body as they arrive.
///
/// # Errors
/// If its encoding is not known.
pub fn decoded(request: Request, server: &Server) -> HttpResult<Pieces> {
    let (head, body) = request.into_parts();
    let bytes_max = server.request_bytes_max();
    let pieces = timed(pieces(body, bytes_max), head.extensions.get().cloned());
    match head.headers.get(header::CONTENT_ENCODING) {
        None => Ok(pieces),
        Some(coding) if coding == "identity" => Ok(pieces),
        Some(coding) if coding == "gzip" => Ok(unpacked(pieces, bytes_max)),
        Some(_) => Err(HttpError::BadContentType("encoded with gzip or not at all")),
    }
}

/// Notes the time in which a body was received.
fn timed(
    pieces: impl Stream<Item = HttpResult<Bytes>> + Send + Unpin + 'static,
    time: Option<BodyTime>,
) -> Pieces {
    let begin = Instant::now();
    let note = move || {
        if let Some(time) = &time {
            time.set(begin.elapsed());
        }
    };
    Box::pin(pieces.inspect(move |_| note()))
}

/// Decompresses pieces, a few KiB of them at a time: they may become a thousand times larger.
fn unpacked(pieces: Pieces, bytes_max: u64) -> Pieces {
    const PACKED_BYTES: usize = 4 << 10;
    let broken = |error: std::io::Error| HttpError::BadRequest(error.to_string());
    let start = (pieces, Some(GzDecoder::new(Vec::new())), Bytes::new(), 0);
    let next = move |(mut pieces, mut decoder, mut packed, unpacked_bytes): Unpacking| async move {
        loop {
            let Some(writer) = &mut decoder else {
                return Ok(None);
            };
            let unpacked = if packed.is_empty() {
                match pieces.next().await {
                    Some(piece) => packed = piece?,
                    None => {
                        let writer = decoder.take().map(GzDecoder::finish);
                        let rest = writer.transpose().map_err(broken)?.unwrap_or_default();
                        return Ok(Some((
                            rest.into(),
                            (pieces, decoder, packed, unpacked_bytes),
                        )));
                    }
                }
                continue;
            } else {
                let part = packed.split_to(packed.len().min(PACKED_BYTES));
                writer.write_all(&part).map_err(broken)?;
                std::mem::take(writer.get_mut())
            };
            let unpacked_bytes = unpacked_bytes + unpacked.len() as u64;
            if unpacked_bytes > bytes_max {
                return Err(HttpError::BodyTooLarge);
            }
            if !unpacked.is_empty() {
                let unpacked = Bytes::from(unpacked);
                return Ok(Some((unpacked, (pieces, decoder, packed, unpacked_bytes))));
            }
        }
    };
    Box::pin(futures_util::stream::try_unfold(start, next))
}

/// The pieces of a body.
pub type Pieces = Pin<Box<dyn Stream<Item = HttpResult<Bytes>> + Send>>;

/// What is left of a compressed body, its decoder, what waits for it, and the number of bytes so far.
type Unpacking = (Pieces, Option<GzDecoder<Vec<u8>>>, Bytes, u64);

fn unpack(packed: &[u8], bytes_max: usize, memory: &Arc<Semaphore>) -> HttpResult<Received> {
    let mut decoder = flate2::read::GzDecoder::new(packed);
    let mut gathered = Gathered::new(memory);
    let mut piece = vec![0; 64 << 10];
    loop {
        let read = decoder.read(&mut piece);
        match read.map_err(|error| HttpError::BadRequest(error.to_string()))? {
            0 => return Ok(gathered.finish()),
            bytes => gathered.add(Bytes::copy_from_slice(&piece[..bytes]), bytes_max)?,
        }
    }
}

/// The largest body, in bytes, that is processed on the thread of the request. Larger ones would delay other requests.
const INLINE_BYTES_MAX: usize = 256 << 10;

/// Processes a body of `bytes` bytes on this thread, or on a separate one if the body is large.
///
/// # Errors
/// The result of `work`.
pub async fn in_its_place<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> HttpResult<T> + Send + 'static,
) -> HttpResult<T> {
    if bytes <= INLINE_BYTES_MAX {
        return work();
    }
    blocking(work).await?
}

/// Returns the length of the body as the header announces it.
pub fn content_length(headers: &HeaderMap) -> Option<u64> {
    let value = headers.get(header::CONTENT_LENGTH)?;
    value.to_str().ok()?.parse().ok()
}

/// A body with the content type `application/json`. A web page of another site cannot send it without a preflight request.
#[derive(Debug)]
pub struct JsonBody(pub Received);

impl FromRequest<Arc<Server>> for JsonBody {
    type Rejection = HttpError;

    async fn from_request(request: Request, server: &Arc<Server>) -> HttpResult<Self> {
        require_json(request.headers())?;
        Received::from_request(request, server).await.map(JsonBody)
    }
}

/// The maximum size of a query, in bytes. As a tree of values, JSON takes up to a hundred times the memory of its text.
const QUESTION_BYTES_MAX: usize = 4 << 20;

/// The body of a query, with the content type `application/json`.
#[derive(Debug)]
pub struct Question(pub Received);

impl FromRequest<Arc<Server>> for Question {
    type Rejection = HttpError;

    async fn from_request(request: Request, server: &Arc<Server>) -> HttpResult<Self> {
        require_json(request.headers())?;
        let bytes_max = server.body_bytes_max().min(QUESTION_BYTES_MAX);
        Received::of(request, server, bytes_max).await.map(Question)
    }
}

impl Question {
    /// Parses the body as a JSON object and returns its members.
    ///
    /// # Errors
    /// If it is not a JSON object.
    pub fn object(&self) -> HttpResult<serde_json::Map<String, serde_json::Value>> {
        match self.0.json()? {
            serde_json::Value::Object(members) => Ok(members),
            _ => Err(HttpError::BadRequest(
                "Request body must be a JSON object".to_owned(),
            )),
        }
    }
}

/// Checks that the content type is `application/json`.
///
/// # Errors
/// If not.
pub fn require_json(headers: &HeaderMap) -> HttpResult<()> {
    let content_type = headers.get(header::CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok());
    let media_type = crate::multipart::media_type(content_type.unwrap_or_default());
    if media_type.eq_ignore_ascii_case("application/json") {
        Ok(())
    } else {
        Err(HttpError::BadContentType("application/json"))
    }
}

/// A list that keeps at most `MAX + 1` items. One item too many shows that the list is too long; further ones take no memory.
#[derive(Debug)]
pub struct Bounded<T, const MAX: usize>(Vec<T>);

impl<T, const MAX: usize> Bounded<T, MAX> {
    /// Returns the items.
    ///
    /// # Errors
    /// If there are more.
    pub fn items(self) -> HttpResult<Vec<T>> {
        match self.0.len() > MAX {
            true => Err(HttpError::TooManyDocuments(MAX)),
            false => Ok(self.0),
        }
    }
}

impl<'de, T: Deserialize<'de>, const MAX: usize> Deserialize<'de> for Bounded<T, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(BoundedVisitor(PhantomData))
    }
}

struct BoundedVisitor<T, const MAX: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for BoundedVisitor<T, MAX> {
    type Value = Bounded<T, MAX>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while items.len() <= MAX {
            match list.next_element()? {
                Some(item) => items.push(item),
                None => return Ok(Bounded(items)),
            }
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Bounded(items))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(pieces: &[&'static str]) -> Body {
        let pieces: Vec<Result<_, HttpError>> = pieces.iter().map(|text| Ok(*text)).collect();
        Body::from_stream(futures_util::stream::iter(pieces))
    }

    #[tokio::test]
    async fn a_body_comes_together_and_gives_its_memory_back() {
        let memory = Arc::new(Semaphore::new(20));
        for pieces in [&["abcdef"][..], &["ab", "", "cdef"], &["a", "bcde", "f"]] {
            let received = collect(body(pieces), 6, &memory).await.unwrap();
            assert_eq!(&*received, b"abcdef");
        }
        let error = collect(body(&["abc", "defg"]), 6, &memory)
            .await
            .unwrap_err();
        assert!(matches!(error, HttpError::BodyTooLarge));
        let large = || Body::from(vec![b'x'; 60_000]);
        let first = collect(large(), 100_000, &memory).await.unwrap();
        let second = collect(large(), 100_000, &memory).await.unwrap_err();
        assert!(matches!(second, HttpError::Busy), "{second:?}");
        drop(first);
        collect(large(), 100_000, &memory).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_body_ends() {
        let pieces = futures_util::stream::unfold((), |()| async {
            tokio::time::sleep(Duration::from_secs(20)).await;
            Some((Ok::<_, HttpError>("x"), ()))
        });
        let memory = Arc::new(Semaphore::new(20));
        let error = collect(Body::from_stream(pieces), 1000, &memory)
            .await
            .unwrap_err();
        assert!(matches!(error, HttpError::RequestTimeout), "{error:?}");
    }

    #[test]
    fn a_list_is_kept_as_far_as_it_may_be_long() {
        let read = |json: &str| serde_json::from_str::<Bounded<u8, 2>>(json);
        assert_eq!(read("[1,2]").unwrap().items().unwrap(), [1, 2]);
        let long = read("[1,2,3,4,5]").unwrap();
        assert_eq!(long.0, [1, 2, 3]);
        assert!(matches!(long.items(), Err(HttpError::TooManyDocuments(2))));
        assert!(read("[1,2,3,4").is_err() && read("{}").is_err());
    }

    #[test]
    fn a_bomb_does_not_unpack() {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        Write::write_all(&mut packer, &vec![0; 1 << 20]).unwrap();
        let packed = packer.finish().unwrap();
        let memory = Arc::new(Semaphore::new(1000));
        assert_eq!(unpack(&packed, 1 << 20, &memory).unwrap().len(), 1 << 20);
        let error = unpack(&packed, 1 << 19, &memory).unwrap_err();
        assert!(matches!(error, HttpError::BodyTooLarge));
        assert!(unpack(b"no gzip", 1000, &memory).is_err());
    }
}
