//! The list of factors: what an experiment may vary or hold fixed, each with its levels.
//!
//! A level is a text (`uuid7`, `4096`, `true`), the same in a file, on the command line and in a
//! report. Adding a factor is a field of [`Setup`] and a line in [`FACTORS`].

use inorder_engine::{AutoVacuum, Journal, Partition, Profile, Settings, Synchronous, Write};
use inorder_key::{Encoding, KeyKind};

use super::{
    level::{boolean, encoding, integer, kind, named, optional, unknown},
    new_key::NewKey,
};
use crate::{
    error::nearest,
    generate::{Presort, Skew, Workload},
};

/// One level of every factor: all that a trial needs to know besides the tables and the seed.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The kind of ids.
    pub key: KeyKind,
    /// The kind of ids in the second half of the load; the same kind if it does not change.
    pub key_after: Option<KeyKind>,
    /// The encoding of ids. A plan replaces `None` by the default of the engine. In result files of versions before 0.2 it is
    /// the default of the kind.
    pub encoding: Option<Encoding>,
    /// Name of the table layout.
    pub layout: String,
    /// Secondary indexes of the built-in table.
    pub indexes: u64,
    /// Bytes of the payload column.
    pub payload_bytes: u64,
    /// Whether the engine makes the ids as rows come, where it can.
    pub is_made_by_engine: bool,
    /// Rows of the measured table that are there before the measurement.
    pub rows_before: u64,
    /// Rows that are measured.
    pub rows: u64,
    /// Rows that arrive per second; 0 is as fast as they are written.
    pub arriving_rows_per_s: u64,
    /// Rows per transaction.
    pub rows_per_transaction: u64,
    /// Rows sorted together; 0 is one transaction's.
    pub rows_per_sort: u64,
    /// The sort order of rows before they are written.
    pub presort: Presort,
    /// Concurrent writers.
    pub writers: u64,
    /// Whether each writer has a separate factory of ids, or all share one.
    pub has_own_factories: bool,
    /// What is done with the rows after the load.
    pub workload: Workload,
    /// How often.
    pub operations: u64,
    /// Reads among the operations of the workload `mixed`, in percent.
    pub read_percent: u64,
    /// Which rows are chosen more often.
    pub skew: Skew,
    /// The key that the table moves to after the load.
    pub migrate_to: Option<NewKey>,
    /// Rows that a writer inserts per second meanwhile, and that a reader reads; 0 is no other work.
    pub probes_per_s: u64,
    /// Name of the engine.
    pub engine: String,
    /// The engine's settings.
    pub settings: Settings,
}

impl Default for Setup {
    fn default() -> Self {
        Setup {
            key: KeyKind::Uuid4,
            key_after: None,
            encoding: None,
            layout: "rowid".to_owned(),
            indexes: 0,
            payload_bytes: 64,
            is_made_by_engine: false,
            rows_before: 0,
            rows: 100_000,
            arriving_rows_per_s: 0,
            rows_per_transaction: 1000,
            rows_per_sort: 0,
            presort: Presort::None,
            writers: 1,
            has_own_factories: false,
            workload: Workload::None,
            operations: 10_000,
            read_percent: 50,
            skew: Skew::Uniform,
            migrate_to: None,
            probes_per_s: 100,
            engine: "sqlite".to_owned(),
            settings: Settings::default(),
        }
    }
}

impl Setup {
    /// The encoding in force.
    pub fn encoding(&self) -> Encoding {
        self.encoding.unwrap_or(self.key.encodings()[0])
    }

    /// Whether the engine assigns the ids: none is bound.
    pub fn is_assigned(&self) -> bool {
        self.key == KeyKind::Serial || self.is_made_by_engine
    }

    /// Rows of the measured table at the end.
    pub fn rows_at_end(&self) -> u64 {
        self.rows_before + self.rows
    }

    /// Rows sorted together.
    pub fn sort_rows(&self) -> u64 {
        match self.rows_per_sort {
            0 => self.rows_per_transaction,
            rows => rows,
        }
    }
}

/// A factor.
pub struct Factor {
    /// Its name in files, on the command line and in reports.
    pub name: &'static str,
    /// The description, with unit and levels.
    pub what: &'static str,
    /// Sets the level; the error says which levels there are.
    pub set: fn(&mut Setup, &str) -> Result<(), String>,
    /// The level in force.
    pub get: fn(&Setup) -> String,
}

/// The factor with this name, or an error that names the nearest one.
pub fn factor(name: &str) -> Result<&'static Factor, String> {
    FACTORS.iter().find(|f| f.name == name).ok_or_else(|| {
        format!(
            "unknown factor `{name}`: {}",
            nearest(name, FACTORS.iter().map(|f| f.name))
        )
    })
}

/// Every factor, in the order plans and reports list them.
pub const FACTORS: &[Factor] = &[
    Factor {
        name: "engine",
        what: "the database: sqlite, postgres, mariadb, postgres-sharded, galera",
        set: |s, level| {
            let names = inorder_engine::ENGINES.iter().map(|e| e.name());
            match inorder_engine::engine(level) {
                Some(_) => s.engine = level.to_owned(),
                None => {
                    return Err(format!(
                        "unknown engine `{level}`: {}",
                        nearest(level, names)
                    ));
                }
            }
            Ok(())
        },
        get: |s| s.engine.clone(),
    },
    Factor {
        name: "key",
        what: "how ids are made: serial, int-seq, int-random, uuid4, uuid7, ulid, tsid, token160, composite",
        set: |s, level| kind(level).map(|key| s.key = key),
        get: |s| s.key.name().to_owned(),
    },
    Factor {
        name: "key_after",
        what: "how ids are made in the second half of the load: a key kind, or same",
        set: |s, level| optional(level, "same", kind).map(|kind| s.key_after = kind),
        get: |s| s.key_after.map_or("same", KeyKind::name).to_owned(),
    },
    Factor {
        name: "encoding",
        what: "how ids are stored: integer, blob, native, text, hex (32 hex digits), or default (that of the engine: a type UUID where it has one)",
        set: |s, level| optional(level, "default", encoding).map(|how| s.encoding = how),
        get: |s| s.encoding.map_or("default", Encoding::name).to_owned(),
    },
    Factor {
        name: "made_by",
        what: "who makes the ids: application, or the engine where it can (uuid7: PostgreSQL 18, MariaDB 11.7)",
        set: |s, level| {
            s.is_made_by_engine = match level {
                "application" => false,
                "engine" => true,
                other => return Err(unknown("maker", other, ["application", "engine"])),
            };
            Ok(())
        },
        get: |s| match s.is_made_by_engine {
            true => "engine".to_owned(),
            false => "application".to_owned(),
        },
    },
    Factor {
        name: "layout",
        what: "how the table is stored: rowid, without-rowid, no-key, or a name of the experiment's own",
        set: |s, level| {
            s.layout = level.to_owned();
            Ok(())
        },
        get: |s| s.layout.clone(),
    },
    Factor {
        name: "indexes",
        what: "secondary indexes of the built-in table, each on a random integer: 0 to 8",
        set: |s, level| {
            s.indexes = integer(level, 0, 8)?;
            Ok(())
        },
        get: |s| s.indexes.to_string(),
    },
    Factor {
        name: "payload_bytes",
        what: "bytes of the payload column: 0 to 1000000",
        set: |s, level| integer(level, 0, 1_000_000).map(|n| s.payload_bytes = n),
        get: |s| s.payload_bytes.to_string(),
    },
    Factor {
        name: "rows",
        what: "rows of the measured table: 1 to 1000000000",
        set: |s, level| integer(level, 1, 1_000_000_000).map(|n| s.rows = n),
        get: |s| s.rows.to_string(),
    },
    Factor {
        name: "rows_before",
        what: "rows that are in the measured table before: 0 to 1000000000",
        set: |s, level| integer(level, 0, 1_000_000_000).map(|n| s.rows_before = n),
        get: |s| s.rows_before.to_string(),
    },
    Factor {
        name: "arriving_rows_per_s",
        what: "rows that arrive per second, at fixed times: 0 (as fast as they are written) to 10000000",
        set: |s, level| integer(level, 0, 10_000_000).map(|n| s.arriving_rows_per_s = n),
        get: |s| s.arriving_rows_per_s.to_string(),
    },
    Factor {
        name: "rows_per_transaction",
        what: "rows per transaction: 1 to 100000000",
        set: |s, level| integer(level, 1, 100_000_000).map(|n| s.rows_per_transaction = n),
        get: |s| s.rows_per_transaction.to_string(),
    },
    Factor {
        name: "presort",
        what: "what rows are sorted by before they are written: none, prefix8 (first 8 bytes), key",
        set: |s, level| named("presort", level, Presort::ALL, Presort::name).map(|v| s.presort = v),
        get: |s| s.presort.name().to_owned(),
    },
    Factor {
        name: "rows_per_sort",
        what: "rows sorted together: 0 (those of one transaction) to 100000000",
        set: |s, level| integer(level, 0, 100_000_000).map(|n| s.rows_per_sort = n),
        get: |s| s.rows_per_sort.to_string(),
    },
    Factor {
        name: "write",
        what: "how rows are sent to a server: insert (one per statement), multi (100 per statement), bulk (COPY, LOAD DATA), routed (COPY to each shard)",
        set: |s, level| {
            named("way to write", level, Write::ALL, Write::name).map(|v| s.settings.write = v)
        },
        get: |s| s.settings.write.name().to_owned(),
    },
    Factor {
        name: "writers",
        what: "concurrent writers, each a connection and a thread: 1 to 64",
        set: |s, level| integer(level, 1, 64).map(|n| s.writers = n),
        get: |s| s.writers.to_string(),
    },
    Factor {
        name: "factories",
        what: "id generators of the writers: one (shared by all), each (one per writer)",
        set: |s, level| {
            s.has_own_factories = match level {
                "one" => false,
                "each" => true,
                other => return Err(unknown("factories", other, ["one", "each"])),
            };
            Ok(())
        },
        get: |s| if s.has_own_factories { "each" } else { "one" }.to_owned(),
    },
    Factor {
        name: "workload",
        what: "what is done with the rows after the load: none, read, update, mixed (read and update), upsert, delete, churn (delete and insert)",
        set: |s, level| {
            named("workload", level, Workload::ALL, Workload::name).map(|v| s.workload = v)
        },
        get: |s| s.workload.name().to_owned(),
    },
    Factor {
        name: "operations",
        what: "operations of the workload: 1 to 1000000000",
        set: |s, level| integer(level, 1, 1_000_000_000).map(|n| s.operations = n),
        get: |s| s.operations.to_string(),
    },
    Factor {
        name: "read_percent",
        what: "reads among the operations of the workload mixed, in percent: 0 to 100",
        set: |s, level| integer(level, 0, 100).map(|n| s.read_percent = n),
        get: |s| s.read_percent.to_string(),
    },
    Factor {
        name: "skew",
        what: "the rows that the workload chooses: uniform, zipfian (a few, spread over the table), latest (the last ones)",
        set: |s, level| named("skew", level, Skew::ALL, Skew::name).map(|v| s.skew = v),
        get: |s| s.skew.name().to_owned(),
    },
    Factor {
        name: "migrate_to",
        what: "the key that the table moves to after the load: none, a key kind, or KIND/ENCODING",
        set: |s, level| optional(level, "none", NewKey::parse).map(|key| s.migrate_to = key),
        get: |s| s.migrate_to.map_or_else(|| "none".to_owned(), NewKey::name),
    },
    Factor {
        name: "probes_per_s",
        what: "rows that are inserted per second while the table moves to another key, and as many that are read: 0 to 10000",
        set: |s, level| integer(level, 0, 10_000).map(|n| s.probes_per_s = n),
        get: |s| s.probes_per_s.to_string(),
    },
    Factor {
        name: "shards",
        what: "servers that postgres-sharded spreads rows over: 1 to 16",
        set: |s, level| integer(level, 1, 16).map(|n| s.settings.shards = n as u32),
        get: |s| s.settings.shards.to_string(),
    },
    Factor {
        name: "partition",
        what: "how a row's shard is chosen from its key: hash, range",
        set: |s, level| {
            named("partition", level, Partition::ALL, Partition::name)
                .map(|v| s.settings.partition = v)
        },
        get: |s| s.settings.partition.name().to_owned(),
    },
    Factor {
        name: "first_shard_cpu_percent",
        what: "CPU time the first shard gets while rows are written, in percent of a core: 1 to 100 (no limit)",
        set: |s, level| {
            integer(level, 1, 100).map(|n| s.settings.first_shard_cpu_percent = n as u32)
        },
        get: |s| s.settings.first_shard_cpu_percent.to_string(),
    },
    Factor {
        name: "cache_kib",
        what: "page cache (buffer pool) in KiB: 1 to 1000000000",
        set: |s, level| integer(level, 1, 1_000_000_000).map(|n| s.settings.cache_kib = n),
        get: |s| s.settings.cache_kib.to_string(),
    },
    Factor {
        name: "page_size_bytes",
        what: "bytes of a database page: a power of two from 512 to 65536",
        set: |s, level| {
            let bytes = integer(level, 512, 65_536)?;
            if !bytes.is_power_of_two() {
                return Err(format!("{bytes} isn't a power of two"));
            }
            s.settings.page_size_bytes = bytes as u32;
            Ok(())
        },
        get: |s| s.settings.page_size_bytes.to_string(),
    },
    Factor {
        name: "journal",
        what: "journal mode: wal, delete, truncate, persist, memory, off",
        set: |s, level| {
            named("journal", level, Journal::ALL, Journal::name).map(|v| s.settings.journal = v)
        },
        get: |s| s.settings.journal.name().to_owned(),
    },
    Factor {
        name: "synchronous",
        what: "when the engine syncs to disk: off, normal, full, extra",
        set: |s, level| {
            named("synchronous", level, Synchronous::ALL, Synchronous::name)
                .map(|v| s.settings.synchronous = v)
        },
        get: |s| s.settings.synchronous.name().to_owned(),
    },
    Factor {
        name: "mmap_bytes",
        what: "bytes of the file read through a memory map: 0 (off) to 1000000000000",
        set: |s, level| integer(level, 0, 1_000_000_000_000).map(|n| s.settings.mmap_bytes = n),
        get: |s| s.settings.mmap_bytes.to_string(),
    },
    Factor {
        name: "auto_vacuum",
        what: "auto-vacuum mode: none, full, incremental",
        set: |s, level| {
            named("auto_vacuum", level, AutoVacuum::ALL, AutoVacuum::name)
                .map(|v| s.settings.auto_vacuum = v)
        },
        get: |s| s.settings.auto_vacuum.name().to_owned(),
    },
    Factor {
        name: "checkpoint_pages",
        what: "pages in the WAL after which a checkpoint is due: 0 (never) to 1000000000",
        set: |s, level| {
            integer(level, 0, 1_000_000_000).map(|n| s.settings.checkpoint_pages = n as u32)
        },
        get: |s| s.settings.checkpoint_pages.to_string(),
    },
    Factor {
        name: "profile",
        what: "background work of a server: reproducible (none by time), production (autovacuum, checkpoints and statistics by time)",
        set: |s, level| {
            named("profile", level, Profile::ALL, Profile::name).map(|v| s.settings.profile = v)
        },
        get: |s| s.settings.profile.name().to_owned(),
    },
    Factor {
        name: "full_page_writes",
        what: "whether a server can restore pages that were written in part: full-page images of PostgreSQL, the doublewrite buffer of MariaDB: true, false",
        set: |s, level| boolean(level).map(|v| s.settings.full_page_writes = v),
        get: |s| s.settings.full_page_writes.to_string(),
    },
    Factor {
        name: "foreign_keys",
        what: "whether foreign keys are enforced: true, false",
        set: |s, level| boolean(level).map(|v| s.settings.foreign_keys = v),
        get: |s| s.settings.foreign_keys.to_string(),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_factor_reads_back_the_level_it_was_set_to() {
        for factor in FACTORS {
            let mut setup = Setup::default();
            let level = (factor.get)(&setup);
            (factor.set)(&mut setup, &level).expect(factor.name);
            assert_eq!((factor.get)(&setup), level, "{}", factor.name);
        }
    }

    #[test]
    fn a_wrong_level_names_the_nearest_right_one() {
        let mut setup = Setup::default();
        let error = (factor("key").unwrap().set)(&mut setup, "uuidv7").unwrap_err();
        assert!(error.contains("did you mean `uuid7`?"), "{error}");
        let error = factor("cache_kb").err().unwrap();
        assert!(error.contains("did you mean `cache_kib`?"), "{error}");
    }
}
