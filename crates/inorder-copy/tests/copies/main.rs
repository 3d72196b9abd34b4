//! Copies between private servers and SQLite files, compared with what the databases themselves say. A missing server
//! prints SKIPPED.

mod again;
mod edges;
mod kept;
mod losses;
mod plans;
mod types;

use std::path::PathBuf;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};

use inorder_copy::{Error, Job, Observer, Stop, Summary, run};
use inorder_testing::PrivateServer;
use tempfile::TempDir;

/// Stops the copy after so many rows.
struct Watch {
    rows: AtomicU64,
    rows_max: u64,
    stop: Stop,
}

impl Observer for Watch {
    fn table(&self, _: &str, _: u64) {}

    fn rows(&self, rows: u64) {
        if self.rows.fetch_add(rows, Ordering::Relaxed) + rows >= self.rows_max {
            self.stop.stop();
        }
    }

    fn stop(&self) -> &Stop {
        &self.stop
    }
}

fn watch(rows_max: u64) -> Watch {
    Watch {
        rows: AtomicU64::new(0),
        rows_max,
        stop: Stop::default(),
    }
}

fn job(from: &str, to: &str) -> Job {
    Job {
        from: from.to_owned(),
        to: to.to_owned(),
        schema: "public".to_owned(),
        tables: Vec::new(),
        excluded: Vec::new(),
        replaces: false,
        plan: None,
        is_dry: false,
    }
}

fn copy(from: &str, to: &str) -> Result<Summary, String> {
    run(&job(from, to), &watch(u64::MAX)).map_err(|error| error.to_string())
}

fn start(name: &str) -> Option<PrivateServer> {
    PrivateServer::start(name, env!("CARGO_TARGET_TMPDIR"))
}

struct File(TempDir);

impl File {
    fn new() -> Self {
        File(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("copy.db")
    }

    fn name(&self) -> String {
        self.path().display().to_string()
    }

    fn rows(&self, sql: &str) -> Vec<String> {
        let db = rusqlite::Connection::open(self.path()).expect("a database");
        let mut statement = db.prepare(sql).expect(sql);
        let columns = statement.column_count();
        let rows = statement.query_map([], |row| {
            let text = |at| -> rusqlite::Result<String> {
                Ok(match row.get_ref(at)? {
                    rusqlite::types::ValueRef::Null => "NULL".to_owned(),
                    rusqlite::types::ValueRef::Integer(integer) => integer.to_string(),
                    rusqlite::types::ValueRef::Real(real) => real.to_string(),
                    rusqlite::types::ValueRef::Text(text) => {
                        String::from_utf8_lossy(text).into_owned()
                    }
                    rusqlite::types::ValueRef::Blob(blob) => format!("{blob:02x?}"),
                })
            };
            let values: rusqlite::Result<Vec<String>> = (0..columns).map(text).collect();
            Ok(values?.join("|"))
        });
        rows.expect(sql).collect::<Result<_, _>>().expect(sql)
    }
}

/// Types of MariaDB, literals of their edges, and the type and the texts of the copy in PostgreSQL.
type TypeCase = (
    &'static str,
    &'static [&'static str],
    &'static str,
    &'static [&'static str],
);

const MARIADB_TYPES: &[TypeCase] = &[
    (
        "tinyint(1)",
        &["0", "1", "-128"],
        "smallint",
        &["0", "1", "-128"],
    ),
    ("smallint unsigned", &["65535"], "integer", &["65535"]),
    ("int(5) zerofill", &["42"], "bigint", &["42"]),
    ("mediumint", &["-8388608"], "integer", &["-8388608"]),
    ("int unsigned", &["4294967295"], "bigint", &["4294967295"]),
    (
        "bigint",
        &["-9223372036854775808"],
        "bigint",
        &["-9223372036854775808"],
    ),
    (
        "bigint unsigned",
        &["18446744073709551615"],
        "numeric(20,0)",
        &["18446744073709551615"],
    ),
    (
        "decimal(20,5)",
        &["-12345.60000", "0"],
        "numeric(20,5)",
        &["-12345.60000", "0.00000"],
    ),
    (
        "float",
        &["3.14159274", "1e-38", "16777217"],
        "real",
        &["3.1415927", "1e-38", "1.6777216e+07"],
    ),
    (
        "double",
        &["0.1", "1.7976931348623157e308", "-5e-324"],
        "double precision",
        &["0.1", "1.7976931348623157e+308", "-5e-324"],
    ),
    (
        "varchar(10)",
        &["''", "'a\\tb\\\\n'", "'NULL'"],
        "character varying(10)",
        &["", "a\tb\\n", "NULL"],
    ),
    (
        "varchar(10) character set latin1",
        &["'\u{e4}\u{df}'"],
        "character varying(10)",
        &["\u{e4}\u{df}"],
    ),
    ("char(5)", &["'ab  '"], "character varying(5)", &["ab"]),
    (
        "text",
        &["'line\\nend\\r\\n'", "'\u{1f600}'"],
        "text",
        &["line\nend\r\n", "\u{1f600}"],
    ),
    (
        "varbinary(10)",
        &["x'00ff5c'", "''"],
        "bytea",
        &["\\x00ff5c", "\\x"],
    ),
    ("blob", &["x'0a0d09'"], "bytea", &["\\x0a0d09"]),
    (
        "bit(9)",
        &["b'101'", "b'111111111'"],
        "bit(9)",
        &["000000101", "111111111"],
    ),
    (
        "date",
        &["'2024-02-29'", "'9999-12-31'"],
        "date",
        &["2024-02-29", "9999-12-31"],
    ),
    (
        "datetime(6)",
        &["'2024-02-29 23:59:59.5'"],
        "timestamp(6) without time zone",
        &["2024-02-29 23:59:59.5"],
    ),
    (
        "timestamp(3) null",
        &["'2024-02-29 23:59:59.123'"],
        "timestamp(3) with time zone",
        &["2024-02-29 23:59:59.123+00"],
    ),
    (
        "time(2)",
        &["'838:59:58.25'", "'-01:00:00'"],
        "interval(2)",
        &["838:59:58.25", "-01:00:00"],
    ),
    ("year", &["2155", "0"], "smallint", &["2155", "0"]),
    ("enum('a','b c')", &["'b c'"], "text", &["b c"]),
    (
        "enum('a','zerofill')",
        &["'a'", "'zerofill'"],
        "text",
        &["a", "zerofill"],
    ),
    (
        "set('x zerofill','unsigned')",
        &["'x zerofill,unsigned'"],
        "text",
        &["x zerofill,unsigned"],
    ),
    ("set('a','b')", &["'a,b'", "''"], "text", &["a,b", ""]),
    (
        "json",
        &["'{\"b\": 1,  \"a\": [1]}'"],
        "json",
        &["{\"b\": 1,  \"a\": [1]}"],
    ),
    (
        "uuid",
        &["'017f22e2-79b0-7cc3-98c4-dc0c0c07398f'"],
        "uuid",
        &["017f22e2-79b0-7cc3-98c4-dc0c0c07398f"],
    ),
    ("inet6", &["'::1'"], "text", &["::1"]),
];

#[test]
fn every_type_of_mariadb_is_copied() {
    let (Some(from), Some(to)) = (start("mariadb"), start("postgres")) else {
        return;
    };
    from.run("SET time_zone = '+00:00', sql_mode = ''");
    for (at, (declared, literals, ..)) in MARIADB_TYPES.iter().enumerate() {
        from.run(&format!(
            "CREATE TABLE `Type {at}` (i int PRIMARY KEY, c {declared}) DEFAULT CHARSET utf8mb4"
        ));
        from.run(&format!("INSERT INTO `Type {at}` VALUES (-1, NULL)"));
        for (i, literal) in literals.iter().enumerate() {
            from.run(&format!("INSERT INTO `Type {at}` VALUES ({i}, {literal})"));
        }
    }
    let file = File::new();
    copy(&from.url(), &to.url()).expect("a copy to PostgreSQL");
    let summary = copy(&from.url(), &file.name()).expect("a copy to SQLite");
    assert_eq!(summary.tables.len(), MARIADB_TYPES.len());
    for (at, (declared, _, ty, texts)) in MARIADB_TYPES.iter().enumerate() {
        let found = to.rows(&format!("SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = '\"Type {at}\"'::regclass AND attname = 'c'"));
        assert_eq!(found, [*ty], "{declared}");
        let found = to.rows(&format!("SELECT c FROM \"Type {at}\" ORDER BY i"));
        assert_eq!(found[0], "NULL", "{declared}");
        assert_eq!(found[1..], **texts, "{declared}");
        let count = file.rows(&format!("SELECT count(*) FROM \"Type {at}\""));
        assert_eq!(count, [(texts.len() + 1).to_string()], "{declared}");
    }
}

/// Types of PostgreSQL and literals.
const POSTGRES_TYPES: &[(&str, &[&str])] = &[
    ("smallint", &["-32768"]),
    ("bigint", &["9223372036854775807"]),
    ("numeric", &["'NaN'", "'Infinity'", "0.10", "1e40"]),
    ("numeric(10,2)", &["1.5"]),
    ("real", &["3.1415927", "'-Infinity'"]),
    ("double precision", &["0.1", "1e308", "'Infinity'", "'-0'"]),
    ("text", &["''", "'a\tb\\n'", "E'x\\ny'", "'\\.'"]),
    ("varchar(5)", &["'abc'"]),
    ("char(5)", &["'ab'"]),
    ("bytea", &["'\\x00ff5c0a'", "''"]),
    ("boolean", &["true", "false"]),
    ("date", &["'infinity'", "'0044-03-15 BC'"]),
    ("timestamp", &["'2024-02-29 23:59:59.123456'"]),
    (
        "timestamptz",
        &["'2024-02-29 23:59:59+05:30'", "'0044-03-15 10:00:00+00 BC'"],
    ),
    ("time", &["'24:00:00'"]),
    ("timetz", &["'10:00:00+02'"]),
    ("interval", &["'1 year 2 mons -3 days 04:05:06.7'"]),
    ("uuid", &["'017f22e2-79b0-7cc3-98c4-dc0c0c07398f'"]),
    ("json", &["'{\"b\": 1,  \"a\": [1]}'"]),
    ("jsonb", &["'{\"b\": 1,  \"a\": [1]}'"]),
    ("int[]", &["'{1,NULL,3}'", "'{{1,2},{3,4}}'"]),
    ("text[]", &["ARRAY['a,b', '\"', 'NULL', '\\']"]),
    (
        "timestamptz[]",
        &["ARRAY['2024-02-29 23:59:59+05:30'::timestamptz]"],
    ),
    ("inet", &["'10.0.0.0/8'"]),
    ("bit varying(9)", &["b'101'"]),
    ("int4range", &["'[1,10)'"]),
    ("mood", &["'happy'"]),
];

#[test]
fn every_type_of_postgres_is_copied() {
    let (Some(from), Some(to)) = (start("postgres"), start("postgres")) else {
        return;
    };
    from.run("CREATE TYPE mood AS ENUM ('sad', 'happy')");
    for (at, (declared, literals)) in POSTGRES_TYPES.iter().enumerate() {
        from.run(&format!(
            "CREATE TABLE t{at} (i int PRIMARY KEY, c {declared})"
        ));
        from.run(&format!("INSERT INTO t{at} VALUES (-1, NULL)"));
        for (i, literal) in literals.iter().enumerate() {
            from.run(&format!("INSERT INTO t{at} VALUES ({i}, {literal})"));
        }
    }
    let file = File::new();
    copy(&from.url(), &to.url()).expect("a copy to PostgreSQL");
    let summary = copy(&from.url(), &file.name()).expect("a copy to SQLite");
    assert!(
        summary.notes.iter().any(|note| note.contains("mood")),
        "{:?}",
        summary.notes
    );
    for (at, (declared, _)) in POSTGRES_TYPES.iter().enumerate() {
        let rows = format!("SELECT i, c::text FROM t{at} ORDER BY i");
        assert_eq!(to.rows(&rows), from.rows(&rows), "{declared}");
        let count = format!("SELECT count(*) FROM t{at}");
        assert_eq!(file.rows(&count), from.rows(&count), "{declared}");
    }
}

/// A shop with keys, foreign keys in both directions, defaults and odd names.
const SHOP: &[&str] = &[
    "CREATE TABLE `Order` (`select` int NOT NULL AUTO_INCREMENT, customer int NOT NULL, total decimal(10,2) NOT NULL DEFAULT 0.50,
        state varchar(10) NOT NULL DEFAULT 'it''s new' COMMENT 'a column', made datetime DEFAULT current_timestamp(),
        `twice` decimal(10,2) AS (total * 2) STORED,
        PRIMARY KEY (`select`), KEY by_customer (customer, made), UNIQUE KEY one (state, customer),
        CONSTRAINT positive CHECK (total >= 0), CONSTRAINT odd CHECK (total % 2 < 5)) COMMENT 'it''s a table' DEFAULT CHARSET utf8mb4",
    "CREATE TABLE customer (id int PRIMARY KEY, boss int, name varchar(20) COLLATE utf8mb4_bin, latest int,
        CONSTRAINT bosses FOREIGN KEY (boss) REFERENCES customer(id) ON DELETE SET NULL,
        CONSTRAINT latest FOREIGN KEY (latest) REFERENCES `Order`(`select`)) DEFAULT CHARSET utf8mb4",
    "ALTER TABLE `Order` ADD CONSTRAINT orders FOREIGN KEY (customer) REFERENCES customer(id) ON UPDATE CASCADE",
    "CREATE TABLE pair (b varchar(10), a int, PRIMARY KEY (a, b)) DEFAULT CHARSET utf8mb4",
    "CREATE TABLE empty (n int)",
    "CREATE VIEW v AS SELECT 1",
    "INSERT INTO customer VALUES (1, 2, 'a', NULL), (2, 1, 'b', NULL)",
    "INSERT INTO `Order`(`select`, customer, state) VALUES (5, 1, 'x'), (9, 2, 'y')",
    "UPDATE customer SET latest = 9 WHERE id = 2",
    "INSERT INTO pair VALUES ('x', 1), ('y', 0)",
    "ALTER TABLE `Order` AUTO_INCREMENT = 77",
];

#[test]
fn keys_defaults_and_counters_are_those_of_the_source() {
    let (Some(from), Some(to)) = (start("mariadb"), start("postgres")) else {
        return;
    };
    from.run("SET foreign_key_checks = 0");
    for sql in SHOP {
        from.run(sql);
    }
    let summary = copy(&from.url(), &to.url()).expect("a copy");
    for note in ["view v", "twice", "MOD 2 < 5"] {
        assert!(
            summary.notes.iter().any(|told| told.contains(note)),
            "{note}: {:?}",
            summary.notes
        );
    }
    to.run("INSERT INTO \"Order\"(customer, twice) VALUES (1, 0)");
    let made = to.rows(
        "SELECT \"select\", total, state, made IS NOT NULL FROM \"Order\" WHERE \"select\" > 9",
    );
    assert_eq!(made, ["77|0.50|it's new|t"]);
    for wrong in [
        "INSERT INTO \"Order\"(customer, state) VALUES (3, 'z')",
        "INSERT INTO \"Order\"(customer, total, state) VALUES (1, -1, 'z')",
        "INSERT INTO \"Order\"(customer, state) VALUES (1, 'x')",
        "INSERT INTO pair VALUES ('x', 1)",
        "DELETE FROM \"Order\" WHERE \"select\" = 9",
    ] {
        to.database.execute(wrong).expect_err(wrong);
    }
    let comments = to.rows(
        "SELECT obj_description('\"Order\"'::regclass), col_description('\"Order\"'::regclass, 4)",
    );
    assert_eq!(comments, ["it's a table|a column"]);
    let key = to.rows("SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'pair'::regclass AND contype = 'p'");
    assert_eq!(key, ["PRIMARY KEY (a, b)"]);
    assert!(
        to.rows("SELECT relname FROM pg_class WHERE relname = '_inorder_copy'")
            .is_empty()
    );

    let file = File::new();
    copy(&from.url(), &file.name()).expect("a copy to SQLite");
    assert_eq!(file.rows("PRAGMA foreign_key_check"), Vec::<String>::new());
    assert_eq!(file.rows("PRAGMA integrity_check"), ["ok"]);
    assert_eq!(
        file.rows(
            "INSERT INTO \"Order\"(customer, state) VALUES (1, 'new') RETURNING \"select\", total"
        ),
        ["77|0.5"]
    );

    // And from there to PostgreSQL again.
    let Some(back) = start("postgres") else {
        return;
    };
    copy(&file.name(), &back.url()).expect("a copy of the copy");
    let all = "SELECT \"select\", customer, state FROM \"Order\" ORDER BY 1";
    assert_eq!(back.rows(all), file.rows(all));
    back.run("INSERT INTO \"Order\"(customer, total, state) VALUES (1, 0, 'last')");
    assert_eq!(back.rows("SELECT max(\"select\") FROM \"Order\""), ["78"]);
}

#[test]
fn a_copy_stops_after_its_last_row_was_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (from, to) = (path("from.db"), path("to.db"));
    let source = rusqlite::Connection::open(&from).expect("a database");
    source
        .execute_batch("CREATE TABLE t(n INTEGER PRIMARY KEY); INSERT INTO t VALUES (1), (2)")
        .expect("made");
    let servers = start("postgres").map(|server| (server.url(), server));
    let urls = servers.iter().map(|(url, _)| url.clone());
    for to in urls.chain([to]) {
        let stopped = run(&job(&from, &to), &watch(2)).expect_err("stopped");
        assert!(matches!(stopped, Error::Stopped), "{to}: {stopped}");
        let summary = copy(&from, &to).expect("a copy");
        assert_eq!(summary.tables[0].rows, 2);
        assert!(!summary.tables[0].was_finished, "{to}");
    }
}

#[test]
fn a_statement_that_waits_in_the_server_is_ended_with_the_copy() {
    let Some(to) = start("postgres") else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let from = folder.path().join("from.db").display().to_string();
    let source = rusqlite::Connection::open(&from).expect("a database");
    source
        .execute_batch(
            "CREATE TABLE a(n INTEGER PRIMARY KEY); CREATE TABLE b(n INTEGER PRIMARY KEY REFERENCES a(n));
             INSERT INTO a VALUES (1); INSERT INTO b VALUES (1)",
        )
        .expect("made");
    let observer = OnSecond::default();
    std::thread::scope(|scope| {
        let copying = scope.spawn(|| run(&job(&from, &to.url()), &observer));
        // Once the second table begins, the first one is committed. The foreign key comes last, and waits for the lock.
        observer.begun.wait();
        to.run("BEGIN");
        to.run("LOCK TABLE a IN ACCESS EXCLUSIVE MODE");
        observer.locked.wait();
        let waiting = "SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'a'::regclass";
        while to.rows(waiting).is_empty() {
            assert!(!copying.is_finished(), "it does not wait");
        }
        observer.stop.stop();
        let stopped = copying.join().expect("no panic").expect_err("stopped");
        assert!(matches!(stopped, Error::Stopped), "{stopped}");
        to.run("ROLLBACK");
    });
    let summary = copy(&from, &to.url()).expect("the rest");
    assert!(summary.tables.iter().all(|table| table.was_finished));
}

/// Waits when the second table begins.
struct OnSecond {
    begun: Barrier,
    locked: Barrier,
    stop: Stop,
}

impl Default for OnSecond {
    fn default() -> Self {
        OnSecond {
            begun: Barrier::new(2),
            locked: Barrier::new(2),
            stop: Stop::default(),
        }
    }
}

impl Observer for OnSecond {
    fn table(&self, name: &str, _: u64) {
        if name == "b" {
            self.begun.wait();
            self.locked.wait();
        }
    }

    fn rows(&self, _: u64) {}

    fn stop(&self) -> &Stop {
        &self.stop
    }
}

#[test]
fn indexes_have_names_that_no_other_has() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (from, to) = (path("from.db"), path("to.db"));
    let source = rusqlite::Connection::open(&from).expect("a database");
    source
        .execute_batch(
            "CREATE TABLE a(n, m); CREATE TABLE a_b(n); CREATE TABLE a_b_n(n);
             CREATE INDEX b_c ON a(n); CREATE INDEX c ON a_b(n); CREATE INDEX B_N ON a(m); CREATE INDEX a_b_pkey ON a(n, m);
             INSERT INTO a VALUES (1, 2); INSERT INTO a_b VALUES (1)",
        )
        .expect("made");
    copy(&from, &to).expect("a copy");
    let copied = rusqlite::Connection::open(&to).expect("a database");
    let names = "SELECT group_concat(name) FROM (SELECT name FROM sqlite_schema WHERE type = 'index' ORDER BY 1)";
    let names: String = copied
        .query_row(names, [], |row| row.get(0))
        .expect("names");
    assert_eq!(names, "B_N,a_b_pkey,b_c,c");
    if let Some(server) = start("postgres") {
        copy(&from, &server.url()).expect("a copy");
        let names = "SELECT indexname FROM pg_indexes WHERE schemaname = 'public' ORDER BY indexname COLLATE \"C\"";
        assert_eq!(
            server.rows(names).join(","),
            "a_B_N_2,a_b_c,a_b_c_2,a_b_pkey_2"
        );
    }
}

#[test]
fn a_stopped_copy_goes_on_and_what_differs_is_copied_again() {
    let (Some(from), Some(to)) = (start("mariadb"), start("postgres")) else {
        return;
    };
    for table in ["a", "b", "c"] {
        from.run(&format!(
            "CREATE TABLE {table} (id int PRIMARY KEY, t varchar(100)) DEFAULT CHARSET utf8mb4"
        ));
        from.run(&format!(
            "INSERT INTO {table} SELECT seq, repeat('x', 50) FROM seq_1_to_20000"
        ));
    }
    let stopped = run(&job(&from.url(), &to.url()), &watch(30_000)).expect_err("stopped");
    assert!(stopped.to_string().contains("stopped"), "{stopped}");
    assert_eq!(to.rows("SELECT count(*) FROM a"), ["20000"]);
    assert!(
        to.rows("SELECT relname FROM pg_class WHERE relname = 'b'")
            .is_empty()
    );
    let summary = copy(&from.url(), &to.url()).expect("the rest");
    let finished: Vec<bool> = summary
        .tables
        .iter()
        .map(|table| table.was_finished)
        .collect();
    assert_eq!(finished, [true, false, false]);
    let refused = copy(&from.url(), &to.url()).expect_err("all are there");
    assert!(
        refused.contains("a, b, c") && refused.contains("--replace-tables"),
        "{refused}"
    );

    // A row that changes after its table was copied.
    let replacing = Job {
        replaces: true,
        ..job(&from.url(), &to.url())
    };
    run(&replacing, &watch(30_000)).expect_err("stopped");
    from.run("UPDATE a SET t = 'y' WHERE id = 7");
    let summary = copy(&from.url(), &to.url()).expect("the rest");
    let finished: Vec<bool> = summary
        .tables
        .iter()
        .map(|table| table.was_finished)
        .collect();
    assert_eq!(finished, [false, false, false]);
    assert_eq!(to.rows("SELECT t FROM a WHERE id = 7"), ["y"]);
}

#[test]
fn what_has_no_equivalent_is_refused_and_named() {
    let (Some(from), Some(to)) = (start("mariadb"), start("postgres")) else {
        return;
    };
    from.run("SET sql_mode = ''");
    for (sql, words) in [
        (
            "CREATE TABLE bad (id int PRIMARY KEY, p point)",
            ["bad", "`p`", "point"],
        ),
        (
            "CREATE TABLE bad (id int PRIMARY KEY, d date); INSERT INTO bad VALUES (1, '2024-01-01'), (2, '0000-00-00')",
            ["bad, row 2", "`d`", "zeros"],
        ),
        (
            "CREATE TABLE bad (id int PRIMARY KEY, t text); INSERT INTO bad VALUES (1, 'a'), (2, 'a\\0b')",
            ["bad, row 2", "`t`", "NUL"],
        ),
    ] {
        for part in sql.split("; ") {
            from.run(part);
        }
        let error = copy(&from.url(), &to.url()).expect_err(sql);
        for word in words {
            assert!(error.contains(word), "{word}: {error}");
        }
        assert!(
            to.rows("SELECT relname FROM pg_class WHERE relname = 'bad'")
                .is_empty()
        );
        from.run("DROP TABLE bad");
        to.run("DROP TABLE IF EXISTS _inorder_copy");
    }
    from.run("CREATE TABLE good (id int PRIMARY KEY)");
    from.run("CREATE TABLE bad (id int PRIMARY KEY, p point)");
    let error = run(
        &Job {
            tables: vec!["god".to_owned()],
            ..job(&from.url(), &to.url())
        },
        &watch(u64::MAX),
    );
    let error = error.expect_err("no such table").to_string();
    assert!(error.contains("god") && error.contains("good"), "{error}");
    let dry = Job {
        excluded: vec!["bad".to_owned()],
        is_dry: true,
        ..job(&from.url(), &to.url())
    };
    let summary = run(&dry, &watch(u64::MAX)).expect("a dry run");
    assert!(
        summary
            .statements
            .concat()
            .contains("CREATE TABLE \"good\"")
    );
    assert!(
        to.rows("SELECT relname FROM pg_class WHERE relname IN ('good', '_inorder_copy')")
            .is_empty()
    );
}

/// A schema of PostgreSQL with what a copy has to translate or to list.
const POSTGRES_SHOP: &[&str] = &[
    "CREATE SCHEMA shop",
    "CREATE DOMAIN shop.price AS numeric(10,2) CHECK (VALUE >= 0)",
    "CREATE TABLE shop.\"Order\" (id serial PRIMARY KEY, n bigint GENERATED ALWAYS AS IDENTITY UNIQUE, p shop.price DEFAULT 1.5,
        made timestamptz DEFAULT now(), twice int GENERATED ALWAYS AS (2 * 2) STORED, t text COLLATE \"C\" CHECK (length(t) < 9))",
    "CREATE INDEX by_part ON shop.\"Order\" (t) WHERE t <> ''",
    "CREATE INDEX by_two ON shop.\"Order\" (t, made)",
    "CREATE TABLE shop.line (id int, nr int, \"order\" int REFERENCES shop.\"Order\" ON DELETE CASCADE, PRIMARY KEY (id, nr))
        PARTITION BY RANGE (id)",
    "CREATE TABLE shop.line_1 PARTITION OF shop.line FOR VALUES FROM (0) TO (10)",
    "CREATE VIEW shop.v AS SELECT 1",
    "INSERT INTO shop.\"Order\"(t) SELECT 'x' || g FROM generate_series(1, 5) AS g",
    "INSERT INTO shop.line VALUES (2, 1, 1), (1, 2, 5)",
];

fn assert_told(summary: &Summary, notes: &[&str]) {
    for note in notes {
        let is_told = summary.notes.iter().any(|told| told.contains(note));
        assert!(is_told, "{note}: {:?}", summary.notes);
    }
}

#[test]
fn a_schema_of_postgres_is_copied() {
    let (Some(from), Some(to)) = (start("postgres"), start("postgres")) else {
        return;
    };
    for sql in POSTGRES_SHOP {
        from.run(sql);
    }
    let shop = Job {
        schema: "shop".to_owned(),
        ..job(&from.url(), &to.url())
    };
    let summary = run(&shop, &watch(u64::MAX)).expect("a copy");
    assert_told(&summary, &["view v", "partitions"]);
    to.run("INSERT INTO \"Order\"(t) VALUES ('new')");
    let made = to.rows("SELECT id, n, p, made IS NOT NULL FROM \"Order\" WHERE t = 'new'");
    assert_eq!(made, ["6|6|1.50|t"]);
    let wrong = "INSERT INTO \"Order\"(t) VALUES ('much too long')";
    to.database.execute(wrong).expect_err("a constraint");
    to.run("DELETE FROM \"Order\" WHERE id = 1");
    assert_eq!(to.rows("SELECT id, nr FROM line"), ["1|2"]);
    let indexes = to.rows("SELECT indexdef FROM pg_indexes WHERE tablename = 'Order' ORDER BY 1");
    assert_eq!(indexes.len(), 4, "{indexes:?}");
}

const SQLITE_SHOP: &str = "
    CREATE TABLE kinds (id INTEGER PRIMARY KEY AUTOINCREMENT, i, r, m NUMERIC, large, t, b, tb, gone REAL,
        d TEXT DEFAULT 'it''s', CHECK (id > 0));
    INSERT INTO kinds VALUES
        (3, 9223372036854775807, 0.1, 1, 9007199254740993, 'ü', x'00ff', 'x', NULL, 'a'),
        (7, -1, 1e300, 2.5, 0.5, '', x'', x'01', NULL, 'b'),
        (1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    DELETE FROM kinds WHERE id = 7;
    INSERT INTO kinds(id, i, r, m, large) VALUES (2, 5, 9e999, 0.5, 0.25);
    CREATE TABLE \"select\" (k TEXT PRIMARY KEY, n INT REFERENCES kinds) WITHOUT ROWID;
    INSERT INTO \"select\" VALUES ('b', 3), ('A', 1);
    CREATE UNIQUE INDEX one ON kinds(i, t);
    CREATE INDEX part ON kinds(t) WHERE t > '';
    CREATE VIEW v AS SELECT 1";

#[test]
fn values_of_sqlite_decide_the_types() {
    let Some(to) = start("postgres") else { return };
    let file = File::new();
    let db = rusqlite::Connection::open(file.path()).expect("a database");
    db.execute_batch(SQLITE_SHOP).expect("rows");
    let summary = copy(&file.name(), &to.url()).expect("a copy");
    assert_told(&summary, &["view v", "`large`"]);
    let types = to.rows(
        "SELECT format_type(atttypid, atttypmod) FROM pg_attribute
         WHERE attrelid = 'kinds'::regclass AND attnum > 0 ORDER BY attnum",
    );
    let (double, text) = ("double precision", "text");
    assert_eq!(
        types,
        [
            "bigint", "bigint", double, "numeric", text, text, "bytea", text, double, text
        ]
    );
    let rows = to.rows("SELECT id, i, r, m, large, t, b, tb, gone, d FROM kinds ORDER BY id");
    assert_eq!(
        rows,
        [
            "1|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL",
            "2|5|Infinity|0.5|0.25|NULL|NULL|NULL|NULL|it's",
            "3|9223372036854775807|0.1|1|9007199254740993|ü|\\x00ff|x|NULL|a",
        ]
    );
    to.run("INSERT INTO kinds(i) VALUES (6)");
    assert_eq!(to.rows("SELECT max(id) FROM kinds"), ["8"]);
    let orphan = "INSERT INTO \"select\" VALUES ('c', 99)";
    to.database.execute(orphan).expect_err("a foreign key");
}
