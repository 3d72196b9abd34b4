//! Every type and every value: what a load stores and refuses is what INSERTs in strict mode store and refuse.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Instant;

use rusqlite::Connection;

use crate::types::{CHARSETS, JSON, SQLITE, texts, types};
use crate::{Server, server};

/// A server's mode, and the mode of an INSERT that says the same under it. The first is MariaDB's default.
const MODES: &[(&str, &str)] = &[
    (
        "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION",
        "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION",
    ),
    ("", "STRICT_ALL_TABLES"),
    ("TRADITIONAL", "TRADITIONAL"),
    (
        "ALLOW_INVALID_DATES",
        "ALLOW_INVALID_DATES,STRICT_ALL_TABLES",
    ),
    (
        "TIME_ROUND_FRACTIONAL",
        "TIME_ROUND_FRACTIONAL,STRICT_ALL_TABLES",
    ),
    (
        "ANSI,NO_BACKSLASH_ESCAPES,EMPTY_STRING_IS_NULL",
        "STRICT_ALL_TABLES",
    ),
];

/// The number of refused values per type that are tested in separate loads.
const LAST: usize = 1;

fn is_thorough() -> bool {
    std::env::var("INORDER_TYPES").is_ok_and(|which| which == "all")
}

/// Values as a source has them.
struct Source {
    name: &'static str,
    /// Each value's literal in SQL; its place is the row's `i`.
    literals: Vec<String>,
    /// Writes the rows of these places to a file, after a head of so many lines.
    write: fn(&Server, rows: &[usize]) -> PathBuf,
    lines_before: u64,
}

/// Text as SQL quotes it.
fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('\'', "''");
    format!("'{}'", text.replace('\0', "\\0"))
}

/// A CSV, whose fields are text.
fn csv() -> Source {
    let literal = |text: Option<String>| text.map_or("NULL".to_owned(), |text| quoted(&text));
    Source {
        name: "CSV",
        literals: texts().into_iter().map(literal).collect(),
        write: |server, rows| {
            let texts = texts();
            let mut csv = String::from("i,c\n");
            for &i in rows {
                let field = texts[i].as_deref().map(|text| text.replace('"', "\"\""));
                let field = field.map_or(String::new(), |text| format!("\"{text}\""));
                writeln!(csv, "{i},{field}").expect("memory");
            }
            server.folder.file("rows.csv", csv)
        },
        lines_before: 1,
    }
}

/// Lines of JSON, whose values are numbers and truth values.
fn json() -> Source {
    Source {
        name: "JSON",
        literals: JSON.iter().map(|value| (*value).to_owned()).collect(),
        write: |server, rows| {
            let line = |i: &usize| format!("{{\"i\":{i},\"c\":{}}}\n", JSON[*i]);
            let lines: String = rows.iter().map(line).collect();
            server.folder.file("rows.jsonl", lines)
        },
        lines_before: 0,
    }
}

/// A table of SQLite, whose values are of its types.
fn sqlite() -> Source {
    Source {
        name: "SQLite",
        literals: SQLITE.iter().map(|value| (*value).to_owned()).collect(),
        write: |server, rows| {
            let path = server.folder.path("rows.db");
            _ = std::fs::remove_file(&path);
            let database = Connection::open(&path).expect("a database");
            let value = |i: &usize| format!("INSERT INTO rows VALUES ({i}, {});", SQLITE[*i]);
            let inserts: String = rows.iter().map(value).collect();
            let made = database.execute_batch(&format!(
                "PRAGMA synchronous = OFF; BEGIN; CREATE TABLE rows(i, c); {inserts} COMMIT"
            ));
            made.expect("rows");
            path
        },
        lines_before: 0,
    }
}

/// The counts of compared values.
#[derive(Default)]
struct Counts {
    types: usize,
    pairs: usize,
    refused: usize,
    loads_refused: usize,
}

/// One type under one mode, and values of one source.
struct Case<'a> {
    server: &'a Server,
    source: &'a Source,
    declared: &'a str,
    mode: (&'a str, &'a str),
    differences: Vec<String>,
}

impl Case<'_> {
    fn differ(&mut self, i: usize, what: &str) {
        let value: String = self.source.literals[i].chars().take(60).collect();
        let (name, mode) = (self.source.name, self.mode.0);
        self.differences.push(format!(
            "{} of {name} into {} ({mode}): {what}",
            value, self.declared
        ));
    }

    /// Makes both tables; INSERTs into one what strict mode takes, and says what it refuses.
    fn insert(&self) -> BTreeSet<usize> {
        let server = self.server;
        for table in ["wanted", "loaded"] {
            server.run(&format!(
                "CREATE OR REPLACE TABLE {table}(i INT PRIMARY KEY, c {}) CHARACTER SET utf8mb4",
                self.declared
            ));
        }
        server.run(&format!("SET SESSION sql_mode = '{}'", self.mode.1));
        server.run("BEGIN");
        let literals = self.source.literals.iter().enumerate();
        let is_refused = |(i, literal): &(usize, &String)| {
            let Some(literal) = self.literal(literal) else {
                return true;
            };
            let insert = format!("INSERT INTO wanted(i, c) VALUES ({i}, {literal})");
            server.database.execute(&insert).is_err()
        };
        let refused = literals.filter(is_refused).map(|(i, _)| i).collect();
        server.run("COMMIT");
        refused
    }

    /// The literal of an INSERT. Numbers of JSON are text but for whole ones; nothing for those of BIT, which
    /// would take a text's bits.
    fn literal<'a>(&self, literal: &'a str) -> Option<Cow<'a, str>> {
        let is_number = self.source.name == "JSON" && literal.contains('.');
        // MariaDB 10.11 cuts an integer off at 64 bytes of UTF-32.
        let is_cut = self.declared.ends_with("utf32") && literal.len() > 16;
        match (is_number, is_cut && self.source.name != "CSV") {
            (false, false) => Some(literal.into()),
            (true, _) if self.declared.starts_with("BIT") => None,
            _ if literal.starts_with(|first: char| first == '-' || first.is_ascii_digit()) => {
                Some(quoted(literal).into())
            }
            _ => Some(literal.into()),
        }
    }

    /// Rows of a query, by their `i`.
    fn places(&self, query: &str) -> Vec<usize> {
        if self.server.rows(query) == 0 {
            return Vec::new();
        }
        let all = 0..self.source.literals.len();
        let has = |i: &usize| {
            let query = format!("SELECT * FROM ({query}) AS q WHERE i = {i}");
            self.server.rows(&query) > 0
        };
        all.filter(has).collect()
    }

    /// Loads all values and omits refused ones.
    fn load_all(&mut self, refused: &BTreeSet<usize>) {
        let all: Vec<usize> = (0..self.source.literals.len()).collect();
        let path = (self.source.write)(self.server, &all);
        let mut job = self.server.job(&path, "loaded");
        job.errors_max = all.len() as u64;
        job.decode = vec![("c".to_owned(), None)];
        job.rejects = Some(self.server.folder.path("rejects"));
        if let Err(error) = self.server.load(&job) {
            // If every row is refused, its columns can't be supplied at all.
            return self.differ(0, &format!("nothing is loaded: {error}"));
        }
        // A timestamp that is NOT NULL takes NULL for the current time, which differs.
        let is_same = match self.declared.starts_with("TIMESTAMP NOT NULL") {
            true => "i = 0 OR wanted.c = loaded.c",
            false => "HEX(wanted.c) <=> HEX(loaded.c) AND CONCAT(wanted.c) <=> CONCAT(loaded.c)",
        };
        let differs = format!("SELECT i FROM wanted JOIN loaded USING (i) WHERE NOT ({is_same})");
        for (query, what) in [
            (
                "SELECT i FROM wanted WHERE i NOT IN (SELECT i FROM loaded)",
                "INSERT takes it",
            ),
            (
                "SELECT i FROM loaded WHERE i NOT IN (SELECT i FROM wanted)",
                "INSERT refuses it",
            ),
            (&*differs, "INSERT stores something else"),
        ] {
            for i in self.places(query) {
                self.differ(i, what);
            }
        }
        self.check_rejects(refused);
    }

    /// Every refused row is named by its line, and the column is named.
    fn check_rejects(&mut self, refused: &BTreeSet<usize>) {
        let rejects = std::fs::read_to_string(self.server.folder.path("rejects")).expect("rejects");
        let rejects: Vec<serde_json::Value> = rejects
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        if rejects.len() != refused.len() {
            let what = format!(
                "{} rows are rejected, {} by INSERT",
                rejects.len(),
                refused.len()
            );
            self.differ(0, &what);
        }
        for (reject, &i) in rejects.iter().zip(refused) {
            let error = reject["error"].as_str().unwrap_or_default();
            if !["`c`", "'c'", ".c`", "GEOMETRY"]
                .iter()
                .any(|name| error.contains(name))
            {
                self.differ(i, &format!("no column is named: {error}"));
            }
        }
    }

    /// Loads what is taken and then one value that isn't: nothing is stored.
    fn load_refused(&mut self, refused: usize, taken: &[usize]) {
        self.server.run("DELETE FROM loaded");
        let rows: Vec<usize> = taken.iter().copied().chain([refused]).collect();
        let path = (self.source.write)(self.server, &rows);
        let mut job = self.server.job(&path, "loaded");
        job.decode = vec![("c".to_owned(), None)];
        let line = self.source.lines_before + rows.len() as u64;
        match self.server.load(&job) {
            Ok(_) => self.differ(refused, "the load takes it"),
            Err(error) if error.contains(&format!("line {line}")) => {}
            Err(error)
                if self.source.name == "SQLite" && error.contains(&format!("row {line}")) => {}
            Err(error) => self.differ(refused, &format!("line {line} is not named: {error}")),
        }
        if self.server.rows("SELECT i FROM loaded") > 0 {
            self.differ(refused, "rows before it stay");
        }
    }

    fn compare(&mut self, counts: &mut Counts) {
        let refused = self.insert();
        self.load_all(&refused);
        counts.types += 1;
        counts.pairs += self.source.literals.len();
        counts.refused += refused.len();
        // Values of one line each.
        let taken: Vec<usize> = (0..self.source.literals.len())
            .filter(|i| !refused.contains(i) && !self.source.literals[*i].contains('\n'))
            .take(20)
            .collect();
        let is_all = is_thorough() && self.mode == MODES[0];
        let last = if is_all { usize::MAX } else { LAST };
        for &i in refused.iter().rev().take(last) {
            self.load_refused(i, &taken);
            counts.loads_refused += 1;
        }
    }
}

fn compare(source: &Source, modes: &[(&str, &str)]) {
    let Some(server) = server() else { return };
    let began = Instant::now();
    let mut counts = Counts::default();
    let mut differences = Vec::new();
    for &mode in modes {
        server.run(&format!("SET GLOBAL sql_mode = '{}'", mode.0));
        let charsets = match source.name {
            "CSV" => CHARSETS,
            _ => &CHARSETS[..3],
        };
        for declared in types(charsets) {
            let mut case = Case {
                server: &server,
                source,
                declared: &declared,
                mode,
                differences: Vec::new(),
            };
            case.compare(&mut counts);
            differences.append(&mut case.differences);
        }
    }
    eprintln!(
        "{}: {} types and modes, {} values, {} pairs, {} of them refused; {} loads refused; {:.1} s",
        source.name,
        counts.types,
        source.literals.len(),
        counts.pairs,
        counts.refused,
        counts.loads_refused,
        began.elapsed().as_secs_f64()
    );
    assert!(
        differences.is_empty(),
        "{} differences:\n{}",
        differences.len(),
        differences.join("\n")
    );
}

#[test]
fn text_of_a_csv_is_stored_and_refused_as_by_strict_inserts() {
    compare(&csv(), if is_thorough() { MODES } else { &MODES[..1] });
}

#[test]
fn numbers_of_json_are_stored_and_refused_as_by_strict_inserts() {
    compare(&json(), &MODES[..1]);
}

#[test]
fn values_of_sqlite_are_stored_and_refused_as_by_strict_inserts() {
    compare(&sqlite(), &MODES[..1]);
}
