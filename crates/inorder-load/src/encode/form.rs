//! Decides whether a text is a number whose value a column of numbers keeps.

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

/// Digits after the point that a column of decimals has at most. Every server's type takes so many.
const FRACTION_DIGITS_MAX: usize = 30;

/// The form of a text that a column of numbers stores without a loss: zeros at the end of a fraction, and the sign of a
/// zero, are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    /// Whether it has no point: an integer of 64 bits. A decimal has at most 15 significant digits.
    pub(crate) is_integer: bool,
    /// Digits before the point.
    pub(crate) whole_digits: u8,
    /// Digits after the point.
    pub(crate) fraction_digits: u8,
    /// Whether it is a zero with a minus sign.
    pub(crate) is_negative_zero: bool,
    /// Whether SQLite surely writes a real with these digits and no others.
    is_surely_written: bool,
}

impl Form {
    /// Returns the form of a text; `None` if it is no number, or one that says more than its value: `007`, `+7`, ` 7`, `7e5`,
    /// and texts of too many digits.
    #[inline]
    pub(crate) fn of(text: &[u8]) -> Option<Self> {
        let unsigned = text.strip_prefix(b"-").unwrap_or(text);
        let (whole, rest) = leading_digits(unsigned);
        if matches!(whole, [b'0', _, ..]) {
            return None;
        }
        let fraction = match rest {
            [] => return Form::of_integer(text, whole),
            [b'.', fraction @ ..] => fraction,
            _ => return None,
        };
        if !leading_digits(fraction).1.is_empty()
            || fraction.len() > FRACTION_DIGITS_MAX
            || whole.is_empty() && fraction.is_empty()
        {
            return None;
        }
        let is_zero = |digit: &&u8| **digit == b'0';
        let kept = fraction.len() - fraction.iter().rev().take_while(is_zero).count();
        let (zeros, digits) = match whole {
            [] | [b'0'] => {
                let zeros = fraction[..kept].iter().take_while(is_zero).count();
                (zeros, kept - zeros)
            }
            _ => (0, whole.len() + kept),
        };
        (digits <= DIGITS_KEPT).then_some(Form {
            is_integer: false,
            whole_digits: whole.len() as u8,
            fraction_digits: fraction.len() as u8,
            is_negative_zero: digits == 0 && text.len() > unsigned.len(),
            is_surely_written: digits <= DIGITS_WRITTEN
                && whole.len() <= WHOLE_DIGITS_WRITTEN
                && zeros <= ZEROS_WRITTEN,
        })
    }

    fn of_integer(text: &[u8], digits: &[u8]) -> Option<Self> {
        let integer: i64 = std::str::from_utf8(text).ok()?.parse().ok()?;
        Some(Form {
            is_integer: true,
            whole_digits: digits.len() as u8,
            fraction_digits: 0,
            is_negative_zero: integer == 0 && text.len() > digits.len(),
            is_surely_written: true,
        })
    }

    /// Whether SQLite writes the number of this text with the same digits, zeros at the end aside.
    #[inline]
    pub(crate) fn is_written(self, text: &[u8], oracle: &Oracle) -> bool {
        self.is_surely_written || comes_back(text, oracle)
    }

    /// Whether a column that was derived from other values stores the number with the type that all of them have.
    pub(crate) fn fits(self, affinity: Affinity) -> bool {
        match affinity {
            Affinity::Integer => self.is_integer,
            Affinity::Real => !self.is_integer,
            Affinity::Numeric | Affinity::Text | Affinity::Blob => true,
        }
    }
}

fn comes_back(text: &[u8], oracle: &Oracle) -> bool {
    let Ok(digits) = std::str::from_utf8(text) else {
        return false;
    };
    decimal(&oracle.text(oracle.real(digits))) == decimal(digits)
}

/// The digits before and after the point of a number without an exponent; `None` for others.
pub(crate) fn plain_digits(number: &[u8]) -> Option<(usize, usize)> {
    let unsigned = number.strip_prefix(b"-").unwrap_or(number);
    let (whole, rest) = leading_digits(unsigned);
    match rest {
        [] => Some((whole.len(), 0)),
        [b'.', fraction @ ..] if leading_digits(fraction).1.is_empty() => {
            Some((whole.len(), fraction.len()))
        }
        _ => None,
    }
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

    /// Returns the text that SQLite reads back from a column of this type, and whether it stored a number.
    fn given_back(connection: &Connection, declared_type: &str, text: &str) -> (String, bool) {
        let sql = format!(
            "DROP TABLE IF EXISTS t; CREATE TABLE t(a {declared_type}); INSERT INTO t VALUES ('{text}')"
        );
        connection.execute_batch(&sql).expect("a row");
        let read = "SELECT CAST(a AS TEXT), typeof(a) <> 'text' FROM t";
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        connection.query_row(read, [], row).expect("a value")
    }

    /// Asserts that SQLite stores a text with a form as a number of the same digits. Returns whether it has one.
    fn check(text: &str) -> bool {
        let connection = Connection::open_in_memory().expect("SQLite");
        let oracle = Oracle::new().expect("SQLite");
        let form = Form::of(text.as_bytes());
        let form = form.filter(|form| form.is_written(text.as_bytes(), &oracle));
        for (declared_type, affinity) in [
            ("NUMERIC", Affinity::Numeric),
            ("INTEGER", Affinity::Integer),
            ("REAL", Affinity::Real),
        ] {
            if form.is_some_and(|form| form.fits(affinity)) {
                let (stored, is_number) = given_back(&connection, declared_type, text);
                let is_same = decimal(&stored) == decimal(text);
                assert!(
                    is_same && is_number,
                    "{text:?} in {declared_type}: {stored}"
                );
            }
        }
        form.is_some()
    }

    #[test]
    fn texts_that_are_numbers_have_a_form() {
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
            "0.00000001",
            "0.1",
            "1.10",
            "7.00",
            "0.10",
            "-0",
            "-0.00",
            ".5",
            "-.50",
            "5.",
            "1234567890.12",
            "99999999999.99",
            "123456789012.345000000000000000",
        ] {
            assert!(check(text), "{text}");
        }
        let form = Form::of(b"-12.340").expect("a number");
        assert_eq!((form.whole_digits, form.fraction_digits), (2, 3));
        let zeros = ["-0", "-0.00", "-.0"].map(|text| Form::of(text.as_bytes()));
        assert!(zeros.iter().flatten().all(|form| form.is_negative_zero));
        assert!(!Form::of(b"-0.01").expect("a number").is_negative_zero);
    }

    #[test]
    fn texts_that_say_more_than_a_number_have_none() {
        for text in [
            "",
            " ",
            "-",
            ".",
            "-.",
            "00",
            "007",
            "-007",
            "00.5",
            "01.50",
            "+1",
            "+1.50",
            " 7",
            "7 ",
            "1e5",
            "1E5",
            "1.0e+20",
            "0x10",
            "1_000",
            "1,5",
            "1,234.50",
            "$1.50",
            "1.50%",
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
            "0.0000000000000000000000000000001",
            "7.5 ",
            "7.5a",
            "é",
            "٣",
        ] {
            assert_eq!(Form::of(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn whatever_has_a_form_keeps_its_digits(
            text in "[ +-]?[0-9]{0,18}([.][0-9]{0,18})?([eE][+-]?[0-9]{0,3})?[ ]?"
        ) {
            check(&text);
        }

        #[test]
        fn short_numbers_have_a_form(text in "-?(0|[1-9][0-9]{0,6})([.][0-9]{0,6})?") {
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

    /// Amounts below a thousand million come back from SQLite with their digits.
    #[test]
    fn decimals_of_money_are_written_with_their_digits() {
        let oracle = Oracle::new().expect("SQLite");
        for cents in
            (0..4_000_u64).map(|case| case.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 100_000_000_000)
        {
            let text = format!("{}.{:02}", cents / 100, cents % 100);
            let form = Form::of(text.as_bytes()).expect("a number");
            assert!(form.is_written(text.as_bytes(), &oracle), "{text}");
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
            if Form::of(text.as_bytes()).is_some_and(|form| form.is_surely_written) {
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
