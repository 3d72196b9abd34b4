//! Values in one canonical form, in which the values of the source and of the copy are compared.

use twox_hash::XxHash3_128;

use crate::number::put_number;
use crate::temporal::{self, put_clock, put_interval, put_time};

/// What the values of a column are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Text that every database writes in the same way: integers, decimals with a fixed number of places, UUIDs, JSON.
    Plain,
    /// Text.
    #[default]
    Text,
    /// Bytes.
    Bytes,
    /// Bytes as the hexadecimal digits that PostgreSQL writes.
    HexBytes,
    /// Decimal numbers. Zeros at the end of the fraction have no meaning.
    Number,
    /// Floating-point numbers of 32 bits.
    Single,
    /// Floating-point numbers of 64 bits.
    Double,
    /// Days.
    Date,
    /// A date with a time, in no time zone. Zeros at the end of the fraction have no meaning.
    Time,
    /// A point in time, in UTC.
    Instant,
    /// A time of the day, or hours, minutes and seconds.
    Clock,
    /// A time of the day with an offset from UTC.
    ZonedClock,
    /// A duration as PostgreSQL writes it, or as ISO 8601.
    Interval,
    /// A truth value.
    Boolean,
    /// A UUID: 16 bytes, or hexadecimal digits.
    Uuid,
    /// Any value of SQLite, after a letter for its storage class.
    Any,
}

/// Why a value has no equivalent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A date with zeros, which no calendar has.
    ZeroDate,
    /// Text with a NUL character.
    Nul,
    /// The floating-point number NaN.
    Nan,
    /// A value that is not of the column's type.
    Invalid,
}

/// All faults.
pub const FAULTS: [Fault; 4] = [Fault::ZeroDate, Fault::Nul, Fault::Nan, Fault::Invalid];

impl Fault {
    /// Its name in a plan.
    pub fn name(self) -> &'static str {
        match self {
            Fault::ZeroDate => "zero-date",
            Fault::Nul => "nul",
            Fault::Nan => "nan",
            Fault::Invalid => "invalid",
        }
    }

    /// What was wrong, and what to do.
    pub fn told(self) -> &'static str {
        match self {
            Fault::ZeroDate => {
                "a date with zeros is not a date in the destination; replace it in the source first, or write a plan (--plan) with a rule for it"
            }
            Fault::Nul => {
                "text with a NUL character can't be stored in PostgreSQL; remove it in the source first, or write a plan (--plan) with a rule for it"
            }
            Fault::Nan => {
                "SQLite stores NaN as NULL; replace it in the source first, or write a plan (--plan) with a rule for it"
            }
            Fault::Invalid => "the value is not of the column's type",
        }
    }
}

/// The database that the values go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Postgres,
    Sqlite,
}

impl Kind {
    /// Returns a value as the column has it, without the hexadecimal digits of PostgreSQL.
    pub fn stored(self, value: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self == Kind::HexBytes && unhex(value, &mut bytes).is_ok() {
            true => bytes,
            false => value.to_vec(),
        }
    }

    /// Why the target can't have a value.
    pub fn fault(self, value: &[u8], target: Target) -> Option<Fault> {
        let is_postgres = target == Target::Postgres;
        match self {
            Kind::Plain | Kind::Text => (is_postgres && value.contains(&0)).then_some(Fault::Nul),
            Kind::Date | Kind::Time | Kind::Instant => {
                temporal::is_zero(value).then_some(Fault::ZeroDate)
            }
            Kind::Single | Kind::Double => (!is_postgres && value == b"NaN").then_some(Fault::Nan),
            _ => None,
        }
    }

    /// Appends the canonical form of a value.
    ///
    /// # Errors
    /// The reason why the value has none.
    pub fn canonical(self, value: &[u8], target: Target, out: &mut Vec<u8>) -> Result<(), String> {
        match self {
            Kind::Plain | Kind::Text | Kind::Bytes | Kind::Any => out.extend_from_slice(value),
            Kind::HexBytes => return unhex(value, out),
            Kind::Number => put_number(value, out),
            Kind::Single => put_float(f64::from(float(value)? as f32), target, out),
            Kind::Double => put_float(float(value)?, target, out),
            Kind::Date => put_time(value, false, out),
            Kind::Time | Kind::Instant => put_time(value, true, out),
            Kind::Clock => put_clock(value, out),
            Kind::ZonedClock | Kind::Interval if target == Target::Postgres => {
                out.extend_from_slice(value);
            }
            Kind::ZonedClock => put_clock(value, out),
            Kind::Interval => put_interval(value, out),
            Kind::Boolean => out.push(match is_true(value) {
                Some(true) => b'1',
                Some(false) => b'0',
                None => return Err("a truth value has another form".to_owned()),
            }),
            Kind::Uuid => put_uuid(value, out),
        }
        Ok(())
    }

    /// Whether SQLite's functions understand a value in canonical form.
    pub fn is_read_by_sqlite(self, canonical: &[u8]) -> bool {
        match self {
            Kind::Date | Kind::Time | Kind::Instant => temporal::is_read(canonical),
            Kind::Clock | Kind::ZonedClock | Kind::Interval => temporal::is_clock_read(canonical),
            _ => true,
        }
    }
}

/// A truth value as PostgreSQL writes it, or as a number or a word.
pub fn is_true(value: &[u8]) -> Option<bool> {
    let is = |words: [&[u8]; 3]| words.iter().any(|word| value.eq_ignore_ascii_case(word));
    match (is([b"1", b"t", b"true"]), is([b"0", b"f", b"false"])) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

/// Whether a value is a UUID of hexadecimal digits, with dashes or without.
pub fn is_uuid(text: &[u8]) -> bool {
    let dashes = match text.len() {
        32 => &[][..],
        36 => &[8, 13, 18, 23],
        _ => return false,
    };
    let mut bytes = text.iter().enumerate();
    bytes.all(|(at, byte)| match dashes.contains(&at) {
        true => *byte == b'-',
        false => byte.is_ascii_hexdigit(),
    })
}

/// The number of bytes of a UUID.
const UUID_BYTES: usize = 16;

/// Appends a UUID in lower case with its dashes.
fn put_uuid(value: &[u8], out: &mut Vec<u8>) {
    let digits = match value.len() {
        UUID_BYTES => hex(value).into_bytes(),
        _ => value
            .iter()
            .filter(|byte| **byte != b'-')
            .copied()
            .collect(),
    };
    for (at, digit) in digits.iter().enumerate() {
        if [8, 12, 16, 20].contains(&at) {
            out.push(b'-');
        }
        out.push(digit.to_ascii_lowercase());
    }
}

fn float(value: &[u8]) -> Result<f64, String> {
    let text = std::str::from_utf8(value).map_err(|error| error.to_string())?;
    text.parse()
        .map_err(|_| format!("`{text}` is not a floating-point number"))
}

/// Appends a number in the form that both databases read.
fn put_float(number: f64, target: Target, out: &mut Vec<u8>) {
    let text = match number {
        _ if number.is_nan() => "NaN".to_owned(),
        _ if number.is_infinite() && number > 0.0 => "Infinity".to_owned(),
        _ if number.is_infinite() => "-Infinity".to_owned(),
        // SQLite stores -0 as 0.
        _ if number == 0.0 && target == Target::Sqlite => "0e0".to_owned(),
        _ => format!("{number:e}"),
    };
    out.extend_from_slice(text.as_bytes());
}

fn unhex(value: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
    let digits = value.strip_prefix(b"\\x");
    digits
        .and_then(|digits| from_hex(digits, out))
        .ok_or_else(|| "bytes have another form than hexadecimal digits".to_owned())
}

/// Appends the bytes of hexadecimal digits; `None` if they are something else.
pub fn from_hex(digits: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    for pair in digits.chunks(2) {
        let [high, low] = pair else {
            return None;
        };
        out.push((digit(*high)? << 4 | digit(*low)?) as u8);
    }
    Some(())
}

/// The hexadecimal digits of bytes.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The number of the rows of a table, and a hash of their contents that does not depend on their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    pub rows: u64,
    /// The sum of the hashes of all rows.
    rows_hash: u128,
    /// The sums of the hashes of the values of each column, which tell where contents differ.
    columns: Vec<u64>,
}

impl Content {
    /// Adds a row, given by its values in canonical form.
    pub fn add(&mut self, row: &Row) {
        self.rows += 1;
        self.columns.resize(row.ends.len(), 0);
        let hash = XxHash3_128::oneshot(&row.framed);
        self.rows_hash = self.rows_hash.wrapping_add(hash);
        for (at, sum) in self.columns.iter_mut().enumerate() {
            let hash = row.value(at).map_or(1, twox_hash::XxHash3_64::oneshot);
            *sum = sum.wrapping_add(hash);
        }
    }

    /// The text that is stored with a finished table.
    pub fn text(&self) -> String {
        format!("{} {:032x}", self.rows, self.rows_hash)
    }

    /// The columns in which two contents differ.
    pub fn differences(&self, other: &Content) -> Vec<usize> {
        let columns = self.columns.iter().zip(&other.columns).enumerate();
        let differs = columns.filter(|(_, (own, other))| own != other);
        differs.map(|(at, _)| at).collect()
    }
}

/// One row in canonical form.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// For each value: whether it is there, its length, its bytes.
    framed: Vec<u8>,
    /// Where each value begins and ends; `None` for NULL.
    ends: Vec<Option<(usize, usize)>>,
    scratch: Vec<u8>,
}

impl Row {
    /// Empties the row.
    pub fn begin(&mut self) {
        self.framed.clear();
        self.ends.clear();
    }

    /// Appends a value.
    ///
    /// # Errors
    /// Those of [`Kind::canonical`].
    pub fn push(&mut self, kind: Kind, value: Option<&[u8]>, target: Target) -> Result<(), String> {
        let Some(value) = value else {
            self.framed.push(0);
            self.ends.push(None);
            return Ok(());
        };
        self.scratch.clear();
        kind.canonical(value, target, &mut self.scratch)?;
        self.framed.push(1);
        self.framed
            .extend_from_slice(&(self.scratch.len() as u64).to_le_bytes());
        let start = self.framed.len();
        self.framed.extend_from_slice(&self.scratch);
        self.ends.push(Some((start, self.framed.len())));
        Ok(())
    }

    /// For each value: 0 for NULL, or 1, its length in 8 bytes and its bytes.
    pub fn framed(&self) -> &[u8] {
        &self.framed
    }

    /// A value; `None` for NULL.
    pub fn value(&self, at: usize) -> Option<&[u8]> {
        self.ends[at].map(|(start, end)| &self.framed[start..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(kind: Kind, value: &str, target: Target) -> Result<String, String> {
        let mut out = Vec::new();
        kind.canonical(value.as_bytes(), target, &mut out)?;
        Ok(String::from_utf8(out).expect("text"))
    }

    #[test]
    fn bytes_of_postgresql_are_stored_without_digits() {
        assert_eq!(Kind::HexBytes.stored(b"\\x6869"), b"hi");
        assert_eq!(Kind::Bytes.stored(b"\\x6869"), b"\\x6869");
    }

    #[test]
    fn spellings_of_one_value_are_equal_and_of_two_are_not() {
        for (kind, spellings, other) in [
            (Kind::Double, ["1e100", "1e+100"], "1.0000000000000002e100"),
            (Kind::Double, ["0.1", "0.10"], "0.10000000000000002"),
            (Kind::Single, ["3.1415927", "3.141592741012573"], "3.141593"),
            (
                Kind::Time,
                ["2024-01-01 10:00:00.500000", "2024-01-01 10:00:00.5"],
                "2024-01-01 10:00:00.05",
            ),
            (Kind::Clock, ["838:59:59", "838:59:59.000000"], "838:59:58"),
            (Kind::Number, ["19.90", "1.99e1"], "19.99"),
            (
                Kind::Uuid,
                [
                    "017F22E279B07CC398C4DC0C0C07398F",
                    "017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
                ],
                "017f22e2-79b0-7cc3-98c4-dc0c0c07398e",
            ),
            (
                Kind::Time,
                ["2024-01-01 10:00:00", "2024-01-01 10:00:00.0"],
                "2024-01-01 10:00:01",
            ),
            (
                Kind::Instant,
                ["2024-01-01 10:00:00", "2024-01-01 10:00:00+00"],
                "2024-01-01 11:00:00+00",
            ),
            (Kind::Boolean, ["t", "1"], "f"),
            (Kind::HexBytes, ["\\x6869", "\\x6869"], "\\x686A"),
        ] {
            let [one, two] = spellings.map(|value| canonical(kind, value, Target::Postgres));
            assert!(one.is_ok(), "{spellings:?}");
            assert_eq!(one, two, "{spellings:?}");
            assert_ne!(one, canonical(kind, other, Target::Postgres), "{other}");
        }
    }

    #[test]
    fn values_that_have_no_equivalent_have_a_fault() {
        let (postgres, sqlite) = (Target::Postgres, Target::Sqlite);
        for (kind, value, target, expected) in [
            (Kind::Text, "a\0b", postgres, Some(Fault::Nul)),
            (Kind::Text, "a\0b", sqlite, None),
            (
                Kind::Time,
                "0000-00-00 00:00:00",
                postgres,
                Some(Fault::ZeroDate),
            ),
            (Kind::Date, "2024-00-10", sqlite, Some(Fault::ZeroDate)),
            (Kind::Instant, "0001-01-01 00:00:00+00 BC", sqlite, None),
            (Kind::Double, "NaN", sqlite, Some(Fault::Nan)),
            (Kind::Double, "NaN", postgres, None),
        ] {
            assert_eq!(kind.fault(value.as_bytes(), target), expected, "{value}");
        }
        assert!(canonical(Kind::HexBytes, "\\x6", sqlite).is_err());
        assert!(canonical(Kind::Boolean, "2", sqlite).is_err());
        assert_eq!(
            canonical(Kind::Double, "-0", Target::Sqlite).as_deref(),
            Ok("0e0")
        );
        assert_eq!(
            canonical(Kind::Double, "-0", Target::Postgres).as_deref(),
            Ok("-0e0")
        );
        assert!(canonical(Kind::Double, "NaN", Target::Postgres).is_ok());
    }

    #[test]
    fn contents_differ_if_a_value_moves() {
        let content = |rows: &[[Option<&str>; 2]]| {
            let mut content = Content::default();
            let mut row = Row::default();
            for values in rows {
                row.begin();
                for value in values {
                    let value = value.map(str::as_bytes);
                    row.push(Kind::Text, value, Target::Postgres).expect("text");
                }
                content.add(&row);
            }
            content
        };
        let own = content(&[[Some("a"), Some("b")], [Some("c"), None]]);
        assert_eq!(own, content(&[[Some("c"), None], [Some("a"), Some("b")]]));
        for other in [
            content(&[[Some("b"), Some("a")], [Some("c"), None]]),
            content(&[[Some("c"), Some("b")], [Some("a"), None]]),
            content(&[[Some("ab"), Some("")], [Some("c"), None]]),
            content(&[[Some("a"), Some("b")], [Some("c"), Some("")]]),
            content(&[[Some("a"), Some("b")]]),
        ] {
            assert_ne!(own, other);
        }
        let other = content(&[[Some("a"), Some("x")], [Some("c"), None]]);
        assert_eq!(own.differences(&other), [1]);
    }
}
