//! Ids to blobs and back, as SQL of the `sqlite3` shell. `unhex` needs SQLite 3.41.

use crate::IdForm;

/// The digits of Crockford's base 32 as a literal.
const CROCKFORD: &str = "'0123456789ABCDEFGHJKMNPQRSTVWXYZ'";

/// An expression for the blob of an id's text.
pub(super) fn to_blob(column: &str, form: IdForm) -> String {
    match form {
        IdForm::Hex | IdForm::HexUpper => format!("unhex({column})"),
        IdForm::PrefixedHex | IdForm::PrefixedHexUpper => format!("unhex(substr({column}, 3))"),
        IdForm::Uuid | IdForm::UuidUpper => format!("unhex(replace({column}, '-', ''))"),
        IdForm::Ulid => {
            // 26 digits: one byte in two, then three times five bytes in eight.
            let value = |from: usize, digits: usize| {
                let digit = |at: usize| {
                    let shift = 5 * (digits - 1 - at);
                    let place = from + at;
                    format!("((instr({CROCKFORD}, substr({column}, {place}, 1)) - 1) << {shift})")
                };
                (0..digits).map(digit).collect::<Vec<_>>().join(" + ")
            };
            format!(
                "unhex(printf('%02x%010x%010x%010x', {}, {}, {}, {}))",
                value(1, 2),
                value(3, 8),
                value(11, 8),
                value(19, 8)
            )
        }
    }
}

/// An expression for the text of an id's blob.
pub(super) fn to_text(column: &str, form: IdForm) -> String {
    match form {
        IdForm::Hex => format!("lower(hex({column}))"),
        IdForm::HexUpper => format!("hex({column})"),
        IdForm::PrefixedHex => format!("'0x' || lower(hex({column}))"),
        IdForm::PrefixedHexUpper => format!("'0x' || hex({column})"),
        IdForm::Uuid | IdForm::UuidUpper => {
            let part =
                |from: usize, digits: usize| format!("substr(hex({column}), {from}, {digits})");
            let parts = [
                part(1, 8),
                part(9, 4),
                part(13, 4),
                part(17, 4),
                part(21, 12),
            ];
            let text = parts.join(" || '-' || ");
            match form {
                IdForm::Uuid => format!("lower({text})"),
                _ => text,
            }
        }
        IdForm::Ulid => {
            let hex = |place: usize| {
                format!("(instr('0123456789ABCDEF', substr(hex({column}), {place}, 1)) - 1)")
            };
            // Five bits are in two hexadecimal digits.
            let digit = |place: usize, shift: usize| {
                let pair = format!("({} * 16 + {})", hex(place), hex(place + 1));
                format!("substr({CROCKFORD}, (({pair} >> {shift}) & 31) + 1, 1)")
            };
            let mut digits = vec![digit(1, 5), digit(1, 0)];
            for group in [3, 13, 23] {
                digits.extend((0..8).map(|at| digit(group + 5 * at / 4, 3 - 5 * at % 4)));
            }
            digits.join(" || ")
        }
    }
}
