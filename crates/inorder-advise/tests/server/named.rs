//! Indexes and constraints that something in the database names stay, with the reason.

use crate::server::{Server, changed, reason, set};
use inorder_advise::server::rules::Group;
use std::fs;

/// Statements that name an index, and how the reason begins. `{i}` is the index and `{t}` its table.
const POSTGRES: &[(&str, &str)] = &[
    (
        "CREATE FUNCTION f_{t}() RETURNS void LANGUAGE plpgsql AS $$ BEGIN REINDEX INDEX {i}; END $$",
        "the function",
    ),
    (
        "CREATE FUNCTION f_{t}() RETURNS void LANGUAGE sql AS $$ CLUSTER public.{t} USING {i} $$",
        "the function",
    ),
    (
        "CREATE FUNCTION f_{t}() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN /*+ IndexScan({t} {i}) */ RETURN (SELECT count(*) FROM {t} WHERE a = 1); END $$",
        "the function",
    ),
    (
        "CREATE PROCEDURE f_{t}() LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'ALTER INDEX ' || '{i}' || ' SET (fillfactor = 90)'; END $$",
        "the function",
    ),
    ("CLUSTER {t} USING {i}", "CLUSTER orders"),
];

/// The same of constraints.
const CONSTRAINTS: &[(&str, &str)] = &[
    (
        "CREATE FUNCTION f_{t}() RETURNS void LANGUAGE sql AS $$ INSERT INTO {t} VALUES (1, 1, 1) ON CONFLICT ON CONSTRAINT {i} DO NOTHING $$",
        "the function",
    ),
    (
        "CREATE FUNCTION f_{t}() RETURNS void LANGUAGE sql BEGIN ATOMIC INSERT INTO {t} VALUES (1, 1, 1) ON CONFLICT ON CONSTRAINT {i} DO NOTHING; END",
        "function",
    ),
    (
        "CREATE RULE r AS ON INSERT TO {t} DO ALSO INSERT INTO log VALUES (1) ON CONFLICT DO NOTHING",
        "",
    ),
    (
        "CREATE FUNCTION f_{t}() RETURNS void LANGUAGE plpgsql AS $$ BEGIN SET CONSTRAINTS {i} IMMEDIATE; END $$",
        "the function",
    ),
];

#[test]
fn postgres_indexes_that_functions_name_stay() {
    let Some(server) = Server::start("postgres") else {
        return;
    };
    server.run(&["CREATE TABLE log (id int PRIMARY KEY)"]);
    let mut wanted = Vec::new();
    for (at, (sql, _)) in POSTGRES.iter().enumerate() {
        let (table, index) = (format!("t{at}"), format!("t{at}_narrow"));
        server.run(&[
            &format!("CREATE TABLE {table} (a int, b int, c int)"),
            &format!("INSERT INTO {table} SELECT g, g, g FROM generate_series(1, 3000) g"),
            &format!("CREATE INDEX {index} ON {table} (a)"),
            &format!("CREATE INDEX {table}_free ON {table} (b)"),
            &format!("CREATE INDEX ON {table} (a, c)"),
            &format!("CREATE INDEX ON {table} (b, c)"),
            &sql.replace("{t}", &table).replace("{i}", &index),
        ]);
        wanted.push(format!("{table}_free"));
    }
    for (at, (sql, _)) in CONSTRAINTS.iter().enumerate() {
        let (table, name) = (format!("u{at}"), format!("u{at}_twice"));
        server.run(&[
            &format!("CREATE TABLE {table} (a int PRIMARY KEY, b int, c int)"),
            &format!("ALTER TABLE {table} ADD CONSTRAINT {name} UNIQUE (a)"),
            &format!("INSERT INTO {table} SELECT g, g, g FROM generate_series(1, 3000) g"),
            &sql.replace("{t}", &table).replace("{i}", &name),
        ]);
    }
    server.run(&["ANALYZE"]);
    let advice = server.advice();
    let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
    assert_eq!(changed(&advice, Group::RedundantIndex), set(&wanted));
    // The rule names no constraint.
    let reason_of_free = reason(&advice, "u2_twice");
    assert_eq!(
        changed(&advice, Group::UniqueTwice),
        set(&["u2_twice"]),
        "{reason_of_free}"
    );
    for (at, (_, words)) in POSTGRES.iter().enumerate() {
        let reason = reason(&advice, &format!("t{at}_narrow"));
        assert!(reason.starts_with(words), "{at}: {reason}");
    }
    for (at, (_, words)) in CONSTRAINTS.iter().enumerate().filter(|(at, _)| *at != 2) {
        let reason = reason(&advice, &format!("u{at}_twice"));
        assert!(
            reason.starts_with(words) && reason.ends_with("names it"),
            "{at}: {reason}"
        );
    }
    let said = advice
        .database
        .notes
        .iter()
        .filter(|note| note.contains("FORCE INDEX"));
    assert_eq!(said.count(), 1);
}

/// What names an index of MariaDB, and how the reason begins. The index has its column's name where `{i}` is `a`.
const MARIADB: &[(&str, &str)] = &[
    (
        "CREATE VIEW v_{t} AS SELECT * FROM {t} FORCE INDEX ({i}) WHERE a = 1",
        "the view",
    ),
    (
        "CREATE VIEW v_{t} AS SELECT b FROM {t} x USE INDEX FOR ORDER BY (other, {i}) WHERE a = 1",
        "the view",
    ),
    (
        "CREATE PROCEDURE p_{t}() BEGIN SELECT count(*) FROM {t} IGNORE KEY ({i}) WHERE a = 1; END",
        "the routine",
    ),
    (
        "CREATE FUNCTION p_{t}() RETURNS int READS SQL DATA RETURN (SELECT count(*) FROM {t} FORCE INDEX FOR JOIN (`{i}`) WHERE a = 1)",
        "the routine",
    ),
    (
        "CREATE TRIGGER g_{t} AFTER INSERT ON log FOR EACH ROW SET @n = (SELECT count(*) FROM {t} USE KEY({i}) WHERE a = 1)",
        "the trigger",
    ),
    (
        "CREATE PROCEDURE p_{t}() BEGIN PREPARE s FROM 'SELECT count(*) FROM {t} FORCE INDEX ({i}) WHERE a = 1'; EXECUTE s; END",
        "the routine",
    ),
    (
        "CREATE PROCEDURE p_{t}() BEGIN ALTER TABLE {t} DROP INDEX {i}; END",
        "the routine",
    ),
];

#[test]
fn mariadb_indexes_that_hints_name_stay() {
    let Some(server) = Server::start("mariadb") else {
        return;
    };
    server.run(&["CREATE TABLE log (id int PRIMARY KEY)"]);
    // A private server has no system tables: that of routines is made as an installed server makes it. Events need more.
    let tables = fs::read_to_string("/usr/share/mysql/mysql_system_tables.sql").unwrap();
    let begin = "CREATE TABLE IF NOT EXISTS proc ";
    let proc = tables.lines().find(|line| line.starts_with(begin)).unwrap();
    let proc = proc
        .trim_end_matches(';')
        .replace(begin, "CREATE TABLE mysql.proc ");
    server.run(&["CREATE DATABASE IF NOT EXISTS mysql", &proc]);
    let mut wanted = Vec::new();
    for (at, (sql, _)) in MARIADB.iter().enumerate() {
        for index in ["a".to_owned(), format!("narrow{at}")] {
            let table = format!("t{at}_{index}");
            server.run(&[
                &format!("CREATE TABLE {table} (id int PRIMARY KEY, a int, b int, KEY {index} (a), KEY other (a, b), KEY free_{at}_{index} (b), KEY (b, a))"),
                &format!("INSERT INTO {table} SELECT seq, seq, seq FROM seq_1_to_3000"),
                &sql.replace("{t}", &table).replace("{i}", &index),
                // It uses the columns, and names no index.
                &format!("CREATE PROCEDURE q_{table}() SELECT a, b FROM {table} WHERE a = 1 ORDER BY b"),
                &format!("ANALYZE TABLE {table}"),
            ]);
            wanted.push(format!("free_{at}_{index}"));
        }
    }
    let advice = server.advice();
    let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
    assert_eq!(changed(&advice, Group::RedundantIndex), set(&wanted));
    for (at, (_, words)) in MARIADB.iter().enumerate() {
        let left = |index: &str| {
            let table = format!("t{at}_{index}");
            let mut found = crate::server::parts(&advice).filter(|(part, _)| {
                part.candidate.table.ends_with(&table) && part.candidate.object == index
            });
            found
                .next()
                .map(|(part, _)| part.candidate.reason.clone())
                .unwrap()
        };
        for reason in [left("a"), left(&format!("narrow{at}"))] {
            assert!(
                reason.starts_with(words) && reason.ends_with("names it"),
                "{at}: {reason}"
            );
        }
    }
    let said = advice
        .database
        .notes
        .iter()
        .filter(|note| note.contains("FORCE INDEX"));
    assert_eq!(said.count(), 1);
}

/// A column that gets another type keeps the names of its keys: what names them goes on.
#[test]
fn digests_keep_the_names_of_their_keys() {
    for engine in ["postgres", "mariadb"] {
        let Some(server) = Server::start(engine) else {
            continue;
        };
        let (make, uses): (&[&str], &str) = match server.is_postgres() {
            true => (
                &[
                    "CREATE TABLE d (sha text, n int NOT NULL, CONSTRAINT once PRIMARY KEY (sha))",
                    "CREATE INDEX d_n ON d (n, sha)",
                    "INSERT INTO d SELECT encode(sha256(g::text::bytea), 'hex'), g FROM generate_series(1, 3000) g",
                    "CREATE FUNCTION f() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN INSERT INTO d SELECT * FROM d ON CONFLICT ON CONSTRAINT once DO NOTHING; REINDEX INDEX d_n; RETURN (SELECT count(*) FROM d); END $$",
                    "ANALYZE",
                ],
                "SELECT f()",
            ),
            false => (
                &[
                    "CREATE TABLE d (sha char(64) CHARACTER SET ascii NOT NULL PRIMARY KEY, n int NOT NULL, KEY d_n (n, sha))",
                    "INSERT INTO d SELECT sha2(seq, 256), seq FROM seq_1_to_3000",
                    "CREATE VIEW hinted AS SELECT n FROM d FORCE INDEX (d_n) WHERE n > 0",
                    "ANALYZE TABLE d",
                ],
                "SELECT count(*) FROM hinted",
            ),
        };
        server.run(make);
        assert_eq!(server.one(uses), "3000");
        let advice = server.advice();
        let plan = |title: &str| {
            let mut plans = advice.plans.iter();
            plans.find(|plan| plan.title.starts_with(title)).unwrap()
        };
        let steps = plan("bytes in place of text").steps.as_ref().unwrap();
        server.carry_out(steps, &mut |_| {});
        assert_eq!(server.one(uses), "3000");
        server.take_back(steps);
        assert_eq!(server.one(uses), "3000");
    }
}
