//! Rows that a thread adds to a sorter all at once.

use inorder_btree::KeyOrder;

use super::arena::{FRAME_BYTES, Origin, framed};
use super::in_memory::Pair;
use super::large_pages::reserve;

/// Some rows one after another, and the prefixes of their keys. Several threads fill one each; [`Sorter::add`] takes
/// them in any order, and their numbers say in which order they are.
///
/// [`Sorter::add`]: super::Sorter::add
pub struct Portion {
    order: KeyOrder,
    number: usize,
    /// The rows as an arena has them, behind those of earlier portions.
    chunk: Vec<u8>,
    chunk_bytes: usize,
    /// Where the rows begin in the chunk.
    start: usize,
    /// The numbers of the portions in the chunk.
    numbers: Vec<usize>,
    /// The prefix and the place of each row.
    pub(super) pairs: Vec<Pair>,
    /// The bytes of text of its rows, and the most that their chunk took per 16 of them.
    text_bytes: usize,
    per_16: usize,
}

impl Portion {
    pub(super) fn new(order: KeyOrder, chunk: Vec<u8>, chunk_bytes: usize) -> Self {
        Portion {
            order,
            number: 0,
            chunk,
            chunk_bytes,
            start: 0,
            numbers: Vec::new(),
            pairs: Vec::new(),
            text_bytes: 0,
            per_16: 16,
        }
    }

    /// Begins the portion of this number, for rows that have about so many bytes of text.
    pub fn begin(&mut self, number: usize, text_bytes: usize) {
        self.number = number;
        self.text_bytes = text_bytes;
        self.pairs.clear();
        if self.chunk.is_empty() {
            let bytes = self.chunk_bytes.max(self.bytes_expected());
            reserve(&mut self.chunk, bytes);
        }
        self.start = self.chunk.len();
        self.numbers.push(number);
    }

    /// The bytes that the rows of so much text are expected to take.
    fn bytes_expected(&self) -> usize {
        self.text_bytes / 16 * (self.per_16 + 1)
    }

    /// Ends the portion. Returns whether the chunk has room for another.
    pub(super) fn end(&mut self) -> bool {
        let bytes = self.chunk.len() - self.start;
        if let Some(per_16) = (bytes * 16).checked_div(self.text_bytes) {
            self.per_16 = self.per_16.max(per_16);
        }
        self.chunk.capacity() - self.chunk.len() >= self.bytes_expected()
    }

    /// The chunk, with the numbers of the portions in it.
    pub(super) fn take_chunk(&mut self, spare: Option<Vec<u8>>) -> (Vec<u8>, Vec<usize>) {
        let chunk = std::mem::replace(&mut self.chunk, spare.unwrap_or_default());
        (chunk, std::mem::take(&mut self.numbers))
    }

    /// Adds the record that `write` appends, and its origin.
    ///
    /// # Errors
    /// Those of `write`, which has then appended nothing.
    #[inline]
    pub fn push_with<E>(
        &mut self,
        origin: Origin,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let at = self.chunk.len();
        let record = framed(&mut self.chunk, origin, write)?;
        let place = (self.number as u64) << 32 | at as u64;
        self.pairs.push((self.order.prefix(record), place));
        Ok(())
    }

    /// The rows added.
    pub fn rows(&self) -> usize {
        self.pairs.len()
    }

    /// The bytes of the rows, with their frames.
    pub(super) fn bytes(&self) -> usize {
        self.chunk.len() - self.start
    }

    /// The bytes of the records.
    pub(super) fn record_bytes(&self) -> usize {
        self.bytes() - self.pairs.len() * FRAME_BYTES
    }
}
