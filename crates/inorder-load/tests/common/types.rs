//! Declared types of columns at random.

/// Types of columns of a table that is not STRICT: every affinity, the usual ones twice.
pub const TYPES: &[&str] = &[
    "",
    "TEXT",
    "INTEGER",
    "INT",
    "REAL",
    "NUMERIC",
    "BLOB",
    "VARCHAR(10)",
    "DOUBLE",
    "ANY",
    "DATE",
    "FLOATING POINT",
    "INTEGER",
    "TEXT",
];

/// Types of columns of a STRICT table.
pub const STRICT_TYPES: &[&str] = &["TEXT", "INTEGER", "INT", "REAL", "BLOB", "ANY"];
