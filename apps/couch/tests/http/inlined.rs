//! Attachments in the JSON of documents: every request that has them.

use crate::client::{Answer, Running};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

/// Sizes around those at which a piece of an attachment ends, stored and in base64.
const SIZES: [usize; 8] = [0, 1, 2, 3, 65_535, 65_537, 200_000, 1_500_000];

fn content(at: usize) -> Vec<u8> {
    let bytes = (0..SIZES[at % SIZES.len()]).map(|byte| (byte * 7 + byte / 251 + at) as u8);
    bytes.collect()
}

/// The attachments of a document: name, type, bytes.
fn attachments(document: usize) -> Vec<(String, &'static str, Vec<u8>)> {
    let types = ["image/png", "text/plain"];
    let one = |at: usize| {
        let name = format!("\"data\":\"\" {at}");
        (name, types[at % 2], content(document + at * 3))
    };
    (0..document % 4).map(one).collect()
}

const DOCUMENTS: usize = 9;

async fn filled() -> Running {
    let server = Running::start().await;
    let docs = (0..DOCUMENTS).map(|number| {
        let mut attached = serde_json::Map::new();
        for (name, content_type, bytes) in attachments(number) {
            let data = STANDARD.encode(bytes);
            let one = json!({ "content_type": content_type, "data": data });
            attached.insert(name, one);
        }
        json!({ "_id": format!("d{number}"), "n": number, "_attachments": attached })
    });
    let mut docs: Vec<Value> = docs.collect();
    docs.push(json!({
        "_id": "_design/app",
        "views": { "all": { "map": "function (doc) { emit(doc.n, null) }" } },
        "lists": { "all": "function (head, req) { var rows = [], row; while (row = getRow()) rows.push(row.doc); return JSON.stringify(rows) }" },
        "filters": { "stubs": "function (doc) { for (var name in doc._attachments) if (!doc._attachments[name].stub) return false; return true }" },
    }));
    for row in server.database("db", &docs.into()).await {
        assert_eq!(row["ok"], true, "{row}");
    }
    server
}

/// Checks that a document has its attachments.
fn check(what: &str, document: &Value) {
    let id = document["_id"]
        .as_str()
        .unwrap_or_else(|| panic!("{what}: {document}"));
    let Some(number) = id.strip_prefix('d') else {
        return;
    };
    for (name, content_type, bytes) in attachments(number.parse().unwrap()) {
        let found = &document["_attachments"][&name];
        let expected = STANDARD.encode(bytes);
        assert!(
            found["data"] == expected.as_str(),
            "{what} {id} {name}: {} characters, not {}",
            found["data"].as_str().unwrap_or_default().len(),
            expected.len(),
        );
        assert_eq!(found["content_type"], content_type);
        assert!(found["stub"].is_null() && found["length"].is_null());
    }
}

/// The documents in an answer.
fn documents(answer: &Answer) -> Vec<Value> {
    fn collect(value: Value, found: &mut Vec<Value>) {
        match value {
            Value::Array(items) => items.into_iter().for_each(|item| collect(item, found)),
            Value::Object(members) if members.contains_key("_id") => {
                found.push(Value::Object(members));
            }
            Value::Object(members) => members
                .into_iter()
                .for_each(|(_, item)| collect(item, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    match serde_json::from_slice(&answer.body) {
        Ok(value) => collect(value, &mut found),
        Err(_) => {
            for line in answer.text().lines() {
                let line = line.strip_prefix("data: ").unwrap_or(line);
                collect(serde_json::from_str(line).unwrap_or_default(), &mut found);
            }
        }
    }
    found
}

/// Requests of several documents: method, path, the body, and how many documents there are at least. `QUERY` asks for attachments.
const LISTS: &str = "\
GET /db/_all_docs?QUERY - 9
POST /db/_all_docs?QUERY keys 9
POST /db/_all_docs/queries?QUERY queries 18
GET /db/_design/app/_view/all?QUERY - 9
GET /db/_design/app/_view/all?QUERY&limit=3&att_encoding_info=true - 3
GET /db/_design/app/_list/all/all?QUERY&limit=3 - 3
GET /db/_design/app/_list/all/_all_docs?QUERY&limit=3 - 2
GET /db/_changes?QUERY - 9
GET /db/_changes?QUERY&filter=app/stubs - 9
GET /db/_changes?QUERY&descending=true - 9
GET /db/_changes?QUERY&feed=longpoll - 9
GET /db/_changes?QUERY&feed=continuous&limit=9 - 8
GET /db/_changes?QUERY&feed=continuous&timeout=100 - 9
GET /db/_changes?QUERY&feed=eventsource&timeout=100 - 9
POST /db/_bulk_get?attachments=true docs 9";

fn ids() -> Vec<String> {
    (0..DOCUMENTS).map(|number| format!("d{number}")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_list_has_the_attachments_that_it_is_asked_for() {
    let server = filled().await;
    let keys = json!({ "keys": ids() });
    let queries = json!({ "queries": [keys, keys] });
    let docs: Vec<Value> = ids().iter().map(|id| json!({ "id": id })).collect();
    let docs = json!({ "docs": docs });
    for line in LISTS.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let path = words[1].replace("QUERY", "include_docs=true&attachments=true");
        let ask = server.ask(words[0], &path);
        let ask = ask.header("accept", "application/json");
        let ask = match words[2] {
            "keys" => ask.json(&keys),
            "queries" => ask.json(&queries),
            "docs" => ask.json(&docs),
            _ => ask,
        };
        let answer = ask.send().await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        let documents = documents(&answer);
        let found = documents.iter().filter(|it| it["_id"] != "_design/app");
        let (found, least) = (found.count(), words[3].parse().unwrap());
        assert!(found >= least, "{path}: {found}");
        documents.iter().for_each(|document| check(&path, document));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_request_of_a_document_has_the_attachments_that_it_asks_for() {
    let server = filled().await;
    for id in ids() {
        let number: usize = id[1..].parse().unwrap();
        for path in [
            format!("/db/{id}?attachments=true"),
            format!("/db/{id}?attachments=true&revs=true&conflicts=true"),
            format!("/db/{id}?atts_since=[\"1-abc\"]"),
            format!("/db/{id}?open_revs=all&attachments=true"),
        ] {
            let ask = server
                .ask("GET", &path)
                .header("accept", "application/json");
            let answer = ask.send().await;
            assert_eq!(answer.status, 200);
            let documents = documents(&answer);
            assert_eq!(documents.len(), 1, "{path}");
            check(&path, &documents[0]);
            let length = answer.header("content-length");
            assert_eq!(length, answer.body.len().to_string(), "{path}");
        }
        let head = server
            .ask("HEAD", &format!("/db/{id}?attachments=true"))
            .send()
            .await;
        let whole = server.get(&format!("/db/{id}?attachments=true")).await;
        assert_eq!(
            head.header("content-length"),
            whole.header("content-length"),
            "{number}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attachment_that_is_replaced_while_it_is_sent_is_sent_to_its_end() {
    let server = filled().await;
    let mut response = server
        .ask("GET", "/db/d7?attachments=true")
        .header("accept", "application/json")
        .response()
        .await;
    let mut body = response.chunk().await.unwrap().unwrap().to_vec();
    let rev = server.get("/db/d7").await.json()["_rev"].clone();
    let deleted = server
        .put("/db/d7", &json!({ "_rev": rev, "_deleted": true }))
        .await;
    assert_eq!(deleted.status, 200);
    assert_eq!(server.post("/db/_compact", &json!({})).await.status, 202);
    while server.get("/db").await.json()["compact_running"] == true {}
    while let Some(piece) = response.chunk().await.unwrap() {
        body.extend_from_slice(&piece);
    }
    check("while it is sent", &serde_json::from_slice(&body).unwrap());
}
