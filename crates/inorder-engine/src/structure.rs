//! Structure of a table: its columns, and the pages of the table and its indexes.

/// A column as described by the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnInfo {
    /// Its name.
    pub name: String,
    /// Declared type, as written.
    pub declared_type: String,
    /// Whether an INSERT may omit it: nullable, with a default, or assigned by the engine.
    pub is_optional: bool,
    /// Position in the primary key from 1, or 0.
    pub primary_key: u32,
}

/// One B-tree or heap: a table or an index. `None` is a value that the engine does not report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tree {
    /// The name of the table or index.
    pub name: String,
    /// The table of the tree (for a table, its name).
    pub table: String,
    /// Whether it is an index (a WITHOUT ROWID table is a table).
    pub is_index: bool,
    /// Number of pages, including overflow pages.
    pub pages: u64,
    /// Leaf pages.
    pub leaf_pages: Option<u64>,
    /// Interior pages.
    pub interior_pages: Option<u64>,
    /// Overflow pages.
    pub overflow_pages: Option<u64>,
    /// Levels from the root to a leaf; 1 for a tree of one page.
    pub depth: Option<u32>,
    /// Mean number of children per interior page; `None` without interior pages.
    pub fanout: Option<f64>,
    /// Share of the bytes on its pages that cells use, 0 to 1.
    pub fill: Option<f64>,
    /// Total size of its pages in bytes.
    pub size_bytes: u64,
    /// Bytes of stored payload.
    pub payload_bytes: Option<u64>,
    /// Entries on leaf pages, and on interior pages if the engine stores entries there.
    pub entries: Option<u64>,
}

/// Fill of the leaf pages of a tree in key order, for the map of page fill.
#[derive(Clone, Debug, PartialEq)]
pub struct PageFill {
    /// The tree.
    pub name: String,
    /// Page number and fill (0 to 1) of each leaf in key order. Empty if the engine does not report it.
    pub leaves: Vec<(u64, f32)>,
}
