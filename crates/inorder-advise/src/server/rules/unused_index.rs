//! Indexes without a scan are named and not proposed: statistics begin at a time, and each server counts its own.

use super::{Candidate, Facts, Group};
use crate::{rules::Class, server::model::TableKind};

/// Share of the database from which an index is worth a line.
const SHARE_MIN: f64 = 0.01;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Candidate> {
    let database = facts.database;
    let base: u64 = database
        .tables
        .iter()
        .map(|table| table.total_bytes())
        .sum();
    let since = database
        .statistics_since
        .as_deref()
        .unwrap_or("a time that the server doesn't say");
    let mut found = Vec::new();
    for table in &database.tables {
        if matches!(table.kind, TableKind::Foreign | TableKind::Partitioned) {
            continue;
        }
        for index in &table.indexes {
            let is_plain = !index.is_unique && index.constraint.is_none() && index.is_valid;
            let is_large = index.bytes as f64 >= SHARE_MIN * base as f64;
            if index.scans != Some(0) || !is_plain || !is_large {
                continue;
            }
            let mut candidate =
                Candidate::about(table, &index.name, Group::UnusedIndex, Class::Rejected);
            candidate.bytes = Some(index.bytes);
            candidate.reason = format!(
                "no scan since {since}: no reason to drop it; standbys and rare jobs count elsewhere"
            );
            found.push(candidate);
        }
    }
    found
}
