//! An open database on a Galera cluster, with the same data on every node.

use super::counters;
use crate::{
    ColumnInfo, Database, Error, Io, PageFill, Reader, Retry, Tree, Writer,
    mariadb::{database::MariaDatabase, session::quoted},
    server::{Kept, replay::ReplayWriter, session::Keeper},
};
use mysql::prelude::Queryable as _;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// Waits until the node has applied everything that any node had committed before the call.
const CAUGHT_UP: &str =
    "SET SESSION wsrep_sync_wait = 1; SELECT 1; SET SESSION wsrep_sync_wait = 0";

/// Settings of a node that are reported in addition to MariaDB's.
const REPORTED: &str = "SHOW VARIABLES WHERE variable_name IN
    ('wsrep_slave_threads', 'wsrep_certify_nonPK', 'auto_increment_increment',
     'innodb_autoinc_lock_mode', 'binlog_format')";

/// An open database.
pub struct GaleraDatabase {
    nodes: Arc<[Arc<MariaDatabase>]>,
    /// Number of writers created so far.
    writers: AtomicUsize,
}

impl GaleraDatabase {
    /// Opens a database on nodes that have formed a cluster.
    pub fn new(nodes: Vec<Arc<MariaDatabase>>) -> Self {
        GaleraDatabase {
            nodes: nodes.into(),
            writers: AtomicUsize::new(0),
        }
    }

    /// Returns the first node after it has applied the transactions of the others.
    fn first(&self) -> Result<&MariaDatabase, Error> {
        let first = &self.nodes[0];
        first.administer(CAUGHT_UP)?;
        Ok(first)
    }

    /// Keeps all nodes running, because one node would lose its majority when the others end.
    fn keeper(&self) -> Keeper {
        Arc::new(Arc::clone(&self.nodes))
    }
}

/// Reads counters or settings of a node with a query.
fn told(node: &MariaDatabase, sql: &str) -> Result<Vec<(String, String)>, Error> {
    node.control("reading the node's settings back", |conn| conn.query(sql))
}

impl Database for GaleraDatabase {
    fn quoted(&self, name: &str) -> String {
        quoted(name)
    }

    fn execute(&self, sql: &str) -> Result<(), Error> {
        self.first()?.execute(sql)
    }

    fn columns(&self, table: &str) -> Result<Vec<ColumnInfo>, Error> {
        self.first()?.columns(table)
    }

    /// Returns the settings of the first node, and the differences of the others.
    fn settings(&self) -> Result<Vec<(String, String)>, Error> {
        let first = self.first()?;
        let mut all = first.settings()?;
        all.extend(told(first, REPORTED)?);
        all.extend(told(
            first,
            "SHOW STATUS WHERE variable_name IN ('wsrep_cluster_size', 'wsrep_provider_version')",
        )?);
        let mut offsets = Vec::new();
        for node in self.nodes.iter() {
            let offset = told(node, "SHOW VARIABLES LIKE 'auto_increment_offset'")?;
            offsets.extend(offset.into_iter().map(|(_, value)| value));
        }
        all.push(("auto_increment_offset".to_owned(), offsets.join(", ")));
        Ok(all)
    }

    /// Opens a writer on the next node in turn.
    fn writer(
        &self,
        table: &str,
        columns: &[&str],
        retry: Retry,
    ) -> Result<Box<dyn Writer>, Error> {
        let turn = self.writers.fetch_add(1, Ordering::Relaxed);
        let node = &self.nodes[turn % self.nodes.len()];
        node.administer(CAUGHT_UP)?;
        let writer = ReplayWriter::new(node.writer(table, columns, retry)?, retry);
        let writer: Box<dyn Writer> = Box::new(writer);
        Ok(Box::new(Kept::new(writer, self.keeper())))
    }

    fn finds_by_index(&self, table: &str, columns: &[String]) -> Result<bool, Error> {
        self.first()?.finds_by_index(table, columns)
    }

    fn processes(&self) -> Vec<u32> {
        self.nodes
            .iter()
            .flat_map(|node| node.processes())
            .collect()
    }

    /// Opens a reader on the first node, after it has applied all earlier commits.
    fn reader(&self, sql: &str) -> Result<Box<dyn Reader>, Error> {
        let reader = self.first()?.reader(sql)?;
        Ok(Box::new(Kept::new(reader, self.keeper())))
    }

    /// Sums all nodes. The causes are those of replication.
    fn io(&self) -> Io {
        let io = |node: &Arc<MariaDatabase>| {
            let causes = node.control("reading the counters", counters::causes);
            Io {
                causes: causes.unwrap_or_default(),
                ..node.io()
            }
        };
        let mut nodes = self.nodes.iter().map(io);
        let first = nodes.next().unwrap_or_default();
        nodes.fold(first, |sum, io| sum + io)
    }

    fn quiesce(&self) -> Result<(), Error> {
        self.nodes.iter().try_for_each(|node| {
            node.administer(CAUGHT_UP)?;
            node.quiesce()
        })
    }

    fn count(&self, table: &str) -> Result<u64, Error> {
        self.first()?.count(table)
    }

    /// Samples the keys, because each node omits the numbers of the others.
    fn counted(&self, table: &str, column: &str, most: u64) -> Result<Option<Vec<i64>>, Error> {
        let (table, column) = (quoted(table), quoted(column));
        let sql = format!(
            "SELECT {column} FROM (
                 SELECT {column}, row_number() OVER (ORDER BY {column}) AS place,
                     count(*) OVER () AS many FROM {table}) AS numbered
             WHERE (place - 1) % greatest(1, ceil(many / {})) = 0 ORDER BY {column}",
            most.max(1)
        );
        let values = self.first()?.control(&sql, |conn| conn.query(&sql))?;
        Ok(Some(values))
    }

    /// Returns the size on one node. The others have the same data.
    fn size_bytes(&self) -> Result<u64, Error> {
        self.first()?.size_bytes()
    }

    fn structure(&self) -> Result<Vec<Tree>, Error> {
        self.first()?.structure()
    }

    fn page_fill(&self, tree: &str) -> Result<PageFill, Error> {
        self.first()?.page_fill(tree)
    }

    /// All nodes rewrite their tables at the same time.
    fn vacuum(&self) -> Result<(), Error> {
        self.first()?.vacuum()
    }

    fn query_plan(&self, sql: &str) -> Result<Vec<String>, Error> {
        self.first()?.query_plan(sql)
    }
}
