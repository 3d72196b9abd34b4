//! Space that holds no rows: estimated, so it is named and not proposed.

use super::{Candidate, Facts, Group};
use crate::{
    rules::Class,
    server::model::{Product, TableKind},
};

/// Share of the database from which free space is worth a line.
const SHARE_MIN: f64 = 0.03;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Candidate> {
    let database = facts.database;
    let base: u64 = database
        .tables
        .iter()
        .map(|table| table.total_bytes())
        .sum();
    let is_much = |bytes: u64| bytes > 0 && bytes as f64 >= SHARE_MIN * base as f64;
    let (of_table, source) = match database.product {
        Product::Postgres => (
            "VACUUM reuses it; VACUUM FULL or pg_repack returns it",
            "estimated from statistics",
        ),
        Product::Mariadb => ("InnoDB reuses it; OPTIMIZE TABLE returns it", "DATA_FREE"),
    };
    let mut found = Vec::new();
    for table in &database.tables {
        if matches!(table.kind, TableKind::Foreign | TableKind::CatalogOnly) {
            continue;
        }
        if let Some(bytes) = table.bloat_bytes.filter(|&bytes| is_much(bytes)) {
            let mut candidate = Candidate::about(table, &table.name, Group::Bloat, Class::Rejected);
            candidate.bytes = Some(bytes);
            candidate.reason = format!("holds no rows ({source}): {of_table}");
            found.push(candidate);
        }
        for index in &table.indexes {
            let Some(bytes) = index.bloat_bytes.filter(|&bytes| is_much(bytes)) else {
                continue;
            };
            let mut candidate = Candidate::about(table, &index.name, Group::Bloat, Class::Rejected);
            candidate.bytes = Some(bytes);
            candidate.reason =
                format!("holds no entries ({source}): REINDEX INDEX CONCURRENTLY returns it");
            found.push(candidate);
        }
    }
    found
}
