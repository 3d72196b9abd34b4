//! The built-in table on shards: PostgreSQL's, spread by its key.

use crate::{Engine as _, TableShape, postgres::Postgres};
use inorder_key::{COMPOSITE_BUCKETS, KeyKind};

/// The statements that create the built-in table, or why it can't be.
pub(super) fn create_table(shape: &TableShape<'_>) -> Result<String, String> {
    let mut sql = Postgres.create_table(shape)?;
    let name = shape.name;
    sql += &match shape.key {
        // Ranges of buckets: of all integers the lowest range would have them all.
        KeyKind::Composite => format!(
            "\nSELECT create_distributed_table('{name}', 'bucket', domain => '{{0,{COMPOSITE_BUCKETS}}}');"
        ),
        _ => format!("\nSELECT create_distributed_table('{name}', 'id');"),
    };
    Ok(sql)
}
