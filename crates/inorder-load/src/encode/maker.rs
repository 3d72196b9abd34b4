//! Generates ids for rows without one.

use inorder_key::bulk::{KeyBuffer, KeyStream};
use inorder_key::{Encoding, Error, KeyKind};

use crate::source::Raw;

/// Ids per refill.
const TOGETHER: usize = 1024;

/// Generates ids one by one.
pub struct Maker {
    stream: KeyStream,
    buffer: KeyBuffer,
    next: usize,
}

impl Maker {
    /// A generator that uses the system's clock and randomness.
    ///
    /// # Errors
    /// If the kind can't be stored in the encoding, or the system gives no random bytes.
    pub fn new(kind: KeyKind, encoding: Encoding) -> Result<Self, Error> {
        let mut stream = KeyStream::real(kind, encoding)?;
        Ok(Maker {
            buffer: stream.fill(TOGETHER),
            stream,
            next: 0,
        })
    }

    /// Returns the next id; NULL for `serial`, which the database counts.
    pub(super) fn next(&mut self) -> Raw<'_> {
        if self.next == TOGETHER {
            self.buffer = self.stream.fill(TOGETHER);
            self.next = 0;
        }
        let at = self.next;
        self.next += 1;
        match &self.buffer {
            KeyBuffer::Integers(integers) => Raw::Integer(integers[at]),
            KeyBuffer::Bytes {
                width_bytes,
                bytes,
                is_text,
            } => {
                let id = &bytes[at * width_bytes..][..*width_bytes];
                match is_text {
                    true => Raw::Text(id),
                    false => Raw::Blob(id),
                }
            }
            KeyBuffer::Assigned(_) | KeyBuffer::Pairs(..) => Raw::Null,
        }
    }
}
