//! JSON read in one pass, without a tree: numbers and strings stay as they were spelled.
//!
//! `serde_json` gives values; a document store needs the text. A body is kept as it came (so that `1.0` and a large
//! integer come back as they were), its revision's hash depends on whether a number was spelled as an integer, and its
//! members are taken out one by one.

mod capture;
mod compact;
mod reader;

pub use capture::{Capture, Step};
pub use compact::Compactor;
pub use reader::{Error, Reader, Text, Token};

/// Appends a string in quotes, escaped.
pub fn write_string(out: &mut Vec<u8>, text: &str) {
    // Without a branch per byte, so that the compiler uses vectors.
    let needs_escape = |byte: u8| (byte < b' ') | (byte == b'"') | (byte == b'\\');
    if text
        .bytes()
        .fold(false, |any, byte| any | needs_escape(byte))
    {
        // Writing into memory does not fail.
        let _ = serde_json::to_writer(out, text);
        return;
    }
    out.push(b'"');
    out.extend_from_slice(text.as_bytes());
    out.push(b'"');
}

/// Appends an integer.
pub fn write_integer(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::write_string;

    #[test]
    fn strings_are_written_as_serde_json_writes_them() {
        let controls = (0..0x20_u8).map(|byte| char::from(byte).to_string());
        let others = ["", "a", "\u{7f}", "ü\u{2028}", "a\"b", "a\\b", "/<>&'"];
        for text in controls.chain(others.map(str::to_owned)) {
            let mut out = Vec::new();
            write_string(&mut out, &text);
            assert_eq!(out, serde_json::to_vec(&text).unwrap(), "{text:?}");
        }
    }
}
