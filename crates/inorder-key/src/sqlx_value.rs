//! Ids as values of sqlx: a ULID and a UUID as `uuid::Uuid`, a TSID as an integer, a TypeID as text.

use sqlx_core::database::Database;
use sqlx_core::decode::Decode;
use sqlx_core::encode::{Encode, IsNull};
use sqlx_core::error::BoxDynError;
use sqlx_core::types::Type;

use crate::{Tsid, TypeId, Ulid, Uuid};

/// Implements the traits for every database that has them for another type.
macro_rules! stored_as {
    ($name:ident, $stored:ty, $id:ident => $to:expr, $value:ident => $from:expr) => {
        impl<DB: Database> Type<DB> for $name
        where
            $stored: Type<DB>,
        {
            fn type_info() -> DB::TypeInfo {
                <$stored as Type<DB>>::type_info()
            }

            fn compatible(of: &DB::TypeInfo) -> bool {
                <$stored as Type<DB>>::compatible(of)
            }
        }

        impl<'q, DB: Database> Encode<'q, DB> for $name
        where
            $stored: Encode<'q, DB>,
        {
            fn encode_by_ref(
                &self,
                out: &mut DB::ArgumentBuffer<'q>,
            ) -> Result<IsNull, BoxDynError> {
                let $id = self;
                <$stored as Encode<'q, DB>>::encode($to, out)
            }
        }

        impl<'r, DB: Database> Decode<'r, DB> for $name
        where
            $stored: Decode<'r, DB>,
        {
            fn decode(raw: DB::ValueRef<'r>) -> Result<Self, BoxDynError> {
                let $value = <$stored as Decode<'r, DB>>::decode(raw)?;
                $from
            }
        }
    };
}

stored_as!(Ulid, uuid::Uuid, id => uuid::Uuid::from_bytes(id.to_bytes()), value => Ok(Self::from_bytes(value.into_bytes())));
stored_as!(Uuid, uuid::Uuid, id => uuid::Uuid::from_bytes(id.to_bytes()), value => Ok(Self::from_bytes(value.into_bytes())));
stored_as!(Tsid, i64, id => id.to_i64(), value => Ok(Self::from_i64(value)?));
// The type char(n) of PostgreSQL fills with blanks.
stored_as!(TypeId, String, id => id.to_string(), value => Ok(Self::parse(value.trim_end())?));
