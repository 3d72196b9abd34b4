//! Rows that a thread adds to a sorter all at once.

use inorder_btree::KeyOrder;

use super::arena::{FRAME_BYTES, Origin, framed};
use super::in_memory::Pair;

/// Some rows one after another, and the prefixes of their keys. Several threads fill one each; [`Sorter::add`] takes
/// them in any order, and their numbers say in which order they are.
///
/// [`Sorter::add`]: super::Sorter::add
pub struct Portion {
    order: KeyOrder,
    pub(super) number: usize,
    /// The rows as an arena has them. They become a chunk of it.
    pub(super) chunk: Vec<u8>,
    /// The prefix and the offset in the chunk of each row.
    pub(super) pairs: Vec<Pair>,
    /// The bytes of text of its rows, and the most that their chunk took per 16 of them.
    text_bytes: usize,
    per_16: usize,
}

impl Portion {
    pub(super) fn new(order: KeyOrder) -> Self {
        Portion {
            order,
            number: 0,
            chunk: Vec::new(),
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
        self.chunk.clear();
        self.chunk.reserve(text_bytes / 16 * (self.per_16 + 1));
    }

    /// The chunk, which becomes another one.
    pub(super) fn exchange(&mut self, spare: Vec<u8>) -> Vec<u8> {
        if let Some(per_16) = (self.chunk.len() * 16).checked_div(self.text_bytes) {
            self.per_16 = self.per_16.max(per_16);
        }
        std::mem::replace(&mut self.chunk, spare)
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
        let start = self.chunk.len();
        let record = framed(&mut self.chunk, origin, write)?;
        let place = (self.number as u64) << 32 | start as u64;
        self.pairs.push((self.order.prefix(record), place));
        Ok(())
    }

    /// The rows added.
    pub fn rows(&self) -> usize {
        self.pairs.len()
    }

    /// The bytes of the records.
    pub(super) fn record_bytes(&self) -> usize {
        self.chunk.len() - self.pairs.len() * FRAME_BYTES
    }
}
