//! The servers: a coordinator, and shards that it accesses through `postgres_fdw`.

use super::ddl;
use crate::{
    Error, Settings, Write,
    postgres::{self, SUPERUSER, confine::ROLE, database::PostgresDatabase},
};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
    thread,
};

/// Rows per batch of `postgres_fdw` (`batch_size`), for multi-row INSERTs, and from PostgreSQL 16 on for COPY.
const ROWS_TOGETHER: u32 = 100;
/// Rows per fetch of `postgres_fdw` (`fetch_size`).
const ROWS_FETCHED: u32 = 10_000;

/// A coordinator and its shards.
pub struct Cluster {
    pub coordinator: Arc<PostgresDatabase>,
    pub shards: Vec<Arc<PostgresDatabase>>,
}

/// Returns the name of a shard, counted from 0, on the coordinator.
pub fn server_name(shard: usize) -> String {
    format!("shard{}", shard + 1)
}

impl Cluster {
    /// Starts all servers at the same time, and registers the shards with the coordinator.
    pub fn start(folder: &Path, settings: &Settings) -> Result<Self, Error> {
        // Rows that are sent to a shard directly use COPY.
        let of_shards = Settings {
            write: Write::Bulk,
            ..settings.clone()
        };
        let names = (0..settings.shards as usize).map(server_name);
        let wanted: Vec<(String, &Settings)> = [("coordinator".to_owned(), settings)]
            .into_iter()
            .chain(names.map(|name| (name, &of_shards)))
            .collect();
        let started: Result<Vec<_>, Error> = thread::scope(|scope| {
            let starts: Vec<_> = wanted
                .iter()
                .map(|(name, settings)| {
                    scope.spawn(|| postgres::create_named(name, folder, settings))
                })
                .collect();
            let results: Vec<_> = starts.into_iter().map(joined).collect();
            results.into_iter().collect()
        });
        let (servers, folders): (Vec<_>, Vec<_>) = started?.into_iter().unzip();
        let mut servers = servers.into_iter().map(Arc::new);
        let cluster = Cluster {
            coordinator: servers.next().expect("the first is the coordinator"),
            shards: servers.collect(),
        };
        let introduced = introduction(&folders[1..], settings.is_confined);
        cluster.coordinator.administer(&introduced)?;
        Ok(cluster)
    }
    /// Returns every server, the coordinator first.
    pub fn servers(&self) -> impl Iterator<Item = &Arc<PostgresDatabase>> {
        std::iter::once(&self.coordinator).chain(&self.shards)
    }

    /// Runs a function on all shards at the same time.
    pub fn on_shards<T: Send>(
        &self,
        work: impl Fn(&PostgresDatabase) -> Result<T, Error> + Sync,
    ) -> Result<Vec<T>, Error> {
        thread::scope(|scope| {
            let work = &work;
            let threads: Vec<_> = self
                .shards
                .iter()
                .map(|shard| scope.spawn(move || work(shard)))
                .collect();
            let results: Vec<_> = threads.into_iter().map(joined).collect();
            results.into_iter().collect()
        })
    }
}

/// Returns the statements that register the shards, whose sockets are in these folders. They give the confined role,
/// if there is one, the right to use the shards.
fn introduction(folders: &[PathBuf], is_confined: bool) -> String {
    let mut sql = format!(
        "SET search_path TO DEFAULT; CREATE EXTENSION postgres_fdw; {};",
        ddl::FUNCTION
    );
    if is_confined {
        sql += &format!(
            "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT ALL ON TABLES TO {ROLE};
             GRANT USAGE ON SCHEMA {0} TO {ROLE}; GRANT INSERT ON {0}.wanted TO {ROLE};",
            ddl::SCHEMA
        );
    }
    for (at, folder) in folders.iter().enumerate() {
        let name = server_name(at);
        let host = folder.display().to_string();
        sql += &format!(
            "CREATE SERVER {name} FOREIGN DATA WRAPPER postgres_fdw OPTIONS (
                     host '{}', dbname 'postgres',
                     batch_size '{ROWS_TOGETHER}', fetch_size '{ROWS_FETCHED}');
                 CREATE USER MAPPING FOR {SUPERUSER} SERVER {name} OPTIONS (user '{SUPERUSER}');",
            host.replace('\'', "''")
        );
        if is_confined {
            sql += &format!(
                "CREATE USER MAPPING FOR {ROLE} SERVER {name}
                     OPTIONS (user '{ROLE}', password_required 'false');"
            );
        }
    }
    sql
}

/// Returns the result of a thread, or continues its panic in this thread.
pub fn joined<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
