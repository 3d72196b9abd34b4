//! Values of any kind in columns of any type of PostgreSQL: text is read by the server, however rows are written.

mod common;

use inorder_engine::{Batch, Column, Retry, Settings, Value, Write};

fn one(value: Value) -> Batch {
    Batch {
        columns: vec![Column::Any(vec![value])],
    }
}

/// A type, a value, and what is stored of it in SQL; nothing where it is refused.
fn cases() -> Vec<(&'static str, Value, Option<&'static str>)> {
    let text = |text: &str| Value::Text(text.into());
    vec![
        ("boolean", text("f"), Some("false")),
        ("timestamptz", text("20240105"), Some("'2024-01-05'")),
        ("date", text("2024"), None),
        ("money", text("12345.67"), Some("'12345.67'")),
        ("float8", text("Infinity"), Some("'Infinity'")),
        ("int4", text("abcd"), None),
        ("int8", text("1,234.56"), None),
        ("int4", Value::Integer(i64::MAX), None),
        (
            "interval",
            text("1 day 02:03:04.05"),
            Some("'1 day 02:03:04.05'"),
        ),
        ("float4", Value::Real(1e300), None),
        ("float4", text("1e300"), None),
        ("float4", Value::Real(0.1), Some("0.1")),
        ("numeric", Value::Real(0.1), Some("0.1")),
        (
            "uuid",
            text("017f22e279b07cc398c4dc0c0c07398f"),
            Some("'017f22e2-79b0-7cc3-98c4-dc0c0c07398f'"),
        ),
        (
            "uuid",
            Value::Blob([7; 16].into()),
            Some("'07070707070707070707070707070707'"),
        ),
        ("bytea", text("\\x6162"), Some("'ab'")),
        (
            "bytea",
            Value::Blob(b"\\x61".as_slice().into()),
            Some("'\\\\x61'"),
        ),
        ("text", text("a\\N\t\n"), Some("E'a\\\\N\\t\\n'")),
        ("int4[]", text("{1,2}"), Some("'{1,2}'")),
        ("jsonb", text("{\"a\":1}"), Some("'{\"a\":1}'")),
    ]
}

#[test]
fn text_is_never_taken_for_the_binary_form_of_a_type() {
    let engines = common::servers();
    let Some(engine) = engines.iter().find(|engine| engine.name() == "postgres") else {
        return;
    };
    let folder = common::folder();
    for write in [Write::Insert, Write::Multi, Write::Bulk] {
        let path = folder.path().join(format!("{write:?}"));
        std::fs::create_dir(&path).unwrap();
        let settings = Settings {
            write,
            ..Settings::default()
        };
        let database = engine.create(&path, &settings).unwrap();
        for (at, (ty, value, stored)) in cases().into_iter().enumerate() {
            let name = format!("t{at}");
            let create = format!("CREATE TABLE {name}(v {ty})");
            database.execute(&create).unwrap();
            let mut writer = database.writer(&name, &["v"], Retry::default()).unwrap();
            writer.begin().unwrap();
            let written = writer.insert(&one(value), 0..1);
            assert_eq!(
                written.is_ok(),
                stored.is_some(),
                "{ty} by {write:?}: {written:?}"
            );
            let Some(stored) = stored else {
                writer.rollback().unwrap();
                continue;
            };
            writer.commit().unwrap();
            let find = format!("SELECT 1 FROM {name} WHERE v = {stored}::{ty}");
            let found = database.reader(&find).unwrap().query(&Batch::default(), 0);
            assert_eq!(found.unwrap(), 1, "{ty} by {write:?}");
        }
    }
}
