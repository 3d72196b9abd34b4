//! Ids for rows that bring none.

use inorder_key::{Encoding, Error, KeyBuffer, KeyKind, KeyStream};

use crate::source::Raw;

/// Ids made at a time.
const TOGETHER: usize = 1024;

/// Makes one id after another.
pub struct Maker {
    stream: KeyStream,
    buffer: KeyBuffer,
    next: usize,
}

impl Maker {
    /// A maker of real ids: of the system's time and randomness.
    ///
    /// # Errors
    /// Where the kind can't be stored in the encoding, or the system gives no random bytes.
    pub fn new(kind: KeyKind, encoding: Encoding) -> Result<Self, Error> {
        let mut stream = KeyStream::real(kind, encoding)?;
        Ok(Maker {
            buffer: stream.fill(TOGETHER),
            stream,
            next: 0,
        })
    }

    /// The next id; NULL for a kind that the database counts itself.
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
