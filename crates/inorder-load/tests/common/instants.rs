//! A Parquet file of times.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::data_type::Int64Type;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

/// The microseconds since 1970 of each time in the file, in order: `2023-11-14 22:13:20.123456`, and two that a clock of New
/// York shows twice.
pub const MICROS: [i64; 3] = [
    1_700_000_000_123_456,
    1_699_162_200_000_000,
    1_699_165_800_000_000,
];

/// Writes rows of a number `i`, a point in time `at`, and a time `local` of some clock.
pub fn write(path: &Path) {
    let schema = "message rows {
        required int64 i;
        required int64 at (TIMESTAMP(MICROS, true));
        required int64 local (TIMESTAMP(MICROS, false));
    }";
    let schema = Arc::new(parse_message_type(schema).expect("a schema"));
    let file = File::create(path).expect("a file");
    let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).expect("a writer");
    let mut group = writer.next_row_group().expect("a group");
    for values in [[1, 2, 3], MICROS, MICROS] {
        let mut column = group.next_column().expect("a column").expect("one more");
        let written = column.typed::<Int64Type>().write_batch(&values, None, None);
        written.expect("values");
        column.close().expect("a column");
    }
    group.close().expect("a group");
    writer.close().expect("a footer");
}
