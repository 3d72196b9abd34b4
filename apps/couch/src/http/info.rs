//! Information about a database.

use super::seq::SeqFormat;
use crate::store::Info;
use serde_json::{Value, json};

/// Returns the information about a database in CouchDB's format.
pub fn info_json(info: &Info) -> Value {
    let seq = SeqFormat::of_info(info);
    let props = match info.is_partitioned {
        true => json!({ "partitioned": true }),
        false => json!({}),
    };
    json!({
        "instance_start_time": (info.created_microseconds / 1_000_000).to_string(),
        "db_name": info.name,
        "purge_seq": seq.text(info.purge_seq),
        "update_seq": seq.text(info.update_seq),
        "sizes": {
            "file": info.file_bytes,
            "external": info.external_bytes,
            "active": info.active_bytes,
        },
        "props": props,
        "doc_del_count": info.deleted_count,
        "doc_count": info.doc_count,
        "disk_format_version": 8,
        "compact_running": info.compact_running,
        "cluster": { "q": 1, "n": 1, "w": 1, "r": 1 },
    })
}
