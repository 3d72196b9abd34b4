//! The owner's page of users.

use crate::client::{Client, PASSWORD, Site};
use axum::{body::Body, http::StatusCode};
use http_body_util::BodyExt;
use inorder_watch::db::users;
use serde_json::Value;
use tower::ServiceExt;

/// The address of a user on the owner's page.
async fn address(owner: &mut Client, name: &str) -> String {
    let page = owner.get("/users").await.text;
    let row = page
        .split("<li>")
        .find(|row| row.contains(&format!("<bdi>{name}</bdi>")));
    let (_, rest) = row
        .unwrap_or_else(|| panic!("no {name} in {page}"))
        .split_once("href=\"")
        .unwrap();
    rest.split('"').next().unwrap().to_owned()
}

#[tokio::test]
async fn only_the_owner_sees_the_users() {
    let (_site, mut people) = Site::with_people(&["Anna", "Ben"]).await;
    people[1].add("alien", &[("priority", "3")]).await;
    let anna = &mut people[0];
    let page = anna.get("/users").await;
    assert!(
        page.text
            .contains("<bdi>Anna</bdi></a> <small>owner</small>")
            && page.text.contains("The database takes "),
        "{}",
        page.text
    );
    let ben = address(anna, "Ben").await;
    assert!(anna.get(&ben).await.text.contains("Films on the list: 1."));
    let forms = ["suspend", "resume", "reset", "remove"].map(|what| format!("{ben}/{what}"));
    let ben_himself = &mut people[1];
    for page in ["/users", &ben] {
        assert_eq!(
            ben_himself.get(page).await.status,
            StatusCode::NOT_FOUND,
            "{page}"
        );
    }
    let token = ben_himself.get("/account").await.field("token");
    let fields = [("token", token.as_str()), ("confirm", PASSWORD)];
    for form in forms
        .iter()
        .map(String::as_str)
        .chain(["/users/invite", "/users/backup"])
    {
        let answer = ben_himself.post_as_is(form, &fields).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{form}");
    }
    assert_eq!(ben_himself.get("/").await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_suspended_user_is_out_until_the_suspension_ends() {
    let (site, mut people) = Site::with_people(&["Anna", "Ben"]).await;
    let mut ben = people.pop().unwrap();
    let anna = &mut people[0];
    ben.add("alien", &[("priority", "3")]).await;
    let invitation = ben.invitation().await;
    let feed = ben.post("/friends", "/friends/feed", &[]).await;
    let feed = ben.get(feed.header("location")).await.text;
    let (_, feed) = feed.split_once("/feed/").unwrap();
    let feed = format!("/feed/{}", &feed[..40]);
    assert_eq!(ben.get(&feed).await.status, StatusCode::OK);
    ben.make_token().await;
    let page = address(anna, "Ben").await;
    let answer = anna.post(&page, &format!("{page}/suspend"), &[]).await;
    assert!(
        anna.get(answer.header("location"))
            .await
            .text
            .contains("signed out everywhere")
    );
    // Nothing that the user has opens anything,
    assert_eq!(ben.get("/").await.header("location"), "/sign-in");
    assert_eq!(
        ben.api("GET", "/me", Value::Null).await.status,
        StatusCode::UNAUTHORIZED
    );
    assert_eq!(
        site.visitor().get(&feed).await.status,
        StatusCode::NOT_FOUND
    );
    let answer = site
        .visitor()
        .get(&format!("/invitation/{invitation}"))
        .await;
    assert!(
        !answer.text.contains("name=\"invitation\" value"),
        "{}",
        answer.text
    );
    // and the right password neither, which a wrong one does not tell.
    let mut visitor = site.visitor();
    let answer = visitor.sign_in("Ben", PASSWORD).await;
    assert!(
        answer.text.contains("This account is suspended"),
        "{}",
        answer.text
    );
    let answer = visitor.sign_in("Ben", "a wrong password").await;
    assert!(
        answer.text.contains("no such name with this password"),
        "{}",
        answer.text
    );
    assert!(!visitor.cookies.contains_key("session"));
    let answer = anna.post(&page, &format!("{page}/reset"), &[]).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    anna.post(&page, &format!("{page}/resume"), &[]).await;
    let answer = visitor.sign_in("Ben", PASSWORD).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text);
    assert!(visitor.get("/").await.text.contains("Alien"));
}

#[tokio::test]
async fn the_owner_makes_links_and_deletes_accounts() {
    let (site, mut people) = Site::with_people(&["Anna", "Ben"]).await;
    let anna = &mut people[0];
    let answer = anna.post("/users", "/users/invite", &[]).await;
    let text = anna.get(answer.header("location")).await.text;
    let (_, link) = text.split_once("/invitation/").unwrap();
    let mut cleo = site.visitor();
    assert_eq!(
        cleo.sign_up(&link[..40], "Cleo").await.status,
        StatusCode::SEE_OTHER
    );
    let page = address(anna, "Ben").await;
    let answer = anna.post(&page, &format!("{page}/reset"), &[]).await;
    let text = anna.get(answer.header("location")).await.text;
    let (_, link) = text.split_once("/reset/").unwrap();
    let link = format!("/reset/{}", &link[..40]);
    assert!(
        !anna.get(&page).await.text.contains(&link),
        "the link is shown twice"
    );
    let mut visitor = site.visitor();
    let password = [("password", "another long password")];
    let answer = visitor.post(&link, &link, &password).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text);
    assert_eq!(
        visitor.sign_in("Ben", password[0].1).await.status,
        StatusCode::SEE_OTHER
    );
    let remove = format!("{page}/remove");
    let answer = anna
        .post(&page, &remove, &[("confirm", "a wrong password")])
        .await;
    assert!(
        answer.text.contains("This is not your password"),
        "{}",
        answer.text
    );
    let answer = anna.post(&page, &remove, &[("confirm", PASSWORD)]).await;
    assert_eq!(
        answer.header("location"),
        "/users?done=removed",
        "{}",
        answer.text
    );
    assert_eq!(anna.get(&page).await.status, StatusCode::NOT_FOUND);
    assert_eq!(visitor.get("/").await.header("location"), "/sign-in");
    // The owner's own account is not suspended or deleted here.
    let own = address(anna, "Anna").await;
    for (what, words) in [("suspend", "suspended"), ("remove", "on its own page")] {
        let token = anna.get("/users").await.field("token");
        let fields = [("token", token.as_str()), ("confirm", PASSWORD)];
        let answer = anna.post_as_is(&format!("{own}/{what}"), &fields).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(answer.text.contains(words), "{}", answer.text);
    }
    assert_eq!(anna.get("/").await.status, StatusCode::OK);
}

#[tokio::test]
async fn the_owner_downloads_a_backup_with_their_password() {
    let (site, mut people) = Site::with_people(&["Anna", "Ben"]).await;
    let anna = &mut people[0];
    let refused = anna
        .post(
            "/users",
            "/users/backup",
            &[("confirm", "not the password")],
        )
        .await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        refused.text.contains("This is not your password."),
        "{}",
        refused.text
    );
    // A server that was killed left one.
    let left = site.folder.path().join("watch.db-download");
    std::fs::write(&left, "half of it").unwrap();
    let token = anna.get("/users").await.field("token");
    let form = serde_urlencoded::to_string([("token", token.as_str()), ("confirm", PASSWORD)]);
    let request = anna
        .request("POST", "/users/backup")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(Body::from(form.unwrap()))
        .unwrap();
    let response = anna.router.clone().oneshot(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    let copy = site.folder.path().join("copy.db");
    std::fs::write(&copy, bytes).unwrap();
    let db = inorder_watch::db::Database::open(&copy).unwrap();
    db.read(|db| {
        assert_eq!(users::by_name(db, "ben")?.name, "Ben");
        Ok(())
    })
    .unwrap();
    assert!(!left.exists(), "a copy stays beside the database");
}
