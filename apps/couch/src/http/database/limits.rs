//! Limits of listings.

use crate::config::keys;
use crate::http::{HttpError, HttpResult, Server};

/// The configured limit of rows of a query, of one partition or of the whole database.
pub fn rows_max(server: &Server, is_of_partition: bool) -> Option<u64> {
    server.config.values().read(match is_of_partition {
        true => &keys::PARTITION_QUERY_LIMIT,
        false => &keys::QUERY_LIMIT,
    })
}

/// Bytes of the rows that a list function gets.
const LISTED_BYTES_MAX: usize = 16 << 20;

/// Refuses more rows than a list function gets.
///
/// # Errors
/// If there are more.
pub fn check_listed(rows: &[u8]) -> HttpResult<()> {
    if rows.len() <= LISTED_BYTES_MAX {
        return Ok(());
    }
    let reason =
        format!("A list function gets at most {LISTED_BYTES_MAX} bytes of rows: use limit.");
    Err(HttpError::BadRequest(reason))
}
