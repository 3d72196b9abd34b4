//! The memory of the server while large requests arrive and large answers are read: the real program.
//!
//! The bodies have 96 MiB. `INORDER_TEST_BODY_MIB=4096 cargo test -p inorder-couch --test large_requests -- --nocapture` sends others.

#[path = "common/serving.rs"]
mod serving;

use base64::{Engine, engine::general_purpose::STANDARD};
use reqwest::Body;
use serde_json::Value;
use serving::Serving;
use std::fs;
use std::time::{Duration, Instant};

const MIB: u64 = 1 << 20;

/// The memory that a large request may take in addition.
const MORE_BYTES_MAX: u64 = 64 * MIB;

/// One test after the other.
static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

impl Serving {
    /// Starts it with a database.
    async fn with_database() -> Self {
        let serving = Serving::start();
        let made = serving.client.put(format!("{}/db", serving.url)).send();
        assert_eq!(made.await.unwrap().status(), 201);
        serving
    }

    /// Resident memory now, in bytes.
    fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|line| line.split_whitespace().next());
        number.unwrap().parse::<u64>().unwrap() << 10
    }

    async fn bulk(&self, name: &str, body_bytes: u64, attachment_bytes: usize) {
        let request = self.client.post(format!("{}/db/_bulk_docs", self.url));
        let body = push(name.to_owned(), body_bytes, attachment_bytes);
        let request = request
            .header("content-type", "application/json")
            .body(body);
        let answer = request.send().await.unwrap();
        let (status, text) = (answer.status(), answer.text().await.unwrap());
        assert_eq!((status.as_u16(), text.as_str()), (201, "[]\n"));
    }
}

/// The size of a large body, in bytes.
fn body_bytes() -> u64 {
    let given = std::env::var("INORDER_TEST_BODY_MIB");
    given.map_or(96, |mib| mib.parse().unwrap()) * MIB
}

/// A push as PouchDB sends it: documents with an attachment each, `new_edits` after them.
fn push(name: String, body_bytes: u64, attachment_bytes: usize) -> Body {
    let piece = STANDARD.encode(vec![7; 48 << 10]);
    let data_bytes = (attachment_bytes / (48 << 10)).max(1);
    let document_bytes = (data_bytes * piece.len()) as u64;
    let documents = (body_bytes / document_bytes).max(1);
    let pieces = (0..documents).flat_map(move |number| {
        let before = if number == 0 { "{\"docs\":[" } else { "," };
        let head = format!(
            "{before}{{\"_id\":\"{name}-{number}\",\"_rev\":\"1-abc\",\"text\":\"a note\",\"_attachments\":{{\"photo.jpg\":{{\"content_type\":\"image/jpeg\",\"data\":\""
        );
        let number = STANDARD.encode(format!("{name:>8.8}{number:016}"));
        let tail = "\"}}}".to_owned();
        let data = std::iter::once(number).chain(std::iter::repeat_n(piece.clone(), data_bytes));
        std::iter::once(head).chain(data).chain([tail])
    });
    let end = std::iter::once("],\"new_edits\":false}".to_owned());
    let pieces = pieces.chain(end).map(Ok::<_, std::io::Error>);
    Body::wrap_stream(futures_util::stream::iter(pieces))
}

/// Runs work and returns the memory that the server took in addition at most, and at each second.
async fn measured(serving: &Serving, work: impl Future<Output = ()>) -> (u64, Vec<u64>) {
    let before = serving.memory();
    let (mut most, mut over_time) = (0, Vec::new());
    let begin = Instant::now();
    tokio::pin!(work);
    loop {
        tokio::select! {
            () = &mut work => break,
            () = tokio::time::sleep(Duration::from_millis(20)) => {
                let more = serving.memory().saturating_sub(before);
                most = most.max(more);
                if begin.elapsed().as_secs() >= over_time.len() as u64 {
                    over_time.push(more / MIB);
                }
            }
        }
    }
    (most.max(serving.memory().saturating_sub(before)), over_time)
}

fn report(what: &str, bytes: u64, (most, over_time): (u64, Vec<u64>), bytes_max: u64) {
    let (most_mib, mib) = (most / MIB, bytes / MIB);
    println!("{what}, {mib} MiB: at most {most_mib} MiB more; each second: {over_time:?}");
    assert!(most <= bytes_max, "{what}: {most_mib} MiB more");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_push_takes_little_memory() {
    let _turn = TURN.lock().await;
    let serving = Serving::with_database().await;
    let bytes = body_bytes();
    // The small one first: what a request takes in any case is not counted.
    serving.bulk("warm", 8 * MIB, 1 << 20).await;
    for (name, attachment_bytes) in [("photos", 1 << 20), ("one", 64 << 20)] {
        let work = serving.bulk(name, bytes, attachment_bytes);
        report(name, bytes, measured(&serving, work).await, MORE_BYTES_MAX);
    }
    let info = serving.client.get(format!("{}/db", serving.url)).send();
    let info: Value = serde_json::from_str(&info.await.unwrap().text().await.unwrap()).unwrap();
    println!("documents: {}", info["doc_count"]);
    assert!(info["doc_count"].as_u64().unwrap() > bytes / (2 * MIB));
}

#[tokio::test(flavor = "multi_thread")]
async fn four_large_pushes_at_once_arrive() {
    let _turn = TURN.lock().await;
    let serving = Serving::with_database().await;
    serving.bulk("warm", 8 * MIB, 1 << 20).await;
    let bytes = body_bytes() / 4;
    let work = async {
        tokio::join!(
            serving.bulk("a", bytes, 1 << 20),
            serving.bulk("b", bytes, 8 << 20),
            serving.bulk("c", bytes, 48 << 10),
            serving.bulk("d", bytes, 64 << 20),
        );
    };
    let measured = measured(&serving, work).await;
    report("four at once", 4 * bytes, measured, MORE_BYTES_MAX);
}

/// Reads the document that way, the answer up to `bytes_max` bytes. Returns the number of bytes that came.
async fn read(serving: &Serving, path: &str, bytes_max: u64) -> (reqwest::Response, u64) {
    let request = match path.starts_with("_bulk_get") {
        true => serving
            .client
            .post(format!("{}/db/{path}", serving.url))
            .header("content-type", "application/json")
            .body("{\"docs\":[{\"id\":\"read-0\"}]}"),
        false => serving.client.get(format!("{}/db/{path}", serving.url)),
    };
    let request = request.header("accept", "application/json");
    let mut response = request.send().await.unwrap();
    assert_eq!(response.status(), 200);
    let mut bytes = 0;
    while bytes < bytes_max
        && let Some(piece) = response.chunk().await.unwrap()
    {
        bytes += piece.len() as u64;
    }
    (response, bytes)
}

#[tokio::test(flavor = "multi_thread")]
async fn attachments_in_json_take_little_memory_when_they_are_read_or_not() {
    let _turn = TURN.lock().await;
    let serving = Serving::with_database().await;
    let attachment_bytes = body_bytes().min(900 * MIB) as usize * 2 / 3;
    serving.bulk("read", MIB, attachment_bytes).await;
    let ways = [
        "read-0?attachments=true",
        "read-0?open_revs=all&attachments=true",
        "_all_docs?include_docs=true&attachments=true",
        "_changes?include_docs=true&attachments=true",
        "_bulk_get?attachments=true",
    ];
    let least = attachment_bytes as u64;
    let serving = &serving;
    let work = async {
        for ways in ways.chunks(2) {
            let reads = ways.iter().map(|way| async move {
                assert!(read(serving, way, u64::MAX).await.1 > least, "{way}");
            });
            futures_util::future::join_all(reads).await;
        }
    };
    let measured_reads = measured(serving, work).await;
    report("reads", 5 * least, measured_reads, MORE_BYTES_MAX);
    let work = async {
        let reads = ways
            .iter()
            .cycle()
            .take(10)
            .map(|way| read(serving, way, 1));
        let held = futures_util::future::join_all(reads).await;
        tokio::time::sleep(Duration::from_secs(2)).await;
        drop(held);
    };
    let measured_held = measured(serving, work).await;
    report(
        "ten that do not read",
        10 * least,
        measured_held,
        MORE_BYTES_MAX,
    );
}
