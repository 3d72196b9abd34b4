//! Text that people write: whether there is something to see, and how it stands among other text.

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// FIRST STRONG ISOLATE: the following text has a separate direction.
const ISOLATE: char = '\u{2068}';

/// POP DIRECTIONAL ISOLATE.
const POP: char = '\u{2069}';

/// Whether a character leaves something to see where it stands alone: a blank, a control, a mark and a filler don't.
fn is_visible(c: char) -> bool {
    use GeneralCategory::{PrivateUse, Unassigned};
    use GeneralCategoryGroup::{Letter, Number, Punctuation, Symbol};
    let has_glyph = match c.general_category() {
        // Letters of a newer Unicode than this program's, but for what that will leave out too.
        PrivateUse | Unassigned => {
            !matches!(c, '\u{2065}' | '\u{fff0}'..='\u{fff8}' | '\u{e0000}'..='\u{e0fff}')
        }
        _ => matches!(
            c.general_category_group(),
            Letter | Number | Punctuation | Symbol
        ),
    };
    has_glyph && !is_filler(c)
}

/// Letters and symbols without a glyph: fillers of Hangul, vowels of Khmer that are left out, the empty Braille pattern.
pub fn is_filler(c: char) -> bool {
    matches!(
        c,
        '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{17b4}' | '\u{17b5}' | '\u{2800}'
    )
}

/// Whether there is something to see.
pub fn has_visible(text: &str) -> bool {
    text.chars().any(is_visible)
}

/// Whether XML may have a character: not most controls, and not U+FFFE and U+FFFF. XML 1.0, section 2.2.
pub fn is_of_xml(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..)
}

/// A text on one line: blanks at its ends are cut off, others are one space each. Control characters are left out, and what
/// [no XML](is_of_xml) may have.
pub fn line(text: &str) -> String {
    let words = text.split_whitespace();
    let words = words.map(|word| {
        word.chars()
            .filter(|c| !c.is_control() && is_of_xml(*c))
            .collect::<String>()
    });
    let words: Vec<String> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// The text as a part of other plain text, whose order it can't change: inside an isolate, which nothing in it ends. Where
/// there is markup, `<bdi>` does the same. ASCII changes no order, and stays as it is.
///
/// Unicode Standard Annex #9, sections 3.3.2 and 6.3.
pub fn isolated(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    let mut out = String::from(ISOLATE);
    let mut depth = 0u32;
    for c in text.chars() {
        match c {
            '\u{2066}'..='\u{2068}' => depth += 1,
            POP if depth == 0 => continue,
            POP => depth -= 1,
            // The algorithm ends a paragraph, and all its isolates with it, at these.
            '\n' | '\r' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2029}' => {
                out.push(' ');
                continue;
            }
            _ => {}
        }
        out.push(c);
    }
    out.extend(std::iter::repeat_n(POP, depth as usize + 1));
    out
}

/// Normalises a character for comparison: ignores case.
pub fn fold_case(c: char) -> impl Iterator<Item = char> {
    // The capital sharp s is the one letter that changes by its lower case alone.
    let c = if c == 'ẞ' { 'ß' } else { c };
    c.to_uppercase().flat_map(char::to_lowercase)
}

/// Normalises a text for comparison: ignores case and the encoding of accents.
pub fn fold(text: &str) -> String {
    text.nfc().flat_map(fold_case).nfc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use unicode_bidi::BidiInfo;

    #[test]
    fn blanks_and_marks_alone_are_nothing_to_see() {
        for text in [
            "",
            " ",
            "\u{200b}",
            "\u{a0}\u{2060}",
            "\u{202e}",
            "\u{3164}",
            "\u{2800}",
            "\u{fe0f}",
            "\u{301}",
            "\u{feff}",
            "\u{e0041}",
            "\0",
            "\u{ad}",
        ] {
            assert!(!has_visible(text), "{text:?}");
        }
        for text in ["a", "…", "9", "名", "❤\u{fe0f}", "\u{200b}M", "क"] {
            assert!(has_visible(text), "{text:?}");
        }
    }

    #[test]
    fn case_and_encoding_are_folded() {
        for (one, other) in [
            ("Straße", "STRASSE"),
            ("ΟΔΟΣ", "οδος"),
            ("é", "E\u{301}"),
            ("ẞ", "ss"),
            ("ΐ", "Ϊ\u{301}"),
        ] {
            assert_eq!(fold(one), fold(other));
        }
        assert_ne!(fold("é"), fold("e"));
    }

    #[test]
    fn a_line_has_only_characters_of_xml() {
        assert_eq!(
            line("a\u{fffe}b\u{ffff} \u{1} c\u{10ffff}"),
            "ab c\u{10ffff}"
        );
    }

    proptest! {
        #[test]
        fn what_is_isolated_changes_the_order_of_nothing_else(
            text in "[a-cא-ג0-9 \u{202a}-\u{202e}\u{2066}-\u{2069}\u{200e}\u{200f}\u{2029}]{0,12}"
        ) {
            let line = format!("“{}” 2001 (x)", isolated(&text));
            let info = BidiInfo::new(&line, Some(unicode_bidi::Level::ltr()));
            prop_assert_eq!(info.paragraphs.len(), 1);
            let after = line.rfind("” 2001").unwrap();
            prop_assert!(info.levels[after..].iter().all(|level| level.number() == 0 || level.number() == 2), "{:?}", info.levels);
            let shown = info.reorder_line(&info.paragraphs[0], 0..line.len());
            prop_assert!(shown.starts_with('“') && shown.ends_with("” 2001 (x)"), "{shown:?}");
        }

        #[test]
        fn a_line_is_the_same_line_again(text in any::<String>()) {
            let once = line(&text);
            prop_assert_eq!(line(&once), once);
        }
    }
}
