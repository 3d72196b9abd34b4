//! Every engine setting that changes a number.

/// Settings an experiment asks of an engine. What the engine made of them is read back with
/// [`crate::Database::settings`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Bytes of a database page.
    pub page_size_bytes: u32,
    /// Page cache (buffer pool) in KiB, one connection's in SQLite.
    pub cache_kib: u64,
    /// How a transaction is made atomic.
    pub journal: Journal,
    /// When the engine waits for the disk.
    pub synchronous: Synchronous,
    /// Bytes of the file read through a memory map; 0 is off.
    pub mmap_bytes: u64,
    /// Whether freed pages are given back.
    pub auto_vacuum: AutoVacuum,
    /// Pages in the WAL after which a checkpoint is due; 0 is never.
    pub checkpoint_pages: u32,
    /// Whether foreign keys are enforced.
    pub foreign_keys: bool,
    /// How rows are handed to the engine.
    pub write: Write,
    /// Servers that rows are spread over.
    pub shards: u32,
    /// What of a row says which of them it goes to.
    pub partition: Partition,
    /// CPU time that the first of them gets while rows are written, in percent of one core; 100 is
    /// no limit.
    pub first_shard_cpu_percent: u32,
    /// Whether the SQL given to the database was written by somebody else: it is then run without any
    /// right beyond the database's own tables, and refused where that can't be.
    pub is_confined: bool,
}

impl Default for Settings {
    /// SQLite's own defaults, but WAL with `synchronous=NORMAL` and enforced foreign keys.
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
            write: Write::Insert,
            shards: 3,
            partition: Partition::Hash,
            first_shard_cpu_percent: 100,
            is_confined: false,
        }
    }
}

/// An enum whose variants have names in experiment files, with the list of them.
macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant,)+ }

        impl $name {
            /// Every value.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The name used in experiment files and by the engine.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// The value with this name, if there is one.
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
        /// None: a crash may corrupt the file.
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
    /// How rows are handed to the engine.
    Write {
        /// A prepared INSERT for each row.
        Insert = "insert",
        /// A prepared INSERT for many rows.
        Multi = "multi",
        /// The engine's way for many rows: binary COPY, LOAD DATA LOCAL.
        Bulk = "bulk",
        /// That way to each shard at once, with the rows sorted out here.
        Routed = "routed",
    }
);

named!(
    /// What of a row's key says which shard it goes to.
    Partition {
        /// Its hash.
        Hash = "hash",
        /// Where it lies between the smallest and the largest key there can be.
        Range = "range",
    }
);
