//! Table layouts: how a table is stored, by name.

use inorder_key::{Encoding, KeyKind};

/// Layouts of the built-in table, the default first. An engine reports which of them it supports.
pub const LAYOUTS: &[&str] = &["rowid", "without-rowid", "no-key"];

/// Definition of the built-in table: a key, a payload, and indexed integer columns.
#[derive(Clone, Debug)]
pub struct TableShape<'a> {
    /// Its name.
    pub name: &'a str,
    /// Kind of the key. A composite key is the columns `bucket` and `id`. Any other key is the column `id`.
    pub key: KeyKind,
    /// Encoding of the key.
    pub encoding: Encoding,
    /// Whether the engine generates the key ([`crate::Engine::key_made`]).
    pub key_made: Option<&'static str>,
    /// One of [`LAYOUTS`].
    pub layout: &'a str,
    /// Whether it has the column `payload`.
    pub has_payload: bool,
    /// Number of indexed integer columns `a1`, `a2`, ….
    pub indexes: u64,
}
