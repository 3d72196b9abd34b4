//! The parser: bytes go in as they come, events come out; it reads from nothing and waits for nothing.

use super::error::HEADER_BYTES_MAX;
use super::{Headers, MultipartError};
use bytes::{Buf, Bytes, BytesMut};

/// The largest preamble before the first boundary, in bytes. Clients send none.
const PREAMBLE_BYTES_MAX: usize = 64 << 10;

/// An event of the parser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A part begins.
    Part(Headers),
    /// The next bytes of the part.
    Data(Bytes),
    /// The last part has ended; what follows doesn't matter.
    End,
    /// More must be fed first.
    NeedMore,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Preamble,
    /// Behind a delimiter: another part, or the end.
    Delimiter,
    Header,
    Body,
    End,
}

/// Splits a multipart body into parts.
#[derive(Debug)]
pub struct Parser {
    delimiter: Vec<u8>,
    buffer: BytesMut,
    state: State,
    preamble_bytes: usize,
}

impl Parser {
    /// For a body with this boundary.
    pub fn new(boundary: &str) -> Self {
        Parser {
            delimiter: format!("\r\n--{boundary}").into_bytes(),
            // The first delimiter may stand at the very start: a line end before it makes it like the others.
            buffer: BytesMut::from(&b"\r\n"[..]),
            state: State::Preamble,
            preamble_bytes: 0,
        }
    }

    /// Takes the next bytes of the body.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.state != State::End {
            self.buffer.extend_from_slice(bytes);
        }
    }

    /// The next event in what was fed.
    ///
    /// # Errors
    /// If it is no multipart body.
    pub fn next_event(&mut self) -> Result<Event, MultipartError> {
        loop {
            match self.state {
                State::Preamble => match self.take_body() {
                    Some(skipped) => self.skip_preamble(skipped.len())?,
                    None if self.state == State::Preamble => return Ok(Event::NeedMore),
                    None => {}
                },
                State::Body => match self.take_body() {
                    Some(data) => return Ok(Event::Data(data)),
                    None if self.state == State::Body => return Ok(Event::NeedMore),
                    None => {}
                },
                State::Delimiter => {
                    if !self.take_delimiter_end() {
                        return self.need_more(Event::NeedMore);
                    }
                }
                State::Header => match self.take_header()? {
                    Some(headers) => return Ok(Event::Part(headers)),
                    None => return self.need_more(Event::NeedMore),
                },
                State::End => return Ok(Event::End),
            }
        }
    }

    fn skip_preamble(&mut self, bytes: usize) -> Result<(), MultipartError> {
        self.preamble_bytes += bytes;
        if self.preamble_bytes > PREAMBLE_BYTES_MAX {
            return Err(MultipartError::NoStart);
        }
        Ok(())
    }

    fn need_more(&self, event: Event) -> Result<Event, MultipartError> {
        if self.buffer.len() > HEADER_BYTES_MAX {
            return Err(MultipartError::LongHeader);
        }
        Ok(event)
    }

    /// Returns bytes that certainly belong to the body. At a delimiter, parsing continues after it.
    fn take_body(&mut self) -> Option<Bytes> {
        let delimiter = &self.delimiter;
        let mut from = 0;
        loop {
            let Some(at) = memchr::memmem::find(&self.buffer[from..], delimiter) else {
                let kept = self.buffer.len().min(delimiter.len() - 1);
                let certain = self.buffer.len() - kept;
                // Only what could begin a delimiter has to wait.
                let waits = memchr::memchr(b'\r', &self.buffer[certain..]).unwrap_or(kept);
                return self.take(certain + waits);
            };
            let at = from + at;
            let after = &self.buffer[at + delimiter.len()..];
            match delimiter_end(after) {
                End::Not => from = at + 1,
                End::Unknown if after.len() > HEADER_BYTES_MAX => from = at + 1,
                _ if at > 0 => return self.take(at),
                End::Unknown => return None,
                _ => {
                    self.buffer.advance(delimiter.len());
                    self.state = State::Delimiter;
                    return None;
                }
            }
        }
    }

    fn take(&mut self, bytes: usize) -> Option<Bytes> {
        (bytes > 0).then(|| self.buffer.split_to(bytes).freeze())
    }

    /// Skips the rest of a delimiter's line.
    fn take_delimiter_end(&mut self) -> bool {
        match delimiter_end(&self.buffer) {
            End::Part(bytes) => {
                self.buffer.advance(bytes);
                self.state = State::Header;
                true
            }
            End::Body => {
                self.buffer.clear();
                self.state = State::End;
                true
            }
            End::Unknown | End::Not => false,
        }
    }

    fn take_header(&mut self) -> Result<Option<Headers>, MultipartError> {
        let (text, end) = if self.buffer.starts_with(b"\r\n") {
            (0, 2)
        } else if let Some(at) = memchr::memmem::find(&self.buffer, b"\r\n\r\n") {
            (at, at + 4)
        } else {
            return Ok(None);
        };
        if text > HEADER_BYTES_MAX {
            return Err(MultipartError::LongHeader);
        }
        let headers = Headers::parse(&self.buffer[..text])?;
        // The line end of the empty line may begin a delimiter: a part without a body.
        let Some(has_no_body) = self.is_delimiter(&self.buffer[end - 2..]) else {
            return Ok(None);
        };
        self.buffer.advance(if has_no_body { end - 2 } else { end });
        self.state = State::Body;
        Ok(Some(headers))
    }

    /// Whether bytes begin with a delimiter; none when there are too few to tell.
    fn is_delimiter(&self, bytes: &[u8]) -> Option<bool> {
        let Some(after) = bytes.strip_prefix(&*self.delimiter) else {
            return (!self.delimiter.starts_with(bytes)).then_some(false);
        };
        match delimiter_end(after) {
            End::Unknown if after.len() <= HEADER_BYTES_MAX => None,
            end => Some(matches!(end, End::Part(_) | End::Body)),
        }
    }
}

enum End {
    /// Another part begins after so many bytes.
    Part(usize),
    /// The body ends.
    Body,
    /// There are too few bytes to tell.
    Unknown,
    /// It was no delimiter, but looked like one so far.
    Not,
}

fn delimiter_end(after: &[u8]) -> End {
    match after {
        [b'-', b'-', ..] => return End::Body,
        [b'-'] => return End::Unknown,
        _ => {}
    }
    let padding = after.iter().take_while(|byte| matches!(byte, b' ' | b'\t'));
    let padding = padding.count();
    match &after[padding..] {
        [b'\r', b'\n', ..] => End::Part(padding + 2),
        [] | [b'\r'] => End::Unknown,
        _ => End::Not,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The parts of a body that is fed in pieces of so many bytes.
    fn parts(
        body: &[u8],
        boundary: &str,
        piece_bytes: usize,
    ) -> Result<Vec<(Headers, Vec<u8>)>, MultipartError> {
        let mut parser = Parser::new(boundary);
        let mut pieces = body.chunks(piece_bytes.max(1));
        let mut parts: Vec<(Headers, Vec<u8>)> = Vec::new();
        loop {
            match parser.next_event()? {
                Event::Part(headers) => parts.push((headers, Vec::new())),
                Event::Data(data) => parts.last_mut().unwrap().1.extend_from_slice(&data),
                Event::End => return Ok(parts),
                Event::NeedMore => match pieces.next() {
                    Some(piece) => parser.feed(piece),
                    None => return Err(MultipartError::Cut),
                },
            }
        }
    }

    #[test]
    fn parts_are_split_at_the_boundary_alone() {
        let body = b"preamble\r\n--b\r\nA: 1\r\n\r\none\r\n--bc\r\n--b\t \r\n\r\n\r\n--b\r\nB: 2\r\n\r\n\r\n--b--epilogue";
        for piece_bytes in 1..body.len() + 1 {
            let parts = parts(body, "b", piece_bytes).unwrap();
            let bodies: Vec<&[u8]> = parts.iter().map(|part| &part.1[..]).collect();
            assert_eq!(bodies, [&b"one\r\n--bc"[..], b"", b""], "{piece_bytes}");
            assert_eq!(parts[0].0.get("a"), Some("1"));
            assert_eq!(parts[2].0.get("b"), Some("2"));
        }
    }

    #[test]
    fn what_follows_a_header_is_told_apart_whatever_the_pieces() {
        let body = b"--b\r\nA: 1\r\n\r\n--b\r\nA: 2\r\n\r\n--bold\r\n--b\r\nA: 3\r\n\r\n--b--";
        for piece_bytes in 1..body.len() + 1 {
            let parts = parts(body, "b", piece_bytes).unwrap();
            let bodies: Vec<&[u8]> = parts.iter().map(|part| &part.1[..]).collect();
            assert_eq!(bodies, [&b""[..], b"--bold", b""], "{piece_bytes}");
        }
    }

    #[test]
    fn what_is_cut_or_endless_is_an_error() {
        assert_eq!(parts(b"--b\r\n\r\nabc", "b", 3), Err(MultipartError::Cut));
        assert_eq!(parts(b"", "b", 3), Err(MultipartError::Cut));
        let endless = [b"--b\r\nA: ".to_vec(), vec![b'x'; HEADER_BYTES_MAX * 2]].concat();
        assert_eq!(parts(&endless, "b", 999), Err(MultipartError::LongHeader));
        let nothing = vec![b'x'; PREAMBLE_BYTES_MAX * 2];
        assert_eq!(parts(&nothing, "b", 999), Err(MultipartError::NoStart));
        let padded = [b"--b".to_vec(), vec![b' '; HEADER_BYTES_MAX * 9]].concat();
        assert!(parts(&padded, "b", 999).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_come_back(
            bodies in prop::collection::vec(prop::collection::vec(prop::sample::select(&b"\r\n-bx "[..]), 0..40), 0..5),
            piece_bytes in 1_usize..60,
        ) {
            let boundary = "bxb-unique";
            let mut text = Vec::new();
            for body in &bodies {
                text.extend_from_slice(b"\r\n--bxb-unique\r\nX: y\r\n\r\n");
                text.extend_from_slice(body);
            }
            text.extend_from_slice(b"\r\n--bxb-unique--");
            let found = parts(&text, boundary, piece_bytes).unwrap();
            let found: Vec<Vec<u8>> = found.into_iter().map(|part| part.1).collect();
            prop_assert_eq!(found, bodies);
        }

        #[test]
        fn nothing_makes_it_panic_or_grow(text in prop::collection::vec(prop::sample::select(&b"\r\n-b: A"[..]), 0..300), piece_bytes in 1_usize..20) {
            let _ = parts(&text, "b", piece_bytes);
        }
    }
}
