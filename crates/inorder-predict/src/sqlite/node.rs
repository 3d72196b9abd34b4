//! A page of a tree.

/// Bytes of a cell's pointer in its page.
pub(super) const POINTER: u32 = 2;

/// A page of the tree.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    /// The page's number in the database.
    pub(super) page: u32,
    /// Positions of its entries, ascending.
    pub(super) keys: Vec<u64>,
    /// Bytes of its cells.
    pub(super) sizes: Vec<u16>,
    /// Nodes below: one more than entries, or none.
    pub(super) children: Vec<u32>,
    /// Bytes of its cells and their pointers.
    pub(super) used: u32,
}

impl Node {
    pub(super) fn is_leaf(&self) -> bool {
        self.children.is_empty()
    }

    /// Sets its entries.
    pub(super) fn fill(&mut self, keys: &[u64], sizes: &[u16]) {
        self.keys.clear();
        self.keys.extend_from_slice(keys);
        self.sizes.clear();
        self.sizes.extend_from_slice(sizes);
        self.used = used(sizes);
    }
}

/// Bytes of cells and their pointers.
pub(super) fn used(sizes: &[u16]) -> u32 {
    sizes.iter().map(|&size| u32::from(size) + POINTER).sum()
}
