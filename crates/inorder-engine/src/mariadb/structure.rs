//! Sizes of tables and indexes, from the files and InnoDB's persistent statistics:
//! <https://mariadb.com/kb/en/innodb-persistent-statistics/>.

use super::session::quoted;
use crate::Tree;
use mysql::{Conn, Error, prelude::Queryable as _};

/// The tables of the persistent statistics, as mariadb-install-db creates them.
const STATISTICS_TABLES: [&str; 3] = [
    "CREATE DATABASE IF NOT EXISTS mysql",
    "CREATE TABLE IF NOT EXISTS mysql.innodb_table_stats(
        database_name VARCHAR(64) NOT NULL, table_name VARCHAR(199) NOT NULL,
        last_update TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
        n_rows BIGINT UNSIGNED NOT NULL, clustered_index_size BIGINT UNSIGNED NOT NULL,
        sum_of_other_index_sizes BIGINT UNSIGNED NOT NULL,
        PRIMARY KEY (database_name, table_name)
    ) ENGINE=INNODB CHARACTER SET utf8mb3 COLLATE utf8mb3_bin STATS_PERSISTENT=0",
    "CREATE TABLE IF NOT EXISTS mysql.innodb_index_stats(
        database_name VARCHAR(64) NOT NULL, table_name VARCHAR(199) NOT NULL,
        index_name VARCHAR(64) NOT NULL,
        last_update TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
        stat_name VARCHAR(64) NOT NULL, stat_value BIGINT UNSIGNED NOT NULL,
        sample_size BIGINT UNSIGNED, stat_description VARCHAR(1024) NOT NULL,
        PRIMARY KEY (database_name, table_name, index_name, stat_name)
    ) ENGINE=INNODB CHARACTER SET utf8mb3 COLLATE utf8mb3_bin STATS_PERSISTENT=0",
];

/// Creates the statistics tables, which the private server was not installed with.
pub fn make_statistics_tables(conn: &mut Conn) -> Result<(), Error> {
    STATISTICS_TABLES
        .iter()
        .try_for_each(|sql| conn.query_drop(sql))
}

/// The tables of the schema (<https://mariadb.com/kb/en/information-schema-tables-table/>).
pub fn tables(conn: &mut Conn) -> Result<Vec<String>, Error> {
    conn.query("SELECT table_name FROM information_schema.tables WHERE table_schema = database() ORDER BY 1")
}

/// Bytes of their files (<https://mariadb.com/kb/en/information-schema-innodb_sys_tablespaces-table/>).
pub fn file_bytes(conn: &mut Conn) -> Result<u64, Error> {
    let bytes: Option<Option<u64>> = conn.query_first(
        "SELECT CAST(sum(file_size) AS UNSIGNED) FROM information_schema.innodb_sys_tablespaces
         WHERE name LIKE concat(database(), '/%')",
    )?;
    Ok(bytes.flatten().unwrap_or(0))
}

/// Returns the bytes of data and indexes that a user without further rights can read.
pub fn data_and_index_bytes(conn: &mut Conn) -> Result<u64, Error> {
    let trees = trees(conn)?;
    Ok(trees.iter().map(|tree| tree.size_bytes).sum())
}

/// Writes the dirty pages of the tables, one table after the other.
pub fn flush_tables(conn: &mut Conn) -> Result<(), Error> {
    for table in tables(conn)? {
        let flushed = conn.query_drop(format!("FLUSH TABLES {} FOR EXPORT", quoted(&table)));
        conn.query_drop("UNLOCK TABLES")?;
        flushed?;
    }
    Ok(())
}

/// Returns every table (its clustered index) and every secondary index. If the statistics are not readable, returns
/// all indexes of a table together.
pub fn trees(conn: &mut Conn) -> Result<Vec<Tree>, Error> {
    for table in tables(conn)? {
        let _: Vec<mysql::Row> = conn.query(format!("ANALYZE TABLE {}", quoted(&table)))?;
    }
    trees_by_statistics(conn).or_else(|_| trees_by_length(conn))
}

fn trees_by_statistics(conn: &mut Conn) -> Result<Vec<Tree>, Error> {
    let page_bytes: Option<u64> = conn.query_first("SELECT @@innodb_page_size")?;
    let page_bytes = page_bytes.unwrap_or(0);
    let rows: Vec<(String, String, u64, Option<u64>)> = conn.query(
        "SELECT size.table_name, size.index_name, size.stat_value, leaves.stat_value
         FROM mysql.innodb_index_stats AS size
         LEFT JOIN mysql.innodb_index_stats AS leaves
             ON leaves.database_name = size.database_name AND leaves.table_name = size.table_name
             AND leaves.index_name = size.index_name AND leaves.stat_name = 'n_leaf_pages'
         WHERE size.database_name = database() AND size.stat_name = 'size'
         ORDER BY 1, 2",
    )?;
    let tree = |(table, index, pages, leaf_pages): (String, String, u64, Option<u64>)| {
        let is_clustered = ["PRIMARY", "GEN_CLUST_INDEX"].contains(&index.as_str());
        Tree {
            name: if is_clustered { table.clone() } else { index },
            table,
            is_index: !is_clustered,
            pages,
            leaf_pages,
            size_bytes: pages * page_bytes,
            ..Tree::default()
        }
    };
    Ok(rows.into_iter().map(tree).collect())
}

fn trees_by_length(conn: &mut Conn) -> Result<Vec<Tree>, Error> {
    let page_bytes: Option<u64> = conn
        .query_first("SELECT @@innodb_page_size")
        .unwrap_or(None);
    let rows: Vec<(String, u64, u64)> = conn.query(
        "SELECT table_name, coalesce(data_length, 0), coalesce(index_length, 0)
         FROM information_schema.tables WHERE table_schema = database() ORDER BY 1",
    )?;
    let tree = |name: String, table: &str, is_index, size_bytes: u64| Tree {
        name,
        table: table.to_owned(),
        is_index,
        pages: page_bytes
            .and_then(|bytes| size_bytes.checked_div(bytes))
            .unwrap_or(0),
        size_bytes,
        ..Tree::default()
    };
    let trees = rows
        .into_iter()
        .flat_map(|(table, data_bytes, index_bytes)| {
            let indexes = tree(format!("{table}_indexes"), &table, true, index_bytes);
            let indexes = Some(indexes).filter(|_| index_bytes > 0);
            [
                Some(tree(table.clone(), &table, false, data_bytes)),
                indexes,
            ]
        });
    Ok(trees.flatten().collect())
}
