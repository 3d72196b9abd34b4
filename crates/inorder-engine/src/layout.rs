//! Table layouts: how a table is stored, by name.

use inorder_key::{Encoding, KeyKind};

/// The layouts of the built-in table, the default first. An engine says which it has.
pub const LAYOUTS: &[&str] = &["rowid", "without-rowid", "no-key"];

/// The built-in table: a key, a payload, and integers with an index each.
#[derive(Clone, Debug)]
pub struct TableShape<'a> {
    /// Its name.
    pub name: &'a str,
    /// The kind of its key. A composite key is the columns `bucket` and `id`, any other `id`.
    pub key: KeyKind,
    /// How the key is stored.
    pub encoding: Encoding,
    /// Whether the engine makes the key as rows come: its [`crate::Engine::key_made`].
    pub key_made: Option<&'static str>,
    /// One of [`LAYOUTS`].
    pub layout: &'a str,
    /// Whether it has the column `payload`.
    pub has_payload: bool,
    /// Columns `a1`, `a2`, … of integers, each with an index.
    pub indexes: u64,
}
