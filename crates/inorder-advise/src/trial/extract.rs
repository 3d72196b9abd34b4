//! A database with some of the tables of another one.

use crate::{
    Error,
    ddl::quoted,
    read::{Column, Database, Table, prepare},
    sql::quoted_list,
};
use rusqlite::Connection;
use std::path::Path;

/// Fills a new database with tables and their indexes, without what else belongs to them.
pub(super) fn tables(
    source: &Path,
    target: &Path,
    database: &Database,
    tables: &[&Table],
) -> Result<(), Error> {
    let connection = Connection::open(target)?;
    connection.execute_batch(&format!(
        "PRAGMA page_size = {}; PRAGMA encoding = '{}'; PRAGMA journal_mode = OFF;",
        database.page_bytes, database.encoding
    ))?;
    prepare(&connection)?;
    connection.pragma_update(None, "ignore_check_constraints", true)?;
    connection.execute("ATTACH ?1 AS source", [source.to_string_lossy()])?;
    connection.execute_batch("BEGIN")?;
    for table in tables {
        connection.execute_batch(&table.sql)?;
        for index in table.indexes.iter().filter(|index| !index.sql.is_empty()) {
            connection.execute_batch(&index.sql)?;
        }
        let columns = table.columns.iter().filter(|column| !column.is_generated());
        let columns = quoted_list(columns.map(|column| column.name.as_str()));
        let name = quoted(&table.name);
        // Without generated columns this is the copy that VACUUM makes, B-tree by B-tree.
        let statement = if has_generated(table) {
            format!("INSERT INTO main.{name}({columns}) SELECT {columns} FROM source.{name}")
        } else {
            format!("INSERT INTO main.{name} SELECT * FROM source.{name}")
        };
        connection.execute_batch(&statement)?;
    }
    connection.execute_batch("COMMIT; DETACH source")?;
    // Rows that were inserted one by one leave pages half empty.
    if tables.iter().any(|table| has_generated(table)) {
        connection.execute_batch("VACUUM")?;
    }
    Ok(())
}

fn has_generated(table: &Table) -> bool {
    table.columns.iter().any(Column::is_generated)
}
