//! What a declared type of SQLite means, and which values are of that type. SQLite itself stores any value.

use rusqlite::types::ValueRef;

use crate::number::Decimal;
use crate::temporal::{self, FRACTION_MAX};
use crate::value::Kind;

/// The values of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// Integers of so many bits.
    Integer(u32),
    /// Decimals of so many digits before and behind the point.
    Decimal(u64, u64),
    /// Finite numbers.
    Number,
    /// Numbers that a double has.
    Double,
    /// 0 and 1, or their words.
    Boolean,
    /// Days.
    Date,
    /// Points in time without an offset, with at most so many digits of the fraction.
    Time(usize),
    /// Points in time, with an offset or in UTC.
    Instant(usize),
    /// Times of the day.
    Clock(usize),
    /// Hours, minutes and seconds, also negative ones and more than a day.
    Span,
    /// Times of the day with an offset.
    ZonedClock,
    /// UUIDs as bytes or digits.
    Uuid,
    /// JSON.
    Json,
    /// Text of at most so many characters.
    Characters(usize),
    /// Text.
    Text,
    /// Bytes.
    Bytes,
}

/// A type of PostgreSQL that a column may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub want: Want,
    pub postgres: String,
    pub kind: Kind,
}

/// The largest integer up to which all are exact as floating-point numbers.
const EXACT_MAX: u64 = 1 << 53;

/// The most digits of PostgreSQL's `numeric(p, s)`, and the most characters of its `varchar(n)`.
const DIGITS_MAX: u64 = 1000;
const CHARACTERS_MAX: u64 = 10_485_760;

fn candidate(want: Want, postgres: &str) -> Candidate {
    let kind = match want {
        Want::Integer(_) => Kind::Plain,
        Want::Decimal(..) | Want::Number => Kind::Number,
        Want::Double => Kind::Double,
        Want::Boolean => Kind::Boolean,
        Want::Date => Kind::Date,
        Want::Time(_) => Kind::Time,
        Want::Instant(_) => Kind::Instant,
        Want::Clock(_) | Want::Span => Kind::Clock,
        Want::ZonedClock => Kind::ZonedClock,
        Want::Uuid => Kind::Uuid,
        Want::Json | Want::Characters(_) | Want::Text => Kind::Text,
        Want::Bytes => Kind::Bytes,
    };
    Candidate {
        want,
        postgres: postgres.to_owned(),
        kind,
    }
}

/// The words of a declared type without its parentheses, and the numbers in these.
fn parts(declared: &str) -> (String, Vec<u64>) {
    let lower = declared.to_ascii_lowercase();
    let (name, rest) = lower.split_once('(').unwrap_or((&lower, ""));
    let (arguments, end) = rest.split_once(')').unwrap_or((rest, ""));
    let words = name.split_whitespace().chain(end.split_whitespace());
    let words: Vec<&str> = words.filter(|word| *word != "signed").collect();
    let numbers = arguments.split(',').map(|number| number.trim().parse());
    let numbers: Result<Vec<u64>, _> = numbers.collect();
    (words.join(" "), numbers.unwrap_or_default())
}

/// The types that a declared type may be in PostgreSQL, the best first; none if the values alone decide.
pub fn candidates(declared: &str) -> Vec<Candidate> {
    let (mut name, numbers) = parts(declared);
    let is_unsigned = name.split(' ').any(|word| word == "unsigned");
    if is_unsigned {
        let words: Vec<&str> = name.split(' ').filter(|word| *word != "unsigned").collect();
        name = words.join(" ");
    }
    let integers = |bits| integers(bits, is_unsigned);
    let first = numbers.first().copied();
    match &*name {
        "tinyint" | "smallint" | "int1" | "int2" | "year" | "smallserial" => integers(16),
        "mediumint" | "int3" | "middleint" => vec![
            candidate(Want::Integer(32), "integer"),
            candidate(Want::Integer(64), "bigint"),
        ],
        "int" | "int4" | "serial" => integers(32),
        // SQLite's own name for integers of 64 bits.
        "integer" | "bigint" | "int8" | "long" | "bigserial" | "big int" => integers(64),
        "bool" | "boolean" => vec![candidate(Want::Boolean, "boolean")],
        "bit" if first.is_none_or(|bits| bits == 1) => vec![candidate(Want::Boolean, "boolean")],
        "decimal" | "numeric" | "dec" | "number" | "fixed" => decimals(&numbers),
        "money" | "smallmoney" | "currency" => decimals(&[]),
        "real" | "double" | "double precision" | "float" | "float4" | "float8" => {
            vec![candidate(Want::Double, "double precision")]
        }
        "date" => vec![
            candidate(Want::Date, "date"),
            candidate(Want::Time(FRACTION_MAX), "timestamp"),
            candidate(Want::Instant(FRACTION_MAX), "timestamptz"),
        ],
        "datetime"
        | "timestamp"
        | "datetime2"
        | "smalldatetime"
        | "timestamp without time zone" => times(first),
        "timestamptz" | "timestamp with time zone" | "datetimeoffset" => instants(first),
        "time" | "time without time zone" => vec![
            candidate(Want::Clock(FRACTION_MAX), "time"),
            candidate(Want::Span, "interval"),
            // Ruby on Rails writes the day 2000-01-01 before a time.
            candidate(Want::Time(FRACTION_MAX), "timestamp"),
        ],
        "timetz" | "time with time zone" => vec![candidate(Want::ZonedClock, "timetz")],
        "json" | "jsonb" | "json text" => vec![candidate(Want::Json, "json")],
        "uuid" | "guid" | "uniqueidentifier" => vec![candidate(Want::Uuid, "uuid")],
        "blob" | "bytea" | "binary" | "varbinary" | "tinyblob" | "mediumblob" | "longblob"
        | "image" => vec![candidate(Want::Bytes, "bytea")],
        "varchar" | "nvarchar" | "varchar2" | "nvarchar2" | "character varying"
        | "varying character" | "char" | "nchar" | "character" | "native character" => {
            characters(first)
        }
        "text" | "clob" | "tinytext" | "mediumtext" | "longtext" | "ntext" | "string"
        | "citext" | "enum" => vec![candidate(Want::Text, "text")],
        _ => Vec::new(),
    }
}

/// Integers of a width, and the wider ones.
fn integers(bits: u32, is_unsigned: bool) -> Vec<Candidate> {
    let least = if is_unsigned { bits * 2 } else { bits };
    let widths = [(16, "smallint"), (32, "integer"), (64, "bigint")];
    let fitting = widths.iter().filter(|(bits, _)| *bits >= least.min(64));
    fitting
        .map(|(bits, name)| candidate(Want::Integer(*bits), name))
        .collect()
}

fn decimals(numbers: &[u64]) -> Vec<Candidate> {
    let any = candidate(Want::Number, "numeric");
    let (digits, places) = match *numbers {
        [digits] => (digits, 0),
        [digits, places] => (digits, places),
        _ => return vec![any],
    };
    if digits == 0 || digits > DIGITS_MAX || places > digits {
        return vec![any];
    }
    let name = format!("numeric({digits},{places})");
    vec![
        candidate(Want::Decimal(digits - places, places), &name),
        any,
    ]
}

/// The digits of the fraction of a declared type, if it says so.
fn precision(declared: Option<u64>) -> Option<usize> {
    declared
        .and_then(|digits| usize::try_from(digits).ok())
        .filter(|digits| *digits <= FRACTION_MAX)
}

fn times(declared: Option<u64>) -> Vec<Candidate> {
    let mut found = Vec::new();
    if let Some(digits) = precision(declared) {
        found.push(candidate(
            Want::Time(digits),
            &format!("timestamp({digits})"),
        ));
    }
    found.push(candidate(Want::Time(FRACTION_MAX), "timestamp"));
    found.extend(instants(declared));
    found
}

fn instants(declared: Option<u64>) -> Vec<Candidate> {
    let mut found = Vec::new();
    if let Some(digits) = precision(declared) {
        found.push(candidate(
            Want::Instant(digits),
            &format!("timestamptz({digits})"),
        ));
    }
    found.push(candidate(Want::Instant(FRACTION_MAX), "timestamptz"));
    found
}

fn characters(most: Option<u64>) -> Vec<Candidate> {
    let text = candidate(Want::Text, "text");
    match most.filter(|most| (1..=CHARACTERS_MAX).contains(most)) {
        Some(most) => {
            let name = format!("varchar({most})");
            vec![candidate(Want::Characters(most as usize), &name), text]
        }
        None => vec![text],
    }
}

impl Want {
    /// Whether a value, which is not NULL, is of the type.
    pub fn has(self, value: ValueRef<'_>) -> bool {
        match (self, value) {
            (Want::Integer(bits), ValueRef::Integer(integer)) => {
                let most = i64::MAX >> (64 - bits);
                (-most - 1..=most).contains(&integer)
            }
            (Want::Decimal(whole, places), ValueRef::Integer(_) | ValueRef::Real(_)) => {
                decimal(value).is_some_and(|number| {
                    number.whole_digits() <= whole && number.places() <= places
                })
            }
            (Want::Number, _) => decimal(value).is_some(),
            (Want::Double, ValueRef::Real(_)) => true,
            (Want::Double, ValueRef::Integer(integer)) => integer.unsigned_abs() <= EXACT_MAX,
            (Want::Boolean, ValueRef::Integer(integer)) => matches!(integer, 0 | 1),
            (Want::Bytes, ValueRef::Blob(_)) => true,
            (Want::Uuid, ValueRef::Blob(bytes)) => bytes.len() == 16,
            // Numbers that the affinity of the column made of text.
            (Want::Json, ValueRef::Integer(_)) => true,
            (Want::Json, ValueRef::Real(real)) => real.is_finite(),
            (_, ValueRef::Text(text)) => self.has_text(text),
            _ => false,
        }
    }

    fn has_text(self, text: &[u8]) -> bool {
        let is_short = |most| move |digits: usize| digits <= most;
        match self {
            Want::Text => true,
            Want::Characters(most) => {
                let is_start = |byte: &&u8| **byte & 0xC0 != 0x80;
                text.len() <= most || text.iter().filter(is_start).count() <= most
            }
            Want::Json => serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok(),
            Want::Boolean => crate::value::is_true(text).is_some(),
            Want::Date => temporal::shape(text).is_some_and(|shape| !shape.has_clock),
            Want::Time(most) => temporal::shape(text)
                .is_some_and(|shape| !shape.has_offset && shape.fraction <= most),
            Want::Instant(most) => {
                temporal::shape(text).is_some_and(|shape| shape.fraction <= most)
            }
            Want::Clock(most) => temporal::clock_fraction(text).is_some_and(is_short(most)),
            Want::Span => temporal::span_fraction(text).is_some_and(is_short(FRACTION_MAX)),
            Want::ZonedClock => text.len() > 8 && temporal::is_clock_read(text),
            Want::Uuid => crate::value::is_uuid(text),
            _ => false,
        }
    }

    /// What its values are, in words.
    pub fn told(self) -> String {
        match self {
            Want::Integer(bits) => format!("integers of {bits} bits"),
            Want::Decimal(whole, places) => {
                format!("numbers of at most {whole} digits before and {places} behind the point")
            }
            Want::Number => "finite numbers".to_owned(),
            Want::Double => "floating-point numbers".to_owned(),
            Want::Boolean => "0 or 1".to_owned(),
            Want::Date => "days (YYYY-MM-DD)".to_owned(),
            Want::Time(_) => "times without an offset (YYYY-MM-DD HH:MM:SS)".to_owned(),
            Want::Instant(_) => "times (YYYY-MM-DD HH:MM:SS±HH:MM)".to_owned(),
            Want::Clock(_) => "times of the day (HH:MM:SS)".to_owned(),
            Want::Span => "hours, minutes and seconds (HH:MM:SS)".to_owned(),
            Want::ZonedClock => "times of the day with an offset (HH:MM:SS±HH:MM)".to_owned(),
            Want::Uuid => "UUIDs".to_owned(),
            Want::Json => "JSON".to_owned(),
            Want::Characters(most) => format!("texts of at most {most} characters"),
            Want::Text => "texts".to_owned(),
            Want::Bytes => "bytes".to_owned(),
        }
    }
}

/// A finite number that SQLite has as one.
fn decimal(value: ValueRef<'_>) -> Option<Decimal> {
    match value {
        ValueRef::Integer(integer) => Decimal::of(integer.to_string().as_bytes()),
        ValueRef::Real(real) if real.is_finite() => Decimal::of(format!("{real:e}").as_bytes()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_types_have_equivalents() {
        for (declared, expected) in [
            ("decimal(10,2)", "numeric(10,2) numeric"),
            ("DECIMAL(5)", "numeric(5,0) numeric"),
            ("NUMERIC", "numeric"),
            ("numeric(2,5)", "numeric"),
            ("Money", "numeric"),
            ("REAL", "double precision"),
            ("double precision", "double precision"),
            ("date", "date timestamp timestamptz"),
            ("datetime", "timestamp timestamptz"),
            (
                "datetime(6)",
                "timestamp(6) timestamp timestamptz(6) timestamptz",
            ),
            ("timestamp with time zone", "timestamptz"),
            ("time", "time interval timestamp"),
            ("boolean", "boolean"),
            ("bit", "boolean"),
            ("bit(8)", ""),
            ("json", "json"),
            ("uuid", "uuid"),
            ("BLOB", "bytea"),
            ("varchar(80)", "varchar(80) text"),
            ("NVARCHAR(0)", "text"),
            ("character varying (20)", "varchar(20) text"),
            ("CHAR(3)", "varchar(3) text"),
            ("text", "text"),
            ("tinyint(1)", "smallint integer bigint"),
            ("smallint unsigned", "integer bigint"),
            ("INT(10) UNSIGNED", "bigint"),
            ("int", "integer bigint"),
            ("INTEGER", "bigint"),
            ("UNSIGNED BIG INT", "bigint"),
            ("", ""),
            ("point", ""),
        ] {
            let found: Vec<String> = candidates(declared)
                .into_iter()
                .map(|candidate| candidate.postgres)
                .collect();
            assert_eq!(found.join(" "), expected, "{declared}");
        }
    }
}
