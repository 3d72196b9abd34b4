//! Arguments of the functions: SQLite values and the ids, times and numbers in them.

use crate::Error;
use inorder_key::{Tsid, TypeId, Ulid, UnixTime, Uuid, parse_time, time_of_ms, time_of_seconds};

/// A value that SQLite passes to a function, except NULL.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'a> {
    Integer(i64),
    /// A real number with a fraction, or too large for an integer.
    Real(f64),
    Text(&'a [u8]),
    Blob(&'a [u8]),
}

impl Value<'_> {
    /// Creates a value from a real number, an integer if it has no fraction. JavaScript and some drivers have no
    /// other numbers.
    pub fn of_real(real: f64) -> Self {
        match whole(real) {
            Some(integer) => Value::Integer(integer),
            None => Value::Real(real),
        }
    }

    /// Returns the error for a value of another type.
    pub fn unwanted(self, wanted: &'static str) -> Error {
        let found = match self {
            Value::Integer(_) => "an integer",
            Value::Real(_) => "a real number that is not whole or too large",
            Value::Text(_) => "a text",
            Value::Blob(_) => "a blob",
        };
        Error::Type { wanted, found }
    }

    /// Reads a ULID from 16 bytes, 26 characters or 32 hex digits.
    pub fn ulid(self) -> Result<Ulid, Error> {
        match self {
            Value::Blob(blob) => Ok(Ulid::from_slice(blob)?),
            Value::Text(text) => Ok(Ulid::parse(text)?),
            _ => Err(self.unwanted(
                "a ULID, a blob of 16 bytes or a text of 26 characters or 32 hex digits,",
            )),
        }
    }

    /// Reads a UUID of any version from 16 bytes, 36 characters, also in braces or after `urn:uuid:`, or 32 hex
    /// digits.
    pub fn uuid(self) -> Result<Uuid, Error> {
        match self {
            Value::Blob(blob) => Ok(Uuid::from_slice(blob)?),
            Value::Text(text) => Ok(Uuid::parse(text)?),
            _ => Err(self.unwanted(
                "a UUID, a blob of 16 bytes or a text of 36 characters or 32 hex digits,",
            )),
        }
    }

    /// Reads a TSID from an integer or 13 characters.
    pub fn tsid(self) -> Result<Tsid, Error> {
        match self {
            Value::Integer(integer) => Ok(Tsid::from_i64(integer)?),
            Value::Text(text) => Ok(Tsid::parse(text)?),
            _ => Err(self.unwanted("a TSID, an integer or a text of 13 characters,")),
        }
    }

    /// Reads a TypeID from text.
    pub fn type_id(self) -> Result<TypeId, Error> {
        match self {
            Value::Text(text) => Ok(TypeId::parse(text)?),
            _ => Err(self.unwanted("a TypeID, a text such as user_01h455vb4pex5vsknk084sn02q,")),
        }
    }

    /// Reads the prefix of a TypeID.
    pub fn prefix(self) -> Result<String, Error> {
        match self {
            Value::Text(text) => Ok(String::from_utf8_lossy(text).into_owned()),
            _ => Err(self.unwanted("the prefix of a TypeID, a text such as user,")),
        }
    }

    /// Reads a time from milliseconds since 1970 or from text.
    pub fn time(self) -> Result<UnixTime, Error> {
        match self {
            Value::Integer(ms) => time_of_ms(ms).map_err(Error::of_time),
            Value::Text(text) => Ok(parse_time(&String::from_utf8_lossy(text))?),
            _ => Err(self.unwanted("a time, an integer of milliseconds since 1970 or a text,")),
        }
    }

    /// Reads a time from seconds since 1970, which may have a fraction: an integer, a real number or a text. The digits after
    /// the third of a fraction are cut off.
    pub fn time_of_seconds(self) -> Result<UnixTime, Error> {
        let wanted = "a time in seconds since 1970, a number or its text,";
        let (seconds, ms) = match self {
            Value::Integer(seconds) => (seconds, 0),
            // To the microsecond, which a real number of seconds holds: 0.123 must not become 122 ms.
            Value::Real(seconds) => whole((seconds * 1e6).round())
                .map(|micros| {
                    (
                        micros.div_euclid(1_000_000),
                        (micros.rem_euclid(1_000_000) / 1000) as u16,
                    )
                })
                .ok_or_else(|| self.unwanted(wanted))?,
            Value::Text(text) => decimal(text).ok_or_else(|| Error::SecondsText {
                text: String::from_utf8_lossy(text).into_owned(),
            })?,
            Value::Blob(_) => return Err(self.unwanted(wanted)),
        };
        Ok(time_of_seconds(seconds, ms)?)
    }

    /// Reads the node of a TSID.
    pub fn node(self) -> Result<u16, Error> {
        let node = self.integer("the node of a TSID, an integer from 0 to 1023,")?;
        let max = Tsid::NODE_MAX;
        let found = u16::try_from(node).ok().filter(|node| *node <= max);
        found.ok_or_else(|| inorder_key::Error::Node { node, max }.into())
    }

    /// Reads an integer.
    pub fn integer(self, wanted: &'static str) -> Result<i64, Error> {
        match self {
            Value::Integer(integer) => Ok(integer),
            _ => Err(self.unwanted(wanted)),
        }
    }
}

/// Reads digits with a fraction, `1714521600.25`: the whole number, and the first three digits of the fraction.
fn decimal(text: &[u8]) -> Option<(i64, u16)> {
    let text = str::from_utf8(text).ok()?;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    if !are_digits(whole) || !are_digits(fraction) || whole.len() > 1 && whole.starts_with('0') {
        return None;
    }
    let ms = fraction.bytes().chain(*b"000").take(3);
    Some((
        whole.parse().ok()?,
        ms.fold(0, |ms, digit| ms * 10 + u16::from(digit - b'0')),
    ))
}

/// Converts a real number to an integer of 64 bits, if it is one.
pub(crate) fn whole(real: f64) -> Option<i64> {
    const LIMIT: f64 = (1u64 << 63) as f64;
    (real.fract() == 0.0 && (-LIMIT..LIMIT).contains(&real)).then_some(real as i64)
}

#[cfg(test)]
mod tests {
    use super::whole;

    #[test]
    fn whole_numbers_are_integers() {
        let limit = (1u64 << 63) as f64;
        for (real, integer) in [
            (0.0, Some(0)),
            (-0.0, Some(0)),
            (17.0, Some(17)),
            (-3.0, Some(-3)),
            (281_474_976_710_655.0, Some(281_474_976_710_655)),
            (-limit, Some(i64::MIN)),
            (limit, None),
            (0.5, None),
            (1e300, None),
            (f64::INFINITY, None),
            (f64::NEG_INFINITY, None),
            (f64::NAN, None),
        ] {
            assert_eq!(whole(real), integer, "{real}");
        }
    }
}
