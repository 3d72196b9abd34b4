//! Counters since the start.

use axum::http::{Method, StatusCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The methods with a counter of their own.
const METHODS: [&str; 7] = ["GET", "HEAD", "PUT", "POST", "DELETE", "COPY", "OPTIONS"];

/// The statuses with a counter of their own.
const STATUSES: [u16; 20] = [
    200, 201, 202, 206, 304, 400, 401, 403, 404, 405, 408, 409, 412, 413, 415, 416, 500, 501, 503,
    507,
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
}

/// A counter or gauge for `_stats` and `_prometheus`.
#[derive(Debug)]
pub struct Metric {
    /// The name in CouchDB, without `couchdb_`.
    pub name: &'static str,
    /// The name and value of its label, if several have the same name.
    pub label: Option<(&'static str, String)>,
    /// `counter` or `gauge`.
    pub kind: &'static str,
    /// The help text.
    pub help: &'static str,
    /// The value.
    pub value: f64,
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
        let number = |counter: &AtomicU64| counter.load(Ordering::Relaxed) as f64;
        let metric = |name, kind, help, counter| Metric {
            name,
            label: None,
            kind,
            help,
            value: number(counter),
        };
        let mut list = vec![
            metric(
                "httpd_requests_total",
                "counter",
                "Requests answered",
                &self.requests,
            ),
            metric(
                "httpd_connections",
                "gauge",
                "Connections open",
                &self.connections,
            ),
            metric(
                "httpd_clients_requesting_changes_total",
                "gauge",
                "Change feeds open",
                &self.feeds,
            ),
        ];
        for (method, counter) in METHODS.iter().zip(&self.methods) {
            list.push(Metric {
                label: Some(("method", (*method).to_owned())),
                ..metric(
                    "httpd_request_methods",
                    "counter",
                    "Requests by method",
                    counter,
                )
            });
        }
        for (status, counter) in STATUSES.iter().zip(&self.statuses) {
            list.push(Metric {
                label: Some(("code", status.to_string())),
                ..metric(
                    "httpd_status_codes",
                    "counter",
                    "Answers by status",
                    counter,
                )
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
    }
}
