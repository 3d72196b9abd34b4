//! Full-text indexes that a load creates, against FTS5's own `integrity-check` and `rebuild`.

mod common;

use common::{Folder, integrity, rows};
use inorder_load::{Create, Existing, FullText, Job, KeySpec, OnDuplicate, WriterChoice};
use rusqlite::Connection;

const FILMS: &str = "id,title,note\n3,Brazil,\"A clerk, a dream\"\n1,Alien,In space\n2,Blade Runner,Tears in rain\n";

fn index(columns: &[&str]) -> FullText {
    FullText {
        columns: columns.iter().map(|column| (*column).to_owned()).collect(),
        tokenizer: None,
    }
}

/// A load into a table with the key `id`.
fn job(folder: &Folder, csv: &str, full_text: FullText) -> Job {
    Job {
        create: Some(Create {
            key: vec![KeySpec::parse("id").expect("a key")],
            full_text: Some(full_text),
            ..Create::default()
        }),
        existing: Existing::Refuse,
        ..folder.job(&folder.file("t.csv", csv))
    }
}

/// A load into the table that is there.
fn next(folder: &Folder, csv: &str) -> Job {
    Job {
        existing: Existing::Append,
        ..folder.job(&folder.file("next.csv", csv))
    }
}

/// The ids of the rows that have a word.
fn found(database: &Connection, query: &str) -> Vec<i64> {
    let search = "SELECT rowid FROM t_fts WHERE t_fts MATCH ?1 ORDER BY rowid";
    let mut statement = database.prepare(search).expect("a search");
    let ids = statement.query_map([query], |row| row.get(0)).expect("ids");
    ids.collect::<Result<_, _>>().expect("ids")
}

/// Compares the index with its content, and with an index that FTS5 builds.
fn assert_fits(database: &Connection) {
    assert_eq!(integrity(database), "ok");
    // Rank 1 compares with the rows of the table.
    let check = "INSERT INTO t_fts(t_fts, rank) VALUES ('integrity-check', 1)";
    database.execute_batch(check).expect("the index fits");
    let words = "SELECT group_concat(term || doc || col || offset) FROM
                 (SELECT * FROM t_words ORDER BY term, doc, col, offset)";
    let all = || -> Option<String> {
        database
            .query_row(words, [], |row| row.get(0))
            .expect("words")
    };
    database
        .execute_batch(
            "CREATE VIRTUAL TABLE temp.t_words USING fts5vocab('main', 't_fts', 'instance')",
        )
        .expect("words");
    let before = all();
    database
        .execute_batch("INSERT INTO t_fts(t_fts) VALUES ('rebuild')")
        .expect("rebuilt");
    assert_eq!(all(), before);
    database
        .execute_batch("DROP TABLE temp.t_words")
        .expect("dropped");
}

/// The databases: a new one, one with another table, one in WAL mode, one with free pages that the load fills.
const DATABASES: &[&str] = &[
    "",
    "CREATE TABLE other(x)",
    "PRAGMA journal_mode = WAL; CREATE TABLE other(x)",
    "CREATE TABLE other(x); INSERT INTO other VALUES (zeroblob(9000000)); DELETE FROM other",
];

#[test]
fn an_index_is_made_in_every_way_of_writing() {
    for database in DATABASES {
        for writer in [WriterChoice::Direct, WriterChoice::Statements] {
            let folder = Folder::new(database);
            let job = Job {
                writer,
                ..job(&folder, FILMS, index(&["title", "note"]))
            };
            let summary = folder.run(&job).expect("a load");
            let expected = match writer {
                WriterChoice::Direct => "direct",
                _ => "statements",
            };
            assert_eq!(summary.writer, expected, "{database}");
            let created = summary.created.expect("statements");
            assert!(
                created.contains("CREATE VIRTUAL TABLE \"t_fts\" USING fts5"),
                "{created}"
            );
            let db = folder.open();
            assert_eq!(found(&db, "a"), [3]);
            assert_eq!(found(&db, "in"), [1, 2]);
            assert_eq!(found(&db, "title: blade"), [2]);
            assert_fits(&db);
            db.execute_batch(
                "UPDATE t SET title = 'Alien 3' WHERE id = 1; UPDATE t SET id = 9 WHERE id = 2;
                 INSERT INTO t VALUES (4, 'Solaris', 'In space, too'); DELETE FROM t WHERE id = 3; VACUUM",
            )
            .expect("changed");
            assert_eq!(found(&db, "space"), [1, 4]);
            assert_eq!(found(&db, "3"), [1]);
            assert_eq!(found(&db, "blade OR dream"), [9]);
            assert_fits(&db);
        }
    }
}

#[test]
fn many_rows_and_hostile_names() {
    let words: Vec<String> = (0..20_000)
        .map(|i| format!("{},word{} \"\"w{}\"\" é,x\n", 20_000 - i, i % 977, i % 13))
        .collect();
    let words: Vec<String> = words
        .iter()
        .map(|row| {
            let (id, rest) = row.split_once(',').expect("a row");
            let (text, x) = rest.rsplit_once(',').expect("a row");
            format!("{id},\"{text}\",{x}")
        })
        .collect();
    for database in DATABASES {
        let folder = Folder::new(database);
        let csv = format!("id,\"the 'words' \"\"x\"\"\",x\n{}", words.concat());
        let mut job = job(&folder, &csv, index(&["the 'words' \"x\"", "x"]));
        let table = "it's \"films\"";
        job.table = table.to_owned();
        folder.run(&job).expect("a load");
        let db = folder.open();
        let check = "INSERT INTO \"it's \"\"films\"\"_fts\"(\"it's \"\"films\"\"_fts\", rank) VALUES ('integrity-check', 1)";
        db.execute_batch(check).expect("the index fits");
        let count = "SELECT count(*) FROM \"it's \"\"films\"\"_fts\" WHERE \"it's \"\"films\"\"_fts\" MATCH 'word7'";
        let count: i64 = db.query_row(count, [], |row| row.get(0)).expect("a number");
        assert_eq!(count, 21);
        assert_eq!(integrity(&db), "ok");
    }
}

/// Rows that take the place of others take their words away, too.
#[test]
fn later_loads_keep_the_index_current() {
    let ways = [
        (
            OnDuplicate::Replace,
            Existing::Append,
            "1,Aliens,again\n5,Stalker,\n",
        ),
        (
            OnDuplicate::Update,
            Existing::Append,
            "1,Aliens,again\n5,Stalker,\n",
        ),
        (
            OnDuplicate::Ignore,
            Existing::Append,
            "1,Nothing,\n5,Stalker,\n",
        ),
        (OnDuplicate::Error, Existing::Append, "5,Stalker,\n"),
        (
            OnDuplicate::Error,
            Existing::Truncate,
            "1,Aliens,again\n5,Stalker,\n",
        ),
    ];
    for (on_duplicate, existing, csv) in ways {
        let folder = Folder::new("");
        folder
            .run(&job(&folder, FILMS, index(&["title", "note"])))
            .expect("a load");
        let job = Job {
            on_duplicate,
            existing,
            ..next(&folder, &format!("id,title,note\n{csv}"))
        };
        folder.run(&job).expect("a load");
        let db = folder.open();
        assert_eq!(found(&db, "stalker"), [5], "{on_duplicate:?}");
        assert_eq!(found(&db, "nothing").len(), 0);
        let is_new = csv.contains("Aliens");
        assert_eq!(found(&db, "alien").is_empty(), is_new, "{on_duplicate:?}");
        assert_fits(&db);
    }
}

#[test]
fn a_table_that_is_created_again_gets_its_index_again_or_none() {
    for full_text in [Some(index(&["note"])), None] {
        let folder = Folder::new("");
        folder
            .run(&job(&folder, FILMS, index(&["title"])))
            .expect("a load");
        let mut again = job(&folder, "id,note\n7,again\n", index(&["note"]));
        again.existing = Existing::Replace;
        let create = again.create.get_or_insert_default();
        create.full_text.clone_from(&full_text);
        folder.run(&again).expect("a load");
        let db = folder.open();
        match full_text {
            Some(_) => {
                assert_eq!(found(&db, "again"), [7]);
                assert_fits(&db);
            }
            None => {
                let left = "SELECT count(*) FROM sqlite_schema WHERE name <> 't'";
                let left: i64 = db.query_row(left, [], |row| row.get(0)).expect("a number");
                assert_eq!(left, 0);
            }
        }
    }
}

#[test]
fn no_rows_have_an_empty_index() {
    for database in DATABASES {
        for writer in [WriterChoice::Direct, WriterChoice::Statements] {
            let folder = Folder::new(database);
            let mut job = job(&folder, "id,title\n", index(&["title"]));
            job.writer = writer;
            let create = job.create.get_or_insert_default();
            create.types = vec![("id".to_owned(), "INTEGER".to_owned())];
            folder.run(&job).expect("a load");
            let db = folder.open();
            db.execute_batch("INSERT INTO t VALUES (1, 'one')")
                .expect("a row");
            assert_eq!(found(&db, "one"), [1]);
            assert_fits(&db);
        }
    }
}

#[test]
fn a_tokenizer_is_used() {
    let folder = Folder::new("");
    let full_text = FullText {
        tokenizer: Some("porter unicode61 tokenchars '-'".to_owned()),
        ..index(&["title"])
    };
    let csv = "id,title\n1,Running-man\n2,runs\n";
    folder.run(&job(&folder, csv, full_text)).expect("a load");
    let db = folder.open();
    assert_eq!(found(&db, "running"), [2]);
    assert_eq!(found(&db, "\"running-man\""), [1]);
    assert_fits(&db);
}

#[test]
fn what_has_no_index_is_refused_and_leaves_nothing() {
    let with = |change: &dyn Fn(&mut Job)| {
        let folder =
            Folder::new("CREATE TABLE u_fts(x); CREATE TABLE there(id INTEGER PRIMARY KEY, title)");
        let before = rows(&folder.open(), "sqlite_schema");
        let mut job = job(&folder, FILMS, index(&["title"]));
        change(&mut job);
        let error = folder.run(&job).expect_err("a load");
        assert_eq!(rows(&folder.open(), "sqlite_schema"), before, "{error}");
        error
    };
    fn create(job: &mut Job) -> &mut Create {
        job.create.get_or_insert_default()
    }
    let no_key = with(&|job| create(job).key = Vec::new());
    assert!(no_key.contains("INTEGER PRIMARY KEY"), "{no_key}");
    let text_key = with(&|job| create(job).key = vec![KeySpec::parse("title").expect("a key")]);
    assert!(text_key.contains("--key id=serial"), "{text_key}");
    let missing = with(&|job| create(job).full_text = Some(index(&["titel"])));
    assert!(
        missing.contains("no column `titel`; did you mean `title`"),
        "{missing}"
    );
    let tokenizer = with(&|job| {
        create(job).full_text = Some(FullText {
            tokenizer: Some("nothing".to_owned()),
            ..index(&["title"])
        });
    });
    assert!(tokenizer.contains("tokenizer"), "{tokenizer}");
    let reserved = with(&|job| create(job).full_text = Some(index(&["title", "title"])));
    assert!(reserved.contains("only one column `title`"), "{reserved}");
    let taken = with(&|job| job.table = "u".to_owned());
    assert!(taken.contains("has a table u_fts already"), "{taken}");
    for existing in [Existing::Append, Existing::FillEmpty, Existing::Truncate] {
        let there = with(&|job| {
            job.table = "there".to_owned();
            job.existing = existing;
        });
        assert!(there.contains("--fts: the table there exists"), "{there}");
    }
    let no_parent = with(&|job| {
        create(job).foreign_keys =
            vec![inorder_load::ForeignKey::parse("id=there").expect("a key")];
    });
    assert!(no_parent.contains("has no parent"), "{no_parent}");
}
