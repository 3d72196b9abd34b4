//! PostgreSQL on several servers: a coordinator, and shards that it accesses through `postgres_fdw`.
//!
//! Every table is distributed over all shards by one column. The DDL names it with `SELECT
//! create_distributed_table('table', 'column')`, as in Citus. The default is the first column of the primary key.
//! Rows are sent through the coordinator, or (`routed`) directly to their shards. There is no two-phase commit, as in
//! `postgres_fdw` in general: a transaction on several shards commits on one after the other, and a crash in between
//! leaves a part of it.

mod cluster;
mod database;
mod ddl;
mod distribute;
pub(crate) mod foreign;
mod hash;
mod limit;
mod route;
mod routed;
mod trees;

use crate::{
    Database, Engine, EngineInfo, Error, Found, KernelCheck, Settings, TableShape,
    engine::check,
    postgres::{self, Postgres},
};
use inorder_key::{Encoding, KeyKind};
use std::path::Path;

/// Name in error messages.
const NAME: &str = "postgres-sharded";

/// Maximum number of shards, each of which is a server.
const SHARDS_MAX: u32 = 16;

/// The newest installed PostgreSQL, as several servers.
pub struct PostgresSharded;

impl Engine for PostgresSharded {
    fn name(&self) -> &'static str {
        NAME
    }

    fn found(&self) -> Result<Vec<Found>, Error> {
        Postgres.found()
    }

    fn accepts(&self, settings: &Settings) -> Result<(), String> {
        if !(1..=SHARDS_MAX).contains(&settings.shards) {
            let shards = settings.shards;
            return Err(format!("run {shards} shards: 1 to {SHARDS_MAX}"));
        }
        if settings.first_shard_cpu_percent < 100 {
            limit::is_possible()?;
        }
        postgres::settings::accepts_sizes(settings)
    }

    fn ignores(&self) -> &'static [&'static str] {
        &["page_size_bytes", "journal", "mmap_bytes", "auto_vacuum"]
    }

    fn kernel_check(&self) -> KernelCheck {
        KernelCheck {
            gap: "each transaction rewrites a partly filled WAL page on each shard that it wrote to",
            ..Postgres.kernel_check()
        }
    }

    fn info(&self) -> Result<EngineInfo, Error> {
        Ok(EngineInfo {
            name: NAME.into(),
            ..Postgres.info()?
        })
    }

    fn key_type(&self, kind: KeyKind, encoding: Encoding) -> Option<&'static str> {
        Postgres.key_type(kind, encoding)
    }

    fn blob_type(&self) -> &'static str {
        Postgres.blob_type()
    }

    fn create_table(&self, shape: &TableShape<'_>) -> Result<String, String> {
        ddl::create_table(shape)
    }

    fn create(&self, folder: &Path, settings: &Settings) -> Result<Box<dyn Database>, Error> {
        check(self, settings)?;
        Ok(Box::new(database::ShardedDatabase::create(
            folder, settings,
        )?))
    }
}
