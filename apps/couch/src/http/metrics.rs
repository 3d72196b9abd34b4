//! Counters since the start.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The methods with a counter of their own.
const METHODS: [&str; 7] = ["GET", "HEAD", "PUT", "POST", "DELETE", "COPY", "OPTIONS"];

/// The statuses with a counter of their own.
const STATUSES: [u16; 26] = [
    200, 201, 202, 204, 206, 301, 302, 304, 400, 401, 403, 404, 405, 406, 408, 409, 412, 413, 414,
    415, 416, 417, 500, 501, 503, 507,
];

/// The counters of the server.
#[derive(Debug, Default)]
pub struct Metrics {
    requests: AtomicU64,
    methods: [AtomicU64; METHODS.len()],
    statuses: [AtomicU64; STATUSES.len()],
    /// The number of open connections.
    pub connections: Arc<AtomicU64>,
    /// The number of open changes feeds.
    pub feeds: AtomicU64,
    /// The number of `_bulk_docs`.
    pub bulk_requests: AtomicU64,
    /// The number of requests to views.
    pub view_reads: AtomicU64,
}

/// A counter or gauge for `_stats` and `_prometheus`.
#[derive(Debug)]
pub struct Metric {
    /// The name in Prometheus, without `couchdb_`.
    pub name: &'static str,
    /// The members of `_stats` below `couchdb` that lead to it; the label is the last one.
    pub path: &'static [&'static str],
    /// The name and value of its label, if several have the same name.
    pub label: Option<(&'static str, String)>,
    /// `counter` or `gauge`.
    pub kind: &'static str,
    /// The help text.
    pub help: &'static str,
    /// The value.
    pub value: f64,
}

impl Metric {
    /// Creates a metric without a label.
    pub fn new(
        name: &'static str,
        path: &'static [&'static str],
        kind: &'static str,
        help: &'static str,
        counter: &AtomicU64,
    ) -> Self {
        Metric {
            name,
            path,
            label: None,
            kind,
            help,
            value: counter.load(Ordering::Relaxed) as f64,
        }
    }
}

/// Nests metrics as CouchDB's `_stats` does.
pub fn nested(metrics: &[Metric]) -> Value {
    let mut couchdb = json!({});
    for metric in metrics {
        let mut at = &mut couchdb;
        let label = metric.label.as_ref().map(|(_, label)| label.as_str());
        for name in metric.path.iter().copied().chain(label) {
            at = &mut at[name];
        }
        *at = json!({ "value": metric.value as u64, "type": metric.kind, "desc": metric.help });
    }
    json!({ "couchdb": couchdb })
}

impl Metrics {
    /// Counts an answered request.
    pub fn count(&self, method: &Method, status: StatusCode) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let counted = |at: Option<usize>, counters: &[AtomicU64]| {
            if let Some(at) = at {
                counters[at].fetch_add(1, Ordering::Relaxed);
            }
        };
        counted(
            METHODS.iter().position(|name| *name == method.as_str()),
            &self.methods,
        );
        counted(
            STATUSES.iter().position(|code| *code == status.as_u16()),
            &self.statuses,
        );
    }

    /// Returns all counters.
    pub fn list(&self) -> Vec<Metric> {
        let mut list = vec![
            Metric::new(
                "httpd_requests_total",
                &["httpd", "requests"],
                "counter",
                "number of HTTP requests",
                &self.requests,
            ),
            Metric::new(
                "httpd_connections",
                &["httpd", "connections"],
                "gauge",
                "number of open connections",
                &self.connections,
            ),
            Metric::new(
                "httpd_clients_requesting_changes_total",
                &["httpd", "clients_requesting_changes"],
                "gauge",
                "number of clients for continuous _changes",
                &self.feeds,
            ),
            Metric::new(
                "httpd_bulk_requests_total",
                &["httpd", "bulk_requests"],
                "counter",
                "number of bulk requests",
                &self.bulk_requests,
            ),
            Metric::new(
                "httpd_view_reads_total",
                &["httpd", "view_reads"],
                "counter",
                "number of view reads",
                &self.view_reads,
            ),
        ];
        let (name, help) = ("httpd_request_methods", "number of HTTP requests by method");
        for (method, counter) in METHODS.iter().zip(&self.methods) {
            list.push(Metric {
                label: Some(("method", (*method).to_owned())),
                ..Metric::new(name, &["httpd_request_methods"], "counter", help, counter)
            });
        }
        let (name, help) = ("httpd_status_codes", "number of HTTP responses by status");
        for (status, counter) in STATUSES.iter().zip(&self.statuses) {
            list.push(Metric {
                label: Some(("code", status.to_string())),
                ..Metric::new(name, &["httpd_status_codes"], "counter", help, counter)
            });
        }
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_method_and_status() {
        let metrics = Metrics::default();
        metrics.count(&Method::GET, StatusCode::OK);
        metrics.count(&Method::from_bytes(b"COPY").unwrap(), StatusCode::CREATED);
        metrics.count(&Method::PATCH, StatusCode::IM_A_TEAPOT);
        let list = metrics.list();
        let value = |name: &str, label: &str| {
            let is_it = |metric: &&Metric| {
                metric.name == name && metric.label.as_ref().is_none_or(|(_, l)| l == label)
            };
            list.iter().find(is_it).unwrap().value
        };
        assert_eq!(value("httpd_requests_total", ""), 3.0);
        assert_eq!(value("httpd_request_methods", "COPY"), 1.0);
        assert_eq!(value("httpd_request_methods", "PUT"), 0.0);
        assert_eq!(value("httpd_status_codes", "201"), 1.0);
        let couchdb = &nested(&list)["couchdb"];
        assert_eq!(couchdb["httpd"]["requests"]["value"], 3);
        assert_eq!(couchdb["httpd_request_methods"]["COPY"]["value"], 1);
        assert_eq!(couchdb["httpd_status_codes"]["201"]["type"], "counter");
    }
}
