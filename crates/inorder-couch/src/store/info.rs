//! How large a database is.

/// A database in numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Info {
    /// Its name.
    pub name: String,
    /// Documents that are not deleted, design documents among them.
    pub doc_count: u64,
    /// Documents that are deleted.
    pub deleted_count: u64,
    /// The sequence of the last change.
    pub update_seq: u64,
    /// The sequence of the last purge.
    pub purge_seq: u64,
    /// When it was created, in microseconds since 1970: tells a database from an earlier one of the same name.
    pub created_microseconds: u64,
    /// A random name of its own, 32 hexadecimal digits.
    pub uuid: String,
    /// Bytes of its file and of the log beside it.
    pub file_bytes: u64,
    /// Bytes of the file that hold something.
    pub active_bytes: u64,
    /// Bytes of all winning bodies and their attachments, decoded.
    pub external_bytes: u64,
    /// Whether it is being compacted.
    pub compact_running: bool,
}
