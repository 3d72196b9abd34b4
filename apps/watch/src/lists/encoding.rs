//! The encoding and the delimiter of a text file.

use encoding_rs::{Encoding, WINDOWS_1252};
use std::borrow::Cow;

/// The text of a file: by its byte order mark, or UTF-8, or else Windows-1252, which is Latin-1 with more signs.
pub fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return encoding.decode(bytes).0;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => WINDOWS_1252.decode_without_bom_handling(bytes).0,
    }
}

/// The delimiter of a line: the most frequent of comma, semicolon and tab outside of quotes.
pub fn delimiter(line: &str) -> u8 {
    let mut counts = [(b',', 0), (b';', 0), (b'\t', 0)];
    let mut is_quoted = false;
    for byte in line.bytes() {
        is_quoted ^= byte == b'"';
        if let Some((_, count)) = counts.iter_mut().find(|(sign, _)| *sign == byte) {
            *count += usize::from(!is_quoted);
        }
    }
    // Of equals the last is taken, so the comma is.
    let most = counts.iter().rev().max_by_key(|(_, count)| *count);
    most.map_or(b',', |(sign, _)| *sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_decoded_by_its_bytes() {
        for (bytes, text) in [
            (&b"Am\xe9lie"[..], "Amélie"),
            (b"Am\xc3\xa9lie", "Amélie"),
            (b"\xef\xbb\xbfAm\xc3\xa9lie", "Amélie"),
            (b"\xff\xfeA\0m\0\xe9\0", "Amé"),
            (b"\xfe\xff\0A\0m\0\xe9", "Amé"),
            (b"8\xbd \x96 \x80", "8½ – €"),
        ] {
            assert_eq!(decoded(bytes), text);
        }
    }

    #[test]
    fn delimiters_are_counted_outside_of_quotes() {
        for (line, sign) in [
            ("Name,Year", b','),
            ("Name;Year", b';'),
            ("Name\tYear", b'\t'),
            ("Name", b','),
            ("\"a;b;c\",Year", b','),
            ("\"a,b,c\";Year", b';'),
        ] {
            assert_eq!(delimiter(line), sign, "{line}");
        }
    }
}
