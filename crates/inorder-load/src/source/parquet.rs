//! Apache Parquet: <https://parquet.apache.org/docs/file-format/>.
//!
//! Dates and times become text that SQLite's date functions read (UTC), decimals the digits of their
//! text, nested values JSON.

use std::fs::File;

use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type as Physical};
use parquet::column::reader::ColumnReader;
use parquet::data_type::Int96;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::record::Field as Typed;
use parquet::schema::types::Type;

use super::feed::Feed;
use super::input::{Input, PlainFile};
use super::row::{Field, Row};
use super::{ReadOptions, Rows, Tally};
use crate::Error;
use crate::note::NoteKind;

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
    let exact = Exact::columns(schema);
    let are_utc: Vec<bool> = schema
        .get_fields()
        .iter()
        .map(|field| is_utc(field))
        .collect();
    let columns = schema.get_fields().iter();
    let columns = columns.map(|field| field.name().to_owned()).collect();
    // Columns are read here and there: there is no saying how far it is.
    meter.add(bytes.saturating_sub(meter.bytes()));
    let tally = Tally::new(NoteKind::NanAsNull, no_json_told);
    let not_json = tally.clone();
    let feed = Feed::start(columns, path, move |outlet| {
        let failed = |error: ParquetError| unreadable(explained(&error));
        for group in 0..reader.num_row_groups() {
            let group = reader.get_row_group(group).map_err(failed)?;
            let mut exact = exact.clone();
            for column in &mut exact {
                column.read(&*group).map_err(failed)?;
            }
            for (at, values) in group.get_row_iter(None).map_err(failed)?.enumerate() {
                let values = values.map_err(failed)?;
                let Ok(row) = outlet.row() else {
                    return Ok(());
                };
                let columns = values.get_column_iter().zip(&exact).zip(&are_utc);
                for (((_, value), exact), is_utc) in columns {
                    let count = no_json(value);
                    if count > 0 && !value.is_primitive() {
                        not_json.add(count, row.line());
                    }
                    let field = match exact.field(row, value, at) {
                        Field::Text(text) if *is_utc => Field::Instant(text),
                        field => field,
                    };
                    row.fields.push(field);
                }
            }
        }
        Ok(())
    });
    Ok(Box::new(feed.with_tally(tally)))
}

/// The numbers of a value that JSON does not have.
fn no_json(value: &Typed) -> u64 {
    match value {
        Typed::Float16(real) => u64::from(!real.is_finite()),
        Typed::Float(real) => u64::from(!real.is_finite()),
        Typed::Double(real) => u64::from(!real.is_finite()),
        Typed::Group(group) => group
            .get_column_iter()
            .map(|(_, value)| no_json(value))
            .sum(),
        Typed::ListInternal(list) => list.elements().iter().map(no_json).sum(),
        Typed::MapInternal(map) => {
            let entries = map.entries().iter();
            entries.map(|(_, value)| no_json(value)).sum()
        }
        _ => 0,
    }
}

fn no_json_told(count: u64, row: u64) -> String {
    match count {
        1 => format!(
            "1 number in a nested value is NaN or infinite, which is null in JSON, in row {row}"
        ),
        _ => format!(
            "{count} numbers in nested values are NaN or infinite, which is null in JSON, the first in row {row}"
        ),
    }
}

/// What to do about an error, if more is known than the library says.
fn explained(error: &ParquetError) -> String {
    let text = error.to_string();
    match text.rsplit_once("Disabled feature at compile time: ") {
        Some((_, codec)) => format!(
            "it is compressed with {codec}, which is not supported; write it with snappy, gzip or zstd"
        ),
        None => text,
    }
}

/// A column whose times have more digits than the values of the library's rows.
#[derive(Clone)]
enum Exact {
    /// It has not.
    No,
    /// Nanoseconds since 1970.
    Timestamp,
    /// Nanoseconds since midnight.
    Time,
    /// The day and its nanoseconds: the number of the column in the file, and its values in the row group.
    Int96(usize, Vec<Option<Int96>>),
}

impl Exact {
    /// The columns of a file. Times in nested values are as the library gives them.
    fn columns(schema: &Type) -> Vec<Exact> {
        let mut leaves = 0;
        let mut exact = Vec::new();
        for column in schema.get_fields() {
            exact.push(match column.get_basic_info().logical_type_ref() {
                _ if !column.is_primitive() => Exact::No,
                _ if column.get_physical_type() == Physical::INT96 => {
                    Exact::Int96(leaves, Vec::new())
                }
                Some(LogicalType::Timestamp(time)) if time.unit == TimeUnit::NANOS => {
                    Exact::Timestamp
                }
                Some(LogicalType::Time(time)) if time.unit == TimeUnit::NANOS => Exact::Time,
                _ => Exact::No,
            });
            leaves += leaves_of(column);
        }
        exact
    }

    /// Reads the values of a row group that the library's rows have rounded.
    fn read(&mut self, group: &dyn RowGroupReader) -> Result<()> {
        let Exact::Int96(leaf, values) = self else {
            return Ok(());
        };
        let ColumnReader::Int96ColumnReader(mut reader) = group.get_column_reader(*leaf)? else {
            return Ok(());
        };
        let rows = group.metadata().num_rows() as usize;
        let has_nulls = group
            .metadata()
            .column(*leaf)
            .column_descr()
            .max_def_level()
            > 0;
        let (mut read, mut levels) = (Vec::new(), Vec::new());
        reader.read_records(rows, has_nulls.then_some(&mut levels), None, &mut read)?;
        let mut read = read.into_iter();
        *values = match has_nulls {
            true => levels
                .iter()
                .map(|level| if *level > 0 { read.next() } else { None })
                .collect(),
            false => read.map(Some).collect(),
        };
        Ok(())
    }

    fn field(&self, row: &mut Row, value: &Typed, at: usize) -> Field {
        /// The Julian day of 1970-01-01.
        const EPOCH: i64 = 2_440_588;
        const DAY_MICROS: i64 = 86_400_000_000;
        let text = match (self, value) {
            (Exact::Timestamp, Typed::Long(nanos)) => {
                let micros = Typed::TimestampMicros(nanos.div_euclid(1000));
                written(&micros, nanos.rem_euclid(1000))
            }
            (Exact::Time, Typed::Long(nanos)) => {
                written(&Typed::TimeMicros(nanos / 1000), nanos % 1000)
            }
            (Exact::Int96(_, values), Typed::TimestampMillis(_)) => {
                let Some(Some(exact)) = values.get(at) else {
                    return field(row, value);
                };
                let [low, high, day] = [0, 1, 2].map(|at| i64::from(exact.data()[at]));
                let nanos = low | high << 32;
                let micros = (day - EPOCH) * DAY_MICROS + nanos / 1000;
                written(&Typed::TimestampMicros(micros), nanos % 1000)
            }
            _ => return field(row, value),
        };
        Field::Text(row.keep(text.as_bytes()))
    }
}

/// Whether a column has points in time (`isAdjustedToUTC`), and not times of the clock anywhere.
fn is_utc(column: &Type) -> bool {
    let info = column.get_basic_info();
    match info.logical_type_ref() {
        Some(LogicalType::Timestamp(time)) => time.is_adjusted_to_u_t_c,
        Some(_) => false,
        // Files of old writers have no other.
        None => matches!(
            info.converted_type(),
            ConvertedType::TIMESTAMP_MILLIS | ConvertedType::TIMESTAMP_MICROS
        ),
    }
}

/// The columns of the file that a column has.
fn leaves_of(column: &Type) -> usize {
    match column.is_primitive() {
        true => 1,
        false => column
            .get_fields()
            .iter()
            .map(|field| leaves_of(field))
            .sum(),
    }
}

/// A time of microseconds, and nanoseconds if there are any.
fn written(micros: &Typed, nanos: i64) -> String {
    let text = micros.to_string();
    let text = text.trim_end_matches(" +00:00");
    match nanos {
        0 => text.to_owned(),
        nanos => format!("{text}{nanos:03}"),
    }
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
        | Typed::TimestampMicros(_) => Field::Text(row.keep(written(value, 0).as_bytes())),
        Typed::Group(_) | Typed::ListInternal(_) | Typed::MapInternal(_) => {
            Field::Json(row.keep(value.to_json_value().to_string().as_bytes()))
        }
    }
}
