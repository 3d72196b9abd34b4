use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use inorder_engine::{Column, Value};
use tempfile::TempDir;

use super::*;

/// A folder with one file in it.
fn file(name: &str, content: impl AsRef<[u8]>) -> (TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(name);
    std::fs::write(&path, content).expect("a small file");
    (folder, path)
}

fn read_all(name: &str, content: impl AsRef<[u8]>) -> Table {
    let (_folder, path) = file(name, content);
    read(path, None).expect("a good file")
}

/// The error's message, the file named without its folder.
fn refusal(name: &str, content: impl AsRef<[u8]>, columns: Option<&[&str]>) -> String {
    let (folder, path) = file(name, content);
    let columns: Option<Vec<String>> =
        columns.map(|columns| columns.iter().map(|c| c.to_string()).collect());
    let error = read(path, columns.as_deref()).expect_err("a bad file");
    let folder = format!("{}/", folder.path().display());
    error.to_string().replace(&folder, "")
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).expect("memory");
    encoder.finish().expect("memory")
}

/// A column's values, whatever way it holds them.
fn values(table: &Table, name: &str) -> Vec<Value> {
    let column = table.column(name).expect("the column");
    assert_eq!(column.len(), table.rows);
    match column {
        Column::Integers(values) => values.iter().copied().map(Value::Integer).collect(),
        Column::Reals(values) => values.iter().copied().map(Value::Real).collect(),
        Column::Any(values) => values.clone(),
        Column::Spans {
            pool,
            spans,
            is_text: true,
        } => {
            let slice = |&(offset, length): &(u32, u32)| {
                std::str::from_utf8(&pool[offset as usize..][..length as usize]).expect("UTF-8")
            };
            spans.iter().map(|span| text(slice(span))).collect()
        }
        other => panic!("files hold no {other:?}"),
    }
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

const FILMS: &str = "title,year,rating\n\"Lamp, The\",1931,7.5\nRiver,1944,\n1917,2019,8.25\n";

#[test]
fn csv_is_read_by_column() {
    let films = read_all("films.csv", FILMS);
    assert_eq!(films.columns, ["title", "year", "rating"]);
    assert_eq!(films.rows, 3);
    let titles = [text("Lamp, The"), text("River"), text("1917")];
    assert_eq!(values(&films, "title"), titles);
    let years = films.column("year");
    assert!(matches!(years, Some(Column::Integers(years)) if *years == [1931, 1944, 2019]));
    let ratings = [Value::Real(7.5), Value::Null, Value::Real(8.25)];
    assert_eq!(values(&films, "rating"), ratings);
}

#[test]
fn only_the_columns_asked_for_are_kept_in_their_order_once() {
    let (_folder, path) = file("films.csv", FILMS);
    let columns = ["year", "title", "year"].map(str::to_owned);
    let films = read(path, Some(&columns)).expect("a good file");
    assert_eq!(films.columns, ["year", "title"]);
    assert_eq!(films.values.len(), 2);
}

#[test]
fn marks_line_ends_and_compression_make_no_difference() {
    let plain = read_all("films.csv", FILMS);
    let with_mark = format!("\u{feff}{FILMS}");
    let (first, second) = FILMS.as_bytes().split_at(30);
    let members = [gzip(first), gzip(second)].concat();
    for (name, content) in [
        ("films.csv", with_mark.clone().into_bytes()),
        ("films.csv", FILMS.replace('\n', "\r\n").into_bytes()),
        ("films.csv.gz", gzip(FILMS.as_bytes())),
        ("films.CSV.GZ", members),
        ("films.csv", gzip(with_mark.as_bytes())),
        (
            "films.tsv",
            FILMS
                .replace("\"Lamp, The\"", "Lamp; The")
                .replace(',', "\t")
                .replace(';', ",")
                .into_bytes(),
        ),
    ] {
        let table = read_all(name, content);
        assert_eq!(table.columns, plain.columns, "{name}");
        for column in &plain.columns {
            assert_eq!(values(&table, column), values(&plain, column), "{name}");
        }
    }
}

#[test]
fn jsonl_is_typed_nested_values_are_json_and_missing_ones_null() {
    let lines = "{\"title\":\"A\",\"year\":1900,\"cast\":[\"x\", \"y\"]}\r\n\
                 \r\n\
                 {\"year\":1.5,\"title\":\"1917\",\"seen\":true}\n\
                 {\"title\":\"\\u00e9\",\"year\":null,\"cast\":{\"a\":1}}";
    for name in ["films.jsonl", "films.ndjson", "films", "films.json"] {
        let films = read_all(name, lines);
        assert_eq!(films.columns, ["title", "year", "cast", "seen"]);
        assert_eq!(
            values(&films, "title"),
            [text("A"), text("1917"), text("é")]
        );
        let years = [Value::Integer(1900), Value::Real(1.5), Value::Null];
        assert_eq!(values(&films, "year"), years);
        let casts = [text("[\"x\",\"y\"]"), Value::Null, text("{\"a\":1}")];
        assert_eq!(values(&films, "cast"), casts);
        let seen = [Value::Null, Value::Integer(1), Value::Null];
        assert_eq!(values(&films, "seen"), seen);
    }
}

const BASICS: &str = "tconst\ttitleType\tprimaryTitle\toriginalTitle\tisAdult\tstartYear\tendYear\n\
                      tt0000001\tshort\t\"Carmencita\tCarmencita\t0\t1894\t\\N\n\
                      tt0000002\tshort\tLe clown\t\t0\t\\N\t\\N\n";

#[test]
fn imdb_is_known_by_its_header_and_has_aliases() {
    for name in ["title.basics.tsv", "basics.csv", "download"] {
        let films = read_all(name, BASICS);
        assert_eq!(films.columns.len(), 9);
        assert_eq!(
            values(&films, "title"),
            [text("\"Carmencita"), text("Le clown")]
        );
        assert_eq!(values(&films, "title"), values(&films, "primaryTitle"));
        assert_eq!(values(&films, "originalTitle")[1], text(""));
        assert_eq!(values(&films, "year"), [Value::Integer(1894), Value::Null]);
    }
}

#[test]
fn missing_columns_name_the_nearest() {
    assert_eq!(
        refusal("f.csv", FILMS, Some(&["Titel"])),
        "f.csv has no column `Titel`; did you mean `title`?"
    );
    assert_eq!(
        refusal("f.csv", FILMS, Some(&["year", "zzz"])),
        "f.csv has no column `zzz`; it has `title`, `year`, `rating`"
    );
    assert_eq!(
        refusal(
            "f.jsonl",
            "{\"a1\":1,\"b\":2}\n{\"a2\":1}",
            Some(&["b", "a3"])
        ),
        "f.jsonl has no column `a3`; it has `a1`, `b`, `a2`"
    );
    assert_eq!(
        refusal("basics.tsv", BASICS, Some(&["tittle"])),
        "basics.tsv has no column `tittle`; did you mean one of `title`, `titleType`?"
    );
}

#[test]
fn malformed_lines_are_named() {
    assert_eq!(
        refusal("f.jsonl", "{\"a\":1}\n\n{\"a\":}\n", None),
        "f.jsonl, line 3, column 6: not a JSON object: expected value; \
         write one object per line; `--format json` reads objects of several lines, and arrays of objects"
    );
    let array = refusal("f.json", "[{\"a\":1}, 2]", None);
    assert!(
        array.starts_with("f.json, line 1, column 11: not a JSON object"),
        "{array}"
    );
    assert_eq!(
        refusal("f.csv", "a,b\n1,2\n3\n", None),
        "f.csv, line 3: the line has 1 field, the first line 2; write one field per column; \
         put it in double quotes if it contains the delimiter, a quote or a line end; \
         --ragged pad reads missing fields as NULL, --delimiter names another delimiter"
    );
}

#[test]
fn text_that_is_not_utf8_is_named() {
    assert_eq!(
        refusal("f.csv", b"a,b\n1,2\n3,x\xff\n", None),
        "f.csv, line 3, column `b`: byte 2 of the field is not UTF-8; \
         name the encoding of the file, such as --encoding windows-1252"
    );
    assert_eq!(
        refusal("f.jsonl", b"{\"a\":1}\n{\"a\":\"\xff\"}\n", None),
        "f.jsonl, line 2, column 7: the bytes are not UTF-8; name the encoding of the file, such as --encoding windows-1252"
    );
    assert!(refusal("f.csv", b"a,\xff\n", None).starts_with("f.csv, line 1, field 2: byte 1"));
}

#[test]
fn files_without_rows_are_refused() {
    for (name, content) in [
        ("f.csv", ""),
        ("f.csv", "a,b\n"),
        ("f.jsonl", "\n"),
        ("f.tsv", "\u{feff}"),
    ] {
        let expected = format!("{name} has no rows; supply a file with at least one row");
        assert_eq!(refusal(name, content, None), expected);
    }
}

#[test]
fn unknown_formats_are_told_the_known_ones() {
    let message = refusal("films.odt", "PK", None);
    let beginning = "films.odt: neither the name nor the content matches a known format; \
                     supply one of these, plain or compressed with gzip or zstd:\n  - IMDb's";
    assert!(message.starts_with(beginning), "{message}");
    assert_eq!(message.lines().count(), 1 + FORMATS.len());
}

#[test]
fn worksheets_are_known_by_their_content() {
    for part in [
        "xl/workbook.xml",
        "mimetypeapplication/vnd.oasis.opendocument.spreadsheet",
    ] {
        let message = refusal("films.bin", format!("PK\x03\x04 {part}"), None);
        assert!(message.starts_with("films.bin"), "{message}");
        assert!(!message.contains("a known format"), "{message}");
    }
}

#[test]
fn a_file_that_ends_early_or_is_not_there_is_named() {
    let rows: String = (0..50_000)
        .map(|row| format!("{}\n", row * 7919 % 10_007))
        .collect();
    let whole = gzip(format!("a\n{rows}").as_bytes());
    let message = refusal("f.csv.gz", &whole[..whole.len() / 2], None);
    assert!(message.starts_with("f.csv.gz, line "), "{message}");
    assert!(message.ends_with("check it with `gzip -t`"), "{message}");
    let error = read("/nonexistent/f.csv", None).expect_err("no file");
    assert!(
        error
            .to_string()
            .starts_with("cannot open /nonexistent/f.csv: No such file")
    );
}
