//! Attachments that a browser uploads with a form.

use crate::client::{Answer, Running};
use serde_json::json;

const TYPE: &str = "multipart/form-data; boundary=b";

fn form(fields: &[(&str, &str)]) -> String {
    let part = |(disposition, text): &(&str, &str)| {
        format!("--b\r\nContent-Disposition: form-data; {disposition}\r\n\r\n{text}\r\n")
    };
    let parts: String = fields.iter().map(part).collect();
    parts + "--b--\r\n"
}

async fn post(server: &Running, id: &str, referer: &str, body: String) -> Answer {
    let ask = server.ask("POST", &format!("/db/{id}"));
    let ask = match referer {
        "" => ask,
        referer => ask.header("referer", referer),
    };
    ask.header("host", "localhost")
        .body(TYPE, body)
        .send()
        .await
}

const PAGE: &str = "http://localhost/page";

#[tokio::test]
async fn a_form_adds_attachments_to_a_revision() {
    let server = Running::start().await;
    let made = server
        .database("db", &json!([{ "_id": "a", "n": 1 }]))
        .await;
    let revision = made[0]["rev"].as_str().unwrap();
    let files = [
        (
            "name=\"_attachments\"; filename=\"x.txt\"\r\nContent-Type: text/plain",
            "one",
        ),
        ("name=\"_rev\"", revision),
        ("name=\"_attachments\"; filename=\"y\"", "two"),
        ("name=\"other\"", "ignored"),
    ];
    let posted = post(&server, "a", PAGE, form(&files)).await;
    assert_eq!(posted.status, 201, "{}", posted.text());
    let document = server.get("/db/a").await.json();
    assert_eq!(
        (&document["n"], &document["_rev"]),
        (&json!(1), &posted.json()["rev"])
    );
    let read = server.get("/db/a/x.txt").await;
    assert_eq!(
        (read.header("content-type"), read.text()),
        ("text/plain", "one")
    );
    assert_eq!(server.get("/db/a/y").await.text(), "two");
    let again = post(&server, "a", PAGE, form(&files)).await;
    assert_eq!(again.error(), (409, "conflict".to_owned()));
}

#[tokio::test]
async fn a_form_brings_a_document_with_its_attachments() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    let fields = [
        ("name=\"_doc\"", "{\"n\":2}"),
        ("name=\"_attachments\"; filename=\"x\"", "one"),
    ];
    let posted = post(&server, "b", PAGE, form(&fields)).await;
    assert_eq!(posted.status, 201, "{}", posted.text());
    assert_eq!(server.get("/db/b").await.json()["n"], 2);
    assert_eq!(server.get("/db/b/x").await.text(), "one");
}

#[tokio::test]
async fn forms_of_other_sites_and_other_bodies_are_refused() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    let body = || form(&[("name=\"_doc\"", "{}")]);
    for (referer, reason) in [
        ("", "Referer header required."),
        (
            "http://evil.example/localhost",
            "Referer header must match host.",
        ),
    ] {
        let refused = post(&server, "c", referer, body()).await;
        assert_eq!(refused.error(), (400, "bad_request".to_owned()));
        assert_eq!(refused.json()["reason"], reason);
    }
    let ask = server.ask("POST", "/db/c").header("referer", PAGE);
    let json = ask
        .header("host", "localhost")
        .json(&json!({}))
        .send()
        .await;
    assert_eq!(json.error(), (415, "bad_content_type".to_owned()));
    assert_eq!(server.get("/db/c").await.status, 404);
}
