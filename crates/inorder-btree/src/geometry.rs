//! Sizes that follow from the page size.

use crate::options::Options;

/// The kind of a page of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageKind {
    IndexInterior = 2,
    TableInterior = 5,
    IndexLeaf = 10,
    TableLeaf = 13,
}

impl PageKind {
    pub(crate) fn is_interior(self) -> bool {
        matches!(self, PageKind::IndexInterior | PageKind::TableInterior)
    }

    /// The bytes of the page header.
    pub(crate) fn header_bytes(self) -> usize {
        if self.is_interior() { 12 } else { 8 }
    }
}

/// Sizes in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Geometry {
    /// The page size.
    pub(crate) page: usize,
    /// The page size without reserved bytes.
    pub(crate) usable: usize,
    /// The bytes up to which a page is filled.
    pub(crate) filled: usize,
    /// The bytes of a payload that are never split, in a cell of any kind.
    pub(crate) whole: usize,
}

impl Geometry {
    pub(crate) fn new(options: &Options) -> Self {
        let page = options.page_bytes as usize;
        let usable = page - usize::from(options.reserved_bytes);
        let filled = usable * usize::from(options.fill_percent) / 100;
        Geometry {
            page,
            usable,
            filled,
            whole: (usable - 12) * 64 / 255 - 23,
        }
    }

    /// The bytes of a payload that stay in the cell; the others go to overflow pages.
    #[inline]
    pub(crate) fn local_bytes(&self, kind: PageKind, payload_bytes: usize) -> usize {
        let local_max = match kind {
            PageKind::TableLeaf => self.usable - 35,
            _ => (self.usable - 12) * 64 / 255 - 23,
        };
        if payload_bytes <= local_max {
            return payload_bytes;
        }
        let local_min = (self.usable - 12) * 32 / 255 - 23;
        let last_page_full = local_min + (payload_bytes - local_min) % self.overflow_bytes();
        if last_page_full <= local_max {
            last_page_full
        } else {
            local_min
        }
    }

    /// The bytes of payload per overflow page.
    pub(crate) fn overflow_bytes(&self) -> usize {
        self.usable - 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_at_4_kib_are_those_of_the_format() {
        let geometry = Geometry::new(&Options::default());
        let local = |kind, payload| geometry.local_bytes(kind, payload);
        assert_eq!(local(PageKind::TableLeaf, 4061), 4061);
        assert_eq!(local(PageKind::TableLeaf, 4062), 489);
        assert_eq!(local(PageKind::IndexLeaf, 1002), 1002);
        assert_eq!(local(PageKind::IndexLeaf, 1003), 489);
        assert_eq!(local(PageKind::IndexLeaf, 489 + 4092 + 100), 589);
    }
}
