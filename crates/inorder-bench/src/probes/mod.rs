//! The list of probes: each a measured quantity with a unit.
//!
//! A sample names its probe and a part of it. Growth probes are sampled while the table grows and
//! are cumulative over the load; the others are taken once.

/// The quantity of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeInfo {
    /// Its id; the unit ends the name.
    pub id: &'static str,
    /// The unit as a person reads it.
    pub unit: &'static str,
    /// The description, in one sentence.
    pub what: &'static str,
    /// Sampled (and cumulative) while the table grows.
    pub is_growth: bool,
    /// A time: the noise gate may withhold verdicts on it.
    pub is_time: bool,
}

macro_rules! probes {
    ($($id:literal, $unit:literal, $growth:literal, $time:literal, $what:literal;)+) => {
        /// Every probe.
        pub const PROBES: &[ProbeInfo] = &[$(ProbeInfo {
            id: $id, unit: $unit, what: $what, is_growth: $growth, is_time: $time,
        },)+];
    };
}

probes! {
    "wall_s", "s", true, true, "Wall time of the load by phase: generate, sort, insert, commit, checkpoint; the whole has no part.";
    "cpu_s", "CPU s", true, true, "CPU time (user and system) of the trial by phase, and of a server's processes; the whole has no part.";
    "engine_written_bytes", "bytes", true, false, "Bytes the engine asked the system to write, by file: main, wal, journal, temp; of a server main, wal, doublewrite.";
    "engine_read_bytes", "bytes", true, false, "Bytes the engine asked the system to read, by file.";
    "engine_writes_calls", "calls", true, false, "Write calls of the engine, by file.";
    "engine_reads_calls", "calls", true, false, "Read calls of the engine, by file.";
    "engine_syncs_calls", "calls", true, false, "Sync calls of the engine (xSync, fsync), by file.";
    "engine_causes", "times", true, false, "Counters that explain a server's bytes: of PostgreSQL full_page_images (pages written whole into the WAL), checkpoints, autovacuums, dead_rows (that no transaction sees and no vacuum has removed); of MariaDB pages_flushed, history_list (transactions whose old rows purge has not removed); of Galera replicated_transactions, replicated_bytes, certification_failures, brute_force_aborts, flow_control_paused_us.";
    "process_written_bytes", "bytes", true, false, "Bytes the trial and a server's processes passed to write calls (/proc/PID/io wchar), to check the engine's count. MariaDB's asynchronous writes are not included.";
    "block_written_bytes", "bytes", true, false, "Block layer: bytes the trial and a server's processes made dirty for a block device (/proc/PID/io write_bytes).";
    "busy_retries", "retries", true, false, "Times a writer found the database locked and tried again.";
    "user_bytes", "bytes", true, false, "Bytes of the values in the inserted rows: the denominator of write amplification.";
    "size_bytes", "bytes", false, false, "Size of the database after the load; parts table:NAME, index:NAME, free, other.";
    "size_vacuumed_bytes", "bytes", false, false, "The same after VACUUM.";
    "pages", "pages", false, false, "Pages of a tree; parts table:NAME and index:NAME.";
    "overflow_pages", "pages", false, false, "Overflow pages of a tree.";
    "depth_levels", "levels", false, false, "Levels of a tree from root to leaf.";
    "fanout_children", "children", false, false, "Mean children of an interior page.";
    "fill_share", "share", false, false, "Share of the bytes on a tree's pages that are in use, 0 to 1.";
    "peak_memory_bytes", "bytes", false, false, "Peak resident memory of the trial's process.";
    "transaction_latency_us", "us", false, true, "Latency of a transaction from when it was due to the end of its commit, at a fixed arrival rate; parts p50, p99, p99.9, max, mean.";
    "rate_kept_share", "share", false, true, "Share of a fixed arrival rate at which rows were committed; below 0.95 the rate was not kept.";
    "work_written_bytes", "bytes", false, false, "Bytes the engine asked the system to write for the operations of the factor workload, by file; the whole has no part.";
    "work_wall_s", "s", false, true, "Wall time of these operations, from the begin of each transaction to its commit and checkpoint.";
    "work_operations", "operations", false, false, "Number of these operations.";
    "work_size_bytes", "bytes", false, false, "Size of the database while they run; the part is the share of them that was done, 0% to 100%. Between these two, SQLite's WAL is included.";
    "work_causes", "times", false, false, "The counters of engine_causes since the operations began; the part is CAUSE SHARE, as dead_rows 50%.";
    "migration_written_bytes", "bytes", false, false, "Bytes the engine asked the system to write in a phase of a migration to another key, those of the rows that are inserted meanwhile included; parts PHASE and PHASE.FILE.";
    "migration_wall_s", "s", false, true, "Wall time of a phase of a migration.";
    "migration_cpu_s", "CPU s", false, true, "CPU time of a phase: of the migration's thread and of a server's processes, which do the work of the probes too.";
    "migration_wait_ms", "ms", false, true, "Longest time in a phase that a row waited to be inserted or read since it was due; parts PHASE.writer and PHASE.reader.";
    "migration_size_bytes", "bytes", false, false, "Size of the database; parts before, peak, after.";
    "migration_rows", "rows", false, false, "Rows of the measured table when the migration began; part inserted meanwhile.";
    "migration_insert_bytes", "bytes", false, false, "Bytes written per row that is inserted; parts before (the migration) and after.";
    "migration_insert_us", "us", false, true, "Time per row that is inserted; parts before and after.";
    "reference_cpu_s", "CPU s", false, true, "CPU time of the reference work, which is the same in all trials: a larger one is a slower machine. Parts load (before, during and after it) and reads (before and after them).";
    "rows_before", "rows", false, false, "Rows of the measured table before the measurement.";
    "rows_stored", "rows", false, false, "Rows counted in the measured table after the load.";
    "assigned_key_step", "numbers", false, false, "Mean distance of neighbouring keys that the engine assigned: 1 where it leaves none out.";
    "shard_rows", "rows", false, false, "Rows of the measured table on each server it is spread over, after the load.";
    "point_lookup_us", "us", false, true, "Latency of a look-up by key; parts warm.p50, warm.p99, warm.mean, cold.p50, cold.p99, cold.mean.";
    "range_lookup_us", "us", false, true, "Latency of reading 100 rows in key order from a random key; parts as for point look-ups.";
    "query_us", "us", false, true, "Latency of the experiment's own query; parts as for point look-ups.";
    "inversions", "pairs", false, false, "Keys that come after a larger one; parts made (in the order all writers together made them) and committed (in the order of commits).";
    "page_fill_share", "share", false, false, "Fill of leaf pages in key order; the part is the leaf's position (000000 and up) in tree/position form.";
}

/// The probe with this id, if there is one.
pub fn probe(id: &str) -> Option<&'static ProbeInfo> {
    PROBES.iter().find(|probe| probe.id == id)
}
