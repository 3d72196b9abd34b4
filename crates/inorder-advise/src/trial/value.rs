//! A value as it is stored.

use rusqlite::{
    ToSql,
    types::{FromSql, FromSqlResult, ToSqlOutput, ValueRef},
};

/// A value that is read from one database and bound to a statement of another. A text may have bytes that are no UTF-8,
/// which SQLite stores as they are.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Null,
    Integer(i64),
    Real(f64),
    Text(Vec<u8>),
    Blob(Vec<u8>),
}

impl FromSql for Value {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Ok(match value {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(integer) => Value::Integer(integer),
            ValueRef::Real(real) => Value::Real(real),
            ValueRef::Text(text) => Value::Text(text.to_vec()),
            ValueRef::Blob(blob) => Value::Blob(blob.to_vec()),
        })
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Value::Null => ValueRef::Null,
            Value::Integer(integer) => ValueRef::Integer(*integer),
            Value::Real(real) => ValueRef::Real(*real),
            Value::Text(text) => ValueRef::Text(text),
            Value::Blob(blob) => ValueRef::Blob(blob),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    #[test]
    fn values_are_bound_as_they_were_read() {
        let connection = Connection::open_in_memory().unwrap();
        for expression in [
            "NULL",
            "-7",
            "0.1",
            "'ü'",
            "''",
            "x''",
            "x'ff00'",
            "CAST(x'ff41' AS TEXT)",
            "CAST(x'410042' AS TEXT)",
        ] {
            let sql = format!("SELECT {expression}");
            let value: Value = connection.query_row(&sql, (), |row| row.get(0)).unwrap();
            let sql = format!("SELECT typeof(?1) = typeof({expression}) AND ?1 IS {expression}");
            let is_same: bool = connection
                .query_row(&sql, [value], |row| row.get(0))
                .unwrap();
            assert!(is_same, "{expression}");
        }
    }
}
