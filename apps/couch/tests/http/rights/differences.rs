//! Where the answers are meant to differ from CouchDB's.

/// A difference, with the status of this server's answer.
pub struct Difference {
    pub section: &'static str,
    /// The start of the request.
    pub request: &'static str,
    pub users: &'static [&'static str],
    pub status: u16,
    /// The reason.
    pub why: &'static str,
}

const fn difference(
    section: &'static str,
    request: &'static str,
    users: &'static [&'static str],
    status: u16,
    why: &'static str,
) -> Difference {
    Difference {
        section,
        request,
        users,
        status,
        why,
    }
}

const NO_500: &str = "CouchDB answers 500 to a user without the right";
const NO_MAJORITY: &str = "CouchDB answers 500 no_majority to an invalid security object";
const ORDER: &str = "the right is checked before the revision";
const DESIGN: &str = "whether a design document exists is not told";
const STRICTER: &str = "CouchDB does not check the right in the database of users";

const OTHERS: &[&str] = &["no rights", "member", "database admin"];
const ADMINS: &[&str] = &["database admin", "server admin"];

pub const DIFFERENCES: &[Difference] = &[
    difference("database", "POST /rights/_index", &["member"], 403, NO_500),
    difference("database", "DELETE /rights/_index", &["member"], 403, ORDER),
    difference(
        "database",
        "DELETE /rights/_design/design",
        &["member"],
        403,
        ORDER,
    ),
    difference(
        "database",
        "PUT /rights/_security",
        &["member"],
        403,
        NO_500,
    ),
    difference(
        "database",
        r#"PUT /rights/_security {"admins":[]}"#,
        ADMINS,
        400,
        NO_MAJORITY,
    ),
    difference(
        "database",
        r#"PUT /rights/_security {"members""#,
        ADMINS,
        400,
        NO_MAJORITY,
    ),
    difference(
        "database",
        "PUT /rights/_revs_limit",
        &["member"],
        403,
        NO_500,
    ),
    difference(
        "public database",
        "PUT /rights/_security",
        &["anonymous"],
        401,
        NO_500,
    ),
    difference(
        "public database",
        "PUT /rights/_security",
        OTHERS,
        403,
        NO_500,
    ),
    difference(
        "users, for everybody",
        "GET /_users/_design/none",
        &["anonymous"],
        403,
        DESIGN,
    ),
    difference(
        "users, for everybody",
        "GET /_users/_design/none",
        OTHERS,
        403,
        DESIGN,
    ),
    difference(
        "users, for everybody",
        "PUT /_users/_local",
        &["anonymous"],
        404,
        STRICTER,
    ),
    difference(
        "users, for everybody",
        "POST /_users/_index",
        &["anonymous"],
        401,
        NO_500,
    ),
    difference(
        "users, for everybody",
        "POST /_users/_index",
        OTHERS,
        403,
        ORDER,
    ),
    difference(
        "users, for everybody",
        "POST /_users/_compact",
        &["anonymous"],
        401,
        STRICTER,
    ),
    difference(
        "users, for everybody",
        "POST /_users/_compact",
        OTHERS,
        401,
        STRICTER,
    ),
    difference(
        "public fields of users",
        "GET /_users/org.couchdb.user:member/att",
        &["anonymous", "no rights", "database admin"],
        404,
        "another reason",
    ),
];
