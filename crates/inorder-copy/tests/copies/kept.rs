//! Defaults, constraints, indexes and generated columns: verbatim within an engine, translated between engines, or listed.

use super::edges::{file_with, run_all, told};
use super::{File, assert_told, copy, start};

/// What PostgreSQL has beyond columns, keys and plain indexes.
const BEYOND: &[&str] = &[
    "CREATE TABLE t (id int, a int, b text, n numeric(10,2) CHECK (n > 0), r int4range,
        twice int GENERATED ALWAYS AS (a * 2) STORED, PRIMARY KEY (id) DEFERRABLE INITIALLY DEFERRED,
        CONSTRAINT one UNIQUE (b) DEFERRABLE, CONSTRAINT apart EXCLUDE USING gist (r WITH &&))",
    "CREATE INDEX part ON t (a) WHERE b <> ''",
    "CREATE UNIQUE INDEX folded ON t (lower(b))",
    "CREATE INDEX more ON t (a) INCLUDE (b)",
    "CREATE INDEX hashed ON t USING hash (b)",
    "ALTER TABLE t ADD CONSTRAINT late CHECK (a < 100) NOT VALID",
    "INSERT INTO t(id, a, b, n, r) VALUES (1, 5, 'x', 1, '[1,3)'), (2, 6, 'y', 2, '[3,5)')",
];

/// The same of PostgreSQL 18.
const BEYOND_18: &[&str] = &[
    "CREATE TABLE stay (room int4range, at daterange, PRIMARY KEY (room, at WITHOUT OVERLAPS))",
    "CREATE TABLE guest (id int PRIMARY KEY, room int4range, at daterange,
        FOREIGN KEY (room, PERIOD at) REFERENCES stay (room, PERIOD at))",
    "CREATE TABLE loose (id int PRIMARY KEY, a int, CONSTRAINT hope CHECK (a > 0) NOT ENFORCED, p int,
        v int GENERATED ALWAYS AS (a + 1) VIRTUAL, CONSTRAINT trust FOREIGN KEY (p) REFERENCES loose NOT ENFORCED)",
    "INSERT INTO stay VALUES ('[1,2)', '[2024-01-01,2024-02-01)')",
    "INSERT INTO guest VALUES (1, '[1,2)', '[2024-01-05,2024-01-07)')",
    "INSERT INTO loose(id, a, p) VALUES (1, -1, 99)",
];

#[test]
fn constraints_and_indexes_are_verbatim_between_databases_of_postgres() {
    let (Some(from), Some(to)) = (start("postgres"), start("postgres")) else {
        return;
    };
    run_all(&from, BEYOND);
    let is_18 = from.rows("SELECT current_setting('server_version_num')::int >= 180000") == ["t"];
    if is_18 {
        run_all(&from, BEYOND_18);
    }
    let summary = copy(&from.url(), &to.url()).expect("a copy");
    let is_lost = |note: &&String| !note.contains("extension");
    let lost: Vec<&String> = summary.notes.iter().filter(is_lost).collect();
    assert!(lost.is_empty() && summary.script.is_empty(), "{lost:?}");
    for sql in [
        "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 'n' ORDER BY 1",
        "SELECT substr(indexdef, strpos(indexdef, 'USING')) FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1",
        "SELECT attrelid::regclass, attname, attgenerated, pg_get_expr(adbin, adrelid) FROM pg_attrdef
             JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum ORDER BY 1::text, 2",
    ] {
        assert_eq!(to.rows(sql), from.rows(sql), "{sql}");
    }
    to.run("INSERT INTO t(id, a, b, n) VALUES (3, 7, 'z', 1)");
    assert_eq!(to.rows("SELECT twice FROM t WHERE id = 3"), ["14"]);

    let file = File::new();
    let summary = copy(&from.url(), &file.name()).expect("a copy to SQLite");
    for what in [
        "apart EXCLUDE",
        "one UNIQUE (b) DEFERRABLE",
        "late",
        "t_hashed",
        "t_more",
    ] {
        let is_listed = summary.notes.iter().any(|note| note.contains(what))
            || summary.script.iter().any(|ddl| ddl.contains(what));
        assert!(is_listed, "{what}: {:?}", summary.notes);
    }
    assert_told(&summary, &["twice", "PRIMARY KEY (id) DEFERRABLE"]);
    let kept = "SELECT group_concat(name) FROM (SELECT name FROM sqlite_schema WHERE sql LIKE '%INDEX%' ORDER BY 1)";
    assert_eq!(file.rows(kept), ["t_folded,t_part"]);
    let db = rusqlite::Connection::open(file.path()).expect("the copy");
    db.execute("INSERT INTO t(id, n) VALUES (9, 0)", [])
        .expect_err("a CHECK");
    db.execute("INSERT INTO t(id, n, b) VALUES (9, 1, 'X')", [])
        .expect_err("a unique index");
    if is_18 {
        assert_told(
            &summary,
            &["WITHOUT OVERLAPS", "without PERIOD", "NOT ENFORCED"],
        );
    }
}

#[test]
fn tables_are_verbatim_between_files_of_sqlite() {
    let from = file_with(
        "CREATE TABLE p (k TEXT PRIMARY KEY COLLATE NOCASE, n INT CHECK (n > 0 AND k <> 'check'), made TEXT DEFAULT CURRENT_TIMESTAMP) WITHOUT ROWID;
         CREATE TABLE t (id INTEGER PRIMARY KEY, k TEXT REFERENCES p DEFERRABLE INITIALLY DEFERRED, a INT DEFAULT (1 + 2),
             twice INT GENERATED ALWAYS AS (a * 2) STORED, thrice AS (a * 3), UNIQUE (k, a) ON CONFLICT IGNORE);
         CREATE TABLE s (i INT, t TEXT, x ANY) STRICT;
         CREATE INDEX part ON t(a) WHERE k <> ''; CREATE UNIQUE INDEX folded ON t(lower(k), id DESC); CREATE INDEX by_n ON p(n COLLATE BINARY);
         CREATE VIEW v AS SELECT 1; CREATE TRIGGER g AFTER INSERT ON s BEGIN SELECT 1; END;
         INSERT INTO p(k, n) VALUES ('a', 1), ('b', 2); INSERT INTO t(id, k, a) VALUES (1, 'a', 5), (2, 'b', 6); INSERT INTO s VALUES (1, '1', x'00')",
    );
    let to = File::new();
    let summary = copy(&from.name(), &to.name()).expect("a copy");
    assert_eq!(
        told(&summary, "not copied"),
        ["not copied: trigger g", "not copied: view v"]
    );
    assert!(
        summary
            .script
            .concat()
            .contains("CREATE VIEW v AS SELECT 1;")
    );
    let all = "SELECT type, name, sql FROM sqlite_schema WHERE type IN ('table', 'index') ORDER BY type, name";
    assert_eq!(to.rows(all), from.rows(all));
    for table in ["p", "s", "t"] {
        let rows = format!("SELECT * FROM {table} ORDER BY 1");
        assert_eq!(to.rows(&rows), from.rows(&rows));
    }
    assert_eq!(to.rows("PRAGMA integrity_check"), ["ok"]);
}

#[test]
fn virtual_tables_are_named_without_their_shadow_tables() {
    let from = file_with(
        "CREATE VIRTUAL TABLE words USING fts5(body); CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1);
         INSERT INTO words VALUES ('one'); INSERT INTO boxes VALUES (1, 0, 1);
         CREATE TABLE words_of_mine (id INTEGER PRIMARY KEY)",
    );
    let names = |summary: &inorder_copy::Summary| -> Vec<String> {
        let tables = summary.tables.iter();
        tables.map(|table| table.name.clone()).collect()
    };
    let summary = copy(&from.name(), &File::new().name()).expect("a copy");
    assert_eq!(names(&summary), ["words_of_mine"]);
    assert_told(
        &summary,
        &[
            "not copied: virtual table words (fts5) and its shadow tables",
            "not copied: virtual table boxes (rtree) and its shadow tables",
        ],
    );
    assert!(
        summary
            .script
            .concat()
            .contains("CREATE VIRTUAL TABLE words USING fts5(body);")
    );
    let Some(server) = start("postgres") else {
        return;
    };
    let summary = copy(&from.name(), &server.url()).expect("a copy");
    assert_eq!(names(&summary), ["words_of_mine"]);
}

/// A default of SQLite, and whether a new row of PostgreSQL has it.
const OF_SQLITE: &[(&str, &str, &str)] = &[
    (
        "datetime",
        "CURRENT_TIMESTAMP",
        "abs(extract(epoch FROM c - timezone('utc', now()))) < 60",
    ),
    (
        "timestamptz",
        "CURRENT_TIMESTAMP",
        "abs(extract(epoch FROM c - now())) < 60",
    ),
    ("date", "CURRENT_DATE", "c = timezone('utc', now())::date"),
    ("date", "(date('now'))", "c = timezone('utc', now())::date"),
    ("time", "CURRENT_TIME", "c IS NOT NULL"),
    (
        "text",
        "CURRENT_TIMESTAMP",
        "c ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}$'",
    ),
    ("text", "(datetime('now'))", "length(c) = 19"),
    ("decimal(10,2)", "1.50", "c = 1.5"),
    ("boolean", "1", "c"),
    ("boolean", "false", "NOT c"),
    ("integer", "(1 + 2)", "c = 3"),
    ("text", "('a' || 'b')", "c = 'ab'"),
    ("text", "'it''s'", "c = 'it''s'"),
    ("json", "'{}'", "c::text = '{}'"),
    ("date", "'2024-01-01'", "c = '2024-01-01'"),
    ("blob", "x'00ff'", "c = '\\x00ff'"),
];

/// A default of PostgreSQL, and what a new row of SQLite has.
const OF_POSTGRES: &[(&str, &str, &str)] = &[
    (
        "timestamptz",
        "now()",
        "abs(julianday(c) - julianday('now')) < 0.01 AND length(c) = 19",
    ),
    (
        "timestamp",
        "(now() AT TIME ZONE 'utc')",
        "abs(julianday(c) - julianday('now')) < 0.01",
    ),
    ("date", "CURRENT_DATE", "c = date('now')"),
    (
        "uuid",
        "gen_random_uuid()",
        "length(c) = 36 AND substr(c, 15, 1) = '4' AND c = lower(c)",
    ),
    ("boolean", "true", "c = 1 AND typeof(c) = 'integer'"),
    ("text", "'it''s'", "c = 'it''s'"),
    ("varchar(10)", "'x'", "c = 'x'"),
    ("int", "-5", "c = -5"),
    ("numeric(10,2)", "0.50", "c = 0.5 AND typeof(c) = 'real'"),
    ("jsonb", "'{}'", "c = '{}'"),
    ("text[]", "'{}'", "c = '{}'"),
    ("date", "'2024-01-01'", "c = '2024-01-01'"),
    (
        "timestamptz",
        "'2024-01-01 10:00:00+02'",
        "datetime(c) = '2024-01-01 08:00:00'",
    ),
    ("bytea", "'\\x00ff'", "hex(c) = '00FF'"),
    ("text", "lower('A')", "c = 'a'"),
];

#[test]
fn defaults_are_those_of_the_other_database() {
    let (Some(server), Some(maria), Some(to)) =
        (start("postgres"), start("mariadb"), start("postgres"))
    else {
        return;
    };
    let mut sql = String::new();
    for (at, (ty, default, _)) in OF_SQLITE.iter().enumerate() {
        sql += &format!("CREATE TABLE t{at} (id INTEGER PRIMARY KEY, c {ty} DEFAULT {default});");
    }
    let summary = copy(&file_with(&sql).name(), &server.url()).expect("a copy to PostgreSQL");
    assert!(summary.notes.is_empty(), "{:?}", summary.notes);
    for (at, (ty, default, is_kept)) in OF_SQLITE.iter().enumerate() {
        server.run(&format!("INSERT INTO t{at}(id) VALUES (1)"));
        let found = server.rows(&format!("SELECT {is_kept} FROM t{at}"));
        assert_eq!(found, ["t"], "{ty} {default}");
        server.run(&format!("DROP TABLE t{at}"));
    }

    for (at, (ty, default, _)) in OF_POSTGRES.iter().enumerate() {
        server.run(&format!(
            "CREATE TABLE t{at} (id int PRIMARY KEY, c {ty} DEFAULT {default})"
        ));
    }
    server.run("CREATE TABLE other (id int PRIMARY KEY, c int DEFAULT pg_backend_pid())");
    let file = File::new();
    let summary = copy(&server.url(), &file.name()).expect("a copy to SQLite");
    assert_eq!(
        told(&summary, "DEFAULT"),
        ["table other: column `c`: not copied: DEFAULT pg_backend_pid()"]
    );
    assert!(
        summary.script.concat().contains("DEFAULT pg_backend_pid()"),
        "{:?}",
        summary.script
    );
    let db = rusqlite::Connection::open(file.path()).expect("the copy");
    for (at, (ty, default, is_kept)) in OF_POSTGRES.iter().enumerate() {
        db.execute(&format!("INSERT INTO t{at}(id) VALUES (1)"), [])
            .expect("a row");
        let found = file.rows(&format!("SELECT {is_kept} FROM t{at}"));
        assert_eq!(found, ["1"], "{ty} {default}");
    }

    maria.run(
        "CREATE TABLE t (id int PRIMARY KEY, m datetime DEFAULT current_timestamp(), d date DEFAULT curdate(), u uuid DEFAULT uuid(),
             n int DEFAULT (1 + 2), x varchar(9) DEFAULT 'x')",
    );
    for to_name in [to.url(), File::new().name()] {
        let summary = copy(&maria.url(), &to_name).expect("a copy of MariaDB");
        assert_eq!(told(&summary, "DEFAULT"), Vec::<&String>::new());
    }
    to.run("INSERT INTO t(id) VALUES (1)");
    assert_eq!(
        to.rows("SELECT m IS NOT NULL, d = current_date, length(u::text), n, x FROM t"),
        ["t|t|36|3|x"]
    );
}

#[test]
fn checks_keep_their_meaning_or_are_listed() {
    let (Some(maria), Some(to)) = (start("mariadb"), start("postgres")) else {
        return;
    };
    run_all(
        &maria,
        &[
            "CREATE TABLE t (id int PRIMARY KEY, s varchar(9) COLLATE utf8mb4_general_ci CHECK (s IN ('new', 'Old')),
                 b varchar(9) COLLATE utf8mb4_bin CHECK (b <> 'B'), n int CHECK (n BETWEEN 1 AND 9), r varchar(9) CHECK (r REGEXP '^x')) DEFAULT CHARSET utf8mb4",
            "INSERT INTO t VALUES (1, 'NEW', 'b', 1, 'x'), (2, 'old', 'a', 9, 'x')",
        ],
    );
    let file = File::new();
    let db = || rusqlite::Connection::open(file.path()).expect("the copy");
    for to_name in [to.url(), file.name()] {
        let summary = copy(&maria.url(), &to_name).expect("a copy");
        let notes = told(&summary, "not copied: CHECK");
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(notes[0].contains("regexp"), "{notes:?}");
        assert!(summary.script.concat().contains("regexp"));
    }
    for (insert, is_taken) in [
        ("(3, 'NeW', 'b', 1)", true),
        ("(4, 'other', 'b', 1)", false),
        ("(5, 'new', 'B', 1)", false),
        ("(6, 'new', 'b', 10)", false),
    ] {
        let sql = format!("INSERT INTO t(id, s, b, n) VALUES {insert}");
        assert_eq!(to.database.execute(&sql).is_ok(), is_taken, "{insert}");
        assert_eq!(db().execute(&sql, []).is_ok(), is_taken, "{insert}");
    }

    let from = file_with(
        "CREATE TABLE c (id INTEGER PRIMARY KEY, n INT CHECK (n > 0), s TEXT, flag boolean CHECK (flag IN (0, 1)),
             CONSTRAINT named CHECK (length(s) < 5 OR s = 'a long one'), CHECK (s NOT LIKE 'x%'));
         CREATE INDEX part ON c(n) WHERE s <> ''; CREATE UNIQUE INDEX folded ON c(lower(s)); INSERT INTO c VALUES (1, 1, 'a', 1)",
    );
    let summary = copy(&from.name(), &to.url()).expect("a copy of SQLite");
    let notes = told(&summary, "not copied");
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].contains("s NOT LIKE 'x%'"), "{notes:?}");
    for (insert, is_taken) in [
        ("(2, 0, 'b')", false),
        ("(3, 1, 'much too long')", false),
        ("(4, 1, 'a long one')", true),
        ("(5, 1, 'A')", false),
    ] {
        let sql = format!("INSERT INTO c(id, n, s) VALUES {insert}");
        assert_eq!(to.database.execute(&sql).is_ok(), is_taken, "{insert}");
    }
}
