//! Cost of replication, from the nodes' own counters:
//! <https://galeracluster.com/library/documentation/galera-status-variables.html>.

use mysql::{Conn, Error, prelude::Queryable as _};
use std::collections::HashMap;

/// Name of the cause in samples, the node's counter, and the number of counter units per unit of the cause.
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

/// Returns the current causes of one node.
pub fn causes(conn: &mut Conn) -> Result<Vec<(&'static str, u64)>, Error> {
    let rows: Vec<(String, String)> = conn.query("SHOW GLOBAL STATUS LIKE 'wsrep%'")?;
    let status: HashMap<String, String> = rows.into_iter().collect();
    let count = |(cause, name, unit): &(&'static str, &str, u64)| {
        let count: u64 = status.get(*name)?.parse().ok()?;
        Some((*cause, count / unit))
    };
    Ok(CAUSES.iter().filter_map(count).collect())
}
