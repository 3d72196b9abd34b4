//! Sorted rows in memory, given one after another.

use super::arena::{Arena, Origin};
use super::buckets::{Buckets, Pair};

/// Rows whose memory is asked for before they are needed.
const ROWS_AHEAD: usize = 16;

/// What the processor fetches at a time.
const LINE_BYTES: usize = 64;

/// How many of a row's lines are asked for: it fetches what follows by itself.
const LINES_AHEAD_MAX: usize = 8;

/// The rows of an arena in the order of their pairs. What was given is let go of, bucket by bucket.
pub(super) struct InMemory {
    arena: Arena,
    buckets: Buckets,
    bucket: usize,
    /// Rows of the bucket that were given.
    taken: usize,
    is_kept: bool,
}

impl InMemory {
    /// Rows whose memory is given back while they are given.
    pub(super) fn new(arena: Arena, buckets: Buckets) -> Self {
        InMemory {
            arena,
            buckets,
            bucket: 0,
            taken: 0,
            is_kept: false,
        }
    }

    /// Rows whose memory is used again ([`into_parts`](Self::into_parts)).
    pub(super) fn kept(arena: Arena, buckets: Buckets) -> Self {
        InMemory {
            is_kept: true,
            ..InMemory::new(arena, buckets)
        }
    }

    pub(super) fn into_parts(self) -> (Arena, Buckets) {
        (self.arena, self.buckets)
    }

    /// Goes to the next row; false where there is none.
    #[inline]
    pub(super) fn advance(&mut self) -> bool {
        while self.taken == self.pairs().len() {
            if !self.next_bucket() {
                return false;
            }
        }
        if self.taken.is_multiple_of(ROWS_AHEAD) {
            self.look_ahead();
        }
        self.taken += 1;
        true
    }

    #[cold]
    fn next_bucket(&mut self) -> bool {
        if self.buckets.get(self.bucket + 1).is_none() {
            return false;
        }
        if !self.is_kept {
            self.buckets.free(self.bucket);
            self.arena.free(self.buckets.stream(self.bucket));
        }
        self.bucket += 1;
        self.taken = 0;
        true
    }

    #[inline]
    fn pairs(&self) -> &[Pair] {
        self.buckets.get(self.bucket).unwrap_or_default()
    }

    /// Reads a byte of each of the cache's lines that some rows to come are in: the memory of all is fetched at
    /// once, not one by one. (An instruction that prefetches did nothing where the page was not known either.)
    fn look_ahead(&self) {
        let ahead = self.pairs().iter().skip(self.taken + ROWS_AHEAD / 2);
        let read = ahead.take(ROWS_AHEAD).map(|(_, place)| {
            let (record, _) = self.arena.get(*place);
            let lines = record.iter().step_by(LINE_BYTES).take(LINES_AHEAD_MAX);
            let last = record.last().copied().unwrap_or(0);
            lines.fold(last, |sum, byte| sum.wrapping_add(*byte))
        });
        std::hint::black_box(read.fold(0, u8::wrapping_add));
    }

    /// The row that was advanced to.
    #[inline]
    pub(super) fn row(&self) -> (&[u8], Origin) {
        self.arena.get(self.pairs()[self.taken - 1].1)
    }

    /// Whether that row, or one so many rows on, has the prefix of the row before it.
    #[inline]
    pub(super) fn is_tied(&self, rows_on: usize) -> bool {
        let end = self.taken + rows_on;
        match self.pairs().get(end.saturating_sub(2)..end) {
            Some([before, row]) => before.0 == row.0,
            _ => false,
        }
    }
}
