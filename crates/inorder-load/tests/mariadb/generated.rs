//! Random tables and rows, loaded beside INSERTs in strict mode: both store the same, or both refuse the file and store
//! nothing.

use inorder_load::Job;

use crate::generated_tables::{Dice, Table, TypeOf, order, seeds};
use crate::types::TEXTS;
use crate::{Server, server};

const CASES: u64 = 60;

#[rustfmt::skip]
const TYPES: &[TypeOf] = &[
    ("int", &["1", "-2", "2147483647"], true),
    ("tinyint unsigned", &["0", "255", "+7"], true),
    ("smallint(5) zerofill", &["7", "65535"], false),
    ("bigint unsigned", &["18446744073709551615", "0"], true),
    ("bigint", &["-9223372036854775808", "1.5"], true),
    ("decimal(10,3)", &["1.0005", "-7", "1e3"], true),
    ("float", &["3.14159274", "16777217"], false),
    ("double", &["0.1", "-1e300"], false),
    ("bit(9)", &["a", "0"], false),
    ("bit(64)", &["abcdefgh", "1"], false),
    ("year", &["2155", "70", "1901"], true),
    ("date", &["2024-02-29", "20240105", "9999-12-31"], true),
    ("datetime(3)", &["2024-02-29 23:59:59.9999", "2024-01-05T12:34:56"], true),
    ("timestamp(6) null", &["2024-01-05 12:34:56.1234567"], false),
    ("time(2)", &["838:59:58.25", "-01:00:00"], true),
    ("char(5)", &["ab", "ab   ", ""], true),
    ("varchar(12)", &["", "a", "A", "tab\t'\"", "a\\b", "NULL", "\\N"], true),
    ("varchar(12) collate utf8mb4_bin", &["a", "A", "é"], true),
    ("varchar(12) character set latin1", &["äß", "x"], false),
    ("varchar(12) character set ucs2", &["é€", "x"], false),
    ("text character set sjis", &["表", "ソ\\"], false),
    ("text", &["line\nend\r\n", "😀", "", "\\.", "%s"], false),
    ("longtext character set utf32", &["a😀b"], false),
    ("tinyblob", &["\\", "\x1a", "a'b"], false),
    ("varbinary(30)", &["x'41'", "", "tab\tx"], true),
    ("binary(4)", &["a", "abcd"], false),
    ("enum('a','b c','')", &["b c", "", "a"], true),
    ("set('a','b','c')", &["a,b", "", "c"], false),
    ("json", &["{\"b\": 1,  \"a\": [1]}", "null"], false),
    ("uuid", &["017f22e2-79b0-7cc3-98c4-dc0c0c07398f"], true),
    ("inet6", &["::1", "2001:DB8::1"], true),
    ("inet4", &["127.0.0.1"], true),
    ("int default 7", &["1", "2"], false),
    ("varchar(9) default 'given' invisible", &["x"], false),
];

fn quoted(name: &str) -> String {
    format!("`{name}`")
}

/// Text as SQL quotes it.
fn literal(field: &Option<String>) -> String {
    match field {
        None => "NULL".to_owned(),
        Some(text) => {
            let text = text.replace('\\', "\\\\").replace('\'', "''");
            format!("'{}'", text.replace('\0', "\\0"))
        }
    }
}

/// Inserts the rows into the table `wanted`. Returns whether all are taken.
fn insert(server: &Server, table: &Table) -> bool {
    let names: Vec<String> = table.names().into_iter().map(quoted).collect();
    table.rows.chunks(500).all(|rows| {
        let row = |row: &Vec<Option<String>>| {
            let values: Vec<String> = row.iter().map(literal).collect();
            format!("({})", values.join(","))
        };
        let rows: Vec<String> = rows.iter().map(row).collect();
        let insert = format!(
            "INSERT INTO wanted({}) VALUES {}",
            names.join(","),
            rows.join(",")
        );
        server.database.execute(&insert).is_ok()
    })
}

#[test]
fn random_tables_are_loaded_as_strict_inserts_fill_them() {
    let Some(server) = server() else { return };
    server.run("SET SESSION sql_mode = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION'");
    let (mut stored, mut refused) = (0, 0);
    for seed in seeds(CASES) {
        let mut dice = Dice::new(seed);
        let table = Table::random(&mut dice, TYPES, TEXTS);
        let definition = table.definition(TYPES, quoted);
        server.run("DROP TABLE IF EXISTS t");
        definition.iter().for_each(|sql| server.run(sql));
        server.run("CREATE OR REPLACE TABLE wanted LIKE t");
        server.run("INSERT INTO wanted SELECT * FROM t");
        server.run("CREATE OR REPLACE TABLE kept AS SELECT * FROM t");
        server.run("BEGIN");
        let is_taken = insert(&server, &table);
        server.run(if is_taken { "COMMIT" } else { "ROLLBACK" });
        let path = server.folder.file("rows.csv", table.csv());
        let job = Job {
            order: order(&mut dice),
            threads: 1 + dice.below(3),
            memory_bytes: 1 << dice.pick(&[18, 24]),
            // Text stays as it is, as that of the INSERTs.
            decode: table
                .names()
                .into_iter()
                .map(|name| (name.to_owned(), None))
                .collect(),
            ..server.job(&path, "t")
        };
        let loaded = server.load(&job);
        let case = format!("INORDER_FUZZ_SEED={seed}, {:?}, {definition:?}", job.order);
        assert_eq!(loaded.is_ok(), is_taken, "{case}: {loaded:?}");
        let all: Vec<String> = table
            .columns
            .iter()
            .map(|column| {
                let name = quoted(&column.name);
                format!(
                    "HEX({name}) AS {name}, CONCAT({name}) AS `text of {}`",
                    column.name
                )
            })
            .collect();
        let all = all.join(", ");
        let differ = |one: &str, other: &str| {
            server.rows(&format!(
                "SELECT {all} FROM {one} EXCEPT ALL SELECT {all} FROM {other}"
            ))
        };
        let like = if is_taken { "wanted" } else { "kept" };
        let differences = (differ("t", like), differ(like, "t"));
        assert_eq!(differences, (0, 0), "{case}");
        match loaded {
            Ok(summary) => {
                assert_eq!(summary.rows_written, table.rows.len() as u64, "{case}");
                stored += 1;
            }
            Err(_) => refused += 1,
        }
    }
    eprintln!("{stored} files are stored alike, {refused} are refused alike");
    let is_one = std::env::var_os("INORDER_FUZZ_SEED").is_some();
    assert!(is_one || (stored > 9 && refused > 5), "{stored}, {refused}");
}
