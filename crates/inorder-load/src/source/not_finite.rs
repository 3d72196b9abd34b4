//! `NaN`, `Infinity` and `-Infinity` in JSON, which has no such numbers and which Python writes all the same.

use std::ops::Range;

/// The words and their values. The first one that a text begins with is it.
const WORDS: [(&str, f64); 3] = [
    ("NaN", f64::NAN),
    ("Infinity", f64::INFINITY),
    ("-Infinity", f64::NEG_INFINITY),
];

/// The number that a text is.
pub(super) fn number(text: &str) -> Option<f64> {
    let word = WORDS.iter().find(|(word, _)| *word == text);
    word.map(|(_, real)| *real)
}

/// The text with numbers of as many bytes in the place of the words; `None` if it has none.
pub(super) fn replaced(text: &str) -> Option<String> {
    let found = words(text);
    let mut replaced = text.to_owned();
    for range in &found {
        let word = &text[range.clone()];
        let digits = word.trim_start_matches('-').len() - 2;
        let sign = if word.starts_with('-') { "-" } else { "" };
        replaced.replace_range(range.clone(), &format!("{sign}0e{}", "0".repeat(digits)));
    }
    (!found.is_empty()).then_some(replaced)
}

/// The text with `null` in the place of the words, and how many there are.
pub(super) fn as_null(text: &str) -> (String, u64) {
    let (mut nulled, mut at) = (String::new(), 0);
    let found = words(text);
    for range in &found {
        nulled += &text[at..range.start];
        nulled += "null";
        at = range.end;
    }
    nulled += &text[at..];
    (nulled, found.len() as u64)
}

/// Where the words are, outside of strings.
fn words(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let (mut at, mut is_in_string) = (0, false);
    while at < bytes.len() {
        let word = WORDS
            .iter()
            .find(|(word, _)| bytes[at..].starts_with(word.as_bytes()));
        match (bytes[at], word) {
            (b'\\', _) if is_in_string => at += 1,
            (b'"', _) => is_in_string = !is_in_string,
            (_, Some((word, _))) if !is_in_string => {
                found.push(at..at + word.len());
                at += word.len() - 1;
            }
            _ => {}
        }
        at += 1;
    }
    found
}
