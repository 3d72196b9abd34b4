//! Rows that update those with their key, and columns that are added, compared with statements of SQLite.

mod common;

use common::{Folder, integrity, rows};
use inorder_load::{Create, Existing, Job, KeySpec, OnDuplicate};

const SCHEMA: &str = "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT NOT NULL, size INTEGER, note TEXT DEFAULT 'none');
                      INSERT INTO t VALUES (1, 'one', 10, 'a'), (2, 'two', 20, 'b');";

fn updating(folder: &Folder, name: &str, content: &str) -> Job {
    Job {
        on_duplicate: OnDuplicate::Update,
        existing: Existing::FillEmpty,
        create: Some(Create::default()),
        ..folder.job(&folder.file(name, content))
    }
}

#[test]
fn only_the_columns_that_are_given_are_updated() {
    let folder = Folder::new(SCHEMA);
    let csv = "id,size,name\n2,21,two\n3,30,three\n2,22,zwei\n";
    let summary = folder
        .run(&updating(&folder, "t.csv", csv))
        .expect("a load");
    let counts = (
        summary.rows_read,
        summary.rows_written,
        summary.rows_updated,
    );
    assert_eq!(counts, (3, 3, 2));
    let expected = [
        "integer1,text'one',integer10,text'a'",
        "integer2,text'zwei',integer22,text'b'",
        "integer3,text'three',integer30,text'none'",
    ];
    assert_eq!(rows(&folder.open(), "t"), expected);
    assert_eq!(integrity(&folder.open()), "ok");
}

#[test]
fn a_row_that_is_there_needs_no_column_that_must_not_be_null() {
    let folder = Folder::new(SCHEMA);
    folder
        .run(&updating(&folder, "t.csv", "id,size\n1,11\n"))
        .expect("a load");
    assert_eq!(
        rows(&folder.open(), "t")[0],
        "integer1,text'one',integer11,text'a'"
    );
    let before = rows(&folder.open(), "t");
    let error = folder.run(&updating(&folder, "t.csv", "id,size\n1,12\n9,9\n"));
    let error = error.expect_err("a new row without a name");
    assert!(error.contains("t.csv, line 3"), "{error}");
    assert!(
        error.contains("NOT NULL constraint failed: t.name"),
        "{error}"
    );
    assert_eq!(rows(&folder.open(), "t"), before);
}

#[test]
fn rows_are_found_by_every_kind_of_key() {
    for (schema, key) in [
        ("id TEXT PRIMARY KEY, part INT, v", "id,part"),
        ("id TEXT, part INT, v, PRIMARY KEY(id, part)", "id,part"),
        (
            "id TEXT, part INT, v, PRIMARY KEY(part DESC, id COLLATE NOCASE)",
            "id,part",
        ),
        ("id TEXT UNIQUE, part INT, v", "id,part"),
    ] {
        for ending in ["", " WITHOUT ROWID"] {
            if schema.contains("UNIQUE") && !ending.is_empty() {
                continue;
            }
            let folder = Folder::new(&format!("CREATE TABLE t({schema}){ending}"));
            let mut expected = std::collections::BTreeMap::new();
            let mut load = |seed: usize, first: usize| {
                let mut csv = format!("{key},v\n");
                for i in first..first + 300 {
                    let id = i * seed % 397;
                    csv += &format!("k{id},7,{i}\n");
                    expected.insert(id, i);
                }
                let updating = updating(&folder, "t.csv", &csv);
                folder.run(&updating).expect("a load");
            };
            load(31, 0);
            load(57, 1000);
            let mut expected: Vec<String> = expected
                .iter()
                .map(|(id, i)| format!("text'k{id}',integer7,text'{i}'"))
                .collect();
            expected.sort();
            assert_eq!(rows(&folder.open(), "t"), expected, "{schema}{ending}");
            assert_eq!(integrity(&folder.open()), "ok");
        }
    }
}

#[test]
fn rows_without_a_key_can_not_be_updated() {
    for (schema, csv, what) in [
        ("CREATE TABLE t(id, v)", "id,v\n1,2\n", "has no unique key"),
        (
            "CREATE TABLE t(id INTEGER PRIMARY KEY, v)",
            "v\n2\n",
            "has no column `id`",
        ),
    ] {
        let folder = Folder::new(schema);
        let error = folder
            .run(&updating(&folder, "t.csv", csv))
            .expect_err(what);
        assert!(
            error.starts_with("--on-duplicate update finds rows by their key"),
            "{error}"
        );
        assert!(error.contains(what), "{error}");
    }
}

#[test]
fn columns_are_added_where_that_is_said() {
    for schema in [
        SCHEMA,
        "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT NOT NULL, size INTEGER, note TEXT DEFAULT 'none')",
    ] {
        let folder = Folder::new(schema);
        let csv = "id,name,price,size\n7,seven,1.5,70\n";
        let path = folder.file("t.csv", csv);
        let error = folder
            .run(&folder.job(&path))
            .expect_err("an unknown column");
        assert!(error.contains("--alter adds them"), "{error}");
        let job = Job {
            alters: true,
            ..folder.job(&path)
        };
        let summary = folder.run(&job).expect("a load");
        let added = "added a column: ALTER TABLE main.\"t\" ADD COLUMN \"price\" REAL";
        assert_eq!(common::told(&summary), added);
        let found = rows(&folder.open(), "t");
        let new = "integer7,text'seven',integer70,text'none',real1.5".to_owned();
        assert!(found.contains(&new), "{found:?}");
        assert_eq!(integrity(&folder.open()), "ok");
        // A load that fails adds no column.
        let bad = folder.file("t.csv", "id,name,color\n7,again,red\n");
        let job = Job {
            alters: true,
            ..folder.job(&bad)
        };
        folder.run(&job).expect_err("a duplicate");
        assert_eq!(rows(&folder.open(), "t"), found);
    }
}

#[test]
fn columns_without_names_are_not_added() {
    let nameless = |folder: &Folder, csv: &str| {
        let mut job = folder.job(&folder.file("t.csv", csv));
        job.alters = true;
        job.read_options.has_header = Some(false);
        job
    };
    let folder = Folder::new("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b INTEGER)");
    for csv in ["1,x\n", "2,y,3\n"] {
        let summary = folder.run(&nameless(&folder, csv)).expect("a load");
        assert!(summary.notes.is_empty(), "{:?}", summary.notes);
    }
    let old = ["integer1,text'x',nullNULL", "integer2,text'y',integer3"];
    assert_eq!(rows(&folder.open(), "t"), old);
    let mut job = nameless(&folder, "3,z,4,5\n");
    let error = folder.run(&job).expect_err("a column too many");
    let told = "t.csv has no header (--no-header): its 4 columns are those of the table t in order, and that has 3; \
                --columns names them, also for --alter,";
    assert!(error.starts_with(told), "{error}");
    assert_eq!(rows(&folder.open(), "t"), old);
    job.columns = Some(["id", "a", "b", "c"].map(str::to_owned).to_vec());
    folder.run(&job).expect("a load");
    let new = "integer3,text'z',integer4,integer5".to_owned();
    assert!(rows(&folder.open(), "t").contains(&new));
}

#[test]
fn text_that_comes_late_for_a_column_of_bytes_is_told() {
    let table = "CREATE TABLE t(id INTEGER PRIMARY KEY, b BLOB)";
    let empty: String = (1..=10_000).map(|id| format!("{id},\n")).collect();
    let folder = Folder::new(table);
    let mut job = folder.job(&folder.file("t.csv", format!("id,b\n{empty}0,00ff\n")));
    job.threads = 3;
    let summary = folder.run(&job).expect("a load");
    let told = "column `b` has the type BLOB, and 1 value is stored as text, the first in line 10002: `00ff`; --decode b=hex, or another form, stores bytes";
    assert_eq!(common::told(&summary), told);
    assert_eq!(rows(&folder.open(), "t")[0], "integer0,text'00ff'");
    for (decode, stored) in [
        (Some(inorder_load::Decode::Hex), "integer0,blobX'00FF'"),
        (None, "integer0,text'00ff'"),
    ] {
        job.existing = Existing::Truncate;
        job.decode = vec![("B".to_owned(), decode)];
        let summary = folder.run(&job).expect("a load");
        assert!(summary.notes.is_empty(), "{:?}", summary.notes);
        assert_eq!(rows(&folder.open(), "t")[0], stored);
    }
}

#[test]
fn indexes_and_foreign_keys_are_created_with_the_table() {
    let folder =
        Folder::new("CREATE TABLE people(id INTEGER PRIMARY KEY); INSERT INTO people VALUES (1)");
    let with = |csv: &str| Job {
        create: Some(Create {
            key: vec![KeySpec::parse("id").expect("a key")],
            indexes: vec![
                vec!["name".to_owned()],
                vec!["author".to_owned(), "name".to_owned()],
            ],
            foreign_keys: vec![inorder_load::ForeignKey::parse("author=people.id").expect("a key")],
            ..Create::default()
        }),
        existing: Existing::Refuse,
        ..folder.job(&folder.file("t.csv", csv))
    };
    let error = folder
        .run(&with("id,name,author\n2,b,7\n"))
        .expect_err("no parent");
    assert!(error.contains("has no parent in people"), "{error}");
    let summary = folder
        .run(&with("id,name,author\n2,b,1\n1,a,\n"))
        .expect("a load");
    assert_eq!(summary.writer, "direct");
    let db = folder.open();
    let indexes = "SELECT group_concat(name) FROM sqlite_schema WHERE type = 'index'";
    let indexes: String = db.query_row(indexes, [], |row| row.get(0)).expect("names");
    assert_eq!(indexes, "t_name,t_author_name");
    assert_eq!(integrity(&db), "ok");
    let first = "SELECT id FROM t INDEXED BY t_author_name WHERE author = 1";
    let first: i64 = db.query_row(first, [], |row| row.get(0)).expect("a row");
    assert_eq!(first, 2);
}

#[test]
fn text_in_a_numeric_column_is_told() {
    let folder = Folder::new("CREATE TABLE t(id INTEGER, price REAL)");
    let summary = folder
        .load("t.csv", "id;price\n1;1,5\nx;2.5\n3;2,5\n")
        .expect("a load");
    let said = common::told(&summary);
    for told in [
        "column `id` has a numeric type, and 1 value is stored as text, the first in line 3: `x`",
        "column `price` has a numeric type, and 2 values are stored as text, the first in line 2: `1,5`; --decimal , reads",
    ] {
        assert!(said.contains(told), "{said}");
    }
}

#[test]
fn words_are_not_taken_for_base64() {
    let folder = Folder::new("CREATE TABLE t(id INTEGER PRIMARY KEY, b BLOB)");
    folder
        .load("t.csv", "id,b\n1,word\n2,Test1234\n3,key=\n")
        .expect("a load");
    assert_eq!(
        rows(&folder.open(), "t"),
        [
            "integer1,text'word'",
            "integer2,text'Test1234'",
            "integer3,text'key='"
        ]
    );
    let folder = Folder::new("CREATE TABLE t(id INTEGER PRIMARY KEY, b BLOB)");
    folder
        .load("t.csv", "id,b\n1,d29yZA==\n2,QUJD\n")
        .expect("a load");
    assert_eq!(
        rows(&folder.open(), "t"),
        ["integer1,blobX'776F7264'", "integer2,blobX'414243'"]
    );
}

#[test]
fn a_load_waits_for_the_lock_before_it_reads() {
    let folder = Folder::new("CREATE TABLE t(id INTEGER PRIMARY KEY)");
    let db = folder.open();
    db.execute_batch("BEGIN IMMEDIATE").expect("a lock");
    // A row that is read would be refused.
    let path = folder.file("t.csv", "id\n1\n");
    let job = Job {
        busy_timeout: std::time::Duration::from_millis(20),
        ..folder.job(&path)
    };
    let error = folder.run(&job).expect_err("a lock");
    assert!(
        error.contains("another process is writing to the database"),
        "{error}"
    );
    assert!(error.contains("--busy-timeout"), "{error}");
    db.execute_batch("ROLLBACK").expect("no lock");
    folder.run(&job).expect("a load");
}

/// SQLite must see the rows whose parents it looks for, also where it has read the root page of the table before.
#[test]
fn tables_with_foreign_keys_are_created_emptied_and_filled() {
    let with_key = "CREATE TABLE t(id INTEGER PRIMARY KEY, author INTEGER REFERENCES people);
                    INSERT INTO t VALUES (1, 1), (2, 1);";
    let key = |column: &str| KeySpec::parse(column).expect("a key");
    let cases = [
        ("", Existing::Refuse, vec![]),
        ("", Existing::Refuse, vec![key("id")]),
        (with_key, Existing::Truncate, vec![]),
        (with_key, Existing::Replace, vec![]),
        (with_key, Existing::Replace, vec![key("id")]),
    ];
    let many: Vec<String> = (10..5000).map(|i| format!("{i},{}\n", i % 2)).collect();
    for (mode, (table, existing, keys)) in ["DELETE", "WAL"]
        .iter()
        .flat_map(|mode| cases.iter().map(move |case| (mode, case)))
    {
        let folder = Folder::new(&format!(
            "PRAGMA journal_mode = {mode}; CREATE TABLE people(id INTEGER PRIMARY KEY);
             INSERT INTO people VALUES (0), (1); {table}"
        ));
        let with = |csv: &str| Job {
            create: Some(Create {
                key: keys.clone(),
                foreign_keys: vec![
                    inorder_load::ForeignKey::parse("author=people").expect("a key"),
                ],
                ..Create::default()
            }),
            existing: *existing,
            ..folder.job(&folder.file("t.csv", csv))
        };
        let before = schema_and_rows(&folder);
        let error = folder
            .run(&with("id,author\n3,7\n"))
            .expect_err("no parent");
        assert!(error.contains("has no parent in people"), "{error}");
        assert_eq!(schema_and_rows(&folder), before);
        let csv = format!("id,author\n3,1\n4,\n{}", many.concat());
        let summary = folder.run(&with(&csv)).expect("a load");
        let is_copied = summary
            .notes
            .iter()
            .any(|note| note.text.contains("copied"));
        assert!(summary.writer == "direct" && !is_copied, "{summary:?}");
        assert_eq!(rows(&folder.open(), "t").len(), 4992);
        assert_eq!(integrity(&folder.open()), "ok");
    }
}

/// The statements of the schema, and the rows of `t` if it is there.
fn schema_and_rows(folder: &Folder) -> (Vec<String>, Vec<String>) {
    let database = folder.open();
    let schema = rows(&database, "sqlite_schema");
    let has_table = schema.iter().any(|row| row.contains("CREATE TABLE t("));
    let rows = match has_table {
        true => rows(&database, "t"),
        false => Vec::new(),
    };
    (schema, rows)
}

#[test]
fn a_column_that_no_row_of_json_names_keeps_its_values() {
    let folder = Folder::new(SCHEMA);
    let lines = "{\"id\":1,\"name\":\"eins\"}\n{\"id\":2,\"name\":\"zwei\"}\n";
    folder
        .run(&updating(&folder, "t.jsonl", lines))
        .expect("a load");
    let expected = [
        "integer1,text'eins',integer10,text'a'",
        "integer2,text'zwei',integer20,text'b'",
    ];
    assert_eq!(rows(&folder.open(), "t"), expected);
}

#[test]
fn a_file_without_a_column_that_others_update_is_refused() {
    let folder = Folder::new(SCHEMA);
    let before = rows(&folder.open(), "t");
    let first = folder.file("a.csv", "id,name,size\n1,eins,11\n");
    let second = folder.file("b.csv", "id,name\n2,zwei\n");
    for paths in [[&first, &second], [&second, &first]] {
        let mut job = updating(&folder, "c.csv", "id\n");
        job.inputs = paths.map(|path| folder.job(path).inputs.remove(0)).to_vec();
        let error = folder.run(&job).expect_err("a column is missing");
        assert!(error.contains("column `size` is missing"), "{error}");
        assert_eq!(rows(&folder.open(), "t"), before);
    }
}
