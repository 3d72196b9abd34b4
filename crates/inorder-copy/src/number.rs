//! Decimal numbers as text.

/// Appends a number without an exponent, without zeros before it and at the end of its fraction. Appends another text,
/// such as `NaN`, as it is.
pub fn put_number(value: &[u8], out: &mut Vec<u8>) {
    let Some(number) = Decimal::of(value) else {
        out.extend_from_slice(value);
        return;
    };
    let Decimal {
        is_negative,
        digits,
        point,
    } = number;
    if is_negative {
        out.push(b'-');
    }
    match usize::try_from(point) {
        Ok(point) if point > 0 => {
            let whole = point.min(digits.len());
            out.extend_from_slice(&digits[..whole]);
            out.resize(out.len() + point - whole, b'0');
            if whole < digits.len() {
                out.push(b'.');
                out.extend_from_slice(&digits[whole..]);
            }
        }
        _ => {
            out.push(b'0');
            if !digits.is_empty() {
                out.push(b'.');
                out.resize(out.len() + point.unsigned_abs() as usize, b'0');
                out.extend_from_slice(&digits);
            }
        }
    }
}

/// A decimal number: its digits from the first to the last that is not zero, and where its point is among them.
#[derive(Debug, PartialEq, Eq)]
pub struct Decimal {
    is_negative: bool,
    digits: Vec<u8>,
    point: i64,
}

/// The largest exponent that is written out. That of a double has three digits.
const EXPONENT_MAX: i64 = 200_000;

impl Decimal {
    /// Parses a number; `None` if it is none.
    pub fn of(value: &[u8]) -> Option<Self> {
        let (is_negative, text) = match value.first()? {
            b'-' => (true, &value[1..]),
            b'+' => (false, &value[1..]),
            _ => (false, value),
        };
        let end = text.iter().position(|byte| matches!(byte, b'e' | b'E'));
        let (mantissa, exponent) = match end {
            Some(at) => {
                let exponent = std::str::from_utf8(&text[at + 1..]).ok()?;
                (&text[..at], exponent.parse::<i64>().ok()?)
            }
            None => (text, 0),
        };
        let point = mantissa.iter().position(|byte| *byte == b'.');
        let point = point.unwrap_or(mantissa.len());
        let fraction = mantissa.get(point + 1..).unwrap_or_default();
        let mut digits = mantissa[..point].to_vec();
        digits.extend_from_slice(fraction);
        if digits.is_empty()
            || !digits.iter().all(u8::is_ascii_digit)
            || exponent.abs() > EXPONENT_MAX
        {
            return None;
        }
        let mut point = point as i64 + exponent;
        let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
        digits.drain(..zeros);
        point -= zeros as i64;
        while digits.last() == Some(&b'0') {
            digits.pop();
        }
        if digits.is_empty() {
            point = 0;
        }
        Some(Decimal {
            is_negative: is_negative && !digits.is_empty(),
            digits,
            point,
        })
    }

    /// The digits before the point.
    pub fn whole_digits(&self) -> u64 {
        self.point.max(0) as u64
    }

    /// The digits behind the point.
    pub fn places(&self) -> u64 {
        (self.digits.len() as i64 - self.point).max(0) as u64
    }
}

/// Returns whether SQLite has a number, as a 64-bit integer or as a double whose shortest text has the same digits.
pub fn is_kept_by_sqlite(value: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(value) else {
        return false;
    };
    let Some(number) = Decimal::of(value) else {
        return false;
    };
    if number.places() == 0 && number.whole_digits() <= 19 {
        let mut whole = Vec::new();
        put_number(value, &mut whole);
        if String::from_utf8_lossy(&whole).parse::<i64>().is_ok() {
            return true;
        }
    }
    text.parse::<f64>().is_ok_and(|double| {
        double.is_finite() && Decimal::of(format!("{double:e}").as_bytes()) == Some(number)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(value: &str) -> String {
        let mut out = Vec::new();
        put_number(value.as_bytes(), &mut out);
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn numbers_have_one_form() {
        for (value, expected) in [
            ("19.90", "19.9"),
            ("1.999e1", "19.99"),
            ("0.00", "0"),
            ("-0", "0"),
            ("-0.50", "-0.5"),
            ("100", "100"),
            ("1e2", "100"),
            ("1.5e-3", "0.0015"),
            ("+007", "7"),
            (".5", "0.5"),
            ("5.", "5"),
            ("12345678901234567890.10", "12345678901234567890.1"),
            ("NaN", "NaN"),
            ("-Infinity", "-Infinity"),
            ("1,5", "1,5"),
            ("", ""),
            (".", "."),
        ] {
            assert_eq!(normal(value), expected, "{value}");
        }
    }

    #[test]
    fn what_sqlite_keeps_comes_back() {
        let db = rusqlite::Connection::open_in_memory().expect("a database");
        for (value, is_kept) in [
            ("19.99", true),
            ("0.10", true),
            ("9223372036854775807", true),
            ("9223372036854775808", false),
            ("-9223372036854775808.000", true),
            ("12345678.9012345", true),
            ("123456789012345.67", true),
            ("1234567890123456.789", false),
            ("9007199254740993", true),
            ("9007199254740993.5", false),
            ("1e40", true),
            ("NaN", false),
            ("1e400", false),
        ] {
            assert_eq!(is_kept_by_sqlite(value.as_bytes()), is_kept, "{value}");
            if is_kept && normal(value).parse::<i64>().is_err() {
                let back: f64 = db
                    .query_row(
                        "SELECT ?1",
                        [value.parse::<f64>().expect("a number")],
                        |row| row.get(0),
                    )
                    .expect("a number");
                assert_eq!(normal(&format!("{back:e}")), normal(value));
            }
        }
    }

    #[test]
    fn digits_are_counted() {
        for (value, whole, places) in [("19.90", 2, 1), ("0.05", 0, 2), ("1e3", 4, 0), ("0", 0, 0)]
        {
            let number = Decimal::of(value.as_bytes()).expect("a number");
            assert_eq!(
                (number.whole_digits(), number.places()),
                (whole, places),
                "{value}"
            );
        }
    }
}
