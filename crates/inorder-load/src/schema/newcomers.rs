//! What is known of the rows of a load before they are read.

use rusqlite::types::Value;

use crate::destination::{Destination, Sample};
use crate::source::{Raw, Row};

/// First rows whose keys are looked up.
const KEYS_MAX: usize = 64;

/// The bytes of a row that separate its fields.
const BYTES_BETWEEN: usize = 1;

/// The rows that come, as far as the first of them tell.
#[derive(Debug, Clone, Default)]
pub(crate) struct Newcomers {
    /// About how many they are; `None` if nothing tells.
    pub(crate) rows: Option<u64>,
    /// About how many bytes they have, if the rows are known.
    pub(crate) bytes: u64,
    /// The values of some of them in the first column of the key.
    pub(crate) keys: Vec<Value>,
}

impl Newcomers {
    /// The rows of inputs of so many bytes altogether, 0 if that is unknown. `is_whole` says that the sample has all rows.
    pub(crate) fn of(
        sample: &Sample,
        destination: &Destination,
        input_bytes: u64,
        is_whole: bool,
    ) -> Self {
        let rows = sample.rows.len() as u64;
        let bytes = sample
            .rows
            .iter()
            .map(|row| row.bytes_len() + row.len() * BYTES_BETWEEN);
        let bytes: usize = bytes.sum();
        Newcomers {
            bytes: input_bytes.max(bytes as u64),
            rows: match is_whole {
                true => Some(rows),
                false if input_bytes == 0 || bytes == 0 => None,
                false => Some((input_bytes as f64 / bytes as f64 * rows as f64) as u64),
            },
            keys: keys(sample, destination),
        }
    }
}

fn keys(sample: &Sample, destination: &Destination) -> Vec<Value> {
    let Some(part) = destination.key.first() else {
        return Vec::new();
    };
    let name = &destination.columns[part.column].name;
    let has_name = |(of, _): &&(String, usize)| of.eq_ignore_ascii_case(name);
    let Some((_, place)) = sample.names.iter().find(has_name) else {
        return Vec::new();
    };
    let step = sample.rows.len().div_ceil(KEYS_MAX).max(1);
    let rows = sample.rows.iter().step_by(step);
    rows.filter_map(|row| value(row, *place)).collect()
}

fn value(row: &Row, place: usize) -> Option<Value> {
    let text = |text: &[u8]| String::from_utf8(text.to_vec()).ok().map(Value::Text);
    match row.field(place) {
        Raw::Missing | Raw::Null => None,
        Raw::Integer(integer) => Some(Value::Integer(integer)),
        Raw::Real(real) => Some(Value::Real(real)),
        Raw::Number(digits) | Raw::Text(digits) => text(digits),
        Raw::Blob(blob) => Some(Value::Blob(blob.to_vec())),
    }
}
