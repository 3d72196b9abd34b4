//! Bits of SQL.

use inorder_btree::TextEncoding;

/// A name as SQL writes it, whatever word SQLite reserves.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Text of a database in this encoding; what is no character becomes U+FFFD.
pub(crate) fn decoded(encoding: TextEncoding, text: &[u8]) -> String {
    let units = |of: fn([u8; 2]) -> u16| -> String {
        let units: Vec<u16> = text
            .as_chunks::<2>()
            .0
            .iter()
            .map(|unit| of(*unit))
            .collect();
        String::from_utf16_lossy(&units)
    };
    match encoding {
        TextEncoding::Utf8 => String::from_utf8_lossy(text).into_owned(),
        TextEncoding::Utf16Le => units(u16::from_le_bytes),
        TextEncoding::Utf16Be => units(u16::from_be_bytes),
    }
}
