//! Users: their accounts, sessions and rights.

use crate::client::{Answer, Running, later, until};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use inorder_couch::auth::password::PasswordHash;
use inorder_couch::auth::{Admin, Auth, HashFunction, hex};
use inorder_couch::config::Config;
use inorder_couch::http::ServerSettings;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

const CONFIG: &str = "/_node/_local/_config";

/// A server with the admin `admin:secret` and a database of users. Few rounds, because tests are not optimised.
async fn server(settings: &[(&str, &str, &str)]) -> Running {
    let admin = Admin {
        name: "admin".into(),
        password: PasswordHash::new("secret", 10),
    };
    let config = Config::default();
    config.fix("chttpd_auth", "iterations", "10");
    for (section, key, value) in settings {
        config.fix(section, key, value);
    }
    let settings = ServerSettings {
        config: Arc::new(config),
        ..ServerSettings::default()
    };
    let server = Running::start_with(Auth::new(Some(admin), b"secret"), settings).await;
    let made = send(&server, ADMIN, "PUT", "/_users", &Value::Null).await;
    assert_eq!(made.status, 201);
    server
}

const ADMIN: &str = "admin:secret";

async fn send(server: &Running, user: &str, method: &str, path: &str, body: &Value) -> Answer {
    let credentials = format!("Basic {}", STANDARD.encode(user));
    let ask = server
        .ask(method, path)
        .header("authorization", &credentials);
    match body {
        Value::Null => ask.send().await,
        body => ask.json(body).send().await,
    }
}

async fn get(server: &Running, user: &str, path: &str) -> Answer {
    send(server, user, "GET", path, &Value::Null).await
}

/// Writes the document of a user with the password `pw`. Returns its revision.
async fn user(server: &Running, name: &str, more: &Value) -> String {
    let mut document = json!({ "type": "user", "name": name, "roles": [], "password": "pw" });
    for (field, value) in more.as_object().into_iter().flatten() {
        document[field] = value.clone();
    }
    let path = format!("/_users/org.couchdb.user:{name}");
    let written = send(server, ADMIN, "PUT", &path, &document).await;
    assert_eq!(written.status, 201, "{}", written.text());
    written.json()["rev"].as_str().unwrap().to_owned()
}

/// Makes a database for members with these names.
async fn database(server: &Running, name: &str, names: &[&str]) {
    let made = send(server, ADMIN, "PUT", &format!("/{name}"), &Value::Null).await;
    assert_eq!(made.status, 201);
    members(server, name, names).await;
}

async fn members(server: &Running, database: &str, names: &[&str]) {
    let security = json!({ "members": { "names": names, "roles": ["_admin"] } });
    let path = format!("/{database}/_security");
    let set = send(server, ADMIN, "PUT", &path, &security).await;
    assert_eq!(set.status, 200, "{}", set.text());
}

#[tokio::test]
async fn a_changed_account_counts_at_once() {
    let server = server(&[]).await;
    let first = user(&server, "anna", &json!({ "roles": ["staff"] })).await;
    let roles = async |credentials: &str| {
        let session = get(&server, credentials, "/_session").await;
        (
            session.status.as_u16(),
            session.json()["userCtx"]["roles"].clone(),
        )
    };
    for _ in 0..2 {
        assert_eq!(roles("anna:pw").await, (200, json!(["staff"])));
    }
    let second = user(
        &server,
        "anna",
        &json!({ "_rev": first, "password": "new" }),
    )
    .await;
    assert_eq!(roles("anna:pw").await.0, 401);
    assert_eq!(roles("anna:new").await, (200, json!([])));
    let path = format!("/_users/org.couchdb.user:anna?rev={second}");
    assert_eq!(
        send(&server, ADMIN, "DELETE", &path, &Value::Null)
            .await
            .status,
        200
    );
    assert_eq!(roles("anna:new").await.0, 401);
    user(&server, "anna", &json!({ "roles": ["again"] })).await;
    assert_eq!(roles("anna:pw").await, (200, json!(["again"])));
    let purge = get(&server, ADMIN, "/_users/org.couchdb.user:anna")
        .await
        .json();
    let purge = json!({ "org.couchdb.user:anna": [purge["_rev"]] });
    assert_eq!(
        send(&server, ADMIN, "POST", "/_users/_purge", &purge)
            .await
            .status,
        201
    );
    assert_eq!(
        roles("anna:pw").await.0,
        401,
        "a purge is no change in the feed"
    );
    user(&server, "bert", &json!({})).await;
    assert_eq!(roles("bert:pw").await.0, 200);
    assert_eq!(
        send(&server, ADMIN, "DELETE", "/_users", &Value::Null)
            .await
            .status,
        200
    );
    assert_eq!(roles("bert:pw").await.0, 401);
    assert_eq!(roles(ADMIN).await.0, 200);
}

#[tokio::test]
async fn withdrawn_rights_end_feeds() {
    let server = server(&[]).await;
    user(&server, "anna", &json!({})).await;
    let credentials = format!("Basic {}", STANDARD.encode("anna:pw"));
    for withdraw in ["membership", "account"] {
        database(&server, withdraw, &["anna"]).await;
        let feed = server.ask(
            "GET",
            &format!("/{withdraw}/_changes?feed=continuous&heartbeat=20"),
        );
        let feed = feed.header("authorization", &credentials).response().await;
        assert_eq!(feed.status(), 200);
        if withdraw == "membership" {
            members(&server, withdraw, &[]).await;
        } else {
            let rev = get(&server, ADMIN, "/_users/org.couchdb.user:anna")
                .await
                .json();
            let path = format!(
                "/_users/org.couchdb.user:anna?rev={}",
                rev["_rev"].as_str().unwrap()
            );
            send(&server, ADMIN, "DELETE", &path, &Value::Null).await;
        }
        let secret = format!("/{withdraw}/secret");
        assert_eq!(
            send(&server, ADMIN, "PUT", &secret, &json!({}))
                .await
                .status,
            201
        );
        let seen = feed.text().await.expect("it ends");
        assert!(
            seen.contains("last_seq") && !seen.contains("secret"),
            "{seen}"
        );
    }
}

#[tokio::test]
async fn an_old_hash_is_replaced_and_sessions_go_on() {
    let server = server(&[]).await;
    let salt = "0113145c4bb44283e684fcf61b104c63";
    let document = json!({
        "type": "user", "name": "anna", "roles": ["staff"], "password": null,
        "password_scheme": "simple", "salt": salt, "password_sha": "21f09a61e0022e69de0a6541b0062587e93a6d78",
    });
    let path = "/_users/org.couchdb.user:anna";
    assert_eq!(
        send(&server, ADMIN, "PUT", path, &document).await.status,
        201
    );
    let login = server
        .post(
            "/_session",
            &json!({ "name": "anna", "password": "pässword" }),
        )
        .await;
    assert_eq!(login.status, 200);
    let cookie = login
        .header("set-cookie")
        .split(';')
        .next()
        .unwrap()
        .to_owned();
    until("the upgrade", async || {
        get(&server, ADMIN, path).await.json()["password_scheme"] == "pbkdf2"
    })
    .await;
    let upgraded = get(&server, ADMIN, path).await.json();
    assert_eq!(
        (&upgraded["salt"], &upgraded["roles"]),
        (&json!(salt), &json!(["staff"]))
    );
    assert_eq!(
        (&upgraded["password_sha"], &upgraded["password"]),
        (&Value::Null, &Value::Null)
    );
    let session = server
        .ask("GET", "/_session")
        .header("cookie", &cookie)
        .send()
        .await;
    assert_eq!(session.json()["userCtx"]["name"], "anna");
    assert_eq!(get(&server, "anna:pässword", "/_session").await.status, 200);
}

#[tokio::test]
async fn replications_have_the_rights_of_their_user() {
    let server = server(&[]).await;
    user(&server, "anna", &json!({})).await;
    database(&server, "hers", &["anna"]).await;
    database(&server, "secret", &[]).await;
    send(&server, ADMIN, "PUT", "/secret/doc", &json!({})).await;
    let replicate = async |source: &str, target: &str| {
        let body = json!({ "source": source, "target": target });
        send(&server, "anna:pw", "POST", "/_replicate", &body)
            .await
            .status
            .as_u16()
    };
    assert_eq!(replicate("secret", "hers").await, 403);
    assert_eq!(replicate("hers", "secret").await, 403);
    assert_eq!(get(&server, "anna:pw", "/hers/doc").await.status, 404);
    send(&server, "anna:pw", "PUT", "/hers/own", &json!({})).await;
    database(&server, "other", &["anna"]).await;
    assert_eq!(replicate("hers", "other").await, 200);
    assert_eq!(get(&server, "anna:pw", "/other/own").await.status, 200);
}

#[tokio::test]
async fn credentials_in_replications_are_for_their_owner() {
    let server = server(&[]).await;
    user(&server, "anna", &json!({})).await;
    user(&server, "ben", &json!({})).await;
    for name in ["_replicator", "own%2F_replicator"] {
        database(&server, name, &["anna", "ben"]).await;
        let document = json!({
            "source": "http://u:hidden@127.0.0.1:9/a",
            "target": { "url": "http://127.0.0.1:9/b", "auth": { "basic": { "username": "u", "password": "hidden" } } },
        });
        let path = format!("/{name}/doc");
        let put = send(&server, "anna:pw", "PUT", &path, &document).await;
        assert_eq!(put.status, 201, "{}", put.text());
        for (user, is_shown) in [(ADMIN, true), ("anna:pw", true), ("ben:pw", false)] {
            for query in ["", "?revs=true", "?open_revs=all"] {
                let got = get(&server, user, &format!("{path}{query}")).await;
                assert_eq!(
                    got.text().contains("hidden"),
                    is_shown,
                    "{user}: {}",
                    got.text()
                );
            }
        }
        let all = json!({ "selector": {}, "docs": [{ "id": "doc" }] });
        for (method, path) in [
            ("POST", "_find"),
            ("POST", "_bulk_get"),
            ("GET", "_all_docs?include_docs=true"),
            ("GET", "_changes?include_docs=true"),
            ("COPY", "doc"),
        ] {
            let path = format!("/{name}/{path}");
            let answer = send(&server, "ben:pw", method, &path, &all).await;
            assert!(
                [401, 403].contains(&answer.status.as_u16()),
                "{path}: {}",
                answer.text()
            );
        }
    }
}

#[tokio::test]
async fn nobody_writes_replications_in_the_name_of_another() {
    let server = server(&[]).await;
    user(&server, "anna", &json!({})).await;
    database(&server, "_replicator", &["anna"]).await;
    let of = |owner: Option<&str>| {
        let mut document = json!({
            "_id": "doc", "_rev": "1-a",
            "source": "a", "target": "http://127.0.0.1:9/b",
        });
        if let Some(owner) = owner {
            document["owner"] = owner.into();
        }
        document
    };
    for (owner, is_allowed) in [(Some("root"), false), (Some("anna"), true), (None, true)] {
        let document = of(owner);
        let path = "/_replicator/doc?new_edits=false";
        let put = send(&server, "anna:pw", "PUT", path, &document).await;
        assert_eq!(put.status == 201, is_allowed, "{owner:?}: {}", put.text());
        let bulk = json!({ "new_edits": false, "docs": [document] });
        let bulk = send(&server, "anna:pw", "POST", "/_replicator/_bulk_docs", &bulk).await;
        assert_eq!(bulk.json() == json!([]), is_allowed, "{}", bulk.text());
    }
    let stored = get(&server, ADMIN, "/_replicator/doc").await;
    assert_eq!(stored.json()["owner"], "anna");
    // An admin writes for others.
    let path = "/_replicator/other?new_edits=false";
    let put = send(&server, ADMIN, "PUT", path, &of(Some("anna"))).await;
    assert_eq!(put.status, 201, "{}", put.text());
}

#[tokio::test]
async fn an_admin_of_a_replicator_database_writes_in_no_other_name() {
    let server = server(&[]).await;
    user(&server, "anna", &json!({})).await;
    user(&server, "ben", &json!({})).await;
    let path = |rest: &str| format!("/own%2F_replicator/{rest}");
    database(&server, "own%2F_replicator", &["ben"]).await;
    let security = json!({ "admins": { "names": ["ben"] }, "members": { "names": ["ben"] } });
    let set = send(&server, ADMIN, "PUT", &path("_security"), &security).await;
    assert_eq!(set.status, 200, "{}", set.text());
    let of =
        |owner: &str| json!({ "source": "a", "target": "http://127.0.0.1:9/b", "owner": owner });
    for owner in ["admin", "anna"] {
        let put = send(&server, "ben:pw", "PUT", &path("doc"), &of(owner)).await;
        assert_eq!(put.status, 403, "{owner}: {}", put.text());
        let mut elsewhere = of(owner);
        elsewhere["_id"] = "doc".into();
        elsewhere["_rev"] = "1-a".into();
        let bulk = json!({ "new_edits": false, "docs": [elsewhere] });
        let bulk = send(&server, "ben:pw", "POST", &path("_bulk_docs"), &bulk).await;
        assert_eq!(bulk.json()[0]["error"], "forbidden", "{}", bulk.text());
    }
    // He changes no document of another without becoming its owner.
    let put = send(&server, ADMIN, "PUT", &path("doc"), &of("anna")).await;
    assert_eq!(put.status, 201, "{}", put.text());
    let rev = put.json()["rev"].as_str().unwrap().to_owned();
    let change = path(&format!("doc?rev={rev}"));
    let kept = send(&server, "ben:pw", "PUT", &change, &of("anna")).await;
    assert_eq!(kept.status, 403, "{}", kept.text());
    let own = send(&server, "ben:pw", "PUT", &change, &of("ben")).await;
    assert_eq!(own.status, 201, "{}", own.text());
}

#[tokio::test]
async fn a_new_users_database_gives_no_design_document_to_another() {
    let server = server(&[]).await;
    let make_users = async || {
        send(&server, ADMIN, "DELETE", "/_users", &json!(null)).await;
        let made = send(&server, ADMIN, "PUT", "/_users", &json!(null)).await;
        assert_eq!(made.status, 201, "{}", made.text());
    };
    make_users().await;
    send(&server, ADMIN, "PUT", "/accounts", &json!(null)).await;
    let key = "/_node/_local/_config/chttpd_auth/authentication_db";
    let set = send(&server, ADMIN, "PUT", key, &json!("accounts")).await;
    assert_eq!(set.status, 200, "{}", set.text());
    let path = "/accounts/_design/_auth";
    later(Duration::from_secs(3)).await;
    // The task that was due has run.
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(get(&server, ADMIN, path).await.status, 404);
    make_users().await;
    assert_eq!(get(&server, ADMIN, path).await.status, 200);
}

#[tokio::test]
async fn tokens_and_proxies_name_users() {
    let server = server(&[
        (
            "chttpd",
            "authentication_handlers",
            "{chttpd_auth, jwt_authentication_handler}, {chttpd_auth, proxy_authentication_handler}, {chttpd_auth, default_authentication_handler}",
        ),
        ("chttpd_auth", "proxy_use_secret", "true"),
        ("jwt_keys", "hmac:_default", "aGVsbG8="),
    ])
    .await;
    let signed = [
        r#"{"alg":"HS256"}"#,
        r#"{"sub":"anna","exp":4102444800,"_couchdb.roles":["staff"]}"#,
    ];
    let signed = signed.map(|part| URL_SAFE_NO_PAD.encode(part)).join(".");
    let mac = URL_SAFE_NO_PAD.encode(HashFunction::Sha256.mac(b"hello", signed.as_bytes()));
    let session = async |headers: &[(&str, &str)]| {
        let mut ask = server.ask("GET", "/_session");
        for (name, value) in headers {
            ask = ask.header(name, value);
        }
        let answer = ask.send().await;
        (answer.status.as_u16(), answer.json())
    };
    let (status, token) = session(&[("authorization", &format!("Bearer {signed}.{mac}"))]).await;
    assert_eq!(
        (status, &token["info"]["authenticated"]),
        (200, &json!("jwt"))
    );
    assert_eq!(
        token["userCtx"],
        json!({ "name": "anna", "roles": ["staff"] })
    );
    let (status, wrong) = session(&[("authorization", &format!("Bearer {signed}.AAAA"))]).await;
    assert_eq!((status, &wrong["reason"]), (400, &json!("Bad HMAC")));
    let proxy = hex(&HashFunction::Sha256.mac(b"secret", b"bert"));
    let mut headers = vec![
        ("x-auth-couchdb-username", "bert"),
        ("x-auth-couchdb-roles", "a,b"),
        ("x-auth-couchdb-token", proxy.as_str()),
    ];
    let (_, bert) = session(&headers).await;
    assert_eq!(
        bert["userCtx"],
        json!({ "name": "bert", "roles": ["a", "b"] })
    );
    headers[0].1 = "admin";
    let (_, forged) = session(&headers).await;
    assert_eq!(forged["userCtx"]["name"], Value::Null);
}

#[tokio::test]
async fn each_user_has_a_database() {
    let server = server(&[]).await;
    user(&server, "anna", &json!({})).await;
    let on = format!("{CONFIG}/couch_peruser/enable");
    assert_eq!(
        send(&server, ADMIN, "PUT", &on, &json!("true"))
            .await
            .status,
        200
    );
    let status = async |user: &str, path: &str| get(&server, user, path).await.status.as_u16();
    until("the database of an earlier user", async || {
        status("anna:pw", "/userdb-616e6e61").await == 200
    })
    .await;
    let rev = user(&server, "bert", &json!({})).await;
    until("the database of a new user", async || {
        status("bert:pw", "/userdb-62657274").await == 200
    })
    .await;
    assert_eq!(status("bert:pw", "/userdb-616e6e61").await, 403);
    let security = get(&server, "bert:pw", "/userdb-62657274/_security").await;
    assert_eq!(security.json()["admins"]["names"], json!(["bert"]));
    let delete = format!("/_users/org.couchdb.user:bert?rev={rev}");
    send(&server, ADMIN, "DELETE", &delete, &Value::Null).await;
    until("nobody's database", async || {
        let security = get(&server, ADMIN, "/userdb-62657274/_security").await;
        security.json()["admins"]["names"] == json!([])
    })
    .await;
    let deletes = format!("{CONFIG}/couch_peruser/delete_dbs");
    send(&server, ADMIN, "PUT", &deletes, &json!("true")).await;
    let rev = get(&server, ADMIN, "/_users/org.couchdb.user:anna")
        .await
        .json();
    let delete = format!(
        "/_users/org.couchdb.user:anna?rev={}",
        rev["_rev"].as_str().unwrap()
    );
    send(&server, ADMIN, "DELETE", &delete, &Value::Null).await;
    until("the database is gone", async || {
        status(ADMIN, "/userdb-616e6e61").await == 404
    })
    .await;
}

#[tokio::test]
async fn many_rounds_in_a_document_cost_nothing() {
    let server = server(&[]).await;
    let rounds = json!({
        "password": null, "password_scheme": "pbkdf2", "pbkdf2_prf": "sha256",
        "iterations": 4_000_000_000_u64, "salt": "a", "derived_key": "00",
    });
    user(&server, "anna", &rounds).await;
    let refused = get(&server, "anna:pw", "/_session").await;
    assert_eq!(refused.error(), (403, "forbidden".into()));
    assert_eq!(
        refused.json()["reason"],
        "Iteration count is too high for this server"
    );
}

/// Members of a user document that the rules allow or refuse.
fn changes_of_users() -> [Value; 16] {
    [
        json!({ "type": "account" }),
        json!({ "name": null }),
        json!({ "name": 1 }),
        json!({ "name": "bert" }),
        json!({ "roles": null }),
        json!({ "roles": {} }),
        json!({ "roles": [1] }),
        json!({ "roles": [] }),
        json!({ "roles": ["staff", "chief"] }),
        json!({ "roles": ["_admin"] }),
        json!({ "roles": ["_metrics"] }),
        json!({ "password_sha": "a" }),
        json!({ "password_scheme": "md5" }),
        json!({ "password_scheme": "pbkdf2" }),
        json!({ "password_scheme": "pbkdf2", "iterations": 1 }),
        json!({ "_deleted": true }),
    ]
}

/// The design document says to other servers what is built in here.
#[tokio::test]
async fn the_function_of_the_design_document_auth_has_the_built_in_rules() {
    let server = server(&[("couchdb", "users_db_security_editable", "true")]).await;
    let design = async || get(&server, ADMIN, "/_users/_design/_auth").await.json();
    until("the design document", async || {
        design().await["language"] == "javascript"
    })
    .await;
    let design = design().await;
    // In another database the function itself runs.
    database(&server, "copy", &["anna"]).await;
    let open = json!({ "members": { "roles": [], "names": [] }, "admins": { "roles": ["chief"] } });
    for path in ["/_users/_security", "/copy/_security"] {
        let opened = send(&server, ADMIN, "PUT", path, &open).await;
        assert_eq!(opened.status, 200);
    }
    let function = json!({ "validate_doc_update": design["validate_doc_update"] });
    let written = send(&server, ADMIN, "PUT", "/copy/_design/_auth", &function).await;
    assert_eq!(written.status, 201, "{}", written.text());
    let stored = json!({ "type": "user", "name": "anna", "roles": ["staff"], "password": "pw" });
    let reset = async || {
        for database in ["_users", "copy"] {
            let path = format!("/{database}/org.couchdb.user:anna");
            let found = get(&server, ADMIN, &path).await.json();
            let mut document = stored.clone();
            if let Some(rev) = found.get("_rev") {
                document["_rev"] = rev.clone();
            }
            let written = send(&server, ADMIN, "PUT", &path, &document).await;
            assert_eq!(written.status, 201, "{}", written.text());
        }
    };
    for who in [ADMIN, "anna:pw"] {
        for id in ["anna", "carl", "_dora", "e:f"] {
            for change in &changes_of_users() {
                let mut document = json!({ "type": "user", "name": id, "roles": ["staff"] });
                for (name, value) in change.as_object().unwrap() {
                    document[name] = value.clone();
                }
                let of = async |database: &str| {
                    let path = format!("/{database}/org.couchdb.user:{id}");
                    let found = get(&server, ADMIN, &path).await.json();
                    let mut document = document.clone();
                    document["_rev"] = found["_rev"].clone();
                    if document["_rev"].is_null() {
                        document.as_object_mut().unwrap().remove("_rev");
                    }
                    let answer = send(&server, who, "PUT", &path, &document).await;
                    (answer.status.as_u16(), answer.json()["reason"].clone())
                };
                reset().await;
                // The database of users hides the documents of others.
                // A user without an account can write nothing, so the account is the last to be deleted.
                let run = of("copy").await;
                let built_in = of("_users").await;
                if built_in.0 != 404 {
                    assert_eq!(built_in, run, "{who} {document}");
                }
            }
        }
    }
}

#[tokio::test]
async fn another_database_of_users_has_rules_once_it_has_the_design_document() {
    let server = server(&[("chttpd_auth", "authentication_db", "accounts")]).await;
    let made = send(&server, ADMIN, "PUT", "/accounts", &Value::Null).await;
    assert_eq!(made.status, 201);
    let path = "/accounts/_design/_auth";
    let design = get(&server, ADMIN, path).await.json();
    let untyped = json!({ "name": "anna", "roles": [], "password": "pw" });
    let write = async || {
        let path = "/accounts/org.couchdb.user:anna";
        send(&server, ADMIN, "PUT", path, &untyped).await
    };
    assert_eq!(write().await.error(), (403, "forbidden".to_owned()));
    let rev = design["_rev"].as_str().unwrap();
    let path = format!("{path}?rev={rev}");
    let deleted = send(&server, ADMIN, "DELETE", &path, &Value::Null).await;
    assert_eq!(deleted.status, 200);
    assert_eq!(write().await.status, 201);
    // The database `_users` has the rules in any case, and the other database gets its document when `_users` is made.
    assert_eq!(
        get(&server, ADMIN, "/_users/_design/_auth").await.status,
        404
    );
    send(&server, ADMIN, "DELETE", "/_users", &Value::Null).await;
    send(&server, ADMIN, "PUT", "/_users", &Value::Null).await;
    let again = get(&server, ADMIN, "/accounts/_design/_auth").await.json();
    assert_eq!(again["validate_doc_update"], design["validate_doc_update"]);
}

#[tokio::test]
async fn statistics_count_slow_and_fast_hashes_of_passwords() {
    let server = server(&[]).await;
    user(&server, "anna", &json!({})).await;
    let counted = async || {
        let path = "/_node/_local/_stats/couchdb";
        let stats = get(&server, ADMIN, path).await.json();
        let value = |name: &str| stats[name]["value"].as_i64().expect("an integer");
        [
            value("password_hashing_slow"),
            value("password_hashing_fast"),
        ]
    };
    let mut before = counted().await;
    // The admin who reads the counters is remembered: that is a fast one.
    for (password, expected) in [("wrong", [1, 1]), ("pw", [1, 2]), ("pw", [0, 2])] {
        get(&server, &format!("anna:{password}"), "/").await;
        let after = counted().await;
        let more = [after[0] - before[0], after[1] - before[1]];
        assert_eq!(more, expected, "{password}");
        before = after;
    }
}

/// Revisions of anna's account that would be in conflict with it.
fn conflicts(id: &str) -> Vec<Value> {
    let account = |rev: &str, more: Value| {
        let mut document = json!({ "_id": id, "_rev": rev, "type": "user", "name": "anna", "roles": [], "password": "other" });
        for (field, value) in more.as_object().into_iter().flatten() {
            document[field] = value.clone();
        }
        document
    };
    let way = json!({ "_revisions": { "start": 3, "ids": ["c", "b", "a"] } });
    vec![
        account("1-a", json!({})),
        account("1-ffffffffffffffffffffffffffffffff", json!({})),
        account("9-a", json!({})),
        account("3-c", way),
        account("1-a", json!({ "_deleted": true })),
        account("2-a", json!({ "_deleted": true, "name": "bert" })),
    ]
}

#[tokio::test]
async fn nobody_makes_a_conflict_on_the_account_of_another() {
    // Anybody may sign up.
    let server = server(&[("couchdb", "users_db_security_editable", "true")]).await;
    let open =
        json!({ "members": { "names": [], "roles": [] }, "admins": { "roles": ["_admin"] } });
    let opened = send(&server, ADMIN, "PUT", "/_users/_security", &open).await;
    assert_eq!(opened.status, 200, "{}", opened.text());
    user(&server, "anna", &json!({})).await;
    user(&server, "bert", &json!({})).await;
    let works = async |name: &str| {
        get(&server, &format!("{name}:pw"), "/_session")
            .await
            .status
            == 200
    };
    let id = "org.couchdb.user:anna";
    let attempts = conflicts(id);
    for document in &attempts {
        let path = format!("/_users/{id}?new_edits=false");
        let bulk = json!({ "new_edits": false, "docs": [document] });
        for name in ["", "bert"] {
            let ask = |method: &str, path: &str| match name {
                "" => server.ask(method, path),
                name => {
                    let credentials = STANDARD.encode(format!("{name}:pw"));
                    server
                        .ask(method, path)
                        .header("authorization", &format!("Basic {credentials}"))
                }
            };
            let put = ask("PUT", &path).json(document).send().await;
            assert!(
                put.status.is_client_error(),
                "{name} {document}: {}",
                put.text()
            );
            ask("POST", "/_users/_bulk_docs").json(&bulk).send().await;
            assert!(works("anna").await, "{name}: {document}");
        }
    }
    let found = get(
        &server,
        ADMIN,
        &format!("/_users/{id}?conflicts=true&deleted_conflicts=true"),
    )
    .await;
    assert_eq!(found.json()["_conflicts"], Value::Null);
    assert_eq!(found.json()["_deleted_conflicts"], Value::Null);
    // An admin replicates accounts.
    let path = format!("/_users/{id}?new_edits=false");
    assert_eq!(
        send(&server, ADMIN, "PUT", &path, &attempts[0])
            .await
            .status,
        201
    );
    let carl = json!({ "type": "user", "name": "carl", "roles": [], "password": "pw" });
    let signed_up = server.put("/_users/org.couchdb.user:carl", &carl).await;
    assert_eq!(signed_up.status, 201, "{}", signed_up.text());
    assert!(works("carl").await);
}

#[tokio::test]
async fn a_cookie_is_secure_where_the_client_uses_tls_or_browsers_ask_for_it() {
    for (same_site, headers, is_secure) in [
        ("", &[][..], false),
        ("lax", &[], false),
        ("strict", &[("x-forwarded-proto", "http")], false),
        ("", &[("x-forwarded-proto", "https")], true),
        ("", &[("x-forwarded-ssl", "on")], true),
        ("none", &[("x-forwarded-proto", "https")], true),
        ("none", &[], true),
        ("None", &[("x-forwarded-proto", "http")], true),
    ] {
        // The second request has a session that is renewed.
        let server = server(&[
            ("chttpd_auth", "same_site", same_site),
            ("chttpd_auth", "timeout", "1"),
        ])
        .await;
        let with = |mut ask: crate::client::Ask| {
            for (name, value) in headers {
                ask = ask.header(name, value);
            }
            ask
        };
        let body = json!({ "name": "admin", "password": "secret" });
        let login = with(server.ask("POST", "/_session"))
            .json(&body)
            .send()
            .await;
        let cookie = login.header("set-cookie").to_owned();
        let logout = with(server.ask("DELETE", "/_session")).send().await;
        let wrong = json!({ "name": "admin", "password": "wrong" });
        let failed = with(server.ask("POST", "/_session"))
            .json(&wrong)
            .send()
            .await;
        for cookie in [
            &cookie,
            logout.header("set-cookie"),
            failed.header("set-cookie"),
        ] {
            assert!(cookie.contains("HttpOnly"), "{cookie}");
            assert_eq!(
                cookie.contains("; Secure"),
                is_secure,
                "{same_site} {headers:?}: {cookie}"
            );
        }
    }
}
