//! How a table or an index lies on its pages.

/// One B-tree or heap: a table or an index. `None` is what its engine doesn't tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tree {
    /// The name of the table or index.
    pub name: String,
    /// The table it belongs to (its own name for a table).
    pub table: String,
    /// Whether it is an index (a WITHOUT ROWID table is a table).
    pub is_index: bool,
    /// All its pages, overflow pages too.
    pub pages: u64,
    /// Leaf pages.
    pub leaf_pages: Option<u64>,
    /// Interior pages.
    pub interior_pages: Option<u64>,
    /// Overflow pages.
    pub overflow_pages: Option<u64>,
    /// Levels from the root to a leaf; a tree of one page has 1.
    pub depth: Option<u32>,
    /// Mean children of an interior page; `None` where there is no interior page.
    pub fanout: Option<f64>,
    /// Share of the bytes on its pages that hold cells, 0 to 1.
    pub fill: Option<f64>,
    /// Bytes of its pages.
    pub size_bytes: u64,
    /// Bytes of payload stored in it.
    pub payload_bytes: Option<u64>,
    /// Entries stored on leaves (and on interior pages, where the engine keeps entries there).
    pub entries: Option<u64>,
}

/// Fill of the leaf pages of a tree in key order, for the map of page fill.
#[derive(Clone, Debug, PartialEq)]
pub struct PageFill {
    /// The tree.
    pub name: String,
    /// For each leaf in key order: its page number and its fill, 0 to 1. Empty where the engine
    /// doesn't tell.
    pub leaves: Vec<(u64, f32)>,
}
