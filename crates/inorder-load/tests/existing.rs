//! What a load does with a table that exists.

mod common;

use common::{Folder, integrity, rows};
use inorder_load::{Create, Existing, Job, OnDuplicate, WriterChoice};

const OLD: &str = "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT);
                   INSERT INTO t VALUES (1, 'old'), (7, 'older');";

const WRITERS: [WriterChoice; 2] = [WriterChoice::Auto, WriterChoice::Statements];

/// A job as the command makes it without a flag for an existing table.
fn job(folder: &Folder, csv: &str, existing: Existing) -> Job {
    Job {
        create: Some(Create::default()),
        existing,
        ..folder.job(&folder.file("t.csv", csv))
    }
}

/// The schema and the rows as text.
fn content(folder: &Folder) -> Vec<String> {
    let db = folder.open();
    assert_eq!(integrity(&db), "ok");
    let mut schema = db
        .prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")
        .expect("a query");
    let schema = schema.query_map([], |row| row.get(0)).expect("rows");
    let mut content: Vec<String> = schema.collect::<Result<_, _>>().expect("text");
    content.extend(rows(&db, "t"));
    content
}

#[test]
fn a_table_that_is_missing_is_created() {
    for existing in [
        Existing::Append,
        Existing::FillEmpty,
        Existing::Truncate,
        Existing::Replace,
        Existing::Skip,
        Existing::Refuse,
    ] {
        for schema in ["", "CREATE TABLE other(a)"] {
            let folder = Folder::new(schema);
            let summary = folder.run(&job(&folder, "a\n1\n", existing));
            let summary = summary.expect("a load");
            assert_eq!(summary.is_database_new, schema.is_empty());
            assert!(summary.created.is_some(), "{existing:?}");
            assert_eq!(rows(&folder.open(), "t"), ["integer1"]);
        }
    }
}

#[test]
fn rows_are_added_only_where_that_is_said() {
    let new = "id,name\n2,new\n";
    for (existing, expected) in [
        (Existing::FillEmpty, None),
        (Existing::Refuse, None),
        (Existing::Skip, Some(2)),
        (Existing::Append, Some(3)),
        (Existing::Truncate, Some(1)),
        (Existing::Replace, Some(1)),
    ] {
        let folder = Folder::new(OLD);
        let before = content(&folder);
        let loaded = folder.run(&job(&folder, new, existing));
        match expected {
            None => {
                let error = loaded.expect_err("the table has rows");
                assert!(error.contains("--append adds rows"), "{error}");
                assert_eq!(content(&folder), before);
            }
            Some(count) => {
                let summary = loaded.expect("a load");
                assert_eq!(summary.is_skipped, existing == Existing::Skip);
                assert_eq!(rows(&folder.open(), "t").len(), count, "{existing:?}");
            }
        }
    }
}

#[test]
fn a_rule_for_keys_that_are_there_is_a_choice() {
    let folder = Folder::new(OLD);
    let job = Job {
        on_duplicate: OnDuplicate::Replace,
        ..job(&folder, "id,name\n1,new\n2,newer\n", Existing::FillEmpty)
    };
    folder.run(&job).expect("a load");
    let expected = [
        "integer1,text'new'",
        "integer2,text'newer'",
        "integer7,text'older'",
    ];
    assert_eq!(rows(&folder.open(), "t"), expected);
    // Without a key, nothing would keep the same rows from being added twice.
    let keyless = Folder::new("CREATE TABLE t(id, name); INSERT INTO t VALUES (1, 'old')");
    let path = keyless.file("t.csv", "id,name\n1,new\n");
    let job = Job {
        existing: Existing::FillEmpty,
        on_duplicate: OnDuplicate::Replace,
        ..keyless.job(&path)
    };
    assert!(keyless.run(&job).is_err());
}

#[test]
fn an_empty_table_is_filled() {
    for writer in WRITERS {
        let folder = Folder::new("CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT)");
        let job = Job {
            writer,
            ..job(&folder, "id,name\n1,new\n", Existing::FillEmpty)
        };
        let summary = folder.run(&job).expect("a load");
        assert_eq!(summary.created, None);
        assert_eq!(rows(&folder.open(), "t"), ["integer1,text'new'"]);
    }
}

#[test]
fn rows_are_replaced_by_both_writers() {
    for writer in WRITERS {
        for existing in [Existing::Truncate, Existing::Replace] {
            let folder = Folder::new(OLD);
            let job = Job {
                writer,
                ..job(&folder, "id,name\n,first\n,second\n", existing)
            };
            let summary = folder.run(&job).expect("a load");
            let is_direct = summary.writer == "direct";
            assert_eq!(is_direct, writer == WriterChoice::Auto, "{summary:?}");
            // DELETE keeps the largest rowid ever, DROP TABLE does not; a new table has no key.
            let expected = match existing {
                Existing::Truncate => ["integer8,text'first'", "integer9,text'second'"],
                _ => ["null NULL,text'first'", "null NULL,text'second'"],
            };
            let expected = expected.map(|row| row.replace("null ", "null"));
            assert_eq!(rows(&folder.open(), "t"), expected);
            assert_eq!(integrity(&folder.open()), "ok");
        }
    }
}

#[test]
fn a_load_that_fails_keeps_the_rows_it_would_replace() {
    let twice = "id,name\n5,a\n5,b\n";
    let mut random_rows = String::from("id,name\n");
    for id in 0..20_000 {
        random_rows += &format!("{id},{:040}\n", id * 7919 % 20_000);
    }
    random_rows += "19999,again\n";
    for writer in WRITERS {
        for existing in [Existing::Truncate, Existing::Replace] {
            for csv in [twice, &random_rows] {
                let folder = Folder::new(OLD);
                let before = content(&folder);
                let create = Create {
                    key: vec![inorder_load::KeySpec::parse("id").expect("a key")],
                    ..Create::default()
                };
                let job = Job {
                    writer,
                    create: Some(create),
                    ..job(&folder, csv, existing)
                };
                let error = folder.run(&job).expect_err("a duplicate");
                assert!(error.contains("have the same key"), "{error}");
                assert_eq!(content(&folder), before);
            }
        }
    }
}

#[test]
fn rows_that_others_refer_to_are_not_lost() {
    let parents = "PRAGMA foreign_keys = ON;
        CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT);
        INSERT INTO t VALUES (1, 'old'), (2, 'older');";
    for existing in [Existing::Truncate, Existing::Replace] {
        let kept =
            format!("{parents} CREATE TABLE child(t REFERENCES t); INSERT INTO child VALUES (1);");
        let folder = Folder::new(&kept);
        let create = Create {
            key: vec![inorder_load::KeySpec::parse("id").expect("a key")],
            ..Create::default()
        };
        let with = |csv: &str| Job {
            create: Some(create.clone()),
            ..job(&folder, csv, existing)
        };
        let before = content(&folder);
        let error = folder
            .run(&with("id,name\n3,new\n"))
            .expect_err("an orphan");
        assert!(error.contains("FOREIGN KEY"), "{error}");
        assert_eq!(content(&folder), before);
        folder
            .run(&with("id,name\n1,new\n"))
            .expect("its parent is there");
        assert_eq!(rows(&folder.open(), "t"), ["integer1,text'new'"]);
        assert_eq!(rows(&folder.open(), "child"), ["integer1"]);

        let cascade = kept.replace("REFERENCES t", "REFERENCES t ON DELETE CASCADE");
        let folder = Folder::new(&cascade);
        let error = folder
            .run(&job(&folder, "id,name\n1,new\n", existing))
            .expect_err("rows of another table");
        assert!(error.contains("ON DELETE CASCADE"), "{error}");
    }
}

#[test]
fn triggers_see_the_rows_that_are_deleted() {
    let folder = Folder::new(&format!(
        "{OLD} CREATE TABLE gone(id);
         CREATE TRIGGER goes AFTER DELETE ON t BEGIN INSERT INTO gone VALUES (old.id); END;"
    ));
    let truncate = job(&folder, "id,name\n1,new\n", Existing::Truncate);
    folder.run(&truncate).expect("a load");
    assert_eq!(rows(&folder.open(), "gone"), ["integer1", "integer7"]);
    // Those of a table that is dropped go with it.
    let replace = job(&folder, "id,name\n1,new\n", Existing::Replace);
    let summary = folder.run(&replace).expect("a load");
    assert_eq!(summary.writer, "direct");
}

#[test]
fn a_view_is_no_table() {
    for existing in [Existing::FillEmpty, Existing::Truncate, Existing::Replace] {
        let folder = Folder::new("CREATE VIEW t AS SELECT 1 AS a");
        let error = folder.run(&job(&folder, "a\n1\n", existing));
        let error = error.expect_err("a view");
        assert!(error.contains("has no table `t`"), "{error}");
    }
}

#[test]
fn flags_without_effect_on_a_table_that_exists_are_told() {
    let folder = Folder::new(OLD);
    let create = Create {
        key: vec![inorder_load::KeySpec::parse("id").expect("a key")],
        indexes: vec![vec!["name".to_owned()]],
        ..Create::default()
    };
    let summary = folder.run(&Job {
        create: Some(create),
        ..job(&folder, "id,name\n9,new\n", Existing::Append)
    });
    let expected =
        "the table t exists, so --key, --index had no effect; --replace-table creates it again";
    assert_eq!(common::told(&summary.expect("a load")), expected);
}

#[test]
fn files_that_are_no_databases_stay_as_they_are() {
    let folder = Folder::new("");
    let long = "id,name\n".repeat(999);
    for content in ["x", "id,name\n1,a\n", &long] {
        let other = folder.file("other.csv", content);
        let refused = folder.run(&Job {
            to: other.display().to_string(),
            ..job(&folder, "id,name\n9,new\n", Existing::FillEmpty)
        });
        let refused = refused.expect_err("no database").to_string();
        assert!(
            refused.contains("is not a SQLite database; the inputs come first"),
            "{refused}"
        );
        assert_eq!(std::fs::read_to_string(&other).expect("a file"), content);
    }
    let refused = folder.run(&Job {
        to: folder.path("none/to.db").display().to_string(),
        ..job(&folder, "id,name\n9,new\n", Existing::FillEmpty)
    });
    let refused = refused.expect_err("no folder").to_string();
    assert!(refused.contains("there is no folder"), "{refused}");
}
