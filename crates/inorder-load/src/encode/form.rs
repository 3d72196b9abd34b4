//! Decides whether a number, read back as text, equals the original text.

use super::affinity::{Affinity, leading_digits};
use super::oracle::Oracle;

/// Digits that a real always preserves (`DBL_DIG` of C), and that older versions of SQLite write.
const DIGITS_KEPT: usize = 15;

/// Digits of a real that SQLite surely writes without others after them: it makes 17, of which a decimal of so few
/// has zeros or nines in places 14 to 16 (<https://www.sqlite.org/src/file?name=src/util.c>, `sqlite3FpDecode`).
const DIGITS_WRITTEN: usize = 13;

/// Up to so many digits before the point and zeros after it the above is true: half the last bit of a real is less
/// than 9.5 units in place 17. From 2^33 to 10^10, and from 2^-10 to 10^-3, it may be more.
const WHOLE_DIGITS_WRITTEN: usize = 9;
const ZEROS_WRITTEN: usize = 2;

/// Exponents of decimals that are surely those of a real.
const EXPONENT_MAX: i64 = 290;

/// The form of a text that a column of numbers gives back unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `7`, of 64 bits.
    Integer,
    /// `7.0`: a column of REAL affinity gives it back so, others as an integer.
    Whole,
    /// `7.5`.
    Fraction,
}

impl Form {
    /// Returns the form of a text; `None` if no number gives it back unchanged: `007`, `+7`, ` 7`, `7.50`, `7e5`, `-0`, and
    /// texts of too many digits.
    #[inline]
    pub(crate) fn of(text: &[u8], oracle: &Oracle) -> Option<Self> {
        let unsigned = text.strip_prefix(b"-").unwrap_or(text);
        let (whole, rest) = leading_digits(unsigned);
        if matches!(whole, [] | [b'0', _, ..]) {
            return None;
        }
        let fraction = match rest {
            [] => {
                let integer: i64 = std::str::from_utf8(text).ok()?.parse().ok()?;
                return (integer != 0 || text.len() == 1).then_some(Form::Integer);
            }
            [b'.', fraction @ ..] => fraction,
            _ => return None,
        };
        let form = match leading_digits(fraction) {
            (b"0", []) if whole == b"0" && text.len() > 3 => return None,
            (b"0", []) => Form::Whole,
            ([], _) | ([.., b'0'], []) => return None,
            (_, []) => Form::Fraction,
            _ => return None,
        };
        let zeros = match whole {
            b"0" => fraction.iter().take_while(|digit| **digit == b'0').count(),
            _ => 0,
        };
        let digits = match whole {
            b"0" => fraction.len() - zeros,
            _ => whole.len() + fraction.len(),
        };
        let is_surely_kept = digits <= DIGITS_WRITTEN
            && whole.len() <= WHOLE_DIGITS_WRITTEN
            && zeros <= ZEROS_WRITTEN;
        let is_kept = is_surely_kept || (digits <= DIGITS_KEPT && comes_back(text, oracle));
        is_kept.then_some(form)
    }

    /// Whether a column of this affinity gives the text back unchanged.
    pub(crate) fn fits(self, affinity: Affinity) -> bool {
        match affinity {
            Affinity::Integer | Affinity::Numeric => self != Form::Whole,
            Affinity::Real => self != Form::Integer,
            Affinity::Text | Affinity::Blob => true,
        }
    }
}

fn comes_back(text: &[u8], oracle: &Oracle) -> bool {
    std::str::from_utf8(text)
        .is_ok_and(|digits| oracle.text(oracle.real(digits)).as_bytes() == text)
}

/// Whether a number in digits keeps its value: as a 64-bit integer, or as a real of the same shortest digits. Its notation
/// doesn't matter.
#[inline]
pub(crate) fn is_exact(number: &[u8], oracle: &Oracle) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-');
    if number.len() <= DIGITS_KEPT && number.iter().all(is_plain) {
        return true;
    }
    let Ok(text) = std::str::from_utf8(number) else {
        return false;
    };
    if text.parse::<i64>().is_ok() {
        return true;
    }
    let Some((digits, exponent)) = decimal(text) else {
        return false;
    };
    if digits.len() <= DIGITS_KEPT && exponent.abs() < EXPONENT_MAX {
        return true;
    }
    let real = oracle.real(text);
    real.is_finite() && decimal(&format!("{real:e}")) == Some((digits, exponent))
}

/// The digits of a number without zeros around them, and the exponent of the first.
fn decimal(text: &str) -> Option<(String, i64)> {
    let unsigned = text.trim_start_matches(['-', '+']);
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let digits = all.trim_start_matches('0');
    if digits.is_empty() {
        return Some((String::new(), 0));
    }
    let exponent: i64 = exponent.parse().ok()?;
    let zeros = (all.len() - digits.len()) as i64;
    let first = exponent.checked_add(whole.len() as i64 - zeros)?;
    Some((digits.trim_end_matches('0').to_owned(), first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rusqlite::Connection;

    /// Returns the text that SQLite reads back from a column of this type.
    fn given_back(connection: &Connection, declared_type: &str, text: &str) -> String {
        let sql = format!(
            "DROP TABLE IF EXISTS t; CREATE TABLE t(a {declared_type}); INSERT INTO t VALUES ('{text}')"
        );
        connection.execute_batch(&sql).expect("a row");
        let read = "SELECT CAST(a AS TEXT) || ' ' || (typeof(a) <> 'text') FROM t";
        connection
            .query_row(read, [], |row| row.get(0))
            .expect("a value")
    }

    /// A form is text that SQLite reads back unchanged. Asserts this in both directions.
    fn check(text: &str) -> bool {
        let connection = Connection::open_in_memory().expect("SQLite");
        let form = Form::of(text.as_bytes(), &Oracle::new().expect("SQLite"));
        let mut is_given_back = false;
        for (declared_type, affinity) in [
            ("NUMERIC", Affinity::Numeric),
            ("INTEGER", Affinity::Integer),
            ("REAL", Affinity::Real),
        ] {
            let fits = form.is_some_and(|form| form.fits(affinity));
            let same = given_back(&connection, declared_type, text) == format!("{text} 1");
            assert!(same || !fits, "{text:?} in {declared_type}: {form:?}");
            is_given_back |= same && !fits;
        }
        !is_given_back
    }

    #[test]
    fn texts_that_numbers_give_back_have_a_form() {
        for text in [
            "0",
            "7",
            "-7",
            "10",
            "9223372036854775807",
            "-9223372036854775808",
            "0.0",
            "7.0",
            "-7.0",
            "100.0",
            "0.5",
            "-0.5",
            "7.25",
            "0.001",
            "0.0001",
            "0.1",
        ] {
            assert!(check(text), "{text}");
            let oracle = Oracle::new().expect("SQLite");
            assert!(Form::of(text.as_bytes(), &oracle).is_some(), "{text}");
        }
    }

    #[test]
    fn texts_that_numbers_change_have_none() {
        let oracle = Oracle::new().expect("SQLite");
        for text in [
            "",
            " ",
            "-",
            ".",
            "00",
            "007",
            "-007",
            "+1",
            "-0",
            "-0.0",
            " 7",
            "7 ",
            "1.",
            ".5",
            "1.10",
            "7.00",
            "0.10",
            "1e5",
            "1E5",
            "1.0e+20",
            "0x10",
            "1_000",
            "1,5",
            "inf",
            "nan",
            "9223372036854775808",
            "0.1234567890123456789",
            "0.30000000000000004",
            "1000000000000000.0",
            "9007199254740993.0",
            "1.2.3",
            "1-2",
            "12345678901234567890",
            "0.00000000000000000000001",
            "7.5 ",
            "7.5a",
            "é",
            "٣",
        ] {
            assert_eq!(Form::of(text.as_bytes(), &oracle), None, "{text}");
            check(text);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn whatever_has_a_form_is_given_back(
            text in "[ +-]?[0-9]{0,18}([.][0-9]{0,18})?([eE][+-]?[0-9]{0,3})?[ ]?"
        ) {
            check(&text);
        }

        #[test]
        fn short_texts_that_are_given_back_have_a_form(text in "-?[0-9]{1,9}([.][0-9]{1,6})?") {
            prop_assert!(check(&text), "{}", text);
        }

        #[test]
        fn the_shortest_writing_of_a_real_is_exact(real in any::<f64>().prop_filter("finite", |real| real.is_finite())) {
            let oracle = Oracle::new().expect("SQLite");
            // SQLite may read it as a neighbour; then it isn't.
            let text = format!("{real:e}");
            prop_assert!(is_exact(text.as_bytes(), &oracle) || oracle.real(&text) != real);
            check(&real.to_string());
        }
    }

    /// Forms computed without SQLite equal SQLite's, also near powers of two and below powers of ten.
    #[test]
    fn short_decimals_are_written_without_further_digits() {
        let cases = std::env::var("INORDER_TEST_ROWS").ok();
        let cases: u64 = cases.and_then(|cases| cases.parse().ok()).unwrap_or(20_000);
        let oracle = Oracle::new().expect("SQLite");
        for case in 0..cases {
            let number = case.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
            let digits = 10u64.pow(1 + case as u32 % 13);
            let near = [
                8_589_000_000,
                838_860_800,
                97_656_250,
                800_000_000,
                99_999_999,
            ];
            let number = match case % 4 {
                0 => {
                    near[number as usize % near.len()] * (digits / 1_000_000_000).max(1)
                        + number % 100_000
                }
                _ => number % digits,
            };
            let point = number as usize % 13;
            let text = format!("{number:014}");
            let (whole, fraction) = text.split_at(text.len() - point.max(1));
            let text = format!("{}.{fraction}", whole.trim_start_matches('0'));
            let text = text.trim_end_matches('0');
            let text = if text.starts_with('.') {
                format!("0{text}")
            } else {
                text.to_owned()
            };
            if let Some(Form::Fraction) = Form::of(text.as_bytes(), &oracle) {
                assert!(comes_back(text.as_bytes(), &oracle), "{text}");
            }
        }
    }

    #[test]
    fn numbers_are_exact_where_no_digit_is_lost() {
        let oracle = Oracle::new().expect("SQLite");
        for (number, expected) in [
            ("0", true),
            ("-0", true),
            ("0.0", true),
            ("1.10", true),
            ("1e5", true),
            ("-1E-7", true),
            ("100000000000000000000", true),
            ("9223372036854775807", true),
            ("9223372036854775808", false),
            ("18446744073709551615", false),
            ("0.30000000000000004", true),
            ("0.1234567890123456789", false),
            ("1e308", true),
            ("1e400", false),
            ("1e-400", false),
            ("0e999999999999", true),
            ("5e-324", true),
            ("1.00000000000000000000", true),
            ("123456789012345.6789", false),
        ] {
            assert_eq!(is_exact(number.as_bytes(), &oracle), expected, "{number}");
        }
    }
}
