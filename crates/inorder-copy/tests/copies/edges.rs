//! Schemas that one database has and another has not, or has in another way.

use inorder_copy::Summary;
use inorder_testing::PrivateServer;

use super::{File, assert_told, copy, start};

pub fn run_all(server: &PrivateServer, statements: &[&str]) {
    for sql in statements {
        server.run(sql);
    }
}

/// An SQLite database with these tables and rows.
pub fn file_with(sql: &str) -> File {
    let file = File::new();
    let db = rusqlite::Connection::open(file.path()).expect("a database");
    db.execute_batch(&format!("PRAGMA foreign_keys = OFF; {sql}"))
        .expect("made");
    file
}

/// Notes that contain a word.
pub fn told<'a>(summary: &'a Summary, word: &str) -> Vec<&'a String> {
    let notes = summary.notes.iter();
    notes.filter(|note| note.contains(word)).collect()
}

#[test]
fn a_parent_has_no_rows_of_tables_that_inherit_from_it() {
    let (Some(from), Some(to)) = (start("postgres"), start("postgres")) else {
        return;
    };
    run_all(
        &from,
        &[
            "CREATE TABLE parent (id int PRIMARY KEY, t text)",
            "CREATE TABLE child (extra int) INHERITS (parent)",
            "INSERT INTO parent VALUES (1, 'a')",
            "INSERT INTO child VALUES (1, 'b', 2)",
            "CREATE TABLE parts (id int PRIMARY KEY) PARTITION BY RANGE (id)",
            "CREATE TABLE part PARTITION OF parts FOR VALUES FROM (0) TO (10)",
            "INSERT INTO parts VALUES (5)",
        ],
    );
    let file = File::new();
    copy(&from.url(), &file.name()).expect("a copy to SQLite");
    let summary = copy(&from.url(), &to.url()).expect("a copy");
    assert_told(
        &summary,
        &["table child: not copied: its inheritance from parent"],
    );
    for rows in [
        |sql: &str, to: &PrivateServer, _: &File| to.rows(sql),
        |sql: &str, _: &PrivateServer, file: &File| file.rows(sql),
    ] {
        assert_eq!(rows("SELECT id, t FROM parent", &to, &file), ["1|a"]);
        assert_eq!(
            rows("SELECT id, t, extra FROM child", &to, &file),
            ["1|b|2"]
        );
        assert_eq!(rows("SELECT id FROM parts", &to, &file), ["5"]);
    }
}

#[test]
fn unsigned_counters_of_mariadb_are_bigint_if_their_values_fit() {
    let (Some(from), Some(to)) = (start("mariadb"), start("postgres")) else {
        return;
    };
    run_all(
        &from,
        &[
            "CREATE TABLE users (id bigint unsigned AUTO_INCREMENT PRIMARY KEY, other bigint unsigned)",
            "CREATE TABLE posts (id bigint unsigned AUTO_INCREMENT PRIMARY KEY, user_id bigint unsigned, FOREIGN KEY (user_id) REFERENCES users(id))",
            "CREATE TABLE profiles (user_id bigint unsigned PRIMARY KEY, FOREIGN KEY (user_id) REFERENCES users(id))",
            "CREATE TABLE photos (id int PRIMARY KEY, profile bigint unsigned, FOREIGN KEY (profile) REFERENCES profiles(user_id))",
            "CREATE TABLE roles (id bigint unsigned PRIMARY KEY)",
            "CREATE TABLE grants (id bigint unsigned AUTO_INCREMENT PRIMARY KEY, FOREIGN KEY (id) REFERENCES roles(id))",
            "CREATE TABLE large (id bigint unsigned AUTO_INCREMENT PRIMARY KEY)",
            "INSERT INTO users VALUES (7, 18446744073709551615)",
            "INSERT INTO posts VALUES (1, 7)",
            "INSERT INTO profiles VALUES (7)",
            "INSERT INTO photos VALUES (1, 7)",
            "INSERT INTO large VALUES (18446744073709551000)",
        ],
    );
    let summary = copy(&from.url(), &to.url()).expect("a copy");
    assert_told(
        &summary,
        &["table large: column `id`: not copied: its counter"],
    );
    let types = "SELECT relname, attname FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        WHERE atttypid = 'bigint'::regtype AND attnum > 0 AND relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1, 2";
    assert_eq!(
        to.rows(types),
        [
            "grants|id",
            "photos|profile",
            "posts|id",
            "posts|user_id",
            "profiles|user_id",
            "roles|id",
            "users|id"
        ]
    );
    to.run("INSERT INTO users(other) VALUES (1)");
    assert_eq!(to.rows("SELECT max(id) FROM users"), ["8"]);
    let orphan = "INSERT INTO photos VALUES (2, 9)";
    to.database.execute(orphan).expect_err("a foreign key");

    let file = File::new();
    let summary = copy(&from.url(), &file.name()).expect("a copy to SQLite");
    assert_eq!(told(&summary, "counter").len(), 1, "{:?}", summary.notes);
    assert_eq!(
        file.rows("INSERT INTO users(other) VALUES ('1') RETURNING id, typeof(id)"),
        ["8|integer"]
    );
}

/// Columns that count in ways of their own.
const COUNTERS: &[&str] = &[
    "CREATE SEQUENCE s START 5",
    "CREATE TABLE loose (id int DEFAULT nextval('s') PRIMARY KEY)",
    "INSERT INTO loose DEFAULT VALUES",
    "INSERT INTO loose DEFAULT VALUES",
    "CREATE TABLE late (id int DEFAULT nextval('s'::text::regclass) PRIMARY KEY, n int DEFAULT nextval(('s'::text)::regclass))",
    "INSERT INTO late VALUES (3, 4)",
    "CREATE TABLE tens (id int GENERATED BY DEFAULT AS IDENTITY (START 10 INCREMENT 10) PRIMARY KEY, n int)",
    "INSERT INTO tens(n) VALUES (1), (2)",
    "CREATE TABLE down (id bigint GENERATED BY DEFAULT AS IDENTITY (INCREMENT -1) PRIMARY KEY, n int)",
    "INSERT INTO down(n) VALUES (1)",
    "CREATE TABLE nullable (n int DEFAULT nextval('s'), m numeric(9) DEFAULT nextval('s') NOT NULL)",
    "INSERT INTO nullable VALUES (NULL, 3)",
    "CREATE SEQUENCE round MAXVALUE 3 CYCLE",
    "CREATE TABLE cycle (id int DEFAULT nextval('round') NOT NULL)",
    "CREATE TABLE used (id smallint GENERATED BY DEFAULT AS IDENTITY, n int, PRIMARY KEY (id) DEFERRABLE)",
    "INSERT INTO used VALUES (1, 1)",
    "SELECT setval('used_id_seq', 32767)",
    "CREATE TABLE parts (n serial) PARTITION BY RANGE (n)",
    "CREATE TABLE part PARTITION OF parts DEFAULT",
    "INSERT INTO cycle SELECT FROM generate_series(1, 3)",
];

#[test]
fn sequences_continue_in_the_copy() {
    let (Some(from), Some(to)) = (start("postgres"), start("postgres")) else {
        return;
    };
    run_all(&from, COUNTERS);
    let summary = copy(&from.url(), &to.url()).expect("a copy");
    assert_told(
        &summary,
        &["column `id`: other columns have numbers of its sequence public.s"],
    );
    assert_told(
        &summary,
        &["table used: column `id`: its counter does not continue with 32768"],
    );
    assert_eq!(told(&summary, "parts_n_seq"), Vec::<&String>::new());
    let used_up = "INSERT INTO used(n) VALUES (2)";
    let error = to.database.execute(used_up).expect_err("no further number");
    assert!(error.to_string().contains("maximum"), "{error}");
    for (insert, rows, expected) in [
        ("loose DEFAULT VALUES", "SELECT max(id) FROM loose", "7"),
        (
            "late DEFAULT VALUES",
            "SELECT id, n FROM late WHERE id > 3",
            "4|5",
        ),
        ("tens(n) VALUES (3), (4)", "SELECT max(id) FROM tens", "40"),
        ("down(n) VALUES (3), (4)", "SELECT min(id) FROM down", "-3"),
        (
            "nullable DEFAULT VALUES",
            "SELECT n = m, m FROM nullable WHERE n IS NOT NULL",
            "t|7",
        ),
        (
            "cycle DEFAULT VALUES",
            "SELECT count(*), min(id), max(id) FROM cycle",
            "4|1|3",
        ),
    ] {
        to.run(&format!("INSERT INTO {insert}"));
        assert_eq!(to.rows(rows), [expected], "{insert}");
    }
    let ty = "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'nullable'::regclass AND attname = 'm'";
    assert_eq!(to.rows(ty), ["numeric(9,0)"]);

    let file = File::new();
    let summary = copy(&from.url(), &file.name()).expect("a copy to SQLite");
    assert_told(
        &summary,
        &[
            "table nullable: column `n`: not copied: its counter",
            "table nullable: column `m`: not copied: its counter",
            "table tens: column `id`: its counter continues by 1, not by INCREMENT BY 10",
        ],
    );
}

#[test]
fn defaults_that_the_destination_refuses_are_listed() {
    let (Some(maria), Some(from), Some(to)) =
        (start("mariadb"), start("postgres"), start("postgres"))
    else {
        return;
    };
    let file = file_with(
        "CREATE TABLE lite (i INTEGER DEFAULT '', n REAL DEFAULT nan, f DEFAULT inf, t TEXT DEFAULT 'kept');
         INSERT INTO lite VALUES (1, 2.5, 3, 'x')",
    );
    let summary = copy(&file.name(), &to.url()).expect("a copy of SQLite");
    assert_told(
        &summary,
        &[
            "column `i`: not copied: DEFAULT ''",
            "DEFAULT nan",
            "DEFAULT inf",
        ],
    );
    to.run("INSERT INTO lite DEFAULT VALUES");
    assert_eq!(
        to.rows("SELECT i, n, f, t FROM lite WHERE i IS NULL"),
        ["NULL|NULL|NULL|kept"]
    );

    maria.run("SET sql_mode = ''");
    maria.run("CREATE TABLE dates (d datetime DEFAULT '2000-00-00', n int DEFAULT 5)");
    let summary = copy(&maria.url(), &to.url()).expect("a copy of MariaDB");
    assert_told(&summary, &["column `d`: not copied: DEFAULT '2000-00-00"]);
    to.run("INSERT INTO dates DEFAULT VALUES");
    assert_eq!(to.rows("SELECT d, n FROM dates"), ["NULL|5"]);

    run_all(
        &from,
        &[
            "CREATE FUNCTION own() RETURNS int LANGUAGE sql AS 'SELECT 1'",
            "CREATE SEQUENCE s",
            "CREATE TYPE mood AS ENUM ('sad', 'happy')",
            "CREATE TABLE calls (a int DEFAULT own(), t text DEFAULT 'A' || nextval('s'), m mood DEFAULT 'sad', n int DEFAULT 6)",
        ],
    );
    let summary = copy(&from.url(), &to.url()).expect("a copy of PostgreSQL");
    assert_told(&summary, &["own()", "nextval", "'sad'::"]);
    to.run("INSERT INTO calls DEFAULT VALUES");
    assert_eq!(
        to.rows("SELECT a, t, m, n FROM calls"),
        ["NULL|NULL|NULL|6"]
    );
}

#[test]
fn defaults_keep_their_bytes_and_zeros() {
    let (Some(from), Some(to)) = (start("mariadb"), start("postgres")) else {
        return;
    };
    from.run(
        "CREATE TABLE t (id int PRIMARY KEY, v varbinary(2) DEFAULT 0xff, w binary(3) DEFAULT 'ab', b blob DEFAULT 0x00ff,
             q varbinary(3) NOT NULL DEFAULT 'a''b', d decimal(5,2) DEFAULT 1.50)",
    );
    copy(&from.url(), &to.url()).expect("a copy");
    to.run("INSERT INTO t(id) VALUES (1)");
    assert_eq!(
        to.rows("SELECT v, w, b, q, d FROM t"),
        ["\\xff|\\x616200|\\x00ff|\\x612762|1.50"]
    );
    let file = File::new();
    copy(&from.url(), &file.name()).expect("a copy to SQLite");
    assert_eq!(
        file.rows(
            "INSERT INTO t(id) VALUES (1) RETURNING hex(v), typeof(v), hex(w), hex(b), hex(q), d"
        ),
        ["FF|blob|616200|00FF|612762|1.5"]
    );
}

#[test]
fn rows_without_a_parent_are_no_reason_to_fail() {
    let Some(to) = start("postgres") else { return };
    let from = file_with(
        "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (id INTEGER PRIMARY KEY, pid INTEGER REFERENCES p(id));
         INSERT INTO p VALUES (1); INSERT INTO c VALUES (1, 1), (2, 5)",
    );
    let beside = file_with(
        "CREATE TABLE q (id INTEGER PRIMARY KEY); CREATE TABLE beside (q INTEGER REFERENCES q(id)); INSERT INTO beside VALUES (9)",
    );
    let summary = copy(&from.name(), &beside.name()).expect("a copy to SQLite");
    assert_eq!(
        told(&summary, "parent"),
        ["table c: 1 rows have no parent in p"]
    );
    let summary = copy(&from.name(), &to.url()).expect("a copy");
    assert_told(
        &summary,
        &["table c: the foreign key c_fk0 to p is NOT VALID"],
    );
    let orphan = "INSERT INTO c VALUES (3, 6)";
    to.database.execute(orphan).expect_err("a foreign key");

    let Some(again) = start("postgres") else {
        return;
    };
    to.run("ALTER TABLE c ADD CONSTRAINT small CHECK (id < 2) NOT VALID");
    copy(&to.url(), &again.url()).expect("a copy of the copy");
    let constraints = "SELECT conname, convalidated FROM pg_constraint WHERE conrelid = 'c'::regclass AND contype <> 'p' ORDER BY 1";
    assert_eq!(again.rows(constraints), ["c_fk0|f", "small|f"]);
}

#[test]
fn columns_without_values_have_the_type_of_their_parent() {
    let Some(to) = start("postgres") else { return };
    let from = file_with(
        "CREATE TABLE Users (Id INTEGER PRIMARY KEY);
         CREATE TABLE middle (pid NUMERIC PRIMARY KEY REFERENCES users(ID));
         CREATE TABLE leaf (id INTEGER PRIMARY KEY, pid NUMERIC REFERENCES MIDDLE);
         INSERT INTO Users VALUES (1); INSERT INTO leaf VALUES (1, NULL)",
    );
    let summary = copy(&from.name(), &to.url()).expect("a copy");
    assert_eq!(told(&summary, "foreign key"), Vec::<&String>::new());
    let keys = "SELECT conrelid::regclass, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'f' ORDER BY 1::text";
    assert_eq!(
        to.rows(keys),
        [
            "leaf|FOREIGN KEY (pid) REFERENCES middle(pid)",
            "middle|FOREIGN KEY (pid) REFERENCES \"Users\"(\"Id\")"
        ]
    );
}

#[test]
fn indexes_of_beginnings_are_expressions_in_postgres() {
    let (Some(from), Some(to)) = (start("mariadb"), start("postgres")) else {
        return;
    };
    run_all(
        &from,
        &[
            "CREATE TABLE t (id int PRIMARY KEY, b text, u varchar(3000), x blob, n int, w varchar(3000),
                 KEY kb (b(50), n DESC), UNIQUE KEY ku (u(4)), KEY kx (x(8)), KEY kw (w(700))) DEFAULT CHARSET latin1",
            "INSERT INTO t SELECT seq, random_bytes(5), seq, repeat('x', 5000), seq, '' FROM seq_1_to_3",
            "UPDATE t SET b = (SELECT group_concat(md5(seq)) FROM seq_1_to_500), w = (SELECT substr(group_concat(md5(seq)), 1, 3000) FROM seq_1_to_500)",
        ],
    );
    let summary = copy(&from.url(), &to.url()).expect("a copy");
    assert_eq!(told(&summary, "index"), Vec::<&String>::new());
    let indexes = "SELECT substr(indexdef, strpos(indexdef, 'btree')) FROM pg_indexes WHERE tablename = 't' AND indexname LIKE 't_k%' ORDER BY indexname";
    assert_eq!(
        to.rows(indexes),
        [
            "btree (\"left\"(b, 50), n DESC)",
            "btree (\"left\"((u)::text, 4))",
            "btree (\"left\"((w)::text, 700))",
            "btree (substr(x, 1, 8))",
        ]
    );
    let duplicate = "INSERT INTO t(id, u) VALUES (9, '1')";
    to.database.execute(duplicate).expect_err("a unique index");
    let summary = copy(&from.url(), &File::new().name()).expect("a copy to SQLite");
    assert_told(
        &summary,
        &["the unique index t_ku", "the index t_kb has whole values"],
    );

    // A whole value may be too long for an index.
    let from = file_with(
        "CREATE TABLE wide (w TEXT); CREATE INDEX kw ON wide(w); INSERT INTO wide VALUES (hex(randomblob(8000)))",
    );
    let summary = copy(&from.name(), &to.url()).expect("a copy");
    let note = "table wide: not copied: the index wide_kw: index row ";
    assert_told(&summary, &[note]);
}

/// Options of keys, indexes and columns that PostgreSQL has and SQLite has not.
const OPTIONS: &[&str] = &[
    "CREATE TABLE p (a int, b int, t text COLLATE \"C\", UNIQUE (a, b))",
    "CREATE TABLE c (a int, b int, u int UNIQUE NULLS NOT DISTINCT, t text,
        CONSTRAINT full_key FOREIGN KEY (a, b) REFERENCES p(a, b) MATCH FULL DEFERRABLE INITIALLY DEFERRED)",
    "CREATE TABLE d (a int, b int, CONSTRAINT list_key FOREIGN KEY (a, b) REFERENCES p(a, b) ON DELETE SET NULL (b))",
    "CREATE INDEX c_sorted ON c (a DESC NULLS LAST, t COLLATE \"C\" text_pattern_ops) WITH (fillfactor = 70)",
];

#[test]
fn options_of_postgres_are_copied_to_postgres_and_listed_for_sqlite() {
    let (Some(from), Some(to)) = (start("postgres"), start("postgres")) else {
        return;
    };
    run_all(&from, OPTIONS);
    let summary = copy(&from.url(), &to.url()).expect("a copy");
    assert_eq!(told(&summary, "table"), Vec::<&String>::new());
    for sql in [
        "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'f' ORDER BY 1",
        "SELECT substr(indexdef, strpos(indexdef, 'btree')) FROM pg_indexes WHERE schemaname = 'public' ORDER BY indexname",
        "SELECT collname FROM pg_attribute JOIN pg_collation ON pg_collation.oid = attcollation
             WHERE attrelid IN ('p'::regclass, 'c'::regclass) AND attnum > 0 ORDER BY 1",
    ] {
        assert_eq!(to.rows(sql), from.rows(sql), "{sql}");
    }
    let file = File::new();
    let summary = copy(&from.url(), &file.name()).expect("a copy to SQLite");
    assert_told(
        &summary,
        &[
            "NULLS NOT DISTINCT",
            "the foreign key full_key to p has its actions only, not MATCH FULL",
            "ON DELETE SET NULL (b)",
            "column `t`: not copied: COLLATE pg_catalog.\"C\"",
            "a DESC NULLS LAST",
        ],
    );
    assert_eq!(
        file.rows(
            "SELECT count(*) FROM sqlite_schema WHERE sql LIKE '%DEFERRABLE INITIALLY DEFERRED%'"
        ),
        ["1"]
    );

    let lite = file_with(
        "CREATE TABLE t (n TEXT COLLATE NOCASE, m INTEGER); CREATE INDEX sorted ON t(m DESC, n); INSERT INTO t VALUES ('a', 1)",
    );
    let summary = copy(&lite.name(), &to.url()).expect("a copy of SQLite");
    assert_told(
        &summary,
        &[
            "the collations (COLLATE)",
            "the index sorted: not copied: DESC COLLATE NOCASE",
        ],
    );
}

#[test]
fn an_extension_is_listed_without_its_members() {
    let (Some(from), Some(to)) = (start("postgres"), start("postgres")) else {
        return;
    };
    if from
        .database
        .execute("CREATE EXTENSION btree_gist")
        .is_err()
    {
        inorder_testing::skip("btree_gist isn't installed (apt-get install postgresql-contrib)");
        return;
    }
    from.run("CREATE FUNCTION own() RETURNS int LANGUAGE sql AS 'SELECT 1'");
    from.run("CREATE TABLE t (id int)");
    let summary = copy(&from.url(), &to.url()).expect("a copy");
    assert_eq!(
        told(&summary, "btree_gist"),
        ["not copied: extension btree_gist"]
    );
    assert_eq!(told(&summary, "function"), ["not copied: function own"]);
}

#[test]
fn defaults_of_sqlite_are_the_values_that_it_stores() {
    let from = file_with(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT DEFAULT 1, b TEXT DEFAULT 1.50, c TEXT DEFAULT 1e3, d TEXT DEFAULT '1.50',
             e INT DEFAULT 0x1F, f INT DEFAULT true, g INT DEFAULT '3', h NUMERIC DEFAULT 1.0, i DEFAULT -7, j TEXT DEFAULT 'it''s',
             k REAL DEFAULT 2, l BLOB DEFAULT x'00ff', m INT DEFAULT 1.5, n TEXT DEFAULT ('a' || 'b'), o TEXT DEFAULT NULL);
         INSERT INTO t(id) VALUES (1);
         UPDATE t SET m = 1",
    );
    let values = "SELECT a, b, c, d, e, f, g, h, i, j, k FROM t WHERE id = ";
    let stored = from.rows(&format!("{values} 1"));
    let to = File::new();
    let summary = copy(&from.name(), &to.name()).expect("a copy");
    assert_eq!(summary.notes.len(), 0, "{:?}", summary.notes);
    let insert = "INSERT INTO t(id) VALUES (2)";
    let db = rusqlite::Connection::open(to.path()).expect("the copy");
    db.execute_batch(insert).expect("a row");
    assert_eq!(to.rows(&format!("{values} 2")), stored);
    assert_eq!(to.rows("SELECT l, m FROM t WHERE id = 2"), ["[00, ff]|1.5"]);
    let Some(to) = start("postgres") else { return };
    let summary = copy(&from.name(), &to.url()).expect("a copy");
    // An integer would be 2.
    let note = "table t: column `m`: not copied: DEFAULT 1.5";
    assert_eq!(summary.notes, [note], "{:?}", summary.notes);
    to.run(insert);
    assert_eq!(to.rows(&format!("{values} 2")), stored);
    assert_eq!(to.rows("SELECT m, n FROM t WHERE id = 2"), ["NULL|ab"]);
}

#[test]
fn text_beside_bytes_is_utf_8_from_every_encoding() {
    let Some(to) = start("postgres") else { return };
    for (at, encoding) in ["UTF-8", "UTF-16le", "UTF-16be"].iter().enumerate() {
        let from = file_with(&format!(
            "PRAGMA encoding = '{encoding}'; CREATE TABLE t{at} (id INTEGER PRIMARY KEY, v);
             INSERT INTO t{at} VALUES (1, 'a\u{e9}'), (2, x'6100'), (3, 1.5), (4, 7), (5, NULL), (6, '')"
        ));
        let summary = copy(&from.name(), &to.url()).expect("a copy");
        let note = format!(
            "table t{at}: column `v`: it has bytes and other values: all are bytes in the copy, of text in UTF-8"
        );
        assert_told(&summary, &[&note]);
        assert_eq!(
            to.rows(&format!("SELECT v FROM t{at} ORDER BY id")),
            ["\\x61c3a9", "\\x6100", "\\x312e35", "\\x37", "NULL", "\\x"],
            "{encoding}"
        );
    }
}
