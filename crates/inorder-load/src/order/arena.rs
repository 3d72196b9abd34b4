//! Rows kept end to end in chunks: no allocation a row, and none that is copied to grow.
//!
//! In pages of 2 MiB (`MADV_HUGEPAGE`) user time is a fifth less, but on a virtual machine that gives free
//! memory back to its host (free page reporting) system time was twice as much: 1.8 against 0.75 s for 5
//! million rows of 106 bytes. So pages are what the system makes them.

/// A chunk, unless a row is longer: many chunks are open at a time.
pub(super) const CHUNK_BYTES: usize = 1 << 16;

/// Length and origin before each record.
pub(super) const FRAME_BYTES: usize = 12;

/// Where a row came from, for messages: a number that means something to whoever gave it.
pub type Origin = u64;

/// Where a row is in an arena. Places ascend in the order of a stream's rows.
pub(super) type Place = u64;

/// Rows in streams, each with chunks of its own.
#[derive(Default)]
pub(super) struct Arena {
    chunks: Vec<Vec<u8>>,
    /// The chunks of each stream; the last is filled now.
    streams: Vec<Vec<u32>>,
    /// Empty chunks.
    spare: Vec<Vec<u8>>,
    used_bytes: usize,
}

impl Arena {
    /// Keeps a record as the last of a stream.
    #[inline]
    pub(super) fn push(&mut self, stream: usize, record: &[u8], origin: Origin) -> Place {
        let bytes = FRAME_BYTES + record.len();
        let chunk = self.chunk_with(stream, bytes);
        let filled = &mut self.chunks[chunk];
        let place = (chunk as u64) << 32 | filled.len() as u64;
        filled.extend_from_slice(&frame(record, origin));
        filled.extend_from_slice(record);
        self.used_bytes += bytes;
        place
    }

    #[inline]
    fn chunk_with(&mut self, stream: usize, bytes: usize) -> usize {
        if let Some(chunk) = self.streams.get(stream).and_then(|chunks| chunks.last()) {
            let chunk = *chunk as usize;
            if self.chunks[chunk].capacity() - self.chunks[chunk].len() >= bytes {
                return chunk;
            }
        }
        self.begin_chunk(stream, bytes)
    }

    #[cold]
    fn begin_chunk(&mut self, stream: usize, bytes: usize) -> usize {
        if self.streams.len() <= stream {
            self.streams.resize_with(stream + 1, Vec::new);
        }
        if let Some(last) = self.streams[stream].last() {
            let last = &self.chunks[*last as usize];
            self.used_bytes += last.capacity() - last.len();
        }
        let chunk = match self.spare.pop_if(|spare| spare.capacity() >= bytes) {
            Some(spare) => spare,
            None => Vec::with_capacity(bytes.max(CHUNK_BYTES)),
        };
        let number = self.chunks.len();
        self.chunks.push(chunk);
        self.streams[stream].push(number as u32);
        number
    }

    /// The record and origin at a place.
    #[inline]
    pub(super) fn get(&self, place: Place) -> (&[u8], Origin) {
        let chunk = &self.chunks[(place >> 32) as usize];
        unframe(&chunk[place as u32 as usize..]).expect("a place that was given out")
    }

    /// Bytes of the rows kept, and of what is left over at the end of chunks.
    pub(super) fn used_bytes(&self) -> usize {
        self.used_bytes
    }

    /// Forgets a stream's rows and gives their memory back.
    pub(super) fn free(&mut self, stream: usize) {
        let chunks = self.streams.get_mut(stream).map(std::mem::take);
        for chunk in chunks.into_iter().flatten() {
            self.chunks[chunk as usize] = Vec::new();
        }
    }

    /// Forgets the rows and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.streams.clear();
        self.spare.append(&mut self.chunks);
        self.spare.retain(|chunk| chunk.capacity() > 0);
        self.spare.iter_mut().for_each(Vec::clear);
        self.used_bytes = 0;
    }
}

/// What goes before a record.
#[inline]
pub(super) fn frame(record: &[u8], origin: Origin) -> [u8; FRAME_BYTES] {
    let length = u32::try_from(record.len()).expect("a record of less than 4 GiB");
    let mut frame = [0; FRAME_BYTES];
    frame[..4].copy_from_slice(&length.to_le_bytes());
    frame[4..].copy_from_slice(&origin.to_le_bytes());
    frame
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
        let mut arena = Arena::default();
        for round in 0..3u8 {
            let sizes = [0, 1, 1 << 15, (1 << 16) - FRAME_BYTES, 1 << 17, 5, 1 << 16];
            let rows: Vec<Vec<u8>> = sizes.iter().map(|&size| vec![round; size]).collect();
            let mut places = [Vec::new(), Vec::new()];
            for (i, row) in (0..).zip(&rows) {
                places[0].push(arena.push(0, row, i));
                places[1].push(arena.push(7, row, i));
            }
            for places in &places {
                assert!(places.is_sorted_by(|a, b| a < b), "{places:?}");
                for (i, (place, row)) in (0..).zip(places.iter().zip(&rows)) {
                    assert_eq!(arena.get(*place), (&row[..], i));
                }
            }
            let bytes: usize = sizes.iter().map(|size| size + FRAME_BYTES).sum();
            assert!(arena.used_bytes() >= 2 * bytes);
            if round == 1 {
                arena.free(0);
                assert_eq!(arena.get(places[1][3]), (&rows[3][..], 3));
            }
            arena.clear();
            assert_eq!(arena.used_bytes(), 0);
        }
    }
}
