//! A JSON text that arrives in pieces.

use super::documents::{Arrival, Captured};
use super::receiver::Receiver;
use crate::http::{HttpError, HttpResult};
use crate::json::{Capture, Step};
use axum::body::Bytes;
use bytes::Buf;
use futures_util::{Stream, StreamExt};

/// The unread part of a JSON text.
#[derive(Debug)]
pub struct Input<S> {
    pieces: S,
    piece: Bytes,
    /// The bytes of the pieces so far.
    received_bytes: u64,
}

impl<S: Stream<Item = HttpResult<Bytes>> + Unpin + Send> Input<S> {
    /// Reads the pieces of a body.
    pub fn new(pieces: S) -> Self {
        Input {
            pieces,
            piece: Bytes::new(),
            received_bytes: 0,
        }
    }

    /// The position in the text.
    pub fn at(&self) -> u64 {
        self.received_bytes - self.piece.len() as u64
    }

    /// Waits for bytes. Returns false at the end of the text.
    async fn fill(&mut self) -> HttpResult<bool> {
        while self.piece.is_empty() {
            match self.pieces.next().await {
                Some(piece) => {
                    self.piece = piece?;
                    self.received_bytes += self.piece.len() as u64;
                }
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Skips white space and returns the next byte without taking it. Returns none at the end of the text.
    ///
    /// # Errors
    /// If the body cannot be read.
    pub async fn peek(&mut self) -> HttpResult<Option<u8>> {
        while self.fill().await? {
            let is_space = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
            let spaces = self.piece.iter().take_while(is_space).count();
            self.piece.advance(spaces);
            if let Some(byte) = self.piece.first() {
                return Ok(Some(*byte));
            }
        }
        Ok(None)
    }

    /// Takes the next byte if it is one of these, and returns it.
    ///
    /// # Errors
    /// If it is another one, or the text ends.
    pub async fn take(&mut self, expected: &[u8]) -> HttpResult<u8> {
        match self.peek().await? {
            Some(byte) if expected.contains(&byte) => {
                self.piece.advance(1);
                Ok(byte)
            }
            Some(_) => {
                let expected = String::from_utf8_lossy(expected);
                Err(self.bad(&format!("one of the characters {expected} is missing")))
            }
            None => Err(self.bad("the text ends too early")),
        }
    }

    /// Checks that nothing but white space is left.
    ///
    /// # Errors
    /// If something is.
    pub async fn end(&mut self) -> HttpResult<()> {
        match self.peek().await? {
            None => Ok(()),
            Some(_) => Err(self.bad("something follows the value")),
        }
    }

    fn bad(&self, what: &str) -> HttpError {
        HttpError::BadJson(format!("{what} at byte {}", self.at()))
    }

    /// Takes a value of at most `bytes_max` bytes. It was not checked.
    ///
    /// # Errors
    /// If it is larger.
    pub async fn value(&mut self, bytes_max: usize) -> HttpResult<String> {
        let mut capture = Capture::of_value();
        loop {
            let mut rest = &self.piece[..];
            let step = capture.step(&mut rest).map_err(crate::store::Error::from)?;
            let is_done = step == Step::Done;
            let taken = self.piece.len() - rest.len();
            self.piece.advance(taken);
            if capture.received_bytes() > bytes_max {
                return Err(HttpError::BodyTooLarge);
            }
            if is_done || !self.fill().await? {
                let (text, _) = capture.finish().map_err(crate::store::Error::from)?;
                return Ok(text);
            }
        }
    }

    /// Takes a document.
    ///
    /// # Errors
    /// If it is too large, or an attachment cannot be stored. The document was not checked.
    pub async fn document(&mut self, receiver: &Receiver<'_>) -> HttpResult<Captured> {
        let mut arrival = Arrival::new(receiver);
        loop {
            let piece = std::mem::take(&mut self.piece);
            let mut rest = &piece[..];
            let is_done = arrival.feed(&mut rest).await?;
            self.piece = piece.slice(piece.len() - rest.len()..);
            if is_done || !self.fill().await? {
                return arrival.finish().await;
            }
        }
    }
}
