//! Loads with any number of threads: the same bytes, the same errors, the same rejects.

mod common;

use std::path::{Path, PathBuf};

use common::Folder;
use inorder_load::source::Location;
use inorder_load::{
    Create, Error, Job, KeySpec, OnDuplicate, Progress, RowOrder, WriterChoice, run,
};

/// More rows than are read before the first is written, and than one thread sorts.
const ROWS: u64 = 30_000;

/// Numbers of threads that are compared with one.
const THREADS: &[usize] = &[2, 5];

/// An id in no order. Every 500th one may be that of an earlier row.
fn id(row: u64, has_duplicates: bool) -> u64 {
    let row = match has_duplicates && row % 500 == 499 {
        true => row - 250,
        false => row,
    };
    row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8
}

/// A file whose rows from `wrong` on are each the 7,000th malformed.
fn csv(prefix: &str, has_duplicates: bool, wrong: Option<u64>) -> String {
    let mut text = "id,n,payload\n".to_owned();
    for row in 0..ROWS {
        let id = id(row, has_duplicates);
        let quoted = if row % 97 == 0 {
            "\"a, \"\"b\"\"\n\""
        } else {
            "plain"
        };
        text += &format!("{prefix}{id:x},{},{quoted}\n", row % 1000);
        if wrong.is_some_and(|wrong| row >= wrong && row % 7000 == 0) {
            text += "too,few\n";
        }
    }
    text
}

/// What a load leaves: its result in words, the database and the rejects.
#[derive(PartialEq)]
struct Left {
    said: String,
    database: Option<Vec<u8>>,
    rejects: Option<Vec<u8>>,
}

/// Loads into a new database or one with the same statements, with some threads.
fn left(job: &Job, schema: &str, threads: usize) -> Left {
    let folder = Folder::new(schema);
    let rejects = folder.path("rejects.jsonl");
    let job = Job {
        to: folder.database().display().to_string(),
        threads,
        rejects: job.rejects.is_some().then(|| rejects.clone()),
        ..job.clone()
    };
    let said = match run(&job, &Progress::default()) {
        Ok(summary) => {
            let mut summary = serde_json::to_value(&summary).expect("a summary");
            for measured in ["seconds", "cpu_seconds", "bytes_written", "bytes_read"] {
                summary[measured] = serde_json::Value::Null;
            }
            // Where a run ends depends on the threads, and each ends with a whole page.
            let spilled = summary["bytes_spilled"].as_u64().expect("a number");
            summary["bytes_spilled"] = (spilled > 0).into();
            summary.to_string()
        }
        Err(error) => error.to_string(),
    };
    Left {
        said: said.replace(&*folder.path("").to_string_lossy(), ""),
        database: std::fs::read(folder.database()).ok(),
        rejects: std::fs::read(rejects).ok(),
    }
}

/// Compares loads with several threads with a load with one, which says this.
fn compare(what: &str, job: &Job, schema: &str, expected: &str) {
    let one = left(job, schema, 1);
    assert!(one.said.contains(expected), "{what}: {}", one.said);
    for &threads in THREADS {
        let several = left(job, schema, threads);
        assert_eq!(several.said, one.said, "{what}, {threads} threads");
        assert!(several == one, "{what}, {threads} threads: other bytes");
    }
}

fn job(inputs: Vec<PathBuf>) -> Job {
    let location = |path| Location { path, table: None };
    Job {
        memory_bytes: 1 << 24,
        ..Job::new(
            inputs.into_iter().map(location).collect(),
            String::new(),
            "t".to_owned(),
        )
    }
}

fn created(has_rowid: bool) -> Option<Create> {
    Some(Create {
        key: vec![KeySpec {
            column: "id".to_owned(),
            made: None,
        }],
        has_rowid,
        ..Create::default()
    })
}

fn one_file(folder: &Folder, text: &str) -> Job {
    job(vec![folder.file("rows.csv", text)])
}

#[test]
fn new_databases_are_the_same() {
    let folder = Folder::new("");
    for prefix in ["", "the same eight bytes: "] {
        let plain = one_file(&folder, &csv(prefix, false, None));
        for has_rowid in [false, true] {
            for memory_bytes in [1 << 24, 1 << 18] {
                let job = Job {
                    create: created(has_rowid),
                    memory_bytes,
                    ..plain.clone()
                };
                compare(&format!("{has_rowid} {memory_bytes}"), &job, "", "direct");
            }
        }
    }
}

#[test]
fn tables_of_databases_are_the_same() {
    let folder = Folder::new("");
    let plain = one_file(&folder, &csv("k", false, None));
    let schema = "CREATE TABLE other(a); INSERT INTO other VALUES (1); \
        CREATE TABLE t(id TEXT PRIMARY KEY, n, payload) WITHOUT ROWID; CREATE INDEX i ON t(n); CREATE INDEX j ON t(payload)";
    for writer in [WriterChoice::Direct, WriterChoice::Statements] {
        for order in [
            RowOrder::Full,
            RowOrder::Batch {
                rows: 7000,
                is_by_prefix: false,
            },
            RowOrder::Input,
        ] {
            if writer == WriterChoice::Direct && order != RowOrder::Full {
                continue;
            }
            let job = Job {
                writer,
                order,
                ..plain.clone()
            };
            compare(
                &format!("{writer:?} {order:?}"),
                &job,
                schema,
                "\"rows_written\":30000",
            );
        }
    }
}

/// Rows that are not sorted are written in batches of half the memory.
#[test]
fn rows_in_the_order_of_the_input_are_the_same() {
    let folder = Folder::new("");
    let keyless = Create {
        has_rowid: true,
        ..Create::default()
    };
    let rowids = "CREATE TABLE t(id TEXT, n, payload)";
    for (wrong, expected) in [(None, "\"rows_written\":30000"), (Some(12_000), "line 1")] {
        let plain = one_file(&folder, &csv("k", false, wrong));
        for (create, schema) in [
            (Some(keyless.clone()), ""),
            (created(true), ""),
            (None, rowids),
        ] {
            for memory_bytes in [1 << 24, 1 << 18, 1 << 14] {
                let job = Job {
                    create: create.clone(),
                    order: RowOrder::Input,
                    memory_bytes,
                    ..plain.clone()
                };
                compare(&format!("{schema} {memory_bytes}"), &job, schema, expected);
            }
        }
        let job = Job {
            create: Some(keyless.clone()),
            ..plain.clone()
        };
        compare("no key", &job, "", expected);
    }
}

#[test]
fn duplicates_are_the_same_rows() {
    let folder = Folder::new("");
    let twice = one_file(&folder, &csv("", true, None));
    for (on_duplicate, expected) in [
        (OnDuplicate::Error, "line"),
        (OnDuplicate::Ignore, "\"rows_duplicate\":60"),
        (OnDuplicate::Replace, "\"rows_duplicate\":60"),
        (OnDuplicate::Report, "\"rows_duplicate\":60"),
    ] {
        for memory_bytes in [1 << 24, 1 << 18] {
            let job = Job {
                create: created(false),
                on_duplicate,
                memory_bytes,
                rejects: Some(PathBuf::new()),
                ..twice.clone()
            };
            compare(&format!("{on_duplicate:?}"), &job, "", expected);
        }
    }
}

#[test]
fn text_without_quotes_is_the_same() {
    let folder = Folder::new("");
    let row = |row: u64| format!("k{},{},{row:060}\n", row * 7919 % 29_000, row % 10);
    let rows = |rows: std::ops::Range<u64>| rows.map(row).collect::<String>();
    let plain = format!("id,n,payload\n{}", rows(0..29_000));
    let twice = format!("id,n,payload\n{}", rows(0..ROWS));
    let text = format!("{plain}x,none,1\n");
    let short = format!("{plain}x,1\ny,1,2\n");
    let schema = "CREATE TABLE t(id TEXT PRIMARY KEY, n INTEGER, payload) WITHOUT ROWID";
    for (text, on_duplicate, expected) in [
        (&plain, OnDuplicate::Error, "\"rows_written\":29000"),
        (&twice, OnDuplicate::Ignore, "\"rows_duplicate\":1000"),
        (&twice, OnDuplicate::Replace, "\"rows_duplicate\":1000"),
        (&twice, OnDuplicate::Error, "line"),
        (&text, OnDuplicate::Error, "the first in line 29002: `none`"),
        (&short, OnDuplicate::Error, "line 29002"),
    ] {
        for memory_bytes in [1 << 24, 1 << 19] {
            let job = Job {
                on_duplicate,
                memory_bytes,
                ..one_file(&folder, text)
            };
            compare(expected, &job, schema, expected);
        }
    }
}

#[test]
fn malformed_rows_are_the_same() {
    let folder = Folder::new("");
    let wrong = one_file(&folder, &csv("", false, Some(10_000)));
    // Lines: the header, a line more per quoted line end, the rows, and malformed lines before.
    for (errors_max, expected) in [
        (0, "line 14148"),
        (1, "2 bad rows"),
        (9, "\"rows_refused\":3"),
    ] {
        let job = Job {
            create: created(false),
            errors_max,
            rejects: Some(PathBuf::new()),
            ..wrong.clone()
        };
        compare(&errors_max.to_string(), &job, "", expected);
    }
}

#[test]
fn types_that_all_rows_decide_are_the_same() {
    let folder = Folder::new("");
    let mut text = csv("", false, None);
    text += "last,no number,x\n";
    let job = Job {
        create: created(false),
        ..one_file(&folder, &text)
    };
    compare(
        "guessed",
        &job,
        "",
        "column `n` does not fit those of the first",
    );
}

#[test]
fn columns_of_each_file_are_the_same() {
    let folder = Folder::new("");
    let first = folder.file("a.csv", csv("a", false, None));
    let second = csv("b", false, None).replacen("id,n,payload", "id,payload,n", 1);
    let second = folder.file("b.csv", second);
    // A column comes with a late row, and another one is unknown.
    let objects = |late: &str| {
        let object = |row: u64| match row {
            20_000 => format!("{{\"id\":\"c{row}\",\"n\":1,\"{late}\":2}}\n"),
            _ => format!("{{\"id\":\"c{row}\",\"n\":{row}}}\n"),
        };
        (0..ROWS).map(object).collect::<String>()
    };
    let third = folder.file("c.jsonl", objects("payload"));
    let fourth = folder.file("d.jsonl", objects("nowhere"));
    let missing = folder.path("none.csv");
    let twice = folder.file("twice.csv", "id,id\n1,2\n");
    let schema = "CREATE TABLE t(id TEXT PRIMARY KEY, n, payload)";
    for (files, expected) in [
        (vec![&first, &second, &third], "\"rows_written\":90000"),
        (vec![&first, &fourth], "no column `nowhere`"),
        (vec![&first, &missing], "none.csv"),
        (vec![&first, &twice], "twice"),
    ] {
        let job = Job {
            errors_max: 5,
            ..job(files.into_iter().cloned().collect())
        };
        compare(expected, &job, schema, expected);
    }
}

#[test]
fn a_load_that_is_stopped_ends_its_threads() {
    let folder = Folder::new("");
    let plain = one_file(&folder, &csv("", false, None));
    let job = Job {
        to: folder.database().display().to_string(),
        create: created(true),
        threads: 3,
        ..plain
    };
    let progress = Progress::default();
    progress.stop();
    assert!(matches!(run(&job, &progress), Err(Error::Stopped)));
    assert!(!Path::new(&job.to).exists());
}
