//! What replication cost, by the nodes' own counters:
//! <https://galeracluster.com/library/documentation/galera-status-variables.html>.

use mysql::{Conn, Error, prelude::Queryable as _};
use std::collections::HashMap;

/// The cause as samples name it, the node's counter, and how many of those make one.
const CAUSES: &[(&str, &str, u64)] = &[
    ("replicated_transactions", "wsrep_replicated", 1),
    ("replicated_bytes", "wsrep_replicated_bytes", 1),
    ("certification_failures", "wsrep_local_cert_failures", 1),
    ("brute_force_aborts", "wsrep_local_bf_aborts", 1),
    (
        "flow_control_paused_us",
        "wsrep_flow_control_paused_ns",
        1000,
    ),
];

/// The causes as they are now on one node.
pub fn causes(conn: &mut Conn) -> Result<Vec<(&'static str, u64)>, Error> {
    let rows: Vec<(String, String)> = conn.query("SHOW GLOBAL STATUS LIKE 'wsrep%'")?;
    let status: HashMap<String, String> = rows.into_iter().collect();
    let count = |(cause, name, unit): &(&'static str, &str, u64)| {
        let count: u64 = status.get(*name)?.parse().ok()?;
        Some((*cause, count / unit))
    };
    Ok(CAUSES.iter().filter_map(count).collect())
}
