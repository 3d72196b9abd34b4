//! Memory for the converted values of one row.

/// A buffer that conversions take their results from, without an allocation per row.
pub(super) struct Carver<'a>(&'a mut [u8]);

impl<'a> Carver<'a> {
    /// Uses `scratch`, resized to `bytes`.
    pub(super) fn new(scratch: &'a mut Vec<u8>, bytes: usize) -> Self {
        if scratch.len() < bytes {
            scratch.resize(bytes, 0);
        }
        Carver(scratch)
    }

    /// Passes the remaining bytes to `write`, which returns the length that it wrote. Returns that part.
    pub(super) fn carve(
        &mut self,
        write: impl FnOnce(&mut [u8]) -> Option<usize>,
    ) -> Option<&'a [u8]> {
        let free = std::mem::take(&mut self.0);
        let Some(bytes) = write(free) else {
            self.0 = free;
            return None;
        };
        let (carved, rest) = free.split_at_mut(bytes);
        self.0 = rest;
        Some(carved)
    }
}
