//! No argument makes an SQL function panic, and what is valid comes back as it was.
#![no_main]

use inorder_sqlite::{FUNCTIONS, register};
use libfuzzer_sys::fuzz_target;
use rusqlite::{Connection, types::Value};

thread_local! {
    static DB: Connection = {
        let db = Connection::open_in_memory().expect("a database in memory");
        db.set_prepared_statement_cache_capacity(64);
        register(&db).expect("the functions");
        db
    };
}

fn ask(db: &Connection, sql: &str, value: &Value) -> rusqlite::Result<Value> {
    db.prepare_cached(sql)?.query_row([value], |row| row.get(0))
}

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let integer = data
        .first_chunk()
        .map_or(data.len() as i64, |bytes| i64::from_le_bytes(*bytes));
    let values = [
        Value::Text(text.into_owned()),
        Value::Blob(data.to_vec()),
        Value::Integer(integer),
        Value::Real(integer as f64),
    ];
    DB.with(|db| {
        for value in &values {
            for function in FUNCTIONS
                .iter()
                .filter(|function| function.argument.is_some())
            {
                if let Err(error) = ask(db, &format!("SELECT {}(?)", function.name), value) {
                    assert!(!error.to_string().contains("panicked"), "{error}");
                }
            }
            for (check, round) in [
                ("ulid_valid", "ulid_blob(ulid_text(?1)) = ulid_blob(?1)"),
                ("uuid_valid", "uuid_blob(uuid_text(?1)) = uuid_blob(?1)"),
            ] {
                if ask(db, &format!("SELECT {check}(?)"), value) == Ok(Value::Integer(1)) {
                    assert_eq!(
                        ask(db, &format!("SELECT {round}"), value),
                        Ok(Value::Integer(1))
                    );
                }
            }
        }
    });
});
