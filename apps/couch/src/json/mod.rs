//! JSON read in one pass, without a tree: numbers and strings stay as they were spelled.
//!
//! `serde_json` gives values; a document store needs the text. A body is kept as it came (so that `1.0` and a large
//! integer come back as they were), its revision's hash depends on whether a number was spelled as an integer, and its
//! members are taken out one by one.

mod compact;
mod reader;

pub use compact::Compactor;
pub use reader::{Error, Reader, Text, Token};

/// Appends a string in quotes, escaped.
pub fn write_string(out: &mut Vec<u8>, text: &str) {
    // Writing into memory does not fail.
    let _ = serde_json::to_writer(out, text);
}
