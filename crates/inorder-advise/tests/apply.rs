//! Changes on copies of small databases.

use std::path::{Path, PathBuf};

use inorder_advise::{Change, Conversion, Error, IdForm, apply};
use rusqlite::Connection;

struct Folder(tempfile::TempDir);

impl Folder {
    fn with(sql: &str) -> Self {
        let folder = Folder(tempfile::tempdir().expect("a folder"));
        let database = Connection::open(folder.before()).expect("a database");
        database.execute_batch(sql).expect("made");
        folder
    }

    fn before(&self) -> PathBuf {
        self.0.path().join("old.db")
    }

    fn after(&self) -> PathBuf {
        self.0.path().join("new.db")
    }

    fn apply(&self, changes: &[Change]) -> Result<Connection, Error> {
        _ = std::fs::remove_file(self.after());
        apply(&self.before(), &self.after(), changes)?;
        let database = Connection::open(self.after()).expect("opened");
        assert_eq!(one(&database, "PRAGMA integrity_check"), "ok");
        Ok(database)
    }

    fn refusal(&self, change: Change) -> String {
        self.apply(&[change]).expect_err("refused").to_string()
    }
}

fn one(database: &Connection, query: &str) -> String {
    let value = database.query_row(query, [], |row| row.get::<_, rusqlite::types::Value>(0));
    match value.expect(query) {
        rusqlite::types::Value::Text(text) => text,
        rusqlite::types::Value::Integer(integer) => integer.to_string(),
        other => format!("{other:?}"),
    }
}

fn schema(path: &Path) -> Vec<(String, String, Option<String>)> {
    let database = Connection::open(path).expect("opened");
    let all = "SELECT type, name, sql FROM sqlite_schema ORDER BY type, name";
    let mut statement = database.prepare(all).expect("prepared");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    rows.expect("read").map(|row| row.expect("a row")).collect()
}

fn table(name: &str) -> String {
    name.to_owned()
}

const PLENTY: &str = "
    PRAGMA page_size = 1024; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA encoding = 'UTF-16le';
    CREATE TABLE doc(slug TEXT PRIMARY KEY, body TEXT NOT NULL, at INT DEFAULT (1 + 1), n AS (length(body)), UNIQUE(slug, at));
    CREATE TABLE ticket(id INTEGER PRIMARY KEY AUTOINCREMENT, owner TEXT);
    CREATE INDEX doc_at ON doc(at) WHERE at > 0;
    CREATE INDEX doc_n ON doc(n, lower(body));
    CREATE VIRTUAL TABLE search USING fts5(body, content='doc', content_rowid='rowid');
    CREATE TRIGGER doc_ai AFTER INSERT ON doc BEGIN INSERT INTO search(rowid, body) VALUES (new.rowid, new.body); END;
    CREATE VIEW heads AS SELECT slug, substr(body, 1, 10) FROM doc;
    CREATE VIRTUAL TABLE area USING rtree(id, x0, x1);
    INSERT INTO area VALUES (1, 2, 3);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
      INSERT INTO doc(slug, body) SELECT 'slug ' || (i * 7919 % 1000), 'word' || i % 10 || ' é' || i FROM n;
    DELETE FROM doc WHERE rowid % 5 = 0;
    INSERT INTO search(search) VALUES ('rebuild');
    INSERT INTO ticket(owner) VALUES ('a'), ('b'); DELETE FROM ticket WHERE id = 2;
    ANALYZE; PRAGMA user_version = 7; PRAGMA application_id = 9;";

#[test]
fn without_changes_everything_is_kept() {
    let folder = Folder::with(PLENTY);
    let new = folder.apply(&[Change::Vacuum]).expect("applied");
    assert_eq!(schema(&folder.before()), schema(&folder.after()));
    for (pragma, value) in [
        ("user_version", "7"),
        ("application_id", "9"),
        ("page_size", "1024"),
        ("auto_vacuum", "2"),
        ("encoding", "UTF-16le"),
    ] {
        assert_eq!(one(&new, &format!("PRAGMA {pragma}")), value);
    }
    assert_eq!(one(&new, "SELECT seq FROM sqlite_sequence"), "2");
    assert_eq!(one(&new, "SELECT max(rowid) FROM doc"), "499");
    assert_eq!(one(&new, "SELECT x1 FROM area"), "Real(3.0)");
    new.execute_batch("INSERT INTO search(search, rank) VALUES ('integrity-check', 1)")
        .expect("the index points at the right rows");
    let old = Connection::open(folder.before()).expect("opened");
    for query in [
        "SELECT group_concat(rowid || slug || body || n) FROM doc",
        "SELECT group_concat(tbl || idx || stat) FROM sqlite_stat1",
    ] {
        assert_eq!(one(&new, query), one(&old, query));
    }
}

#[test]
fn a_constraint_that_another_implies_is_dropped() {
    let folder = Folder::with(PLENTY);
    let columns = vec!["slug".into(), "at".into()];
    let change = Change::DropUnique {
        table: table("doc"),
        columns,
    };
    // The primary key takes NULL, and rows with NULL in it are not kept apart by it.
    assert!(folder.refusal(change).contains("no other key"), "refused");
    let folder =
        Folder::with("CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, o, UNIQUE (id, o))");
    let columns = vec!["ID".into(), "O".into()];
    folder
        .apply(&[Change::DropUnique {
            table: table("T"),
            columns,
        }])
        .expect("applied");
    assert_eq!(schema(&folder.after()).len(), 2);
}

#[test]
fn rowids_that_are_relied_on_keep_a_table_as_it_is() {
    let folder = Folder::with(PLENTY);
    let refusal = folder.refusal(Change::WithoutRowid {
        table: table("DOC"),
    });
    assert!(
        refusal.contains("search uses the rowid of doc"),
        "{refusal}"
    );
    let by = [
        "CREATE VIEW v AS SELECT RowId AS position, k FROM t",
        "CREATE VIEW v AS SELECT \"oid\" FROM t",
        "CREATE TRIGGER g AFTER DELETE ON t BEGIN DELETE FROM u WHERE a = old._rowid_; END",
    ];
    for by in by {
        let folder = Folder::with(&format!(
            "CREATE TABLE t(k TEXT PRIMARY KEY, v); CREATE TABLE u(a); {by}"
        ));
        folder.refusal(Change::WithoutRowid { table: table("t") });
    }
    let harmless = "CREATE TABLE t(k TEXT PRIMARY KEY, v); CREATE TABLE u(a);
        CREATE VIEW v AS SELECT u.rowid, k FROM t, u";
    Folder::with(harmless)
        .apply(&[Change::WithoutRowid { table: table("t") }])
        .expect("the rowid is another's");
}

#[test]
fn layouts_change_and_change_back() {
    let folder = Folder::with(
        "CREATE TABLE t14 (item TEXT NOT NULL, tag TEXT COLLATE NOCASE, x BLOB, PRIMARY KEY(tag DESC, item)) STRICT;
         CREATE INDEX t14_x ON t14(x);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
         INSERT INTO t14 SELECT 'item' || (i * 7 % 1000), 'tag' || i, randomblob(20) FROM n;",
    );
    let forth = folder
        .apply(&[Change::WithoutRowid {
            table: table("t14"),
        }])
        .expect("applied");
    let rows =
        "SELECT group_concat(item || tag || hex(x)) FROM (SELECT * FROM t14 ORDER BY item, tag)";
    let before = one(&Connection::open(folder.before()).expect("opened"), rows);
    assert_eq!(one(&forth, rows), before);
    drop(forth);
    std::fs::copy(folder.after(), folder.before()).expect("copied");
    let back = folder
        .apply(&[Change::Rowid {
            table: table("t14"),
        }])
        .expect("applied");
    assert_eq!(one(&back, rows), before);
    back.execute_batch("INSERT INTO t14(item) VALUES ('a')")
        .expect_err("a key that was never NULL");
}

#[test]
fn nulls_in_a_key_keep_the_rowid() {
    let folder = Folder::with(
        "CREATE TABLE t(a, b, PRIMARY KEY(a, b)); INSERT INTO t VALUES (NULL, 1), (1, 2)",
    );
    let refusal = folder.refusal(Change::WithoutRowid { table: table("t") });
    assert_eq!(
        refusal,
        "make t WITHOUT ROWID: 1 rows have NULL in a, of the key"
    );
}

#[test]
fn integer_keys() {
    for key in [
        "INT PRIMARY KEY",
        "BIGINT NOT NULL PRIMARY KEY ON CONFLICT REPLACE",
        "INTEGER PRIMARY KEY DESC",
    ] {
        let folder = Folder::with(&format!(
            "CREATE TABLE t(id {key}, v); CREATE INDEX v ON t(v);
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)
             INSERT INTO t SELECT i * 7919 % 1000, 'v' || i % 9 FROM n"
        ));
        let change = Change::IntegerPrimaryKey {
            table: table("t"),
            column: "id".into(),
        };
        let new = folder.apply(&[change]).expect("applied");
        assert_eq!(one(&new, "SELECT count(*) FROM t WHERE id = rowid"), "900");
    }
    let folder =
        Folder::with("CREATE TABLE t(id INT PRIMARY KEY); INSERT INTO t VALUES (1), ('x-legacy')");
    let change = Change::IntegerPrimaryKey {
        table: table("t"),
        column: "id".into(),
    };
    assert!(folder.refusal(change).contains("1 rows"));
}

#[test]
fn ids_become_blobs_with_all_that_refer_to_them() {
    let folder = Folder::with(
        "CREATE TABLE p(id CHAR(36) PRIMARY KEY, n); CREATE TABLE c(id INTEGER PRIMARY KEY, p TEXT REFERENCES p);
         CREATE INDEX c_p ON c(p);
         INSERT INTO p VALUES ('0192f0c1-d2e3-7abc-8def-0123456789ab', 1), ('1192f0c1-d2e3-7abc-8def-0123456789ab', 1);
         INSERT INTO c SELECT NULL, id FROM p; INSERT INTO c VALUES (9, NULL);",
    );
    let conversion = |table: &str, column: &str| Conversion {
        table: table.into(),
        column: column.into(),
        form: IdForm::Uuid,
    };
    let half = Change::IdsToBlobs {
        columns: vec![conversion("p", "id")],
    };
    assert!(folder.refusal(half).contains("together"));
    let columns = vec![conversion("p", "id"), conversion("c", "p")];
    let new = folder
        .apply(&[Change::IdsToBlobs {
            columns: columns.clone(),
        }])
        .expect("applied");
    let id = "SELECT hex(p.id) FROM c JOIN p ON p.id = c.p WHERE c.id = 1";
    assert_eq!(one(&new, id), "0192F0C1D2E37ABC8DEF0123456789AB");
    assert_eq!(
        one(&new, "SELECT count(*) FROM pragma_foreign_key_check"),
        "0"
    );
    drop(new);
    let old = Connection::open(folder.before()).expect("opened");
    old.execute_batch("INSERT INTO p VALUES ('admin', 2)")
        .expect("inserted");
    assert!(
        folder
            .refusal(Change::IdsToBlobs { columns })
            .contains("1 rows of p")
    );
}

/// A column that a foreign key or a key names is not a column that a CHECK names.
#[test]
fn ids_become_blobs_unless_a_check_names_them() {
    let table = |check: &str| {
        Folder::with(&format!(
            "CREATE TABLE t(id CHAR(36) PRIMARY KEY, n INT CHECK ({check}), up TEXT REFERENCES t (\"id\"), UNIQUE (up, n));
             INSERT INTO t VALUES ('0192f0c1-d2e3-7abc-8def-0123456789ab', 1, NULL),
                 ('1192f0c1-d2e3-7abc-8def-0123456789ab', 2, '0192f0c1-d2e3-7abc-8def-0123456789ab');"
        ))
    };
    let conversion = |column: &str| Conversion {
        table: "t".into(),
        column: column.into(),
        form: IdForm::Uuid,
    };
    let change = || Change::IdsToBlobs {
        columns: vec![conversion("id"), conversion("up")],
    };
    let new = table("n > 0").apply(&[change()]).expect("applied");
    let joined = "SELECT count(*) FROM t JOIN t p ON p.id = t.up WHERE typeof(t.id) = 'blob'";
    assert_eq!(one(&new, joined), "1");
    let refusal = table("n > 0 AND length(\"ID\") = 36").refusal(change());
    assert!(refusal.contains("may use the text of id"), "{refusal}");
}

#[test]
fn parents_keep_the_index_of_their_key() {
    let folder = Folder::with(
        "CREATE TABLE p(id INTEGER PRIMARY KEY, code TEXT NOT NULL, region TEXT NOT NULL);
         CREATE UNIQUE INDEX code ON p(code); CREATE UNIQUE INDEX both ON p(code, region);
         CREATE TABLE c(code, region, FOREIGN KEY(code, region) REFERENCES p(code, region));",
    );
    let refusal = folder.refusal(Change::DropIndex {
        index: "both".into(),
    });
    assert!(refusal.contains("foreign key mismatch"), "{refusal}");
    let refusal = folder.refusal(Change::DropIndex {
        index: "code".into(),
    });
    assert!(refusal.contains("no other key"), "{refusal}");
}

#[test]
fn an_index_that_says_abort_stays_beside_a_key_that_says_replace() {
    let folder = Folder::with(
        "CREATE TABLE t(k TEXT NOT NULL PRIMARY KEY ON CONFLICT REPLACE, v); CREATE UNIQUE INDEX i ON t(k)",
    );
    assert!(
        folder
            .refusal(Change::DropIndex { index: "i".into() })
            .contains("on conflict")
    );
}

#[test]
fn indexes_are_dropped_or_made_partial() {
    let folder = Folder::with(
        "CREATE TABLE t(a, b); CREATE INDEX i ON t(a); CREATE INDEX j ON t(b); INSERT INTO t VALUES (NULL, 1), (2, 2);",
    );
    let changes = [
        Change::PartialIndex {
            index: "i".into(),
            column: "a".into(),
        },
        Change::DropIndex { index: "j".into() },
        Change::PageSize { bytes: 8192 },
    ];
    let new = folder.apply(&changes).expect("applied");
    assert_eq!(
        one(&new, "SELECT sql FROM sqlite_schema WHERE name = 'i'"),
        "CREATE INDEX i ON t(a) WHERE \"a\" IS NOT NULL"
    );
    assert_eq!(one(&new, "SELECT count(*) FROM sqlite_schema"), "2");
    assert_eq!(one(&new, "PRAGMA page_size"), "8192");
    let used = folder.apply(&[Change::DropIndex { index: "j".into() }]);
    drop(used.expect("applied"));
    let old = Connection::open(folder.before()).expect("opened");
    old.execute_batch("CREATE VIEW v AS SELECT a FROM t INDEXED BY j WHERE b = 1")
        .expect("made");
    assert!(
        folder
            .refusal(Change::DropIndex { index: "j".into() })
            .contains("breaks")
    );
}

/// A database in WAL mode is copied by statements.
#[test]
fn a_view_alone_is_copied_in_its_encoding() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (folder.path().join("old.db"), folder.path().join("new.db"));
    let connection = Connection::open(&old).unwrap();
    connection
        .execute_batch("PRAGMA encoding = 'UTF-16le'; PRAGMA journal_mode = WAL; CREATE VIEW v AS SELECT 'ä' AS a")
        .unwrap();
    drop(connection);
    apply(&old, &new, &[]).unwrap();
    let connection = Connection::open(&new).unwrap();
    let text = |sql: &str| {
        connection
            .query_row(sql, (), |row| row.get::<_, String>(0))
            .unwrap()
    };
    assert_eq!(text("SELECT a FROM v"), "ä");
    assert_eq!(text("PRAGMA encoding"), "UTF-16le");
}

#[test]
fn what_later_inserts_store_keeps_a_table_without_rowid() {
    let key = "CREATE TABLE t(id INTEGER PRIMARY KEY DEFAULT (abs(random())), body) WITHOUT ROWID";
    let folder = Folder::with(key);
    let refusal = folder.refusal(Change::Rowid { table: table("t") });
    assert!(refusal.contains("DEFAULT"), "{refusal}");
    let tables = "CREATE TABLE p(id INTEGER PRIMARY KEY, a); CREATE TABLE w(k TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID;
        CREATE TABLE c(p); CREATE VIEW v AS SELECT a FROM p;";
    let last = "INSERT INTO c VALUES (last_insert_rowid());";
    for triggers in [
        format!("CREATE TRIGGER g INSTEAD OF INSERT ON v BEGIN INSERT INTO p(a) VALUES (1); INSERT INTO w VALUES (2); {last} END"),
        format!("CREATE TRIGGER g AFTER INSERT ON w BEGIN {last} END"),
        // The value is read by a trigger that doesn't name the table.
        "CREATE TRIGGER g INSTEAD OF INSERT ON v BEGIN INSERT INTO w VALUES (2); INSERT INTO c VALUES (1); END;
         CREATE TRIGGER h AFTER INSERT ON c BEGIN UPDATE p SET a = last_insert_rowid(); END".to_owned(),
        "ALTER TABLE c ADD COLUMN last; DROP TABLE c; CREATE TABLE c(p, last DEFAULT (last_insert_rowid()));
         CREATE TRIGGER g INSTEAD OF INSERT ON v BEGIN INSERT INTO w VALUES (2); INSERT INTO c(p) VALUES (1); END".to_owned(),
    ] {
        let folder = Folder::with(&format!("{tables} {triggers}"));
        let refusal = folder.refusal(Change::Rowid { table: table("w") });
        assert!(refusal.contains("last_insert_rowid"), "{refusal}");
    }
    let other = format!("{tables} CREATE TRIGGER g AFTER INSERT ON p BEGIN {last} END");
    let folder = Folder::with(&other);
    let made = folder.apply(&[Change::Rowid { table: table("w") }]);
    made.expect("no trigger writes it");
}

#[test]
fn statistics_follow_their_index_to_its_new_name() {
    for mode in ["DELETE", "WAL"] {
        let folder = Folder::with(&format!(
            "PRAGMA journal_mode = {mode};
             CREATE TABLE t(id INT PRIMARY KEY, owner, kind, day, UNIQUE(kind, owner)); CREATE INDEX tday ON t(day);
             CREATE INDEX tkind ON t(kind);
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)
               INSERT INTO t SELECT i, 'owner' || i, i % 3, i % 50 FROM n; ANALYZE"
        ));
        let changes = [
            Change::IntegerPrimaryKey {
                table: table("t"),
                column: table("id"),
            },
            Change::DropIndex {
                index: table("tkind"),
            },
        ];
        let new = folder.apply(&changes).expect("applied");
        let all = "SELECT group_concat(idx || ' ' || stat, '; ') FROM (SELECT * FROM sqlite_stat1 ORDER BY idx)";
        let wanted = "sqlite_autoindex_t_1 900 300 1; tday 900 18";
        assert_eq!(one(&new, all), wanted, "{mode}");
    }
}
