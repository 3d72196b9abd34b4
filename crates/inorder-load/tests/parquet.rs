//! Parquet files, written here by the library's own writer: every type that can be a column, NULLs, several row
//! groups, dictionaries and compressions.
#![cfg(feature = "parquet")]

mod common;

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use common::{Folder, rows};
use inorder_load::Create;
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArray,
    FixedLenByteArrayType, FloatType, Int32Type, Int64Type, Int96, Int96Type,
};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

type Groups<'a> = SerializedRowGroupWriter<'a, File>;

/// Writes a column: the values that are there, and for each row whether one is.
fn column<T: DataType>(group: &mut Groups<'_>, values: &[T::T], there: &[i16]) {
    let mut column = group.next_column().expect("a column").expect("one more");
    let levels = (!there.is_empty()).then_some(there);
    column
        .typed::<T>()
        .write_batch(values, levels, None)
        .expect("values");
    column.close().expect("a column");
}

/// Writes a file of this schema with a row group for each function.
fn write(path: &Path, schema: &str, compression: Compression, groups: &[&dyn Fn(&mut Groups<'_>)]) {
    let schema = Arc::new(parse_message_type(schema).expect("a schema"));
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_dictionary_enabled(true);
    let file = File::create(path).expect("a file");
    let mut writer =
        SerializedFileWriter::new(file, schema, Arc::new(properties.build())).expect("a writer");
    for fill in groups {
        let mut group = writer.next_row_group().expect("a group");
        fill(&mut group);
        group.close().expect("a group");
    }
    writer.close().expect("a footer");
}

/// Loads a file into a created table and returns the stored rows.
fn loaded(folder: &Folder, path: &Path) -> Vec<String> {
    let mut job = folder.job(path);
    job.create = Some(Create::default());
    folder.run(&job).expect("a load");
    rows(&folder.open(), "t")
}

fn bytes(text: &str) -> ByteArray {
    ByteArray::from(text)
}

#[test]
fn every_type_is_what_it_means() {
    let folder = Folder::new("");
    let path = folder.path("types.parquet");
    let schema = "message rows {
        required boolean yes;
        required int32 small (INTEGER(8, true));
        required int32 unsigned (INTEGER(32, false));
        required int64 large;
        required int64 largest (INTEGER(64, false));
        required float single;
        required double double;
        required byte_array text (UTF8);
        required byte_array bytes;
        required fixed_len_byte_array(4) fixed;
        required int32 price (DECIMAL(9, 2));
        required int64 day_time (TIMESTAMP_MILLIS);
        required int64 exact_time (TIMESTAMP_MICROS);
        required int32 day (DATE);
        required int32 time (TIME_MILLIS);
    }";
    write(
        &path,
        schema,
        Compression::UNCOMPRESSED,
        &[&|group| {
            column::<BoolType>(group, &[true], &[]);
            column::<Int32Type>(group, &[-5], &[]);
            column::<Int32Type>(group, &[-1], &[]);
            column::<Int64Type>(group, &[i64::MIN], &[]);
            column::<Int64Type>(group, &[-1], &[]);
            column::<FloatType>(group, &[0.5], &[]);
            column::<DoubleType>(group, &[-1.25e300], &[]);
            column::<ByteArrayType>(group, &[bytes("naïve, \"quoted\"\n")], &[]);
            column::<ByteArrayType>(group, &[ByteArray::from(vec![0, 255])], &[]);
            let fixed = FixedLenByteArray::from(vec![1, 2, 3, 4]);
            column::<FixedLenByteArrayType>(group, &[fixed], &[]);
            column::<Int32Type>(group, &[-12_345], &[]);
            column::<Int64Type>(group, &[1_700_000_000_123], &[]);
            column::<Int64Type>(group, &[1_700_000_000_123_456], &[]);
            column::<Int32Type>(group, &[19_675], &[]);
            column::<Int32Type>(group, &[3_661_001], &[]);
        }],
    );
    let found = loaded(&folder, &path);
    assert_eq!(
        found,
        [
            "integer1,integer-5,integer4294967295,integer-9223372036854775808,text'18446744073709551615',real0.5,\
          real-1.25e+300,text'naïve, \"quoted\"\n',blobX'00FF',blobX'01020304',real-123.45,\
          text'2023-11-14 22:13:20.123',text'2023-11-14 22:13:20.123456',text'2023-11-14',text'01:01:01.001'"
        ]
    );
    // Dates in text must be usable by SQLite's date functions.
    let db = folder.open();
    let date = "SELECT strftime('%s', day_time) || ' ' || date(exact_time) || ' ' || julianday(day) FROM t";
    let date: String = db.query_row(date, [], |row| row.get(0)).expect("dates");
    assert_eq!(date, "1700000000 2023-11-14 2460262.5");
}

#[test]
fn times_keep_their_nanoseconds() {
    let folder = Folder::new("");
    let path = folder.path("times.parquet");
    let schema = "message rows {
        required group point { required double x; required double y; }
        required int64 nanos (TIMESTAMP(NANOS, true));
        required int64 time (TIME(NANOS, false));
        optional int96 spark;
        required int96 impala;
    }";
    // A day and its nanoseconds. Spark writes timestamps like this.
    let int96 = |day: u32, nanos: u64| Int96::from(vec![nanos as u32, (nanos >> 32) as u32, day]);
    let noon = 43_200_000_000_000;
    let group: &dyn Fn(&mut Groups<'_>) = &|group| {
        column::<DoubleType>(group, &[1.0, 2.0], &[]);
        column::<DoubleType>(group, &[3.0, 4.0], &[]);
        column::<Int64Type>(group, &[1_700_000_000_123_456_789, -1_000], &[]);
        column::<Int64Type>(group, &[3_661_000_000_001, 0], &[]);
        column::<Int96Type>(group, &[int96(2_440_588, noon + 123_456_000)], &[0, 1]);
        let values = [int96(2_440_587, noon + 1), int96(2_460_263, 0)];
        column::<Int96Type>(group, &values, &[]);
    };
    write(&path, schema, Compression::SNAPPY, &[group, group]);
    let rows = [
        "text'{\"x\":1.0,\"y\":3.0}',text'2023-11-14 22:13:20.123456789',text'01:01:01.000000001',nullNULL,\
         text'1969-12-31 12:00:00.000000001'",
        "text'{\"x\":2.0,\"y\":4.0}',text'1969-12-31 23:59:59.999999',text'00:00:00.000000',\
         text'1970-01-01 12:00:00.123456',text'2023-11-14 00:00:00.000000'",
    ];
    let [first, second] = rows;
    assert_eq!(loaded(&folder, &path), [first, first, second, second]);
}

#[test]
fn nulls_and_row_groups_and_dictionaries_are_rows_like_others() {
    let schema = "message rows { optional byte_array word (UTF8); optional int64 n; }";
    let zstd = ZstdLevel::default();
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::ZSTD(zstd),
    ] {
        let folder = Folder::new("");
        let path = folder.path("groups.parquet");
        let words: Vec<ByteArray> = (0..900).map(|n| bytes(["a", "b", "c"][n % 3])).collect();
        let numbers: Vec<i64> = (0..600).collect();
        let some: Vec<i16> = (0..900).map(|n| i16::from(n % 3 != 0)).collect();
        write(
            &path,
            schema,
            compression,
            &[
                &|group| {
                    column::<ByteArrayType>(group, &words, &[1; 900]);
                    column::<Int64Type>(group, &numbers, &some);
                },
                &|group| {
                    column::<ByteArrayType>(group, &[], &[0, 0]);
                    column::<Int64Type>(group, &[7], &[1, 0]);
                },
            ],
        );
        let found = loaded(&folder, &path);
        assert_eq!(found.len(), 902, "{compression:?}");
        let of = |row: &str| found.iter().filter(|found| *found == row).count();
        assert_eq!(of("text'a',nullNULL"), 300, "{compression:?}");
        assert_eq!(of("nullNULL,integer7"), 1);
        assert_eq!(of("nullNULL,nullNULL"), 1);
        assert_eq!(of("text'c',integer599"), 1);
    }
}

#[test]
fn nested_values_are_json() {
    let folder = Folder::new("");
    let path = folder.path("nested.parquet");
    let schema = "message rows {
        required group point { required double x; required double y; }
        required group tags (LIST) { repeated group list { required byte_array element (UTF8); } }
    }";
    write(
        &path,
        schema,
        Compression::UNCOMPRESSED,
        &[&|group| {
            column::<DoubleType>(group, &[1.5], &[]);
            column::<DoubleType>(group, &[-2.0], &[]);
            let mut tags = group.next_column().expect("a column").expect("one more");
            let words = [bytes("red"), bytes("blue")];
            tags.typed::<ByteArrayType>()
                .write_batch(&words, Some(&[1, 1]), Some(&[0, 1]))
                .expect("values");
            tags.close().expect("a column");
        }],
    );
    assert_eq!(
        loaded(&folder, &path),
        [r#"text'{"x":1.5,"y":-2.0}',text'["red","blue"]'"#]
    );
}

#[test]
fn numbers_that_are_none_are_told() {
    let folder = Folder::new("");
    let path = folder.path("nans.parquet");
    let schema = "message rows {
        required double x;
        required group tags (LIST) { repeated group list { required double element; } }
    }";
    write(
        &path,
        schema,
        Compression::UNCOMPRESSED,
        &[&|group| {
            column::<DoubleType>(group, &[0.5, f64::NAN, f64::INFINITY], &[]);
            let mut tags = group.next_column().expect("a column").expect("one more");
            let values = [0.1, f64::NAN, 0.1, f64::NEG_INFINITY, 1.0];
            tags.typed::<DoubleType>()
                .write_batch(&values, Some(&[1; 5]), Some(&[0, 0, 1, 1, 0]))
                .expect("values");
            tags.close().expect("a column");
        }],
    );
    let mut job = folder.job(&path);
    job.create = Some(Create::default());
    let summary = folder.run(&job).expect("a load");
    assert_eq!(
        rows(&folder.open(), "t"),
        [
            "nullNULL,text'[null,0.1,null]'",
            "real0.5,text'[0.1]'",
            "real9.0e+999,text'[1.0]'",
        ]
    );
    let notes = common::told(&summary);
    for told in [
        "2 numbers in nested values are NaN or infinite, which is null in JSON, the first in row 2",
        "column `x`: 1 value is NaN and stored as NULL, the first in line 2",
    ] {
        assert!(notes.contains(told), "{notes}");
    }
}

#[test]
fn a_broken_file_is_told_so() {
    let folder = Folder::new("");
    let path = folder.path("broken.parquet");
    write(
        &path,
        "message rows { required int64 n; }",
        Compression::SNAPPY,
        &[&|group| {
            column::<Int64Type>(group, &(0..10_000).collect::<Vec<_>>(), &[]);
        }],
    );
    let whole = std::fs::read(&path).expect("a file");
    let said = |content: &[u8]| {
        std::fs::write(&path, content).expect("a file");
        let mut job = folder.job(&path);
        job.create = Some(Create::default());
        folder.run(&job).expect_err("a broken file")
    };
    let cut = said(&whole[..whole.len() / 2]);
    assert!(
        cut.starts_with("broken.parquet: cannot continue reading: "),
        "{cut}"
    );
    let mut garbled = whole.clone();
    garbled[20..2000].fill(0xff);
    let garbled = said(&garbled);
    assert!(
        garbled.starts_with("broken.parquet: cannot continue reading: "),
        "{garbled}"
    );
    assert_eq!(folder.files(), ["broken.parquet"]);
}
