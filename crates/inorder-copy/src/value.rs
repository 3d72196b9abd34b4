//! Values in one canonical form, in which the values of the source and of the copy are compared.

use twox_hash::XxHash3_128;

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text that every database writes in the same way: integers, decimals with a fixed number of places, dates, UUIDs,
    /// JSON.
    Plain,
    /// Text.
    Text,
    /// Bytes.
    Bytes,
    /// Bytes as the hexadecimal digits that PostgreSQL writes.
    HexBytes,
    /// Floating-point numbers of 32 bits.
    Single,
    /// Floating-point numbers of 64 bits.
    Double,
    /// A time or a date with a time, in no time zone. Zeros at the end of the fraction have no meaning.
    Time,
    /// A point in time, in UTC.
    Instant,
    /// A truth value as PostgreSQL writes it.
    Boolean,
}

/// Why a value has no canonical form.
pub const ZERO_DATE: &str = "a date with zeros is not a date in the destination; replace it by NULL or a date in the source first";
const NUL: &str =
    "text with a NUL character can't be stored in PostgreSQL; remove it in the source first";
const NAN: &str = "SQLite stores NaN as NULL; replace it in the source first";

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

    /// Appends the canonical form of a value.
    ///
    /// # Errors
    /// The reason why the target can't store the value.
    pub fn canonical(self, value: &[u8], target: Target, out: &mut Vec<u8>) -> Result<(), String> {
        match self {
            Kind::Plain | Kind::Text => {
                if target == Target::Postgres && value.contains(&0) {
                    return Err(NUL.to_owned());
                }
                out.extend_from_slice(value);
            }
            Kind::Bytes => out.extend_from_slice(value),
            Kind::HexBytes => return unhex(value, out),
            Kind::Single => {
                let number = f64::from(float(value)? as f32);
                return put_float(number, target, out);
            }
            Kind::Double => return put_float(float(value)?, target, out),
            Kind::Time | Kind::Instant => {
                let value = match self {
                    Kind::Instant => value.strip_suffix(b"+00").unwrap_or(value),
                    _ => value,
                };
                if is_zero_date(value) {
                    return Err(ZERO_DATE.to_owned());
                }
                out.extend_from_slice(trimmed(value));
            }
            Kind::Boolean => out.push(match value {
                b"t" | b"1" => b'1',
                b"f" | b"0" => b'0',
                _ => return Err("a truth value has another form".to_owned()),
            }),
        }
        Ok(())
    }
}

fn float(value: &[u8]) -> Result<f64, String> {
    let text = std::str::from_utf8(value).map_err(|error| error.to_string())?;
    text.parse()
        .map_err(|_| format!("`{text}` is not a floating-point number"))
}

/// Appends a number in the form that both databases read.
fn put_float(number: f64, target: Target, out: &mut Vec<u8>) -> Result<(), String> {
    let text = match number {
        _ if number.is_nan() && target == Target::Sqlite => return Err(NAN.to_owned()),
        _ if number.is_nan() => "NaN".to_owned(),
        _ if number.is_infinite() && number > 0.0 => "Infinity".to_owned(),
        _ if number.is_infinite() => "-Infinity".to_owned(),
        // SQLite stores -0 as 0.
        _ if number == 0.0 && target == Target::Sqlite => "0e0".to_owned(),
        _ => format!("{number:e}"),
    };
    out.extend_from_slice(text.as_bytes());
    Ok(())
}

/// Whether a text is a date of MariaDB that no calendar has.
fn is_zero_date(value: &[u8]) -> bool {
    let is_date = value.len() >= 10 && value[4] == b'-' && value[7] == b'-';
    is_date && (&value[..4] == b"0000" || &value[5..7] == b"00" || &value[8..10] == b"00")
}

/// A text without the zeros at the end of its fraction.
fn trimmed(value: &[u8]) -> &[u8] {
    if !value.contains(&b'.') {
        return value;
    }
    let end = value.iter().rposition(|byte| *byte != b'0');
    let kept = &value[..end.map_or(0, |end| end + 1)];
    kept.strip_suffix(b".").unwrap_or(kept)
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
            (Kind::Time, ["838:59:59", "838:59:59.000000"], "838:59:58"),
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
    fn values_that_have_no_equivalent_are_refused() {
        for (kind, value, target) in [
            (Kind::Text, "a\0b", Target::Postgres),
            (Kind::Time, "0000-00-00 00:00:00", Target::Postgres),
            (Kind::Time, "2024-00-10", Target::Sqlite),
            (Kind::Double, "NaN", Target::Sqlite),
            (Kind::HexBytes, "\\x6", Target::Sqlite),
        ] {
            assert!(canonical(kind, value, target).is_err(), "{value}");
        }
        assert!(canonical(Kind::Text, "a\0b", Target::Sqlite).is_ok());
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
