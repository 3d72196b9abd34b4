//! Restoring a backup: what becomes of the database, and which files are refused.

use crate::{
    client::{Answer, Client, PASSWORD, Site},
    common::query,
};
use axum::{body::Body, http::StatusCode};
use inorder_key::Ulid;
use inorder_watch::db::{
    Database,
    restore::{self, Arriving, Going, Restored},
    users,
};
use rusqlite::Connection;
use serde_json::json;
use std::{fs, future::Future, io::Write, path::Path, pin::pin, time::Duration};
use tokio::io::AsyncWriteExt;
use tokio_util::io::ReaderStream;

const PAGE: &str = "/users/restore";

async fn backup(owner: &mut Client) -> Vec<u8> {
    let confirm = [("confirm", PASSWORD)];
    let answer = owner.post("/users", "/users/backup", &confirm).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    answer.bytes
}

async fn restore(client: &mut Client, file: &[u8]) -> Answer {
    let confirm = [("confirm", PASSWORD)];
    client
        .post_file(PAGE, PAGE, &confirm, ("watch.db", file))
        .await
}

/// Restores a file without a page.
async fn restored(db: &Database, file: &[u8]) -> Result<Restored, inorder_watch::Error> {
    let (backup, mut arriving) = Arriving::new(db.path())?;
    arriving.write_all(file)?;
    let going = Going {
        user: Ulid::NIL,
        session: [7; 32],
    };
    restore::restore(db, backup, going).await
}

/// The names of the files beside the database.
fn files(site: &Site) -> Vec<String> {
    let entries = fs::read_dir(site.folder.path()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| !name.ends_with("-shm")).collect();
    names.sort();
    names
}

#[tokio::test]
async fn the_content_of_a_backup_replaces_all_and_the_content_before_is_kept() {
    let (site, mut people) = Site::with_people(&["Anna", "Ben"]).await;
    let film = people[0].add("Alien", &[("note", "of then")]).await;
    people[1].make_token().await;
    let invitation = people[0].invitation().await;
    let backup = backup(&mut people[0]).await;
    let save = format!("/list/{film}/save");
    let page = format!("/films/{film}");
    people[0].post(&page, &save, &[("note", "of now")]).await;
    people[0].add("Fargo", &[]).await;
    let answer = restore(&mut people[0], &backup).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    let list = people[0].get("/").await;
    assert_eq!(list.status, StatusCode::OK);
    assert!(
        list.text.contains("of then") && !list.text.contains("Fargo"),
        "{}",
        list.text
    );
    // What could have been revoked since ends, but for the owner's session.
    assert_eq!(people[1].get("/").await.status, StatusCode::SEE_OTHER);
    let by_token = people[1].api("GET", "/list", serde_json::Value::Null).await;
    assert_eq!(by_token.status, StatusCode::UNAUTHORIZED);
    let invited = format!("/invitation/{invitation}");
    let refused = site.visitor().get(&invited).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    let again = people[1].sign_in("Ben", PASSWORD).await;
    assert_eq!(again.status, StatusCode::SEE_OTHER, "{}", again.text);
    people[0].add("Jaws", &[]).await;
    let kept = files(&site);
    assert_eq!(kept.len(), 3, "{kept:?}");
    let kept = kept.iter().find(|name| name.contains("-before-")).unwrap();
    assert!(answer.text.contains(kept.as_str()), "{}", answer.text);
    assert!(people[0].get(PAGE).await.text.contains(kept.as_str()));
    let kept = site.folder.path().join(kept);
    assert_eq!(query(&kept, "PRAGMA integrity_check"), "ok");
    let note = "SELECT note FROM entry WHERE note IS NOT NULL";
    assert_eq!(query(&kept, note), "of now");
    assert_eq!(query(&kept, "SELECT count(*) FROM session"), "2");
    let own = site.folder.path().join("watch.db");
    assert_eq!(query(&own, "PRAGMA integrity_check"), "ok");
    assert_eq!(query(&own, "PRAGMA journal_mode"), "wal");
}

/// A backup that a statement has changed.
fn changed(folder: &Path, backup: &[u8], sql: &str) -> Vec<u8> {
    let path = folder.join("changed");
    fs::write(&path, backup).unwrap();
    let db = Connection::open(&path).unwrap();
    inorder_sqlite::register(&db).unwrap();
    db.execute_batch(sql).unwrap();
    drop(db);
    fs::read(&path).unwrap()
}

#[tokio::test]
async fn what_is_no_intact_backup_is_refused_and_changes_nothing() {
    let (site, mut people) = Site::with_people(&["Anna", "Ben"]).await;
    people[0].add("Alien", &[("note", "of then")]).await;
    let backup = backup(&mut people[0]).await;
    let folder = tempfile::tempdir().unwrap();
    let with = |sql: &str| changed(folder.path(), &backup, sql);
    let mut torn = backup.clone();
    // A page of a table, behind the schema's.
    let pages = torn.len() / 4096;
    for at in (pages / 2 * 4096..torn.len()).step_by(97) {
        torn[at] ^= 0xff;
    }
    let unchecked = "PRAGMA ignore_check_constraints = ON; UPDATE entry SET priority = 77";
    let before = people[0].get("/export.json").await.text;
    for (file, words) in [
        (Vec::new(), "no backup of this app"),
        (b"a text".repeat(1000), "no backup of this app"),
        (backup[..100].to_vec(), "damaged"),
        (backup[..backup.len() / 2].to_vec(), "damaged"),
        (torn, "damaged"),
        (with("PRAGMA application_id = 7"), "no backup of this app"),
        (with("PRAGMA user_version = 0"), "no backup of this app"),
        (with("PRAGMA user_version = 99"), "has schema 99"),
        (with("PRAGMA user_version = 1"), "other tables"),
        (
            with("CREATE TRIGGER t AFTER INSERT ON session BEGIN DELETE FROM user; END"),
            "other tables",
        ),
        (with("DROP INDEX version_lost"), "other tables"),
        (
            with("PRAGMA foreign_keys = OFF; DELETE FROM film"),
            "refer to rows that are missing",
        ),
        (with(unchecked), "damaged"),
        (with("UPDATE user SET is_owner = 0"), "Nobody owns"),
    ] {
        let refused = restored(site.app.db(), &file).await;
        let refused = refused.expect_err(words).to_string();
        assert!(refused.contains(words), "{words}: {refused}");
    }
    let refused = restore(&mut people[0], b"a text").await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(refused.text.contains("no backup"), "{}", refused.text);
    let refused = restore(&mut people[0], b"").await;
    assert!(refused.text.contains("Choose a file"), "{}", refused.text);
    let file = ("watch.db", &backup[..]);
    let wrong = [("confirm", "not the password")];
    let refused = people[0].post_file(PAGE, PAGE, &wrong, file).await;
    assert!(
        refused.text.contains("not your password"),
        "{}",
        refused.text
    );
    let none = people[0].post_file(PAGE, PAGE, &[], file).await;
    assert_eq!(none.status, StatusCode::UNPROCESSABLE_ENTITY);
    let confirm = [("confirm", PASSWORD)];
    let other = people[1].post_file("/account", PAGE, &confirm, file).await;
    assert_eq!(other.status, StatusCode::NOT_FOUND);
    let foreign = people[0]
        .clone_signed_out()
        .post_file("/sign-in", PAGE, &confirm, file)
        .await;
    assert_eq!(foreign.status, StatusCode::SEE_OTHER);
    assert_eq!(people[0].get("/export.json").await.text, before);
    assert_eq!(files(&site), ["watch.db", "watch.db-wal"]);
}

#[tokio::test]
async fn a_backup_of_every_released_version_is_restored() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schemas");
    for entry in fs::read_dir(folder).unwrap() {
        let sql = fs::read_to_string(entry.unwrap().path()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("watch.db");
        let db = Database::open(&own).unwrap();
        let old = changed(folder.path(), &[], &sql);
        // It has another owner.
        assert!(!restored(&db, &old).await.unwrap().is_signed_in);
        assert_eq!(query(&own, "SELECT count(*) FROM film"), "2");
        assert_eq!(query(&own, "SELECT count(*) FROM session"), "0");
        assert_eq!(query(&own, "PRAGMA integrity_check"), "ok");
    }
}

/// A server, its owner and Carl, who has the number that Ben has in the backup.
async fn with_a_number_of_another() -> (Site, Client, Client, Vec<u8>) {
    let (site, mut people) = Site::with_people(&["Anna", "Ben"]).await;
    let user = |name: &str| site.app.db().read(|db| users::by_name(db, name)).unwrap();
    let ben = user("Ben");
    people[1].add("Alien", &[("note", "of Ben")]).await;
    let mut owner = people.swap_remove(0);
    let backup = backup(&mut owner).await;
    let (page, confirm) = (format!("/users/{}", ben.id), [("confirm", PASSWORD)]);
    let removed = owner.post(&page, &format!("{page}/remove"), &confirm).await;
    assert_eq!(removed.status, StatusCode::SEE_OTHER, "{}", removed.text);
    let invitation = owner.invitation().await;
    let mut carl = site.visitor();
    carl.sign_up(&invitation, "Carl").await;
    carl.make_token().await;
    assert_eq!(user("Carl").number, ben.number);
    (site, owner, carl, backup)
}

/// Restores a backup while a request waits that has read before: the restore has the queue, and waits for another writer.
async fn restored_while<T>(site: &Site, backup: &[u8], request: impl Future<Output = T>) -> T {
    let lock = Connection::open(site.app.db().path()).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (db, file) = (site.app.db().clone(), backup.to_vec());
    let restoring = tokio::spawn(async move { restored(&db, &file).await });
    while restore::kept(site.app.db()).unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let mut request = pin!(request);
    for _ in 0..10 {
        tokio::select! {
            biased;
            _ = &mut request => panic!("the request did not wait"),
            () = tokio::task::yield_now() => {}
        }
    }
    lock.execute_batch("ROLLBACK").unwrap();
    restoring.await.unwrap().unwrap();
    request.await
}

#[tokio::test]
async fn writes_that_wait_for_a_restore_do_not_reach_the_user_who_has_the_number_of_their_own() {
    let (site, _, mut carl, backup) = with_a_number_of_another().await;
    let film = carl.film("Fargo").await;
    let token = carl.get("/account").await.field("token");
    let (save, note) = (
        format!("/list/{film}/save"),
        [("token", &token[..]), ("note", "of Carl")],
    );
    let named = [
        ("token", &token[..]),
        ("name", "of Carl"),
        ("confirm", PASSWORD),
    ];
    let mut guest = site.visitor();
    let token = guest.get("/sign-in").await.field("token");
    let signing_in = [
        ("token", &token[..]),
        ("name", "Carl"),
        ("password", PASSWORD),
    ];
    let (mut page, mut account) = (carl.clone(), carl.clone());
    let path = format!("/list/{film}");
    let requests = async {
        tokio::join!(
            carl.api("PUT", &path, json!({"note": "of Carl"})),
            page.post_as_is(&save, &note),
            account.post_as_is("/account/tokens", &named),
            guest.post_as_is("/sign-in", &signing_in),
        )
    };
    let (by_token, by_session, of_token, signed_in) =
        restored_while(&site, &backup, requests).await;
    for answer in [&by_token, &by_session, &of_token] {
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{}", answer.text);
        assert!(
            answer.text.contains("no longer signed in"),
            "{}",
            answer.text
        );
    }
    assert_eq!(by_token.header("www-authenticate"), "Bearer");
    assert_eq!(signed_in.status, StatusCode::UNPROCESSABLE_ENTITY);
    let own = site.folder.path().join("watch.db");
    assert_eq!(
        query(&own, "SELECT group_concat(note) FROM entry"),
        "of Ben"
    );
    assert_eq!(query(&own, "SELECT count(*) FROM api_token"), "0");
    assert_eq!(query(&own, "SELECT count(*) FROM session"), "0");
}

#[tokio::test]
async fn a_request_whose_body_arrives_after_a_restore_reads_nothing_of_another_user() {
    let (site, _, mut carl, backup) = with_a_number_of_another().await;
    let (mut send, arrives) = tokio::io::duplex(64);
    let body = Body::from_stream(ReaderStream::new(arrives));
    let request = carl.request("POST", "/api/v1/import?preview=1");
    let request = request.body(body).unwrap();
    let mut answer = pin!(carl.send(request));
    tokio::select! {
        biased;
        _ = &mut answer => panic!("the request did not wait"),
        () = tokio::task::yield_now() => {}
    }
    restored(site.app.db(), &backup).await.unwrap();
    send.write_all(b"title,note\nAlien,of Carl\n")
        .await
        .unwrap();
    drop(send);
    let answer = answer.await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{}", answer.text);
}
