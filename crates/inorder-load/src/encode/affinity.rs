//! Type affinity: how SQLite converts a value for a column of a declared type.
//!
//! Source: <https://www.sqlite.org/datatype3.html>, sections 3 to 4.

use inorder_btree::{TextEncoding, Value};

use super::oracle::Oracle;

/// The affinity of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Affinity {
    /// TEXT.
    Text,
    /// NUMERIC: text that looks like a number becomes an integer or a real.
    Numeric,
    /// INTEGER: as [`Affinity::Numeric`] outside of casts.
    Integer,
    /// REAL.
    Real,
    /// BLOB: no conversion.
    Blob,
}

impl Affinity {
    /// Whether text that looks like a number becomes one.
    pub fn is_numeric(self) -> bool {
        matches!(self, Affinity::Numeric | Affinity::Integer | Affinity::Real)
    }

    /// Returns the affinity of a declared type, by SQLite's five rules.
    pub fn of(declared_type: &str) -> Self {
        let declared_type = declared_type.to_ascii_uppercase();
        let has = |word: &str| declared_type.contains(word);
        if has("INT") {
            Affinity::Integer
        } else if has("CHAR") || has("CLOB") || has("TEXT") {
            Affinity::Text
        } else if has("BLOB") || declared_type.is_empty() {
            Affinity::Blob
        } else if has("REAL") || has("FLOA") || has("DOUB") {
            Affinity::Real
        } else {
            Affinity::Numeric
        }
    }

    /// Returns the affinity of a type of a STRICT table.
    pub fn of_strict(declared_type: &str) -> Self {
        match declared_type.to_ascii_uppercase().as_str() {
            "ANY" => Affinity::Blob,
            other => Affinity::of(other),
        }
    }
}

/// A text that SQLite reads as a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Integer(i64),
    Real(f64),
}

impl Number {
    /// Returns the number as a column of this affinity stores it.
    pub(super) fn stored<'a>(self, affinity: Affinity) -> Value<'a> {
        match (self, affinity) {
            (Number::Integer(integer), Affinity::Real) => Value::in_real_column(integer as f64),
            (Number::Real(real), Affinity::Real) => Value::in_real_column(real),
            (Number::Integer(integer), _) => Value::Integer(integer),
            (Number::Real(real), Affinity::Numeric | Affinity::Integer) => match whole(real) {
                Some(integer) => Value::Integer(integer),
                None => Value::Real(real),
            },
            (Number::Real(real), _) => Value::Real(real),
        }
    }
}

/// The integer that equals a real. As in SQLite, not the two ends of the 64-bit range.
fn whole(real: f64) -> Option<i64> {
    let integer = real as i64;
    let is_inside = integer > i64::MIN && integer < i64::MAX;
    (integer as f64 == real && is_inside).then_some(integer)
}

/// Parses a number as SQLite does: with spaces around it, a sign, digits, a point and an exponent, but not hexadecimal and
/// not `inf`.
pub(super) fn number(text: &[u8], encoding: TextEncoding, oracle: &Oracle) -> Option<Number> {
    let Some(shape) = Shape::of(text) else {
        return number_before_nul(text, encoding, oracle);
    };
    let digits = std::str::from_utf8(shape.number).ok()?;
    if shape.is_integer
        && let Ok(integer) = digits.parse()
    {
        return Some(Number::Integer(integer));
    }
    let real = match shape.is_simple {
        true => digits.parse().ok()?,
        // SQLite's own reading of long numbers may differ from the nearest real in the last bit.
        false => oracle.real(digits),
    };
    Some(Number::Real(real))
}

/// SQLite reads text with a NUL up to the NUL, always as a real; UTF-16 text with other high bytes is no number.
/// Source: <https://www.sqlite.org/src/file?name=src/vdbemem.c>, `sqlite3MemRealValueRC`.
#[cold]
fn number_before_nul(text: &[u8], encoding: TextEncoding, oracle: &Oracle) -> Option<Number> {
    let before = &text[..memchr::memchr(0, text)?];
    let shape = Shape::of(before)?;
    // U+0100 begins with 0xc4 in UTF-8.
    if encoding != TextEncoding::Utf8 && text.iter().any(|byte| *byte >= 0xc4) {
        return None;
    }
    let digits = std::str::from_utf8(shape.number).ok()?;
    Some(Number::Real(oracle.real(digits)))
}

/// The parts of a number.
struct Shape<'a> {
    /// The text without spaces around it.
    number: &'a [u8],
    is_integer: bool,
    /// Up to 15 digits and a small exponent: every correctly rounding parser gives the same real.
    is_simple: bool,
}

impl<'a> Shape<'a> {
    /// Returns `None` if the text is not a number.
    fn of(text: &'a [u8]) -> Option<Self> {
        let is_space = |byte: &u8| matches!(byte, b' ' | b'\t'..=b'\r');
        let start = text.iter().position(|byte| !is_space(byte))?;
        let end = text.iter().rposition(|byte| !is_space(byte))? + 1;
        let number = &text[start..end];
        let unsigned = match number {
            [b'+' | b'-', rest @ ..] => rest,
            _ => number,
        };
        let (whole, rest) = leading_digits(unsigned);
        let (fraction, rest, has_point) = match rest {
            [b'.', rest @ ..] => {
                let (fraction, rest) = leading_digits(rest);
                (fraction, rest, true)
            }
            _ => (&[][..], rest, false),
        };
        let (exponent, has_exponent) = match rest {
            [] => (&[][..], false),
            [b'e' | b'E', b'+' | b'-', exponent @ ..] | [b'e' | b'E', exponent @ ..] => {
                (exponent, true)
            }
            _ => return None,
        };
        let (exponent, after) = leading_digits(exponent);
        let digits = whole.len() + fraction.len();
        if digits == 0 || !after.is_empty() || (has_exponent && exponent.is_empty()) {
            return None;
        }
        Some(Shape {
            number,
            is_integer: !has_point && !has_exponent,
            is_simple: digits <= 15 && exponent.is_empty(),
        })
    }
}

pub(super) fn leading_digits(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|byte| !byte.is_ascii_digit());
    text.split_at(end.unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rusqlite::Connection;
    use rusqlite::types::Value as Sql;

    use super::*;

    /// Returns the value that SQLite stores for a text in a column of this type.
    fn stored(connection: &Connection, declared_type: &str, text: &str) -> Sql {
        let create = format!("DROP TABLE IF EXISTS t; CREATE TABLE t(a {declared_type})");
        connection.execute_batch(&create).expect("a table");
        connection
            .execute("INSERT INTO t VALUES (?1)", [text])
            .expect("a row");
        connection
            .query_row("SELECT a FROM t", [], |row| row.get(0))
            .expect("a value")
    }

    /// Returns this module's result in SQLite's form.
    fn ours(text: &str, affinity: Affinity, encoding: TextEncoding) -> Sql {
        let number = number(text.as_bytes(), encoding, &Oracle::new().expect("SQLite"));
        match (number.map(|number| number.stored(affinity)), affinity) {
            (None, _) => Sql::Text(text.to_owned()),
            (Some(Value::Integer(integer)), Affinity::Real) => Sql::Real(integer as f64),
            (Some(Value::Integer(integer)), _) => Sql::Integer(integer),
            (Some(Value::Real(real)), _) => Sql::Real(real),
            (Some(other), _) => panic!("{other:?}"),
        }
    }

    fn check(text: &str) {
        check_in(text, TextEncoding::Utf8);
    }

    fn check_in(text: &str, encoding: TextEncoding) {
        let connection = Connection::open_in_memory().expect("SQLite");
        connection
            .pragma_update(None, "encoding", encoding.name())
            .expect("an encoding");
        for (declared_type, affinity) in [
            ("NUMERIC", Affinity::Numeric),
            ("INT", Affinity::Integer),
            ("REAL", Affinity::Real),
        ] {
            let expected = stored(&connection, declared_type, text);
            assert_eq!(
                ours(text, affinity, encoding),
                expected,
                "{text:?} in {declared_type}"
            );
        }
    }

    #[test]
    fn numbers_are_what_sqlite_takes_for_them() {
        for text in [
            "",
            " ",
            "0",
            "-0",
            "+7",
            "007",
            " 12 ",
            "\t1\n",
            "1 2",
            "1.",
            ".5",
            ".",
            "-.5e-3",
            "1e",
            "1e+",
            "1e5",
            "1E-5",
            "5.0",
            "0x10",
            "inf",
            "nan",
            "1_000",
            "--1",
            "+-1",
            "9223372036854775807",
            "9223372036854775808",
            "-9223372036854775808",
            "-9223372036854775809",
            "9007199254740993",
            "9007199254740993.0",
            "1e18",
            "1e19",
            "1e300",
            "1e400",
            "-1e400",
            "1e-400",
            "123456789012345678901234567890",
            "0.1234567890123456789",
            "4.9e-324",
            "1.7976931348623157e308",
            "é",
            "1\u{a0}",
            "140737488355328",
            "140737488355327.0",
            "-0.0",
            "1e15",
            "12345678901234567",
        ] {
            check(text);
        }
    }

    #[test]
    fn a_number_ends_at_a_nul_as_in_sqlite() {
        for &encoding in TextEncoding::ALL {
            for text in [
                "\0",
                "7\0",
                "7\0x",
                " 7 \0",
                "7x\0",
                "-7.50\0\0",
                "\x007",
                "7\0é",
                "7\0\u{ff}",
                "7\0\u{100}",
                "7\0\u{1f600}",
                "7é\0",
                "1e3\0",
                "9007199254740993\0",
                "9223372036854775807\0",
                "0.1234567890123456789\0",
                "1e400\0",
            ] {
                check_in(text, encoding);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn any_number_is_read_as_sqlite_reads_it(
            text in "[ +-]?[0-9]{0,25}([.][0-9]{0,20})?([eE][+-]?[0-9]{0,3})?[ ]?"
        ) {
            check(&text);
        }

        #[test]
        fn any_real_is_read_as_sqlite_reads_it(real: f64) {
            check(&real.to_string());
            check(&format!("{real:e}"));
        }
    }

    #[test]
    fn affinities_follow_the_declared_type() {
        for (declared_type, affinity) in [
            ("INTEGER", Affinity::Integer),
            ("bigint", Affinity::Integer),
            ("FLOATING POINT", Affinity::Integer),
            ("CHARINT", Affinity::Integer),
            ("VARCHAR(10)", Affinity::Text),
            ("", Affinity::Blob),
            ("BLOB", Affinity::Blob),
            ("DOUBLE", Affinity::Real),
            ("DECIMAL(10,2)", Affinity::Numeric),
            ("ANY", Affinity::Numeric),
        ] {
            assert_eq!(Affinity::of(declared_type), affinity, "{declared_type}");
        }
        assert_eq!(Affinity::of_strict("any"), Affinity::Blob);
    }
}
