//! Fields that no spreadsheet takes for a formula.

use std::borrow::Cow;

/// Whether a spreadsheet would take the text for a formula, however many apostrophes guard it.
fn is_formula(text: &str) -> bool {
    let text = text.trim_start_matches('\'');
    text.starts_with(FORMULA)
}

/// The first characters of a formula; the last four are wide forms, which some spreadsheets accept.
const FORMULA: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// A field that a spreadsheet takes for text: an apostrophe stands before what would be a formula.
pub fn guarded(text: &str) -> Cow<'_, str> {
    match is_formula(text) {
        true => format!("'{text}").into(),
        false => text.into(),
    }
}

/// The text of a [guarded] field.
pub fn unguarded(text: &str) -> &str {
    text.strip_prefix('\'')
        .filter(|text| is_formula(text))
        .unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_field_is_a_formula_and_all_come_back() {
        for text in [
            "",
            "Alien",
            "'71",
            "-30-",
            "=HYPERLINK(\"http://evil.example\")",
            "'=1+1",
            "@cmd",
            "\tx",
        ] {
            let field = guarded(text);
            assert!(!field.starts_with(FORMULA), "{field}");
            assert_eq!(unguarded(&field), text);
        }
        assert_eq!(guarded("'71"), "'71");
    }
}
