//! Ids in a SQLite file and in a PostgreSQL database, written and read by sqlx.

use inorder_key::{Tsid, TypeId, Ulid, Uuid};
use sqlx::postgres::PgConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Connection as _, Row as _};

/// The ids of a row.
type Ids = (Ulid, Uuid, Tsid, TypeId, Option<Ulid>);

fn ids() -> Ids {
    (
        Ulid::now(),
        Uuid::now_v7(),
        Tsid::now(),
        TypeId::now("user").unwrap(),
        None,
    )
}

/// Runs an asynchronous test.
fn run<F: Future>(test: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(test)
}

/// Inserts two rows and reads them by key. The last column is NULL in the first row only.
macro_rules! round_trips {
    ($connection:expr, $insert:literal, $select:literal) => {{
        let mut rows = [ids(), ids()];
        rows[1].4 = Some(rows[0].0);
        for (ulid, uuid, tsid, type_id, other) in rows {
            let insert = sqlx::query($insert);
            let insert = insert
                .bind(ulid)
                .bind(uuid)
                .bind(tsid)
                .bind(type_id)
                .bind(other);
            insert.execute(&mut $connection).await.unwrap();
        }
        for row in rows {
            let found: Ids = sqlx::query_as($select)
                .bind(row.0)
                .fetch_one(&mut $connection)
                .await
                .unwrap();
            assert_eq!(found, row);
        }
        rows
    }};
}

#[test]
fn sqlite_stores_ids_as_blobs_integers_and_text() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let options = SqliteConnectOptions::new()
            .filename(folder.path().join("ids.db"))
            .create_if_missing(true);
        let mut connection: SqliteConnection = options.connect().await.unwrap();
        let create = "CREATE TABLE id(ulid BLOB PRIMARY KEY, uuid BLOB, tsid INTEGER, type_id TEXT, other BLOB) STRICT";
        sqlx::query(create).execute(&mut connection).await.unwrap();
        let rows = round_trips!(
            connection,
            "INSERT INTO id VALUES (?, ?, ?, ?, ?)",
            "SELECT * FROM id WHERE ulid = ?"
        );
        let stored =
            sqlx::query("SELECT hex(ulid), hex(uuid), tsid, type_id FROM id ORDER BY ulid LIMIT 1");
        let stored = stored.fetch_one(&mut connection).await.unwrap();
        let (ulid, uuid, tsid, type_id, _) = rows[0];
        assert_eq!(
            stored.get::<String, _>(0),
            format!("{:032X}", ulid.to_u128())
        );
        assert_eq!(
            stored.get::<String, _>(1),
            format!("{:032X}", uuid.to_u128())
        );
        assert_eq!(stored.get::<i64, _>(2), tsid.to_i64());
        assert_eq!(stored.get::<String, _>(3), type_id.to_string());
        // What is no id is an error.
        for wrong in ["SELECT x'00'", "SELECT NULL"] {
            assert!(
                sqlx::query_scalar::<_, Ulid>(wrong)
                    .fetch_one(&mut connection)
                    .await
                    .is_err()
            );
        }
        assert!(
            sqlx::query_scalar::<_, Tsid>("SELECT -1")
                .fetch_one(&mut connection)
                .await
                .is_err()
        );
        assert!(
            sqlx::query_scalar::<_, TypeId>("SELECT 'a_b'")
                .fetch_one(&mut connection)
                .await
                .is_err()
        );
    });
}

#[test]
#[ignore = "needs a PostgreSQL server"]
fn postgres_stores_ids_as_uuid_bigint_and_text() {
    run(async {
        let url = std::env::var("INORDER_TEST_POSTGRES").unwrap();
        let mut connection = PgConnection::connect(&url).await.unwrap();
        let create = "CREATE TEMPORARY TABLE id(ulid uuid PRIMARY KEY, uuid uuid, tsid bigint, type_id char(40), other uuid)";
        sqlx::query(create).execute(&mut connection).await.unwrap();
        let rows = round_trips!(
            connection,
            "INSERT INTO id VALUES ($1, $2, $3, $4, $5)",
            "SELECT * FROM id WHERE ulid = $1"
        );
        let stored = sqlx::query(
            "SELECT ulid::text, uuid::text, tsid, trim(type_id) FROM id ORDER BY ulid LIMIT 1",
        );
        let stored = stored.fetch_one(&mut connection).await.unwrap();
        let (ulid, uuid, tsid, type_id, _) = rows[0];
        assert_eq!(stored.get::<String, _>(0), Uuid::from(ulid).to_string());
        assert_eq!(stored.get::<String, _>(1), uuid.to_string());
        assert_eq!(stored.get::<i64, _>(2), tsid.to_i64());
        assert_eq!(stored.get::<String, _>(3), type_id.to_string());
        assert!(
            sqlx::query_scalar::<_, Tsid>("SELECT -1::bigint")
                .fetch_one(&mut connection)
                .await
                .is_err()
        );
    });
}
