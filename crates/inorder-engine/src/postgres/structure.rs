//! Sizes of tables, TOAST tables and indexes, and the fill of their pages if the extension pgstattuple is installed:
//! <https://www.postgresql.org/docs/15/pgstattuple.html>.

use crate::Tree;
use postgres::{Client, Error, Row};

/// Bytes of all tables of the schema, with their indexes, TOAST and maps of free space
/// (<https://www.postgresql.org/docs/15/functions-admin.html#FUNCTIONS-ADMIN-DBSIZE>).
pub const SIZE: &str = "SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class
     WHERE relnamespace = current_schema()::text::regnamespace AND relkind = 'r'";

/// Query with one row per table, TOAST table and index: its id, name, table, kind, bytes, page size. TOAST tables
/// have numbers as names, so the query names them after their table
/// (<https://www.postgresql.org/docs/15/catalog-pg-class.html>,
/// <https://www.postgresql.org/docs/15/catalog-pg-index.html>).
const TREES: &str = "
    WITH owner AS (
        SELECT oid, oid AS table_oid, relname::text AS called FROM pg_class
        WHERE relnamespace = current_schema()::text::regnamespace AND relkind = 'r'
        UNION ALL
        SELECT reltoastrelid, oid, relname || '.toast' FROM pg_class
        WHERE relnamespace = current_schema()::text::regnamespace AND relkind = 'r' AND reltoastrelid <> 0
    )
    SELECT class.oid,
        CASE WHEN class.oid = owner.oid THEN called
             WHEN owner.oid = owner.table_oid THEN class.relname::text
             ELSE called || '_index' END AS name,
        (SELECT relname::text FROM pg_class WHERE oid = table_oid) AS belongs_to,
        class.relkind = 'i' AS is_index,
        pg_relation_size(class.oid) AS size,
        current_setting('block_size')::bigint AS page
    FROM owner
    LEFT JOIN pg_index ON indrelid = owner.oid
    JOIN pg_class AS class ON class.oid IN (owner.oid, indexrelid)
    GROUP BY class.oid, class.relname, class.relkind, owner.oid, owner.table_oid, called
    ORDER BY name";

/// Runs a command for each table of the schema. Without a table, the command would process all tables of the
/// database, also catalogs.
pub fn on_every_table(client: &mut Client, command: &str) -> Result<(), Error> {
    let sql = "SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = current_schema()";
    for row in client.query(sql, &[])? {
        let table: String = row.try_get(0)?;
        client.batch_execute(&format!("{command} {table}"))?;
    }
    Ok(())
}

/// Returns the quoted schema of the extension pgstattuple, if it is installed and usable.
pub fn page_looker(client: &mut Client) -> Option<String> {
    let row = client.query_opt(
        "SELECT quote_ident(nspname) FROM pg_extension
         JOIN pg_namespace AS namespace ON namespace.oid = extnamespace
         WHERE extname = 'pgstattuple' AND has_function_privilege(
             quote_ident(nspname) || '.pgstattuple(regclass)', 'execute')",
        &[],
    );
    row.ok()??.try_get(0).ok()
}

/// Returns every table and index of the schema. `looker` is the schema of pgstattuple.
pub fn trees(client: &mut Client, looker: Option<&str>) -> Result<Vec<Tree>, Error> {
    let rows = client.query(TREES, &[])?;
    rows.iter()
        .map(|row| {
            let mut tree = tree(row)?;
            if let Some(looker) = looker.filter(|_| tree.pages > 0) {
                look_into(client, looker, row.try_get(0)?, &mut tree)?;
            }
            Ok(tree)
        })
        .collect()
}

fn tree(row: &Row) -> Result<Tree, Error> {
    let size_bytes = row.try_get::<_, i64>("size")?.unsigned_abs();
    Ok(Tree {
        name: row.try_get("name")?,
        table: row.try_get("belongs_to")?,
        is_index: row.try_get("is_index")?,
        pages: size_bytes / row.try_get::<_, i64>("page")?.unsigned_abs(),
        size_bytes,
        ..Tree::default()
    })
}

/// Reads every page of a tree.
fn look_into(client: &mut Client, looker: &str, oid: u32, tree: &mut Tree) -> Result<(), Error> {
    if !tree.is_index {
        let sql = format!(
            "SELECT tuple_len, tuple_count, free_space FROM {looker}.pgstattuple($1::oid::regclass)"
        );
        let row = client.query_one(&sql, &[&oid])?;
        let number = |at: usize| Ok(row.try_get::<_, i64>(at)?.unsigned_abs());
        tree.payload_bytes = Some(number(0)?);
        tree.entries = Some(number(1)?);
        tree.fill = Some(1.0 - number(2)? as f64 / tree.size_bytes as f64);
        // The pages of a heap are not linked.
        tree.leaf_pages = Some(tree.pages);
        tree.interior_pages = Some(0);
        return Ok(());
    }
    let sql = format!(
        "SELECT tree_level, internal_pages, leaf_pages, avg_leaf_density
         FROM {looker}.pgstatindex($1::oid::regclass)
         WHERE (SELECT relam FROM pg_class WHERE oid = $1)
             = (SELECT oid FROM pg_am WHERE amname = 'btree')"
    );
    let Some(row) = client.query_opt(&sql, &[&oid])? else {
        return Ok(());
    };
    let level: i32 = row.try_get(0)?;
    let (interior, leaves): (i64, i64) = (row.try_get(1)?, row.try_get(2)?);
    let density: f64 = row.try_get(3)?;
    tree.depth = (leaves > 0).then(|| level.unsigned_abs() + 1);
    tree.interior_pages = Some(interior.unsigned_abs());
    tree.leaf_pages = Some(leaves.unsigned_abs());
    tree.fanout = (interior > 0).then(|| (leaves + interior - 1) as f64 / interior as f64);
    tree.fill = Some(density / 100.0).filter(|share| share.is_finite());
    Ok(())
}
