//! The cases that every reader of ids agrees on (`sql/tests/cases.tsv`), as the functions of SQLite read them.

use inorder_sqlite::register;
use rusqlite::{Connection, types::Value};

const CASES: &str = include_str!("../../../sql/tests/cases.tsv");

/// Of each value: ULID, UUID, validity, kind; then whether the other readers agree.
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

#[test]
fn every_case_is_read_as_its_line_says() {
    let db = Connection::open_in_memory().unwrap();
    db.set_prepared_statement_cache_capacity(2 * READERS.len());
    register(&db).unwrap();
    let ask = |reader: &str, value: &Value| -> String {
        let mut select = db
            .prepare_cached(&format!("SELECT CAST({reader} AS TEXT)"))
            .unwrap();
        let answer = select.query_row([value], |row| row.get::<_, Option<String>>(0));
        match answer {
            Ok(answer) => answer.unwrap_or("null".into()),
            Err(rusqlite::Error::SqliteFailure(_, Some(message))) => {
                let name = reader.rsplit('(').nth(1).unwrap();
                assert!(message.starts_with(&format!("{name}(): ")), "{message}");
                "refused".into()
            }
            Err(error) => panic!("{error}"),
        }
    };
    let mut read = 0;
    for line in CASES.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [_, of_type, given, ulid, uuid, kind] = fields[..] else {
            panic!("{line}");
        };
        let given = value(of_type, given);
        let is_valid = |digits: &str| match digits {
            "null" => "null".to_owned(),
            _ => u8::from(digits != "refused").to_string(),
        };
        let is_uuid7 = match uuid.as_bytes() {
            b"null" => "null".to_owned(),
            [
                ..,
                b'7',
                _,
                _,
                _,
                b'8' | b'9' | b'a' | b'b',
                _,
                _,
                _,
                _,
                _,
                _,
                _,
                _,
                _,
                _,
                _,
                _,
                _,
                _,
                _,
            ] => "1".to_owned(),
            _ => "0".to_owned(),
        };
        let (ulid_valid, uuid_valid) = (is_valid(ulid), is_valid(uuid));
        let wanted = [
            ulid,
            uuid,
            &ulid_valid,
            &uuid_valid,
            kind,
            &is_uuid7,
            ulid,
            ulid,
            ulid,
            uuid,
            uuid,
            uuid,
        ];
        for (reader, wanted) in READERS.iter().zip(wanted) {
            assert_eq!(ask(reader, &given), wanted, "{reader} of {line}");
        }
        read += 1;
    }
    assert!(read > 6000, "{read} cases");
}
