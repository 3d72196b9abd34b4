//! The pointer map of databases with auto-vacuum: the referrer of each page.
//!
//! Source: <https://www.sqlite.org/fileformat2.html#pointer_map_or_ptrmap_pages>.

/// The referrer of a page.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Referrer {
    /// The schema: the page is a root.
    Schema,
    /// A cell on this page: the page is the first overflow page of its payload.
    Cell(u32),
    /// This page, the one before in a chain of overflow pages.
    Chain(u32),
    /// This page of a tree, its parent.
    Parent(u32),
}

/// The bytes per entry.
pub(crate) const ENTRY_BYTES: usize = 5;

/// The entries of all pages so far.
#[derive(Debug, Default)]
pub(crate) struct PointerMap {
    entries: Vec<[u8; ENTRY_BYTES]>,
}

impl PointerMap {
    pub(crate) fn set(&mut self, page: u32, referrer: Referrer) {
        let (kind, from) = match referrer {
            Referrer::Schema => (1, 0),
            Referrer::Cell(from) => (3, from),
            Referrer::Chain(from) => (4, from),
            Referrer::Parent(from) => (5, from),
        };
        let page = page as usize;
        if self.entries.len() <= page {
            self.entries.resize(page + 1, [0; ENTRY_BYTES]);
        }
        self.entries[page][0] = kind;
        self.entries[page][1..].copy_from_slice(&u32::to_be_bytes(from));
    }

    /// The content of page `map_page` of the map, with the entries of the `pages` pages after it.
    pub(crate) fn page(&self, map_page: u32, pages: usize, page_bytes: usize) -> Vec<u8> {
        let first = map_page as usize + 1;
        let entries = self.entries.iter().skip(first).take(pages);
        let mut bytes: Vec<u8> = entries.flatten().copied().collect();
        bytes.resize(page_bytes, 0);
        bytes
    }
}
