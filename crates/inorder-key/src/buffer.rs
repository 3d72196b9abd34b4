//! Keys in bulk: one array per column, without an allocation per key.

use crate::{Encoding, KeyKind};

/// A column (or two) of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyBuffer {
    /// Keys that the engine generates: only their number is stored.
    Assigned(usize),
    /// Integer keys.
    Integers(Vec<i64>),
    /// Keys of two integer columns: bucket and sequence.
    Pairs(Vec<i64>, Vec<i64>),
    /// Keys of `width_bytes` each, end to end.
    Bytes {
        /// Bytes of one key.
        width_bytes: usize,
        /// `width_bytes * n` bytes.
        bytes: Vec<u8>,
        /// Whether the bytes are text (ASCII) rather than a blob.
        is_text: bool,
    },
}

impl KeyBuffer {
    /// Creates an empty buffer for keys of this kind and encoding.
    pub fn new(kind: KeyKind, encoding: Encoding) -> Self {
        match (kind, kind.width_bytes(encoding)) {
            (KeyKind::Serial, _) => KeyBuffer::Assigned(0),
            (KeyKind::Composite, _) => KeyBuffer::Pairs(Vec::new(), Vec::new()),
            (_, Some(width_bytes)) => KeyBuffer::Bytes {
                width_bytes,
                bytes: Vec::new(),
                is_text: matches!(encoding, Encoding::Text | Encoding::Hex),
            },
            (_, None) => KeyBuffer::Integers(Vec::new()),
        }
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        match self {
            KeyBuffer::Assigned(keys) => *keys,
            KeyBuffer::Integers(keys) | KeyBuffer::Pairs(_, keys) => keys.len(),
            KeyBuffer::Bytes {
                width_bytes, bytes, ..
            } => bytes.len() / width_bytes,
        }
    }

    /// Returns whether the buffer has no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes every key and keeps the allocation.
    pub fn clear(&mut self) {
        match self {
            KeyBuffer::Assigned(keys) => *keys = 0,
            KeyBuffer::Integers(keys) => keys.clear(),
            KeyBuffer::Pairs(buckets, keys) => {
                buckets.clear();
                keys.clear();
            }
            KeyBuffer::Bytes { bytes, .. } => bytes.clear(),
        }
    }

    /// Returns whether both buffers have the same variant, key width and type of bytes (text or blob).
    pub fn has_shape_of(&self, other: &Self) -> bool {
        use KeyBuffer::{Assigned, Bytes, Integers, Pairs};
        match (self, other) {
            (Assigned(_), Assigned(_)) | (Integers(_), Integers(_)) | (Pairs(..), Pairs(..)) => {
                true
            }
            (
                Bytes {
                    width_bytes: a,
                    is_text: b,
                    ..
                },
                Bytes {
                    width_bytes: c,
                    is_text: d,
                    ..
                },
            ) => a == c && b == d,
            _ => false,
        }
    }
}
