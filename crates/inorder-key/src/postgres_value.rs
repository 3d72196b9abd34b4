//! Ids as values of PostgreSQL, with the crates postgres and tokio-postgres.

use alloc::boxed::Box;
use core::error::Error;

use bytes::{BufMut as _, BytesMut};
use postgres_types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use crate::{Tsid, TypeId, Ulid, Uuid};

type Result<T> = core::result::Result<T, Box<dyn Error + Sync + Send>>;

/// Returns whether values of a type are sent as text.
fn is_text(of: &Type) -> bool {
    [Type::TEXT, Type::VARCHAR, Type::BPCHAR].contains(of)
}

macro_rules! sixteen_bytes {
    ($name:ident) => {
        impl ToSql for $name {
            fn to_sql(&self, of: &Type, out: &mut BytesMut) -> Result<IsNull> {
                match is_text(of) {
                    true => out.put_slice(&self.to_text()),
                    false => out.put_slice(&self.to_bytes()),
                }
                Ok(IsNull::No)
            }

            fn accepts(of: &Type) -> bool {
                is_text(of) || [Type::UUID, Type::BYTEA].contains(of)
            }

            to_sql_checked!();
        }

        impl<'a> FromSql<'a> for $name {
            fn from_sql(of: &Type, raw: &'a [u8]) -> Result<Self> {
                Ok(match is_text(of) {
                    // The type char(n) fills with blanks.
                    true => $name::parse(raw.trim_ascii_end())?,
                    false => $name::from_slice(raw)?,
                })
            }

            fn accepts(of: &Type) -> bool {
                <$name as ToSql>::accepts(of)
            }
        }
    };
}

sixteen_bytes!(Ulid);
sixteen_bytes!(Uuid);

impl ToSql for Tsid {
    fn to_sql(&self, of: &Type, out: &mut BytesMut) -> Result<IsNull> {
        self.to_i64().to_sql(of, out)
    }

    fn accepts(of: &Type) -> bool {
        <i64 as ToSql>::accepts(of)
    }

    to_sql_checked!();
}

impl<'a> FromSql<'a> for Tsid {
    fn from_sql(of: &Type, raw: &'a [u8]) -> Result<Self> {
        Ok(Tsid::from_i64(i64::from_sql(of, raw)?)?)
    }

    fn accepts(of: &Type) -> bool {
        <i64 as FromSql>::accepts(of)
    }
}

impl ToSql for TypeId {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull> {
        core::fmt::Write::write_fmt(out, format_args!("{self}"))?;
        Ok(IsNull::No)
    }

    fn accepts(of: &Type) -> bool {
        is_text(of)
    }

    to_sql_checked!();
}

impl<'a> FromSql<'a> for TypeId {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self> {
        Ok(TypeId::parse(raw.trim_ascii_end())?)
    }

    fn accepts(of: &Type) -> bool {
        is_text(of)
    }
}
