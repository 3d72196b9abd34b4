//! Bits of SQL.

/// A name as SQL writes it, whatever word SQLite reserves.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
