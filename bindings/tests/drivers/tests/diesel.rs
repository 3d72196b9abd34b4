//! Ids in a SQLite file and in a PostgreSQL database, written and read by diesel.

use diesel::prelude::*;
use diesel::sql_types::Text;
use inorder_key::{Tsid, TypeId, Ulid, Uuid};

/// A table with ids of this SQL type, and a row of it.
macro_rules! define_table {
    ($bits:ident) => {
        diesel::table! {
            id (ulid) {
                ulid -> $bits,
                uuid -> $bits,
                tsid -> BigInt,
                type_id -> Text,
                other -> Nullable<$bits>,
            }
        }

        #[derive(Clone, Copy, Debug, PartialEq, Queryable, Insertable)]
        #[diesel(table_name = id)]
        struct Row {
            ulid: Ulid,
            uuid: Uuid,
            tsid: Tsid,
            type_id: TypeId,
            other: Option<Ulid>,
        }

        /// Two rows. The last column is NULL in the first row only.
        fn rows() -> [Row; 2] {
            let mut rows = [None::<Ulid>; 2].map(|other| Row {
                ulid: Ulid::now(),
                uuid: Uuid::now_v7(),
                tsid: Tsid::now(),
                type_id: TypeId::now("user").unwrap(),
                other,
            });
            rows[1].other = Some(rows[0].ulid);
            rows
        }
    };
}

/// What a database says of a row.
#[derive(QueryableByName)]
struct Stored {
    #[diesel(sql_type = Text)]
    said: String,
}

macro_rules! round_trips {
    ($connection:expr, $said:literal) => {{
        let rows = rows();
        diesel::insert_into(id::table)
            .values(&rows[..])
            .execute(&mut $connection)
            .unwrap();
        assert_eq!(
            id::table
                .order(id::ulid)
                .load::<Row>(&mut $connection)
                .unwrap(),
            rows
        );
        let tsid = id::tsid.eq(rows[1].tsid);
        let found = id::table.filter(id::other.eq(rows[0].ulid)).filter(tsid);
        let found = found
            .filter(id::type_id.eq(&rows[1].type_id))
            .first::<Row>(&mut $connection);
        assert_eq!(found.unwrap(), rows[1]);
        let said = concat!("SELECT ", $said, " AS said FROM id ORDER BY ulid LIMIT 1");
        let stored: Stored = diesel::sql_query(said)
            .get_result(&mut $connection)
            .unwrap();
        (rows[0], stored.said)
    }};
}

mod sqlite {
    use super::*;

    define_table!(Binary);

    #[test]
    fn sqlite_stores_ids_as_blobs_integers_and_text() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ids.db");
        let mut connection = SqliteConnection::establish(file.to_str().unwrap()).unwrap();
        diesel::sql_query("CREATE TABLE id(ulid BLOB PRIMARY KEY, uuid BLOB, tsid INTEGER, type_id TEXT, other BLOB) STRICT")
            .execute(&mut connection)
            .unwrap();
        let (row, said) = round_trips!(connection, "hex(ulid) || hex(uuid) || tsid || type_id");
        let (ulid, uuid) = (row.ulid.to_u128(), row.uuid.to_u128());
        assert_eq!(
            said,
            format!("{ulid:032X}{uuid:032X}{}{}", row.tsid.to_i64(), row.type_id)
        );
        diesel::sql_query("UPDATE id SET uuid = x'00'")
            .execute(&mut connection)
            .unwrap();
        assert!(id::table.load::<Row>(&mut connection).is_err());
    }
}

mod postgres {
    use super::*;

    define_table!(Uuid);

    #[test]
    #[ignore = "needs a PostgreSQL server"]
    fn postgres_stores_ids_as_uuid_bigint_and_text() {
        let url = std::env::var("INORDER_TEST_POSTGRES").unwrap();
        let mut connection = PgConnection::establish(&url).unwrap();
        diesel::sql_query("CREATE TEMPORARY TABLE id(ulid uuid PRIMARY KEY, uuid uuid, tsid bigint, type_id text, other uuid)")
            .execute(&mut connection)
            .unwrap();
        let (row, said) = round_trips!(connection, "ulid::text || uuid::text || tsid || type_id");
        let ulid = inorder_key::Uuid::from(row.ulid);
        assert_eq!(
            said,
            format!("{ulid}{}{}{}", row.uuid, row.tsid.to_i64(), row.type_id)
        );
        diesel::sql_query("UPDATE id SET tsid = -1")
            .execute(&mut connection)
            .unwrap();
        assert!(id::table.load::<Row>(&mut connection).is_err());
    }
}
