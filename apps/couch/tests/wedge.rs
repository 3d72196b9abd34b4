//! Functions of design documents that never return: each is ended, other writes to the same database are not delayed, and the
//! server stops. The real program, and built-ins that hold QuickJS up for long without looking at its clock.

#[path = "common/serving.rs"]
mod serving;

use serde_json::{Value, json};
use serving::Serving;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Calls that never return, by the built-in function.
const ENDLESS: &[(&str, &str)] = &[
    ("loop", "for (;;);"),
    (
        "indexOf",
        "var s = 'a'.repeat(20000000); for (;;) s.indexOf('b')",
    ),
    ("regex", "/^(a+)+$/.test('a'.repeat(60) + 'b')"),
    (
        "sort",
        "var a = Array.from({length: 1e6}, (_, i) => i * 7919 % 1000003); for (;;) a.slice().sort((x, y) => x - y)",
    ),
    (
        "join",
        "var a = new Array(1e6).fill('abc'); for (;;) a.join('-')",
    ),
    (
        "stringify",
        "var o = new Array(3e5).fill({a: [1, 2, {b: 'text'}]}); for (;;) JSON.stringify(o)",
    ),
    ("pad", "for (;;) 'x'.padStart(2e7, 'abc').repeat(1)"),
    (
        "replace",
        "var s = 'ab'.repeat(3e6); for (;;) s.replace(/a/g, 'c')",
    ),
    ("bigint", "3n ** (2n ** 24n) % 7n; for (;;) 3n ** 3000000n"),
    ("fill", "for (;;) new Array(2e6).fill(0)"),
    (
        "set",
        "var a = Array.from({length: 3e5}, (_, i) => i); for (;;) new Set(a)",
    ),
    (
        "typed",
        "var a = new Float64Array(3e6); for (;;) { a.fill(1.5); a.sort(); a.indexOf(2) }",
    ),
    (
        "proxy",
        "Object.keys(new Proxy({}, {ownKeys() { for (;;); }}))",
    ),
    ("eval", "(0, eval)('for (;;);')"),
    (
        "normalize",
        "var s = '\\u1e9b\\u0323'.repeat(1e6); for (;;) s.normalize('NFKD')",
    ),
];

/// So many at a time are given all their time: a database has places for 12 slow calls of filters.
const AT_A_TIME: usize = 5;

/// Each is ended within six seconds; a machine that is busy with other work has some more.
const ENDED_WITHIN: Duration = Duration::from_secs(6 + 14);

/// Nine writes of ten to a database whose functions hang take no second longer than those to a database whose functions don't.
const OTHERS_LATER: Duration = Duration::from_secs(1);

/// One test after the other: each takes what the machine has.
static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

impl Serving {
    async fn put(&self, path: &str, body: &Value) -> (u16, Duration) {
        let request = self.client.put(format!("{}{path}", self.url));
        timed(
            request
                .header("content-type", "application/json")
                .body(body.to_string()),
        )
        .await
    }

    async fn get(&self, path: &str) -> (u16, Duration) {
        timed(self.client.get(format!("{}{path}", self.url))).await
    }

    /// A database whose functions never return when they are shown a document that asks for it.
    async fn database(&self, name: &str) {
        assert_eq!(self.put(&format!("/{name}"), &Value::Null).await.0, 201);
        let cases: String = ENDLESS
            .iter()
            .map(|(name, body)| format!("if (doc.endless === '{name}') {{ {body} }}\n"))
            .collect();
        let of = |name: &str, body: &str| {
            format!("function (doc) {{ if (doc._id === '{name}') {{ {body} }} return true }}")
        };
        let all = || ENDLESS.iter();
        let filters: serde_json::Map<_, _> = all()
            .map(|(name, body)| ((*name).to_owned(), of("victim", body).into()))
            .collect();
        let views: serde_json::Map<_, _> = all()
            .map(|(name, body)| ((*name).to_owned(), json!({ "map": of("victim", body) })))
            .collect();
        let design = json!({
            "validate_doc_update": format!("function (doc) {{ {cases} }}"),
            "filters": filters,
            "views": views,
        });
        assert_eq!(
            self.put(&format!("/{name}/victim"), &json!({})).await.0,
            201
        );
        let put = self.put(&format!("/{name}/_design/endless"), &design).await;
        assert_eq!(put.0, 201);
    }

    /// Calls what never returns, in each kind of function; status and time of each.
    async fn endless(&self, db: &str, names: &[&str]) -> Vec<(String, u16, Duration)> {
        let calls = names.iter().flat_map(|name| {
            let doc = json!({ "endless": name });
            let validate = async move {
                let (status, time) = self.put(&format!("/{db}/x-{name}"), &doc).await;
                (format!("validate {name}"), status, time)
            };
            let filter = async move {
                let path = format!("/{db}/_changes?filter=endless/{name}");
                let (status, time) = self.get(&path).await;
                (format!("filter {name}"), status, time)
            };
            let map = async move {
                let path = format!("/{db}/_changes?filter=_view&view=endless/{name}");
                let (status, time) = self.get(&path).await;
                (format!("map {name}"), status, time)
            };
            let calls: [std::pin::Pin<Box<dyn Future<Output = _> + '_>>; 3] =
                [Box::pin(validate), Box::pin(filter), Box::pin(map)];
            calls
        });
        futures_util::future::join_all(calls).await
    }

    /// Writes other documents to two databases in turn until it is told to stop; the times of the writes to each.
    async fn others(&self, databases: [&str; 2], stop: &AtomicBool) -> [Vec<Duration>; 2] {
        let mut times = [Vec::new(), Vec::new()];
        while !stop.load(Ordering::Relaxed) {
            for (db, times) in databases.iter().zip(&mut times) {
                let count = times.len();
                let path = match count % 10 {
                    8 => format!("/{db}/_local/other{count}"),
                    9 => format!("/{db}/_design/other{count}"),
                    _ => format!("/{db}/other{count}"),
                };
                let (status, time) = self.put(&path, &json!({ "count": count })).await;
                assert_eq!(status, 201, "{path}");
                times.push(time);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        times.map(|mut times| {
            times.sort_unstable();
            times
        })
    }

    /// The number of open changes feeds.
    async fn feeds(&self) -> usize {
        let path = format!("{}/_node/_local/_stats", self.url);
        let stats = self.client.get(path).send().await.expect("an answer");
        let stats: Value = serde_json::from_slice(&stats.bytes().await.expect("a body")).unwrap();
        let feeds = &stats["couchdb"]["httpd"]["clients_requesting_changes"]["value"];
        feeds.as_f64().expect("a number") as usize
    }

    fn hosts(&self) -> Vec<String> {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        let children =
            tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("children")).ok());
        let children: Vec<String> = children.collect();
        let pids = children.iter().flat_map(|list| list.split_whitespace());
        pids.map(str::to_owned).collect()
    }

    /// SIGTERM: the exit code and how long it took.
    fn stop(&mut self) -> (Option<i32>, Duration) {
        let begun = Instant::now();
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        (self.child.wait().unwrap().code(), begun.elapsed())
    }
}

async fn timed(request: reqwest::RequestBuilder) -> (u16, Duration) {
    let begun = Instant::now();
    let answer = request.send().await.expect("an answer");
    let status = answer.status().as_u16();
    // A feed that was cut off has no end.
    let _ = answer.bytes().await;
    (status, begun.elapsed())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn functions_that_never_return_are_ended_and_delay_no_other_write() {
    let _turn = TURN.lock().await;
    let server = Arc::new(Serving::start());
    server.database("db").await;
    server.database("control").await;
    let stop = Arc::new(AtomicBool::new(false));
    let others = {
        let (server, stop) = (Arc::clone(&server), Arc::clone(&stop));
        tokio::spawn(async move { server.others(["db", "control"], &stop).await })
    };
    let names: Vec<&str> = ENDLESS.iter().map(|(name, _)| *name).collect();
    let (mut slowest, mut evicted) = (Duration::ZERO, 0);
    for names in names.chunks(AT_A_TIME) {
        for (call, status, time) in server.endless("db", names).await {
            assert!(matches!(status, 500 | 503), "{call}: {status}");
            evicted += usize::from(status == 503);
            assert!(time < ENDED_WITHIN, "{call} took {time:?}");
            slowest = slowest.max(time);
        }
    }
    // On a busy machine calls that do return are slow, too.
    assert!(
        evicted < names.len() / 2,
        "{evicted} were not given their time"
    );
    // All at once there is no time for each of them: some are ended earlier.
    for (call, status, time) in server.endless("db", &names).await {
        assert!(matches!(status, 500 | 503), "{call}: {status}");
        assert!(time < ENDED_WITHIN, "{call} took {time:?}");
        slowest = slowest.max(time);
    }
    stop.store(true, Ordering::Relaxed);
    let [others, control] = others.await.unwrap().map(|times| {
        let (ninth, last) = (times[times.len() * 9 / 10], times[times.len() - 1]);
        (times.len(), ninth, last)
    });
    println!(
        "{} calls that never return, the slowest ended after {slowest:?}, {evicted} early; other writes (how many, nine of ten, slowest): {others:?}, with functions that return {control:?}",
        names.len() * 6,
    );
    assert!(others.0 > 20);
    assert!(others.1 < control.1 + OTHERS_LATER);
    assert!(others.2 < ENDED_WITHIN);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_stops_while_functions_never_return() {
    let _turn = TURN.lock().await;
    let mut server = Serving::start();
    server.database("db").await;
    let (client, url) = (server.client.clone(), server.url.clone());
    let ask = move |path: &str| client.get(format!("{url}{path}"));
    let mut under_way = Vec::new();
    for (name, _) in ENDLESS {
        let path = format!("/db/_changes?feed=continuous&filter=endless/{name}");
        let put = server
            .client
            .put(format!("{}/db/x-{name}", server.url))
            .header("content-type", "application/json")
            .body(json!({ "endless": name }).to_string());
        under_way.push(tokio::spawn(ask(&path).send()));
        under_way.push(tokio::spawn(put.send()));
        under_way.push(tokio::spawn(ask("/db/_changes?feed=continuous").send()));
    }
    let replication =
        json!({ "source": "db", "target": "copy", "create_target": true, "continuous": true });
    let replicate = server.client.post(format!("{}/_replicate", server.url));
    let replicate = replicate.header("content-type", "application/json");
    let started = replicate
        .body(replication.to_string())
        .send()
        .await
        .unwrap();
    assert_eq!(started.status(), 202);
    let until = Instant::now() + 3 * ENDED_WITHIN;
    // The feeds without a filter never end, and functions run in hosts.
    while server.feeds().await < ENDLESS.len() || server.hosts().is_empty() {
        assert!(Instant::now() < until, "no functions are running");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let hosts = server.hosts();
    let (code, time) = server.stop();
    println!("stopped after {time:?} with {} script hosts", hosts.len());
    assert_eq!(code, Some(0));
    assert!(time < Duration::from_secs(10 + 2), "{time:?}");
    for task in under_way {
        task.abort();
    }
    let gone = || hosts.iter().all(|pid| !is_alive(pid));
    let until = Instant::now() + Duration::from_secs(10);
    while !gone() && Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(gone(), "hosts end with their server");
}

fn is_alive(pid: &str) -> bool {
    let status = fs::read_to_string(Path::new("/proc").join(pid).join("stat"));
    status.is_ok_and(|status| !status.contains(") Z "))
}

/// A script host has nothing of the server's environment, and no files but its pipes.
fn has_nothing(host: &str) {
    let of = |file: &str| Path::new("/proc").join(host).join(file);
    let environment = fs::read(of("environ")).unwrap_or_default();
    // It is unreadable to users other than root.
    let is_own = environment == b"MIMALLOC_ARENA_EAGER_COMMIT=0\0";
    assert!(
        is_own || environment.is_empty(),
        "{}",
        String::from_utf8_lossy(&environment)
    );
    if let Ok(files) = fs::read_dir(of("fd")) {
        assert_eq!(files.count(), 3);
    }
    let limits = fs::read_to_string(of("limits")).unwrap();
    let files = limits
        .lines()
        .find(|line| line.starts_with("Max open files"))
        .unwrap();
    assert!(files.split_whitespace().nth(3) == Some("0"), "{files}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hosts_end_with_a_server_that_is_killed_and_have_nothing_of_it() {
    let _turn = TURN.lock().await;
    let mut server = Serving::start();
    server.database("db").await;
    let put = server.put("/db/a", &json!({})).await;
    assert_eq!(put.0, 201);
    let hosts = server.hosts();
    assert_eq!(
        hosts.len(),
        2,
        "one host compiles design documents, one is enough for validating one write after the other"
    );
    for host in &hosts {
        has_nothing(host);
    }
    server.child.kill().unwrap();
    let until = Instant::now() + Duration::from_secs(10);
    while hosts.iter().any(|host| is_alive(host)) && Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(!hosts.iter().any(|host| is_alive(host)));
}
