//! The cases that every reader of ids agrees on (`bindings/sql/tests/cases.tsv`), as the functions of SQLite read them.

use inorder_sqlite::register;
use rusqlite::{Connection, types::Value};

const CASES: &str = include_str!("../../../bindings/sql/tests/cases.tsv");

/// Expected values per case: ULID, UUID, validity, kind; then whether the other parsers agree.
const READERS: &[&str] = &[
    "ulid_hex(ulid_blob(?))",
    "uuid_hex(uuid_blob(?))",
    "ulid_valid(?)",
    "uuid_valid(?)",
    "key_kind(?)",
    "uuid7_valid(?)",
    "ulid_hex(ulid_text(?))",
    "ulid_hex(?)",
    "uuid_hex(ulid_to_uuid(?))",
    "uuid_hex(uuid_text(?))",
    "uuid_hex(?)",
    "ulid_hex(uuid_to_ulid(?))",
];

fn value(of_type: &str, value: &str) -> Value {
    match of_type {
        "null" => Value::Null,
        "integer" => Value::Integer(value.parse().unwrap()),
        "real" => Value::Real(value.parse().unwrap()),
        "text" => Value::Text(serde_json::from_str(value).unwrap()),
        "blob" => {
            let pairs = value.as_bytes().as_chunks::<2>().0.iter();
            let byte = |pair: &[u8; 2]| {
                u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()
            };
            Value::Blob(pairs.map(byte).collect())
        }
        _ => panic!("{of_type}"),
    }
}

/// The results of a parser for a value.
fn ask(db: &Connection, reader: &str, value: &Value) -> String {
    let select = format!("SELECT CAST({reader} AS TEXT)");
    let mut select = db.prepare_cached(&select).unwrap();
    match select.query_row([value], |row| row.get::<_, Option<String>>(0)) {
        Ok(answer) => answer.unwrap_or("null".into()),
        Err(rusqlite::Error::SqliteFailure(_, Some(message))) => {
            let name = reader.rsplit('(').nth(1).unwrap();
            assert!(message.starts_with(&format!("{name}(): ")), "{message}");
            "refused".into()
        }
        Err(error) => panic!("{error}"),
    }
}

/// Whether the hex digits of a reader's answer make `…_valid` 1, and whether they are those of a UUIDv7.
fn is_valid(digits: &str) -> (String, String) {
    if digits == "null" {
        return ("null".into(), "null".into());
    }
    let digit = |at| digits.as_bytes().get(at).copied().unwrap_or_default();
    let is_uuid7 = digit(12) == b'7' && b"89ab".contains(&digit(16));
    let truth = |is_so| u8::from(is_so).to_string();
    (truth(digits != "refused"), truth(is_uuid7))
}

#[test]
fn every_case_is_read_as_its_line_says() {
    let db = Connection::open_in_memory().unwrap();
    db.set_prepared_statement_cache_capacity(2 * READERS.len());
    register(&db).unwrap();
    let mut read = 0;
    for line in CASES.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [_, of_type, given, ulid, uuid, kind] = fields[..] else {
            panic!("{line}");
        };
        let given = value(of_type, given);
        let (is_ulid, _) = is_valid(ulid);
        let (is_uuid, is_uuid7) = is_valid(uuid);
        let valid = [is_ulid.as_str(), &is_uuid, kind, &is_uuid7];
        let wanted = [ulid, uuid].into_iter().chain(valid);
        let wanted = wanted.chain([ulid, ulid, ulid, uuid, uuid, uuid]);
        for (reader, wanted) in READERS.iter().zip(wanted) {
            assert_eq!(ask(&db, reader, &given), wanted, "{reader} of {line}");
        }
        read += 1;
    }
    assert!(read > 6000, "{read} cases");
}
