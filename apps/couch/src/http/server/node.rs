//! `/_node`, `/_membership` and `/_active_tasks`: this one node, looked at.

use crate::http::metrics::{Metric, nested};
use crate::http::{HttpError, HttpResult, Server, reply};
use crate::mango::COLLATOR_VERSION;
use crate::tasks::NODE;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use serde_json::json;
use std::fmt::Write;
use std::sync::Arc;

/// Refuses the names of other nodes.
///
/// # Errors
/// If it is another node's name.
pub fn require_this_node(node: &str) -> HttpResult<()> {
    if node == "_local" || node == NODE {
        Ok(())
    } else {
        Err(HttpError::NotFound(format!("no such node: {node}")))
    }
}

/// `GET /_membership`: the cluster, which is this node.
pub async fn membership() -> HttpResult {
    let nodes = json!({ "all_nodes": [NODE], "cluster_nodes": [NODE] });
    reply::json(StatusCode::OK, &nodes)
}

/// `GET /_active_tasks`.
pub async fn active_tasks(State(server): State<Arc<Server>>) -> HttpResult {
    reply::json(StatusCode::OK, &server.tasks.list())
}

/// `GET /_node/_local`: the node's name.
pub async fn node(Path(node): Path<String>) -> HttpResult {
    require_this_node(&node)?;
    reply::json(StatusCode::OK, &json!({ "name": NODE }))
}

/// `GET /_node/_local/_versions`: what functions of design documents run in, and what sorts keys.
pub async fn versions(Path(node): Path<String>) -> HttpResult {
    require_this_node(&node)?;
    let body = json!({
        "javascript_engine": { "name": "quickjs" },
        "collation_driver": { "name": "icu4x", "collator_version": COLLATOR_VERSION },
    });
    reply::json(StatusCode::OK, &body)
}

/// Returns the counters of requests and of authentication.
fn counters(server: &Server) -> Vec<Metric> {
    let hashes = server.auth.hashes();
    let mut list = server.metrics.list();
    list.extend([
        Metric::new(
            "password_hashing_fast_total",
            &["password_hashing_fast"],
            "counter",
            "number of fast password hashing operations",
            &hashes.fast,
        ),
        Metric::new(
            "password_hashing_slow_total",
            &["password_hashing_slow"],
            "counter",
            "number of slow password hashing operations",
            &hashes.slow,
        ),
    ]);
    list
}

/// `GET /_node/_local/_stats`: the counters as CouchDB nests them.
pub async fn stats(State(server): State<Arc<Server>>, Path(node): Path<String>) -> HttpResult {
    require_this_node(&node)?;
    reply::json(StatusCode::OK, &nested(&counters(&server)))
}

/// `GET /_node/_local/_stats/couchdb/httpd`: some of them; `null` if there are none of this name.
pub async fn some_stats(
    State(server): State<Arc<Server>>,
    Path((node, path)): Path<(String, String)>,
) -> HttpResult {
    require_this_node(&node)?;
    let all = nested(&counters(&server));
    let found = path.split('/').try_fold(&all, |at, name| at.get(name));
    reply::json(StatusCode::OK, &found)
}

/// `GET /_node/_local/_system`: the process.
pub async fn system(State(server): State<Arc<Server>>, Path(node): Path<String>) -> HttpResult {
    require_this_node(&node)?;
    let body = json!({
        "uptime": server.started.elapsed().as_secs(),
        "memory": { "resident_bytes": resident_bytes() },
        "process_count": 1,
    });
    reply::json(StatusCode::OK, &body)
}

/// Returns the resident memory of this process in bytes, if the system reports it.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// `GET /_node/_local/_prometheus`: the counters in the text format of Prometheus, version 0.0.4.
pub async fn prometheus(State(server): State<Arc<Server>>, Path(node): Path<String>) -> HttpResult {
    require_this_node(&node)?;
    let mut metrics = counters(&server);
    let gauge = |name, help, value| Metric {
        name,
        path: &[],
        label: None,
        kind: "gauge",
        help,
        value,
    };
    let uptime = server.started.elapsed().as_secs_f64();
    metrics.push(gauge("uptime_seconds", "Seconds since the start", uptime));
    let databases = server.databases.names()?.len();
    metrics.push(gauge("databases", "Databases", databases as f64));
    if let Some(bytes) = resident_bytes() {
        let help = "Memory of the process";
        metrics.push(gauge("process_resident_memory_bytes", help, bytes as f64));
    }
    let mut response = Response::new(exposition(&metrics).into());
    let content_type = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, content_type);
    Ok(response)
}

fn exposition(metrics: &[Metric]) -> String {
    let mut text = String::new();
    let mut last = "";
    for Metric {
        name,
        label,
        kind,
        help,
        value,
        ..
    } in metrics
    {
        if *name != last {
            let _ = writeln!(
                text,
                "# HELP couchdb_{name} {help}\n# TYPE couchdb_{name} {kind}"
            );
            last = name;
        }
        let _ = match label {
            Some((label, of)) => writeln!(text, "couchdb_{name}{{{label}=\"{of}\"}} {value}"),
            None => writeln!(text, "couchdb_{name} {value}"),
        };
    }
    text
}
