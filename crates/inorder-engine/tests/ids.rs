//! Ids as parameters and columns of the crate postgres, on a real server.

mod common;

use common::running::Running;
use inorder_key::{Tsid, TypeId, Ulid, Uuid};
use postgres::{Client, NoTls};

#[test]
fn ids_are_values_of_postgresql() {
    let engines = common::servers();
    let Some(engine) = engines.iter().find(|engine| engine.name() == "postgres") else {
        return;
    };
    let server = Running::start(*engine);
    let mut client = Client::connect(&server.admin(), NoTls).unwrap();
    let (ulid, uuid, tsid) = (Ulid::now(), Uuid::now_v7(), Tsid::now());
    for (of_type, text) in [
        ("uuid", [Uuid::from(ulid).to_string(), uuid.to_string()]),
        ("text", [ulid.to_string(), uuid.to_string()]),
        ("char(40)", [ulid.to_string(), uuid.to_string()]),
        (
            "bytea",
            [ulid.to_bytes(), uuid.to_bytes()].map(|b| {
                b.iter()
                    .fold("\\x".to_owned(), |hex, b| format!("{hex}{b:02x}"))
            }),
        ),
    ] {
        let sql = format!(
            "SELECT $1::{of_type}, $2::{of_type}, rtrim($1::{of_type}::text), rtrim($2::{of_type}::text)"
        );
        let row = client.query_one(&sql, &[&ulid, &uuid]).unwrap();
        assert_eq!((row.get::<_, Ulid>(0), row.get::<_, Uuid>(1)), (ulid, uuid));
        assert_eq!([row.get::<_, String>(2), row.get(3)], text, "{of_type}");
    }
    let user = TypeId::now("user").unwrap();
    let sql = "SELECT $1::bigint, $2::varchar, $1::bigint::text, $2::varchar::text, NULL::uuid, -1::bigint, 'x'::text, ''::bytea";
    let row = client.query_one(sql, &[&tsid, &user]).unwrap();
    assert_eq!(
        (row.get::<_, Tsid>(0), row.get::<_, TypeId>(1)),
        (tsid, user)
    );
    assert_eq!(
        [row.get::<_, String>(2), row.get(3)],
        [tsid.to_i64().to_string(), user.to_string()]
    );
    assert_eq!(row.get::<_, Option<Uuid>>(4), None);
    assert!(row.try_get::<_, Tsid>(5).is_err() && row.try_get::<_, TypeId>(6).is_err());
    assert!(row.try_get::<_, Uuid>(6).is_err() && row.try_get::<_, Ulid>(7).is_err());
    // A type that no id is sent as.
    assert!(client.query_one("SELECT $1::date", &[&uuid]).is_err());
    assert!(client.query_one("SELECT $1::int4", &[&tsid]).is_err());
}
