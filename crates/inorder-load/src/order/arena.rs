//! Keeps rows end to end in large chunks: no allocation per row, and no copying as it grows.
//!
//! Tried and rejected: dealing rows into 32 streams by their keys, to read sorted rows from the CPU caches, cost as much in
//! writing as it saved in reading.

use super::large_pages::reserve;

/// The largest chunk in bytes. An offset takes 32 bits.
const CHUNK_BYTES_MAX: usize = 1 << 25;

/// The largest chunk of a thread: every thread has one that is not full.
const THREADS_CHUNK_BYTES_MAX: usize = 1 << 23;

/// The size of a cache line.
pub(super) const LINE_BYTES: usize = 64;

/// The bytes before each record: its length and origin.
pub(super) const FRAME_BYTES: usize = 12;

/// The origin of a row, numbered by the caller.
pub type Origin = u64;

/// The place of a row in an arena. Places ascend in the order of the rows.
pub(super) type Place = u64;

/// Keeps records that are found by their places.
pub trait Records {
    /// The record at a place that was given out.
    fn record(&self, place: u64) -> &[u8];

    /// A byte at the place, to fetch its memory.
    #[inline]
    fn first_byte(&self, place: u64) -> u8 {
        self.record(place).first().copied().unwrap_or(0)
    }
}

impl Records for Arena {
    #[inline]
    fn record(&self, place: Place) -> &[u8] {
        self.get(place).0
    }

    #[inline]
    fn first_byte(&self, place: Place) -> u8 {
        let chunk = self.chunk(place);
        let at = place as u32 as usize;
        // Most rows are in two lines. The frame is in the first one.
        let next = chunk.get(at + LINE_BYTES).copied().unwrap_or(0);
        chunk[at].wrapping_add(next)
    }
}

pub(super) struct Arena {
    chunks: Vec<Vec<u8>>,
    /// The chunk that has the rows of each number. Numbers ascend in the order of the rows.
    chunk_of: Vec<u32>,
    /// Empty chunks.
    spare: Vec<Vec<u8>>,
    chunk_bytes: usize,
    used_bytes: usize,
}

impl Arena {
    /// An empty arena that will hold up to about `memory_bytes`.
    pub(super) fn new(memory_bytes: usize) -> Self {
        Arena {
            chunks: Vec::new(),
            chunk_of: Vec::new(),
            spare: Vec::new(),
            chunk_bytes: (memory_bytes / 8).clamp(1 << 16, CHUNK_BYTES_MAX),
            used_bytes: 0,
        }
    }

    /// Keeps a record.
    #[inline]
    pub(super) fn push(&mut self, record: &[u8], origin: Origin) -> Place {
        let bytes = FRAME_BYTES + record.len();
        let place = self.next_place(bytes);
        let last = self.chunks.len() - 1;
        self.chunks[last].extend_from_slice(&frame(record, origin));
        self.chunks[last].extend_from_slice(record);
        self.used_bytes += bytes;
        place
    }

    /// Keeps the record that `write` appends, most often of so many bytes at most. Returns its place and the record.
    ///
    /// # Errors
    /// Those of `write`.
    #[inline]
    pub(super) fn push_with<E>(
        &mut self,
        bytes_max: usize,
        origin: Origin,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(Place, &[u8]), E> {
        let place = self.next_place(FRAME_BYTES + bytes_max);
        let last = self.chunks.len() - 1;
        let record = framed(&mut self.chunks[last], origin, write)?;
        self.used_bytes += FRAME_BYTES + record.len();
        Ok((place, record))
    }

    /// The place of the next row, in a chunk with room for so many bytes.
    #[inline]
    fn next_place(&mut self, bytes: usize) -> Place {
        let has_room = |chunk: &Vec<u8>| chunk.capacity() - chunk.len() >= bytes;
        if !self.chunks.last().is_some_and(has_room) {
            self.begin_chunk(bytes);
        }
        let number = self.chunk_of.len() as u64 - 1;
        number << 32 | self.chunks[self.chunks.len() - 1].len() as u64
    }

    #[cold]
    fn begin_chunk(&mut self, bytes: usize) {
        let mut chunk = self.spare.pop().unwrap_or_default();
        reserve(&mut chunk, bytes.max(self.chunk_bytes));
        let number = self.next_number();
        self.put(chunk, [number]);
    }

    /// The number that follows those given out.
    pub(super) fn next_number(&self) -> usize {
        self.chunk_of.len()
    }

    /// The bytes of a chunk that a thread fills.
    pub(super) fn threads_chunk_bytes(&self) -> usize {
        self.chunk_bytes.min(THREADS_CHUNK_BYTES_MAX)
    }

    /// Counts bytes of rows whose chunk is put later.
    pub(super) fn count(&mut self, bytes: usize) {
        self.used_bytes += bytes;
    }

    /// Keeps a chunk with the rows of some numbers, which were counted, from [`Arena::next_number`] on.
    pub(super) fn put(&mut self, chunk: Vec<u8>, numbers: impl IntoIterator<Item = usize>) {
        let place = u32::try_from(self.chunks.len()).expect("less than 2^32 chunks");
        for number in numbers {
            if self.chunk_of.len() <= number {
                self.chunk_of.resize(number + 1, u32::MAX);
            }
            self.chunk_of[number] = place;
        }
        self.chunks.push(chunk);
    }

    /// An empty chunk whose memory was used before, if there is one.
    pub(super) fn spare(&mut self) -> Option<Vec<u8>> {
        self.spare.pop()
    }

    /// The record and origin at a place.
    #[inline]
    pub(super) fn get(&self, place: Place) -> (&[u8], Origin) {
        unframe(&self.chunk(place)[place as u32 as usize..]).expect("a place that was given out")
    }

    #[inline]
    fn chunk(&self, place: Place) -> &[u8] {
        &self.chunks[self.chunk_of[(place >> 32) as usize] as usize]
    }

    /// Bytes of the rows kept.
    pub(super) fn used_bytes(&self) -> usize {
        self.used_bytes
    }

    /// Removes the rows and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.chunks.iter_mut().for_each(Vec::clear);
        self.spare.append(&mut self.chunks);
        self.chunk_of.clear();
        self.used_bytes = 0;
    }
}

/// The header of a record.
#[inline]
pub(super) fn frame(record: &[u8], origin: Origin) -> [u8; FRAME_BYTES] {
    let length = u32::try_from(record.len()).expect("a record of less than 4 GiB");
    let mut frame = [0; FRAME_BYTES];
    frame[..4].copy_from_slice(&length.to_le_bytes());
    frame[4..].copy_from_slice(&origin.to_le_bytes());
    frame
}

/// Appends the record that `write` appends, behind its frame. Returns the record.
#[inline]
pub(super) fn framed<E>(
    chunk: &mut Vec<u8>,
    origin: Origin,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> Result<&[u8], E> {
    let start = chunk.len();
    chunk.extend_from_slice(&[0; FRAME_BYTES]);
    if let Err(error) = write(chunk) {
        chunk.truncate(start);
        return Err(error);
    }
    let (header, record) = chunk[start..].split_at_mut(FRAME_BYTES);
    header.copy_from_slice(&frame(record, origin));
    Ok(record)
}

/// The record that these bytes begin with, and its origin; `None` where they end before it does.
#[inline]
pub(super) fn unframe(bytes: &[u8]) -> Option<(&[u8], Origin)> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (origin, rest) = rest.split_first_chunk::<8>()?;
    let record = rest.get(..u32::from_le_bytes(*length) as usize)?;
    Some((record, u64::from_le_bytes(*origin)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_any_size_come_back_and_places_ascend() {
        let mut arena = Arena::new(0);
        for round in 0..3u8 {
            let sizes = [0, 1, 1 << 15, (1 << 16) - FRAME_BYTES, 1 << 17, 5, 1 << 16];
            let rows: Vec<Vec<u8>> = sizes.iter().map(|&size| vec![round; size]).collect();
            let places: Vec<Place> = (0..)
                .zip(&rows)
                .map(|(i, row)| arena.push(row, i))
                .collect();
            assert!(places.is_sorted_by(|a, b| a < b), "{places:?}");
            for (i, (place, row)) in (0..).zip(places.iter().zip(&rows)) {
                assert_eq!(arena.get(*place), (&row[..], i));
            }
            let bytes: usize = sizes.iter().map(|size| size + FRAME_BYTES).sum();
            assert_eq!(arena.used_bytes(), bytes);
            arena.clear();
        }
    }
}
