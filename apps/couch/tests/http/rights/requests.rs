//! The requests of the table, in the order in which they are sent.

/// Requests that are sent under the same settings.
pub struct Section {
    pub name: &'static str,
    /// Section, key and value of the configuration, set before and deleted after.
    pub settings: &'static [(&'static str, &'static str, &'static str)],
    /// Requests of the server admin before.
    pub before: &'static [Request],
    pub requests: &'static [Request],
}

/// A request that every kind of user sends.
pub struct Request {
    pub method: &'static str,
    pub path: &'static str,
    pub headers: &'static [(&'static str, &'static str)],
    pub body: &'static str,
}

const fn request(method: &'static str, path: &'static str, body: &'static str) -> Request {
    Request {
        method,
        path,
        headers: &[],
        body,
    }
}

const fn get(path: &'static str) -> Request {
    request("GET", path, "")
}

const fn with(
    method: &'static str,
    path: &'static str,
    headers: &'static [(&'static str, &'static str)],
    body: &'static str,
) -> Request {
    Request {
        method,
        path,
        headers,
        body,
    }
}

const HTML: &[(&str, &str)] = &[("accept", "text/html")];
const FORM: &[(&str, &str)] = &[("content-type", "application/x-www-form-urlencoded")];

/// A key of the configuration that means nothing.
const CONFIG_KEY: &str = "/_node/_local/_config/rights/key";

pub const SECTIONS: &[Section] = &[
    Section {
        name: "server",
        settings: &[],
        before: &[],
        requests: &[
            get("/"),
            request("HEAD", "/", ""),
            get("/_up"),
            get("/_uuids"),
            get("/_session"),
            get("/_session?basic=true"),
            request("DELETE", "/_session", ""),
            request("DELETE", "/_session?next=/_utils", ""),
            request("PUT", "/_session", ""),
            get("/_all_dbs"),
            request("POST", "/_all_dbs", "{}"),
            request("POST", "/_dbs_info", r#"{"keys":["rights"]}"#),
            get("/_active_tasks"),
            get("/_membership"),
            get("/_node/_local"),
            get("/_node/_local/_stats"),
            get("/_node/_local/_system"),
            get("/_node/_local/_prometheus"),
            get("/_node/_local/_config"),
            get("/_node/_local/_config/admins"),
            request("PUT", CONFIG_KEY, r#""value""#),
            get(CONFIG_KEY),
            request("DELETE", CONFIG_KEY, ""),
            get("/_scheduler/jobs"),
            get("/_scheduler/docs"),
            get("/_foo"),
            get("/_foo/bar"),
            with("GET", "/_all_dbs", HTML, ""),
            with(
                "GET",
                "/_all_dbs",
                &[("X-CouchDB-WWW-Authenticate", "Custom")],
                "",
            ),
            with("GET", "/_session", &[("cookie", "AuthSession=abc")], ""),
            with("GET", "/_session", &[("cookie", "AuthSession=YTpiOmM")], ""),
        ],
    },
    Section {
        name: "login",
        settings: &[],
        before: &[],
        requests: &[
            with("POST", "/_session", FORM, "name=member&password=pw"),
            with("POST", "/_session", FORM, "username=member&password=pw"),
            with("POST", "/_session", FORM, "name=member&password=wrong"),
            with("POST", "/_session", FORM, "name=none&password=wrong"),
            with("POST", "/_session", FORM, "password=pw"),
            with("POST", "/_session", FORM, "name=a&username=b&password=pw"),
            with(
                "POST",
                "/_session?next=/_utils",
                FORM,
                "name=member&password=pw",
            ),
            with(
                "POST",
                "/_session?fail=/_utils",
                FORM,
                "name=member&password=wrong",
            ),
            request("POST", "/_session", r#"{"name":"member","password":"pw"}"#),
            request(
                "POST",
                "/_session",
                r#"{"name":"member","password":"wrong"}"#,
            ),
            with(
                "POST",
                "/_session",
                &[("content-type", "text/plain")],
                "name=member",
            ),
        ],
    },
    Section {
        name: "database",
        settings: &[],
        before: &[],
        requests: &[
            request("PUT", "/rights", ""),
            request("PUT", "/rights_new", ""),
            request("DELETE", "/rights_new", ""),
            request("DELETE", "/rights_none", ""),
            get("/rights_none"),
            get("/rights_none/doc"),
            get("/Rights"),
            get("/rights"),
            request("HEAD", "/rights", ""),
            request("POST", "/rights", r#"{"_id":"posted"}"#),
            get("/rights/doc"),
            request("HEAD", "/rights/doc", ""),
            get("/rights/none"),
            request("PUT", "/rights/doc", "{}"),
            request("PUT", "/rights/put", "{}"),
            request("DELETE", "/rights/doc", ""),
            with("COPY", "/rights/doc", &[("destination", "copied")], ""),
            get("/rights/doc/none"),
            get("/rights/_all_docs"),
            request("POST", "/rights/_all_docs", r#"{"keys":["doc"]}"#),
            request("POST", "/rights/_all_docs/queries", r#"{"queries":[{}]}"#),
            get("/rights/_design_docs"),
            get("/rights/_local_docs"),
            request("PUT", "/rights/_local/doc", "{}"),
            get("/rights/_local/doc"),
            request("POST", "/rights/_bulk_docs", r#"{"docs":[{"_id":"bulk"}]}"#),
            request(
                "POST",
                "/rights/_bulk_docs",
                r#"{"docs":[{"_id":"_design/bulk"}]}"#,
            ),
            request("POST", "/rights/_bulk_get", r#"{"docs":[{"id":"doc"}]}"#),
            get("/rights/_changes"),
            request("POST", "/rights/_changes", "{}"),
            request("POST", "/rights/_revs_diff", r#"{"doc":["1-a"]}"#),
            request("POST", "/rights/_missing_revs", r#"{"doc":["1-a"]}"#),
            request("POST", "/rights/_find", r#"{"selector":{}}"#),
            request("POST", "/rights/_explain", r#"{"selector":{}}"#),
            get("/rights/_index"),
            request(
                "POST",
                "/rights/_index",
                r#"{"index":{"fields":["a"]},"ddoc":"index","name":"a"}"#,
            ),
            request("DELETE", "/rights/_index/index/json/a", ""),
            get("/rights/_design/design"),
            request("PUT", "/rights/_design/new", r#"{"views":{}}"#),
            request("DELETE", "/rights/_design/design?rev=1-a", ""),
            get("/rights/_security"),
            request("PUT", "/rights/_security", SECURITY),
            request("PUT", "/rights/_security", r#"{"admins":[]}"#),
            request("PUT", "/rights/_security", r#"{"members":{"names":"a"}}"#),
            get("/rights/_revs_limit"),
            request("PUT", "/rights/_revs_limit", "1000"),
            request("POST", "/rights/_purge", "{}"),
            request("POST", "/rights/_compact", "{}"),
            request("POST", "/rights/_view_cleanup", "{}"),
            request("POST", "/rights/_ensure_full_commit", "{}"),
            get("/rights/_shards"),
            request("POST", "/rights/_sync_shards", ""),
            get("/%72ights/doc"),
            with("GET", "/rights/doc", HTML, ""),
        ],
    },
    Section {
        name: "public database",
        settings: &[],
        before: &[request("PUT", "/rights/_security", "{}")],
        requests: &[
            get("/rights/doc"),
            request("PUT", "/rights/public", "{}"),
            request("PUT", "/rights/_design/public", "{}"),
            request("PUT", "/rights/_security", "{}"),
            request("POST", "/rights/_compact", "{}"),
            request(
                "POST",
                "/rights/_bulk_docs",
                r#"{"docs":[{"_id":"_design/bulk2"}]}"#,
            ),
        ],
    },
    Section {
        name: "database by roles",
        settings: &[],
        before: &[request(
            "PUT",
            "/rights/_security",
            r#"{"admins":{"roles":["owner"]},"members":{"roles":["staff"]}}"#,
        )],
        requests: &[
            get("/rights/doc"),
            request("PUT", "/rights/_design/roles", "{}"),
            request("POST", "/rights/_compact", "{}"),
        ],
    },
    Section {
        name: "admins only",
        settings: &[],
        before: &[request("PUT", "/rights/_security", SECURITY_ADMINS)],
        requests: &[get("/rights/doc"), request("PUT", "/rights/only", "{}")],
    },
    Section {
        name: "list of databases for everybody",
        settings: &[("chttpd", "admin_only_all_dbs", "false")],
        before: &[],
        requests: &[
            get("/_all_dbs"),
            request("POST", "/_dbs_info", r#"{"keys":["rights"]}"#),
        ],
    },
    Section {
        name: "users required",
        settings: &[("chttpd", "require_valid_user", "true")],
        before: &[],
        requests: &[
            get("/"),
            get("/_up"),
            get("/_session"),
            get("/rights/doc"),
            get("/_uuids"),
            with("GET", "/", HTML, ""),
            with("POST", "/_session", FORM, "name=member&password=pw"),
            with("POST", "/_session", FORM, "name=member&password=wrong"),
            request("DELETE", "/_session", ""),
        ],
    },
    Section {
        name: "users required but for _up",
        settings: &[("chttpd", "require_valid_user_except_for_up", "true")],
        before: &[],
        requests: &[
            get("/"),
            get("/_up"),
            get("/_uuids"),
            with("GET", "/", HTML, ""),
        ],
    },
    Section {
        name: "the header WWW-Authenticate",
        settings: &[("chttpd", "WWW-Authenticate", "Basic realm=\"films\"")],
        before: &[],
        requests: &[
            get("/rights/doc"),
            with("GET", "/_all_dbs", HTML, ""),
            with(
                "GET",
                "/_all_dbs",
                &[("X-CouchDB-WWW-Authenticate", "Custom")],
                "",
            ),
        ],
    },
    Section {
        name: "the page to log in",
        settings: &[("chttpd_auth", "authentication_redirect", "/login?x=1")],
        before: &[],
        requests: &[with("GET", "/rights/doc?a=b", HTML, "")],
    },
    Section {
        name: "users, for admins",
        settings: &[],
        before: &[],
        requests: &[
            request("PUT", "/_users", ""),
            get("/_users"),
            get("/_users/_all_docs"),
            get("/_users/_changes"),
            get("/_users/_security"),
            request("PUT", "/_users/_security", "{}"),
            get("/_users/org.couchdb.user:member"),
            request("PUT", "/_users/org.couchdb.user:new", NEW_USER),
        ],
    },
    Section {
        name: "users, for everybody",
        settings: &[("couchdb", "users_db_security_editable", "true")],
        before: &[request("PUT", "/_users/_security", "{}")],
        requests: &[
            get("/_users"),
            get("/_users/_all_docs"),
            request("POST", "/_users/_all_docs", "{}"),
            get("/_users/_changes"),
            get("/_users/_index"),
            get("/_users/org.couchdb.user:member"),
            request("HEAD", "/_users/org.couchdb.user:member", ""),
            get("/_users/org.couchdb.user:stranger"),
            get("/_users/org.couchdb.user:member?revs=true"),
            get("/_users/org.couchdb.user:none"),
            get("/_users/org.couchdb.user:member/att"),
            get("/_users/_design/none"),
            request("PUT", "/_users/_design/new", "{}"),
            request("PUT", "/_users/_local/new", "{}"),
            request("PUT", "/_users/new", "{}"),
            request("PUT", "/_users/org.couchdb.user:new2", NEW_USER),
            request(
                "PUT",
                "/_users/org.couchdb.user:signup",
                r#"{"type":"user","name":"signup","roles":[],"password":"pw"}"#,
            ),
            request(
                "PUT",
                "/_users/org.couchdb.user:role",
                r#"{"type":"user","name":"role","roles":["staff"],"password":"pw"}"#,
            ),
            request(
                "PUT",
                "/_users/org.couchdb.user:admin2",
                r#"{"type":"user","name":"admin2","roles":["_admin"],"password":"pw"}"#,
            ),
            request(
                "POST",
                "/_users",
                r#"{"_id":"org.couchdb.user:_x","type":"user","name":"_x","roles":[]}"#,
            ),
            request(
                "POST",
                "/_users/_bulk_docs",
                r#"{"docs":[{"_id":"org.couchdb.user:member","type":"user","name":"member","roles":[]}]}"#,
            ),
            request(
                "POST",
                "/_users/_bulk_docs",
                r#"{"docs":[{"_id":"org.couchdb.user:bulk","type":"user","name":"bulk"}]}"#,
            ),
            request("DELETE", "/_users/org.couchdb.user:member?rev=1-a", ""),
            with(
                "COPY",
                "/_users/org.couchdb.user:member",
                &[("destination", "org.couchdb.user:copy")],
                "",
            ),
            request("POST", "/_users/_find", r#"{"selector":{"name":"member"}}"#),
            request("POST", "/_users/_index", r#"{"index":{"fields":["name"]}}"#),
            request("POST", "/_users/_revs_diff", r#"{"doc":["1-a"]}"#),
            request("POST", "/_users/_compact", "{}"),
        ],
    },
    Section {
        name: "public fields of users",
        settings: &[("chttpd_auth", "public_fields", "name,hobby")],
        before: &[],
        requests: &[
            get("/_users/org.couchdb.user:member"),
            get("/_users/org.couchdb.user:member/att"),
            request("PUT", "/_users/org.couchdb.user:member?rev=1-a", NEW_USER),
        ],
    },
];

/// The security object of the database: `owner` is an admin, `member` a member.
pub const SECURITY: &str = r#"{"admins":{"names":["owner"]},"members":{"names":["member"]}}"#;
pub const SECURITY_ADMINS: &str =
    r#"{"admins":{"roles":["_admin"]},"members":{"roles":["_admin"]}}"#;

const NEW_USER: &str = r#"{"type":"user","name":"new","roles":[],"password":"pw"}"#;
