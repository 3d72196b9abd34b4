//! The result of a load.

use std::collections::BTreeSet;
use std::path::Path;

use inorder_load::source::Location;
use inorder_load::{Job, Progress, Summary, WriterChoice, run};
use rusqlite::Connection;

use crate::case::Case;
use crate::oracle::{Counts, Outcome, made};
use crate::rows::{Format, fill, text};
use crate::state::{integrity, state};

/// The result of a load and its summary.
pub struct Loaded {
    pub outcome: Outcome,
    pub summary: Option<Summary>,
    /// Whether the direct writer was requested and refused.
    pub is_not_direct: bool,
    /// Files that are left beside the database.
    pub litter: Vec<String>,
}

/// Loads the rows of a case.
pub fn loaded(case: &Case) -> Loaded {
    let folder = tempfile::tempdir().expect("a folder");
    let (input, database, rejects) = (
        folder.path().join(case.format.file()),
        folder.path().join("to.db"),
        folder.path().join("rejects.jsonl"),
    );
    let lines = written(case, &input);
    {
        let db = Connection::open(&database).expect("a database");
        db.execute_batch("PRAGMA synchronous = OFF")
            .expect("a setting");
        assert!(made(&db, case), "SQLite took it before");
    }
    let job = Job {
        memory_bytes: case.options.memory_bytes,
        decode: case
            .names()
            .iter()
            .map(|name| ((*name).to_owned(), None))
            .collect(),
        order: case.options.order,
        on_duplicate: case.options.on_duplicate,
        rejects: Some(rejects.clone()),
        errors_max: case.options.errors_max,
        writer: case.options.writer,
        ..Job::new(
            vec![Location {
                path: input,
                table: (case.format == Format::Sqlite).then(|| "s".to_owned()),
            }],
            database.display().to_string(),
            "t".to_owned(),
        )
    };
    let result = run(&job, &Progress::default());
    let (summary, failure) = match result {
        Ok(summary) => (Some(summary), None),
        Err(error) => (None, Some(error.to_string())),
    };
    let named = named(&rejects, &lines);
    let litter = litter(folder.path());
    let db = Connection::open(&database).expect("a database");
    inorder_sqlite::register(&db).expect("functions");
    let is_not_direct = case.options.writer == WriterChoice::Direct
        && failure
            .as_ref()
            .is_some_and(|what| what.contains("can't be written directly"));
    Loaded {
        outcome: Outcome {
            failure,
            counts: summary.as_ref().map(counts).unwrap_or_default(),
            named,
            state: state(&db),
            integrity: integrity(&db),
        },
        summary,
        is_not_direct,
        litter,
    }
}

/// Writes the input, and says the line of each row.
fn written(case: &Case, input: &Path) -> Vec<u64> {
    let names = case.names();
    match case.format {
        Format::Sqlite => {
            let from = Connection::open(input).expect("a database");
            from.execute_batch("PRAGMA synchronous = OFF; BEGIN")
                .expect("a setting");
            let lines = fill(&from, &names, &case.rows);
            from.execute_batch("COMMIT").expect("rows");
            lines
        }
        format => {
            let (text, lines) = text(format, &names, &case.rows);
            std::fs::write(input, text).expect("a file");
            lines
        }
    }
}

/// Files that a load left beside the database.
fn litter(folder: &Path) -> Vec<String> {
    let litter = std::fs::read_dir(folder).expect("the folder");
    let known = ["in.", "to.db", "rejects.jsonl"];
    litter
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|name| {
            !known.iter().any(|known| name.starts_with(known)) || name.ends_with("-journal")
        })
        .collect()
}

fn counts(summary: &Summary) -> Counts {
    Counts {
        read: summary.rows_read,
        written: summary.rows_written,
        refused: summary.rows_refused,
        duplicates: summary.rows_duplicate,
        ignored: summary.rows_ignored,
    }
}

/// The rows that the file of rejects names.
fn named(rejects: &Path, lines: &[u64]) -> BTreeSet<usize> {
    let text = std::fs::read_to_string(rejects).unwrap_or_default();
    let row = |line: &str| {
        let reject: serde_json::Value = serde_json::from_str(line).expect("an object");
        let row = lines
            .iter()
            .position(|of| Some(*of) == reject["line"].as_u64());
        row.unwrap_or_else(|| panic!("no row has the line of {reject}"))
    };
    text.lines().map(row).collect()
}
