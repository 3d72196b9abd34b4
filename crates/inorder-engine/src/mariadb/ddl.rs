//! The built-in table in InnoDB, which stores every table in the order of its primary key (clustered index).

use super::NAME;
use crate::{TableShape, server::sql::made};
use inorder_key::{Encoding, KeyKind};
use std::fmt::Write as _;

/// Returns why a key is not stored in the type UUID. MariaDB stores UUIDs of the versions 1 to 5 with their groups in the opposite
/// order. When it reads 16 bytes back, it takes them for such a UUID if the seventh is 0x80 or more and the ninth from 1 to 0x80. A
/// ULID has random bits there. Source: `plugin/type_uuid/sql_type_uuid.h` of MariaDB.
pub(super) fn why_no_key_type(kind: KeyKind, encoding: Encoding) -> Option<&'static str> {
    let is_garbled = (kind, encoding) == (KeyKind::Ulid, Encoding::Native);
    is_garbled.then_some(
        "MariaDB's type UUID does not return each ULID as it was stored: it takes one in four for a UUID of version 1 to 5; use blob or text",
    )
}

/// Returns the column type of a key. Text has one byte per character and sorts by its bytes.
pub(super) fn key_type(kind: KeyKind, encoding: Encoding) -> Option<&'static str> {
    if !kind.encodings().contains(&encoding) {
        return None;
    }
    if why_no_key_type(kind, encoding).is_some() {
        return None;
    }
    match (kind, encoding, kind.width_bytes(encoding)) {
        (KeyKind::Serial, ..) => Some("BIGINT AUTO_INCREMENT"),
        (_, Encoding::Integer, _) => Some("BIGINT"),
        (_, Encoding::Native, _) => Some("UUID"),
        (_, Encoding::Blob, Some(16)) => Some("BINARY(16)"),
        (_, Encoding::Blob, Some(20)) => Some("BINARY(20)"),
        (_, Encoding::Text, Some(26)) => Some("CHAR(26) CHARACTER SET ascii COLLATE ascii_bin"),
        (_, Encoding::Hex, Some(32)) => Some("CHAR(32) CHARACTER SET ascii COLLATE ascii_bin"),
        (_, Encoding::Text, Some(36)) => Some("CHAR(36) CHARACTER SET ascii COLLATE ascii_bin"),
        (_, Encoding::Text, Some(40)) => Some("CHAR(40) CHARACTER SET ascii COLLATE ascii_bin"),
        _ => None,
    }
}

/// Returns the column type of a UUID that the server generates, for versions that can. The `UUID()` of older versions
/// has neither version number.
pub(super) fn key_made(
    version: &str,
    kind: KeyKind,
    encoding: Encoding,
) -> Result<&'static str, String> {
    made(
        NAME,
        version,
        kind,
        encoding,
        &[
            (KeyKind::Uuid4, &[11, 7], "UUID DEFAULT (UUID_v4())"),
            (KeyKind::Uuid7, &[11, 7], "UUID DEFAULT (UUID_v7())"),
        ],
    )
}

/// Returns the statements that create the built-in table, or why it cannot exist.
///
/// `without-rowid` is InnoDB's clustered index on the key. `rowid` is as in SQLite. An integer key is the clustered
/// key itself. Any other key has a secondary index, and the rows are stored in insert order by a hidden row id,
/// because a unique key that may be NULL cannot be the clustered one.
pub(super) fn create_table(shape: &TableShape<'_>) -> Result<String, String> {
    let Some(key_type) = shape.key_made.or(key_type(shape.key, shape.encoding)) else {
        return Err(format!(
            "MariaDB has no {} type for {}",
            shape.encoding.name(),
            shape.key.name()
        ));
    };
    let is_integer = shape.encoding == Encoding::Integer && shape.key != KeyKind::Composite;
    let (null, key) = match (shape.layout, shape.key) {
        ("rowid", _) if is_integer => ("NOT NULL", Some("PRIMARY KEY")),
        ("rowid", _) => ("NULL", Some("UNIQUE KEY")),
        ("without-rowid", _) => ("NOT NULL", Some("PRIMARY KEY")),
        ("no-key", KeyKind::Serial) => {
            return Err("MariaDB assigns values to keys only (serial)".to_owned());
        }
        ("no-key", _) => ("NOT NULL", None),
        (other, _) => return Err(format!("MariaDB has no layout {other}")),
    };
    let (mut columns, names) = match shape.key {
        KeyKind::Composite => (
            vec![format!("bucket BIGINT {null}"), format!("id BIGINT {null}")],
            "bucket, id",
        ),
        _ => (vec![format!("id {key_type} {null}")], "id"),
    };
    if shape.has_payload {
        columns.push("payload LONGBLOB".to_owned());
    }
    columns.extend((1..=shape.indexes).map(|n| format!("a{n} BIGINT NOT NULL")));
    columns.extend(key.map(|key| format!("{key} ({names})")));
    let mut sql = format!(
        "CREATE TABLE {}({}) ENGINE=InnoDB;",
        shape.name,
        columns.join(", ")
    );
    for n in 1..=shape.indexes {
        let _ = write!(sql, "\nCREATE INDEX {0}_a{n} ON {0}(a{n});", shape.name);
    }
    Ok(sql)
}
