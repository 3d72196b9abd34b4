//! What the cases of a run had in them.

use std::collections::BTreeMap;
use std::fmt;

use inorder_load::load::OnDuplicate;

use crate::case::{Case, MEMORY};
use crate::loaded::Loaded;
use crate::oracle::Outcome;
use crate::rows::Field;
use crate::schema::{CLAUSES, ENCODINGS, RAISES};

/// How many cases had what.
#[derive(Default)]
pub struct Coverage {
    cases: u64,
    without_schema: u64,
    rows: u64,
    schemas: std::collections::HashSet<String>,
    features: BTreeMap<String, u64>,
}

/// Cases from which on each feature is expected to have been met.
const CASES_FOR_ALL: u64 = 2000;

impl Coverage {
    pub fn add_none(&mut self) {
        self.without_schema += 1;
    }

    pub fn add(&mut self, case: &Case, expected: &Outcome, loaded: &Loaded) {
        self.cases += 1;
        self.rows += case.rows.len() as u64;
        let sql: Vec<String> = case
            .schema
            .statements()
            .into_iter()
            .map(|(sql, _)| sql)
            .collect();
        let sql = sql.join(";\n");
        self.schemas.insert(sql.clone());
        for (feature, is_there) in features(case, &sql, expected, loaded) {
            *self.features.entry(feature).or_default() += u64::from(is_there);
        }
    }

    /// Checks that a long run met everything.
    pub fn check(&self, cases: u64) {
        let missing: Vec<&String> = self
            .features
            .iter()
            .filter(|(_, count)| **count == 0)
            .map(|(name, _)| name)
            .collect();
        assert!(
            cases < CASES_FOR_ALL || missing.is_empty(),
            "never met: {missing:?}"
        );
        assert!(
            self.without_schema * 4 < cases,
            "too many schemas that SQLite refuses"
        );
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} cases without a difference, {} different schemas, {} rows; {} schemas refused by SQLite",
            self.cases,
            self.schemas.len(),
            self.rows,
            self.without_schema
        )?;
        for (name, count) in &self.features {
            writeln!(f, "{count:>7}  {name}")?;
        }
        Ok(())
    }
}

fn features(case: &Case, sql: &str, expected: &Outcome, loaded: &Loaded) -> Vec<(String, bool)> {
    let mut found: Vec<(String, bool)> = Vec::new();
    let options = &case.options;
    let mut add = |name: String, is_there: bool| found.push((name, is_there));
    let table = case.schema.table();
    add(
        "schema: AUTOINCREMENT of t".to_owned(),
        table.contains("AUTOINCREMENT"),
    );
    for word in [
        "STRICT",
        "WITHOUT ROWID",
        "DESC",
        "NOCASE",
        "RTRIM",
        "UNIQUE",
        "NOT NULL",
        "DEFAULT",
        "DEFAULT 0",
        "DEFAULT given",
        "CHECK",
        "STORED",
        "VIRTUAL",
        "BEFORE INSERT",
        "AFTER INSERT",
        "BEFORE DELETE",
        "REFERENCES p",
        "REFERENCES t",
        "CASCADE",
        "SET NULL",
        "RESTRICT",
        "DELETE FROM t",
        "UNIQUE INDEX",
        "INDEX i0 ON t(lower",
        "journal_mode = WAL",
        "auto_vacuum = 1",
        "auto_vacuum = 2",
    ] {
        add(format!("schema: {word}"), sql.contains(word));
    }
    for clause in CLAUSES {
        for of in ["UNIQUE", "NOT NULL", "PRIMARY KEY"] {
            let has = |text: &String| {
                text.starts_with(of) && text.contains(&format!("ON CONFLICT {clause}"))
            };
            let columns = case
                .schema
                .columns
                .iter()
                .flat_map(|column| &column.constraints);
            let is_there = columns.chain(&case.schema.constraints).any(has);
            add(format!("schema: {of} ON CONFLICT {clause}"), is_there);
        }
    }
    for raise in RAISES {
        let name = raise
            .split(',')
            .next()
            .unwrap_or(raise)
            .trim_end_matches(')');
        add(format!("trigger: {name}"), sql.contains(name));
    }
    for encoding in ENCODINGS {
        add(format!("encoding: {encoding}"), sql.contains(encoding));
    }
    for page in 9..17 {
        add(
            format!("page size: {}", 1 << page),
            sql.contains(&format!("page_size = {};", 1 << page)),
        );
    }
    for (name, way) in OnDuplicate::ALL {
        add(
            format!("--on-duplicate {name}"),
            options.on_duplicate == *way,
        );
        let several = sql.matches("UNIQUE").count() + sql.matches("PRIMARY KEY").count() > 5;
        add(
            format!("--on-duplicate {name}, several keys"),
            options.on_duplicate == *way && several,
        );
    }
    for bytes in MEMORY {
        add(format!("--memory {bytes}"), options.memory_bytes == *bytes);
    }
    for errors in ["0", "3", "18446744073709551615"] {
        add(
            format!("--max-errors {errors}"),
            options.errors_max.to_string() == errors,
        );
    }
    for order in ["Full", "Input", "is_by_prefix: true", "is_by_prefix: false"] {
        add(
            format!("--order {order}"),
            format!("{:?}", options.order).contains(order),
        );
    }
    for writer in ["Auto", "Direct", "Statements"] {
        add(
            format!("--writer {writer}"),
            format!("{:?}", options.writer) == writer,
        );
    }
    let wrote = loaded
        .summary
        .as_ref()
        .map_or("", |summary| summary.writer.as_str());
    for writer in ["direct", "statements"] {
        add(format!("written by {writer}"), wrote == writer);
    }
    let spilled = loaded
        .summary
        .as_ref()
        .map_or(0, |summary| summary.bytes_spilled);
    add("spilled".to_owned(), spilled > 0);
    add(
        "direct writer asked for and refused".to_owned(),
        loaded.is_not_direct,
    );
    add(
        "rows there before".to_owned(),
        !case.schema.existing.is_empty(),
    );
    add(format!("format: {:?}", case.format), true);
    add(
        "outcome: nothing stored".to_owned(),
        expected.failure.is_some(),
    );
    add("outcome: stored".to_owned(), expected.failure.is_none());
    let counts = &expected.counts;
    let is_stored = expected.failure.is_none();
    add(
        "outcome: some refused".to_owned(),
        is_stored && counts.refused > 0,
    );
    add(
        "outcome: some duplicates".to_owned(),
        is_stored && counts.duplicates > 0,
    );
    add(
        "outcome: some ignored".to_owned(),
        is_stored && counts.ignored > 0,
    );
    add(
        "outcome: some written".to_owned(),
        is_stored && counts.written > 0,
    );
    let has = |wanted: fn(&Field) -> bool| case.rows.iter().flatten().any(wanted);
    add(
        "value: not UTF-8".to_owned(),
        has(|field| *field == Field::Invalid),
    );
    add(
        "value: blob".to_owned(),
        has(|field| matches!(field, Field::Blob(_))),
    );
    add(
        "value: missing".to_owned(),
        has(|field| *field == Field::Missing),
    );
    add(
        "value: NUL".to_owned(),
        has(|field| matches!(field, Field::Text(text) if text.contains('\0'))),
    );
    add(
        "value: U+FFFE".to_owned(),
        has(|field| matches!(field, Field::Text(text) if text.contains('\u{fffe}'))),
    );
    add(
        "value: over 1000 bytes".to_owned(),
        has(|field| matches!(field, Field::Text(text) if text.len() > 1000)),
    );
    found
}
