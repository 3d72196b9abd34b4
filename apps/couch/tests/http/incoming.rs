//! Documents with attachments in their JSON, read while they arrive.

use crate::client::{Answer, Running};
use base64::{Engine, engine::general_purpose::STANDARD};
use inorder_couch::auth::Auth;
use inorder_couch::http::ServerSettings;
use inorder_couch::store::{Databases, Edit, Limits, Settings};
use serde_json::{Value, json};
use std::io::Write;

/// Sizes around those at which an attachment is kept, stored while it arrives, and written in several parts.
const SIZES: [usize; 9] = [
    0,
    1,
    2,
    3,
    1000,
    (64 << 10) - 1,
    (64 << 10) + 1,
    1 << 20,
    (2 << 20) + 7,
];

/// A server with little memory for bodies.
async fn server() -> Running {
    let settings = ServerSettings {
        body_bytes_max: 300_000,
        bodies_bytes_max: 16 << 20,
        ..ServerSettings::default()
    };
    let server = Running::start_with(Auth::new(None, b""), settings).await;
    server.database("db", &json!([])).await;
    server
}

/// Bytes that compress only a little, different for each seed.
fn bytes(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    let next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        b'a' + (state >> 59) as u8
    };
    std::iter::repeat_with(next).take(count).collect()
}

/// The ways in which base64 is written in JSON.
fn encoded(bytes: &[u8], way: usize) -> String {
    let plain = STANDARD.encode(bytes);
    match way % 4 {
        0 => plain,
        1 => plain.replace('/', "\\/").replace('=', "\\u003d"),
        2 => {
            let lines: Vec<&str> = plain
                .as_bytes()
                .chunks(76)
                .map(|line| std::str::from_utf8(line).unwrap())
                .collect();
            lines.join("\\r\\n")
        }
        _ => plain.replacen('A', "\\u0041", 3),
    }
}

/// A document with attachments of several sizes, with the members in one of several orders.
fn document(number: usize) -> (String, Vec<(String, Vec<u8>)>) {
    let types = ["image/png", "text/plain", ""];
    let mut members = Vec::new();
    let mut attachments = Vec::new();
    for at in 0..3 {
        let size = SIZES[(number * 2 + at * 4) % SIZES.len()];
        let content = bytes((number * 3 + at) as u64, size);
        let data = encoded(&content, number + at);
        let name = format!("file {at}");
        let content_type = types[(number + at) % types.len()];
        let typed = match content_type {
            "" => "\"revpos\":1".to_owned(),
            content_type => format!("\"content_type\" : \"{content_type}\""),
        };
        let member = match (number + at) % 2 {
            0 => format!("\"{name}\":{{{typed},\"data\":\"{data}\"}}"),
            _ => format!("\"{name}\" : {{ \"d\\u0061ta\" : \"{data}\" , {typed} }}"),
        };
        members.push(member);
        attachments.push((name, content));
    }
    let attached = format!("\"_attachments\": {{{}}}", members.join(",\n"));
    let own = format!("\"_id\":\"doc-{number}\", \"data\":\"no data\", \"n\": {number}");
    let text = match number % 2 {
        0 => format!("{{{own}, {attached}}}"),
        _ => format!(" {{ {attached} , {own} }} "),
    };
    (text, attachments)
}

/// The body in pieces of so many bytes.
fn pieces(body: Vec<u8>, piece_bytes: usize) -> reqwest::Body {
    let pieces: Vec<Result<Vec<u8>, std::io::Error>> = body
        .chunks(piece_bytes)
        .map(|piece| Ok(piece.to_vec()))
        .collect();
    reqwest::Body::wrap_stream(futures_util::stream::iter(pieces))
}

fn packed(body: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(body).unwrap();
    packer.finish().unwrap()
}

/// The revisions that the store gives the same documents when it has them whole.
async fn expected_revisions(documents: &[String]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let databases = Databases::open(folder.path(), Settings::default()).unwrap();
    let db = databases.create("db").unwrap();
    let mut revisions = Vec::new();
    for text in documents {
        let edit = Edit::from_json(text, &Limits::default()).unwrap();
        let written = db.put(edit).await.unwrap().unwrap();
        revisions.push(written.revision.to_string());
    }
    revisions
}

async fn has_attachments(server: &Running, id: &str, attachments: &[(String, Vec<u8>)]) {
    for (name, content) in attachments {
        let path = format!("/db/{id}/{}", name.replace(' ', "%20"));
        let read = server.get(&path).await;
        assert_eq!(read.status, 200, "{path}");
        assert!(read.body == *content, "{path}: {} bytes", read.body.len());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_that_arrive_in_pieces_are_those_that_come_whole() {
    let documents: Vec<_> = (0..9).map(document).collect();
    let texts: Vec<String> = documents.iter().map(|(text, _)| text.clone()).collect();
    let revisions = expected_revisions(&texts).await;
    for (turn, piece_bytes) in [977, 70_000, usize::MAX].into_iter().enumerate() {
        let server = server().await;
        let (head, tail) = [
            ("{\"docs\" : [", "] , \"new_edits\":true} "),
            ("\n{\"new_edits\":true,\"x\":{\"y\":[1,2]},\"docs\":[", "]}"),
            ("{\"docs\":[", "]}"),
        ][turn];
        let body = [head, &texts.join(" ,"), tail].concat().into_bytes();
        let ask = server.ask("POST", "/db/_bulk_docs");
        let written = match turn {
            0 => ask.body("application/json", pieces(body, piece_bytes)),
            1 => {
                let body = pieces(packed(&body), piece_bytes);
                let ask = ask.header("content-encoding", "gzip");
                ask.body("application/json", body)
            }
            _ => ask.body("application/json", body),
        };
        let written = written.send().await;
        assert_eq!(written.status, 201, "{}", written.text());
        let rows = written.json();
        let found: Vec<&str> = rows
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["rev"].as_str().unwrap())
            .collect();
        assert_eq!(found, revisions, "turn {turn}");
        for (number, (_, attachments)) in documents.iter().enumerate() {
            has_attachments(&server, &format!("doc-{number}"), attachments).await;
        }
        // The same one by one.
        for (number, (text, _)) in documents.iter().enumerate() {
            let again = text.replace(&format!("doc-{number}\""), &format!("one-{number}\""));
            let path = format!("/db/one-{number}");
            let ask = server.ask("PUT", &path);
            let body = pieces(again.into_bytes(), piece_bytes.min(1 << 20));
            let written = ask.body("application/json", body).send().await;
            assert_eq!(written.status, 201, "{}", written.text());
            assert_eq!(written.json()["rev"], revisions[number].as_str());
        }
        server.stop.cancel();
    }
}

/// A body that is wrong only at its end.
struct Wrong {
    name: &'static str,
    end: &'static str,
    status: u16,
}

const WRONGS: &[Wrong] = &[
    Wrong {
        name: "no JSON",
        end: ",{\"a\":}]}",
        status: 400,
    },
    Wrong {
        name: "cut",
        end: ",{\"a\":1",
        status: 400,
    },
    Wrong {
        name: "an id",
        end: ",{\"_id\":\"_x\"}]}",
        status: 400,
    },
    Wrong {
        name: "a member",
        end: ",{\"_x\":1}]}",
        status: 400,
    },
    Wrong {
        name: "no base64",
        end: ",{\"_attachments\":{\"a\":{\"data\":\"YQ=\"}}}]}",
        status: 400,
    },
    Wrong {
        name: "a control character in base64",
        end: ",{\"_attachments\":{\"a\":{\"data\":\"YQ=\n=\"}}}]}",
        status: 400,
    },
    Wrong {
        name: "something after it",
        end: "]}x",
        status: 400,
    },
    Wrong {
        name: "no revision",
        end: "],\"new_edits\":false}",
        status: 400,
    },
    Wrong {
        name: "no array",
        end: "],\"docs\":1}",
        status: 400,
    },
    Wrong {
        name: "all or nothing",
        end: "],\"all_or_nothing\":true}",
        status: 417,
    },
];

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_refused_at_its_end_writes_nothing() {
    let server = server().await;
    let note = format!("{{\"text\":\"{}\"}}", "x".repeat(100_000));
    for wrong in WRONGS {
        for notes in [1, 60] {
            let docs: Vec<&str> = vec![&note; notes];
            let body = format!("{{\"docs\":[{}{}", docs.join(","), wrong.end);
            let ask = server.ask("POST", "/db/_bulk_docs");
            let body = pieces(body.into_bytes(), 50_000);
            let refused = ask.body("application/json", body).send().await;
            assert_eq!(refused.status, wrong.status, "{}", wrong.name);
            refused.json();
        }
    }
    let info = server.get("/db").await.json();
    assert_eq!(info["doc_count"], 0);
    assert!(info["update_seq"].as_str().unwrap().starts_with("0-"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_limits_of_the_configuration_hold_however_a_document_comes() {
    const CONFIG: &str = "/_node/_local/_config";
    let server = server().await;
    let set = async |key: &str, value: &str| {
        let set = server.put(&format!("{CONFIG}/{key}"), &json!(value)).await;
        assert_eq!(set.status, 200);
    };
    set("couchdb/max_attachment_size", "100000").await;
    set("couchdb/max_document_size", "50000").await;
    set("chttpd/max_http_request_size", "2000000").await;
    let attached = |bytes: usize| {
        let data = STANDARD.encode(vec![b'x'; bytes]);
        json!({ "_attachments": { "a": { "content_type": "text/plain", "data": data } } })
    };
    let text = |bytes: usize| json!({ "text": "x".repeat(bytes) });
    let many = |bytes: usize| Value::from(vec![text(40_000); bytes / 40_000]);
    let cases = [
        (attached(100_000), 201),
        (attached(100_001), 413),
        (attached(2000), 201),
        (text(49_000), 201),
        (text(51_000), 413),
        (attached(1_600_000), 413),
    ];
    let mut number = 0;
    for (document, status) in &cases {
        number += 1;
        let one = async |ask: crate::client::Ask, is_chunked: bool, body: &Value| -> Answer {
            let body = body.to_string().into_bytes();
            match is_chunked {
                true => {
                    ask.body("application/json", pieces(body, 9000))
                        .send()
                        .await
                }
                false => ask.body("application/json", body).send().await,
            }
        };
        for is_chunked in [false, true] {
            let bulk = json!({ "docs": [document, {}] });
            let path = format!("/db/{number}-{is_chunked}");
            for (method, path, body) in [
                ("PUT", path.as_str(), document),
                ("POST", "/db", document),
                ("POST", "/db/_bulk_docs", &bulk),
            ] {
                let answer = one(server.ask(method, path), is_chunked, body).await;
                assert_eq!(answer.status, *status, "{number} {method} {path}");
            }
        }
        let related = [
            "--b\r\nContent-Type: application/json\r\n\r\n",
            &document.to_string(),
            "\r\n--b--",
        ];
        let ask = server.ask("PUT", &format!("/db/{number}-related"));
        let body = ask.body("multipart/related; boundary=b", related.concat());
        assert_eq!(body.send().await.status, *status, "{number} related");
    }
    for is_chunked in [false, true] {
        let body = json!({ "docs": many(2_100_000) }).to_string().into_bytes();
        let ask = server.ask("POST", "/db/_bulk_docs");
        let answer = match is_chunked {
            true => ask.body("application/json", pieces(body, 9000)),
            false => ask.body("application/json", body),
        };
        assert_eq!(answer.send().await.error(), (413, "too_large".into()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_documents_are_answered_in_their_order() {
    let server = server().await;
    let docs: Vec<Value> = (0..12_000)
        .map(|n| match n % 3 {
            0 => json!({ "_id": format!("{:05}", n * 7919 % 12_000), "n": n }),
            1 => json!({ "_id": "same", "n": n }),
            _ => json!({ "n": n, "text": "x".repeat(n % 900) }),
        })
        .collect();
    let written = server
        .post("/db/_bulk_docs", &json!({ "docs": docs }))
        .await;
    let rows = written.json();
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), docs.len());
    for (n, (doc, row)) in docs.iter().zip(rows).enumerate() {
        if let Some(id) = doc["_id"].as_str() {
            assert_eq!(row["id"], id);
        }
        let is_conflict = row["error"] == "conflict";
        assert_eq!(is_conflict, n % 3 == 1 && n > 1, "{row}");
        let read = match n % 1999 {
            0 if !is_conflict => {
                server
                    .get(&format!("/db/{}", row["id"].as_str().unwrap()))
                    .await
            }
            _ => continue,
        };
        assert_eq!(read.json()["n"], n);
    }
    // Replicated, the answer lists failures only.
    let docs: Vec<Value> = (0..9000)
        .map(|n| json!({ "_id": format!("r{n}"), "_rev": "1-a", "text": "x".repeat(1000) }))
        .collect();
    let body = json!({ "docs": docs, "new_edits": false });
    let written = server.post("/db/_bulk_docs", &body).await;
    assert_eq!((written.status.as_u16(), written.text()), (201, "[]\n"));
    let empty = server.post("/db/_bulk_docs", &json!({ "docs": [] })).await;
    assert_eq!((empty.status.as_u16(), empty.text()), (201, "[]\n"));
}

/// Leaves of one document in a request.
const LEAVES: usize = 20_000;

#[tokio::test(flavor = "multi_thread")]
async fn many_leaves_of_one_document_hold_up_nobody() {
    for with_function in [false, true] {
        let server = server().await;
        if with_function {
            let design = json!({ "validate_doc_update": "function (doc) { if (doc.n === 7) throw { forbidden: \"7\" } }" });
            assert_eq!(server.put("/db/_design/app", &design).await.status, 201);
        }
        // A slow machine has no time for more calls of a function in a request.
        let count = if with_function { LEAVES / 20 } else { LEAVES };
        let leaf = |n: usize| {
            let hash = format!("{:032x}", n * 7919 % count);
            let ids = json!([hash, "0"]);
            json!({ "_id": "one", "_revisions": { "start": 2, "ids": ids }, "n": n })
        };
        let docs: Vec<Value> = (0..count).map(leaf).collect();
        let body = json!({ "docs": docs, "new_edits": false });
        let begin = std::time::Instant::now();
        let is_done = std::sync::atomic::AtomicBool::new(false);
        let push = async {
            let written = server.post("/db/_bulk_docs", &body).await;
            is_done.store(true, std::sync::atomic::Ordering::Relaxed);
            (written, begin.elapsed())
        };
        let others = async {
            let (mut number, mut longest) = (0, std::time::Duration::ZERO);
            while !is_done.load(std::sync::atomic::Ordering::Relaxed) {
                let begin = std::time::Instant::now();
                let put = server.put(&format!("/db/other-{number}"), &json!({})).await;
                assert_eq!(put.status, 201);
                (number, longest) = (number + 1, longest.max(begin.elapsed()));
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
            longest
        };
        let ((written, time), longest) = tokio::join!(push, others);
        println!("{count} leaves, function {with_function}: {time:?}; others waited {longest:?}");
        let refused = written.json().as_array().unwrap().len();
        assert_eq!(
            (written.status.as_u16(), refused),
            (201, usize::from(with_function))
        );
        let read = server.get("/db/one?conflicts=true").await.json();
        let conflicts = read["_conflicts"].as_array().unwrap().len();
        assert_eq!(conflicts + 1 + refused, count);
        assert!(time < std::time::Duration::from_secs(90), "{time:?}");
        assert!(longest < std::time::Duration::from_secs(6), "{longest:?}");
    }
}
