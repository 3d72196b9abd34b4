//! What the values of a column are, whatever its engine calls the type.

use inorder_copy::model::Column;

/// A kind of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Integers of so many bits.
    Integer(u32),
    /// Floating-point numbers.
    Real,
    /// Decimals: digits in all, and those behind the point.
    Decimal(u32, u32),
    /// Truth values.
    Boolean,
    /// Text of at most so many characters.
    Text(Option<usize>),
    /// Bytes.
    Bytes,
    /// UUIDs of a type of their own.
    Uuid,
    /// Days.
    Date,
    /// Points in time.
    Time,
    /// JSON.
    Json,
    /// Anything else.
    Other,
}

/// Returns the class of a column. SQLite's declared types come first, because its catalog has no others.
pub fn class(engine: &str, column: &Column) -> Class {
    let by_values = of_type(&column.postgres);
    match (engine, of_type(&column.declared)) {
        // `bigint unsigned` is a decimal elsewhere, but a key of 8 bytes here.
        ("mariadb", Class::Integer(64)) => Class::Integer(64),
        ("sqlite", Class::Other) => by_values,
        // Text in a column of another type.
        ("sqlite", Class::Integer(_) | Class::Real | Class::Decimal(..))
            if matches!(by_values, Class::Bytes) =>
        {
            by_values
        }
        ("sqlite", Class::Integer(_)) => Class::Integer(64),
        ("sqlite", declared) => declared,
        _ => by_values,
    }
}

fn of_type(declared: &str) -> Class {
    let lower = declared.to_ascii_lowercase();
    let (name, rest) = match lower.split_once('(') {
        Some((name, rest)) => (name.trim(), rest),
        None => (lower.trim(), ""),
    };
    let mut numbers = rest
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|digits| digits.parse::<u32>().ok());
    if name.ends_with("[]") || lower.ends_with("[]") {
        return Class::Other;
    }
    match name {
        "smallint" | "tinyint" | "int2" => Class::Integer(16),
        "integer" | "int" | "int4" | "mediumint" => Class::Integer(32),
        "bigint" | "int8" => Class::Integer(64),
        "real" | "double" | "double precision" | "float" | "float4" | "float8" => Class::Real,
        "numeric" | "decimal" => {
            let digits = numbers.next().unwrap_or(12);
            Class::Decimal(digits, numbers.next().unwrap_or(0))
        }
        "boolean" | "bool" => Class::Boolean,
        "text" | "clob" | "longtext" | "mediumtext" | "citext" => Class::Text(None),
        "varchar" | "character varying" | "character" | "char" | "nvarchar" | "bpchar" => {
            Class::Text(numbers.next().map(|most| most as usize))
        }
        "bytea" | "blob" | "longblob" | "varbinary" | "binary" => Class::Bytes,
        "uuid" => Class::Uuid,
        "date" => Class::Date,
        "json" | "jsonb" => Class::Json,
        _ if name.starts_with("timestamp") || name.starts_with("datetime") => Class::Time,
        _ => Class::Other,
    }
}

/// Returns the type of a class in an engine. A column of an index needs a bounded one in MariaDB.
pub fn type_in(engine: &str, class: Class, is_indexed: bool) -> String {
    let [sqlite, postgres, mariadb] = match (class, is_indexed) {
        (Class::Integer(16), _) => ["INTEGER", "smallint", "SMALLINT"],
        (Class::Integer(32), _) => ["INTEGER", "integer", "INT"],
        (Class::Integer(_), _) => ["INTEGER", "bigint", "BIGINT"],
        (Class::Real, _) => ["REAL", "double precision", "DOUBLE"],
        (Class::Decimal(digits, places), _) => {
            return match engine {
                "sqlite" => "NUMERIC".to_owned(),
                _ => format!("NUMERIC({digits}, {places})"),
            };
        }
        (Class::Boolean, _) => ["INTEGER", "boolean", "BOOLEAN"],
        (Class::Text(Some(most)), _) => {
            return match engine {
                "sqlite" => "TEXT".to_owned(),
                _ => format!("VARCHAR({most})"),
            };
        }
        (Class::Text(None) | Class::Other, true) => ["TEXT", "text", "VARCHAR(255)"],
        (Class::Text(None) | Class::Other, false) => ["TEXT", "text", "LONGTEXT"],
        (Class::Bytes, true) => ["BLOB", "bytea", "VARBINARY(255)"],
        (Class::Bytes, false) => ["BLOB", "bytea", "LONGBLOB"],
        (Class::Uuid, _) => ["BLOB", "uuid", "UUID"],
        (Class::Date, _) => ["TEXT", "date", "DATE"],
        (Class::Time, _) => ["TEXT", "timestamp", "DATETIME(6)"],
        (Class::Json, _) => ["TEXT", "jsonb", "LONGTEXT"],
    };
    match engine {
        "sqlite" => sqlite,
        "mariadb" => mariadb,
        _ => postgres,
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_all_engines_have_a_class() {
        for (declared, wanted) in [
            ("character varying(20)", Class::Text(Some(20))),
            ("numeric(10,2)", Class::Decimal(10, 2)),
            ("timestamp(3) with time zone", Class::Time),
            ("timestamptz", Class::Time),
            ("DATETIME", Class::Time),
            ("integer[]", Class::Other),
            ("varchar(5)[]", Class::Other),
            ("inet", Class::Other),
            ("int(10) unsigned", Class::Integer(32)),
            ("uuid", Class::Uuid),
            ("", Class::Other),
        ] {
            assert_eq!(of_type(declared), wanted, "{declared}");
        }
    }
}
