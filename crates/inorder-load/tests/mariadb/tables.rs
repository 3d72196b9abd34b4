//! Tables: keys, constraints, engines, settings, names, and what has to survive a load.

use crate::{Server, common, server};
use inorder_load::OnDuplicate;

impl Server {
    /// A load that is refused, with nothing stored. Returns why.
    fn refused(&self, table: &str, csv: &str) -> String {
        let name = format!("`{}`", table.replace('`', "``"));
        let before = self.database.count(table).expect("a count");
        let why = self.load_csv(table, csv).expect_err("refused");
        let after = self.database.count(table).expect("a count");
        assert_eq!(after, before, "{name}: {why}");
        let left = "SELECT 1 FROM information_schema.tables WHERE table_name LIKE 'inorder\\_%'";
        assert_eq!(self.rows(left), 0, "a table beside is left");
        why
    }
}

#[test]
fn what_load_data_only_warns_of_is_refused() {
    let Some(server) = server() else { return };
    for (declared, value) in [
        ("boolean", "true"),
        ("int", "99999999999"),
        ("varchar(3)", "Alexander"),
        ("date", "2024-13-01"),
        ("int", "abc"),
        ("int unsigned", "-1"),
        ("enum('a','b')", "c"),
        ("inet6", "2001:db8::g"),
        ("varchar(9) character set latin1", "日本"),
    ] {
        server.run(&format!("CREATE OR REPLACE TABLE t(i int, c {declared})"));
        let why = server.refused("t", &format!("i,c\n1,\n2,{value}\n"));
        assert!(why.starts_with("rows.csv, line 3"), "{declared}: {why}");
        assert!(why.contains('c'), "{declared}: {why}");
    }
}

#[test]
fn text_is_converted_into_each_columns_character_set() {
    let Some(server) = server() else { return };
    server.run("CREATE TABLE t(i int, a varchar(9) character set latin1, b varchar(9) character set ucs2, c varchar(9) character set utf8mb4)");
    server
        .load_csv("t", "i,a,b,c\n1,né€,né€,né€\n")
        .expect("a load");
    let stored = "SELECT 1 FROM t WHERE hex(a) = '6EE980' AND hex(b) = '006E00E920AC' AND hex(c) = '6EC3A9E282AC'";
    assert_eq!(server.rows(stored), 1);
}

#[test]
fn more_warnings_than_are_counted_or_kept_are_not_none() {
    let Some(server) = server() else { return };
    server.run("SET GLOBAL max_error_count = 0");
    server.run("CREATE TABLE t(i int, a int, b int, c int, d int, e int, f int, g int, h int)");
    // The server counts warnings in 16 bits: 65,536 wrap around to 0.
    let mut csv = String::from("i,a,b,c,d,e,f,g,h\n");
    for i in 0..8192 {
        csv += &format!("{i},a,b,c,d,e,f,g,h\n");
    }
    let why = server.refused("t", &csv);
    assert!(why.starts_with("rows.csv, line 2"), "{why}");
    assert!(why.contains("`a`"), "{why}");
}

#[test]
fn a_bad_row_among_many_is_named_and_nothing_is_stored() {
    let Some(server) = server() else { return };
    server.run("CREATE TABLE t(id binary(16) PRIMARY KEY, n int CHECK (n < 30000), UNIQUE (n))");
    let mut csv = String::from("id,n\n");
    for n in 0..30_000u128 {
        let id =
            inorder_key::Uuid::from_u128(n.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835));
        let n = if n == 23_456 { 30_000 } else { n };
        csv += &format!("{id},{n}\n");
    }
    let why = server.refused("t", &csv);
    assert!(why.starts_with("rows.csv, line 23458"), "{why}");
    server
        .load_csv("t", &csv.replace(",30000\n", ",23456\n"))
        .expect("a load");
    assert_eq!(server.database.count("t").expect("a count"), 30_000);
}

#[test]
fn equal_keys_are_the_servers_to_find() {
    let Some(server) = server() else { return };
    server.run("CREATE TABLE t(k varchar(9) COLLATE utf8mb4_general_ci PRIMARY KEY, n int)");
    for second in ["A", "á", "a  "] {
        let csv = format!("k,n\na,1\n{second},2\n");
        let why = server.refused("t", &csv);
        assert!(
            why.contains("Duplicate") || why.contains("same key"),
            "{why}"
        );
        for on_duplicate in [
            OnDuplicate::Ignore,
            OnDuplicate::Replace,
            OnDuplicate::Report,
        ] {
            let path = server.folder.file("rows.csv", &csv);
            let mut job = server.job(&path, "t");
            job.on_duplicate = on_duplicate;
            let why = server.load(&job).expect_err("refused");
            assert!(!why.is_empty());
            assert_eq!(server.rows("SELECT 1 FROM t"), 0);
        }
    }
    server.load_csv("t", "k,n\na,1\nb,2\n").expect("a load");
}

#[test]
fn bytes_that_are_filled_up_to_the_same_are_the_same() {
    let Some(server) = server() else { return };
    server.run("CREATE TABLE t(k binary(4) PRIMARY KEY, n int)");
    let path = server.folder.file("rows.csv", "k,n\na,1\n\"a\0\",2\nb,3\n");
    let mut job = server.job(&path, "t");
    job.on_duplicate = OnDuplicate::Replace;
    server.load(&job).expect("a load");
    assert_eq!(
        server.rows("SELECT 1 FROM t WHERE (hex(k), n) IN (('61000000', 2), ('62000000', 3))"),
        2
    );
    // A key of the beginning of values alone.
    server.run("CREATE OR REPLACE TABLE t(k varbinary(9), n int, PRIMARY KEY (k(1)))");
    let why = server.load(&job).expect_err("refused");
    assert!(why.contains("--on-duplicate"), "{why}");
}

#[test]
fn rows_with_and_without_a_number_are_not_mixed() {
    let Some(server) = server() else { return };
    server.run("CREATE TABLE t(id int AUTO_INCREMENT PRIMARY KEY, n int)");
    let why = server.refused("t", "id,n\n10,1\n,2\n");
    assert!(why.starts_with("rows.csv, line 3"), "{why}");
    server.run("SET GLOBAL sql_mode = 'NO_AUTO_VALUE_ON_ZERO'");
    server.load_csv("t", "id,n\n10,1\n0,2\n").expect("a load");
    assert_eq!(server.rows("SELECT 1 FROM t WHERE id IN (0, 10)"), 2);
}

#[test]
fn tables_that_could_not_be_as_before_are_refused() {
    let Some(server) = server() else { return };
    for engine in ["MyISAM", "Aria", "MEMORY"] {
        server.run(&format!("CREATE OR REPLACE TABLE t(n int) ENGINE={engine}"));
        let why = server.refused("t", "n\n1\n");
        assert!(
            why.contains("transactions") && why.contains(engine),
            "{why}"
        );
    }
    server.run("CREATE OR REPLACE TABLE t(n int)");
    server.run("CREATE VIEW v AS SELECT * FROM t");
    let why = server.load_csv("v", "n\n1\n").expect_err("a view");
    assert!(why.contains("view"), "{why}");
}

#[test]
fn numbers_that_the_server_counts_are_those_of_inserts() {
    let Some(server) = server() else { return };
    server.run("CREATE TABLE t(id int AUTO_INCREMENT PRIMARY KEY, n int)");
    let rows: String = (1..=25_000).map(|n| format!("{n}\n")).collect();
    server.load_csv("t", &format!("n\n{rows}")).expect("a load");
    assert_eq!(server.rows("SELECT 1 FROM t WHERE id = n"), 25_000);
    server.run("TRUNCATE t");
    server.load_csv("t", "id,n\n,1\n0,2\n,3\n").expect("a load");
    assert_eq!(server.rows("SELECT 1 FROM t WHERE id IN (1, 2, 3)"), 3);
}

#[test]
fn rows_are_not_numbered_in_the_order_of_another_key() {
    let Some(server) = server() else { return };
    for key in ["k", "id, k"] {
        server.run(&format!(
            "CREATE OR REPLACE TABLE t(k char(1), id int AUTO_INCREMENT UNIQUE, PRIMARY KEY ({key}))"
        ));
        for none in ["", "0"] {
            let why = server.refused("t", &format!("k,id\nb,{none}\na,{none}\n"));
            assert!(
                why.starts_with("rows.csv, line 2, column `id`"),
                "{key}: {why}"
            );
        }
        server.load_csv("t", "k\nb\na\n").expect("a load");
        server.load_csv("t", "k,id\nd,7\nc,8\n").expect("a load");
        let numbered = "SELECT 1 FROM t WHERE (k, id) IN (('b', 1), ('a', 2), ('d', 7), ('c', 8))";
        assert_eq!(server.rows(numbered), 4, "{key}");
    }
}

#[test]
fn triggers_fire_once_for_each_row_in_the_order_of_the_input() {
    let Some(server) = server() else { return };
    server.run("CREATE TABLE t(id int PRIMARY KEY, n int NOT NULL, UNIQUE (n))");
    server.run("CREATE TABLE seen(at int AUTO_INCREMENT PRIMARY KEY, id int)");
    server.run(
        "CREATE TRIGGER b BEFORE INSERT ON t FOR EACH ROW SET NEW.n = coalesce(NEW.n, -NEW.id)",
    );
    server.run(
        "CREATE TRIGGER a AFTER INSERT ON t FOR EACH ROW INSERT INTO seen(id) VALUES (NEW.id)",
    );
    server
        .load_csv("t", "id,n\n3,3\n1,\n2,2\n")
        .expect("a load");
    assert_eq!(server.rows("SELECT 1 FROM t WHERE n = -1"), 1);
    assert_eq!(
        server.rows("SELECT 1 FROM seen WHERE (at, id) IN ((1, 3), (2, 1), (3, 2))"),
        3
    );
    server.run(
        "CREATE OR REPLACE TRIGGER b BEFORE INSERT ON t FOR EACH ROW
        IF NEW.n > 9 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'too many of n'; END IF",
    );
    let why = server.refused("t", "id,n\n4,4\n5,10\n");
    assert!(
        why.starts_with("rows.csv, line 3") && why.contains("too many of n"),
        "{why}"
    );
    assert_eq!(server.rows("SELECT 1 FROM seen"), 3);
}

#[test]
fn foreign_keys_and_partitions_are_looked_at() {
    let Some(server) = server() else { return };
    server.run("CREATE TABLE parent(id int PRIMARY KEY)");
    server.run("INSERT INTO parent VALUES (1)");
    server.run("CREATE TABLE t(id int PRIMARY KEY, p int, FOREIGN KEY (p) REFERENCES parent(id))");
    let why = server.refused("t", "id,p\n1,1\n2,7\n");
    assert!(
        why.starts_with("rows.csv, line 3") && why.contains("(`p`)"),
        "{why}"
    );
    server.run("CREATE OR REPLACE TABLE t(id int PRIMARY KEY, n int, KEY (n)) PARTITION BY RANGE (id) (PARTITION p VALUES LESS THAN (10))");
    let why = server.refused("t", "id,n\n1,1\n10,7\n");
    assert!(
        why.starts_with("rows.csv, line 3") && why.contains("partition"),
        "{why}"
    );
}

#[test]
fn a_server_that_takes_no_files_gets_inserts() {
    let Some(server) = server() else { return };
    server.run("SET GLOBAL local_infile = OFF");
    server.run("CREATE TABLE t(n int PRIMARY KEY, note varchar(9))");
    let rows: String = (0..25_000).map(|n| format!("{n},ñ{n}\n")).collect();
    server
        .load_csv("t", &format!("n,note\n{rows}"))
        .expect("a load");
    assert_eq!(
        server.rows("SELECT 1 FROM t WHERE note = concat('ñ', n)"),
        25_000
    );
    let why = server.refused("t", "n,note\n25000,a\n25001,longer than 9\n");
    assert!(
        why.starts_with("rows.csv, line 3") && why.contains("'note'"),
        "{why}"
    );
}

#[test]
fn a_row_larger_than_a_packet_is_named() {
    let Some(server) = server() else { return };
    server.run("SET GLOBAL local_infile = OFF");
    server.run("SET GLOBAL max_allowed_packet = 1048576");
    server.run("CREATE TABLE t(n int, c longtext)");
    let csv = format!(
        "n,c\n1,{}\n2,{}\n",
        "x".repeat(900_000),
        "y".repeat(1_100_000)
    );
    let why = server.refused("t", &csv);
    assert!(why.contains("max_allowed_packet"), "{why}");
    let fits: String = (0..9)
        .map(|n| format!("{n},{}\n", "z".repeat(400_000)))
        .collect();
    server
        .load_csv("t", &format!("n,c\n{fits}"))
        .expect("a load");
    assert_eq!(server.rows("SELECT 1 FROM t WHERE length(c) = 400000"), 9);
}

#[test]
fn names_of_any_characters_are_names() {
    let Some(server) = server() else { return };
    server.run("SET GLOBAL sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'");
    server.run("CREATE TABLE `a``b\"c'd\\ é`(`k``\"` int PRIMARY KEY, `v 'w\\` varchar(3), KEY `i``\"` (`v 'w\\`))");
    let table = "a`b\"c'd\\ é";
    server
        .load_csv(table, "\"k`\"\"\",v 'w\\\n1,a\\b\n2,'\n")
        .expect("a load");
    assert_eq!(server.database.count(table).expect("a count"), 2);
    let why = server.refused(table, "\"k`\"\"\",v 'w\\\n3,abcd\n");
    assert!(why.contains("v 'w\\"), "{why}");
}

/// The definition of a table, without its size and age.
const DESCRIPTIONS: [(&str, &str); 5] = [
    (
        "tables",
        "table_name, engine, row_format, table_collation, create_options, table_comment, auto_increment",
    ),
    (
        "columns",
        "ordinal_position, column_name, column_default, is_nullable, column_type, collation_name, column_key, extra, column_comment, generation_expression",
    ),
    (
        "statistics",
        "non_unique, index_name, seq_in_index, column_name, sub_part, nullable, index_type, index_comment",
    ),
    ("check_constraints", "constraint_name, level, check_clause"),
    (
        "partitions",
        "partition_name, partition_method, partition_expression, partition_description",
    ),
];

#[test]
fn the_table_that_takes_an_empty_ones_place_is_like_it() {
    let Some(server) = server() else { return };
    server.run(
        "CREATE TABLE t(
            id bigint unsigned NOT NULL AUTO_INCREMENT COMMENT 'it''s `id` ('
            , n int NOT NULL DEFAULT 5 CHECK (n <> 13)
            , note varchar(99) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT 'x'
            , twice int AS (n * 2) VIRTUAL, thrice int AS (n * 3) PERSISTENT
            , at timestamp(3) NOT NULL DEFAULT current_timestamp(3) ON UPDATE current_timestamp(3)
            , hidden int INVISIBLE DEFAULT 9, shape json DEFAULT '{}'
            , PRIMARY KEY (id), UNIQUE KEY `u``1` (n, id) COMMENT 'a, b', KEY k (note(9) DESC), KEY g (thrice)
            , CONSTRAINT `c``2` CHECK (hidden > 0)
         ) ENGINE=InnoDB AUTO_INCREMENT=777 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci ROW_FORMAT=DYNAMIC
           COMMENT='of `t` AUTO_INCREMENT' PARTITION BY RANGE (id)
           (PARTITION a VALUES LESS THAN (1000), PARTITION b VALUES LESS THAN MAXVALUE)",
    );
    server.run("CREATE VIEW v AS SELECT id, n FROM t");
    for (of, what) in DESCRIPTIONS {
        let place = if of == "check_constraints" {
            "constraint_schema"
        } else {
            "table_schema"
        };
        server.run(&format!("CREATE TABLE of_{of} AS SELECT {what} FROM information_schema.{of} WHERE {place} = database() AND table_name = 't'"));
    }
    let summary = server
        .load_csv("t", "id,n,note\n5,1,é\n3,2,b\n4,3,c\n")
        .expect("a load");
    let notes = common::told(&summary);
    assert!(
        notes.contains("built after the load: `u``1`, `k`, `g`"),
        "{notes}"
    );
    for (of, what) in DESCRIPTIONS {
        let place = if of == "check_constraints" {
            "constraint_schema"
        } else {
            "table_schema"
        };
        let now = format!(
            "SELECT {what} FROM information_schema.{of} WHERE {place} = database() AND table_name = 't'"
        );
        let before = server.rows(&format!("SELECT * FROM of_{of}"));
        assert!(before > 0, "{of}");
        assert_eq!(server.rows(&now), before, "{of}");
        let both = format!("SELECT * FROM of_{of} INTERSECT {now}");
        assert_eq!(server.rows(&both), before, "{of}");
    }
    assert_eq!(server.rows("SELECT * FROM v WHERE id IN (3, 4, 5)"), 3);
    assert_eq!(
        server.rows("SELECT 1 FROM t WHERE thrice = n * 3 AND hidden = 9 AND shape = '{}'"),
        3
    );
    // A row that a key made after the rows refuses: nothing stays, not even the table beside.
    server.run("CREATE TABLE u(id int PRIMARY KEY, n int, UNIQUE (n))");
    let why = server.refused("u", "id,n\n1,5\n2,6\n3,5\n");
    assert!(
        why.contains("Duplicate entry '5' for key 'n', in the rows with the primary keys 1 and 3"),
        "{why}"
    );
}

#[test]
fn a_decimal_comma_is_read_for_numbers_alone() {
    let Some(server) = server() else { return };
    server.run("CREATE TABLE t(i int AUTO_INCREMENT PRIMARY KEY, n decimal(10,2), d double, s varchar(20), a inet4)");
    let row = "1.234;1.234,50;-0,25;1.234;192.168.100.200\n";
    let path = server.folder.file("rows.csv", format!("i;n;d;s;a\n{row}"));
    let mut job = server.job(&path, "t");
    job.read_options.has_decimal_comma = Some(true);
    server.load(&job).expect("a load");
    let stored = server
        .database
        .select("SELECT i, n, d, s, CAST(a AS CHAR) FROM t");
    let expected = ["1234", "1234.50", "-0.25", "1.234", "192.168.100.200"];
    let expected = expected.map(|value| Some(value.to_owned()));
    assert_eq!(stored.expect("a row"), [expected]);
}

#[cfg(feature = "parquet")]
#[test]
fn points_in_time_of_parquet_are_stored_as_such() {
    use crate::common::instants;

    let Some(server) = server() else { return };
    server.run("SET GLOBAL time_zone = '+05:00'");
    server.run("CREATE TABLE t(i int, at timestamp(6) NULL, local datetime(6))");
    let path = server.folder.path("rows.parquet");
    instants::write(&path);
    server.load(&server.job(&path, "t")).expect("a load");
    let mut job = server.job(&path, "u");
    job.create = Some(inorder_load::Create::default());
    server.load(&job).expect("a load");
    for (row, micros) in (1..).zip(instants::MICROS) {
        let seconds = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
        let utc = format!("date_add('1970-01-01', INTERVAL {micros} MICROSECOND)");
        assert_eq!(
            server.rows(&format!(
                "SELECT 1 FROM t WHERE i = {row} AND unix_timestamp(at) = {seconds} AND local = {utc}"
            )),
            1
        );
        // A created table has no zone, as the type that is the nearest.
        assert_eq!(
            server.rows(&format!(
                "SELECT 1 FROM u WHERE i = {row} AND at = {utc} AND local = {utc}"
            )),
            1
        );
    }
    // One session can't read both.
    server.run("CREATE TABLE v(i int, at timestamp(6) NULL, local timestamp(6) NULL)");
    let error = server.load(&server.job(&path, "v")).expect_err("two zones");
    assert!(
        error.contains(
            "column `local`: the value has no time zone, and others of the input are in UTC"
        ),
        "{error}"
    );
    assert_eq!(server.rows("SELECT 1 FROM v"), 0);
    server.run("SET GLOBAL time_zone = '+00:00'");
    server.load(&server.job(&path, "v")).expect("a load");
    assert_eq!(server.rows("SELECT 1 FROM v WHERE at = local"), 3);
}

#[test]
fn history_of_an_empty_table_is_kept() {
    let Some(server) = server() else { return };
    server.run("CREATE TABLE t(id int PRIMARY KEY, n int, KEY (n)) WITH SYSTEM VERSIONING");
    server.run("INSERT INTO t VALUES (1, 1)");
    server.run("DELETE FROM t");
    server.load_csv("t", "id,n\n2,2\n").expect("a load");
    assert_eq!(server.rows("SELECT 1 FROM t FOR SYSTEM_TIME ALL"), 2);
}

/// The server stores UUIDs of some versions with their groups in another order, and returns some other values of 16 bytes as if
/// it had. These are refused; all others come back as they were given.
#[test]
fn ids_that_come_back_as_others_are_refused() {
    let Some(server) = server() else { return };
    let mut random = inorder_key::bulk::SplitMix64::new(7);
    let mut refused = 0;
    for case in 0..200 {
        // Any version and any variant; some of each of the usual ones.
        let mut bytes = [random.bits(), random.bits()]
            .map(u64::to_be_bytes)
            .concat();
        if case % 4 == 0 {
            bytes[6] = bytes[6] & 0x0f | (case % 9) << 4;
            bytes[8] = bytes[8] & 0x3f | 0x80;
        }
        let id = inorder_key::Uuid::from_bytes(bytes.try_into().expect("16 bytes"));
        let text = id.to_string();
        let given = [text.clone(), text.to_uppercase(), text.replace('-', "")];
        let given = &given[usize::from(case) % 3];
        server.run("CREATE OR REPLACE TABLE t(i int, id uuid)");
        match server.load_csv("t", &format!("i,id\n1,{given}\n")) {
            Ok(_) => {
                let stored = server.database.select("SELECT CAST(id AS CHAR) FROM t");
                assert_eq!(stored.expect("a row"), [[Some(text)]], "{given}");
            }
            Err(why) => {
                assert!(why.starts_with("rows.csv, line 2"), "{given}: {why}");
                assert_eq!(server.rows("SELECT 1 FROM t"), 0);
                refused += 1;
            }
        }
    }
    assert!((10..100).contains(&refused), "{refused} of 200");
}
