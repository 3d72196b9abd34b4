//! Sorted rows in memory, returned one at a time.

use super::arena::{Arena, LINE_BYTES, Origin, Place, Records};

/// Rows that are fetched together: the processor waits twice for all of them.
const ROWS_AHEAD: usize = 32;

/// The maximum number of cache lines prefetched per row; the processor prefetches further lines.
const LINES_AHEAD_MAX: usize = 8;

/// A prefix of a key and the place of its row.
pub(super) type Pair = (u64, Place);

/// The rows of an arena, or of other memory, in the order of their pairs.
pub(super) struct InMemory<R> {
    records: R,
    pairs: Vec<Pair>,
    /// Rows that were given.
    taken: usize,
}

impl<R: Records> InMemory<R> {
    pub(super) fn new(records: R, pairs: Vec<Pair>) -> Self {
        InMemory {
            records,
            pairs,
            taken: 0,
        }
    }

    /// The memory of both, to be used again.
    pub(super) fn into_parts(self) -> (R, Vec<Pair>) {
        (self.records, self.pairs)
    }

    /// Advances to the next row. Returns false if there is none.
    #[inline]
    pub(super) fn advance(&mut self) -> bool {
        if self.taken == self.pairs.len() {
            return false;
        }
        if self.taken.is_multiple_of(ROWS_AHEAD) {
            self.look_ahead();
        }
        self.taken += 1;
        true
    }

    /// Reads a byte of each of the cache's lines that some rows to come are in: the memory of all is fetched at
    /// once, not one by one. (An instruction that prefetches did nothing where the page was not known either.)
    ///
    /// The first lines come first: only they say how long a row is.
    fn look_ahead(&self) {
        let from = (self.taken + ROWS_AHEAD / 4).min(self.pairs.len());
        let to = (from + ROWS_AHEAD).min(self.pairs.len());
        let ahead = &self.pairs[from..to];
        let first = |(_, place): &Pair| self.records.first_byte(*place);
        std::hint::black_box(ahead.iter().map(first).fold(0, u8::wrapping_add));
        let read = ahead.iter().map(|(_, place)| {
            let record = self.records.record(*place);
            let lines = record.iter().step_by(LINE_BYTES).take(LINES_AHEAD_MAX);
            let last = record.last().copied().unwrap_or(0);
            lines.fold(last, |sum, byte| sum.wrapping_add(*byte))
        });
        std::hint::black_box(read.fold(0, u8::wrapping_add));
    }

    /// The record of the row that was advanced to.
    #[inline]
    pub(super) fn record(&self) -> &[u8] {
        self.records.record(self.pairs[self.taken - 1].1)
    }

    /// Whether that row, or one so many rows on, has the prefix of the row before it.
    #[inline]
    pub(super) fn is_tied(&self, rows_on: usize) -> bool {
        let end = self.taken + rows_on;
        match self.pairs.get(end.saturating_sub(2)..end) {
            Some([before, row]) => before.0 == row.0,
            _ => false,
        }
    }
}

impl InMemory<Arena> {
    /// The row that was advanced to.
    #[inline]
    pub(super) fn row(&self) -> (&[u8], Origin) {
        self.records.get(self.pairs[self.taken - 1].1)
    }
}
