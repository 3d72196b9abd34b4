//! The new keys of rows by their rowids, and the entries of an old index that lead to them.

use std::sync::Arc;

use inorder_btree::record::{self, Fields, Pick};
use inorder_btree::{KeyColumn, KeyOrder, Mapped, Reader, Value};
use inorder_load::order::{SortLimits, Sorter};
use memmap2::MmapMut;

use super::Failure;
use super::recipe::Joined;
use super::shape::{Source, every, needed};

/// Entries with the same terms that are sorted in a list of their own.
const TIED_MAX: usize = 1 << 14;

/// The new keys of a table's rows.
pub(super) struct Keys {
    table: Source,
    fields: Vec<usize>,
    first: i64,
    /// Where the key of each rowid is, from the first on; 0 where there is none.
    places: Vec<u64>,
    kept: Kept,
    /// The most memory, in bytes.
    memory_bytes: usize,
    /// A row, and its key.
    row: Fields,
    key: Vec<u8>,
}

/// Where keys are.
enum Kept {
    /// In their rows, which are in a file that is mapped.
    InRows(Arc<Mapped>),
    /// In records of the fields, each after its length; the first byte belongs to none.
    Apart(HugePages),
}

impl Keys {
    /// Whether these are the keys that an index needs.
    pub(super) fn are_of(&self, joined: &Joined) -> bool {
        (self.table, &self.fields) == (joined.table, &joined.keys)
    }

    /// No keys yet of a table's rows, which are in a file that is mapped and stay in memory until the keys are used.
    pub(super) fn in_rows(joined: &Joined, map: &Arc<Mapped>, memory_bytes: usize) -> Self {
        Keys::new(joined, Kept::InRows(Arc::clone(map)), memory_bytes)
    }

    fn new(joined: &Joined, kept: Kept, memory_bytes: usize) -> Self {
        Keys {
            table: joined.table,
            fields: joined.keys.clone(),
            first: 0,
            places: Vec::new(),
            kept,
            memory_bytes,
            row: Fields::default(),
            key: Vec::new(),
        }
    }

    /// Reads the keys of a table; `None` where they take more memory than this.
    pub(super) fn read(
        reader: &mut Reader,
        joined: &Joined,
        memory_bytes: usize,
        mut look: impl FnMut() -> Result<(), Failure>,
    ) -> Result<Option<Self>, Failure> {
        let apart = Kept::Apart(HugePages::new(memory_bytes));
        let mut keys = Keys::new(joined, apart, memory_bytes);
        let read = every(reader, joined.table, |rowid, row| {
            look()?;
            match keys.add(rowid, row) {
                true => Ok(()),
                false => Err(Failure::Unforeseen(TOO_LARGE)),
            }
        });
        match read {
            Err(Failure::Unforeseen(TOO_LARGE)) => Ok(None),
            read => read.map(|()| Some(keys)),
        }
    }

    /// Adds the key of a row; false where it is too much, or not where the others are.
    #[inline]
    pub(super) fn add(&mut self, rowid: i64, row: &[u8]) -> bool {
        if self.places.is_empty() {
            self.first = rowid;
        }
        let Some(at) = self.at(rowid).filter(|at| *at >= self.places.len()) else {
            return false;
        };
        let places = at.saturating_add(1).saturating_mul(size_of::<u64>());
        let Some(room) = self.memory_bytes.checked_sub(places) else {
            return false;
        };
        let place = match &mut self.kept {
            Kept::InRows(map) => map.place(row),
            Kept::Apart(bytes) => {
                self.key.clear();
                self.row
                    .read_first(row, needed(self.fields.iter().copied()));
                let picks = self.fields.iter().copied().map(Pick::Value);
                self.row.write(row, picks, &mut self.key);
                bytes.keep(&self.key, room)
            }
        };
        self.places.resize(at, 0);
        self.places.extend(place);
        place.is_some()
    }

    #[inline]
    fn at(&self, rowid: i64) -> Option<usize> {
        usize::try_from(rowid.checked_sub(self.first)?).ok()
    }

    /// Where the key of a row is; 0 where there is none.
    #[inline]
    fn place(&self, rowid: i64) -> u64 {
        let place = self.at(rowid).and_then(|at| self.places.get(at));
        place.map_or(0, |place| *place)
    }

    /// What is kept at a place: a row, or the record of its key.
    #[inline]
    fn at_place(&self, place: u64) -> Option<&[u8]> {
        match &self.kept {
            _ if place == 0 => None,
            Kept::InRows(map) => Some(map.record(place)),
            Kept::Apart(bytes) => bytes.at(place as usize),
        }
    }

    /// Where the values of a key are in what is kept of it.
    fn fields_kept(&self) -> Vec<usize> {
        match self.kept {
            Kept::Apart(_) => (0..self.fields.len()).collect(),
            Kept::InRows(_) => self.fields.clone(),
        }
    }
}

/// Bytes that are read in any order, in large pages of memory where the system has them. It provides a page when that is
/// written to.
struct HugePages {
    memory: Option<MmapMut>,
    used: usize,
}

impl HugePages {
    /// One byte, with room for some others.
    fn new(room: usize) -> Self {
        let memory = MmapMut::map_anon(room.max(1)).ok();
        #[cfg(target_os = "linux")]
        if let Some(memory) = &memory {
            // It is as good without them.
            _ = memory.advise(memmap2::Advice::HugePage);
        }
        HugePages { memory, used: 1 }
    }

    /// Keeps a record; `None` where that takes more room than this.
    #[inline]
    fn keep(&mut self, record: &[u8], room: usize) -> Option<u64> {
        let place = self.used;
        let mut length = [0; record::varint::BYTES_MAX];
        let length_bytes = record::varint::write(record.len() as u64, &mut length);
        let has_room = place + length_bytes + record.len() <= room;
        let is_kept = has_room && self.push(&length[..length_bytes]) && self.push(record);
        is_kept.then_some(place as u64)
    }

    /// The record at a place.
    #[inline]
    fn at(&self, place: usize) -> Option<&[u8]> {
        let record = self.get(place..)?;
        let (bytes, read) = record::varint::read(record)?;
        record.get(read..)?.get(..bytes as usize)
    }

    /// Adds bytes; false where there is no room.
    #[inline]
    fn push(&mut self, bytes: &[u8]) -> bool {
        let memory = self
            .memory
            .as_mut()
            .and_then(|memory| memory.get_mut(self.used..));
        let Some(place) = memory.and_then(|memory| memory.get_mut(..bytes.len())) else {
            return false;
        };
        place.copy_from_slice(bytes);
        self.used += bytes.len();
        true
    }
}

impl std::ops::Deref for HugePages {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        let memory = self.memory.as_deref().unwrap_or(&[0]);
        &memory[..self.used]
    }
}

const TOO_LARGE: &str = "the keys take too much memory";

/// Gives the entries of an index with the new keys, in the new order.
pub(super) fn join(
    reader: &mut Reader,
    joined: &Joined,
    keys: &Keys,
    limits: &SortLimits,
    mut push: impl FnMut(&[u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let fields = keys.fields_kept();
    let mut batch = Batch {
        keys,
        needed: needed(fields.iter().copied()),
        picks: fields.into_iter().map(Pick::Value).collect(),
        tied: Tied::new(joined, limits),
        bytes: Vec::new(),
        entries: Vec::new(),
        fields: Fields::default(),
        made: Vec::new(),
    };
    let mut values = Fields::default();
    reader.index(joined.index.root, |entry| -> Result<(), Failure> {
        values.read_first(entry, joined.terms + 1);
        let (Some(Value::Integer(rowid)), Some((types, body))) = (
            values.value(entry, joined.terms),
            values.first(entry, joined.terms),
        ) else {
            return Err(Failure::Unforeseen(NO_ROW));
        };
        match batch.add(rowid, types, body) {
            BATCH => batch.give(&mut push),
            _ => Ok(()),
        }
    })?;
    batch.give(&mut push)?;
    batch.tied.flush(&mut push)
}

/// Entries whose keys are looked up together: the memory of all is fetched at once, not one after another.
const BATCH: usize = 64;

const NO_ROW: &str = "an index has an entry of no row";

struct Batch<'a> {
    keys: &'a Keys,
    /// Where the values of a key are in what is kept of it, and how many values of that are read.
    picks: Vec<Pick>,
    needed: usize,
    tied: Tied<'a>,
    /// The terms of all entries.
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    /// The fields of what is kept of a key.
    fields: Fields,
    made: Vec<u8>,
}

/// An entry of the old index: its rowid, and where the serial types and the bodies of its terms end.
struct Entry {
    rowid: i64,
    types_end: usize,
    end: usize,
}

impl Batch<'_> {
    /// Adds an entry. Returns how many there are.
    #[inline]
    fn add(&mut self, rowid: i64, types: &[u8], body: &[u8]) -> usize {
        self.bytes.extend_from_slice(types);
        let types_end = self.bytes.len();
        self.bytes.extend_from_slice(body);
        self.entries.push(Entry {
            rowid,
            types_end,
            end: self.bytes.len(),
        });
        self.entries.len()
    }

    fn give(&mut self, push: &mut impl FnMut(&[u8]) -> Result<(), Failure>) -> Result<(), Failure> {
        let mut kept = [None; BATCH];
        for (kept, entry) in kept.iter_mut().zip(&self.entries) {
            *kept = self.keys.at_place(self.keys.place(entry.rowid));
        }
        self.fetch(&kept);
        let mut from = 0;
        for (entry, kept) in self.entries.iter().zip(kept) {
            let kept = kept.ok_or(Failure::Unforeseen(NO_ROW))?;
            self.fields.read_first(kept, self.needed);
            let terms = [from..entry.types_end, entry.types_end..entry.end];
            let picks = self.picks.iter().copied();
            self.made.clear();
            self.fields
                .write_after(&self.bytes, terms, kept, picks, &mut self.made);
            self.tied.add(&mut self.made, push)?;
            from = entry.end;
        }
        self.bytes.clear();
        self.entries.clear();
        Ok(())
    }

    /// Fetches the memory of all keys: first of their serial types, which say how far they reach.
    fn fetch(&mut self, kept: &[Option<&[u8]>]) {
        let first = kept.iter().flatten().filter_map(|kept| kept.first());
        let mut sum = std::hint::black_box(first.fold(0, |sum: u8, byte| sum.wrapping_add(*byte)));
        for kept in kept.iter().flatten() {
            self.fields.read_first(kept, self.needed);
            let last = kept.get(self.fields.end().saturating_sub(1));
            sum = sum.wrapping_add(last.copied().unwrap_or(0));
        }
        std::hint::black_box(sum);
    }
}

/// Entries with the same terms: the new keys decide about their order.
struct Tied<'a> {
    joined: &'a Joined,
    limits: &'a SortLimits,
    /// The order of the new keys.
    rest: KeyOrder,
    bytes: Vec<u8>,
    /// The prefix of each key, and where the entry is.
    entries: Vec<(u64, (usize, usize))>,
    /// Has them if they are many.
    sorter: Option<Sorter>,
}

impl<'a> Tied<'a> {
    fn new(joined: &'a Joined, limits: &'a SortLimits) -> Self {
        let rest: &[KeyColumn] = joined.order.columns().get(joined.terms..).unwrap_or(&[]);
        Tied {
            joined,
            limits,
            rest: KeyOrder::new(rest.to_vec(), joined.order.encoding()),
            bytes: Vec::new(),
            entries: Vec::new(),
            sorter: None,
        }
    }

    /// Adds an entry, and gives those before it unless it has their terms. `entry` has other bytes then.
    #[inline]
    fn add(
        &mut self,
        entry: &mut Vec<u8>,
        push: &mut impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if let Some((_, (from, to))) = self.entries.last() {
            let last = &self.bytes[*from..*to];
            if self.joined.order.is_tied(last, entry, self.joined.terms) {
                return self.add_tied(entry);
            }
            self.flush(push)?;
        }
        // Most entries are alone: they are not copied.
        std::mem::swap(&mut self.bytes, entry);
        self.entries.push((0, (0, self.bytes.len())));
        Ok(())
    }

    /// Adds an entry with the terms of those before it.
    fn add_tied(&mut self, entry: &[u8]) -> Result<(), Failure> {
        if self.entries.len() == TIED_MAX {
            let order = self.joined.order.clone();
            let new = || Sorter::new(Some(order), self.limits.clone());
            let sorter = self.sorter.get_or_insert_with(new);
            for (_, (from, to)) in self.entries.drain(..) {
                sorter.push(&self.bytes[from..to], 0)?;
            }
            self.bytes.clear();
        }
        let from = self.bytes.len();
        self.bytes.extend_from_slice(entry);
        self.entries.push((0, (from, self.bytes.len())));
        Ok(())
    }

    /// Gives the entries.
    fn flush(
        &mut self,
        push: &mut impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let (bytes, rest) = (&self.bytes, &self.rest);
        if let Some(mut sorter) = self.sorter.take() {
            for (_, (from, to)) in self.entries.drain(..) {
                sorter.push(&bytes[from..to], 0)?;
            }
            let mut sorted = sorter.finish()?;
            while let Some((entry, _)) = sorted.next()? {
                push(entry)?;
            }
        }
        if self.entries.len() > 1 {
            for (prefix, (from, to)) in &mut self.entries {
                *prefix = rest.prefix(&bytes[*from..*to]);
            }
            record::sort_pairs(&mut self.entries, |equal| {
                equal.sort_unstable_by(|(_, a), (_, b)| {
                    rest.compare(&bytes[a.0..a.1], &bytes[b.0..b.1])
                });
            });
        }
        for (_, (from, to)) in self.entries.drain(..) {
            push(&bytes[from..to])?;
        }
        self.bytes.clear();
        Ok(())
    }
}
