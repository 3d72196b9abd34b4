//! Every function, as SQL sees it.

use inorder_sqlite::{FUNCTIONS, KINDS, register};
use proptest::prelude::*;
use rusqlite::{Connection, Params, types::FromSql, types::Value};

fn db() -> Connection {
    let db = Connection::open_in_memory().unwrap();
    register(&db).unwrap();
    db
}

fn ask<T: FromSql>(db: &Connection, sql: &str, params: impl Params) -> T {
    db.query_row(sql, params, |row| row.get(0))
        .unwrap_or_else(|error| panic!("{sql}: {error}"))
}

/// The message with which a statement fails.
fn error(db: &Connection, sql: &str) -> String {
    match db.query_row(sql, [], |row| row.get::<_, Value>(0)) {
        Ok(value) => panic!("{sql} gave {value:?}"),
        Err(rusqlite::Error::SqliteFailure(_, Some(message))) => message,
        Err(other) => other.to_string(),
    }
}

/// Expressions and their value as text: the vectors of RFC 9562, appendix A, and of the ULID specification.
const VECTORS: &[(&str, &str)] = &[
    // RFC 9562, appendix A.6.
    (
        "hex(uuid_blob('017F22E2-79B0-7CC3-98C4-DC0C0C07398F'))",
        "017F22E279B07CC398C4DC0C0C07398F",
    ),
    (
        "uuid_text(x'017F22E279B07CC398C4DC0C0C07398F')",
        "017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
    ),
    (
        "uuid_text('017F22E2-79B0-7CC3-98C4-DC0C0C07398F')",
        "017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
    ),
    (
        "uuid7_timestamp('017f22e2-79b0-7cc3-98c4-dc0c0c07398f')",
        "1645557742000",
    ),
    (
        "datetime(uuid7_timestamp(x'017F22E279B07CC398C4DC0C0C07398F') / 1000, 'unixepoch')",
        "2022-02-22 19:22:22",
    ),
    ("uuid_version('c232ab00-9414-11ec-b3c8-9f6bdeced846')", "1"),
    (
        "typeof(uuid_version('00000000-0000-0000-0000-000000000000'))",
        "null",
    ),
    // The ULID specification.
    (
        "ulid_timestamp('01ARZ3NDEKTSV4RRFFQ69G5FAV')",
        "1469922850259",
    ),
    (
        "hex(ulid_blob('01arz3ndektsv4rrffq69g5fav'))",
        "01563E3AB5D3D6764C61EFB99302BD5B",
    ),
    (
        "ulid_text(x'01563E3AB5D3D6764C61EFB99302BD5B')",
        "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    ),
    (
        "ulid_text('7zzzzzzzzzzzzzzzzzzzzzzzzz')",
        "7ZZZZZZZZZZZZZZZZZZZZZZZZZ",
    ),
    (
        "ulid_to_uuid('01ARZ3NDEKTSV4RRFFQ69G5FAV')",
        "01563e3a-b5d3-d676-4c61-efb99302bd5b",
    ),
    (
        "uuid_to_ulid('01563e3a-b5d3-d676-4c61-efb99302bd5b')",
        "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    ),
    (
        "ulid_text(ulid_min(1469922850259))",
        "01ARZ3NDEK0000000000000000",
    ),
    (
        "ulid_text(ulid_max('2016-07-30T23:54:10.259Z'))",
        "01ARZ3NDEKZZZZZZZZZZZZZZZZ",
    ),
    (
        "uuid_text(uuid7_min('2022-02-22 19:22:22'))",
        "017f22e2-79b0-7000-8000-000000000000",
    ),
    (
        "uuid_text(uuid7_max(1645557742000))",
        "017f22e2-79b0-7fff-bfff-ffffffffffff",
    ),
    ("ulid_timestamp(ulid_min(0))", "0"),
    ("ulid_timestamp(ulid_at('2024-01-01'))", "1704067200000"),
    (
        "uuid7_timestamp(uuid7_at(281474976710655))",
        "281474976710655",
    ),
    // The TypeID specification.
    (
        "typeid_uuid('prefix_01h455vb4pex5vsknk084sn02q')",
        "01890a5d-ac96-774b-bcce-b302099a8057",
    ),
    (
        "hex(typeid_blob('prefix_01h455vb4pex5vsknk084sn02q'))",
        "01890A5DAC96774BBCCEB302099A8057",
    ),
    (
        "typeid_prefix('pre_fix_00000000000000000000000000')",
        "pre_fix",
    ),
    (
        "'prefix_' || typeid_suffix('01890a5d-ac96-774b-bcce-b302099a8057')",
        "prefix_01h455vb4pex5vsknk084sn02q",
    ),
    ("typeid_valid('prefix_01H455VB4PEX5VSKNK084SN02Q')", "0"),
    ("typeid_valid('prefix_01h455vb4pex5vsknk084sn02q')", "1"),
    (
        "typeid_valid(typeid('user')) + typeid_valid(typeid(''))",
        "2",
    ),
    ("uuid_version(typeid_uuid(typeid('user')))", "7"),
    // 2020 begins with 0; a millisecond has 4,194,304 ids.
    ("tsid_min('2020-01-01')", "0"),
    ("tsid_min('2020-01-01T00:00:00.001Z')", "4194304"),
    (
        "tsid_max('2089-09-06T15:47:35.551Z')",
        "9223372036854775807",
    ),
    ("tsid_text(9223372036854775807)", "7ZZZZZZZZZZZZ"),
    ("tsid_integer('7zzzzzzzzzzzz')", "9223372036854775807"),
    ("tsid_integer(tsid_text(4194304))", "4194304"),
    ("tsid_timestamp(tsid_min('2024-01-01'))", "1704067200000"),
    (
        "typeof(tsid()) || (tsid() > tsid_min('2024-01-01'))",
        "integer1",
    ),
    ("inorder_version()", env!("CARGO_PKG_VERSION")),
];

#[test]
fn converters_give_what_the_specifications_say() {
    let db = db();
    for (sql, wanted) in VECTORS {
        let found: String = ask(&db, &format!("SELECT CAST({sql} AS TEXT)"), []);
        assert_eq!(found, *wanted, "{sql}");
    }
}

/// Values of every type that are no id.
const WRONG: &[&str] = &[
    "''",
    "'x'",
    "1",
    "-1",
    "1.5",
    "x''",
    "x'00'",
    "'01ARZ3NDEKTSV4RRFFQ69G5FAU'",
    "'8ZZZZZZZZZZZZZZZZZZZZZZZZZ'",
    "'01ARZ3NDEKTSV4RRFFQ69G5FA'",
    "'{017f22e2-79b0-7cc3-98c4-dc0c0c07398f'",
    "'017f22e279b0-7cc398c4dc0c0c07398f'",
    "'017f22e2-79b0-7cc3-98c4-dc0c0c07398g'",
    "zeroblob(17)",
    "CAST(x'ff' AS TEXT)",
    "'01ARZ3NDEKTSV4RRFFQ69G5FAV' || char(0)",
];

#[test]
fn null_gives_null_and_wrong_input_an_error_that_names_the_function() {
    let db = db();
    for function in FUNCTIONS
        .iter()
        .filter(|function| function.argument.is_some())
    {
        let name = function.name;
        assert_eq!(
            ask::<Value>(&db, &format!("SELECT {name}(NULL)"), []),
            Value::Null,
            "{name}"
        );
        for wrong in WRONG {
            let sql = format!("SELECT {name}({wrong})");
            match (name, *wrong) {
                ("key_kind", _) => drop(ask::<String>(&db, &sql, [])),
                (_, _) if name.ends_with("_valid") => {
                    assert_eq!(ask::<i64>(&db, &sql, []), 0, "{sql}")
                }
                ("token" | "token_text" | "tsid", "1") => {}
                ("tsid_text" | "tsid_integer" | "tsid_timestamp", "1") => {}
                ("typeid", "'x'" | "''") => {}
                _ => assert!(
                    error(&db, &sql).starts_with(&format!("{name}(): ")),
                    "{sql}"
                ),
            }
        }
    }
}

#[test]
fn messages_say_what_to_do() {
    let db = db();
    for (call, message) in [
        (
            "ulid_text(17)",
            "a ULID, a blob of 16 bytes or a text of 26 characters or 32 hex digits, is needed, not an integer",
        ),
        (
            "ulid_min(0.5)",
            "a time, an integer of milliseconds since 1970 or a text, is needed, not a real number that is not whole or too large",
        ),
        (
            "ulid_text('8ZZZZZZZZZZZZZZZZZZZZZZZZZ')",
            "a ULID begins with 0 to 7, not '8': it would exceed 128 bits",
        ),
        (
            "ulid_min('1969-12-31')",
            "millisecond -86400000 is in no id: they begin in 1970 with 0 and end in the year 10889 with 281474976710655",
        ),
        (
            "ulid_min(281474976710656)",
            "which have 12 digits or more: as microseconds it is 1978-12-02T19:29:36.710Z; of seconds take the function with _s, of a date \
             its text, such as '2024-01-31 12:30'",
        ),
        (
            "uuid7_at('yesterday')",
            "\"yesterday\" is no time: write 2024-01-31, 2024-01-31T12:30:00.250Z or milliseconds since 1970, 12 digits or more",
        ),
        (
            "uuid7_timestamp(uuid4())",
            "is not of version 7: it does not begin with its time",
        ),
        (
            "uuid7_min(1714521600)",
            "1714521600 is no time in milliseconds since 1970, which have 12 digits or more: as seconds it is \
             2024-05-01T00:00:00.000Z; of seconds take the function with _s, of a date its text, such as '2024-01-31 12:30'",
        ),
        ("tsid(1024)", "node 1024 is in no TSID: they are 0 to 1023"),
        ("token(0)", "a token has 1 to 1024 bytes, not 0"),
        ("token('x')", "a number of bytes is needed, not a text"),
    ] {
        let (name, found) = (
            call.split('(').next().unwrap(),
            error(&db, &format!("SELECT {call}")),
        );
        assert!(
            found.starts_with(&format!("{name}(): ")) && found.ends_with(message),
            "{found}"
        );
    }
}

/// Returns the result of a statement as SQL text, or its error.
fn outcome(db: &Connection, sql: &str, value: &Value) -> Result<String, String> {
    db.query_row(sql, [value], |row| row.get(0))
        .map_err(|error| error.to_string())
}

#[test]
fn a_whole_real_number_is_as_good_as_an_integer() {
    let db = db();
    let mut compared = 0;
    for function in FUNCTIONS.iter().filter(|f| f.argument.is_some()) {
        // Random values are compared by type and length.
        let shown = match function.is_deterministic {
            true => "quote",
            false => "typeof(y) || length",
        };
        let sql = format!("SELECT {shown}(y) FROM (SELECT {}(?) AS y)", function.name);
        for integer in [
            0,
            1,
            16,
            20,
            1024,
            1025,
            -1,
            1_645_557_742_000,
            281_474_976_710_655,
            281_474_976_710_656,
            1 << 53,
            -(1 << 53),
            i64::MIN,
        ] {
            let as_integer = outcome(&db, &sql, &Value::Integer(integer));
            let as_real = outcome(&db, &sql, &Value::Real(integer as f64));
            assert_eq!(as_real, as_integer, "{}({integer}.0)", function.name);
            compared += usize::from(as_integer.is_ok());
        }
        for real in [0.5, 1.5, -0.1, 1e300, f64::INFINITY] {
            let found = outcome(&db, &sql, &Value::Real(real));
            let is_told = function.name == "key_kind" || function.name.ends_with("_valid");
            assert_eq!(found.is_ok(), is_told, "{}({real})", function.name);
        }
    }
    assert!(compared > 50, "{compared}");
    for (n, wanted) in [
        (3.0, Ok(3)),
        (0.0, Ok(0)),
        (300.0, Ok(300)),
        (2.5, Err(())),
        (-1.0, Err(())),
    ] {
        for kind in KINDS {
            let sql = "SELECT count(*) FROM keys(?, ?)";
            let found = db.query_row(sql, (kind.name, n), |row| row.get::<_, i64>(0));
            assert_eq!(found.map_err(drop), wanted, "keys('{}', {n})", kind.name);
        }
    }
}

#[test]
fn hex_digits_are_read_by_every_reader() {
    let db = db();
    let mut readers = 0;
    for function in FUNCTIONS.iter().filter(|f| f.argument == Some("x")) {
        let name = function.name;
        let sql = format!("SELECT quote({name}(?))");
        let ask = |x: Value| outcome(&db, &sql, &x);
        let bits: u128 = 0x017F_22E2_79B0_7CC3_98C4_DC0C_0C07_398F;
        let blob = ask(Value::Blob(bits.to_be_bytes().to_vec()));
        assert!(blob.is_ok(), "{name}");
        assert_eq!(ask(Value::Text(format!("{bits:032x}"))), blob, "{name}");
        assert_eq!(ask(Value::Text(format!("{bits:032X}"))), blob, "{name}");
        readers += 1;
    }
    assert!(readers > 12, "{readers}");
    let written =
        "SELECT uuid_hex(x) || ulid_hex(x) FROM (SELECT x'017F22E279B07CC398C4DC0C0C07398F' AS x)";
    assert_eq!(
        ask::<String>(&db, written, []),
        "017f22e279b07cc398c4dc0c0c07398f".repeat(2)
    );
    for make in ["ulid_hex", "uuid7_hex", "uuid4_hex"] {
        let form = format!("SELECT length({make}()) = 32 AND {make}() NOT GLOB '*[^0-9a-f]*'");
        assert_eq!(ask::<i64>(&db, &form, []), 1, "{make}");
    }
}

#[test]
fn kinds_are_told_apart() {
    let db = db();
    for (x, kind) in [
        ("ulid_text()", "ulid"),
        ("'01ARZ3NDEKTSV4RRFFQ69G5FAV'", "ulid"),
        ("uuid7()", "uuid7"),
        ("uuid7_text()", "uuid7"),
        ("uuid4()", "uuid4"),
        ("uuid4_text()", "uuid4"),
        ("token(20)", "token160"),
        ("token_text(20)", "token160"),
        ("'c232ab00-9414-11ec-b3c8-9f6bdeced846'", "UUID version 1"),
        ("tsid_text(tsid())", "tsid"),
        ("tsid()", "integer"),
        ("typeid('user')", "TypeID"),
        ("'507f1f77bcf86cd799439011'", "ObjectId"),
        ("'0ujtsYcgvSTl8PAuAdqWYSMnLOv'", "KSUID"),
        ("17", "integer"),
        ("1.5", "no id"),
        ("'hello'", "no id"),
    ] {
        assert_eq!(
            ask::<String>(&db, &format!("SELECT key_kind({x})"), []),
            kind,
            "{x}"
        );
    }
}

#[test]
fn every_function_works_in_a_schema_that_is_not_trusted() {
    let db = db();
    db.execute_batch(
        "PRAGMA trusted_schema=off;
         CREATE TABLE inorder_high_water(one INTEGER PRIMARY KEY CHECK (one = 1), last INTEGER NOT NULL) WITHOUT ROWID;",
    )
    .unwrap();
    for function in FUNCTIONS {
        let name = function.name;
        let argument = match (function.argument, name) {
            (None, _) => "",
            (Some("n"), _) => "16",
            (Some("t"), _) => "'2024-01-01'",
            (Some("s"), _) => "1704067200.5",
            (Some("node"), _) => "7",
            (Some("schema"), _) => "'main'",
            (Some("p"), _) => "'user'",
            (_, "uuid7_timestamp") => "x'017F22E279B07CC398C4DC0C0C07398F'",
            (Some(_), _) => "x",
        };
        let id = match function.argument {
            Some("d") => "typeid('user')",
            Some("i") => "tsid()",
            _ => "uuid7()",
        };
        let table = format!("t_{name}_{}", argument.is_empty());
        let sql = match function.is_deterministic && !argument.is_empty() {
            true => format!(
                "CREATE TABLE {table}(x BLOB, y AS ({name}({argument})));
                 CREATE INDEX i_{table} ON {table}({name}({argument}), y);
                 INSERT INTO {table}(x) VALUES ({id});"
            ),
            false => format!(
                "CREATE TABLE {table}(x, y DEFAULT ({name}({argument}))); INSERT INTO {table}(x) VALUES (1);"
            ),
        };
        db.execute_batch(&sql)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let valued: i64 = ask(&db, &format!("SELECT y IS NOT NULL FROM {table}"), []);
        assert_eq!(valued, 1, "{name}");
        let view = format!(
            "CREATE VIEW v_{table} AS SELECT {name}({}) AS y",
            if argument == "x" { id } else { argument }
        );
        db.execute_batch(&view).unwrap();
    }
    db.execute_batch("CREATE VIEW v AS SELECT count(DISTINCT key) AS n FROM keys('ulid', 1000)")
        .unwrap();
    assert_eq!(ask::<i64>(&db, "SELECT n FROM v", []), 1000);
}

#[test]
fn what_insert_returns_is_what_is_stored() {
    let db = db();
    let makers = KINDS.iter().map(|kind| kind.name);
    for make in makers.filter(|name| !name.starts_with("token")) {
        db.execute_batch(&format!(
            "CREATE TABLE t_{make}(id PRIMARY KEY DEFAULT ({make}()), n) WITHOUT ROWID"
        ))
        .unwrap();
        let sql = format!(
            "INSERT INTO t_{make}(n) SELECT value FROM json_each('[1,2,3,4,5]') RETURNING id, n"
        );
        let returned: Vec<(Value, i64)> = {
            let mut insert = db.prepare(&sql).unwrap();
            let rows = insert
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
                .unwrap();
            rows.map(Result::unwrap).collect()
        };
        assert_eq!(returned.len(), 5);
        for (id, n) in returned {
            assert_eq!(
                ask::<i64>(&db, &format!("SELECT n FROM t_{make} WHERE id = ?"), [id]),
                n
            );
        }
    }
}

#[test]
fn keys_makes_as_many_as_are_wanted_in_order_after_all_before() {
    let db = db();
    for kind in KINDS.iter().map(|kind| kind.name) {
        for n in [0, 1, 255, 256, 257, 1000] {
            let sql = "SELECT count(DISTINCT key) FROM keys(?, ?)";
            assert_eq!(ask::<i64>(&db, sql, (kind, n)), n, "{kind}");
        }
        if ["ulid", "uuid7", "tsid"]
            .iter()
            .any(|name| kind.starts_with(name))
        {
            let disorder = "SELECT count(*) FROM (SELECT key, lag(key) OVER (ORDER BY rowid) AS last FROM keys(?, 1000))
                WHERE last >= key";
            assert_eq!(ask::<i64>(&db, disorder, [kind]), 0, "{kind}");
            let after = format!("SELECT {kind}() < (SELECT min(key) FROM keys(?, 300))");
            assert_eq!(ask::<i64>(&db, &after, [kind]), 1, "{kind}");
        }
        // An eighth of all ULIDs pass for a UUID of some version where only their bits are seen.
        let known = match kind {
            "tsid" => "integer",
            kind => kind.trim_end_matches("_text").trim_end_matches("_hex"),
        };
        let told: String = ask(&db, "SELECT key_kind(key) FROM keys(?, 1)", [kind]);
        assert!(
            ["ulid", "ulid_hex"].contains(&kind) || told == known,
            "{told}"
        );
    }
    let joined = "SELECT count(DISTINCT k.key) FROM json_each('[3, 0, 500]') AS j, keys('uuid7', j.value) AS k";
    assert_eq!(ask::<i64>(&db, joined, []), 503);
    assert_eq!(ask::<i64>(&db, "SELECT count(*) FROM keys(NULL, 5)", []), 0);
    assert_eq!(
        ask::<i64>(&db, "SELECT count(*) FROM keys('ulid', NULL)", []),
        0
    );
    assert_eq!(
        ask::<String>(&db, "SELECT kind || n FROM keys('ulid', 1)", []),
        "ulid1"
    );
    for (call, message) in [
        (
            "keys('ulid', -1)",
            "keys(): the number of keys is an integer from 0 on",
        ),
        (
            "keys('ulid', 'x')",
            "keys(): the number of keys is an integer from 0 on",
        ),
        (
            "keys('ulid')",
            "keys(): write keys(kind, n), such as keys('ulid', 10)",
        ),
        (
            "keys",
            "keys(): write keys(kind, n), such as keys('ulid', 10)",
        ),
    ] {
        assert_eq!(error(&db, &format!("SELECT * FROM {call}")), message);
    }
    assert!(
        error(&db, "SELECT * FROM keys('ulib', 1)")
            .starts_with("keys(): the kind is one of ulid, ulid_text, ulid_hex, uuid7")
    );
}

#[test]
fn every_kind_of_keys_is_a_function_or_a_token() {
    for kind in KINDS {
        let is_function = FUNCTIONS
            .iter()
            .any(|function| function.name == kind.name && function.argument.is_none());
        assert!(
            is_function || kind.name.starts_with("token160"),
            "{}",
            kind.name
        );
    }
}

#[test]
fn a_utf_16_database_gets_its_text() {
    let db = Connection::open_in_memory().unwrap();
    db.execute_batch("PRAGMA encoding = 'UTF-16le'; CREATE TABLE t(id)")
        .unwrap();
    register(&db).unwrap();
    db.execute_batch("INSERT INTO t VALUES (ulid_text()), (uuid7_text())")
        .unwrap();
    let kinds: String = ask(
        &db,
        "SELECT group_concat(key_kind(id) || ulid_valid(id) || uuid_valid(id)) FROM t",
        [],
    );
    assert_eq!(kinds, "ulid10,uuid701");
}

proptest! {
    #[test]
    fn every_form_comes_back(bits: u128) {
        let db = db();
        let blob = bits.to_be_bytes();
        for sql in [
            "ulid_blob(ulid_text(?1))", "uuid_blob(uuid_text(?1))", "uuid_blob(ulid_to_uuid(?1))",
            "ulid_blob(uuid_to_ulid(?1))", "uuid_blob(ulid_to_uuid(ulid_text(?1)))",
        ] {
            prop_assert_eq!(ask::<[u8; 16]>(&db, &format!("SELECT {sql}"), [blob]), blob);
        }
        // Any time after that of March 1973 and of the digits of dates.
        let blob = (bits | 1 << 127).to_be_bytes();
        let enclosed = "SELECT ?1 BETWEEN ulid_min(ulid_timestamp(?1)) AND ulid_max(ulid_timestamp(?1))";
        prop_assert_eq!(ask::<i64>(&db, enclosed, [blob]), 1);
    }

    #[test]
    fn nothing_panics_and_what_is_not_valid_is_refused(text: String, blob: Vec<u8>, integer: i64, real: f64) {
        let db = db();
        let values = [Value::Text(text), Value::Blob(blob), Value::Integer(integer), Value::Real(real)];
        for function in FUNCTIONS.iter().filter(|function| function.argument.is_some()) {
            let sql = format!("SELECT {}(?)", function.name);
            for value in &values {
                if let Err(error) = db.query_row(&sql, [value], |row| row.get::<_, Value>(0)) {
                    prop_assert!(!error.to_string().contains("panicked"), "{}", error);
                }
            }
        }
    }
}
