//! Statements for distributed tables, and the built-in table, distributed by its key.

use crate::{Engine as _, TableShape, postgres::Postgres};
use inorder_key::KeyKind;
use inorder_key::bulk::COMPOSITE_BUCKETS;

/// Schema of objects that do not belong to the experiment. It must not be the user's name, because that schema is in
/// the search path.
pub const SCHEMA: &str = "inorder_shards";

/// Registers the distribution of tables, by a function with the name and arguments of the one in Citus. The tables
/// are distributed after the statements have run. `domain` is the first integer of a range-partitioned column, and
/// the first one after its end.
pub const FUNCTION: &str = "
    CREATE SCHEMA inorder_shards;
    CREATE TABLE inorder_shards.wanted(
        oid oid, column_name text, distribution_type text, domain bigint[]);
    CREATE FUNCTION create_distributed_table(
        table_name regclass, distribution_column text,
        distribution_type text DEFAULT NULL, domain bigint[] DEFAULT NULL)
    RETURNS void LANGUAGE sql AS 'INSERT INTO inorder_shards.wanted VALUES ($1, $2, $3, $4)'";

/// Returns the statements that create the built-in table, or why it cannot exist.
pub(super) fn create_table(shape: &TableShape<'_>) -> Result<String, String> {
    let mut sql = Postgres.create_table(shape)?;
    let name = shape.name;
    sql += &match shape.key {
        // Ranges of bucket numbers: ranges over all integers would place every bucket in one shard.
        KeyKind::Composite => format!(
            "\nSELECT create_distributed_table('{name}', 'bucket', domain => '{{0,{COMPOSITE_BUCKETS}}}');"
        ),
        _ => format!("\nSELECT create_distributed_table('{name}', 'id');"),
    };
    Ok(sql)
}
