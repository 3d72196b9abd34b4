//! Feeds.

use crate::client::{Running, until};
use futures_util::StreamExt;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Lines of a feed as they come.
struct Lines {
    stream:
        std::pin::Pin<Box<dyn futures_util::Stream<Item = reqwest::Result<bytes::Bytes>> + Send>>,
    text: String,
}

impl Lines {
    async fn open(server: &Running, path: &str) -> Self {
        let response = server.ask("GET", path).response().await;
        assert_eq!(response.status(), 200);
        Lines {
            stream: Box::pin(response.bytes_stream()),
            text: String::new(),
        }
    }

    async fn next(&mut self) -> Option<String> {
        loop {
            if let Some((line, rest)) = self.text.split_once('\n') {
                let line = line.to_owned();
                self.text = rest.to_owned();
                return Some(line);
            }
            let piece = self.stream.next().await?.ok()?;
            self.text
                .push_str(std::str::from_utf8(&piece).expect("text"));
        }
    }

    async fn json(&mut self) -> Value {
        loop {
            let line = self.next().await.expect("another line");
            if !line.is_empty() {
                return serde_json::from_str(&line).expect("JSON");
            }
        }
    }
}

#[tokio::test]
async fn changes_come_in_their_order_and_from_where_they_were_left() {
    let server = Running::start().await;
    server
        .database(
            "db",
            &json!([{ "_id": "a" }, { "_id": "b" }, { "_id": "c" }]),
        )
        .await;
    let all = server.get("/db/_changes").await.json();
    let results = all["results"].as_array().unwrap();
    assert_eq!(results.len(), 3);
    assert_eq!(
        (&all["last_seq"], &all["pending"]),
        (&results[2]["seq"], &json!(0))
    );
    let since = results[0]["seq"].as_str().unwrap();
    let rest = server
        .get(&format!("/db/_changes?since={since}&limit=1"))
        .await
        .json();
    assert_eq!(
        (&rest["results"][0], &rest["pending"]),
        (&results[1], &json!(1))
    );
    assert_eq!(rest["last_seq"], results[1]["seq"]);
    let back = server
        .get("/db/_changes?descending=true&limit=1&include_docs=true")
        .await
        .json();
    assert_eq!(back["results"][0]["doc"]["_id"], results[2]["id"]);
    let now = server.get("/db/_changes?since=now").await.json();
    assert_eq!(
        (&now["results"], &now["last_seq"]),
        (&json!([]), &all["last_seq"])
    );
    // As in CouchDB, a descending feed has all changes.
    let back = server.get("/db/_changes?descending=true&since=now").await;
    assert_eq!(back.json()["results"].as_array().unwrap().len(), 3);
    for (query, pending, last) in [
        ("limit=0&since=now", 0, 2),
        ("limit=0&descending=true", 3, 2),
    ] {
        let none = server.get(&format!("/db/_changes?{query}")).await.json();
        assert_eq!(none["results"], json!([]), "{query}");
        assert_eq!(none["pending"], pending, "{query}");
        assert_eq!(none["last_seq"], results[last]["seq"], "{query}");
    }
    let none = server.get("/db/_changes?limit=0").await.json();
    assert_eq!(
        (&none["results"], &none["pending"]),
        (&json!([]), &json!(3))
    );
    let anew = server.get("/db/_changes?since=3-00000000").await.json();
    assert_eq!(
        anew["results"].as_array().unwrap().len(),
        3,
        "another database's sequence"
    );
    for wrong in ["since=x", "feed=x", "heartbeat=0", "style=x", "filter=x"] {
        assert_eq!(
            server.get(&format!("/db/_changes?{wrong}")).await.status,
            400,
            "{wrong}"
        );
    }
}

#[tokio::test]
async fn a_continuous_feed_tells_edits_and_shows_that_it_lives() {
    let server = Running::start().await;
    server.database("db", &json!([{ "_id": "a" }])).await;
    let mut lines = Lines::open(&server, "/db/_changes?feed=continuous&heartbeat=50").await;
    assert_eq!(lines.json().await["id"], "a");
    assert_eq!(lines.next().await.as_deref(), Some(""), "a sign of life");
    for at in 0..20 {
        let id = format!("doc{at}");
        server.put(&format!("/db/{id}"), &json!({})).await;
        assert_eq!(lines.json().await["id"], id);
    }
    let rev = server.get("/db/a").await.json()["_rev"]
        .as_str()
        .unwrap()
        .to_owned();
    server.delete(&format!("/db/a?rev={rev}")).await;
    assert_eq!(lines.json().await["deleted"], true);
    server.delete("/db").await;
    assert!(
        lines.json().await["last_seq"].is_string(),
        "it ends with its database"
    );
    while let Some(line) = lines.next().await {
        assert_eq!(line, "");
    }
}

#[tokio::test]
async fn a_longpoll_waits_for_the_first_change() {
    let server = Running::start().await;
    server.database("db", &json!([{ "_id": "a" }])).await;
    let waiting = server
        .ask("GET", "/db/_changes?feed=longpoll&since=now&heartbeat=20")
        .send();
    let edit = async {
        server.until_feeds_are(1).await;
        server.put("/db/b", &json!({})).await
    };
    let (answer, _) = tokio::join!(waiting, edit);
    let results = answer.json()["results"].clone();
    assert_eq!(
        (results.as_array().unwrap().len(), &results[0]["id"]),
        (1, &json!("b"))
    );
    let at_once = server.get("/db/_changes?feed=longpoll").await.json();
    assert_eq!(at_once["results"].as_array().unwrap().len(), 2);
    let in_vain = server
        .get("/db/_changes?feed=longpoll&since=now&timeout=20")
        .await
        .json();
    assert_eq!(in_vain["results"], json!([]));
}

#[tokio::test]
async fn an_event_source_resumes_by_its_last_event() {
    let server = Running::start().await;
    server
        .database("db", &json!([{ "_id": "a" }, { "_id": "b" }]))
        .await;
    let first = server.get("/db/_changes?feed=eventsource&timeout=20").await;
    assert_eq!(first.header("content-type"), "text/event-stream");
    let id = first
        .text()
        .lines()
        .find_map(|line| line.strip_prefix("id: "))
        .unwrap();
    let resumed = server.ask("GET", "/db/_changes?feed=eventsource&timeout=20");
    let resumed = resumed.header("last-event-id", id).send().await;
    let events = resumed
        .text()
        .lines()
        .filter(|line| line.starts_with("data: "))
        .count();
    assert_eq!(events, 1);
}

#[tokio::test]
async fn filters_keep_what_they_mean() {
    let server = Running::start().await;
    let design = json!({
        "_id": "_design/app",
        "filters": { "kind": "(doc, req) => doc.kind === req.query.kind" },
        "views": { "films": { "map": "doc => { if (doc.kind === 'film') emit(doc._id) }" } },
    });
    server
        .database(
            "db",
            &json!([{ "_id": "a", "kind": "film" }, { "_id": "b", "kind": "book" }, design]),
        )
        .await;
    let of = async |query: &str| -> Vec<String> {
        let answer = server.get(&format!("/db/_changes?{query}")).await;
        let answer = answer.json();
        let rows = answer["results"]
            .as_array()
            .unwrap_or_else(|| panic!("{query}: {answer}"));
        rows.iter()
            .map(|row| row["id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(of("filter=app/kind&kind=book").await, ["b"]);
    assert_eq!(of("filter=_view&view=app/films").await, ["a"]);
    assert_eq!(of("filter=_design").await, ["_design/app"]);
    assert_eq!(of("filter=_doc_ids&doc_ids=%5B%22b%22%5D").await, ["b"]);
    assert_eq!(of("filter=app/kind&kind=none&limit=1").await, [""; 0]);
    let posted = json!({ "doc_ids": ["a"] });
    let posted = server
        .post("/db/_changes?filter=_doc_ids", &posted)
        .await
        .json();
    assert_eq!(posted["results"][0]["id"], "a");
    assert_eq!(server.get("/db/_changes?filter=app/none").await.status, 404);
    assert_eq!(
        server.get("/db/_changes?filter=none/kind").await.status,
        404
    );
    let replicated = json!({ "new_edits": false, "docs": [
        { "_id": "c", "_rev": "1-a", "kind": "film" },
        { "_id": "c", "_rev": "1-b", "kind": "book" },
    ] });
    server.post("/db/_bulk_docs", &replicated).await;
    let leaves = server
        .get("/db/_changes?style=all_docs&filter=app/kind&kind=film")
        .await
        .json();
    assert_eq!(
        leaves["results"][1]["changes"],
        json!([{ "rev": "1-a" }]),
        "of its leaves one passes"
    );
}

#[tokio::test]
async fn an_endless_filter_ends_with_an_error() {
    let mut settings = inorder_couch::http::ServerSettings::default();
    settings.scripts.limits.time_max = Duration::from_millis(200);
    let auth = inorder_couch::auth::Auth::new(None, b"");
    let server = Running::start_with(auth, settings).await;
    let design = json!({ "_id": "_design/app", "filters": { "endless": "() => { for (;;); }" } });
    server.database("db", &json!([design])).await;
    let answer = server.get("/db/_changes?filter=app/endless").await;
    assert_eq!(answer.error(), (500, "os_process_error".into()));
    assert_eq!(server.get("/db").await.status, 200);
}

/// A server with documents and filters, whose functions are stopped after a minute.
async fn filtered(filters: &[(&str, &str)], count: u32) -> Running {
    let mut settings = inorder_couch::http::ServerSettings::default();
    settings.scripts.limits.time_max = Duration::from_secs(60);
    let server = Running::start_with(inorder_couch::auth::Auth::new(None, b""), settings).await;
    let named = |(name, source): &(&str, &str)| ((*name).to_owned(), json!(source));
    let functions: serde_json::Map<String, Value> = filters.iter().map(named).collect();
    let maps = filters
        .iter()
        .map(|(name, source)| ((*name).to_owned(), json!({ "map": source })));
    let maps: serde_json::Map<String, Value> = maps.collect();
    let mut docs: Vec<Value> = (0..count)
        .map(|at| json!({ "_id": format!("d{at:03}") }))
        .collect();
    docs.push(json!({ "_id": "z/design" }));
    server.database("db", &json!(docs)).await;
    let design = json!({ "filters": functions, "views": maps });
    assert_eq!(server.put("/db/_design/app", &design).await.status, 201);
    server
}

#[tokio::test]
async fn a_failing_filter_is_not_called_again() {
    // After the document with which it fails, each of the others would take a minute.
    let filters = [
        (
            "first",
            "doc => { if (doc._id === 'd000') throw new Error('no'); for (;;); }",
        ),
        (
            "third",
            "doc => { if (doc._id < 'd002') return true; if (doc._id === 'd002') null.x; for (;;); }",
        ),
        (
            "last",
            "doc => { if (doc._id < 'd003') return true; if (doc._id === 'd003') null.x; for (;;); }",
        ),
    ];
    let server = filtered(&filters, 300).await;
    let begun = std::time::Instant::now();
    for (name, _) in filters {
        for path in [
            format!("filter=app/{name}"),
            format!("filter=_view&view=app/{name}"),
        ] {
            for feed in ["normal", "longpoll", "continuous", "eventsource"] {
                let answer = server
                    .get(&format!("/db/_changes?{path}&feed={feed}"))
                    .await;
                assert_eq!(answer.status, 500, "{path} {feed}: {}", answer.text());
            }
        }
    }
    assert!(
        begun.elapsed() < Duration::from_secs(55),
        "{:?}",
        begun.elapsed()
    );
}

#[tokio::test]
async fn heartbeats_are_sent_while_a_filter_runs() {
    let busy = "doc => { const end = Date.now() + 300; while (Date.now() < end); return WANTED; }";
    let (none, all) = (
        busy.replace("WANTED", "false"),
        busy.replace("WANTED", "doc._id === 'd011'"),
    );
    let server = filtered(&[("none", &none), ("one", &all)], 12).await;
    for feed in ["normal", "longpoll", "continuous", "eventsource"] {
        for (name, count) in [("none", 0), ("one", 1)] {
            let path = format!("/db/_changes?feed={feed}&filter=app/{name}&heartbeat=100&limit=1");
            let mut response = server.ask("GET", &path).response().await;
            assert_eq!(response.status(), 200);
            // A feed that finds nothing goes on.
            let is_endless = count == 0 && feed != "normal";
            let sign = if feed == "eventsource" {
                "event: heartbeat\ndata: \n\n"
            } else {
                "\n"
            };
            let (mut text, mut signs) = (String::new(), 0);
            while let Some(piece) = response.chunk().await.unwrap() {
                let piece = String::from_utf8(piece.to_vec()).unwrap();
                signs += usize::from(piece == sign);
                text.push_str(&piece);
                if is_endless && signs > 40 {
                    break;
                }
            }
            assert!(signs >= 3, "{feed} {name}: {signs} heartbeats");
            assert_eq!(
                text.matches("\"d011\"").count(),
                count,
                "{feed} {name}: {text}"
            );
            if matches!(feed, "normal" | "longpoll") && !is_endless {
                let answer: Value = serde_json::from_str(&text).unwrap();
                assert_eq!(answer["results"].as_array().unwrap().len(), count);
            }
        }
    }
}

#[tokio::test]
async fn databases_tell_what_happens_to_them() {
    let server = Running::start().await;
    let quiet = server
        .get("/_db_updates?feed=longpoll&since=now&timeout=50")
        .await
        .json();
    assert_eq!(quiet["results"], json!([]));
    let since = quiet["last_seq"].as_str().unwrap();
    let path = format!("/_db_updates?feed=longpoll&since={since}&timeout=20000");
    let waiting = server.ask("GET", &path).send();
    let edit = server.put("/db", &Value::Null);
    let (answer, _) = tokio::join!(waiting, edit);
    let event = answer.json()["results"][0].clone();
    assert_eq!(
        (&event["db_name"], &event["type"]),
        (&json!("db"), &json!("created"))
    );
    let seq = event["seq"].as_str().unwrap();
    server.put("/db/a", &json!({})).await;
    let after = format!("/_db_updates?feed=longpoll&since={seq}");
    let after = server.get(&after).await.json();
    assert_eq!(
        events_of(&after),
        [("_dbs", "updated"), ("db", "updated")],
        "{after}"
    );
}

#[tokio::test]
async fn a_heartbeat_keeps_a_question_for_the_next_event_open() {
    let server = Running::start().await;
    let waiting = server
        .ask("GET", "/_db_updates?feed=longpoll&since=now&heartbeat=20")
        .send();
    let edit = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        server.put("/db", &Value::Null).await
    };
    let (answer, _) = tokio::join!(waiting, edit);
    assert!(answer.text().starts_with('\n'), "{}", answer.text());
    let events = answer.json();
    assert!(events_of(&events).contains(&("db", "created")), "{events}");
}

/// The events of an answer of `_db_updates`.
fn events_of(answer: &Value) -> Vec<(&str, &str)> {
    let rows = answer["results"].as_array().unwrap().iter();
    rows.map(|row| {
        let (name, kind) = (row["db_name"].as_str(), row["type"].as_str());
        (name.unwrap(), kind.unwrap())
    })
    .collect()
}

#[tokio::test]
async fn the_feed_of_databases_begins_with_a_new_global_changes() {
    let server = Running::start().await;
    server.put("/before", &Value::Null).await;
    server.put("/_global_changes", &Value::Null).await;
    server.put("/after", &Value::Null).await;
    server.delete("/after").await;
    let expected = [
        ("after", "created"),
        ("after", "deleted"),
        ("_dbs", "updated"),
    ];
    until("the events", async || {
        events_of(&server.get("/_db_updates").await.json()) == expected
    })
    .await;
}

#[tokio::test]
async fn changes_that_a_client_has_are_not_sent_again() {
    let server = Running::start().await;
    let filters = json!({ "f": "function () { return true; }" });
    let docs = json!([{ "_id": "a" }, { "_id": "_design/d", "filters": filters }]);
    server.database("db", &docs).await;
    let ask = async |path: &str, tag: &str| {
        let asked = server.ask("GET", path).header("if-none-match", tag);
        asked.send().await
    };
    let path = "/db/_changes?include_docs=true";
    let first = server.get(path).await;
    let tag = first.header("etag").to_owned();
    let again = ask(path, &tag).await;
    assert_eq!((again.status.as_u16(), again.header("etag")), (304, &*tag));
    server.put("/db/b", &json!({})).await;
    let changed = ask(path, &tag).await;
    assert_eq!(changed.json()["results"].as_array().unwrap().len(), 3);
    let tag = changed.header("etag").to_owned();
    let since = server.get("/db").await.json()["update_seq"].clone();
    let resumed = server.ask("GET", path).header("if-none-match", &tag);
    let resumed = resumed.header("last-event-id", since.as_str().unwrap());
    assert_eq!(resumed.send().await.status, 200);
    let rev = server.get("/db/b").await.json()["_rev"].clone();
    server.post("/db/_purge", &json!({ "b": [rev] })).await;
    assert_eq!(ask(path, &tag).await.status, 200);
    for path in ["/db/_changes?filter=d/f", "/db/_changes?feed=longpoll"] {
        let headers = server.get(path).await.headers;
        assert!(!headers.contains_key("etag"), "{path}");
    }
}

#[tokio::test]
async fn what_happened_to_databases_is_known_after_a_restart() {
    let server = Running::start().await;
    for name in ["kept", "gone", "anew"] {
        server.put(&format!("/{name}"), &Value::Null).await;
    }
    for name in ["gone", "anew"] {
        server.delete(&format!("/{name}")).await;
    }
    server.put("/anew", &Value::Null).await;
    let before = server.get("/_db_updates?feed=longpoll").await.json();
    let since = before["last_seq"].as_str().unwrap();
    let server = server.restarted(Default::default()).await;
    let after = server.get(&format!("/_db_updates?since={since}")).await;
    let mut events: Vec<_> = after.json()["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| {
            let text = |name: &str| event[name].as_str().unwrap().to_owned();
            (text("db_name"), text("type"))
        })
        .collect();
    events.sort();
    let expected = [
        ("_dbs", "updated"),
        ("anew", "updated"),
        ("gone", "deleted"),
        ("kept", "updated"),
    ];
    assert_eq!(
        events,
        expected.map(|(name, kind)| (name.to_owned(), kind.to_owned()))
    );
}

/// Reads an answer in chunks to its end.
async fn read_chunks(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    while !text.ends_with(b"\r\n0\r\n\r\n") {
        assert!(
            stream.read_buf(&mut text).await.unwrap() > 0,
            "{}",
            text.escape_ascii()
        );
    }
    String::from_utf8(text).unwrap()
}

const HEAD: &str = "HTTP/1.1\r\nHost: localhost\r\n";

async fn ask(server: &Running, request: &str) -> TcpStream {
    let address = server.url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

async fn rest_of(stream: &mut TcpStream) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    text
}

/// Writes a document while a feed waits.
async fn put_soon(server: &Running, id: &str) {
    server.until_feeds_are(1).await;
    server.put(&format!("/db/{id}"), &json!({})).await;
}

#[tokio::test]
async fn a_connection_is_used_again_after_its_feed() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    let feed = format!("GET /db/_changes?feed=continuous&since=now&limit=1 {HEAD}\r\n");
    let mut stream = ask(&server, &feed).await;
    let (answer, ()) = tokio::join!(read_chunks(&mut stream), put_soon(&server, "a"));
    assert!(
        answer.starts_with("HTTP/1.1 200") && answer.contains("last_seq"),
        "{answer}"
    );
    stream.write_all(feed.as_bytes()).await.unwrap();
    let (answer, ()) = tokio::join!(read_chunks(&mut stream), put_soon(&server, "b"));
    assert!(answer.contains("\"id\":\"b\""), "{answer}");
    // A request that comes while the feed waits is answered after it.
    let longpoll = format!("GET /db/_changes?feed=longpoll&since=now {HEAD}\r\n");
    stream.write_all(longpoll.as_bytes()).await.unwrap();
    server.until_feeds_are(1).await;
    let last = format!("GET /db/b {HEAD}Connection: close\r\n\r\n");
    stream.write_all(last.as_bytes()).await.unwrap();
    let (text, ()) = tokio::join!(rest_of(&mut stream), put_soon(&server, "c"));
    assert!(
        text.contains("last_seq") && text.contains("\"_id\":\"b\""),
        "{text}"
    );
}

#[tokio::test]
async fn a_connection_ends_after_its_feed_where_it_must() {
    let server = Running::start().await;
    server.database("db", &json!([])).await;
    let path = "/db/_changes?feed=longpoll&since=now&timeout=100";
    let mut stream = ask(
        &server,
        &format!("GET {path} {HEAD}Connection: close\r\n\r\n"),
    )
    .await;
    let text = rest_of(&mut stream).await;
    assert!(
        text.contains("connection: close") && text.ends_with("\r\n0\r\n\r\n"),
        "{text}"
    );
    // Before HTTP/1.1 there are no chunks.
    let path = "/db/_changes?feed=continuous&timeout=50";
    let mut stream = ask(&server, &format!("GET {path} HTTP/1.0\r\n\r\n")).await;
    let text = rest_of(&mut stream).await;
    assert!(
        text.contains("last_seq") && !text.contains("chunked"),
        "{text}"
    );
}
