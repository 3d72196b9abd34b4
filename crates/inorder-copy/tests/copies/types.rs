//! Types keep their meaning: each declared type of SQLite, and each type of a server in SQLite, over values of its edges.

use inorder_testing::PrivateServer;

use super::edges::{file_with, told};
use super::{File, copy, start};

/// A declared type of SQLite, literals, the type of the copy and its texts there.
type Case = (
    &'static str,
    &'static [&'static str],
    &'static str,
    &'static [&'static str],
);

const DECLARED: &[Case] = &[
    (
        "decimal(10,2)",
        &["19.99", "0.5", "-3", "'7.25'"],
        "numeric(10,2)",
        &["19.99", "0.50", "-3.00", "7.25"],
    ),
    ("DECIMAL(5)", &["99999"], "numeric(5,0)", &["99999"]),
    (
        "NUMERIC",
        &["0.1", "1e20", "5"],
        "numeric",
        &["0.1", "100000000000000000000", "5"],
    ),
    ("money", &["4.5"], "numeric", &["4.5"]),
    (
        "REAL",
        &["0.1", "3", "1e308"],
        "double precision",
        &["0.1", "3", "1e+308"],
    ),
    ("float", &["2.5"], "double precision", &["2.5"]),
    (
        "double precision",
        &["-0.25"],
        "double precision",
        &["-0.25"],
    ),
    (
        "date",
        &["'2024-02-29'", "'1969-12-31'"],
        "date",
        &["2024-02-29", "1969-12-31"],
    ),
    (
        "datetime",
        &[
            "'2024-02-29 23:59:59.5'",
            "'2024-02-29T10:00'",
            "'2024-02-29'",
        ],
        "timestamp without time zone",
        &[
            "2024-02-29 23:59:59.5",
            "2024-02-29 10:00:00",
            "2024-02-29 00:00:00",
        ],
    ),
    (
        "datetime(6)",
        &["'2024-02-29 23:59:59.123456'"],
        "timestamp(6) without time zone",
        &["2024-02-29 23:59:59.123456"],
    ),
    (
        "timestamp",
        &[
            "'2024-02-29 10:00:00+02:00'",
            "'2024-02-29 10:00:00Z'",
            "'2024-02-29 10:00:00'",
        ],
        "timestamp with time zone",
        &[
            "2024-02-29 08:00:00+00",
            "2024-02-29 10:00:00+00",
            "2024-02-29 10:00:00+00",
        ],
    ),
    (
        "timestamptz",
        &["'2024-02-29 10:00:00.25'"],
        "timestamp with time zone",
        &["2024-02-29 10:00:00.25+00"],
    ),
    (
        "time",
        &["'10:00'", "'23:59:59.5'"],
        "time without time zone",
        &["10:00:00", "23:59:59.5"],
    ),
    ("boolean", &["0", "1", "'1'"], "boolean", &["f", "t", "t"]),
    ("BOOL", &["'t'", "'f'"], "boolean", &["t", "f"]),
    ("bit", &["1"], "boolean", &["t"]),
    (
        "json",
        &["'{\"b\": 1,  \"a\": [1]}'", "'5'", "'null'"],
        "json",
        &["{\"b\": 1,  \"a\": [1]}", "5", "null"],
    ),
    (
        "uuid",
        &[
            "'017F22E2-79B0-7CC3-98C4-DC0C0C07398F'",
            "x'017f22e279b07cc398c4dc0c0c07398f'",
        ],
        "uuid",
        &[
            "017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
            "017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
        ],
    ),
    ("blob", &["x'00ff'"], "bytea", &["\\x00ff"]),
    (
        "varchar(4)",
        &["'abcd'", "'\u{fc}\u{fc}\u{fc}\u{fc}'", "12"],
        "character varying(4)",
        &["abcd", "\u{fc}\u{fc}\u{fc}\u{fc}", "12"],
    ),
    ("char(3)", &["'ab'"], "character varying(3)", &["ab"]),
    ("TEXT", &["'x'", "7"], "text", &["x", "7"]),
    ("tinyint", &["127"], "smallint", &["127"]),
    ("smallint", &["-32768"], "smallint", &["-32768"]),
    ("smallint unsigned", &["65535"], "integer", &["65535"]),
    ("mediumint", &["8388607"], "integer", &["8388607"]),
    ("int", &["2147483647"], "integer", &["2147483647"]),
    ("int unsigned", &["4294967295"], "bigint", &["4294967295"]),
    ("INTEGER", &["5"], "bigint", &["5"]),
    (
        "bigint",
        &["9223372036854775807"],
        "bigint",
        &["9223372036854775807"],
    ),
];

/// Values that are not of a declared type, the type of the copy and what a note says.
const WRONG: &[(&str, &str, &str, &str)] = &[
    (
        "decimal(10,2)",
        "19.999",
        "numeric",
        "declared decimal(10,2), numeric in the copy: 1 value",
    ),
    ("decimal(4,2)", "100", "numeric", "declared decimal(4,2)"),
    ("decimal(10,2)", "'n/a'", "text", "row 2: `n/a`"),
    ("numeric", "x'00'", "bytea", "row 2: 1 bytes"),
    ("real", "'x'", "text", "row 2: `x`"),
    ("date", "'0000-00-00'", "text", "row 2: `0000-00-00`"),
    ("date", "'2023-02-29'", "text", "row 2: `2023-02-29`"),
    (
        "date",
        "'2024-01-01 10:00:00'",
        "timestamp without time zone",
        "row 2: `2024-01-01 10:00:00`",
    ),
    ("datetime", "1700000000", "text", "row 2: 1700000000"),
    (
        "datetime",
        "'2024-01-01 10:00:00.1234567'",
        "text",
        "row 2:",
    ),
    (
        "datetime",
        "'2024-01-01 10:00:00+02:00'",
        "timestamp with time zone",
        "row 2:",
    ),
    (
        "datetime(3)",
        "'2024-01-01 10:00:00.1234'",
        "timestamp without time zone",
        "row 2:",
    ),
    ("time", "'838:59:59'", "interval", "row 2: `838:59:59`"),
    ("time", "'noon'", "text", "row 2: `noon`"),
    ("boolean", "2", "bigint", "row 2: 2"),
    ("json", "'{'", "text", "row 2: `{`"),
    ("uuid", "'x'", "text", "row 2: `x`"),
    ("blob", "'x'", "bytea", "row 2: `x`"),
    (
        "varchar(4)",
        "'abcde'",
        "text",
        "declared varchar(4), text in the copy: 1 value is not texts of at most 4 characters, the first in row 2: `abcde`",
    ),
    (
        "smallint",
        "40000",
        "integer",
        "declared smallint, integer in the copy",
    ),
    (
        "int",
        "3000000000",
        "bigint",
        "declared INT, bigint in the copy",
    ),
    ("int", "1.5", "double precision", "row 2: 1.5"),
    ("bigint", "''", "text", "row 2: ``"),
];

/// A table with a column of a declared type.
fn table(name: &str, declared: &str, literals: &[&str]) -> String {
    let mut sql = format!("CREATE TABLE {name} (i INTEGER PRIMARY KEY, c {declared});");
    for (i, literal) in literals.iter().enumerate() {
        sql += &format!("INSERT INTO {name} VALUES ({}, {literal});", i + 1);
    }
    sql
}

fn type_in(server: &PrivateServer, table: &str) -> String {
    server
        .rows(&format!(
            "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = '{table}'::regclass AND attname = 'c'"
        ))
        .concat()
}

#[test]
fn declared_types_of_sqlite_are_kept_through_three_copies() {
    let (Some(to), Some(again)) = (start("postgres"), start("postgres")) else {
        return;
    };
    let mut sql = String::new();
    for (at, (declared, literals, ..)) in DECLARED.iter().enumerate() {
        sql += &table(&format!("t{at}"), declared, literals);
        sql += &format!("INSERT INTO t{at}(c) VALUES (NULL);");
        // The declared type alone decides about a column without values.
        sql += &table(&format!("e{at}"), declared, &[]);
    }
    let (from, back) = (file_with(&sql), File::new());
    let summary = copy(&from.name(), &to.url()).expect("a copy");
    assert_eq!(told(&summary, "declared").len(), 1, "{:?}", summary.notes);
    copy(&to.url(), &back.name()).expect("a copy to SQLite");
    copy(&back.name(), &again.url()).expect("a copy of the copy");
    for (at, (declared, _, ty, texts)) in DECLARED.iter().enumerate() {
        for server in [&to, &again] {
            let rows = format!("SELECT c FROM t{at} WHERE c IS NOT NULL ORDER BY i");
            assert_eq!(server.rows(&rows), *texts, "{declared}");
            // The next row is no other number and no text.
            server.run(&format!(
                "INSERT INTO t{at}(c) SELECT c FROM t{at} WHERE i = 1"
            ));
        }
        let precise = |ty: &str| ty.replace("(6)", "");
        assert_eq!(type_in(&to, &format!("t{at}")), *ty, "{declared}");
        let kept = type_in(&again, &format!("t{at}"));
        let expected = match *ty {
            // SQLite has one width of integers.
            "smallint" | "integer" => "bigint".to_owned(),
            ty => precise(ty),
        };
        assert_eq!(kept, expected, "{declared}");
        let is_number = ["numeric", "double", "int"]
            .iter()
            .any(|word| ty.contains(word));
        if is_number {
            let sums = format!("SELECT sum(c) = (SELECT sum(c) FROM t{at} WHERE i > 0) FROM t{at}");
            assert_eq!(to.rows(&sums), ["t"], "{declared}");
        }
    }
    let price = "INSERT INTO t0(i, c) VALUES (99, 19.99) RETURNING c";
    assert_eq!(to.rows(price), ["19.99"]);
}

#[test]
fn values_of_another_type_are_told_with_their_number_and_the_first_row() {
    let Some(to) = start("postgres") else { return };
    let mut sql = String::new();
    for (at, (declared, literal, ..)) in WRONG.iter().enumerate() {
        let right = DECLARED
            .iter()
            .find(|(own, ..)| own.eq_ignore_ascii_case(declared));
        let right = right.map_or("NULL", |(_, literals, ..)| literals[0]);
        sql += &table(&format!("w{at}"), declared, &[right, literal]);
    }
    let from = file_with(&sql);
    let summary = copy(&from.name(), &to.url()).expect("a copy");
    for (at, (declared, literal, ty, note)) in WRONG.iter().enumerate() {
        let name = format!("w{at}");
        assert_eq!(type_in(&to, &name), *ty, "{declared} {literal}");
        let notes = summary.notes.iter();
        let own: Vec<&String> = notes
            .filter(|told| told.starts_with(&format!("table {name}: column `c`:")))
            .collect();
        let is_told = own.iter().any(|told| told.contains(note));
        assert!(is_told, "{declared} {literal}: {own:?}");
        assert_eq!(to.rows(&format!("SELECT count(c) >= 1 FROM {name}")), ["t"]);
    }
}

/// A type of PostgreSQL, a literal, what SQLite declares, its storage class and its text, and what a function says of it.
const IN_SQLITE: &[(&str, &str, &str, &str, &str, &str, &str)] = &[
    (
        "numeric(10,2)",
        "19.90",
        "DECIMAL(10,2)",
        "real",
        "19.9",
        "c > 5",
        "1",
    ),
    (
        "numeric(10,2)",
        "7",
        "DECIMAL(10,2)",
        "integer",
        "7",
        "sum(c) OVER ()",
        "7",
    ),
    ("numeric", "0.10", "NUMERIC", "real", "0.1", "c < 5", "1"),
    (
        "numeric(30,10)",
        "12345678901234567890.5",
        "TEXT",
        "text",
        "12345678901234567890.5000000000",
        "1",
        "1",
    ),
    (
        "numeric(30,10)",
        "2.5",
        "DECIMAL(30,10)",
        "real",
        "2.5",
        "1",
        "1",
    ),
    ("numeric", "'NaN'", "TEXT", "text", "NaN", "1", "1"),
    (
        "timestamptz",
        "'2024-02-29 23:59:59.5+05:30'",
        "TIMESTAMPTZ",
        "text",
        "2024-02-29 18:29:59.5",
        "datetime(c)",
        "2024-02-29 18:29:59",
    ),
    (
        "timestamptz",
        "'infinity'",
        "TIMESTAMPTZ",
        "text",
        "infinity",
        "datetime(c)",
        "NULL",
    ),
    (
        "timestamp",
        "'0044-03-15 10:00:00 BC'",
        "DATETIME",
        "text",
        "-0043-03-15 10:00:00",
        "julianday(c) IS NOT NULL",
        "1",
    ),
    (
        "date",
        "'2024-02-29'",
        "DATE",
        "text",
        "2024-02-29",
        "strftime('%j', c)",
        "060",
    ),
    (
        "date",
        "'0001-01-01 BC'",
        "DATE",
        "text",
        "0000-01-01",
        "julianday(c) IS NOT NULL",
        "1",
    ),
    (
        "time",
        "'10:00:00.250'",
        "TIME",
        "text",
        "10:00:00.25",
        "time(c)",
        "10:00:00",
    ),
    (
        "timetz",
        "'10:00:00+02'",
        "TIMETZ",
        "text",
        "10:00:00+02:00",
        "time(c)",
        "08:00:00",
    ),
    (
        "interval",
        "'1 year -3 days 04:05:06'",
        "TEXT",
        "text",
        "P1Y-3DT4H5M6S",
        "1",
        "1",
    ),
    (
        "interval",
        "'04:05:06'",
        "TEXT",
        "text",
        "04:05:06",
        "time('00:00', c)",
        "04:05:06",
    ),
    (
        "boolean",
        "true",
        "BOOLEAN",
        "integer",
        "1",
        "c IS TRUE",
        "1",
    ),
    (
        "money",
        "12.5::numeric::money",
        "NUMERIC",
        "real",
        "12.5",
        "c > 5",
        "1",
    ),
    (
        "uuid",
        "'017f22e2-79b0-7cc3-98c4-dc0c0c07398f'",
        "UUID",
        "text",
        "017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
        "1",
        "1",
    ),
    (
        "json",
        "'5'",
        "JSON TEXT",
        "text",
        "5",
        "json_type(c)",
        "integer",
    ),
    (
        "jsonb",
        "'1.50'",
        "JSON TEXT",
        "text",
        "1.50",
        "json_valid(c)",
        "1",
    ),
    (
        "varchar(5)",
        "'1.50'",
        "VARCHAR(5)",
        "text",
        "1.50",
        "length(c)",
        "4",
    ),
    ("int[]", "'{1,2}'", "TEXT", "text", "{1,2}", "1", "1"),
    (
        "real",
        "0.1",
        "REAL",
        "real",
        "0.10000000149011612",
        "c < 0.2",
        "1",
    ),
];

#[test]
fn types_of_postgres_are_those_that_sqlite_computes_with() {
    let Some(from) = start("postgres") else {
        return;
    };
    for (at, (ty, literal, ..)) in IN_SQLITE.iter().enumerate() {
        from.run(&format!("CREATE TABLE t{at} (i int PRIMARY KEY, c {ty})"));
        from.run(&format!(
            "INSERT INTO t{at} VALUES (1, {literal}), (2, NULL)"
        ));
    }
    let file = File::new();
    let summary = copy(&from.url(), &file.name()).expect("a copy");
    for (at, (ty, literal, declared, class, text, function, says)) in IN_SQLITE.iter().enumerate() {
        let found = file.rows(&format!(
            "SELECT type FROM pragma_table_info('t{at}') WHERE name = 'c'"
        ));
        assert_eq!(found, [*declared], "{ty} {literal}");
        let found = file.rows(&format!(
            "SELECT typeof(c), c, {function} FROM t{at} WHERE i = 1"
        ));
        assert_eq!(found, [format!("{class}|{text}|{says}")], "{ty} {literal}");
    }
    let doubts = told(&summary, "more digits than its numbers");
    assert_eq!(doubts.len(), 2, "{:?}", summary.notes);
    assert!(doubts[0].contains("1 value has more digits than its numbers, the first in row 1: "));
}

/// A type of MariaDB, a literal, what SQLite declares, the text, and what a function says of it.
const OF_MARIADB: &[(&str, &str, &str, &str, &str, &str)] = &[
    (
        "decimal(10,2)",
        "19.90",
        "DECIMAL(10,2)",
        "19.9",
        "c > 5",
        "1",
    ),
    ("bigint unsigned", "7", "DECIMAL(20)", "7", "c + 1", "8"),
    (
        "bigint unsigned",
        "18446744073709551615",
        "TEXT",
        "18446744073709551615",
        "1",
        "1",
    ),
    (
        "datetime(6)",
        "'2024-02-29 23:59:59.500000'",
        "DATETIME",
        "2024-02-29 23:59:59.5",
        "datetime(c)",
        "2024-02-29 23:59:59",
    ),
    (
        "timestamp",
        "'2024-02-29 23:59:59'",
        "TIMESTAMPTZ",
        "2024-02-29 23:59:59",
        "date(c, '+1 day')",
        "2024-03-01",
    ),
    (
        "date",
        "'2024-02-29'",
        "DATE",
        "2024-02-29",
        "date(c)",
        "2024-02-29",
    ),
    (
        "time",
        "'10:30:00'",
        "TIME",
        "10:30:00",
        "time(c)",
        "10:30:00",
    ),
    (
        "time(2)",
        "'-838:59:58.50'",
        "TIME",
        "-838:59:58.5",
        "1",
        "1",
    ),
    ("year", "2024", "INTEGER", "2024", "c - 1", "2023"),
    ("float", "0.1", "REAL", "0.10000000149011612", "c < 1", "1"),
    (
        "json",
        "'[1]'",
        "JSON TEXT",
        "[1]",
        "json_array_length(c)",
        "1",
    ),
    ("char(5)", "'ab'", "VARCHAR(5)", "ab", "length(c)", "2"),
];

#[test]
fn types_of_mariadb_are_those_that_sqlite_computes_with() {
    let (Some(from), Some(to)) = (start("mariadb"), start("postgres")) else {
        return;
    };
    from.run("SET time_zone = '+00:00'");
    for (at, (ty, literal, ..)) in OF_MARIADB.iter().enumerate() {
        from.run(&format!(
            "CREATE TABLE t{at} (i int PRIMARY KEY, c {ty} NULL)"
        ));
        from.run(&format!(
            "INSERT INTO t{at} VALUES (1, {literal}), (2, NULL)"
        ));
    }
    let file = File::new();
    copy(&from.url(), &file.name()).expect("a copy");
    for (at, (ty, literal, declared, text, function, says)) in OF_MARIADB.iter().enumerate() {
        let found = file.rows(&format!(
            "SELECT type FROM pragma_table_info('t{at}') WHERE name = 'c'"
        ));
        assert_eq!(found, [*declared], "{ty} {literal}");
        let found = file.rows(&format!("SELECT c, {function} FROM t{at} WHERE i = 1"));
        assert_eq!(found, [format!("{text}|{says}")], "{ty} {literal}");
    }
    // Hours beyond a day keep their type on the way to PostgreSQL.
    copy(&file.name(), &to.url()).expect("a copy of the copy");
    assert_eq!(type_in(&to, "t7"), "interval");
    assert_eq!(to.rows("SELECT c FROM t7 WHERE i = 1"), ["-838:59:58.5"]);
}

#[test]
fn each_value_keeps_its_storage_class_between_files_of_sqlite() {
    for encoding in ["UTF-8", "UTF-16le", "UTF-16be"] {
        let from = file_with(&format!(
            "PRAGMA encoding = '{encoding}'; CREATE TABLE t (id INTEGER PRIMARY KEY, v, n NUMERIC, d datetime, x decimal(10,2));
             INSERT INTO t VALUES (1, 'a\u{e9}', 1.5, 1700000000, 19.99), (2, x'6100', 'x', '2024-01-01', 3), (3, 1.5, 2, NULL, 'n/a'),
                 (4, 7, 9007199254740993, 0.5, x'00'), (5, NULL, '', '', ''), (6, '', 9e999, 'T', -0.0)"
        ));
        let to = File::new();
        let summary = copy(&from.name(), &to.name()).expect("a copy");
        assert!(summary.notes.is_empty(), "{:?}", summary.notes);
        let all = "SELECT id, typeof(v), quote(v), typeof(n), quote(n), typeof(d), quote(d), typeof(x), quote(x) FROM t ORDER BY id";
        assert_eq!(to.rows(all), from.rows(all), "{encoding}");
        let declared = "SELECT name, type FROM pragma_table_info('t')";
        assert_eq!(to.rows(declared), from.rows(declared));
    }
}

#[test]
fn integers_are_as_wide_as_those_that_they_refer_to() {
    let Some(to) = start("postgres") else { return };
    let from = file_with(
        "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (id INTEGER PRIMARY KEY, p int REFERENCES p);
         CREATE TABLE g (c smallint REFERENCES c(id)); INSERT INTO p VALUES (1); INSERT INTO c VALUES (1, 1); INSERT INTO g VALUES (1)",
    );
    copy(&from.name(), &to.url()).expect("a copy");
    let types = "SELECT attrelid::regclass, format_type(atttypid, NULL) FROM pg_attribute
        WHERE attrelid IN ('c'::regclass, 'g'::regclass) AND attname IN ('p', 'c') AND attnum > 0 ORDER BY 1::text";
    assert_eq!(to.rows(types), ["c|bigint", "g|bigint"]);
}
