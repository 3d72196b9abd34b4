//! Apache Parquet: <https://parquet.apache.org/docs/file-format/>.
//!
//! Dates and times become text that SQLite's date functions read (UTC), decimals the digits of their
//! text, nested values JSON.

use std::fs::File;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field as Typed;
use parquet::record::reader::RowIter;

use super::feed::Feed;
use super::input::{Input, PlainFile};
use super::row::{Field, Row};
use super::{ReadOptions, Rows};
use crate::Error;

/// Begins to read a file.
pub(super) fn open(input: Input, _: &ReadOptions) -> Result<Box<dyn Rows>, Error> {
    let PlainFile {
        shown: path,
        real,
        meter,
    } = input.into_file()?;
    let unreadable = {
        let path = path.clone();
        move |what: String| Error::Unreadable {
            path: path.clone(),
            what,
        }
    };
    let file = File::open(&real).map_err(|source| Error::Open {
        path: path.clone(),
        source,
    })?;
    let bytes = file.metadata().map_or(0, |metadata| metadata.len());
    let reader = SerializedFileReader::new(file).map_err(|error| unreadable(error.to_string()))?;
    let schema = reader.metadata().file_metadata().schema();
    let columns = schema.get_fields().iter();
    let columns = columns.map(|field| field.name().to_owned()).collect();
    // Columns are read here and there: there is no saying how far it is.
    meter.add(bytes.saturating_sub(meter.bytes()));
    let feed = Feed::start(columns, path, move |outlet| {
        for values in RowIter::from_file_into(Box::new(reader)) {
            let values = values.map_err(|error| unreadable(error.to_string()))?;
            let Ok(row) = outlet.row() else { break };
            for (_, value) in values.get_column_iter() {
                let field = field(row, value);
                row.fields.push(field);
            }
        }
        Ok(())
    });
    Ok(Box::new(feed))
}

fn field(row: &mut Row, value: &Typed) -> Field {
    match value {
        Typed::Null => Field::Null,
        Typed::Bool(bool) => Field::Bool(*bool),
        Typed::Byte(integer) => Field::Integer((*integer).into()),
        Typed::Short(integer) => Field::Integer((*integer).into()),
        Typed::Int(integer) => Field::Integer((*integer).into()),
        Typed::Long(integer) => Field::Integer(*integer),
        Typed::UByte(integer) => Field::Integer((*integer).into()),
        Typed::UShort(integer) => Field::Integer((*integer).into()),
        Typed::UInt(integer) => Field::Integer((*integer).into()),
        Typed::ULong(integer) => match i64::try_from(*integer) {
            Ok(integer) => Field::Integer(integer),
            Err(_) => Field::Number(row.keep(integer.to_string().as_bytes())),
        },
        Typed::Float16(real) => Field::Real(real.to_f64()),
        Typed::Float(real) => Field::Real((*real).into()),
        Typed::Double(real) => Field::Real(*real),
        Typed::Decimal(_) => Field::Number(row.keep(value.to_string().as_bytes())),
        Typed::Str(text) => Field::Text(row.keep(text.as_bytes())),
        Typed::Bytes(bytes) => Field::Blob(row.keep(bytes.data())),
        Typed::Date(_)
        | Typed::TimeMillis(_)
        | Typed::TimeMicros(_)
        | Typed::TimestampMillis(_)
        | Typed::TimestampMicros(_) => {
            let text = value.to_string();
            Field::Text(row.keep(text.trim_end_matches(" +00:00").as_bytes()))
        }
        Typed::Group(_) | Typed::ListInternal(_) | Typed::MapInternal(_) => {
            Field::Json(row.keep(value.to_json_value().to_string().as_bytes()))
        }
    }
}
