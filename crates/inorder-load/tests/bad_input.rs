//! Input that is wrong: the message names file, line and column, and the table is as it was.

mod common;

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use common::{Folder, integrity, rows};
use inorder_load::{OnDuplicate, Progress, RowOrder, run};

const SCHEMA: &str = "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT NOT NULL, size REAL);
                      INSERT INTO t VALUES (-1, 'there before', 0)";

/// The message of a load that fails and changes nothing.
fn refused(name: &str, content: impl AsRef<[u8]>) -> String {
    let folder = Folder::new(SCHEMA);
    let before = rows(&folder.open(), "t");
    let said = folder.load(name, content).expect_err("a bad file");
    let db = folder.open();
    assert_eq!(rows(&db, "t"), before);
    assert_eq!(integrity(&db), "ok");
    assert_eq!(folder.files(), ["app.db", name]);
    said
}

fn begins(said: &str, beginning: &str) {
    assert!(said.starts_with(beginning), "{said}");
}

/// Each file by name and content is refused with a message that begins so.
fn refused_as(cases: &[(&str, &[u8], &str)]) {
    for (name, content, beginning) in cases {
        begins(&refused(name, content), beginning);
    }
}

#[test]
fn broken_quotes_are_named_by_line_and_column() {
    refused_as(&[
        (
            "f.csv",
            b"id,name,size\n1,a,1\n2,\"b,2\n3,c,3\n",
            "f.csv, line 3, column 3 (`name`): a double quote is never closed;",
        ),
        (
            "f.csv",
            b"id,name,size\r\n1,\"a\nb\",1\r\n2,\"b\"x,2\r\n",
            "f.csv, line 4, column 6 (`name`): text follows the closing double quote",
        ),
        (
            "f.csv",
            b"id,name,size\n1,\"a\n\"b,1\n",
            "f.csv, line 3, column 2 (`name`): text follows the closing double quote",
        ),
    ]);
}

#[test]
fn ragged_rows_are_named_by_line() {
    for content in [
        "id,name,size\n1,a,1\n2,b\n",
        "id,name,size\n1,a,1\n2,b,2,3\n",
    ] {
        begins(&refused("f.csv", content), "f.csv, line 3: the line has ");
    }
    // Blank lines are lines.
    begins(
        &refused("f.csv", "id,name,size\n\n\n1,a\n"),
        "f.csv, line 4: the line has 2 fields",
    );
}

#[test]
fn a_line_end_inside_of_a_field_is_named_by_line() {
    let what =
        "the line has a carriage return (CR) without quotes, and the lines before end with LF;";
    refused_as(&[
        (
            "f.csv",
            b"id,name,size\n1,a\rb,2\n3,c,3\n",
            &format!("f.csv, line 2: {what}"),
        ),
        (
            "f.csv",
            b"id,name,size\r\n1,a,1\r\n2,\"b\",2\r3,c,3\r\n",
            &format!("f.csv, line 3: {what}"),
        ),
        (
            "f.csv",
            b"id,name,size\r1,a,1\r2,b\nc,2\r",
            "f.csv, line 1: the line has a line feed (LF) without quotes, and the lines before end with CR;",
        ),
    ]);
    // The rest of the line is no row of its own.
    let folder = Folder::new(SCHEMA);
    let mut job = folder.job(&folder.file("f.csv", "id,name,size\n1,a\r2,b,2\n3,c,3\n"));
    job.errors_max = 1;
    let summary = folder.run(&job).expect("a load");
    assert_eq!((summary.rows_written, summary.rows_refused), (1, 1));
    let stored = [
        "integer-1,text'there before',real0.0",
        "integer3,text'c',real3.0",
    ];
    assert_eq!(rows(&folder.open(), "t"), stored);
    // Quoted ones are text, and files of the old kind are files.
    for content in ["id,name\n1,\"a\rb\"\n", "id,name\r1,\"a\rb\"\r"] {
        let folder = Folder::new(SCHEMA);
        folder.load("f.csv", content).expect("a load");
        let stored = "SELECT count(*) FROM t WHERE id = 1 AND name = 'a' || char(13) || 'b'";
        let count: i64 = folder
            .open()
            .query_row(stored, [], |row| row.get(0))
            .expect("a count");
        assert_eq!(count, 1, "{content:?}");
    }
}

#[test]
fn two_columns_for_one_are_refused() {
    let what = "`id` and `ID` both name the table's column `id`;";
    refused_as(&[
        ("f.csv", b"id,name,ID\n1,a,2\n", &format!("f.csv: {what}")),
        // Each row has it once: the values of the first would be lost.
        (
            "f.jsonl",
            b"{\"id\":1,\"name\":\"a\"}\n{\"ID\":2,\"name\":\"b\"}\n",
            &format!("f.jsonl: {what}"),
        ),
    ]);
}

#[test]
fn rejects_are_not_written_over_what_is_loaded() {
    let folder = Folder::new(SCHEMA);
    let path = folder.file("f.csv", "id,name,size\n1,a,1\n");
    for name in ["f.csv", "app.db"] {
        let mut job = folder.job(&path);
        job.rejects = Some(folder.path(name));
        let said = folder.run(&job).expect_err("refused");
        begins(
            &said,
            &format!("--rejects: {name} is an input or the database"),
        );
    }
    let summary = folder.run(&folder.job(&path)).expect("a load");
    assert_eq!(summary.rows_written, 1);
}

#[test]
fn rejects_are_readable_by_their_owner_alone() {
    let folder = Folder::new(SCHEMA);
    let mut job = folder.job(&folder.file("f.csv", "id,name,size\n1,a,x\n"));
    job.rejects = Some(folder.path("rejects.jsonl"));
    job.errors_max = 1;
    folder.run(&job).expect("a load");
    let file = std::fs::metadata(folder.path("rejects.jsonl")).expect("rejects");
    assert_eq!(file.permissions().mode() & 0o777, 0o600);
}

#[test]
fn text_that_is_not_utf8_is_named_by_column() {
    refused_as(&[
        (
            "f.csv",
            b"id,name,size\n1,a,1\n2,x\xff,2\n",
            "f.csv, line 3, column `name`: byte 2 of the field is not UTF-8;",
        ),
        (
            "f.jsonl",
            b"{\"id\":1,\"name\":\"a\"}\n{\"id\":2,\"name\":\"\xff\"}\n",
            "f.jsonl, line 2, column 17: the bytes are not UTF-8;",
        ),
    ]);
}

#[test]
fn compressed_files_that_end_early_are_named() {
    let rows: String = (0..40_000)
        .map(|i| format!("{i},n{},{}\n", i * 7919 % 10_007, i % 7))
        .collect();
    let content = format!("id,name,size\n{rows}");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(content.as_bytes()).expect("memory");
    let gzip = gzip.finish().expect("memory");
    let zstd = zstd::encode_all(content.as_bytes(), 1).expect("memory");
    for (name, whole) in [("f.csv.gz", gzip), ("f.csv.zst", zstd)] {
        let said = refused(name, &whole[..whole.len() / 2]);
        begins(&said, &format!("{name}, line "));
        let folder = Folder::new(SCHEMA);
        let summary = folder.load(name, &whole).expect("a whole file");
        assert_eq!(summary.rows_written, 40_000);
    }
}

#[test]
fn binary_garbage_is_no_table() {
    let garbage: Vec<u8> = (0..4096u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    refused_as(&[
        ("f.bin", &garbage, "f.bin: neither the name nor the content"),
        ("f.csv", &garbage, "f.csv"),
        ("f.jsonl", &garbage, "f.jsonl, line 1, column "),
        ("f.csv", b"", "f.csv has no rows"),
    ]);
}

#[test]
fn values_that_do_not_fit_are_named_by_column() {
    refused_as(&[
        (
            "f.csv",
            b"id,name,size\n1,a,1\nx,b,2\n",
            "f.csv, line 3, column `id`: text doesn't fit the column's type;",
        ),
        (
            "f.csv",
            b"id,name,size\n1,,1\n",
            "f.csv, line 2, column `name`: the value is missing, and the column is NOT NULL;",
        ),
        (
            "f.csv",
            b"id,nam,size\n1,a,1\n",
            "f.csv: the table t has no column `nam`; did you mean `name`?",
        ),
    ]);
}

#[test]
fn a_duplicate_key_names_both_lines() {
    begins(
        &refused("f.csv", "id,name,size\n7,a,1\n8,b,2\n7,c,3\n"),
        "f.csv, line 2 and f.csv, line 4 have the same key in t;",
    );
    let said = refused("f.csv", "id,name,size\n-1,a,1\n");
    assert!(
        said.contains("f.csv, line 2") && said.contains("there already"),
        "{said}"
    );
}

#[test]
fn a_value_twice_in_a_unique_column_names_both_lines_by_statements_too() {
    // Rows that are there keep the direct writer away.
    let schema = "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE, size REAL, UNIQUE (size, name));
                  INSERT INTO t VALUES (-1, 'there before', 0)";
    let said = |content: &str, order: RowOrder| {
        let folder = Folder::new(schema);
        let path = folder.file("f.csv", content);
        let mut job = folder.job(&path);
        job.order = order;
        let said = folder.run(&job).expect_err("a duplicate");
        assert_eq!(rows(&folder.open(), "t").len(), 1);
        said
    };
    let both = "f.csv, line 2 and f.csv, line 5 have the same key in t;";
    let twice = "id,name,size\n9,a,1\n8,a,2\n7,b,1\n1,A,1\n";
    for order in [
        RowOrder::Full,
        RowOrder::Input,
        RowOrder::Batch {
            rows: 2,
            is_by_prefix: false,
        },
    ] {
        begins(&said(twice, order), both);
    }
    begins(
        &said(
            "id,name,size\n3,a,1\n2,b,2\n1,c,3\n3,d,4\n",
            RowOrder::Input,
        ),
        both,
    );
    let before = said("id,name,size\n1,There Before,0\n", RowOrder::Full);
    begins(
        &before,
        "a row that is there already (UNIQUE constraint failed: t.size, t.name) and f.csv, line 2 ",
    );
}

#[test]
fn rows_that_statements_leave_out_are_counted() {
    let folder = Folder::new(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, name UNIQUE); INSERT INTO t VALUES (0, 'a')",
    );
    let content: String = (1..=60).map(|id| format!("{id},{}\n", id % 50)).collect();
    let path = folder.file("f.csv", format!("id,name\n{content}"));
    let mut job = folder.job(&path);
    job.on_duplicate = OnDuplicate::Ignore;
    let summary = folder.run(&job).expect("settled");
    assert_eq!((summary.rows_written, summary.rows_duplicate), (50, 10));
}

#[test]
fn bad_rows_are_put_up_with_as_far_as_is_said_and_written_down() {
    let content = "id,name,size\n1,a,1\n2\n3,c,3\nx,d,4\n5,e,5\n6,\"f\"f,6\n";
    let folder = Folder::new(SCHEMA);
    let path = folder.file("f.csv", content);
    let mut job = folder.job(&path);
    job.rejects = Some(folder.path("rejects.jsonl"));
    job.errors_max = 2;
    let said = folder.run(&job).expect_err("one too many");
    begins(&said, "3 bad rows, the last one: f.csv, line ");
    job.errors_max = 3;
    let summary = folder.run(&job).expect("three bad rows");
    assert_eq!((summary.rows_written, summary.rows_refused), (3, 3));
    let rejects = std::fs::read_to_string(folder.path("rejects.jsonl")).expect("a file");
    let lines: Vec<serde_json::Value> = rejects
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let mut numbers: Vec<u64> = lines
        .iter()
        .filter_map(|line| line["line"].as_u64())
        .collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [3, 5, 7]);
    assert!(lines.iter().any(|line| line["text"] == "2"), "{rejects}");
    assert_eq!(rows(&folder.open(), "t").len(), 4);
}

#[test]
fn duplicates_are_settled_as_is_said() {
    let content = "id,name,size\n2,first,1\n1,a,1\n2,second,2\n2,third,3\n";
    for (on_duplicate, stays) in [
        (OnDuplicate::Ignore, "first"),
        (OnDuplicate::Replace, "third"),
        (OnDuplicate::Report, "first"),
    ] {
        let folder = Folder::new(SCHEMA);
        let path = folder.file("f.csv", content);
        let mut job = folder.job(&path);
        job.on_duplicate = on_duplicate;
        job.rejects = Some(folder.path("rejects.jsonl"));
        let summary = folder.run(&job).expect("settled");
        assert_eq!((summary.rows_written, summary.rows_duplicate), (2, 2));
        let name = "SELECT name FROM t WHERE id = 2";
        let name: String = folder
            .open()
            .query_row(name, [], |row| row.get(0))
            .expect("a row");
        assert_eq!(name, stays);
        let rejects = std::fs::read_to_string(folder.path("rejects.jsonl")).expect("a file");
        let reported = if on_duplicate == OnDuplicate::Report {
            2
        } else {
            0
        };
        assert_eq!(rejects.lines().count(), reported, "{rejects}");
    }
}

#[test]
fn a_load_that_is_stopped_leaves_everything_as_it_was() {
    for schema in [SCHEMA, ""] {
        let folder = Folder::new(schema);
        let files = folder.files();
        let path = folder.path("f.csv");
        let mut job = folder.job(&path);
        if schema.is_empty() {
            job.create = Some(inorder_load::Create::default());
        }
        folder.file("f.csv", "id,name,size\n1,a,1\n");
        let progress = Progress::default();
        progress.stop();
        let error = run(&job, &progress).expect_err("it was stopped");
        assert!(matches!(error, inorder_load::Error::Stopped), "{error}");
        std::fs::remove_file(&path).expect("the input");
        assert_eq!(folder.files(), files);
    }
}
