//! The coverage of a run's cases.

use std::collections::BTreeMap;
use std::fmt;

use crate::case::{Case, MANY, MEMORY};
use crate::loaded::Loaded;
use crate::oracle::Outcome;
use crate::rows::{Field, Format};
use crate::schema::{CLAUSES, ENCODINGS, RAISES};

/// The number of cases with each property.
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

type Feature = (String, bool);

fn features(case: &Case, sql: &str, expected: &Outcome, loaded: &Loaded) -> Vec<Feature> {
    let mut found = of_schema(case, sql);
    found.extend(of_constraints(case, sql));
    found.extend(of_options(case));
    found.extend(of_way(case, loaded));
    found.extend(of_outcome(expected));
    found.extend(of_values(case));
    found
}

const WORDS: &[&str] = &[
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
];

fn of_schema(case: &Case, sql: &str) -> Vec<Feature> {
    let counted = case.schema.table().contains("AUTOINCREMENT");
    let mut found = vec![("schema: AUTOINCREMENT of t".to_owned(), counted)];
    for word in WORDS {
        found.push((format!("schema: {word}"), sql.contains(word)));
    }
    for encoding in ENCODINGS {
        found.push((format!("encoding: {encoding}"), sql.contains(encoding)));
    }
    for page in 9..17 {
        let bytes = 1 << page;
        let is_there = sql.contains(&format!("page_size = {bytes};"));
        found.push((format!("page size: {bytes}"), is_there));
    }
    let is_there = !case.schema.existing.is_empty();
    found.push(("rows there before".to_owned(), is_there));
    found
}

fn of_constraints(case: &Case, sql: &str) -> Vec<Feature> {
    let mut found = Vec::new();
    for clause in CLAUSES {
        for of in ["UNIQUE", "NOT NULL", "PRIMARY KEY"] {
            let has = |text: &String| {
                text.starts_with(of) && text.contains(&format!("ON CONFLICT {clause}"))
            };
            let columns = case.schema.columns.iter();
            let own = columns.flat_map(|column| &column.constraints);
            let is_there = own.chain(&case.schema.constraints).any(has);
            found.push((format!("schema: {of} ON CONFLICT {clause}"), is_there));
        }
    }
    for raise in RAISES {
        let name = raise.split(',').next().unwrap_or(raise);
        let name = name.trim_end_matches(')');
        found.push((format!("trigger: {name}"), sql.contains(name)));
    }
    found
}

fn of_options(case: &Case) -> Vec<Feature> {
    let options = &case.options;
    let mut found = Vec::new();
    let table = case.schema.table() + &case.schema.indexes.join(" ");
    let several = table.matches("UNIQUE").count() + table.matches("PRIMARY KEY").count() > 1;
    for (name, way) in crate::case::ways() {
        let is_it = options.on_duplicate == *way;
        found.push((format!("--on-duplicate {name}"), is_it));
        let of_several = format!("--on-duplicate {name}, several keys");
        found.push((of_several, is_it && several));
    }
    for bytes in MEMORY {
        let is_it = options.memory_bytes == *bytes;
        found.push((format!("--memory {bytes}"), is_it));
    }
    for errors in [0, 3, u64::MAX] {
        let is_it = options.errors_max == errors;
        found.push((format!("--max-errors {errors}"), is_it));
    }
    for order in ["Full", "Input", "is_by_prefix: true", "is_by_prefix: false"] {
        let is_it = format!("{:?}", options.order).contains(order);
        found.push((format!("--order {order}"), is_it));
    }
    for writer in ["Auto", "Direct", "Statements"] {
        let is_it = format!("{:?}", options.writer) == writer;
        found.push((format!("--writer {writer}"), is_it));
    }
    for format in Format::ALL {
        found.push((format!("format: {format:?}"), case.format == *format));
    }
    found
}

fn of_way(case: &Case, loaded: &Loaded) -> Vec<Feature> {
    let summary = loaded.summary.as_ref();
    let wrote = summary.map_or("", |summary| summary.writer.as_str());
    let mut found = Vec::new();
    for writer in ["direct", "statements"] {
        found.push((format!("written by {writer}"), wrote == writer));
    }
    let spilled = summary.map_or(0, |summary| summary.bytes_spilled);
    found.push(("spilled".to_owned(), spilled > 0));
    let as_read = summary.is_some_and(|summary| summary.why_not_sorted.is_some());
    found.push(("written in the order of the input".to_owned(), as_read));
    let refused = "direct writer asked for and refused".to_owned();
    found.push((refused, loaded.is_not_direct));
    found.push(("many rows".to_owned(), case.rows.len() > MANY));
    found
}

fn of_outcome(expected: &Outcome) -> Vec<Feature> {
    let counts = &expected.counts;
    let is_stored = expected.failure.is_none();
    let of = |what: &str, is_there: bool| (format!("outcome: {what}"), is_there);
    vec![
        of("nothing stored", !is_stored),
        of("stored", is_stored),
        of("some refused", is_stored && counts.refused > 0),
        of("some duplicates", is_stored && counts.duplicates > 0),
        of("some ignored", is_stored && counts.ignored > 0),
        of("some written", is_stored && counts.written > 0),
    ]
}

fn of_values(case: &Case) -> Vec<Feature> {
    let any = |what: &str, wanted: fn(&Field) -> bool| {
        let is_there = case.rows.iter().flatten().any(wanted);
        (format!("value: {what}"), is_there)
    };
    vec![
        any("not UTF-8", |field| *field == Field::Invalid),
        any("blob", |field| matches!(field, Field::Blob(_))),
        any("missing", |field| *field == Field::Missing),
        any(
            "NUL",
            |field| matches!(field, Field::Text(text) if text.contains('\0')),
        ),
        any(
            "U+FFFE",
            |field| matches!(field, Field::Text(text) if text.contains('\u{fffe}')),
        ),
        any(
            "over 1000 bytes",
            |field| matches!(field, Field::Text(text) if text.len() > 1000),
        ),
    ]
}
