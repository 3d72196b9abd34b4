//! Assigns the numbers of pages.

use crate::error::{Error, Result};
use crate::geometry::Geometry;

/// The byte that SQLite locks. The page that contains it is never used.
pub(crate) const PENDING_BYTE: u64 = 0x4000_0000;

const PAGES_MAX: u32 = u32::MAX - 1;

/// Returns the number of the page that SQLite locks and never uses.
#[must_use]
pub fn lock_page(page_bytes: u32) -> u32 {
    (PENDING_BYTE / u64::from(page_bytes)) as u32 + 1
}

/// The use of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// A page of a tree.
    Free,
    /// A page of the pointer map.
    PointerMap,
    /// The page with the lock byte.
    Pending,
}

/// The numbers of a file's pages, from 1.
#[derive(Debug)]
pub(crate) struct Numbers {
    last: u32,
    pending: u32,
    /// Pages from one page of the pointer map to the next; `None` without a map.
    map_stride: Option<u32>,
}

impl Numbers {
    pub(crate) fn new(geometry: &Geometry, has_pointer_map: bool) -> Self {
        Numbers {
            last: 0,
            pending: lock_page(geometry.page as u32),
            map_stride: has_pointer_map.then(|| (geometry.usable / 5) as u32 + 1),
        }
    }

    /// The numbers after those of a file that is there.
    pub(crate) fn after(geometry: &Geometry, last: u32) -> Self {
        Numbers {
            last,
            ..Numbers::new(geometry, false)
        }
    }

    /// The number of pages so far.
    pub(crate) fn last(&self) -> u32 {
        self.last
    }

    /// The page of the pointer map that has the entry of a page.
    pub(crate) fn map_page_of(&self, page: u32) -> u32 {
        let stride = self.map_stride.expect("asked where there is a map");
        let map_page = (page - 2) / stride * stride + 2;
        map_page + u32::from(map_page == self.pending)
    }

    fn place(&self, page: u32) -> Place {
        if page == self.pending {
            Place::Pending
        } else if self.map_stride.is_some() && page >= 2 && self.map_page_of(page) == page {
            Place::PointerMap
        } else {
            Place::Free
        }
    }

    /// The number of the next page of a tree.
    pub(crate) fn next_free(&self) -> Result<u32> {
        let mut number = self.last;
        loop {
            number = number
                .checked_add(1)
                .filter(|&number| number <= PAGES_MAX)
                .ok_or(Error::TooManyPages)?;
            if self.place(number) == Place::Free {
                return Ok(number);
            }
        }
    }

    /// Takes the next page number, for any use.
    pub(crate) fn take(&mut self) -> Result<(u32, Place)> {
        if self.last >= PAGES_MAX {
            return Err(Error::TooManyPages);
        }
        self.last += 1;
        Ok((self.last, self.place(self.last)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;

    fn numbers(page_bytes: u32, has_pointer_map: bool) -> Numbers {
        let geometry = Geometry::new(&Options {
            page_bytes,
            ..Options::default()
        });
        Numbers::new(&geometry, has_pointer_map)
    }

    #[test]
    fn the_page_with_the_byte_at_1_gib_is_left_out() {
        for page_bytes in [512, 4096, 65536] {
            let pending = (1 << 30) / page_bytes + 1;
            let mut numbers = numbers(page_bytes, false);
            numbers.last = pending - 2;
            assert_eq!(numbers.next_free().unwrap(), pending - 1);
            assert_eq!(numbers.take().unwrap(), (pending - 1, Place::Free));
            assert_eq!(numbers.next_free().unwrap(), pending + 1);
            assert_eq!(numbers.take().unwrap(), (pending, Place::Pending));
            assert_eq!(numbers.take().unwrap(), (pending + 1, Place::Free));
        }
    }

    #[test]
    fn a_page_of_the_pointer_map_gives_way_to_the_lock_page() {
        let mut numbers = numbers(4096, true);
        assert_eq!(numbers.map_page_of(3), 2);
        assert_eq!(numbers.map_page_of(2 + 819), 2);
        assert_eq!(numbers.map_page_of(2 + 820), 2 + 820);
        numbers.pending = 2 + 820;
        numbers.last = 2 + 819;
        assert_eq!(numbers.take().unwrap(), (822, Place::Pending));
        assert_eq!(numbers.take().unwrap(), (823, Place::PointerMap));
        assert_eq!(numbers.take().unwrap(), (824, Place::Free));
        assert_eq!(numbers.map_page_of(824), 823);
    }

    #[test]
    fn the_last_number_is_the_last() {
        let mut numbers = numbers(4096, false);
        numbers.last = PAGES_MAX - 1;
        assert_eq!(numbers.next_free().unwrap(), PAGES_MAX);
        assert_eq!(numbers.take().unwrap(), (PAGES_MAX, Place::Free));
        assert!(matches!(numbers.next_free(), Err(Error::TooManyPages)));
        assert!(matches!(numbers.take(), Err(Error::TooManyPages)));
    }
}
