//! Sources that tell types: JSON beside the server's own `json_populate_record`, and tables of SQLite.

use std::fmt::Write as _;

use inorder_load::{Decode, Job};
use rusqlite::Connection;

use crate::server::Server;

/// JSON values, each given to columns of each type; without spaces between the parts, which the source leaves out.
const JSON: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "1",
    "-1",
    "2",
    "1.0",
    "1.10",
    "0.1234567890123456789",
    "9007199254740993",
    "123456789012345678901234567890",
    "1e3",
    "1e400",
    "\"\"",
    "\" \"",
    "\"a\"",
    "\"true\"",
    "\"t\"",
    "\"12\"",
    "\" 12 \"",
    "\"null\"",
    "\"NULL\"",
    "\"1.10\"",
    "\"\\\\N\"",
    "\"a\\tb\\nc\\\\d\\\"e\"",
    "\"\\u00e9\\ud83d\\ude00\"",
    "\"\\u0001\\u0008\"",
    "\"{}\"",
    "\"{1,2}\"",
    "\"[1]\"",
    "\"{\\\"a\\\": 1}\"",
    "\"2024-01-05\"",
    "\"2024-01-05T10:11:12Z\"",
    "\"017f22e2-79b0-7cc3-98c4-dc0c0c07398f\"",
    "\"\\\\x6162\"",
    "\"1.2.3.4\"",
    "{}",
    "[]",
    "{\"a\":1.10,\"b\":[1,\"x\"]}",
    "[1,2]",
    "[1.10,null,3]",
    "[\"a\",null,\"NULL\",\"a,b\",\"{}\",\"a\\\"b\\\\c\"]",
    "[[1,2],[3,4]]",
    "[[\"a\"],[\"b\"]]",
    "[{\"a\":1},\"s\",[2]]",
    "[true,false]",
    "[\"2024-01-05\"]",
    "[\"017f22e2-79b0-7cc3-98c4-dc0c0c07398f\"]",
    "[[1],[2,3]]",
    "[[1],2]",
    "[1,[2]]",
    "[[],[1]]",
    "[null,[1]]",
];

const TYPES: &[&str] = &[
    "boolean",
    "smallint",
    "integer",
    "bigint",
    "real",
    "double precision",
    "numeric",
    "numeric(8,2)",
    "text",
    "varchar(4)",
    "char(4)",
    "bytea",
    "uuid",
    "date",
    "timestamptz",
    "interval",
    "inet",
    "json",
    "jsonb",
    "doc",
    "boolean[]",
    "integer[]",
    "numeric[]",
    "text[]",
    "date[]",
    "uuid[]",
    "json[]",
    "jsonb[]",
    "colour",
    "colour[]",
    "int4range",
    "citext",
    "bit(1)",
    "money",
    "tsvector",
    "xml",
];

#[test]
fn json_is_taken_as_the_server_itself_takes_it() {
    let Some(server) = Server::start() else {
        return;
    };
    server.sql("CREATE EXTENSION citext; CREATE DOMAIN doc AS jsonb; CREATE TYPE colour AS ENUM ('a', 'NULL')");
    let row = |(value, json): (usize, &&str)| format!("{{\"i\": {value}, \"v\": {json}}}\n");
    let all: String = JSON.iter().enumerate().map(row).collect();
    server.file("all.jsonl", all);
    let mut script = String::new();
    for (number, ty) in TYPES.iter().enumerate() {
        let _ = writeln!(
            script,
            "CREATE TABLE p_{number}(i int, v {ty}); CREATE TABLE i_{number}(i int, v {ty});"
        );
        for (value, json) in JSON.iter().enumerate() {
            let json = json.replace('\'', "''");
            // The server has no objects for what is no row, and no elements that are no arrays: those are errors of its own.
            let _ = writeln!(
                script,
                "INSERT INTO p_{number} SELECT * FROM json_populate_record(NULL::p_{number}, '{{\"i\": {value}, \"v\": {json}}}');"
            );
        }
    }
    server.psql(&script);
    let mut pairs = 0;
    for (number, ty) in TYPES.iter().enumerate() {
        let job = Job {
            errors_max: u64::MAX,
            ..server.job(&format!("i_{number}"), "all.jsonl")
        };
        let summary = server.run(&job).expect(ty);
        for refusal in &summary.refused_because {
            assert!(refusal.contains("all.jsonl, line "), "{ty}: {refusal}");
        }
        let rows = |kind: &str| {
            server.sql(&format!(
                "SELECT i, v::text FROM {kind}_{number} ORDER BY i"
            ))
        };
        let (expected, found) = (rows("p"), rows("i"));
        pairs += summary.rows_written;
        assert_eq!(found, expected, "{ty}");
    }
    println!(
        "{} types, {} values of JSON: {pairs} pairs are stored alike",
        TYPES.len(),
        JSON.len()
    );
}

#[test]
fn a_table_of_sqlite_is_taken_value_by_value() {
    let Some(server) = Server::start() else {
        return;
    };
    let source = Connection::open(server.path("source.db")).expect("a database");
    let make = "CREATE TABLE t(id BLOB, n, r REAL, b, s TEXT, doc TEXT, raw BLOB);
        INSERT INTO t VALUES (x'017f22e279b07cc398c4dc0c0c07398f', 9007199254740993, 0.1, 1, 'a''\t\\N', '{\"a\":1.10}', x'00ff5c78');
        INSERT INTO t VALUES (x'017f22e279b07cc398c4dc0c0c073990', NULL, 1e300, 0, '', '\"s\"', x'');
        INSERT INTO t VALUES ('017f22e2-79b0-7cc3-98c4-dc0c0c073991', '12', -5.0, 'f', 'é', NULL, '\\x6162');";
    source.execute_batch(make).expect("a table");
    server.sql("CREATE TABLE t(id uuid PRIMARY KEY, n bigint, r double precision, b boolean, s text, doc jsonb, raw bytea)");
    let job = |columns: &str| {
        let mut job = server.job("t", "source.db");
        job.inputs[0].table = Some("t".to_owned());
        job.columns =
            (!columns.is_empty()).then(|| columns.split(',').map(str::to_owned).collect());
        job
    };
    server.run(&job("")).expect("a load");
    assert_eq!(
        server.sql("SELECT * FROM t ORDER BY id"),
        [
            "017f22e2-79b0-7cc3-98c4-dc0c0c07398f|9007199254740993|0.1|t|a'\t\\N|{\"a\": 1.10}|\\x00ff5c78",
            "017f22e2-79b0-7cc3-98c4-dc0c0c073990||1e+300|f||\"s\"|\\x",
            "017f22e2-79b0-7cc3-98c4-dc0c0c073991|12|-5|f|é||\\x6162",
        ]
    );
    // A real that is no integer, and bytes that are no text, are refused.
    server.sql("CREATE TABLE u(n integer, s text)");
    for (value, word) in [
        ("0.5", "column `n`"),
        ("1e300", "column `n`"),
        ("x'41'", "column `n`"),
    ] {
        source
            .execute_batch(&format!(
                "CREATE TABLE IF NOT EXISTS u(n); DELETE FROM u; INSERT INTO u VALUES ({value})"
            ))
            .expect("a row");
        let mut job = server.job("u", "source.db");
        job.inputs[0].table = Some("u".to_owned());
        let error = server.run(&job).expect_err(value);
        assert!(error.contains(word) && error.contains("line 1"), "{error}");
    }
    assert_eq!(server.sql("SELECT count(*) FROM u"), ["0"]);
}

#[test]
fn text_for_bytes_is_decoded_where_that_is_said() {
    let Some(server) = Server::start() else {
        return;
    };
    server.sql("CREATE TABLE t(id bytea PRIMARY KEY, u uuid)");
    let ulid = "01FWHE4YDGFK1SHH6W1G60EECF";
    server.file("t.csv", format!("id,u\n6162,{ulid}\n"));
    let mut job = server.job("t", "t.csv");
    server
        .run(&job)
        .expect_err("a ULID is no UUID to the server");
    job.decode = vec![
        ("id".to_owned(), Decode::from_name("hex")),
        ("u".to_owned(), Decode::from_name("ulid")),
    ];
    server.run(&job).expect("a load");
    assert_eq!(
        server.sql("SELECT * FROM t"),
        ["\\x6162|017f22e2-79b0-7cc3-98c4-dc0c0c07398f"]
    );
    // Without decoding, the server parses the text.
    server.file("t.csv", "id,u\n6162,\n");
    server.load("t", "t.csv").expect("a load");
    assert_eq!(
        server.sql("SELECT id FROM t WHERE u IS NULL"),
        ["\\x36313632"]
    );
}

#[test]
fn a_decimal_comma_is_read_for_numbers_alone() {
    let Some(server) = Server::start() else {
        return;
    };
    server.sql(
        "CREATE DOMAIN price AS numeric(10,2);
         CREATE TABLE t(i int, n numeric, p price, r real, d double precision, s text, a inet)",
    );
    let row = "1.234;1.234,50;1,50;0,5;-0,25;1.234;192.168.100.200\n";
    server.file("t.csv", format!("i;n;p;r;d;s;a\n{row}"));
    let mut job = server.job("t", "t.csv");
    job.read_options.has_decimal_comma = Some(true);
    server.run(&job).expect("a load");
    assert_eq!(
        server.sql("SELECT * FROM t"),
        ["1234|1234.50|1.50|0.5|-0.25|1.234|192.168.100.200"]
    );
    job.table = "u".to_owned();
    job.create = Some(inorder_load::Create::default());
    server.file("t.csv", "a;b;c\n1,5;1.234;1\n2;1.2.3;2\n");
    server.run(&job).expect("a load");
    assert_eq!(
        server.sql("SELECT a, b, c FROM u ORDER BY c"),
        ["1.5|1.234|1", "2|1.2.3|2"]
    );
}

#[test]
fn lines_are_those_of_copy() {
    let Some(server) = Server::start() else {
        return;
    };
    for (columns, content) in [
        ("a int", "a\n1\n\n3\n"),
        ("a int", "a\n1\n\n3\n\n"),
        ("a int", "a\n\n"),
        ("a int", "a\r\n1\r\n\r\n3\r\n"),
        ("a text", "a\n\"x\ry\"\n\n"),
        ("k int, v text", "k,v\n1,a\rb\n3,c\n"),
        ("k int, v text", "k,v\r1,a\r3,c\r"),
        ("k int, v text", "k,v\r1,a\nb\r3,c\r"),
    ] {
        server.sql(&format!(
            "DROP TABLE IF EXISTS p, i; CREATE TABLE p({columns}); CREATE TABLE i({columns})"
        ));
        server.file("t.csv", content);
        let is_refused = server.copy("p", "t.csv").contains("ERROR");
        let loaded = server.load("i", "t.csv");
        assert_eq!(loaded.is_err(), is_refused, "{content:?}: {loaded:?}");
        let [expected, found] = ["p", "i"].map(|table| {
            server.sql(&format!(
                "SELECT count(*), md5(string_agg({table}::text, '|' ORDER BY {table})) FROM {table}"
            ))
        });
        assert_eq!(found, expected, "{content:?}");
    }
}

#[cfg(feature = "parquet")]
#[test]
fn points_in_time_of_parquet_are_stored_as_such() {
    let Some(server) = Server::start() else {
        return;
    };
    server.sql(
        "ALTER DATABASE postgres SET TimeZone = 'America/New_York';
         CREATE TABLE t(i int, at timestamptz, local timestamp)",
    );
    crate::common::instants::write(&server.path("t.parquet"));
    server.load("t", "t.parquet").expect("a load");
    let mut job = server.job("u", "t.parquet");
    job.create = Some(inorder_load::Create::default());
    server.run(&job).expect("a load");
    for table in ["t", "u"] {
        let micros = format!(
            "SELECT (extract(epoch FROM at) * 1000000)::bigint, (extract(epoch FROM local) * 1000000)::bigint
             FROM {table} ORDER BY i"
        );
        let expected = crate::common::instants::MICROS.map(|micros| format!("{micros}|{micros}"));
        assert_eq!(server.sql(&micros), expected, "{table}");
    }
    assert_eq!(
        server.sql("SELECT pg_typeof(at), pg_typeof(local) FROM u LIMIT 1"),
        ["timestamp with time zone|timestamp without time zone"]
    );
    server.sql("CREATE TABLE v(i int, at text, local date)");
    server.load("v", "t.parquet").expect("a load");
    assert_eq!(
        server.sql("SELECT at, local = '2023-11-14' FROM v WHERE i = 1"),
        ["2023-11-14 22:13:20.123456|t"]
    );
}

/// In a quoted field psql before version 18 takes such a line for the end of the file.
#[test]
fn a_line_that_looks_like_the_end_is_text() {
    let Some(server) = Server::start() else {
        return;
    };
    server.sql("CREATE TABLE t(i int, v text)");
    server.file("t.csv", "i,v\n1,\"a\n\\.\nb\"\n2,\\.\n");
    server.load("t", "t.csv").expect("a load");
    let check = "SELECT i FROM t WHERE v IN (E'a\\n\\\\.\\nb', '\\.') ORDER BY i";
    assert_eq!(server.sql(check), ["1", "2"]);
}
