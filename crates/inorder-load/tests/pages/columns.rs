//! Inputs that don't all have the same columns: no value is lost, and each missing one is the default, as by INSERT.

use std::path::Path;

use inorder_key::bulk::SplitMix64;
use inorder_load::source::Location;
use inorder_load::{Create, Existing, Job, WriterChoice};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use tempfile::TempDir;

use super::{assert_whole, load, made, open, rows};

const NAMES: [&str; 5] = ["id", "a", "b", "c", "d"];

/// Tables of these columns, and what they have before. `a` has no default. Without statements, the load creates the table.
const TABLES: &[(&str, &str)] = &[
    ("", ""),
    (
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b TEXT DEFAULT 'dflt', c INTEGER NOT NULL DEFAULT 7, d REAL)",
        "",
    ),
    (
        "CREATE TABLE t(a, b DEFAULT (1 + 1), id INTEGER PRIMARY KEY AUTOINCREMENT, c TEXT DEFAULT x'00ff', d DEFAULT \
         NULL); CREATE INDEX i ON t(c, b)",
        "",
    ),
    (
        "CREATE TABLE t(b TEXT DEFAULT '1.50', id, c NUMERIC DEFAULT '1.50', a TEXT, d INT NOT NULL DEFAULT -1)",
        "",
    ),
    (
        "CREATE TABLE t(id INT DEFAULT 3, a, b TEXT DEFAULT 'x', c DEFAULT 7, d, PRIMARY KEY(b, id, a)) WITHOUT ROWID",
        "",
    ),
    (
        "CREATE TABLE t(id INT PRIMARY KEY, a ANY, b TEXT DEFAULT 'x', c ANY DEFAULT 'é', d ANY) STRICT, WITHOUT ROWID; \
         CREATE UNIQUE INDEX i ON t(b, id)",
        "",
    ),
    (
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a CHECK (a IS NOT 'bad'), b DEFAULT 'x', c DEFAULT 7, d)",
        "INSERT INTO t(id, a) VALUES (50, 'p'), (900, 'q')",
    ),
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Csv,
    Jsonl,
    Sqlite,
}

/// A file: its columns by their places in [`NAMES`], and its rows. A row of JSON may lack a column.
#[derive(Debug)]
struct Input {
    kind: Kind,
    columns: Vec<usize>,
    rows: Vec<Vec<Option<Value>>>,
}

impl Input {
    fn random(dice: &mut SplitMix64) -> Self {
        let kind = [Kind::Csv, Kind::Jsonl, Kind::Sqlite][dice.below(3) as usize];
        let mut columns: Vec<usize> = (0..NAMES.len()).collect();
        dice.shuffle(&mut columns);
        columns.truncate(1 + dice.below(NAMES.len() as u64) as usize);
        let count = dice.below(6);
        let mut row = || -> Vec<Option<Value>> {
            let is_there = |dice: &mut SplitMix64| kind != Kind::Jsonl || dice.below(4) > 0;
            let values = columns.iter();
            values
                .map(|column| is_there(dice).then(|| value(*column, kind, dice)))
                .collect()
        };
        let rows = (0..count).map(|_| row()).collect();
        Input {
            kind,
            columns,
            rows,
        }
    }

    fn names(&self) -> Vec<&'static str> {
        self.columns.iter().map(|column| NAMES[*column]).collect()
    }

    /// The columns that the whole file names.
    fn named(&self) -> Vec<&'static str> {
        let is_named =
            |at: &usize| self.kind != Kind::Jsonl || self.rows.iter().any(|row| row[*at].is_some());
        let at = (0..self.columns.len()).filter(is_named);
        at.map(|at| NAMES[self.columns[at]]).collect()
    }

    fn write(&self, folder: &Path, number: usize) -> Location {
        let path = |ending: &str| folder.join(format!("{number}.{ending}"));
        let (path, table) = match self.kind {
            Kind::Csv => {
                let line = |row: &Vec<Option<Value>>| -> String {
                    let fields: Vec<String> = row.iter().flatten().map(csv).collect();
                    fields.join(",") + "\n"
                };
                let lines: String = self.rows.iter().map(line).collect();
                let path = path("csv");
                let text = format!("{}\n{lines}", self.names().join(","));
                std::fs::write(&path, text).expect("a file");
                (path, None)
            }
            Kind::Jsonl => {
                let line = |row: &Vec<Option<Value>>| -> String {
                    let names = self.names().into_iter().zip(row);
                    let members: Vec<String> = names
                        .filter_map(|(name, value)| {
                            Some(format!("\"{name}\":{}", json(value.as_ref()?)))
                        })
                        .collect();
                    format!("{{{}}}\n", members.join(","))
                };
                let lines: String = self.rows.iter().map(line).collect();
                let path = path("jsonl");
                std::fs::write(&path, lines).expect("a file");
                (path, None)
            }
            Kind::Sqlite => {
                let path = path("db");
                let names = self.names();
                let source = made(&path, &format!("CREATE TABLE s({})", names.join(", ")));
                for row in &self.rows {
                    insert(&source, "s", &names, row.iter().flatten()).expect("a row");
                }
                (path, Some("s".to_owned()))
            }
        };
        Location { path, table }
    }
}

/// A value that any table takes, most often. In CSV all are text.
fn value(column: usize, kind: Kind, dice: &mut SplitMix64) -> Value {
    let number = dice.below(500) as i64;
    let is_text = kind == Kind::Csv;
    match NAMES[column] {
        _ if dice.below(40) == 0 => Value::Null,
        "a" | "b" => Value::Text(format!("t{number}")),
        _ if is_text => Value::Text(number.to_string()),
        _ => Value::Integer(number),
    }
}

fn csv(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        _ => String::new(),
    }
}

fn json(value: &Value) -> String {
    match value {
        Value::Text(text) => format!("\"{text}\""),
        Value::Integer(integer) => integer.to_string(),
        _ => "null".to_owned(),
    }
}

fn insert<'a>(
    database: &Connection,
    table: &str,
    names: &[&str],
    values: impl Iterator<Item = &'a Value>,
) -> rusqlite::Result<usize> {
    let places = vec!["?"; names.len()].join(", ");
    let insert = match names.is_empty() {
        true => format!("INSERT INTO {table} DEFAULT VALUES"),
        false => format!(
            "INSERT INTO {table}({}) VALUES ({places})",
            names.join(", ")
        ),
    };
    database
        .prepare_cached(&insert)?
        .execute(params_from_iter(values))
}

/// Inserts the rows one by one. A name that a row of JSON lacks is NULL if the first file has it.
fn insert_each(inputs: &[Input], database: &Connection) -> rusqlite::Result<()> {
    let first = inputs[0].named();
    for input in inputs {
        for row in &input.rows {
            let given = input.names().into_iter().zip(row);
            let given = given.filter_map(|(name, value)| Some((name, value.as_ref()?)));
            let (mut names, mut values): (Vec<&str>, Vec<&Value>) = given.unzip();
            if input.kind == Kind::Jsonl {
                let missing = first.iter().filter(|name| !names.contains(name));
                let missing: Vec<&str> = missing.copied().collect();
                values.extend(missing.iter().map(|_| &Value::Null));
                names.extend(missing);
            }
            insert(database, "t", &names, values.into_iter())?;
        }
    }
    Ok(())
}

/// Whether a later file has a column that INSERT statements, prepared after the first file, don't have.
fn has_late(inputs: &[Input], database: &Connection) -> bool {
    let free = "SELECT name FROM pragma_table_info('t') WHERE dflt_value IS NULL AND NOT (pk AND type = 'INTEGER')";
    let free = rows(database, free);
    let first = inputs[0].named();
    let is_given = |name: &str| first.contains(&name) || free.contains(&format!("'{name}'"));
    let later = inputs[1..]
        .iter()
        .filter(|input| !input.rows.is_empty())
        .flat_map(Input::named);
    later.into_iter().any(|name| !is_given(name))
}

fn content(database: &Connection) -> Vec<String> {
    let mut statement = database.prepare("SELECT * FROM t").expect("a table");
    let names: Vec<String> = statement
        .column_names()
        .iter()
        .map(|name| (*name).to_owned())
        .collect();
    let columns: Vec<String> = names
        .iter()
        .map(|name| format!("{name}, typeof({name})"))
        .collect();
    let order: Vec<String> = names
        .iter()
        .map(|name| format!("typeof({name}), {name} COLLATE BINARY"))
        .collect();
    drop(statement.query([]));
    let (columns, order) = (columns.join(", "), order.join(", "));
    rows(
        database,
        &format!("SELECT {columns} FROM t NOT INDEXED ORDER BY {order}"),
    )
}

/// How many loads there were of each kind.
#[derive(Debug, Default)]
struct Counts {
    equal: usize,
    equal_and_late: usize,
    created: usize,
    refused_as_late: usize,
    refused: usize,
}

/// One load of a case.
struct Load<'a> {
    schema: &'a str,
    before: &'a str,
    inputs: &'a [Input],
    writer: WriterChoice,
    threads: usize,
    case: String,
}

impl Load<'_> {
    fn check(&self, counts: &mut Counts) {
        let memory = tempfile::tempdir_in("/dev/shm");
        let folder: TempDir = memory.unwrap_or_else(|_| tempfile::tempdir().expect("a folder"));
        let to = folder.path().join("to.db");
        if !self.schema.is_empty() {
            drop(made(&to, &format!("{}; {}", self.schema, self.before)));
        }
        let numbered = self.inputs.iter().zip(0..);
        let sources = numbered.map(|(input, number)| input.write(folder.path(), number));
        let mut job = Job {
            memory_bytes: 1 << 22,
            threads: self.threads,
            writer: self.writer,
            create: self.schema.is_empty().then(Create::default),
            existing: Existing::Append,
            ..Job::new(sources.collect(), to.display().to_string(), "t".to_owned())
        };
        job.read_options.has_header = Some(true);
        let error = load(&job).err().map(|error| error.to_string());
        let database = open(&to);
        assert_whole(&database);
        let schema = match (self.schema, &error) {
            ("", Some(error)) => {
                assert!(self.inputs[0].named().is_empty(), "{error}: {}", self.case);
                return;
            }
            ("", None) => {
                let sql = "SELECT sql FROM sqlite_schema WHERE name = 't'";
                let sql = database.query_row(sql, [], |row| row.get(0));
                sql.expect("a table")
            }
            _ => format!("{}; {}", self.schema, self.before),
        };
        self.compare(&schema, &database, error, counts);
    }

    fn compare(
        &self,
        schema: &str,
        database: &Connection,
        error: Option<String>,
        counts: &mut Counts,
    ) {
        let case = &self.case;
        let expected = made(Path::new(":memory:"), schema);
        let before = content(&expected);
        let is_created = self.schema.is_empty();
        let has_late = !is_created && has_late(self.inputs, &expected);
        let inserted = insert_each(self.inputs, &expected);
        if let Some(error) = &error {
            assert_eq!(content(database), before, "{error}: {case}");
        }
        let is_late = |error: &String| error.contains("is missing from the rows read first");
        match (error, inserted) {
            (Some(_), Err(_)) => counts.refused += 1,
            (Some(error), _) if has_late && is_late(&error) => {
                assert_ne!(self.writer, WriterChoice::Direct, "{error}: {case}");
                counts.refused_as_late += 1;
            }
            (Some(error), _) if error.contains("can't be written directly") => counts.refused += 1,
            (None, Ok(())) => {
                assert_eq!(content(database), content(&expected), "{case}");
                assert!(
                    !has_late || self.writer != WriterChoice::Statements,
                    "{case}"
                );
                counts.equal += 1;
                counts.equal_and_late += usize::from(has_late);
                counts.created += usize::from(is_created);
            }
            (error, inserted) => panic!("{error:?}, but SQLite has {inserted:?}: {case}"),
        }
    }
}

#[test]
fn no_value_of_a_column_is_lost_whichever_file_has_it() {
    let cases = std::env::var("INORDER_FUZZ_CASES").ok();
    let cases = cases.and_then(|cases| cases.parse().ok()).unwrap_or(60);
    let mut counts = Counts::default();
    for seed in 0..cases {
        let mut dice = SplitMix64::new(SplitMix64::mix(seed));
        let (schema, before) = TABLES[dice.below(TABLES.len() as u64) as usize];
        let files = 2 + dice.below(3);
        let inputs: Vec<Input> = (0..files).map(|_| Input::random(&mut dice)).collect();
        for (_, writer) in WriterChoice::ALL {
            for threads in [1, 2] {
                let load = Load {
                    schema,
                    before,
                    inputs: &inputs,
                    writer: *writer,
                    threads,
                    case: format!(
                        "seed {seed}, {writer:?}, {threads} threads, {schema}: {inputs:?}"
                    ),
                };
                load.check(&mut counts);
            }
        }
    }
    println!("{counts:?}");
    let Counts {
        equal_and_late,
        created,
        refused_as_late,
        ..
    } = counts;
    let least = cases as usize / 4;
    assert!(
        equal_and_late.min(created).min(refused_as_late) > least,
        "{counts:?}"
    );
}

/// Files with these contents, and a load of them into a table with this schema.
fn several(schema: &str, files: &[(&str, &str)]) -> (TempDir, Job) {
    let folder = tempfile::tempdir().expect("a folder");
    let to = folder.path().join("to.db");
    if !schema.is_empty() {
        drop(made(&to, schema));
    }
    let location = |(name, content): &(&str, &str)| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).expect("a file");
        Location { path, table: None }
    };
    let inputs = files.iter().map(location).collect();
    let job = Job {
        memory_bytes: 1 << 22,
        ..Job::new(inputs, to.display().to_string(), "t".to_owned())
    };
    (folder, job)
}

#[test]
fn a_name_after_the_first_rows_of_json_is_stored() {
    let mut lines: String = (1..=20_000)
        .map(|id| format!("{{\"id\":{id}}}\n"))
        .collect();
    lines += "{\"id\":20001,\"note\":\"xx\"}\n{\"id\":20002}\n{\"id\":20003,\"note\":null}\n";
    for threads in [1, 2] {
        let schema = "CREATE TABLE t(id INT, note TEXT DEFAULT 'dflt')";
        let (_folder, job) = several(schema, &[("rows.jsonl", &lines)]);
        let to = job.to.clone();
        load(&Job { threads, ..job }).expect("a load");
        let found = rows(
            &open(Path::new(&to)),
            "SELECT note, count(*), max(id) FROM t GROUP BY note",
        );
        let expected = ["NULL, 1, 20003", "'dflt', 20001, 20002", "'xx', 1, 20001"];
        assert_eq!(found, expected);
    }
}

#[test]
fn a_rowid_after_the_first_rows_of_json_is_stored() {
    let mut lines = "{\"note\":\"y\"}\n".repeat(20_000);
    lines += "{\"note\":\"z\",\"id\":700000}\n{\"note\":\"last\"}\n";
    let schema = "CREATE TABLE t(id INTEGER PRIMARY KEY, note TEXT)";
    let (_folder, job) = several(schema, &[("rows.jsonl", &lines)]);
    load(&job).expect("a load");
    let found = rows(
        &open(Path::new(&job.to)),
        "SELECT id FROM t WHERE note <> 'y' ORDER BY id",
    );
    assert_eq!(found, ["700000", "700001"]);
}

#[test]
fn an_unknown_column_may_be_skipped_but_not_one_of_the_table() {
    let files = [("a.csv", "id,x\n1,5\n"), ("b.csv", "id,extra,x\n2,9,5\n")];
    for (_, writer) in WriterChoice::ALL {
        let (_folder, job) = several("CREATE TABLE t(id, extra)", &files);
        let job = Job {
            writer: *writer,
            skips_unknown: true,
            ..job
        };
        let loaded = load(&job);
        let found = rows(
            &open(Path::new(&job.to)),
            "SELECT count(*), count(extra) FROM t",
        );
        match loaded {
            Ok(_) => assert_eq!(found, ["2, 1"]),
            Err(error) => {
                assert_eq!(*writer, WriterChoice::Statements, "{error}");
                assert!(
                    error
                        .to_string()
                        .contains("is missing from the rows read first"),
                    "{error}"
                );
            }
        }
    }
}

#[test]
fn a_default_of_each_row_is_not_made_for_a_later_file() {
    let files = [("a.csv", "id,d\n1,5\n"), ("b.csv", "id\n2\n")];
    for (_, writer) in WriterChoice::ALL {
        let schema = "CREATE TABLE t(id, d DEFAULT (hex(randomblob(4))))";
        let (_folder, job) = several(schema, &files);
        let error = load(&Job {
            writer: *writer,
            ..job
        })
        .expect_err("refused")
        .to_string();
        assert!(error.contains("b.csv: column `d`"), "{error}");
        assert!(error.contains("load this file by itself"), "{error}");
    }
}

#[test]
fn a_default_is_not_decoded() {
    let files = [("a.csv", "id\n1\n"), ("b.csv", "id,d\n2,6162\n")];
    let schema = "CREATE TABLE t(id, d BLOB DEFAULT '7a')";
    let (_folder, job) = several(schema, &files);
    let decode = inorder_load::Decode::ALL
        .iter()
        .find(|decode| decode.name() == "hex");
    load(&Job {
        decode: vec![("d".to_owned(), decode.copied())],
        ..job.clone()
    })
    .expect("a load");
    let found = rows(
        &open(Path::new(&job.to)),
        "SELECT quote(d) FROM t ORDER BY id",
    );
    assert_eq!(found, ["'''7a'''", "'X''6162'''"]);
}

#[test]
fn an_id_of_a_later_file_is_not_replaced_by_one_that_is_made() {
    let files = [("a.csv", "name\nx\n"), ("b.csv", "id,name\nQQ,y\n")];
    for (_, writer) in WriterChoice::ALL {
        let (folder, job) = several("", &files);
        let create = Create {
            key: vec![inorder_load::KeySpec::parse("id=ulid:text").expect("a key")],
            ..Create::default()
        };
        let job = Job {
            writer: *writer,
            create: Some(create),
            ..job
        };
        let error = load(&job).expect_err("refused").to_string();
        assert!(error.contains("b.csv: column `id` is the key"), "{error}");
        assert!(!folder.path().join("to.db").exists(), "{error}");
    }
}
