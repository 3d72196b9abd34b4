//! Ids as parameters and columns of rusqlite, as the SQL functions read and make them.

use inorder_key::{Tsid, TypeId, Ulid, Uuid};
use inorder_sqlite::register;
use rusqlite::Connection;

fn db() -> Connection {
    let db = Connection::open_in_memory().unwrap();
    register(&db).unwrap();
    db
}

#[test]
fn ids_are_stored_as_the_functions_make_them() {
    let db = db();
    let (ulid, uuid, tsid) = (Ulid::now(), Uuid::now_v7(), Tsid::now());
    let type_id = TypeId::now("user").unwrap();
    let is_same: bool = db
        .query_row(
            "SELECT ?1 IS ulid_blob(?2) AND ?3 IS uuid_blob(?4) AND ?5 IS tsid_integer(?6) AND typeid_uuid(?7) IS ?8",
            rusqlite::params![
                ulid,
                ulid.to_string(),
                uuid,
                uuid.to_string(),
                tsid,
                tsid.to_string(),
                type_id,
                type_id.uuid().to_string(),
            ],
            |row| row.get(0),
        )
        .unwrap();
    assert!(is_same);
}

#[test]
fn columns_are_read_in_each_form() {
    let db = db();
    let one = |sql: &str| -> rusqlite::Result<(Ulid, Uuid)> {
        db.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
    };
    for sql in [
        "SELECT id, id FROM (SELECT uuid7() AS id)",
        "SELECT ulid_text(id), uuid_text(id) FROM (SELECT uuid7() AS id)",
        "SELECT uuid_hex(id), uuid_hex(id) FROM (SELECT uuid7() AS id)",
    ] {
        let (ulid, uuid) = one(sql).unwrap();
        assert_eq!((Uuid::from(ulid), uuid.version()), (uuid, Some(7)), "{sql}");
    }
    let read = "SELECT tsid(), tsid_text(tsid()), typeid('user')";
    let (a, b, user): (Tsid, Tsid, TypeId) = db
        .query_row(read, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .unwrap();
    assert!(a < b && user.prefix() == "user");
    for wrong in ["1, 1", "NULL, NULL", "x'00', x'00'", "'x', 'x'", "1.5, 1.5"] {
        assert!(one(&format!("SELECT {wrong}")).is_err(), "{wrong}");
    }
    for wrong in ["-1", "'x'", "x'00'", "NULL"] {
        let sql = format!("SELECT {wrong}");
        assert!(db.query_row(&sql, [], |row| row.get::<_, Tsid>(0)).is_err());
        assert!(
            db.query_row(&sql, [], |row| row.get::<_, TypeId>(0))
                .is_err()
        );
    }
    let none: Option<Ulid> = db.query_row("SELECT NULL", [], |row| row.get(0)).unwrap();
    assert_eq!(none, None);
}

#[test]
fn json_has_texts() {
    let id = Tsid::from_i64(4_194_304).unwrap();
    let user = TypeId::parse("user_01h455vb4pex5vsknk084sn02q").unwrap();
    let json = serde_json::to_string(&(id, user)).unwrap();
    assert_eq!(
        json,
        r#"["0000000040000","user_01h455vb4pex5vsknk084sn02q"]"#
    );
    assert_eq!(
        serde_json::from_str::<(Tsid, TypeId)>(&json).unwrap(),
        (id, user)
    );
    assert_eq!(serde_json::from_str::<Tsid>("4194304").unwrap(), id);
    for wrong in ["-1", "9223372036854775808", "\"x\"", "1.5", "null"] {
        assert!(serde_json::from_str::<Tsid>(wrong).is_err(), "{wrong}");
    }
}
