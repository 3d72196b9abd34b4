//! The sort: in memory if the rows fit, otherwise an external merge sort.

use std::io;
use std::path::PathBuf;

use inorder_btree::record::{WORDS, sort_pairs};
use inorder_btree::{KeyOrder, TextEncoding};

use super::ahead::{Ahead, InOrder};
use super::apart::sort_apart;
use super::arena::{Arena, Origin, Records};
use super::in_memory::{InMemory, Pair};
use super::large_pages::reserve;
use super::merge::Merge;
use super::portion::Portion;
use super::spill::Spill;

/// The least memory of a run that is merged.
const RUN_BYTES_MIN: usize = 1 << 16;

/// More memory than this makes no run faster.
const RUN_BYTES_MAX: usize = 1 << 20;

/// Rows that are gathered sooner than a thread starts.
const GATHERED_HERE_MAX: u64 = 1 << 12;

/// The resources of a sort.
#[derive(Clone, Debug)]
pub struct SortLimits {
    /// The most memory in bytes, for rows, their places and buffers.
    pub memory_bytes: usize,
    /// The folder of spilled runs.
    pub spill_folder: PathBuf,
    /// The threads that sort. With more than one, sorted rows are also gathered by a thread of their own.
    pub threads: usize,
}

/// Sorts records by their keys. Records with equal keys keep their order.
///
/// Records and their order are SQLite's (see [`inorder_btree::record`]). What exceeds the memory is spilled as sorted runs
/// to one unnamed file, which disappears with the process. The result is the same to the byte.
pub struct Sorter {
    order: KeyOrder,
    limits: SortLimits,
    arena: Arena,
    pairs: Vec<Pair>,
    spill: Option<Spill>,
    is_by_prefix: bool,
    rows: u64,
    bytes: u64,
}

/// The memory of rows that were read, to be used for others.
pub struct Memory {
    arena: Arena,
    pairs: Vec<Pair>,
}

impl Sorter {
    /// An empty sorter. Without an order it keeps the order of the rows.
    pub fn new(order: Option<KeyOrder>, limits: SortLimits) -> Self {
        let order = order.unwrap_or_else(|| KeyOrder::new(Vec::new(), TextEncoding::Utf8));
        Sorter {
            arena: Arena::new(limits.memory_bytes),
            order,
            limits,
            pairs: Vec::new(),
            spill: None,
            is_by_prefix: false,
            rows: 0,
            bytes: 0,
        }
    }

    /// An empty sorter that compares the prefixes of keys only. Rows with equal prefixes keep their order, unless rows
    /// are spilled.
    pub fn by_prefix(order: KeyOrder, limits: SortLimits) -> Self {
        Sorter {
            is_by_prefix: true,
            ..Sorter::new(Some(order), limits)
        }
    }

    /// The sorter, which is empty, with the memory of another one that had the same limits.
    #[must_use]
    pub fn with_memory(self, memory: Memory) -> Self {
        let Memory { arena, pairs } = memory;
        Sorter {
            arena,
            pairs,
            ..self
        }
    }

    /// Adds a record and its origin.
    ///
    /// # Errors
    /// If a run can't be spilled.
    #[inline]
    pub fn push(&mut self, record: &[u8], origin: Origin) -> io::Result<()> {
        let place = self.arena.push(record, origin);
        reserve(&mut self.pairs, 1);
        self.pairs.push((self.order.prefix(record), place));
        self.rows += 1;
        self.bytes += record.len() as u64;
        if self.is_over() {
            self.spill_run()?;
        }
        Ok(())
    }

    /// Adds the record that `write` appends, most often of so many bytes at most, and its origin.
    ///
    /// # Errors
    /// Those of `write`, or the inner one if a run can't be spilled.
    #[inline]
    pub fn push_with<E>(
        &mut self,
        bytes_max: usize,
        origin: Origin,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<io::Result<()>, E> {
        let (place, record) = self.arena.push_with(bytes_max, origin, write)?;
        reserve(&mut self.pairs, 1);
        self.pairs.push((self.order.prefix(record), place));
        self.rows += 1;
        self.bytes += record.len() as u64;
        Ok(match self.is_over() {
            true => self.spill_run(),
            false => Ok(()),
        })
    }

    /// An empty portion of rows. The numbers of portions begin with [`Sorter::next_number`].
    pub fn portion(&mut self) -> Portion {
        let spare = self.arena.spare().unwrap_or_default();
        Portion::new(self.order.clone(), spare, self.arena.threads_chunk_bytes())
    }

    /// The number of the portion that follows the rows added.
    pub fn next_number(&self) -> usize {
        self.arena.next_number()
    }

    /// Adds the rows of a portion, which can begin anew. [`Sorter::end`] ends it.
    pub fn add(&mut self, portion: &mut Portion) {
        self.rows += portion.rows() as u64;
        self.bytes += portion.record_bytes() as u64;
        self.arena.count(portion.bytes());
        reserve(&mut self.pairs, portion.pairs.len());
        self.pairs.append(&mut portion.pairs);
        if !portion.end() {
            self.take_chunk(portion);
        }
    }

    /// Takes what a portion that was added has kept for the next one.
    pub fn end(&mut self, mut portion: Portion) {
        self.take_chunk(&mut portion);
    }

    fn take_chunk(&mut self, portion: &mut Portion) {
        let (chunk, numbers) = portion.take_chunk(self.arena.spare());
        self.arena.put(chunk, numbers);
    }

    /// Whether the rows exceed the memory. Those of portions are spilled by [`Sorter::spill_if_over`].
    pub fn is_over(&self) -> bool {
        self.memory_bytes() > self.limits.memory_bytes
    }

    /// Spills the rows if they exceed the memory. All portions must have been added.
    ///
    /// # Errors
    /// If the run can't be spilled.
    pub fn spill_if_over(&mut self) -> io::Result<()> {
        match self.is_over() {
            true => self.spill_run(),
            false => Ok(()),
        }
    }

    /// The rows added.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The memory of the rows, in bytes.
    #[inline]
    pub fn memory_bytes(&self) -> usize {
        self.arena.used_bytes() + self.pairs.len() * size_of::<Pair>()
    }

    fn sort(&mut self) {
        if self.order.columns().is_empty() {
            // Portions are added in any order, each of them in its own: this sort merges what is in order.
            self.pairs.sort_by_key(|(_, place)| *place);
            return;
        }
        match self.is_by_prefix {
            true => sort_pairs(&mut self.pairs, |tied| tied.sort_unstable()),
            false => sort_rows(
                &self.arena,
                &self.order,
                &mut self.pairs,
                self.limits.threads,
            ),
        }
    }

    #[cold]
    fn spill_run(&mut self) -> io::Result<()> {
        self.sort();
        let spill = match &mut self.spill {
            Some(spill) => spill,
            none => none.insert(Spill::create(&self.limits.spill_folder)?),
        };
        let arena = std::mem::replace(&mut self.arena, Arena::new(0));
        let mut in_memory = InMemory::new(arena, std::mem::take(&mut self.pairs));
        while in_memory.advance() {
            let (record, origin) = in_memory.row();
            spill.push(record, origin)?;
        }
        spill.end_run()?;
        (self.arena, self.pairs) = in_memory.into_parts();
        self.arena.clear();
        self.pairs.clear();
        Ok(())
    }

    /// The rows in order.
    ///
    /// # Errors
    /// If a run can't be spilled or read back.
    pub fn finish(mut self) -> io::Result<Sorted> {
        if self.spill.is_none() {
            self.sort();
            // What is in order is copied in no time.
            let is_sorted = !self.order.columns().is_empty();
            let is_ahead = is_sorted && self.limits.threads > 1 && self.rows > GATHERED_HERE_MAX;
            let rows = InMemory::new(self.arena, self.pairs);
            return Ok(Sorted {
                rows: self.rows,
                bytes: self.bytes,
                spilled_bytes: 0,
                freed_bytes: 0,
                from: match is_ahead {
                    true => From::Ahead(Ahead::start(rows)),
                    false => From::Memory(rows),
                },
            });
        }
        if !self.pairs.is_empty() {
            self.spill_run()?;
        }
        let Sorter {
            order,
            limits,
            arena,
            pairs,
            spill,
            rows,
            bytes,
            ..
        } = self;
        // Their memory is the runs' now.
        drop((arena, pairs));
        let mut spill = spill.expect("something was spilled");
        let mut spilled_bytes = spill.bytes();
        let runs_max = (limits.memory_bytes / RUN_BYTES_MIN).max(2);
        while spill.runs() > runs_max {
            spill = merge_some(&order, &limits, &spill, runs_max)?;
            spilled_bytes += spill.bytes();
        }
        let readers = spill.readers(buffer_bytes(&limits, spill.runs())).collect();
        let merge = Merge::new(order, readers)?;
        Ok(Sorted {
            rows,
            bytes,
            spilled_bytes,
            freed_bytes: if spill.gives_back() { spill.bytes() } else { 0 },
            from: match limits.threads > 1 {
                true => From::Ahead(Ahead::start(merge)),
                false => From::Runs(merge),
            },
        })
    }
}

/// Sorts rows by their keys, in several threads. Those with equal keys are sorted by their places.
fn sort_rows(
    records: &(impl Records + Sync),
    order: &KeyOrder,
    pairs: &mut [Pair],
    threads: usize,
) {
    sort_apart(pairs, threads, &|part: &mut [Pair]| {
        sort_part(records, order, part)
    });
}

/// As [`sort_rows`], in this thread.
pub(super) fn sort_part(records: &impl Records, order: &KeyOrder, pairs: &mut [Pair]) {
    sort_pairs(pairs, |tied| {
        let prefix = tied[0].0;
        settle(records, order, tied, 0);
        tied.iter_mut().for_each(|pair| pair.0 = prefix);
    });
}

/// Fewer rows are sorted faster by comparing whole keys.
const WORDED_MIN: usize = 8;

/// Rows whose words are read together.
const WORDED_AT_ONCE: usize = 32;

/// Sorts rows whose keys begin alike by the words of their keys from this one on.
///
/// Each word costs one look at each row. Comparing them costs two for each comparison: 1.6 million rows of which 160
/// have the same prefix took 1.1 µs per row by comparing.
fn settle(records: &impl Records, order: &KeyOrder, tied: &mut [Pair], word: usize) {
    if tied.len() < WORDED_MIN || word == WORDS {
        tied.sort_unstable_by(|&(_, a), &(_, b)| {
            order
                .compare(records.record(a), records.record(b))
                .then_with(|| a.cmp(&b))
        });
        return;
    }
    for some in tied.chunks_mut(WORDED_AT_ONCE) {
        // The memory of all is fetched at once, not one by one.
        let first = |(_, place): &Pair| records.record(*place).first().copied().unwrap_or(0);
        std::hint::black_box(some.iter().map(first).fold(0, u8::wrapping_add));
        for (number, place) in some {
            *number = order.words(records.record(*place))[word];
        }
    }
    sort_pairs(tied, |tied| settle(records, order, tied, word + 1));
}

fn buffer_bytes(limits: &SortLimits, runs: usize) -> usize {
    (limits.memory_bytes / runs.max(1)).clamp(RUN_BYTES_MIN, RUN_BYTES_MAX)
}

/// Merges neighbouring runs so that there are fewer, each still in the order of the input.
fn merge_some(
    order: &KeyOrder,
    limits: &SortLimits,
    from: &Spill,
    runs_max: usize,
) -> io::Result<Spill> {
    let mut to = Spill::create(&limits.spill_folder)?;
    let mut readers = from.readers(buffer_bytes(limits, runs_max));
    loop {
        let group: Vec<_> = readers.by_ref().take(runs_max).collect();
        if group.is_empty() {
            return Ok(to);
        }
        let mut merge = Merge::new(order.clone(), group)?;
        while merge.advance()? {
            let (record, origin) = merge.row();
            to.push(record, origin)?;
        }
        to.end_run()?;
    }
}

/// Records in the order of their keys.
pub struct Sorted {
    rows: u64,
    bytes: u64,
    spilled_bytes: u64,
    freed_bytes: u64,
    from: From,
}

enum From {
    Memory(InMemory<Arena>),
    Runs(Merge),
    Ahead(Ahead),
}

impl Sorted {
    /// The total number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The total bytes of the records.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes that were written to the spill folder.
    pub fn spilled_bytes(&self) -> u64 {
        self.spilled_bytes
    }

    /// Bytes of the spill folder that become free as the records are read.
    pub fn freed_bytes(&self) -> u64 {
        self.freed_bytes
    }

    /// The memory of the records, if they were in memory and no other thread has it.
    pub fn into_memory(self) -> Option<Memory> {
        let From::Memory(rows) = self.from else {
            return None;
        };
        let (mut arena, mut pairs) = rows.into_parts();
        arena.clear();
        pairs.clear();
        Some(Memory { arena, pairs })
    }

    /// The next record, with the number that was given with it.
    ///
    /// # Errors
    /// If a run can't be read back.
    #[allow(clippy::should_implement_trait)]
    #[inline]
    pub fn next(&mut self) -> io::Result<Option<(&[u8], Origin)>> {
        Ok(self.advance()?.then(|| self.row()))
    }

    /// Advances to the next record. Returns false if there is none.
    ///
    /// # Errors
    /// If a run can't be read back.
    #[inline]
    pub(crate) fn advance(&mut self) -> io::Result<bool> {
        match &mut self.from {
            From::Memory(in_memory) => Ok(in_memory.advance()),
            From::Runs(merge) => merge.advance(),
            From::Ahead(ahead) => ahead.advance(),
        }
    }

    /// The record that was advanced to, with the number that was given with it.
    // A call returns them through memory, from where they were copied before they had arrived.
    #[inline(always)]
    pub(crate) fn row(&self) -> (&[u8], Origin) {
        match &self.from {
            From::Memory(in_memory) => in_memory.row(),
            From::Runs(merge) => merge.row(),
            From::Ahead(ahead) => ahead.row(),
        }
    }

    /// Whether the prefix of its key is that of the record before: where it isn't, the keys differ.
    #[inline]
    pub(crate) fn is_tied(&self) -> bool {
        match &self.from {
            From::Memory(in_memory) => in_memory.is_tied(0),
            From::Runs(merge) => merge.is_tied(),
            From::Ahead(ahead) => ahead.is_tied(),
        }
    }

    /// Whether the next record may be tied with it.
    #[inline]
    pub(crate) fn may_tie_next(&self) -> bool {
        match &self.from {
            From::Memory(in_memory) => in_memory.is_tied(1),
            From::Runs(_) => true,
            From::Ahead(ahead) => ahead.may_tie_next(),
        }
    }
}

impl InOrder for InMemory<Arena> {
    #[inline]
    fn advance(&mut self) -> io::Result<bool> {
        Ok(InMemory::advance(self))
    }

    #[inline]
    fn row(&self) -> (&[u8], Origin) {
        InMemory::row(self)
    }

    #[inline]
    fn is_tied(&self) -> bool {
        InMemory::is_tied(self, 0)
    }

    #[inline]
    fn may_tie_next(&self) -> bool {
        InMemory::is_tied(self, 1)
    }
}

impl InOrder for Merge {
    #[inline]
    fn advance(&mut self) -> io::Result<bool> {
        Merge::advance(self)
    }

    #[inline]
    fn row(&self) -> (&[u8], Origin) {
        Merge::row(self)
    }

    #[inline]
    fn is_tied(&self) -> bool {
        Merge::is_tied(self)
    }

    #[inline]
    fn may_tie_next(&self) -> bool {
        true
    }
}
