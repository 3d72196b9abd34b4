//! Limits of listings.

use crate::config::keys;
use crate::http::{HttpError, HttpResult, Server, inlined};
use crate::store::Database;

/// Returns the configured maximum number of rows per query, for queries of a partition or of the whole database.
pub fn rows_max(server: &Server, is_of_partition: bool) -> Option<u64> {
    server.config.values().read(match is_of_partition {
        true => &keys::PARTITION_QUERY_LIMIT,
        false => &keys::QUERY_LIMIT,
    })
}

/// The maximum size of the rows for a list function, in bytes.
const LISTED_BYTES_MAX: usize = 16 << 20;

/// Adds the attachments to rows for a list function.
///
/// # Errors
/// If the rows are too large then.
pub fn listed(db: &Database, rows: Vec<u8>) -> HttpResult<String> {
    let check = |bytes| check_listed_bytes(usize::try_from(bytes).unwrap_or(usize::MAX));
    let rows = inlined::filled(db, rows, check)?;
    String::from_utf8(rows).map_err(|error| HttpError::Internal(error.to_string()))
}

/// Refuses rows that are too large for a list function.
///
/// # Errors
/// If they are too large.
pub fn check_listed(rows: &[u8]) -> HttpResult<()> {
    check_listed_bytes(rows.len())
}

fn check_listed_bytes(bytes: usize) -> HttpResult<()> {
    if bytes <= LISTED_BYTES_MAX {
        return Ok(());
    }
    let reason =
        format!("A list function gets at most {LISTED_BYTES_MAX} bytes of rows: use limit.");
    Err(HttpError::BadRequest(reason))
}
