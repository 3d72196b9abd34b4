//! Conversion of values for a column of PostgreSQL before they are sent.
//!
//! The server parses most values itself, from text, as with `\copy`. This module parses forms of a few types that the
//! server certainly parses in the same way. These values sort by value and can be sent in binary.

use crate::{Given, Intake, Taken};
use inorder_key::Uuid;
use postgres::types::Type;
use serde_json::value::RawValue;
use std::io::Write as _;

/// The type of a column, as far as this module parses its values.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// `smallint`, `integer`, `bigint`: minimum and maximum.
    Integer(i64, i64),
    /// `double precision`.
    Real,
    /// Other types of numbers, which the server parses.
    Decimal,
    /// `uuid`.
    Uuid,
    /// `text` and `character varying`.
    Text,
    /// `bytea`.
    Bytes,
    /// `timestamp with time zone`.
    Instant,
    /// `json` and `jsonb`.
    Json,
    /// An array: the type of its elements, and their delimiter.
    Array(Box<Form>, u8),
    /// Any other type, which the server parses.
    Other,
}

impl Form {
    /// Returns the form of a type, with domains resolved.
    pub fn of(ty: &Type) -> Self {
        match *ty {
            Type::INT2 => Form::Integer(i16::MIN.into(), i16::MAX.into()),
            Type::INT4 => Form::Integer(i32::MIN.into(), i32::MAX.into()),
            Type::INT8 => Form::Integer(i64::MIN, i64::MAX),
            Type::FLOAT8 => Form::Real,
            Type::NUMERIC | Type::FLOAT4 | Type::MONEY => Form::Decimal,
            Type::UUID => Form::Uuid,
            Type::TEXT | Type::VARCHAR => Form::Text,
            Type::BYTEA => Form::Bytes,
            Type::TIMESTAMPTZ => Form::Instant,
            Type::JSON | Type::JSONB => Form::Json,
            _ => Form::Other,
        }
    }

    fn integer(&self, value: i64) -> Option<Taken> {
        match self {
            Form::Integer(least, most) if (*least..=*most).contains(&value) => {
                Some(Taken::Integer(value))
            }
            _ => None,
        }
    }

    /// Parses text in a form that the server parses in the same way.
    fn parse(&self, text: &[u8], out: &mut Vec<u8>) -> Option<Taken> {
        match self {
            Form::Integer(..) => self.integer(integer(text)?),
            Form::Real => real(text).map(Taken::Real),
            Form::Uuid => {
                out.extend_from_slice(&uuid(text)?);
                Some(Taken::Blob)
            }
            Form::Bytes => {
                let before = out.len();
                let is_read = hex(text.strip_prefix(b"\\x")?, out);
                if !is_read {
                    out.truncate(before);
                }
                is_read.then_some(Taken::Blob)
            }
            Form::Decimal
            | Form::Text
            | Form::Instant
            | Form::Json
            | Form::Array(..)
            | Form::Other => None,
        }
    }
}

/// Parses an integer in decimal digits, with or without a sign.
fn integer(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").or(text.strip_prefix(b"+"));
    let digits = digits.unwrap_or(text);
    let is_plain = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(text)
        .ok()
        .filter(|_| is_plain)?
        .parse()
        .ok()
}

/// Parses a decimal with so few digits that every correct parser returns the same number.
fn real(text: &[u8]) -> Option<f64> {
    const BYTES_MAX: usize = 16;
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    let is_plain = unsigned.first()?.is_ascii_digit()
        && unsigned.last()?.is_ascii_digit()
        && unsigned
            .iter()
            .all(|byte| byte.is_ascii_digit() || *byte == b'.');
    std::str::from_utf8(text)
        .ok()
        .filter(|_| is_plain && unsigned.len() <= BYTES_MAX)?
        .parse()
        .ok()
}

/// Parses the 36 characters of a UUID.
fn uuid(text: &[u8]) -> Option<[u8; 16]> {
    const LENGTH: usize = 36;
    let text = std::str::from_utf8(text)
        .ok()
        .filter(|text| text.len() == LENGTH)?;
    let is_digit = |(at, byte): (usize, u8)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    let id = text
        .bytes()
        .enumerate()
        .all(is_digit)
        .then(|| Uuid::parse(text));
    Some(id?.ok()?.to_u128().to_be_bytes())
}

fn hex(digits: &[u8], out: &mut Vec<u8>) -> bool {
    let value = |digit: u8| char::from(digit).to_digit(16);
    digits.len().is_multiple_of(2)
        && digits
            .chunks(2)
            .all(|pair| match (value(pair[0]), value(pair[1])) {
                (Some(high), Some(low)) => {
                    out.push((high << 4 | low) as u8);
                    true
                }
                _ => false,
            })
}

/// Formats a floating-point number so that parsing returns the same number. A whole number becomes an integer.
fn put_real(real: f64, out: &mut Vec<u8>) {
    /// 2^53: integers up to this one have an exact floating-point representation.
    const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;
    let _ = match real {
        _ if real.is_nan() => write!(out, "NaN"),
        _ if real.is_infinite() => write!(out, "{}Infinity", if real < 0.0 { "-" } else { "" }),
        _ if real.abs() <= WHOLE_MAX => write!(out, "{real}"),
        _ => write!(out, "{real:e}"),
    };
}

impl Intake for Form {
    fn take(&self, given: Given<'_>, out: &mut Vec<u8>) -> Result<Taken, String> {
        let text = |text: &[u8], out: &mut Vec<u8>| {
            out.extend_from_slice(text);
            Taken::Text
        };
        Ok(match (given, self) {
            (Given::Null, _) => Taken::Null,
            (Given::Bool(true), _) => text(b"true", out),
            (Given::Bool(false), _) => text(b"false", out),
            (Given::Integer(value), _) => match self.integer(value) {
                Some(taken) => taken,
                None => text(value.to_string().as_bytes(), out),
            },
            (Given::Real(value), Form::Real) if value.is_finite() => Taken::Real(value),
            (Given::Real(value), _) => {
                put_real(value, out);
                Taken::Text
            }
            (Given::JsonString(value), Form::Json) => {
                let value = std::str::from_utf8(value).map_err(|error| error.to_string())?;
                serde_json::to_writer(&mut *out, value).map_err(|error| error.to_string())?;
                Taken::Text
            }
            (Given::Json(value), Form::Array(element, delimiter)) => {
                dimensions(value)
                    .and_then(|dimensions| put_array(value, dimensions, (element, *delimiter), out))
                    .map_err(|_| "a JSON object is not a value of an array".to_owned())?;
                Taken::Text
            }
            (Given::Number(value) | Given::Text(value) | Given::JsonString(value), _) => {
                match self.parse(value, out) {
                    Some(taken) => taken,
                    None => text(value, out),
                }
            }
            (Given::Instant(value), Form::Instant) => {
                out.extend_from_slice(value);
                text(b"+00", out)
            }
            (Given::Instant(value), _) => text(value, out),
            (Given::Json(value), _) => text(value, out),
            (Given::Blob(blob), Form::Bytes) => {
                out.extend_from_slice(blob);
                Taken::Blob
            }
            (Given::Blob(blob), Form::Uuid) if blob.len() == 16 => {
                out.extend_from_slice(blob);
                Taken::Blob
            }
            (Given::Blob(blob), Form::Text) if std::str::from_utf8(blob).is_ok() => text(blob, out),
            (Given::Blob(blob), _) => {
                return Err(format!(
                    "a blob of {} bytes is not a value of the column's type",
                    blob.len()
                ));
            }
        })
    }

    fn is_numeric(&self) -> bool {
        matches!(self, Form::Integer(..) | Form::Real | Form::Decimal)
    }
}

/// Returns the dimensions of an array: the nesting depth of its first elements, as `json_populate_record` counts
/// them.
fn dimensions(json: &[u8]) -> Result<usize, serde_json::Error> {
    let values: Vec<&RawValue> = serde_json::from_slice(json)?;
    match values.first().map(|value| value.get()) {
        Some(first) if first.starts_with('[') => Ok(1 + dimensions(first.as_bytes())?),
        _ => Ok(1),
    }
}

/// Formats an array with this number of dimensions as the server does. Every element except NULL and arrays is
/// quoted, so that no text is read as NULL.
fn put_array(
    json: &[u8],
    dimensions: usize,
    array: (&Form, u8),
    out: &mut Vec<u8>,
) -> Result<(), serde_json::Error> {
    let values: Vec<&RawValue> = serde_json::from_slice(json)?;
    let (element, delimiter) = array;
    out.push(b'{');
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            out.push(delimiter);
        }
        let text = value.get();
        match text.as_bytes().first() {
            Some(b'n') => out.extend_from_slice(b"NULL"),
            Some(b'[') if dimensions > 1 => {
                put_array(text.as_bytes(), dimensions - 1, array, out)?;
            }
            Some(b'"') if *element != Form::Json => {
                put_quoted(&serde_json::from_str::<String>(text)?, out);
            }
            _ => put_quoted(text, out),
        }
    }
    out.push(b'}');
    Ok(())
}

fn put_quoted(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for &byte in text.as_bytes() {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(form: &Form, given: Given<'_>) -> (Taken, String) {
        let mut out = Vec::new();
        let taken = form.take(given, &mut out).unwrap();
        (taken, String::from_utf8_lossy(&out).into_owned())
    }

    #[test]
    fn only_what_every_reader_reads_alike_is_read() {
        let int4 = Form::of(&Type::INT4);
        for (text, value) in [
            ("7", 7),
            ("-7", -7),
            ("+007", 7),
            ("2147483647", 2_147_483_647),
        ] {
            assert_eq!(
                taken(&int4, Given::Text(text.as_bytes())).0,
                Taken::Integer(value)
            );
        }
        for text in [
            "",
            "-",
            " 7",
            "7 ",
            "7.0",
            "1e3",
            "0x10",
            "1_000",
            "2147483648",
            "é",
        ] {
            let expected = (Taken::Text, text.to_owned());
            assert_eq!(taken(&int4, Given::Text(text.as_bytes())), expected);
        }
        for text in [
            "1e300",
            ".5",
            "5.",
            "NaN",
            "inf",
            " 1",
            "0.12345678901234567",
            "1.2.3",
            "-",
        ] {
            assert_eq!(
                taken(&Form::Real, Given::Text(text.as_bytes())).0,
                Taken::Text
            );
        }
        assert_eq!(
            taken(&Form::Real, Given::Text(b"-0.25")).0,
            Taken::Real(-0.25)
        );
    }

    #[test]
    fn bytes_and_uuids_are_read_in_one_form_alone() {
        let id = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
        assert_eq!(
            taken(&Form::Uuid, Given::Text(id.as_bytes())).0,
            Taken::Blob
        );
        for text in [
            &id.replace('-', ""),
            &format!("{{{id}}}"),
            "017f22e279b0-7cc3-98c4-dc0c-0c07398f",
        ] {
            assert_eq!(
                taken(&Form::Uuid, Given::Text(text.as_bytes())),
                (Taken::Text, text.to_string())
            );
        }
        assert_eq!(
            taken(&Form::Bytes, Given::Text(b"\\x6162")),
            (Taken::Blob, "ab".to_owned())
        );
        for text in ["6162", "\\x616", "\\x61 62", "\\x6g", "\\141"] {
            assert_eq!(
                taken(&Form::Bytes, Given::Text(text.as_bytes())),
                (Taken::Text, text.to_owned())
            );
        }
    }

    #[test]
    fn reals_are_written_so_that_they_come_back() {
        for (real, text) in [
            (5.0, "5"),
            (-0.1, "-0.1"),
            (1e300, "1e300"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(
                taken(&Form::Other, Given::Real(real)),
                (Taken::Text, text.to_owned())
            );
        }
    }

    #[test]
    fn json_goes_into_columns_as_the_server_would_take_it() {
        let json = Form::of(&Type::JSONB);
        let texts = Form::Array(Box::new(Form::Text), b',');
        let jsons = Form::Array(Box::new(Form::Json), b',');
        for (form, given, text) in [
            (&json, Given::JsonString(b"12"), "\"12\""),
            (&json, Given::Text(b"12"), "12"),
            (&json, Given::Bool(true), "true"),
            (&json, Given::Json(b"[1.10]"), "[1.10]"),
            (
                &texts,
                Given::Json(br#"["a\"b",null,"NULL",1.5]"#),
                r#"{"a\"b",NULL,"NULL","1.5"}"#,
            ),
            (
                &texts,
                Given::Json(br#"[["x"],["\\"]]"#),
                r#"{{"x"},{"\\"}}"#,
            ),
            (
                &jsons,
                Given::Json(br#"[{"a":[1.10]},"s"]"#),
                r#"{"{\"a\":[1.10]}","\"s\""}"#,
            ),
            (&Form::Other, Given::Bool(false), "false"),
        ] {
            assert_eq!(taken(form, given), (Taken::Text, text.to_owned()));
        }
        assert!(
            Form::Other
                .take(Given::Blob(b"ab"), &mut Vec::new())
                .is_err()
        );
    }
}
