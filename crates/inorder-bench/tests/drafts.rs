//! Drafts of generated schemas: each runs on SQLite, and has each foreign key of its schema or names it in a note.

use inorder_bench::{
    engines::Engines,
    experiment::{Experiment, Overrides, Scale},
    run::{Request, rehearse},
    schema::{Catalog, Wishes, draft},
};
use inorder_key::bulk::SplitMix64;
use std::path::Path;

/// Types, and a value of each as SQL, in which `#` is a number of one digit.
const TYPES: [(&str, &str); 11] = [
    ("integer", "#"),
    ("smallint", "10#"),
    ("varchar(40)", "'name #'"),
    ("varchar(2)", "'x#'"),
    ("date", "'2026-01-0#'"),
    ("numeric(4,2)", "#.25"),
    ("uuid", "'9b2d7d1c-5f0e-4c7e-9a51-00000000000#'"),
    ("boolean", "# % 2"),
    ("real", "#.5"),
    ("blob", "x'ab0#'"),
    ("", "'any #'"),
];

/// What the column `e` that is referred to is. Each has the definition of the column, of the table, and statements after it.
const KEYS: [(&str, [&str; 3]); 9] = [
    ("primary", ["PRIMARY KEY", "", ""]),
    ("unique", ["NOT NULL UNIQUE", "", ""]),
    ("nullable", ["UNIQUE", "", ""]),
    (
        "index",
        ["NOT NULL", "", "CREATE UNIQUE INDEX p_e ON p(e);"],
    ),
    ("both", ["NOT NULL UNIQUE", ", PRIMARY KEY(f, e)", ""]),
    ("none", ["NOT NULL", "", ""]),
    ("equal", ["NOT NULL", "", "CREATE INDEX p_e ON p(e);"]),
    ("part", ["NOT NULL", ", PRIMARY KEY(e, f)", ""]),
    (
        "partial",
        [
            "",
            "",
            "CREATE UNIQUE INDEX p_e ON p(e) WHERE e IS NOT NULL;",
        ],
    ),
];

/// How the column `x` of another table refers to it: the definition of the column, of the table, and statements after it.
const REFERENCES: [(&str, [&str; 3]); 15] = [
    ("plain", ["REFERENCES p(e)", "", ""]),
    ("implicit", ["REFERENCES p", "", ""]),
    (
        "cascade",
        ["", ", FOREIGN KEY(x) REFERENCES P(E) ON DELETE CASCADE", ""],
    ),
    ("unique", ["UNIQUE REFERENCES p(e)", "", ""]),
    ("key", ["PRIMARY KEY REFERENCES p(e)", "", ""]),
    ("in-key", ["REFERENCES p(e)", ", PRIMARY KEY(x, n)", ""]),
    ("with-owner", ["REFERENCES p(e)", ", UNIQUE(x, y)", ""]),
    ("twice", ["REFERENCES p(e) REFERENCES q(id)", "", ""]),
    (
        "chain",
        [
            "UNIQUE REFERENCES p(e)",
            "",
            "CREATE TABLE d(z TYPE NOT NULL REFERENCES c(x)); INSERT OR IGNORE INTO d SELECT x FROM c;",
        ],
    ),
    (
        "own",
        ["UNIQUE REFERENCES p(e)", ", z TYPE REFERENCES c(x)", ""],
    ),
    ("pair", ["", ", FOREIGN KEY(x, n) REFERENCES p(e, f)", ""]),
    (
        "wrong",
        ["REFERENCES p(missing)", ", z TYPE REFERENCES gone(e)", ""],
    ),
    (
        "root",
        [
            "REFERENCES a(w)",
            "",
            "CREATE TABLE t(o uuid REFERENCES a(id), v TYPE NOT NULL REFERENCES a(u));
             INSERT OR IGNORE INTO t SELECT y, x FROM c;",
        ],
    ),
    (
        "rowid",
        [
            "REFERENCES p(e)",
            "",
            "CREATE TABLE s(x integer PRIMARY KEY REFERENCES p(e), o uuid NOT NULL REFERENCES a(id));
             INSERT OR IGNORE INTO s SELECT n, y FROM c;",
        ],
    ),
    (
        "cycle",
        [
            "UNIQUE REFERENCES p(e)",
            "",
            "CREATE TABLE r(x TYPE REFERENCES c(x), id TYPE UNIQUE, p TYPE REFERENCES p(e));
             INSERT OR IGNORE INTO r SELECT x, x, x FROM c;",
        ],
    ),
];

/// The first columns of `p` and `c`, by which `p` is filled before the root `a` or with it.
const PLACES: [(&str, [&str; 2]); 4] = [
    ("before", ["", "y uuid NOT NULL REFERENCES a(id)"]),
    (
        "member",
        [
            "o uuid NOT NULL REFERENCES a(id)",
            "y uuid REFERENCES a(id)",
        ],
    ),
    ("owner", ["o uuid NOT NULL REFERENCES a(id)", "y uuid"]),
    (
        "key",
        [
            "o uuid PRIMARY KEY REFERENCES a(id)",
            "y uuid REFERENCES p(o)",
        ],
    ),
];

/// Which rows the tables have.
const ROWS: [&str; 4] = ["empty", "full", "some-null", "all-null"];

/// A schema of a root `a`, a table `p`, a table `c` that refers to it, and others around them.
struct Case {
    name: String,
    root: String,
    sql: String,
}

impl Case {
    /// All combinations of types, keys, references and nullability, each with a place and rows by its number.
    fn all() -> Vec<Self> {
        let mut cases = Vec::new();
        for ty in &TYPES {
            for key in &KEYS {
                for reference in &REFERENCES {
                    for is_nullable in [false, true] {
                        let random = SplitMix64::mix(cases.len() as u64);
                        let place = &PLACES[random as usize % PLACES.len()];
                        let rows = ROWS[(random >> 32) as usize % ROWS.len()];
                        cases.push(Case {
                            root: "a".to_owned(),
                            name: format!(
                                "{}, {}, {}, nullable {is_nullable}, {}, {rows}",
                                ty.0, key.0, reference.0, place.0
                            ),
                            sql: sql(*ty, key.1, reference.1, is_nullable, place.1, rows),
                        });
                    }
                }
            }
        }
        cases
    }

    /// How many foreign keys the draft has and names in notes, and its text. The error is its failure.
    fn check(&self, folder: &Path) -> Result<(usize, usize, String), String> {
        let path = folder.join("source.db");
        let _ = std::fs::remove_file(&path);
        let database = rusqlite::Connection::open(&path).unwrap();
        let sql = format!(
            "PRAGMA foreign_keys = off; PRAGMA synchronous = off; {}",
            self.sql
        );
        database
            .execute_batch(&sql)
            .unwrap_or_else(|error| panic!("{}: {error}: {sql}", self.name));
        drop(database);
        let catalog = Catalog::of_database(&path.to_string_lossy()).unwrap();
        let wishes = Wishes {
            tables: vec![self.root.clone()],
            engines: Vec::new(),
            origin: "source.db".to_owned(),
        };
        let draft = draft(&catalog, &wishes).map_err(|error| error.to_string())?;
        let failed = |error: inorder_bench::Error| format!("{error}\n{}", draft.text);
        let overrides = Overrides {
            set: vec![
                ("key".to_owned(), vec!["uuid4".to_owned()]),
                ("encoding".to_owned(), vec!["blob".to_owned()]),
                ("synchronous".to_owned(), vec!["off".to_owned()]),
            ],
            ..Overrides::default()
        };
        let experiment = Experiment::parse("a.toml", &draft.text, Scale::Quick, &overrides);
        let request = Request {
            experiments: vec![experiment.map_err(failed)?],
            engines: Engines::default(),
            scale: Scale::Quick,
            overrides,
            seed: 1,
            command: Vec::new(),
        };
        let plan = request.plan().map_err(failed)?;
        rehearse(&request, &request.experiments[0], &plan, folder).map_err(failed)?;
        let (kept, noted) = told(&catalog, &request.experiments[0], &draft.text)?;
        Ok((kept, noted, draft.text))
    }
}

/// The statements of a case.
fn sql(
    (ty, value): (&str, &str),
    key: [&str; 3],
    reference: [&str; 3],
    is_nullable: bool,
    place: [&str; 2],
    rows: &str,
) -> String {
    let not_null = if is_nullable { "" } else { "NOT NULL" };
    // A table has one primary key.
    let own = match (key[0], key[1]) {
        ("PRIMARY KEY", _) => place[0].replace("PRIMARY KEY", "UNIQUE"),
        (_, "") => place[0].to_owned(),
        _ => place[0].replace("PRIMARY KEY", "UNIQUE"),
    };
    let comma = if own.is_empty() { "" } else { ", " };
    let mut sql = format!(
        "CREATE TABLE q(id {ty} PRIMARY KEY);
         CREATE TABLE a(id uuid PRIMARY KEY, w {ty} REFERENCES q(id), u {ty} UNIQUE);
         CREATE TABLE p({own}{comma}e {ty} {}, f integer NOT NULL{}); {}
         CREATE TABLE c({}, x {ty} {not_null} {}, n integer NOT NULL{});",
        key[0], key[1], key[2], place[1], reference[0], reference[1]
    );
    let id = "'9b2d7d1c-5f0e-4c7e-9a51-00000000000#'";
    let has_null = |digit: u32| match rows {
        "some-null" => digit.is_multiple_of(2),
        "all-null" => true,
        _ => false,
    };
    for digit in (0..10).filter(|_| rows != "empty") {
        let null_or = |value: &str, is_null: bool| match is_null && has_null(digit) {
            true => "NULL".to_owned(),
            false => value.to_owned(),
        };
        let owner = if own.is_empty() {
            String::new()
        } else {
            format!("{id}, ")
        };
        let rows = format!(
            "INSERT OR IGNORE INTO q VALUES({value});
             INSERT OR IGNORE INTO a VALUES({id}, {}, {});
             INSERT OR IGNORE INTO p({}e, f) VALUES({owner}{}, #);
             INSERT OR IGNORE INTO c(y, x, n) VALUES({id}, {}, #), ({id}, {}, 1#);",
            null_or(value, true),
            null_or(value, true),
            if own.is_empty() { "" } else { "o, " },
            null_or(value, true),
            null_or(value, is_nullable),
            null_or(value, is_nullable),
        );
        sql += &rows.replace('#', &digit.to_string());
    }
    sql += reference[2];
    sql.replace("TYPE", ty)
}

/// Counts the foreign keys of a schema that a draft has, and those that its notes name.
fn told(catalog: &Catalog, experiment: &Experiment, text: &str) -> Result<(usize, usize), String> {
    let (mut kept, mut noted) = (0, 0);
    for table in &catalog.tables {
        let drafted = experiment
            .tables
            .iter()
            .find(|other| other.name == table.name);
        let ddl = drafted.and_then(|table| table.create.of("sqlite", "rowid"));
        for key in &table.foreign_keys {
            let quoted = |names: &[String]| {
                let names = names.join("\u{0}").replace('"', "\"\"");
                let literal = names.replace('{', "{{").replace('}', "}}");
                format!("\"{}\"", literal.replace('\u{0}', "\", \""))
            };
            let words = format!(
                "FOREIGN KEY ({}) REFERENCES {} ({})",
                quoted(&key.columns),
                quoted(std::slice::from_ref(&key.parent)),
                quoted(&key.parent_columns)
            );
            let columns = key.columns.join(", ");
            let note = format!(
                "# left out: the foreign key {} of {} ({columns})",
                key.name, table.name
            );
            let of_table = format!("# left out: table {},", table.name);
            let mut lines = text.lines();
            match ddl.is_some_and(|ddl| ddl.contains(&words)) {
                true => kept += 1,
                false
                    if lines.any(|line| line.starts_with(&note) || line.starts_with(&of_table)) =>
                {
                    noted += 1;
                }
                false => return Err(format!("nothing of {words}\n{text}")),
            }
        }
    }
    Ok((kept, noted))
}

#[test]
fn foreign_keys_of_drafts_hold_or_have_a_note() {
    let folder = tempfile::tempdir().unwrap();
    let cases = Case::all();
    let wanted = std::env::var("INORDER_FUZZ_CASES").ok();
    let wanted = wanted.map_or(200, |wanted| wanted.parse().unwrap());
    let step = (cases.len() / wanted).max(1) | 1;
    let (mut kept, mut noted, mut failures) = (0, 0, Vec::new());
    for case in cases.iter().step_by(step) {
        match case.check(folder.path()) {
            Ok(found) => {
                kept += found.0;
                noted += found.1;
            }
            Err(error) => {
                println!("{}: {}", case.name, error.lines().next().unwrap_or(""));
                failures.push(format!("{}: {error}\n{}", case.name, case.sql));
            }
        }
    }
    println!(
        "{} cases by {step}: {kept} foreign keys kept, {noted} noted",
        cases.len()
    );
    let count = failures.len();
    assert!(
        failures.is_empty(),
        "{count} drafts fail, such as {}",
        failures[0]
    );
    assert!(kept > noted / 2 && noted > kept / 10, "{kept}, {noted}");
}

#[test]
fn names_of_any_characters_are_drafted() {
    for part in [
        "{", "}", "{}", "{key}", "{{key}}", "}}{{", "'''", "'", "''", "\"", "\"\"\"", "`", "\\",
        "\n", "\r", "\t", "\u{1}", "\u{7f}", "\u{85}", ";\n", ".", "#", "%", "$", "é", "😀", " ",
    ] {
        for name in [
            part.to_owned(),
            format!("a{part}b"),
            format!("{part}{part}"),
        ] {
            let quoted = name.replace('"', "\"\"");
            let sql = format!(
                "CREATE TABLE \"{quoted}\"(\"{quoted}\" uuid PRIMARY KEY);
                 CREATE TABLE \"root{quoted}\"(\"{quoted}\" uuid PRIMARY KEY, x uuid REFERENCES \"{quoted}\"(\"{quoted}\"));
                 CREATE TABLE \"child{quoted}\"(n integer, x uuid NOT NULL REFERENCES \"root{quoted}\"(\"{quoted}\"), CHECK (n > 0));
                 CREATE INDEX \"{quoted}_i\" ON \"root{quoted}\"(x, \"{quoted}\");"
            );
            let folder = tempfile::tempdir().unwrap();
            let case = Case {
                root: format!("root{name}"),
                name: name.clone(),
                sql,
            };
            let found = case.check(folder.path());
            let (kept, ..) = found.unwrap_or_else(|error| panic!("{name:?}: {error}"));
            assert_eq!(kept, 2, "{name:?}");
        }
    }
}

#[test]
fn notes_name_foreign_keys_with_the_reason() {
    for (sql, note) in [
        (
            "CREATE TABLE p(e integer); CREATE TABLE a(id uuid PRIMARY KEY, x integer REFERENCES p(e));",
            "a_fk0 of a (x) to p (e): p.e is not unique",
        ),
        (
            "CREATE TABLE p(e integer PRIMARY KEY); CREATE TABLE a(id uuid PRIMARY KEY, x integer REFERENCES p(f));",
            "a_fk0 of a (x) to p (f): p has no column f",
        ),
        (
            "CREATE TABLE p(e integer, f integer, PRIMARY KEY(e, f));
             CREATE TABLE a(id uuid PRIMARY KEY, x integer REFERENCES p);",
            "a_fk0 of a (x) to p (e, f): the primary key of p is not one column",
        ),
        (
            "CREATE TABLE a(id uuid PRIMARY KEY, x integer, y integer, FOREIGN KEY(x, y) REFERENCES gone(x, y));",
            "a_fk0 of a (x, y) to gone (x, y): it has several columns",
        ),
        (
            "CREATE TABLE a(id uuid PRIMARY KEY, x integer REFERENCES gone(x));",
            "a_fk0 of a (x) to gone (x): there is no table gone",
        ),
        (
            "CREATE TABLE a(id uuid PRIMARY KEY, x uuid REFERENCES a(id));",
            "a_fk0 of a (x) to a (id): it refers to its own table",
        ),
        (
            "CREATE TABLE p(e integer PRIMARY KEY, f integer UNIQUE); INSERT INTO p VALUES(1, NULL);
             CREATE TABLE a(id uuid PRIMARY KEY, x integer REFERENCES p(f));",
            "a_fk0 of a (x) to p (f): all values of p.f are NULL",
        ),
        (
            "CREATE TABLE p(e integer PRIMARY KEY); CREATE TABLE q(e uuid PRIMARY KEY);
             CREATE TABLE a(id uuid PRIMARY KEY, x REFERENCES q(e) REFERENCES p(e));",
            "a_fk1 of a (x) to q (e): a.x has the values of p",
        ),
        (
            "CREATE TABLE p(e uuid PRIMARY KEY); CREATE TABLE a(id uuid PRIMARY KEY REFERENCES p(e));
             CREATE TABLE b(a uuid NOT NULL REFERENCES a(id), n integer);",
            "a_fk0 of a (id) to p (e): a.id is a key in question",
        ),
        (
            "CREATE TABLE p(e uuid PRIMARY KEY, x uuid REFERENCES a(id));
             CREATE TABLE a(id uuid PRIMARY KEY, x uuid REFERENCES p(e));",
            "p_fk0 of p (x) to a (id): a is filled after p",
        ),
        // Nine different texts for millions of rows: neither the key of `m` nor what refers to it is kept.
        (
            "CREATE TABLE a(id uuid PRIMARY KEY); CREATE TABLE m(c char(1) PRIMARY KEY, a uuid REFERENCES a(id));
             CREATE TABLE n(c char(1) NOT NULL REFERENCES m(c), x integer);",
            "n_fk0 of n (c) to m (c): m.c is not unique in the experiment",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let case = Case {
            name: note.to_owned(),
            root: "a".to_owned(),
            sql: sql.to_owned(),
        };
        let text = case.check(folder.path()).unwrap_or_else(|error| panic!("{note}: {error}")).2;
        let line = format!("# left out: the foreign key {note}\n");
        assert!(text.contains(&line), "{line}{text}");
    }
}
