//! Rows kept end to end in large chunks: no allocation a row, and none that is copied to grow.

use std::io;

use memmap2::MmapMut;

/// The largest chunk: offsets in it take 32 bits with room to spare.
const CHUNK_BYTES_MAX: usize = 1 << 25;

/// Length and origin before each record.
pub(super) const FRAME_BYTES: usize = 12;

/// Where a row came from, for messages: a number that means something to whoever gave it.
pub type Origin = u64;

/// Where a row is in an arena. Places ascend in the order of the rows.
pub(super) type Place = u64;

/// Memory straight from the system, in large pages where it has them: a fault for each 4 KiB would take
/// a fifth of the time that reading and sorting take.
struct Chunk {
    memory: MmapMut,
    used: usize,
}

impl Chunk {
    fn new(bytes: usize) -> io::Result<Self> {
        let memory = MmapMut::map_anon(bytes)?;
        #[cfg(target_os = "linux")]
        // Without large pages it is slower and nothing else.
        let _ = memory.advise(memmap2::Advice::HugePage);
        Ok(Chunk { memory, used: 0 })
    }

    fn has_room(&self, bytes: usize) -> bool {
        self.memory.len() - self.used >= bytes
    }
}

pub(super) struct Arena {
    chunks: Vec<Chunk>,
    /// The chunk that is filled now; those after it are empty.
    current: usize,
    chunk_bytes: usize,
    used_bytes: usize,
}

impl Arena {
    /// An empty arena that will hold up to about `memory_bytes`.
    pub(super) fn new(memory_bytes: usize) -> Self {
        Arena {
            chunks: Vec::new(),
            current: 0,
            chunk_bytes: (memory_bytes / 8).clamp(1 << 16, CHUNK_BYTES_MAX),
            used_bytes: 0,
        }
    }

    /// Keeps a record.
    ///
    /// # Errors
    /// Where the system gives no memory.
    #[inline]
    pub(super) fn push(&mut self, record: &[u8], origin: Origin) -> io::Result<Place> {
        let bytes = FRAME_BYTES + record.len();
        let current = match self.chunks.get(self.current) {
            Some(chunk) if chunk.has_room(bytes) => self.current,
            _ => self.begin_chunk(bytes)?,
        };
        let chunk = &mut self.chunks[current];
        let place = (current as u64) << 32 | chunk.used as u64;
        let (length, rest) = chunk.memory[chunk.used..][..bytes].split_at_mut(4);
        length.copy_from_slice(&length_of(record));
        let (from, rest) = rest.split_at_mut(8);
        from.copy_from_slice(&origin.to_le_bytes());
        rest.copy_from_slice(record);
        chunk.used += bytes;
        self.used_bytes += bytes;
        Ok(place)
    }

    /// Goes to an empty chunk with room for so many bytes.
    #[cold]
    fn begin_chunk(&mut self, bytes: usize) -> io::Result<usize> {
        let is_used = self
            .chunks
            .get(self.current)
            .is_some_and(|chunk| chunk.used > 0);
        self.current += usize::from(is_used);
        let is_right = self
            .chunks
            .get(self.current)
            .map(|chunk| chunk.has_room(bytes));
        if is_right != Some(true) {
            let chunk = Chunk::new(bytes.max(self.chunk_bytes))?;
            match self.chunks.get_mut(self.current) {
                Some(small) => *small = chunk,
                None => self.chunks.push(chunk),
            }
        }
        Ok(self.current)
    }

    /// The record and origin at a place.
    #[inline]
    pub(super) fn get(&self, place: Place) -> (&[u8], Origin) {
        let chunk = &self.chunks[(place >> 32) as usize];
        unframe(&chunk.memory[place as u32 as usize..]).expect("a place that was given out")
    }

    /// Bytes of the rows kept.
    pub(super) fn used_bytes(&self) -> usize {
        self.used_bytes
    }

    /// Forgets the rows and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.chunks.iter_mut().for_each(|chunk| chunk.used = 0);
        self.current = 0;
        self.used_bytes = 0;
    }
}

/// Appends a record with its frame.
#[inline]
pub(super) fn frame(record: &[u8], origin: Origin, out: &mut Vec<u8>) {
    out.extend_from_slice(&length_of(record));
    out.extend_from_slice(&origin.to_le_bytes());
    out.extend_from_slice(record);
}

#[inline]
fn length_of(record: &[u8]) -> [u8; 4] {
    let length = u32::try_from(record.len()).expect("a record of less than 4 GiB");
    length.to_le_bytes()
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
                .map(|(i, row)| arena.push(row, i).expect("memory"))
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
