//! Another page size, for files large enough.

use super::{Candidate, Class, Group};
use crate::{Change, read::Database};

/// Smaller files are not worth it.
const FILE_BYTES_MIN: u64 = 10_000_000;
/// The sizes that are tried.
const SIZES: [u32; 3] = [4096, 8192, 16384];

pub(super) fn find(database: &Database) -> Vec<Candidate> {
    if database.bytes() < FILE_BYTES_MIN {
        return Vec::new();
    }
    SIZES
        .into_iter()
        .filter(|&bytes| bytes != database.page_bytes)
        .map(|bytes| {
            let candidate = Candidate {
                rule: "",
                group: Group::PageSize,
                class: Class::Safe,
                table: String::new(),
                object: format!("page size {bytes}"),
                changes: vec![Change::PageSize { bytes }],
                reason: format!("pages of {} bytes today", database.page_bytes),
                notes: vec!["A larger page is written whole for every small change.".into()],
            };
            match database.missing.is_empty() {
                true => candidate,
                false => {
                    candidate.rejected("what is missing here keeps the file from being rebuilt")
                }
            }
        })
        .collect()
}
