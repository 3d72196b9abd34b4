//! The parser fed from a stream.

use super::{Event, Headers, MultipartError, Parser};
use bytes::Bytes;
use futures_util::{Stream, StreamExt};

/// Reads the parts of a body one after the other.
#[derive(Debug)]
pub struct Reader<S> {
    stream: S,
    parser: Parser,
    /// The part that began while the one before it was being skipped or read.
    next: Option<Headers>,
    ended: bool,
}

impl<S, E> Reader<S>
where
    S: Stream<Item = Result<Bytes, E>> + Unpin,
    E: std::fmt::Display,
{
    /// Reads from `stream`, a body with this boundary.
    pub fn new(stream: S, boundary: &str) -> Self {
        Reader {
            stream,
            parser: Parser::new(boundary),
            next: None,
            ended: false,
        }
    }

    /// The next part's header fields; what wasn't read of the part before is skipped. None behind the last one.
    ///
    /// # Errors
    /// If the body can't be read or is no multipart body.
    pub async fn next_part(&mut self) -> Result<Option<Headers>, MultipartError> {
        while self.next.is_none() && !self.ended {
            self.chunk().await?;
        }
        Ok(self.next.take())
    }

    /// The next bytes of the part; none at its end.
    ///
    /// # Errors
    /// If the body can't be read or is no multipart body.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, MultipartError> {
        if self.next.is_some() || self.ended {
            return Ok(None);
        }
        loop {
            match self.parser.next_event()? {
                Event::Data(data) => return Ok(Some(data)),
                Event::Part(headers) => {
                    self.next = Some(headers);
                    return Ok(None);
                }
                Event::End => {
                    self.ended = true;
                    return Ok(None);
                }
                Event::NeedMore => match self.stream.next().await {
                    Some(Ok(bytes)) => self.parser.feed(&bytes),
                    Some(Err(error)) => return Err(MultipartError::Read(error.to_string())),
                    None => return Err(MultipartError::Cut),
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;

    #[tokio::test]
    async fn parts_are_read_or_skipped() {
        let body = "--b\r\nA: 1\r\n\r\none\r\n--b\r\nA: 2\r\n\r\ntwo\r\n--b--";
        let pieces = body.as_bytes().chunks(3).map(Bytes::copy_from_slice);
        let pieces: Vec<Result<Bytes, String>> = pieces.map(Ok).collect();
        let mut reader = Reader::new(stream::iter(pieces), "b");
        let first = reader.next_part().await.unwrap().unwrap();
        assert_eq!(first.get("A"), Some("1"));
        let second = reader.next_part().await.unwrap().unwrap();
        assert_eq!(second.get("A"), Some("2"));
        let mut read = Vec::new();
        while let Some(bytes) = reader.chunk().await.unwrap() {
            read.extend_from_slice(&bytes);
        }
        assert_eq!(read, b"two");
        assert_eq!(reader.next_part().await, Ok(None));
        assert_eq!(reader.next_part().await, Ok(None));
    }

    #[tokio::test]
    async fn a_broken_stream_is_an_error() {
        let pieces = [Ok(Bytes::from_static(b"--b\r\n")), Err("reset")];
        let mut reader = Reader::new(stream::iter(pieces), "b");
        let error = reader.next_part().await.unwrap_err();
        assert_eq!(error, MultipartError::Read("reset".into()));
    }
}
