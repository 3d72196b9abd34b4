//! Replications with peers that ask for pauses, end sessions, redirect or send incomplete answers.

use crate::client::{DEADLINE, Running, later, until};
use crate::{front, proxy};
use axum::body::Body;
use axum::extract::Request;
use axum::http::header;
use axum::response::Response;
use futures_util::{StreamExt, stream};
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

fn answer(status: u16, header: (header::HeaderName, &str)) -> Response {
    let body = json!({ "error": "refused", "reason": "by the front" }).to_string();
    let response = Response::builder()
        .status(status)
        .header(header.0, header.1)
        .header(header::CONTENT_TYPE, "application/json");
    response.body(Body::from(body)).expect("a response")
}

async fn pair() -> (Running, Running) {
    let (one, two) = (Running::start().await, Running::start().await);
    one.database("db", &json!([{ "_id": "a" }])).await;
    two.database("db", &json!([])).await;
    (one, two)
}

async fn count(server: &Running) -> u64 {
    let info = server.get("/db").await.json();
    info["doc_count"].as_u64().expect("a number")
}

#[tokio::test]
async fn a_peer_that_asks_for_a_pause_gets_it() {
    let (one, two) = pair().await;
    let attempts = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&attempts);
    let url = front::before(&two.url, move |request: &Request| {
        if !request.uri().path().ends_with("/_bulk_docs") {
            return None;
        }
        let mut noted = noted.lock().expect("no panic");
        noted.push(Instant::now());
        let pause = (header::RETRY_AFTER, "1");
        match noted.len() {
            1 => Some(answer(429, pause)),
            2 => Some(answer(503, pause)),
            _ => None,
        }
    });
    let ask = json!({ "source": "db", "target": format!("{}/db", url.await) });
    let result = one.post("/_replicate", &ask).await;
    assert_eq!(result.status, 200, "{}", result.text());
    assert_eq!(count(&two).await, 1);
    let attempts = attempts.lock().expect("no panic").clone();
    assert_eq!(attempts.len(), 3);
    for pair in attempts.windows(2) {
        // Without the header, the first pause is 250 ms and the second one 500 ms.
        assert!(pair[1] - pair[0] >= Duration::from_secs(1), "{attempts:?}");
    }
}

#[tokio::test]
async fn a_peer_that_always_asks_for_a_pause_ends_a_replication() {
    let (one, two) = pair().await;
    let url = front::before(&two.url, move |request: &Request| {
        let is_write = request.uri().path().ends_with("/_bulk_docs");
        is_write.then(|| answer(429, (header::RETRY_AFTER, "0")))
    });
    let target = format!("{}/db", url.await);
    let ask = json!({ "source": "db", "target": target, "retries_per_request": 2 });
    let result = one.post("/_replicate", &ask).await;
    assert_eq!(result.status, 500, "{}", result.text());
    assert!(result.text().contains("429"), "{}", result.text());
    assert_eq!(count(&two).await, 0);
}

#[tokio::test]
async fn a_session_that_ends_in_the_middle_is_begun_again() {
    let (one, two) = pair().await;
    // Sessions that were begun, those that ended, and requests that were refused for that.
    let [begun, ended, refused] = [(); 3].map(|()| Arc::new(AtomicUsize::new(0)));
    let counters = [&begun, &ended, &refused].map(Arc::clone);
    let url = front::before(&two.url, move |request: &Request| {
        let [begun, ended, refused] = &counters;
        if request.uri().path() == "/_session" {
            let number = begun.fetch_add(1, Ordering::SeqCst) + 1;
            let cookie = format!("AuthSession={number}; Path=/; Max-Age=100");
            return Some(answer(200, (header::SET_COOKIE, &cookie)));
        }
        let cookie = request.headers().get(header::COOKIE);
        let session = cookie.and_then(|cookie| cookie.to_str().ok()?.strip_prefix("AuthSession="));
        let session = session.and_then(|number| number.parse::<usize>().ok());
        if session.is_some_and(|number| number > ended.load(Ordering::SeqCst)) {
            return None;
        }
        refused.fetch_add(1, Ordering::SeqCst);
        Some(answer(401, (header::CACHE_CONTROL, "no-store")))
    });
    let target = url.await.replace("http://", "http://anna:secret@") + "/db";
    let ask = json!({ "source": "db", "target": target, "continuous": true });
    assert_eq!(one.post("/_replicate", &ask).await.status, 202);
    until("the first document", async || count(&two).await == 1).await;
    assert_eq!(begun.load(Ordering::SeqCst), 1);
    // A peer that refuses a new cookie at once is not asked for another one: the session gets older first.
    later(Duration::from_secs(6)).await;
    ended.store(1, Ordering::SeqCst);
    one.put("/db/b", &json!({})).await;
    until("the second document", async || count(&two).await == 2).await;
    assert_eq!(begun.load(Ordering::SeqCst), 2);
    assert_eq!(refused.load(Ordering::SeqCst), 1);
    // Before the cookie's own end it is renewed without a refusal.
    later(Duration::from_secs(95)).await;
    one.put("/db/c", &json!({})).await;
    until("the third document", async || count(&two).await == 3).await;
    assert_eq!(begun.load(Ordering::SeqCst), 3);
    assert_eq!(refused.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_redirect_is_refused_and_named() {
    let (one, two) = pair().await;
    let reached = Arc::new(AtomicUsize::new(0));
    let noted = Arc::clone(&reached);
    let elsewhere = front::before(&two.url, move |_: &Request| {
        noted.fetch_add(1, Ordering::SeqCst);
        None
    });
    let elsewhere = elsewhere.await;
    for (path, name) in [("/db", "the database"), ("/db/_revs_diff", "a request")] {
        for status in [301, 302, 303, 307, 308] {
            let to = format!("{elsewhere}{path}");
            let url = front::before(&two.url, move |request: &Request| {
                match request.uri().path().trim_end_matches('/') {
                    // The password goes with every request then.
                    "/_session" => Some(answer(404, (header::CACHE_CONTROL, "no-store"))),
                    asked if asked == path => Some(answer(status, (header::LOCATION, &to))),
                    _ => None,
                }
            });
            let target = url.await.replace("http://", "http://anna:secret@") + "/db";
            let ask = json!({ "source": "db", "target": target });
            let result = one.post("/_replicate", &ask).await;
            assert_eq!(result.status, 500, "{name}, {status}: {}", result.text());
            let text = result.text();
            assert!(text.contains("redirects are not followed"), "{text}");
            assert!(
                text.contains(&elsewhere) && !text.contains("secret"),
                "{text}"
            );
        }
    }
    assert_eq!(reached.load(Ordering::SeqCst), 0, "nobody was asked there");
    assert_eq!(count(&two).await, 0);
}

/// A source in front of a server, which says of its first reads of revisions that there are none.
async fn forgetful(
    source: &Running,
    id: &str,
    rev: &str,
    reads: usize,
) -> (String, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    let error = json!({ "id": id, "rev": rev, "error": "not_found", "reason": "missing" });
    let none = json!({ "results": [{ "id": id, "docs": [{ "error": error }] }] });
    let file = format!("/db/{id}");
    let url = front::before(&source.url, move |request: &Request| {
        let path = request.uri().path();
        let is_bulk = path.ends_with("/_bulk_get");
        if !is_bulk && path != file {
            return None;
        }
        if counter.fetch_add(1, Ordering::SeqCst) >= reads {
            return None;
        }
        match is_bulk {
            true => Some(Response::new(Body::from(none.to_string()))),
            false => Some(answer(404, (header::CACHE_CONTROL, "no-store"))),
        }
    });
    (url.await, asked)
}

#[tokio::test]
async fn a_revision_that_the_source_lists_before_it_has_it_is_read_again() {
    let (one, two) = (Running::start().await, Running::start().await);
    two.database("db", &json!([])).await;
    let written = one.database("db", &json!([{ "_id": "a" }])).await;
    let rev = written[0]["rev"].as_str().expect("a revision");
    let (url, asked) = forgetful(&one, "a", rev, 2).await;
    let ask = json!({ "source": format!("{url}/db"), "target": "db" });
    let result = two.post("/_replicate", &ask).await;
    assert_eq!(result.status, 200, "{}", result.text());
    assert_eq!(asked.load(Ordering::SeqCst), 3);
    let session = &result.json()["history"][0];
    assert_eq!(
        (&session["docs_read"], &session["docs_written"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(count(&two).await, 1);
    // A document with an attachment is read by itself, after `_bulk_get`.
    let put = one
        .ask("PUT", "/db/b/file")
        .body("image/x", "x")
        .send()
        .await;
    let put = put.json();
    let rev = put["rev"].as_str().expect("a revision");
    let (url, asked) = forgetful(&one, "b", rev, 3).await;
    let ask = json!({ "source": format!("{url}/db"), "target": "db", "use_bulk_get": false });
    let result = two.post("/_replicate", &ask).await;
    assert_eq!(result.status, 200, "{}", result.text());
    assert!(asked.load(Ordering::SeqCst) > 3);
    assert_eq!(two.get("/db/b/file").await.text(), "x");
}

#[tokio::test]
async fn a_revision_that_cannot_be_read_fails_the_replication() {
    let (one, two) = (Running::start().await, Running::start().await);
    two.database("db", &json!([])).await;
    let written = one.database("db", &json!([{ "_id": "a" }])).await;
    let rev = written[0]["rev"].as_str().expect("a revision");
    let (url, _) = forgetful(&one, "a", rev, usize::MAX).await;
    let ask = json!({ "source": format!("{url}/db"), "target": "db" });
    let result = two.post("/_replicate", &ask).await;
    assert_eq!(result.status, 500, "{}", result.text());
    let reason = format!("revision {rev} of the document `a` is in the changes feed");
    assert!(result.text().contains(&reason), "{}", result.text());
    // The next one begins before it.
    let ask = json!({ "source": format!("{}/db", one.url), "target": "db" });
    assert_eq!(two.post("/_replicate", &ask).await.status, 200);
    assert_eq!(count(&two).await, 1);
}

/// An answer with a JSON body.
fn json_answer(body: &serde_json::Value) -> Response {
    Response::new(Body::from(body.to_string()))
}

#[tokio::test]
async fn a_source_that_is_written_to_all_the_time_does_not_keep_a_replication_from_its_end() {
    let (one, two) = (Running::start().await, Running::start().await);
    two.database("db", &json!([])).await;
    let written = one.database("db", &json!([{ "_id": "a" }])).await;
    let rev = written[0]["rev"].clone();
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    let url = front::before(&one.url, move |request: &Request| {
        if request.uri().path() != "/db/_changes" {
            return None;
        }
        // With every request there is one more change. The source cuts its first answer short.
        let number = counter.fetch_add(1, Ordering::SeqCst) + 1;
        let change = json!({ "seq": number, "id": "a", "changes": [{ "rev": rev }] });
        let pending = usize::from(number == 1);
        let page = json!({ "results": [change], "last_seq": number, "pending": pending });
        Some(json_answer(&page))
    });
    let ask = json!({ "source": format!("{}/db", url.await), "target": "db" });
    let result = tokio::time::timeout(DEADLINE, two.post("/_replicate", &ask)).await;
    let result = result.expect("an end");
    assert_eq!(result.status, 200, "{}", result.text());
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    assert_eq!(result.json()["source_last_seq"], 2);
}

#[tokio::test]
async fn revisions_that_an_answer_leaves_out_are_read_again() {
    let (one, two) = pair().await;
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    let url = front::before(&one.url, move |request: &Request| {
        let is_read = request.uri().path().ends_with("/_bulk_get");
        let empty = [
            json!({ "results": [] }),
            json!({ "results": [{ "id": "a", "docs": [] }] }),
        ];
        let number = is_read.then(|| counter.fetch_add(1, Ordering::SeqCst))?;
        empty.get(number).map(json_answer)
    });
    let ask = json!({ "source": format!("{}/db", url.await), "target": "db" });
    let result = two.post("/_replicate", &ask).await;
    assert_eq!(result.status, 200, "{}", result.text());
    assert_eq!(asked.load(Ordering::SeqCst), 3);
    assert_eq!(count(&two).await, 1);
}

#[tokio::test]
async fn a_cut_answer_is_asked_for_again() {
    let (one, two) = pair().await;
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    let url = front::before(&one.url, move |request: &Request| {
        let is_cut = request.uri().path().ends_with("/_bulk_get")
            && counter.fetch_add(1, Ordering::SeqCst) == 0;
        // The header is sent before the connection is closed.
        let begun = stream::once(async { Ok("{\"results\":[") });
        let cut = stream::once(async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            Err(std::io::Error::other("cut"))
        });
        is_cut.then(|| Response::new(Body::from_stream(begun.chain(cut))))
    });
    let ask = json!({ "source": format!("{}/db", url.await), "target": "db" });
    let result = two.post("/_replicate", &ask).await;
    assert_eq!(result.status, 200, "{}", result.text());
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    assert_eq!(count(&two).await, 1);
}

#[tokio::test]
async fn a_log_in_that_fails_for_a_moment_is_tried_again() {
    let (one, two) = pair().await;
    let with_cookie = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&with_cookie);
    let url = front::before(&two.url, move |request: &Request| {
        if request.uri().path() == "/_session" {
            let cookie = (header::SET_COOKIE, "AuthSession=a; Path=/; Max-Age=100");
            return Some(answer(200, cookie));
        }
        let has_cookie = request.headers().contains_key(header::COOKIE);
        counter.fetch_add(usize::from(has_cookie), Ordering::SeqCst);
        None
    });
    // The connection of the log-in is closed.
    let address = url.await.replace("http://", "");
    let address = proxy::cutting(address, vec![1]).await;
    let target = format!("http://anna:secret@{address}/db");
    let ask = json!({ "source": "db", "target": target });
    let result = one.post("/_replicate", &ask).await;
    assert_eq!(result.status, 200, "{}", result.text());
    assert_eq!(count(&two).await, 1);
    assert_ne!(with_cookie.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_filtered_feed_ends_before_the_timeout_of_its_connection() {
    let (one, two) = (Running::start().await, Running::start().await);
    two.database("db", &json!([])).await;
    let filters = json!({ "all": "function () { return true; }" });
    one.database("db", &json!([{ "_id": "_design/d", "filters": filters }]))
        .await;
    let asked = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&asked);
    let url = front::before(&one.url, move |request: &Request| {
        let query = request.uri().query().unwrap_or_default().to_owned();
        if query.contains("feed=longpoll") {
            noted.lock().expect("no panic").push(query);
        }
        None
    });
    let ask = json!({
        "source": format!("{}/db", url.await), "target": "db",
        "filter": "d/all", "continuous": true, "connection_timeout": 1500,
    });
    assert_eq!(two.post("/_replicate", &ask).await.status, 202);
    until("a feed that waits", async || {
        !asked.lock().expect("no panic").is_empty()
    })
    .await;
    let query = asked.lock().expect("no panic")[0].clone();
    assert!(query.contains("&timeout=500&"), "{query}");
}

#[tokio::test]
async fn a_document_that_the_source_refuses_to_give_is_not_left_out() {
    let (one, two) = (Running::start().await, Running::start().await);
    for server in [&one, &two] {
        server.database("db", &json!([])).await;
    }
    one.ask("PUT", "/db/a/file")
        .body("image/x", "x")
        .send()
        .await;
    let url = front::before(&one.url, move |request: &Request| {
        let is_read = request.uri().path() == "/db/a";
        is_read.then(|| answer(403, (header::CACHE_CONTROL, "no-store")))
    });
    let ask = json!({ "source": format!("{}/db", url.await), "target": "db" });
    let result = two.post("/_replicate", &ask).await;
    assert_eq!(result.status, 500, "{}", result.text());
    assert!(result.text().contains("403"), "{}", result.text());
    assert_eq!(count(&two).await, 0);
}
