//! Ids as values of diesel: 16 bytes, a TSID as an integer, a TypeID as text. PostgreSQL has a type for UUIDs.

use diesel::backend::Backend;
use diesel::deserialize::{self, FromSql};
use diesel::serialize::{self, Output, ToSql};
use diesel::sql_types::{BigInt, Binary, Text};

use crate::{Tsid, TypeId, Ulid, Uuid};

/// Implements `FromSql` for every backend that has it for another type.
macro_rules! read_as {
    ($name:ident, $sql:ident, $stored:ty, $value:ident => $from:expr) => {
        impl<DB: Backend> FromSql<$sql, DB> for $name
        where
            $stored: FromSql<$sql, DB>,
        {
            fn from_sql(raw: DB::RawValue<'_>) -> deserialize::Result<Self> {
                let $value = <$stored as FromSql<$sql, DB>>::from_sql(raw)?;
                Ok($from)
            }
        }
    };
}

read_as!(Ulid, Binary, Vec<u8>, value => Self::from_slice(&value)?);
read_as!(Uuid, Binary, Vec<u8>, value => Self::from_slice(&value)?);
read_as!(Tsid, BigInt, i64, value => Self::from_i64(value)?);
// The type char(n) of PostgreSQL fills with blanks.
read_as!(TypeId, Text, String, value => Self::parse(value.trim_end())?);

/// Implements `ToSql` for a backend.
macro_rules! written_by {
    ($put:ident, $backend:ty, $($name:ident $sql:ty: $id:ident => $to:expr;)*) => {
        $(impl ToSql<$sql, $backend> for $name {
            fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, $backend>) -> serialize::Result {
                let $id = self;
                $put(out, $to)
            }
        })*
    };
}

#[cfg(feature = "diesel-sqlite")]
mod sqlite {
    use diesel::serialize::IsNull;
    use diesel::sqlite::{Sqlite, SqliteBindValue};

    use super::*;

    fn set<'b>(
        out: &mut Output<'b, '_, Sqlite>,
        value: impl Into<SqliteBindValue<'b>>,
    ) -> serialize::Result {
        out.set_value(value);
        Ok(IsNull::No)
    }

    written_by! {
        set, Sqlite,
        Ulid Binary: id => id.to_bytes().to_vec();
        Uuid Binary: id => id.to_bytes().to_vec();
        Tsid BigInt: id => id.to_i64();
        TypeId Text: id => id.to_string();
    }
}

#[cfg(any(feature = "diesel-postgres", feature = "diesel-mysql"))]
mod server {
    use std::io::Write;

    use diesel::serialize::IsNull;

    use super::*;

    fn send(out: &mut impl Write, bytes: impl AsRef<[u8]>) -> serialize::Result {
        out.write_all(bytes.as_ref())?;
        Ok(IsNull::No)
    }

    #[cfg(feature = "diesel-postgres")]
    mod postgres {
        use diesel::pg::{Pg, PgValue};
        use diesel::sql_types;

        use super::*;

        written_by! {
            send, Pg,
            Ulid Binary: id => id.to_bytes();
            Uuid Binary: id => id.to_bytes();
            Ulid sql_types::Uuid: id => id.to_bytes();
            Uuid sql_types::Uuid: id => id.to_bytes();
            Tsid BigInt: id => id.to_i64().to_be_bytes();
            TypeId Text: id => id.to_string();
        }

        impl FromSql<sql_types::Uuid, Pg> for Ulid {
            fn from_sql(raw: PgValue<'_>) -> deserialize::Result<Self> {
                Ok(Self::from_slice(raw.as_bytes())?)
            }
        }

        impl FromSql<sql_types::Uuid, Pg> for Uuid {
            fn from_sql(raw: PgValue<'_>) -> deserialize::Result<Self> {
                Ok(Self::from_slice(raw.as_bytes())?)
            }
        }
    }

    #[cfg(feature = "diesel-mysql")]
    mod mysql {
        use diesel::mysql::Mysql;

        use super::*;

        written_by! {
            send, Mysql,
            Ulid Binary: id => id.to_bytes();
            Uuid Binary: id => id.to_bytes();
            Tsid BigInt: id => id.to_i64().to_ne_bytes();
            TypeId Text: id => id.to_string();
        }
    }
}
