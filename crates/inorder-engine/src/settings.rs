//! Engine settings that affect measurements.

/// Requested settings of an engine. [`crate::Database::settings`] returns the effective ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Bytes of a database page.
    pub page_size_bytes: u32,
    /// Page cache (buffer pool) in KiB; in SQLite per connection.
    pub cache_kib: u64,
    /// Method for atomic transactions.
    pub journal: Journal,
    /// When the engine syncs to the disk.
    pub synchronous: Synchronous,
    /// Bytes of the file read through a memory map; 0 is off.
    pub mmap_bytes: u64,
    /// Whether freed pages are given back.
    pub auto_vacuum: AutoVacuum,
    /// Pages in the WAL after which a checkpoint is due; 0 is never.
    pub checkpoint_pages: u32,
    /// Whether foreign keys are enforced.
    pub foreign_keys: bool,
    /// Whether a server works in the background as in production.
    pub profile: Profile,
    /// Whether a server writes pages twice, so that one that was written in part can be restored: PostgreSQL's full-page images in the
    /// WAL, InnoDB's doublewrite buffer.
    pub full_page_writes: bool,
    /// Path of the rows to the engine.
    pub write: Write,
    /// Number of shards.
    pub shards: u32,
    /// Partitioning of the rows over the shards.
    pub partition: Partition,
    /// CPU time of the first shard while rows are written, in percent of one core; 100 is no limit.
    pub first_shard_cpu_percent: u32,
    /// Whether the SQL is untrusted. The engine then runs it with rights on the database's own tables only, or
    /// refuses it if that is not possible.
    pub is_confined: bool,
}

impl Default for Settings {
    /// SQLite's defaults, except WAL with `synchronous=NORMAL` and enforced foreign keys.
    fn default() -> Self {
        Settings {
            page_size_bytes: 4096,
            cache_kib: 2000,
            journal: Journal::Wal,
            synchronous: Synchronous::Normal,
            mmap_bytes: 0,
            auto_vacuum: AutoVacuum::None,
            checkpoint_pages: 1000,
            foreign_keys: true,
            profile: Profile::Reproducible,
            full_page_writes: true,
            write: Write::Insert,
            shards: 3,
            partition: Partition::Hash,
            first_shard_cpu_percent: 100,
            is_confined: false,
        }
    }
}

/// Defines an enum whose variants have names in experiment files.
macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant,)+ }

        impl $name {
            /// All values.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The name used in experiment files and by the engine.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// Returns the value with this name, if there is one.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.name() == name)
            }
        }
    };
}

named!(
    /// SQLite's `journal_mode`.
    Journal {
        /// A write-ahead log.
        Wal = "wal",
        /// A rollback journal, deleted at each commit.
        Delete = "delete",
        /// A rollback journal, truncated at each commit.
        Truncate = "truncate",
        /// A rollback journal, its header zeroed at each commit.
        Persist = "persist",
        /// A rollback journal in memory.
        Memory = "memory",
        /// No journal: a crash may corrupt the file.
        Off = "off",
    }
);

named!(
    /// SQLite's `synchronous`.
    Synchronous {
        /// Never.
        Off = "off",
        /// At critical moments (in WAL: at checkpoints).
        Normal = "normal",
        /// At each commit.
        Full = "full",
        /// At each commit, and the journal's folder too.
        Extra = "extra",
    }
);

named!(
    /// SQLite's `auto_vacuum`.
    AutoVacuum {
        /// Freed pages are kept for reuse.
        None = "none",
        /// Freed pages are given back at each commit.
        Full = "full",
        /// Freed pages are given back on request.
        Incremental = "incremental",
    }
);

named!(
    /// Background work of a server.
    Profile {
        /// Nothing runs by time: the bytes written depend on the rows only.
        Reproducible = "reproducible",
        /// Vacuum, statistics and checkpoints also run by time.
        Production = "production",
    }
);

named!(
    /// Path of the rows to the engine.
    Write {
        /// A prepared INSERT per row.
        Insert = "insert",
        /// A prepared multi-row INSERT.
        Multi = "multi",
        /// The engine's bulk load: binary COPY, LOAD DATA LOCAL.
        Bulk = "bulk",
        /// A bulk load into each shard at the same time. This process computes the shard of each row.
        Routed = "routed",
    }
);

named!(
    /// Partitioning of the rows over the shards.
    Partition {
        /// By the hash of the key.
        Hash = "hash",
        /// By the position of the key between the smallest and the largest possible key.
        Range = "range",
    }
);
