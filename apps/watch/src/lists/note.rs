//! The notes of a film in several rows of a file, and on the list.

use crate::db::entries::{NOTE_CHARACTERS_MAX, tidy_note};

/// A note as an entry has it, of at most the characters that one has, and whether it was cut.
pub fn cut(note: &str) -> (Option<String>, bool) {
    let Some(mut note) = tidy_note(note) else {
        return (None, false);
    };
    let end = note.char_indices().nth(NOTE_CHARACTERS_MAX);
    if let Some((end, _)) = end {
        note.truncate(note[..end].trim_end().len());
    }
    (Some(note), end.is_some())
}

/// Whether a note has another one, whole and with empty lines around it.
pub fn has(note: &str, other: &str) -> bool {
    note.match_indices(other).any(|(at, _)| {
        let (before, after) = (&note[..at], &note[at + other.len()..]);
        (before.is_empty() || before.ends_with("\n\n"))
            && (after.is_empty() || after.starts_with("\n\n"))
    })
}

/// Both notes with an empty line between them, each once, and whether they were cut.
pub fn joined(first: Option<String>, second: Option<String>) -> (Option<String>, bool) {
    match (first, second) {
        (Some(first), Some(second)) if has(&first, &second) => (Some(first), false),
        (Some(first), Some(second)) if has(&second, &first) => (Some(second), false),
        (Some(first), Some(second)) => cut(&format!("{first}\n\n{second}")),
        (first, second) => (first.or(second), false),
    }
}

#[test]
fn notes_are_joined_once_each_and_cut() {
    let join = |notes: &[&str]| {
        notes.iter().fold((None, false), |(joint, is_cut), note| {
            let (note, is_long) = cut(note);
            let (joint, is_longer) = joined(joint, note);
            (joint, is_cut || is_long || is_longer)
        })
    };
    for (notes, expected) in [
        (&[][..], None),
        (&[" ", "\r\n"], None),
        (&["a", "b", "a"], Some("a\n\nb")),
        (&["a", "ab"], Some("a\n\nab")),
        (&["ab", "a", "b"], Some("ab\n\na\n\nb")),
        (&["a\r\n\r\nb", "a\n\nb", "b"], Some("a\n\nb")),
        (&["a", "a\n\nb"], Some("a\n\nb")),
        (&["a\nb", "a"], Some("a\nb\n\na")),
    ] {
        assert_eq!(join(notes), (expected.map(str::to_owned), false));
    }
    let long = "ö".repeat(NOTE_CHARACTERS_MAX - 2);
    let (joint, is_cut) = join(&[&long, "b"]);
    assert_eq!((joint, is_cut), (Some(long), true));
}
