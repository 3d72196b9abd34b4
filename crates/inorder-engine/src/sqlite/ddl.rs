//! The built-in table in SQLite.

use crate::TableShape;
use inorder_key::{Encoding, KeyKind};
use std::fmt::Write as _;

/// Returns the column type of a key. SQLite has no native UUID.
pub(super) fn key_type(kind: KeyKind, encoding: Encoding) -> Option<&'static str> {
    if !kind.encodings().contains(&encoding) {
        return None;
    }
    match encoding {
        Encoding::Integer => Some("INTEGER"),
        Encoding::Blob => Some("BLOB"),
        Encoding::Text | Encoding::Hex => Some("TEXT"),
        Encoding::Native => None,
    }
}

/// Returns the statements that create the built-in table, or why it cannot exist.
pub(super) fn create_table(shape: &TableShape<'_>) -> Result<String, String> {
    let Some(key_type) = key_type(shape.key, shape.encoding) else {
        return Err(format!("SQLite has no {} type", shape.encoding.name()));
    };
    let without_rowid = match shape.layout {
        "rowid" | "no-key" => "",
        "without-rowid" => " WITHOUT ROWID",
        other => return Err(format!("SQLite has no layout {other}")),
    };
    if shape.key == KeyKind::Serial && shape.layout != "rowid" {
        return Err("only a rowid table assigns its keys (serial)".to_owned());
    }
    let mut columns = match (shape.key, shape.layout) {
        (KeyKind::Composite, _) => vec![
            "bucket INTEGER NOT NULL".to_owned(),
            "id INTEGER NOT NULL".to_owned(),
        ],
        (_, "no-key") => vec![format!("id {key_type} NOT NULL")],
        // NOT NULL would keep INTEGER PRIMARY KEY an alias of the rowid, but WITHOUT ROWID implies
        // it and a rowid table's other keys want it: without it they would accept NULL.
        (_, _) => vec![format!("id {key_type} NOT NULL PRIMARY KEY")],
    };
    if shape.has_payload {
        columns.push("payload BLOB".to_owned());
    }
    columns.extend((1..=shape.indexes).map(|n| format!("a{n} INTEGER NOT NULL")));
    if shape.key == KeyKind::Composite && shape.layout != "no-key" {
        columns.push("PRIMARY KEY (bucket, id)".to_owned());
    }
    let mut sql = format!(
        "CREATE TABLE {}({}){without_rowid};",
        shape.name,
        columns.join(", ")
    );
    for n in 1..=shape.indexes {
        let _ = write!(sql, "\nCREATE INDEX {0}_a{n} ON {0}(a{n});", shape.name);
    }
    Ok(sql)
}
