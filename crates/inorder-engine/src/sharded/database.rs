//! One open database on several servers.

use super::{
    cluster::{Cluster, server_name},
    distribute,
    limit::CpuLimit,
    route::Rule,
    routed::{self, RoutedWriter},
    trees,
};
use crate::{
    ColumnInfo, Database, DatabaseTable, Error, Io, Load, LoadShape, PageFill, Reader, Retry,
    Settings, Shard, Tree, Write, Writer,
    server::{Kept, session::Keeper},
};
use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

/// An open database.
pub struct ShardedDatabase {
    cluster: Arc<Cluster>,
    settings: Settings,
    /// Distribution of each table.
    rules: Mutex<BTreeMap<String, Rule>>,
    /// Limits the CPU time of the first shard while there is a writer.
    limit: Mutex<Weak<CpuLimit>>,
}

impl ShardedDatabase {
    /// Starts the servers.
    pub fn create(folder: &Path, settings: &Settings) -> Result<Self, Error> {
        Ok(ShardedDatabase {
            cluster: Arc::new(Cluster::start(folder, settings)?),
            settings: settings.clone(),
            rules: Mutex::default(),
            limit: Mutex::default(),
        })
    }

    fn rules(&self) -> MutexGuard<'_, BTreeMap<String, Rule>> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn first(&self) -> &dyn Database {
        &*self.cluster.shards[0]
    }

    /// Starts the limit of the first shard, if one is set.
    fn limit(&self) -> Option<Arc<CpuLimit>> {
        let percent = self.settings.first_shard_cpu_percent;
        if percent >= 100 {
            return None;
        }
        let mut known = self.limit.lock().unwrap_or_else(PoisonError::into_inner);
        let limit = known.upgrade().unwrap_or_else(|| {
            let shard = Arc::clone(&self.cluster.shards[0]);
            Arc::new(CpuLimit::start(shard, percent))
        });
        *known = Arc::downgrade(&limit);
        Some(limit)
    }

    /// Returns the values that a writer keeps, in the order of their drops. The shard must continue before its server
    /// ends.
    fn keeper(&self) -> Keeper {
        Arc::new((self.limit(), Arc::clone(&self.cluster)))
    }
}

impl Database for ShardedDatabase {
    /// Runs the statements on the coordinator, then distributes the new tables.
    fn execute(&self, sql: &str) -> Result<(), Error> {
        self.cluster.coordinator.execute(sql)?;
        let mut rules = self.rules();
        let new = distribute::new_tables(&self.cluster, &self.settings, &rules)?;
        rules.extend(new);
        Ok(())
    }

    /// Returns the coordinator's columns. The shards have the keys.
    fn columns(&self, table: &str) -> Result<Vec<ColumnInfo>, Error> {
        let columns = self.cluster.coordinator.columns(table)?;
        let on_shard = self.first().columns(table)?;
        let key_of = |name: &str| on_shard.iter().find(|column| column.name == name);
        let columns = columns.into_iter().map(|column| ColumnInfo {
            primary_key: key_of(&column.name).map_or(0, |own| own.primary_key),
            ..column
        });
        Ok(columns.collect())
    }

    fn settings(&self) -> Result<Vec<(String, String)>, Error> {
        let mut all = self.cluster.coordinator.settings()?;
        let percent = self.settings.first_shard_cpu_percent;
        let mut add = |name: &str, value: String| all.push((name.to_owned(), value));
        add("shards", self.cluster.shards.len().to_string());
        add("first_shard_cpu_percent", percent.to_string());
        add("primary_key", "on each shard, not on the parent".to_owned());
        for (table, rule) in self.rules().iter() {
            let value = format!("{}({})", rule.partition.name(), rule.column);
            let bounds = rule.bounds.join(", ");
            let bounds = (!bounds.is_empty()).then(|| format!(" from {bounds}"));
            add(
                &format!("distribution of {table}"),
                value + &bounds.unwrap_or_default(),
            );
        }
        Ok(all)
    }

    fn writer(
        &self,
        table: &str,
        columns: &[&str],
        retry: Retry,
    ) -> Result<Box<dyn Writer>, Error> {
        let writer: Box<dyn Writer> = match self.settings.write {
            Write::Routed => {
                let rules = self.rules();
                let rule = rules.get(table).ok_or_else(|| Error::Database {
                    doing: format!("writing to {table}"),
                    message: format!("there is no table {table}"),
                })?;
                let shards = self.cluster.shards.iter();
                let writers = shards.map(|shard| shard.writer(table, columns, retry));
                let writers = writers.collect::<Result<_, Error>>()?;
                Box::new(RoutedWriter::new(writers, false, table, columns, rule)?)
            }
            _ => self.cluster.coordinator.writer(table, columns, retry)?,
        };
        Ok(Box::new(Kept::new(writer, self.keeper())))
    }

    /// Returns the coordinator's columns. The shards have the keys.
    fn load_shape(&self, table: &str) -> Result<LoadShape, Error> {
        let shape = self.cluster.coordinator.load_shape(table)?;
        Ok(routed::with_keys_of(
            shape,
            &self.first().load_shape(table)?,
        ))
    }

    /// Routes the rows if the settings require it.
    fn load(&self, table: &str, columns: &[&str], survives_refusals: bool) -> Result<Load, Error> {
        let rules = self.rules();
        let mut load = match (self.settings.write, rules.get(table)) {
            (Write::Routed, Some(rule)) => {
                let shards = self.cluster.shards.iter();
                let own = |shard: &Arc<_>| DatabaseTable::new(Arc::clone(shard) as _, table);
                routed::load(&shards.map(own).collect::<Vec<_>>(), table, columns, rule)?
            }
            _ => self
                .cluster
                .coordinator
                .load(table, columns, survives_refusals)?,
        };
        load.writer = Box::new(Kept::new(load.writer, self.keeper()));
        Ok(load)
    }

    fn finds_by_index(&self, table: &str, columns: &[String]) -> Result<bool, Error> {
        self.first().finds_by_index(table, columns)
    }

    fn processes(&self) -> Vec<u32> {
        let servers = self.cluster.servers();
        servers.flat_map(|server| server.processes()).collect()
    }

    fn reader(&self, sql: &str) -> Result<Box<dyn Reader>, Error> {
        let reader = self.cluster.coordinator.reader(sql)?;
        let keeper = Arc::new(Arc::clone(&self.cluster));
        Ok(Box::new(Kept::new(reader, keeper)))
    }

    fn io(&self) -> Io {
        let mut servers = self.cluster.servers().map(|server| server.io());
        let first = servers.next().unwrap_or_default();
        servers.fold(first, |sum, io| sum + io)
    }

    fn quiesce(&self) -> Result<(), Error> {
        self.cluster.coordinator.quiesce()?;
        self.cluster.on_shards(|shard| shard.quiesce()).map(drop)
    }

    fn count(&self, table: &str) -> Result<u64, Error> {
        Ok(self.shards(table)?.iter().map(|shard| shard.rows).sum())
    }

    fn shards(&self, table: &str) -> Result<Vec<Shard>, Error> {
        let rows = self.cluster.on_shards(|shard| shard.count(table))?;
        let shard = |(at, rows)| Shard {
            name: server_name(at),
            rows,
        };
        Ok(rows.into_iter().enumerate().map(shard).collect())
    }

    fn size_bytes(&self) -> Result<u64, Error> {
        let sizes = self.cluster.on_shards(|shard| shard.size_bytes())?;
        Ok(sizes.iter().sum())
    }

    /// Sums the values of all shards.
    fn structure(&self) -> Result<Vec<Tree>, Error> {
        let trees = self.cluster.on_shards(|shard| shard.structure())?;
        Ok(trees::joined(trees))
    }

    fn page_fill(&self, tree: &str) -> Result<PageFill, Error> {
        self.first().page_fill(tree)
    }

    fn vacuum(&self) -> Result<(), Error> {
        self.cluster.on_shards(|shard| shard.vacuum()).map(drop)
    }

    fn query_plan(&self, sql: &str) -> Result<Vec<String>, Error> {
        self.cluster.coordinator.query_plan(sql)
    }
}
