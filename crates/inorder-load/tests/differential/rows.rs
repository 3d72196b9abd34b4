//! Values, and the files that hold them.

use std::fmt::Write as _;

use rusqlite::Connection;
use rusqlite::types::Value;

use crate::case::MANY;
use crate::dice::Dice;
use crate::schema::Schema;

/// One field of a row as its file has it.
#[derive(Clone, Debug, PartialEq)]
pub enum Field {
    /// A name that an object of JSON doesn't have.
    Missing,
    Null,
    Text(String),
    /// Digits of JSON.
    Number(String),
    Bool(bool),
    Integer(i64),
    Real(f64),
    Blob(Vec<u8>),
    /// Text with a byte that is not UTF-8: its line is refused.
    Invalid,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Format {
    Csv,
    Jsonl,
    /// A table of another database.
    Sqlite,
}

impl Format {
    pub const ALL: &[Format] = &[Format::Csv, Format::Jsonl, Format::Sqlite];

    pub fn file(self) -> &'static str {
        match self {
            Format::Csv => "in.csv",
            Format::Jsonl => "in.jsonl",
            Format::Sqlite => "in.db",
        }
    }
}

const TEXTS: &[&str] = &[
    "",
    " ",
    "a",
    "A",
    "a ",
    "b",
    "B",
    "ab\0c",
    "\0",
    "é",
    "É",
    "\u{fffe}",
    "\u{ffff}x",
    "y\u{feff}",
    "\u{1f600}",
    "\u{fffd}",
    "x'00'",
    "1.0",
    "-0",
    "007",
    "1e3",
    "0x10",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "1e400",
    "nan",
    "inf",
    "12abc",
    "1_000",
    " 5 ",
    "0.1",
    "4.35",
    "1e-7",
    "123456789.123456789",
    "1234567890123456789012",
    "it's \"quoted\", twice",
    "line\nbreak",
    "{\"a\":1}",
    "null",
    "true",
];

const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "1",
    "2",
    "3",
    "-1",
    "1.0",
    "1.10",
    "2.5",
    "1e3",
    "-1.5e-3",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "123456789012345678901234567890",
    "1e400",
    "0.1",
    "1E2",
    "9007199254740993",
];

/// A value that collides with others now and then.
pub fn value(dice: &mut Dice) -> Value {
    match dice.below(16) {
        0 => Value::Null,
        1..7 => Value::Integer(dice.below(9) as i64 - 2),
        7 => Value::Integer(dice.bits() as i64 >> dice.below(64)),
        8 => Value::Real((dice.below(40) as f64 - 20.0) / 4.0),
        9 => Value::Real(f64::from_bits(dice.bits() & 0x7fef_ffff_ffff_ffff)),
        10..14 => Value::Text(dice.pick(TEXTS).to_owned()),
        14 => Value::Blob((0..dice.below(6)).map(|_| dice.bits() as u8).collect()),
        _ => Value::Text("abé".repeat(dice.below(4)) + &dice.below(100).to_string()),
    }
}

/// A value that few others equal.
fn distinct(dice: &mut Dice, is_integer: bool) -> Value {
    let number = dice.bits() >> (24 + dice.below(20));
    match dice.below(if is_integer { 1 } else { 4 }) {
        0 | 1 => Value::Integer(number as i64),
        2 => Value::Text(format!("k{number}")),
        _ => Value::Blob(number.to_be_bytes().to_vec()),
    }
}

/// The value as a file of this format can hold it.
fn field(dice: &mut Dice, value: Value, format: Format) -> Field {
    match (value, format) {
        (Value::Null, Format::Jsonl) if dice.once_in(3) => Field::Missing,
        (Value::Null, _) => Field::Null,
        (Value::Integer(integer), Format::Sqlite) => Field::Integer(integer),
        (Value::Integer(integer), Format::Jsonl) => Field::Number(integer.to_string()),
        (Value::Integer(integer), Format::Csv) => Field::Text(integer.to_string()),
        (Value::Real(real), Format::Sqlite) => Field::Real(real),
        (Value::Real(real), Format::Csv) => Field::Text(real.to_string()),
        (Value::Real(_), Format::Jsonl) if dice.once_in(4) => Field::Bool(dice.once_in(2)),
        (Value::Real(_), Format::Jsonl) => Field::Number(dice.pick(NUMBERS).to_owned()),
        (Value::Text(text), _) => Field::Text(text),
        (Value::Blob(blob), Format::Sqlite) => Field::Blob(blob),
        (Value::Blob(blob), _) => Field::Text(blob.iter().fold(String::new(), |mut hex, byte| {
            _ = write!(hex, "{byte:02x}");
            hex
        })),
    }
}

/// Rows for the columns that are given.
pub fn rows(dice: &mut Dice, schema: &Schema, given: &[usize], format: Format) -> Vec<Vec<Field>> {
    let count = match dice.below(20) {
        0 => 0,
        1..12 => 1 + dice.below(12),
        12..17 => 12 + dice.below(60),
        17 | 18 if schema.is_plain => 1000 + dice.below(1500),
        _ => 100 + dice.below(300),
    };
    let filler = if count > 100 || dice.once_in(4) {
        1500
    } else {
        0
    };
    // The probability that a value of a unique column is one of a few.
    let collision = match count > MANY {
        true => 100_000,
        false => dice.pick(&[1usize, 4, 30, 1000]),
    };
    let wild = dice.pick(&[1usize, 5, 40]);
    let invalid = dice.pick(&[0usize, 0, 0, 30]);
    let mut rows = Vec::new();
    for row in 0..count {
        let mut fields = Vec::new();
        for &column in given {
            let is_integer = schema.wants_integers(column);
            let mut drawn = match schema.is_unique(column) {
                true if !dice.once_in(collision) => distinct(dice, is_integer),
                _ => value(dice),
            };
            if is_integer
                && !matches!(drawn, Value::Integer(_) | Value::Null)
                && !dice.once_in(wild)
            {
                drawn = Value::Integer(dice.below(20) as i64);
            }
            // Above the largest rowid SQLite draws at random.
            let largest = i64::MAX.to_string();
            if schema.is_alias(column)
                && (drawn == Value::Integer(i64::MAX) || drawn == Value::Text(largest))
            {
                drawn = Value::Integer(7);
            }
            if schema.is_not_null(column) && drawn == Value::Null && !dice.once_in(wild) {
                drawn = Value::Integer(3);
            }
            let mut field = field(dice, drawn, format);
            if let (Field::Text(text), false) = (&mut field, is_integer)
                && filler > 0
                && dice.once_in(3)
            {
                *text += &"z".repeat(dice.below(filler));
            }
            if invalid > 0 && format != Format::Sqlite && dice.once_in(invalid * given.len()) {
                field = Field::Invalid;
            }
            if row == 0 && field == Field::Missing {
                field = Field::Null;
            }
            fields.push(field);
        }
        rows.push(fields);
    }
    rows
}

/// The content of a file with these rows, and the line of each.
pub fn text(format: Format, names: &[&str], rows: &[Vec<Field>]) -> (Vec<u8>, Vec<u64>) {
    let (mut out, mut lines) = (Vec::new(), Vec::new());
    let (mut line, mut counted) = (1, 0);
    if format == Format::Csv {
        let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
        out.extend_from_slice(names.join(",").as_bytes());
        out.push(b'\n');
    }
    for row in rows {
        let ends = out[counted..].iter().filter(|byte| **byte == b'\n');
        line += ends.count() as u64;
        counted = out.len();
        lines.push(line);
        match format {
            Format::Csv => csv(&mut out, row),
            _ => json(&mut out, names, row),
        }
        out.push(b'\n');
    }
    (out, lines)
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

fn csv(out: &mut Vec<u8>, row: &[Field]) {
    for (at, field) in row.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        match field {
            Field::Text(text)
                if text.len() % 2 == 1 && text.bytes().all(|b| b.is_ascii_alphanumeric()) =>
            {
                out.extend_from_slice(text.as_bytes());
            }
            Field::Text(text) => out.extend_from_slice(quoted(text).as_bytes()),
            Field::Invalid => out.extend_from_slice(b"\"x\xff\""),
            _ => {}
        }
    }
}

fn json(out: &mut Vec<u8>, names: &[&str], row: &[Field]) {
    let text = |text: &str| serde_json::to_string(text).expect("JSON").into_bytes();
    out.push(b'{');
    let mut is_first = true;
    for (name, field) in names.iter().zip(row) {
        if *field == Field::Missing {
            continue;
        }
        if !std::mem::take(&mut is_first) {
            out.push(b',');
        }
        out.extend(text(name));
        out.push(b':');
        match field {
            Field::Text(value) => out.extend(text(value)),
            Field::Number(digits) => out.extend_from_slice(digits.as_bytes()),
            Field::Bool(value) => out.extend_from_slice(value.to_string().as_bytes()),
            Field::Invalid => out.extend_from_slice(b"\"\xff\""),
            _ => out.extend_from_slice(b"null"),
        }
    }
    out.push(b'}');
}

/// Makes a table `s` with these rows; each is its own line.
pub fn fill(database: &Connection, names: &[&str], rows: &[Vec<Field>]) -> Vec<u64> {
    let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
    let make = format!("CREATE TABLE s({})", names.join(", "));
    database.execute_batch(&make).expect("a table");
    let places = vec!["?"; names.len()].join(", ");
    let mut insert = database
        .prepare(&format!("INSERT INTO s VALUES ({places})"))
        .expect("an insert");
    for row in rows {
        let values = row.iter().map(|field| match field {
            Field::Text(text) => Value::Text(text.clone()),
            Field::Integer(integer) => Value::Integer(*integer),
            Field::Real(real) => Value::Real(*real),
            Field::Blob(blob) => Value::Blob(blob.clone()),
            _ => Value::Null,
        });
        insert
            .execute(rusqlite::params_from_iter(values))
            .expect("a row");
    }
    (1..=rows.len() as u64).collect()
}
